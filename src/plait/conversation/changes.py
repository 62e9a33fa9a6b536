"""A conversation to what changed around it: titles, modes, models, directories, and its context."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Called, Compacted, Conversation, Item, Noted, Outcome, Told
from plait.conversation.patches import Patch, patch_of, path_of
from plait.conversation.tools import tool_named
from plait.conversation.walk import walk
from plait.record import Record, User
from plait.record.codec import count_in, mapping, said

ChangeKind: TypeAlias = Literal[
    "title",
    "mode",  # of the client: normal, coordinator, …
    "permissions",  # how much it may do without asking
    "plan mode",  # on or off
    "auto mode",  # on or off
    "pull request",
    "worktree",
    "model",
    "effort",
    "directory",
    "git branch",
    "version",  # of the client
]


class Change(Struct, frozen=True):
    """Something that is from here on not what it was."""

    kind: ChangeKind
    value: str
    before: str | None = None
    turn: int | None = None
    """None where it was taken from records alone."""
    time: str | None = None
    uuid: str | None = None
    by: str | None = None
    """Who says so: the kind of line, or of the note."""


class Fact(Struct, frozen=True):
    """What a note says of one of these."""

    kind: ChangeKind
    value: str | None
    by: str | None = None


def changes_of(conversation: Conversation) -> tuple[Change, ...]:
    """Returns what changed, in reading order: titles, modes, pull requests, worktrees, models.

    Directories, git branches and versions stand on records and not in a conversation: see
    `surroundings_of`.
    """
    changed = Changed()
    for turn, item in _with_responses(conversation):
        for told in item.told:
            changed.note(told, turn, item.time, item.uuid)
    return tuple(changed.found)


def surroundings_of(records: Iterable[Record]) -> tuple[Change, ...]:
    """Returns where records say that the client stood, wherever that changed."""
    changed = Changed()
    for record in records:
        envelope = record.envelope
        for told in (
            Fact("directory", envelope.cwd),
            Fact("git branch", envelope.git_branch),
            Fact("version", envelope.version),
            Fact("permissions", _permissions_of(record)),
        ):
            changed.note(told, None, record.timestamp, record.uuid)
    return tuple(changed.found)


def _permissions_of(record: Record) -> str | None:
    if isinstance(record, User) and b'"permissionMode"' in record.raw:
        return record.permission_mode
    return None


class Changed:
    """Keeps what is not what it was before."""

    def __init__(self) -> None:
        self.found: list[Change] = []
        self._last: dict[str, str] = {}

    def note(self, told: Fact, turn: int | None, time: str | None, uuid: str | None) -> None:
        """Takes in one thing that was said."""
        # titles by hand, by the model and by summaries stand side by side, written again and again
        key = f"{told.kind} {told.by}" if told.kind == "title" else told.kind
        value, before = told.value, self._last.get(key)
        if value and value != before:
            self._last[key] = value
            self.found.append(Change(told.kind, value, before, turn, time, uuid, told.by))


class Saying(Struct, frozen=True):
    """What is said at one place."""

    told: tuple[Fact, ...]
    time: str | None
    uuid: str | None


def _with_responses(conversation: Conversation) -> Iterator[tuple[int, Saying]]:
    begun: set[int] = set()
    for turn, item in walk(conversation):
        if isinstance(item, Noted):
            yield turn, Saying(tuple(_facts_noted(item)), item.time, item.uuid)
        elif isinstance(item, Called) and item.name == "EnterPlanMode" and item.outcome == "ok":
            yield turn, Saying((Fact("plan mode", "on", item.name),), item.time, item.uuid)
        number = _response_of(item)
        if number is not None and number not in begun:
            begun.add(number)
            answer = conversation.responses[number]
            if not answer.is_synthetic:
                told = (Fact("model", answer.model), Fact("effort", answer.effort))
                yield turn, Saying(told, item.time, item.uuid)


def _response_of(item: Item) -> int | None:
    return getattr(item, "response", None)


def _facts_noted(note: Noted) -> Iterator[Fact]:
    value = mapping(note.value)
    if note.kind == "attachment":
        yield from ATTACHED.get(note.subtype or "", ())
    elif note.kind == "system" and note.subtype == "custom_title":
        value = mapping(value.get("systemPayload"))
        yield Fact("title", said(value, "customTitle"), "custom-title")
    elif note.kind in LINES:
        kind, read = LINES[note.kind]
        yield Fact(kind, read(value), note.kind)


def _worktree_in(value: Mapping[str, Any]) -> str:
    inner = mapping(value.get("worktreeSession"))
    return said(inner, "worktreePath") or said(inner, "worktreeName") or "none"


def _field(name: str) -> Callable[[Mapping[str, Any]], str | None]:
    return lambda value: said(value, name)


LINES: Mapping[str, tuple[ChangeKind, Callable[[Mapping[str, Any]], str | None]]] = {
    "custom-title": ("title", _field("customTitle")),
    "ai-title": ("title", _field("aiTitle")),
    "summary": ("title", _field("summary")),
    "mode": ("mode", _field("mode")),
    "permission-mode": ("permissions", _field("permissionMode")),
    "pr-link": ("pull request", _field("prUrl")),
    "worktree-state": ("worktree", _worktree_in),
}
ATTACHED: Mapping[str, tuple[Fact, ...]] = {
    "plan_mode": (Fact("plan mode", "on", "plan_mode"),),
    "plan_mode_reentry": (Fact("plan mode", "on", "plan_mode_reentry"),),
    "plan_mode_exit": (Fact("plan mode", "off", "plan_mode_exit"),),
    "auto_mode": (Fact("auto mode", "on", "auto_mode"),),
    "auto_mode_exit": (Fact("auto mode", "off", "auto_mode_exit"),),
}


CompactionKind: TypeAlias = Literal[
    "whole",  # a summary took the place of the conversation
    "results",  # results of old calls were left out, nothing else
]
MICRO = "microcompact_boundary"


class Compaction(Struct, frozen=True, kw_only=True):
    """A place where the context became smaller."""

    turn: int
    """The turn that it stands in."""
    kind: CompactionKind = "whole"
    uuid: str | None = None
    time: str | None = None
    trigger: str | None = None
    """By hand (`manual`) or by the client (`auto`)."""
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    preserved: tuple[str, ...] = ()
    """The records that stay in the context word by word."""
    summary: str | None = None
    """What took the place of the rest; None where none followed."""
    summary_uuid: str | None = None


def compactions_of(conversation: Conversation) -> tuple[Compaction, ...]:
    """Returns the compactions of a conversation, in order."""
    found: list[Compaction] = []
    waiting: tuple[int, Compacted] | None = None
    for turn, item in walk(conversation):
        match item:
            case Compacted():
                if waiting:
                    found.append(_whole_compaction(*waiting, None))
                waiting = (turn, item)
            case Told(kind="summary") if waiting:
                found.append(_whole_compaction(*waiting, item))
                waiting = None
            case Noted(subtype=subtype) if subtype == MICRO:
                found.append(_partial_compaction(turn, item))
            case _:
                pass
    return (*found, _whole_compaction(*waiting, None)) if waiting else tuple(found)


def _whole_compaction(turn: int, point: Compacted, summary: Told | None) -> Compaction:
    return Compaction(
        turn=turn,
        uuid=point.uuid,
        time=point.time,
        trigger=point.trigger,
        pre_tokens=point.pre_tokens,
        post_tokens=point.post_tokens,
        duration_ms=point.duration_ms,
        preserved=point.preserved,
        summary=summary.text if summary else None,
        summary_uuid=summary.uuid if summary else None,
    )


def _partial_compaction(turn: int, note: Noted) -> Compaction:
    facts = mapping(mapping(note.value).get("microcompactMetadata"))
    before, saved = count_in(facts, "preTokens"), count_in(facts, "tokensSaved")
    return Compaction(
        turn=turn,
        kind="results",
        uuid=note.uuid,
        time=note.time,
        trigger=said(facts, "trigger"),
        pre_tokens=before,
        post_tokens=None if before is None or saved is None else max(before - saved, 0),
    )


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
ATTACHED_FILES: Mapping[str, tuple[FileAction, str]] = {
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
    backups: set[tuple[str, str | None]] = set()
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
    action, name = ATTACHED_FILES.get(note.subtype or "", (None, ""))
    path = said(value, name)
    if action and path:
        yield Touch(path, action, turn, note.time, note.uuid)


def _of_backup(note: Noted, turn: int, known: set[tuple[str, str | None]]) -> Iterator[Touch]:
    value = mapping(note.value)
    for path, backup in _backups_in(value).items():
        # format: before backups had files of their own, the text itself stood here
        name = backup if isinstance(backup, str) else said(mapping(backup), "backupFileName")
        if (name or backup == "") and (path, name) not in known:
            known.add((path, name))
            time = said(mapping(backup), "backupTime")
            time = time or said(mapping(value.get("snapshot")), "timestamp")
            yield Touch(path, "backed up", turn, time, note.uuid)


def _backups_in(value: Mapping[str, Any]) -> Mapping[str, Any]:
    tracked, path = (
        mapping(value.get("snapshot")).get("trackedFileBackups"),
        value.get("trackingPath"),
    )
    if isinstance(path, str):
        return {path: value.get("backup")}
    return mapping(tracked)
