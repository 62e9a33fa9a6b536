"""Sessions that are there, and what a lake has of them, to what is to be built.

A family is built where what it would be known by now is not what the lake has. Sessions that are
gone are still of their family: they cannot be read any more, so what shares records with them
stays as it is, rather than be counted twice.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from secrets import randbits

from plait.archive.lake.inputs import Input
from plait.archive.lake.kinship import families_in
from plait.archive.lake.manner import Manner, digest_of
from plait.archive.lake.model import Unit
from plait.archive.lake.work import Chunk, Failed, Job, Means
from plait.lake.parquet import Rows

CHUNK_BYTES = 32_000_000
LEAST_BYTES = 8_000_000
SHARES = 16
"""Chunks that little is dealt in, so that all who work have some of it to the end."""
CHUNK_JOBS = 500
BUILD_BITS = 63
GONE = "it shares records with sessions that are gone: `--prune` builds it without them"


class Sessions:
    """The sessions that are there, by their numbers, and what each is known by in a lake."""

    def __init__(self, inputs: Sequence[Input], manner: Manner) -> None:
        self.inputs = inputs
        self.manner = manner
        self.ids = {self._id(one.session.id) for one in inputs}
        self.names = self._names()
        self.states = [manner.digest(one.fingerprint) for one in inputs]
        """What the files of each are; without the key nobody can try where they lay."""
        self.numbers = {name: number for number, name in enumerate(self.names)}

    def _id(self, session: str) -> str:
        return self.manner.digest(self.manner.shown_id(session))

    def _names(self) -> list[str]:
        manner, seen = self.manner, Counter[str]()
        found = []
        for one in self.inputs:
            name = f"{self._id(one.session.id)}-{manner.digest(one.name)}"
            found.append(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
        return found

    @cached_property
    def fingerprint(self) -> str:
        """What stands for all of them, and for what their rows are made by."""
        return digest_of(self.manner.fingerprint, sorted(self.states))

    def is_gone(self, name: str) -> bool:
        """Tells what was known of a session that is not there any more, wherever it lay."""
        return name.partition("-")[0] not in self.ids

    def stale(self, names: Iterable[str], known: Rows) -> set[str]:
        """Returns what nobody needs any more: of other places, and of what was never built."""
        held = {self.manner.digest(one) for one in known["session"].to_pylist()}
        return {
            name
            for name in names
            if name and name not in self.numbers and name.partition("-")[0] not in held - self.ids
        }

    def gone_from(self, known: Rows) -> list[str]:
        """Returns the sessions that a lake has and that are not there any more."""
        here = {self.manner.shown_id(one.session.id) for one in self.inputs}
        return [
            one
            for one in known["session"].to_pylist()
            if one not in here and self.manner.tells(one)
        ]

    def state(self, number: int) -> tuple[str, str]:
        """Returns what a session is known by, and what its files are."""
        return self.names[number], self.states[number]

    def unknown(self, kin: Rows) -> list[int]:
        """Returns the sessions of which nobody knows yet what they share as they are now."""
        known = dict(zip(kin["session"].to_pylist(), kin["fingerprint"].to_pylist(), strict=True))
        return [
            number
            for number, (name, state) in enumerate(zip(self.names, self.states, strict=True))
            if known.get(name) != state
        ]

    def size(self, numbers: Collection[int]) -> int:
        """Returns the bytes of some of them."""
        return sum(self.inputs[number].size for number in numbers)

    def job(self, numbers: Sequence[int], fingerprint: str = "") -> Job:
        """Returns what reads some of them together."""
        chosen = [self.inputs[number] for number in numbers]
        manner = self.manner
        unit = Unit(
            sessions=tuple(one.session for one in chosen),
            builds=tuple(randbits(BUILD_BITS) for _ in chosen),
            fingerprint=fingerprint,
            labels=manner.labels,
            profile=manner.profile,
            roots=tuple(dict.fromkeys(root for one in chosen for root in one.roots)),
            key=manner.key,
            rules=manner.rules,
        )
        files = tuple(path for one in chosen for path in one.files)
        return Job(tuple(numbers), unit, files)


@dataclass
class BuildPlan:
    """What is to be read, and what need not or cannot be."""

    jobs: list[Job] = field(default_factory=list)
    unchanged: int = 0
    refused: list[Failed] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The bytes that are to be read."""
        return sum(job.size for job in self.jobs)


def planned(sessions: Sessions, kin: Rows, known: Collection[str]) -> BuildPlan:
    """Returns what is to be built of the sessions that shares are known of.

    `known` are the states of families that a lake has.
    """
    plan = BuildPlan()
    names, states = kin["session"].to_pylist(), kin["fingerprint"].to_pylist()
    for family in families_in(kin):
        numbers = [sessions.numbers[names[at]] for at in family if names[at] in sessions.numbers]
        state = digest_of(
            sessions.manner.fingerprint, sorted((names[at], states[at]) for at in family)
        )
        if state in known:
            plan.unchanged += len(numbers)
        elif len(numbers) == len(family):
            plan.jobs.append(sessions.job(numbers, state))
        elif numbers:
            plan.refused.append(Failed(tuple(numbers), GONE))
    plan.jobs.sort(key=lambda job: max(one.modified for one in job.unit.sessions))
    return plan


def chunks_of(jobs: Sequence[Job], means: Means) -> Iterator[Chunk]:
    """Yields jobs in runs of some megabytes, in their order."""
    most = min(max(sum(job.size for job in jobs) // SHARES, LEAST_BYTES), CHUNK_BYTES)
    held: list[Job] = []
    size = 0
    for job in jobs:
        if held and (size + job.size > most or len(held) == CHUNK_JOBS):
            yield Chunk(tuple(held), means)
            held, size = [], 0
        held.append(job)
        size += job.size
    if held:
        yield Chunk(tuple(held), means)
