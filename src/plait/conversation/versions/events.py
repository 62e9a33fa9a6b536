"""Conversations of a session to what happened to files in them, with the texts that the log holds.

Calls tell what they changed; reads and backups tell what a file held.
"""

import ntpath
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.changes import of_call
from plait.conversation.model import Called, Conversation, Conversations, Noted, Turn
from plait.conversation.patches import Patch, logged_hunks
from plait.conversation.versions.model import EventKind, FileEvent, Origin, Replacement, Text
from plait.conversation.versions.text import NOTHING, text_of
from plait.conversation.walk import opened
from plait.graph.paths import SPOKEN
from plait.line.discover import WINDOWS
from plait.record.codec import mapping, said, whole_number
from plait.record.time import sortable

LONGEST_LINE = 2000
"""Characters after which a read cuts a line."""
CREATED = re.compile(r"created successfully|created at", re.IGNORECASE)
ACTIONS: Mapping[str, EventKind] = {"created": "created", "written": "written", "edited": "edited"}


class Kept(Struct, frozen=True):
    """What a backup holds."""

    text: Text | None
    is_there: bool = True


LoadBackup: TypeAlias = Callable[[Any], Kept | None]
"""Gives what a backup of a snapshot holds, None where that is lost or no text."""


def events_of(
    told: Conversations, directory: str | None, load: LoadBackup
) -> tuple[FileEvent, ...]:
    """Returns what happened to files in all conversations of a session, in the order of time."""
    found: list[FileEvent] = []
    turns = sending_turns(told)
    for one in told.by_line.values():
        prompts = _Prompts(told, one, turns)
        found.extend(_events_in(one, prompts, directory, load))
    return tuple(sorted(found, key=lambda event: event.time))


def sending_turns(told: Conversations) -> dict[str, tuple[str, int]]:
    """Returns for each agent the conversation and the turn of it that sent it out.

    An agent that an agent sent out counts where the first of them was.
    """
    found: dict[str, tuple[str, int]] = {}
    spoken = [one for one in told.by_line.values() if one.kind in SPOKEN]
    waiting: list[tuple[Conversation, tuple[str, int] | None]] = [(one, None) for one in spoken]
    while waiting:
        one, above = waiting.pop()
        for turn in one.turns:
            for item in turn.items:
                for name in item.agents if isinstance(item, Called) else ():
                    if name in told.by_line and name not in found:
                        found[name] = above or (one.id, turn.number)
                        waiting.append((told.by_line[name], found[name]))
    return found


class _Prompts:
    """Gives where something was done, in the words of the person who asked for it."""

    def __init__(
        self, told: Conversations, one: Conversation, turns: Mapping[str, tuple[str, int]]
    ) -> None:
        self._session, self._one = told.session, one
        self._agent = None if one.kind in SPOKEN else one.label or one.agent or one.id
        self._sent: tuple[int, str | None] | None = None
        self._branch = None if one.id == told.main else one.id
        if self._agent is not None:
            line, number = turns.get(one.id, ("", 0))
            above = told.by_line.get(line)
            asked = (turn for turn in (above.turns if above else ()) if turn.number == number)
            self._sent = number, next((turn.prompt for turn in asked), None)
            self._branch = None if line in ("", told.main) else line

    def origin(self, turn: Turn, item: Called | Noted) -> Origin:
        """Returns where something was done."""
        number, prompt = self._sent or (turn.number, turn.prompt)
        return Origin(
            session=self._session,
            line=self._one.id,
            turn=number,
            branch=self._branch,
            uuid=item.uuid,
            time=item.time,
            call=item.call if isinstance(item, Called) else None,
            prompt=prompt,
            agent=self._agent,
            model=self._model(item),
            is_active=self._one.is_active,
        )

    def _model(self, item: Called | Noted) -> str | None:
        return self._one.responses[item.response].model if isinstance(item, Called) else None


def _events_in(
    one: Conversation, prompts: _Prompts, directory: str | None, load: LoadBackup
) -> Iterator[FileEvent]:
    last = sortable(one.started) or ""
    for turn in one.turns:
        for item in opened(turn.items):
            time = item.answered_at or item.time if isinstance(item, Called) else item.time
            last = sortable(time) or last
            if isinstance(item, Called) and not item.is_intermediate and item.outcome == "ok":
                found = _of_call(item, prompts.origin(turn, item), last, directory)
                if found:
                    yield found
            elif isinstance(item, Noted) and item.kind.startswith("file-history"):
                yield from _of_snapshot(item, prompts.origin(turn, item), last, directory, load)


