"""Applying, journalling and undoing plans: every kind of step, and all of them together."""

from pathlib import Path

import pytest

from plait import Archive
from plait.edit.journal import find_home
from plait.edit.operations import find_subject
from plait.edit.plan import CopyOf, Plan, Write
from plait.errors import Refused, UserError
from tests.edit.plans import (
    LONG_AGO,
    NOTHING,
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


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return config_at(tmp_path / "config")


def test_a_new_file_is_private_and_undo_removes_it(config: Path) -> None:
    before, path = tree(config), log_of(config, NEW)
    edit = plan_of(config, write_step(path, b"new\n")).apply()
    assert path.read_bytes() == b"new\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert edit.state == "done"
    assert (edit.operation, edit.session, edit.path) == ("repair", SESSION, path)
    assert Archive([config]).undo().state == "undone"
    assert tree(config) == before


def test_undo_restores_the_times_of_a_replaced_file(config: Path) -> None:
    path = put(log_of(config), b"old\n", mode=0o640)
    before = tree(config)
    plan_of(config, write_step(path, b"new\n")).apply()
    assert path.read_bytes() == b"new\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_mtime_ns > LONG_AGO
    Archive([config]).undo()
    assert tree(config) == before


def test_undo_removes_added_lines_and_restores_the_time(config: Path) -> None:
    before, path = tree(config), log_of(config)
    plan_of(config, added(path, b'{"title":1}\n')).apply()
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n{"title":1}\n'
    Archive([config]).undo()
    assert tree(config) == before


def test_emptied_folders_are_removed_and_restored_by_undo(
    config: Path,
) -> None:
    folder = log_of(config).with_suffix("")
    (folder / "subagents" / "workflows").mkdir()
    folder.chmod(0o750)
    before = tree(config)
    gone = [path for path in config.rglob("*") if path.is_file() and SESSION in str(path)]
    plan_of(config, *map(removed, gone)).apply()
    assert [path for path in config.rglob("*") if SESSION in path.name] == []
    assert {path.name for path in config.iterdir()} == {"projects", "file-history", ".plait"}
    Archive([config]).undo()
    assert tree(config) == before


def test_a_folder_with_other_files_is_kept(config: Path) -> None:
    folder = log_of(config).with_suffix("")
    other = put(folder / "tool-results" / "mine.txt", b"mine")
    plan_of(config, removed(folder / "tool-results" / "toolu_1.txt")).apply()
    assert other.read_bytes() == b"mine"


def test_undo_removes_created_folders_if_they_are_empty(config: Path) -> None:
    before, folder = tree(config), log_of(config, NEW).with_suffix("")
    step = write_step(folder / "tool-results" / "toolu_1.txt", b"copied")
    plan_of(config, step).apply()
    assert folder.stat().st_mode & 0o777 == 0o700
    mine = put(folder / "mine.txt", b"mine")
    Archive([config]).undo()
    assert list(folder.rglob("*")) == [mine]
    mine.unlink()
    folder.rmdir()
    assert tree(config) == before


def test_copied_file_has_its_bytes_and_the_given_mode_and_times(config: Path) -> None:
    source, path = log_of(config), log_of(config, NEW)
    times = LONG_AGO - 5, LONG_AGO - 7
    plan_of(config, Write(path, CopyOf(source), None, 0o640, times)).apply()
    status = path.stat()
    assert path.read_bytes() == source.read_bytes()
    assert (status.st_mode & 0o777, status.st_mtime_ns) == (0o640, times[1])
    assert status.st_ino != source.stat().st_ino


def test_edits_are_undone_one_by_one_and_only_once(config: Path) -> None:
    trees = [tree(config)]
    archive, path = Archive([config]), log_of(config)
    for data in (b"one\n", b"two\n", b"three\n"):
        plan_of(config, write_step(path, path.read_bytes() + data)).apply()
        trees.append(tree(config))
    first = archive.edits()[-1]
    with pytest.raises(Refused, match="has changed since the edit") as opened:
        archive.undo(first.id)
    assert f"plait undo {archive.edits()[0].id}" in opened.value.hints[0]
    for expected in reversed(trees[:-1]):
        archive.undo()
        assert tree(config) == expected
    with pytest.raises(Refused, match="nothing to undo"):
        archive.undo()
    with pytest.raises(Refused, match="is already undone"):
        archive.undo(first.id)


def test_an_edit_can_be_named_by_a_prefix_or_suffix_of_its_id(config: Path) -> None:
    archive = Archive([config])
    edit = plan_of(config, added(log_of(config), b"x\n")).apply()
    with pytest.raises(UserError, match="unknown edit 'zz'"):
        archive.undo("zz")
    with pytest.raises(UserError, match=r"unknown edit .\.\./x."):
        archive.undo("../x")
    assert archive.undo(edit.id[-4:]).id == edit.id


def test_a_forgotten_edit_has_no_backup_and_cannot_be_undone(config: Path) -> None:
    archive = Archive([config])
    edit = plan_of(config, removed(log_of(config, OTHER))).apply()
    assert len(archive.edits()) == 1
    archive.journals.forget(edit.id)
    assert archive.edits() == []
    assert list((config / ".plait" / "journal").iterdir()) == []
    assert not log_of(config, OTHER).exists()


def test_backups_in_the_journal_are_private_and_not_logs(config: Path) -> None:
    path = put(log_of(config, OTHER), b"old\n", mode=0o644)
    plan_of(config, write_step(path, b"new\n"), removed(log_of(config))).apply()
    ours = config / ".plait"
    assert ours.stat().st_mode & 0o777 == 0o700
    kept = list(ours.rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in kept if path.is_dir()} == {0o700}
    assert [path for path in kept if path.suffix == ".jsonl"] == []
    assert len(Archive([config.parent]).files) == len(Archive([config]).files)


def test_outside_a_configuration_folder_the_journal_is_next_to_the_session(
    tmp_path: Path,
) -> None:
    config = tmp_path / "logs"
    path = put(config / "deep" / f"{SESSION}.jsonl", b"old\n")
    archive, before = Archive([config]), tree(tmp_path)
    subject = find_subject(archive.session(SESSION))
    step = added(path, b"more\n")
    edit = Plan("tag", subject, SESSION, path, (step,), NOTHING, NOTHING).apply()
    assert (path.parent / ".plait" / "journal" / edit.id).is_dir()
    assert archive.edits() == [edit]
    archive.undo()
    assert tree(tmp_path) == before


def test_outside_a_configuration_folder_the_session_folder_is_removed(tmp_path: Path) -> None:
    log = put(tmp_path / "logs" / f"{SESSION}.jsonl", b"old\n")
    output = put(log.with_suffix("") / "tool-results" / "toolu_1.txt", b"long")
    before = tree(tmp_path)
    subject = find_subject(Archive([tmp_path]).session(SESSION))
    steps = removed(log), removed(output)
    Plan("delete", subject, SESSION, log, steps, NOTHING, NOTHING).apply()
    assert [path.name for path in log.parent.iterdir()] == [".plait"]
    Archive([tmp_path]).undo()
    assert tree(tmp_path) == before


def test_the_journal_follows_the_real_path_of_the_session(tmp_path: Path) -> None:
    log = tmp_path / "projects" / "-home-me" / "a.jsonl"
    assert find_home(log) == tmp_path
    assert find_home(log, tmp_path / "other") == tmp_path
    assert find_home(log.parent / "deeper" / "a.jsonl", tmp_path) == tmp_path
    assert find_home(log.parent / "deeper" / "a.jsonl") == log.parent / "deeper"
    assert find_home(tmp_path / "a.jsonl") == tmp_path


def test_an_edit_id_in_several_homes_is_refused(tmp_path: Path) -> None:
    configs = [config_at(tmp_path / name) for name in ("one", "two")]
    edits = [plan_of(config, added(log_of(config), b"x\n")).apply() for config in configs]
    archive = Archive(configs)
    assert [edit.id for edit in archive.edits()] == [edit.id for edit in reversed(edits)]
    with pytest.raises(UserError, match=r"'20' matches several edits"):
        archive.undo("20")
    assert archive.undo(edits[0].id).path == log_of(configs[0])


def test_the_suggested_root_finds_the_edit(tmp_path: Path) -> None:
    config, other = config_at(tmp_path / "one"), config_at(tmp_path / "two")
    edit = plan_of(config, added(log_of(config), b"x\n")).apply()
    assert Archive([config]).journals.find_root_of(edit.id, edit.path) is None
    assert Archive([other]).journals.find_root_of(edit.id, edit.path) == config


def test_plan_without_steps_writes_nothing(config: Path) -> None:
    before = tree(config)
    edit = plan_of(config).apply()
    assert (edit.id, edit.state, edit.steps) == ("", "done", ())
    assert tree(config) == before
    assert Archive([config]).edits() == []
