"""What is looked for, where it was found and what stands in for it, as plain values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Group = Literal["secrets", "paths", "hosts", "emails", "accounts", "rules"]
"""What can be switched off as one; `paths` are home paths and the user names in them."""
GROUPS: tuple[Group, ...] = ("secrets", "paths", "hosts", "emails", "accounts", "rules")

Kind = Literal["secret", "user", "host", "email", "account", "phone", "word", "field", "file"]
"""What a stand-in says it stands for."""

GROUP_OF: dict[Kind, Group] = {
    "secret": "secrets",
    "user": "paths",
    "host": "hosts",
    "email": "emails",
    "account": "accounts",
    "phone": "accounts",
    "word": "rules",
    "field": "rules",
    "file": "rules",
}


class TextSpan(NamedTuple):
    """A stretch of bytes in a text."""

    start: int
    end: int


class Island(NamedTuple):
    """A stretch of a joined text that nothing around it touches: one text, or some that go on."""

    span: TextSpan
    parts: tuple[TextSpan, ...] = ()
    """Where each text lies, if the stretch is more than one text."""


class Hit(NamedTuple):
    """Something found in a text: one stretch, or several where a line break cuts it."""

    kind: Kind
    label: str
    """What a secret is, such as `github token`; empty for other kinds."""
    value: bytes
    """The thing itself, however it is written in the text."""
    spans: tuple[TextSpan, ...]
    hint: str = ""
    """The public beginning of a secret, such as `ghp_`."""

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.spans[-1].end

    def moved(self, by: int) -> "Hit":
        """Returns the same further on in a longer text."""
        return self._replace(
            spans=tuple(TextSpan(one.start + by, one.end + by) for one in self.spans)
        )


SecondLook: TypeAlias = Callable[[bytes, TextSpan, TextSpan], tuple[TextSpan, ...]]
"""The text, the whole match and the value in it to the stretches that are secret, if any."""


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of thing to look for: an expression, and a second look at what it finds."""

    name: str
    label: str
    expression: str
    """Without look-around or back-references, so that every engine can run it. What is named
    `v` is the value; without it, all of the match is."""
    look: SecondLook
    kind: Kind = "secret"
    head: str = ""
    """The expression of the public beginning of every value: four letters of it are a hint."""
    canonical: Callable[[bytes], bytes] = bytes
    """The value however it is written."""
    trigger: str = ""
    """How a match begins: what all texts are searched for, where the whole expression would be
    too much for that. Without it, the expression is."""
    is_many: bool = False
    """Whether each stretch is a value of its own, rather than a part of one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found."""

    file: str | None = None
    line: int | None = None
    uuid: str | None = None
    field: str | None = None
    """The way to the text inside the record, such as `message.content[0].text`."""


MOST_PLACES = 200


@dataclass(slots=True)
class Found:
    """All that is told of one value: never the value itself."""

    stand_in: str
    kind: Kind
    label: str
    hint: str
    count: int = 0
    places: list[Place] = field(default_factory=list)
    """The first two hundred."""

    def add(self, place: Place) -> None:
        """Counts one more, and keeps where it was."""
        self.count += 1
        if len(self.places) < MOST_PLACES:
            self.places.append(place)

    def join(self, other: "Found") -> None:
        """Counts what was found of the same value behind it."""
        self.count += other.count
        self.places += other.places[: MOST_PLACES - len(self.places)]


@dataclass(slots=True)
class Report:
    """What was found, by its stand-in, in the order of appearance."""

    found: dict[str, Found] = field(default_factory=dict)
    groups: tuple[Group, ...] = GROUPS
    """What was looked for."""
    is_strict: bool = False
    """Whether what only may be secret was looked for too."""

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def count(self) -> int:
        """How many stretches of text were found."""
        return sum(one.count for one in self.found.values())

    @property
    def looked_for(self) -> dict[str, str]:
        """What was looked for, in plain words, by group."""
        from plait.redact.limits import LOOKED_FOR, STRICTLY

        words = {str(group): LOOKED_FOR[group] for group in self.groups}
        return words | ({"strict": STRICTLY} if self.is_strict else {})

    @property
    def not_recognised(self) -> tuple[str, ...]:
        """What cannot be recognised, whatever is looked for, in plain words."""
        from plait.redact.limits import NOT_RECOGNISED

        return NOT_RECOGNISED

    @property
    def kinds(self) -> dict[str, int]:
        """How many of each kind: a secret by its label."""
        counts: dict[str, int] = {}
        for one in self.found.values():
            name = one.label or one.kind
            counts[name] = counts.get(name, 0) + one.count
        return counts
