"""`plait clone`: a session to a new one, the old one left as it is."""

import click

from plait.cli.edit.carry_out import Manner, carry_out, edit_options
from plait.cli.options import Request, session_argument


@click.command("clone")
@session_argument
@click.option("--clean", is_flag=True, help="Leave broken and blank lines behind.")
@click.option("--title", metavar="T", help="What the new session is called.")
@edit_options
@click.pass_obj
def clone_command(
    request: Request,
    session: str,
    clean: bool,
    title: str | None,
    manner: Manner,
) -> None:
    """Copy SESSION to a new session with ids of its own.

    Agents, results and checkpoints that lie beside it come along. SESSION stays as it is.
    """
    found = request.session(session)
    plan = request.archive.plan.clone(found, clean=clean, title=title)
    carry_out(request, found, plan, manner)
