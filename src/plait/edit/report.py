"""Reports of plans, checks and edits, their wording, and what fills a session's context."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from plait.conversation.prices import Prices
from plait.edit.cuts import CustomPreset, Preset
from plait.edit.plan import Change, Measures, Plan, Violation
from plait.errors import PlaitError, Refused
from plait.sessions.model import SessionRef
from plait.view.context import NO_COST, Weighed, describe_next_prompt, measure_context
from plait.view.formats import format_bytes, format_count, format_money_column, format_tokens
from plait.view.text import UNSAFE

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.edit.journal import Edit
    from plait.edit.proof import Proof
    from plait.edit.transfer import PackPlan
    from plait.sessions.open_session import OpenSession
    from plait.sessions.resume import Resumption


UNKNOWN = "–"
LEAD = 24
"""Common characters shown before the first difference."""
PAST_TENSE = {
    "clone": "cloned",
    "fork": "forked",
    "graft": "grafted",
    "switch": "switched",
    "repair": "repaired",
    "rename": "renamed",
    "tag": "tagged",
    "delete": "deleted",
    "trim": "trimmed",
    "compress": "compressed",
    "redact": "redacted",
    "move": "moved",
    "port": "ported",
}


class DifferentLine(Struct, frozen=True):
    """A line before and after, cut to where they differ."""

    line: int | None
    uuid: str | None
    before: str | None
    after: str | None
    reason: str


class BrokenRule(Struct, frozen=True):
    """A rule for written sessions that a line breaks."""

    rule: str
    uuid: str | None
    line: int | None
    words: str
    file: str | None = None
    """An agent's log; None for the session's own."""


class Unmended(Struct, frozen=True):
    """A problem that remains."""

    code: str
    uuid: str | None
    line: int | None
    words: str


class EditReport(Struct, frozen=True, kw_only=True):
    """An edit that was planned, and whether it was applied."""

    operation: str
    source: str
    """The session it was requested for."""
    session: str
    """The resulting session."""
    path: str
    applied: bool
    before: Measures
    after: Measures
    kept: int
    dropped: int
    rewritten: int
    added: int
    reasons: tuple[Change, ...] = ()
    differences: tuple[DifferentLine, ...] = ()
    notes: tuple[str, ...] = ()
    unmended: tuple[Unmended, ...] = ()
    violations: tuple[BrokenRule, ...] = ()
    undo: str | None = None
    """Its id in the journal; None if nothing was done."""
    break_even_turns: float | None = None
    """Turns after which a cut has paid for rewriting the cache."""
    files: int = 0
    """The number of files it writes, appends to, moves or removes."""

    @property
    def is_new(self) -> bool:
        """Whether the result is another session and this one stays unchanged."""
        return self.session != self.source

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do; deleting a session is something, however empty."""
        is_changed = self.dropped or self.rewritten or self.added or self.is_new or self.files
        return not (is_changed or self.operation == "delete")


class CheckReport(Struct, frozen=True):
    """Whether a session follows the rules for written sessions."""

    session: str
    path: str
    ok: bool
    violations: tuple[BrokenRule, ...]


class EditEntry(Struct, frozen=True):
    """An edit in the journal."""

    id: str
    operation: str
    session: str
    path: str
    when: str
    state: str
    """`done` and `undone`; `begun`, `ready` and `undoing` if it was interrupted."""

    @property
    def is_cut_off(self) -> bool:
        """Whether it was interrupted."""
        return self.state in ("begun", "ready", "undoing")

    @property
    def can_undo(self) -> bool:
        """Whether there is something to restore."""
        return self.state == "done" or self.is_cut_off


def format_entry(edit_entry: EditEntry) -> str:
    """Return what was done, and whether it still applies."""
    done = PAST_TENSE.get(edit_entry.operation, edit_entry.operation)
    if edit_entry.is_cut_off:
        return f"{edit_entry.operation}, interrupted"
    return f"{done}, undone" if edit_entry.state == "undone" else done


def list_size_rows(report: EditReport) -> Iterator[tuple[str, str, str]]:
    """Yield each measure with its figures before and after."""
    before, after = report.before, report.after
    yield "lines", f"{before.lines:,}", f"{after.lines:,}"
    yield "turns", f"{before.turns:,}", f"{after.turns:,}"
    yield "size", format_bytes(before.bytes), format_bytes(after.bytes)
    yield "tokens sent on resume", _format_tokens(before.tokens), _format_tokens(after.tokens)
    was, will_be = before.cost_usd or NO_COST, after.cost_usd or NO_COST
    if was.warm is not None or will_be.warm is not None:
        item, other = format_money_column((was.warm, will_be.warm), UNKNOWN)
        yield "next prompt, cache warm", item, other
    if was.cold is not None or will_be.cold is not None:
        item, other = format_money_column((was.cold, will_be.cold), UNKNOWN)
        yield "next prompt, cache cold", item, other


CUTS = ("trim", "compress")
"""Operations that make a session cheaper."""
SHORTER = (*CUTS, "fork")
"""Operations whose result may send less than its source."""


