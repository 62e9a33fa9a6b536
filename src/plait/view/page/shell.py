"""The frame of a page: its head, its policy, its scripts."""

from base64 import b64encode
from hashlib import sha256

from msgspec import Struct

from plait.view.page.escape import esc

POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


class Assets(Struct, frozen=True):
    """What a page is drawn and moved with, as texts."""

    style: str
    script: str
    highlighter: str


def page(title: str, body: str, *, root: str, inlined: Assets | None = None) -> str:
    """Returns a whole page; with its assets inside where one file should do."""
    scripts = styles = "'self'"
    links = (
        f'<link rel="stylesheet" href="{root}assets/plait.css">'
        f'<script src="{root}assets/plait.js" defer></script>'
    )
    if inlined:
        scripts = " ".join(digest(text) for text in (inlined.script, inlined.highlighter))
        styles = digest(inlined.style)
        links = f"<style>{inlined.style}</style>"
        body += f"<script>{inlined.highlighter}</script><script>{inlined.script}</script>"
    policy = POLICY.format(scripts=scripts, styles=styles)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{esc(title)}</title>{links}</head>"
        f'<body data-root="{root}">{body}</body></html>'
    )


def digest(text: str) -> str:
    """Returns the name by which a policy allows one text and no other."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
