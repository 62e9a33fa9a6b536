"""A standup from the logs alone: what was done in a period, by project."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from plait.recall.model import (
    MOST_BUDGET,
    clamp_budget,
    count_tokens,
    cut_to_tokens,
    quote_title,
    single_line,
)
from plait.recall.turns import summarize_calls
from plait.record.time import parse_time
from plait.usage.spending import is_in_period
from plait.view.formats import format_count, format_day
from plait.view.summaries import format_prompt
from plait.view.text import clean_text

if TYPE_CHECKING:
    from plait.recall.answers import Recall


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
    archive, private, found = recall.archive, recall.private, list[Work]()
    for session in sorted(archive.sessions, key=lambda session: -session.modified):
        if session.modified < since.timestamp():
            break
        turns = [
            turn
            for turn in archive.open(session).turns
            if is_in_period(parse_time(turn.started), since, until)
        ]
        prompts = [format_prompt(turn.prompt or "") for turn in turns if turn.opener]
        if not prompts:
            continue
        calls = [call for turn in turns for call in turn.calls]
        done = summarize_calls((call.name, call.input, call.outcome) for call in calls)
        tests = {name: "passed" if outcome == "ok" else outcome for name, outcome in done.tests}
        found.append(
            Work(
                project=archive.folding.project(session.project).strip("-"),
                session=session.id,
                title=private(archive.facts(session).title or ""),
                prompts=len(prompts),
                files=done.files,
                commits=tuple(map(private, done.commits)),
                tests=tuple(f"{name}: {outcome}" for name, outcome in tests.items()),
                failed=sum(call.outcome == "failed" for call in calls),
                last=private(prompts[-1]),
            )
        )
    return sorted(found, key=lambda work: work.project)


def render_standup(work: Sequence[Work], since: datetime, budget: object = MOST_BUDGET) -> str:
    """Return a standup as Markdown, of at most so many tokens."""
    day, most = format_day(since), clamp_budget(budget)
    if not work:
        return f"# Standup\n\nNo prompts since {day}.\n"
    projects = dict.fromkeys(item.project for item in work)
    sessions = format_count(len(work), "session")
    lines = ["# Standup", "", f"{sessions} in {format_count(len(projects), 'project')} since {day}"]
    for project in projects:
        lines += ["", f"## {single_line(project)}", ""]
        for item in work:
            if item.project == project:
                lines += _iter_work_lines(item)
    room, shown = most - 10, list[str]()
    for number, line in enumerate(lines):
        room -= count_tokens(f"{line}\n") + 1
        if room < 0:
            shown.append(f"({format_count(len(lines) - number, 'line')} left out)")
            break
        shown.append(line)
    return cut_to_tokens("\n".join(map(clean_text, shown)), most - 1) + "\n"


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
