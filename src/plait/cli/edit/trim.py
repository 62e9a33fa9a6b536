"""`plait trim`: a session to one without what is not wanted any more, or to what fills it."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

from plait.cli.edit.carry_out import Manner, carry_out, edit_options, in_place_option
from plait.cli.options import Request, grouped, session_argument
from plait.cli.selection import UNITS
from plait.errors import UserError

F = TypeVar("F", bound=Callable[..., Any])
PRESETS = ("light", "standard", "heavy", "extreme")
WAYS = ("remove", "cut", "empty")
WHAT = (
    ("thinking", "What Claude thought."),
    ("images", "Pictures and documents: a note takes their place."),
    ("attachments", "What the client attached: files, diagnostics, what hooks said."),
    ("progress", "Notes of how far a tool had come; they are not sent."),
    ("snapshots", "Snapshots of files; they are not sent."),
    ("request-logs", "What the client noted of its own requests; it is not sent."),
    ("rereads", "Readings of a file that was read or changed again since."),
    ("reminders", "Reminders that are told again later, all but the last."),
)
HOW = ("way", "keep", "except_last")
"""How things go, which says nothing of what."""
AMOUNT = re.compile(r"(\d{1,9})([km]?)", re.IGNORECASE)
FACTORS = {"": 1, "k": 1000, "m": 1_000_000}
HINTS = (
    "a preset (`plait trim SESSION standard`), or what goes: `--tool Bash --larger-than 10k`",
    "`plait trim SESSION` alone shows what fills it, and what each preset would save",
)


class Amount(click.ParamType[int]):
    """A number of characters: `800`, `10k`, `2m`."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = AMOUNT.fullmatch(str(value).strip())
        if not match:
            self.fail(f"'{value}' is no number of characters: say 800, 10k or 2m", param, ctx)
        return int(match[1]) * FACTORS[match[2].lower()]


class Age(click.ParamType[timedelta]):
    """A length of time: `45m`, `12h`, `2d`, `3w`."""

    name = "AGE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        text = str(value).strip()
        if not (text[:-1].isdecimal() and len(text) < 8 and text[-1] in UNITS):
            self.fail(f"'{value}' is no length of time: say 45m, 12h, 2d or 3w", param, ctx)
        return timedelta(**{UNITS[text[-1]]: int(text[:-1])})


def _kinds(function: F) -> F:
    flags = (click.option(f"--{name}", is_flag=True, help=help_) for name, help_ in WHAT)
    return grouped(*flags)(function)


@click.command("trim")
@session_argument
@click.argument("preset", required=False, type=click.Choice(PRESETS))
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="Its calls; `mcp__x__*` too.")
@click.option("--call", "calls", multiple=True, metavar="ID", help="This call, by its id.")
@click.option("--larger-than", type=Amount(), help="Calls with more characters: 800, 10k.")
@click.option("--older-than", type=Age(), help="Only what is older: 12h, 2d.")
@click.option(
    "--except-last", type=click.IntRange(min=0), metavar="N", help="Leave the last turns alone."
)
@click.option(
    "--way",
    type=click.Choice(WAYS),
    help="Calls go with their results, results are cut, or become one line.",
)
@click.option(
    "--keep", type=click.IntRange(min=0), metavar="N", help="Characters left of a cut result."
)
@_kinds
@in_place_option
@edit_options
@click.pass_obj
def trim_command(
    request: Request, /, session: str, in_place: bool, manner: Manner, **given: Any
) -> None:
    """Take away what SESSION no longer needs, so that it fits and costs less.

    Writes a new session and leaves the old one as it is. Prompts of people always stay. Without
    anything to take away: what fills the context, and what each preset would save.
    """
    wanted = wanted_of(given)
    found = request.session(session)
    if wanted is None:
        if in_place or manner.is_sure or manner.is_proved or any(given[one] for one in HOW):
            raise UserError("say what is to go", *HINTS)
        from plait.cli.edit.filled import show_filled

        show_filled(request, found, as_json=manner.as_json)
        return
    plan = request.priced.plan.trim(found, in_place=in_place, **wanted)
    carry_out(request, found, plan, manner)


def wanted_of(given: dict[str, Any]) -> dict[str, Any] | None:
    """Returns what is to go as the library takes it, None where nothing was said."""
    way, keep = given["way"], given["keep"]
    if keep is not None and way not in (None, "cut"):
        raise UserError("`--keep` says how much of a cut result is left", "say `--way cut` with it")
    said = {name: value for name, value in given.items() if value not in (None, (), False)}
    if not set(said) - set(HOW):
        return None
    if keep is not None:
        said["way"] = "cut"
    return said
