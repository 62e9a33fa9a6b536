"""What is said in turn to the messages of a request, one for each change of sides."""

from collections.abc import Mapping, Sequence
from typing import Any

from plait.agent.parts import Role
from plait.agent.streaming import Block, Message, Request


class PlainMemory:
    """Remembers all that is said, as it is said."""

    def __init__(
        self,
        model: str,
        *,
        messages: Sequence[Message] = (),
        system: Sequence[Block] = (),
        max_tokens: int = 32_000,
    ) -> None:
        self.model = model
        self.system = system
        self.max_tokens = max_tokens
        self._said: list[tuple[Role, list[Block]]] = []
        for message in messages:
            self.add(message["role"], message["content"])

    def add(self, role: Role, content: str | Sequence[Block]) -> None:
        """Takes what was said."""
        words: list[Block] = [{"type": "text", "text": content}]
        self._said.append((role, words if isinstance(content, str) else [*content]))

    def standing(self) -> int:
        """Returns how much was said."""
        return len(self._said)

    def go_back(self, standing: int) -> None:
        """Forgets what was said since."""
        del self._said[standing:]

    def request(self, tools: Sequence[Mapping[str, Any]]) -> Request:
        """Returns what is sent to the model now."""
        return Request(self.model, self._messages(), self.system, tools, self.max_tokens)

    def _messages(self) -> Sequence[Message]:
        messages: list[dict[str, Any]] = []
        for role, blocks in self._said:
            if messages and messages[-1]["role"] == role:
                messages[-1]["content"].extend(blocks)
            else:
                messages.append({"role": role, "content": [*blocks]})
        return messages
