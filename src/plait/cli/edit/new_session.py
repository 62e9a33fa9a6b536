"""`plait clone` and `plait fork`: a session to a new one, the old one left as it is."""

import click

from plait.cli.edit.carry_out import Manner, carry_out, edit_options, in_place_option
from plait.cli.options import Request, complete_session, session_argument
from plait.errors import UserError


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
@click.option(
    "--onto",
    metavar="SESSION",
    shell_complete=complete_session,
    help="Put the branch at the end of a copy of this session.",
)
@in_place_option
@edit_options
@click.pass_obj
def fork_command(
    request: Request,
    session: str,
    at: str,
    before: bool,
    title: str | None,
    onto: str | None,
    in_place: bool,
    manner: Manner,
) -> None:
    """Go on from any message of SESSION in a new session, abandoned branches included.

    With `--onto` the branch that the message stands on is put at the end of another session.
    SESSION stays as it is.
    """
    found, plans = request.session(session), request.archive.plan
    if onto is None:
        if in_place:
            raise UserError("`--in-place` changes another session", "name it: `--onto SESSION`")
        carry_out(request, found, plans.fork(found, at, before=before, title=title), manner)
        return
    if before:
        raise UserError("say either `--before` or `--onto`, not both")
    target = request.session(onto)
    plan = plans.graft(found, target, at, in_place=in_place, title=title)
    carry_out(request, target, plan, manner)