def format_saving(report: EditReport) -> str | None:
    """Return what a cut saves and when it has paid for itself; None if nothing is cut."""
    before, after = report.before, report.after
    if report.operation not in SHORTER or before.tokens is None or after.tokens is None:
        return None
    if after.tokens >= before.tokens:
        return None
    saved = format_tokens(before.tokens - after.tokens)
    words = f"{saved} fewer tokens per request, {format_saved_share(before, after)}"
    if report.break_even_turns is None:
        pays = ""
    elif report.break_even_turns <= 0:
        pays = "saves from the first request: the cache has expired"
    else:
        count = (
            f"{report.break_even_turns:.1f}"
            if report.break_even_turns < 10
            else f"{report.break_even_turns:.0f}"
        )
        pays = f"breaks even after {count} turns"
    return f"{words}; {pays}" if pays else words


def format_saved_share(before: Measures, after: Measures) -> str:
    """Return how much of what was sent is no longer sent."""
    share = 1 - (after.tokens or 0) / before.tokens if before.tokens else 0.0
    return f"{100 * share:.{0 if share >= 0.1 else 1}f}%"


def _format_tokens(count: int | None) -> str:
    return UNKNOWN if count is None else format_tokens(count)


def list_fate_rows(report: EditReport) -> Iterator[tuple[str, str, str]]:
    """Yield the numbers of lines by outcome and reason, grouped.

    For a cut, large groups come first, since it has many reasons.
    """
    reasons = report.reasons
    if report.operation in CUTS:
        reasons = tuple(sorted(reasons, key=lambda reason: -reason.lines))
    for fate_reason in reasons:
        if fate_reason.lines:
            yield f"{fate_reason.lines:,}", fate_reason.fate, fate_reason.reason


def format_problem(broken_rule: BrokenRule | Unmended) -> str:
    """Return where something is wrong, and what."""
    file = broken_rule.file if isinstance(broken_rule, BrokenRule) else None
    place = " ".join(
        part for part in (file, f"line {broken_rule.line}" if broken_rule.line else None) if part
    )
    return f"{place}: {broken_rule.words}" if place else broken_rule.words


def format_done(report: EditReport) -> str:
    """Return what was done, in a few words."""
    done = PAST_TENSE.get(report.operation, report.operation)
    if report.operation == "move":
        return f"{done} to {report.session}"
    return f"{done} as {report.session}" if report.is_new else done


def format_violations(report: EditReport) -> str:
    """Return how many rules an edit would break."""
    return f"{format_count(len(report.violations), 'rule')} would be broken"


def cut_to_difference(
    before: bytes | str | None, after: bytes | str | None, room: int
) -> tuple[str | None, str | None]:
    """Return two versions of a line cut to the same window, from shortly before they differ."""
    item, other = _decode_text(before), _decode_text(after)
    start = 0
    if item is not None and other is not None:
        low, high = 0, min(len(item), len(other))
        while low < high:
            middle = (low + high + 1) // 2
            if item[low:middle] == other[low:middle]:
                low = middle
            else:
                high = middle - 1
        start = max(low - LEAD, 0)
    return _cut_window(item, start, room), _cut_window(other, start, room)


def _decode_text(given: bytes | str | None) -> str | None:
    return given.decode("utf-8", "replace") if isinstance(given, bytes) else given


def _cut_window(text: str | None, start: int, room: int) -> str | None:
    if text is None:
        return None
    head = "…" if start else ""
    end = start + room - len(head)
    if len(text) > end:
        return f"{head}{text[start : end - 1]}…"
    return head + text[start:]


MOST_DIFFERENCES = 12
LONGEST = 400
"""Characters shown of a line that differs."""


def build_plan_report(
    plan: Plan, violations: Iterable[Violation] = (), edit: "Edit | None" = None
) -> EditReport:
    """Return the report of a plan, with its id in the journal if it was applied."""
    differences: list[DifferentLine] = []
    for difference in plan.differences[:MOST_DIFFERENCES]:
        before, after = cut_to_difference(difference.before, difference.after, LONGEST)
        differences.append(
            DifferentLine(difference.line, difference.uuid, before, after, difference.reason)
        )
    return EditReport(
        operation=plan.operation,
        source=plan.source.id,
        session=plan.session,
        path=str(plan.path),
        applied=edit is not None,
        before=plan.before,
        after=plan.after,
        kept=plan.count_lines("kept"),
        dropped=plan.count_lines("dropped"),
        rewritten=plan.count_lines("rewritten"),
        added=plan.count_lines("added"),
        reasons=plan.changes,
        differences=tuple(differences),
        notes=plan.notes,
        unmended=tuple(
            Unmended(finding.code, finding.uuid, finding.line, finding.sentence)
            for finding in plan.unmended
        ),
        violations=_build_broken_rules(violations, plan.path),
        undo=edit.id if edit else None,
        break_even_turns=plan.break_even_turns,
        files=len(plan.steps),
    )


