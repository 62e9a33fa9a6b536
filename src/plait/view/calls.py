"""Tool calls as readers see them: one line, and the parts behind it, for every output format.

`CallView` reads a call's input and result without assuming their form. Each known tool has one row
in `TOOLS`: how its line and its parts are made; unknown tools show the first text of their input.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from plait.conversation.equivalents import list_equivalents, normalize_input
from plait.conversation.model import Outcome, ToolCall
from plait.conversation.patches import Patch, list_patches, list_proposed_patches
from plait.conversation.tools import get_tool
from plait.record.codec import as_mapping
from plait.record.types import parse_tool_use_result
from plait.view.formats import format_bytes, format_count, format_line_count, format_tokens
from plait.view.text import strip_escapes

MOST_NAMES = 6
"""Nesting depth of names; deeper values are left out."""
DATA = re.compile(r"(?:.*\.)?(?:data|base64)")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")


@dataclass(frozen=True)
class CallView:
    """A call with safe access to its input and result; paths are relative to the directory."""

    called: ToolCall
    directory: str | None = None
    is_output_missing: bool = False
    """Whether an output was saved beside the log and is missing."""

    @cached_property
    def input(self) -> Mapping[str, Any]:
        """The input of the call, under the names that Claude Code's tools have for it."""
        return normalize_input(self.called.name, as_mapping(self.called.input))

    @cached_property
    def detail(self) -> Any:
        """The client's own view of the result, by its form."""
        result = self.called.result
        return parse_tool_use_result(result.detail) if result else None

    @property
    def answer(self) -> str:
        """The text of the result."""
        return self.called.result.text if self.called.result else ""

    def input_text(self, *names: str) -> str:
        """Return the first of these inputs that is a text."""
        values = (self.input.get(name) for name in names)
        return next((value for value in values if isinstance(value, str) and value), "")

    def detail_text(self, name: str) -> str:
        """Return a text of the client's own result record."""
        value = getattr(self.detail, name, None)
        return value if isinstance(value, str) else ""

    def detail_number(self, name: str) -> int | None:
        """Return a number of the client's own result record."""
        return to_int(getattr(self.detail, name, None))

    def get_list(self, name: str) -> list[Any]:
        """Return a list of the client's own result record, else of the input."""
        for value in (getattr(self.detail, name, None), self.input.get(name)):
            if isinstance(value, list):
                return value
        return []

    def relative_path(self, path: str) -> str:
        """Return a path relative to the project's directory."""
        return relative_path(path, self.directory)


def to_int(value: object) -> int | None:
    """Return a number from a log as an integer; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 1 << 53 else None


def relative_path(path: str, directory: str | None) -> str:
    """Return a path relative to a directory; unchanged if it is elsewhere."""
    if not directory or not path.startswith(directory):
        return path
    tail = path[len(directory) :]
    if tail and directory[-1] not in "/\\" and tail[0] not in "/\\":
        return path
    return tail.lstrip("/\\") or "."


def find_first_text(value: object) -> str:
    """Return the first text in an input of any form."""
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and item.strip():
            return item
        if isinstance(item, Mapping):
            waiting += reversed(list(item.values()))
        elif isinstance(item, list):
            waiting += reversed(item)
    return ""


def iter_named_values(value: object) -> Iterator[tuple[str, str]]:
    """Yield every text and number in a value of any form with the dotted path that leads to it."""
    waiting: list[tuple[tuple[str, ...], object]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, Mapping) and item:
            children = list(item.items())
        elif isinstance(item, list | tuple):
            children = list(enumerate(item))
        elif path and not item and not re.fullmatch(r"\w+", path[-1]):
            yield ".".join(path[:-1]), path[-1]  # a name that says more than its value: a path
            continue
        else:
            name = ".".join(path)
            yield name, "" if isinstance(item, Mapping) else _format_leaf(name, item)
            continue
        is_shallow = len(path) < MOST_NAMES
        waiting += [((*path, str(key)) if is_shallow else path, x) for key, x in reversed(children)]


def _format_leaf(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or not isinstance(value, str):
        return "" if value is None else str(value)
    if DATA.fullmatch(name) and BASE64.fullmatch(value):
        return f"({format_bytes(len(value) * 3 // 4)} of data)"
    return value


def get_text(value: object, name: str) -> str:
    """Return a text field of an object from a log; empty if there is none."""
    field = value.get(name) if isinstance(value, Mapping) else None
    return field if isinstance(field, str) else ""


Form: TypeAlias = Literal[
    "value",  # fits on a line
    "code",
    "diff",
    "prose",  # Markdown written by the model
    "list",  # to-do lists
]
COMMANDS = {"Bash": "bash", "PowerShell": "powershell"}

OLD, NEW = "old_string", "new_string"
MOST_ON_A_LINE = 100
MOST_IN_LANGUAGE = 10
PLAIN = frozenset({"txt", "log", "jsonl"})


class InputPiece(NamedTuple):
    """One piece of a call's input."""

    name: str
    text: str
    form: Form = "value"
    language: str = ""


