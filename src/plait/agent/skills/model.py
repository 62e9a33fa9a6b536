"""A command or a skill as a value, and what a call of it makes of the prompt."""

from dataclasses import dataclass
from pathlib import Path

from plait.agent.front_matter import Document

LONGEST = 100
"""Letters of a description that is taken from the text itself."""


@dataclass(frozen=True, slots=True)
class Skill:
    """Something that is asked for by its name: a command of one file, or a skill of a folder."""

    name: str
    document: Document
    path: Path
    is_skill: bool = False

    @property
    def title(self) -> str:
        """Another name that it gives itself, nothing where it does not."""
        title = self.document.said("name")
        return title if self.is_skill and title != self.name else ""

    @property
    def description(self) -> str:
        """What it is for: as its head says, or else how its text begins."""
        if told := " ".join(self.document.said("description").split()):
            return told
        lines = (line.strip().lstrip("#").strip() for line in self.document.body.splitlines())
        first = next(filter(None, lines), "")
        return first if len(first) <= LONGEST else f"{first[: LONGEST - 3]}..."

    @property
    def hint(self) -> str:
        """What it takes."""
        return self.document.said("argument-hint")

    @property
    def line(self) -> str:
        """How the model is told of it."""
        title = f" ({self.title})" if self.title else ""
        when = self.document.said("when_to_use")
        return f"- {self.name}{title}: {self.description}{f' - {when}' if when else ''}"

    @property
    def allowed(self) -> tuple[str, ...]:
        """What may be done without asking while it is followed."""
        return self.document.listed("allowed-tools")

    @property
    def model(self) -> str | None:
        """Who is asked, None where that stays as it is."""
        named = self.document.said("model")
        return named if named and named != "inherit" else None

    @property
    def is_for_model(self) -> bool:
        """Whether the model may ask for it by itself."""
        return not self.document.is_set("disable-model-invocation")

    @property
    def is_for_person(self) -> bool:
        """Whether a person may ask for it."""
        return self.document.said("user-invocable").casefold() not in ("false", "no", "off")

    @property
    def is_plain(self) -> bool:
        """Whether it is words alone: it loosens nothing and has nothing run."""
        loosening = {"allowed-tools", "model", "hooks", "context", "agent"}
        return not loosening & self.document.head.keys()


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a command makes of a prompt."""

    name: str
    arguments: str
    content: str
    """What the model is told."""
    allowed: tuple[str, ...] = ()
    model: str | None = None


class Unexpanded(Exception):
    """A command that could not be followed, and why."""

    def __init__(self, name: str, arguments: str, text: str) -> None:
        super().__init__(text)
        self.name, self.arguments, self.text = name, arguments, text
