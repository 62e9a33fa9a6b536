"""Tool calls as one line each: subject and outcome of every tool."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.conversation.model import Enclosure, Outcome, PersistedOutput, Result, ToolCall
from plait.view.calls import TOOLS, CallView, find_first_text, format_call_line, relative_path
from plait.view.terminal import (
    CallBlocks,
    DiffBlock,
    OutputBlock,
    QuestionBlock,
    SpeechBlock,
    TodoBlock,
    list_block_texts,
)

DIRECTORY = "/home/dev/shop"


def called(
    name: str,
    given: object = None,
    text: str = "",
    detail: object = None,
    outcome: Outcome = "ok",
    **more: Any,
) -> ToolCall:
    """Return a call with its result."""
    result = Result(text, outcome, detail=detail, **more)
    if outcome == "missing":
        return ToolCall(response=0, call="c", name=name, input=given)
    return ToolCall(
        response=0,
        call="c",
        name=name,
        input=given,
        outcome=outcome,
        result=result,
        answered_by="r",
    )


def line_of(call: ToolCall) -> str:
    """Return a call's line as it reads."""
    line = format_call_line(CallView(call, DIRECTORY))
    return "  ".join(filter(None, (line.tool, line.subject, line.result and f"→ {line.result}")))


SEARCH = {"filenames": [], "mode": "content", "numFiles": 0, "numLines": 12}
FILE = {"filePath": "/home/dev/shop/a.py", "startLine": 5, "numLines": 10, "totalLines": 80}
WHOLE = {"filePath": "/home/dev/shop/a.py", "startLine": 1, "numLines": 80, "totalLines": 80}
SHELL = {"stdout": "one\ntwo\n", "stderr": "three", "interrupted": False}
TODOS = [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]
FOUND = {"query": "q", "results": [{"content": [{"title": "t"}, {"title": "u"}]}, "words"]}


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (called("Bash", {"command": "npm test"}, "a\nb"), "Bash  npm test  → 2 lines"),
        (called("Bash", {"command": "x"}, "", SHELL), "Bash  x  → 3 lines"),
        (called("Bash", {"command": "true"}), "Bash  true  → no output"),
        (called("Bash", {"command": "a\rb\r\nc"}), "Bash  a ↵ b …  → no output"),
        (called("Bash", {"command": "cat <<E\na\nE"}, "a"), "Bash  cat <<E …  → 1 line"),
        (
            called("Bash", {"command": "x"}, "Exit code 2\nno", "Error: no", "failed", exit_code=2),
            "Bash  x  → exit 2",
        ),
        (called("Bash", {"command": "x"}, outcome="missing"), "Bash  x  → no result in the log"),
        (
            called("Bash", {"command": "x"}, outcome="launched"),
            "Bash  x  → running in the background",
        ),
        (called("Bash", {"command": "x"}, outcome="rejected"), "Bash  x  → rejected"),
        (
            called("Read", {"file_path": "/home/dev/shop/a.py"}, "", {"file": FILE}),
            "Read  a.py (lines 5–14)",
        ),
        (
            called("Read", {"file_path": "/home/dev/shop/a.py"}, "", {"file": WHOLE}),
            "Read  a.py (80 lines)",
        ),
        (called("Read", {"file_path": "/x", "offset": 3, "limit": 2}), "Read  /x (lines 3–4)"),
        (called("Read", {"file_path": "/x", "offset": 3}), "Read  /x (from line 3)"),
        (
            called("Read", {"file_path": "/x.png"}, "", {"file": {"originalSize": 12_000}}),
            "Read  /x.png (12 KB)",
        ),
        (
            called("Edit", {"file_path": "/x", "old_string": "a", "new_string": "b\nc"}),
            "Edit  /x  → +2 −1",
        ),
        (
            called("Write", {"file_path": "/x", "content": "a\n"}, "", {"type": "create"}),
            "Write  /x  → +1, new file",
        ),
        (called("Edit", {"file_path": "/x"}, "no", None, "failed"), "Edit  /x  → failed"),
        (called("Grep", {"pattern": "a b", "path": "/home/dev/shop"}, "", SEARCH),
         "Grep  “a b” in .  → 12 lines"),
        (called("Glob", {"pattern": "*.py"}, "", {"filenames": [], "numFiles": 3}),
         "Glob  *.py  → 3 files"),
        (called("TodoWrite", {"todos": TODOS}), "TodoWrite  1/2 done"),
        (called("TaskCreate", {"subject": "s"}, "", {"task": {"id": "4"}}), "TaskCreate  #4 s"),
        (
            called("TaskUpdate", {"taskId": "4", "status": "in_progress", "owner": "al"}),
            "TaskUpdate  #4  → in progress, for al",
        ),
        (called("ExitPlanMode", {"plan": "p"}), "ExitPlanMode  → accepted"),
        (
            called("WebFetch", {"url": "https://a.example"}, "", {
                "url": "u", "codeText": "OK", "code": 200, "bytes": 12_345}),
            "WebFetch  https://a.example  → 200, 12 KB",
        ),
        (called("WebSearch", {"query": "q"}, "", FOUND), "WebSearch  “q”  → 2 results"),
        (
            called("ToolSearch", {"query": "q"}, "", {"matches": ["A", "B"], "query": "q"}),
            "ToolSearch  q  → A, B",
        ),
        (called("Skill", {"skill": "pdf", "args": "x"}), "Skill  pdf x"),
        (called("SendMessage", {"to": "bob", "summary": "hi"}), "SendMessage  to bob: hi"),
        (
            called("Task", {"description": "d", "subagent_type": "Explore"}, "", {
                "agentId": "a", "status": "completed", "totalTokens": 45_000,
                "totalToolUseCount": 12}),
            "Task  “d”  → Explore, 12 calls, 45k tokens",
        ),
        (called("mcp__journal__note", {"deep": [{"text": "hello"}]}, "saved"),
         "journal › note  hello  → 1 line"),
        (called("Unheard", {"n": 1, "words": "of it"}), "Unheard  of it"),
        (called("Unheard", "just words"), "Unheard  just words"),
        (called("Unheard", {}, enclosures=(Enclosure("image", None),)), "Unheard  → 1 block"),
    ],
)  # fmt: skip
def test_call_is_one_line(call: ToolCall, line: str) -> None:
    assert line_of(call) == line


