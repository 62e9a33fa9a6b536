"""Requests to a stand-in, and what it answers them with, as plain values."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

Answer: TypeAlias = Json
"""What the stand-in answers; the package's docstring shows the keys."""

Script: TypeAlias = Json
"""Rules that choose an answer by the words of the prompt."""

Choose: TypeAlias = Callable[[Json], Answer]
"""The body of a request to its answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: Json

    @property
    def is_message(self) -> bool:
        """Whether it asks for an answer of the model."""
        return self.method == "POST" and self.path.split("?")[0] == "/v1/messages"

    @property
    def messages(self) -> list[Json]:
        """The conversation it carries."""
        found = self.body.get("messages")
        return found if isinstance(found, list) else []

    def as_object(self) -> Json:
        """Return it as a line of the log."""
        return asdict(self)
