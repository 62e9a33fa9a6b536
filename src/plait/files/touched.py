"""The files that sessions touched: of one session by file and by turn, of an archive by path."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from plait.conversation.changes import CHANGING, Touch, iter_touches
from plait.conversation.model import Conversations
from plait.files.events import NetChange, map_agent_launches, resolve_path
from plait.graph.paths import SPOKEN
from plait.index.catalogue import TouchRow, load_detailed_sessions, load_touches
from plait.sessions.fresh_index import FreshIndex, catalogue_key
from plait.sessions.model import Session
from plait.sessions.open_session import open_session
from plait.sessions.statistics import fill_session_rows
from plait.view.summaries import format_prompt
from plait.view.text import shorten

MAX_TEXT = 160


class SessionTouch(Struct, frozen=True, kw_only=True):
    """Something that happened to a file, and where in the session."""

    number: int
    """From 1, over all of the session."""
    touch: Touch
    line: str
    """The conversation."""
    by: str | None = None
    """The agent's task; None in the main conversation."""
    turn: int
    """In the main conversation: an agent counts for the turn that started it."""
    is_active: bool = True

    @property
    def is_change(self) -> bool:
        """Whether it changed the file."""
        return self.touch.action in CHANGING and self.touch.outcome == "ok"


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file with everything that happened to it."""

    number: int
    path: str
    touches: tuple[SessionTouch, ...] = field(name="handled")
    reads: int = 0
    changes: int = 0
    failed: int = 0
    added: int = 0
    removed: int = 0
    is_new: bool = False
    net: NetChange | None = None
    """None if it was not changed."""


class TurnFiles(Struct, frozen=True, kw_only=True):
    """A turn with the files that it touched."""

    number: int
    prompt: str = field(name="words")
    uuid: str | None
    touches: tuple[SessionTouch, ...] = field(name="handled")


class ChangedFiles(Struct, frozen=True, kw_only=True):
    """What a session did to files."""

    files: tuple[ChangedFile, ...]
    """The changed ones first, then the others, each in the order of their first touch."""
    turns: tuple[TurnFiles, ...]
    """Of the active conversation."""


def list_changed_files(
    conversations: Conversations,
    net: Mapping[str, NetChange] | None = None,
    directory: str | None = None,
) -> ChangedFiles:
    """Return what all conversations of a session did to files, with the net change of each.

    Relative paths, as in the names of backups, start from `directory`.
    """
    touches: list[SessionTouch] = []
    launch_turns = {name: turn for name, (_, turn) in map_agent_launches(conversations).items()}
    others = [
        conversation
        for conversation in conversations.by_line.values()
        if conversation.id != conversations.main
    ]
    for conversation in (conversations.active, *others):
        is_spoken = conversation.kind in SPOKEN
        task = conversation.label or conversation.agent or conversation.id
        for touch in iter_touches(conversation):
            touches.append(
                SessionTouch(
                    number=len(touches) + 1,
                    touch=replace(touch, path=resolve_path(touch.path, directory)),
                    line=conversation.id,
                    by=None if is_spoken else shorten(task, MAX_TEXT),
                    turn=touch.turn if is_spoken else launch_turns.get(conversation.id, 0),
                    is_active=conversation.is_active,
                )
            )
    by_path: dict[str, list[SessionTouch]] = {}
    for numbered in touches:
        by_path.setdefault(numbered.touch.path, []).append(numbered)
    ordered = sorted(
        by_path.items(), key=lambda item: not any(touch.is_change for touch in item[1])
    )
    files: list[ChangedFile] = []
    for number, (path, found) in enumerate(ordered, 1):
        succeeded = [touch for touch in found if touch.touch.outcome == "ok"]
        patches = [touch.touch.patch for touch in succeeded if touch.touch.patch]
        files.append(
            ChangedFile(
                number=number,
                path=path,
                touches=tuple(found),
                reads=sum(touch.touch.action == "read" for touch in succeeded),
                changes=sum(touch.is_change for touch in succeeded),
                failed=len(found) - len(succeeded),
                added=sum(patch.added for patch in patches),
                removed=sum(patch.removed for patch in patches),
                is_new=any(touch.touch.action == "created" for touch in succeeded),
                net=(net or {}).get(path),
            )
        )
    return ChangedFiles(files=tuple(files), turns=tuple(_iter_turns(conversations, touches)))


def _iter_turns(
    conversations: Conversations, touches: Iterable[SessionTouch]
) -> Iterator[TurnFiles]:
    agents = {
        conversation.id
        for conversation in conversations.by_line.values()
        if conversation.kind not in SPOKEN
    }
    by_turn: dict[int, list[SessionTouch]] = {}
    for touch in touches:
        if touch.line == conversations.main or (touch.line in agents and touch.is_active):
            by_turn.setdefault(touch.turn, []).append(touch)
    for turn in conversations.active.turns:
        if turn.number in by_turn:
            yield TurnFiles(
                number=turn.number,
                prompt=shorten(format_prompt(turn.opener.text), MAX_TEXT) if turn.opener else "",
                uuid=turn.opener.uuid if turn.opener else None,
                touches=tuple(by_turn[turn.number]),
            )


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


def read_indexed_touches(
    index: FreshIndex, sessions: Sequence[Session], path: str | None
) -> list[TouchRow]:
    """Return what some sessions did to files; those without rows in the index are read first."""

    def has_rows() -> bool:
        known = load_detailed_sessions(index.catalogue)
        return all(index.session_number(session) in known for session in sessions)

    if not has_rows():
        fill_session_rows(index, lambda items: items)
        if not has_rows():  # another process was writing
            return read_touches(sessions, path)
    keys = {catalogue_key(session.path) for session in sessions}
    return drop_copied_touches(
        row for row in load_touches(index.catalogue, path) if row.session in keys
    )


def read_touches(sessions: Iterable[Session], path: str | None) -> list[TouchRow]:
    """Return the same from the logs."""
    rows = (row for session in sessions for row in _iter_touch_rows(session))
    return drop_copied_touches(row for row in rows if path in (None, row.path))


def _iter_touch_rows(session: Session) -> Iterator[TouchRow]:
    for conversation in open_session(session).by_line.values():
        is_agent = conversation.kind in ("agent", "service")
        state = "active" if conversation.is_active else "abandoned"
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
                    conversation.kind if is_agent else state,
                )


def drop_copied_touches(rows: Iterable[TouchRow]) -> list[TouchRow]:
    """Return rows by time, once if a session was copied."""
    distinct: dict[tuple[object, ...], TouchRow] = {}
    for row in sorted(rows, key=lambda row: (row.time or "", row.session)):
        key = (row.uuid, row.path, row.action) if row.uuid else (row.session, row.path, row.time)
        distinct.setdefault(key, row)
    return list(distinct.values())


def summarize_touches(rows: Iterable[TouchRow]) -> list[TouchedPath]:
    """Return the paths, last touched first."""
    by_path: dict[str, list[TouchRow]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    paths = []
    for path, touches in by_path.items():
        succeeded = [row for row in touches if row.outcome == "ok"]
        changes = [row for row in succeeded if row.action in CHANGING]
        paths.append(
            TouchedPath(
                path=path,
                sessions=len({row.session for row in touches}),
                changes=len(changes),
                reads=sum(row.action == "read" for row in succeeded),
                added=sum(row.added or 0 for row in changes),
                removed=sum(row.removed or 0 for row in changes),
                last=max((row.time for row in touches if row.time), default=None),
            )
        )
    return sorted(paths, key=lambda path: path.last or "", reverse=True)
