"""Moving a directory's sessions to another directory, with everything that names it."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait import Archive
from plait.archive import Session
from plait.edit.move import DirectoryMap
from plait.edit.plan import Move, Plan, Write
from plait.errors import Refused, UserError
from plait.line import make_project_slug
from plait.record import parse_record
from tests.edit.copies import answer, context_of, copied, gallery, named, user, write
from tests.edit.plans import LONG_AGO, MEMORY, put, tree

OLD, NEW = "/home/dev/shop", "/srv/new place/shop"
A, B, C = (f"{number:08x}-1111-4222-8333-444444444444" for number in (10, 11, 12))
ONE, TWO = (f"{number:08x}-2222-4222-8333-444444444444" for number in (1, 2))


def age_files(config: Path) -> Path:
    """Return a folder in which nobody has written for long."""
    for path in config.rglob("*"):
        os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return config


def log_of(config: Path, directory: str, session: str = ONE) -> Path:
    return config / "projects" / make_project_slug(directory) / f"{session}.jsonl"


def session_in(config: Path, directory: str, session: str = ONE, **more: Any) -> Path:
    """Write a session of three lines that was held in a directory."""
    log = log_of(config, directory, session)
    said = {"role": "user", "content": f"look into {directory}/src"}
    write(
        log,
        user(A, cwd=directory, sessionId=session, message=said, **more),
        answer(B, A, cwd=f"{directory}/src", sessionId=session),
        {"type": "last-prompt", "leafUuid": B, "sessionId": session},
    )
    return log


def planned(config: Path, old: str = OLD, new: str = NEW, **options: Any) -> Plan:
    (plan,) = Archive([config]).plan.move(old, new, **options)
    return plan


def apply_move(config: Path, old: str = OLD, new: str = NEW, **options: Any) -> None:
    plan = planned(config, old, new, **options)
    assert plan.check() == ()
    plan.apply()


def fields(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    config = tmp_path / ".claude"
    log = session_in(config, OLD)
    folder = log.with_suffix("")
    write(folder / "subagents" / "agent-a1.jsonl", user(C, cwd=OLD, agentId="a1", sessionId=ONE))
    put(
        folder / "subagents" / "agent-a1.meta.json",
        json.dumps({"agentType": "x", "worktreePath": f"{OLD}/.claude/worktrees/w"}).encode(),
    )
    put(folder / "tool-results" / "t.txt", f"{OLD} as it was printed".encode())
    put(log.parent / "memory" / "MEMORY.md", b"remember")
    return age_files(config)


def test_a_moved_session_is_where_the_client_looks_for_it(config: Path) -> None:
    apply_move(config)
    log = log_of(config, NEW)
    assert [field.get("cwd") for field in fields(log)] == [NEW, f"{NEW}/src", None]
    assert not log_of(config, OLD).parent.exists()
    (session,) = Archive([config]).sessions
    assert (session.id, session.project) == (ONE, make_project_slug(NEW))
    assert context_of(log).resumes


def test_agents_and_side_files_are_moved(config: Path) -> None:
    output = log_of(config, OLD).with_suffix("") / "tool-results" / "t.txt"
    inode = output.stat().st_ino
    apply_move(config)
    folder = log_of(config, NEW).with_suffix("")
    assert fields(folder / "subagents" / "agent-a1.jsonl")[0]["cwd"] == NEW
    meta = json.loads((folder / "subagents" / "agent-a1.meta.json").read_bytes())
    assert meta["worktreePath"] == f"{NEW}/.claude/worktrees/w"
    assert (folder / "tool-results" / "t.txt").stat().st_ino == inode
    assert (folder.parent / "memory" / "MEMORY.md").read_bytes() == b"remember"


def test_files_that_do_not_name_the_directory_are_only_renamed(config: Path) -> None:
    steps = planned(config).steps
    assert {step.path.name for step in steps if isinstance(step, Move)} == {"t.txt", "MEMORY.md"}


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_tool_outputs_are_not_rewritten_whatever_their_name(config: Path, name: str) -> None:
    text = json.dumps({"cwd": OLD}).encode()
    put(log_of(config, OLD).with_suffix("") / "tool-results" / name, text)
    apply_move(config, texts=True)
    assert (log_of(config, NEW).with_suffix("") / "tool-results" / name).read_bytes() == text


def test_messages_are_not_rewritten(config: Path) -> None:
    apply_move(config)
    assert fields(log_of(config, NEW))[0]["message"]["content"] == f"look into {OLD}/src"


def test_messages_are_rewritten_on_request(config: Path) -> None:
    apply_move(config, texts=True)
    assert fields(log_of(config, NEW))[0]["message"]["content"] == f"look into {NEW}/src"


def test_times_and_modes_are_kept(config: Path) -> None:
    log_of(config, OLD).chmod(0o640)
    age_files(config)
    apply_move(config)
    status = log_of(config, NEW).stat()
    assert (status.st_mtime_ns, status.st_mode & 0o777) == (LONG_AGO, 0o640)


def test_a_directory_with_a_longer_name_is_another_one(config: Path) -> None:
    for name in ("/home/dev/shop2", "/home/dev/shop-old", "/home/dev"):
        session_in(config, name, TWO)
    age_files(config)
    apply_move(config)
    for name in ("/home/dev/shop2", "/home/dev/shop-old", "/home/dev"):
        assert fields(log_of(config, name, TWO))[0]["cwd"] == name


def test_a_field_that_names_a_sibling_directory_is_unchanged(config: Path) -> None:
    session_in(config, OLD, worktreeSession={"worktreePath": f"{OLD}/w", "originalCwd": f"{OLD}er"})
    age_files(config)
    apply_move(config)
    state = fields(log_of(config, NEW))[0]["worktreeSession"]
    assert state == {"worktreePath": f"{NEW}/w", "originalCwd": f"{OLD}er"}


def test_subdirectories_are_moved(config: Path) -> None:
    within = f"{OLD}/.claude/worktrees/w"
    session_in(config, within, TWO)
    age_files(config)
    plan = planned(config)
    assert any(within in note for note in plan.notes)
    plan.apply()
    log = log_of(config, f"{NEW}/.claude/worktrees/w", TWO)
    assert fields(log)[0]["cwd"] == f"{NEW}/.claude/worktrees/w"
    assert not log_of(config, within, TWO).parent.exists()


def test_directories_that_share_a_folder_are_distinguished(config: Path) -> None:
    other = "/home/dev-shop"
    assert make_project_slug(other) == make_project_slug(OLD)
    session_in(config, other, TWO)
    age_files(config)
    with pytest.raises(UserError, match="matches 2 directories"):
        planned(config, make_project_slug(OLD))
    apply_move(config)
    assert fields(log_of(config, NEW))[0]["cwd"] == NEW
    assert fields(log_of(config, other, TWO))[0]["cwd"] == other
    assert (log_of(config, other).parent / "memory" / "MEMORY.md").exists()


def test_target_with_the_same_project_folder_is_written_in_place(config: Path) -> None:
    before = tree(config)
    apply_move(config, new="/home/dev-shop")
    assert fields(log_of(config, OLD))[0]["cwd"] == "/home/dev-shop"
    apply_move(config, old="/home/dev-shop", new=OLD)
    assert tree(config) == before


def test_long_paths_get_the_clients_folder_name(config: Path) -> None:
    new = "/srv/" + "deep/" * 50 + "shop"
    assert len(make_project_slug(new)) > 200
    apply_move(config, new=new)
    assert log_of(config, new).exists()
    apply_move(config, old=new, new=OLD)
    assert log_of(config, OLD).exists()


def test_windows_directory_keeps_its_separators(tmp_path: Path) -> None:
    old, new = "C:\\Users\\dev\\shop", "D:\\shop"
    config = tmp_path / "config"
    log = session_in(config, old)
    write(log, user(A, cwd=f"{old}\\src", sessionId=ONE), user(B, A, cwd=old, sessionId=ONE))
    age_files(config)
    apply_move(config, old, new)
    assert [field["cwd"] for field in fields(log_of(config, new))] == [f"{new}\\src", new]


HISTORY = (
    '{"display":"look at /home/dev/shop","pastedContents":{},"timestamp":1.50,"project":"%s"}\n'
    '{"display":"other","project":"/home/dev/shop2"}\n'
    "not JSON\n"
    '{"display":"in it","project":"%s/src"}'
)


def test_the_prompt_history_names_the_new_directory(config: Path) -> None:
    put(config / "history.jsonl", (HISTORY % (OLD, OLD)).encode())
    apply_move(config)
    assert (config / "history.jsonl").read_text() == HISTORY % (NEW, NEW)


STATE = """{
  "numStartups": 3,
  "projects": {
    "%s": {"allowedTools": [], "history": [{"display": "in /home/dev/shop"}]},
    "/home/dev/shop2": {}
  },
  "githubRepoPaths": {"dev/shop": ["%s"]}
}
"""


@pytest.mark.parametrize("place", [".claude/.claude.json", ".claude.json"])
def test_the_client_state_of_the_directory_is_moved(config: Path, place: str) -> None:
    path = put(config.parent / place, (STATE % (OLD, OLD)).encode())
    apply_move(config)
    assert path.read_text() == STATE % (NEW, NEW)
    Archive([config]).undo()
    assert path.read_text() == STATE % (OLD, OLD)


def test_the_client_state_of_an_existing_directory_is_kept(config: Path) -> None:
    text = json.dumps({"projects": {OLD: {"a": 1}, NEW: {"b": 2}}})
    path = put(config.parent / ".claude.json", text.encode())
    plan = planned(config)
    assert any("already has" in note for note in plan.notes)
    plan.apply()
    assert path.read_text() == text


def test_a_client_state_that_is_a_symlink_is_unchanged(config: Path, tmp_path: Path) -> None:
    put(tmp_path / "dotfiles.json", (STATE % (OLD, OLD)).encode())
    (tmp_path / ".claude.json").symlink_to(tmp_path / "dotfiles.json")
    plan = planned(config)
    assert any("is a symlink" in note for note in plan.notes)
    plan.apply()
    assert OLD in (tmp_path / "dotfiles.json").read_text()


def index_of(config: Path, directory: str) -> Path:
    return config / "projects" / make_project_slug(directory) / "sessions-index.json"


def test_the_session_index_is_rewritten(config: Path) -> None:
    full = str(log_of(config, OLD))
    entry = {"sessionId": ONE, "fullPath": full, "firstPrompt": "x", "projectPath": OLD}
    put(
        index_of(config, OLD),
        json.dumps({"version": 1, "entries": [entry], "originalPath": OLD}).encode(),
    )
    apply_move(config)
    found = json.loads(index_of(config, NEW).read_bytes())
    assert found["originalPath"] == found["entries"][0]["projectPath"] == NEW
    assert found["entries"][0]["fullPath"] == str(log_of(config, NEW))


def test_the_session_index_of_the_new_directory_is_kept(config: Path) -> None:
    put(index_of(config, OLD), b'{"originalPath":"/home/dev/shop"}')
    put(index_of(config, NEW), b"theirs")
    before = tree(config)
    plan = planned(config)
    assert any("sessions-index.json" in note for note in plan.notes)
    plan.apply()
    assert index_of(config, NEW).read_bytes() == b"theirs"
    Archive([config]).undo()
    assert tree(config) == before


def test_sessions_already_in_the_new_directory_are_kept(config: Path) -> None:
    session_in(config, NEW, TWO)
    age_files(config)
    apply_move(config)
    assert {path.stem for path in log_of(config, NEW).parent.glob("*.jsonl")} == {ONE, TWO}


def test_nothing_is_overwritten(config: Path) -> None:
    session_in(config, NEW, ONE)
    age_files(config)
    before = tree(config)
    with pytest.raises(Refused, match=rf"already contains '{ONE}.jsonl'"):
        planned(config)
    assert tree(config) == before


def test_a_live_project_is_moved_only_by_force(config: Path) -> None:
    put(config / "sessions" / "1.json", json.dumps({"pid": os.getpid(), "sessionId": ONE}).encode())
    plan = planned(config)
    with pytest.raises(Refused, match="is live"):
        plan.apply()
    plan.apply(force=True)


def test_prompts_of_other_sessions_do_not_mean_the_session_is_live(config: Path) -> None:
    put(config / "history.jsonl", (HISTORY % (OLD, OLD)).encode())
    os.utime(config / "history.jsonl")
    apply_move(config)


def test_undo_restores_everything(config: Path) -> None:
    put(config / "history.jsonl", (HISTORY % (OLD, OLD)).encode())
    put(config / ".claude.json", (STATE % (OLD, OLD)).encode())
    before = tree(config)
    apply_move(config)
    assert tree(config) != before
    Archive([config]).undo()
    assert tree(config) == before


def test_paths_into_the_project_folder_are_rewritten(config: Path) -> None:
    path = f"/root-of/.claude/projects/{make_project_slug(OLD)}/{ONE}/tool-results/t.txt"
    text = f"<persisted-output>\nFull output saved to: {path}\n</persisted-output>"
    block = {"type": "tool_result", "tool_use_id": "t", "content": text}
    log = log_of(config, OLD)
    write(
        log,
        user(A, cwd=OLD, sessionId=ONE),
        answer(B, A, {"type": "text", "text": path}, cwd=OLD, sessionId=ONE),
        user(
            C,
            B,
            cwd=OLD,
            sessionId=ONE,
            message={"role": "user", "content": [block]},
            toolUseResult={"persistedOutputPath": path},
        ),
    )
    age_files(config)
    apply_move(config)
    _, said, result = fields(log_of(config, NEW))
    assert said["message"]["content"][0]["text"] == path
    new = path.replace(make_project_slug(OLD), make_project_slug(NEW))
    assert result["toolUseResult"]["persistedOutputPath"] == new
    assert new in result["message"]["content"][0]["content"]


def test_signed_thinking_is_unchanged(config: Path) -> None:
    thought = {"type": "thinking", "thinking": f"in {OLD}", "signature": "c2ln"}
    log = log_of(config, OLD)
    write(log, user(A, cwd=OLD, sessionId=ONE), answer(B, A, thought, cwd=OLD, sessionId=ONE))
    age_files(config)
    apply_move(config, texts=True)
    assert fields(log_of(config, NEW))[1]["message"]["content"] == [thought]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("nowhere", NEW, "no project named 'nowhere'"),
        (OLD, OLD, "already there"),
        (OLD, OLD + "/", "already there"),
    ],
)
def test_an_impossible_move_is_refused(config: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        planned(config, old, new)


def test_part_of_a_directory_name_is_enough(config: Path) -> None:
    assert planned(config, "shop").source.id == OLD


def test_among_several_matches_the_exact_name_wins(config: Path) -> None:
    session_in(config, f"{OLD}/.claude/worktrees/w", TWO)
    session_in(config, "/home/dev/shop-two", TWO)
    assert planned(config, "shop").source.id == OLD
    with pytest.raises(UserError, match="matches 3 directories"):
        planned(config, "-dev-sho")


def test_among_several_matches_the_containing_directory_wins(config: Path) -> None:
    session_in(config, f"{OLD}/.claude/worktrees/w", TWO)
    assert planned(config, "dev-shop").source.id == OLD


def test_directory_of_projects_moves_with_all_of_them(config: Path) -> None:
    session_in(config, "/home/dev/other", TWO, worktreeSession={"originalCwd": "/home/dev"})
    put(config / ".claude.json", b'{"projects":{"/home/dev":{},"/home/dev/shop":{}}}')
    age_files(config)
    plan = planned(config, "/home/dev/", "/srv")
    assert (plan.source.id, plan.session) == ("/home/dev", "/srv")
    plan.apply()
    assert fields(log_of(config, "/srv/shop"))[0]["cwd"] == "/srv/shop"
    other = fields(log_of(config, "/srv/other", TWO))[0]
    assert (other["cwd"], other["worktreeSession"]["originalCwd"]) == ("/srv/other", "/srv")
    assert json.loads((config / ".claude.json").read_bytes())["projects"].keys() == {
        "/srv",
        "/srv/shop",
    }


def test_a_trailing_separator_is_ignored(config: Path) -> None:
    assert planned(config, f"{OLD}/").source.id == OLD


def test_a_folder_with_another_name_belongs_to_the_directory_in_its_logs(config: Path) -> None:
    log = log_of(config, OLD)
    log.parent.rename(log.parent.with_name("-private-home-dev-shop"))
    assert planned(config, "-private-home-dev-shop").source.id == OLD


def test_every_client_is_moved(config: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    session_in(other, OLD, TWO)
    age_files(other)
    plans = Archive([config, other]).plan.move(OLD, NEW)
    assert [plan.source.config for plan in plans] == [config, other]
    for plan in plans:
        plan.apply()
    assert log_of(config, NEW).exists()
    assert log_of(other, NEW, TWO).exists()


TABLE: list[tuple[str, str, str]] = [
    ("its own directory", '{"cwd":"/a/b"}', '{"cwd":"/x"}'),
    ("one within it", '{"cwd":"/a/b/c"}', '{"cwd":"/x/c"}'),
    ("with a slash at its end", '{"cwd":"/a/b/"}', '{"cwd":"/x/"}'),
    ("one that begins alike", '{"cwd":"/a/bc"}', '{"cwd":"/a/bc"}'),
    ("one that ends alike", '{"cwd":"/z/a/b"}', '{"cwd":"/z/a/b"}'),
    ("twice", '{"cwd":"/a/b","x":"/a/b/c"}', '{"cwd":"/x","x":"/x/c"}'),
    ("in a list", '{"x":["/a/b","/a"]}', '{"x":["/x","/a"]}'),
    ("as a name", '{"snapshot":{"/a/b/f":{}}}', '{"snapshot":{"/x/f":{}}}'),
    ("only elsewhere", '{"cwd":"/z","x":"/a/b"}', '{"cwd":"/z","x":"/x"}'),
    ("in what was said", '{"cwd":"/a/b","content":"/a/b"}', '{"cwd":"/x","content":"/a/b"}'),
    ("deep in what was said", '{"input":{"cwd":"/a/b"}}', '{"input":{"cwd":"/a/b"}}'),
    ("with signs", '{"cwd":"\\/a\\/b\\/c"}', '{"cwd":"/x/c"}'),
    ("numbers and spaces stay", '{ "n":1.50, "cwd" : "/a/b" }', '{ "n":1.50, "cwd" : "/x" }'),
    ("in other words", '{"x":"cd /a/b"}', '{"x":"cd /a/b"}'),
]


@pytest.mark.parametrize(("line", "wanted"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE])
def test_a_line_changes_only_where_it_names_the_directory(line: str, wanted: str) -> None:
    assert (
        DirectoryMap((("/a/b", "/x"),)).rewrite_record(parse_record(line.encode())).decode()
        == wanted
    )


TEXTS = [
    ("cd /a/b && ls", "cd /x && ls"),
    ("in /a/b.", "in /x."),
    ("/a/b/c.py:3", "/x/c.py:3"),
    ("/a/b.txt", "/a/b.txt"),
    ("/a/bc /a/b-c", "/a/bc /a/b-c"),
    ("/z/a/b", "/z/a/b"),
    ("file:///a/b", "file:///x"),
    ('"/a/b"', '"/x"'),
]


def test_texts_change_only_at_the_borders_of_names() -> None:
    for said, wanted in TEXTS:
        directories = DirectoryMap((("/a/b", "/x"),), with_texts=True)
        line = json.dumps({"content": said}).encode()
        assert json.loads(directories.rewrite_record(parse_record(line)))["content"] == wanted


def test_the_longest_matching_directory_wins() -> None:
    directories = DirectoryMap((("/h", "/k"), ("/h/p", "/srv/q"), ("/srv/q", "/no")))
    assert [directories.rewrite_path(item) for item in ("/h/p/x", "/h/x", "/h")] == [
        "/srv/q/x",
        "/k/x",
        "/k",
    ]


def test_separators_follow_the_other_system() -> None:
    directories = DirectoryMap((("C:\\p", "/p"),))
    assert directories.rewrite_path("C:\\p\\a\\b") == "/p/a/b"
    assert directories.rewrite_record(parse_record(b'{"cwd":"C:\\\\p\\\\a"}')) == b'{"cwd":"/p/a"}'


@pytest.mark.parametrize("root", gallery(), ids=named)
def test_mapping_back_gives_the_original_path(root: Path, tmp_path: Path) -> None:
    config = age_files(copied(root, tmp_path))
    before = tree(config)
    for directory in {directory_of(item) for item in Archive([config]).sessions}:
        for plan in Archive([config]).plan.move(directory, "/elsewhere/in a/place"):
            assert plan.check() == ()
            plan.apply()
        for plan in Archive([config]).plan.move("/elsewhere/in a/place", directory):
            plan.apply()
    assert files_in(config) == {name: item for name, item in before.items() if item[2] is not None}


def files_in(config: Path) -> dict[str, Any]:
    """Return the files of a folder: folders that are made anew are their owner's alone."""
    return {name: item for name, item in tree(config).items() if item[2] is not None}


