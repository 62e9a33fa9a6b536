"""Requests that change sessions: permission, plan, apply, undo."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.web.api.routes import BASE, TABLE, WRITES
from tests.web.edit_server import MEANT, EditServer, serve_for_edits

PAGES = ("/", "/sessions", "/edits", "/search?q=heron", "/usage", "/insights", "/side", "/palette")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EditServer]:
    """Serve sessions that may be changed."""
    with serve_for_edits(tmp_path) as running:
        yield running


def test_plan_is_shown_applied_and_undone(server: EditServer) -> None:
    before = server.files
    planned = server.planned(operation="rename", title="To the harbour")
    assert planned["report"]["applied"] is False
    assert planned["sizes"][0][0] == "lines"
    assert ["1", "added", "the title"] in planned["fates"]
    assert server.files == before
    status, done = server.send(f"/api/v1/plans/{planned['plan']}/apply", **MEANT)
    assert (status, done["report"]["applied"], done["name"]) == (200, True, server.name)
    assert b"To the harbour" in server.path.read_bytes()
    assert server.at.json("/api/v1/edits")["edits"][0]["state"] == "done"
    status, undone = server.send(f"/api/v1/edits/{done['report']['undo']}/undo", **MEANT)
    assert (status, undone["state"]) == (200, "undone")
    assert server.files == before


def test_plan_can_be_applied_once(server: EditServer) -> None:
    planned = server.planned(operation="tag", word="keep")
    address = f"/api/v1/plans/{planned['plan']}/apply"
    assert server.send(address, **MEANT)[0] == 200
    status, result = server.send(address, **MEANT)
    assert (status, result["error"]) == (409, "this plan no longer exists")
    assert server.path.read_bytes().count(b'"type":"tag"') == 1


def test_grown_session_is_not_overwritten(server: EditServer) -> None:
    planned = server.planned(operation="rename", title="Late")
    server.path.write_bytes(server.path.read_bytes() + b'{"type":"mode","mode":"plan"}\n')
    status, result = server.send(f"/api/v1/plans/{planned['plan']}/apply", {"force": True}, **MEANT)
    assert (status, "grown since" in result["error"]) == (409, True)
    assert b"Late" not in server.path.read_bytes()


def test_live_session_is_refused_with_a_reason(server: EditServer) -> None:
    os.utime(server.path)
    planned = server.planned(operation="rename", title="Live")
    status, result = server.send(f"/api/v1/plans/{planned['plan']}/apply", **MEANT)
    assert status == 409
    assert "is live" in result["error"]
    assert any("--force" in hint for hint in result["hints"])
    planned = server.planned(operation="rename", title="Live")
    address = f"/api/v1/plans/{planned['plan']}/apply"
    assert server.send(address, {"force": True}, **MEANT)[0] == 200


@pytest.mark.parametrize(
    "asks",
    [
        {"operation": "trim", "tools": ["Read"], "thinking": True},
        {"operation": "trim", "thinking": True, "in_place": True},
        {"operation": "compress", "keep_last": 1},
        {"operation": "compress", "until": "3", "calls_as": "none", "in_place": True},
    ],
)
def test_trim_is_planned_applied_and_undone(server: EditServer, asks: dict[str, object]) -> None:
    before = server.files
    planned = server.planned(**asks)
    assert planned["report"]["operation"] == asks["operation"]
    assert "fewer tokens per request" in planned["saving"]
    assert server.files == before
    _, done = server.send(f"/api/v1/plans/{planned['plan']}/apply", **MEANT)
    assert (done["name"] == server.name) is ("in_place" in asks)
    context = server.at.json(f"/api/v1/sessions/{done['name']}/context")["context"]
    assert "thinking" not in {item["kind"] for item in context["fills"]}
    assert server.send(f"/api/v1/edits/{done['report']['undo']}/undo", **MEANT)[0] == 200
    assert server.files == before


def test_context_fills_and_preset_effects(server: EditServer) -> None:
    before = server.files
    report = server.at.json(f"/api/v1/sessions/{server.name}/context")["context"]
    results = next(preset for preset in report["fills"] if preset["kind"] == "results")
    (read,) = results["largest"]
    assert (read["words"], read["turn"], len(read["calls"])) == ("Read mole.txt", 2, 1)
    assert report["next_prompt"]["tokens"] > 0
    presets = server.at.json(f"/api/v1/sessions/{server.name}/presets")["presets"]
    assert [preset["preset"] for preset in presets] == ["light", "standard", "heavy", "extreme"]
    assert all(preset["after"]["tokens"] <= preset["before"]["tokens"] for preset in presets)
    assert server.files == before


def test_clone_is_found_by_its_title(server: EditServer) -> None:
    planned = server.planned(operation="clone", title="Once more")
    _, done = server.send(f"/api/v1/plans/{planned['plan']}/apply", **MEANT)
    assert done["name"] == done["report"]["session"] != server.name
    assert server.at.ask(f"/s/{done['name']}")[0] == 200


@pytest.mark.parametrize(
    ("asks", "status"),
    [
        ({}, 400),
        ({"operation": "rename"}, 400),
        ({"operation": "format-disk"}, 400),
        ({"operation": "rename", "title": "x", "path": "/etc/passwd"}, 400),
        ({"operation": "switch", "branch": "nobody-called-so"}, 400),
        ({"operation": "trim"}, 400),
        ({"operation": "trim", "way": "cut", "except_last": 2}, 400),
        ({"operation": "trim", "preset": "mild"}, 400),
        ({"operation": "trim", "tools": ["Read"], "older_than": "2d"}, 400),
        ({"operation": "trim", "calls": ["x"] * 201}, 400),
        ({"operation": "compress"}, 400),
        ({"operation": "compress", "keep_last": 0}, 400),
        ({"operation": "compress", "until": "99"}, 400),
        ({"operation": "compress", "keep_last": 1, "command": "touch /tmp/x"}, 400),
        ([], 400),
        ("rename", 400),
    ],
)
def test_impossible_plan_is_refused_with_a_reason(
    server: EditServer, asks: object, status: int
) -> None:
    before = server.files
    found, result = server.send(f"/api/v1/sessions/{server.name}/plan", asks, **MEANT)
    assert (found, bool(result["error"])) == (status, True)
    assert server.files == before


def write_addresses(server: EditServer) -> Iterator[str]:
    """Yield every address at which something is changed, with a plan that waits."""
    planned = server.planned(operation="rename", title="Never")
    for item in WRITES:
        result = {"name": server.name, "plan": planned["plan"], "edit": "latest"}
        yield BASE + item.path.format(**result)


def test_get_requests_change_nothing(server: EditServer) -> None:
    before = server.files
    for address in write_addresses(server):
        for method in ("GET", "HEAD", "PUT", "DELETE"):
            assert server.send(address, method=method, **MEANT)[0] == 405, address
    for page in PAGES:
        assert server.at.ask(page)[0] == 200, page
    for entry in TABLE:
        server.at.ask(BASE + entry.path.format(name=server.name))
    assert server.files == before
    assert server.at.json("/api/v1/edits")["edits"] == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Plait_Edit": "no"},
        {**MEANT, "Origin": "http://evil.example"},
        {**MEANT, "Origin": "null"},
        {**MEANT, "Sec_Fetch_Site": "cross-site"},
        {**MEANT, "Sec_Fetch_Site": "same-site"},
    ],
)
def test_cross_site_requests_change_nothing(server: EditServer, headers: dict[str, str]) -> None:
    before = server.files
    for address in write_addresses(server):
        body = {"operation": "rename", "title": "x"} if address.endswith("/plan") else {}
        assert server.send(address, body, **headers)[0] == 403, address
    assert server.files == before


def test_without_a_key_nothing_is_planned(server: EditServer) -> None:
    address = f"/api/v1/sessions/{server.name}/plan"
    asks = {"operation": "rename", "title": "x"}
    assert server.send(address, asks, Cookie="", **MEANT)[0] == 401
    given = {"Cookie": "", "Authorization": f"Bearer {server.at.keys.key}", **MEANT}
    assert server.send(address, asks, **given)[0] == 200


def test_oversized_request_is_refused(server: EditServer) -> None:
    asks = {"operation": "rename", "title": "x" * 20_000}
    assert server.send(f"/api/v1/sessions/{server.name}/plan", asks, **MEANT)[0] == 413


def test_read_only_server_offers_no_edits(tmp_path: Path) -> None:
    with serve_for_edits(tmp_path, is_read_only=True) as running:
        before = running.files
        for address in (f"/api/v1/sessions/{running.name}/plan", "/api/v1/edits/x/undo"):
            status, result = running.send(address, {"operation": "delete"}, **MEANT)
            assert (status, "read-only" in result["error"]) == (403, True)
        assert running.at.json("/api/v1/edits")["is_read_only"] is True
        assert b".edits { display: none" in running.at.ask("/assets/plait.css")[2]
        assert running.files == before


def test_read_only_setting_can_be_changed(server: EditServer) -> None:
    assert b".edits { display: none" not in server.at.ask("/assets/plait.css")[2]
    report = server.at.json(f"/api/v1/sessions/{server.name}/check")
    assert (report["ok"], report["session"]) == (True, server.name)


def test_number_of_pending_plans_is_limited(server: EditServer) -> None:
    first = server.planned(operation="tag", word="first")["plan"]
    for number in range(16):
        server.planned(operation="tag", word=f"t{number}")
    assert server.send(f"/api/v1/plans/{first}/apply", **MEANT)[0] == 409
