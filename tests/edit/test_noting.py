<<<<<<< HEAD
"""What went is noted where the answers that read it can be told from the others."""

import json
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.archive import Archive
from plait.conversation.next_prompt import NextPrompt, next_prompt
from plait.edit.check.line_source import lines_of
from plait.edit.model import Plan, Write
from plait.graph.client import contributions
from plait.graph.client.weigh import tokens_in
from plait.record import Record, entry_of

TURNS, SYSTEM, MEASURE = 6, 10_000, 1.2


def story() -> str:
    """Returns a session whose requests grow by what they say that they grow by."""
    lines = ["file story cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=claude-opus-4-5"]
    for n in range(1, TURNS + 1):
        lines += [
            f'U{n}{"<" if n > 1 else ""} "Step {n}."',
            f'A{n}< think "Well, {"thought " * 40}" + Bash(command="make step-{n}") as c{n}',
            f"R{n}< of c{n} times={40 * n}",
            "  | one line of what was made",
            f'B{n}< "Made step {n}: {"more " * 60}"'.replace("B", "A1"),
        ]
    return "\n".join(lines)


def told(path: Path) -> None:
    """Lets the usage of a log say what its requests took: the weights, by a measure."""
    records = records_of(path.read_bytes())
    usages: dict[str | None, dict[str, int]] = {}
    read = 0
    for record, blocks in contributions(records, path.stat().st_size):
        weight = sum(map(tokens_in, blocks))
        if record.type == "assistant":
            first = {"input_tokens": SYSTEM + round(MEASURE * read), "output_tokens": 0}
            usage = usages.setdefault(record.message_id, first)
            usage["output_tokens"] += round(MEASURE * weight)
        read += weight
    lines = []
    for record in records:
        fields = {**record.fields}
        if record.type == "assistant":
            fields["message"] = {**fields["message"], "usage": usages[record.message_id]}
        lines.append(json.dumps(fields))
    path.write_text("\n".join(lines) + "\n")


def records_of(data: bytes) -> list[Record]:
    """Returns the records of a log."""
    return [one for one in map(entry_of, lines_of([data])) if isinstance(one, Record)]


def next_of(data: bytes) -> NextPrompt:
    """Returns what the next prompt sends."""
    return next_prompt(records_of(data), len(data))


def written(plan: Plan) -> bytes:
    """Returns the log that a plan writes."""
    step = next(one for one in plan.steps if isinstance(one, Write) and one.path == plan.path)
    return b"".join(step.content())


@pytest.mark.parametrize(
    "asks",
    [
        {"tools": ("Bash",)},
        {"tools": ("Bash",), "way": "empty"},
        {"thinking": True},
        {"tools": ("Bash",), "thinking": True},
        {"preset": "extreme"},
    ],
)
def test_what_a_session_is_measured_by_stays_what_it_was(
    asks: dict[str, Any], tmp_path: Path
) -> None:
    draw(story()).write(tmp_path)
    told(Archive([tmp_path]).sessions[0].path)
    archive = Archive([tmp_path])
    before = next_of(archive.sessions[0].path.read_bytes())
    after = next_of(written(archive.plan.trim("latest", in_place=True, **asks)))
    assert before.tokens
    assert after.tokens
    assert after.weight + after.trimmed == before.weight
    assert before.measure == pytest.approx(MEASURE, rel=0.02)
    assert after.measure == pytest.approx(MEASURE, rel=0.02)
    saved = MEASURE * (before.weight - after.weight)
    assert before.tokens - after.tokens == pytest.approx(saved, rel=0.05)


def test_what_stands_for_what_went_is_counted(tmp_path: Path) -> None:
    draw(story()).write(tmp_path)
    told(Archive([tmp_path]).sessions[0].path)
    archive = Archive([tmp_path])
    before = next_of(archive.sessions[0].path.read_bytes())
    after = next_of(written(archive.plan.compress("latest", keep_last=2, in_place=True)))
    assert before.tokens
    assert after.tokens
    saved = before.weight - after.weight
    assert after.trimmed == pytest.approx(saved, rel=0.02)
    assert before.tokens - after.tokens == pytest.approx(after.measure * saved, rel=0.05)
=======
"""What goes from a session is noted where it went, so that usage that follows is not believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait import Archive
from plait.conversation.next_prompt import next_prompt
from plait.edit.noting import NOTED
from plait.edit.trim.sent import SentLog
from tests.edit.copies import EXAMPLES, carried_out, copied, only
from tests.edit.mending import records_of, result_of
from tests.edit.trimming import Trimmed, trimmed

TALK = """
U1 "go"
T1< Bash(command="make") as make
R1< of make times=200
  | built a file of the project
