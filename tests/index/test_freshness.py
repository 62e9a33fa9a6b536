"""File stamps, and whether a file has only grown."""

from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.index.catalogue import CATALOGUE, Catalogue
from plait.index.freshness import (
    FileStamp,
    has_grown,
    is_fresh,
    is_fresh_for_roots,
    load_stamps,
    mark_file,
    scan_stamps,
)
from plait.indexing import update_index

LONG = b"".join(b"%06d\n" % number for number in range(400))


def stamped(path: Path) -> FileStamp:
    [(_, stamp)] = scan_stamps([path]).items()
    return stamp


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(LONG + b"more\n", True, id="grown"),
        pytest.param(LONG, False, id="as it was"),
        pytest.param(LONG[:-7], False, id="shorter"),
        pytest.param(b"X" + LONG[1:] + b"more\n", False, id="its first byte is another"),
        pytest.param(LONG[:511] + b"X" + LONG[512:] + b"more\n", False, id="the end of its head"),
        pytest.param(LONG[:-2] + b"X\n" + b"more\n", False, id="before where it was read up to"),
        pytest.param(
            LONG[:1000] + b"X" + LONG[1001:] + b"more\n",
            True,
            id="in the middle, which nobody does",
        ),
    ],
)
def test_file_has_only_grown(tmp_path: Path, after: bytes, expected: bool) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LONG)
    known = mark_file(str(path), stamped(path), "session", len(LONG))
    with path.open("r+b") as file:  # the same inode
        file.truncate(0)
        file.write(after)
    assert has_grown(known, stamped(path)) is expected


def test_replaced_file_has_not_grown(tmp_path: Path) -> None:
    path, other = tmp_path / "log.jsonl", tmp_path / "other"
    path.write_bytes(LONG)
    known = mark_file(str(path), stamped(path), "session", len(LONG))
    other.write_bytes(LONG + b"more\n")
    other.replace(path)
    assert not has_grown(known, stamped(path))


def test_missing_file_has_not_grown(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LONG)
    stamp = stamped(path)
    known = mark_file(str(path), stamp, "session", len(LONG))
    path.unlink()
    assert not has_grown(known, stamp._replace(size=stamp.size + 1))
    assert mark_file(str(path), stamp, "session", 5).head == b""


def test_files_that_matter(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    names = [
        "one.jsonl",
        "one/custom-title.json",
        "one/agent-a.meta.json",
        "one/tool-results/any.txt",
        "notes.txt",
        "one/other.json",
    ]
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (folder / "again").symlink_to(folder, target_is_directory=True)
    found = sorted(Path(path).relative_to(folder).as_posix() for path in scan_stamps([folder]))
    assert found == sorted(names[:4])
    assert scan_stamps([tmp_path / "nowhere"]) == {}


DRAWING = 'file work cwd=/home/dev/shop\nU1 "one"\nA1< "two"'


def test_an_index_is_fresh_until_a_file_changes(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    draw(DRAWING).write(root)
    places = [root / "projects"]
    assert not is_fresh(folder, scan_stamps(places))
    assert load_stamps(folder) == {}
    update_index(Archive([root]), folder)
    assert is_fresh(folder, scan_stamps(places))
    assert is_fresh_for_roots(folder, [root])
    assert load_stamps(folder) == scan_stamps(places)
    with Catalogue(folder, is_reader=False).connection as connection:
        connection.execute("INSERT INTO pending VALUES (1)")
    assert not is_fresh(folder, scan_stamps(places))
    assert load_stamps(folder) == scan_stamps(places)
    next(root.rglob("*.jsonl")).write_bytes(b"")
    assert not is_fresh_for_roots(folder, [root])
    assert not is_fresh_for_roots(folder, [tmp_path / "nowhere"])
    (folder / CATALOGUE).write_bytes(b"broken")
    assert load_stamps(folder) == {}
