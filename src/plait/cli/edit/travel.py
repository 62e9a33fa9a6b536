"""`plait move`: the sessions of a directory to where those of another one lie."""

import click

from plait.cli.edit.carry_out import Manner, carry_out_all, carry_out_as, removal_options
from plait.cli.options import Request

HERE = "."


@click.command("move")
@click.argument("project")
@click.argument("directory", metavar="NEWPATH")
@click.option("--texts", is_flag=True, help="Change the path in what was said, too.")
@removal_options
@click.pass_obj
def move_command(
    request: Request, project: str, directory: str, texts: bool, manner: Manner
) -> None:
    """Let the sessions of PROJECT, a directory, be those of NEWPATH.

    Their folder, the directory on every line, agents and what lies beside, the list of prompts and
    what Claude Code knows of the project follow, and so do directories within it. What is on the
    disk you move yourself; what was said stays as it was said.
    """
    here = request.settings.directory
    name = str(here.resolve()) if project == HERE and here else project
    plans = request.archive.plan.move(name, directory, texts=texts)
    if len(plans) == 1:
        carry_out_as(request, plans[0].source.id, plans[0], manner)
        return
    by_session = {request.archive.session_at(one.source.log.path): one for one in plans}
    carry_out_all(request, list(by_session), by_session.__getitem__, manner)