def _of_call(called: Called, origin: Origin, time: str, directory: str | None) -> FileEvent | None:
    touch = of_call(called, origin.turn)
    if touch is None:
        return None
    path = whole_path(touch.path, directory)
    view = mapping(called.result.detail if called.result else None)
    if touch.action == "read":
        text = _read_text(view)
        if text is None:
            return None
        return FileEvent(path=path, kind="read", time=time, origin=origin, after=text)
    if touch.action not in ACTIONS:
        return None
    kind = _kind_of(called, ACTIONS[touch.action], touch.patch)
    given = mapping(called.input)
    asked = FileEvent(
        path=path,
        kind=kind,
        time=time,
        origin=origin,
        after=_after(called, given, {}),
        replacements=tuple(_replacements(called.name, given, {})),
    )
    return replace(
        asked,
        before=NOTHING if kind == "created" else _before(view),
        after=_after(called, given, view),
        hunks=tuple(logged_hunks(view.get("structuredPatch"))),
        replacements=tuple(_replacements(called.name, given, view)),
        proposal=asked if touch.is_user_modified else None,
    )


def _kind_of(called: Called, action: EventKind, patch: Patch | None) -> EventKind:
    is_told = called.result is not None and CREATED.search(called.result.text) is not None
    view = mapping(called.result.detail if called.result else None)
    if view.get("type") == "update":
        return "written"
    if action == "created" or (patch and patch.is_new):
        return "created"
    return "created" if called.name == "Write" and not view and is_told else action


def _before(view: Mapping[str, Any]) -> Text | None:
    for name in ("originalFile", "originalFileContents", "original_file"):
        if isinstance(text := view.get(name), str):
            return text_of(text)
    return None


def _after(called: Called, given: Mapping[str, Any], view: Mapping[str, Any]) -> Text | None:
    if called.name == "Write":
        content = said(view, "content")
        content = said(given, "content") if content is None else content
        return None if content is None else text_of(content)
    updated = said(view, "updated_file")
    return None if updated is None else text_of(updated)


def _replacements(
    name: str, given: Mapping[str, Any], view: Mapping[str, Any]
) -> Iterator[Replacement]:
    if name == "MultiEdit":
        edits = view.get("edits") or given.get("edits")
        for one in edits if isinstance(edits, list) else ():
            edit = mapping(one)
            old, new = said(edit, "old_string"), said(edit, "new_string")
            if old is not None and new is not None:
                yield Replacement(old, new, edit.get("replace_all") is True)
    elif name == "Edit":
        old, new = said(view, "oldString"), said(view, "newString")
        if old is None or new is None:
            old, new = said(given, "old_string"), said(given, "new_string")
        if old is not None and new is not None:
            is_everywhere = True in (view.get("replaceAll"), given.get("replace_all"))
            yield Replacement(old, new, is_everywhere)


def _read_text(view: Mapping[str, Any]) -> Text | None:
    """Returns what was read, where that is all of the file and nothing was cut."""
    file = mapping(view.get("file"))
    content = said(file, "content")
    if view.get("type") != "text" or content is None or whole_number(file.get("startLine")) != 1:
        return None
    count = whole_number(file.get("totalLines"))
    lines = content.split("\n")
    is_whole = count == whole_number(file.get("numLines")) and len(lines) in (count, count + 1)
    if not is_whole or any(len(line) >= LONGEST_LINE for line in lines):
        return None
    return text_of(content)


def _of_snapshot(
    note: Noted, origin: Origin, time: str, directory: str | None, load: LoadBackup
) -> Iterator[FileEvent]:
    value = mapping(note.value)
    snapshot = mapping(value.get("snapshot"))
    tracked = mapping(snapshot.get("trackedFileBackups"))
    is_prompt = bool(snapshot) and value.get("isSnapshotUpdate") is not True
    if isinstance(path := value.get("trackingPath"), str):
        tracked = {path: value.get("backup")}
    taken = sortable(said(snapshot, "timestamp")) if is_prompt else None
    for name, backup in tracked.items():
        kept = load(backup)
        fields = mapping(backup)
        parent = said(fields, "realParentDir")
        where = posixpath.join(parent, posixpath.basename(name)) if parent else name
        moments = {sortable(said(fields, "backupTime")), taken} - {None}
        for moment in sorted(moments or {time}, key=str) if kept else ():
            assert kept is not None
            yield FileEvent(
                path=whole_path(where, directory),
                kind="backed up",
                time=str(moment),
                origin=origin,
                after=kept.text if kept.is_there else NOTHING,
                is_there=kept.is_there,
            )


def whole_path(path: str, directory: str | None) -> str:
    """Returns a path from the root on, in one form."""
    if WINDOWS.match(path) or (directory and WINDOWS.match(directory)):
        return ntpath.normpath(ntpath.join(directory or "", path))
    return posixpath.normpath(posixpath.join(directory or "", path))
