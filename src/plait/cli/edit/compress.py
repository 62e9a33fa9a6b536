"""`plait compress`: a session to one whose older turns are short."""

from typing import Any

import click

from plait.cli.edit.carry_out import Manner, carry_out, edit_options, in_place_option
from plait.cli.options import Request, session_argument
from plait.errors import UserError

CALLS = ("metadata", "none")


@click.command("compress")
@session_argument
@click.option(
    "--until",
    metavar="TURN|UUID|PROMPT",
    help="The first turn that stays as it is: its number, a message, or the words of a prompt.",
)
@click.option(
    "--keep-last",
    type=click.IntRange(min=1),
    metavar="N",
    help="So many turns at the end stay as they are.",
)
@click.option(
    "--summariser",
    "command",
    metavar="CMD",
    help="A command that reads a turn's answers and prints them short; the built-in one without.",
)
@click.option(
    "--calls", type=click.Choice(CALLS), help="Calls become a line each, or go without a trace."
)
@in_place_option
@edit_options
@click.pass_obj
def compress_command(
    request: Request, /, session: str, in_place: bool, manner: Manner, **given: Any
) -> None:
    """Make the older turns of SESSION short, so that the newer ones have room.

    Prompts stay as they are; answers are summarised; calls become a line each. Writes a new
    session and leaves the old one as it is.
    """
    if (given["until"] is None) is (given["keep_last"] is None):
        raise UserError(
            "say either `--until` or `--keep-last`",
            "`plait compress SESSION --keep-last 3` leaves the last three turns as they are",
        )
    found = request.session(session)
    wanted = {name: value for name, value in given.items() if value is not None}
    plan = request.priced.plan.compress(found, in_place=in_place, **wanted)
    carry_out(request, found, plan, manner)
