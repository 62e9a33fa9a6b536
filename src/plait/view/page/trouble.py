"""What went wrong to a page that says so, and what to do."""

from collections.abc import Iterable

from plait.view.page.escape import esc
from plait.view.page.frame import framed


def trouble_page(message: str, hints: Iterable[str]) -> str:
    """Returns the page of an error."""
    told = message[:1].upper() + message[1:]
    help_ = "".join(f"<li>{esc(hint)}</li>" for hint in hints)
    main = (
        f'<main class="trouble"><h1>{esc(told)}</h1>{f"<ul>{help_}</ul>" if help_ else ""}'
        '<p><a href="/">All sessions</a></p></main>'
    )
    return framed(told, main)
