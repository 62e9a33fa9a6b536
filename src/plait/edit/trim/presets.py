"""A preset to the cuts that leave so much of what is sent as it says, the least valuable first.

A preset is a share of what the messages of the next request took before anything was trimmed.
What a trim took is noted in the log, so a session that was trimmed is measured by what it was,
and the same preset finds nothing more to do. The system prompt and the tools are not counted:
no trim can take them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from plait.conversation.tools import tool_named
from plait.edit.trim import marks
from plait.edit.trim.model import Cut, Preset
from plait.edit.trim.pairs import Place, calls_told_of, heads_in, words_of
from plait.edit.trim.pictures import pictures_of, refused_pictures
from plait.edit.trim.repeats import repeated_reminders, stale_readings
from plait.edit.trim.results import loads_tools, shortened
from plait.edit.trim.sent import THINKING, SentBlock, SentLog
from plait.edit.trim.shorter import after
from plait.edit.trim.spared import PLAIN_RESULTS, allowed
from plait.graph.client.speech import as_sent
from plait.graph.client.weigh import tokens_in

SLACK = 0.01
"""Of what there was: a session that is so near to its share is left alone."""
LARGE = 4_000
"""Characters of a result that is large."""
KEPT_OF_LARGE = 1_000
KEPT_KINDS = frozenset({"agent", "skill", "plan", "ask"})
"""Kinds of tools whose results were written to be read: they go later than others."""
NOTES = frozenset(
    """
    date_change diagnostics directory edited_text_file file hook_additional_context
    hook_non_blocking_error hook_success hook_system_message opened_file_in_ide
    selected_lines_in_ide silent_turn_reminder task_reminder todo_reminder total_tokens_reminder
    """.split()
)
"""Attachments that tell of a moment; others say what the client can do, and stay."""


@dataclass(frozen=True, slots=True)
class PresetRule:
    """What a preset leaves, and how far it goes for that."""

    share: float
    """Of what the messages took before any trim."""
    turns: int
    """At the end, that are left alone."""
    answers: int
    """At the end, that are left alone where a turn is longer than that."""
    steps: int
    """How many of the steps it may take."""


PRESETS: dict[Preset, PresetRule] = {
    "light": PresetRule(0.85, turns=3, answers=12, steps=6),
    "standard": PresetRule(0.60, turns=2, answers=8, steps=8),
    "heavy": PresetRule(0.35, turns=1, answers=5, steps=9),
    "extreme": PresetRule(0.15, turns=1, answers=3, steps=10),
}


def preset_cuts(log: SentLog, preset: Preset, except_last: int = 0) -> list[Cut]:
    """Returns the cuts of a preset; none where so little is left already."""
    return _Trimming(log, PRESETS[preset], except_last).cuts()


def shortfall(log: SentLog, preset: Preset) -> str | None:
    """Says that a trimmed log is still above the share of a preset, None where it is not."""
    whole, rule = log.weight + log.trimmed, PRESETS[preset]
    if log.weight <= (rule.share + SLACK) * whole:
        return None
    return (
        f"'{preset}' would leave {rule.share:.0%} of what the messages took; "
        f"{log.weight / whole:.0%} is left: what people and Claude said, and the newest turns, stay"
    )


class _Trimming:
    """Takes cuts, step by step, until little enough is left."""

    def __init__(self, log: SentLog, rule: PresetRule, except_last: int) -> None:
        self.log = log
        self.rule = rule
        self.turns = max(rule.turns, except_last)
        self.answers = None if except_last > rule.turns else rule.answers
        self.weight = log.weight
        self.whole = self.weight + log.trimmed
        self.chosen: dict[tuple[int, int | None], dict[int | None, Cut]] = {}
        """By record and block; by part within that."""
        self.left: dict[tuple[int, int | None], int] = {}
        """What the cuts leave of a block."""

    def cuts(self) -> list[Cut]:
        """Returns what goes."""
        unsent = [*self._never_sent(), *refused_pictures(self.log)]
        self._take(unsent, is_needed=True)
        if self.weight > (self.rule.share + SLACK) * self.whole:
            for step in STEPS[: self.rule.steps]:
                self._take(step(self), is_needed=False)
        return [cut for parts in self.chosen.values() for cut in parts.values()]

    def _never_sent(self) -> Iterator[Cut]:
        for record in self.log.records:
            if record.type == "progress":
                yield Cut(record.line, None, None, "progress")
            elif (record.type or "").startswith("api-request"):
                yield Cut(record.line, None, None, "log of requests")

    def _take(self, cuts: Iterator[Cut] | list[Cut], *, is_needed: bool) -> None:
        records, pairs = self.log.records_by_line, self.log.pairs
        for cut in allowed(cuts, records, pairs):
            if not is_needed and self.weight <= self.rule.share * self.whole:
                return
            self._choose(cut, is_needed=is_needed)

    def _is_told(self, cut: Cut) -> bool:
        """Tells whether a line stands for a block already, and says more than another would."""
        known = self.chosen.get((cut.line, cut.block), {}).get(None)
        return bool(known and cut.to is not None and known.to and marks.is_short(known.to))

    def _choose(self, cut: Cut, *, is_needed: bool) -> None:
        key = cut.line, cut.block
        parts = self.chosen.get(key, {})
        if (None in parts and cut.inner is not None) or self._is_told(cut):
            return
        wanted: dict[int | None, Cut] = {} if cut.inner is None else dict(parts)
        wanted[cut.inner] = cut
        before = self.left.get(key, self._weight(key))
        now = self._weight_after(key, wanted)
        if now < before or is_needed:
            self.weight += now - before
            self.chosen[key], self.left[key] = wanted, now

    def _weight(self, key: tuple[int, int | None]) -> int:
        """Returns what a block takes, or a whole record; nothing where it is not sent."""
        line, place = key
        one = self.log.by_line.get(line)
        if one is None:
            return 0
        if place is None:
            return one.weight
        block = self.log.block_at(Place(line, place))
        is_silent = block.get("type") in THINKING and not one.thinks
        return 0 if is_silent else tokens_in(as_sent(block))

    def _weight_after(self, key: tuple[int, int | None], cuts: dict[int | None, Cut]) -> int:
        line, place = key
        if place is None or line not in self.log.by_line:
            return 0
        left = after(self.log.block_at(Place(line, place)), cuts.values())
        return tokens_in(as_sent(left)) if isinstance(left, dict) else 0

    def is_open(self, line: int) -> bool:
        """Tells whether a line is of no turn that is left alone."""
        return not self.log.is_recent(line, self.turns, self.answers)

    def reminders(self) -> Iterator[Cut]:
        """Yields reminders that are told once more later."""
        return (cut for one, cut in repeated_reminders(self.log) if self.is_open(one.record.line))

    def readings(self) -> Iterator[Cut]:
        """Yields readings of files that were read again or changed since, the oldest first."""
        found = [cut for one, cut in stale_readings(self.log) if self.is_open(one.line)]
        return reversed(found)

    def large_results(self) -> Iterator[Cut]:
        """Yields results that are large, cut to their first characters."""
        for one, tool in self._results():
            if len(words_of(one.block)) > LARGE:
                yield from self._shorter(one, KEPT_OF_LARGE, f"large result of {tool}")

    def thoughts(self) -> Iterator[Cut]:
        """Yields thoughts that are sent."""
        for one in self.log.chain:
            if one.thinks and self.is_open(one.record.line):
                for place, head in enumerate(heads_in(one.record)):
                    if head.type in THINKING:
                        yield Cut(one.record.line, place, None, "thinking")

    def pictures(self) -> Iterator[Cut]:
        """Yields pictures that tools gave."""
        for one in self.log.chain:
            if self.is_open(one.record.line):
                for picture in pictures_of(one.record):
                    if picture.inner is not None:
                        yield picture.cut("picture in a result")

    def results(self) -> Iterator[Cut]:
        """Yields results whose place a line takes, but for those written to be read."""
        for one, tool in self._results():
            if tool_named(tool).kind not in KEPT_KINDS:
                yield from self._shorter(one, None, f"result of {tool}")

    def prose(self) -> Iterator[Cut]:
        """Yields the results of agents and skills, whose place a line takes."""
        for one, tool in self._results():
            if tool_named(tool).kind in KEPT_KINDS:
                yield from self._shorter(one, None, f"result of {tool}")

    def notes(self) -> Iterator[Cut]:
        """Yields attachments that tell of a moment."""
        for one in self.log.chain:
            head = one.record.envelope.attachment
            if head and head.type in NOTES and one.blocks and self.is_open(one.record.line):
                yield Cut(one.record.line, None, None, "attachment")

    def inputs(self) -> Iterator[Cut]:
        """Yields calls with the long texts of their input cut."""
        for one, call in self.log.calls():
            given: Any = one.block.get("input")
            if one.block.get("type") != "tool_use" or not isinstance(given, dict):
                continue
            if self.is_open(one.line) and (left := marks.shorter_input(given)) != given:
                words = msgspec.json.encode(left).decode()
                name = self.log.pairs.names.get(call) or "a tool"
                yield Cut(one.line, one.place, words, f"input of {name}")

    def calls(self) -> Iterator[Cut]:
        """Yields calls that go with their results."""
        recent = [one.record for one in self.log.chain if not self.is_open(one.record.line)]
        told = calls_told_of(recent)
        for one, call in self.log.calls():
            if one.of.record.parent_uuid not in self.log.uuids:
                continue  # its parent cannot be read: what followed it would hang on a guess
            places = list(self.log.pairs.places(call))
            is_needed = call in told or any(loads_tools(self.log.block_at(at)) for at in places)
            if not is_needed and all(self.is_open(place.line) for place in places):
                name = self.log.pairs.names.get(call) or "a tool"
                for place in places:
                    yield Cut(place.line, place.block, None, f"call of {name}")

    def _results(self) -> Iterator[tuple[SentBlock, str]]:
        for one, call in self.log.results():
            if self.is_open(one.line) and one.block.get("type") in PLAIN_RESULTS:
                yield one, self.log.pairs.names.get(call) or "a tool"

    def _shorter(self, one: SentBlock, keep: int | None, reason: str) -> Iterator[Cut]:
        """Yields the cuts that shorten what earlier steps left of a result."""
        parts = self.chosen.get((one.line, one.place), {})
        left = after(one.block, parts.values()) if parts else one.block
        if not isinstance(left, dict):
            return
        there = [
            at for at in range(_length(one.block)) if at not in parts or parts[at].to is not None
        ]
        for cut in shortened(Place(one.line, one.place), left, keep, reason):
            yield cut if cut.inner is None else replace(cut, inner=there[cut.inner])


def _length(result: dict[str, Any]) -> int:
    content = result.get("content")
    return len(content) if isinstance(content, list) else 0


STEPS: tuple[Callable[[_Trimming], Iterator[Cut]], ...] = (
    _Trimming.reminders,
    _Trimming.readings,
    _Trimming.large_results,
    _Trimming.thoughts,
    _Trimming.pictures,
    _Trimming.results,
    _Trimming.notes,
    _Trimming.prose,
    _Trimming.inputs,
    _Trimming.calls,
)
"""What goes first, and what last."""
