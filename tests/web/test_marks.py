"""Stars and pins through the API: setting, permission, removing stale ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive
from tests.web.edit_desk import MEANT, EditDesk, edit_desk

STAR, PIN = "/api/v1/marks/star", "/api/v1/marks/pin"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[EditDesk]:
    """Serve sessions that can be starred."""
    with edit_desk(tmp_path) as workspace:
        yield workspace


def marks(desk: EditDesk, query: str = "") -> Any:
    """Return what the server says is marked."""
    return desk.at.json(f"/api/v1/marks{query}")


def opener(desk: EditDesk, number: int = 1) -> str:
    """Return the record that opens a turn."""
    turns = desk.at.json(f"/api/v1/sessions/{desk.name}/conversation")["turns"]
    return str(next(turn["opener"]["uuid"] for turn in turns if turn["number"] == number))


def test_star_is_set_and_removed(desk: EditDesk, tmp_path: Path) -> None:
    assert (marks(desk)["stars"], marks(desk)["is_read_only"]) == ([], False)
    status, result = desk.send(STAR, {"session": desk.name}, **MEANT)
    assert (status, result) == (200, {"session": desk.name, "on": True})
    assert [mark["name"] for mark in marks(desk)["stars"]] == [desk.name]
    assert Archive([desk.root], stars=tmp_path / "stars.json").stars.ids == {desk.name}
    assert marks(desk, "?session=another")["stars"] == []
    assert desk.send(STAR, {"session": desk.name, "on": False}, **MEANT)[1]["on"] is False
    assert marks(desk)["stars"] == []


def test_pin_is_set_located_and_removed(desk: EditDesk, tmp_path: Path) -> None:
    asks = {"session": desk.name, "uuid": opener(desk)}
    status, result = desk.send(PIN, asks, **MEANT)
    assert (status, result["turn"], result["on"]) == (200, 1, True)
    (library,) = Archive([desk.root], stars=tmp_path / "stars.json").stars.pins()
    assert (library.uuid, library.words) == (asks["uuid"], result["words"])
    (found,) = marks(desk, f"?session={desk.name}&placed=true")["pins"]
    assert (found["turn"], found["line"] is None, found["why_gone"]) == (1, False, None)
    desk.send(PIN, {**asks, "on": False}, **MEANT)
    assert marks(desk)["pins"] == []


def test_unknown_targets_are_refused(desk: EditDesk, tmp_path: Path) -> None:
    assert desk.send(STAR, {"session": "nobody"}, **MEANT)[0] == 404
    assert desk.send(PIN, {"session": "nobody", "uuid": "x"}, **MEANT)[0] == 404
    status, result = desk.send(PIN, {"session": desk.name, "uuid": "nothing"}, **MEANT)
    assert (status, result["error"]) == (400, "no turn starts with the message 'nothing'")
    assert not (tmp_path / "stars.json").exists()


def test_pin_of_a_missing_turn_says_so_and_can_be_removed(desk: EditDesk) -> None:
    desk.send(STAR, {"session": desk.name}, **MEANT)
    desk.send(PIN, {"session": desk.name, "uuid": opener(desk, 2)}, **MEANT)
    lines = desk.path.read_bytes().splitlines(keepends=True)
    desk.path.write_bytes(
        b"".join(line for line in lines if json.loads(line).get("uuid") == opener(desk))
    )
    desk.at.library.refresh()
    (found,) = marks(desk, "?placed=true")["pins"]
    assert (found["turn"], found["why_gone"]) == (2, "the turn is no longer in its session")
    desk.path.unlink()
    desk.at.library.refresh()
    result = marks(desk)
    assert (result["pins"][0]["why_gone"], result["pins"][0]["name"]) == (
        "its session is not under these roots",
        None,
    )
    assert result["stars"][0]["name"] is None
    assert (
        desk.send(PIN, {"session": desk.name, "uuid": found["uuid"], "on": False}, **MEANT)[0]
        == 200
    )
    assert desk.send(STAR, {"session": desk.name, "on": False}, **MEANT)[0] == 200
    assert (marks(desk)["pins"], marks(desk)["stars"]) == ([], [])


def test_forged_request_marks_nothing(desk: EditDesk, tmp_path: Path) -> None:
    for address in (STAR, PIN):
        asks = {"session": desk.name, "uuid": opener(desk)}
        assert desk.send(address, asks)[0] == 403
        assert desk.send(address, asks, **MEANT, Origin="http://elsewhere.example")[0] == 403
        assert desk.send(address, method="GET", **MEANT)[0] in (404, 405)
    assert not (tmp_path / "stars.json").exists()


def test_read_only_server_marks_nothing(tmp_path: Path) -> None:
    with edit_desk(tmp_path, is_read_only=True) as workspace:
        assert workspace.send(STAR, {"session": workspace.name}, **MEANT)[0] == 403
        assert (
            workspace.send(PIN, {"session": workspace.name, "uuid": opener(workspace)}, **MEANT)[0]
            == 403
        )
        assert marks(workspace)["is_read_only"] is True
    assert not (tmp_path / "stars.json").exists()


def test_unreadable_star_file_is_reported(desk: EditDesk, tmp_path: Path) -> None:
    (tmp_path / "stars.json").write_text("{")
    status, _, body = desk.at.ask("/api/v1/marks")
    assert (status, b"is damaged" in body) == (503, True)
    assert desk.send(STAR, {"session": desk.name}, **MEANT)[0] == 503
    assert (tmp_path / "stars.json").read_text() == "{"
