"""Deleting an index that is still in use."""

import shutil
from errno import EACCES, ENOTEMPTY
from pathlib import Path
from typing import Any

import pytest

from plait.errors import SourceError
from plait.index import writer
from plait.index.writer import open_writer


@pytest.mark.parametrize("times", [1, 3])
def test_folder_still_being_written_is_deleted_eventually(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    with open_writer(tmp_path):
        pass
    monkeypatch.setattr(writer, "PAUSE", 0)
    late = [tmp_path / "text" / f"late-{number}" for number in range(times)]
    delete = shutil.rmtree

    def disturbed(place: Path, **options: Any) -> None:
        if late:
            late.pop().touch()
            raise OSError(ENOTEMPTY, "Directory not empty")
        delete(place, **options)

    monkeypatch.setattr(shutil, "rmtree", disturbed)
    with open_writer(tmp_path, is_anew=True):
        assert not list((tmp_path / "text").glob("late-*"))


@pytest.mark.parametrize("errno", [ENOTEMPTY, EACCES])
def test_a_folder_that_cannot_be_deleted_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, errno: int
) -> None:
    with open_writer(tmp_path):
        pass
    asked = []

    def refused(place: Path, **options: Any) -> None:
        asked.append(place)
        raise OSError(errno, "no")

    monkeypatch.setattr(writer, "PAUSE", 0)
    monkeypatch.setattr(shutil, "rmtree", refused)
    with pytest.raises(SourceError), open_writer(tmp_path, is_anew=True):
        pass
    assert len(asked) == (1 if errno == EACCES else writer.TRIES + 1)
