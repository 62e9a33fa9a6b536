"""A call to what stands below its line: the change, the output, the list, the answer, the error."""

from collections.abc import Iterator

from plait.conversation.diffs import Hunk
from plait.conversation.model import Enclosure, Result
from plait.conversation.patches import Patch, patch_of
from plait.conversation.questions import asked_by
from plait.view.amounts import bytes_in_words
from plait.view.folding import printed
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
from plait.view.seen import Seen, field
from plait.view.tool_lines import TELLINGS, shell_output

MOST_CHANGED = 12
MOST_OF_ALL = 1000
"""Lines that are shown where everything is."""
SHELLS = frozenset({"Bash", "PowerShell", "BashOutput", "TaskOutput"})
TOLD_IN_FULL = frozenset(
    "Read Edit MultiEdit Write NotebookEdit TodoWrite AskUserQuestion ExitPlanMode Task "
    "Agent".split()
)
"""Tools whose line and what follows it say all that they were given."""
SIGNS: dict[str, ChangeKind] = {"+": "added", "-": "removed", " ": "same"}
EXIT_LINE = "Exit code "
ERROR_TAGS = ("<tool_use_error>", "</tool_use_error>")


def parts_of(seen: Seen, level: int, *, is_full: bool = False) -> Iterator[AnyPassage]:
    """Yields what is shown below a call; all of it where everything is wanted."""
    called = seen.called
    if is_full:
        yield from inputs(seen, level)
    match called.name:
        case "TodoWrite":
            yield from todos(seen, level)
        case "AskUserQuestion":
            yield from choices(seen, level)
        case "ExitPlanMode" | "exit_plan_mode":
            yield from plan(seen, level)
        case _:
            patch = patch_of(called)
            if patch:
                yield changed(patch, level, None if is_full else MOST_CHANGED)
    if called.result:
        yield from outcome_parts(seen, called.result, level, is_full=is_full)


def inputs(seen: Seen, level: int) -> Iterator[AnyPassage]:
    """Yields what a tool was given, where its line cannot say all of it."""
    if seen.called.name in TOLD_IN_FULL:
        return
    words = [value for value in seen.given.values() if isinstance(value, str)]
    if seen.called.name in TELLINGS and len(words) == 1 and "\n" not in words[0].strip():
        return
    text = "\n".join(f"{name}: {value}" for name, value in seen.given.items())
    yield from filter(None, [printed(text, MOST_OF_ALL, level=level)])


def outcome_parts(seen: Seen, result: Result, level: int, *, is_full: bool) -> Iterator[AnyPassage]:
    """Yields what the result says: errors and output at first glance, all of it if wanted."""
    name, outcome = seen.called.name, result.outcome
    if outcome == "rejected":
        yield from rejection(result, level)
    elif outcome in ("failed", "interrupted"):
        yield from filter(None, [failure(seen, result, level, is_full=is_full)])
    elif is_full:
        yield from filter(None, [printed(whole_output(seen), MOST_OF_ALL, level=level)])
    elif name in SHELLS:
        yield from filter(None, [printed(shell_output(seen), 2, 2, level=level)])
    elif name not in TELLINGS:
        yield from filter(None, [printed(result.text, 3, level=level)])
    if is_full:
        yield from enclosed(result.enclosures, level)
    if result.persisted:
        size = result.persisted.size
        large = f" ({bytes_in_words(size)})" if size is not None else ""
        words = f"(the whole output{large} is in tool-results/{result.persisted.name})"
        yield Printed(level=level, lines=(words,))


def whole_output(seen: Seen) -> str:
    """Returns all that a tool said."""
    return shell_output(seen) if seen.called.name in SHELLS else seen.answer


def failure(seen: Seen, result: Result, level: int, *, is_full: bool) -> AnyPassage | None:
    """Returns what went wrong; of a command's output the end, which mostly says why."""
    text = result.text
    for mark in ERROR_TAGS:
        text = text.replace(mark, "")
    if text.startswith(EXIT_LINE):
        text = text.partition("\n")[2]
    first, last = (2, 6) if seen.called.name in SHELLS else (6, 0)
    return printed(
        text, *((MOST_OF_ALL, 0) if is_full else (first, last)), tone="trouble", level=level
    )


def rejection(result: Result, level: int) -> Iterator[AnyPassage]:
    """Yields what the person said who rejected a call."""
    if result.feedback:
        yield Words(level=level, voice="prompt", text=result.feedback, note="said no")


def enclosed(enclosures: tuple[Enclosure, ...], level: int) -> Iterator[AnyPassage]:
    """Yields a remark for each picture or document."""
    for one in enclosures:
        yield Remark(level=level, text=enclosure_words(one))


def enclosure_words(one: Enclosure) -> str:
    """Returns a picture or a document in a few words."""
    size = bytes_in_words(one.size) if one.size else None
    return ", ".join(filter(None, (one.title or one.kind, one.media_type, size)))


def changed(patch: Patch, level: int, most: int | None) -> Changed:
    """Returns a change with its line numbers, folded beyond the most that is wanted."""
    lines = list(changed_lines(patch))
    shown = lines if most is None or len(lines) <= most + 1 else lines[:most]
    return Changed(level=level, lines=tuple(shown), path=patch.path, hidden=len(lines) - len(shown))


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
