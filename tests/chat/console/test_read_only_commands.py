"""Commands that only show something, in a pipe."""

import json
import re
from base64 import b64encode
from hashlib import sha512
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Facts
from plait.chat.console.archive import Row, SessionPicker
from plait.record.time import parse_time
from tests.chat.console.conftest import Chat, Typed

TODOS = [
    {"content": "look", "status": "completed", "activeForm": "Looking"},
    {"content": "mend", "status": "in_progress", "activeForm": "Mending"},
]
WORKS: dict[str, Any] = {
    "rules": [
        {
            "when": "plan",
            "answers": [
                {"calls": [{"name": "TodoWrite", "input": {"todos": TODOS}}]},
                {"text": "Planned."},
            ],
        },
        {
            "when": "read",
            "answers": [
                {"calls": [{"name": "Read", "input": {"file_path": "notes.txt"}}]},
                {"text": "Read."},
            ],
        },
    ],
    "otherwise": {"text": "I heard you."},
}


def run_chat(
    chat: Chat, typed: Typed, capsys: pytest.CaptureFixture[str], lines: str, *arguments: str
) -> str:
    typed(lines)
    assert chat(*arguments, script=WORKS) == 0
    text = capsys.readouterr().out
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "SESSION", text)


def test_todos_and_tasks_are_listed(
    chat: Chat, typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run_chat(chat, typed, capsys, "/todos\nplan it\n/todos\n/tasks\n/tasks b1\n")
    assert "▌ /todos\nthe to-do list is empty\n" in text
    assert "▌ /todos\n    ✓ look\n    ▸ mend\n" in text
    assert "▌ /tasks\nno background tasks\n" in text
    assert "there is no task 'b1'\n`/tasks` lists running tasks\n" in text


def test_open_shows_a_result_in_full(
    chat: Chat, typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run_chat(chat, typed, capsys, "/open\nread it\n/open\n/open 2\n")
    assert "there are no results yet\n" in text
    assert "\n▌ /open\n● Read  notes.txt (3 lines)" in text
    assert "    1   one\n    2   two\n" in text
    assert "there is no result 2\nresults are numbered from 1 (newest) to 1\n" in text


def test_graph_and_export_commands(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "/graph\n/export\nhello\n/graph\n/export talk.txt\n/export talk.txt\n/export x.doc\n"
    text = run_chat(chat, typed, capsys, f"{lines}/export\n/export page.html\n")
    assert text.count("the session is empty") == 2
    assert re.search(r"◉ +\d{4}-\d\d-\d\d \d\d:\d\d +hello", text)
    assert "1 prompt" in text
    assert re.search(r"written to \S+/app/talk.txt \(\d+ B\)", text)
    assert "talk.txt' already exists\nchoose another file name\n" in text
    assert (
        "cannot export to '.doc' files\nsupported formats: .md, .markdown, .txt, .html, .json\n"
        in text
    )
    assert "I heard you." in (project / "talk.txt").read_text()
    (whole,) = project.glob("session-*.md")
    assert "I heard you." in whole.read_text()
    assert "I heard you." in (project / "page.html").read_text()
    assert whole.stat().st_mode & 0o777 == 0o600


def test_export_is_redacted(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = f"sk-ant-api03-{b64encode(sha512(b'x').digest()).decode()[:80].translate(NO_SIGNS)}AA"
    text = run_chat(chat, typed, capsys, f"my key is {key}\n/export\n")
    assert "redacted: " in text
    (whole,) = project.glob("session-*.md")
    assert key not in whole.read_text()


def sessions(project: Path) -> dict[str, str]:
    """Return the sessions by their first prompts."""
    found: dict[str, str] = {}
    for file in (project.parent / "claude").rglob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        results = [item["message"]["content"] for item in lines if item["type"] == "user"]
        found[next(text for text in results if isinstance(text, str))] = file.stem
    return found


def test_switching_to_another_session(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chat("-p", "the parser") == 0
    assert chat("-p", "the lexer") == 0
    known = sessions(project)
    parser = known["the parser"]
    text = run_chat(chat, typed, capsys, f"hello\n/resume {parser}\nmore\n/resume {parser}\n")
    assert "▌ the parser\n" in text
    assert "session SESSION resumed\n" in text
    assert "this session is already open\n" in text
    (file,) = (project.parent / "claude").rglob(f"{parser}.jsonl")
    assert '"more"' in file.read_text()
    assert '"hello"' not in file.read_text()


def test_session_list(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chat("-p", "the parser") == 0
    assert chat("-p", "the lexer") == 0
    capsys.readouterr()
    text = run_chat(chat, typed, capsys, "/resume\n2\nmore\n/resume\n9\n/resume\nx\n")
    assert re.search(
        r"\n 1 .* the lexer .*\n 2 .* the parser .*\nResume which session\? \(number\) 2\n", text
    )
    assert text.count("resumed\n") == 1
    (file,) = (project.parent / "claude").rglob(f"{sessions(project)['the parser']}.jsonl")
    assert '"more"' in file.read_text()


def test_session_of_another_directory_shows_its_resume_command(
    chat: Chat,
    typed: Typed,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert chat("-p", "elsewhere") == 0
    session = sessions(project)["elsewhere"]
    other = project.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    text = run_chat(chat, typed, capsys, f"/resume {session}\n/resume nobody\n/resume\n")
    assert f"that session ran in '{project.resolve()}'\n" in text
    assert f"&& plait chat --resume {session[:8]}` resumes it there\n" in text
    assert "no session named 'nobody'\n" in text


NO_SIGNS = str.maketrans({"+": "a", "/": "b", "=": "c"})
NOW = parse_time("2026-11-03T12:00:00Z")


def facts(session: str, title: str, **known: Any) -> Facts:
    rest: dict[str, Any] = dict.fromkeys(Facts.__dataclass_fields__)
    rest |= {"session": session, "title": title, "project": "p", "path": Path(f"/{session}.jsonl")}
    rest |= {"entries": 3, "bytes": 9, "versions": (), "subagents": 0, "is_live": False}
    rest |= {
        "is_kept": False,
        "is_incomplete": False,
        "ended": "2026-11-03T10:00:00Z",
        "agent": "claude",
    }
    return Facts(**{**rest, **known})


HERE = [
    facts(
        "aaaaaaaa-1", "Fix the parser", first_prompt="It fails on blank lines", git_branch="main"
    ),
    facts("bbbbbbbb-2", "A lexer", is_live=True, cwd="/home/me/shop"),
    facts("cccccccc-3", "bad\x1b[2Jtitle", is_kept=True, ended=None),
]
ELSEWHERE = [*HERE, facts("dddddddd-4", "Another place")]


def picking() -> SessionPicker:
    assert NOW
    found = SessionPicker(
        lambda: HERE,
        lambda: ELSEWHERE,
        lambda words: [(HERE[1], f"…{words}…")] if words == "tokens" else [],
        time=NOW,
    )
    found.read()
    return found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", "abc"),
        ("parser", "a"),
        ("PARSER blank", "a"),
        ("main", "a"),
        ("shop", "b"),
        ("bbbb", "b"),
        ("parser lexer", ""),
    ],
)
def test_filtering_sessions_by_text(typed: str, found: str) -> None:
    chosen = picking()
    chosen.set_query(typed)
    assert "".join(row.facts.session[0] for row in chosen.matching) == found


def test_selection_moves_among_matches() -> None:
    chosen = picking()
    for step, session in ((1, "b"), (9, "c"), (-1, "b"), (-9, "a")):
        chosen.move(step)
        assert chosen.selected and chosen.selected.facts.session[0] == session
    chosen.move(2)
    chosen.set_query("parser")
    assert chosen.at == 0
    chosen.set_query("nothing of the kind")
    chosen.move(1)
    assert (chosen.selected, chosen.at) == (None, 0)


def test_text_hits_follow_the_filter() -> None:
    chosen = picking()
    chosen.set_query("tokens")
    assert chosen.matching == []
    chosen.search()
    assert [(row.facts.session[0], row.snippet) for row in chosen.matching] == [("b", "…tokens…")]
    chosen.set_query("")
    assert "".join(row.facts.session[0] for row in chosen.matching) == "ac"
    chosen.set_query("never")
    chosen.search()
    assert chosen.note == "no messages match"
    chosen.is_everywhere = True
    chosen.read()
    chosen.set_query("")
    assert len(chosen.matching) == 4


def test_cancelled_search_adds_nothing() -> None:
    chosen = picking()

    def run() -> Any:
        yield HERE[0]
        chosen.cancel()
        yield HERE[1]

    chosen.here = run
    chosen.read()
    assert len(chosen.rows) == 1


def test_each_row_is_one_line() -> None:
    assert NOW
    lines = [Row(item).render(60, NOW) for item in HERE]
    assert lines == [
        "2 h ago     Fix the parser               3 entries  aaaaaaaa",
        "2 h ago     ● A lexer                    3 entries  bbbbbbbb",
        "            kept · bad\ufffd[2Jtitle          3 entries  cccccccc",
    ]
    assert {len(Row(item).render(40, NOW)) <= 40 for item in HERE} == {True}
