"""An archive to what the four commands tell of it, from cold files and from its index."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plait import Archive
from plait.conversation.statistics import Statistics
from plait.sessions.families import sort_by_start
from plait.sessions.fresh_index import FreshIndex, open_fresh_index
from plait.sessions.model import Session
from plait.sessions.statistics import count_in_order, read_indexed_statistics
from plait.sessions.tree import TREE_DETAILS, read_indexed_tree, read_tree
from plait.usage.index_rows import count_indexed_responses, find_indexed_abandoned
from plait.usage.responses import count_responses, find_abandoned

MIDDLE = datetime(2026, 11, 2, 9, 0, 30, tzinfo=UTC)
SPANS = ((None, None), (MIDDLE, None), (None, MIDDLE))
MOST = 3
MANY = 50
Selection = dict[str, list[Session]]


def selections(archive: Archive) -> Selection:
    """Return all sessions, those of some projects, and some alone."""
    found = {"all": list(archive.sessions)}
    found |= {f"in {one.name}": list(one.sessions) for one in archive.projects[:MOST]}
    return found | {f"{one.path}": [one] for one in archive.sessions[:MOST]}


def cold(root: Path) -> dict[str, Any]:
    """Return what cold files tell."""
    archive = Archive([root])
    responses = count_responses(archive.sessions)
    return answers(
        archive,
        responses,
        find_abandoned(archive.sessions, responses.responses),
        lambda sessions, tally: count_in_order(sort_by_start(sessions), tally),
        read_tree,
    )


def warm(root: Path, folder: Path) -> dict[str, Any]:
    """Return what the index tells, and does not read a log where it need not."""
    archive = Archive([root])
    with ExitStack() as stack:
        index = stack.enter_context(open_fresh_index(archive, folder))
        assert index is not None
        return from_index(archive, index)


def from_index(archive: Archive, index: FreshIndex) -> dict[str, Any]:
    responses = count_indexed_responses(index, archive.sessions)
    return answers(
        archive,
        responses,
        find_indexed_abandoned(index, archive.sessions, responses.responses, list),
        lambda sessions, tally: read_indexed_statistics(index, sessions, tally, list),
        lambda sessions, way: read_indexed_tree(index, sessions, way, list),
    )


def answers(
    archive: Archive,
    responses: object,
    left: Iterable[str],
    figures: Callable[[Sequence[Session], Statistics], object],
    forest: Callable[[Sequence[Session], Any], object],
) -> dict[str, Any]:
    """Return every answer by name."""
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
                for way in (TREE_DETAILS[:1] if is_many else TREE_DETAILS)
            }
    return found


def check(root: Path, folder: Path) -> None:
    """Compare the answers, twice: what was worked out once is then kept."""
    expected = cold(root)
    for _ in range(2):
        found = warm(root, folder)
        assert found.keys() == expected.keys()
        for name, answer in expected.items():
            assert repr(found[name]) == repr(answer), name
