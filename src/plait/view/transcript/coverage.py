"""Counts of sessions to words: how an export tells each of them, or why it does not."""

from operator import add
from typing import NamedTuple

from plait.view.amounts import many, some_of


class Coverage(NamedTuple):
    """What an export tells of the sessions it was made of, by how it tells them."""

    told: int = 0
    """By a path of their own."""
    alone: int = 0
    """By their agents, which is all that is left of them."""
    carried: int = 0
    """By another session that carries them on or holds all that they hold."""
    silent: int = 0
    """Not at all: there is no conversation in them."""
    inside: int = 0
    """Sessions besides, inside the files of others."""

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return self.told + self.alone + self.carried + self.silent

    def plus(self, other: "Coverage") -> "Coverage":
        """Returns both together."""
        return Coverage(*map(add, self, other))

    def in_words(self) -> list[str]:
        """Returns how many sessions are told, and what became of the others."""
        others = (
            (self.alone, "of which only agents are left"),
            (self.carried, "told with others"),
            (self.silent, "without a conversation"),
            (self.inside, "more inside others' files"),
        )
        told = some_of(self.told, self.sessions, "session")
        return [told, *(f"{many(count, 'session')} {what}" for count, what in others if count)]
