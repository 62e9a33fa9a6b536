"""Real operations on gallery sessions in any order: each undo restores the tree."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from plait import Archive
from plait.archive import Session
from plait.edit.plan import Plan
from plait.errors import PlaitError
from tests.edit.copies import gallery
from tests.edit.plans import LONG_AGO, MEMORY, tree

Act: TypeAlias = Callable[[Archive, Session], Plan]
OPERATIONS: dict[str, Act] = {
    "clone": lambda archive, session: archive.plan.clone(session),
    "clone, clean, with a title": lambda archive, session: archive.plan.clone(
        session, title="Again", clean=True
    ),
    "rename": lambda archive, session: archive.plan.rename(session, "Another name"),
    "tag": lambda archive, session: archive.plan.tag(session, "kept"),
    "untag": lambda archive, session: archive.plan.tag(session, None),
    "clone of the active part": lambda archive, session: archive.plan.clone(
        session, active_only=True
    ),
    "fork": lambda archive, session: archive.plan.fork(session, 1),
    "repair": lambda archive, session: archive.plan.repair(session),
    "repair in place": lambda archive, session: archive.plan.repair(session, in_place=True),
    "graft": lambda archive, session: archive.plan.graft(session, archive.sessions[0]),
    "graft in place": lambda archive, session: archive.plan.graft(
        session, archive.sessions[-1], in_place=True
    ),
    "switch": lambda archive, session: archive.plan.switch(session, "2"),
    "delete": lambda archive, session: archive.plan.delete(session),
    "redact": lambda archive, session: archive.plan.redact(session),
    "redact in place": lambda archive, session: archive.plan.redact(session, in_place=True),
    "move": lambda archive, session: archive.plan.move(session.project, "/elsewhere")[0],
    "move within": lambda archive, session: archive.plan.move(session.project, "/elsewhere/in")[0],
}
STEPS = st.tuples(st.sampled_from([*OPERATIONS, "undo"]), st.integers(0, 50))


def config_at(folder: Path) -> Path:
    """Make one configuration folder of all sessions of the gallery, which have rested long."""
    for root in gallery():
        shutil.copytree(root / "projects", folder / "projects", dirs_exist_ok=True)
    for path in folder.rglob("*"):
        os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return folder


@settings(max_examples=15)
@given(st.lists(STEPS, min_size=3, max_size=10))
def test_any_sequence_of_operations_is_undone_step_by_step(steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory(dir=MEMORY) as folder:
        config = config_at(Path(folder, "config"))
        trees = [tree(config)]
        for name, number in steps:
            archive = Archive([config])
            if name == "undo":
                if len(trees) > 1:
                    archive.undo()
                    trees.pop()
                    assert tree(config) == trees[-1]
            elif is_done(archive, name, number):
                trees.append(tree(config))
        while len(trees) > 1:
            Archive([config]).undo()
            trees.pop()
            assert tree(config) == trees[-1]


def is_done(archive: Archive, name: str, number: int) -> bool:
    """Do an operation, unless the session has nothing that it could be done to."""
    session = archive.sessions[number % len(archive)]
    try:
        plan = OPERATIONS[name](archive, session)
    except PlaitError:
        return False
    if not plan.steps:
        return False
    plan.apply()
    return True
