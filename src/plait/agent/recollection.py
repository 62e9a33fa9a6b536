"""The log of a session that goes on to what its tools remember: files seen, lists kept.

Of files, what the model still has before it counts, as the client counts it: a whole one that
was read or written. One that was edited since is not known any more. Lists outlive summaries and
rewinds, so they are put together from the whole file.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.agent.context import LiveContext
from plait.agent.tools.model import Sight, ToolError, Workplace
from plait.agent.tools.paths import located
from plait.agent.tools.tasks import recall_task
from plait.agent.tools.text import MARK, digest_of_text
from plait.agent.tools.todos import recall_todos
from plait.line import lines
from plait.record import Record, client_records
from plait.record.codec import mapping

MARKS = (
    *(b'"TaskCreate"', b'"TaskUpdate"', b'"TodoWrite"'),
    *(b'"task":{', b'"updatedFields"', b'"newTodos"'),
)
"""What stands in lines that tell of lists: few others have to be read."""
FILES = frozenset(("Read", "Write", "Edit", "NotebookEdit"))
LISTS = frozenset(("TaskCreate", "TaskUpdate", "TodoWrite"))


@dataclass(frozen=True, slots=True)
class Done:
    """A call that was answered without an error."""

    name: str
    given: Mapping[str, Any]
    output: Mapping[str, Any]
    cwd: str


@dataclass(slots=True)
class Recollection:
    """Puts together what tools remember, before the first of them is called."""

    context: LiveContext
    path: Path
    place: Workplace
    is_due: bool
    """Whether there is a past."""

    def recall(self) -> None:
        """Has the workplace know it, once."""
        if self.is_due:
            self.is_due = False
            recall_files(self.context.records, self.place)
            told = (line for line in lines(self.path) if any(one in line.data for one in MARKS))
            recall_lists(client_records(told), self.place)


def recall_files(chain: Iterable[Record], place: Workplace) -> None:
    """Has a workplace know the files that the model has before it."""
    for done in _done(chain, FILES):
        named = done.given.get("file_path") or done.given.get("notebook_path")
        try:
            path = located(str(Path(done.cwd) / str(named or "")), place)
        except ToolError:
            continue
        text = _whole_text(done)
        if text is not None:
            place.seen[path] = Sight(digest_of_text(_as_shown(text)), True)
        elif done.name != "Read":
            place.seen.pop(path, None)


def _whole_text(done: Done) -> str | None:
    """Returns what a file held where all of it was told, None where it was not."""
    if done.name == "Write":
        text = done.output.get("content", done.given.get("content"))
        return text if isinstance(text, str) else None
    file = mapping(done.output.get("file"))
    text, count, total = (file.get(key) for key in ("content", "numLines", "totalLines"))
    is_part = {"offset", "limit"} & done.given.keys() or file.get("startLine", 1) != 1
    is_whole = done.name == "Read" and not is_part and count == total
    return text if is_whole and isinstance(text, str) else None


def _as_shown(text: str) -> str:
    return text.replace("\r\n", "\n").removeprefix(MARK)


def recall_lists(records: Iterable[Record], place: Workplace) -> None:
    """Has a workplace know the things to do and the tasks that a session holds."""
    for done in _done(records, LISTS):
        if done.name == "TodoWrite":
            recall_todos(place, done.given)
        else:
            recall_task(place, done.name, done.given, done.output)


def _done(records: Iterable[Record], names: frozenset[str]) -> Iterator[Done]:
    """Yields the calls of some tools that went well, in the order of their results."""
    waiting: dict[str, Mapping[str, Any]] = {}
    for record in records:
        heads = record.block_heads if record.type in ("assistant", "user") else ()
        if any(head.type == "tool_use" and head.name in names for head in heads):
            calls = (one for one in _blocks(record) if one.get("name") in names)
            waiting |= {str(one.get("id")): one for one in calls}
        elif waiting and any(head.tool_use_id in waiting for head in heads):
            for block in _blocks(record):
                call = waiting.pop(str(block.get("tool_use_id")), None)
                output = record.fields.get("toolUseResult")
                if call and not block.get("is_error") and isinstance(output, Mapping):
                    given = mapping(call.get("input"))
                    yield Done(str(call["name"]), given, output, record.cwd or "/")


def _blocks(record: Record) -> list[Mapping[str, Any]]:
    content = mapping(record.fields.get("message")).get("content")
    found = content if isinstance(content, list) else []
    return [block for block in found if isinstance(block, Mapping)]
