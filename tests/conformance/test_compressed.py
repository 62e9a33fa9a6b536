"""Checks of compressed and moved sessions that need no client."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.edits.compressed import last_of, left, uncounted
from conformance.edits.judge import named_by
from conformance.edits.model import Case, Edited, Trial
from conformance.edits.travels import at_home, moved
from conformance.model import Listed, Message, Readings, Resumed
from conformance.sandbox import Desk
from tests.conformance.test_trims import CALL, OTHER, RESULT, asked, called

NAMED = Listed("s", "t", "p", given="t")


def edited(
    before: list[Message],
    after: list[Message],
    *,
    turns: tuple[int, int] = (2, 2),
    names: tuple[Listed | None, Listed | None] = (NAMED, NAMED),
    steps: tuple[int, ...] = (),
    file: Path = Path("/dev/null"),
) -> Edited:
    """Return an edit after which the client sends something, and the SDK lists something."""
    resumed = [Resumed(bool(said), None, (), said, said) for said in (before, after)]
    readings = [Readings(one, one, None, one) for one in resumed]
    again = SimpleNamespace(compress=lambda *_, **__: SimpleNamespace(steps=steps, changes=()))
    case = SimpleNamespace(
        file=file,
        before=readings[0],
        listed=names[0],
        archive=SimpleNamespace(plan=again),
    )
    sizes = {
        key: SimpleNamespace(turns=count)
        for key, count in zip(("before", "after"), turns, strict=True)
    }
    plan = SimpleNamespace(path=file, session="s", **sizes)
    return Edited(cast(Any, case), cast(Any, plan), readings[1], names[1])


SAID = asked("a")


@pytest.mark.parametrize(
    ("one", "wanted", "is_right"),
    [
        pytest.param(edited(SAID, SAID), {"keep_last": 1}, True, id="as it was"),
        pytest.param(edited(SAID, []), {"keep_last": 1}, False, id="no longer resumes"),
        pytest.param(edited(SAID, asked("b")), {"keep_last": 1}, False, id="another end"),
        pytest.param(edited(SAID, asked("b")), {"keep_last": 0}, True, id="all of it"),
        pytest.param(edited(SAID, SAID, steps=(1,)), {"keep_last": 1}, False, id="not once"),
        pytest.param(
            edited(called(CALL, RESULT), called(OTHER)), {"keep_last": 0}, False, id="unpaired"
        ),
        pytest.param(
            edited(called(CALL, RESULT), called(CALL, RESULT)),
            {"keep_last": 0, "calls": "none"},
            False,
            id="calls are left",
        ),
    ],
)
def test_compressed_session_is_checked(one: Edited, wanted: dict[str, Any], is_right: bool) -> None:
    assert (list(left(wanted, one)) == []) is is_right


def test_turns_and_titles_are_kept() -> None:
    assert list(uncounted(edited(SAID, SAID))) == []
    assert list(uncounted(edited(SAID, SAID, turns=(3, 2)))) == []
    assert list(uncounted(edited(SAID, SAID, turns=(2, 3))))
    other = Listed("s", "u", "p", given="u")
    assert list(uncounted(edited(SAID, SAID, names=(NAMED, other))))
    assert last_of([]) == []


def test_session_is_in_its_folder_before_moving(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text('{"cwd":"/x/\\"y","a":1}\n{"b":2}\n')
    at_home(cast(Case, SimpleNamespace(desk=Desk(tmp_path), file=file)))
    assert file.read_text() == f'{{"cwd":"{tmp_path}/demo","a":1}}\n{{"b":2}}\n'


def test_moved_session_sends_the_same(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.project.mkdir(parents=True)
    file = tmp_path / "new.jsonl"
    file.write_text("{}\n")
    one = edited(SAID, SAID, file=file)
    cast(Any, one.case).desk = desk
    assert list(moved(one)) == []
    file.write_text(f'{{"cwd":"{desk.directory}"}}\n')
    (desk.project / "s.jsonl").touch()
    assert len(list(moved(one))) == 2
    assert Desk(tmp_path, "other").directory == tmp_path / "other"


def test_remaining_files_are_named_by_the_log() -> None:
    plan = cast(Any, SimpleNamespace(session="/another/place"))
    assert named_by(Trial(plan, lambda _: ())) == "/another/place"
    assert named_by(Trial(plan, lambda _: (), None, Path("x/id.jsonl"))) == "id"