def build_pack_report(packing: "PackPlan", *, is_done: bool) -> EditReport:
    """Return the report of packing sessions into a file, which changes none of them."""
    load, size = packing.load, packing.size
    name = load.directory if load.is_project else load.subjects[0].id
    kept = packing.size.lines - packing.redacted
    return EditReport(
        operation="port",
        source=name or load.folder.name,
        session=name or load.folder.name,
        path=str(packing.path),
        applied=is_done,
        before=size,
        after=size,
        kept=kept,
        dropped=0,
        rewritten=packing.redacted,
        added=0,
        reasons=tuple(
            change
            for change in (
                Change("kept", kept, "packed unchanged"),
                Change("rewritten", packing.redacted, "contained sensitive text"),
            )
            if change.lines
        ),
        notes=packing.notes,
        files=len(packing.members),
    )


def build_check_report(session: str, path: Path, violations: Iterable[Violation]) -> CheckReport:
    """Return the report of a session that was checked."""
    found = _build_broken_rules(violations, path)
    return CheckReport(session, str(path), not found, found)


def build_edit_row(edit: "Edit") -> EditEntry:
    """Return a row of the list of edits."""
    return EditEntry(
        edit.id, edit.operation, edit.session, str(edit.path), edit.when.isoformat(), edit.state
    )


def _build_broken_rules(violations: Iterable[Violation], own: Path) -> tuple[BrokenRule, ...]:
    return tuple(
        BrokenRule(
            violation.rule,
            violation.uuid,
            violation.line,
            violation.sentence,
            None if violation.path is None or violation.path == own else violation.path.name,
        )
        for violation in violations
    )


class PresetEffect(Struct, frozen=True):
    """What a preset would leave of a session."""

    preset: str
    before: Measures
    after: Measures
    break_even_turns: float | None
    words: str
    """The same in a few words."""


def weigh_context(
    opened: "OpenSession", name: str, prices: Prices, resumed: "Resumption | None" = None
) -> Weighed:
    """Return Claude's context of a session with the size and position of everything."""
    found = resumed or opened.context()
    turns = {
        uuid: turn.number
        for turn in (opened.turns if opened.graph.sessions else ())
        for uuid in (item.uuid for item in turn.items)
        if uuid
    }
    weighed = measure_context(name, found.context, found.tokens, found.contributions, turns)
    if opened.session.origin is not None:  # what another agent adds is not known
        return weighed
    return replace(weighed, next_prompt=describe_next_prompt(found.next_prompt, prices))


def list_preset_effects(
    archive: "Archive", session: SessionRef, custom: Iterable[CustomPreset] = ()
) -> Iterator[PresetEffect]:
    """Yield what each preset would leave, the gentlest first; presets without effect are skipped."""
    if archive.session(session).is_kept:
        return
    for preset in (*get_args(Preset), *custom):
        plan = archive.plan.trim(session, preset, in_place=True)
        before, after = plan.before, plan.after
        if not plan.steps:
            words = "nothing to trim"
        elif before.tokens is None or after.tokens is None:
            words = "savings unknown"
        elif saved := before.tokens - after.tokens:
            share = format_saved_share(before, after)
            words = f"{format_tokens(saved)} fewer tokens, {share}"
        else:
            words = "no fewer tokens"
        name = preset.name if isinstance(preset, CustomPreset) else preset
        yield PresetEffect(name, before, after, plan.break_even_turns, words)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one plan: a report, or the error that prevented one."""

    session: str
    report: EditReport | None = None
    proof: "Proof | None" = None
    error: PlaitError | None = None

    @property
    def refusal(self) -> PlaitError | None:
        """Why the plan was not applied, or not completely; None if it was."""
        if self.error or self.report is None:
            return self.error
        if self.proof and not self.proof.is_good:
            return Refused("the proof failed", f"`plait undo {self.report.undo}` reverts the edit")
        if not self.report.violations:
            return None
        reasons = format_violations(self.report)
        hint = f"`plait repair {self.report.source[:8]} --check` shows the earlier problems"
        return Refused(f"refusing to {self.report.operation}: {reasons}", hint)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as `--json` prints it."""
        if self.report is None:
            error = self.error
            reason = {"error": error.message, "hints": list(error.hints)} if error else {}
            return {"session": self.session, "applied": False, **reason}
        proof = {"proof": to_builtins(self.proof)} if self.proof else {}
        return {**to_builtins(self.report), **proof}


def format_proof(proof: "Proof") -> str:
    """Describe in one sentence how a client resumed a session."""
    if proof.state == "not installed":
        reason = f"cannot be started: {proof.output}" if proof.output else "is not installed"
        return f"no proof: 'claude' {reason}"
    client = UNSAFE.sub("\ufffd", (proof.client or "claude").partition(" ")[0])
    if proof.state == "not resumed":
        agreed = ", as `plait context` predicts" if proof.is_equal else ""
        message = UNSAFE.sub("\ufffd", proof.output or "no message")
        return f"{client} does not resume the session{agreed}: {message}"
    if proof.is_equal is None:
        return f"{client} resumes the session but asks to compact it first, because it is too long"
    sent = format_count(proof.messages, "message")
    if proof.is_equal:
        return f"{client} resumes the session and sends the same {sent} that `plait context` shows"
    return f"{client} resumes the session, but differs from `plait context`: {proof.difference}"
