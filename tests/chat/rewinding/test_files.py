"""Restoring files to their state at a prompt, and leaving others alone."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.chat.rewind import FileRewindPlan, plan_file_rewind
from plait.errors import SourceError
from plait.line import iter_lines
from plait.record import iter_client_records
from plait.write.lines import VERSIONS, Version
from tests.chat.rewinding.rewind_session import RewindSession, edit, read, run, write


def describe_plan(plan: FileRewindPlan) -> dict[str, str]:
    """What a plan says, by file."""
    return {step.name: step.problem or step.verb for step in plan.steps}


@pytest.mark.parametrize("version", VERSIONS)
def test_files_are_restored(tmp_path: Path, version: Version) -> None:
    session = RewindSession(tmp_path, version)
    old, new, gone = session.file("old.txt"), session.file("new.txt"), session.file("gone.txt")
    old.write_text("one\ntwo\n")
    gone.write_text("here\n")
    session.ask("First.", read(old))
    session.ask("Change.", edit(old, "two", "three"), write(new, "made\n"), write(gone, "there\n"))
    gone.unlink()
    session.ask("Again.", edit(old, "three", "four"))
    plan = session.plan(2)
    assert describe_plan(plan) == {
        "old.txt": "reverted",
        "new.txt": "deleted",
        "gone.txt": "foreign",
    }
    assert next(step for step in plan.steps if step.name == "old.txt").changed_lines == (1, 1)
    assert {step.name for step in plan.apply()} == {"old.txt", "new.txt"}
    assert old.read_text() == "one\ntwo\n"
    assert not new.exists() and not gone.exists()


def test_later_prompt_keeps_earlier_changes(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    for number in (1, 2, 3):
        session.ask(f"Write {number}.", write(file, f"{number}\n"))
    session.plan(1).apply()
    assert file.read_text() == "2\n"
    session.plan(2).apply()
    assert file.read_text() == "1\n"
    session.plan(3).apply()
    assert not file.exists()


def test_unchanged_files_are_not_listed(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    session.ask("Write.", write(file, "one\n"))
    session.ask("Nothing.")
    assert session.plan(1).steps == ()


def test_file_changed_by_hand_is_kept_by_default(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    session.ask("Write.", write(file, "one\n"))
    file.write_text("mine\n")
    plan = session.plan(1)
    assert describe_plan(plan) == {"a.txt": "foreign"}
    assert plan.apply() == ()
    assert file.read_text() == "mine\n"
    assert [step.name for step in plan.apply(overwrite=True)] == ["a.txt"]
    assert not file.exists()
    assert plan.backup_folder
    (copy,) = plan.backup_folder.glob("*@by-hand-*")
    assert copy.read_text() == "mine\n"


def test_change_by_hand_between_prompts_is_noticed(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    session.ask("Write.", write(file, "one\n"))
    file.write_text("one\nmine\n")
    session.ask("More.", read(file), edit(file, "one", "two"))
    assert describe_plan(session.plan(2)) == {"a.txt": "foreign"}
    assert describe_plan(session.plan(1)) == {"a.txt": "reverted"}


def test_change_by_a_command_counts_as_foreign(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    session.ask("Write.", write(file, "one\n"), run(f"echo more >> {file}"))
    assert describe_plan(session.plan(1)) == {"a.txt": "foreign"}


def test_restored_content_is_not_a_foreign_change(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    file.write_text("zero\n")
    session.ask("Write.", read(file), write(file, "one\n"))
    session.ask("Again.", write(file, "two\n"))
    session.plan(1).apply()
    assert file.read_text() == "one\n"
    session.back(1)
    session.ask("Otherwise.", read(file), write(file, "three\n"))
    assert describe_plan(session.plan(2)) == {"a.txt": "reverted"}
    session.plan(2).apply()
    assert file.read_text() == "zero\n"


def test_long_file_is_compared_with_its_backup(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("long.txt")
    file.write_text("begin\n" + "line\n" * 4000)
    session.ask("Change.", read(file), edit(file, "begin", "start"))
    assert describe_plan(session.plan(1)) == {"long.txt": "reverted"}


def test_missing_backup_leaves_the_file(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    file.write_text("one\n")
    session.ask("Write.", read(file), write(file, "two\n"))
    for copy in (tmp_path / "config" / "file-history").rglob("*@v*"):
        copy.unlink()
    plan = session.plan(1)
    assert describe_plan(plan) == {"a.txt": "lost"}
    assert plan.apply(overwrite=True) == ()
    assert file.read_text() == "two\n"


def test_nothing_is_written_outside_or_through_a_symlink(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    outside = tmp_path / "outside.txt"
    outside.write_text("theirs\n")
    inside, other = session.file("a.txt"), session.file("b.txt")
    session.ask("Write.", write(inside, "one\n"), write(other, "two\n"))
    inside.unlink()
    inside.symlink_to(outside)
    assert describe_plan(session.plan(1)) == {"a.txt": "outside", "b.txt": "deleted"}
    assert session.client
    log = session.close()
    text = log.read_text().replace('"a.txt":', '"../outside.txt":')
    log.write_text(text.replace('"trackingPath":"a.txt"', '"trackingPath":"../outside.txt"'))
    plan = plan_file_rewind(
        iter_client_records(iter_lines(log)), find_first_prompt(log), session.work
    )
    assert plan and describe_plan(plan)["../outside.txt"] == "outside"
    plan.apply(overwrite=True)
    assert outside.read_text() == "theirs\n"


def find_first_prompt(log: Path) -> str:
    """The first prompt of a log."""
    found = (
        iter_client_record
        for iter_client_record in iter_client_records(iter_lines(log))
        if iter_client_record.type == "user"
    )
    return str(next(found).uuid)


def test_backup_path_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    file.write_text("one\n")
    session.ask("Write.", read(file), write(file, "two\n"))
    log = session.close()
    secret = tmp_path / "config" / "secret"
    secret.write_text("secret\n")
    text = log.read_text()
    start = text.index('"backupFileName":"') + len('"backupFileName":"')
    name = text[start : text.index('"', start)]
    log.write_text(text.replace(name, "../../secret"))
    folder = tmp_path / "config" / "file-history" / log.stem
    plan = plan_file_rewind(
        iter_client_records(iter_lines(log)), find_first_prompt(log), session.work, folder=folder
    )
    assert plan and describe_plan(plan) == {"a.txt": "lost"}


def test_file_changing_meanwhile_is_not_restored(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    session.ask("Write.", write(file, "one\n"))
    plan = session.plan(1)
    file.write_text("just now\n")
    assert plan.apply(overwrite=True) == ()
    assert file.read_text() == "just now\n"


def test_unwritable_file_is_reported(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("sub/a.txt")
    file.parent.mkdir()
    file.write_text("one\n")
    session.ask("Write.", read(file), write(file, "two\n"))
    file.unlink()
    plan = session.plan(1)
    file.mkdir()
    with pytest.raises(SourceError, match="cannot restore"):
        plan.apply(overwrite=True)


def test_prompt_without_a_snapshot_has_no_files(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    client = session.open()
    client.runtime.writer._history = None
    session.ask("Write.", write(session.file("a.txt"), "one\n"))
    assert client.plan_file_rewind(session.points[0]) is None


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.data())
def test_any_prompt_restores_all_files(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
) -> None:
    session = RewindSession(tmp_path_factory.mktemp("session"))
    held: list[dict[str, str]] = []
    for number, name in enumerate(names):
        held.append({path.name: path.read_text() for path in session.work.iterdir()})
        session.ask(f"Write {number}.", write(session.file(name), f"{number}\n"))
    back = data.draw(st.integers(1, len(names)))
    session.plan(back).apply()
    assert {path.name: path.read_text() for path in session.work.iterdir()} == held[-back]
