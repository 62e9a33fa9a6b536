"""A small script in a file to a model that follows it.

    # chat.toml                                 or the same in JSON
    [[answers]]                                 one answer for each request, in order
    text = "I will look."
    calls = [{ name = "Read", input = { file_path = "README.md" } }]

    [[answers]]
    thinking = "Short."
    text = "A title and nothing else."

    [[rules]]                                   a prompt with these words has answers of its own
    when = "list the files"
    answers = [{ calls = [{ name = "Bash", input = { command = "ls" } }] }, { text = "Two." }]

An answer may say `stop_reason`, `usage`, `model`, `pause` (seconds between pieces), whole `blocks`
in the place of `thinking`, `text` and `calls`, or what goes wrong: `error` (a status), `message`,
`retry_after`, and `after` (pieces that come before). The last answer of a rule repeats; where no
rule names the prompt and no answer is left, `otherwise` is said.
"""

import json
import tomllib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from plait.agent.models.reply import Reply, played
from plait.agent.streaming import Block, Message, ModelFault, Request, Streamed
from plait.errors import UserError
from plait.line import read_small
from plait.write.ids import Ids

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
MAY_RETRY = frozenset({408, 409, 429})
KEYS = frozenset(
    """
    text thinking calls blocks stop_reason usage model pause error message retry_after after
    """.split()
)
DEFAULT = {"text": "The script has no more answers."}


class ScriptModel:
    """Answers as a script says."""

    def __init__(
        self, script: Mapping[str, Any], *, name: str = "script", random: Random | None = None
    ) -> None:
        self.name = name
        self._ids = Ids(random)
        self._answers = _list_of(script, "answers")
        self._rules = _list_of(script, "rules")
        self._otherwise = script.get("otherwise", DEFAULT)
        for answer in self._every_answer():
            _check(answer)

    @classmethod
    def of_file(cls, path: Path) -> "ScriptModel":
        """Returns the model of a script in JSON or TOML."""
        return cls(_parsed(path), name=f"script:{path.name}")

    def _every_answer(self) -> Iterator[Any]:
        yield from self._answers
        yield self._otherwise
        for rule in self._rules:
            yield from _list_of(rule, "answers")

    async def stream(self, request: Request) -> AsyncGenerator[Streamed, None]:
        """Answers a request as the script says."""
        reply = self._reply(self._chosen(request.messages))
        async for piece in played(reply, request, self._ids.message()):
            yield piece

    def _chosen(self, messages: Sequence[Message]) -> Mapping[str, Any]:
        ruled = self._ruled(messages)
        if ruled is not None:
            return ruled
        answer: Mapping[str, Any] = self._answers.pop(0) if self._answers else self._otherwise
        return answer

    def _ruled(self, messages: Sequence[Message]) -> Mapping[str, Any] | None:
        """Returns the answer of the first rule that names the newest prompt, by the step."""
        step = 0
        for message in reversed(messages):
            if message["role"] != "user":  # what a hook or a reminder says is no prompt
                step += message["role"] == "assistant"
                continue
            words = "\n".join(_texts(message))
            for rule in self._rules:
                if str(rule.get("when")) in words:
                    answers: list[Mapping[str, Any]] = rule["answers"]
                    return answers[min(step, len(answers) - 1)]
            if words and not holds_results(message):
                return None
        return None

    def _reply(self, answer: Mapping[str, Any]) -> Reply:
        content = tuple(self._blocks(answer))
        calls = any(block["type"] == "tool_use" for block in content)
        return Reply(
            content,
            answer.get("stop_reason", "tool_use" if calls else "end_turn"),
            answer.get("usage", {}),
            answer.get("model"),
            answer.get("pause", 0),
            _fault(answer),
            answer.get("after", 0),
        )

    def _blocks(self, answer: Mapping[str, Any]) -> Iterator[Block]:
        if "thinking" in answer:
            words = answer["thinking"]
            yield {"type": "thinking", "thinking": words, "signature": f"made-up-{len(words)}"}
        if "text" in answer:
            yield {"type": "text", "text": answer["text"]}
        for block in (*answer.get("calls", ()), *answer.get("blocks", ())):
            is_call = block.get("type", "tool_use") == "tool_use"
            yield {"type": "tool_use", "id": self._ids.call(), **block} if is_call else block


def holds_results(message: Message) -> bool:
    """Tells whether a message gives back what came of calls."""
    content = message["content"]
    return not isinstance(content, str) and any(
        block.get("type") == "tool_result" for block in content
    )


def _texts(message: Message) -> Iterator[str]:
    content = message["content"]
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block.get("type") == "text":
            yield str(block.get("text", ""))


def _fault(answer: Mapping[str, Any]) -> ModelFault | None:
    status = answer.get("error")
    if status is None:
        return None
    kind = KINDS.get(status, "api_error")
    return ModelFault(
        str(answer.get("message", kind)),
        status=status,
        kind=kind,
        retry_after=answer.get("retry_after"),
        may_retry=status in MAY_RETRY or status >= 500,
    )


def _parsed(path: Path) -> Mapping[str, Any]:
    data = read_small(path)
    if data is None:
        raise UserError(f"no script can be read at '{path}'")
    try:
        text = data.decode()
        found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise UserError(
            f"'{path}' is no script: {error}", "JSON, or TOML in a .toml file"
        ) from None
    if not isinstance(found, dict):
        raise UserError(f"'{path}' is no script: it has no 'answers' and no 'rules'")
    return found


def _list_of(value: Any, name: str) -> list[Any]:
    found = value.get(name, []) if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise UserError(f"'{name}' of a script is a list")
    return [*found]


def _check(answer: Any) -> None:
    if not isinstance(answer, dict):
        raise UserError("an answer of a script is a table with 'text' or 'calls'")
    if unknown := sorted(answer.keys() - KEYS):
        raise UserError(
            f"an answer of a script has no '{unknown[0]}'", f"known are {', '.join(sorted(KEYS))}"
        )
    for block in (*_list_of(answer, "calls"), *_list_of(answer, "blocks")):
        if not isinstance(block, dict):
            raise UserError("a call of a script is a table with 'name' and 'input'")
