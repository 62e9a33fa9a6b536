"""`plait clone` and `plait fork`: a session to a new one, the old one left as it is."""

import click

from plait.cli.edit.carry_out import Manner, carry_out, edit_options
from plait.cli.options import Request, session_argument


@click.command("clone")
@session_argument
@click.option("--active-only", is_flag=True, help="Leave the abandoned branches behind.")
@click.option("--clean", is_flag=True, help="Leave broken and blank lines behind.")
@click.option("--title", metavar="T", help="What the new session is called.")
@edit_options
@click.pass_obj
def clone_command(
    request: Request,
    session: str,
    active_only: bool,
    clean: bool,
    title: str | None,
    manner: Manner,
) -> None:
    """Copy SESSION to a new session with ids of its own.

    Agents, results and checkpoints that lie beside it come along. SESSION stays as it is.
    """
    found = request.session(session)
    plan = request.archive.plan.clone(found, active_only=active_only, clean=clean, title=title)
    carry_out(request, found, plan, manner)


@click.command("fork")
@session_argument
@click.option(
    "--at",
    required=True,
    metavar="TURN|UUID|PROMPT",
    help="Where to go on from: a turn's number, a message, or the words of a prompt.",
)
@click.option("--before", is_flag=True, help="Leave that turn out, to ask it differently.")
@click.option("--title", metavar="T", help="What the new session is called.")
@edit_options
@click.pass_obj
def fork_command(
    request: Request, session: str, at: str, before: bool, title: str | None, manner: Manner
) -> None:
    """Go on from any message of SESSION in a new session, abandoned branches included.

    SESSION stays as it is.
    """
    found = request.session(session)
    plan = request.archive.plan.fork(found, at, before=before, title=title)
    carry_out(request, found, plan, manner)