def iter_input_pieces(called: ToolCall) -> Iterator[InputPiece]:
    """Yield a call's input in order; old and new text of a change become one diff."""
    arguments = called.input
    if not isinstance(arguments, Mapping):
        if arguments is not None:
            yield _make_piece("input", arguments)
        return
    for name, value in arguments.items():
        match name, value:
            case (("old_string" | "new_string"), str()) if _has_change(arguments):
                if name == OLD:
                    yield _make_diff_piece(arguments)
            case "todos", list() if value:
                yield InputPiece("", "\n".join(map(_format_todo, value)), "list")
            case "edits", list():
                for edit in value:
                    if not isinstance(edit, Mapping):
                        yield _make_piece("edit", edit)
                        continue
                    rest = edit
                    if _has_change(edit):
                        yield _make_diff_piece(edit)
                        rest = {key: text for key, text in edit.items() if key not in (OLD, NEW)}
                    yield from (_make_piece(key, text) for key, text in rest.items())
            case "command", str() if called.name in COMMANDS:
                yield InputPiece("", value, "code", COMMANDS[called.name])
            case "content", str() if called.name == "Write":
                path = arguments.get("file_path")
                suffix = ""
                if isinstance(path, str):
                    suffix = PurePath(path.replace("\\", "/")).suffix[1:].lower()
                is_known = suffix.isalnum() and suffix.isascii() and suffix not in PLAIN
                language = suffix if is_known and len(suffix) <= MOST_IN_LANGUAGE else ""
                yield InputPiece("", value, "code", language)
            case (("plan" | "prompt"), str()) if "\n" in value.strip():
                yield InputPiece(name, value, "prose")
            case _:
                yield _make_piece(name, value)


def _has_change(arguments: Mapping[str, Any]) -> bool:
    return isinstance(arguments.get(OLD), str) and isinstance(arguments.get(NEW), str)


def _make_diff_piece(arguments: Mapping[str, Any]) -> InputPiece:
    before, after = arguments[OLD].split("\n"), arguments[NEW].split("\n")
    shortest = min(len(before), len(after))
    head = next((index for index in range(shortest) if before[index] != after[index]), shortest)
    remaining = shortest - head
    tail = next(
        (index for index in range(remaining) if before[-1 - index] != after[-1 - index]), remaining
    )
    lines = [f" {line}" for line in before[:head]]
    lines += [f"-{line}" for line in before[head : len(before) - tail]]
    lines += [f"+{line}" for line in after[head : len(after) - tail]]
    lines += [f" {line}" for line in before[len(before) - tail :]]
    return InputPiece("change", "\n".join(lines), "diff", "diff")


