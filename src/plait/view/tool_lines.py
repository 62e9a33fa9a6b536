"""A call to one line: its tool, what it was about, how it went.

Every tool that is known has one small function; one that is not is told by the first words
it was given.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from plait.conversation.model import Called
from plait.conversation.patches import patch_of
from plait.view.amounts import bytes_in_words, lines_in_words, many, tokens_in_words
from plait.view.ansi import without_escapes
from plait.view.passages import CallLine
from plait.view.seen import Seen, field, first_text, whole

MCP = "mcp__"
UNUSUAL = {
    "failed": "failed",
    "rejected": "rejected",
    "interrupted": "interrupted",
    "launched": "goes on in the background",
    "missing": "no result in the log",
}


class Line(NamedTuple):
    """What a line says beside the name of the tool."""

    subject: str = ""
    result: str = ""
    link: str | None = None
    tool: str | None = None
    """Another name than the tool's own."""


Telling: TypeAlias = Callable[[Seen], Line]


def call_line(seen: Seen, *, level: int = 0, has_result: bool = True) -> CallLine:
    """Returns a call as one line; without its result where that stands elsewhere."""
    called = seen.called
    line = TELLINGS.get(called.name, told_by_input)(seen)
    result = result_words(called, line.result) if has_result else "answered below"
    if not has_result and called.answered_by is None:
        result = UNUSUAL["missing"]
    return CallLine(
        level=level,
        tool=line.tool or tool_name(called.name),
        subject=one_line(line.subject),
        result=result,
        outcome=called.outcome,
        link=line.link,
    )


def result_words(called: Called, words: str) -> str:
    """Returns how a call went; the unusual first."""
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


def one_line(text: str) -> str:
    """Returns the first line of a text, with a mark where more follow."""
    unbroken = text.strip().replace("\r\n", "\n").replace("\r", " ↵ ")
    lines = without_escapes(unbroken).split("\n", 1)
    first = " ".join(lines[0][:1000].split())
    return f"{first} …" if len(lines) > 1 or len(lines[0]) > 1000 else first


def told_by_input(seen: Seen) -> Line:
    """Tells of a tool that nobody knows."""
    return Line(first_text(seen.called.input), short_answer(seen))


def short_answer(seen: Seen) -> str:
    """Returns an answer that fits on the line, else its size."""
    answer = seen.answer.strip()
    if not answer and seen.called.result and seen.called.result.enclosures:
        return many(len(seen.called.result.enclosures), "block")
    return lines_in_words(answer) if answer else ""


def told_shell(seen: Seen) -> Line:
    """Tells of a command."""
    return Line(seen.text("command"), lines_in_words(shell_output(seen)))


def shell_output(seen: Seen) -> str:
    """Returns what a command printed, errors behind the rest."""
    parts = [seen.told("stdout").strip("\n"), seen.told("stderr").strip("\n")]
    return "\n".join(part for part in parts if part) or seen.answer


def told_read(seen: Seen) -> Line:
    """Tells which part of a file was read."""
    path = seen.text("file_path", "path", "notebook_path")
    file = getattr(seen.detail, "file", None)
    part = part_read(file) if isinstance(file, dict) else part_asked(seen)
    return Line(f"{seen.near(path)} {part}".strip(), "", path)


def part_read(file: dict[str, object]) -> str:
    """Returns the lines that were read, or the size of a picture."""
    size = whole(file.get("originalSize"))
    if size is not None:
        return f"({bytes_in_words(size)})"
    start, count = whole(file.get("startLine")), whole(file.get("numLines"))
    total = whole(file.get("totalLines"))
    if start is None or count is None:
        return ""
    if start <= 1 and count == total:
        return f"({many(count, 'line')})"
    return f"(lines {start}–{start + count - 1})" if count else "(no lines)"


def part_asked(seen: Seen) -> str:
    """Returns the lines that were asked for."""
    start, count = whole(seen.given.get("offset")), whole(seen.given.get("limit"))
    if count is None:
        return f"(from line {start})" if start else ""
    start = start or 1
    return f"(lines {start}–{start + count - 1})"


def told_change(seen: Seen) -> Line:
    """Tells how many lines a change adds and takes away."""
    path = seen.text("file_path", "notebook_path")
    patch = patch_of(seen.called)
    if patch is None:
        return Line(seen.near(path), "", path)
    counts = f"+{patch.added}" if patch.added else ""
    counts += f" −{patch.removed}" if patch.removed else ""
    notes = ["new file"] if patch.is_new else []
    notes += ["changed by the person"] if patch.is_user_modified else []
    return Line(seen.near(path), ", ".join([counts.strip(), *notes]), path)


def told_grep(seen: Seen) -> Line:
    """Tells what was searched where, and how much was found."""
    where = seen.near(seen.text("path")) or seen.text("glob")
    subject = f"“{seen.text('pattern')}”" + (f" in {where}" if where else "")
    files, lines = seen.count("num_files"), seen.count("num_lines")
    matches = seen.count("num_matches")
    if matches is not None:
        return Line(subject, many(matches, "match", "matches"))
    if seen.told("mode") == "content" and lines is not None:
        return Line(subject, many(lines, "line"))
    return Line(subject, short_answer(seen) if files is None else many(files, "file"))


