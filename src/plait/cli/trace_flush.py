"""`plait trace flush`: what waits to its target, now."""

import click
import msgspec

from plait.cli.hook_event import FOLDER
from plait.cli.options import Request, global_options, json_option
from plait.cli.text import counted
from plait.cli.trace_target import target_of
from plait.errors import SourceError
from plait.trace.send.delivery import Delivered, flush
from plait.trace.send.spool import Spool

WAIT = 30.0


@click.command("flush")
@click.option("--refused", is_flag=True, help="Offer what was refused once more, too.")
@json_option
@global_options
@click.pass_obj
def command(request: Request, refused: bool, as_json: bool) -> None:
    """Send what waits, without waiting for the time that was set after a failure."""
    spool = Spool(request.settings.state / FOLDER)
    target = target_of(request.settings.hook_collector)
    if refused:
        spool.reconsider()
    done = flush(spool, target, wait=WAIT)
    if as_json:
        request.output.json({"target": target.url, **msgspec.to_builtins(done)})
    elif not done.waiting:
        request.output.print(told(done, target.url))
    if done.waiting:
        raise SourceError(
            f"{counted(done.waiting, 'span')} still waiting: {done.reason}",
            "`plait trace status` shows more",
        )


def told(done: Delivered, url: str) -> str:
    """Says what was sent."""
    if not (done.sent or done.refused):
        return "nothing waits"
    refused = f", {done.refused} refused: {done.reason}" if done.refused else ""
    return f"sent {counted(done.sent, 'span')} to {url}{refused}"
