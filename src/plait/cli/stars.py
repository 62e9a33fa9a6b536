"""`plait star` and `plait pin`: sessions and turns to find again, set, taken away and listed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, complete_session, global_options, json_option
from plait.cli.text import clipped, counted, now, safe, short, to_type
from plait.errors import UserError

if TYPE_CHECKING:
    from plait.archive import PinnedTurn, Session
    from plait.cli.output import Output
    from plait.index.query import Either


@click.command("star")
@click.argument("names", metavar="[SESSION]...", nargs=-1, shell_complete=complete_session)
@click.option("--remove", is_flag=True, help="Take their stars away.")
@json_option
@global_options
@click.pass_obj
def star_command(request: Request, names: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """Star each SESSION, or list those that are starred.

    Stars and pins are kept in Plait's data folder: no session is changed.
    """
    if remove and not names:
        raise UserError("say which session loses its star", "`plait star SESSION --remove`")
    for name in names:
        _unstar(request, name) if remove else _star(request, name)
    if as_json or not names:
        _list_starred(request, as_json=as_json)


def _star(request: Request, name: str) -> None:
    found = request.session(name)
    words = "starred" if request.archive.stars.add(found) else "starred already"
    request.output.note(f"{words}: {_named(request, found)}")


def _unstar(request: Request, name: str) -> None:
    stars = request.archive.stars
    found = name if name in stars.ids else request.session(name)
    told = short(found) if isinstance(found, str) else _named(request, found)
    words = "no longer starred" if stars.remove(found) else "not starred"
    request.output.note(f"{words}: {told}")


@click.command("pin")
@click.argument("session", required=False, shell_complete=complete_session)
@click.argument("turn", required=False)
@click.option(
    "--branch", metavar="B", help="Of another branch: its name or number as `plait log` has it."
)
@click.option("--remove", is_flag=True, help="Take the pin away.")
@json_option
@global_options
@click.pass_obj
def pin_command(
    request: Request,
    session: str | None,
    turn: str | None,
    branch: str | None,
    remove: bool,
    as_json: bool,
) -> None:
    """Pin a TURN of SESSION, or list what is pinned: in all sessions, or in one.

    TURN is a number, the id of a record, or words of a prompt.
    """
    if session is not None and turn is not None:
        _pin(request, session, turn, branch, is_removed=remove)
    elif branch is not None or remove:
        raise UserError("say which turn is meant", "`plait pin SESSION TURN`")
    if as_json or turn is None:
        found = request.archive.stars.pins(request.session(session) if session else None)
        _list_pins(request, found, as_json=as_json)


def _pin(
    request: Request, session: str, turn: str, branch: str | None, *, is_removed: bool
) -> None:
    stars, meant = request.archive.stars, request.session(session)
    one = (stars.unpin if is_removed else stars.pin)(meant, turn, branch)
    words = "no longer pinned" if is_removed else "pinned"
    request.output.note(f"{words}: turn {one.turn}, “{clipped(safe(one.words), 60)}”")


def among_starred(request: Request) -> "Either":
    """Returns what a search asks for, so that it looks in starred sessions alone."""
    from plait.index.query import of_sessions

    if not request.starred:
        raise UserError("no session is starred", "`plait star SESSION` stars one")
    return of_sessions(request.starred)


def _named(request: Request, session: "Session") -> str:
    title = clipped(safe(request.archive.facts(session).title or "(no title)"), 60)
    return f"{short(session.id)} {title}"


def _list_starred(request: Request, *, as_json: bool) -> None:
    archive, output = request.archive, request.output
    stars, here = archive.stars.file.stars(), archive.stars.sessions
    facts = {one.id: archive.facts(one) for one in here}
    if as_json:
        output.json(
            [
                {
                    "session": one.session,
                    "at": one.at,
                    "here": one.session in facts,
                    "title": facts[one.session].title if one.session in facts else None,
                    "project": facts[one.session].project if one.session in facts else None,
                    "path": facts[one.session].path if one.session in facts else None,
                }
                for one in stars
            ]
        )
        return
    if not stars:
        output.say("no session is starred: `plait star SESSION` stars one")
        return
    _print_starred(request, here)
    if missing := len(stars) - len(here):
        output.print(f"{counted(missing, 'starred session')} not under these roots", style="dim")


def _print_starred(request: Request, sessions: "Sequence[Session]") -> None:
    from plait.cli.listing import Listing, figures_of

    if not sessions:
        return
    rows = [request.archive.facts(one) for one in sessions]
    with request.answering(no_index=False) as archive:
        figures = figures_of(archive, request, rows)
    with request.output.paged():
        Listing(request.output, now(), figures, starred=request.starred).print([("", rows)])


def _opening(request: Request, pin: "PinnedTurn") -> str:
    parts = ["plait", "show", short(pin.session)]
    if not pin.is_main and pin.line:
        parts += ["--branch", pin.line.rpartition("@")[2].rpartition("#")[2]]
    parts += ["--turn", str(pin.turn)]
    return to_type(*parts, *(word for root in request.roots for word in ("--root", root)))


def _pin_value(request: Request, pin: "PinnedTurn") -> dict[str, Any]:
    from msgspec import to_builtins

    value: dict[str, Any] = to_builtins(pin)
    del value["is_main"]
    here = {one.id: one for one in request.archive.sessions}.get(pin.session)
    title = request.archive.facts(here).title if here else None
    return value | {"title": title, "open": None if pin.why_gone else _opening(request, pin)}


def _list_pins(request: Request, pins: "Sequence[PinnedTurn]", *, as_json: bool) -> None:
    output = request.output
    if as_json:
        output.json([_pin_value(request, one) for one in pins])
        return
    if not pins:
        output.say("no turn is pinned: `plait pin SESSION TURN` pins one")
        return
    sessions = {one.id: one for one in request.archive.sessions}
    groups: dict[str, list[PinnedTurn]] = {}
    for one in pins:
        groups.setdefault(one.session, []).append(one)
    with output.paged():
        for place, (name, held) in enumerate(groups.items()):
            if place:
                output.print("")
            here = sessions.get(name)
            output.print(_named(request, here) if here else short(name), style="bold")
            for pin in held:
                _print_pin(output, pin, _opening(request, pin))


def _print_pin(output: "Output", pin: "PinnedTurn", opening: str) -> None:
    place = f"  turn {pin.turn}" if pin.turn is not None else "  a turn"
    output.print(f"{place}  {clipped(safe(pin.words) or '…', max(output.width - 14, 20))}")
    if pin.why_gone:
        output.print(f"    gone: {pin.why_gone}", style="yellow")
    else:
        output.unbroken(f"    {opening}", style="dim italic")
