"""Lines of the log to the objects of `--output-format stream-json`, in the client's shapes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
SYNTHETIC = "<synthetic>"
METADATA = {
    "trigger": "trigger",
    "preTokens": "pre_tokens",
    "postTokens": "post_tokens",
    "cumulativeDroppedTokens": "cumulative_dropped_tokens",
    "durationMs": "duration_ms",
}
STOPPED = "[Request interrupted by user"
PRINTED = ("<local-command-stdout>", "</local-command-stdout>")


def beginning(
    *,
    session: str,
    uuid: str,
    cwd: str,
    model: str,
    version: str,
    permission_mode: str,
    tools: Sequence[str],
    commands: Sequence[str],
    key_from: str | None,
    others: Sequence[str] = (),
) -> Json:
    """Returns the object that every turn begins with."""
    return {
        "type": "system",
        "subtype": "init",
        "cwd": cwd,
        "session_id": session,
        "tools": list(tools),
        "mcp_servers": [],
        "model": model,
        "permissionMode": permission_mode,
        "slash_commands": list(commands),
        "apiKeySource": key_from or "none",
        "claude_code_version": version,
        "output_style": "default",
        "agents": [],
        "skills": [],
        "plugins": [],
        "uuid": uuid,
        "original_cwd": cwd,
        "additional_directories": list(others),
    }


@dataclass
class Stream:
    """Tells each message of the log as soon as it is there."""

    uuid: Callable[[], str]
    replays: bool = False
    """Whether prompts are told back to whoever sent them."""
    _tools: dict[str, str] = field(default_factory=dict)
    """The tool of each call."""

    def of(self, line: Mapping[str, Any]) -> Iterator[Json]:
        """Yields what is told of a line; of most kinds nothing."""
        match line.get("type"):
            case "assistant" if line.get("madeBy") != "other":  # made up for a turn long over
                yield self._response(line)
            case "user" if not line.get("isMeta"):
                yield from self._user(line)
            case "system" if line.get("subtype") == "compact_boundary":
                yield self._boundary(line)
            case "system" if line.get("subtype") == "local_command":
                yield from self._command(line)
            case _:
                pass

    def _command(self, line: Mapping[str, Any]) -> Iterator[Json]:
        """Yields what a command printed, as if it were an answer."""
        source = str(line.get("content", ""))
        if not source.startswith(PRINTED[0]):
            return
        text = source.removeprefix(PRINTED[0]).removesuffix(PRINTED[1])
        message = {
            "id": line["uuid"],
            "type": "message",
            "role": "assistant",
            "model": SYNTHETIC,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
            "context_management": None,
        }
        yield {**_told(line, message), "type": "assistant", "local_command_source": source}

    def _response(self, line: Mapping[str, Any]) -> Json:
        message = line["message"]
        for block in message["content"]:
            if block.get("type") == "tool_use":
                self._tools[block["id"]] = block["name"]
        told = {**message, "context_management": None}
        if message["model"] != SYNTHETIC:  # blocks are told before the message ends
            told |= {"stop_reason": None, "stop_sequence": None}
            told.pop("stop_details", None)
        return _told(line, told) | _api_error(line)

    def _user(self, line: Mapping[str, Any]) -> Iterator[Json]:
        content = line["message"]["content"]
        results = [one for one in content if _is_result(one)]
        if not results:
            yield from self._words(line, content)
            return
        denial = line.get("toolDenialKind")
        for one in results if denial else ():
            yield self._denied(line, one)
        yield _told(line, line["message"]) | {
            "tool_use_result": line.get("toolUseResult"),
            "tool_result_meta": [_meta(line, one["tool_use_id"]) for one in results],
        }

    def _words(self, line: Mapping[str, Any], content: object) -> Iterator[Json]:
        if line.get("isCompactSummary"):
            yield _told(line, line["message"]) | {"isReplay": False, "isSynthetic": True}
        elif _is_stop(content):
            yield _told(line, line["message"])
        elif self.replays or str(content).startswith(PRINTED[0]):
            yield _told(line, line["message"]) | {"isReplay": True}

    def _denied(self, line: Mapping[str, Any], result: Mapping[str, Any]) -> Json:
        return {
            "type": "system",
            "subtype": "permission_denied",
            "tool_name": self._tools.get(result["tool_use_id"], ""),
            "tool_use_id": result["tool_use_id"],
            "message": result.get("content"),
            "uuid": self.uuid(),
            "session_id": line["sessionId"],
        }

    def _boundary(self, line: Mapping[str, Any]) -> Json:
        metadata = line.get("compactMetadata", {})
        return {
            "type": "system",
            "subtype": "compact_boundary",
            "session_id": line["sessionId"],
            "uuid": line["uuid"],
            "compact_metadata": {
                name: metadata[wire] for wire, name in METADATA.items() if wire in metadata
            },
            "logical_parent_uuid": line.get("logicalParentUuid"),
        }


def _is_stop(content: object) -> bool:
    """Tells whether a message says that the turn was stopped."""
    first = content[0] if isinstance(content, list) and content else {}
    return isinstance(first, Mapping) and str(first.get("text", "")).startswith(STOPPED)


def _told(line: Mapping[str, Any], message: Mapping[str, Any]) -> Json:
    request = {"request_id": line["requestId"]} if line.get("requestId") else {}
    return {
        "type": line["type"],
        "message": message,
        "parent_tool_use_id": None,
        "session_id": line["sessionId"],
        "uuid": line["uuid"],
        "timestamp": line["timestamp"],
        **request,
    }


def _api_error(line: Mapping[str, Any]) -> Json:
    if not line.get("isApiErrorMessage"):
        return {}
    names = {
        "error": "error",
        "apiErrorStatus": "api_error_status",
        "apiErrorType": "api_error_type",
    }
    told = {name: line[wire] for wire, name in names.items() if wire in line}
    return {**told, "is_api_error_message": True}


def _is_result(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _meta(line: Mapping[str, Any], call: str) -> Json:
    meta: Json = {"id": call}
    if denial := line.get("toolDenialKind"):
        meta["non_execution_kind"] = denial
    if decision := line.get("permissionDecision"):
        names = {"reasonType": "reason_type"}
        meta["permission_decision"] = {names.get(name, name): x for name, x in decision.items()}
    return meta
