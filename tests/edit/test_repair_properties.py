"""Repairing any damage is idempotent and loses nothing that was sent or typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.edit.draft import Draft, open_draft
from plait.edit.log import split_lines
from plait.edit.plan import Plan, Subject
from plait.edit.repair import list_sent_blocks, mend_draft, plan_repair
from plait.line import LogFile
from plait.record import Record
from plait.record.prompts import is_human_prompt
from tests.edit.mending import context_of, result_of, texts_of
from tests.graph import generated

LOG = LogFile(Path("p/s.jsonl"), "session", "p", "s", None, None, 0, 0.0)


def drafted(data: bytes) -> Draft:
    """Return the draft of a log with these bytes."""
    return open_draft(LOG, split_lines([data]))


def healed(data: bytes) -> bytes:
    """Return the bytes of a log after its repair."""
    draft = drafted(data)
    mend_draft(draft)
    return bytes_of(draft)


def bytes_of(draft: Draft) -> bytes:
    """Return the bytes of a draft."""
    lines = [line for line in draft.lines if not line.is_dropped]
    return b"".join(line.data + b"\n" * line.is_ended for line in lines)


def typed(data: bytes) -> set[str]:
    """Return what people typed."""
    return {record.text for record in drafted(data).records if is_human_prompt(record)}


Row = dict[str, Any]
turns = st.lists(
    st.fixed_dictionaries(
        {
            "calls": st.integers(0, 3),
            "parallel": st.booleans(),
            "note": st.booleans(),
            "gap": st.sampled_from((1, 2, 60)),
        }
    ),
    min_size=2,
    max_size=4,
)


class Pen:
    """Writes a session as the client does, one record after the other."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.time = 0
        self.leaf: str | None = None

    def write(self, kind: str, message: Row | None, gap: int = 1, **more: Any) -> str:
        """Add a record below the leaf, or where it is said."""
        self.time += gap
        uuid = f"{len(self.rows):08}-0000-4000-8000-000000000000"
        row: Row = {"parentUuid": self.leaf, "isSidechain": False, "type": kind}
        if message:
            row["message"] = {"role": kind, **message}
        minutes, seconds = divmod(self.time, 60)
        time = f"2026-11-02T{9 + minutes // 60:02}:{minutes % 60:02}:{seconds:02}.000Z"
        frame = {"userType": "external", "cwd": "/x", "sessionId": "s", "version": "2.1.325"}
        self.rows.append({**row, "uuid": uuid, "timestamp": time, **frame, **more})
        self.leaf = uuid
        return uuid

    def answer(self, name: str, block: Row) -> str:
        """Add a block of a response."""
        message = {"id": name, "model": "claude-opus-5-5", "content": [block]}
        usage = {"input_tokens": 1, "output_tokens": 1}
        full = {**message, "stop_reason": None, "usage": usage}
        return self.write("assistant", full, requestId=f"req_{name}")

    def turn(self, number: int, plan: Row) -> None:
        """Add a prompt, what tools were asked, and an answer."""
        self.write("user", {"content": f"prompt {number}"}, plan["gap"])
        if plan["note"]:
            self.write("attachment", None, attachment={"type": "hook_success"})
        if plan["calls"]:
            self.calls(number, plan["calls"], is_parallel=plan["parallel"])
        self.answer(f"m{number}", {"type": "text", "text": f"answer {number}"})

    def calls(self, number: int, count: int, *, is_parallel: bool) -> None:
        """Add calls and their results, each below its own call."""
        made: list[tuple[str, str]] = []
        for at in range(count):
            call = f"t{number}-{at}"
            block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": call}}
            name = f"c{number}" if is_parallel else f"c{number}-{at}"
            made.append((call, self.answer(name, block)))
            if not is_parallel:
                self.result(made.pop())
        for item in made:
            self.result(item)

    def result(self, made: tuple[str, str]) -> None:
        """Add the result of a call."""
        call, self.leaf = made
        block = {"type": "tool_result", "tool_use_id": call, "content": f"result {call}"}
        self.write("user", {"content": [block]}, sourceToolAssistantUUID=self.leaf)


def session_of(plans: list[Row]) -> list[bytes]:
    """Return the lines of a session of some turns."""
    pen = Pen()
    for number, plan in enumerate(plans):
        pen.turn(number, plan)
    return [encoded(row) for row in pen.rows]


def encoded(row: Row) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


sessions = turns.map(session_of)
places = st.integers(1, 60)

Damage = Callable[[list[bytes], int], bytes]


def phantom_parent(lines: list[bytes], place: int) -> bytes:
    prompts = [n for n, line in enumerate(lines) if b'"content":"prompt' in line][1:]
    chosen = prompts[place % len(prompts)]
    row = json.loads(lines[chosen]) | {"parentUuid": "ffffffff-0000-4000-8000-000000000000"}
    return b"".join((*lines[:chosen], encoded(row), *lines[chosen + 1 :]))


def glued(lines: list[bytes], place: int) -> bytes:
    at = place % (len(lines) - 1)
    return b"".join((*lines[:at], lines[at][:-1], *lines[at + 1 :]))


