"""Trimming a session: selecting what to remove or shorten, by presets or by name.

A preset is a share of what the messages of the next request took before anything was trimmed; it
cuts the least valuable first. What a trim removed is noted in the log, so a trimmed session is
measured by its former size and the same preset finds nothing more to do. The system prompt and the
tool definitions do not count, since no trim can remove them.

Calls are chosen by id, tool or size, or by age alone. Conditions on age and recent turns apply to
everything that has a time or a turn.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from plait.conversation.prices import Prices
from plait.conversation.tools import get_tool
from plait.edit.check import describe_image_fault, parse_image
from plait.edit.cuts import (
    KEPT,
    PLAIN_RESULTS,
    THINKING,
    TRIM_KINDS,
    CustomPreset,
    Cut,
    Place,
    Preset,
    Removed,
    SentBlock,
    SentLog,
    SentRecord,
    TrimChoice,
    Way,
    apply_block_cuts,
    apply_cuts,
    count_original_characters,
    cut_text,
    filter_allowed,
    find_mentioned_calls,
    format_removed,
    format_stale,
    get_result_text,
    is_mark,
    list_block_heads,
    list_blocks,
    shorten_input,
)
from plait.edit.draft import (
    SideFileChanges,
    note_removed_tokens,
    open_draft,
    plan_draft,
    plan_nothing,
    weigh_chain,
)
from plait.edit.links import find_resume_chain, mend_pointers, restore_resume_chain
from plait.edit.log import add_break_even, measure_log, read_stamp, split_lines
from plait.edit.plan import Plan, Subject, Write
from plait.errors import ConfigError, UserError
from plait.graph.client import Context, build_context, find_refusal
from plait.graph.client.context import REMINDER
from plait.graph.client.messages import normalize_call
from plait.graph.client.tokens import estimate_block_tokens
from plait.line import iter_lines
from plait.record import Record, parse_entry
from plait.record.codec import as_mapping, encode_value, get_text
from plait.record.prompts import get_queued_text, is_typed_in_queue
from plait.view.context import is_picture

__all__ = [
    "CustomPreset",
    "Cut",
    "Preset",
    "Removed",
    "TrimChoice",
    "Way",
    "apply_cuts",
    "plan_cuts",
    "plan_trim",
]


MEDIA = frozenset({"image", "document"})


def shorten_result(
    place: Place, block: dict[str, Any], keep: int | Callable[[str], int] | None, reason: str
) -> Iterator[Cut]:
    """Yield the cuts that leave this many characters of each text, or with None a single line.

    Texts that are short already, and results that load tools, stay unchanged.
    """
    content = block.get("content")

    def shorten(text: str) -> str:
        return cut_text(text, keep(text) if callable(keep) else keep or 0)

    if loads_tools(block):
        return
    if keep is None:
        parts = content if isinstance(content, list) else []
        kinds = [str(part.get("type")) if isinstance(part, dict) else "other" for part in parts]
        words = get_result_text(block)
        more = Counter(kind if kind in MEDIA else "other" for kind in kinds if kind != "text")
        line = format_removed(words, more)
        is_long = len(words) > len(line) and not is_mark(words)
        if is_long or more:
            yield Cut(place.line, place.block, line, reason)
    elif isinstance(content, str):
        if len(left := shorten(content)) < len(content):
            yield Cut(place.line, place.block, left, reason)
    elif isinstance(content, list):
        for inner, part in enumerate(content):
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str) and len(left := shorten(text)) < len(text):
                yield Cut(place.line, place.block, left, reason, inner)


def loads_tools(block: dict[str, Any]) -> bool:
    """Return whether a result gives the model tools, which it would lose without it."""
    content = block.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "tool_reference" for part in parts)


def is_loading_tools(log: SentLog, call: str) -> bool:
    """Return whether a result of a call gives the model tools."""
    return any(loads_tools(log.block_at(place)) for place in log.pairs.list_places(call))


def remove_thinking(record: Record) -> Iterator[Cut]:
    """Yield the cuts that remove the thinking of a response."""
    for place, head in enumerate(list_block_heads(record)):
        if head.type in THINKING:
            yield Cut(record.line, place, None, "thinking")


def remove_call(log: SentLog, call: str) -> Iterator[Cut]:
    """Yield the cuts that remove a call and its results."""
    for place in log.pairs.list_places(call):
        yield Cut(place.line, place.block, None, f"{log.name_of(call)} call")


def shorten_call(log: SentLog, sent_block: SentBlock, call: str) -> Iterator[Cut]:
    """Yield the cut that shortens the long texts in the input of a call."""
    given: Any = sent_block.block.get("input")
    if sent_block.block.get("type") == "tool_use" and isinstance(given, dict):
        left = shorten_input(given)
        if left != given:
            words = encode_value(left).decode()
            yield Cut(sent_block.line, sent_block.place, words, f"{log.name_of(call)} input")


def shorten_results(
    log: SentLog, call: str, keep: int | Callable[[str], int] | None
) -> Iterator[Cut]:
    """Yield the cuts that shorten the results of a call."""
    for place in log.pairs.results.get(call, ()):
        block = log.block_at(place)
        if block.get("type") in PLAIN_RESULTS:
            yield from shorten_result(place, block, keep, f"{log.name_of(call)} result")


MOST = 100
"""The most images that the API accepts in one request."""
REFUSED = "image that the API rejects"
TOO_MANY = "image beyond the 100 that the API accepts"


@dataclass(frozen=True, slots=True)
class LogImage:
    """An image and its position."""

    line: int
    place: int
    inner: int | None
    """Its position within a result; None for one by itself."""
    block: dict[str, Any]

    def cut(self, reason: str) -> Cut:
        """Return the cut that replaces it by a text."""
        source = as_mapping(self.block.get("source"))
        data = get_text(source, "data") or ""
        shape = parse_image(data) if get_text(source, "type") == "base64" else None
        size = f", {shape.width} × {shape.height}" if shape and shape.width else ""
        words = f"[image removed: {get_text(source, 'media_type') or 'unknown'}{size}]"
        return Cut(self.line, self.place, words, reason, self.inner)


def list_images(record: Record) -> Iterator[LogImage]:
    """Yield the images of a message, including those in results."""
    if b'"image"' not in record.raw:
        return
    for place, block in enumerate(list_blocks(record)):
        value = as_mapping(block)
        if value.get("type") == "image":
            yield LogImage(record.line, place, None, dict(value))
        content = value.get("content") if value.get("type") == "tool_result" else None
        for inner, part in enumerate(content if isinstance(content, list) else ()):
            if as_mapping(part).get("type") == "image":
                yield LogImage(record.line, place, inner, dict(as_mapping(part)))


def find_refused_images(log: SentLog) -> Iterator[Cut]:
    """Yield the images for which the API would reject the request.

    First those that are unreadable or too large; then, beyond the limit, the oldest, those from
    tools before those from users.
    """
    selected: list[LogImage] = []
    for sent in log.chain:
        for picture in list_images(sent.record):
            if describe_image_fault(picture.block):
                yield picture.cut(REFUSED)
            else:
                selected.append(picture)
    by_age = sorted(selected, key=lambda item: item.inner is None)
    yield from (image.cut(TOO_MANY) for image in by_age[: max(len(selected) - MOST, 0)])


STALE = "outdated read of a file"
REPEATED = "repeated reminder"
PATHS = ("file_path", "notebook_path")
RANGE = ("offset", "limit", "pages")
UNCHANGED = "file_unchanged"
"""What the client writes for a reading that only refers to an earlier one."""
REMINDER_TAG = "<system-reminder>"
TAGS = re.compile(r"</?system-reminder>")
Range = tuple[str, ...]
EVERYTHING: Range = ()


def find_stale_reads(log: SentLog) -> Iterator[tuple[SentBlock, Cut]]:
    """Yield the readings of files that were read again or changed since, the last first."""
    changed_later: set[str] = set()
    ranges_later: dict[str, set[Range]] = defaultdict(set)
    for sent_block, call in reversed(list(log.results())):
        tool, given = get_tool(log.pairs.names.get(call, "")), log.input_of(call)
        path = next((path for name in PATHS if (path := get_text(given, name))), None)
        if path is None or tool.action is None or sent_block.block.get("is_error") is True:
            continue
        if tool.action != "read":
            changed_later.add(path)
            continue
        wanted = tuple(f"{name}={given[name]}" for name in RANGE if given.get(name) is not None)
        view = as_mapping(sent_block.owner.record.fields.get("toolUseResult"))
        if get_text(view, "type") == UNCHANGED or is_mark(get_result_text(sent_block.block)):
            continue
        if path in changed_later or ranges_later[path] & {EVERYTHING, wanted}:
            words = format_stale(path, "changed" if path in changed_later else "read again")
            yield sent_block, Cut(sent_block.line, sent_block.place, words, STALE)
        else:
            ranges_later[path].add(wanted)


def find_repeated_reminders(log: SentLog) -> Iterator[tuple[SentRecord, Cut]]:
    """Yield the client's reminders that are repeated later, the last first."""
    seen: set[str] = set()

    def is_repeated(text: str) -> bool:
        """Return whether a reminder was seen before, and note it."""
        bare = TAGS.sub("", text).strip()
        if not bare or bare in seen:
            return bool(bare)
        seen.add(bare)
        return False

    def remove_repeated(text: str) -> str:
        """Return a text without the reminders that were seen before."""
        left = text
        for match in reversed(list(REMINDER.finditer(text)) if REMINDER_TAG in text else []):
            if is_repeated(match[0]):
                left = left[: match.start()].rstrip("\n") + left[match.end() :]
        return left

    for sent in reversed(log.chain):
        line = sent.record.line
        if sent.record.type == "attachment":
            texts = [str(block.get("text")) for block in sent.blocks if block.get("type") == "text"]
            is_text = bool(texts) and len(texts) == len(sent.blocks)
            if is_text and not _is_typed(sent.record) and is_repeated("\n".join(texts)):
                yield sent, Cut(line, None, None, REPEATED)
        blocks = list_blocks(sent.record) if sent.record.type == "user" else []
        for place in reversed(range(len(blocks))):
            block = as_mapping(blocks[place])
            text, content = block.get("text"), block.get("content")
            if block.get("type") == "text":
                is_reminder = isinstance(text, str) and REMINDER.fullmatch(text.strip())
                if is_reminder and is_repeated(str(text)):
                    yield sent, Cut(line, place, None, REPEATED)
            elif block.get("type") != "tool_result":
                continue
            elif isinstance(content, str):
                if (left := remove_repeated(content)) != content:
                    yield sent, Cut(line, place, left, REPEATED)
            else:
                parts = content if isinstance(content, list) else []
                for inner in reversed(range(len(parts))):
                    text = as_mapping(parts[inner]).get("text")
                    if isinstance(text, str) and (left := remove_repeated(text)) != text:
                        yield sent, Cut(line, place, left or None, REPEATED, inner)