def told_files(seen: Seen) -> Line:
    """Tells how many files a pattern found, or a folder holds."""
    where, pattern = seen.near(seen.text("path")), seen.text("pattern")
    files = seen.count("num_files")
    words = short_answer(seen) if files is None else many(files, "file")
    return Line(f"{pattern} in {where}" if pattern and where else pattern or where, words)


def told_todos(seen: Seen) -> Line:
    """Tells how much of a list is done."""
    todos = seen.listed("todos")
    done = sum(field(todo, "status") == "completed" for todo in todos)
    return Line(f"{done}/{len(todos)} done")


def told_task(seen: Seen) -> Line:
    """Tells which task was made or changed, and how."""
    task = getattr(seen.detail, "task", None)
    number = seen.text("taskId") or field(task, "id")
    subject = seen.text("subject") or field(task, "subject")
    words = f"#{number} {subject}" if number else subject
    status = seen.text("status") or field(task, "status")
    owner = seen.text("owner")
    result = ", ".join(filter(None, (status.replace("_", " "), owner and f"for {owner}")))
    return Line(words.strip(), result)


def told_tasks(seen: Seen) -> Line:
    """Tells how many tasks there are."""
    tasks = getattr(seen.detail, "tasks", None)
    return Line("", many(len(tasks), "task") if isinstance(tasks, list) else short_answer(seen))


def told_question(seen: Seen) -> Line:
    """Tells how many questions were asked; they follow in full."""
    questions = seen.listed("questions")
    return Line(many(len(questions), "question") if len(questions) > 1 else "")


def told_plan(seen: Seen) -> Line:
    """Tells what became of a plan; it follows in full."""
    return Line("", "accepted")


def told_fetch(seen: Seen) -> Line:
    """Tells what an address gave."""
    url, code, size = seen.text("url"), seen.count("code"), seen.count("bytes")
    parts = [str(code)] if code is not None else []
    parts += [bytes_in_words(size)] if size is not None else []
    return Line(url, ", ".join(parts) or short_answer(seen), url)


def told_search(seen: Seen) -> Line:
    """Tells how much a search of the web found."""
    results = getattr(seen.detail, "results", None)
    found = [one.get("content") for one in results or () if isinstance(one, dict)]
    count = sum(len(one) for one in found if isinstance(one, list))
    words = many(count, "result") if isinstance(results, list) else short_answer(seen)
    return Line(f"“{seen.text('query')}”", words)


def told_tools(seen: Seen) -> Line:
    """Tells which tools a search of tools found."""
    matches = [one for one in seen.listed("matches") if isinstance(one, str)]
    return Line(seen.text("query"), ", ".join(matches) or "no tools")


def told_skill(seen: Seen) -> Line:
    """Tells which skill was taken up."""
    return Line(f"{seen.text('skill', 'command')} {seen.text('args')}".strip())


def told_message(seen: Seen) -> Line:
    """Tells to whom something was written."""
    to = seen.text("to", "recipient")
    words = seen.text("summary", "message", "content")
    return Line(f"to {to}: {words}" if to else words)


def told_output(seen: Seen) -> Line:
    """Tells how far something in the background is."""
    task = getattr(seen.detail, "task", None)
    status = seen.told("status") or field(task, "status")
    lines = lines_in_words(shell_output(seen)) if seen.told("stdout") else ""
    name = seen.told("command") or field(task, "description")
    subject = name or seen.text("task_id", "bash_id", "shell_id")
    return Line(subject, ", ".join(filter(None, (status, lines))))


def told_agent(seen: Seen) -> Line:
    """Tells whom a call sent out, and with what."""
    words = seen.text("description") or one_line(seen.text("prompt", "script"))
    parts = [seen.text("subagent_type", "name")]
    calls, tokens = seen.count("total_tool_use_count"), seen.count("total_tokens")
    if not seen.called.agents:  # else their own conversations tell
        parts += [many(calls, "call")] if calls is not None else []
        parts += [f"{tokens_in_words(tokens)} tokens"] if tokens else []
    return Line(f"“{words}”" if words else "", ", ".join(filter(None, parts)))


TELLINGS: dict[str, Telling] = {
    "Bash": told_shell,
    "PowerShell": told_shell,
    "Read": told_read,
    "NotebookRead": told_read,
    "Edit": told_change,
    "MultiEdit": told_change,
    "Write": told_change,
    "NotebookEdit": told_change,
    "Grep": told_grep,
    "Glob": told_files,
    "LS": told_files,
    "TodoWrite": told_todos,
    "TaskCreate": told_task,
    "TaskUpdate": told_task,
    "TaskGet": told_task,
    "TaskList": told_tasks,
    "AskUserQuestion": told_question,
    "ExitPlanMode": told_plan,
    "exit_plan_mode": told_plan,
    "WebFetch": told_fetch,
    "WebSearch": told_search,
    "ToolSearch": told_tools,
    "Skill": told_skill,
    "SlashCommand": told_skill,
    "SendMessage": told_message,
    "BashOutput": told_output,
    "TaskOutput": told_output,
    "AgentOutputTool": told_output,
    "TaskStop": told_output,
    "KillShell": told_output,
    "KillBash": told_output,
    "Task": told_agent,
    "Agent": told_agent,
    "Workflow": told_agent,
}