def directory_of(session: Session) -> str:
    from plait.edit.operations import iter_projects

    assert session.archive
    return next(
        project.directory
        for project in iter_projects(session.archive)
        if session in project.sessions
    )


NAMES = st.text("ab-. é\\\"'", min_size=1, max_size=4).filter(lambda one: one not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | PATHS
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(PATHS | st.sampled_from(["content", "cwd", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=80)
@given(PATHS, st.lists(st.tuples(PATHS, VALUES), min_size=1, max_size=4), st.booleans())
def test_moving_there_and_back_restores_the_bytes(
    old: str, told: list[tuple[str, Any]], texts: bool
) -> None:
    new = "/nowhere/else"
    with TemporaryDirectory(dir=MEMORY) as folder:
        config = Path(folder, ".claude")
        lines = [
            {"type": "user", "uuid": f"u{at}", "parentUuid": None, "cwd": cwd, "x": value}
            for at, (cwd, value) in enumerate([(old, None), *told])
        ]
        log = log_of(config, old)
        log.parent.mkdir(parents=True)
        log.write_text("".join(json.dumps(field, ensure_ascii=False) + "\n" for field in lines))
        typed = json.dumps({"project": old}, ensure_ascii=False)
        put(config / "history.jsonl", f"{typed}\n".encode())
        age_files(config)
        before = tree(config)
        for plan in Archive([config]).plan.move(old, new, texts=texts):
            plan.apply()
        assert all(field["cwd"] != old for field in fields(log_of(config, new)))
        for plan in Archive([config]).plan.move(new, old, texts=texts):
            plan.apply()
        # the list of prompts is written when it is written, all else keeps its times
        assert without_time(tree(config)) == without_time(before)


def without_time(found: Any) -> dict[str, Any]:
    files = {name: item for name, item in found.items() if item[2] is not None}
    return {name: item if name != "history.jsonl" else item[2] for name, item in files.items()}


def test_a_plan_has_no_file_twice(config: Path) -> None:
    places = [step.path for step in planned(config).steps]
    assert len(places) == len(set(places))
    assert any(isinstance(step, Write) for step in planned(config).steps)
