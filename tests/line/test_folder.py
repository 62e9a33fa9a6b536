"""Safe file names and a folder that refuses others."""

import stat
from pathlib import Path

import pytest

from plait.errors import SourceError
from plait.line.output import MOST_ENTRY_BYTES, OutputFolder, make_file_name
from tests.hostile.named import PATHS


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("3f2a91c0-0000-4000-8000-000000000001", "3f2a91c0-0000-4000-8000-000000000001"),
        ("../../../x/index", "__.._.._x_index"),
        ("..", "_"),
        (".hidden", "_hidden"),
        ("", "_"),
        ("CON", "_CON"),
        ("con.txt", "_con.txt"),
        ("lpt1", "_lpt1"),
        ("console", "console"),
        ("com", "com"),
        ("ends in a dot.", "ends_in_a_dot"),
        ("a\0b", "a_b"),
        ("a\ud800b", "a_b"),
        ("a\u202eb", "a_b"),
        ("e\u0301", "\u00e9"),
        ("x" * 400, "x" * 120),
        ("\u6f22" * 200, "\u6f22" * 66),
    ],
)
def test_a_text_becomes_a_harmless_name(text: str, name: str) -> None:
    assert make_file_name(text) == name


@pytest.mark.parametrize("text", PATHS.values(), ids=PATHS)
def test_any_text_of_a_log_becomes_a_usable_name(text: str, tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out")
    folder.write(f"{make_file_name(text)}.html", b"x")
    assert [path.parent for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "out"]


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/../../x",
        "..",
        ".",
        "",
        "/etc/x",
        "a\\..\\x",
        "C:x",
        "a\0b",
        "a\ud800b",
        "a\nb",
        "nul",
        "NUL.txt",
        "a/con/b",
        "a./b",
        "a /b",
        "a/",
        "x" * (MOST_ENTRY_BYTES + 1),
    ],
)
def test_unsafe_name_is_refused(name: str, tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out")
    with pytest.raises(SourceError, match="refusing to write"):
        folder.write(name, b"x")
    folder.remove(name)
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_the_maximum_length_is_accepted(tmp_path: Path) -> None:
    OutputFolder(tmp_path).write("x" * MOST_ENTRY_BYTES, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["x" * MOST_ENTRY_BYTES]


def test_no_symlink_leads_out_of_the_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept")
    inside = tmp_path / "out"
    inside.mkdir()
    (inside / "sessions").symlink_to(elsewhere)
    (inside / "index.html").symlink_to(elsewhere / "kept")
    folder = OutputFolder(inside)
    with pytest.raises(SourceError, match="a link or a file"):
        folder.write("sessions/kept", b"x")
    folder.remove("sessions/kept")
    folder.write("index.html", b"ours")
    assert (elsewhere / "kept").read_text() == "kept"
    assert (inside / "index.html").read_bytes() == b"ours"
    assert not (inside / "index.html").is_symlink()


def test_a_file_in_place_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("")
    with pytest.raises(SourceError, match="a link or a file"):
        OutputFolder(tmp_path).write("sessions/x", b"")


def test_files_are_private_and_drafts_are_removed(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out")
    folder.write("a/b", b"x")
    folder.write("a/b", b"y")
    made = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").rglob("*")}
    assert made == {tmp_path / "out/a": 0o700, tmp_path / "out/a/b": 0o600}
    assert (tmp_path / "out/a/b").read_bytes() == b"y"
    (tmp_path / "out/a/.b.new").write_bytes(b"cut short")
    folder.remove("a/b")
    assert list((tmp_path / "out/a").iterdir()) == []
