"""A configuration folder and a store to the lost sessions that the store holds then."""

from collections.abc import Iterable
from dataclasses import dataclass

from plait.keep.model import NewFile
from plait.keep.rescue.lost import lost_sessions
from plait.keep.rescue.made_log import INCOMPLETE, made_files
from plait.keep.rescue.model import Known, Leftovers, LostSession
from plait.keep.store import Store


@dataclass(frozen=True, slots=True)
class Rescued:
    """What was put together."""

    sessions: tuple[LostSession, ...]
    """Those that the store did not have, or not so much of."""
    unchanged: int = 0
    """Sessions that it had like this before."""
    bare: int = 0
    """Sessions that left no more than an id."""
    unread: int = 0
    """Lines of the list of prompts that say nothing."""


def rescue(
    store: Store, left: Leftovers, known: Iterable[Known], *, is_dry: bool = False
) -> Rescued:
    """Puts together the sessions of a configuration folder whose logs are neither there nor kept.

    What was put together before is replaced only where more is left now.
    """
    lost = lost_sessions(left, (*known, *_whole_in(store)))
    made = [(one, made_files(one, left.config)) for one in lost.sessions]
    held = {file.key: file for one in store.sessions() for file in one.files}

    def is_new(files: tuple[NewFile, ...]) -> bool:
        log = files[0]
        had = held.get((log.root, log.path))
        return had is None or len(log.data) > had.size

    new = [(one, files) for one, files in made if is_new(files)]
    if new and not is_dry:
        store.put(file for _, files in new for file in files)
    unchanged = len(made) - len(new)
    return Rescued(tuple(one for one, _ in new), unchanged, len(lost.bare), left.unread)


def _whole_in(store: Store) -> list[Known]:
    """Returns the sessions whose own logs are kept."""
    logs = ((one.session, one.log) for one in store.sessions())
    return [Known(session) for session, log in logs if log and log.mark != INCOMPLETE]


def together(found: Iterable[Rescued]) -> Rescued:
    """Returns what was put together in several folders as one."""
    all_ = list(found)
    return Rescued(
        tuple(session for one in all_ for session in one.sessions),
        sum(one.unchanged for one in all_),
        sum(one.bare for one in all_),
        sum(one.unread for one in all_),
    )
