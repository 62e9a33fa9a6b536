"""The frame of a page: its head, its policy, its scripts."""

from base64 import b64encode
from hashlib import sha256

from msgspec import Struct

from plait.view.page.markup import PATHS, esc, icon_address

POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


ICON = f'<link rel="icon" href="{icon_address(PATHS["plait"], "%230b6e7d")}">'


class Assets(Struct, frozen=True):
    """What a page is drawn and moved with, as texts."""

    style: str
    script: str
    highlighter: str


def page(
    title: str,
    body: str,
    *,
    root: str,
    inlined: Assets | None = None,
    is_served: bool = False,
    head: str = "",
) -> str:
    """Returns a whole page; with its assets inside where one file should do.

    One that is served has its policy from the server, which knows more of it.
    """
    scripts = styles = "'self'"
    script = "app.js" if is_served else "plait.js"
    links = (
        f'<link rel="stylesheet" href="{root}assets/plait.css">'
        f'<script src="{root}assets/{script}" defer></script>'
    )
    if inlined:
        scripts = " ".join(digest(text) for text in (inlined.script, inlined.highlighter))
        styles = digest(inlined.style)
        links = f"<style>{inlined.style}</style>"
        body += f"<script>{inlined.highlighter}</script><script>{inlined.script}</script>"
    policy = POLICY.format(scripts=scripts, styles=styles)
    rule = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    if is_served:
        rule = head + ICON
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"{rule}"
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{esc(title)}</title>{links}</head>"
        f'<body data-root="{root}">{body}</body></html>'
    )


def digest(text: str) -> str:
    """Returns the name by which a policy allows one text and no other."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