def padded(lines: list[bytes], place: int) -> bytes:
    at = place % len(lines)
    return b"".join((*lines[:at], bytes(place), lines[at], *lines[at + 1 :]))


def nul_line(lines: list[bytes], place: int) -> bytes:
    at = place % len(lines)
    return b"".join((*lines[:at], bytes(place) + b"\n", *lines[at:]))


def torn_and_written_on(lines: list[bytes], place: int) -> bytes:
    at = place % len(lines)
    return b"".join((*lines[:at], b'{"parentUuid":"x","isSide', *lines[at:]))


def marked(lines: list[bytes], place: int) -> bytes:
    return b"\xef\xbb\xbf" + b"".join(lines)


def appended_again(lines: list[bytes], place: int) -> bytes:
    count = place % len(lines) + 1
    return b"".join((*lines[:-1], *lines[:count], lines[-1]))


def copied_under_new_ids(lines: list[bytes], place: int) -> bytes:
    copy = b"".join(lines)
    return copy + copy.replace(b"-0000-4000-8000-", b"-1111-4000-8000-")


def circle(lines: list[bytes], place: int) -> bytes:
    row = json.loads(lines[0]) | {"parentUuid": json.loads(lines[-1])["uuid"]}
    return b"".join((encoded(row), *lines[1:]))


HARMLESS: tuple[Damage, ...] = (
    phantom_parent,
    glued,
    padded,
    nul_line,
    torn_and_written_on,
    marked,
    appended_again,
    copied_under_new_ids,
    circle,
)


@given(sessions)
def test_a_valid_session_is_unchanged(lines: list[bytes]) -> None:
    data = b"".join(lines)
    draft = drafted(data)
    mend_draft(draft)
    assert not draft.is_changed and bytes_of(draft) == data


@settings(max_examples=settings().max_examples * 2)
@given(st.sampled_from(HARMLESS), sessions, places)
def test_recoverable_records_are_sent_as_before_the_damage(
    damage: Damage, lines: list[bytes], place: int
) -> None:
    data = damage(lines, place)
    after = healed(data)
    assert texts_of(context_of(after)) == texts_of(context_of(b"".join(lines)))
    assert healed(after) == after and typed(data) <= typed(after)


@given(sessions, places)
def test_a_lost_result_changes_nothing_else(lines: list[bytes], place: int) -> None:
    results = [n for n, line in enumerate(lines) if b"tool_result" in line]
    if not results:
        return
    removed = results[place % len(results)]
    after = healed(b"".join((*lines[:removed], *lines[removed + 1 :])))
    everything = texts_of(context_of(b"".join(lines)))
    found = texts_of(context_of(after))
    words = [text for text in everything if text.startswith(("prompt", "answer"))]
    assert [text for text in found if text.startswith(("prompt", "answer"))] == words
    assert len(found) == len(everything) and healed(after) == after


@given(sessions, st.integers(2, 400))
def test_a_truncated_end_loses_only_what_was_cut(lines: list[bytes], cut: int) -> None:
    data = b"".join(lines)[:-cut]
    after = healed(data)
    assert list_sent_blocks(drafted(data)) <= list_sent_blocks(drafted(after))
    assert healed(after) == after and after.endswith(b"\n")


@given(generated.conversations)
def test_repair_loses_nothing_and_is_idempotent_for_any_log(archive: dict[str, list[Row]]) -> None:
    ((path, rows),) = archive.items()
    data = b"\n".join(generated.lines_of(path, rows)) + b"\n"
    after = healed(data)
    assert list_sent_blocks(drafted(data)) <= list_sent_blocks(drafted(after))
    assert typed(data) <= typed(after)
    assert healed(after) == after


@given(generated.conversations)
def test_repair_of_any_log_breaks_no_new_rule(
    tmp_path_factory: pytest.TempPathFactory, archive: dict[str, list[Row]]
) -> None:
    ((path, rows),) = archive.items()
    data = b"\n".join(generated.lines_of(path, rows)) + b"\n"
    for is_in_place in (True, False):
        plan = planned(tmp_path_factory.mktemp("logs"), data, is_in_place=is_in_place)
        assert plan.check() == ()
        if plan.steps:
            again = planned(tmp_path_factory.mktemp("logs"), result_of(plan), is_in_place=True)
            assert again.steps == () and len(again.unmended) == len(plan.unmended)


def planned(folder: Path, data: bytes, *, is_in_place: bool) -> Plan:
    path = folder / "11111111-1111-4111-8111-111111111111.jsonl"
    path.write_bytes(data)
    log = LogFile(path, "session", "p", path.stem, None, None, len(data), 0.0)
    return plan_repair(Subject(path.stem, log), is_in_place=is_in_place)


@given(sessions, places)
def test_untouched_records_keep_their_bytes(lines: list[bytes], place: int) -> None:
    data = phantom_parent(lines, place)
    draft = drafted(data)
    mend_draft(draft)
    kept = [line for line in draft.lines if not line.reasons]
    assert len(kept) == len(lines) - 1 and all(line.data == line.original for line in kept)
    assert isinstance(kept[0].entry, Record)
