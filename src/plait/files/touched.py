"""The files that sessions touched: of one session by file and by turn, of an archive by path."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from plait.conversation.changes import CHANGING, Touch, iter_touches
from plait.conversation.model import Conversation, Conversations
from plait.files.events import NetChange
from plait.graph.paths import SPOKEN
from plait.index.catalogue import TouchRow, load_touches
from plait.sessions.fresh_index import catalogue_key
from plait.sessions.model import Session
from plait.sessions.open_session import open_session
from plait.view.summaries import format_prompt
from plait.view.text import shorten

if TYPE_CHECKING:
    from plait.sessions.fresh_index import FreshIndex


LONGEST = 160


class SessionTouch(Struct, frozen=True, kw_only=True):
    """Something that happened to a file, and where in the session."""

    number: int
    """From 1, over all of the session."""
    touch: Touch
    line: str
    """The conversation."""
    by: str | None = None
    """The agent's task, None where it happened in the conversation itself."""
    turn: int
    """Of the conversation that people had: an agent counts where it was sent out."""
    is_active: bool = True

    @property
    def is_change(self) -> bool:
        """Return whether the file is another since."""
        return self.touch.action in CHANGING and self.touch.outcome == "ok"


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file with all that happened to it."""

    number: int
    path: str
    handled: tuple[SessionTouch, ...]
    reads: int = 0
    changes: int = 0
    failed: int = 0
    added: int = 0
    removed: int = 0
    is_new: bool = False
    net: NetChange | None = None
    """What became of it in all; None where it was not changed."""


class TurnFiles(Struct, frozen=True, kw_only=True):
    """A turn with the files that it touched."""

    number: int
    words: str
    uuid: str | None
    handled: tuple[SessionTouch, ...]


class ChangedFiles(Struct, frozen=True, kw_only=True):
    """What a session did to files."""

    files: tuple[ChangedFile, ...]
    """Those that changed first, then the others, each in the order of their first touch."""
    turns: tuple[TurnFiles, ...]
    """Of the conversation that Claude would go on with."""


def list_changed_files(
    conversations: Conversations, net: Mapping[str, NetChange] | None = None
) -> ChangedFiles:
    """Return what all conversations of a session did to files, with what came of it in all."""
    handled = tuple(_all_handled(conversations))
    stories = tuple(_stories(handled, net or {}))
    return ChangedFiles(files=stories, turns=tuple(_turns_of(conversations, handled)))


def _all_handled(conversations: Conversations) -> Iterator[SessionTouch]:
    from plait.files.events import map_agent_launches

    turns = {name: turn for name, (_, turn) in map_agent_launches(conversations).items()}
    others = [
        conversation
        for conversation in conversations.by_line.values()
        if conversation.id != conversations.main
    ]
    number = 0
    for one in (conversations.active, *others):
        is_spoken = one.kind in SPOKEN
        words = None if is_spoken else shorten(one.label or one.agent or one.id, LONGEST)
        for touch in iter_touches(one):
            number += 1
            yield SessionTouch(
                number=number,
                touch=touch,
                line=one.id,
                by=words,
                turn=touch.turn if is_spoken else turns.get(one.id, 0),
                is_active=one.is_active,
            )


def _stories(
    handled: tuple[SessionTouch, ...], net: Mapping[str, NetChange]
) -> Iterator[ChangedFile]:
    from plait.files.events import resolve_path

    by_path: dict[str, list[SessionTouch]] = {}
    for one in handled:
        by_path.setdefault(one.touch.path, []).append(one)
    ordered = sorted(by_path.items(), key=lambda pair: not any(one.is_change for one in pair[1]))
    for number, (path, found) in enumerate(ordered, 1):
        yield _story(number, path, found, net.get(resolve_path(path, None)))


def _story(number: int, path: str, found: list[SessionTouch], net: NetChange | None) -> ChangedFile:
    done = [one for one in found if one.touch.outcome == "ok"]
    patches = [one.touch.patch for one in done if one.touch.patch]
    return ChangedFile(
        number=number,
        path=path,
        handled=tuple(found),
        reads=sum(one.touch.action == "read" for one in done),
        changes=sum(one.is_change for one in done),
        failed=len(found) - len(done),
        added=sum(patch.added for patch in patches),
        removed=sum(patch.removed for patch in patches),
        is_new=any(one.touch.action == "created" for one in done),
        net=net,
    )


def _turns_of(
    conversations: Conversations, handled: tuple[SessionTouch, ...]
) -> Iterator[TurnFiles]:
    agents = {
        conversation.id
        for conversation in conversations.by_line.values()
        if conversation.kind not in SPOKEN
    }
    by_turn: dict[int, list[SessionTouch]] = {}
    for one in handled:
        if one.line == conversations.main or (one.line in agents and one.is_active):
            by_turn.setdefault(one.turn, []).append(one)
    for turn in conversations.active.turns:
        if turn.number in by_turn:
            yield TurnFiles(
                number=turn.number,
                words=shorten(format_prompt(turn.opener.text), LONGEST) if turn.opener else "",
                uuid=turn.opener.uuid if turn.opener else None,
                handled=tuple(by_turn[turn.number]),
            )


CHANGES = frozenset(map(str, CHANGING))


class TouchedPath(Struct, frozen=True, kw_only=True):
    """A path, and what sessions did to it."""

    path: str
    sessions: int
    changes: int
    reads: int
    added: int
    removed: int
    last: str | None
    """When it was last touched."""

    @property
    def is_changed(self) -> bool:
        """Return whether anybody changed it."""
        return self.changes > 0


def read_indexed_touches(
    warm: "FreshIndex", sessions: Sequence[Session], path: str | None
) -> list[TouchRow]:
    """Return what some sessions did to files; those that the index has no rows of are read."""
    from plait.index.catalogue import load_detailed_sessions
    from plait.sessions.statistics import fill_session_rows

    def is_known() -> bool:
        known = load_detailed_sessions(warm.catalogue)
        return all(warm.session_number(session) in known for session in sessions)

    if not is_known():
        fill_session_rows(warm, lambda given: given)
        if not is_known():  # somebody else was writing
            return read_touches(sessions, path)
    keys = {catalogue_key(session.path) for session in sessions}
    return drop_copied_touches(
        row for row in load_touches(warm.catalogue, path) if row.session in keys
    )


def read_touches(sessions: Iterable[Session], path: str | None) -> list[TouchRow]:
    """Return the same from the logs."""
    found = (
        row for session in sessions for row in _touches_in(session) if path in (None, row.path)
    )
    return drop_copied_touches(found)


def _touches_in(session: Session) -> Iterator[TouchRow]:
    read = open_session(session)
    for conversation in read.by_line.values():
        for touch in iter_touches(conversation):
            if touch.action != "backed up":
                patch = touch.patch
                yield TouchRow(
                    catalogue_key(session.path),
                    touch.path,
                    touch.action,
                    touch.outcome,
                    touch.turn,
                    touch.time,
                    touch.uuid,
                    patch.added if patch else None,
                    patch.removed if patch else None,
                    conversation.kind,
                    _state(conversation),
                )


def _state(conversation: Conversation) -> str:
    if conversation.kind in ("agent", "service"):
        return conversation.kind
    return "active" if conversation.is_active else "abandoned"


def drop_copied_touches(rows: Iterable[TouchRow]) -> list[TouchRow]:
    """Return rows as time went, once where a session was copied."""
    found: dict[tuple[object, ...], TouchRow] = {}
    for row in sorted(rows, key=lambda one: (one.time or "", one.session)):
        name = (row.uuid, row.path, row.action) if row.uuid else (row.session, row.path, row.time)
        found.setdefault(name, row)
    return list(found.values())


def summarise_touches(rows: Iterable[TouchRow]) -> list[TouchedPath]:
    """Return the paths, the one that was touched last first."""
    by_path: dict[str, list[TouchRow]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    found = [_touched(path, several) for path, several in by_path.items()]
    return sorted(found, key=lambda one: one.last or "", reverse=True)


def _touched(path: str, rows: Sequence[TouchRow]) -> TouchedPath:
    done = [row for row in rows if row.outcome == "ok"]
    changes = [row for row in done if row.action in CHANGES]
    return TouchedPath(
        path=path,
        sessions=len({row.session for row in rows}),
        changes=len(changes),
        reads=sum(row.action == "read" for row in done),
        added=sum(row.added or 0 for row in changes),
        removed=sum(row.removed or 0 for row in changes),
        last=max((row.time for row in rows if row.time), default=None),
    )
