"""A session to the box in which it is exported."""

from urllib.parse import quote

from plait.view.page.escape import esc
from plait.view.page.icons import icon

FORMATS = (
    ("html", "A page", "one file that opens in any browser"),
    ("md", "Markdown", "for notes, issues, repositories"),
    ("json", "JSON", "for programs"),
)


def share_dialog(name: str) -> str:
    """Returns the box, closed: the formats, and what is replaced before a file goes out."""
    rows = "".join(
        f'<label><input type="radio" name="format" value="{value}"{checked(place)}>'
        f"<b>{words}</b> <span>{more}</span></label>"
        for place, (value, words, more) in enumerate(FORMATS)
    )
    return (
        '<dialog class="exporting" aria-labelledby="share-title">'
        f'<form method="post" action="/s/{esc(quote(name))}/export">'
        f'<h2 id="share-title">Export this session</h2><div class="formats">{rows}'
        '<label class="all"><input type="checkbox" name="branches" value="all" checked>'
        "<b>All branches</b> <span>the abandoned ones too</span></label></div>"
        "<p>Secrets, user names in paths, hosts, addresses and accounts are replaced by "
        "stand-ins before the file is made. What was replaced is told when it is there.</p>"
        '<p class="told" role="status"></p><div class="buttons">'
        f'<button class="main" name="redact" value="yes">{icon("share")}Download, redacted'
        "</button>"
        '<button name="redact" value="no" data-sure="Click again: nothing will be hidden">'
        "Without redaction …</button>"
        '<button type="button" data-do="close">Close</button></div></form></dialog>'
    )


def checked(place: int) -> str:
    """Returns what chooses the first of several."""
    return "" if place else " checked"
