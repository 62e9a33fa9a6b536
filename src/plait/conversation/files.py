"""A conversation to the files it touched: which turn read, wrote or edited which, and how."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Called, Conversation, Noted, Outcome
from plait.conversation.patches import Patch, patch_of, path_of
from plait.conversation.tools import tool_named
from plait.conversation.values import mapping, said
from plait.conversation.walk import walk

FileAction: TypeAlias = Literal[
    "read",
    "created",
    "written",  # all of it, over what was there
    "edited",
    "attached",  # named by the person, or brought along by the client
    "opened",  # or selected in the editor
    "changed",  # by someone else, as the client noticed
    "backed up",  # before a change
]
CHANGING: frozenset[FileAction] = frozenset({"created", "written", "edited"})
ATTACHED: Mapping[str, tuple[FileAction, str]] = {
    "file": ("attached", "filename"),
    "directory": ("attached", "path"),
    "nested_memory": ("attached", "path"),
    "compact_file_reference": ("attached", "filename"),
    "plan_file_reference": ("attached", "planFilePath"),
    "opened_file_in_ide": ("opened", "filename"),
    "selected_lines_in_ide": ("opened", "filename"),
    "edited_text_file": ("changed", "filename"),
}


class Touch(Struct, frozen=True):
    """Something that happened to a file."""

    path: str
    action: FileAction
    turn: int
    time: str | None = None
    uuid: str | None = None
    call: str | None = None
    outcome: Outcome = "ok"
    patch: Patch | None = None
    is_user_modified: bool = False


class TouchedFile(Struct, frozen=True):
    """A file with all that happened to it, in order."""

    path: str
    touches: tuple[Touch, ...]
    turns: tuple[int, ...]
    reads: int = 0
    changes: int = 0
    """How often it was created, written or edited."""
    added: int = 0
    removed: int = 0
    is_new: bool = False
    """True where the conversation made it."""


def files_of(conversation: Conversation) -> tuple[TouchedFile, ...]:
    """Returns the files of a conversation, in the order in which they were first touched."""
    return _gathered(touches_of(conversation))


def _gathered(touches: Iterable[Touch]) -> tuple[TouchedFile, ...]:
    by_path: dict[str, list[Touch]] = {}
    for touch in touches:
        by_path.setdefault(touch.path, []).append(touch)
    return tuple(_touched(path, found) for path, found in by_path.items())


def _touched(path: str, touches: list[Touch]) -> TouchedFile:
    done = [touch for touch in touches if touch.outcome == "ok"]
    patches = [touch.patch for touch in done if touch.patch]
    return TouchedFile(
        path,
        tuple(touches),
        tuple(dict.fromkeys(touch.turn for touch in touches)),
        reads=sum(touch.action == "read" for touch in done),
        changes=sum(touch.action in CHANGING for touch in done),
        added=sum(patch.added for patch in patches),
        removed=sum(patch.removed for patch in patches),
        is_new=any(touch.action == "created" for touch in done),
    )


def touches_of(conversation: Conversation) -> Iterator[Touch]:
    """Yields all that happened to files, in reading order."""
    backups: set[tuple[str, str]] = set()
    for turn, item in walk(conversation):
        if isinstance(item, Called) and not item.is_intermediate:
            touch = of_call(item, turn)
            if touch:
                yield touch
        elif isinstance(item, Noted) and item.kind == "attachment":
            yield from _of_attachment(item, turn)
        elif isinstance(item, Noted) and item.kind.startswith("file-history"):
            yield from _of_backup(item, turn, backups)


def of_call(called: Called, turn: int) -> Touch | None:
    """Returns what a call did to a file."""
    action: FileAction | None = tool_named(called.name).action
    view = mapping(called.result.detail if called.result else None)
    path = (path_of(view) or path_of(mapping(called.input))) if action else None
    if action is None or path is None:
        return None
    patch = patch_of(called)
    if action != "read" and patch and patch.is_new:
        action = "created"
    return Touch(
        path,
        action,
        turn,
        called.time,
        called.uuid,
        called.call,
        called.outcome,
        patch,
        view.get("userModified") is True,
    )


def _of_attachment(note: Noted, turn: int) -> Iterator[Touch]:
    value = mapping(mapping(note.value).get("attachment"))
    action, name = ATTACHED.get(note.subtype or "", (None, ""))
    path = said(value, name)
    if action and path:
        yield Touch(path, action, turn, note.time, note.uuid)


def _of_backup(note: Noted, turn: int, known: set[tuple[str, str]]) -> Iterator[Touch]:
    for path, backup in _backups_in(mapping(note.value)).items():
        name = said(mapping(backup), "backupFileName")
        if name and (path, name) not in known:
            known.add((path, name))
            yield Touch(path, "backed up", turn, said(mapping(backup), "backupTime"), note.uuid)


def _backups_in(value: Mapping[str, Any]) -> Mapping[str, Any]:
    tracked, path = (
        mapping(value.get("snapshot")).get("trackedFileBackups"),
        value.get("trackingPath"),
    )
    if isinstance(path, str):
        return {path: value.get("backup")}
    return mapping(tracked)