SLACK = 0.01
"""Tolerance: a session this close to its share is left unchanged."""
LARGE = 4_000
"""Characters from which a result is large."""
KEPT_OF_LARGE = 1_000
KEPT_TOOL_KINDS = frozenset({"agent", "skill", "plan", "ask"})
"""Kinds of tools whose results were written to be read: they are removed later than others."""
NOTES = frozenset(
    """
    date_change diagnostics directory edited_text_file file hook_additional_context
    hook_non_blocking_error hook_success hook_system_message opened_file_in_ide
    selected_lines_in_ide silent_turn_reminder task_reminder todo_reminder total_tokens_reminder
    """.split()
)
"""Attachments about a moment; others describe capabilities, and stay."""


@dataclass(frozen=True, slots=True)
class PresetRule:
    """What a preset leaves, and how far it may go."""

    share: float
    """Share of what the messages took before any trim."""
    turns: int
    """Turns at the end that stay unchanged."""
    answers: int
    """Responses at the end that stay unchanged if a turn is longer than that."""
    steps: int
    """How many of the steps it may take."""


PRESETS: dict[Preset, PresetRule] = {
    "light": PresetRule(0.85, turns=3, answers=12, steps=6),
    "standard": PresetRule(0.60, turns=2, answers=8, steps=8),
    "heavy": PresetRule(0.35, turns=1, answers=5, steps=9),
    "extreme": PresetRule(0.15, turns=1, answers=3, steps=10),
}


