"""`plait index --watch`: changes of the logs to an index that is always up to date."""

import msgspec

from plait.archive.watch import changes
from plait.cli.index import brought_up_to_date, in_words
from plait.cli.options import Request
from plait.cli.output import write_bytes
from plait.errors import PlaitError
from plait.index.model import Report


def keep_watch(request: Request, *, rebuild: bool, as_json: bool) -> None:
    """Keeps the index up to date until it is interrupted."""
    report = brought_up_to_date(request, rebuild=rebuild)
    tell(request, report, as_json=as_json)
    places = [root.logs for root in request.archive.roots]
    if not as_json:
        request.output.note(f"watching {', '.join(map(str, places))}: stop with Ctrl-C")
    for _ in changes(places):
        try:
            renewed = Request(request.roots, request.colour, request.has_pager)
            report = brought_up_to_date(renewed)
        except PlaitError as error:  # a folder that has gone may come back
            request.output.note(error.message)
            continue
        if not report.is_unchanged:
            tell(request, report, as_json=as_json)


def tell(request: Request, report: Report, *, as_json: bool) -> None:
    """Writes one line about what was done."""
    if as_json:
        write_bytes(msgspec.json.encode(report) + b"\n")
    else:
        write_bytes(f"{in_words(report)}\n".encode())
