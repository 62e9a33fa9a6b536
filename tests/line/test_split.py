"""Splitting files into lines with numbers and offsets."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.errors import SourceError
from plait.line import Line, iter_lines, read_slice
from plait.line import files as split_module
from plait.line.files import count_lines


def written(folder: Path, data: bytes) -> Path:
    path = folder / "session.jsonl"
    path.write_bytes(data)
    return path


# checklist: S2, F1
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a\n", [(1, 0, b"a", True)]),
        (b"a", [(1, 0, b"a", False)]),
        (b"\n\n", [(1, 0, b"", True), (2, 1, b"", True)]),
        (b"a\r\nb\n", [(1, 0, b"a\r", True), (2, 3, b"b", True)]),
        (b"\xef\xbb\xbfa\n", [(1, 0, b"\xef\xbb\xbfa", True)]),
        (b"a\x00b\n", [(1, 0, b"a\x00b", True)]),
        ("a\u2028b\x0cc\x85d\n".encode(), [(1, 0, "a\u2028b\x0cc\x85d".encode(), True)]),
        (b"one\ntwo\nthr", [(1, 0, b"one", True), (2, 4, b"two", True), (3, 8, b"thr", False)]),
    ],
)
def test_only_a_newline_ends_a_line(
    tmp_path: Path, data: bytes, expected: list[tuple[int, int, bytes, bool]]
) -> None:
    assert [tuple(line) for line in iter_lines(written(tmp_path, data))] == expected


@given(st.lists(st.binary(max_size=30)), st.integers(1, 17))
def test_lines_tile_the_file_for_any_chunk_size(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], chunk: int
) -> None:
    data = b"\n".join(parts)
    path = written(tmp_path_factory.mktemp("tile"), data)
    original = split_module.CHUNK
    split_module.CHUNK = chunk
    try:
        found = list(iter_lines(path))
        counted, size = count_lines(path)
    finally:
        split_module.CHUNK = original
    assert b"".join(line.data + b"\n" * line.is_ended for line in found) == data
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    assert all(a.offset + len(a.data) + 1 == b.offset for a, b in pairwise(found))
    assert (counted, size) == (len(found), len(data))
    assert all(read_slice(path, line.offset, len(line.data)) == line.data for line in found)


def test_reading_starts_and_ends_at_given_offsets(tmp_path: Path) -> None:
    path = written(tmp_path, b"one\ntwo\nthree\n")
    assert list(iter_lines(path, offset=4, number=2, end=11)) == [
        Line(2, 4, b"two", True),
        Line(3, 8, b"thr", False),
    ]


def test_missing_file_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no such file or folder: '.*gone\.jsonl'"):
        list(iter_lines(tmp_path / "gone.jsonl"))


def test_memory_is_bounded_by_the_largest_line(tmp_path: Path) -> None:
    import tracemalloc

    path = written(tmp_path, (b"x" * 1000 + b"\n") * 40_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in iter_lines(path)) == 40_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * split_module.CHUNK < path.stat().st_size / 10


@pytest.mark.long
def test_line_of_100_mb(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":"' + b"x" * 100_000_000 + b'"}\n{}\n')
    assert [len(line.data) for line in iter_lines(path)] == [100_000_008, 2]
