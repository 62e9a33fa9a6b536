"""An edit to what is told of it: sizes before and after, how lines fare, a few that differ."""

from collections.abc import Iterator

from msgspec import Struct

from plait.view.amounts import bytes_in_words, many, sums_in_words, tokens_in_words

UNKNOWN = "–"
LEAD = 24
"""Characters that are the same and shown before the first that differs."""
DONE = {
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


class NextCost(Struct, frozen=True):
    """What the next prompt of a session costs, in dollars."""

    warm: float | None
    """While the cache still holds what is sent."""
    cold: float | None
    """When all of it is written to the cache again."""


class Size(Struct, frozen=True):
    """How large a session is."""

    lines: int
    turns: int
    bytes: int
    tokens: int | None
    """That the next resume sends; None where nothing says."""
    cost_usd: NextCost | None = None
    """Of the next prompt; None where it was not asked for."""


class FateReason(Struct, frozen=True):
    """Why some lines are kept, dropped, rewritten or added."""

    fate: str
    lines: int
    reason: str


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
    """The log of an agent; None for the session's own."""


class Unmended(Struct, frozen=True):
    """Something that stays wrong."""

    code: str
    uuid: str | None
    line: int | None
    words: str


class EditReport(Struct, frozen=True, kw_only=True):
    """An edit that was planned, and whether it was done."""

    operation: str
    source: str
    """The session that it was asked of."""
    session: str
    """The session that results."""
    path: str
    applied: bool
    before: Size
    after: Size
    kept: int
    dropped: int
    rewritten: int
    added: int
    reasons: tuple[FateReason, ...] = ()
    differences: tuple[DifferentLine, ...] = ()
    notes: tuple[str, ...] = ()
    unmended: tuple[Unmended, ...] = ()
    violations: tuple[BrokenRule, ...] = ()
    undo: str | None = None
    """What the journal calls it; None where nothing was done."""
    break_even_turns: float | None = None
    """After how many turns a cut has paid for the cache that it spends."""
    files: int = 0
    """How many files it writes, adds to, moves or takes away."""

    @property
    def is_new(self) -> bool:
        """Tells whether another session results, and this one is left alone."""
        return self.session != self.source

    @property
    def is_idle(self) -> bool:
        """Tells whether there is nothing to do: a session that goes is something, however empty."""
        is_changed = self.dropped or self.rewritten or self.added or self.is_new or self.files
        return not (is_changed or self.operation == "delete")


class CheckReport(Struct, frozen=True):
    """Whether a session keeps the rules for what is written."""

    session: str
    path: str
    ok: bool
    violations: tuple[BrokenRule, ...]


class EditEntry(Struct, frozen=True):
    """An edit as the journal has it."""

    id: str
    operation: str
    session: str
    path: str
    when: str
    state: str
    """`done` and `undone`; `begun`, `ready` and `undoing` where it was cut off."""

    @property
    def is_cut_off(self) -> bool:
        """Tells whether it was not carried out to its end."""
        return self.state in ("begun", "ready", "undoing")

    @property
    def can_undo(self) -> bool:
        """Tells whether there is something to bring back."""
        return self.state == "done" or self.is_cut_off


def entry_words(one: EditEntry) -> str:
    """Says what was done, and whether it still stands."""
    done = DONE.get(one.operation, one.operation)
    if one.is_cut_off:
        return f"{one.operation}, cut off"
    return f"{done}, undone" if one.state == "undone" else done


def size_rows(report: EditReport) -> Iterator[tuple[str, str, str]]:
    """Yields what is measured, with its figures before and after."""
    before, after = report.before, report.after
    yield "lines", _figure(before.lines), _figure(after.lines)
    yield "turns", _figure(before.turns), _figure(after.turns)
    yield "size", bytes_in_words(before.bytes), bytes_in_words(after.bytes)
    yield "tokens of the next resume", _tokens(before.tokens), _tokens(after.tokens)
    was, will_be = before.cost_usd or NO_COST, after.cost_usd or NO_COST
    if was.warm is not None or will_be.warm is not None:
        one, other = sums_in_words((was.warm, will_be.warm), UNKNOWN)
        yield "next prompt, cache warm", one, other
    if was.cold is not None or will_be.cold is not None:
        one, other = sums_in_words((was.cold, will_be.cold), UNKNOWN)
        yield "next prompt, cache cold", one, other


NO_COST = NextCost(None, None)
CUTS = ("trim", "compress")
"""What makes a session cost less."""
SHORTER = (*CUTS, "fork")
"""What may send less than the session that it is made of."""


def saving_words(report: EditReport) -> str | None:
    """Says what a cut saves and when it has paid for itself; None where nothing is cut."""
    before, after = report.before, report.after
    if report.operation not in SHORTER or before.tokens is None or after.tokens is None:
        return None
    if after.tokens >= before.tokens:
        return None
    saved = tokens_in_words(before.tokens - after.tokens)
    words = f"{saved} tokens less in every request, {saved_share(before, after)}"
    pays = break_even_words(report.break_even_turns)
    return f"{words}; {pays}" if pays else words


def saved_share(before: Size, after: Size) -> str:
    """Says how much of what was sent is no longer sent."""
    share = 1 - (after.tokens or 0) / before.tokens if before.tokens else 0.0
    return f"{100 * share:.{0 if share >= 0.1 else 1}f} %"


def break_even_words(turns: float | None) -> str:
    """Says after how many turns a cut has paid for the cache that it spends."""
    if turns is None:
        return ""
    if turns <= 0:
        return "it pays at once: the cache is cold by now"
    count = f"{turns:.1f}" if turns < 10 else f"{turns:.0f}"
    return f"the cache that it spends is paid back after {count} turns"


def _figure(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def _tokens(count: int | None) -> str:
    return UNKNOWN if count is None else tokens_in_words(count)


def fate_rows(report: EditReport) -> Iterator[tuple[str, str, str]]:
    """Yields how many lines fare how, and why; those that fare alike for a reason are one row.

    Of a cut the many come first: its reasons are many themselves.
    """
    reasons = report.reasons
    if report.operation in CUTS:
        reasons = tuple(sorted(reasons, key=lambda one: -one.lines))
    for one in reasons:
        if one.lines:
            yield _figure(one.lines), one.fate, one.reason


def rule_words(one: BrokenRule | Unmended) -> str:
    """Says where something is wrong, and what."""
    file = one.file if isinstance(one, BrokenRule) else None
    place = " ".join(part for part in (file, f"line {one.line}" if one.line else None) if part)
    return f"{place}: {one.words}" if place else one.words


def done_words(report: EditReport) -> str:
    """Says what was done, in a few words."""
    done = DONE.get(report.operation, report.operation)
    if report.operation == "move":
        return f"{done} to {report.session}"
    return f"{done} as {report.session}" if report.is_new else done


def broken_words(report: EditReport) -> str:
    """Says how many rules an edit would break."""
    return f"{many(len(report.violations), 'rule')} would be broken"


def windows(
    before: bytes | str | None, after: bytes | str | None, room: int
) -> tuple[str | None, str | None]:
    """Returns two versions of a line cut to the same window, from shortly before they differ."""
    one, other = _text(before), _text(after)
    start = 0
    if one is not None and other is not None:
        start = max(_common(one, other) - LEAD, 0)
    return _window(one, start, room), _window(other, start, room)


def _text(given: bytes | str | None) -> str | None:
    return given.decode("utf-8", "replace") if isinstance(given, bytes) else given


def _common(one: str, other: str) -> int:
    """Counts the characters at the beginning that are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _window(text: str | None, start: int, room: int) -> str | None:
    if text is None:
        return None
    head = "…" if start else ""
    end = start + room - len(head)
    if len(text) > end:
        return f"{head}{text[start : end - 1]}…"
    return head + text[start:]
