"""A standup from the logs alone: what was done in a period, by project."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from plait.conversation.tools import get_tool
from plait.recall.model import (
    MOST_BUDGET,
    clamp_budget,
    count_tokens,
    cut_to_tokens,
    quote_title,
    single_line,
)
from plait.recall.turns import COMMIT, TESTS, read_commit_message
from plait.record.codec import as_mapping, get_text
from plait.record.time import parse_time
from plait.view.formats import format_count, format_day
from plait.view.summaries import format_prompt
from plait.view.text import clean_text

if TYPE_CHECKING:
    from plait.recall.answers import Recall
    from plait.sessions.model import Session


class Work(Struct, frozen=True, kw_only=True):
    """What was done in one session within a period."""

    project: str
    session: str
    title: str
    prompts: int
    files: tuple[str, ...]
    commits: tuple[str, ...]
    tests: tuple[str, ...]
    """The last outcome of each command that ran tests."""
    failed: int
    """Calls that failed."""
    last: str
    """The last thing that was asked for."""


def list_work(recall: "Recall", since: datetime, until: datetime | None = None) -> list[Work]:
    """Return what was done since a moment, by project, the newest session first."""
    archive, found = recall.archive, []
    for session in sorted(archive.sessions, key=lambda session: -session.modified):
        if session.modified < since.timestamp():
            break
        if work := _read_work(recall, session, since, until):
            found.append(work)
    return sorted(found, key=lambda work: work.project)


def _read_work(
    recall: "Recall", session: "Session", since: datetime, until: datetime | None
) -> Work | None:
    archive = recall.archive
    turns = [
        turn
        for turn in archive.open(session).turns
        if (time := parse_time(turn.started)) and since <= time and not (until and time >= until)
    ]
    prompts = [format_prompt(turn.prompt or "") for turn in turns if turn.opener]
    if not prompts:
        return None
    files, commits, tests, failed = dict[str, None](), list[str](), dict[str, str](), 0
    for call in (call for turn in turns for call in turn.calls):
        failed += call.outcome == "failed"
        given = as_mapping(call.input)
        path = get_text(given, "file_path") or get_text(given, "notebook_path")
        if path and call.succeeded and get_tool(call.name).kind == "edit":
            files[path] = None
        command = get_text(given, "command") or ""
        if COMMIT.search(command) and call.succeeded:
            commits.append(read_commit_message(command))
        if test := TESTS.search(command):
            tests[test[0]] = "passed" if call.outcome == "ok" else call.outcome
    private, facts = recall.private, archive.facts(session)
    return Work(
        project=archive.folding.project(session.project).strip("-"),
        session=session.id,
        title=private(facts.title or ""),
        prompts=len(prompts),
        files=tuple(files),
        commits=tuple(map(private, commits)),
        tests=tuple(f"{name}: {outcome}" for name, outcome in tests.items()),
        failed=failed,
        last=private(prompts[-1]),
    )


def render_standup(work: Sequence[Work], since: datetime, budget: object = MOST_BUDGET) -> str:
    """Return a standup as Markdown, of at most so many tokens."""
    day = format_day(since)
    if not work:
        return f"# Standup\n\nNo session had a prompt since {day}.\n"
    projects = dict.fromkeys(item.project for item in work)
    counted = (
        f"{format_count(len(work), 'session')} in {format_count(len(projects), 'project')} "
        f"since {day}"
    )
    lines = ["# Standup", "", counted]
    for project in projects:
        lines += ["", f"## {single_line(project)}", ""]
        lines += [
            line for item in work if item.project == project for line in _iter_work_lines(item)
        ]
    return _fit_lines(lines, clamp_budget(budget))


def _iter_work_lines(work: Work) -> Iterator[str]:
    title = single_line(work.title) or "(no title)"
    yield f"- **{title}** (`{work.session[:8]}`, {format_count(work.prompts, 'prompt')})"
    for commit in work.commits[-5:]:
        yield f"  - committed: {single_line(commit)}"
    if work.files:
        names = ", ".join(single_line(path.rpartition("/")[2], 40) for path in work.files[:6])
        more = f" and {len(work.files) - 6} more" if len(work.files) > 6 else ""
        yield f"  - changed {format_count(len(work.files), 'file')}: {names}{more}"
    for test in work.tests[-3:]:
        yield f"  - {single_line(test)}"
    yield f"  - last asked: {quote_title(work.last, 100)}"


def _fit_lines(lines: Sequence[str], budget: int) -> str:
    """Return lines as long as there is room, and how many there are more."""
    room, kept = budget - 10, list[str]()
    for number, line in enumerate(lines):
        room -= count_tokens(f"{line}\n") + 1
        if room < 0:
            kept.append(f"({format_count(len(lines) - number, 'line')} left out)")
            break
        kept.append(line)
    return cut_to_tokens("\n".join(map(clean_text, kept)), budget - 1) + "\n"
