"""What stands in the logs of other agents, by the facts alone: no reader is imported here."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

Fields = dict[str, Any]
Usage = tuple[int, int, int, int]
"""Tokens: input, read from the cache, written to the cache, output."""


def load(path: Path) -> list[Fields]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def add(amounts: Iterable[Usage]) -> Usage:
    """Return the sum of some usages."""
    given = [(0, 0, 0, 0), *amounts]
    return tuple(map(sum, zip(*given, strict=True)))  # type: ignore[return-value]


# ------------------------------------------------------------------ texts of messages and results


def texts_of_codex(lines: Iterable[Fields]) -> Iterator[str]:
    """Yield the texts of response items; older files have them without an envelope."""
    for line in lines:
        item = line.get("payload", line)
        if line.get("type") != "response_item" and "payload" in line:
            continue
        match item.get("type"):
            case "message":
                yield from (part.get("text", "") for part in item["content"])
            case "function_call_output" | "custom_tool_call_output":
                yield from _texts_of_codex_output(item["output"])


def _texts_of_codex_output(output: object) -> Iterator[str]:
    if isinstance(output, str):
        with suppress(ValueError, KeyError, TypeError):
            output = json.loads(output)["output"] if output.startswith("{") else output
    if isinstance(output, str):
        yield output
    elif isinstance(output, list):
        yield from (part["text"] for part in output if isinstance(part.get("text"), str))


def texts_of_pi(lines: Iterable[Fields]) -> Iterator[str]:
    """Yield the texts of messages, results and summaries."""
    for line in lines:
        message = line.get("message", {})
        content = message.get("content", ())
        yield from [content] if isinstance(content, str) else ()
        for part in content if isinstance(content, list) else ():
            yield part.get("text") or part.get("thinking") or ""
        yield message.get("errorMessage", "")
        yield message.get("output", "")
        yield line.get("summary", "")


def texts_of_copilot(lines: Iterable[Fields]) -> Iterator[str]:
    """Yield the texts of events with a message."""
    for line in lines:
        data = line["data"]
        if line["type"] in ("user.message", "assistant.message", "system.message"):
            yield data["content"]
            yield data.get("reasoningText") or ""
        elif line["type"] == "tool.execution_complete":
            yield (data.get("result") or {}).get("content", "")
            yield (data.get("error") or {}).get("message", "")
        elif line["type"] in ("session.error", "session.info"):
            yield data["message"]


def texts_of_gemini(lines: Iterable[Fields]) -> Iterator[str]:
    """Yield the texts of messages, of checkpoints too."""
    for line in lines:
        for message in [line, *line.get("$set", {}).get("messages", ())]:
            content = message.get("content", ())
            yield from [content] if isinstance(content, str) else ()
            for part in content if isinstance(content, list) else ():
                yield part.get("text", "")
                yield part.get("functionResponse", {}).get("response", {}).get("output", "")
            for thought in message.get("thoughts") or ():
                yield thought["description"]


def texts_of_opencode(lines: Iterable[Fields]) -> Iterator[str]:
    """Yield the texts of parts and the output of tools."""
    for part in lines:
        yield part.get("text", "")
        state = part.get("state", {})
        yield state.get("output", "") if isinstance(state, dict) else ""
        yield state.get("error", "") if isinstance(state, dict) else ""


# ------------------------------------------------------------------ usage


def usage_of_codex(files: Iterable[list[Fields]]) -> Usage:
    """Return the sum of the last usages of each file: repeats and those a fork copied left out."""
    return add(usage for lines in files for usage in _usage_of_rollout(lines))


def _usage_of_rollout(lines: Iterable[Fields]) -> Iterator[Usage]:
    seen: set[str] = set()
    for line in lines:
        payload = line.get("payload", {})
        info = payload.get("info") if payload.get("type") == "token_count" else None
        figures = json.dumps(info)
        if not info or figures in seen:
            continue
        seen.add(figures)
        last = info["last_token_usage"]
        cached = last.get("cached_input_tokens", 0)
        written = last.get("cache_write_input_tokens", 0)
        sent = last["input_tokens"] - cached - written
        yield sent, cached, written, last["output_tokens"]


def usage_of_pi(files: Iterable[list[Fields]]) -> Usage:
    """Return the sum over all entries, each counted once whatever file it was copied to."""
    found: dict[object, Usage] = {}
    for number, lines in enumerate(files):
        for place, line in enumerate(lines):
            name = line.get("id", (number, place)), line["timestamp"]  # version 1 has no ids
            for usage in (line.get("usage"), line.get("message", {}).get("usage")):
                if usage:
                    read, written = usage["cacheRead"], usage["cacheWrite"]
                    found[name] = usage["input"], read, written, usage["output"]
    return add(found.values())


def usage_of_copilot(files: Iterable[list[Fields]]) -> Usage:
    """Return what the ends of runs say; a resumed session's contain those of its runs before."""
    amounts: list[Usage] = []
    seen: set[str] = set()
    for lines in files:
        ended: dict[str, Mapping[str, int]] = {}
        for line in lines:
            if line["id"] in seen:  # some sessions were recorded twice
                continue
            seen.add(line["id"])
            if line["type"] == "session.start":
                amounts += map(_usage_of_model, ended.values())
                ended = {}
            elif line["type"] == "session.shutdown":
                metrics = line["data"].get("modelMetrics", {})
                ended |= {model: figures["usage"] for model, figures in metrics.items()}
        amounts += map(_usage_of_model, ended.values())
    return add(amounts)


def _usage_of_model(usage: Mapping[str, int]) -> Usage:
    read, written = usage["cacheReadTokens"], usage["cacheWriteTokens"]
    return usage["inputTokens"] - read - written, read, written, usage["outputTokens"]


def usage_of_gemini(files: Iterable[list[Fields]]) -> Usage:
    """Return the sum over the last versions of all messages."""
    last: dict[object, Fields] = {}
    for lines in files:
        for line in lines:
            for message in [line, *line.get("$set", {}).get("messages", ())]:
                if message.get("tokens"):
                    last[message["id"]] = message["tokens"]
    return add(
        (
            tokens["input"] + tokens.get("tool", 0) - tokens["cached"],
            tokens["cached"],
            0,
            tokens["output"] + tokens["thoughts"],
        )
        for tokens in last.values()
    )


def usage_of_opencode(files: Iterable[list[Fields]]) -> Usage:
    """Return the sum over the ends of steps."""
    steps = [part["tokens"] for lines in files for part in lines if part["type"] == "step-finish"]
    return add(
        (
            tokens["input"],
            tokens["cache"]["read"],
            tokens["cache"]["write"],
            tokens["output"] + tokens.get("reasoning", 0),
        )
        for tokens in steps
    )


TEXTS = {
    "codex": texts_of_codex,
    "pi": texts_of_pi,
    "copilot": texts_of_copilot,
    "gemini": texts_of_gemini,
    "opencode": texts_of_opencode,
}
USAGES = {
    "codex": usage_of_codex,
    "pi": usage_of_pi,
    "copilot": usage_of_copilot,
    "gemini": usage_of_gemini,
    "opencode": usage_of_opencode,
}
