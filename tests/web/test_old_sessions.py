"""Pages of an archive without activity for months."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.drawing import draw
from plait.archive import Archive
from plait.indexing import update_index
from tests.web.lists import fetch_when_counted, unlinked
from tests.web.reading_page import Served, served

TALK = """
file {name} cwd=/home/dev/{name} start={start}
U1 "how far"
A1< "a mile"
"""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve three sessions of different months, long ago."""
    root, index = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("index")
    for name, start in (("a", "2025-03-04"), ("b", "2025-05-06"), ("c", "2025-05-28")):
        draw(TALK.format(name=name, start=f"{start}T09:00:00Z")).write(root)
    update_index(Archive([root]), index)
    with served(root, index) as at:
        yield at


def test_home_shows_the_last_active_weeks_and_all_time(old: Served) -> None:
    page = unlinked(fetch_when_counted(old, "/"))
    heads = ["Week of\n2025-05-26", "Week of\n2025-05-05"]
    assert all(f">{head}</th>" in page for head in heads)
    assert "This week" not in page
    sessions = page.partition(">Sessions</th>")[2].partition("</tr>")[0]
    assert sessions.count(">1</td>") == 2
    assert "3 sessions with usage, 3 turns started</p>" in page.partition("All time: ")[2]


def test_home_and_sessions_page_count_shared_ids_alike(tmp_path: Path) -> None:
    logs, index = tmp_path / "logs", tmp_path / "index"
    draw(TALK.format(name="a", start="2025-03-04T09:00:00Z")).write(logs)
    (log,) = logs.rglob("*.jsonl")
    copy = log.parent.with_name(f"{log.parent.name}-copy") / log.name
    copy.parent.mkdir()
    lines = log.read_text(encoding="utf-8")
    copy.write_text(lines.replace("how far", "how deep"), encoding="utf-8")
    update_index(Archive([logs]), index)
    with served(logs, index) as at:
        (sessions,) = set(re.findall(r"sessions=(\d+)", fetch_when_counted(at, "/")))
        assert (
            f"sessions={sessions}" in fetch_when_counted(at, "/counted").partition("data-sums")[2]
        )
        assert sessions == "2"


def test_partially_logged_output_is_marked_as_a_minimum(
    tmp_path: Path,
) -> None:
    draw('file s\nU1 "how far"\nA1< "a mile"\nU2< "back"\nA2< "the same"').write(tmp_path)
    (path,) = tmp_path.rglob("*.jsonl")
    lines = path.read_text(encoding="utf-8")
    with served(tmp_path, tmp_path / "index") as at:
        (name,) = at.library.snapshot.names
        assert "by the model" in fetch_when_counted(at, f"/s/{name}/usage")
    path.write_text(lines.replace('"stop_reason":"end_turn"', '"stop_reason":null', 1))
    with served(tmp_path, tmp_path / "index") as at:
        page = fetch_when_counted(at, f"/s/{name}/usage")
    assert "minimum: 1 response logged before completion" in page


def test_usage_opens_on_the_last_days_with_usage_and_says_so(old: Served) -> None:
    page = unlinked(fetch_when_counted(old, "/usage"))
    assert "No usage in the last 30 days." in page
    assert "2025-04-29 to 2025-05-28" in page
    assert "<dd>2<small>of 3" in page
    assert "No usage in the last 30 days." not in fetch_when_counted(old, "/usage?range=all")
    assert "No usage in this period." in fetch_when_counted(old, "/usage?range=30d")
    assert "2025-02-03 to 2025-03-04" in fetch_when_counted(old, "/usage?project=-home-dev-a")
