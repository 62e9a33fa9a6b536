"""A table to the same table in fewer files, without what does not hold any more.

What is younger than the given age is left as it is: someone may have written it who has not
committed it yet. Files that are joined or left out stay for those who read them, for as long.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from math import ceil

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from plait.lake.committing import Actions, commit_next, opened
from plait.lake.parquet import (
    Layout,
    Part,
    Rows,
    adding,
    groups_of,
    parts_of,
    read_rows,
    removing,
    write_part,
)
from plait.lake.places import Place

WHOLE = 128_000_000
"""How large files become, in bytes; those of half that size are left alone."""
GROUP = 32_000_000
"""How much is held at a time of what is written, in bytes."""
ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Tidied:
    """What became of the files of a lake."""

    joined: int = 0
    """Files whose rows now stand in others, as far as they hold."""
    made: int = 0
    """Files that were made of them."""
    rows: int = 0
    """Rows that did not hold and were left out."""
    deleted: int = 0
    """Files that are no more there."""

    def __add__(self, other: "Tidied") -> "Tidied":
        return Tidied(
            self.joined + other.joined,
            self.made + other.made,
            self.rows + other.rows,
            self.deleted + other.deleted,
        )


def tidy_table(
    place: Place, layout: Layout, holding: Collection[int] | None, older: timedelta
) -> Tidied:
    """Joins small files of a table, leaves out rows of buildings that do not hold."""
    before = int((time.time() - older.total_seconds()) * 1000)
    found = Tidied()
    parts = [one for one in parts_of(opened(place, layout), layout) if one.modified <= before]
    stale = {one.path for one in parts if _has_stale(place, layout, one, holding)}
    for heap in _heaps(parts, stale):
        if len(heap) > 1 or heap[0].path in stale:
            found += _joined(place, layout, heap, holding)
    return found + Tidied(deleted=_swept(place, layout, older))


def _has_stale(place: Place, layout: Layout, part: Part, holding: Collection[int] | None) -> bool:
    if holding is None:
        return False
    builds = read_rows(place, layout, [part], ["build"])["build"]
    return not all(one in holding for one in pc.unique(builds).to_pylist())


def _heaps(parts: Iterable[Part], stale: Collection[str]) -> Iterator[list[Part]]:
    """Yields files that become one: small ones, and those with rows that do not hold."""
    heaps: dict[str, list[Part]] = {}
    for part in sorted(parts, key=lambda one: (one.modified, one.path)):
        if part.size * 2 >= WHOLE and part.path not in stale:
            continue
        heap = heaps.setdefault(part.value, [])
        if heap and sum(one.size for one in heap) + part.size > WHOLE:
            yield heap
            heap = heaps[part.value] = []
        heap.append(part)
    yield from heaps.values()


def _joined(
    place: Place, layout: Layout, heap: Sequence[Part], holding: Collection[int] | None
) -> Tidied:
    made = _made(place, layout, heap, holding)
    gone = sum(one.rows for one in heap) - sum(one.rows for one in made)
    actions: Actions = [
        *(removing(one, layout, is_new=gone > 0) for one in heap),
        *(adding(one, layout, is_new=gone > 0) for one in made),
    ]
    is_ours = False

    def plan(table: DeltaTable) -> Actions:
        nonlocal is_ours
        is_ours = {one.path for one in heap} <= {one.path for one in parts_of(table, layout)}
        return actions if is_ours else []  # another one has tidied them

    is_done = commit_next(place, layout, plan, ATTEMPTS) and is_ours
    return Tidied(len(heap), len(made), gone) if is_done else Tidied()


def _made(
    place: Place, layout: Layout, heap: Sequence[Part], holding: Collection[int] | None
) -> list[Part]:
    groups = _groups(_kept(place, layout, heap, holding))
    first = next(groups, None)
    if first is None:
        return []
    modified = max(one.modified for one in heap)
    rows = chain([first], groups)
    return [write_part(place, layout, heap[0].value, rows, _span(heap), modified)]


def _span(heap: Sequence[Part]) -> tuple[int, int] | None:
    """Returns the lowest and the highest building in files, where all say so."""
    found = [one.builds for one in heap if one.builds]
    if len(found) < len(heap):
        return None
    return min(lowest for lowest, _ in found), max(highest for _, highest in found)


def _kept(
    place: Place, layout: Layout, heap: Sequence[Part], holding: Collection[int] | None
) -> Iterator[Rows]:
    for part in heap:
        for rows in groups_of(place, layout, part):
            kept = rows if holding is None else _holding(rows, holding)
            if kept.num_rows:
                yield kept


def _holding(rows: Rows, holding: Collection[int]) -> Rows:
    here = [one for one in pc.unique(rows["build"]).to_pylist() if one in holding]
    return rows.filter(pc.is_in(rows["build"], pa.array(here, pa.int64())))


def _groups(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """Yields rows in groups of some size, each as one table."""
    waiting: list[Rows] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(one.nbytes for one in waiting) >= GROUP:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _swept(place: Place, layout: Layout, older: timedelta) -> int:
    """Deletes files that the table has not known for that long, and returns how many."""
    table, hours = opened(place, layout), ceil(older / timedelta(hours=1))
    found = table.vacuum(hours, dry_run=True, enforce_retention_duration=False, full=True)
    gone = set(found) & _there(place, layout)  # what went earlier is named again
    if gone:
        table.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)
    return len(gone)


def _there(place: Place, layout: Layout) -> set[str]:
    from pyarrow.fs import FileSelector

    found = place.files(layout.name).get_file_info(FileSelector("", recursive=True))
    return {one.path for one in found if one.is_file}
