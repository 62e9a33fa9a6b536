"""A session with a unique word in every text field: every output contains all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.cli.app import run
from plait.indexing import update_index

SESSION = "5eed0001-0000-4000-8000-000000000001"
PLACE = f"projects/-home-dev-shop/{SESSION}.jsonl"


class Log:
    """Lines of a session, each text of which holds a word that stands nowhere else."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.words: dict[str, str] = {}
        self._numbers = count(1)
        self._last: str | None = None

    def word(self, about: str) -> str:
        """Return a new word, known by what it stands for."""
        word = f"quark{len(self.words):03}"
        self.words[about] = word
        return word

    def number(self, about: str) -> int:
        """Return a new number, known by what it stands for."""
        number = 7_710_000 + len(self.words)
        self.words[about] = str(number)
        return number

    def add(self, kind: str, **fields: Any) -> None:
        """Add a link of the chain."""
        number = next(self._numbers)
        uuid = f"00000000-0000-4000-8000-{number:012}"
        stamp = f"2026-11-02T09:{number // 60:02}:{number % 60:02}.000Z"
        own = {"parentUuid": self._last, "uuid": uuid, "timestamp": stamp, "type": kind}
        self.lines.append({**own, **ENVELOPE, **fields})
        self._last = uuid

    def aside(self, kind: str, **fields: Any) -> None:
        """Add a line outside the chain."""
        self.lines.append({"type": kind, "sessionId": SESSION, **fields})

    def user(self, content: Any, **fields: Any) -> None:
        """Add something in the user's place."""
        self.add("user", message={"role": "user", "content": content}, **fields)

    def run_text(self, *blocks: dict[str, Any]) -> None:
        """Add a response."""
        number = len(self.lines)
        message = {"id": f"msg_{number}", "role": "assistant", "model": "claude-opus-4-8"}
        self.add("assistant", message={**message, "content": list(blocks)})

    def call(self, tool: str, given: dict[str, Any], view: Any, text: str | None = None) -> None:
        """Add a call with its result, and the client's view of it."""
        name = f"toolu_{len(self.lines)}"
        self.run_text({"type": "tool_use", "id": name, "name": tool, "input": given})
        report = self.word(f"{tool} result") if text is None else text
        block = {"type": "tool_result", "tool_use_id": name, "content": report}
        is_error = {"is_error": True} if isinstance(view, str) else {}
        self.user([{**block, **is_error}], toolUseResult=view)


ENVELOPE = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/home/dev/shop",
    "sessionId": SESSION,
    "version": "2.1.29",
    "gitBranch": "main",
}


def _tags(log: Log) -> None:
    w = log.word
    log.user(f"a prompt {w('prompt')}")
    log.user([{"type": "text", "text": f"first {w('text block')}"}])
    log.user(f"<ide_selection>{w('editor')}</ide_selection>\nand {w('prompt behind it')}")
    log.user(
        f"<command-name>/{w('command-name')}</command-name>\n"
        f"<command-message>{w('command-message')} is running</command-message>\n"
        f"<command-args>{w('command-args')}</command-args>"
    )
    log.user(f"expansion {w('expansion')}", isMeta=True)
    log.run_text({"type": "text", "text": "Well."})
    log.user(f"<local-command-stdout>{w('command stdout')}</local-command-stdout>")
    log.user(f"<local-command-stderr>{w('command stderr')}</local-command-stderr>")
    log.user(f"<bash-input>echo {w('bash-input')}</bash-input>")
    log.user(
        f"<bash-stdout>{w('bash-stdout')}</bash-stdout><bash-stderr>{w('bash-stderr')}</bash-stderr>"
    )
    log.user(
        f'<teammate-message teammate_id="{w("teammate")}" summary="in short {w("summary=")}">'
        f"{w('teammate message')}</teammate-message>"
    )
    log.user(
        "Another Claude session sent a message:\n"
        f'<cross-session-message from="{w("sender")}">{w("message")}</cross-session-message>\n'
        f"Mind {w('words around a message')}",
        isMeta=True,
    )
    log.user(
        f"<task-notification><task-id>{w('task-id')}</task-id><status>done</status>"
        f"<summary>{w('notice')}</summary><result>{w('result of a task')}</result>"
        f"<output-file>{w('output-file')}</output-file></task-notification>",
        origin={"kind": "task-notification"},
    )
    log.user(f"Stop hook feedback:\n{w('hook feedback')}", isMeta=True)
    log.user(f"<system-reminder>{w('reminder')}</system-reminder>", isMeta=True)
    log.user(f"Operation stopped by hook: {w('stopped by a hook')}")
    log.user(f"continued: {w('compact summary')}", isCompactSummary=True)
    log.run_text(
        {"type": "thinking", "thinking": w("thinking"), "signature": "s"},
        {"type": "text", "text": f"An answer: {w('answer')}"},
    )


