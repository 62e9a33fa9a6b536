"""Real sessions redacted, moved and packed: no new rule violation, nothing lost."""

from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.archive import Session
from plait.edit.move import DirectoryMap
from plait.edit.operations import find_directory
from plait.edit.transfer import find_user_home, plan_unpack
from plait.graph.client import Context
from plait.line import iter_lines
from tests.edit.copies import context_of, editable
from tests.edit.test_corpus import ALL, typed, write_planned_log

A_FEW = pytest.param(31, 3, id="a few")
ELSEWHERE = "/somewhere/else entirely"


def shape(found: Context) -> list[tuple[str, list[str]]]:
    """Return who says what kinds of things; thoughts may go."""
    rows = [
        (role, [block["type"] for block in blocks if block["type"] != "thinking"])
        for role, blocks in found.messages
    ]
    return [row for row in rows if row[1]]


@pytest.mark.parametrize(("share", "_"), [A_FEW, ALL])
def test_redacted_real_sessions(share: int, _: int, shared: Path, tmp_path: Path) -> None:
    for session in editable(shared / "corpus")[::share]:
        assert session.archive
        plan = session.archive.plan.redact(session)
        assert plan.check() == ()
        path = write_planned_log(plan, tmp_path)
        before, after = context_of(session.path), context_of(path)
        assert after.resumes == before.resumes
        assert shape(after) == shape(before), session.path
        assert Archive([path]).plan.redact(path, in_place=True).steps == (), session.path
        path.unlink()


@pytest.mark.parametrize(("share", "_"), [A_FEW, ALL])
def test_lines_of_real_sessions_round_trip(share: int, _: int, shared: Path) -> None:
    changed = 0
    for session in editable(shared / "corpus")[::share]:
        directory = find_directory(session)
        if directory is None:
            continue
        there, back = (
            DirectoryMap(((directory, ELSEWHERE),)),
            DirectoryMap(((ELSEWHERE, directory),)),
        )
        for file in session.files:
            for line in iter_lines(file.path):
                moved = line._replace(data=there.rewrite_line(line))
                changed += moved != line
                assert back.rewrite_line(moved) == line.data, (file.path, line.number)
    assert changed


def content(plan: Any, path: Path) -> bytes:
    [step] = [item for item in plan.steps if item.path == path]
    return b"".join(step.content())


@pytest.mark.parametrize(("share", "_"), [A_FEW, ALL])
def test_real_sessions_port_round_trip(share: int, _: int, shared: Path, tmp_path: Path) -> None:
    for number, session in enumerate(editable(shared / "corpus")[::share]):
        assert session.archive
        file = tmp_path / f"{number}.zip"
        session.archive.plan.pack(session, file).write()
        config = tmp_path / str(number) / ".claude"
        (config / "projects").mkdir(parents=True)
        plan = Archive([config]).plan.port(file, ELSEWHERE)
        assert plan.check() == ()
        assert typed_in(plan, tmp_path) == typed_of(session)
        plan.apply()
        assert Archive([config]).plan.port(file, ELSEWHERE).steps == ()
        again = tmp_path / f"{number} again.zip"
        Archive([config]).plan.pack(plan.path, again).write()
        if directory := find_directory(session):
            # nothing is written there: it is where the session was at home
            config = Path(find_user_home(directory, None) or tmp_path / "home", ".claude")
            home = plan_unpack(again, config, directory, {})
            assert content(home, home.path) == session.path.read_bytes(), session.path
        for item in (file, again):
            item.unlink()


def typed_of(session: Session) -> list[str]:
    from plait.record import read

    return typed(list(read(session.path)))


def typed_in(plan: Any, folder: Path) -> list[str]:
    from plait.record import read

    path = write_planned_log(plan, folder)
    found = typed(list(read(path)))
    path.unlink()
    return found