def get_preset_rule(preset: Preset | CustomPreset) -> PresetRule | None:
    """Return the rule of a preset; None if it does not go by size."""
    if not isinstance(preset, CustomPreset):
        return PRESETS[preset]
    if preset.leave_percent is None:
        return None
    turns = preset.except_last
    return PresetRule(preset.leave_percent / 100, turns, answers=4 * max(turns, 1), steps=10)


def select_preset_cuts(
    log: SentLog, preset: Preset | CustomPreset, except_last: int = 0
) -> list[Cut]:
    """Return the cuts of a preset; none if little enough is left already."""
    rule = get_preset_rule(preset)
    cuts = _Trimming(log, rule, except_last).cuts() if rule else []
    if isinstance(preset, CustomPreset):
        if preset.thinking:
            for sent in log.chain:
                if not log.is_recent(sent.record.line, except_last):
                    cuts += remove_thinking(sent.record)
        if preset.keep_turns_with_tools is not None:
            cuts += _select_tool_turn_cuts(log, preset, preset.keep_turns_with_tools, except_last)
    return cuts


def _select_tool_turn_cuts(
    log: SentLog, preset: CustomPreset, keep_turns: int, except_last: int
) -> Iterator[Cut]:
    """Yield the cuts by turns: the last ones keep their tools, earlier ones less or nothing."""
    turns = sorted({sent_block.owner.turn for sent_block, _ in log.calls()})
    start = max(len(turns) - keep_turns, 0)
    end = start + (len(turns) - start) * preset.truncate_percent // 100
    truncated, older = set(turns[start:end]), set(turns[:start])
    spared = find_mentioned_calls(
        sent.record for sent in log.chain if sent.turn not in older | truncated
    )

    def keep_share(text: str) -> int:
        return count_original_characters(text) * preset.older_percent // 100

    for sent_block, call in log.calls():
        turn = sent_block.owner.turn
        if turn not in truncated | older or log.is_recent(sent_block.line, except_last):
            continue
        if turn in older and not preset.older_percent:
            is_hanging = sent_block.owner.record.parent_uuid not in log.uuids
            if not is_hanging and call not in spared and not is_loading_tools(log, call):
                yield from remove_call(log, call)
        else:
            yield from shorten_call(log, sent_block, call)
            yield from shorten_results(log, call, KEPT if turn in truncated else keep_share)