def _format_todo(todo: object) -> str:
    def flatten(value: object) -> str:
        return " ".join((value if isinstance(value, str) else dump_json(value)).split())

    if not isinstance(todo, Mapping):
        return f"[ ] {flatten(todo)}"
    box = "[x]" if todo.get("status") == "completed" else "[ ]"
    rest = [f"{name}: {flatten(value)}" for name, value in todo.items() if name != "content"]
    return " · ".join([f"{box} {flatten(todo.get('content', ''))}", *rest])


def _make_piece(name: str, value: object) -> InputPiece:
    text = value if isinstance(value, str) else dump_json(value)
    if len(text) <= MOST_ON_A_LINE and "\n" not in text:
        return InputPiece(str(name), text)
    return InputPiece(str(name), text, "code", "" if isinstance(value, str) else "json")


SURROGATE = re.compile("[\ud800-\udfff]")


def escape_surrogates(text: str) -> str:
    """Return JSON with lone surrogates as escapes."""
    return SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def dump_json(value: object) -> str:
    """Return a value as JSON, indented where it is long."""
    try:
        data = msgspec.json.encode(value)
        is_short = len(data) <= MOST_ON_A_LINE
        return (data if is_short else msgspec.json.format(data, indent=2)).decode()
    except UnicodeEncodeError:
        return escape_surrogates(json.dumps(value, indent=2, ensure_ascii=False))
    except (RecursionError, TypeError):
        return repr(value)


MOST_ON_THE_LINE = 90


class Caption(Struct, frozen=True):
    """A line that says what a call is for."""

    text: str
    is_address: bool = False


class Output(Struct, frozen=True):
    """Text of a tool's input or result."""

    text: str
    kind: Literal["answer", "command", "report"] = "answer"
    is_fallback: bool = False
    """Whether it is drawn only if there are no other parts."""


class RawInput(Struct, frozen=True):
    """The input as JSON."""

    is_fallback: bool = False


class FileLines(Struct, frozen=True):
    """Lines of a file, and the number of the first."""

    text: str
    first: object


class Change(Struct, frozen=True):
    """A change to a file."""

    patch: Patch


class TodoList(Struct, frozen=True):
    """To-do items: pairs of status and text."""

    items: tuple[tuple[str, str], ...]


class Question(Struct, frozen=True):
    """A question with its options and the answer."""

    text: str
    labels: tuple[str, ...]
    answer: str


class Prose(Struct, frozen=True):
    """Markdown: a plan, or the task of an agent."""

    text: str
    kind: Literal["plan", "task"]


class Links(Struct, frozen=True):
    """Web pages: pairs of address and title."""

    pages: tuple[tuple[str, str], ...]


Part: TypeAlias = (
    Caption | Output | RawInput | FileLines | Change | TodoList | Question | Prose | Links
)
PartsFunction: TypeAlias = Callable[[CallView], Iterator[Part]]


def iter_default_parts(call: CallView) -> Iterator[Part]:
    """Yield the input as JSON and the result."""
    yield RawInput()
    yield Output(call.answer)


def iter_answer_parts(call: CallView) -> Iterator[Part]:
    """Yield the result alone; the line says the rest."""
    yield Output(call.answer)


def iter_shell_parts(call: CallView) -> Iterator[Part]:
    """Yield the command if the line cannot hold it, and its output."""
    command, description = call.input_text("command"), call.input_text("description")
    if description:
        yield Caption(description)
    if "\n" in command.strip() or len(command) >= MOST_ON_THE_LINE:
        yield Output(command, "command")
    yield Output(get_shell_output(call))


def get_shell_output(call: CallView) -> str:
    """Return a command's output, errors after the rest."""
    parts = [call.detail_text("stdout").strip("\n"), call.detail_text("stderr").strip("\n")]
    return "\n".join(part for part in parts if part) or call.answer


