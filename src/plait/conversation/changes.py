"""What changed around a conversation: titles, modes, models, directories, context and files."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.conversation.equivalents import list_equivalents
from plait.conversation.model import (
    ClientNote,
    CompactionItem,
    Conversation,
    Outcome,
    ToolCall,
    UserMessage,
)
from plait.conversation.patches import Patch, get_file_path, get_patch
from plait.conversation.tools import get_tool
from plait.conversation.walk import iter_items
from plait.record.codec import as_mapping, get_count, get_text

ChangeKind: TypeAlias = Literal[
    "title",
    "mode",  # of the client: normal, coordinator …
    "permissions",  # what it may do without asking
    "plan mode",  # on or off
    "auto mode",  # on or off
    "pull request",
    "worktree",
    "model",
    "effort",
]


class Change(Struct, frozen=True):
    """A change that applies from here on."""

    kind: ChangeKind
    value: str
    before: str | None = None
    turn: int | None = None
    time: str | None = None
    uuid: str | None = None
    by: str | None = None
    """The kind of line or note that says so."""


class Fact(Struct, frozen=True):
    """A value that a note reports."""

    kind: ChangeKind
    value: str | None
    by: str | None = None


def changes_of(conversation: Conversation) -> tuple[Change, ...]:
    """Return the changes in reading order: titles, modes, pull requests, worktrees, models.

    Directories, git branches and versions are on records and not in a conversation: see
    `surroundings_of`.
    """
    changed = ChangeLog()
    begun: set[int] = set()
    for turn, item in iter_items(conversation):
        facts: list[Fact] = []
        if isinstance(item, ClientNote):
            noted = as_mapping(item.value)
            if item.kind == "attachment":
                facts += ATTACHED.get(item.subtype or "", ())
            elif item.kind == "system" and item.subtype == "custom_title":
                noted = as_mapping(noted.get("systemPayload"))
                facts.append(Fact("title", get_text(noted, "customTitle"), "custom-title"))
            elif item.kind in LINES:
                kind, read = LINES[item.kind]
                facts.append(Fact(kind, read(noted), item.kind))
        elif isinstance(item, ToolCall) and item.name == "EnterPlanMode" and item.outcome == "ok":
            facts.append(Fact("plan mode", "on", item.name))
        number = getattr(item, "response", None)
        if number is not None and number not in begun:
            begun.add(number)
            answer = conversation.responses[number]
            if not answer.is_synthetic:
                facts += (Fact("model", answer.model), Fact("effort", answer.effort))
        for fact in facts:
            changed.note(fact, turn, item.time, item.uuid)
    return tuple(changed.found)


class ChangeLog:
    """Collects what differs from before."""

    def __init__(self) -> None:
        self.found: list[Change] = []
        self._last: dict[str, str] = {}

    def note(self, fact: Fact, turn: int | None, time: str | None, uuid: str | None) -> None:
        """Note a value."""
        # titles by the user, by the model and by summaries coexist, and are written repeatedly
        key = f"{fact.kind} {fact.by}" if fact.kind == "title" else fact.kind
        value, before = fact.value, self._last.get(key)
        if value and value != before:
            self._last[key] = value
            self.found.append(Change(fact.kind, value, before, turn, time, uuid, fact.by))


def _worktree_in(value: Mapping[str, Any]) -> str:
    inner = as_mapping(value.get("worktreeSession"))
    return get_text(inner, "worktreePath") or get_text(inner, "worktreeName") or "none"


def _field(name: str) -> Callable[[Mapping[str, Any]], str | None]:
    return lambda value: get_text(value, name)


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
    "whole",  # a summary replaced the conversation
    "results",  # results of old calls were left out, nothing else
]
MICRO = "microcompact_boundary"


class Compaction(Struct, frozen=True, kw_only=True):
    """A place where the context became smaller."""

    turn: int
    """The turn that it is in."""
    kind: CompactionKind = "whole"
    uuid: str | None = None
    time: str | None = None
    trigger: str | None = None
    """By the user (`manual`) or by the client (`auto`)."""
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    preserved: tuple[str, ...] = ()
    """The records that stay in the context word by word."""
    summary: str | None = None
    """What replaced the rest; None if nothing followed."""
    summary_uuid: str | None = None


def compactions_of(conversation: Conversation) -> tuple[Compaction, ...]:
    """Return the compactions of a conversation, in order."""
    found: list[Compaction] = []
    waiting: tuple[int, CompactionItem] | None = None
    for turn, item in iter_items(conversation):
        match item:
            case CompactionItem():
                if waiting:
                    found.append(_make_compaction(*waiting, None))
                waiting = (turn, item)
            case UserMessage(kind="summary") if waiting:
                found.append(_make_compaction(*waiting, item))
                waiting = None
            case ClientNote(subtype=subtype) if subtype == MICRO:
                facts = as_mapping(as_mapping(item.value).get("microcompactMetadata"))
                before, saved = get_count(facts, "preTokens"), get_count(facts, "tokensSaved")
                found.append(
                    Compaction(
                        turn=turn,
                        kind="results",
                        uuid=item.uuid,
                        time=item.time,
                        trigger=get_text(facts, "trigger"),
                        pre_tokens=before,
                        post_tokens=None
                        if before is None or saved is None
                        else max(before - saved, 0),
                    )
                )
            case _:
                pass
    return (*found, _make_compaction(*waiting, None)) if waiting else tuple(found)


def _make_compaction(turn: int, point: CompactionItem, summary: UserMessage | None) -> Compaction:
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


FileAction: TypeAlias = Literal[
    "read",
    "created",
    "written",  # a complete write over existing content
    "edited",
    "attached",  # mentioned by the user, or attached by the client
    "opened",  # or selected in the editor
    "changed",  # by someone else, as noticed by the client
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
    """A file with everything that happened to it, in order."""

    path: str
    touches: tuple[Touch, ...]
    turns: tuple[int, ...]
    reads: int = 0
    changes: int = 0
    """How often it was created, written or edited."""
    added: int = 0
    removed: int = 0
    is_new: bool = False
    """Whether the conversation created it."""


def files_of(conversation: Conversation) -> tuple[TouchedFile, ...]:
    """Return the files of a conversation, in the order they were first touched."""
    by_path: dict[str, list[Touch]] = {}
    for touch in iter_touches(conversation):
        by_path.setdefault(touch.path, []).append(touch)
    files: list[TouchedFile] = []
    for path, touches in by_path.items():
        done = [touch for touch in touches if touch.outcome == "ok"]
        patches = [touch.patch for touch in done if touch.patch]
        file = TouchedFile(
            path,
            tuple(touches),
            tuple(dict.fromkeys(touch.turn for touch in touches)),
            reads=sum(touch.action == "read" for touch in done),
            changes=sum(touch.action in CHANGING for touch in done),
            added=sum(patch.added for patch in patches),
            removed=sum(patch.removed for patch in patches),
            is_new=any(touch.action == "created" for touch in done),
        )
        files.append(file)
    return tuple(files)


def iter_touches(conversation: Conversation) -> Iterator[Touch]:
    """Yield everything that happened to files, in reading order."""
    backups: set[tuple[str, str | None]] = set()
    for turn, item in iter_items(conversation):
        if isinstance(item, ToolCall) and not item.is_intermediate:
            yield from list_touches(item, turn)
        elif isinstance(item, ClientNote) and item.kind == "attachment":
            value = as_mapping(as_mapping(item.value).get("attachment"))
            action, name = ATTACHED_FILES.get(item.subtype or "", (None, ""))
            path = get_text(value, name)
            if action and path:
                yield Touch(path, action, turn, item.time, item.uuid)
        elif isinstance(item, ClientNote) and item.kind.startswith("file-history"):
            value = as_mapping(item.value)
            path = value.get("trackingPath")
            if isinstance(path, str):
                tracked: Mapping[str, Any] = {path: value.get("backup")}
            else:
                tracked = as_mapping(as_mapping(value.get("snapshot")).get("trackedFileBackups"))
            for path, backup in tracked.items():
                file = get_text(as_mapping(backup), "backupFileName")
                if isinstance(backup, str):
                    file = backup  # format: before backups had files of their own, it is the text
                if (file or backup == "") and (path, file) not in backups:
                    backups.add((path, file))
                    time = get_text(as_mapping(backup), "backupTime")
                    time = time or get_text(as_mapping(value.get("snapshot")), "timestamp")
                    yield Touch(path, "backed up", turn, time, item.uuid)


def list_touches(called: ToolCall, turn: int) -> tuple[Touch, ...]:
    """Return what a call did to files: one, or each file of another agent's patch."""
    touches = (get_touch(call, turn) for call in list_equivalents(called))
    return tuple(touch for touch in touches if touch is not None)


def get_touch(called: ToolCall, turn: int) -> Touch | None:
    """Return what a call of Claude Code's tools did to a file."""
    action: FileAction | None = get_tool(called.name).action
    view = as_mapping(called.result.detail if called.result else None)
    path = (get_file_path(view) or get_file_path(as_mapping(called.input))) if action else None
    if action is None or path is None:
        return None
    patch = get_patch(called)
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