PERCENT = range(101)
CUSTOM_KEYS: Mapping[str, tuple[type, range]] = {
    "leave_percent": (int, PERCENT),
    "except_last": (int, range(1_000_000)),
    "keep_turns_with_tools": (int, range(1_000_000)),
    "truncate_percent": (int, PERCENT),
    "older_percent": (int, PERCENT),
    "thinking": (bool, range(2)),
}


def parse_custom_presets(tables: Mapping[str, Any]) -> dict[str, CustomPreset]:
    """Return the presets of a configuration: a table for each, under its name."""
    presets = {}
    for name, table in tables.items():
        where = f"trim preset '{name}'"
        if name in PRESETS:
            raise ConfigError(f"{where} is a built-in preset", "choose another name")
        if not isinstance(table, dict):
            raise ConfigError(f"{where} is not a table", f"write it as `[trim_presets.{name}]`")
        for key, value in table.items():
            if key not in CUSTOM_KEYS:
                known = ", ".join(CUSTOM_KEYS)
                raise ConfigError(f"unknown setting '{key}' in {where}", f"options are {known}")
            kind, allowed = CUSTOM_KEYS[key]
            if type(value) is not kind or value not in allowed:
                limits = "true or false" if kind is bool else f"a whole number up to {allowed[-1]}"
                raise ConfigError(f"setting '{key}' of {where} must be {limits}")
        preset = CustomPreset(name, **table)
        if (preset.leave_percent is None) is (preset.keep_turns_with_tools is None):
            raise ConfigError(f"{where} needs either `leave_percent` or `keep_turns_with_tools`")
        presets[name] = preset
    return presets


def find_preset(name: str, custom: Mapping[str, CustomPreset]) -> Preset | CustomPreset:
    """Return a preset by its name, built in or from the configuration."""
    for preset in PRESETS:
        if preset == name:
            return preset
    if name in custom:
        return custom[name]
    known = (*PRESETS, *custom)
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"options are {', '.join(known)}"
    raise UserError(f"unknown preset '{name}'", hint)


