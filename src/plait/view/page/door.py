"""The pages of those who have not been let in yet."""

from plait.view.page.escape import esc
from plait.view.page.shell import page


def door_page(reason: str, *, can_enter: bool = True) -> str:
    """Returns the page that says how to come in."""
    form = (
        '<form method="post" action="/enter"><label for="ticket">Key</label>'
        '<input id="ticket" name="ticket" autocomplete="off" autofocus spellcheck="false">'
        "<button>Enter</button></form>"
    )
    ways = (
        "<p>Your sessions are shown to you alone. <code>plait open</code> in a terminal opens this "
        "page; or enter the key that <code>plait serve</code> printed.</p>"
    )
    body = f'<main class="door"><h1>Plait</h1><p class="reason">{esc(reason)}</p>'
    body += ways + form if can_enter else "<p>Open the address that Plait printed.</p>"
    return page("Plait", f"{body}</main>", root="/", is_served=True)


def passing_page(to: str) -> str:
    """Returns the page that goes on to another by itself."""
    head = f'<meta http-equiv="refresh" content="0;url={esc(to)}">'
    body = f'<main class="door"><h1>Plait</h1><p><a href="{esc(to)}">Go on</a></p></main>'
    return page("Plait", body, root="/", is_served=True, head=head)


def opening_page(address: str, ticket: str, to: str) -> str:
    """Returns a page for the disk that shows its ticket to the server and is gone.

    It is no page of the server: a script of its own sends the form.
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Plait</title>'
        '<meta name="referrer" content="no-referrer"></head><body>'
        f'<form method="post" action="{esc(address)}/enter">'
        f'<input type="hidden" name="ticket" value="{esc(ticket)}">'
        f'<input type="hidden" name="to" value="{esc(to)}">'
        "<button>Open Plait</button></form>"
        "<script>document.forms[0].submit()</script></body></html>"
    )
