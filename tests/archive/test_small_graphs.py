"""The small graph of a session is the same in page lists and exports."""

import re
from pathlib import Path

import pytest

from examples.drawing import draw
from plait.archive import Archive
from plait.archive.live.snapshot import Snapshot
from plait.export.plan import ExportPlan
from plait.export.site import Site
from plait.indexing import update_index

SHARING = "resumed-in-a-second-file"
"""In an export a record stands once; where sessions share some, one of them has the others'."""
FORKED = """
file work cwd=/srv/shop start=2026-11-02T09:00:00Z
U1 "one"
A1< "done"
U2< "two"
A2< "done"
U3<A1 "another two"
A3< "done"
"""


def exported(root: Path) -> dict[str, str]:
    site = Site()
    for family in ExportPlan(Archive([root]).sessions).families():
        list(site.family_files(family))
    return {entry.session: entry.drawing for entry in site.entries}


def served(root: Path, index: Path) -> dict[str, str]:
    archive = Archive([root], index=index)
    update_index(archive, index)
    now = Snapshot(archive)
    return now.draw_graphs(now.list_rows(None, {}, archive.prices))


def dots(drawing: str) -> list[str]:
    return re.findall(r'<circle class="(\w+)', drawing)


def test_list_and_export_draw_the_same(gallery: Path, tmp_path: Path) -> None:
    for example in sorted(item for item in gallery.iterdir() if (item / "projects").is_dir()):
        if example.name != SHARING:
            assert exported(example) == served(example, tmp_path / example.name), example.name


def test_turns_are_in_time_order(tmp_path: Path) -> None:
    draw(FORKED).write(tmp_path)
    (drawing,) = exported(tmp_path).values()
    assert dots(drawing) == ["active", "abandoned", "active"]
    assert served(tmp_path, tmp_path / "index") == exported(tmp_path)


@pytest.mark.parametrize(("turns", "is_drawn"), [(1, False), (2, True)])
def test_single_turn_has_no_graph(tmp_path: Path, turns: int, is_drawn: bool) -> None:
    draw("\n".join(FORKED.splitlines()[: 2 + 2 * turns])).write(tmp_path)
    (drawing,) = exported(tmp_path).values()
    assert bool(drawing) is is_drawn
