"""Objects of a client's stream to the events that a console shows.

Words come as pieces of a stream (`stream_event`), whole blocks as `assistant`, one each, before
their message ends; how it ends stands in the last pieces. Results come as `user`, and `result`
ends a turn. What agents say below a call is what that call is doing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plait.agent.claude.proposals import proposal_of
from plait.agent.events import (
    Answered,
    Called,
    Compacted,
    Ending,
    Event,
    Noticed,
    Progressed,
    Prompted,
    Resulted,
    Retried,
    Said,
    Thought,
    TurnEnded,
)
from plait.agent.tools.model import Outcome, Workplace
from plait.record.codec import mapping, said
from plait.write.prompts import words_of

Json: TypeAlias = Mapping[str, Any]
SYNTHETIC = "<synthetic>"
ENDINGS: dict[str, Ending] = {
    "error_max_turns": "max_turns",
    "error_max_budget_usd": "max_budget",
}
TOKENS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)
LOGIN = "/login"
COMMANDS = ("<local-command-", "<command-name>")
"""How the client tells of commands in a prompt's place."""
THOUSAND = 1000
LONGEST_HELP = 100


@dataclass
class Answer:
    """A response that is being told."""

    message: str
    model: str
    request: str | None = None
    content: list[Json] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    begun: int = 0
    """Blocks that have begun; each is told as a whole, sooner or later."""
    has_ended: bool = False
    stop: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all of it is there."""
        return self.has_ended and len(self.content) >= self.begun


@dataclass
class Telling:
    """Turns what a client tells into events, and knows what it said of itself."""

    place: Workplace
    took: Callable[[str], None] = lambda uuid: None
    """Told of each prompt that the client has taken up."""
    session: str = ""
    model: str = ""
    mode: str = ""
    tools: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    last: str = ""
    """The last message that will be in the log."""
    tokens: int = 0
    """Of the last response with all that it answered."""
    dollars: float = 0.0
    """What the client says that all cost since it was started."""
    _answer: Answer | None = None
    _calls: dict[str, str] = field(default_factory=dict)
    """The tool of each call."""
    denied: set[str] = field(default_factory=set)
    """The calls that somebody refused."""

    def of(self, value: Json) -> Iterator[Event]:
        """Yields what an object tells; of most kinds nothing."""
        self.session = said(value, "session_id") or self.session
        if parent := said(value, "parent_tool_use_id"):
            yield from self._below(parent, value)
            return
        self.last = _logged(value) or self.last
        match value.get("type"):
            case "stream_event":
                yield from self._piece(mapping(value.get("event")))
            case "assistant":
                yield from self._block(value)
            case "user":
                yield from self._user(value)
            case "system":
                yield from self._system(value)
            case "command_lifecycle" if value.get("state") != "queued":
                self.took(str(value.get("command_uuid")))
            case "result":
                yield from self._rest()
                yield self._result(value)
            case _:
                pass

    def _piece(self, event: Json) -> Iterator[Event]:
        match event.get("type"):
            case "message_start":
                message = mapping(event.get("message"))
                name, model = str(message.get("id", "")), str(message.get("model", ""))
                self._answer = Answer(name, model, usage=dict(mapping(message.get("usage"))))
            case "content_block_delta":
                delta = mapping(event.get("delta"))
                if text := said(delta, "text"):
                    yield Said(text)
                elif text := said(delta, "thinking"):
                    yield Thought(text)
            case "content_block_start" if self._answer:
                self._answer.begun += 1
            case "message_delta" if self._answer:
                self._answer.usage |= mapping(event.get("usage"))
                self._answer.stop = said(mapping(event.get("delta")), "stop_reason")
                self._answer.has_ended = True
                yield from self._rest(is_whole=True)
            case _:
                pass

    def _rest(self, *, is_whole: bool = False) -> Iterator[Event]:
        """Yields the answer that is being told; if only a whole one is wanted, once it is that."""
        answer = self._answer
        if answer and (answer.is_whole or not is_whole):
            self._answer = None
            yield from self._answered(answer)

    def _block(self, value: Json) -> Iterator[Event]:
        message = mapping(value.get("message"))
        blocks = _blocks(message.get("content"))
        name, model = str(message.get("id", "")), str(message.get("model", ""))
        if model != SYNTHETIC and self._answer and self._answer.message == name:
            self._answer.content += blocks
            self._answer.request = said(value, "request_id")
            yield from self._rest(is_whole=True)
            return
        usage = dict(mapping(message.get("usage")))
        whole = Answer(name, model, said(value, "request_id"), blocks, usage)
        whole.stop = said(message, "stop_reason")
        yield from self._answered(whole)

    def _answered(self, answer: Answer) -> Iterator[Event]:
        if answer.model != SYNTHETIC:
            self.tokens = sum(_count(answer.usage, name) for name in TOKENS)
        yield Answered(
            answer.message,
            answer.request,
            answer.model,
            tuple(answer.content),
            answer.stop,
            answer.usage,
        )
        for block in answer.content:
            if block.get("type") == "tool_use":
                name, tool = str(block.get("id")), str(block.get("name"))
                self._calls[name] = tool
                yield Called(name, proposal_of(tool, mapping(block.get("input")), self.place))

    def _user(self, value: Json) -> Iterator[Event]:
        content = mapping(value.get("message")).get("content")
        results = [one for one in _blocks(content) if one.get("type") == "tool_result"]
        for block in results:
            yield self._resulted(value, block)
        if results or value.get("isSynthetic"):
            return
        uuid, text = said(value, "uuid") or "", words_of(content or "")
        if value.get("isReplay"):
            self.took(uuid)
            if not text.startswith(COMMANDS):
                yield Prompted(uuid, text)

    def _resulted(self, value: Json, block: Json) -> Resulted:
        name = str(block.get("tool_use_id"))
        metas = [mapping(one) for one in value.get("tool_result_meta") or ()]
        refusals = [one.get("non_execution_kind") for one in metas if one.get("id") == name]
        is_denied = name in self.denied or any(refusals)
        is_error = block.get("is_error")
        outcome = Outcome(
            block.get("content") or "",
            value.get("tool_use_result"),
            is_error if isinstance(is_error, bool) else None,
        )
        return Resulted(name, self._calls.pop(name, ""), outcome, is_denied)

    def _system(self, value: Json) -> Iterator[Event]:
        match value.get("subtype"):
            case "init":
                self._begun(value)
            case "status" if said(value, "permissionMode"):
                self.mode = str(value["permissionMode"])
            case "permission_denied":
                self.denied.add(str(value.get("tool_use_id")))
            case "api_retry":
                yield _retried(value)
            case "compact_boundary":
                yield _compacted(mapping(value.get("compact_metadata")))
            case "informational" if text := said(value, "content"):
                yield Noticed(text, is_error=value.get("level") == "error")
            case "task_notification" if text := said(value, "summary"):
                yield Noticed(text)
            case _:
                pass

    def _begun(self, value: Json) -> None:
        self.model = said(value, "model") or self.model
        self.mode = said(value, "permissionMode") or self.mode
        self.tools = _names(value.get("tools")) or self.tools
        self.commands = _names(value.get("slash_commands")) or self.commands

    def _below(self, parent: str, value: Json) -> Iterator[Event]:
        """Yields what an agent does, as what its call is doing."""
        for block in _blocks(mapping(value.get("message")).get("content")):
            words = block.get("text") or block.get("name")
            if value.get("type") == "assistant" and isinstance(words, str):
                yield Progressed(parent, {"type": "agent_progress", "message": words})

    def _result(self, value: Json) -> TurnEnded:
        total, before = value.get("total_cost_usd"), self.dollars
        self.dollars = float(total) if isinstance(total, int | float) else before
        usage = mapping(value.get("usage"))
        ending = _ending(value)
        return TurnEnded(
            ending,
            "" if ending == "interrupted" else _last_words(value),
            _count(value, "duration_ms"),
            _count(value, "num_turns"),
            {name: _count(usage, name) for name in TOKENS},
            max(0.0, self.dollars - before),
        )


def _logged(value: Json) -> str | None:
    """Returns the message of the log that an object tells, None where it is none for sure."""
    model = mapping(value.get("message")).get("model")
    is_message = value.get("type") in ("assistant", "user") and model != SYNTHETIC
    is_command = words_of(mapping(value.get("message")).get("content") or "").startswith(COMMANDS)
    return said(value, "uuid") if is_message and not is_command else None


def _ending(value: Json) -> Ending:
    if named := ENDINGS.get(str(value.get("subtype"))):
        return named
    if str(value.get("terminal_reason", "")).startswith("aborted"):
        return "interrupted"
    if value.get("stop_reason") == "refusal":
        return "refused"
    return "failed" if value.get("is_error") else "done"


def _last_words(value: Json) -> str:
    if text := said(value, "result"):
        needs_login = value.get("is_error") and LOGIN in text
        return f"{text} (in `claude`)" if needs_login else text
    errors = value.get("errors")
    return "\n".join(map(str, errors)) if isinstance(errors, list) else ""


def _retried(value: Json) -> Retried:
    status, error = value.get("error_status"), said(value, "error") or "unknown"
    text = f"API error {status}" if status else f"API error: {error}"
    attempt, most = _count(value, "attempt"), _count(value, "max_retries")
    return Retried(text, attempt, most, _count(value, "retry_delay_ms") / THOUSAND)


def _compacted(told: Json) -> Compacted:
    return Compacted(
        "manual" if told.get("trigger") == "manual" else "auto", _count(told, "pre_tokens"), ""
    )


def _count(value: Json, name: str) -> int:
    found = value.get(name)
    return round(found) if isinstance(found, int | float) else 0


def commands_in(told: Json) -> dict[str, str]:
    """Returns the commands that a client says it has, with the first line of what each is for."""
    found = {}
    for command in _blocks(told.get("commands")):
        lines = str(command.get("description", "")).splitlines()
        found[str(command.get("name"))] = lines[0][:LONGEST_HELP] if lines else ""
    return found


def servers_in(told: Json) -> list[str]:
    """Returns a line for each server that a client says it has."""
    found = _blocks(told.get("mcpServers"))
    return [f"{one.get('name')}: {one.get('status')}" for one in found] or ["no servers"]


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _blocks(content: object) -> list[Json]:
    found = content if isinstance(content, list) else []
    return [one for one in found if isinstance(one, Mapping)]