class _Trimming:
    """Makes cuts step by step until little enough is left."""

    def __init__(self, log: SentLog, rule: PresetRule, except_last: int) -> None:
        self.log = log
        self.rule = rule
        self.turns = max(rule.turns, except_last)
        self.answers = None if except_last > rule.turns else rule.answers
        self.weight = log.weight
        self.full_weight = self.weight + log.trimmed
        self.chosen: dict[tuple[int, int | None], dict[int | None, Cut]] = {}
        """By record and block; by part within that."""
        self.left: dict[tuple[int, int | None], int] = {}
        """What the cuts leave of a block."""

    def cuts(self) -> list[Cut]:
        """Return what is removed."""
        unsent: list[Cut] = []
        for record in self.log.records:
            if record.type == "progress":
                unsent.append(Cut(record.line, None, None, "progress"))
            elif (record.type or "").startswith("api-request"):
                unsent.append(Cut(record.line, None, None, "request log"))
        unsent = [*unsent, *find_refused_images(self.log)]
        self._take(unsent, is_needed=True)
        if self.weight > (self.rule.share + SLACK) * self.full_weight:
            for step in STEPS[: self.rule.steps]:
                self._take(step(self), is_needed=False)
        return [cut for parts in self.chosen.values() for cut in parts.values()]

    def _take(self, cuts: Iterator[Cut] | list[Cut], *, is_needed: bool) -> None:
        records, pairs = self.log.records_by_line, self.log.pairs
        for cut in filter_allowed(cuts, records, pairs):
            if not is_needed and self.weight <= self.rule.share * self.full_weight:
                return
            key = cut.line, cut.block
            parts = self.chosen.get(key, {})
            if (None in parts and cut.inner is not None) or self._has_mark(cut):
                continue
            wanted: dict[int | None, Cut] = {} if cut.inner is None else dict(parts)
            wanted[cut.inner] = cut
            before = self.left.get(key, self._weight(key))
            line, place = key
            if place is None or line not in self.log.by_line:
                now = 0
            else:
                left = apply_block_cuts(self.log.block_at(Place(line, place)), wanted.values())
                now = estimate_block_tokens(normalize_call(left)) if isinstance(left, dict) else 0
            if now < before or is_needed:
                self.weight += now - before
                self.chosen[key], self.left[key] = wanted, now

    def _has_mark(self, cut: Cut) -> bool:
        """Return whether a block was already replaced by a line that says more than a new one
        would.
        """
        known = self.chosen.get((cut.line, cut.block), {}).get(None)
        return bool(known and cut.to is not None and known.to and is_mark(known.to))

    def _weight(self, key: tuple[int, int | None]) -> int:
        """Return the tokens of a block or a whole record; 0 if it is not sent."""
        line, place = key
        sent = self.log.by_line.get(line)
        if sent is None:
            return 0
        if place is None:
            return sent.weight
        block = self.log.block_at(Place(line, place))
        is_silent = block.get("type") in THINKING and not sent.sends_thoughts
        return 0 if is_silent else estimate_block_tokens(normalize_call(block))

    def is_open(self, line: int) -> bool:
        """Return whether a line is in none of the turns that stay unchanged."""
        return not self.log.is_recent(line, self.turns, self.answers)

    def remove_reminders(self) -> Iterator[Cut]:
        """Yield reminders that are repeated later."""
        return (
            cut for sent, cut in find_repeated_reminders(self.log) if self.is_open(sent.record.line)
        )

    def replace_stale_reads(self) -> Iterator[Cut]:
        """Yield readings of files that were read again or changed since, the oldest first."""
        found = [
            cut for sent_block, cut in find_stale_reads(self.log) if self.is_open(sent_block.line)
        ]
        return reversed(found)

    def shorten_large_results(self) -> Iterator[Cut]:
        """Yield large results, cut to their first characters."""
        for sent_block, tool in self._iter_open_results():
            if len(get_result_text(sent_block.block)) > LARGE:
                yield from self._shorten_result(sent_block, KEPT_OF_LARGE, f"large {tool} result")

    def remove_thinking(self) -> Iterator[Cut]:
        """Yield thinking that is sent."""
        for sent in self.log.chain:
            if sent.sends_thoughts and self.is_open(sent.record.line):
                yield from remove_thinking(sent.record)

    def remove_images(self) -> Iterator[Cut]:
        """Yield images from tools."""
        for sent in self.log.chain:
            if self.is_open(sent.record.line):
                for picture in list_images(sent.record):
                    if picture.inner is not None:
                        yield picture.cut("image in a result")

    def replace_results(self, *, of_agents: bool = False) -> Iterator[Cut]:
        """Yield results to replace by a line: those written to be read, or all others."""
        for sent_block, tool in self._iter_open_results():
            if (get_tool(tool).kind in KEPT_TOOL_KINDS) == of_agents:
                yield from self._shorten_result(sent_block, None, f"{tool} result")

    def remove_notes(self) -> Iterator[Cut]:
        """Yield attachments about a moment."""
        for sent in self.log.chain:
            head = sent.record.envelope.attachment
            if head and head.type in NOTES and sent.blocks and self.is_open(sent.record.line):
                yield Cut(sent.record.line, None, None, "attachment")

    def shorten_inputs(self) -> Iterator[Cut]:
        """Yield calls with the long texts of their input cut."""
        for sent_block, call in self.log.calls():
            if self.is_open(sent_block.line):
                yield from shorten_call(self.log, sent_block, call)

    def remove_calls(self) -> Iterator[Cut]:
        """Yield calls to remove with their results."""
        recent = [sent.record for sent in self.log.chain if not self.is_open(sent.record.line)]
        recent_calls = find_mentioned_calls(recent)
        for sent_block, call in self.log.calls():
            if sent_block.owner.record.parent_uuid not in self.log.uuids:
                continue  # its parent cannot be read: the parent of what followed would be a guess
            is_needed = call in recent_calls or is_loading_tools(self.log, call)
            places = self.log.pairs.list_places(call)
            if not is_needed and all(self.is_open(place.line) for place in places):
                yield from remove_call(self.log, call)

    def _iter_open_results(self) -> Iterator[tuple[SentBlock, str]]:
        for sent_block, call in self.log.results():
            if self.is_open(sent_block.line) and sent_block.block.get("type") in PLAIN_RESULTS:
                yield sent_block, self.log.name_of(call)

    def _shorten_result(
        self, sent_block: SentBlock, keep: int | None, reason: str
    ) -> Iterator[Cut]:
        """Yield the cuts that shorten what earlier steps left of a result."""
        parts = self.chosen.get((sent_block.line, sent_block.place), {})
        left = apply_block_cuts(sent_block.block, parts.values()) if parts else sent_block.block
        if not isinstance(left, dict):
            return
        content = sent_block.block.get("content")
        there = [
            at
            for at in range(len(content) if isinstance(content, list) else 0)
            if at not in parts or parts[at].to is not None
        ]
        for cut in shorten_result(Place(sent_block.line, sent_block.place), left, keep, reason):
            yield cut if cut.inner is None else replace(cut, inner=there[cut.inner])


