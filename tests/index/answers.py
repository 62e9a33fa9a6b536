"""An archive to what the four commands tell of it, from cold files and from its index."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plait import Archive
from plait.archive.families import counted, in_order
from plait.archive.index.fresh import FreshIndex, fresh_index
from plait.archive.index.stats import indexed_figures
from plait.archive.index.tree import indexed_tree
from plait.archive.index.usage import indexed_abandoned, indexed_count
from plait.archive.model import Session
from plait.archive.tree import WAYS, tree_of
from plait.archive.usage import abandoned, count
from plait.conversation.stats.statistics import Statistics

MIDDLE = datetime(2026, 11, 2, 9, 0, 30, tzinfo=UTC)
SPANS = ((None, None), (MIDDLE, None), (None, MIDDLE))
MOST = 3
MANY = 50
Selection = dict[str, list[Session]]


def selections(archive: Archive) -> Selection:
    """Returns all sessions, those of some projects, and some alone."""
    found = {"all": list(archive.sessions)}
    found |= {f"in {one.name}": list(one.sessions) for one in archive.projects[:MOST]}
    return found | {f"{one.path}": [one] for one in archive.sessions[:MOST]}


def cold(root: Path) -> dict[str, Any]:
    """Returns what cold files tell."""
    archive = Archive([root])
    responses = count(archive.sessions)
    return answers(
        archive,
        responses,
        abandoned(archive.sessions, responses.responses),
        lambda sessions, tally: counted(in_order(sessions), tally),
        tree_of,
    )


def warm(root: Path, folder: Path) -> dict[str, Any]:
    """Returns what the index tells, and does not read a log where it need not."""
    archive = Archive([root])
    with ExitStack() as stack:
        index = stack.enter_context(fresh_index(archive, folder))
        assert index is not None
        return from_index(archive, index)


def from_index(archive: Archive, index: FreshIndex) -> dict[str, Any]:
    responses = indexed_count(index, archive.sessions)
    return answers(
        archive,
        responses,
        indexed_abandoned(index, archive.sessions, responses.responses, list),
        lambda sessions, tally: indexed_figures(index, sessions, tally, list),
        lambda sessions, way: indexed_tree(index, sessions, way, list),
    )


def answers(
    archive: Archive,
    responses: object,
    left: Iterable[str],
    figures: Callable[[Sequence[Session], Statistics], object],
    forest: Callable[[Sequence[Session], Any], object],
) -> dict[str, Any]:
    """Returns every answer by name."""
    found: dict[str, Any] = {
        "facts": [archive.facts(one) for one in archive.sessions],
        "usage": responses,
        "abandoned": sorted(left),
    }
    for name, sessions in selections(archive).items():
        is_many = len(sessions) > MANY
        for since, until in SPANS[:1] if is_many else SPANS:
            tally = Statistics(UTC, since, until)
            found[f"stats {name} {since} {until}"] = figures(sessions, tally)
        if sessions:
            found |= {
                f"tree {name} {way}": forest(sessions, way)
                for way in (WAYS[:1] if is_many else WAYS)
            }
    return found


def check(root: Path, folder: Path) -> None:
    """Compares the answers, twice: what was worked out once is then kept."""
    expected = cold(root)
    for _ in range(2):
        found = warm(root, folder)
        assert found.keys() == expected.keys()
        for name, answer in expected.items():
            assert repr(found[name]) == repr(answer), name