def test_call_with_a_result_elsewhere_says_so() -> None:
    seen = CallView(called("Bash", {"command": "sleep"}, "slept"))
    assert format_call_line(seen, has_result=False).result == "result below"
    missing = CallView(called("Bash", {"command": "sleep"}, outcome="missing"))
    assert format_call_line(missing, has_result=False).result == "no result in the log"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/home/dev/shop/a/b.py", "a/b.py"),
        ("/home/dev/shop", "."),
        ("/home/dev/shopping/a.py", "/home/dev/shopping/a.py"),
        ("/etc/hosts", "/etc/hosts"),
        ("a.py", "a.py"),
    ],
)
def test_paths_are_relative_to_the_project(path: str, told: str) -> None:
    assert relative_path(path, DIRECTORY) == told


def test_changed_lines_follow_an_edit() -> None:
    hunk = {"oldStart": 7, "oldLines": 4, "newStart": 7, "newLines": 4,
            "lines": [" ", " a", "-b", "+c", " d", " ", "\\ No newline"]}  # fmt: skip
    detail = {"oldString": "b", "newString": "c", "filePath": "/x", "structuredPatch": [hunk]}
    (change,) = CallBlocks(CallView(called("Edit", {"file_path": "/x"}, "ok", detail))).iter_all()
    assert isinstance(change, DiffBlock)
    assert [(line.number, line.kind, line.text) for line in change.lines] == [
        (8, "same", "a"),
        (9, "removed", "b"),
        (9, "added", "c"),
        (10, "same", "d"),
    ]


def test_long_change_is_folded_except_at_full_depth() -> None:
    seen = CallView(called("Write", {"file_path": "/x", "content": "a\n" * 40}))
    (short,) = CallBlocks(seen).iter_all()
    assert isinstance(short, DiffBlock)
    assert (len(short.lines), short.hidden) == (12, 28)
    full = next(
        item for item in CallBlocks(seen, is_full=True).iter_all() if isinstance(item, DiffBlock)
    )
    assert (len(full.lines), full.hidden) == (40, 0)


def test_lists_questions_and_plans_follow_their_calls() -> None:
    (todos,) = CallBlocks(CallView(called("TodoWrite", {"todos": TODOS}))).iter_all()
    assert isinstance(todos, TodoBlock)
    assert todos.items == (("completed", "a"), ("pending", "b"))
    requested = {"questions": [{"question": "Which?"}, {"question": "When?"}]}
    answers = {"questions": [], "answers": {"Which?": "this"}}
    (choices,) = CallBlocks(CallView(called("AskUserQuestion", requested, "t", answers))).iter_all()
    assert isinstance(choices, QuestionBlock)
    assert choices.pairs == (("Which?", "this"), ("When?", None))
    (plan,) = CallBlocks(CallView(called("ExitPlanMode", {"plan": "# Plan"}))).iter_all()
    assert isinstance(plan, SpeechBlock)
    assert (plan.voice, plan.text) == ("plan", "# Plan")


