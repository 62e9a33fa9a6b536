"""`--prove`: resuming a session with a stand-in client, and with the real one if present."""

import os
import stat
import sys
from pathlib import Path

import pytest

from examples.drawing import draw
from plait.archive import Archive, Session
from plait.edit.proof import Proof, first_difference, normalize_messages, prove_session
from plait.edit.report import format_proof

WORK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "What would a first version look like?"
A1< "Two ways."
U2< "Take the first."
A2< "Done."
"""
CLIENT = """#!{python}
import json, os, sys, urllib.request
assert "ANTHROPIC_AUTH_TOKEN" not in os.environ and os.environ["HOME"] != {home!r}
config = os.environ["CLAUDE_CONFIG_DIR"]
session = sys.argv[sys.argv.index("--resume") + 1]
assert "--fork-session" in sys.argv
found = [os.path.join(at, one) for at, _, names in os.walk(config) for one in names]
(path,) = [one for one in found if one.endswith(session + ".jsonl")]
entries = [json.loads(line) for line in open(path)]
messages = [one["message"] for one in entries if one.get("type") in ("user", "assistant")]
messages = [{{"role": one["role"], "content": one["content"]}} for one in messages]
{more}
probe = sys.argv[sys.argv.index("-p") + 1]
messages.append({{"role": "user", "content": probe}})
body = json.dumps({{"model": "m", "stream": True, "messages": messages}}).encode()
asked = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true", body)
asked.add_header("user-agent", "fake-cli/9.9 (external)")
opener = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
print(json.dumps({{"result": opener.open(asked).read().decode()[:20]}}))
"""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Return a drawn session."""
    draw(WORK).write(tmp_path / "config" / "projects")
    return Archive([tmp_path / "config"]).sessions[0]


def fake(folder: Path, more: str = "") -> str:
    """Write a client that sends what it finds in the session, and does some things more."""
    path = folder / "claude"
    home = os.environ.get("HOME", "")
    path.write_text(CLIENT.format(python=sys.executable, home=home, more=more))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_matching_request_proves_the_edit(session: Session, tmp_path: Path) -> None:
    proof = prove_session(session, fake(tmp_path))
    assert proof == Proof(
        state="resumed", client="fake-cli/9.9 (external)", messages=4, is_equal=True
    )
    assert proof.is_good
    assert format_proof(proof) == (
        "fake-cli/9.9 resumes the session and sends the same 4 messages that `plait context` shows"
    )


@pytest.mark.parametrize(
    ("more", "difference"),
    [
        ("messages.pop()", "message 4: Claude Code does not send it"),
        ("messages.append(messages[0])", "message 5: Claude Code sends one more message"),
        ('messages[1]["content"] = "Other."', "message 2: its text differs"),
        ('messages[1]["role"] = "user"', "message 2: it is from the user, not the assistant"),
        (
            'messages[1]["content"] = [{"type": "thinking", "thinking": "so"}]',
            "message 2: it has thinking, not text",
        ),
    ],
)
def test_first_difference_is_shown(
    session: Session, tmp_path: Path, more: str, difference: str
) -> None:
    proof = prove_session(session, fake(tmp_path, more))
    assert (proof.is_equal, proof.is_good, proof.difference) == (False, False, difference)
    assert format_proof(proof).endswith(f"differs from `plait context`: {difference}")


def test_refusal_of_the_client_is_quoted(session: Session, tmp_path: Path) -> None:
    proof = prove_session(session, fake(tmp_path, 'sys.exit("No conversation\\x1b[2J found")'))
    assert (proof.state, proof.is_equal) == ("not resumed", False)
    assert "\x1b" not in format_proof(proof)
    assert "does not resume the session: No conversation" in format_proof(proof)


def test_client_that_compacts_first_is_not_compared(session: Session, tmp_path: Path) -> None:
    words = "Your task is to create a detailed summary of it"
    more = f'messages = messages[:1] + [{{"role": "user", "content": "{words}"}}]'
    proof = prove_session(session, fake(tmp_path, more))
    assert (proof.state, proof.is_equal, proof.is_good) == ("resumed", None, True)


@pytest.mark.parametrize("named", ["/nowhere/claude", None])
def test_missing_client_is_reported(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str | None
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    proof = prove_session(session, named)
    assert (proof.state, proof.is_good) == ("not installed", True)
    assert format_proof(proof) == "no proof: 'claude' is not installed"


def test_unstartable_client_is_reported(session: Session, tmp_path: Path) -> None:
    client = tmp_path / "claude"
    client.write_bytes(b"\x7fnot a program\n")
    client.chmod(0o700)
    found = prove_session(session, str(client))
    assert (found.state, found.is_good) == ("not installed", True)
    assert format_proof(found) == "no proof: 'claude' cannot be started: exec format error"


def test_prove_leaves_no_files_and_does_not_change_the_session(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = tmp_path / "rooms"
    rooms.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(rooms))
    before = session.path.read_bytes()
    prove_session(session, fake(tmp_path, 'open(path, "a").write("more")'))
    assert list(rooms.iterdir()) == []
    assert session.path.read_bytes() == before


def test_reminders_signatures_and_current_tools_are_not_compared() -> None:
    output = [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}]
    joined = [{"type": "text", "text": "hello\n<system-reminder>now</system-reminder>"}]
    result = {"type": "tool_result", "tool_use_id": "1", "content": "done"}
    more = {**result, "content": "done\n\n<system-reminder>\nnote\n</system-reminder>"}
    ours = normalize_messages([("user", [*output, result])])
    theirs = normalize_messages([("system", "be kind"), ("user", [*joined, more])])
    assert first_difference(ours, theirs) is None
    assert normalize_messages([("user", "the probe"), ("user", "x")], "probe") == [
        ("user", [{"type": "text", "text": "x"}])
    ]


REAL = os.environ.get("PLAIT_CLAUDE")


@pytest.mark.skipif(not REAL, reason="PLAIT_CLAUDE names no client")
@pytest.mark.parametrize("name", ["rewind", "compaction", "parallel-tools"])
def test_real_client_resumes_the_gallery(gallery: Path, name: str) -> None:
    for session in Archive([gallery / name]).sessions:
        assert prove_session(session, REAL).is_equal
