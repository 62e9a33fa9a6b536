"""Edits that rename files, and files of all sessions that others keep writing."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from plait import Archive
from plait.edit.journal import Journal, read_entry
from plait.edit.plan import Plan, Write
from plait.errors import Refused, SourceError
from plait.line import read_file_stamp
from tests.edit.plans import (
    LONG_AGO,
    SESSION,
    added,
    config_at,
    log_of,
    move_step,
    plan_of,
    put,
    tree,
)
from tests.edit.test_cut_off import mark_as_ready


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return config_at(tmp_path / ".claude")


def old(config: Path) -> Path:
    return log_of(config).with_suffix("") / "tool-results" / "toolu_1.txt"


def new(config: Path) -> Path:
    return config / "projects" / "-elsewhere" / SESSION / "tool-results" / "toolu_1.txt"


def plan_one_move(config: Path) -> Plan:
    return plan_of(config, move_step(old(config), new(config)))


def test_moved_file_is_renamed_not_copied(config: Path) -> None:
    was = old(config).stat()
    plan_one_move(config).apply()
    is_ = new(config).stat()
    assert (is_.st_ino, is_.st_mtime_ns, is_.st_mode) == (was.st_ino, was.st_mtime_ns, was.st_mode)
    assert not old(config).parent.exists()


def test_undo_restores_the_name_of_a_moved_file(config: Path) -> None:
    before = tree(config)
    edit = plan_one_move(config).apply()
    assert edit.steps[0].after == edit.steps[0].before
    Archive([config]).undo()
    assert tree(config) == before


def test_file_is_not_moved_over_another(config: Path) -> None:
    plan = plan_one_move(config)
    put(new(config), b"theirs")
    before = tree(config)
    with pytest.raises(Refused, match="already exists"):
        plan.apply(force=True)
    assert tree(config) == before


def test_changed_file_is_not_moved(config: Path) -> None:
    plan = plan_one_move(config)
    put(old(config), b"other")
    with pytest.raises(Refused, match="has changed since the plan was made"):
        plan.apply(force=True)
    assert not new(config).exists()


def test_a_changed_moved_file_is_moved_back_by_force_unchanged(config: Path) -> None:
    plan_one_move(config).apply()
    new(config).write_bytes(b"other")
    with pytest.raises(Refused, match=f"'{new(config)}' has changed since the edit"):
        Archive([config]).undo()
    Archive([config]).undo(force=True)
    assert old(config).read_bytes() == b"other"
    assert not new(config).exists()


def test_a_moved_file_that_was_deleted_is_reported(config: Path) -> None:
    plan_one_move(config).apply()
    new(config).unlink()
    with pytest.raises(Refused, match="has been deleted since the edit"):
        Archive([config]).undo()
    assert Archive([config]).undo(force=True).state == "undone"


def test_a_file_at_the_old_name_is_set_aside_only_by_force(config: Path) -> None:
    edit = plan_one_move(config).apply()
    put(old(config), b"theirs")
    with pytest.raises(Refused, match="a file with its old name exists"):
        Archive([config]).undo()
    assert old(config).read_bytes() == b"theirs"
    Archive([config]).undo(force=True)
    assert old(config).read_bytes() == b"a long output"
    assert read_entry(config, edit.id).displaced_path(0).read_bytes() == b"theirs"


@pytest.mark.parametrize("is_finished", [False, True])
def test_file_with_both_names_loses_one(config: Path, is_finished: bool) -> None:
    before = tree(config)
    edit = plan_one_move(config).apply()
    mark_as_ready(config, edit)
    old(config).parent.mkdir(parents=True)
    os.link(new(config), old(config))
    with pytest.raises(Refused, match="was interrupted"):
        plan_of(config, added(log_of(config), b"next\n")).apply()
    if is_finished:
        Archive([config]).journals.finish(edit.id)
        assert not old(config).exists()
        assert new(config).stat().st_nlink == 1
    else:
        Archive([config]).undo()
        assert tree(config) == before


def test_another_file_at_the_new_name_is_not_mistaken_for_the_moved_one(config: Path) -> None:
    edit = plan_one_move(config).apply()
    mark_as_ready(config, edit)
    old(config).parent.mkdir(parents=True)
    new(config).rename(old(config))
    put(new(config), b"theirs")
    with pytest.raises(Refused, match="has changed since the edit began"):
        Archive([config]).journals.finish(edit.id)
    Archive([config]).undo(edit.id)
    assert (old(config).read_bytes(), new(config).read_bytes()) == (b"a long output", b"theirs")


def test_replaced_file_is_not_finished(config: Path) -> None:
    edit = plan_one_move(config).apply()
    mark_as_ready(config, edit)
    put(new(config).with_name("other"), b"theirs").replace(new(config))
    with pytest.raises(Refused, match="has changed since the edit began"):
        Archive([config]).journals.finish(edit.id)
    assert new(config).read_bytes() == b"theirs"


def test_a_file_that_grew_before_its_move_is_not_finished(config: Path) -> None:
    edit = plan_one_move(config).apply()
    mark_as_ready(config, edit)
    old(config).parent.mkdir(parents=True)
    new(config).rename(old(config))
    old(config).write_bytes(b"it went on since")
    with pytest.raises(Refused, match="has changed since the edit began"):
        Archive([config]).journals.finish(edit.id)
    assert not new(config).exists()


PROMPTS = b'{"display":"one"}\n{"display":"two"}\n'
OTHERS = b'{"display":"ONE"}\n{"display":"two"}\n'


def shared(config: Path, path: Path, data: bytes = OTHERS) -> Plan:
    plan = plan_of(config, move_step(old(config), new(config)))
    step = Write(path, lambda: [data], read_file_stamp(path), is_shared=True)
    return replace(plan, steps=(*plan.steps, step))


def test_lines_others_add_to_a_shared_file_survive_undo(
    config: Path,
) -> None:
    path = put(config / "history.jsonl", PROMPTS)
    shared(config, path).apply()
    assert path.read_bytes() == OTHERS
    with path.open("ab") as file:
        file.write(b'{"display":"three"}\n')
    Archive([config]).undo()
    assert path.read_bytes() == PROMPTS + b'{"display":"three"}\n'
    assert old(config).exists()


def test_a_shared_file_others_rewrote_is_kept(config: Path) -> None:
    path = put(config / "history.jsonl", PROMPTS)
    shared(config, path).apply()
    path.write_bytes(b"theirs, and longer than what there was before it was written\n")
    Archive([config]).undo()
    assert path.read_bytes().startswith(b"theirs")
    assert old(config).exists()


def test_a_shared_file_does_not_mean_the_session_is_live(config: Path) -> None:
    path = put(config / "history.jsonl", PROMPTS)
    now = LONG_AGO / 1e9
    os.utime(old(config), ns=(1, 1))
    os.utime(log_of(config), ns=(1, 1))
    plan = shared(config, path)
    edit = Journal(config, clock=lambda: now + 5).apply(plan)
    assert edit.state == "done"
    before_undo = path.read_bytes()
    assert before_undo == OTHERS
    os.utime(path)
    Archive([config]).undo()
    assert path.read_bytes() == PROMPTS


def test_the_client_state_may_be_next_to_the_usual_folder(config: Path) -> None:
    path = put(config.parent / ".claude.json", b'{"projects":{}}')
    shared(config, path, b'{"projects":{"/a":{}}}').apply()
    assert path.read_bytes() == b'{"projects":{"/a":{}}}'
    Archive([config]).undo()
    assert path.read_bytes() == b'{"projects":{}}'


def test_files_next_to_any_other_folder_are_not_reached(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    path = put(config.parent / ".claude.json", b"{}")
    with pytest.raises(Refused, match="is outside"):
        shared(config, path).apply()
    assert path.read_bytes() == b"{}"


@pytest.mark.parametrize("name", ["../.claude.json", "settings.json", "../other"])
def test_a_journal_entry_that_names_foreign_files_is_not_read(tmp_path: Path, name: str) -> None:
    config = config_at(tmp_path / "config")
    edit = plan_of(config, move_step(old(config), new(config))).apply()
    entry = config / ".plait" / "journal" / edit.id / "entry.json"
    target = new(config).relative_to(config).as_posix()
    entry.write_text(entry.read_text().replace(target, name))
    with pytest.raises(SourceError, match="not belong to the session"):
        read_entry(config, edit.id)
