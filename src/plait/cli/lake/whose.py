"""Options and settings to whose sessions go into a lake."""

import os
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import click

from plait.cli.options import grouped
from plait.errors import UserError

if TYPE_CHECKING:
    from plait.cli.options import Request
    from plait.lake.model import Labels

FILE = "lake-source"
"""In the folder of the state: what this machine is called in lakes."""

KEY_FILE = "lake-key"
"""There, too: what stand-ins of names are made by."""
SHORTEST_KEY = 16

key_option = click.option(
    "--key",
    metavar="FILE",
    help="What stand-ins of names are made by in counts: a team may share one.",
)
whose_options = grouped(
    click.option(
        "--source",
        metavar="NAME",
        help="What they come from; else a name made up for this machine.",
    ),
    click.option("--person", metavar="NAME", help="Whose they are."),
    click.option("--team", metavar="NAME", help="The team of that person."),
)


def labels_of(
    request: "Request", source: str | None, person: str | None, team: str | None
) -> "Labels":
    """Returns whose sessions these are: as was said, else as the settings say."""
    from plait.lake.model import Labels

    chosen = request.settings.lake
    return Labels(
        source or chosen.source or _machine(request),
        chosen.person if person is None else person,
        chosen.team if team is None else team,
    )


def stand_in_key(request: "Request", named: str | None) -> bytes:
    """Returns what stand-ins are made by: what a file holds, else what was made up once here."""
    path = Path(named) if named else request.settings.lake.key
    if path is None:
        return _made_up(request, KEY_FILE, token_hex(32)).encode()
    from plait.line.split import unreadable

    try:
        found = path.read_bytes().strip()
    except OSError as error:
        raise unreadable(path, error) from error
    if len(found) < SHORTEST_KEY:
        raise UserError(
            f"the key in '{path}' is too short: names could be tried",
            f"at least {SHORTEST_KEY} bytes, as `openssl rand -hex 32` gives them",
        )
    return found


def _machine(request: "Request") -> str:
    """Returns what this machine is called: made up once, so that it gives nothing away."""
    return _made_up(request, FILE, f"machine-{token_hex(4)}")


def _made_up(request: "Request", name: str, made: str) -> str:
    """Returns what a file of the state says; what was made up where there is none yet."""
    from plait.line.folder import unwritable

    path = request.settings.state / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{made}\n")
    except FileExistsError:
        return path.read_text(encoding="utf-8").strip() or made
    except OSError as error:
        raise unwritable(path, error) from error
    return made
