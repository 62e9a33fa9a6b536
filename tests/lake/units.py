"""Units and rows of the sessions of an archive."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from plait.archive import Archive
from plait.conversation.prices import Prices
from plait.lake.profiles import Unit
from plait.lake.rows import build_tables
from plait.lake.schema import Labels, Profile
from plait.sessions.details import collect_references, read_facts
from plait.sessions.families import find_sharing_pairs, group_by_pairs, sort_by_start
from plait.sessions.model import Session


def units_of(archive: Archive, profile: Profile = "full") -> Iterator[Unit]:
    """Yield the families of an archive, each building with a number of its own."""
    sessions = archive.sessions
    ties = {number: collect_references(*read_facts(one)) for number, one in enumerate(sessions)}
    roots = tuple(root.path for root in archive.roots)
    for family in group_by_pairs(ties, find_sharing_pairs(ties, {})):
        members = tuple(sort_by_start(sessions[number] for number in family))
        builds = tuple(sessions.index(one) + 1 for one in members)
        yield Unit(members, builds, "as it is", Labels("here", "ada"), profile, roots)


def lake_of(archive: Archive, profile: Profile = "full") -> dict[str, pa.Table]:
    """Return the rows of all sessions of an archive."""
    return joined(build_tables(unit, Prices()) for unit in units_of(archive, profile))


def joined(tables: Iterable[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    """Return the rows of several units, by table."""
    found: dict[str, list[pa.Table]] = {}
    for one in tables:
        for name, table in one.items():
            found.setdefault(name, []).append(table)
    return {name: pa.concat_tables(several) for name, several in found.items()}


def session_named(archive: Archive, name: str) -> Session:
    """Return the session with an id."""
    return next(one for one in archive.sessions if one.id == name)
