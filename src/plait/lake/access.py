"""Access to a served lake: who may sign in, and what each person sees.

A policy is a TOML file:

    fewest = 3                          # totals of hidden sessions need this many people

    [people.ann]
    key = "sha256:9f86d0…"              # `plait serve --new-key ann` makes one
    teams = ["core"]

    [[see]]
    who = ["ann", "team:core"]          # or "everyone"
    of = ["team:core", "project:shop*"] # or "person:bob", "everything"
    what = "text"                       # or "sessions": figures and names, no text

Everybody sees all of their own sessions. A visible session has its rows in every table, and its
text if the policy says so. Of all other sessions people see totals of complete months over several
people, and no finer breakdown: from two totals that differ by one person or one session one could
compute what neither shows.
"""

import hmac
import time
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec import Struct, ValidationError, convert

from plait.errors import ConfigError
from plait.lake.query import SESSIONS, QueryableLake, QueryEngine, open_query_engine, stored_name
from plait.lake.schema import Table, tables_for_profile

if TYPE_CHECKING:
    import duckdb

Level: TypeAlias = Literal["sessions", "text"]
"""What is visible of a session: its figures and names, or its text as well."""
EVERYONE, EVERYTHING = "everyone", "everything"
TEAM_PREFIX = "team:"
SUBJECT_PREFIXES = ("person:", TEAM_PREFIX, "project:")
KEY_PREFIX = "sha256:"
MIN_FEWEST = 2
"""A total over one person would show what that person did."""
POLICY_EXAMPLE = "docs/guide/serve.md has an example"
CACHE_SECONDS = 30.0
"""Seconds for which visibility is cached before the lake is read again."""
OWNER = ""
"""The name of whoever serves a lake without a policy: they can read all of its files anyway."""

VISIBLE = "visible sessions"
VISIBLE_NAMES_SQL = f"""
  SELECT session FROM "{stored_name(SESSIONS)}" WHERE build IN (SELECT build FROM "{VISIBLE}")
"""  # noqa: S608  our own names
OWNERS_SQL = f"""
  SELECT build, person, team, project FROM "{stored_name(SESSIONS)}"
"""  # noqa: S608  our own names
HIDDEN_TOTALS_SQL = f"""
WITH unseen AS (
  SELECT build, month, coalesce(nullif(person, ''), 'from ' || source) AS who
  FROM "{stored_name(SESSIONS)}"
  WHERE build NOT IN (SELECT build FROM "{VISIBLE}") AND month < $month
), spent AS (
  SELECT build, count(*) AS responses,
         sum(input + output + cache_write_5m + cache_write_1h + cache_read) AS tokens,
         sum(cost_usd) AS cost
  FROM "{stored_name("responses")}" GROUP BY build
)
SELECT month, count(DISTINCT who) AS people, count(*) AS sessions,
       coalesce(sum(responses), 0) AS responses, coalesce(sum(tokens), 0) AS tokens,
       coalesce(sum(cost), 0) AS cost_usd
FROM unseen LEFT JOIN spent USING (build)
GROUP BY month HAVING count(DISTINCT who) >= $fewest
ORDER BY month DESC
"""  # noqa: S608  our own names


class SessionOwner(NamedTuple):
    """What rules apply to: whose a session is, and its project."""

    person: str
    team: str
    project: str


