"""`plait keep forget`: sessions, or what is beyond a limit, out of the store."""

import re
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, complete_session, global_options, json_option
from plait.cli.text import counted, safe_line, size
from plait.errors import UserError

if TYPE_CHECKING:
    from plait.keep import KeptSession

SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
MOST_SHOWN = 12


@click.command("forget")
@click.argument("names", metavar="[SESSION]...", nargs=-1, shell_complete=complete_session)
@click.option("--max-age", type=float, metavar="DAYS", help="What was not written to for longer.")
@click.option("--max-size", metavar="SIZE", help="The oldest, until the store has this size: 5GB.")
@click.option("--yes", "is_sure", is_flag=True, help="Do it; without this it is only shown.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    names: tuple[str, ...],
    max_age: float | None,
    max_size: str | None,
    is_sure: bool,
    as_json: bool,
) -> None:
    """Delete sessions from the store, by name or beyond a limit.

    What is at its source stays there. What is only kept is gone then, for good.
    """
    keeping = request.archive.keep
    if bool(names) is (max_age is not None or max_size is not None):
        raise UserError(
            "say either which sessions or a limit",
            "`plait keep forget SESSION`, `plait keep forget --max-age 365`",
        )
    if names:
        found = tuple(keeping.kept(request.session(name)) for name in names)
    else:
        bytes_ = _bytes_in(max_size) if max_size is not None else None
        found = keeping.beyond(max_days=max_age, max_bytes=bytes_)
    freed = keeping.store.forget(keeping.wherever(found)) if is_sure else None
    told: dict[str, Any] = {
        "forgotten": is_sure,
        "sessions": [one.session for one in found],
        "bytes": sum(one.size for one in found),
        "freed_bytes": freed.stored_bytes if freed else None,
    }
    if as_json:
        request.output.json(told)
    else:
        _print(request, found, told)


def _bytes_in(text: str) -> int:
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise UserError(f"'{text}' is not a size", "say 500MB, 5GB or a number of bytes")
    return int(float(match[1]) * UNITS[match[2].lower()])


def _print(request: Request, found: "tuple[KeptSession, ...]", told: dict[str, Any]) -> None:
    output = request.output
    if not found:
        output.print("nothing to forget")
        return
    only = list(request.archive.inventory.gone.kept.values())
    for one in found[:MOST_SHOWN]:
        lost = "  only kept: gone for good" if one in only else ""
        output.unbroken(f"  {safe_line(one.session)}  {size(one.size)}{lost}")
    if len(found) > MOST_SHOWN:
        output.print(f"  and {len(found) - MOST_SHOWN} more")
    sessions = f"{counted(len(found), 'session')}, {size(told['bytes'])}"
    if told["forgotten"]:
        freed = size(max(0, told["freed_bytes"]))
        output.print(f"forgotten: {sessions}, {freed} on disk given back", style="bold")
    else:
        output.print(f"{sessions} to forget", style="bold")
        output.print("nothing was deleted: add `--yes` to do it", style="dim")
