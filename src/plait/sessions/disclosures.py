"""The search for secrets in files: a report of what should not be shared.

Each file is learned and searched separately by a copy of the redactor, so the report does not
depend on how the work is divided.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from plait.errors import SourceError
from plait.line import LogFile, iter_lines, read_small
from plait.line.discovery import LOG_SUFFIX
from plait.line.worker import resolve_function
from plait.line.workers import Workers
from plait.record import Blank, Broken, parse_entry
from plait.redact import Place, Redactor, Report, Rules
from plait.redact.stand_ins import CheckOutcome, Lesson
from plait.sessions.redaction import SharedRedactor, load_twin
from plait.sessions.worker_pool import WorkerPool, is_worth_workers

T = TypeVar("T")
WORTH = 4_000_000
"""Size from which several processes are faster."""
HEAD = 8192
"""Bytes of a file that are tested for being text."""


class CheckedFile(NamedTuple):
    """A file to check: a log or a side file."""

    path: Path
    size: int

    def entries(self) -> Iterator[tuple[Any, int | None]]:
        """Yield its records and texts with their lines; nothing if it is gone."""
        try:
            yield from (
                self._iter_records() if self.path.suffix == LOG_SUFFIX else self._iter_texts()
            )
        except SourceError:
            return

    def _iter_records(self) -> Iterator[tuple[Any, int | None]]:
        for line in iter_lines(self.path):
            entry = parse_entry(line)
            if isinstance(entry, Broken):
                yield line.data.decode("utf-8", "surrogateescape"), line.number
            elif not isinstance(entry, Blank):
                yield entry, line.number

    def _iter_texts(self) -> Iterator[tuple[Any, int | None]]:
        data = read_small(self.path) or b""
        if b"\0" not in data[:HEAD]:
            yield data.decode("utf-8", "surrogateescape"), None


WatchFiles: TypeAlias = Callable[[Sequence[CheckedFile], str], Iterable[CheckedFile]]


def find_disclosures(
    redactor: Redactor | None,
    found: Iterable[CheckedFile | LogFile],
    hands: WorkerPool,
    watch: WatchFiles | None = None,
) -> Report:
    """Return what should not be shared in some files, with its location.

    The user's own rules apply across files: with them, files are checked one after the other.
    """
    redactor, watch = redactor or Redactor(), watch or _pass_through
    files = [CheckedFile(file.path, file.size) for file in found]
    if redactor.has_own_rules:
        for file in watch(files, "learning"):
            redactor.learn(entry for entry, _ in file.entries())
        for file in watch(files, "looking"):
            _look_through(redactor, file, _redact_file_name(redactor, file))
        return redactor.report
    with ExitStack() as stack:
        workers = None
        if is_worth_workers(hands, files, WORTH):
            workers = stack.enter_context(Workers(hands.jobs, hands.failures))
        shared = SharedRedactor(redactor)
        _learn(shared, files, workers, watch)
        names = [_redact_file_name(shared.redactor, file) for file in files]
        known = shared.packed()
        items = [
            (str(file.path), file, name, known, lesson)
            for file, name, lesson in zip(files, names, shared.lessons, strict=True)
        ]
        outcomes = _map_files(search_file, items, files, workers)
        looked = zip(watch(files, "looking"), names, outcomes, strict=True)
        for number, (file, name, outcome) in enumerate(looked):
            if not shared.redactor.absorb(outcome):
                twin = shared.twin(number)
                _look_through(twin, file, name)
                shared.redactor.absorb(twin.outcome)
    return redactor.report


def _pass_through(files: Sequence[CheckedFile], _: str) -> Iterable[CheckedFile]:
    return files


def _learn(
    shared: SharedRedactor,
    files: Sequence[CheckedFile],
    workers: Workers | None,
    watch: WatchFiles,
) -> None:
    items = [(str(file.path), file, shared.redactor.rules) for file in files]
    taught = _map_files(learn_file, items, files, workers)
    shared.learn(lesson for _, lesson in zip(watch(files, "learning"), taught, strict=True))


def _map_files(
    task: Callable[[Any], T],
    items: Sequence[Any],
    files: Sequence[CheckedFile],
    workers: Workers | None,
) -> Iterator[T]:
    """Yield the result of a function for each item, computed here or by workers."""
    if workers is None:
        yield from map(task, items)
        return
    named = [(item[0], f"{__name__}:{task.__name__}", item) for item in items]
    for data in workers.map(f"{__name__}:run_pickled", named, [file.size for file in files]):
        yield pickle.loads(data)  # noqa: S301  from a process of our own


def run_pickled(item: tuple[str, str, Any]) -> bytes:
    """Return a function's result for an item, pickled for the parent process."""
    _, name, given = item
    return pickle.dumps(resolve_function(name)(given))


def learn_file(item: tuple[str, CheckedFile, Rules]) -> Lesson:
    """Return what a file and its name teach the redactor."""
    _, file, rules = item
    redactor = Redactor(rules).apprentice()
    redactor.learn(str(file.path))
    redactor.learn(entry for entry, _ in file.entries())
    return redactor.lesson


def search_file(item: tuple[str, CheckedFile, str, bytes, Lesson]) -> CheckOutcome:
    """Return what is found in a file."""
    _, file, name, known, lesson = item
    twin = load_twin(known, lesson)
    _look_through(twin, file, name)
    return twin.outcome


def _look_through(redactor: Redactor, file: CheckedFile, name: str) -> None:
    for entry, line in file.entries():
        redactor.value(entry, Place(name, line))


def _redact_file_name(redactor: Redactor, file: CheckedFile) -> str:
    """Return the name of a file, redacted; the report is unchanged."""
    counted, redactor.report = redactor.report, Report()
    try:
        return redactor.text(str(file.path))
    finally:
        redactor.report = counted