def _files(log: Log) -> None:
    w = log.word
    path = f"/home/dev/shop/{w('file_path')}.py"
    content = f"one {w('line that was read')}\ntwo"
    file = {"filePath": path, "content": content, "numLines": 2, "startLine": 1, "totalLines": 2}
    given = {"file_path": path, "offset": log.number("offset"), "limit": log.number("limit")}
    log.call("Read", given, {"type": "text", "file": file}, f"1\t{content}")
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2}
    around = [f" {w('context of an edit')}", "-old", "+new"]
    log.call(
        "Edit",
        {"file_path": path, "old_string": w("old_string"), "new_string": w("new_string")},
        {"filePath": path, "structuredPatch": [{**hunk, "lines": around}], "originalFile": "x"},
    )
    gone = [f"-{w('line that a write removed')}", "+new"]
    log.call(
        "Write",
        {"file_path": path, "content": f"new {w('content')}"},
        {"type": "update", "filePath": path, "structuredPatch": [{**hunk, "lines": gone}]},
    )
    log.call(
        "Glob",
        {"pattern": w("glob pattern"), "path": f"/home/dev/{w('glob path')}"},
        {"filenames": [w("glob file")], "numFiles": 1, "truncated": False, "durationMs": 3},
    )
    log.call(
        "Grep",
        {
            "pattern": w("pattern"),
            "path": f"/home/dev/{w('grep path')}",
            "glob": w("grep glob"),
            "type": w("grep type"),
            "output_mode": w("output_mode"),
            "head_limit": log.number("head_limit"),
        },
        {"mode": "content", "numFiles": 1, "filenames": [], "content": w("grep content")},
    )


def _tools(log: Log) -> None:
    w = log.word
    view = {"stdout": w("stdout"), "stderr": w("stderr"), "interrupted": False, "isImage": False}
    given = {"command": f"run {w('command')}", "description": w("description")}
    log.call("Bash", {**given, "timeout": log.number("timeout"), "run_in_background": False}, view)
    log.call(
        "Bash", {"command": "false"}, f"Error: Exit code 1\n{w('error string')}", "Exit code 1"
    )
    todo = {"content": w("todo"), "status": "in_progress", "activeForm": w("activeForm")}
    old = {"content": w("old todo"), "status": "pending", "activeForm": "x"}
    log.call("TodoWrite", {"todos": [todo]}, {"oldTodos": [old], "newTodos": []})
    given = {"description": w("task"), "prompt": w("task prompt"), "subagent_type": w("agent type")}
    given |= {"model": w("model of a task")}
    report = [{"type": "text", "text": w("report")}]
    view = {"status": "completed", "agentId": "ab97f57", "content": report, "prompt": "p"}
    log.call("Task", given, {**view, "totalDurationMs": 5})
    log.call(
        "WebSearch",
        {
            "query": w("query"),
            "allowed_domains": [w("domain")],
            "blocked_domains": [w("blocked domain")],
        },
        {"query": "q", "results": [{"content": [{"title": w("hit"), "url": "https://a.example"}]}]},
    )
    url = f"https://a.example/{w('url')}"
    log.call("WebFetch", {"url": url, "prompt": w("fetch prompt")}, {"result": w("page")})
    question = {
        "question": w("question"),
        "header": w("header"),
        "options": [{"label": w("option"), "description": w("description of an option")}],
    }
    answers = {question["question"]: w("choice")}
    log.call("AskUserQuestion", {"questions": [question]}, {"answers": answers})
    log.call("ExitPlanMode", {"plan": w("plan")}, {"plan": "p", "filePath": "/p"})
    log.call("mcp__a__b", {"deep": {"er": [w("deep input")]}}, [{"type": "text", "text": w("mcp")}])


