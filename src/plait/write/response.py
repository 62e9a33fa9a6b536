"""Blocks of one response to lines of their own, which share its id, its request and its end."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from plait.errors import UserError
from plait.write.model import Block, Fields, wire_fields

if TYPE_CHECKING:
    from plait.write.transcript import Transcript

NO_USAGE = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}
OF_AN_ANSWER: Fields = {
    "output_tokens_details": {"thinking_tokens": 0},
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    "inference_geo": "",
    "iterations": [],
    "speed": "standard",
    "fallback_credit": None,
}
"""What 2.1.325 says of an answer's use where the API says nothing of it."""

OF_NO_ANSWER: Fields = {
    "output_tokens_details": None,
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "server_tool_use": OF_AN_ANSWER["server_tool_use"],
    "service_tier": None,
    "cache_creation": OF_AN_ANSWER["cache_creation"],
    "inference_geo": None,
    "iterations": None,
    "speed": None,
    "fallback_credit": None,
}
"""What it says of words of its own."""

SYNTHETIC = "<synthetic>"
SYNTHETIC_ONCE = "id model role stop_reason stop_sequence type usage content".split()
"""What the older version says of words of its own."""


def made_up_message(uuid: str, text: str, stop_reason: str, *, is_older: bool) -> Fields:
    """Returns the message of words that the client says in the model's place."""
    message: Fields = {
        "diagnostics": None,
        "id": uuid,
        "container": None,
        "model": SYNTHETIC,
        "role": "assistant",
        "stop_details": None,
        "stop_reason": stop_reason,
        "stop_sequence": "",
        "type": "message",
        "usage": OF_NO_ANSWER,
        "content": [{"type": "text", "text": text}],
        "context_management": None,
    }
    if not is_older:
        return message
    return {name: message[name] for name in SYNTHETIC_ONCE} | {"usage": NO_USAGE}


class Response:
    """A response of the model that is being logged; ends with the block that it is used in.

    2.1.325 says on every line how the response ended, so its lines are written then. 2.1.29
    writes each block once the next begins, and says the end on the last alone.
    """

    def __init__(
        self,
        transcript: "Transcript",
        message: str,
        request: str,
        model: str,
        usage: Mapping[str, Any] | None,
    ) -> None:
        self._transcript = transcript
        self.id = message
        self.request = request
        self.model = model
        self.messages: list[str] = []
        """The uuids of its lines."""
        self._before = transcript.tip
        self._usage = dict(usage or NO_USAGE)
        self._waiting: list[Fields] = []
        self._calls: dict[str, str] = {}
        self._is_ended = self._is_broken_off = False

    def text(self, text: str) -> str:
        """Adds words and returns their message."""
        return self.add({"type": "text", "text": text})

    def thinking(self, text: str, signature: str, **fields: Any) -> str:
        """Adds a thought with its signature and returns its message."""
        return self.add({"type": "thinking", "thinking": text, "signature": signature}, **fields)

    def call(
        self, name: str, arguments: Mapping[str, Any], *, call: str | None = None, **fields: Any
    ) -> str:
        """Adds a call of a tool and returns the id that its result needs."""
        call = call or self._transcript.ids.call()
        self.add({"type": "tool_use", "id": call, "name": name, "input": {**arguments}}, **fields)
        return call

    def add(self, block: Block, **fields: Any) -> str:
        """Adds a block of any kind, as the API sent it, and returns its message."""
        if self._is_ended:
            raise UserError(f"the response '{self.id}' has ended")
        parent = self.messages[-1] if self.messages else self._transcript.tip
        entry = self._transcript.stamped(parent) | {
            "type": "assistant",
            "message": {"content": [{**block}]},
            "requestId": self.request,
            **wire_fields(fields),
        }
        self.goes_on()
        if not self._is_older:
            entry |= {"apiBlockIndex": len(self.messages), "requestedModel": self.model}
        self._waiting.append(entry)
        self.messages.append(entry["uuid"])
        if block.get("type") == "tool_use":
            self._calls[block["id"]] = entry["uuid"]
        return self.messages[-1]

    def goes_on(self) -> None:
        """Takes note that another block comes: in 2.1.29 the one before it is then written."""
        if self._is_older:
            self._write_waiting(None)

    def end(
        self,
        stop_reason: str | None = None,
        *,
        usage: Mapping[str, Any] | None = None,
        stop_sequence: str | None = None,
    ) -> None:
        """Writes what waits, with how the response ended and what it took in all."""
        if self._is_ended:
            return
        self._usage = dict(usage or self._usage)
        self._write_waiting(stop_reason or self._plain_end, stop_sequence)
        self._closed()

    def break_off(self, *, usage: Mapping[str, Any] | None = None) -> None:
        """Writes what waits of a response that came to no end, or to one without a reason."""
        if not self._is_ended:
            self._usage = dict(usage or self._usage)
            self._is_broken_off = usage is None
            self._write_waiting(None)
            self._closed()

    def discard(self) -> None:
        """Drops what waits of a response that failed; what follows stands where it stood."""
        if not self._is_ended:
            self._is_ended = True
            self._waiting.clear()
            self._transcript.discarded(self._before)

    def _closed(self) -> None:
        self._is_ended = True
        self._transcript.answered(self.id, self._calls)

    @property
    def _is_older(self) -> bool:
        return self._transcript.setting.is_older

    @property
    def _plain_end(self) -> str:
        return "tool_use" if self._calls else "end_turn"

    def _write_waiting(self, stop_reason: str | None, stop_sequence: str | None = None) -> None:
        while self._waiting:
            entry = self._waiting[0]
            block = entry["message"]["content"]
            message = self._message(block, stop_reason, stop_sequence)
            self._transcript.written("assistant", entry | {"message": message})
            self._waiting.pop(0)

    def _message(self, content: Any, stop_reason: str | None, stop_sequence: str | None) -> Fields:
        ended = {
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": stop_sequence,
            "usage": self._usage,
        }
        named = {"id": self.id, "type": "message", "role": "assistant"}
        if self._is_older:
            return {"model": self.model, **named, **ended}
        if self._is_broken_off:
            return {**named, "model": self.model, **ended}
        ended["usage"] = {**NO_USAGE, **OF_AN_ANSWER, **self._usage}
        return {**named, "model": self.model, **ended, "stop_details": None}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.end()
        else:
            self.break_off()


def result_block(call: str, content: str | Sequence[Block], is_error: bool | None) -> Fields:
    """Returns the block that answers a call."""
    told = content if isinstance(content, str) else list(content)
    if is_error:
        return {"type": "tool_result", "content": told, "is_error": True, "tool_use_id": call}
    block: Fields = {"tool_use_id": call, "type": "tool_result", "content": told}
    return block if is_error is None else {**block, "is_error": False}
