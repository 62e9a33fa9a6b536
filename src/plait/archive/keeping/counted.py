"""Files that are to be kept to the sessions that they are of, as an archive counts them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from plait.archive.model import Session
    from plait.keep.model import Source


class Counted:
    """The sessions of an archive, and the files that a store takes for theirs."""

    def __init__(self, sessions: Sequence["Session"], sources: Iterable["Source"]) -> None:
        self._sessions = sessions
        logs = {
            str(file.path.absolute()): number
            for number, session in enumerate(sessions)
            for file in session.files
        }
        self._owners: dict[str, int] = {}
        for source in sources:
            own = [logs[file.place] for file in source.files if file.place in logs]
            for file in source.files:
                number = logs.get(file.place, own[0] if own else None)
                if number is not None:
                    self._owners[file.place] = number

    def having(self, places: Iterable[str]) -> list["Session"]:
        """Returns the sessions that files at some places are of, each once."""
        found = {self._owners[place] for place in places if place in self._owners}
        return [self._sessions[number] for number in sorted(found)]

    def grouped(self, sources: Collection["Source"]) -> Iterator["Source"]:
        """Yields the files of some sources anew, those of one session together."""
        found: dict[int | str, Source] = {}
        for source in sources:
            for file in source.files:
                key = self._owners.get(file.place, source.session)
                name = self._sessions[key].id if isinstance(key, int) else key
                known = found.get(key)
                before = known.files if known else ()
                found[key] = replace(known or source, session=name, files=(*before, file))
        yield from found.values()