STEPS: tuple[Callable[[_Trimming], Iterator[Cut]], ...] = (
    _Trimming.remove_reminders,
    _Trimming.replace_stale_reads,
    _Trimming.shorten_large_results,
    _Trimming.remove_thinking,
    _Trimming.remove_images,
    _Trimming.replace_results,
    _Trimming.remove_notes,
    partial(_Trimming.replace_results, of_agents=True),
    _Trimming.shorten_inputs,
    _Trimming.remove_calls,
)
"""What is removed first, and what last."""


def _is_typed(record: Record) -> bool:
    """Return whether a record holds a prompt typed while Claude was working."""
    words = get_queued_text(record)
    return bool(words) and is_typed_in_queue(record.envelope, words or "")


SNAPSHOTS = frozenset({"file-history-snapshot", "file-history-delta"})
RECORD_CUTS: tuple[tuple[str, Callable[[Record], bool], str], ...] = (
    ("progress", lambda record: record.type == "progress", "progress"),
    ("snapshots", lambda record: record.type in SNAPSHOTS, "file snapshot"),
    (
        "request_logs",
        lambda record: (record.type or "").startswith("api-request"),
        "request log",
    ),
    (
        "attachments",
        lambda record: record.type == "attachment" and not _is_typed(record),
        "attachment",
    ),
)
"""Kinds that remove whole records: the field of a choice, what it applies to, the reason."""


def select_cuts(records: Sequence[Record], choice: TrimChoice, size: int) -> list[Cut]:
    """Return the cuts that a choice means in a log of that size."""
    log = SentLog(records, size)
    chosen = _Chosen(log, choice)
    cuts = [*chosen.records(), *chosen.calls(), *chosen.repeats()]
    if choice.preset:
        cuts += select_preset_cuts(log, choice.preset, choice.except_last)
    found: dict[tuple[int, int | None, int | None], Cut] = {}
    for cut in cuts:
        place = cut.line, cut.block, cut.inner
        if place not in found or (cut.to is None and found[place].to is not None):
            found[place] = cut
    return list(found.values())


