"""Random lines of a log: usual forms, odd ones, and fields of a wrong type."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

words = st.sampled_from(
    ("go on", "", " ", "<command-name>/x</command-name>", "Caveat: x", "<persisted-output>\nx", "ä")
)
odd: st.SearchStrategy[Any] = st.sampled_from((None, 5, -1, 1.5, "5", [], {}, True))
flag = st.sampled_from((True, *[False] * 3, None))


def mostly(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return values of the usual form, and now and then something else."""
    return st.sampled_from([*[usual] * 30, odd]).flatmap(lambda chosen: chosen)


figure = mostly(st.integers(0, 9))


def block(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return blocks of a kind; each field may be missing, and is seldom odd."""
    known = {name: mostly(value) for name, value in fields.items()}
    whole = st.fixed_dictionaries({"type": st.just(kind), **known})
    return st.one_of(whole, whole, st.fixed_dictionaries({"type": st.just(kind)}, optional=known))


inner = st.lists(st.one_of(block("text", text=words), block("image", source=odd)), max_size=2)
blocks = st.one_of(
    block("text", text=words),
    block("thinking", thinking=words, signature=words),
    block("tool_use", id=words, name=words, input=st.one_of(st.just({"path": "a"}), odd)),
    block("tool_result", tool_use_id=words, content=st.one_of(words, inner), is_error=flag),
    block("server_tool_use", id=words, name=words),
    block("hologram", text=words),
)
usage = st.fixed_dictionaries(
    {},
    optional={
        "input_tokens": figure,
        "output_tokens": figure,
        "cache_read_input_tokens": figure,
        "cache_creation_input_tokens": figure,
        "cache_creation": st.one_of(
            st.fixed_dictionaries({}, optional={"ephemeral_5m_input_tokens": figure}), odd
        ),
        "server_tool_use": st.one_of(
            st.fixed_dictionaries({}, optional={"web_search_requests": figure}), odd
        ),
        "service_tier": mostly(words),
        "speed": mostly(words),
    },
)
messages = st.fixed_dictionaries(
    {"content": mostly(st.one_of(words, st.lists(blocks, max_size=3)))},
    optional={
        "role": mostly(st.sampled_from(("user", "assistant"))),
        "id": mostly(words),
        "model": mostly(words),
        "usage": mostly(usage),
        "stop_reason": mostly(words),
    },
)
lines = st.fixed_dictionaries(
    {
        "type": st.sampled_from((*["user"] * 4, *["assistant"] * 4, "system", "mode", None)),
        "uuid": mostly(words),
        "timestamp": mostly(st.just("2026-11-02T09:00:00.000Z")),
        "message": mostly(messages),
    },
    optional={
        "isMeta": flag,
        "isSidechain": flag,
        "isCompactSummary": flag,
        "origin": mostly(st.sampled_from(({"kind": "human"}, {"kind": "hook"}))),
        "sourceToolUseID": mostly(words),
        "costUSD": figure,
        "effort": odd,
        "toolUseResult": st.one_of(st.just({"persistedOutputPath": "p"}), words, odd),
        "content": mostly(words),
        "role": mostly(st.just("user")),
        "userFeedback": words,
    },
).map(lambda fields: json.dumps(fields).encode())
