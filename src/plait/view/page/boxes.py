"""A line and what stands behind it to one element that opens."""


def box(kind: str, place: str, head: str, body: str, *, is_open: bool = False) -> str:
    """Returns a line that opens; one that has nothing behind it is just a line."""
    if not body:
        return f'<div class="{kind}"{place}><div class="line">{head}</div></div>'
    state = " open" if is_open else ""
    return (
        f'<details class="{kind}"{place}{state}><summary class="line">{head}</summary>'
        f'<div class="body">{body}</div></details>'
    )
