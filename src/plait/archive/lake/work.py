"""Sessions to what they share with others, and to their rows in a lake: what a worker does.

Each function is given all that it needs, and its answer is small: rows are written where they
are made. What cannot be read is named in the answer, beside what could.
"""

from array import array
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plait.archive.families import in_order
from plait.archive.index.details import read_facts, references_of
from plait.archive.lake.engine import Failure, attempt
from plait.archive.lake.fetching import ObjectPlace, brought
from plait.archive.lake.model import Unit
from plait.archive.lake.tables import tables_of
from plait.conversation.prices import Prices
from plait.errors import SourceError
from plait.lake.store import Lake, Written
from plait.line.fetch import Begin, offers, status_of
from plait.line.worker import function_named

if TYPE_CHECKING:
    import pyarrow as pa

    from plait.conversation.prices.table import PriceFile


@dataclass(frozen=True, slots=True)
class Job:
    """Sessions that are read together, by their numbers, with all their files."""

    numbers: tuple[int, ...]
    unit: Unit
    files: tuple[Path, ...]

    @property
    def size(self) -> int:
        """The bytes of all log files."""
        return self.unit.size


@dataclass(frozen=True, slots=True)
class Means:
    """What else it takes to read sessions and to write their rows."""

    lake: Lake
    own_prices: "PriceFile | None" = None
    places: tuple[ObjectPlace, ...] = field(default=(), repr=False)
    """What brings files that are on no disk."""
    offers: tuple[Begin, ...] = ()
    """What brings files of sessions that are only kept."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Jobs that are done in one go."""

    jobs: tuple[Job, ...]
    means: Means

    @property
    def size(self) -> int:
        """The bytes of all log files."""
        return sum(job.size for job in self.jobs)

    def __str__(self) -> str:
        return str(self.jobs[0].unit.sessions[0].path)


class Failed(NamedTuple):
    """Sessions that could not be read, by their numbers."""

    numbers: tuple[int, ...]
    why: str


class Ties(NamedTuple):
    """What sessions share with others, by their numbers."""

    found: "tuple[tuple[int, array[int]], ...]"
    failed: tuple[Failed, ...]
    size: int


class Rows(NamedTuple):
    """What was written, and of which sessions."""

    written: Written | None
    numbers: tuple[int, ...]
    failed: tuple[Failed, ...]
    size: int


def ties_read(chunk: Chunk) -> Ties:
    """Returns what sessions hold and name, as digests: each session is a job of its own."""
    found: list[tuple[int, array[int]]] = []
    failed: list[Failed] = []
    for job in _jobs_of(chunk):
        made = attempt(_Reading(chunk.means).ties, job)
        if isinstance(made, Failure):
            failed.append(Failed(job.numbers, made.why))
        else:
            found.append((job.numbers[0], made))
    return Ties(tuple(found), tuple(failed), chunk.size)


def rows_written(chunk: Chunk) -> Rows:
    """Writes the rows of sessions into a lake, where nobody sees them before they are committed."""
    import pyarrow as pa

    reading = _Reading(chunk.means)
    found: dict[str, list[pa.Table]] = {}
    numbers: list[int] = []
    failed: list[Failed] = []
    for job in _jobs_of(chunk):
        made = attempt(reading.tables, job)
        if isinstance(made, Failure):
            failed.append(Failed(job.numbers, made.why))
            continue
        numbers += job.numbers
        for name, table in made.items():
            found.setdefault(name, []).append(table)
    tables = {name: pa.concat_tables(several) for name, several in found.items()}
    written = chunk.means.lake.write(tables) if numbers else None
    return Rows(written, tuple(numbers), tuple(failed), chunk.size)


def _jobs_of(chunk: Chunk) -> tuple[Job, ...]:
    """Returns the jobs; what is only kept can be read from here on."""
    for begin in chunk.means.offers:
        if begin not in offers():
            function_named(begin[0])(begin[1])
    return chunk.jobs


class _Reading:
    """Reads the sessions of jobs, wherever their files are."""

    def __init__(self, means: Means) -> None:
        self.means = means
        self.prices = Prices(means.own_prices)

    def ties(self, job: Job) -> "array[int]":
        with brought(job.unit, job.files, self.means.places) as unit:
            _check(unit)
            found = references_of(*read_facts(unit.sessions[0]))
        return _keyed(found, unit.key) if unit.key else found

    def tables(self, job: Job) -> "dict[str, pa.Table]":
        with brought(job.unit, job.files, self.means.places) as unit:
            _check(unit)
            ordered = replace(unit, sessions=tuple(in_order(unit.sessions)))
            found = tables_of(ordered, self.prices)
            _check(unit)
        return found


def _check(unit: Unit) -> None:
    """Refuses sessions whose files are gone or have less in them than when they were found.

    What was added since is left for the next time.
    """
    for file in (file for one in unit.sessions for file in one.files):
        try:
            size = status_of(file.path).st_size
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            raise SourceError(f"cannot read '{file.path}': {said}") from error
        if size < file.size:
            raise SourceError(f"'{file.path}' was cut while it was read")


def _keyed(ties: "array[int]", key: bytes) -> "array[int]":
    """Returns digests that nobody can make without the key: they could be tried else."""
    secret = blake2b(key, digest_size=32).digest()
    made = (
        blake2b(tie.to_bytes(8, "little", signed=True), digest_size=8, key=secret) for tie in ties
    )
    return array("q", (int.from_bytes(one.digest(), "little", signed=True) for one in made))
