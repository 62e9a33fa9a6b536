"""`plait switch`, `rename`, `tag` and `delete`: what is said of a whole session, and its end."""

import click

from plait.cli.edit.carry_out import (
    Manner,
    carry_out,
    carry_out_all,
    edit_options,
    removal_options,
)
from plait.cli.options import Request, complete_session, session_argument
from plait.errors import UserError


@click.command("switch")
@session_argument
@click.option(
    "--branch",
    required=True,
    metavar="B",
    help="By its name or number as `plait log` and `plait paths` have it, or by its last record.",
)
@edit_options
@click.pass_obj
def switch_command(request: Request, session: str, branch: str, manner: Manner) -> None:
    """Make another branch of SESSION the one that resume takes.

    One line is appended that points to it; nothing else changes.
    """
    found = request.session(session)
    carry_out(request, found, request.archive.plan.switch(found, branch), manner)


@click.command("rename")
@session_argument
@click.argument("title")
@edit_options
@click.pass_obj
def rename_command(request: Request, session: str, title: str, manner: Manner) -> None:
    """Give SESSION another title, as `/rename` does."""
    found = request.session(session)
    carry_out(request, found, request.archive.plan.rename(found, title), manner)


@click.command("tag")
@session_argument
@click.argument("word", required=False)
@click.option("--remove", is_flag=True, help="Take its tag away.")
@edit_options
@click.pass_obj
def tag_command(
    request: Request, session: str, word: str | None, remove: bool, manner: Manner
) -> None:
    """Tag SESSION with a WORD, or take its tag away."""
    if (word is None) is not remove:
        raise UserError(
            "say either a tag or `--remove`",
            "`plait tag SESSION WORD`, `plait tag SESSION --remove`",
        )
    found = request.session(session)
    carry_out(request, found, request.archive.plan.tag(found, word), manner)


@click.command("delete")
@click.argument(
    "names", metavar="SESSION...", nargs=-1, required=True, shell_complete=complete_session
)
@removal_options
@click.pass_obj
def delete_command(request: Request, names: tuple[str, ...], manner: Manner) -> None:
    """Move each SESSION and all that lies beside it to where `plait undo` brings it back from."""
    sessions = list(dict.fromkeys(request.session(name) for name in names))
    plan_of = request.archive.plan.delete
    if len(sessions) == 1:
        carry_out(request, sessions[0], plan_of(sessions[0]), manner)
    else:
        carry_out_all(request, sessions, plan_of, manner)
