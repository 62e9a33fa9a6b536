"""Sessions and files to what is made of each: by several processes where that is sooner done.

What a process makes comes back in few bytes. The same function makes it either way, so the
answers are the same, and they come in the order of what was given.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

from plait.archive.model import Members, Session
from plait.line import LogFile

T = TypeVar("T")
Given = Session | LogFile
PACKED = "plait.archive.shares:packed"
FACTS_WORTH = 48_000_000
"""Bytes of logs from which on several processes are sooner done with what lists show of them."""
ACCOUNTS_WORTH = 12_000_000
"""The same for the account of every line."""


class Weighed(Protocol):
    """Whatever is known by its size."""

    @property
    def size(self) -> int:
        """How many bytes are to be read."""


class Hands(NamedTuple):
    """How many processes may work, and what is said of those that died."""

    jobs: int
    losses: list[str]


ALONE = Hands(1, [])


def are_worth_it(hands: Hands, given: Sequence[Session | Weighed], worth: int) -> bool:
    """Tells whether several processes are sooner done: from so many bytes on."""
    return hands.jobs > 1 and len(given) > 1 and sum(map(_size, given)) >= worth


def made_of_each(
    hands: Hands,
    work: Callable[..., T],
    kind: Any,
    given: Sequence[Given],
    worth: int,
    *details: object,
) -> Iterator[T]:
    """Yields what a function makes of each, in their order; with details where it takes some.

    Small inputs stay in this process. What is made is of a kind that bytes can be turned into.
    """
    if not are_worth_it(hands, given, worth):
        yield from (work(one, *details) for one in given)
        return
    from plait.index.catalogue import from_bytes
    from plait.line.workers import Workers

    name = f"{work.__module__}:{work.__name__}"
    items = [(str(one.path), name, _alone(one), details) for one in given]
    with Workers(hands.jobs, hands.losses) as workers:
        for data in workers.each(PACKED, items, [_size(one) for one in given]):
            yield from_bytes(data, kind)


def packed(item: tuple[str, str, Given, tuple[object, ...]]) -> bytes:
    """Returns what a function makes of a session or a file, in bytes: what a worker does."""
    from plait.index.catalogue import to_bytes
    from plait.line.worker import function_named

    _, name, one, details = item
    return to_bytes(function_named(name)(one, *details))


def can_be_sent(value: object) -> bool:
    """Tells whether another process can be given a value; prices may be somebody else's."""
    import pickle

    try:
        pickle.dumps(value)
    except Exception:  # of whatever kind
        return False
    return True


def bare(members: Members) -> Members:
    """Returns sessions without the archive that they were found in, for another process."""
    return tuple(replace(one, archive=None) for one in members)


def size_of(members: Members) -> int:
    """Returns how many bytes the logs of sessions have."""
    return sum(map(_size, members))


def _alone(one: Given) -> Given:
    return bare((one,))[0] if isinstance(one, Session) else one


def _size(one: Session | Weighed) -> int:
    return sum(file.size for file in one.files) if isinstance(one, Session) else one.size
