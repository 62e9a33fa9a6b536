"""Results of tool calls: the text for the model and the details for the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from .agents import agent_outcome
from .model import DrawingError, Json
from .names import session_id, slug_of
from .patches import patch
from .png import png
from .reply import Outcome, Reply


def outcome(reply: Reply) -> Outcome:
    """Return the result of a tool, in the tool's format."""
    found = _BY_TOOL.get(reply.call.tool, _other)(reply)
    given = reply.fields.get("returns")
    if isinstance(given, str):
        given = json.loads(given)
    return found if given is None else Outcome(found.content, given)


def failure(reply: Reply) -> Outcome:
    """Return the error message of a tool."""
    text = reply.text or "Exit code 1"
    return Outcome(text, f"Error: {text.removeprefix('<tool_use_error>')}")


def _bash(reply: Reply) -> Outcome:
    stderr = reply.fields.get("stderr", "")
    detail = {
        "stdout": reply.text,
        "stderr": stderr,
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    if "persisted" in reply.fields:
        return _persisted(reply, detail)
    return Outcome("\n".join(part for part in (reply.text, stderr) if part), detail)


def _persisted(reply: Reply, detail: Json) -> Outcome:
    """Store a large output in a separate file, with a preview in the log."""
    settings = reply.sheet.settings
    size = int(reply.fields.get("size", 65_536))
    folder = f"/home/dev/.claude/projects/{slug_of(settings.cwd)}/{session_id(reply.sheet.home)}"
    path = f"{folder}/tool-results/{reply.fields['persisted']}.txt"
    content = (
        f"<persisted-output>\nOutput too large ({size // 1024}KB). Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{reply.text[:2000]}\n...\n</persisted-output>"
    )
    return Outcome(content, {**detail, "persistedOutputPath": path, "persistedOutputSize": size})


def _read(reply: Reply) -> Outcome:
    if "image" in reply.fields:
        return _read_image(reply)
    text = reply.text or reply.sheet.files.get(reply.path, "")
    start = int(reply.call.input.get("offset", 1))
    lines = text.split("\n")
    if start == 1:
        reply.sheet.files[reply.path] = text
    is_old = reply.sheet.settings.is_before(2, 1, 92)
    form = "{:>6}→{}" if is_old else "{}\t{}"
    file = {
        "filePath": reply.path,
        "content": text,
        "numLines": len(lines),
        "startLine": start,
        "totalLines": int(reply.fields.get("total", start + len(lines) - 1)),
    }
    numbered = "\n".join(form.format(at, line) for at, line in enumerate(lines, start))
    return Outcome(numbered, {"type": "text", "file": file})


def _read_image(reply: Reply) -> Outcome:
    data = png(str(reply.fields["image"]))
    source = {"type": "base64", "data": data, "media_type": "image/png"}
    file = {"base64": data, "type": "image/png", "originalSize": len(data) * 3 // 4}
    return Outcome([{"type": "image", "source": source}], {"type": "image", "file": file})


def _write(reply: Reply) -> Outcome:
    content = str(reply.call.input.get("content", ""))
    old = reply.sheet.files.get(reply.path)
    reply.sheet.files[reply.path] = content
    verb = "created" if old is None else "updated"
    detail = {
        "type": "create" if old is None else "update",
        "filePath": reply.path,
        "content": content,
        "structuredPatch": [] if old is None else patch(old, content),
        "originalFile": old,
        "userModified": False,
    }
    return Outcome(reply.text or f"File {verb} successfully at: {reply.path}", detail)


def _edit(reply: Reply) -> Outcome:
    given = reply.call.input
    old, new = str(given.get("old_string", "")), str(given.get("new_string", ""))
    before = reply.sheet.files.get(reply.path, old)
    if old not in before:
        raise DrawingError(reply.line, f"old_string is not in {reply.path}")
    is_all = bool(given.get("replace_all", False))
    after = before.replace(old, new) if is_all else before.replace(old, new, 1)
    if reply.path in reply.sheet.files:
        reply.sheet.files[reply.path] = after
    detail = {
        "filePath": reply.path,
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": patch(before, after),
        "userModified": False,
        "replaceAll": is_all,
    }
    text = reply.text or f"The file {reply.path} has been updated successfully."
    return Outcome(text, detail)


def _glob(reply: Reply) -> Outcome:
    names = reply.text.split("\n") if reply.text else []
    detail = {
        "filenames": names,
        "durationMs": reply.duration % 90,
        "numFiles": len(names),
        "truncated": False,
    }
    return Outcome(reply.text or "No files found", detail)


def _grep(reply: Reply) -> Outcome:
    names = reply.text.split("\n") if reply.text else []
    if reply.call.input.get("output_mode") != "content":
        detail = {"mode": "files_with_matches", "filenames": names, "numFiles": len(names)}
        return Outcome(f"Found {len(names)} files\n{reply.text}", detail)
    detail = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": reply.text,
        "numLines": len(names),
    }
    return Outcome(reply.text or "No matches found", detail)


def _todo_write(reply: Reply) -> Outcome:
    old, new = reply.sheet.todos, reply.call.input.get("todos", [])
    reply.sheet.todos = new
    text = (
        "Todos have been modified successfully. Ensure that you continue to use the todo list "
        "to track your progress. Please proceed with the current tasks if applicable"
    )
    return Outcome(reply.text or text, {"oldTodos": old, "newTodos": new})


def _ask(reply: Reply) -> Outcome:
    answers = reply.fields.get("answers", {})
    output = ", ".join(f'"{question}"="{answer}"' for question, answer in answers.items())
    text = f"User has answered your questions: {output}. You can now continue with them in mind."
    detail = {"questions": reply.call.input.get("questions", []), "answers": answers}
    return Outcome(reply.text or text, detail)


def _exit_plan(reply: Reply) -> Outcome:
    plan = reply.call.input.get("plan", "")
    text = f"User has approved your plan. You can now start coding.\n\n## Approved Plan:\n{plan}"
    path = reply.call.input.get("planFilePath", "")
    return Outcome(reply.text or text, {"plan": plan, "isAgent": False, "filePath": path})


def _web_search(reply: Reply) -> Outcome:
    query, links = reply.call.input.get("query", ""), reply.fields.get("links", [])
    listed = json.dumps(links, separators=(",", ":"), ensure_ascii=False)
    text = f'Web search results for query: "{query}"\n\nLinks: {listed}\n\n{reply.text}'
    found = {"tool_use_id": "srv" + reply.call.id, "content": links}
    seconds = reply.duration / 1000
    return Outcome(
        text, {"query": query, "results": [found, reply.text], "durationSeconds": seconds}
    )


def _web_fetch(reply: Reply) -> Outcome:
    detail = {
        "bytes": len(reply.text) * 40,
        "code": 200,
        "codeText": "OK",
        "result": reply.text,
        "durationMs": reply.duration,
        "url": reply.call.input.get("url", ""),
    }
    return Outcome(reply.text, detail)


def _task_create(reply: Reply) -> Outcome:
    subject, task = reply.call.input.get("subject", ""), str(reply.fields.get("id", "1"))
    text = f"Task #{task} created successfully: {subject}"
    return Outcome(reply.text or text, {"task": {"id": task, "subject": subject}})


def _other(reply: Reply) -> Outcome:
    if reply.call.tool.startswith("mcp__"):
        blocks = [{"type": "text", "text": reply.text}]
        return Outcome(blocks, blocks)
    return Outcome(reply.text)


_BY_TOOL: Final[dict[str, Callable[[Reply], Outcome]]] = {
    "Bash": _bash,
    "Read": _read,
    "Write": _write,
    "Edit": _edit,
    "Glob": _glob,
    "Grep": _grep,
    "TodoWrite": _todo_write,
    "AskUserQuestion": _ask,
    "ExitPlanMode": _exit_plan,
    "WebSearch": _web_search,
    "WebFetch": _web_fetch,
    "Agent": agent_outcome,
    "Task": agent_outcome,
    "TaskCreate": _task_create,
}
