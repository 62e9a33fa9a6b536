"""What an edit refuses: overtaking a change, writing to a live session, leaving its folder."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.edit.journal import Journal, describe_activity
from plait.edit.operations import find_subject
from plait.edit.plan import Plan
from plait.errors import Refused, SourceError
from tests.edit.plans import (
    LONG_AGO,
    OTHER,
    SESSION,
    added,
    config_at,
    log_of,
    plan_of,
    put,
    removed,
    tree,
    write_step,
)

NEW = "9c44e1aa-0000-4000-8000-000000000003"
NOW = LONG_AGO / 1e9


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return config_at(tmp_path / "config")


def new_session(config: Path) -> Plan:
    return plan_of(config, write_step(log_of(config, NEW), b"new\n"))


def in_place(config: Path) -> Plan:
    return plan_of(config, write_step(log_of(config), b"new\n"))


def add_line(config: Path) -> Plan:
    return plan_of(config, added(log_of(config), b"more\n"))


def away(config: Path) -> Plan:
    return plan_of(config, removed(log_of(config)))


PLANS = [new_session, in_place, add_line, away]


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"{}\n")


def replaced(path: Path) -> None:
    put(path.with_name("other"), path.read_bytes()).replace(path)


def cut_short(path: Path) -> None:
    os.truncate(path, 3)


@pytest.mark.parametrize("planned", PLANS)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (grown, "has grown since"),
        (Path.unlink, "was deleted since"),
        (replaced, "has changed since"),
        (cut_short, "has changed since"),
    ],
)
def test_a_session_changed_after_planning_is_not_edited(
    config: Path, planned: Callable[[Path], Plan], change: Callable[[Path], None], said: str
) -> None:
    plan = planned(config)
    change(log_of(config))
    before = tree(config)
    with pytest.raises(Refused, match=f"{SESSION}.jsonl' {said} the plan was made") as opened:
        plan.apply(force=True)
    assert opened.value.hints == ("create the plan again",)
    assert opened.value.exit_code == 1
    assert tree(config) == before
    assert Archive([config]).edits() == []


@pytest.mark.parametrize("change", [grown, Path.unlink, replaced])
def test_a_session_changed_during_the_copy_is_not_edited(
    config: Path, change: Callable[[Path], None]
) -> None:
    def pieces() -> list[bytes]:
        change(log_of(config))
        return [b"half\n"]

    plan = plan_of(config, write_step(log_of(config, NEW), pieces))
    with pytest.raises(Refused, match="since the plan was made"):
        plan.apply()
    assert not log_of(config, NEW).exists()
    assert Archive([config]).edits() == []
    assert [path for path in config.rglob("*") if path.suffix == ".new"] == []


def test_a_new_session_does_not_overwrite_another(config: Path) -> None:
    plan = new_session(config)
    put(log_of(config, NEW), b"mine\n")
    with pytest.raises(Refused, match="already exists"):
        plan.apply(force=True)
    assert log_of(config, NEW).read_bytes() == b"mine\n"


def test_a_file_created_meanwhile_is_not_overwritten(config: Path) -> None:
    before = tree(config)

    def pieces() -> list[bytes]:
        put(log_of(config, NEW), b"mine\n")
        return [b"ours\n"]

    with pytest.raises(Refused, match="already exists"):
        plan_of(config, write_step(log_of(config, NEW), pieces)).apply()
    assert log_of(config, NEW).read_bytes() == b"mine\n"
    log_of(config, NEW).unlink()
    assert tree(config) == before


def running(config: Path, pid: int, session: str = SESSION) -> None:
    facts = {"pid": pid, "sessionId": session}
    put(config / "sessions" / f"{pid}.json", json.dumps(facts).encode())


def ended_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


@pytest.mark.parametrize("planned", PLANS[1:])
def test_a_running_session_is_edited_only_by_force(
    config: Path, planned: Callable[[Path], Plan]
) -> None:
    running(config, os.getpid())
    plan, before = planned(config), tree(config)
    with pytest.raises(
        Refused, match=f"'{SESSION}' is live: a running Claude Code has it open"
    ) as opened:
        plan.apply()
    assert opened.value.hints == ("`--force` edits it anyway",)
    assert tree(config) == before
    plan.apply(force=True)
    with pytest.raises(Refused, match="is live"):
        Archive([config]).undo()
    Archive([config]).undo(force=True)
    assert tree(config) == before


@pytest.mark.parametrize("planned", PLANS[1:])
def test_an_ended_client_or_another_session_does_not_block_edits(
    config: Path, planned: Callable[[Path], Plan]
) -> None:
    running(config, ended_process())
    running(config, os.getpid(), OTHER)
    assert planned(config).apply().state == "done"


@pytest.mark.parametrize("planned", PLANS[1:])
@pytest.mark.parametrize(("age", "is_refused"), [(0, True), (59, True), (61, False), (-61, False)])
def test_session_is_live_for_a_minute_after_its_last_line(
    config: Path, planned: Callable[[Path], Plan], age: float, is_refused: bool
) -> None:
    journal, plan = Journal(config, clock=lambda: NOW + age), planned(config)
    if not is_refused:
        assert journal.apply(plan).state == "done"
        return
    with pytest.raises(Refused, match=rf"is live: a line was added {age} s ago"):
        journal.apply(plan)
    assert journal.apply(plan, force=True).state == "done"


def test_a_writing_agent_means_the_session_is_live(config: Path) -> None:
    agent = log_of(config).with_suffix("") / "subagents" / "agent-a1.jsonl"
    os.utime(agent)
    step = removed(log_of(config).with_suffix("") / "tool-results" / "toolu_1.txt")
    assert plan_of(config, step).apply()
    session = Archive([config]).session(SESSION)
    subject = find_subject(session)
    sign = describe_activity(subject)
    assert sign
    assert sign.startswith("a line was added ")
    with pytest.raises(Refused, match="is live: a line was added"):
        replace(add_line(config), source=subject).apply()


def test_client_may_know_a_session_by_another_id_than_its_file(config: Path) -> None:
    running(config, os.getpid(), "another-name")
    plan = add_line(config)
    with pytest.raises(Refused, match="a running Claude Code has it open"):
        replace(plan, source=replace(plan.source, id="another-name")).apply()
    assert plan.apply().state == "done"


@pytest.mark.parametrize("operation", ["clone", "fork"])
def test_the_plan_of_a_copy_notes_a_live_source(tmp_path: Path, operation: str) -> None:
    drawing = draw('file work cwd=/home/dev/shop\nU1 "What?"\nA1< "That."')
    config = tmp_path / "config"
    drawing.write(config)
    (log,) = config.rglob("*.jsonl")
    os.utime(log, ns=(LONG_AGO, LONG_AGO))
    assert getattr(Archive([config]).plan, operation)(drawing.session).notes == ()
    running(config, os.getpid(), drawing.session)
    (note,) = getattr(Archive([config]).plan, operation)(drawing.session).notes
    assert note.startswith("the session is live: a running Claude Code has it open")


def test_a_live_session_can_be_copied(config: Path) -> None:
    running(config, os.getpid())
    os.utime(log_of(config))
    assert new_session(config).apply().state == "done"


def test_an_edit_does_not_make_a_session_live(config: Path) -> None:
    before = tree(config)
    for _ in range(3):
        add_line(config).apply()
        in_place(config).apply()
    new_session(config).apply()
    plan_of(config, added(log_of(config, NEW), b"title\n")).apply()
    for _ in range(8):
        Archive([config]).undo()
    assert tree(config) == before


def test_a_line_after_our_edit_means_the_session_is_live(config: Path) -> None:
    add_line(config).apply()
    grown(log_of(config))
    with pytest.raises(Refused, match="is live: a line was added"):
        add_line(config).apply()


def test_a_file_changed_since_its_edit_is_restored_only_by_force(config: Path) -> None:
    before = tree(config)
    edit = in_place(config).apply()
    put(log_of(config), b"mine\n")
    with pytest.raises(Refused, match="has changed since the edit") as opened:
        Archive([config]).undo()
    assert opened.value.hints == ("`--force` undoes the edit anyway",)
    assert log_of(config).read_bytes() == b"mine\n"
    Archive([config]).undo(force=True)
    assert tree(config) == before
    aside = config / ".plait" / "journal" / edit.id / "0000.aside"
    assert aside.read_bytes() == b"mine\n"


def test_other_bytes_of_the_same_length_count_as_changed(config: Path) -> None:
    in_place(config).apply()
    put(log_of(config), b"nEw\n")
    with pytest.raises(Refused, match="has changed since the edit"):
        Archive([config]).undo()


@pytest.mark.parametrize(("planned", "is_back"), [(in_place, True), (add_line, False)])
def test_a_file_deleted_since_its_edit_is_reported(
    config: Path, planned: Callable[[Path], Plan], is_back: bool
) -> None:
    planned(config).apply()
    log_of(config).unlink()
    with pytest.raises(Refused, match="has been deleted since the edit"):
        Archive([config]).undo()
    assert Archive([config]).undo(force=True).state == "undone"
    assert log_of(config).exists() == is_back


def test_a_later_edit_that_was_undone_does_not_block_undo(config: Path) -> None:
    first = in_place(config).apply()
    add_line(config).apply()
    Archive([config]).undo()
    put(log_of(config), b"mine\n")
    with pytest.raises(Refused, match="has changed since the edit") as opened:
        Archive([config]).undo(first.id)
    assert opened.value.hints == ("`--force` undoes the edit anyway",)


def test_a_new_session_that_grew_is_removed_only_by_force(config: Path) -> None:
    before = tree(config)
    edit = new_session(config).apply()
    put(log_of(config, NEW), b"new\nmine\n")
    with pytest.raises(Refused, match="has changed since the edit"):
        Archive([config]).undo()
    Archive([config]).undo(force=True)
    assert tree(config) == before
    aside = config / ".plait" / "journal" / edit.id / "0000.aside"
    assert aside.read_bytes() == b"new\nmine\n"


def test_touched_file_counts_as_unchanged(config: Path) -> None:
    before = tree(config)
    in_place(config).apply()
    put(log_of(config), b"new\n", when=LONG_AGO + 5)
    Archive([config]).undo()
    assert tree(config) == before


def test_force_removes_only_the_added_line_of_a_session_that_grew(config: Path) -> None:
    path = log_of(config)
    add_line(config).apply()
    put(path, path.read_bytes() + b"theirs\n", mode=0o640, when=LONG_AGO + 7)
    with pytest.raises(Refused, match="has grown since the edit"):
        Archive([config]).undo()
    Archive([config]).undo(force=True)
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\ntheirs\n'
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_mtime_ns == LONG_AGO + 7


def test_an_added_line_that_moved_is_not_removed(config: Path) -> None:
    add_line(config).apply()
    put(log_of(config), b"something else altogether\n")
    for force in (False, True):
        with pytest.raises(Refused, match="no longer contains the added lines"):
            Archive([config]).undo(force=force)
    assert log_of(config).read_bytes() == b"something else altogether\n"


def test_a_removed_session_is_not_restored_over_another(config: Path) -> None:
    edit = away(config).apply()
    put(log_of(config), b"mine\n")
    with pytest.raises(Refused, match="exists again"):
        Archive([config]).undo()
    Archive([config]).undo(force=True)
    assert log_of(config).read_bytes() == b'{"a":1}\n{"b":2}\n'
    aside = config / ".plait" / "journal" / edit.id / "0000.aside"
    assert aside.read_bytes() == b"mine\n"


@pytest.mark.parametrize("planned", [in_place, away])
def test_a_missing_backup_in_the_journal_is_reported(
    config: Path, planned: Callable[[Path], Plan]
) -> None:
    edit = planned(config).apply()
    kept = config / ".plait" / "journal" / edit.id / "0000.was"
    os.truncate(kept, 3)
    with pytest.raises(SourceError, match="in the journal is truncated"):
        Archive([config]).undo(force=True)
    kept.unlink()
    with pytest.raises(SourceError, match="is no longer in the journal"):
        Archive([config]).undo(force=True)


@pytest.mark.parametrize("planned", PLANS)
def test_symlinks_do_not_lead_an_edit_out_of_its_folder(
    tmp_path: Path, planned: Callable[[Path], Plan]
) -> None:
    config = config_at(tmp_path / "config")
    elsewhere = tmp_path / "elsewhere"
    (config / "projects" / "-home-me").rename(elsewhere)
    (config / "projects" / "-home-me").symlink_to(elsewhere)
    before = tree(tmp_path)
    with pytest.raises(Refused, match="is outside") as opened:
        planned(config).apply(force=True)
    assert str(elsewhere) in opened.value.hints[0]
    assert tree(tmp_path) == before


@pytest.mark.parametrize("planned", [in_place, add_line])
def test_a_session_that_is_a_symlink_is_not_written_through(
    tmp_path: Path, planned: Callable[[Path], Plan]
) -> None:
    config = config_at(tmp_path / "config")
    target = tmp_path / "elsewhere.jsonl"
    log_of(config).rename(target)
    log_of(config).symlink_to(target)
    before = target.read_bytes()
    with pytest.raises(Refused, match="is not a regular file"):
        planned(config).apply(force=True)
    assert target.read_bytes() == before
    assert log_of(config).is_symlink()


def test_a_removed_symlink_is_restored_and_its_target_unchanged(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    target = put(tmp_path / "elsewhere.txt", b"mine")
    link = log_of(config).with_suffix("") / "tool-results" / "link.txt"
    link.symlink_to(target)
    plan_of(config, removed(link)).apply()
    assert not link.is_symlink()
    assert target.read_bytes() == b"mine"
    Archive([config]).undo()
    assert link.readlink() == target
    assert (target.stat().st_mtime_ns, target.stat().st_mode & 0o777) == (LONG_AGO, 0o600)


def test_a_symlinked_folder_within_its_root_is_followed(config: Path) -> None:
    (config / "projects" / "-home-me").rename(config / "projects" / "-home-you")
    (config / "projects" / "-home-me").symlink_to(config / "projects" / "-home-you")
    before = tree(config)
    edit = in_place(config).apply()
    assert edit.path.parent.name == "-home-you"
    Archive([config]).undo()
    assert tree(config) == before


@pytest.mark.parametrize("ours", [".plait", ".plait/journal"])
def test_a_symlinked_journal_is_not_written_to(tmp_path: Path, ours: str) -> None:
    config = config_at(tmp_path / "config")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (config / ours).parent.mkdir(exist_ok=True)
    (config / ours).symlink_to(elsewhere)
    with pytest.raises(Refused, match="is a symlink to another location"):
        in_place(config).apply()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "place",
    [
        "../outside.jsonl",
        "projects/../../outside.jsonl",
        "/outside.jsonl",
        "settings.json",
        ".plait/lock",
        "projects/-home-me/.plait/x",
        "projects/-home-me/a\0b",
        "",
    ],
)
def test_journal_paths_that_lead_elsewhere_are_not_followed(config: Path, place: str) -> None:
    outside = put(config.parent / "outside.jsonl", b"mine\n")
    edit = in_place(config).apply()
    entry = config / ".plait" / "journal" / edit.id / "entry.json"
    report = json.loads(entry.read_bytes())
    report["steps"][0]["path"] = place
    entry.write_text(json.dumps(report))
    assert Archive([config]).edits() == []
    with pytest.raises(SourceError, match=f"cannot read the record of the edit '{edit.id}'"):
        Archive([config]).undo(edit.id, force=True)
    assert outside.read_bytes() == b"mine\n"
    assert new_session(config).apply().state == "done"


def test_an_entry_under_another_id_is_not_read(config: Path) -> None:
    edit = in_place(config).apply()
    folder = config / ".plait" / "journal" / edit.id
    folder.rename(folder.with_name("20010101-000000-000000"))
    assert Archive([config]).edits() == []
    with pytest.raises(SourceError, match=f"it belongs to edit '{edit.id}'"):
        Archive([config]).undo("20010101-000000-000000")


def test_a_symlinked_entry_is_neither_read_nor_deleted(config: Path) -> None:
    edit = in_place(config).apply()
    folder = config / ".plait" / "journal" / edit.id
    elsewhere = config.parent / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    assert Archive([config]).edits() == []
    mine = config.parent / "mine"
    put(mine / "file", b"mine")
    folder.with_name("20010101-000000-000000").symlink_to(mine)
    assert new_session(config).apply().state == "done"
    assert (mine / "file").read_bytes() == b"mine"


def test_other_files_in_the_journal_are_left_alone(config: Path) -> None:
    mine = put(config / ".plait" / "journal" / "notes" / "mine.txt", b"mine")
    in_place(config).apply()
    assert mine.read_bytes() == b"mine"
    assert len(Archive([config]).edits()) == 1


def test_a_folder_that_became_a_symlink_is_not_followed(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    in_place(config).apply()
    elsewhere = tmp_path / "elsewhere"
    (config / "projects" / "-home-me").rename(elsewhere)
    (config / "projects" / "-home-me").symlink_to(elsewhere)
    with pytest.raises(Refused, match="its folder is now a symlink"):
        Archive([config]).undo(force=True)
    assert (elsewhere / f"{SESSION}.jsonl").read_bytes() == b"new\n"


def test_client_settings_are_never_edited(config: Path) -> None:
    with pytest.raises(Refused, match="sessions cannot be written to"):
        plan_of(config, write_step(config / "settings.json", b"{}")).apply()


def test_plan_has_one_step_per_file(config: Path) -> None:
    path = log_of(config)
    with pytest.raises(ValueError, match="one step per file"):
        plan_of(config, added(path, b"one\n"), added(path, b"two\n")).apply()


def test_only_complete_edits_are_forgotten_and_interrupted_ones_finished(
    config: Path,
) -> None:
    archive, edit = Archive([config]), in_place(config).apply()
    with pytest.raises(Refused, match="is done: nothing to finish"):
        archive.journals.finish(edit.id)
    folder = config / ".plait" / "journal" / edit.id
    (folder / "entry.json").rename(folder / "open.json")
    for state in ("begun", "ready", "undoing"):
        report = json.loads((folder / "open.json").read_bytes()) | {"state": state}
        (folder / "open.json").write_text(json.dumps(report))
        with pytest.raises(Refused, match="was interrupted"):
            archive.journals.forget(edit.id)
