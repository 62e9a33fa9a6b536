"""Roots removed, restored and rewritten; a server that stops and restarts."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event as Flag
from threading import Timer
from time import monotonic, sleep

import pytest
from playwright.sync_api import expect

from plait.archive import Archive, watch_changes
from plait.archive.live import LiveArchive
from plait.indexing import update_index
from plait.sessions.watch import _Poller
from plait.web.events import Event
from tests.web.lists import WALKS, walk
from tests.web.reading_page import Reader, Served, forgiving, reader, served
from tests.web.test_axe import faults

__all__ = ["forgiving", "reader"]
PATIENCE = 60.0


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a configuration folder with two sessions."""
    found = tmp_path / "claude"
    for item in WALKS[:2]:
        walk(found, *item)
    assert (found / "projects").is_dir()
    return found


@pytest.fixture
def at(config: Path, tmp_path: Path) -> Iterator[Served]:
    """Serve them, live."""
    update_index(Archive([config]), tmp_path / "index")
    with served(config, tmp_path / "index", is_live=True) as server:
        yield server


def listening(at: Served, count: int = 1) -> None:
    """Wait until pages listen."""
    end = monotonic() + PATIENCE
    while at.hub.listener_count < count:
        assert monotonic() < end, "nobody listens"
        sleep(0.02)


def test_removed_and_recreated_projects_are_noticed(
    at: Served, config: Path, tmp_path: Path, reader: Reader
) -> None:
    page = reader(at, "/sessions")
    listening(at)
    expect(page.locator("tr[data-name]")).to_have_count(2)
    shutil.move(config / "projects", tmp_path / "away")
    expect(page.locator("tr[data-name]")).to_have_count(0, timeout=PATIENCE * 1000)
    line = page.locator(".status-bar .reading-line")
    expect(line).to_contain_text(f"'{config}' does not exist")
    walk(config, *WALKS[2])
    expect(page.locator("tr[data-name]")).to_have_count(1, timeout=PATIENCE * 1000)
    expect(page.get_by_role("link", name="the shore")).to_be_visible()
    expect(page.locator(".status-bar")).to_have_count(0)
    walk(config, *WALKS[0])  # the new folder is watched as the old one was
    expect(page.locator("tr[data-name]")).to_have_count(2, timeout=PATIENCE * 1000)


def test_moved_root_that_returns_keeps_its_index(
    at: Served, config: Path, tmp_path: Path, reader: Reader
) -> None:
    page = reader(at, "/sessions")
    listening(at)
    shutil.move(config, tmp_path / "elsewhere")
    expect(page.locator("tr[data-name]")).to_have_count(0, timeout=PATIENCE * 1000)
    assert Archive([], tmp_path / "index").index_status().sessions == 2
    shutil.move(tmp_path / "elsewhere", config)
    expect(page.locator("tr[data-name]")).to_have_count(2, timeout=PATIENCE * 1000)


def test_bulk_rewrite_updates_every_session_page(
    at: Served, config: Path, tmp_path: Path, reader: Reader
) -> None:
    (session,) = (item for item in Archive([config]) if "south" in item.path.read_text())
    page = reader(at, f"/s/{session.id}")
    listening(at)
    expect(page.get_by_text("The same.")).to_have_count(1)
    copy = tmp_path / "copy"
    shutil.copytree(config / "projects", copy)
    for path in copy.rglob("*.jsonl"):
        path.write_text(path.read_text().replace("The same.", "Twice as far."))
    shutil.rmtree(config / "projects")
    shutil.move(copy, config / "projects")
    expect(page.get_by_text("Twice as far.")).to_have_count(1, timeout=PATIENCE * 1000)


def test_page_reloads_the_session_after_too_many_events(
    at: Served, config: Path, reader: Reader
) -> None:
    (session,) = (item for item in Archive([config]) if "south" in item.path.read_text())
    page = reader(at, f"/s/{session.id}")
    listening(at)
    with page.expect_request("**/since?*"):
        at.hub.publish([Event("again")])


