"""Results of the archive are collections that can be iterated and have a length."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from plait import Archive
from tests.files.scripted import Scripted


def check_collection(result: Any, items: Collection[Any]) -> None:
    assert list(result) == list(items)
    assert len(result) == len(items) > 0


def test_results_are_collections(gallery: Path, tmp_path: Path) -> None:
    archive = Archive([gallery], index=tmp_path)
    hits = archive.search("parser")
    check_collection(hits, hits.hits)
    spending = archive.usage("monthly")
    check_collection(spending, spending.rows)
    table = archive.cross(["model", "month"])
    check_collection(table, table.cells)
    waste = archive.waste()
    check_collection(waste, waste.findings)
    tree = archive.tree()
    check_collection(tree, tree.items)
    why = archive.why(archive.sessions[-1])
    check_collection(why, why.requests)


def test_no_results_is_an_empty_collection(gallery: Path, tmp_path: Path) -> None:
    assert list(Archive([gallery], index=tmp_path).search("zzzzqqq")) == []


def test_file_history_is_a_collection(tmp_path: Path) -> None:
    home = Scripted(tmp_path)
    script = home.session()
    script.prompt("write")
    script.write(home.top / "a.py", "x = 1\ny = 2\n")
    home.commit()
    archive = Archive([home.config])
    history = archive.file_history(home.top / "a.py")
    check_collection(history, history.events)
    blame = archive.blame(home.top / "a.py")
    check_collection(blame, blame.lines)
    notes = archive.plan_notes(home.top / "a.py")
    check_collection(notes, notes.notes)
