"""`plait keep rescue`: what is left of deleted sessions is shown, stored and listed."""

import json
from pathlib import Path

import pytest

from plait import Archive
from plait.cli.app import run
from tests.keep.remains import LOST, at, remains, typed

NAMELESS = typed("without a name", 600, session=None)


def rescue(config: Path, *words: str) -> int:
    return run(["keep", "rescue", *words, "--root", str(config)])


def test_remains_are_reassembled_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = remains(tmp_path, typed("why does it fail?"), typed("/clear", 1), NAMELESS)
    assert rescue(config, "--dry-run") == 0
    out = capsys.readouterr().out
    assert "2026-03-01  11111111  why does it fail?\n" in out
    assert "2 prompts in /srv/app\n" in out
    assert "1 prompt in /srv/app, assumed to be one session\n" in out
    assert "2 sessions can be reconstructed\n" in out
    assert rescue(config) == 0
    assert "2 sessions reconstructed, marked as incomplete\n" in capsys.readouterr().out
    assert run(["show", LOST, "--root", str(config)]) == 0
    out = capsys.readouterr().out
    assert "This session is incomplete" in out
    assert "why does it fail?" in out
    assert rescue(config) == 0
    assert "2 sessions already reconstructed\nno other deleted session" in capsys.readouterr().out


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = remains(tmp_path, typed("why?"), typed("/exit", session="22222222"))
    assert rescue(config, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report == {
        "dry_run": False,
        "sessions": [
            {
                "session": LOST,
                "directory": "/srv/app",
                "title": None,
                "first_prompt": "why?",
                "began": report["sessions"][0]["began"],
                "ended": report["sessions"][0]["ended"],
                "prompts": 1,
                "backups": 0,
                "commits": [],
                "scripts": 0,
                "is_guess": False,
            }
        ],
        "unchanged": 0,
        "bare": 1,
        "unread_lines": 0,
    }
    assert report["sessions"][0]["began"].startswith("2026-03-01T09:00:00")


def test_empty_archive_has_nothing_to_rescue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "projects").mkdir()
    assert rescue(tmp_path) == 0
    assert capsys.readouterr().out == "no other deleted session can be reconstructed\n"


def test_uninformative_lines_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rescue(remains(tmp_path, {"display": 5}, {"x": 1})) == 0
    assert "2 lines of `history.jsonl` cannot be read" in capsys.readouterr().err


def test_plain_folder_of_logs_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rescue(tmp_path) == 2
    assert "none of the roots is a configuration folder" in capsys.readouterr().err


def test_prompts_cannot_control_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = remains(tmp_path, typed("\x1b]0;x\x07 words", directory="/a\x1b[31m"))
    assert rescue(config) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_session_of_the_prompts_is_found_by_time(tmp_path: Path) -> None:
    config = remains(tmp_path, NAMELESS)
    log = config / "projects" / "-srv-app" / f"{LOST}.jsonl"
    log.parent.mkdir()
    entry = {"type": "user", "uuid": "u", "cwd": "/srv/app", "timestamp": at(600).isoformat()}
    log.write_text(json.dumps(entry | {"message": {"role": "user", "content": "x"}}) + "\n")
    archive = Archive([config], store=tmp_path / "keep")
    assert archive.keep.rescue().sessions == ()
    log.write_text(log.read_text().replace("2026-03", "2026-04"))
    archive = Archive([config], store=tmp_path / "keep")
    assert len(archive.keep.rescue().sessions) == 1