def _progress(log: Log) -> None:
    w = log.word
    inner = {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": w("agent_progress")}]},
    }
    for data in (
        {"type": "agent_progress", "message": inner, "prompt": w("prompt of progress")},
        {"type": "bash_progress", "output": w("progress output"), "fullOutput": w("fullOutput")},
        {
            "type": "hook_progress",
            "hookEvent": "Stop",
            "hookName": w("hookName"),
            "command": w("command of a hook"),
        },
        {"type": "query_update", "query": w("query_update")},
        {"type": "search_results_received", "resultCount": 3, "query": w("results received")},
        {"type": "waiting_for_task", "taskDescription": w("waiting_for_task"), "taskType": "x"},
        {"type": "mcp_progress", "status": "started", "serverName": w("server"), "toolName": "t"},
    ):
        log.add("progress", data=data, toolUseID="toolu_1", parentToolUseID="toolu_1")


def _attachments(log: Log) -> None:
    w = log.word
    for attachment in (
        {"type": "queued_command", "prompt": w("queued_command"), "commandMode": "prompt"},
        {
            "type": "hook_success",
            "hookName": w("hook"),
            "hookEvent": "Stop",
            "content": w("said"),
            "stdout": w("hook stdout"),
            "stderr": w("hook stderr"),
            "command": w("hook command"),
        },
        {
            "type": "hook_blocking_error",
            "hookName": "Stop",
            "hookEvent": "Stop",
            "blockingError": {"blockingError": w("blocking"), "command": w("blocking command")},
        },
        {
            "type": "nested_memory",
            "path": w("memory path"),
            "content": {"path": "p", "content": w("memory")},
        },
        {"type": "edited_text_file", "filename": w("edited file"), "snippet": w("snippet")},
        {
            "type": "file",
            "filename": w("file"),
            "content": {"file": {"content": w("file content")}},
        },
        {"type": "directory", "path": w("directory"), "content": w("listing")},
        {"type": "todo_reminder", "content": [{"content": w("todo reminder")}], "itemCount": 1},
        {"type": "skill_listing", "content": w("skills"), "skillCount": 1},
        {"type": "invoked_skills", "skills": [{"name": w("skill"), "content": w("skill words")}]},
        {
            "type": "plan_file_reference",
            "planFilePath": w("plan file"),
            "planContent": w("plan text"),
        },
        {
            "type": "diagnostics",
            "files": [{"uri": w("uri"), "diagnostics": [{"message": w("diag")}]}],
        },
        {"type": "unheard_of", "anything": {"at": [w("unknown attachment")]}},
    ):
        log.add("attachment", attachment=attachment)


def _notes(log: Log) -> None:
    w = log.word
    log.add("system", subtype="informational", content=w("informational"), level="info")
    log.add("system", subtype="api_error", error={"message": w("api_error")}, retryAttempt=1)
    log.add("system", subtype="away_summary", content=w("away_summary"))
    log.add("system", subtype="bridge_status", content=w("bridge"), url=w("bridge url"))
    log.add(
        "system",
        subtype="stop_hook_summary",
        hookCount=1,
        stopReason=w("stopReason"),
        hookInfos=[{"command": w("hook info")}],
        hookErrors=[w("hook error")],
    )
    local = (
        f"<command-name>/x</command-name><command-message>{w('local message')}</command-message>"
    )
    log.add("system", subtype="local_command", content=local)
    log.add("system", subtype="unheard_of", content=w("unknown subtype"), more=w("more of it"))
    log.add("unheard-of", anything=w("unknown type"))
    log.aside("summary", summary=f"about {w('summary line')}", leafUuid="gone")
    log.aside("queue-operation", operation="enqueue", content=f"later {w('in the queue')}")
    notice = {"task_id": "b1", "description": w("queued notice"), "task_type": w("task_type")}
    log.aside("queue-operation", operation="enqueue", content=json.dumps(notice))
    backup = {"backupFileName": "b@v1", "version": 1}
    files = {
        f"src/{w('snapshot path')}.py": backup,
        f"{w('empty backup')}.py": None,
        f"{w('old form')}.py": w("content of a snapshot"),
    }
    log.aside(
        "file-history-snapshot",
        messageId="m",
        isSnapshotUpdate=False,
        snapshot={"messageId": "m", "trackedFileBackups": files},
    )
    log.aside("file-history-delta", messageId="m", trackingPath=w("trackingPath"), backup=backup)
    log.aside(
        "pr-link", prNumber=1, prUrl=f"https://a.example/{w('prUrl')}", prRepository=w("repo")
    )
    log.aside("frame-link", path=w("frame path"), frameUrl=w("frameUrl"), title=w("frame title"))


