"""Paths touched by sessions: index and logs agree."""

from pathlib import Path

from plait import Archive
from plait.files.history import find_start_directory
from plait.files.touched import list_changed_files
from plait.indexing import update_index
from tests.files.scripted import Scripted


def test_the_index_answers_what_the_logs_answer(gallery: Path, tmp_path: Path) -> None:
    update_index(Archive([gallery]), tmp_path)
    cold, warm = Archive([gallery]), Archive([gallery], index=tmp_path)
    assert sorted(map(repr, warm.touches())) == sorted(map(repr, cold.touches()))
    assert warm.touched_files() == warm.touched_files()
    assert {item.path: item for item in warm.touched_files()} == {
        item.path: item for item in cold.touched_files()
    }
    path = "/home/dev/shop/shop/search.py"
    assert [(row.action, row.state) for row in warm.touches(path)] == [
        ("created", "abandoned"),
        ("written", "active"),
    ]


def test_copied_records_count_once(tmp_path: Path) -> None:
    home = Scripted(tmp_path)
    script = home.session()
    script.prompt("write")
    script.write(home.top / "a.py", "x = 1\n")
    copy = script.log.with_name("bbbbbbbb-0000-4000-8000-000000000000.jsonl")
    copy.write_bytes(script.log.read_bytes().replace(script.id.encode(), copy.stem.encode()))
    (found,) = Archive([home.config]).touched_files()
    assert (found.changes, found.sessions, found.added) == (1, 1, 1)


def test_file_is_listed_once_under_any_path_form(tmp_path: Path) -> None:
    home = Scripted(tmp_path)
    script = home.session()
    script.prompt("write")
    script.write(home.top / "a.py", "x = 1\n")
    script.prompt("change")  # backups are named from the directory of the session
    script.edit(home.top / "a.py", "1", "2")
    worktree = tmp_path / "shop-worktree"
    worktree.mkdir()
    other = home.session(worktree)
    other.prompt("change it from another worktree")
    other.edit(home.top / "a.py", "2", "3")
    other.rename_backup(home.top / "a.py", "../shop/a.py")
    other.prompt("go on")
    other.read(home.top / "a.py")
    archive = Archive([home.config])
    for session in archive.sessions:
        opened = archive.open(session)
        files = list_changed_files(
            opened.conversations, directory=find_start_directory(opened)
        ).files
        assert [file.path for file in files] == [str(home.top / "a.py")]
        assert "backed up" in {touch.touch.action for touch in files[0].touches}
