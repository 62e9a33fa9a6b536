"""Following a growing file line by line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.line import Follower, Line, iter_lines


def data(follower: Follower) -> list[bytes]:
    return [line.data for line in follower.poll().lines]


def test_each_line_comes_once_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntw")
    follower = Follower(path)
    assert data(follower) == [b"one"]
    assert data(follower) == []
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    assert data(follower) == [b"two", b"three"]
    assert (follower.offset, follower.number) == (14, 4)


def test_following_can_start_at_an_offset(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo\n")
    follower = Follower(path, offset=4, number=2)
    assert [tuple(line) for line in follower.poll().lines] == [(2, 4, b"two", True)]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.write_bytes(b"x\n"), id="cut"),
        pytest.param(lambda path: path.write_bytes(b"other\nlines and more\n"), id="cut and grown"),
        pytest.param(
            lambda path: (path.with_suffix(".new").write_bytes(b"one\ntwo\nnew\n"),
                          path.with_suffix(".new").replace(path)),
            id="replaced by a copy that begins alike",
        ),
        pytest.param(
            lambda path: (path.unlink(), path.write_bytes(b"again\n")), id="deleted and made anew"
        ),
    ],
)  # fmt: skip
def test_replaced_file_restarts(tmp_path: Path, change: object) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo\n")
    follower = Follower(path)
    follower.poll()
    assert callable(change)
    change(path)
    growth = follower.poll()
    assert growth.is_restarted
    assert list(growth.lines) == list(iter_lines(path))


def test_deletion_is_reported_and_following_continues(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    follower = Follower(path)
    follower.poll()
    path.unlink()
    assert follower.poll().is_gone
    path.write_bytes(b"one\n")
    growth = follower.poll()
    assert growth.is_restarted
    assert [line.data for line in growth.lines] == [b"one"]


def test_missing_file_can_be_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    follower = Follower(path)
    assert follower.poll().is_gone
    path.write_bytes(b"one\n")
    assert data(follower) == [b"one"]


# checklist: F1
@given(st.lists(st.binary(max_size=12), max_size=12))
def test_growth_in_any_chunks_equals_a_full_read(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("grow") / "a.jsonl"
    path.touch()
    follower = Follower(path)
    seen: list[Line] = []
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece)
        growth = follower.poll()
        assert not growth.is_restarted
        seen += growth.lines
    assert seen == [line for line in iter_lines(path) if line.is_ended]
