"""Events of files: what sessions did to them, and the text of each before and after.

Calls say what they changed; reads and backups say what a file contained. The client logs line ends
as newlines and no byte order mark, whatever the file has: texts are compared without.
"""

import ntpath
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.changes import get_touch
from plait.conversation.equivalents import list_equivalents
from plait.conversation.model import ClientNote, Conversation, Conversations, ToolCall, Turn
from plait.conversation.patches import Hunk, Patch, parse_logged_hunks
from plait.conversation.walk import unfold_items
from plait.graph.paths import SPOKEN
from plait.line.discovery import WINDOWS
from plait.record.codec import as_count, as_mapping, get_text
from plait.record.time import format_sortable

Certainty: TypeAlias = Literal[
    "sure",  # the log shows it being written, and nobody else changed the file since
    "likely",  # somebody else changed the file since, and the line is unchanged
    "unknown",
]
Why: TypeAlias = Literal[
    "",
    "before",  # it existed before the first known session
    "between",  # it appeared between two known states of the file: by hand, or by a command
    "several",  # the same line was written more than once: it may be either
    "moved",  # a change moved it: its author may be the mover or whoever wrote it first
    "again",  # it was removed and reappeared unseen: it may be somebody else's
    "earlier",  # Git has it in a commit from before it was written
    "unread",  # the log does not say what the file contained
]
EventKind: TypeAlias = Literal["created", "written", "edited", "read", "backed up"]
CHANGES: frozenset[EventKind] = frozenset({"created", "written", "edited"})


class EventOrigin(Struct, frozen=True, kw_only=True):
    """The place in a session where something was written."""

    session: str
    line: str
    """The conversation."""
    turn: int
    """Of the main conversation: an agent counts where it was started."""
    branch: str | None = None
    """The branch of that turn; None on the active branch."""
    uuid: str | None = None
    time: str | None = None
    call: str | None = None
    prompt: str | None = None
    agent: str | None = None
    """The agent's task; None if no agent wrote it."""
    model: str | None = None
    is_active: bool = True
    """False on an abandoned branch."""


class LineMark(Struct, frozen=True):
    """The author of a line."""

    origin: EventOrigin | None = None
    certainty: Certainty = "unknown"
    why: Why = ""
    gone: str | None = None
    """When it was removed, if it reappeared since: only an earlier commit proves that it is the
    same.
    """


class FileText(Struct, frozen=True):
    """The content of a file, as lines without their ends."""

    lines: tuple[str, ...]
    is_ended: bool = True
    """Whether the last line has an end."""
    line_end: Literal["\n", "\r\n"] | None = None
    """None if unknown: the client logs every line end as a newline."""
    is_whole: bool = True
    """False if only patches show it: other lines are unseen, and there may be more."""

    def __str__(self) -> str:
        end = self.line_end or "\n"
        return end.join(self.lines) + (end if self.is_ended and self.lines else "")


class Replacement(Struct, frozen=True):
    """A text that replaced another."""

    old: str
    new: str
    is_everywhere: bool = False


