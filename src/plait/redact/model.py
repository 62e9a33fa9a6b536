"""Values of redaction: what is looked for, where it was found, what replaces it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

Group = Literal["secrets", "paths", "hosts", "emails", "accounts", "rules"]
"""What can be switched off together; `paths` are home paths and the user names in them."""
GROUPS: tuple[Group, ...] = ("secrets", "paths", "hosts", "emails", "accounts", "rules")

Kind = Literal["secret", "user", "host", "email", "account", "phone", "word", "field", "file"]
"""What a placeholder says it replaces."""

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
    """A range of bytes in a text."""

    start: int
    end: int


class Island(NamedTuple):
    """A range of a joined text that is independent of its neighbours: one text, or several that
    continue.
    """

    span: TextSpan
    parts: tuple[TextSpan, ...] = ()
    """Where each text is, if the range has more than one."""


class Hit(NamedTuple):
    """Something found in a text: one range, or several where a line break splits it."""

    kind: Kind
    label: str
    """What a secret is, such as `github token`; empty for other kinds."""
    value: bytes
    """The value, however it is written in the text."""
    spans: tuple[TextSpan, ...]
    hint: str = ""
    """The public prefix of a secret, such as `ghp_`."""

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.spans[-1].end

    def moved(self, by: int) -> "Hit":
        """Return the same, shifted in a longer text."""
        return self._replace(
            spans=tuple(TextSpan(span.start + by, span.end + by) for span in self.spans)
        )


SecondLook: TypeAlias = Callable[[bytes, TextSpan, TextSpan], tuple[TextSpan, ...]]
"""Returns the secret ranges, if any, given the text, the match and the value in it."""


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of thing to look for: an expression, and a check of what it finds."""

    name: str
    expression: str
    """Without lookaround or back-references, so that every engine can run it. The group `v` is the
    value; without it, the whole match is.
    """
    look: SecondLook
    label: str = ""
    """What a secret is, such as `github token`; empty for other kinds."""
    kind: Kind = "secret"
    head: str = ""
    """The expression of the public prefix of every value: four characters of it are a hint."""
    canonical: Callable[[bytes], bytes] = bytes
    """The value independent of its spelling."""
    trigger: str = ""
    """How a match begins: what all texts are searched for if the whole expression would be too
    expensive. By default the expression itself.
    """
    is_many: bool = False
    """Whether each range is a value of its own, rather than a part of one."""


setting_secret = partial(Family, label="secret in a setting")
command_secret = partial(Family, label="password of a command")
user_name = partial(Family, kind="user")
host_name = partial(Family, kind="host")
account_number = partial(Family, kind="account")
phone_number = partial(Family, kind="phone")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found."""

    file: str | None = None
    line: int | None = None
    uuid: str | None = None
    field: str | None = None
    """The path to the text inside the record, such as `message.content[0].text`."""


MOST_PLACES = 200


@dataclass(slots=True)
class Found:
    """The report about one value, without the value itself."""

    stand_in: str
    kind: Kind
    label: str
    hint: str
    count: int = 0
    places: list[Place] = field(default_factory=list)
    """The first two hundred."""

    def add(self, place: Place) -> None:
        """Count one more, and note where it was."""
        self.count += 1
        if len(self.places) < MOST_PLACES:
            self.places.append(place)

    def join(self, other: "Found") -> None:
        """Add what was found of the same value later."""
        self.count += other.count
        self.places += other.places[: MOST_PLACES - len(self.places)]


@dataclass(slots=True)
class Report:
    """What was found, by placeholder, in the order of appearance."""

    found: dict[str, Found] = field(default_factory=dict)
    groups: tuple[Group, ...] = GROUPS
    """What was searched for."""
    is_strict: bool = False
    """Whether possible secrets were searched for too."""

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def count(self) -> int:
        """How many ranges of text were found."""
        return sum(found.count for found in self.found.values())

    @property
    def looked_for(self) -> dict[str, str]:
        """What was searched for, as text, by group."""
        words = {str(group): LOOKED_FOR[group] for group in self.groups}
        return words | ({"strict": STRICTLY} if self.is_strict else {})

    @property
    def not_recognised(self) -> tuple[str, ...]:
        """What cannot be recognised in any case, as text."""
        return NOT_RECOGNISED

    @property
    def kinds(self) -> dict[str, int]:
        """The number of each kind: secrets by label."""
        counts: dict[str, int] = {}
        for found in self.found.values():
            name = found.label or found.kind
            counts[name] = counts.get(name, 0) + found.count
        return counts


LOOKED_FOR: dict[Group, str] = {
    "secrets": "keys and tokens with a known prefix; passwords and keys recognised by name, command, "
    "sentence or URL; private keys; also in base64, hex and escapes",
    "paths": "user names in home paths, shell prompts, listings, settings and commands; authors; "
    "the name of this machine's user",
    "hosts": "hosts in shell prompts, commands and settings; IP and MAC addresses; internal "
    "domains; this machine's name",
    "emails": "e-mail addresses of people",
    "accounts": "account, customer and cloud ids; bank accounts and cards; phone numbers",
    "rules": "your own words, patterns, fields and files",
}
STRICTLY = (
    "strict: also what may be secret, such as long words of letters and digits, unusual "
    "values next to words like key, id or hash, and less common hosts"
)
NOT_RECOGNISED = (
    "content of images, audio, and compressed or encrypted files",
    "passwords in prose without a word such as password, and passwords made of plain words",
    "secrets split across records, if no part is recognisable",
    "sentences with a secret in languages not listed in docs/redaction.md",
    "encodings other than base64, hex, percent-encoding, entities and escapes",
    "tokens of unknown services, if nothing next to them says what they are",
    "ids that work as keys",
    "names of people, customers, companies and projects, postal addresses, and other "
    "identifying facts",
    "user and host names that are everyday words, outside paths and shell prompts",
    "hints about a secret: its length, its first letters",
)


NOUNS: dict[Kind, tuple[str, str]] = {
    "secret": ("secret", "secrets"),
    "user": ("user name", "user names"),
    "host": ("host", "hosts"),
    "email": ("address", "addresses"),
    "account": ("account", "accounts"),
    "phone": ("telephone number", "telephone numbers"),
    "word": ("match of your rules", "matches of your rules"),
    "field": ("hidden field", "hidden fields"),
    "file": ("hidden file", "hidden files"),
}
