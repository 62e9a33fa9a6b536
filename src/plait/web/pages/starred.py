"""Stars and pins to what lists show of them; a file that cannot be read hides no session."""

from collections.abc import Sequence

from msgspec.structs import replace

from plait.archive import Pin, StarFile
from plait.archive.live import LiveArchive, Snapshot
from plait.errors import SourceError
from plait.view.page.lists.rows import ListedSession
from plait.view.page.lists.starred import Marked, PinnedRow


def starred_rows(library: LiveArchive, rows: Sequence[ListedSession]) -> Sequence[ListedSession]:
    """Returns sessions, those that are starred marked so."""
    try:
        order = starred_order(library.now)
    except SourceError:
        return rows
    if not order:
        return rows
    return [replace(one, is_starred=True) if _id_of(one) in order else one for one in rows]


def starred_order(state: Snapshot) -> dict[str, int]:
    """Returns the ids of starred sessions, with their places: the newest star first."""
    path = state.archive.star_file
    return {one.session: at for at, one in enumerate(StarFile(path).stars())} if path else {}


def marked_in(library: LiveArchive, rows: Sequence[ListedSession]) -> Marked:
    """Returns what is starred and pinned; sessions are not read for it."""
    if library.star_file is None:
        return Marked()
    try:
        order, pins = starred_order(library.now), StarFile(library.star_file).pins()
    except SourceError as error:
        return Marked(trouble=error.message)
    found = [one for one in rows if one.is_starred]
    titles = {one.name: one.words for one in rows}
    here = library.now.names
    return Marked(
        sorted(found, key=lambda one: order.get(_id_of(one), len(order))),
        [_pinned_row(one, one.session in here, titles.get(one.session, "")) for one in pins],
    )


def _id_of(one: ListedSession) -> str:
    return one.name.partition("~")[0]


def _pinned_row(one: Pin, is_here: bool, title: str) -> PinnedRow:
    return PinnedRow(
        session=one.session,
        name=one.session if is_here else None,
        title=title,
        uuid=one.uuid,
        turn=one.turn,
        words=one.words,
        at=one.at,
    )
