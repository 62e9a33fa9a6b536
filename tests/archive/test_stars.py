"""Stars and pins: a small file written by several processes at once."""

import json
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.drawing import Drawing, draw
from plait.archive import Archive
from plait.errors import SourceError, UserError
from plait.line.output import lock_file
from plait.sessions import stars as file
from plait.sessions.stars import StarFile

TALK = """
file talk cwd=/home/dev/tide
U1 "Count the boats."
A1< "Seven."
U2< "And the sails?"
A2< "Nine."
U3<A1 "No, the oars."
A3< "Twelve."
"""
MORE = TALK + 'U4< "And the masts?"\nA4< "Five."\n'
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)
TABLES = st.dictionaries(st.text(max_size=4), st.dictionaries(st.text(max_size=4), JSON))


@pytest.fixture
def starred(tmp_path: Path) -> StarFile:
    """Return stars that nobody has set yet."""
    return StarFile(tmp_path / "data" / "stars.json")


def archive_of(drawing: Drawing, folder: Path) -> Archive:
    """Return an archive of a drawn session, with a place for stars."""
    drawing.write(folder / "logs")
    return Archive([folder / "logs"], stars=folder / "stars.json")


def test_star_is_set_once_and_removed_once(starred: StarFile) -> None:
    assert starred.stars() == ()
    assert [starred.star("one"), starred.star("one"), starred.star("two")] == [True, False, True]
    assert {star.session for star in starred.stars()} == {"one", "two"}
    assert [starred.unstar("one"), starred.unstar("one")] == [True, False]
    assert [star.session for star in starred.stars()] == ["two"]
    assert starred.path.stat().st_mode & 0o777 == 0o600


def test_newest_comes_first(starred: StarFile) -> None:
    times = {"old": "2026-01-01T00:00:00.000Z", "new": "2026-02-01T00:00:00.000Z"}
    stars = {name: {"at": at} for name, at in times.items()}
    pins = {"s": {name: {"at": at, "turn": 1, "words": name} for name, at in times.items()}}
    starred.path.parent.mkdir()
    starred.path.write_text(json.dumps({"stars": stars, "pins": pins}))
    assert [star.session for star in starred.stars()] == ["new", "old"]
    assert [pin.words for pin in starred.pins()] == ["new", "old"]


@settings(max_examples=30, deadline=None)
@given(rest=st.dictionaries(st.text(max_size=4), JSON), stars=TABLES, pins=TABLES)
def test_other_content_of_the_file_stays(
    tmp_path_factory: pytest.TempPathFactory, rest: dict[str, Any], stars: Any, pins: Any
) -> None:
    path = tmp_path_factory.mktemp("stars") / "stars.json"
    before = rest | {"version": 1, "stars": stars, "pins": pins}
    path.write_text(json.dumps(before))
    item = StarFile(path)
    assert item.star("a session")
    assert item.pin("a session", "a record", 3, "words")
    item.stars(), item.pins()
    assert item.unstar("a session")
    assert item.unpin("a session", "a record")
    assert json.loads(path.read_text()) == before


def test_notes_are_stored_up_to_a_limit(starred: StarFile) -> None:
    starred.pin("s", "r", 2, "\ud800" + "x" * 1000)
    (pin,) = starred.pins()
    assert (pin.turn, len(pin.words), pin.words[1:3]) == (2, file.MAX_PROMPT_CHARACTERS, "xx")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is damaged"),
        ("[" * 100_000, "is damaged"),
        ("[]", "does not contain stars"),
        ('{"version": 2}', "another version"),
        ('{"stars": []}', "another version"),
        ('{"pins": {"s": []}}', "another version"),
    ],
)
def test_unknown_format_is_not_overwritten(starred: StarFile, text: str, why: str) -> None:
    starred.path.parent.mkdir()
    starred.path.write_text(text)
    with pytest.raises(SourceError, match=why):
        starred.star("one")
    assert starred.path.read_text() == text


def test_lock_is_awaited_with_a_timeout(starred: StarFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "LOCK_SECONDS", 0.0)
    with (
        lock_file(starred.path.with_suffix(".lock")),
        pytest.raises(SourceError, match="locked by another program"),
    ):
        starred.star("one")
    assert starred.star("one")


def test_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot be"):
        StarFile(tmp_path / "file" / "stars.json").star("one")


def test_concurrent_threads_lose_nothing(starred: StarFile) -> None:
    def work(name: str) -> None:
        for number in range(8):
            StarFile(starred.path).star(f"{name}{number}")

    threads = [Thread(target=work, args=[name]) for name in "abc"]
    for item in threads:
        item.start()
    for item in threads:
        item.join(timeout=30)
    assert len(starred.stars()) == 24


