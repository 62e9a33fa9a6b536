"""Sessions to families: those that share records, or go on from one another's, belong together."""

from collections.abc import Iterable, Iterator

from plait.archive.model import Session
from plait.record.read import read_if_there


def families(sessions: Iterable[Session]) -> Iterator[tuple[Session, ...]]:
    """Yields sessions that must be read together, in the order of the first of each family."""
    chosen = list(sessions)
    if len(chosen) < 2:
        yield from ([tuple(chosen)] if chosen else [])
        return
    heads = joined(chosen)
    members: dict[int, list[Session]] = {}
    for number, session in enumerate(chosen):
        members.setdefault(head_of(heads, number), []).append(session)
    yield from map(tuple, members.values())


def joined(sessions: list[Session]) -> list[int]:
    """Returns for each session the number of one that it belongs with, itself at last."""
    heads = list(range(len(sessions)))
    holders: dict[str, int] = {}
    wanted: list[tuple[str, int]] = []
    for number, session in enumerate(sessions):
        join(heads, holders.setdefault(f"session {session.id}", number), number)
        own: set[str] = set()
        named: set[str] = set()
        for record in read_if_there(session.file.path) if session.file else ():
            if record.uuid:
                own.add(record.uuid)
            named.update(filter(None, (record.parent_uuid, record.logical_parent_uuid)))
        for uuid in own:
            join(heads, holders.setdefault(uuid, number), number)
        wanted += [(uuid, number) for uuid in named - own]
    for uuid, number in wanted:
        join(heads, holders.get(uuid, number), number)
    return heads


def join(heads: list[int], one: int, other: int) -> None:
    """Makes two families one; the earlier is its head."""
    if one != other:
        first, second = sorted((head_of(heads, one), head_of(heads, other)))
        heads[second] = first


def head_of(heads: list[int], number: int) -> int:
    """Returns the head of a session's family."""
    while heads[number] != number:
        heads[number] = heads[heads[number]]
        number = heads[number]
    return number
