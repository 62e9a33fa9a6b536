"""A call to what stands below its line: the change, the output, the list, the answer, the error."""

from collections.abc import Iterator

from plait.conversation.diffs import Hunk
from plait.conversation.model import Enclosure, Persisted, Result
from plait.conversation.patches import Patch, patch_of, proposed_patch
from plait.conversation.questions import asked_by
from plait.view.amounts import bytes_in_words
from plait.view.ansi import overwritten
from plait.view.folding import ALL_LINES, Told, printed
from plait.view.passages import (
    AnyPassage,
    Changed,
    ChangedLine,
    ChangeKind,
    Choices,
    Printed,
    Remark,
    Todos,
    Words,
)
from plait.view.seen import Seen, field, leaves_of, near
from plait.view.tool_lines import TELLINGS, call_line, shell_output

MOST_CHANGED = 12
SHELLS = frozenset({"Bash", "PowerShell", "BashOutput", "TaskOutput"})
SIGNS: dict[str, ChangeKind] = {"+": "added", "-": "removed", " ": "same"}
BROKEN = ("failed", "interrupted")
EXIT_LINE = "Exit code "
ERROR_TAGS = ("<tool_use_error>", "</tool_use_error>")


def parts_of(
    seen: Seen, level: int, *, is_full: bool = False, elsewhere: tuple[str, ...] = ()
) -> Iterator[AnyPassage]:
    """Yields what is shown below a call; all of it where everything is wanted."""
    yield from given_parts(seen, level, is_full=is_full, elsewhere=elsewhere)
    yield from brought_parts(seen, level, is_full=is_full)


def given_parts(
    seen: Seen, level: int, *, is_full: bool, elsewhere: tuple[str, ...] = ()
) -> Iterator[AnyPassage]:
    """Yields what a call is about: a change, a list, questions, a plan; what it was given."""
    parts = list(made_of(seen, level, is_full=is_full))
    if is_full:
        told = Told([call_line(seen), *parts], *elsewhere)
        yield from spelled_out(seen.called.input, told, level, seen.directory)
    yield from parts


def made_of(seen: Seen, level: int, *, is_full: bool) -> Iterator[AnyPassage]:
    """Yields what some tools were given, in a form of its own."""
    called = seen.called
    match called.name:
        case "TodoWrite":
            yield from todos(seen, level)
        case "AskUserQuestion":
            yield from choices(seen, level)
        case "ExitPlanMode" | "exit_plan_mode":
            yield from plan(seen, level)
        case _:
            patch = proposed_patch(called) if is_full else patch_of(called)
            if patch:
                yield changed(patch, level, None if is_full else MOST_CHANGED)


def brought_parts(seen: Seen, level: int, *, is_full: bool) -> Iterator[AnyPassage]:
    """Yields what a call brought; where everything is wanted, what is not told yet too."""
    result = seen.called.result
    if result is None:
        return
    parts = list(outcome_parts(seen, result, level, is_full=is_full))
    yield from parts
    if is_full:
        rest = Told(parts).rest_of(said_in_full(seen, result))
        yield from filter(None, [printed(rest, ALL_LINES, level=level)])
        yield from enclosed(result.enclosures, level)
    if result.persisted:
        yield Printed(level=level, lines=(kept_elsewhere(seen, result.persisted),))


def outcome_parts(seen: Seen, result: Result, level: int, *, is_full: bool) -> Iterator[AnyPassage]:
    """Yields what the result says: errors and output at first glance, all of it if wanted."""
    name, outcome, is_terminal = seen.called.name, result.outcome, seen.called.name in SHELLS
    if outcome == "rejected":
        yield from rejection(result, level)
    elif outcome in BROKEN:
        yield from filter(None, [failure(seen, result, level, is_full=is_full)])
    elif is_full:
        text = whole_output(seen)
        yield from filter(None, [printed(text, ALL_LINES, level=level, is_terminal=is_terminal)])
    elif is_terminal:
        yield from filter(None, [printed(shell_output(seen), 2, 2, level=level, is_terminal=True)])
    elif name not in TELLINGS:
        yield from filter(None, [printed(result.text, 3, level=level)])


def said_in_full(seen: Seen, result: Result) -> str:
    """Returns the words of a result as far as a reader wants them."""
    text = plain_failure(result.text) if result.outcome in BROKEN else result.text
    return overwritten(text) if seen.called.name in SHELLS else text


def kept_elsewhere(seen: Seen, persisted: Persisted) -> str:
    """Says where an output is that was too large for the log."""
    large = f" ({bytes_in_words(persisted.size)})" if persisted.size is not None else ""
    if seen.is_lost:
        return f"(the whole output{large} is not there: no tool-results/{persisted.name})"
    return f"(the whole output{large} is in tool-results/{persisted.name})"


