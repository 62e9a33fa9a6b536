"""Shares of a whole to bars that lie: drawn in a hundred parts, as wide as their place."""

from collections.abc import Iterable

from plait.view.page.escape import esc

THIN = 0.4
"""What is there is seen, however little it is."""


def bar(share: float, kind: str = "") -> str:
    """Returns one bar."""
    return stack([(kind, share)])


def stack(parts: Iterable[tuple[str, float]]) -> str:
    """Returns bars one behind the other, each with the name of its kind."""
    drawn, at = "", 0.0
    for kind, share in parts:
        if share > 0:
            width = min(max(100 * share, THIN), 100 - at)
            drawn += f'<rect class="{esc(kind)}" x="{at:.2f}" width="{width:.2f}" height="8"/>'
            at += width
    return drawing(drawn)


def drawing(inner: str, height: int = 8, width: int = 100) -> str:
    """Returns a drawing that fills its place; the words beside it say the same."""
    return (
        f'<svg class="shares" viewBox="0 0 {width} {height}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{inner}</svg>'
    )


def legend(parts: Iterable[tuple[str, str, str]]) -> str:
    """Returns what the kinds of bars mean: the kind, its name, its figure."""
    items = "".join(
        f'<li><svg class="swatch" viewBox="0 0 8 8" aria-hidden="true"><rect class="{esc(kind)}" '
        f'width="8" height="8"/></svg>{esc(name)}{f" <b>{esc(figure)}</b>" if figure else ""}</li>'
        for kind, name, figure in parts
    )
    return f'<ul class="swatches">{items}</ul>'
