"""What tools know again in a resumed session: files read, to-dos, tasks."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from plait.chat import Client
from plait.chat.models import ScriptModel
from plait.write.lines import Version

KNOWN = " (file state is current in your context — no need to Read it back)"
STALE = " (note: the file had been modified on disk since you last read it"
TEXT = "one\ntwo\nthree\n"


class Sitting:
    """A session that is left and gone on with, turn by turn, in a folder of its own."""

    def __init__(self, folder: Path, version: Version = "2.1.325") -> None:
        self.work, self.config, self.version = folder / "work", folder / "config", version
        self.work.mkdir()
        self.log: Path | None = None

    def turn(self, *calls: tuple[str, dict[str, Any]], **more: Any) -> list[Any]:
        """Do calls in a client of its own; returns what was told of each."""
        answer = {"calls": [{"name": name, "input": given} for name, given in calls], **more}
        model = ScriptModel({"answers": [answer, {"text": "Done."}]})
        held: dict[str, Any] = {"model": model, "mode": "bypassPermissions"}
        client = (
            Client.resume(self.log, version=self.version, **held)
            if self.log
            else Client.new(self.config, cwd=self.work, version=self.version, **held)
        )
        asyncio.run(_played(client))
        self.log = client.runtime.writer.path
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        results = [line["message"]["content"][0] for line in lines if "toolUseResult" in line]
        return [result["content"] for result in results][-len(calls) :]


async def _played(client: Client) -> None:
    async with client:
        async for _ in client.send("go"):
            pass


def edit(name: str, old: str = "two", new: str = "2") -> tuple[str, dict[str, Any]]:
    return "Edit", {"file_path": name, "old_string": old, "new_string": new}


def read(name: str, **part: int) -> tuple[str, dict[str, Any]]:
    return "Read", {"file_path": name, **part}


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_known_files_match_the_client(tmp_path: Path, version: Version) -> None:
    """As 2.1.325 told it, asked the same: whole ones that were read or written are known."""
    sitting = Sitting(tmp_path, version)
    for name in ("whole", "part", "edited", "touched", "changed", "gone", "unseen"):
        (sitting.work / name).write_bytes(TEXT.encode())
    (sitting.work / "long").write_bytes(TEXT.replace("\n", "\r\n").encode())
    sitting.turn(
        read("whole"),
        read("part", limit=1),
        read("edited"),
        edit("edited", "one", "1"),
        read("touched"),
        read("changed"),
        read("gone"),
        read("long"),
        ("Write", {"file_path": "written", "content": TEXT}),
        ("Write", {"file_path": "overwritten", "content": TEXT}),
    )
    (sitting.work / "touched").write_text(TEXT)
    (sitting.work / "changed").write_text("by somebody else\ntwo\n")
    (sitting.work / "gone").write_text("by somebody else\n")
    (sitting.work / "overwritten").write_text("by somebody else\n")
    names = ("whole", "part", "edited", "touched", "long", "written", "changed", "unseen")
    result = sitting.turn(*map(edit, names), edit("gone"), ("Write", {**WRITTEN}))
    found = "The file {} has been updated successfully."
    known = ("whole", "touched", "long", "written")
    for name, words in zip(names, result, strict=False):
        rest = words.removeprefix(found.format(name))
        assert rest.startswith(STALE) if name == "changed" else rest == KNOWN * (name in known)
    assert [words.partition(",")[0] for words in result[-2:]] == [SINCE] * 2
    assert (sitting.work / "overwritten").read_text() == "by somebody else\n"


WRITTEN = {"file_path": "overwritten", "content": "ours"}
SINCE = "<tool_use_error>File has been modified since read"


def test_files_read_before_a_compaction_are_not_known(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    (sitting.work / "a").write_text(TEXT)
    sitting.turn(read("a"))
    assert sitting.log

    async def compact(log: Path) -> None:
        script = {"otherwise": {"text": "<summary>What was said.</summary>"}}
        async with Client.resume(log, model=ScriptModel(script)) as client:
            async for _ in client.compact():
                pass

    asyncio.run(compact(sitting.log))
    assert sitting.turn(edit("a")) == ["The file a has been updated successfully."]


def todo(content: str, status: str = "pending") -> dict[str, str]:
    return {"content": content, "status": status, "activeForm": f"{content}ing"}


def test_todo_lists_are_restored(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    sitting.turn(
        ("TaskCreate", {"subject": "First", "description": "d", "metadata": {"a": 1}}),
        ("TaskCreate", {"subject": "Second", "description": "d"}),
        ("TaskCreate", {"subject": "Third", "description": "d"}),
        ("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"], "owner": "me"}),
        ("TaskUpdate", {"taskId": "1", "status": "in_progress"}),
        ("TaskUpdate", {"taskId": "3", "status": "deleted"}),
        ("TaskUpdate", {"taskId": "9", "status": "completed"}),
        ("TaskUpdate", {"taskId": "1", "status": "no such"}),
        ("TodoWrite", {"todos": [todo("look"), todo("leap", "completed")]}),
    )
    result = sitting.turn(
        ("TaskList", {}),
        ("TaskCreate", {"subject": "Fourth", "description": "d"}),
        ("TodoWrite", {"todos": [todo("leap", "completed")]}),
    )
    assert result[0] == "#1 [in_progress] First\n#2 [pending] Second (me) [blocked by #1]"
    assert result[1] == "Task #4 created successfully: Fourth"
    assert sitting.log
    lines = [json.loads(line) for line in sitting.log.read_text().splitlines()]
    outputs = [line["toolUseResult"] for line in lines if "toolUseResult" in line]
    assert outputs[-1]["oldTodos"] == [todo("look"), todo("leap", "completed")]
    sitting.turn(("TodoWrite", {"todos": [todo("rest")]}))
    last = json.loads(
        next(line for line in reversed(sitting.log.read_text().splitlines()) if "newTodos" in line)
    )
    assert last["toolUseResult"]["oldTodos"] == [], "what is done is off the list"


@pytest.mark.parametrize("output", ['"text"', "null", "[]", '{"task":{"id":"x"}}', '{"task":7}'])
def test_invalid_results_are_skipped(tmp_path: Path, output: str) -> None:
    sitting = Sitting(tmp_path)
    sitting.turn(("TaskCreate", {"subject": "First", "description": "d"}))
    assert sitting.log
    lines = sitting.log.read_text().splitlines()
    broken = [
        json.dumps(json.loads(line) | {"toolUseResult": json.loads(output)})
        if "toolUseResult" in line
        else line
        for line in lines
    ]
    sitting.log.write_text("\n".join(broken) + "\n")
    assert sitting.turn(("TaskList", {})) == ["No tasks found"]