A1< "built"
U2< "and?"
A2< "that was all"
"""


def notes(found: Trimmed) -> dict[str, int]:
    """Returns what each record notes, by its letter."""
    names = {uuid: name for name, uuid in found.drawing.uuids.items()}
    noted = ((record.uuid, record.trimmed_tokens) for record in found.records)
    return {names[uuid]: tokens for uuid, tokens in noted if uuid and tokens}


def sent(data: bytes) -> SentLog:
    """Returns what is sent of a log."""
    return SentLog(records_of(data), len(data))


def test_a_result_that_shrank_notes_it_itself(tmp_path: Path) -> None:
    found = trimmed(tmp_path, TALK, tools=("Bash",), way="empty")
    went = sent(found.before).weight - sent(found.after).weight
    assert notes(found) == {"R1": went}
    assert [change.reason for change in found.plan.changes][1:] == ["result of Bash"]


def test_what_went_is_noted_by_the_next_that_stays(tmp_path: Path) -> None:
    found = trimmed(tmp_path, TALK, tools=("Bash",))
    assert notes(found) == {"A1": sent(found.before).weight - sent(found.after).weight}
    raw = found.record("A1").raw
    assert raw.endswith(b',"trimmedTokens":%d}' % notes(found)["A1"])


def test_a_record_that_only_notes_says_why_it_changed(tmp_path: Path) -> None:
    parallel = """
    U1 "go"
    T1< Bash(command="ls") as one + Read(file_path="/x") as two
    R1<T1.1 of one "a.py"
    R2<T1 of two "text"
    A1< "done"
    """
    found = trimmed(tmp_path, parallel, tools=("Read",))
    whole = {name: one for name, one in notes(found).items() if name == "R1"}
    assert whole and NOTED in [change.reason for change in found.plan.changes]
    assert sent(found.after).weight + sent(found.after).trimmed == sent(found.before).weight


def test_the_next_prompt_is_told_from_the_trimmed_log_alone(tmp_path: Path) -> None:
    found = trimmed(tmp_path, TALK, tools=("Bash",), way="empty")
    before = next_prompt(records_of(found.before), len(found.before))
    after = next_prompt(found.records, len(found.after))
    assert before.tokens and after.tokens
    assert after.tokens == found.plan.after.tokens
    went = before.weight - after.weight
    assert before.tokens - after.tokens == pytest.approx(went * after.measure, abs=1)
    assert after.measure == pytest.approx(before.measure)


def test_notes_add_up_when_more_goes(tmp_path: Path) -> None:
    first = trimmed(tmp_path / "a", TALK, tools=("Bash",), way="cut", keep=3000)
    (path, *_) = first.drawing.write(tmp_path / "b")
    path.write_bytes(first.after)
    plan = Archive([tmp_path / "b"]).plan.trim(
        first.drawing.session, in_place=True, tools=("Bash",), way="empty"
    )
    whole, once, twice = (sent(one) for one in (first.before, first.after, result_of(plan)))
    assert once.trimmed and twice.trimmed > once.trimmed
    assert twice.weight + twice.trimmed == once.weight + once.trimmed == whole.weight


@pytest.mark.parametrize("kind", ["clone", "fork"])
def test_copies_of_a_trimmed_session_send_as_much(kind: str, tmp_path: Path) -> None:
    found = trimmed(tmp_path, TALK, tools=("Bash",))
    found.plan.apply(force=True)
    session = only(tmp_path)
    assert session.archive
    plans = session.archive.plan
    plan = plans.clone(session) if kind == "clone" else plans.fork(session, 1)
    assert plan.before.tokens == found.plan.after.tokens
    tokens = plan.after.tokens
    whole = found.plan.before.tokens
    assert tokens and whole and tokens < whole - 500


def test_what_was_compressed_is_noted_too(tmp_path: Path) -> None:
    root = copied(EXAMPLES / "trims" / "a-long-session", tmp_path)
    session = only(root)
    assert session.archive
    plan = session.archive.plan.compress(session, keep_last=2)
    before, path = sent(session.path.read_bytes()), carried_out(plan)
    after = sent(path.read_bytes())
    assert after.weight + after.trimmed == before.weight
    assert plan.after.tokens == next_prompt(after.records, path.stat().st_size).tokens
>>>>>>> 214aec9 (edit: what went is noted with every line that is new counted; tests of the notes)
