"""`plait star`: sessions and turns to find again."""

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from plait.archive import PinnedTurn, Session
from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.cli.selection import format_show_command
from plait.errors import UserError
from plait.index.query import Or, filter_by_sessions
from plait.terminal.text import now, safe, short_id
from plait.view.formats import format_count
from plait.view.text import shorten_to_width


@command(examples="plait star 3f2a\nplait star 3f2a --turn 12\nplait star --turns")
def star_command(
    request: Request,
    names: tuple[str, ...] = shared.sessions,
    turn: str | None = option(
        "--turn", "--at", metavar="TURN", help="Star this turn of the session instead."
    ),
    branch: str | None = option(
        "--branch", metavar="B", help="The turn's branch, by name or number as in `plait log`."
    ),
    lists_turns: bool = option("--turns", help="List the starred turns."),
    remove: bool = option("--remove", help="Remove the star."),
    as_json: bool = shared.as_json,
) -> None:
    """Star each SESSION, or one turn of a session; without arguments, list what is starred.

    Name a turn by its number, the id of one of its records, or words from its prompt. Stars are stored in Plait's
    data folder: no session is changed.
    """
    stars, output = request.archive.stars, request.output
    if turn is not None or branch is not None or lists_turns:
        if len(names) > 1 or (turn is not None and not names):
            raise UserError("`--turn` takes one session", "`plait star SESSION --turn TURN`")
        name = names[0] if names else None
        if name is not None and turn is not None:
            pin = (stars.unpin if remove else stars.pin)(request.session(name), turn, branch)
            done = "no longer starred" if remove else "starred"
            output.note(f"{done}: turn {pin.turn}, “{shorten_to_width(safe(pin.words), 60)}”")
        elif branch is not None or remove:
            raise UserError("no turn given", "`plait star SESSION --turn TURN`")
        if as_json or turn is None:
            pins = stars.pins(request.session(name) if name else None)
            _list_pins(request, pins, as_json=as_json)
        return
    if remove and not names:
        raise UserError("no session given", "`plait star SESSION --remove`")
    for name in names:
        if remove and name in stars.ids:  # perhaps its session no longer exists
            stars.remove(name)
            output.note(f"no longer starred: {short_id(name)}")
            continue
        session = request.session(name)
        label = _describe_session(request, session)
        if remove:
            done = "no longer starred" if stars.remove(session) else "not starred"
        else:
            done = "starred" if stars.add(session) else "already starred"
        output.note(f"{done}: {label}")
    if as_json or not names:
        _list_starred(request, as_json=as_json)


def starred_filter(request: Request) -> "Or":
    """Return the search filter for starred sessions; fail if there are none."""
    if not request.starred:
        raise UserError("no session is starred", "`plait star SESSION` stars one")
    here = [session.id for session in request.archive.stars.sessions]
    if not here:
        raise UserError("no starred session is under these roots", "`plait star` lists them")
    return filter_by_sessions(here)


def _describe_session(request: Request, session: "Session") -> str:
    title = request.archive.facts(session).title or "(no title)"
    return f"{short_id(session.id)} {shorten_to_width(safe(title), 60)}"


def _list_starred(request: Request, *, as_json: bool) -> None:
    archive, output = request.archive, request.output
    stars, sessions = archive.stars.file.stars(), archive.stars.sessions
    facts = {session.id: archive.facts(session) for session in sessions}
    if as_json:
        found = [(star, facts.get(star.session)) for star in stars]
        output.json(
            [
                {"session": star.session, "at": star.at, "here": row is not None}
                | {name: getattr(row, name, None) for name in ("title", "project", "path")}
                for star, row in found
            ]
        )
        return
    if not stars:
        output.print_message("no session is starred; `plait star SESSION` stars one")
        return
    if sessions:
        from plait.archive.listing import read_figures
        from plait.cli.ls import print_sessions

        shown = [archive.facts(session) for session in sessions]
        with request.open_archive(no_index=False) as indexed:
            figures = read_figures(indexed, shown, request.prices)
        with output.paged():
            print_sessions(output, [("", shown)], figures, now(), starred=request.starred)
    if missing := len(stars) - len(sessions):
        words = f"{format_count(missing, 'starred session')} not under these roots"
        output.print(words, style="dim")


def _list_pins(request: Request, pins: "Sequence[PinnedTurn]", *, as_json: bool) -> None:
    output, facts = request.output, request.archive.facts
    sessions = {session.id: session for session in request.archive.sessions}
    if as_json:
        values: list[dict[str, Any]] = []
        for pin in pins:
            session = sessions.get(pin.session)
            value = to_builtins(pin)
            del value["is_main"]
            value["title"] = facts(session).title if session else None
            value["open"] = None if pin.why_gone else _open_command(request, pin)
            values.append(value)
        output.json(values)
        return
    if not pins:
        output.print_message("no turn is starred; `plait star SESSION --turn TURN` stars one")
        return
    groups: dict[str, list[PinnedTurn]] = {}
    for pin in pins:
        groups.setdefault(pin.session, []).append(pin)
    with output.paged():
        for place, (name, members) in enumerate(groups.items()):
            if place:
                output.print("")
            session = sessions.get(name)
            label = _describe_session(request, session) if session else short_id(name)
            output.print(label, style="bold")
            for pin in members:
                turn = f"turn {pin.turn}" if pin.turn is not None else "a turn"
                prompt = shorten_to_width(safe(pin.words) or "…", max(output.width - 14, 20))
                output.print(f"  {turn}  {prompt}")
                if pin.why_gone:
                    output.print(f"    {pin.why_gone}", style="yellow")
                else:
                    output.print_unwrapped(f"    {_open_command(request, pin)}", style="dim italic")


def _open_command(request: Request, pin: "PinnedTurn") -> str:
    return format_show_command(request, pin.session, None if pin.is_main else pin.line, pin.turn)
