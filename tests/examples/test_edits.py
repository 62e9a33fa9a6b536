"""Examples of edits: commands produce what the drawings show."""

import json
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive
from plait.edit.plan import Plan, Write

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "edits"


def planned(name: str) -> tuple[Plan, list[Any], list[Any]]:
    """Return the plan of an example, its lines, and the lines that are drawn."""
    archive = Archive([EXAMPLES / name])
    if name == "forked":
        first, made = archive.session("shows the weather"), archive.session("hums")
        plan = archive.plan.fork(first, "Which colour", before=True)
    else:
        first, made = archive.session("in the dashboard"), archive.session("with the moon")
        plan = archive.plan.clone(first, title="Tides, with the moon")
    log = next(step for step in plan.steps if isinstance(step, Write) and step.path == plan.path)
    given = b"".join(log.content()).splitlines()
    drawn = made.path.read_bytes().splitlines()
    return plan, [json.loads(line) for line in given], [json.loads(line) for line in drawn]


@pytest.mark.parametrize("name", ["forked", "cloned"])
def test_edit_gives_the_drawn_session_up_to_ids(name: str) -> None:
    plan, given, drawn = planned(name)
    assert plan.check() == ()
    ours = [one for one in given if "uuid" in one]
    theirs = [one for one in drawn if "uuid" in one]
    assert 2 <= len(ours) < len(theirs)
    for one, other in zip(ours, theirs, strict=False):
        assert one["forkedFrom"] == other["forkedFrom"]
        assert one["message"]["content"] == other["message"]["content"]
        assert set(one) == set(other)
    assert all("forkedFrom" not in one for one in theirs[len(ours) :])