def iter_read_parts(call: CallView) -> Iterator[Part]:
    """Yield the lines of a file that was read."""
    file = getattr(call.detail, "file", None)
    content = file.get("content") if isinstance(file, Mapping) else None
    if isinstance(file, Mapping) and isinstance(content, str):
        yield FileLines(content, file.get("startLine"))
    else:
        yield Output(call.answer)


def iter_change_parts(call: CallView) -> Iterator[Part]:
    """Yield the patch, or the error."""
    patches, is_ok = list_proposed_patches(call.called), call.called.outcome == "ok"
    if patches:
        yield from map(Change, patches)
    elif is_ok:
        yield from iter_default_parts(call)
    if not is_ok:
        yield Output(call.answer)
        yield RawInput(is_fallback=True)


def iter_todo_parts(call: CallView) -> Iterator[Part]:
    """Yield to-do items."""
    items = list_todo_items(call.get_list("todos") or call.get_list("tasks"))
    yield TodoList(items) if items else Output(call.answer)


def list_todo_items(todos: list[Any]) -> tuple[tuple[str, str], ...]:
    """Return to-do items as pairs of status and text."""
    return tuple(
        (get_text(todo, "status"), get_text(todo, "content") or get_text(todo, "subject"))
        for todo in todos
    )


def iter_question_parts(call: CallView) -> Iterator[Part]:
    """Yield questions with their options and answers."""
    answers = getattr(call.detail, "answers", None)
    chosen_answers = answers if isinstance(answers, Mapping) else {}
    questions = call.get_list("questions")
    for question in questions:
        text = get_text(question, "question")
        options = question.get("options") if isinstance(question, Mapping) else None
        labels = (
            [get_text(option, "label") for option in options] if isinstance(options, list) else []
        )
        yield Question(text, tuple(labels), get_text(chosen_answers, text))
    if not questions:
        yield Output(call.answer)


def iter_plan_parts(call: CallView) -> Iterator[Part]:
    """Yield a plan that the user was asked to accept."""
    text = get_plan_text(call)
    yield Prose(text, "plan") if text else Output(call.answer)


def get_plan_text(call: CallView) -> str:
    """Return the text of a plan."""
    return call.input_text("plan") or call.detail_text("plan")


def iter_search_parts(call: CallView) -> Iterator[Part]:
    """Yield the pages found by a web search, and the text beside them."""
    results = getattr(call.detail, "results", None)
    entries = results if isinstance(results, list) else []
    contents = [entry.get("content") for entry in entries if isinstance(entry, Mapping)]
    hits = [hit for content in contents if isinstance(content, list) for hit in content]
    if hits:
        yield Links(tuple((get_text(hit, "url"), get_text(hit, "title")) for hit in hits))
    yield Output("\n\n".join(entry for entry in entries if isinstance(entry, str)))
    yield Output(call.answer, is_fallback=True)


def iter_page_parts(call: CallView) -> Iterator[Part]:
    """Yield the answer about a web page."""
    if call.input_text("url"):
        yield Caption(call.input_text("url"), is_address=True)
    if call.input_text("prompt"):
        yield Caption(call.input_text("prompt"))
    yield Output(call.detail_text("result") or call.answer)


def iter_agent_parts(call: CallView) -> Iterator[Part]:
    """Yield an agent's task and answer unless its own conversation shows them."""
    agents, task = call.called.agents, call.input_text("prompt")
    if task and not agents:
        yield Prose(task, "task")
    if call.answer and (not agents or call.called.outcome != "ok"):
        yield Output(call.answer, "report")


MCP = "mcp__"
OUTCOME_WORDS = {
    "failed": "failed",
    "rejected": "rejected",
    "interrupted": "interrupted",
    "launched": "running in the background",
    "missing": "no result in the log",
}


class CallLine(Struct, frozen=True, kw_only=True):
    """A call in one line: the tool, its subject, its result."""

    level: int = 0
    tool: str
    subject: str = ""
    result: str = ""
    outcome: Outcome = "ok"
    link: str | None = None
    """A file or an address that the subject names."""
    duration_ms: float | None = None
    is_late: bool = False
    """Whether it is a result shown apart from its call."""


