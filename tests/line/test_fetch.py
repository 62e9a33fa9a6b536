"""Files fetched when opened, and the cost when there is no fetcher."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.errors import SourceError
from plait.line import (
    files,
    iter_bytes,
    iter_lines,
    read_file_mode,
    read_file_stamp,
    read_slice,
    read_small,
)
from plait.line.files import count_lines, fetch_missing, iter_blocks, register_source

TEXT = b'{"a":1}\n{"b":2}\n'


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Bring `one.jsonl` into a folder, and notes what it was asked for."""
    monkeypatch.setattr(files, "_sources", {})
    calls: list[Path] = []

    def bring(path: Path) -> bool:
        calls.append(path)
        if path.name != "one.jsonl":
            return False
        path.write_bytes(TEXT)
        return True

    register_source(tmp_path, bring)
    yield calls


@pytest.mark.parametrize(
    "look",
    [
        lambda path: [line.data for line in iter_lines(path)],
        lambda path: b"".join(iter_bytes(path)),
        lambda path: read_slice(path, 0, 7),
        read_small,
        count_lines,
        lambda path: [bytes(buffer[:filled]) for buffer, filled in iter_blocks(path)],
        read_file_mode,
    ],
)
def test_a_missing_file_is_fetched_by_every_way_of_opening_it(
    tmp_path: Path, asked: list[Path], look: object
) -> None:
    path = tmp_path / "one.jsonl"
    assert callable(look)
    first = look(path)
    assert asked == [path]
    assert look(path) == first != []
    assert asked == [path], "a file that is there is asked of nobody"


def test_a_file_that_no_source_has_stays_missing(tmp_path: Path, asked: list[Path]) -> None:
    path = tmp_path / "other.jsonl"
    with pytest.raises(SourceError, match="no such file"):
        list(iter_lines(path))
    assert read_small(path) is None
    assert read_file_stamp(path) is None
    assert len(asked) == 3


def test_sources_are_not_asked_for_files_outside_their_folder(
    tmp_path: Path, asked: list[Path]
) -> None:
    assert not fetch_missing(tmp_path.parent / "one.jsonl")
    assert not fetch_missing(Path(f"{tmp_path}-beside/one.jsonl"))
    assert asked == []
