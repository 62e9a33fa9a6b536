"""Commands, tasks and changes of files in the calls of other agents."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.recall.answers import Recall
from plait.recall.handoff import Handoff, build_handoff
from tests.sources.builders import CodexLog, write_lines
from tests.sources.test_pi import entry, header, prompt

PATCH = """*** Begin Patch
*** Add File: new.py
+one
+two
*** Update File: old.py
@@
 same
-before
+after
+more
*** End Patch
"""


def brief(root: Path, cache: Path) -> Handoff:
    """Return the brief of the only session below a root."""
    archive = Archive([root], translations=cache)
    recall = Recall(archive, Path("/home/me"), datetime.fromisoformat)
    return build_handoff(recall, archive.sessions[0].id)


def write_calls(path: Path, *calls: tuple[str, dict[str, Any], str, bool]) -> None:
    """Write a session of Pi in which tools are called: name, input, output, whether it failed."""
    lines = [header("p"), prompt(1, None, "/model"), prompt(2, 1, "do it")]
    number = 2
    for place, (name, given, output, is_error) in enumerate(calls):
        call = {"type": "toolCall", "id": f"c{place}", "name": name, "arguments": given}
        asked = {"role": "assistant", "content": [call], "model": "m"}
        content = [{"type": "text", "text": output}]
        result: dict[str, Any] = {"role": "toolResult", "toolCallId": f"c{place}", "toolName": name}
        result |= {"content": content, "isError": is_error}
        lines.append(entry(number + 1, number, "message", message=asked))
        lines.append(entry(number + 2, number + 1, "message", message=result))
        number += 2
    write_lines(path, lines)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"path": "a.py", "oldText": "x\ny", "newText": "x\nz\nw"}, ("a.py +2 -1",)),
        ({"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}] * 2}, ("a.py +2 -2",)),
        ({"filePath": "a.py", "oldString": "x", "newString": ""}, ("a.py +0 -1",)),
        ({"file_path": "a.py", "content": "x\ny\n"}, ("a.py +2 -0 (new)",)),
        ({"path": "a.py", "file_text": "x"}, ("a.py +1 -0 (new)",)),
        ({"input": PATCH}, ("old.py +2 -1", "new.py +2 -0 (new)")),
        ({"command": f"apply_patch <<'EOF'\n{PATCH}EOF"}, ("old.py +2 -1", "new.py +2 -0 (new)")),
        ({"path": "a.py"}, ()),
    ],
)
def test_changes(given: dict[str, Any], expected: tuple[str, ...], tmp_path: Path) -> None:
    write_calls(tmp_path / "logs/p.jsonl", ("edit", given, "done", False))
    assert brief(tmp_path / "logs", tmp_path / "cache").files == expected


def test_changes_are_net_where_the_file_was_written_in_the_session(tmp_path: Path) -> None:
    write_calls(
        tmp_path / "logs/p.jsonl",
        ("write", {"path": "a.py", "content": "one\ntwo\nthree\n"}, "ok", False),
        ("edit", {"path": "a.py", "oldText": "two\n", "newText": ""}, "ok", False),
        ("edit", {"path": "b.py", "oldText": "x", "newText": "y"}, "no such file", True),
    )
    assert brief(tmp_path / "logs", tmp_path / "cache").files == ("a.py +2 -0 (new)",)


def test_a_search_that_found_nothing_did_not_fail(tmp_path: Path) -> None:
    write_calls(
        tmp_path / "logs/p.jsonl",
        ("bash", {"command": "grep -n x a.py"}, "\n\nCommand exited with code 1", True),
        ("bash", {"command": "grep x no.py"}, "grep: no.py: No such file", True),
        ("bash", {"command": "make"}, "broken\n\nCommand exited with code 2", True),
        ("bash", {"command": "make test"}, "red", True),
        ("bash", {"command": "make test"}, "green", False),
    )
    failing = brief(tmp_path / "logs", tmp_path / "cache").failing
    assert [line.partition(" (")[0] for line in failing] == ["grep x no.py", "make"]
    assert failing[1].endswith(": broken")


def test_a_brief_of_codex(tmp_path: Path) -> None:
    log = CodexLog().prompt("mend it")
    plan = (
        '{"plan": [{"step": "read", "status": "completed"}, {"step": "mend", "status": "pending"}]}'
    )
    log.add("response_item", type="function_call", name="update_plan", call_id="a", arguments=plan)
    log.add("response_item", type="function_call_output", call_id="a", output="ok")
    commit = '{"cmd": "git commit -m \\"first step\\""}'
    log.add(
        "response_item", type="function_call", name="exec_command", call_id="b", arguments=commit
    )
    log.add("response_item", type="function_call_output", call_id="b", output="1 file changed")
    log.answer("half done").write(tmp_path)
    found = brief(tmp_path / ".codex", tmp_path / "cache")
    assert found.tasks == ("mend (pending)",)
    assert found.decisions[0].startswith("committed: first step")
    assert found.last == "half done"


def test_a_command_is_no_goal(tmp_path: Path) -> None:
    write_calls(tmp_path / "logs/p.jsonl", ("bash", {"command": "ls"}, "a", False))
    found = brief(tmp_path / "logs", tmp_path / "cache")
    assert (found.goal, found.title, found.prompts) == ("do it", "do it", ())