class ToolLine(NamedTuple):
    """What a tool's line shows beside its name."""

    subject: str = ""
    result: str = ""
    link: str | None = None
    tool: str | None = None
    """Another name than the tool's own."""


LineFunction: TypeAlias = Callable[[CallView], ToolLine]


def format_call_line(view: CallView, *, has_result: bool = True) -> CallLine:
    """Return a call as one line, without its result if that is shown elsewhere."""
    call = view.called
    line = get_tool_view(call.name).line(view)
    code = call.result.exit_code if call.result else None
    if not has_result:
        result = OUTCOME_WORDS["missing"] if call.answered_by is None else "result below"
    elif code and call.outcome == "failed":
        result = f"exit {code}"
    elif code and call.outcome == "ok":
        result = f"exit {code}, {line.result}" if line.result else f"exit {code}"
    else:
        result = OUTCOME_WORDS.get(call.outcome, line.result)
    return CallLine(
        tool=line.tool or format_tool_name(call.name),
        subject=take_first_line(line.subject),
        result=result,
        outcome=call.outcome,
        link=line.link,
    )


def format_tool_name(name: str) -> str:
    """Return a tool's name; MCP tools have their server's name before it."""
    if not name.startswith(MCP):
        return name
    server, _, tool = name.removeprefix(MCP).partition("__")
    return f"{server} › {tool}" if tool else server


def take_first_line(text: str) -> str:
    """Return the first line of a text, with a mark where more follow."""
    unbroken = text.strip().replace("\r\n", "\n").replace("\r", " ↵ ")
    lines = strip_escapes(unbroken).split("\n", 1)
    first = " ".join(lines[0][:1000].split())
    return f"{first} …" if len(lines) > 1 or len(lines[0]) > 1000 else first


def _default_line(call: CallView) -> ToolLine:
    return ToolLine(find_first_text(call.called.input), _summarize_answer(call))


def _summarize_answer(call: CallView) -> str:
    answer = call.answer.strip()
    if not answer and call.called.result and call.called.result.enclosures:
        return format_count(len(call.called.result.enclosures), "block")
    return format_line_count(answer) if answer else ""


def _shell_line(call: CallView) -> ToolLine:
    return ToolLine(call.input_text("command"), format_line_count(get_shell_output(call)))


def _read_line(call: CallView) -> ToolLine:
    """Return the file with the part of it that was read, else the part that was requested."""
    path = call.input_text("file_path", "path", "notebook_path")
    file, part = getattr(call.detail, "file", None), ""
    if isinstance(file, dict):
        size, total = to_int(file.get("originalSize")), to_int(file.get("totalLines"))
        start, count = to_int(file.get("startLine")), to_int(file.get("numLines"))
        if size is not None:
            part = f"({format_bytes(size)})"
        elif start is None or count is None:
            part = ""
        elif start <= 1 and count == total:
            part = f"({format_count(count, 'line')})"
        else:
            part = f"(lines {start}–{start + count - 1})" if count else "(no lines)"
    else:
        start, count = to_int(call.input.get("offset")), to_int(call.input.get("limit"))
        if count is not None:
            part = f"(lines {start or 1}–{(start or 1) + count - 1})"
        elif start:
            part = f"(from line {start})"
    return ToolLine(f"{call.relative_path(path)} {part}".strip(), "", path)


def _change_line(call: CallView) -> ToolLine:
    equivalents = list_equivalents(call.called)
    paths = list(
        dict.fromkeys(
            get_text(equivalent.input, "file_path") or get_text(equivalent.input, "notebook_path")
            for equivalent in equivalents
        )
    )
    path = paths[0] if paths else ""
    subject = ", ".join(map(call.relative_path, paths))
    patches = list_patches(call.called)
    if not patches:
        return ToolLine(subject or find_first_text(call.called.input), "", path)
    added = sum(patch.added for patch in patches)
    removed = sum(patch.removed for patch in patches)
    counts = f"+{added}" if added else ""
    counts += f" −{removed}" if removed else ""
    notes = ["new file"] if all(patch.is_new for patch in patches) else []
    notes += ["changed by you"] if any(patch.is_user_modified for patch in patches) else []
    return ToolLine(subject, ", ".join([counts.strip(), *notes]), path)


