"""What calls did in the words of any coding agent: commands, tasks, changes of files.

Claude Code's own calls are known to `plait.files` in full; here, the input of a call is enough.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from msgspec import Struct

from plait.conversation.model import Conversation, ToolCall
from plait.conversation.walk import iter_calls
from plait.record.codec import as_mapping, get_text

PATHS = ("path", "file_path", "filePath", "notebook_path")
BEFORE = ("oldText", "old_string", "oldString", "old_str")
AFTER = ("newText", "new_string", "newString", "new_str")
CONTENT = ("content", "file_text")
TASK_LISTS = {"todowrite", "todo_write", "write_todos", "update_plan", "TodoWrite"}
TASK_TEXTS = ("content", "description", "step", "title")
PATCH_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
PATCH = re.compile(r"\*\*\* Begin Patch\n(.*?)(?:\*\*\* End Patch|\Z)", re.DOTALL)
SEARCHES = re.compile(r"(?:^|[|;&(]\s*)(?:git\s+)?(?:grep|rg|egrep|diff|cmp|test|\[|which|pgrep)\b")
"""Commands whose exit code 1 is an answer, not a failure."""
STATUS = re.compile(
    r"\(?(?:Command exited with code|Process exited with code|Exit code:?|exit code|exit status|"
    r"Process Group PGID:|<exited with)\b.*",
    re.IGNORECASE,
)
"""Lines that say no more than that a command ended."""


class Task(NamedTuple):
    """A task of the last list that the agent wrote."""

    text: str
    status: str


class Change(Struct):
    """What calls did to a file."""

    path: str
    added: int = 0
    removed: int = 0
    is_new: bool = False


def read_command(call: ToolCall) -> str:
    """Return the command that a call runs; empty for other calls."""
    given = as_mapping(call.input)
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        # a shell with a script: the script says it all
        return str(command[-1] if command[1:2] in (["-lc"], ["-c"]) else " ".join(command))
    return command if isinstance(command, str) else ""


def is_failure(call: ToolCall) -> bool:
    """Return whether a command failed, and not merely found nothing."""
    if call.outcome != "failed":
        return False
    text = call.result.text if call.result else ""
    lines = [line for line in text.splitlines() if line.strip() and not STATUS.match(line.strip())]
    return bool(lines) or not SEARCHES.search(read_command(call))


def read_last_line(text: str) -> str:
    """Return the last line of an output that says more than that the command ended."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    meaningful = [line for line in lines if not STATUS.match(line)]
    return (meaningful or lines or [""])[-1]


def list_tasks(line: Conversation) -> list[Task]:
    """Return the last list of tasks that was written."""
    tasks: list[Task] = []
    for _, call in iter_calls(line):
        if call.name not in TASK_LISTS:
            continue
        given = as_mapping(call.input)
        rows = given.get("todos", given.get("plan"))
        if isinstance(rows, list):
            rows = [as_mapping(row) for row in rows]
            tasks = [Task(_first(row, TASK_TEXTS), get_text(row, "status") or "") for row in rows]
    return [task for task in tasks if task.text]


def list_changes(line: Conversation) -> list[Change]:
    """Return the files that successful calls changed, the last one last."""
    found: dict[str, Change] = {}
    texts: dict[str, str] = {}
    for _, call in iter_calls(line):
        if call.outcome == "failed":
            continue
        for path, before, after, is_new in _read_edits(call):
            change = found.pop(path, None) or Change(path, is_new=is_new)
            found[path] = change
            known = texts.get(path)
            if before is None or is_new:
                texts[path], change.removed = after, 0
                change.added, change.is_new = _count_lines(after), True
            elif known is not None and before in known:  # written in this session: the net change
                texts[path] = known.replace(before, after, 1)
                change.added = _count_lines(texts[path])
            else:
                added, removed = _count_changes(before, after)
                change.added += added
                change.removed += removed
    return list(found.values())


def _read_edits(call: ToolCall) -> Iterator[tuple[str, str | None, str, bool]]:
    """Yield the path, the old text (None for all of it), the new one, and whether it is new."""
    given = as_mapping(call.input)
    patch = _find_patch(call, given)
    if patch is not None:
        yield from _read_patch(patch)
        return
    path = _first(given, PATHS)
    if not path:
        return
    edits = given.get("edits")
    for edit in [as_mapping(row) for row in edits] if isinstance(edits, list) else [given]:
        before, after = _first_or_none(edit, BEFORE), _first_or_none(edit, AFTER)
        if before is not None and after is not None:
            yield path, before, after, not before
    content = _first_or_none(given, CONTENT)
    if content is not None and _first_or_none(given, BEFORE) is None:
        yield path, None, content, True


def _find_patch(call: ToolCall, given: Any) -> str | None:
    """Return a patch in Codex's form, given as it is or within a command."""
    texts = (given.get("input"), given.get("patch"), given.get("patchText"), read_command(call))
    for text in texts:
        if isinstance(text, str) and (match := PATCH.search(text)):
            return match[1]
    return None


def _read_patch(patch: str) -> Iterator[tuple[str, str | None, str, bool]]:
    path, is_new = "", False
    before: list[str] = []
    after: list[str] = []

    def finish() -> Iterator[tuple[str, str | None, str, bool]]:
        if path and (before or after):
            yield path, "\n".join(before), "\n".join(after), is_new

    for line in patch.splitlines():
        if match := PATCH_FILE.match(line):
            yield from finish()
            path, is_new, before, after = match[2], match[1] == "Add", [], []
        elif line.startswith("-"):
            before.append(line[1:])
        elif line.startswith("+"):
            after.append(line[1:])
        elif line.startswith(" "):
            before.append(line[1:])
            after.append(line[1:])
    yield from finish()


def _count_changes(before: str, after: str) -> tuple[int, int]:
    old, new = before.splitlines(), after.splitlines()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [code for code in codes if code[0] != "equal"]
    return sum(code[4] - code[3] for code in changed), sum(code[2] - code[1] for code in changed)


def _count_lines(text: str) -> int:
    return len(text.splitlines())


def _first(given: Any, names: Iterable[str]) -> str:
    return _first_or_none(given, names) or ""


def _first_or_none(given: Any, names: Iterable[str]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)