def test_failures_show_errors_and_rejections_the_users_words() -> None:
    text = "<tool_use_error>File does not exist.</tool_use_error>"
    (failure,) = CallBlocks(
        CallView(called("Read", {"file_path": "/x"}, text, None, "failed"))
    ).iter_all()
    assert failure == OutputBlock(lines=("File does not exist.",), tone="trouble")
    call = called("Bash", {"command": "x"}, "The user …", None, "rejected", feedback="not now")
    (words,) = CallBlocks(CallView(call)).iter_all()
    assert isinstance(words, SpeechBlock)
    assert (words.voice, words.text, words.note) == ("prompt", "not now", "rejected")


def full_lines_of(call: ToolCall, *elsewhere: str) -> list[str]:
    """Return the lines below a call where everything is shown."""
    parts = list(CallBlocks(CallView(call, DIRECTORY), True, elsewhere).iter_all())
    return [
        line
        for part in parts
        for text in list_block_texts(part)
        for line in text.split("\n")
        if line
    ]


EDIT = {"file_path": "/home/dev/shop/a.py", "old_string": "old", "new_string": "new"}
EDITS = {"file_path": "/x", "edits": [EDIT, EDIT | {"old_string": "older"}]}
ASKED = {"description": "Look", "prompt": "Look\naround"}


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (called("Edit", EDIT, "no", outcome="failed"), ["old", "new", "no"]),
        (called("Edit", EDIT, outcome="missing"), ["old", "new"]),
        (called("MultiEdit", EDITS, outcome="missing"),
         ["edits.0.file_path: /home/dev/shop/a.py", "edits.1.file_path: /home/dev/shop/a.py",
          "old", "new", "older", "new"]),
        (called("Write", {"file_path": "/x", "content": "a\nb"}, "The user", outcome="rejected"),
         ["a", "b", "The user"]),
        (called("Agent", ASKED, "found"), ["prompt: Look", "around", "found"]),
        (called("Bash", {"command": "a b", "timeout": 9}, "x\ny", {"stdout": "x", "stderr": ""}),
         ["timeout: 9", "x", "y"]),
        (called("Bash", {"command": "a"}, "Exit code 1\nno", outcome="failed"), ["no"]),
        (called("Unheard", {"data": "A" * 400}), ["data: (300 B of data)"]),
    ],
)  # fmt: skip
def test_full_depth_is_complete_without_repetition(call: ToolCall, lines: list[str]) -> None:
    assert full_lines_of(call) == lines


def test_prompt_of_an_agent_is_with_its_conversation() -> None:
    assert full_lines_of(called("Agent", ASKED, "found"), "Look\naround") == ["found"]


def test_missing_stored_output_is_marked() -> None:
    call = called("Bash", {"command": "x"}, "part", persisted=PersistedOutput("b.txt", 9000))
    for is_lost, words in ((False, "is in"), (True, "is missing: there is no")):
        *_, last = CallBlocks(CallView(call, DIRECTORY, is_lost)).iter_all()
        assert last == OutputBlock(
            lines=(f"(the full output (9.0 KB) {words} tool-results/b.txt)",)
        )


def test_failed_command_shows_the_end_of_its_output() -> None:
    text = "Exit code 1\n" + "\n".join(f"line {n}" for n in range(1, 41))
    (failure,) = CallBlocks(
        CallView(called("Bash", {"command": "x"}, text, None, "failed"))
    ).iter_all()
    assert isinstance(failure, OutputBlock)
    assert (failure.lines, failure.last[-1], failure.hidden) == (
        ("line 1", "line 2"),
        "line 40",
        32,
    )


KEYS = """
    file_path command todos questions plan file filenames numFiles structuredPatch lines oldString
    newString content results task tasks stdout stderr url codeText code bytes answers question
    status matches query offset limit path pattern agentId
""".split()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(
    st.sampled_from([*TOOLS, "mcp__a__b", "mcp__", "?"]),
    VALUES,
    VALUES,
    st.sampled_from(["ok", "failed", "rejected", "interrupted", "launched", "missing"]),
    st.booleans(),
)
def test_any_call_can_be_shown(
    name: str, given_: object, detail: object, outcome: Outcome, is_full: bool
) -> None:
    seen = CallView(called(name, given_, "words", detail, outcome), DIRECTORY)
    assert "\n" not in format_call_line(seen).subject
    assert all(block.level == 0 for block in CallBlocks(seen, is_full).iter_all())


def test_deep_input_is_summarised_without_recursion() -> None:
    deep: object = "words"
    for _ in range(5000):
        deep = [deep]
    assert find_first_text(deep) == "words"
