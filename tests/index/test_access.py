"""No disk space or a foreign lock gives a clear error and leaves the index intact."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from plait import Archive
from plait.errors import SourceError
from plait.index import catalogue
from plait.index.catalogue import is_write_error, write_error
from plait.index.search import IndexReader
from plait.indexing import update_index
from tests.index.held import list_expected, list_indexed
from tests.index.test_crash import archive

pytest.importorskip("resource")

CHILD = """
import resource, signal, sys
from pathlib import Path
from plait import Archive
from plait.indexing import update_index
from plait.errors import SourceError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    update_index(Archive([Path(sys.argv[1])]), Path(sys.argv[2]))
    print("done")
except SourceError as error:
    print(error.message, *error.hints, sep="\\n")
"""


def cramped(root: Path, folder: Path, most: int) -> str:
    """Return what a run says in which no file may become larger than so many bytes."""
    child = subprocess.run(
        [sys.executable, "-B", "-c", CHILD, str(root), str(folder), str(most)],
        capture_output=True,
        text=True,
        check=True,
    )
    return child.stdout


@pytest.mark.parametrize("most", [100, 5_000, 40_000])
def test_first_index_without_disk_space(tmp_path: Path, most: int) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    archive(root)
    said = cramped(root, folder, most)
    assert said.startswith(f"cannot write the index in '{folder}'")
    assert "free disk space" in said
    update_index(Archive([root]), folder)
    assert list_indexed(folder) == list_expected(root)


@pytest.mark.parametrize("most", [5_000, 25_000])
def test_index_that_cannot_grow_still_answers(tmp_path: Path, most: int) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    archive(root)
    update_index(Archive([root]), folder)
    before = list_indexed(folder)
    for path in root.rglob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"Mended", b"Repaired " * 50))
    assert "free disk space" in cramped(root, folder, most)
    assert list_indexed(folder) == before
    reader = IndexReader(folder)
    assert reader.search("Mended").total
    reader.close()
    update_index(Archive([root]), folder)
    assert list_indexed(folder) == list_expected(root)


def test_locked_catalogue_is_not_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "WRITE_WAIT", 0.1)
    root, folder = tmp_path / "root", tmp_path / "index"
    archive(root)
    update_index(Archive([root]), folder)
    before = (folder / catalogue.CATALOGUE).stat().st_ino
    next(root.rglob("*.jsonl")).unlink()
    other = sqlite3.connect(folder / catalogue.CATALOGUE, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceError, match="database is locked") as caught:
        update_index(Archive([root]), folder)
    other.execute("ROLLBACK")
    other.close()
    assert "stop the program that is using the index" in caught.value.hints[0]
    assert (folder / catalogue.CATALOGUE).stat().st_ino == before
    update_index(Archive([root]), folder)
    assert list_indexed(folder) == list_expected(root)


def refused_by(name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(name.lower())
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (refused_by("SQLITE_FULL"), "free disk space"),
        (refused_by("SQLITE_IOERR_WRITE"), "free disk space"),
        (refused_by("SQLITE_BUSY"), "stop the program that is using the index"),
        (refused_by("SQLITE_READONLY_DBMOVED"), "stop the program that is using the index"),
        (OSError("failed: os error 28"), "free disk space"),
        (ValueError("LockBusy"), "stop the program that is using the index"),
        (ValueError("writer was killed"), "free disk space"),
        (refused_by("SQLITE_CORRUPT"), None),
        (ValueError("schema error"), None),
        (KeyError("os error 28"), None),
        (None, None),
    ],
)
def test_error_names_the_cause(error: Exception | None, hint: str | None) -> None:
    assert is_write_error(error) is (hint is not None)
    if error and hint:
        assert write_error(Path("/x"), error).hints[0].startswith(hint)
