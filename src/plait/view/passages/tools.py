"""A call to one line: its tool, what it was about, how it went.

Every tool that is known has one small function; one that is not is told by the first words
it was given.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from plait.conversation.model import Called, Outcome
from plait.conversation.patches import patch_of
from plait.view.amounts import bytes_in_words, lines_in_words, many, tokens_in_words
from plait.view.passages.bodies import (
    Body,
    agent_body,
    answer_body,
    any_body,
    change_body,
    page_body,
    plan_body,
    question_body,
    read_body,
    search_body,
    shell_body,
    shell_output,
    todo_body,
)
from plait.view.passages.call_view import CallView, first_text, text_field, whole_number
from plait.view.text import without_escapes

MCP = "mcp__"
UNUSUAL = {
    "failed": "failed",
    "rejected": "rejected",
    "interrupted": "interrupted",
    "launched": "goes on in the background",
    "missing": "no result in the log",
}


class CallLine(Struct, frozen=True, kw_only=True):
    """One line a call: the tool, what it was about, how it went."""

    level: int = 0
    tool: str
    subject: str = ""
    result: str = ""
    outcome: Outcome = "ok"
    link: str | None = None
    """A file or an address that the subject names."""
    duration_ms: float | None = None
    is_late: bool = False
    """True for a result that stands apart from its call."""


class Line(NamedTuple):
    """What a line says beside the name of the tool."""

    subject: str = ""
    result: str = ""
    link: str | None = None
    tool: str | None = None
    """Another name than the tool's own."""


Telling: TypeAlias = Callable[[CallView], Line]


def call_line(seen: CallView, *, has_result: bool = True) -> CallLine:
    """Returns a call as one line; without its result where that stands elsewhere."""
    called = seen.called
    line = tool_view(called.name).line(seen)
    result = _result_words(called, line.result) if has_result else "answered below"
    if not has_result and called.answered_by is None:
        result = UNUSUAL["missing"]
    return CallLine(
        tool=line.tool or tool_name(called.name),
        subject=first_line(line.subject),
        result=result,
        outcome=called.outcome,
        link=line.link,
    )


def _result_words(called: Called, words: str) -> str:
    code = called.result.exit_code if called.result else None
    if called.outcome == "failed" and code:
        return f"exit {code}"
    if called.outcome == "ok" and code:
        return f"exit {code}, {words}" if words else f"exit {code}"
    return UNUSUAL.get(called.outcome, words)


def tool_name(name: str) -> str:
    """Returns a tool's name; that of a server's tool with the server's before it."""
    if not name.startswith(MCP):
        return name
    server, _, tool = name.removeprefix(MCP).partition("__")
    return f"{server} › {tool}" if tool else server


def first_line(text: str) -> str:
    """Returns the first line of a text, with a mark where more follow."""
    unbroken = text.strip().replace("\r\n", "\n").replace("\r", " ↵ ")
    lines = without_escapes(unbroken).split("\n", 1)
    first = " ".join(lines[0][:1000].split())
    return f"{first} …" if len(lines) > 1 or len(lines[0]) > 1000 else first


def _told_by_input(seen: CallView) -> Line:
    return Line(first_text(seen.called.input), _short_answer(seen))


def _short_answer(seen: CallView) -> str:
    answer = seen.answer.strip()
    if not answer and seen.called.result and seen.called.result.enclosures:
        return many(len(seen.called.result.enclosures), "block")
    return lines_in_words(answer) if answer else ""


def _told_shell(seen: CallView) -> Line:
    return Line(seen.text("command"), lines_in_words(shell_output(seen)))


def _told_read(seen: CallView) -> Line:
    path = seen.text("file_path", "path", "notebook_path")
    file = getattr(seen.detail, "file", None)
    part = _part_read(file) if isinstance(file, dict) else _part_asked(seen)
    return Line(f"{seen.near(path)} {part}".strip(), "", path)


