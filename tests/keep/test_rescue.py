"""Reconstructing deleted sessions from prompts, files, commits and other traces."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.keep.rescue import (
    AROUND,
    KnownSession,
    LostSession,
    LostSessions,
    build_files,
    find_leftovers,
    find_lost_sessions,
    rescue,
)
from plait.store.model import NewFile
from plait.store.store import Store
from tests.keep.remains import LOST, OTHER, at, backup, remains, repository, typed

PASTED = {"1": {"id": 1, "type": "text", "content": "a\nb"}}
STORED = {"1": {"id": 1, "type": "text", "contentHash": "7eb2b4dfd7fa9cd7"}}


def lost(config: Path, *known: KnownSession) -> LostSessions:
    return find_lost_sessions(find_leftovers(config), known)


def only(config: Path, *known: KnownSession) -> LostSession:
    (found,) = lost(config, *known).sessions
    return found


def drawn(one: LostSession, config: Path) -> list[str]:
    """Draw a made log: a line each, without what all of them say."""
    return [_told(json.loads(line)) for line in build_files(one, config)[0].data.splitlines()]


def _told(entry: dict[str, Any]) -> str:
    time = entry.get("timestamp", "")[11:16]
    match entry["type"]:
        case "user":
            return f"{time} user: {entry['message']['content']}"
        case "system":
            assert entry["subtype"] == "local_command"
            words = entry["content"].removeprefix("<local-command-stdout>")
            return f"{time} note: {words.removesuffix('</local-command-stdout>')}"
        case "file-history-delta":
            held = entry["backup"]
            return f"{time} file: {entry['trackingPath']} is {held['backupFileName'][16:]}"
        case "last-prompt":
            return f"last-prompt: {entry.get('lastPrompt')}"
        case kind:
            return f"{kind}: {entry.get('tag') or entry.get('customTitle') or entry['aiTitle']}"


def test_a_rescued_log_has_all_leftovers_in_order(tmp_path: Path) -> None:
    app = repository(
        tmp_path / "app",
        (7, "Fix the parser\n\nCo-Authored-By: Claude <noreply@anthropic.com>"),
        (9, f"Name it\n\nClaude-Session: {LOST}"),
    )
    place = str(app)
    config = remains(
        tmp_path,
        typed("why does the parser fail?", directory=place),
        typed("[Pasted text #1 +1 lines] is what it says", 2, directory=place, pasted=PASTED),
        typed("! git status", 3, directory=place),
        typed("/rename the parser", 4, directory=place),
    )
    backup(config, f"{place}/file1.txt", 1, "before\n", 5)
    backup(config, "/gone/away.py", 2, "x\n", 6)
    (config / "session-env" / LOST).mkdir(parents=True)
    (config / "session-env" / LOST / "sessionstart-hook-0.sh").write_text("export A=1\n")
    assert drawn(only(config), config) == [
        "09:00 note: This session is incomplete: its log and all answers are gone. `plait "
        "keep rescue` reconstructed it from:\n"
        "- 4 prompts in history.jsonl\n"
        "- 2 backups in file-history, including 1 file without a known name\n"
        "- 2 commits in Git\n"
        "- 1 script in session-env",
        "09:00 user: why does the parser fail?",
        "09:02 user: a\nb is what it says",
        "09:03 user: <bash-input>git status</bash-input>",
        "09:04 user: <command-name>/rename</command-name>\n"
        "<command-message>rename</command-message>\n<command-args>the parser</command-args>",
        "09:05 file: file1.txt is @v1",
        "09:06 file: 0a1c32b7aa67b43a is @v2",
        f"09:07 note: commit {only(config).commits[0].id[:12]} Fix the parser"
        " (co-authored by Claude, after a prompt in this session)\n  file1.txt",
        f"09:09 note: commit {only(config).commits[1].id[:12]} Name it"
        " (it names this session)\n  file2.txt",
        "custom-title: the parser",
        "tag: incomplete",
        "last-prompt: <command-name>/rename</command-name> <command-message>rename"
        "</command-message> <command-args>the parser</command-args>",
    ]


def test_a_rescued_session_is_in_its_original_project_folder(tmp_path: Path) -> None:
    config = remains(tmp_path, typed("hello"))
    copy = backup(config, "/srv/app/a.py", 1, "1\n", 1)
    log, held = build_files(only(config), config)
    assert (log.root, log.project, log.session) == (str(config), "-srv-app", LOST)
    assert (log.path, log.kind) == (f"projects/-srv-app/{LOST}.jsonl", "session")
    assert (held.path, held.kind) == (f"file-history/{LOST}/{copy.name}", "backup")
    assert held.data == b"1\n"
    assert log.modified == at(1).timestamp() * 1e9
    assert {log.mark, held.mark} == {"incomplete"}


def test_the_same_leftovers_give_the_same_bytes(tmp_path: Path) -> None:
    config = remains(tmp_path, typed("hello"), typed("again", 1))
    assert build_files(only(config), config) == build_files(only(config), config)


def test_a_session_with_a_log_is_not_lost(tmp_path: Path) -> None:
    config = remains(tmp_path, typed("hello"), typed("other", session=OTHER))
    assert only(config, KnownSession(OTHER)).session == LOST


def test_commands_and_an_environment_alone_are_not_a_session(tmp_path: Path) -> None:
    config = remains(tmp_path, typed("/clear"), typed("/exit", 1))
    (config / "session-env" / OTHER).mkdir(parents=True)
    assert lost(config) == LostSessions((), (LOST, OTHER))


def test_a_path_is_not_a_command(tmp_path: Path) -> None:
    config = remains(tmp_path, typed("/home/me/a.py is broken"))
    assert drawn(only(config), config)[1].endswith("/home/me/a.py is broken")


def test_a_paste_is_read_from_the_paste_cache(tmp_path: Path) -> None:
    config = remains(tmp_path, typed("[Pasted text #1 +59 lines] what?", pasted=STORED))
    assert only(config).prompts[0].text == "[Pasted text #1 +59 lines] what?"
    assert only(config).prompts[0].missing_pastes == 1
    (config / "paste-cache").mkdir()
    (config / "paste-cache" / "7eb2b4dfd7fa9cd7.txt").write_text("long")
    assert only(config).prompts[0].text == "long what?"
    assert only(config).prompts[0].missing_pastes == 0


@pytest.mark.parametrize("name", ["../../secret", "7eb2/../x", ""])
def test_paste_names_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    pasted = {"1": {"id": 1, "type": "text", "contentHash": name}}
    config = remains(tmp_path, typed("[Pasted text #1] what?", pasted=pasted))
    (config / "paste-cache").mkdir()
    (tmp_path / "secret.txt").write_text("no")
    assert only(config).prompts[0].text == "[Pasted text #1] what?"


def test_unnamed_prompts_are_one_session_until_a_four_hour_pause(tmp_path: Path) -> None:
    nameless = [typed(f"p{minutes}", minutes, session=None) for minutes in (0, 239, 479, 800)]
    config = remains(tmp_path, *nameless, typed("elsewhere", session=None, directory="/b"))
    found = lost(config).sessions
    assert sorted([prompt.text for prompt in one.prompts] for one in found) == [
        ["elsewhere"],
        ["p0", "p239"],
        ["p479"],
        ["p800"],
    ]
    assert all(one.is_guess for one in found)
    assert found == lost(config).sessions


def test_prompts_of_existing_sessions_are_not_lost(tmp_path: Path) -> None:
    config = remains(tmp_path, typed("a", session=None), typed("b", 600, session=None))
    known = KnownSession(OTHER, "/srv/app", at(-1), at(0) - AROUND)
    assert [prompt.text for prompt in only(config, known).prompts] == ["b"]
    earlier = replace(known, ended=at(-0.1) - AROUND)
    assert len(lost(config, earlier).sessions) == 2
    elsewhere = replace(known, directory="/other")
    assert len(lost(config, elsewhere).sessions) == 2


def test_a_commit_belongs_to_the_session_of_the_last_prompt(tmp_path: Path) -> None:
    app = repository(tmp_path / "app", (60, "in time"), (62.1, "of the other"), (122.1, "too late"))
    place = str(app)
    config = remains(
        tmp_path,
        typed("mine", 0, directory=place),
        typed("theirs", 62, directory=place, session=OTHER),
    )
    assert [commit.subject for commit in only(config, KnownSession(OTHER)).commits] == ["in time"]
    mine, theirs = lost(config).sessions
    assert [commit.subject for commit in mine.commits] == ["in time"]
    assert [commit.subject for commit in theirs.commits] == ["of the other"]
    assert mine.commits[0].why == "at the time"


def test_a_commit_long_after_a_prompt_belongs_to_no_session(tmp_path: Path) -> None:
    app = repository(tmp_path / "app", (60, "in time"), (60.1, "too late"))
    place = str(app)
    config = remains(tmp_path, typed("a", directory=place), typed("b", 300, directory=place))
    assert [commit.subject for commit in only(config).commits] == ["in time"]


def test_a_commit_belongs_to_the_session_it_names(tmp_path: Path) -> None:
    stray = "33333333-3333-4333-8333-333333333333"
    app = repository(tmp_path / "app", (1, f"theirs {OTHER}"), (2, f"a number {stray}"))
    place = str(app)
    config = remains(tmp_path, typed("a", directory=place))
    found = only(config, KnownSession(OTHER)).commits
    assert [(commit.subject, commit.why) for commit in found] == [
        (f"a number {stray}", "at the time")
    ]


def test_an_impossible_time_is_ignored(tmp_path: Path) -> None:
    line = typed("x") | {"timestamp": -1}
    left = find_leftovers(remains(tmp_path, line, typed("y") | {"timestamp": 0}))
    assert ([prompt.text for prompt in left.prompts], left.unread) == (["y"], 1)


def test_missing_directory_has_no_commits(tmp_path: Path) -> None:
    assert only(remains(tmp_path, typed("x", directory=str(tmp_path / "gone")))).commits == ()


def test_the_directory_is_inferred_from_backed_up_files(tmp_path: Path) -> None:
    app = repository(tmp_path / "app", (0, "start"))
    others = [typed("of another", session=OTHER, directory=str(one)) for one in (app, tmp_path)]
    config = remains(tmp_path, *others)
    backup(config, str(app / "file1.txt"), 1, "x", 5)
    found = only(config, KnownSession(OTHER))
    assert (found.session, found.directory) == (LOST, str(app))
    unknown = remains(tmp_path / "b", typed("x", session=OTHER))
    backup(unknown, str(app / "file1.txt"), 1, "x", 5)
    assert only(unknown, KnownSession(OTHER)).directory is None
    assert "- the directory is unknown" in drawn(only(unknown, KnownSession(OTHER)), unknown)[0]


def test_a_session_list_fills_in_missing_facts(tmp_path: Path) -> None:
    config = remains(tmp_path)
    entry = {
        "sessionId": LOST,
        "firstPrompt": "how does it work?",
        "summary": "How it works",
        "messageCount": 42,
        "created": "2026-03-01T09:00:00.000Z",
        "modified": "2026-03-01T10:00:00.000Z",
        "gitBranch": "main",
        "projectPath": "/srv/app",
    }
    side = entry | {"sessionId": OTHER, "isSidechain": True}
    (config / "projects" / "-srv-app").mkdir()
    index = config / "projects" / "-srv-app" / "sessions-index.json"
    index.write_text(json.dumps({"version": 1, "entries": [entry, {"sessionId": "../x"}, side, 7]}))
    one = only(config)
    assert (one.directory, one.began, one.ended) == ("/srv/app", at(0), at(60))
    lines = drawn(one, config)
    assert lines[0].endswith("- 42 messages according to a session list")
    index.write_text(json.dumps({"entries": [entry | {"messageCount": 0}]}))
    remains(tmp_path, typed("typed"))
    again = drawn(only(config), config)
    assert again[0].endswith("- 1 prompt in history.jsonl")
    assert again[1:3] == ["09:00 user: typed", "ai-title: How it works"]
    assert lines[1:4] == [
        "09:00 user: how does it work?",
        "ai-title: How it works",
        "tag: incomplete",
    ]


def test_side_files_of_a_lost_log_give_its_id_and_project(tmp_path: Path) -> None:
    config = remains(tmp_path, typed("other", session=OTHER))
    folder = config / "projects" / "-srv-app" / LOST
    folder.mkdir(parents=True)
    (folder / "custom-title.json").write_text('{"customTitle": "mine"}')
    backup(config, "/x/y", 1, "x", 5)
    one = only(config, KnownSession(OTHER))
    assert (one.title, one.directory, one.project) == ("mine", "/srv/app", "-srv-app")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("display", "pastedContents", "timestamp", "project", "sessionId")
ENTRY = st.dictionaries(st.sampled_from(FIELDS), JSON | st.just("../../x") | st.just(LOST))


@given(st.lists(ENTRY, max_size=5), st.binary(max_size=40))
def test_a_missing_prompt_history_is_not_an_error(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, Any]], rest: bytes
) -> None:
    folder = tmp_path_factory.mktemp("rescue")
    config = remains(folder)
    lines = [json.dumps(one).encode() for one in entries]
    (config / "history.jsonl").write_bytes(b"\n".join([*lines, rest]))
    left = find_leftovers(config)
    told = sum(bool(line.strip()) for line in [*lines, *rest.split(b"\n")])
    assert len(left.prompts) + left.unread == told
    for one in find_lost_sessions(left, (), lambda _: None).sessions:
        for file in build_files(one, config):
            assert ".." not in file.path.split("/")


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_a_rescued_log_has_every_prompt(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("rescue")
    spoken = [f"say {text}" for text in texts]
    config = remains(folder, *(typed(text, n) for n, text in enumerate(spoken)))
    one = find_lost_sessions(find_leftovers(config), (), lambda _: None).sessions[0]
    log = build_files(one, config)[0].data
    entries = [json.loads(line) for line in log.split(b"\n") if line]
    assert [one["message"]["content"] for one in entries if one["type"] == "user"] == spoken


def test_rescued_sessions_are_stored_and_marked(tmp_path: Path) -> None:
    config, store = remains(tmp_path, typed("hello")), Store.open(tmp_path / "keep")
    assert [
        one.session for one in rescue(store, find_leftovers(config), (), is_dry=True).sessions
    ] == [LOST]
    assert store.sessions() == ()
    assert [one.session for one in rescue(store, find_leftovers(config), ()).sessions] == [LOST]
    (kept,) = store.sessions()
    assert (kept.session, kept.mark) == (LOST, "incomplete")
    again = rescue(store, find_leftovers(config), ())
    assert (again.sessions, again.unchanged) == ((), 1)


def test_a_rescued_session_is_replaced_only_by_a_larger_one(tmp_path: Path) -> None:
    config, store = remains(tmp_path, typed("one"), typed("two", 1)), Store.open(tmp_path / "k")
    rescue(store, find_leftovers(config), ())
    remains(tmp_path, typed("two", 1))
    assert rescue(store, find_leftovers(config), ()).sessions == ()
    remains(tmp_path, typed("one"), typed("two", 1), typed("three", 2))
    rescue(store, find_leftovers(config), ())
    (kept,) = store.sessions()
    assert kept.log is not None
    assert all(word in store.read(kept.log) for word in (b"one", b"two", b"three"))


def test_a_completely_backed_up_session_is_not_rescued(tmp_path: Path) -> None:
    config, store = remains(tmp_path, typed("hello")), Store.open(tmp_path / "keep")
    log = NewFile(str(config), f"projects/-srv-app/{LOST}.jsonl", "-srv-app", LOST, b"{}\n")
    store.put([log])
    assert rescue(store, find_leftovers(config), ()).sessions == ()
    assert store.sessions()[0].mark == ""