def _grep_line(call: CallView) -> ToolLine:
    where = call.relative_path(call.input_text("path")) or call.input_text("glob")
    pattern = call.input_text("pattern")
    subject = f"“{pattern}”" + (f" in {where}" if where else "")
    files, lines = call.detail_number("num_files"), call.detail_number("num_lines")
    matches = call.detail_number("num_matches")
    if matches is not None:
        return ToolLine(subject, format_count(matches, "match", "matches"))
    if call.detail_text("mode") == "content" and lines is not None:
        return ToolLine(subject, format_count(lines, "line"))
    return ToolLine(
        subject, _summarize_answer(call) if files is None else format_count(files, "file")
    )


def _files_line(call: CallView) -> ToolLine:
    where, pattern = call.relative_path(call.input_text("path")), call.input_text("pattern")
    files = call.detail_number("num_files")
    words = _summarize_answer(call) if files is None else format_count(files, "file")
    return ToolLine(f"{pattern} in {where}" if pattern and where else pattern or where, words)


def _todos_line(call: CallView) -> ToolLine:
    todos = call.get_list("todos")
    done = sum(get_text(todo, "status") == "completed" for todo in todos)
    return ToolLine(f"{done}/{len(todos)} done")


def _task_line(call: CallView) -> ToolLine:
    task = getattr(call.detail, "task", None)
    number = call.input_text("taskId") or get_text(task, "id")
    subject = call.input_text("subject") or get_text(task, "subject")
    words = f"#{number} {subject}" if number else subject
    status = call.input_text("status") or get_text(task, "status")
    owner = call.input_text("owner")
    result = ", ".join(filter(None, (status.replace("_", " "), owner and f"for {owner}")))
    return ToolLine(words.strip(), result)


def _tasks_line(call: CallView) -> ToolLine:
    tasks = getattr(call.detail, "tasks", None)
    return ToolLine(
        "", format_count(len(tasks), "task") if isinstance(tasks, list) else _summarize_answer(call)
    )


def _question_line(call: CallView) -> ToolLine:
    questions = call.get_list("questions")
    return ToolLine(format_count(len(questions), "question") if len(questions) > 1 else "")


def _plan_line(call: CallView) -> ToolLine:
    return ToolLine("", "accepted")


def _fetch_line(call: CallView) -> ToolLine:
    url, code, size = (
        call.input_text("url"),
        call.detail_number("code"),
        call.detail_number("bytes"),
    )
    parts = [str(code)] if code is not None else []
    parts += [format_bytes(size)] if size is not None else []
    return ToolLine(url, ", ".join(parts) or _summarize_answer(call), url)


def _search_line(call: CallView) -> ToolLine:
    results = getattr(call.detail, "results", None)
    contents = [content.get("content") for content in results or () if isinstance(content, dict)]
    count = sum(len(content) for content in contents if isinstance(content, list))
    words = format_count(count, "result") if isinstance(results, list) else _summarize_answer(call)
    query = call.input_text("query")
    return ToolLine(f"“{query}”", words)


def _tool_search_line(call: CallView) -> ToolLine:
    matches = [match for match in call.get_list("matches") if isinstance(match, str)]
    return ToolLine(call.input_text("query"), ", ".join(matches) or "no tools")


def _skill_line(call: CallView) -> ToolLine:
    return ToolLine(f"{call.input_text('skill', 'command')} {call.input_text('args')}".strip())


