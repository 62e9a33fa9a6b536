"""A policy file to who may enter a lake, and what each sees of whose sessions.

    fewest = 3                          # of the rest, counts of so many people together

    [people.ann]
    key = "sha256:9f86d0…"              # `plait serve --new-key ann` makes one
    teams = ["core"]

    [[see]]
    who = ["ann", "team:core"]          # or "everyone"
    of = ["team:core", "project:shop*"] # or "person:bob", "everything"
    what = "text"                       # or "sessions": their figures and names, no words

Everybody sees their own sessions whole. What no rule shows is the rest.
"""

import hmac
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct, ValidationError, convert

from plait.errors import ConfigError

Level: TypeAlias = Literal["sessions", "text"]
"""How much is seen of a session: its figures and names, or its words, too."""
EVERYONE, EVERYTHING = "everyone", "everything"
TEAM = "team:"
SUBJECTS = ("person:", TEAM, "project:")
MARK = "sha256:"
LEAST_FEWEST = 2
"""Of one person alone nothing is ever counted for others."""
EXAMPLE = "docs/guide/serve.md has an example"


class Whose(NamedTuple):
    """What a policy goes by: whose a session is, and of what."""

    person: str
    team: str
    project: str


class Person(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody who may enter."""

    key: str = ""
    """A digest of their key; without one they cannot."""
    teams: tuple[str, ...] = ()


class See(Struct, frozen=True, forbid_unknown_fields=True):
    """A rule: who sees how much of what."""

    who: tuple[str, ...]
    of: tuple[str, ...]
    what: Level = "sessions"

    def is_for(self, name: str, person: Person) -> bool:
        """Tells whether somebody is among those that it is for."""
        mine = {EVERYONE, name, *(f"{TEAM}{team}" for team in person.teams)}
        return not mine.isdisjoint(self.who)

    def shows(self, whose: Whose) -> bool:
        """Tells whether it shows what is somebody's."""
        return any(one == EVERYTHING or _is_about(one, whose) for one in self.of)


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """Who may enter, and what each of them sees."""

    people: dict[str, Person] = {}
    see: tuple[See, ...] = ()
    fewest: int = 3

    def level(self, name: str, whose: Whose) -> Level | None:
        """Returns how much somebody sees of a session, None where it is of the rest."""
        person = self.people.get(name)
        if person is None:
            return None
        if whose.person == name:
            return "text"
        found = {one.what for one in self.see if one.is_for(name, person) and one.shows(whose)}
        return "text" if "text" in found else "sessions" if found else None

    def who_has(self, key: str) -> str | None:
        """Returns whose a key is; all are compared, so that the time taken tells nothing."""
        given, found = digest(key), None
        for name, person in self.people.items():
            if hmac.compare_digest(person.key.encode(), given.encode()):
                found = name
        return found


def digest(key: str) -> str:
    """Returns what stands for a key in a policy."""
    return MARK + sha256(key.strip().lower().encode()).hexdigest()


def policy_in(text: str, place: str) -> Policy:
    """Reads a policy, or says what is wrong with it: a wrong one lets nobody in."""
    try:
        found = convert(tomllib.loads(text), Policy)
    except (ValueError, RecursionError, ValidationError) as error:
        said = " ".join(str(error).split())
        raise ConfigError(f"the policy in '{place}' is not right: {said}", EXAMPLE) from error
    for problem in _problems(found):
        raise ConfigError(f"the policy in '{place}' is not right: {problem}", EXAMPLE)
    return found


def read_policy(path: Path) -> Policy:
    """Reads the policy of a file."""
    try:
        return policy_in(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"cannot read the policy in '{path}': {said.lower()}") from error


def _is_about(subject: str, whose: Whose) -> bool:
    kind, _, name = subject.partition(":")
    value: str = getattr(whose, kind)
    return bool(value) and (fnmatchcase(value, name) if kind == "project" else value == name)


def _problems(policy: Policy) -> Iterator[str]:
    if policy.fewest < LEAST_FEWEST:
        yield f"'fewest' must be {LEAST_FEWEST} at least: counts of one are no secret"
    keys = [one.key for one in policy.people.values() if one.key]
    if len(set(keys)) < len(keys):
        yield "two people have the same key"
    for name, person in policy.people.items():
        if not name or name == EVERYONE or ":" in name:
            yield f"nobody can be called '{name}'"
        if person.key and not _is_digest(person.key):
            yield f"the key of '{name}' is no digest of one"
    for rule in policy.see:
        yield from _problems_of(rule, policy)


def _is_digest(key: str) -> bool:
    figures = key.removeprefix(MARK)
    return (
        key.startswith(MARK) and len(figures) == 64 and not set(figures) - set("0123456789abcdef")
    )


def _problems_of(rule: See, policy: Policy) -> Iterator[str]:
    for who in rule.who:
        if who not in policy.people and who != EVERYONE and not who.startswith(TEAM):
            yield f"nobody is called '{who}'"
    for subject in rule.of:
        if subject != EVERYTHING and not (subject.startswith(SUBJECTS) and subject[-1] != ":"):
            yield f"'{subject}' names no person, team or project"
