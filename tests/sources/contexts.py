"""Sessions of other agents of which it is known what is sent when they are resumed."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from plait.archive import Session
from tests.sources import test_pi
from tests.sources.builders import CodexLog

Fields = dict[str, Any]
Messages = list[tuple[str, list[Fields]]]
"""Roles with the parts of messages; `summary` is the answer of a compaction."""


def shape_context(session: Session) -> list[str]:
    """Return what Plait says that the agent sends."""
    assert session.archive is not None
    request = session.archive.resumption(session).context.request
    return [text for role, blocks in request for text in shape_blocks(role, blocks)]


def shape_blocks(role: str, blocks: Iterable[Fields]) -> Iterator[str]:
    """Yield the texts, calls and results of a message."""
    for block in blocks:
        match block["type"]:
            case "text" if block["text"].strip():
                yield f"{role}: {block['text'].strip()}"
            case "tool_use":
                yield f"call {block['name']} {json.dumps(block['input'], sort_keys=True)}"
            case "tool_result":
                content = block["content"]
                parts = [content] if isinstance(content, str) else map(text_of_part, content)
                yield f"result: {' '.join(filter(None, parts)).strip()}"


def text_of_part(part: Fields) -> str:
    """Return the text of a part of any API; nothing of an image."""
    return str(part.get("text") or "")


def construct_pi() -> dict[str, list[Any]]:
    """Return sessions of Pi with every form of branch, compaction and edit."""
    talk, entry = test_pi.TALK, test_pi.entry
    ask, answer = test_pi.prompt, test_pi.answer
    left = entry(5, 2, "branch_summary", summary="left", fromId="00000004")
    packed = {"summary": "so far", "tokensBefore": 9}
    compaction = entry(5, 4, "compaction", firstKeptEntryId="00000003", **packed)
    shell = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 2}
    hidden = shell | {"excludeFromContext": True}
    call = {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "x"}}
    calling = {"role": "assistant", "content": [call], "provider": "p", "model": "m", "api": "a"}
    failed = calling | {"content": [{"type": "text", "text": "half"}], "stopReason": "aborted"}
    system = {"role": "system", "content": "rules", "sections": {"a": "one"}}
    note = entry(5, 4, "custom_message", customType="x", content="from an extension", display=True)
    removed = entry(5, 4, "context_edit", targetId="00000002", replacement=None)
    other = entry(5, 4, "context_edit", targetId="00000003", replacement={"content": "instead"})
    second = entry(8, 7, "compaction", firstKeptEntryId="00000006", summary="2", tokensBefore=9)
    made: dict[str, list[Any]] = {
        "branch": [*talk, left, ask(6, 5, "three"), answer(7, 6, "3")],
        "left-alone": [*talk, left],
        "label": [*talk, entry(5, 2, "label", targetId="00000002", label="x")],
        "roots": [*talk, ask(5, None, "anew"), answer(6, 5, "3")],
        "kept": [*talk, compaction, ask(6, 5, "three"), answer(7, 6, "3")],
        "none-kept": [
            *(*talk, entry(5, 4, "compaction", firstKeptEntryId="00000005", **packed)),
            ask(6, 5, "three"),
        ],
        "other-branch": [
            *(*talk, compaction, ask(6, 5, "three"), ask(7, 2, "elsewhere"), answer(8, 7, "4")),
        ],
        "twice": [*talk, compaction, ask(6, 5, "three"), answer(7, 6, "3"), second],
        "compaction-with-system": [*talk, {**compaction, "systemMessage": system}],
        "removed": [*talk, removed, ask(6, 5, "three")],
        "replaced": [*talk, other, ask(6, 5, "three")],
        "edit-on-another-branch": [*talk, removed, ask(6, 4, "three")],
        "shell": [*talk, *(entry(5, 4, "message", message=shell),), ask(6, 5, "three")],
        "hidden-shell": [*talk, entry(5, 4, "message", message=hidden), ask(6, 5, "three")],
        "no-result": [*talk, entry(5, 4, "message", message=calling), ask(6, 5, "three")],
        "aborted": [*talk, entry(5, 4, "message", message=failed), ask(6, 5, "three")],
        "system": [*talk, entry(5, 4, "message", message=system), ask(6, 5, "three")],
        "custom": [*talk, note, ask(6, 5, "three")],
        "dangling": [*talk, ask(6, 99, "three"), answer(7, 6, "3")],
    }
    return {name: [test_pi.header(name[:8]), *lines] for name, lines in made.items()} | {
        "version-1": construct_version_1()
    }


def construct_version_1() -> list[Any]:
    """Return a session without ids, with a compaction."""
    lines = [{**line} for line in (*test_pi.TALK, test_pi.prompt(5, 4, "three"))]
    for line in lines:
        del line["id"], line["parentId"]
    time = lines[0]["timestamp"]
    packed = {"type": "compaction", "timestamp": time, "summary": "so far", "tokensBefore": 9}
    start = {"type": "session", "id": "first", "timestamp": time, "cwd": "/home/me"}
    return [start, *lines[:4], packed | {"firstKeptEntryIndex": 3}, lines[4]]


def construct_codex() -> dict[str, CodexLog]:
    """Return threads of Codex with rollbacks, compactions and calls without a result."""
    time = "2026-10-01T10:00:00.000Z"

    def begin(number: int) -> CodexLog:
        meta = {"source": "cli", "originator": "x", "timestamp": time, "model_provider": "openai"}
        return CodexLog(number, **meta).prompt("one").answer("1").prompt("two").answer("2")

    def roll_back(log: CodexLog, turns: int) -> CodexLog:
        log.add("event_msg", type="thread_rolled_back", num_turns=turns)
        return log

    def make_text(role: str, text: str) -> Fields:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    def begin_turn(log: CodexLog, number: int) -> CodexLog:
        log.add("event_msg", type="task_started", turn_id=f"t{number}")
        log.add("turn_context", model="gpt-5.5", cwd="/home/me/shop", turn_id=f"t{number}")
        return log

    def compact(log: CodexLog, **more: Any) -> CodexLog:
        log.add("compacted", message="so far", **more)
        return log

    history = [make_text("user", "one"), make_text("user", "so far")]
    packed = {"replacement_history": history}
    call = {"type": "function_call", "name": "shell", "call_id": "c"}
    call["arguments"] = '{"command": ["ls"]}'
    made = {
        "plain": begin(1),
        "a rollback": roll_back(begin(2), 1),
        "a rollback of everything": roll_back(begin(3), 2).prompt("three").answer("3"),
    }
    log = roll_back(begin(4), 1).prompt("three").answer("3")
    made["two rollbacks"] = roll_back(log, 2)
    log = begin(5)
    log.add("response_item", **make_text("developer", "<permissions instructions>x"))
    log.add("response_item", **make_text("user", "<environment_context>y</environment_context>"))
    made["a rollback with what Codex added"] = roll_back(log.prompt("three").answer("3"), 1)
    made["a compaction"] = compact(begin(6), **packed).prompt("three").answer("3")
    log = begin_turn(compact(begin_turn(begin(7), 1), **packed), 2).prompt("three").answer("3")
    made["a rollback after a compaction"] = begin_turn(roll_back(log, 1), 3).prompt("4").answer("5")
    made["a compaction without a list"] = compact(begin(8)).prompt("three").answer("3")
    log = made["a call without a result"] = begin(9)
    log.add("response_item", **call)
    log = made["calls"] = begin(10)
    log.add("response_item", **call)
    log.add("response_item", type="function_call_output", call_id="c", output="a\nb")
    log.add("response_item", type="custom_tool_call", name="apply_patch", call_id="d", input="x")
    log.add("response_item", type="custom_tool_call_output", call_id="d", output="done")
    log = begin_turn(compact(begin_turn(begin(11), 1), **packed), 2).prompt("three").answer("3")
    log = begin_turn(log, 3).prompt("four").answer("4")
    made["a rollback to a compaction"] = roll_back(log, 2)
    log = compact(begin_turn(begin(12), 1).prompt("three").answer("3"), **packed).answer("4")
    made["a rollback of a compaction"] = begin_turn(roll_back(log, 1), 2).prompt("four").answer("5")
    return made


def construct_opencode() -> dict[str, tuple[Fields, Messages]]:
    """Return sessions with a revert, compactions, pruned output and calls that failed."""

    def text(words: str, **more: Any) -> Fields:
        return {"type": "text", "text": words} | more

    def tool(status: str, **state: Any) -> Fields:
        state = {"status": status, "input": {"path": "x"}} | state
        return {"type": "tool", "tool": "read", "callID": f"call_{status}", "state": state}

    start: Fields = {"type": "step-start"}
    finish: Fields = {"type": "step-finish", "reason": "stop", "cost": 0}
    tokens: Fields = {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    finish["tokens"] = tokens
    talk: Messages = [("user", [text("one")]), ("assistant", [start, text("1"), finish])]
    more: Messages = [("user", [text("two")]), ("assistant", [start, text("2"), finish])]
    three: Messages = [("user", [text("three")]), ("assistant", [text("3")])]

    def using(part: Fields) -> Messages:
        return [talk[0], ("assistant", [start, part, finish]), *more]

    done: Fields = {"output": "a", "title": "t", "metadata": {}, "time": {"start": 1, "end": 2}}
    pruned = done | {"time": {"start": 1, "end": 2, "compacted": 3}}
    failed = {"error": "no file", "time": {"start": 1, "end": 2}}
    steps = [start, text("first"), tool("completed", **done), finish, start, text("1"), finish]
    work = {"type": "subtask", "prompt": "look", "description": "d", "agent": "explore"}
    packing: Fields = {"type": "compaction", "auto": True}
    tail = packing | {"tail_start_id": "msg_SESSION0002"}
    summary: Messages = [("user", [packing]), ("summary", [text("so far")])]
    with_tail: Messages = [("user", [tail]), ("summary", [text("so far")])]
    made: dict[str, Messages] = {
        "plain": [*talk, *more],
        "added by the agent": [*talk, ("user", [text("two"), text("added", synthetic=True)])],
        "shown alone": [*talk, ("user", [text("two"), text("not sent", ignored=True)])],
        "a result": using(tool("completed", **done)),
        "a pruned result": using(tool("completed", **pruned)),
        "a failed call": using(tool("error", **failed)),
        "a call cut off": using(tool("running", time={"start": 1})),
        "two steps": [talk[0], ("assistant", steps), *more],
        "a subtask": [("user", [work]), talk[1], *more],
        "a compaction": [*talk, *summary, *more],
        "a compaction with a tail": [*talk, *more, *with_tail, *three],
        "two compactions": [*talk, *summary, *more, *summary, three[0]],
    }
    reverted = {
        "a revert": {"messageID": "msg_SESSION0002"},
        "a revert to an answer": {"messageID": "msg_SESSION0003"},
    }
    return {name: ({}, messages) for name, messages in made.items()} | {
        name: (revert, [*talk, *more]) for name, revert in reverted.items()
    }


def export_opencode(session: str, folder: str, messages: Messages) -> Fields:
    """Return a session as `opencode export` prints it."""
    start = 1_790_000_000_000
    info: Fields = {"id": session, "slug": session, "projectID": "global", "directory": folder}
    info |= {"title": session, "version": "1.18.33", "time": {"created": start, "updated": start}}
    made = []
    requested = ""
    for number, (role, parts) in enumerate(messages):
        id_ = f"msg_{session[4:]}{number:04}"
        common = {"id": id_, "sessionID": session, "agent": "build"}
        more: Fields
        if role == "user":
            requested = id_
            more = {"role": role, "model": {"providerID": "p", "modelID": "m"}}
            more["time"] = {"created": start + number}
        else:
            tokens = {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}
            more = {"role": "assistant", "modelID": "m", "providerID": "p", "mode": "build"}
            more |= {"path": {"cwd": folder, "root": "/"}, "cost": 0, "tokens": tokens}
            more |= {"parentID": requested or id_, "finish": "stop", "summary": role == "summary"}
            more["time"] = {"created": start + number, "completed": start + number}
        placed = [
            part | {"id": f"prt_{id_[4:]}{place:03}", "sessionID": session, "messageID": id_}
            for place, part in enumerate(parts)
        ]
        made.append({"info": common | more, "parts": placed})
    text = json.dumps({"info": info, "messages": made}).replace("SESSION", session[4:])
    exported: Fields = json.loads(text)
    return exported


def construct_qwen() -> dict[str, list[Fields]]:
    """Return sessions with rewinds, a compression, joined records and commands."""
    time = "2026-10-01T10:00:00.000Z"

    def record(number: int, parent: int | None, kind: str, **fields: Any) -> Fields:
        links = {"uuid": f"q{number}", "parentUuid": None if parent is None else f"q{parent}"}
        return links | {"timestamp": time, "type": kind, "version": "0.24.4"} | fields

    def say(number: int, parent: int | None, kind: str, *parts: Fields, **fields: Any) -> Fields:
        message = {"role": "model" if kind == "assistant" else "user", "parts": [*parts]}
        return record(number, parent, kind, message=message, **fields)

    def text(words: str) -> Fields:
        return {"text": words}

    talk = [say(0, None, "user", text("one")), say(1, 0, "assistant", text("1"))]
    more = [say(2, 1, "user", text("two")), say(3, 2, "assistant", text("2"))]
    again = [say(5, 4, "user", text("three")), say(6, 5, "assistant", text("3"))]
    rewound = record(4, 1, "system", subtype="rewind", systemPayload={})
    history = [
        {"role": "user", "parts": [text("so far")]},
        {"role": "model", "parts": [text("ok")]},
    ]
    packed = {"info": {"originalTokenCount": 9}, "compressedHistory": history}
    compressed = record(4, 3, "system", subtype="chat_compression", systemPayload=packed)
    thought = {"text": "hm", "thought": True}
    call = {"functionCall": {"id": "c", "name": "read_file", "args": {"path": "x"}}}
    response = {"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "a"}}}
    calling = say(1, 0, "assistant", thought, text("look"), call)
    using = [talk[0], calling, say(2, 1, "tool_result", response)]
    steered = say(3, 2, "user", text("and this"), subtype="mid_turn_user_message")
    parts = [say(1, 0, "assistant", text("a")), say(1, 0, "assistant", text("b"))]
    shown = {
        "phase": "result",
        "rawCommand": "/help",
        "outputHistoryItems": [{"type": "assistant"}],
    }
    command = record(3, 2, "system", subtype="slash_command", systemPayload=shown)
    title = record(2, 1, "system", subtype="custom_title", systemPayload={"customTitle": "t"})
    return {
        "plain": [*talk, *more],
        "a rewind": [*talk, *more, rewound, *again],
        "a rewind at the end": [*talk, *more, rewound],
        "a compression": [*talk, *more, compressed, *again],
        "a compression at the end": [*talk, *more, compressed],
        "a result": [*using, say(3, 2, "assistant", text("done"))],
        "steered": [*using, steered, say(4, 3, "assistant", text("done"))],
        "a record in parts": [talk[0], *parts, *more],
        "a command": [
            *talk,
            say(2, 1, "user", text("/help")),
            command,
            say(4, 3, "user", text("3")),
        ],
        "a title": [
            *talk,
            title,
            say(3, 2, "user", text("two")),
            say(4, 3, "assistant", text("2")),
        ],
    }


def construct_gemini() -> dict[str, list[Fields]]:
    """Return sessions with rewinds, a compression, calls and commands."""
    time = "2026-10-01T10:00:00.000Z"
    head = {"sessionId": "s", "projectHash": "judge", "startTime": time, "lastUpdated": time}
    head["kind"] = "main"

    def say(id_: str, kind: str, content: Any, **fields: Any) -> Fields:
        return {"id": id_, "timestamp": time, "type": kind, "content": content} | fields

    talk = [say("a", "user", [{"text": "one"}]), say("b", "gemini", "1", model="m")]
    more = [say("c", "user", [{"text": "two"}]), say("d", "gemini", "2", model="m")]
    again = [say("e", "user", [{"text": "three"}]), say("f", "gemini", "3", model="m")]
    packed = [say("s", "user", [{"text": "<state_snapshot>so far"}]), say("t", "gemini", "ok")]
    call = {"id": "x", "name": "read_file", "args": {"path": "x"}, "status": "success"}
    answer = {"functionResponse": {"id": "x", "name": "read_file", "response": {"output": "a"}}}
    called = say("b", "gemini", "", model="m", toolCalls=[call | {"result": [answer]}])
    thoughts = [{"subject": "S", "description": "D", "timestamp": time}]
    thinking = say("b", "gemini", "1", model="m", thoughts=thoughts)
    made = {
        "plain": [*talk, *more],
        "a rewind": [*talk, *more, {"$rewindTo": "c"}, *again],
        "a rewind at the end": [*talk, *more, {"$rewindTo": "c"}],
        "a rewind to nothing known": [*talk, {"$rewindTo": "x"}, *more],
        "a compression": [*talk, *more, {"$set": {"messages": packed}}, *again],
        "a result": [talk[0], called, say("g", "gemini", "done", model="m"), *more],
        "a message that grew": [talk[0], say("b", "gemini", ""), talk[1], *more],
        "thoughts": [talk[0], thinking, *more],
        "shown alone": [*talk, say("i", "info", "by the way"), say("j", "user", "/help"), *more],
    }
    return {name: [head, *lines] for name, lines in made.items()}
