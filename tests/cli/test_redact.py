"""`plait redact` end to end: report, filter, key."""

import io
import json
import stat
import sys
from pathlib import Path
from random import Random

import pytest

from plait.cli.app import run
from tests.redact.letters import ALNUM, drawn

RNG = Random(9)
KEY = "gh" + "p_" + drawn(RNG, ALNUM, 36)
OTHER = "zz" + drawn(RNG, ALNUM, 30)
SESSION = "3e9c2d3e-0000-4000-8000-000000000001"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder with a session that holds a key twice, and a tool result."""
    folder = tmp_path / "logs" / "projects" / "-home-ana-shop"
    folder.mkdir(parents=True)
    lines = [
        {"type": "user", "uuid": "u1", "cwd": "/srv/shop", "message": {"content": f"use {KEY}"}},
        {"type": "last-prompt", "lastPrompt": f"use {KEY}", "sessionId": SESSION},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"{SESSION}.jsonl").write_text(text + f'{{"torn": "{KEY}', encoding="utf-8")
    results = folder / SESSION / "tool-results"
    results.mkdir(parents=True)
    (results / "out.txt").write_text(f"one\ntwo {KEY}\n", encoding="utf-8")
    (results / "picture").write_bytes(b"\0" + KEY.encode())
    return tmp_path / "logs"


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def check(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run(["redact", "--check", *map(str, arguments)])
    captured = capfd.readouterr()
    assert captured.err == ""
    assert KEY not in captured.out
    return code, captured.out


@pytest.mark.parametrize("name", [SESSION[:6], "latest", "shop"])
def test_session_is_checked_with_all_its_files(
    capfd: pytest.CaptureFixture[str], logs: Path, name: str
) -> None:
    code, out = check(capfd, name, "--root", logs)
    assert code == 1
    assert out.startswith("3 files, ")
    (row,) = [line for line in out.splitlines() if line.startswith("‹secret 1")]
    assert row.split() == "‹secret 1: github token› ghp_… 4 3e9c2d3e:1 and 3 more".split()
    assert "1 secret (4 ×)" in out


def test_files_and_folders_are_checked(capfd: pytest.CaptureFixture[str], logs: Path) -> None:
    (file,) = logs.rglob("out.txt")
    assert "out.txt:2" in check(capfd, file)[1]
    assert check(capfd, logs)[1].startswith("3 files")
    assert check(capfd, "--root", logs)[1].startswith("1 file")


def test_every_place_can_be_listed(capfd: pytest.CaptureFixture[str], logs: Path) -> None:
    _, out = check(capfd, logs, "--all")
    places = ["3e9c2d3e:1 message.content", "3e9c2d3e:2 lastPrompt", "3e9c2d3e:3", "out.txt:2"]
    assert all(place in out for place in places)


def test_the_report_as_json(capfd: pytest.CaptureFixture[str], logs: Path) -> None:
    code, out = check(capfd, logs, "--json")
    report = json.loads(out)
    assert (code, report["files"], report["hits"]) == (1, 3, 4)
    assert report["kinds"] == {"github token": 4}
    (found,) = report["found"]
    assert found["hint"] == "ghp_"
    assert {
        "file": str(next(logs.rglob("*.jsonl"))).replace("-ana-", "-‹user 1›-"),
        "line": 1,
        "uuid": "u1",
        "field": "message.content",
    } in found["places"]


def test_exit_code_is_zero_without_findings(capfd: pytest.CaptureFixture[str], logs: Path) -> None:
    code, out = check(capfd, logs, "--only", "emails")
    assert (code, out.splitlines()[2]) == (0, "nothing to redact")


def test_password_learned_from_a_later_file_is_found_earlier(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(f"is {OTHER} right?", encoding="utf-8")
    (tmp_path / "b.env").write_text(f"DB_PASSWORD={OTHER}\n", encoding="utf-8")
    code, out = check(capfd, tmp_path, "--json")
    places = json.loads(out)["found"][0]["places"]
    assert code == 1
    assert [Path(place["file"]).name for place in places] == ["a.txt", "b.env"]


def test_text_is_filtered_and_restored(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    text = f"caf\xe9 {KEY} ".encode() + b"\xff end"
    key = tmp_path / "key.json"
    feed(monkeypatch, text)
    assert run(["redact", "--key", str(key)]) == 0
    redacted = capfdbinary.readouterr().out
    assert redacted == "café ‹secret 1: github token› ".encode() + b"\xff end"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    feed(monkeypatch, redacted)
    assert run(["redact", "--restore", "--key", str(key)]) == 0
    assert capfdbinary.readouterr().out == text


def test_key_file_is_never_overwritten(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("mine", encoding="utf-8")
    feed(monkeypatch, KEY.encode())
    assert run(["redact", "--key", str(tmp_path / "key")]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "exists" in captured.err
    assert (tmp_path / "key").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["x.jsonl"], 2, "session files are changed only"),
        (["--check", "--key", "k"], 2, "`--check` changes nothing"),
        (["--restore"], 2, "no key given"),
        (["--restore", "--key", "nowhere"], 3, "cannot read the key 'nowhere'"),
        (["--rules", "nowhere.toml"], 4, "cannot read 'nowhere.toml'"),
        (["--check", "nothing-like-it"], 2, "no session"),
    ],
)
def test_impossible_requests_are_explained(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    feed(monkeypatch, b"")
    assert run(["redact", *arguments]) == code
    assert message in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "rules"),
    [("r.toml", 'words = ["Bluebird"]\n'), ("r.json", '{"words": ["Bluebird"]}')],
)
def test_rules_come_from_a_file(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
    rules: str,
) -> None:
    (tmp_path / name).write_text(rules, encoding="utf-8")
    feed(monkeypatch, b"project Bluebird")
    assert run(["redact", "--rules", str(tmp_path / name)]) == 0
    assert capfd.readouterr().out == "project ‹word 1›"


@pytest.mark.parametrize(("text", "code"), [("[]", 4), ("{", 4), ('{"word": ["x"]}', 4)])
def test_wrong_rules_are_reported(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, text: str, code: int
) -> None:
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    assert run(["redact", "--rules", str(tmp_path / "r.json")]) == code
    assert "r.json" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["/nonexistent", "./gone", "a/b", "notes.jsonl", "~/gone.md"])
def test_missing_path_is_reported_as_a_path(
    capfd: pytest.CaptureFixture[str], logs: Path, name: str
) -> None:
    assert run(["redact", "--check", name, "--root", str(logs)]) >= 2
    assert f"error: no such file or folder: '{name}'" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["gone", "fix the parser / lexer"])
def test_unknown_name_is_reported_as_a_session(
    capfd: pytest.CaptureFixture[str], logs: Path, name: str
) -> None:
    assert run(["redact", "--check", name, "--root", str(logs)]) == 2
    assert "error: no session" in capfd.readouterr().err


def test_report_lists_what_cannot_be_recognised(
    capfd: pytest.CaptureFixture[str], logs: Path
) -> None:
    _, out = check(capfd, logs, "--only", "secrets")
    assert "looked for: secrets\nredaction can miss:\n- content of images" in out
    report = json.loads(check(capfd, logs, "--json", "--strict")[1])
    assert [*report["looked_for"]] == "secrets paths hosts emails accounts rules strict".split()
    assert any("images" in item for item in report["not_recognised"])


def test_strict_prefers_false_alarms(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for option, expected in (
        ([], b"seed: Fox99x!"),
        (["--strict"], "seed: ‹secret 1: suspected›".encode()),
    ):
        feed(monkeypatch, b"seed: Fox99x!")
        assert run(["redact", *option]) == 0
        assert capfdbinary.readouterr().out == expected


def test_log_on_stdin_is_read_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    log = json.dumps({"type": "user", "x": f'"{KEY}"\n'}) + "\n" + '{"type":"x", "y": 1}\n'
    feed(monkeypatch, log.encode())
    assert run(["redact", "--key", str(tmp_path / "key")]) == 0
    found = capfdbinary.readouterr().out
    first, second = found.decode().splitlines()
    assert json.loads(first)["x"] == '"‹secret 1: github token›"\n'
    assert second == '{"type":"x", "y": 1}'
    feed(monkeypatch, found)
    assert run(["redact", "--restore", "--key", str(tmp_path / "key")]) == 0
    assert json.loads(capfdbinary.readouterr().out.splitlines()[0])["x"] == f'"{KEY}"\n'
