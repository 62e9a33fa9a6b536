"""Paths that sessions touched: the same from the index as from the logs."""

from pathlib import Path

from plait import Archive
from plait.indexing import update_index
from tests.files.scripted import Scripted


def test_the_index_tells_what_the_logs_tell(gallery: Path, tmp_path: Path) -> None:
    update_index(Archive([gallery]), tmp_path)
    cold, warm = Archive([gallery]), Archive([gallery], index=tmp_path)
    assert sorted(map(repr, warm.touches())) == sorted(map(repr, cold.touches()))
    assert warm.touched_files() == warm.touched_files()
    assert {one.path: one for one in warm.touched_files()} == {
        one.path: one for one in cold.touched_files()
    }
    path = "/home/dev/shop/shop/search.py"
    assert [(row.action, row.state) for row in warm.touches(path)] == [
        ("created", "abandoned"),
        ("written", "active"),
    ]


def test_what_was_copied_counts_once(tmp_path: Path) -> None:
    home = Scripted(tmp_path)
    script = home.session()
    script.prompt("write")
    script.write(home.top / "a.py", "x = 1\n")
    copy = script.log.with_name("bbbbbbbb-0000-4000-8000-000000000000.jsonl")
    copy.write_bytes(script.log.read_bytes().replace(script.id.encode(), copy.stem.encode()))
    (found,) = Archive([home.config]).touched_files()
    assert (found.changes, found.sessions, found.added) == (1, 1, 1)
