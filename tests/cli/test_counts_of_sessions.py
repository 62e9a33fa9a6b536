"""Every list gives the same number of sessions and accounts for those it leaves out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from examples.drawing import draw, session_id
from plait.archive import Archive
from plait.cli.app import run

ALL_KINDS = """
file talk cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "first"
A1< "answered"
file copy cwd=/home/dev/shop start=2026-11-02T09:00:00Z
copy talk:U1 talk:A1
file more cwd=/home/dev/shop start=2026-11-03T09:00:00Z
copy talk:U1 talk:A1
U2<talk:A1 "and on"
A2< "on it goes"
file asked cwd=/home/dev/shop start=2026-11-04T09:00:00Z
U3 "nobody answers"
file summaries cwd=/home/dev/shop
summary "What it was about" leaf talk:A1
file notes cwd=/home/dev/shop
mode plan
file two cwd=/home/dev/shop start=2026-11-05T09:00:00Z
U4 "here"
A4< "yes"
set session=other
U5 "there"
A5< "no"
"""
SESSIONS = 8
"""Seven logs, and one of which only an agent is left."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with a session of each kind."""
    draw(ALL_KINDS).write(tmp_path / "logs")
    drawing = draw('file gone\nU1\nT1< Agent(prompt="go") as x\nagent x of x\nU2 "go"\nA2< "done"')
    drawing.write(tmp_path / "logs")
    for file in (tmp_path / "logs").rglob(f"{session_id('gone')}.jsonl"):
        file.unlink()
    assert list((tmp_path / "logs").rglob("agent-*.jsonl"))
    return tmp_path / "logs"


def out(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run([str(argument) for argument in arguments]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("is_indexed", [False, True])
def test_every_list_counts_the_same_sessions(
    capfd: pytest.CaptureFixture[str], root: Path, tmp_path: Path, is_indexed: bool
) -> None:
    if is_indexed:
        out(capfd, "index", "--root", root)
    assert len(Archive([root]).sessions) == SESSIONS
    assert f"{SESSIONS} sessions in" in out(capfd, "ls", "--root", root)
    stats = json.loads(out(capfd, "stats", "--root", root, "--json"))
    counts = [stats[name] for name in ("sessions", "all_sessions", "copied_sessions")]
    assert counts == [5, SESSIONS, 1]
    output = out(capfd, "stats", "--root", root)
    assert output.startswith("5 of 8 sessions")
    assert "1 session not counted: copies of other sessions" in output
    assert "2 sessions not counted: no conversation" in output
    usage = json.loads(out(capfd, "usage", "session", "--root", root, "--json"))
    assert (usage["sessions"], usage["all_sessions"]) == (4, SESSIONS)
    assert "4 of 8 sessions: 4 sessions without usage" in out(
        capfd, "usage", "session", "--root", root
    )


def test_tree_accounts_for_omitted_sessions(capfd: pytest.CaptureFixture[str], root: Path) -> None:
    lines = out(capfd, "tree", "--root", root).splitlines()
    assert any(line.startswith("5 of 8 sessions") for line in lines)
    assert "1 session with only agent logs left" in lines
    assert "1 session with only summaries" in lines
    assert "1 session not drawn: part of another session, or without a conversation" in lines
    assert "1 more session inside other sessions' logs" in lines


# checklist: S55
def test_transcripts_match_paths_and_the_index_lists_the_rest(
    capfd: pytest.CaptureFixture[str], root: Path, tmp_path: Path
) -> None:
    paths = json.loads(out(capfd, "paths", "--root", root, "--json"))
    where = tmp_path / "out"
    report = json.loads(out(capfd, "export", "--all", "--root", root, "-o", where, "--json"))
    entries = [
        transcript for session in report["sessions"] for transcript in session["transcripts"]
    ]
    assert len([entry for entry in entries if entry["status"]]) == len(paths) == 4
    assert len(list(where.glob("transcript_*.md"))) == len(entries)
    assert report["counts"]["sessions"] == SESSIONS
    index = (where / "index.md").read_text()
    assert (
        "3 of 8 sessions, 4 paths, 1 session with only agent logs left, "
        "2 sessions included in other transcripts, 2 sessions without a conversation, "
        "1 session more inside other logs."
    ) in index


def test_session_with_only_agents_is_not_offered_for_resume(
    capfd: pytest.CaptureFixture[str], root: Path, tmp_path: Path
) -> None:
    where, gone = tmp_path / "out", session_id("gone")
    for form in ("md", "txt", "html"):
        out(capfd, "export", gone, "--root", root, "-o", where / form, "--format", form)
    for file in (where / "md" / f"transcript_{gone}.md", where / "txt" / f"transcript_{gone}.txt"):
        text = file.read_text()
        assert (
            "Only the agent logs of this session are left: there is no conversation to resume"
            in text
        )
        assert "ACTIVE" not in text and "Path: " not in text and "--resume" not in text
    (page,) = (where / "html" / "sessions").glob("*.html")
    assert "--resume" not in page.read_text()
    assert "only its agents' logs are left" in out(capfd, "resume", gone, "--root", root)


def test_session_inside_another_file_is_not_offered_for_resume(
    capfd: pytest.CaptureFixture[str], root: Path, tmp_path: Path
) -> None:
    words = (session_id("two"), "--no-redact", "--root", root, "-o", tmp_path / "out")
    out(capfd, "export", *words)
    own = (tmp_path / "out" / f"transcript_{session_id('two')}.md").read_text()
    other = (tmp_path / "out" / f"transcript_{session_id('other')}.md").read_text()
    assert ("--resume" in own, "--resume" in other) == (True, False)