class FileEvent(Struct, frozen=True, kw_only=True):
    """A change of a file, or an observation of its content."""

    path: str
    kind: EventKind
    time: str
    """When it happened, in a form that sorts as text."""
    origin: EventOrigin
    before: FileText | None = None
    """The complete text; None if the log does not have it."""
    after: FileText | None = None
    hunks: tuple[Hunk, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    is_there: bool = True
    """False for a backup that records that there was no file."""
    proposal: "FileEvent | None" = None
    """The change as proposed, if the user modified it."""

    @property
    def is_change(self) -> bool:
        """Return whether the file changed."""
        return self.kind in CHANGES


class Version(Struct, frozen=True, kw_only=True):
    """The content of a file from a time on."""

    time: str
    text: FileText | None
    """None if unknown."""
    marks: tuple[LineMark, ...] = ()
    """The author of each line."""
    event: FileEvent | None = None
    """The event that made it; None if somebody else did, and this is when it was seen."""
    is_there: bool = True
    completed: str | None = None
    """When the lines were seen that its patches do not show."""

    @property
    def is_foreign(self) -> bool:
        """Return whether no event made it."""
        return self.event is None


class NetChange(Struct, frozen=True, kw_only=True):
    """The overall change of a file."""

    path: str
    changes: int
    """How often it was changed."""
    turns: tuple[int, ...]
    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0
    is_new: bool = False
    """Whether it did not exist before."""
    is_known: bool = True
    """False if the log has too little to compare."""
    has_others: bool = False
    """Whether somebody else changed it in between: that is included."""


MOST_BYTES = 32 << 20
"""Larger files are not examined."""
EMPTY_TEXT = FileText(())
UNKNOWN_TEXT = FileText((), is_whole=False)
"""A file with unknown content."""
UNSEEN_LINE = "\0"
"""Prefix of unseen lines; no two of them are equal."""
_NUMBERS = count()


def parse_text(content: str) -> FileText:
    """Return a text in the form of the log."""
    lines = content.removeprefix("\ufeff").split("\n")
    is_ended = len(lines) > 1 and not lines[-1]
    found = lines[:-1] if is_ended or not lines[-1] else lines
    return FileText(tuple(line.removesuffix("\r") for line in found), is_ended or not found)


def decode_text(data: bytes) -> FileText | None:
    """Return the text in a file; None if it is not text."""
    if len(data) > MOST_BYTES or b"\0" in data:
        return None
    found = parse_text(data.decode("utf-8", "surrogateescape"))
    ends, long = data.count(b"\n"), data.count(b"\r\n")
    if long:
        return FileText(found.lines, found.is_ended, "\r\n" if ends == long else None)
    return FileText(found.lines, found.is_ended, "\n")


class Region(Struct, frozen=True):
    """Lines of the old text, and the lines of the new one that replace them."""

    old: tuple[int, int]
    new: tuple[int, int]


class ChangedText(Struct, frozen=True):
    """A text after a change, and where it differs."""

    text: FileText
    regions: tuple[Region, ...]


def apply_event(event: FileEvent, before: FileText) -> ChangedText | None:
    """Return a text after an event; None if it does not apply or is unknown."""
    if not before.is_whole:
        return _apply_patch(event.hunks, before) if event.hunks and event.after is None else None
    replaced = _replace_texts(event.replacements, before) if event.replacements else None
    patched = _apply_patch(event.hunks, before) if event.hunks else None
    after = event.after or (patched or replaced or ChangedText(before, ())).text
    if event.after is None and not (patched or replaced):
        return None
    is_logged = event.before is not None or event.after is not None
    if event.hunks and not (is_logged or patched or _is_near(event.hunks, before)):
        return None  # the patch says that the file contained something else
    for found in (replaced, patched):
        if found and found.text.lines == after.lines:
            return ChangedText(_with_end(after, before), found.regions)
    region = Region((0, len(before.lines)), (0, len(after.lines)))
    return ChangedText(_with_end(after, before), (region,))


def widen_regions(changed: ChangedText, before: FileText) -> Iterator[Region]:
    """Yield the changed regions, extended by equal lines that may have been the ones added or
    removed.

    x          x                      one of the two was added: which is unknown
    b    ->    b   +b   x
    """
    old, new, low = before.lines, changed.text.lines, 0
    ends = [region.old[0] for region in changed.regions[1:]] + [len(old)]
    for region, high in zip(changed.regions, ends, strict=True):
        up, down = _count_slides(region, old, new, low, high)
        found = Region(
            (region.old[0] - up, region.old[1] + down), (region.new[0] - up, region.new[1] + down)
        )
        low = found.old[1]
        yield found


def _count_slides(
    region: Region, old: Sequence[str], new: Sequence[str], low: int, high: int
) -> tuple[int, int]:
    """Return how many lines above and below a change could be part of it instead."""
    (o1, o2), (n1, n2) = region.old, region.new
    first, last = o1, o2
    while o1 < o2 and n1 < n2 and old[o1] == new[n1]:
        o1, n1 = o1 + 1, n1 + 1
    while o1 < o2 and n1 < n2 and old[o2 - 1] == new[n2 - 1]:
        o2, n2 = o2 - 1, n2 - 1
    block = new[n1:n2] or old[o1:o2]
    if (o1 < o2 and n1 < n2) or not block:
        return 0, 0
    up = down = 0
    while o1 - up > low and old[o1 - up - 1] == block[-1 - up % len(block)]:
        up += 1
    while o2 + down < high and old[o2 + down] == block[down % len(block)]:
        down += 1
    return max(up - (o1 - first), 0), max(down - (last - o2), 0)


def _with_end(after: FileText, before: FileText) -> FileText:
    return after if after.line_end else replace(after, line_end=before.line_end)


def reconstruct_before(event: FileEvent) -> FileText | None:
    """Return the content before a change whose result and patch are known."""
    if event.before is not None:
        return event.before
    if event.kind == "created":
        return EMPTY_TEXT
    if event.after is None or not event.hunks:
        return None
    found = _apply_patch(tuple(map(_swap_sides, event.hunks)), event.after)
    return found.text if found else None


def iter_added_lines(event: FileEvent) -> Iterator[str]:
    """Yield the lines that a change is known to have added, wherever they are."""
    if event.hunks:
        for hunk in event.hunks:
            removed = {line[1:] for line in hunk.lines if line[:1] in "- "}
            added = (line[1:] for line in hunk.lines if line[:1] == "+")
            yield from (line for line in added if line not in removed)
        return
    for replacement in event.replacements:
        old = set(replacement.old.split("\n"))
        yield from (line for line in replacement.new.split("\n")[1:-1] if line not in old)


def _swap_sides(hunk: Hunk) -> Hunk:
    swap = {"+": "-", "-": "+"}
    lines = tuple(swap.get(line[:1], line[:1]) + line[1:] for line in hunk.lines)
    return Hunk(hunk.new_start, hunk.new_lines, hunk.old_start, hunk.old_lines, lines)


def _apply_patch(hunks: Sequence[Hunk], before: FileText) -> ChangedText | None:
    """Return a text with a patch applied exactly at its line numbers."""
    lines: list[str] = []
    regions: list[Region] = []
    place, is_ended = 0, before.is_ended
    for hunk in hunks:
        old, new, ended = _split_sides(hunk)
        start = min(max(hunk.old_start - bool(old), 0), len(before.lines))
        there = before.lines[start : start + len(old)]
        if start < place or not (
            there == tuple(old) if before.is_whole else _are_alike(there, old)
        ):
            return None
        lines += before.lines[place:start]
        regions.append(Region((start, start + len(old)), (len(lines), len(lines) + len(new))))
        lines += new
        place = start + len(old)
        is_ended = is_ended if ended is None else ended
    lines += before.lines[place:]
    return ChangedText(FileText(tuple(lines), is_ended, is_whole=before.is_whole), tuple(regions))


def reveal_lines(before: FileText, hunks: Sequence[Hunk]) -> FileText | None:
    """Return a partly known text completed by a patch; None if they differ.

    The spaces at the start of a line may have been tabs: the client draws them so in patches.
    """
    lines = list(before.lines)
    for hunk in hunks:
        old = _split_sides(hunk)[0]
        start = max(hunk.old_start - bool(old), 0)
        lines += [f"{UNSEEN_LINE}{next(_NUMBERS)}" for _ in range(start + len(old) - len(lines))]
        for place, line in enumerate(old, start):
            if lines[place].startswith(UNSEEN_LINE):
                lines[place] = line
        if not _are_alike(lines[start : start + len(old)], old):
            return None
    return replace(before, lines=tuple(lines))


def fits_partial_text(known: FileText, seen: FileText) -> bool:
    """Return whether a text matches a partly known one."""
    if known.is_whole or len(seen.lines) < len(known.lines):
        return False
    return all(
        line.startswith(UNSEEN_LINE) or line.strip() == other.strip()
        for line, other in zip(known.lines, seen.lines, strict=False)
    )


def _are_alike(there: Sequence[str], lines: Sequence[str]) -> bool:
    return [line.strip() for line in there] == [line.strip() for line in lines]


def _split_sides(hunk: Hunk) -> tuple[list[str], list[str], bool | None]:
    """Return the lines before and after, and whether the last one has an end if that is known."""
    old: list[str] = []
    new: list[str] = []
    last, ended = "", None
    for line in hunk.lines:
        sign, rest = line[:1], line[1:].removesuffix("\r")
        if sign == "\\":
            ended = last == "-" if ended is None or last != "-" else ended
            continue
        last = sign
        if sign in ("-", " ", ""):
            old.append(rest)
        if sign in ("+", " ", ""):
            new.append(rest)
    return old, new, ended


def _is_near(hunks: Sequence[Hunk], before: FileText) -> bool:
    """Return whether a patch applies at its line numbers, ignoring white space at line starts.

    The client draws tabs at the start of a line as spaces in some patches.
    """
    for hunk in hunks:
        old = _split_sides(hunk)[0]
        start = max(hunk.old_start - bool(old), 0)
        if not _are_alike(before.lines[start : start + len(old)], old):
            return False
    return True


def _replace_texts(replacements: Sequence[Replacement], before: FileText) -> ChangedText | None:
    """Return a text with texts replaced; None if one does not occur or occurs twice."""
    text = "\n".join(before.lines) + ("\n" if before.is_ended and before.lines else "")
    spans: list[tuple[int, int, int]] | None = []
    for replacement in replacements:
        old, new = replacement.old.replace("\r\n", "\n"), replacement.new.replace("\r\n", "\n")
        if not new and not old.endswith("\n") and f"{old}\n" in text:
            old = f"{old}\n"  # format: what is deleted goes with its line end
        times = text.count(old) if old else 0
        if not times or (times > 1 and not replacement.is_everywhere):
            return None
        spans = _iter_spans(text, old, new) if len(replacements) == 1 else None
        text = text.replace(old, new)
    after = parse_text(text)
    if spans is None:
        region = Region((0, len(before.lines)), (0, len(after.lines)))
        return ChangedText(after, (region,))
    regions: list[Region] = []
    shift = 0
    joined: list[tuple[int, int, int]] = []
    for start, end, grown in spans:
        if joined and start < joined[-1][1]:
            first, _, earlier = joined.pop()
            start, grown = first, earlier + grown
        joined.append((start, end, grown))
    for start, end, grown in joined:
        last, new_last = min(end, len(before.lines)), min(end + shift + grown, len(after.lines))
        first = min(start, len(before.lines))
        regions.append(Region((first, last), (min(start + shift, len(after.lines)), new_last)))
        shift += grown
    return ChangedText(after, tuple(regions))


def _iter_spans(text: str, old: str, new: str) -> list[tuple[int, int, int]]:
    """Return the lines that each place touches, and how many lines are added after it."""
    found, place, line = [], 0, 0
    grown = new.count("\n") - old.count("\n")
    while (there := text.find(old, place)) >= 0:
        line += text.count("\n", place, there)
        end = line + old.count("\n")
        found.append((line, end + (not _ends_alike(text, there, old, new)), grown))
        place, line = there + len(old), end
    return found


def _ends_alike(text: str, there: int, old: str, new: str) -> bool:
    """Return whether only complete lines are replaced, so that the next line stays unchanged."""
    if not old.endswith("\n"):
        return False
    return new.endswith("\n") or (not new and (there == 0 or text[there - 1] == "\n"))


LONGEST_LINE = 2000
"""Length at which a read truncates a line."""
CREATED = re.compile(r"created successfully|created at", re.IGNORECASE)
ACTIONS: Mapping[str, EventKind] = {"created": "created", "written": "written", "edited": "edited"}


class BackupCopy(Struct, frozen=True):
    """The content of a backup."""

    text: FileText | None
    is_there: bool = True


LoadBackup: TypeAlias = Callable[[Any], BackupCopy | None]
"""Returns the content of a snapshot's backup; None if it is lost or not text."""


def list_file_events(
    conversations: Conversations, directory: str | None, load: LoadBackup
) -> tuple[FileEvent, ...]:
    """Return what happened to files in all conversations of a session, by time."""
    found: list[FileEvent] = []
    turns = map_agent_launches(conversations)
    for conversation in conversations.by_line.values():
        prompts = _Prompts(conversations, conversation, turns)
        last = format_sortable(conversation.started) or ""
        for turn in conversation.turns:
            for item in unfold_items(turn.items):
                time = item.answered_at or item.time if isinstance(item, ToolCall) else item.time
                last = format_sortable(time) or last
                if isinstance(item, ToolCall) and not item.is_intermediate and item.outcome == "ok":
                    origin = prompts.origin(turn, item)
                    events = (
                        _make_call_event(call, origin, last, directory)
                        for call in list_equivalents(item)
                    )
                    found += [event for event in events if event]
                elif isinstance(item, ClientNote) and item.kind.startswith("file-history"):
                    origin = prompts.origin(turn, item)
                    value = as_mapping(item.value)
                    snapshot = as_mapping(value.get("snapshot"))
                    tracked = as_mapping(snapshot.get("trackedFileBackups"))
                    is_prompt = bool(snapshot) and value.get("isSnapshotUpdate") is not True
                    if isinstance(path := value.get("trackingPath"), str):
                        tracked = {path: value.get("backup")}
                    snapshot_time = (
                        format_sortable(get_text(snapshot, "timestamp")) if is_prompt else None
                    )
                    for name, backup in tracked.items():
                        kept = load(backup)
                        if kept is None:
                            continue
                        fields = as_mapping(backup)
                        parent = get_text(fields, "realParentDir")
                        where = posixpath.join(parent, posixpath.basename(name)) if parent else name
                        times = (format_sortable(get_text(fields, "backupTime")), snapshot_time)
                        moments = {moment for moment in times if moment is not None}
                        found += [
                            FileEvent(
                                path=resolve_path(where, directory),
                                kind="backed up",
                                time=moment,
                                origin=origin,
                                after=kept.text if kept.is_there else EMPTY_TEXT,
                                is_there=kept.is_there,
                            )
                            for moment in sorted(moments or {last})
                        ]
    return tuple(sorted(found, key=lambda event: event.time))


def map_agent_launches(conversations: Conversations) -> dict[str, tuple[str, int]]:
    """Return for each agent the conversation and the turn that started it.

    A nested agent counts where the first of them was started.
    """
    found: dict[str, tuple[str, int]] = {}
    spoken = [
        conversation
        for conversation in conversations.by_line.values()
        if conversation.kind in SPOKEN
    ]
    waiting: list[tuple[Conversation, tuple[str, int] | None]] = [
        (conversation, None) for conversation in spoken
    ]
    while waiting:
        conversation, above = waiting.pop()
        for turn in conversation.turns:
            for item in turn.items:
                for name in item.agents if isinstance(item, ToolCall) else ():
                    if name in conversations.by_line and name not in found:
                        found[name] = above or (conversation.id, turn.number)
                        waiting.append((conversations.by_line[name], found[name]))
    return found


class _Prompts:
    """Finds where something was done, in terms of the main conversation's turns."""

    def __init__(
        self,
        conversations: Conversations,
        conversation: Conversation,
        turns: Mapping[str, tuple[str, int]],
    ) -> None:
        self._session, self._conversation = conversations.session, conversation
        self._agent = (
            None
            if conversation.kind in SPOKEN
            else conversation.label or conversation.agent or conversation.id
        )
        self._sent: tuple[int, str | None] | None = None
        self._branch = None if conversation.id == conversations.main else conversation.id
        if self._agent is not None:
            line, number = turns.get(conversation.id, ("", 0))
            above = conversations.by_line.get(line)
            asked = (turn for turn in (above.turns if above else ()) if turn.number == number)
            self._sent = number, next((turn.prompt for turn in asked), None)
            self._branch = None if line in ("", conversations.main) else line

    def origin(self, turn: Turn, item: ToolCall | ClientNote) -> EventOrigin:
        """Return where something was done."""
        number, prompt = self._sent or (turn.number, turn.prompt)
        model = None
        if isinstance(item, ToolCall):
            model = self._conversation.responses[item.response].model
        return EventOrigin(
            session=self._session,
            line=self._conversation.id,
            turn=number,
            branch=self._branch,
            uuid=item.uuid,
            time=item.time,
            call=item.call if isinstance(item, ToolCall) else None,
            prompt=prompt,
            agent=self._agent,
            model=model,
            is_active=self._conversation.is_active,
        )


def _make_call_event(
    called: ToolCall, origin: EventOrigin, time: str, directory: str | None
) -> FileEvent | None:
    touch = get_touch(called, origin.turn)
    if touch is None:
        return None
    path = resolve_path(touch.path, directory)
    view = as_mapping(called.result.detail if called.result else None)
    if touch.action == "read":
        text = _read_text(view)
        if text is None:
            return None
        return FileEvent(path=path, kind="read", time=time, origin=origin, after=text)
    if touch.action not in ACTIONS:
        return None
    kind = _get_kind(called, ACTIONS[touch.action], touch.patch)
    given = as_mapping(called.input)
    asked = FileEvent(
        path=path,
        kind=kind,
        time=time,
        origin=origin,
        after=_get_text_after(called, given, {}),
        replacements=tuple(_list_replacements(called.name, given, {})),
    )
    return replace(
        asked,
        before=EMPTY_TEXT if kind == "created" else _get_text_before(view),
        after=_get_text_after(called, given, view),
        hunks=tuple(parse_logged_hunks(view.get("structuredPatch"))),
        replacements=tuple(_list_replacements(called.name, given, view)),
        proposal=asked if touch.is_user_modified else None,
    )


def _get_kind(called: ToolCall, action: EventKind, patch: Patch | None) -> EventKind:
    has_created = called.result is not None and CREATED.search(called.result.text) is not None
    view = as_mapping(called.result.detail if called.result else None)
    if view.get("type") == "update":
        return "written"
    if action == "created" or (patch and patch.is_new):
        return "created"
    return "created" if called.name == "Write" and not view and has_created else action


def _get_text_before(view: Mapping[str, Any]) -> FileText | None:
    for name in ("originalFile", "originalFileContents", "original_file"):
        if isinstance(text := view.get(name), str):
            return parse_text(text)
    return None


def _get_text_after(
    called: ToolCall, given: Mapping[str, Any], view: Mapping[str, Any]
) -> FileText | None:
    if called.name == "Write":
        content = get_text(view, "content")
        content = get_text(given, "content") if content is None else content
        return None if content is None else parse_text(content)
    updated = get_text(view, "updated_file")
    return None if updated is None else parse_text(updated)


def _list_replacements(
    name: str, given: Mapping[str, Any], view: Mapping[str, Any]
) -> Iterator[Replacement]:
    if name == "MultiEdit":
        edits = view.get("edits") or given.get("edits")
        for fields in edits if isinstance(edits, list) else ():
            edit = as_mapping(fields)
            old, new = get_text(edit, "old_string"), get_text(edit, "new_string")
            if old is not None and new is not None:
                yield Replacement(old, new, edit.get("replace_all") is True)
    elif name == "Edit":
        old, new = get_text(view, "oldString"), get_text(view, "newString")
        if old is None or new is None:
            old, new = get_text(given, "old_string"), get_text(given, "new_string")
        if old is not None and new is not None:
            is_everywhere = True in (view.get("replaceAll"), given.get("replace_all"))
            yield Replacement(old, new, is_everywhere)


def _read_text(view: Mapping[str, Any]) -> FileText | None:
    """Return the text that was read, if it is the complete file and nothing was truncated."""
    file = as_mapping(view.get("file"))
    content = get_text(file, "content")
    if view.get("type") != "text" or content is None or as_count(file.get("startLine")) != 1:
        return None
    count = as_count(file.get("totalLines"))
    lines = content.split("\n")
    is_all = count == as_count(file.get("numLines")) and len(lines) in (count, count + 1)
    if not is_all or any(len(line) >= LONGEST_LINE for line in lines):
        return None
    return parse_text(content)


def resolve_path(path: str, directory: str | None) -> str:
    """Return an absolute path in normal form."""
    if path.startswith("~"):
        return path
    if WINDOWS.match(path) or (directory and WINDOWS.match(directory)):
        return ntpath.normpath(ntpath.join(directory or "", path))
    return posixpath.normpath(posixpath.join(directory or "", path))


def event_to_json(event: FileEvent) -> dict[str, Any]:
    """Return an event and its origin as JSON has them."""
    origin = event.origin
    return {
        "path": event.path,
        "action": event.kind,
        "session": origin.session,
        "turn": origin.turn,
        "uuid": origin.uuid,
        "time": event.time,
        "prompt": origin.prompt,
        "agent": origin.agent,
        "is_abandoned": not origin.is_active,
        "hunks": event.hunks,
    }