def _part_read(file: dict[str, object]) -> str:
    size = whole_number(file.get("originalSize"))
    if size is not None:
        return f"({bytes_in_words(size)})"
    start, count = whole_number(file.get("startLine")), whole_number(file.get("numLines"))
    total = whole_number(file.get("totalLines"))
    if start is None or count is None:
        return ""
    if start <= 1 and count == total:
        return f"({many(count, 'line')})"
    return f"(lines {start}–{start + count - 1})" if count else "(no lines)"


def _part_asked(seen: CallView) -> str:
    start, count = whole_number(seen.given.get("offset")), whole_number(seen.given.get("limit"))
    if count is None:
        return f"(from line {start})" if start else ""
    start = start or 1
    return f"(lines {start}–{start + count - 1})"


def _told_change(seen: CallView) -> Line:
    path = seen.text("file_path", "notebook_path")
    patch = patch_of(seen.called)
    if patch is None:
        return Line(seen.near(path), "", path)
    counts = f"+{patch.added}" if patch.added else ""
    counts += f" −{patch.removed}" if patch.removed else ""
    notes = ["new file"] if patch.is_new else []
    notes += ["changed by the person"] if patch.is_user_modified else []
    return Line(seen.near(path), ", ".join([counts.strip(), *notes]), path)


def _told_grep(seen: CallView) -> Line:
    where = seen.near(seen.text("path")) or seen.text("glob")
    subject = f"“{seen.text('pattern')}”" + (f" in {where}" if where else "")
    files, lines = seen.count("num_files"), seen.count("num_lines")
    matches = seen.count("num_matches")
    if matches is not None:
        return Line(subject, many(matches, "match", "matches"))
    if seen.told("mode") == "content" and lines is not None:
        return Line(subject, many(lines, "line"))
    return Line(subject, _short_answer(seen) if files is None else many(files, "file"))


def _told_files(seen: CallView) -> Line:
    where, pattern = seen.near(seen.text("path")), seen.text("pattern")
    files = seen.count("num_files")
    words = _short_answer(seen) if files is None else many(files, "file")
    return Line(f"{pattern} in {where}" if pattern and where else pattern or where, words)


def _told_todos(seen: CallView) -> Line:
    todos = seen.listed("todos")
    done = sum(text_field(todo, "status") == "completed" for todo in todos)
    return Line(f"{done}/{len(todos)} done")


def _told_task(seen: CallView) -> Line:
    task = getattr(seen.detail, "task", None)
    number = seen.text("taskId") or text_field(task, "id")
    subject = seen.text("subject") or text_field(task, "subject")
    words = f"#{number} {subject}" if number else subject
    status = seen.text("status") or text_field(task, "status")
    owner = seen.text("owner")
    result = ", ".join(filter(None, (status.replace("_", " "), owner and f"for {owner}")))
    return Line(words.strip(), result)


def _told_tasks(seen: CallView) -> Line:
    tasks = getattr(seen.detail, "tasks", None)
    return Line("", many(len(tasks), "task") if isinstance(tasks, list) else _short_answer(seen))


def _told_question(seen: CallView) -> Line:
    questions = seen.listed("questions")
    return Line(many(len(questions), "question") if len(questions) > 1 else "")


def _told_plan(seen: CallView) -> Line:
    return Line("", "accepted")


def _told_fetch(seen: CallView) -> Line:
    url, code, size = seen.text("url"), seen.count("code"), seen.count("bytes")
    parts = [str(code)] if code is not None else []
    parts += [bytes_in_words(size)] if size is not None else []
    return Line(url, ", ".join(parts) or _short_answer(seen), url)


def _told_search(seen: CallView) -> Line:
    results = getattr(seen.detail, "results", None)
    found = [one.get("content") for one in results or () if isinstance(one, dict)]
    count = sum(len(one) for one in found if isinstance(one, list))
    words = many(count, "result") if isinstance(results, list) else _short_answer(seen)
    return Line(f"“{seen.text('query')}”", words)


