"""A directory to whether somebody said that its files are to be trusted.

Claude Code keeps that in `.claude.json`, beside its folder or in it; one that is trusted is
trusted with all that lies below. What is said here stands in a file of our own: that one is
rewritten by the client while it runs.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plait.line import read_regular
from plait.line.atomic import replace_file
from plait.record.codec import NotAnObject, encode, object_of

CLIENTS = ".claude.json"
ACCEPTED = "hasTrustDialogAccepted"


class Trust:
    """Who was trusted, by the client's word or by ours."""

    def __init__(self, configuration: Path, own: Path) -> None:
        self._configuration = configuration
        self._own = own

    def holds(self, directory: Path) -> bool:
        """Tells whether a directory is trusted."""
        place = directory.resolve()
        known = {str(one) for one in (place, *place.parents)}
        return not known.isdisjoint(self._trusted())

    def _trusted(self) -> Iterator[str]:
        for name, told in _object(self._own).items():
            if told is True:
                yield name
        for path in self._clients:
            projects = _object(path).get("projects")
            for name, told in projects.items() if isinstance(projects, Mapping) else ():
                if isinstance(told, Mapping) and told.get(ACCEPTED) is True:
                    yield name

    @property
    def _clients(self) -> tuple[Path, ...]:
        inside = self._configuration / CLIENTS
        is_usual = self._configuration.name == ".claude"
        return (inside, self._configuration.with_name(CLIENTS)) if is_usual else (inside,)

    def give(self, directory: Path) -> None:
        """Trusts a directory from now on."""
        told = {**_object(self._own), str(directory.resolve()): True}
        replace_file(self._own, encode(told) + b"\n")


def _object(path: Path) -> Mapping[str, Any]:
    try:
        return object_of(read_regular(path))
    except (OSError, NotAnObject):
        return {}
