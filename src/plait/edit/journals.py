"""Roots to the journals that lie in them, and the name of an edit to its journal."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from plait.edit.entry import Edit, journal_folder
from plait.edit.journal import LIST_THEM, Journal, home_of
from plait.errors import Refused, UserError
from plait.line import Root
from plait.line.discover import OURS


class Journals:
    """The edits of all sessions under some roots."""

    def __init__(self, roots: Iterable[Root]) -> None:
        homes = {home.resolve(): None for root in roots for home in _homes_of(root)}
        self._journals = [Journal(home) for home in homes if journal_folder(home).is_dir()]

    def edits(self) -> list[Edit]:
        """Returns what was done, the newest first."""
        found = [edit for journal in self._journals for edit in journal.entries()]
        return sorted(found, key=lambda edit: (edit.when, edit.id), reverse=True)

    def undo(self, id_: str | None = None, *, force: bool = False) -> Edit:
        """Undoes an edit; without a name one that was cut off, else the last that was done."""
        edits = self.edits()
        if id_ is None:
            left = [edit for edit in edits if edit.state != "undone"]
            if not left:
                raise Refused("there is nothing to undo", LIST_THEM)
            id_ = next((edit.id for edit in left if edit.is_cut_off), left[0].id)
        return self._journal_of(id_).undo(id_, force=force)

    def finish(self, id_: str | None = None) -> Edit:
        """Does what is left of an edit that was cut off: the named one, else the only one."""
        if id_ is None:
            id_ = next((edit.id for edit in self.edits() if edit.is_cut_off), None)
            if id_ is None:
                raise Refused("no edit was cut off", LIST_THEM)
        return self._journal_of(id_).finish(id_)

    def forget(self, id_: str) -> Edit:
        """Deletes for ever what an edit has kept."""
        return self._journal_of(id_).forget(id_)

    def root_beyond(self, id_: str, path: Path) -> Path | None:
        """Returns the root to name so that an edit of a session is found, None where it is."""
        is_here = any(journal.names(id_) for journal in self._journals)
        return None if is_here else home_of(path.parent.resolve() / path.name)

    def _journal_of(self, id_: str) -> Journal:
        found = [journal for journal in self._journals if journal.names(id_)]
        if not found:
            raise UserError(f"no edit is called '{id_}'", LIST_THEM)
        if len(found) > 1:
            raise UserError(f"'{id_}' means several edits", LIST_THEM)
        return found[0]


def _homes_of(root: Root) -> Iterator[Path]:
    """Yields where the journals of a root may lie, wherever in it a session was edited."""
    if root.config:
        yield root.config
        return
    is_file = root.path.is_file()
    yield home_of(root.path if is_file else root.path / "a session")
    if not is_file:
        for folder, folders, _ in os.walk(root.path):
            if OURS in folders:
                folders.remove(OURS)
                yield Path(folder)