def whole_output(seen: Seen) -> str:
    """Returns all that a tool said."""
    return shell_output(seen) if seen.called.name in SHELLS else seen.answer


def failure(seen: Seen, result: Result, level: int, *, is_full: bool) -> AnyPassage | None:
    """Returns what went wrong; of a command's output the end, which mostly says why."""
    is_terminal = seen.called.name in SHELLS
    first, last = (ALL_LINES, 0) if is_full else (2, 6) if is_terminal else (6, 0)
    text = plain_failure(result.text)
    return printed(text, first, last, tone="trouble", level=level, is_terminal=is_terminal)


def plain_failure(text: str) -> str:
    """Returns what went wrong without the marks that the client sets around it."""
    for mark in ERROR_TAGS:
        text = text.replace(mark, "")
    return text.partition("\n")[2] if text.startswith(EXIT_LINE) else text


def rejection(result: Result, level: int) -> Iterator[AnyPassage]:
    """Yields what the person said who rejected a call."""
    if result.feedback:
        yield Words(level=level, voice="prompt", text=result.feedback, note="said no")


def enclosed(enclosures: tuple[Enclosure, ...], level: int) -> Iterator[AnyPassage]:
    """Yields a remark for each picture or document, and what a block of another kind says."""
    for one in enclosures:
        remark = Remark(level=level, text=enclosure_words(one))
        yield remark
        data = f"({bytes_in_words(one.size)} of data)"
        yield from spelled_out(one.value, Told((), remark.text, "base64", data), level)


def spelled_out(
    value: object, told: Told, level: int, directory: str | None = None
) -> Iterator[AnyPassage]:
    """Yields every text and number in an object of the log that is not told yet."""
    lines = [
        f"{name}: {words}" if name else words
        for name, words in leaves_of(value)
        if words.strip() and words != "false"
        if not told.has(words) and not told.has(near(words, directory))
    ]
    yield from filter(None, [printed("\n".join(lines), ALL_LINES, level=level)])


def enclosure_words(one: Enclosure) -> str:
    """Returns a picture or a document in a few words."""
    size = bytes_in_words(one.size) if one.size else None
    return ", ".join(filter(None, (one.title or one.kind, one.media_type, size)))


def changed(patch: Patch, level: int, most: int | None) -> Changed:
    """Returns a change with its line numbers, folded beyond the most that is wanted."""
    lines = list(changed_lines(patch))
    shown = lines if most is None or len(lines) <= most + 1 else lines[:most]
    return Changed(
        level=level,
        lines=tuple(shown),
        path=patch.path,
        hidden=len(lines) - len(shown),
        is_whole=most is None,
    )


def changed_lines(patch: Patch) -> Iterator[ChangedLine]:
    """Yields the lines of a patch; removed ones have the number they had."""
    for place, hunk in enumerate(patch.hunks):
        if place:
            yield ChangedLine("gap")
        yield from trimmed(list(hunk_lines(hunk, is_placed=patch.is_placed)))


def hunk_lines(hunk: Hunk, *, is_placed: bool) -> Iterator[ChangedLine]:
    """Yields the lines of one hunk, with their numbers where they are known."""
    old, new = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        kind = SIGNS.get(line[:1])
        if kind is None:
            continue
        number = old if kind == "removed" else new
        yield ChangedLine(kind, line[1:], number if is_placed else None)
        old += kind != "added"
        new += kind != "removed"


def trimmed(lines: list[ChangedLine]) -> list[ChangedLine]:
    """Returns lines without blank ones around a change: they say nothing about its place."""
    told = [n for n, line in enumerate(lines) if line.kind != "same" or line.text.strip()]
    return lines[told[0] : told[-1] + 1] if told else lines


def todos(seen: Seen, level: int) -> Iterator[AnyPassage]:
    """Yields the list of things to do."""
    items = tuple(
        (field(todo, "status"), field(todo, "content") or field(todo, "subject"))
        for todo in seen.listed("todos")
    )
    if items:
        yield Todos(level=level, items=items)


def choices(seen: Seen, level: int) -> Iterator[AnyPassage]:
    """Yields questions with the answers that were chosen."""
    pairs = [(one.text, one.answer) for one in asked_by(seen.called, 0) if one.text]
    if not pairs and seen.text("question"):
        pairs = [(seen.text("question"), None)]
    if pairs and not any(answer for _, answer in pairs) and seen.called.outcome == "ok":
        pairs[-1] = (pairs[-1][0], seen.answer.strip() or None)
    if pairs:
        yield Choices(level=level, pairs=tuple(pairs))


def plan(seen: Seen, level: int) -> Iterator[AnyPassage]:
    """Yields a plan that was put to the person."""
    text = seen.text("plan") or seen.told("plan")
    if text:
        yield Words(level=level, voice="plan", text=text, is_markdown=True)
