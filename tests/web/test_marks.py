"""Stars and pins through the API: setting, permission, removing stale ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive
from tests.web.edit_server import MEANT, EditServer, serve_for_edits

STAR, PIN = "/api/v1/marks/star", "/api/v1/marks/pin"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EditServer]:
    """Serve sessions that can be starred."""
    with serve_for_edits(tmp_path) as running:
        yield running


def marks(server: EditServer, query: str = "") -> Any:
    """Return what the server says is marked."""
    return server.at.json(f"/api/v1/marks{query}")


def opener(server: EditServer, number: int = 1) -> str:
    """Return the record that opens a turn."""
    turns = server.at.json(f"/api/v1/sessions/{server.name}/conversation")["turns"]
    return str(next(turn["opener"]["uuid"] for turn in turns if turn["number"] == number))


def test_star_is_set_and_removed(server: EditServer, tmp_path: Path) -> None:
    assert (marks(server)["stars"], marks(server)["is_read_only"]) == ([], False)
    status, result = server.send(STAR, {"session": server.name}, **MEANT)
    assert (status, result) == (200, {"session": server.name, "on": True})
    assert [mark["name"] for mark in marks(server)["stars"]] == [server.name]
    assert Archive([server.root], stars=tmp_path / "stars.json").stars.ids == {server.name}
    assert marks(server, "?session=another")["stars"] == []
    assert server.send(STAR, {"session": server.name, "on": False}, **MEANT)[1]["on"] is False
    assert marks(server)["stars"] == []


def test_pin_is_set_located_and_removed(server: EditServer, tmp_path: Path) -> None:
    asks = {"session": server.name, "uuid": opener(server)}
    status, result = server.send(PIN, asks, **MEANT)
    assert (status, result["turn"], result["on"]) == (200, 1, True)
    (library,) = Archive([server.root], stars=tmp_path / "stars.json").stars.pins()
    assert (library.uuid, library.words) == (asks["uuid"], result["words"])
    (found,) = marks(server, f"?session={server.name}&placed=true")["pins"]
    assert (found["turn"], found["line"] is None, found["why_gone"]) == (1, False, None)
    server.send(PIN, {**asks, "on": False}, **MEANT)
    assert marks(server)["pins"] == []


def test_unknown_targets_are_refused(server: EditServer, tmp_path: Path) -> None:
    assert server.send(STAR, {"session": "nobody"}, **MEANT)[0] == 404
    assert server.send(PIN, {"session": "nobody", "uuid": "x"}, **MEANT)[0] == 404
    status, result = server.send(PIN, {"session": server.name, "uuid": "nothing"}, **MEANT)
    assert (status, result["error"]) == (400, "no turn starts with the message 'nothing'")
    assert not (tmp_path / "stars.json").exists()


def test_pin_of_a_missing_turn_says_so_and_can_be_removed(server: EditServer) -> None:
    server.send(STAR, {"session": server.name}, **MEANT)
    server.send(PIN, {"session": server.name, "uuid": opener(server, 2)}, **MEANT)
    lines = server.path.read_bytes().splitlines(keepends=True)
    server.path.write_bytes(
        b"".join(line for line in lines if json.loads(line).get("uuid") == opener(server))
    )
    server.at.library.refresh()
    (found,) = marks(server, "?placed=true")["pins"]
    assert (found["turn"], found["why_gone"]) == (2, "the turn is no longer in its session")
    server.path.unlink()
    server.at.library.refresh()
    result = marks(server)
    assert (result["pins"][0]["why_gone"], result["pins"][0]["name"]) == (
        "its session is not under these roots",
        None,
    )
    assert result["stars"][0]["name"] is None
    assert (
        server.send(PIN, {"session": server.name, "uuid": found["uuid"], "on": False}, **MEANT)[0]
        == 200
    )
    assert server.send(STAR, {"session": server.name, "on": False}, **MEANT)[0] == 200
    assert (marks(server)["pins"], marks(server)["stars"]) == ([], [])


def test_forged_request_marks_nothing(server: EditServer, tmp_path: Path) -> None:
    for address in (STAR, PIN):
        asks = {"session": server.name, "uuid": opener(server)}
        assert server.send(address, asks)[0] == 403
        assert server.send(address, asks, **MEANT, Origin="http://elsewhere.example")[0] == 403
        assert server.send(address, method="GET", **MEANT)[0] in (404, 405)
    assert not (tmp_path / "stars.json").exists()


def test_read_only_server_marks_nothing(tmp_path: Path) -> None:
    with serve_for_edits(tmp_path, is_read_only=True) as running:
        assert running.send(STAR, {"session": running.name}, **MEANT)[0] == 403
        assert (
            running.send(PIN, {"session": running.name, "uuid": opener(running)}, **MEANT)[0] == 403
        )
        assert marks(running)["is_read_only"] is True
    assert not (tmp_path / "stars.json").exists()


def test_unreadable_star_file_is_reported(server: EditServer, tmp_path: Path) -> None:
    (tmp_path / "stars.json").write_text("{")
    status, _, body = server.at.ask("/api/v1/marks")
    assert (status, b"is damaged" in body) == (503, True)
    assert server.send(STAR, {"session": server.name}, **MEANT)[0] == 503
    assert (tmp_path / "stars.json").read_text() == "{"