class _Chosen:
    """Finds what a choice names."""

    def __init__(self, log: SentLog, choice: TrimChoice) -> None:
        self.log = log
        self.choice = choice
        older, before = self.choice.older_than, self.choice.before
        if older is None:
            self.end = before
        else:
            times = [record.time for record in self.log.records if record.time]
            end = max(times) - older if times else None
            self.end = min(end, before) if end and before else end or before

    def is_open(self, record: Record) -> bool:
        """Return whether a record is old enough, and in none of the turns that stay unchanged."""
        if self.log.is_recent(record.line, self.choice.except_last):
            return False
        return self.end is None or (record.time is not None and record.time < self.end)

    def records(self) -> Iterator[Cut]:
        """Yield what is removed record by record: thinking, images, notes, what is never sent."""
        choice = self.choice
        wanted = [row for row in RECORD_CUTS if getattr(choice, row[0])]
        if not (wanted or choice.thinking or choice.images):
            return
        for record in self.log.records:
            if not self.is_open(record):
                continue
            for _, applies_to, reason in wanted:
                if applies_to(record):
                    yield Cut(record.line, None, None, reason)
            if choice.thinking and record.type == "assistant":
                yield from remove_thinking(record)
            if choice.images:
                yield from (picture.cut("picture") for picture in list_images(record))

    def repeats(self) -> Iterator[Cut]:
        """Yield what is repeated later."""
        if self.choice.rereads:
            for sent_block, cut in find_stale_reads(self.log):
                if self.is_open(sent_block.owner.record):
                    yield cut
        if self.choice.reminders:
            for sent, cut in find_repeated_reminders(self.log):
                if self.is_open(sent.record):
                    yield cut

    def calls(self) -> Iterator[Cut]:
        """Yield the chosen calls, or their results."""
        for call in self._select_calls():
            if self.choice.way == "remove":
                yield from remove_call(self.log, call)
            else:
                keep = self.choice.keep if self.choice.way == "cut" else None
                yield from shorten_results(self.log, call, keep)

    def _select_calls(self) -> list[str]:
        choice, pairs = self.choice, self.log.pairs
        asked = [call for name in choice.calls for call in self._find_call(name)]
        is_by_age = self.end is not None or choice.except_last > 0
        is_other = bool(choice.preset) or any(getattr(choice, kind) for kind in TRIM_KINDS)
        is_only_age = is_by_age and not choice.calls and not is_other
        if not choice.tools and choice.larger_than is None and not is_only_age:
            return asked
        known = dict.fromkeys((*pairs.calls, *pairs.results))
        return list(dict.fromkeys([*asked, *filter(self._is_wanted, known)]))

    def _find_call(self, name: str) -> list[str]:
        """Return the call with this id or prefix."""
        pairs = self.log.pairs
        if name in pairs.calls or name in pairs.results:
            return [name]
        known = dict.fromkeys((*pairs.calls, *pairs.results))
        begun = [item for item in known if item.startswith(name)]
        if len(begun) != 1:
            why = f"{len(begun)} calls start" if begun else "no call starts"
            raise UserError(f"{why} with '{name}'", "`plait show SESSION --json` lists the ids")
        return begun

    def _is_wanted(self, call: str) -> bool:
        choice, pairs = self.choice, self.log.pairs
        name = pairs.names.get(call, "")
        if choice.tools and not any(fnmatchcase(name, tool) for tool in choice.tools):
            return False
        places = list(pairs.list_places(call))
        records = self.log.records_by_line
        if not all(self.is_open(records[place.line]) for place in places):
            return False
        least = choice.larger_than
        return least is None or sum(map(self._count_characters, places)) > least

    def _count_characters(self, place: Place) -> int:
        block = self.log.block_at(place)
        if "input" in block:
            return len(encode_value(block["input"]))
        return count_original_characters(get_result_text(block))


NAMED = 2
"""How many of the largest are named."""
LONGEST = 48
"""Characters of what a call was about."""
NOUNS = {
    "thoughts": ("thinking block", "thinking blocks"),
    "pictures": ("image or document", "images or documents"),
    "notes": ("note from Claude Code", "notes from Claude Code"),
}


@dataclass(slots=True)
class _Known:
    """What a request contains besides the conversation."""

    calls: dict[str, str] = field(default_factory=dict)
    """What each call was about."""
    results: dict[str, int] = field(default_factory=dict)
    """The tokens of the result of each call."""
    others: Counter[str] = field(default_factory=Counter)
    """How many there are of each of `NOUNS`."""


def describe_losses(before: Context, after: Context) -> Iterator[str]:
    """Yield what Claude will no longer know, or only in part, the largest of it by name."""
    was, left = _collect_known(before), _collect_known(after)
    gone = {name: size for name, size in was.results.items() if name not in left.results}
    less = {
        name: size - left.results[name]
        for name, size in was.results.items()
        if size > left.results.get(name, size)
    }
    if gone:
        yield f"Claude will no longer know {_format_result_count(gone)}: {_format_largest(gone, was.calls)}"
    if less:
        yield f"Claude will know only part of {_format_result_count(less)}: {_format_largest(less, was.calls)}"
    parts = [
        f"{count} {NOUNS[kind][count != 1]}"
        for kind in NOUNS
        if (count := was.others[kind] - left.others[kind]) > 0
    ]
    if parts:
        yield f"Claude will no longer see {_format_list(parts)}"


def _collect_known(sent: Context) -> _Known:
    found = _Known()
    for role, blocks in sent.request:
        for block in blocks:
            kind = str(block.get("type"))
            if kind.endswith("tool_use"):
                given = block.get("input")
                values = given.values() if isinstance(given, Mapping) else ()
                first = next(
                    (value for value in values if isinstance(value, str) and value.strip()), ""
                )
                words = " ".join(first.split())
                if len(words) > LONGEST:
                    words = f"…{words[-LONGEST:]}"
                found.calls[str(block.get("id"))] = f"{block.get('name')} {words}".strip()
            elif kind.endswith("tool_result"):
                found.results[str(block.get("tool_use_id"))] = estimate_block_tokens(block)
                inner = block.get("content")
                parts = inner if isinstance(inner, list) else []
                found.others["pictures"] += sum(is_picture(part) for part in parts)
            elif kind in ("thinking", "redacted_thinking"):
                found.others["thoughts"] += 1
            elif is_picture(block):
                found.others["pictures"] += 1
            elif role == "system" or str(block.get("text", "")).lstrip().startswith(REMINDER_TAG):
                found.others["notes"] += 1
    return found


