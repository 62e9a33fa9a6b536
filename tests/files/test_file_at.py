"""File contents at a time, with changes by sessions, by hand and by Git."""

import os
from pathlib import Path

import pytest

from plait import Archive
from plait.files.history import FileAt
from tests.files.scripted import Script, Scripted

ONE, TWO, THREE = "one = first_value()", "two = second_value()", "three = third_value()"


@pytest.fixture
def home(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def content_at(home: Scripted, path: Path, at: str) -> FileAt:
    return Archive([home.config]).file_at(path, at)


def joined(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def without_backups(home: Scripted, script: Script) -> None:
    for copy in (home.config / "file-history" / script.id).iterdir():
        copy.unlink()


def test_a_file_is_shown_under_its_former_name(home: Scripted) -> None:
    old, new, script = home.top / "cart.py", home.top / "basket.py", home.session()
    script.prompt("write")
    script.write(old, joined(ONE, TWO, THREE))
    home.commit("one")
    home.git("mv", "cart.py", "basket.py")
    home.commit("moved")
    script.prompt("change it there")
    script.edit(new, THREE, f"{THREE}\nfour = fourth_value()")
    first, second = (content_at(home, new, f"{script.id}:{turn}") for turn in (1, 2))
    assert (first.path, str(first.text)) == (str(old), joined(ONE, TWO, THREE))
    assert str(second.text) == joined(ONE, TWO, THREE, "four = fourth_value()")


def test_parts_not_in_patches_are_filled_from_later_reads(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    file.write_text(joined(ONE, "1", "2", "3", "4", TWO), encoding="utf-8")
    script.has_originals = False
    script.prompt("change")
    script.edit(file, ONE, THREE)
    script.prompt("look")
    script.read(file)
    without_backups(home, script)
    found = content_at(home, file, f"{script.id}:1")
    assert str(found.text) == joined(THREE, "1", "2", "3", "4", TWO)
    assert found.certainty == "likely"
    assert found.why == "lines outside the patches are taken from a later version"


def test_first_read_counts_from_session_start(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    file.write_text(joined(ONE), encoding="utf-8")
    early = home.clock.time()
    script.prompt("hello")
    within = home.clock.time()
    script.prompt("look")
    script.read(file)
    found = content_at(home, file, within)
    assert (str(found.text), found.certainty) == (joined(ONE), "likely")
    assert content_at(home, file, early).why == "no session read or changed the file that early"
    assert content_at(home, file, early).text is None


def test_file_on_disk_counts_since_its_modification(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    script.prompt("write")
    script.write(file, joined(ONE))
    file.write_text(joined(ONE, TWO), encoding="utf-8")
    os.utime(file, (2_000_000_000, 2_000_000_000))
    then, later = (
        content_at(home, file, "2030-01-01T00:00:00.000Z"),
        content_at(home, file, "2034-01-01"),
    )
    assert (str(then.text), then.certainty) == (joined(ONE), "likely")
    assert then.why == "the file was changed by others before 2033-05-18T03:33:20.000Z"
    assert (str(later.text), later.certainty) == (joined(ONE, TWO), "sure")
    os.utime(file, (1, 1))
    assert content_at(home, file, "2026-03-03").certainty == "likely"
    file.write_bytes(b"\0")
    assert content_at(home, file, "2026-03-03").certainty == "sure"