def test_folder_without_projects_counts_as_logs_only_if_it_never_had_projects(
    config: Path, tmp_path: Path
) -> None:
    library = LiveArchive((config,), tmp_path / "index")
    assert len(library.snapshot.archive.sessions) == 2
    assert library.places == [config / "projects"]
    shutil.move(config / "projects", config / "backup")
    library.refresh()
    assert not list(library.snapshot.archive)
    assert library.missing_roots == (config,)
    other = LiveArchive((config,), tmp_path / "other")
    assert len(other.snapshot.archive.sessions) == 2
    assert (other.missing_roots, other.places) == ((), [config])


def test_root_created_later_fills_the_page(tmp_path: Path, reader: Reader) -> None:
    config = tmp_path / "claude"
    with served(config, tmp_path / "index", is_live=True) as at:
        page = reader(at, "/sessions")
        listening(at)
        expect(page.get_by_text("No sessions yet.")).to_be_visible()
        walk(config, *WALKS[0])
        expect(page.get_by_role("link", name="the north gate")).to_be_visible(
            timeout=PATIENCE * 1000
        )
        expect(page.locator(".status-bar")).to_have_count(0)
        page.close()  # before the server goes


def test_missing_root_is_awaited(tmp_path: Path) -> None:
    stop, place = Flag(), tmp_path / "logs"
    end = Timer(PATIENCE, stop.set)
    end.start()
    result = watch_changes([place], stop=stop)
    next(result)  # the beginning
    place.mkdir()
    next(result)
    assert not stop.is_set()
    end.cancel()
    stop.set()
    assert list(result) == []


def test_full_rescan_happens_on_schedule(tmp_path: Path) -> None:
    look = _Poller([tmp_path], poll=0.0)
    look._due = 0.0
    assert not look.has_changed()
    (tmp_path / "one.jsonl").write_text("{}\n")
    look._due = monotonic() + PATIENCE
    assert not look.has_changed()
    look._due = 0.0
    assert look.has_changed()
    look._due = 0.0
    assert not look.has_changed()


def test_page_shows_a_lost_connection_and_catches_up_afterwards(
    config: Path, tmp_path: Path, forgiving: Reader
) -> None:
    update_index(Archive([config]), tmp_path / "index")
    with ExitStack() as first:
        at = first.enter_context(served(config, tmp_path / "index", is_live=True))
        page = forgiving(at, "/sessions")
        listening(at)
        first.close()
        missing = page.locator(".status-bar .lost-line")
        expect(missing).to_contain_text("Connection lost", timeout=PATIENCE * 1000)
        expect(missing.locator("code")).to_have_text("plait serve", timeout=PATIENCE * 1000)
        assert faults(page) == []
        expect(page.locator("tr[data-name]")).to_have_count(2)
        walk(config, *WALKS[2])
    port = int(at.address.rpartition(":")[2])
    with served(config, tmp_path / "index", is_live=True, port=port):
        missing.get_by_role("button", name="Try now").click()
        expect(missing).to_have_count(0, timeout=PATIENCE * 1000)
        expect(page.locator("tr[data-name]")).to_have_count(3, timeout=PATIENCE * 1000)


def test_server_with_a_new_key_asks_to_sign_in(
    config: Path, tmp_path: Path, forgiving: Reader
) -> None:
    update_index(Archive([config]), tmp_path / "index")
    with ExitStack() as first:
        at = first.enter_context(served(config, tmp_path / "index", is_live=True))
        page = forgiving(at, "/sessions")
        listening(at)
    port = int(at.address.rpartition(":")[2])
    with served(config, tmp_path / "index", is_live=True, port=port, secret="another") as other:
        line = page.locator(".status-bar .lost-line")
        expect(line).to_contain_text("was restarted", timeout=PATIENCE * 1000)
        line.get_by_role("button", name="Reload").click()
        page.get_by_label("Key").fill(other.keys.key)
        page.get_by_role("button", name="Enter").click()
        expect(page).to_have_url(f"{other.address}/sessions")
        expect(page.locator("tr[data-name]")).to_have_count(2)
        expect(page.locator(".status-bar")).to_have_count(0)
