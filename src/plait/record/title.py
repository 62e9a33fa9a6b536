"""Records of a session to its title and its first prompt.

The title that the user gave, else the model's, else the newest prompt, else a summary
whose leaf lies in the same file, else the first prompt.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Literal

from plait.record.model import Envelope
from plait.record.prompt import is_human_prompt, prompt_text
from plait.record.record import Record

TitleKind = Literal["custom", "ai", "last prompt", "summary", "first prompt"]

TITLE_TYPES = frozenset({"custom-title", "ai-title", "last-prompt", "summary"})


@dataclass(slots=True)
class TitleSearch:
    """Takes records one by one and knows the title so far."""

    custom: str | None = None
    ai: str | None = None
    last_prompt: str | None = None
    first_prompt: str | None = None
    summaries: dict[str, str] = field(default_factory=dict)
    """Summaries by the leaf they describe: most are strays of other sessions."""
    uuids: set[str] = field(default_factory=set)

    def add(self, record: Record) -> None:
        """Takes one record into account; of lines that repeat, the last counts."""
        if record.envelope.uuid is not None:
            self.uuids.add(record.envelope.uuid)
        self.add_words(record)

    def add_words(self, record: Record) -> None:
        """Takes one record into account, for somebody who knows the uuids of the file."""
        envelope = record.envelope
        if envelope.type in TITLE_TYPES:
            self._add_title(envelope)
        elif self.first_prompt is None and is_human_prompt(record):
            self.first_prompt = one_line(prompt_text(record)) or "(an image)"

    def _add_title(self, envelope: Envelope) -> None:
        self.custom = envelope.custom_title or self.custom
        self.ai = envelope.ai_title or self.ai
        self.last_prompt = envelope.last_prompt or self.last_prompt
        if envelope.summary and envelope.leaf_uuid:
            self.summaries[envelope.leaf_uuid] = envelope.summary

    def title(self, uuids: Container[str] | None = None) -> tuple[str, TitleKind] | None:
        """Returns the title and where it came from; the uuids of the file, where not taken."""
        if self.custom:
            return one_line(self.custom), "custom"
        if self.ai:
            return one_line(self.ai), "ai"
        if self.last_prompt:
            return one_line(self.last_prompt), "last prompt"
        for leaf, summary in reversed(self.summaries.items()):
            if leaf in (self.uuids if uuids is None else uuids):
                return one_line(summary), "summary"
        return (self.first_prompt, "first prompt") if self.first_prompt else None


def followed(searches: Iterable[TitleSearch]) -> TitleSearch:
    """Returns the search that has seen what several have, one after the other."""
    found = TitleSearch()
    for one in searches:
        found.custom = one.custom or found.custom
        found.ai = one.ai or found.ai
        found.last_prompt = one.last_prompt or found.last_prompt
        found.first_prompt = found.first_prompt or one.first_prompt
        found.summaries.update(one.summaries)
    return found


def one_line(text: str) -> str:
    """Returns the words of a text with single spaces between them."""
    return " ".join(text.split())