def test_concurrent_processes_lose_nothing(starred: StarFile) -> None:
    code = (
        "import sys; from pathlib import Path; from plait.sessions.stars import StarFile\n"
        "for n in range(10): StarFile(Path(sys.argv[1])).star(f'{sys.argv[2]}{n}')"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(starred.path), name]) for name in "ab"
    ]
    assert [item.wait(timeout=60) for item in running] == [0, 0]
    assert len(starred.stars()) == 20
    assert sorted(item.name for item in starred.path.parent.iterdir()) == [
        "stars.json",
        "stars.lock",
    ]


def test_archive_without_a_star_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no stars"):
        _ = Archive([tmp_path]).stars.ids


def test_stars_of_another_archive_are_counted(tmp_path: Path) -> None:
    archive = archive_of(draw(TALK), tmp_path)
    (session,) = archive.sessions
    assert archive.stars.add(session)
    assert archive.stars.file.star("elsewhere")
    assert archive.stars.ids == {session.id, "elsewhere"}
    assert archive.stars.sessions == (session,)
    assert archive.stars.remove("elsewhere")
    assert archive.reopen().stars.ids == {session.id}


@pytest.mark.parametrize("name", [1, "1", "-2", "count the", "the record"])
def test_turn_is_pinned_by_number_record_or_text(tmp_path: Path, name: str | int) -> None:
    drawing = draw(TALK)
    archive = archive_of(drawing, tmp_path)
    (session,) = archive.sessions
    answer = str(drawing.records[1]["uuid"])
    pinned = archive.stars.pin(session, answer if name == "the record" else name)
    assert (pinned.turn, pinned.words, pinned.why_gone) == (1, "Count the boats.", None)
    assert pinned.uuid == drawing.records[0]["uuid"]
    assert archive.stars.pins() == (pinned,)


def test_turn_of_another_branch_can_be_pinned(tmp_path: Path) -> None:
    archive = archive_of(draw(TALK), tmp_path)
    (session,) = archive.sessions
    branch = next(line for line in archive.open(session).conversations.by_line if "@" in line)
    archive.stars.pin(session, 2)
    other = archive.stars.pin(session, "the sails")
    assert (other.is_main, other.line, other.turn) == (False, branch, 1)
    assert archive.stars.pin(session, 1, branch) == other
    assert len(archive.stars.pins(session)) == 2
    assert archive.stars.unpin(session, 1, branch).words == "And the sails?"
    assert [pin.words for pin in archive.stars.pins()] == ["No, the oars."]


def test_pins_survive_growth(tmp_path: Path) -> None:
    archive = archive_of(draw(TALK), tmp_path)
    pinned = archive.stars.pin(archive.sessions[0], 2)
    archive = archive_of(draw(MORE), tmp_path)
    assert archive.stars.pins() == (pinned,)
    assert (pinned.turn, pinned.words) == (2, "No, the oars.")


def test_pin_of_a_missing_turn_says_so(tmp_path: Path) -> None:
    archive = archive_of(draw(MORE), tmp_path)
    (session,) = archive.sessions
    pinned = archive.stars.pin(session, 3)
    archive_of(draw(TALK), tmp_path)
    (gone,) = archive.reopen().stars.pins()
    assert gone.why_gone == "the turn is no longer in its session"
    assert (gone.turn, gone.words, gone.line) == (3, "And the masts?", None)
    session.path.unlink()
    (gone,) = archive.reopen().stars.pins()
    assert gone.why_gone == "its session is not under these roots"
    assert gone.uuid == pinned.uuid


def test_stale_pin_can_be_removed(tmp_path: Path) -> None:
    archive = archive_of(draw(MORE), tmp_path)
    archive.stars.pin(archive.sessions[0], 3)
    archive_of(draw(TALK), tmp_path)
    archive = archive.reopen()
    assert archive.stars.unpin(archive.sessions[0], 3).why_gone
    assert archive.stars.pins() == ()


@pytest.mark.parametrize(
    ("name", "why"),
    [("9", "no turn 9"), ("nothing says this", "no record, turn or prompt"), ("0", "0")],
)
def test_only_turns_can_be_pinned(tmp_path: Path, name: str, why: str) -> None:
    archive = archive_of(draw(TALK), tmp_path)
    with pytest.raises(UserError, match=why):
        archive.stars.pin(archive.sessions[0], name)
    assert archive.stars.pins() == ()


def test_pin_has_an_unambiguous_name(tmp_path: Path) -> None:
    archive = archive_of(draw(MORE), tmp_path)
    (session,) = archive.sessions
    archive.stars.pin(session, 1)
    archive.stars.pin(session, 3)
    with pytest.raises(UserError, match="2 pinned turns match 'the'"):
        archive.stars.unpin(session, "the")
    with pytest.raises(UserError, match="no pinned turn matches '2'"):
        archive.stars.unpin(session, 2)
    assert archive.stars.unpin(session, "masts").turn == 3