class Person(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody who may sign in."""

    key: str = ""
    """The hash of their key; without one they cannot sign in."""
    teams: tuple[str, ...] = ()


class AccessRule(Struct, frozen=True, forbid_unknown_fields=True):
    """Who sees how much of which sessions."""

    who: tuple[str, ...]
    of: tuple[str, ...]
    what: Level = "sessions"

    def applies_to(self, name: str, person: Person) -> bool:
        """Return whether the rule is for a person."""
        groups = {EVERYONE, name, *(f"{TEAM_PREFIX}{team}" for team in person.teams)}
        return not groups.isdisjoint(self.who)

    def grants(self, owner: SessionOwner) -> bool:
        """Return whether the rule shows sessions of an owner."""
        for subject in self.of:
            if subject == EVERYTHING:
                return True
            kind, _, name = subject.partition(":")
            value: str = getattr(owner, kind)
            if value and (fnmatchcase(value, name) if kind == "project" else value == name):
                return True
        return False


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """Who may sign in, and what each of them sees."""

    people: dict[str, Person] = {}
    see: tuple[AccessRule, ...] = ()
    fewest: int = 3

    def level(self, name: str, owner: SessionOwner) -> Level | None:
        """Return how much a person sees of an owner's session; None for hidden."""
        person = self.people.get(name)
        if person is None:
            return None
        if owner.person == name:
            return "text"
        levels = {
            rule.what for rule in self.see if rule.applies_to(name, person) and rule.grants(owner)
        }
        return "text" if "text" in levels else "sessions" if levels else None

    def find_person(self, key: str) -> str | None:
        """Return whose a key is. All keys are compared, so that the time taken reveals nothing."""
        hashed, match = hash_key(key), None
        for name, person in self.people.items():
            if hmac.compare_digest(person.key.encode(), hashed.encode()):
                match = name
        return match

    def find_problems(self) -> Iterator[str]:
        """Yield what is wrong with the policy."""
        if self.fewest < MIN_FEWEST:
            yield f"'fewest' must be at least {MIN_FEWEST}: a total for a single person reveals that person's figures"
        keys = [person.key for person in self.people.values() if person.key]
        if len(set(keys)) < len(keys):
            yield "two people have the same key"
        for name, person in self.people.items():
            if not name or name == EVERYONE or ":" in name:
                yield f"'{name}' cannot be the name of a person"
            digits = person.key.removeprefix(KEY_PREFIX)
            is_hash = person.key.startswith(KEY_PREFIX) and len(digits) == 64
            if person.key and (not is_hash or set(digits) - set("0123456789abcdef")):
                yield f"the key of '{name}' is not a hash (`plait serve --new-key` makes one)"
        for rule in self.see:
            for who in rule.who:
                if who not in self.people and who != EVERYONE and not who.startswith(TEAM_PREFIX):
                    yield f"no person named '{who}'"
            for subject in rule.of:
                is_subject = subject.startswith(SUBJECT_PREFIXES) and not subject.endswith(":")
                if subject != EVERYTHING and not is_subject:
                    yield f"'{subject}' is not a person, team or project"


def hash_key(key: str) -> str:
    """Return the hash of a key, as a policy has it."""
    return KEY_PREFIX + sha256(key.strip().lower().encode()).hexdigest()


def parse_policy(text: str, file: str) -> Policy:
    """Parse a policy; an invalid one is refused, so that nobody sees more than intended."""
    try:
        policy = convert(tomllib.loads(text), Policy)
    except (ValueError, RecursionError, ValidationError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(
            f"the policy in '{file}' is not valid: {reason}", POLICY_EXAMPLE
        ) from error
    for problem in policy.find_problems():
        raise ConfigError(f"the policy in '{file}' is not valid: {problem}", POLICY_EXAMPLE)
    return policy


def read_policy(path: Path) -> Policy:
    """Read the policy in a file."""
    try:
        return parse_policy(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise ConfigError(f"cannot read the policy in '{path}': {reason.lower()}") from error


class PolicyFile:
    """A policy that is read again when its file changes; an invalid one lets nobody in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._policy = read_policy(path)
        self._stamp = self._read_stamp()

    def __call__(self) -> Policy:
        stamp = self._read_stamp()
        if stamp is None or stamp != self._stamp:
            try:
                self._policy = read_policy(self.path)
            except ConfigError:
                self._policy = Policy()
            self._stamp = stamp
        return self._policy

    def _read_stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


class HiddenMonth(NamedTuple):
    """The monthly totals of the sessions that somebody does not see."""

    month: str
    people: int
    sessions: int
    responses: int
    tokens: int
    cost_usd: float


class RestrictedQueryEngine(QueryEngine):
    """Answers queries of one person about one state of a lake."""

    def __init__(self, lake: QueryableLake, policy: Policy, name: str) -> None:
        super().__init__(lake.dataset, [table.name for table in tables_for_profile(lake.profile)])
        self.policy = policy
        self.name = name

    def prepare(self, connection: "duckdb.DuckDBPyConnection") -> None:
        """Register the builds of the visible sessions, and whether with their text."""
        import pyarrow as pa

        owners = connection.execute(OWNERS_SQL).fetchall()
        levels: dict[SessionOwner, Level | None] = {}  # many sessions have the same owner
        builds, with_text = [], []
        for build, *columns in owners:
            owner = SessionOwner(*(value or "" for value in columns))
            if owner not in levels:
                levels[owner] = self.policy.level(self.name, owner)
            if level := levels[owner]:
                builds.append(build)
                with_text.append(level == "text")
        connection.register(
            VISIBLE,
            pa.table(
                {"build": pa.array(builds, pa.int64()), "words": pa.array(with_text, pa.bool_())}
            ),
        )

    def view_sql(self, table: Table) -> str:
        """Return the statement that creates the view of a table: its visible rows."""
        has_text = f'build IN (SELECT build FROM "{VISIBLE}" WHERE words)'  # noqa: S608  our names
        is_visible = has_text
        if table.is_in_counts:
            is_visible = f'build IN (SELECT build FROM "{VISIBLE}")'  # noqa: S608  our own names
        columns = []
        for column in table.columns:
            name = f'"{column.name}"'
            if column.sensitivity == "worded":
                columns.append(f"CASE WHEN {has_text} THEN {name} END AS {name}")
            elif column.name == "family":  # not the name of a hidden session
                known = f"family IN ({VISIBLE_NAMES_SQL})"
                columns.append(f"CASE WHEN {known} THEN family ELSE session END AS family")
            else:
                columns.append(name)
        select = f'SELECT {", ".join(columns)} FROM "{stored_name(table.name)}" WHERE {is_visible}'  # noqa: S608
        return f'CREATE VIEW "{table.name}" AS {select}'

    def hidden_totals(self, now: datetime | None = None) -> Iterator[HiddenMonth]:
        """Yield the totals of the hidden sessions, month by month, latest first.

        The current month is left out: two requests would show what happened in between. So are
        months with too few people.
        """
        month = f"{now or datetime.now(UTC):%Y-%m}"
        values = {"month": month, "fewest": self.policy.fewest}
        yield from (HiddenMonth(*row) for row in self.query(HIDDEN_TOTALS_SQL, values).rows())


class ServedLake:
    """A lake that is served: gives each person an engine for their queries."""

    def __init__(
        self,
        lake: QueryableLake,
        policy: Callable[[], Policy] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lake = lake
        self.policy = policy
        self._clock = clock
        self._lock = Lock()
        self._engines: dict[str, tuple[float, Policy | None, QueryEngine]] = {}

    def engine_for(self, name: str) -> QueryEngine:
        """Return the engine for a person's queries."""
        policy = self.policy() if self.policy else None
        with self._lock:
            now = self._clock()
            if name in self._engines:
                created, created_for, engine = self._engines[name]
                if created_for == policy and now - created < CACHE_SECONDS:
                    return engine
            if policy:
                engine = RestrictedQueryEngine(self.lake, policy, name)
            else:
                engine = open_query_engine(self.lake)
            self._engines[name] = (now, policy, engine)
            return engine

    def hidden_totals(self, name: str) -> Iterator[HiddenMonth]:
        """Yield the totals of the sessions that a person does not see; nothing for the owner."""
        engine = self.engine_for(name)
        if isinstance(engine, RestrictedQueryEngine):
            yield from engine.hidden_totals()