def _told_tools(seen: CallView) -> Line:
    matches = [one for one in seen.listed("matches") if isinstance(one, str)]
    return Line(seen.text("query"), ", ".join(matches) or "no tools")


def _told_skill(seen: CallView) -> Line:
    return Line(f"{seen.text('skill', 'command')} {seen.text('args')}".strip())


def _told_message(seen: CallView) -> Line:
    to = seen.text("to", "recipient")
    words = seen.text("summary", "message", "content")
    return Line(f"to {to}: {words}" if to else words)


def _told_output(seen: CallView) -> Line:
    task = getattr(seen.detail, "task", None)
    status = seen.told("status") or text_field(task, "status")
    lines = lines_in_words(shell_output(seen)) if seen.told("stdout") else ""
    name = seen.told("command") or text_field(task, "description")
    subject = name or seen.text("task_id", "bash_id", "shell_id")
    return Line(subject, ", ".join(filter(None, (status, lines))))


def _told_agent(seen: CallView) -> Line:
    words = seen.text("description") or first_line(seen.text("prompt", "script"))
    parts = [seen.text("subagent_type", "name")]
    calls, tokens = seen.count("total_tool_use_count"), seen.count("total_tokens")
    if not seen.called.agents:  # else their own conversations tell
        parts += [many(calls, "call")] if calls is not None else []
        parts += [f"{tokens_in_words(tokens)} tokens"] if tokens else []
    return Line(f"“{words}”" if words else "", ", ".join(filter(None, parts)))


class ToolView(NamedTuple):
    """How calls of a tool are told: in a line, and in the parts behind it."""

    line: Telling
    body: Body = any_body
    is_open: bool = False
    """True for calls that are read rather than looked up."""


TOOLS = {
    "Bash": ToolView(_told_shell, shell_body),
    "PowerShell": ToolView(_told_shell, shell_body),
    "Read": ToolView(_told_read, read_body),
    "NotebookRead": ToolView(_told_read),
    "Edit": ToolView(_told_change, change_body),
    "MultiEdit": ToolView(_told_change, change_body),
    "Write": ToolView(_told_change, change_body),
    "NotebookEdit": ToolView(_told_change, change_body),
    "Grep": ToolView(_told_grep, answer_body),
    "Glob": ToolView(_told_files, answer_body),
    "LS": ToolView(_told_files, answer_body),
    "TodoWrite": ToolView(_told_todos, todo_body, is_open=True),
    "TaskCreate": ToolView(_told_task),
    "TaskUpdate": ToolView(_told_task),
    "TaskGet": ToolView(_told_task),
    "TaskList": ToolView(_told_tasks, todo_body),
    "AskUserQuestion": ToolView(_told_question, question_body, is_open=True),
    "ExitPlanMode": ToolView(_told_plan, plan_body, is_open=True),
    "exit_plan_mode": ToolView(_told_plan, plan_body, is_open=True),
    "WebFetch": ToolView(_told_fetch, page_body),
    "WebSearch": ToolView(_told_search, search_body),
    "ToolSearch": ToolView(_told_tools),
    "Skill": ToolView(_told_skill),
    "SlashCommand": ToolView(_told_skill),
    "SendMessage": ToolView(_told_message),
    "BashOutput": ToolView(_told_output, shell_body),
    "TaskOutput": ToolView(_told_output, shell_body),
    "AgentOutputTool": ToolView(_told_output),
    "TaskStop": ToolView(_told_output),
    "KillShell": ToolView(_told_output),
    "KillBash": ToolView(_told_output),
    "Task": ToolView(_told_agent, agent_body),
    "Agent": ToolView(_told_agent, agent_body),
    "Workflow": ToolView(_told_agent, agent_body),
}
OTHER = ToolView(_told_by_input)


def tool_view(name: str) -> ToolView:
    """Returns how calls of a tool are told; one that nobody knows by what it was given."""
    return TOOLS.get(name, OTHER)
