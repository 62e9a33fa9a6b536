"""Good lines of each agent, one of each kind: what hostile ones are made from."""

from typing import Any

TIME = "2026-10-01T10:00:00.000Z"
USAGE = {"input": 5, "output": 2, "cacheRead": 1, "cacheWrite": 1, "cost": {"total": 0.5}}
FIGURES = {"inputTokens": 5, "outputTokens": 2, "cacheReadTokens": 1, "cacheWriteTokens": 1}


def _pi(number: int, kind: str, /, **fields: Any) -> dict[str, Any]:
    parent = {"id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number else None}
    return {"type": kind, "timestamp": TIME} | parent | fields


PI: list[dict[str, Any]] = [
    {"type": "session", "version": 3, "id": "pi-1", "timestamp": TIME, "cwd": "/home/me"},
    _pi(0, "message", message={"role": "user", "content": [{"type": "text", "text": "hello"}]}),
    _pi(
        1,
        "message",
        message={
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
                {"type": "text", "text": "hi"},
                {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}},
            ],
            "model": "m",
            "usage": USAGE,
            "stopReason": "toolUse",
        },
    ),
    _pi(
        2,
        "message",
        message={
            "role": "toolResult",
            "toolCallId": "c",
            "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            "isError": False,
            "details": {},
            "usage": USAGE,
        },
    ),
    _pi(
        3,
        "message",
        message={"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 1},
    ),
    _pi(4, "message", message={"role": "system", "sections": {"a": "b"}}),
    _pi(
        5, "compaction", summary="so far", firstKeptEntryId="00000002", tokensBefore=9, usage=USAGE
    ),
    _pi(6, "branch_summary", summary="left", fromId="00000002", usage=USAGE),
    _pi(7, "context_edit", targetId="00000001", replacement=None),
    _pi(8, "usage", kind="cache_warm", model="m", usage=USAGE),
    _pi(9, "custom_message", customType="x", content="y"),
    _pi(10, "session_info", name="the title"),
    _pi(11, "model_change", modelId="m"),
]


def _event(number: int, kind: str, /, **data: Any) -> dict[str, Any]:
    parent = f"e{number - 1}" if number else None
    return {"type": kind, "id": f"e{number}", "parentId": parent, "timestamp": TIME, "data": data}


EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("session.start", {"sessionId": "co-1", "context": {"cwd": "/home/me"}}),
    ("user.message", {"content": "hello", "transformedContent": "x", "attachments": []}),
    (
        "assistant.message",
        {
            "messageId": "m",
            "content": "hi",
            "reasoningText": "hm",
            "toolRequests": [{"toolCallId": "c", "name": "bash", "arguments": {}}],
            "model": "m",
        },
    ),
    (
        "tool.execution_complete",
        {"toolCallId": "c", "success": True, "result": {"content": "a"}},
    ),
    ("subagent.started", {"toolCallId": "c", "agentName": "a"}),
    ("assistant.message", {"messageId": "n", "content": "in", "parentToolCallId": "c"}),
    (
        "session.compaction_complete",
        {"success": True, "summaryContent": "so far", "compactionTokensUsed": FIGURES},
    ),
    ("session.truncation", {"messagesRemovedDuringTruncation": 2}),
    ("session.context_cleared", {"messagesCleared": 2}),
    ("session.snapshot_rewind", {"upToEventId": "e1", "eventIds": ["e1"]}),
    ("session.usage_checkpoint", {"providerModelMetrics": {"m": {"usage": FIGURES}}}),
    ("session.shutdown", {"modelMetrics": {"m": {"usage": FIGURES}}}),
    ("tool.user_requested", {"toolCallId": "d", "arguments": {"command": "ls"}}),
    ("session.title_changed", {"title": "the title"}),
    ("system.notification", {"content": "news"}),
    ("session.error", {"message": "no"}),
]
COPILOT = [_event(number, kind, **data) for number, (kind, data) in enumerate(EVENTS)]
TOKENS = {"input": 5, "output": 2, "cached": 1, "thoughts": 1, "tool": 0, "total": 8}
GEMINI: list[dict[str, Any]] = [
    {"sessionId": "ge-1", "projectHash": "p", "startTime": TIME, "kind": "main"},
    {"id": "g1", "timestamp": TIME, "type": "user", "content": [{"text": "hello"}]},
    {
        "id": "g2",
        "timestamp": TIME,
        "type": "gemini",
        "content": "hi",
        "model": "m",
        "thoughts": [{"subject": "a", "description": "b"}],
        "tokens": TOKENS,
        "toolCalls": [
            {
                "id": "c",
                "name": "ls",
                "args": {},
                "status": "success",
                "result": [{"functionResponse": {"id": "c", "response": {"output": "a"}}}],
                "agentId": "x",
            }
        ],
    },
    {
        "id": "g3",
        "timestamp": TIME,
        "type": "user",
        "content": [{"inlineData": {"data": "aGk=", "mimeType": "image/png"}}],
        "displayContent": [{"text": "@picture"}],
    },
    {"$set": {"lastUpdated": TIME, "summary": "the title"}},
    {"$set": {"messages": [{"id": "g4", "timestamp": TIME, "type": "user", "content": "so far"}]}},
    {"$rewindTo": "g3"},
    {"id": "g5", "timestamp": TIME, "type": "error", "content": "no"},
]
METADATA = {"promptTokenCount": 5, "candidatesTokenCount": 2, "cachedContentTokenCount": 1}


