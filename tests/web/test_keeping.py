"""Backups on the page: what will be lost, backing up, restoring."""

import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from plait.view.page.session_rows import ListedSession
from plait.web.pages.home import BackupFigures, Home, render_home_page
from tests.web.edit_server import MEANT, EditServer, serve_for_edits
from tests.web.reading_page import Reader, reader

__all__ = ["reader"]
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EditServer]:
    """Serve sessions that can be kept."""
    with serve_for_edits(tmp_path) as running:
        yield running


def listed(name: str, days: float | None) -> ListedSession:
    deleted = None if days is None else NOW + timedelta(days=days)
    return ListedSession(
        name=name,
        title=name,
        prompt=None,
        folder="-home-dev-shop",
        root="/home/dev/shop",
        project="p",
        place="/p",
        deleted_at=deleted,
    )


def home(keeping: BackupFigures | None, soon: list[ListedSession]) -> str:
    return render_home_page(
        Home(
            now=NOW,
            running=(),
            recent=(),
            drawings={},
            days={},
            usage=None,
            soon=soon,
            backups=keeping,
            settings=["/c/settings.json"],
            total=1,
            searched=(),
        )
    )


def figures(
    *missing: ListedSession, unkept: int = 0, kept: int = 0, gone: int = 0
) -> BackupFigures:
    return BackupFigures(kept, gone, unkept, missing, 2_000_000, 100_000)


def test_home_offers_to_back_up_expiring_sessions() -> None:
    result = home(figures(listed("first", 2), listed("later", 20), unkept=3, kept=2), [])
    assert "Deleted soon <small>1</small>" in result
    assert "first" in result
    assert ">later<" not in result
    assert 'data-edit="keep">Back up all 3 sessions</button>' in result
    assert "3 sessions are not backed up." in result


def test_home_names_the_next_expiry_if_not_soon() -> None:
    result = home(figures(listed("later", 20), unkept=1), [])
    assert "Not backed up <small>1</small>" in result
    assert "The first will be deleted in 20 days." in result
    assert ">Back up 1 session</button>" in result


def test_home_says_everything_is_backed_up() -> None:
    result = home(figures(kept=4, gone=1), [listed("first", 2)])
    assert (
        "All sessions are backed up: 2.0 MB, 100 KB on disk. Plait has the only copy of 1 of them."
        in result
    )
    assert "first" not in result
    assert 'data-edit="keep"' not in result
    assert "Kept" not in home(figures(), [])


def test_without_a_store_home_lists_expiring_sessions() -> None:
    result = home(None, [listed("first", 2)])
    assert "Deleted soon <small>1</small>" in result
    assert "cleanupPeriodDays" in result
    assert 'data-edit="keep"' not in result


def test_one_click_backs_up_everything(server: EditServer) -> None:
    before = server.at.json("/api/v1/keep")
    count = len(server.at.json("/api/v1/sessions")["sessions"])
    assert (before["kept"], before["unkept"]) == (0, count)
    status, result = server.send("/api/v1/keep/now", **MEANT)
    assert (status, result["unread"]) == (200, [])
    assert len(result["sessions"]) == count
    after = server.at.json("/api/v1/keep")
    assert (after["kept"], after["unkept"], after["at_risk"]) == (count, 0, [])
    assert server.send("/api/v1/keep/now", **MEANT)[1]["files"] == 0


def test_single_session_is_backed_up(server: EditServer) -> None:
    status, result = server.send("/api/v1/keep/now", {"sessions": [server.name]}, **MEANT)
    assert (status, result["sessions"]) == (200, [server.name])
    assert server.send("/api/v1/keep/now", {"sessions": ["nobody"]}, **MEANT)[0] == 404
    assert server.send("/api/v1/keep/now", {"all": True}, **MEANT)[0] == 400


def test_forged_request_backs_up_nothing(server: EditServer, tmp_path: Path) -> None:
    for address in ("/api/v1/keep/now", f"/api/v1/sessions/{server.name}/restore"):
        assert server.send(address)[0] == 403
        assert server.send(address, **MEANT, Origin="http://elsewhere.example")[0] == 403
    assert not (tmp_path / "keep").exists()


def test_read_only_server_backs_up_nothing(tmp_path: Path) -> None:
    with serve_for_edits(tmp_path, is_read_only=True) as running:
        assert running.send("/api/v1/keep/now", **MEANT)[0] == 403
        assert running.send(f"/api/v1/sessions/{running.name}/restore", **MEANT)[0] == 403
    assert not (tmp_path / "keep").exists()


def test_backup_is_readable_refuses_edits_and_restores(server: EditServer) -> None:
    server.send("/api/v1/keep/now", **MEANT)
    path, before = server.path, server.files
    address = f"/api/v1/sessions/{server.name}"
    turns = server.at.json(f"{address}/conversation")["turns"]
    shutil.rmtree(server.root / "projects")
    (server.root / "projects").mkdir()
    server.at.library.refresh()
    assert server.at.json(f"{address}/conversation")["turns"] == turns
    assert server.at.json(address)["session"]["is_kept"] is True
    for tab in ("", "/context", "/timeline", "/files", "/usage", "/raw"):
        status, _, page = server.at.ask(f"/s/{server.name}{tab}")
        assert status == 200
        assert b'class="kept"' in page
        assert b" data-kept" in page
    status, result = server.send(f"{address}/plan", {"operation": "clone"}, **MEANT)
    assert (status, "only in the backup" in result["error"]) == (409, True)
    status, result = server.send(f"{address}/restore", **MEANT)
    assert (status, result["path"]) == (200, str(path))
    assert server.files[str(path)] == before[str(path)]
    assert time.time() - path.stat().st_mtime < 600
    assert server.at.json(address)["session"]["is_kept"] is False
    assert b'class="kept"' not in server.at.ask(f"/s/{server.name}")[2]


def test_backing_up_and_restoring_by_clicks(
    server: EditServer, reader: Reader, tmp_path: Path
) -> None:
    then = time.time() - 27 * 86400
    os.utime(server.path, (then, then))
    server.at.library.refresh()
    page = reader(server.at, "/")
    assert "Deleted soon" in page.inner_text(".going")
    page.click("[data-edit=keep]")
    page.wait_for_selector(".going h2:has-text('Backed up')")
    path = server.path
    data = path.read_bytes()
    path.unlink()
    server.at.library.refresh()
    page.goto(f"{server.at.address}/s/{server.name}")
    assert page.inner_text(".top .kept") == "kept"
    assert page.locator(".top [data-edit=menu]").count() == 0
    page.click("[data-edit=restore]")
    page.wait_for_selector(".top [data-edit=menu]")
    assert path.read_bytes() == data
