"""Checks of redacted sessions that need no client."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.edits.model import Case, Edited
from conformance.edits.redactions import SECRET, all_of, beside_of, clean, told, with_secret
from conformance.model import Message, Readings, Resumed
from conformance.sandbox import Desk
from tests.conformance.test_trims import asked


def edited(
    desk: Desk,
    after: list[Message],
    *,
    chain: tuple[str, ...] = ("a",),
    steps: tuple[int, ...] = (),
) -> Edited:
    """Return an edit on a desk, after which the client sends something."""
    file = desk.project / "s.jsonl"
    found = [Resumed(True, "a", ("a",), asked("words")), Resumed(True, "a", chain, after)]
    readings = [Readings(one, one, None, one) for one in found]
    again = SimpleNamespace(redact=lambda *_, **__: SimpleNamespace(steps=steps))
    archive = SimpleNamespace(plan=again)
    case = SimpleNamespace(file=file, before=readings[0], desk=desk, archive=archive)
    plan = SimpleNamespace(path=file, session="s")
    return Edited(cast(Any, case), cast(Any, plan), readings[1], None)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    (desk.project / "s").mkdir(parents=True)
    (desk.project / "s.jsonl").write_text("{}\n")
    return desk


def test_clean_session_passes(desk: Desk) -> None:
    assert list(clean(beside_of, edited(desk, asked("other")))) == []


@pytest.mark.parametrize(
    "one",
    [
        pytest.param({"after": asked(SECRET)}, id="sent"),
        pytest.param({"after": []}, id="another shape"),
        pytest.param({"after": asked("words"), "chain": ("b",)}, id="another chain"),
        pytest.param({"after": asked("words"), "steps": (1,)}, id="not once"),
    ],
)
def test_errors_are_reported(desk: Desk, one: dict[str, Any]) -> None:
    assert len(list(clean(beside_of, edited(desk, **one)))) == 1


def test_secrets_are_searched_everywhere(desk: Desk) -> None:
    judged = edited(desk, asked("words"))
    for place, is_own in (("s/out.txt", True), ("s.jsonl", True), ("other.jsonl", False)):
        file = desk.project / place
        known = file.read_bytes() if file.exists() else b""
        file.write_text(SECRET)
        assert bool(list(clean(beside_of, judged))) is is_own
        assert list(clean(all_of, judged))
        file.write_bytes(known)
    kept = desk.config / ".plait" / "journal"
    kept.mkdir(parents=True)
    (kept / "backup").write_text(SECRET)
    assert list(clean(all_of, judged)) == []


def test_typed_secret(desk: Desk) -> None:
    prompt = {"type": "user", "message": {"content": "words"}}
    assert json.loads(with_secret(json.dumps(prompt).encode()))["message"] == {
        "content": f"words {SECRET}"
    }
    notice = {"type": "user", "message": {"content": "<task-notification>"}}
    said = json.dumps(notice).encode()
    assert with_secret(said) == said
    for other in (
        b"",
        b"torn",
        b"[]",
        b'{"type":"user","message":{"content":[]}}',
        b'{"type":"x"}',
    ):
        assert with_secret(other) == other
    told(cast(Case, SimpleNamespace(file=desk.project / "s.jsonl", desk=desk)))
    assert SECRET in (desk.config / "history.jsonl").read_text()
