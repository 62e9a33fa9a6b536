"""Markdown and plain text back to the words they were made of."""

import re

from plait.view.text import clean_text

DRESSING = re.compile(r"[\s\\#`~>|\ufffd]+")


def squeezed(text: str) -> str:
    """Return words alone: escapes undone, fences, white space and line signs left out."""
    plain = clean_text(text).replace("&nbsp;", " ").replace("&#33;", "!")
    for _ in range(3):  # an escape that was in the text is one still
        plain = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return DRESSING.sub("", plain)