def _record(number: int, kind: str, /, **fields: Any) -> dict[str, Any]:
    parent = f"q{number - 1}" if number else None
    links = {"uuid": f"q{number}", "parentUuid": parent, "sessionId": "qw-1", "timestamp": TIME}
    return links | {"type": kind, "cwd": "/home/me", "version": "0.24.4"} | fields


QWEN = [
    _record(0, "user", message={"role": "user", "parts": [{"text": "hello"}]}),
    _record(
        1,
        "assistant",
        model="m",
        message={
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "hi"},
                {"functionCall": {"id": "c", "name": "ls", "args": {}}},
            ],
        },
        usageMetadata=METADATA,
    ),
    _record(
        2,
        "tool_result",
        message={
            "parts": [{"functionResponse": {"id": "c", "name": "ls", "response": {"output": "a"}}}]
        },
        toolCallResult={"callId": "c", "status": "success", "resultDisplay": "a"},
    ),
    _record(
        3,
        "system",
        subtype="chat_compression",
        systemPayload={
            "info": {"originalTokenCount": 9},
            "compressedHistory": [{"role": "user", "parts": [{"text": "so far"}]}],
        },
    ),
    _record(4, "system", subtype="custom_title", systemPayload={"customTitle": "the title"}),
    _record(5, "system", subtype="rewind", systemPayload={}),
    _record(6, "user", forkedFrom={"sessionId": "q", "messageUuid": "q0"}, message={"parts": []}),
]


def _codex(kind: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": TIME, "type": kind, "payload": payload}


CODEX = [
    _codex("session_meta", id="cx-1", cwd="/home/me", cli_version="0.169.0"),
    _codex("turn_context", model="m", cwd="/home/me"),
    _codex(
        "response_item",
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "hello"}],
    ),
    _codex("event_msg", type="user_message", message="hello"),
    _codex("response_item", type="reasoning", summary=[{"text": "hm"}], encrypted_content="x"),
    _codex(
        "response_item",
        type="message",
        role="assistant",
        content=[{"type": "output_text", "text": "hi"}],
    ),
    _codex("response_item", type="function_call", name="shell", call_id="c", arguments="{}"),
    _codex("response_item", type="function_call_output", call_id="c", output="a"),
    _codex(
        "event_msg",
        type="token_count",
        info={
            "total_token_usage": {"total_tokens": 7},
            "last_token_usage": {"input_tokens": 5, "cached_input_tokens": 1, "output_tokens": 2},
        },
    ),
    _codex("compacted", message="so far", replacement_history=[]),
    _codex("event_msg", type="thread_rolled_back", num_turns=1),
    _codex("event_msg", type="turn_aborted", reason="interrupted"),
]
LINES = {
    "codex": (".codex/sessions/rollout-2026-10-01T10-00-00-cx-1.jsonl", CODEX),
    "copilot": (".copilot/session-state/co-1/events.jsonl", COPILOT),
    "gemini": (".gemini/tmp/p/chats/session-2026-10-01T10-00-ge-1.jsonl", GEMINI),
    "pi": ("sessions/--home-me--/2026-10-01_pi-1.jsonl", PI),
    "qwen": (".qwen/projects/p/chats/qw-1.jsonl", QWEN),
}
"""Where the file of each agent lies, and its lines."""