def _format_result_count(found: Mapping[str, int]) -> str:
    return "the result of a call" if len(found) == 1 else f"the results of {len(found)} calls"


def _format_largest(found: Mapping[str, int], calls: Mapping[str, str]) -> str:
    ordered = sorted(found.items(), key=lambda item: -item[1])
    parts = [
        f"{calls.get(name, 'a call')} (about {size:,} tokens)" for name, size in ordered[:NAMED]
    ]
    rest = len(ordered) - NAMED
    if rest > 0:
        parts.append("a smaller one" if rest == 1 else f"{rest} smaller ones")
    return _format_list(parts)


def _format_list(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


NOTHING = "nothing to trim"
UNTOUCHED = "not selected"
CACHE = "the prompt cache is lost: the next prompt writes the remaining context to it again"
SPARED = "prompts are kept, and signed blocks cannot be shortened"
USAGE = (
    "the usage figures in the log are from the original requests and no longer match the contents"
)


SelectCuts = Callable[[Sequence[Record], int], Iterable[Cut]]
"""Returns the cuts for the records of a log of a given size in bytes."""


def plan_trim(
    subject: Subject,
    choice: TrimChoice,
    *,
    is_in_place: bool = False,
    prices: Prices | None = None,
) -> Plan:
    """Return the plan that trims a session; without steps if there is nothing to trim."""

    def select(records: Sequence[Record], size: int) -> Iterable[Cut]:
        return select_cuts(records, choice, size)

    plan = plan_cuts(subject, select, is_in_place=is_in_place, prices=prices)
    preset = choice.preset
    rule = get_preset_rule(preset) if preset else None
    if preset is None or rule is None:
        return plan
    # Prompts, answers and the newest turns are never cut: they may be more than the preset leaves.
    written = (step for step in plan.steps if isinstance(step, Write) and step.path == plan.path)
    step = next(written, None)
    found = split_lines(step.content()) if step else iter_lines(plan.path, end=plan.before.bytes)
    entries = (parse_entry(line) for line in found)
    records = [entry for entry in entries if isinstance(entry, Record)]
    log = SentLog(records, plan.after.bytes)
    total = log.weight + log.trimmed
    if log.weight <= (rule.share + SLACK) * total:
        return plan
    name = preset.name if isinstance(preset, CustomPreset) else preset
    note = (
        f"'{name}' aims to keep {rule.share:.0%} of the message tokens; "
        f"{log.weight / total:.0%} remain, because prompts, answers and the newest turns are kept"
    )
    return replace(plan, notes=(*plan.notes, note))


def plan_cuts(
    subject: Subject,
    chosen: SelectCuts,
    *,
    is_in_place: bool = False,
    prices: Prices | None = None,
) -> Plan:
    """Return the plan that makes cuts in a session; without steps if there are none."""
    stamp = read_stamp(subject.log.path)
    draft = open_draft(subject.log, iter_lines(subject.log.path, end=stamp.size))
    sent, way = build_context(draft.records, size=stamp.size), find_resume_chain(draft)
    records, weights = draft.records, weigh_chain(draft.records, stamp.size)
    gone = apply_cuts(draft, chosen(records, stamp.size))
    before = measure_log(subject.log, stamp.size, prices)
    if not draft.is_changed:
        return plan_nothing("trim", subject, stamp, before, untouched=UNTOUCHED, why=NOTHING)
    side_files = SideFileChanges(subject, draft)
    moved = mend_pointers(draft, gone.pairs, side_files.parents)
    restore_resume_chain(draft, subject.id, way, moved)
    # Raise if the client resumes the session but would not resume the result.
    why_not = find_refusal(draft.records, draft.size) if sent.resumes else None
    if why_not:
        raise UserError(f"refusing to trim: Claude Code could not resume the result ({why_not})")
    note_removed_tokens(draft, weights)
    plan = plan_draft(
        "trim",
        subject,
        stamp,
        draft,
        before,
        is_in_place=is_in_place,
        untouched=UNTOUCHED,
        side_files=side_files,
        instead=moved,
        prices=prices,
    )
    left = build_context(draft.records, size=draft.size)
    count = len(gone.spared)
    spared = f"{count:,} {'cut was' if count == 1 else 'cuts were'} skipped: {SPARED}"
    plan = replace(
        plan,
        notes=(*describe_losses(sent, left), CACHE, USAGE, *([spared] if gone.spared else ())),
    )
    return add_break_even(plan, records, datetime.now(UTC))
