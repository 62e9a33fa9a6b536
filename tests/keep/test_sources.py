"""Sessions with their files under roots: which file belongs to which session."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from plait.line import make_root
from plait.store import Source, find_sources
from plait.store.model import Unread
from tests.keep.archives import PROJECT, found, written


def told(sources: tuple[Source, ...]) -> dict[str, list[tuple[str, str]]]:
    return {one.session: [(file.path, file.kind) for file in one.files] for one in sources}


def test_side_files_belong_to_their_session(config: Path) -> None:
    project = config / PROJECT / "one"
    written(project / "subagents" / "workflows" / "wf_1" / "journal.jsonl", b"{}\n")
    written(project / "subagents" / "workflows" / "wf_1" / "agent-c3.jsonl", b"{}\n")
    written(project / "workflows" / "wf_1.json", b"{}")
    written(config / "tasks" / "one" / "1.json", b"{}")
    written(config / "tasks" / "nobody" / "1.json", b"{}")
    written(config / "todos" / "nobody-agent-x.json", b"[]")
    one = f"{PROJECT}/one"
    assert told(found(config, backups=True)) == {
        "one": [
            ("file-history/one/0123456789abcdef@v1", "backup"),
            (f"{one}.jsonl", "session"),
            (f"{one}/custom-title.json", "beside"),
            (f"{one}/subagents/agent-a1.jsonl", "agent"),
            (f"{one}/subagents/agent-a1.meta.json", "beside"),
            (f"{one}/subagents/workflows/wf_1/agent-c3.jsonl", "agent"),
            (f"{one}/subagents/workflows/wf_1/journal.jsonl", "journal"),
            (f"{one}/tool-results/out.txt", "beside"),
            (f"{one}/workflows/wf_1.json", "beside"),
            ("tasks/one/1.json", "list"),
            ("todos/one-agent-one.json", "list"),
        ],
        "two": [(f"{PROJECT}/agent-b2.jsonl", "agent"), (f"{PROJECT}/two.jsonl", "session")],
    }
    assert {one.project for one in found(config)} == {"-home-me"}
    assert {one.root for one in found(config)} == {str(config)}


def test_side_files_without_a_log_are_a_session(config: Path) -> None:
    (config / PROJECT / "one.jsonl").unlink()
    assert len(told(found(config))["one"]) == 5


def test_an_agent_without_a_session_is_its_own_session(config: Path) -> None:
    written(config / PROJECT / "agent-d4.jsonl", b'{"text":"\\"sessionId\\":\\"one\\""}\n')
    written(config / PROJECT / "agent-d4.meta.json", b"{}")
    assert told(found(config))["agent-d4"] == [
        (f"{PROJECT}/agent-d4.jsonl", "agent"),
        (f"{PROJECT}/agent-d4.meta.json", "beside"),
    ]


def test_other_files_of_a_project_are_ignored(config: Path) -> None:
    before = told(found(config))
    written(config / PROJECT / "sessions-index.json", b"{}")
    written(config / PROJECT / "memory" / "MEMORY.md", b"#")
    written(config / PROJECT / ".plait" / "journal" / "kept.jsonl", b"{}\n")
    written(config / "history.jsonl", b"{}\n")
    os.mkfifo(config / PROJECT / "pipe.jsonl")
    (config / PROJECT / "link.jsonl").symlink_to(config / "nowhere")
    (config / PROJECT / "back").symlink_to(config / PROJECT)
    assert told(found(config)) == before


def test_a_symlinked_log_is_backed_up(config: Path, tmp_path: Path) -> None:
    log = written(tmp_path / "elsewhere" / "far.jsonl", b"{}\n")
    (config / PROJECT / "far.jsonl").symlink_to(log)
    assert told(found(config))["far"] == [(f"{PROJECT}/far.jsonl", "session")]


def test_root_may_be_a_projects_folder_a_folder_or_a_file(config: Path) -> None:
    whole = told(found(config))
    assert told(find_sources([make_root(config / "projects")])) == whole
    any_folder = told(find_sources([make_root(config / PROJECT)]))
    assert any_folder["two"] == [("agent-b2.jsonl", "agent"), ("two.jsonl", "session")]
    (one,) = find_sources([make_root(config / PROJECT / "one.jsonl")])
    assert (one.session, len(one.files)) == ("one", 5)
    assert one.root == str(config / PROJECT)


def test_a_root_given_twice_is_backed_up_once(config: Path) -> None:
    both = find_sources([make_root(config), make_root(config / "projects")])
    assert told(both) == told(found(config))


def test_known_owners_of_agents_are_not_read_again(config: Path) -> None:
    agent = str(config / PROJECT / "agent-b2.jsonl")
    sources = find_sources([make_root(config)], owners={agent: "one"})
    assert (f"{PROJECT}/agent-b2.jsonl", "agent") in told(sources)["one"]


def test_an_unreadable_folder_is_reported(config: Path) -> None:
    (config / PROJECT / "loop").symlink_to("loop")
    before = told(found(config))
    unread: list[Unread] = []
    shut = config / "projects" / "shut"
    shut.mkdir()
    listed = os.scandir

    def scandir(place: str) -> Any:
        if place == str(shut):
            raise PermissionError(13, "Permission denied")
        return listed(place)

    with patch.object(os, "scandir", scandir):
        assert told(find_sources([make_root(config)], unread=unread)) == before
    assert unread == [Unread(str(shut), "permission denied")]
