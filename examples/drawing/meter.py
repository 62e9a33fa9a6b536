"""Plausible usage figures: four characters per token, the context read from the cache."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Call, Field, Json, Settings, Statement, Text

SYSTEM_TOKENS = 14_236


@dataclass(slots=True)
class Meter:
    """The context of a session, and the part not sent yet."""

    context: int = 0
    fresh: int = SYSTEM_TOKENS
    spent: dict[str, Json] = field(default_factory=dict)

    def add(self, text: str) -> None:
        """Count a text that the next request will send."""
        self.fresh += weight(text)

    def restart(self) -> None:
        """Drop everything that a compaction removed."""
        self.context, self.fresh = 0, SYSTEM_TOKENS

    def sends(self, read: int, written: int) -> None:
        """Record the cache reads and writes of the next request."""
        self.context, self.fresh = read, written

    def usage(self, message: str, output: int) -> Json:
        """Return the figures of a response, always the same ones."""
        if message not in self.spent:
            self.spent[message] = {"fresh": self.fresh, "context": self.context, "output": output}
            self.context += self.fresh + output
            self.fresh = 0
        return self.spent[message]


def weight(text: str) -> int:
    """Return about how many tokens a text has."""
    return len(text) // 4 + 3


def output_weight(statement: Statement) -> int:
    """Return about how many tokens a response takes."""
    total = 0
    for token in statement.tokens:
        match token:
            case Text(value) | Field("think", value):
                total += weight(value)
            case Call(_, given):
                total += weight(str(given)) + 20
            case Field(_, str(value)):
                total += weight(value)
            case _:
                pass
    return max(total, 4)


def usage_fields(found: Json, settings: Settings, *, is_last: bool, thinking: int) -> Json:
    """Return the `usage` of a line; before 2.1.92 only a response's last line is complete."""
    if settings.is_before(2, 1, 92):
        return _old_usage(found, is_last)
    is_hour = settings.cache == "1h"
    return {
        "input_tokens": 4,
        "cache_creation_input_tokens": found["fresh"],
        "cache_read_input_tokens": found["context"],
        "output_tokens": found["output"],
        "output_tokens_details": {"thinking_tokens": thinking},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {
            "ephemeral_1h_input_tokens": found["fresh"] if is_hour else 0,
            "ephemeral_5m_input_tokens": 0 if is_hour else found["fresh"],
        },
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
        "fallback_credit": None,
    }


def _old_usage(found: Json, is_last: bool) -> Json:
    return {
        "input_tokens": 4,
        "cache_creation_input_tokens": found["fresh"],
        "cache_read_input_tokens": found["context"],
        "cache_creation": {
            "ephemeral_5m_input_tokens": found["fresh"],
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": found["output"] if is_last else min(3, found["output"]),
        "service_tier": "standard",
    }