def _agent(log: Log) -> list[dict[str, Any]]:
    """Return the conversation of the agent that the task above sent out."""
    agent = Log()
    agent.words = log.words
    agent.user(agent.word("brief of an agent"))
    agent.run_text({"type": "text", "text": agent.word("answer of an agent")})
    agent.call("Bash", {"command": agent.word("command of an agent")}, {"stderr": agent.word("e")})
    own = {"isSidechain": True, "agentId": "ab97f57"}
    return [{**line, **own, "uuid": f"a{line['uuid'][1:]}"} | _below(line) for line in agent.lines]


def _below(line: dict[str, Any]) -> dict[str, Any]:
    above = line["parentUuid"]
    return {"parentUuid": f"a{above[1:]}" if above else None}


def _log() -> Log:
    log = Log()
    for part in (_tags, _files, _tools, _progress, _attachments, _notes):
        part(log)
    log.run_text({"type": "text", "text": "Done."})
    return log


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a root with the session, and its words by what they stand for."""
    root, log = tmp_path_factory.mktemp("marked"), _log()
    path = root / PLACE
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in log.lines))
    agent = path.with_name("agent-ab97f57.jsonl")
    agent.write_text("".join(json.dumps(line) + "\n" for line in _agent(log)))
    return root, log.words


def _missing(words: dict[str, str], text: str) -> list[str]:
    found = set(re.findall(r"quark\d{3}|7710\d{3}", text))
    return [about for about, word in words.items() if word not in found]


def test_terminal_shows_every_word(
    marked: tuple[Path, dict[str, str]], capfd: pytest.CaptureFixture[str]
) -> None:
    root, words = marked
    assert run(["show", SESSION, "--depth", "all", "--root", str(root)]) == 0
    assert _missing(words, capfd.readouterr().out) == []


# checklist: S26, F27, P15, P23, P109, P110, P111, P112, P113, P114, P115, P116, P117, P118
@pytest.mark.parametrize("format_", ["md", "txt", "json", "html"])
def test_every_format_has_every_word(
    marked: tuple[Path, dict[str, str]], tmp_path: Path, format_: str
) -> None:
    root, words = marked
    given = ["export", SESSION, "--root", str(root), "-o", str(tmp_path / "out"), "--no-redact"]
    assert run([*given, "--format", format_, "--depth", "all"]) == 0
    kept = [path for path in (tmp_path / "out").rglob("*") if SESSION in path.name]
    texts = (unescape(path.read_text()) for path in kept if path.is_file())
    assert _missing(words, "\n".join(texts)) == []


def _found(archive: Archive, words: dict[str, str], **how: Any) -> Iterator[str]:
    for about, word in words.items():
        if not archive.search(word, **how).hits:
            yield about


# checklist: S33
@pytest.mark.parametrize("way", ["words", "exact"])
def test_search_finds_every_word(
    marked: tuple[Path, dict[str, str]], tmp_path: Path, way: str
) -> None:
    root, words = marked
    update_index(Archive([root]), tmp_path / "index")
    archive = Archive([root], index=tmp_path / "index")
    assert list(_found(archive, words, way=way)) == []