def _message_line(call: CallView) -> ToolLine:
    to = call.input_text("to", "recipient")
    words = call.input_text("summary", "message", "content")
    return ToolLine(f"to {to}: {words}" if to else words)


def _output_line(call: CallView) -> ToolLine:
    task = getattr(call.detail, "task", None)
    status = call.detail_text("status") or get_text(task, "status")
    lines = format_line_count(get_shell_output(call)) if call.detail_text("stdout") else ""
    name = call.detail_text("command") or get_text(task, "description")
    subject = name or call.input_text("task_id", "bash_id", "shell_id")
    return ToolLine(subject, ", ".join(filter(None, (status, lines))))


def _agent_line(call: CallView) -> ToolLine:
    words = call.input_text("description") or take_first_line(call.input_text("prompt", "script"))
    parts = [call.input_text("subagent_type", "name")]
    calls, tokens = call.detail_number("total_tool_use_count"), call.detail_number("total_tokens")
    if not call.called.agents:  # otherwise their own conversations show it
        parts += [format_count(calls, "call")] if calls is not None else []
        parts += [f"{format_tokens(tokens)} tokens"] if tokens else []
    return ToolLine(f"“{words}”" if words else "", ", ".join(filter(None, parts)))


class ToolView(NamedTuple):
    """How calls of a tool are shown: in a line, and in the parts behind it."""

    line: LineFunction
    body: PartsFunction = iter_default_parts
    is_open: bool = False
    """Whether calls are shown open because their content is meant to be read."""


TOOLS = {
    "Bash": ToolView(_shell_line, iter_shell_parts),
    "PowerShell": ToolView(_shell_line, iter_shell_parts),
    "Read": ToolView(_read_line, iter_read_parts),
    "NotebookRead": ToolView(_read_line),
    "Edit": ToolView(_change_line, iter_change_parts),
    "MultiEdit": ToolView(_change_line, iter_change_parts),
    "Write": ToolView(_change_line, iter_change_parts),
    "NotebookEdit": ToolView(_change_line, iter_change_parts),
    "Grep": ToolView(_grep_line, iter_answer_parts),
    "Glob": ToolView(_files_line, iter_answer_parts),
    "LS": ToolView(_files_line, iter_answer_parts),
    "TodoWrite": ToolView(_todos_line, iter_todo_parts, is_open=True),
    "TaskCreate": ToolView(_task_line),
    "TaskUpdate": ToolView(_task_line),
    "TaskGet": ToolView(_task_line),
    "TaskList": ToolView(_tasks_line, iter_todo_parts),
    "AskUserQuestion": ToolView(_question_line, iter_question_parts, is_open=True),
    "ExitPlanMode": ToolView(_plan_line, iter_plan_parts, is_open=True),
    "exit_plan_mode": ToolView(_plan_line, iter_plan_parts, is_open=True),
    "WebFetch": ToolView(_fetch_line, iter_page_parts),
    "WebSearch": ToolView(_search_line, iter_search_parts),
    "ToolSearch": ToolView(_tool_search_line),
    "Skill": ToolView(_skill_line),
    "SlashCommand": ToolView(_skill_line),
    "SendMessage": ToolView(_message_line),
    "BashOutput": ToolView(_output_line, iter_shell_parts),
    "TaskOutput": ToolView(_output_line, iter_shell_parts),
    "AgentOutputTool": ToolView(_output_line),
    "TaskStop": ToolView(_output_line),
    "KillShell": ToolView(_output_line),
    "KillBash": ToolView(_output_line),
    "Task": ToolView(_agent_line, iter_agent_parts),
    "Agent": ToolView(_agent_line, iter_agent_parts),
    "Workflow": ToolView(_agent_line, iter_agent_parts),
}
OTHER = ToolView(_default_line)


def get_tool_view(name: str) -> ToolView:
    """Return how calls of a tool are shown."""
    return TOOLS.get(get_tool(name).same_as or name, OTHER)
