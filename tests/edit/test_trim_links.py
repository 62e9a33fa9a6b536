"""Removing records also removes what depends on them, and leaves no reference to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait import Archive
from plait.edit.cuts import GONE, splice_record
from plait.edit.plan import Remove, Write
from plait.errors import UserError
from plait.record import Record, parse_record
from tests.edit.mending import records_of, result_of
from tests.edit.trimming import Trimmed, make_cuts

PAIR = 'U1 "go"\nT1< Bash(command="ls") as ls\nR1< of ls "a.py"\n'


OTHER = {"type": "hook_success", "toolUseID": "other"}


def test_progress_hooks_and_notices_of_a_call_are_removed_with_it(tmp_path: Path) -> None:
    rendered = f"""
    U1 "go"
    T1< Bash(command="ls") as ls
    P1< bash_progress
    S1< system informational {json.dumps({"toolUseID": "$(call ls)"})}
    R1<T1 of ls "a.py"
    H1< attachment hook_success of=ls
    M1< "body of a skill" {json.dumps({"sourceToolUseID": "$(call ls)"})}
    H2< attachment hook_success {json.dumps({"attachment": OTHER})}
    N1< notice of ls
    A1< "done"
    """
    found = make_cuts(tmp_path, rendered, ("T1", 0))
    assert found.picture == "U1 H2<U1 A1<H2"


def test_what_users_wrote_about_a_call_is_kept(tmp_path: Path) -> None:
    words = "why <tool-use-id>$(call ls)</tool-use-id> failed?"
    rendered = f'{PAIR}A1< "done"\nU2< "<task-notification> {words}"\nA2< "so"'
    assert "U2" in make_cuts(tmp_path, rendered, ("T1", 0)).picture


def test_progress_of_kept_calls_is_kept(tmp_path: Path) -> None:
    rendered = f"""
    {PAIR.replace(chr(10), chr(10) + "    ")}
    T2<R1 Bash(command="b") as b
    P1< bash_progress of=b
    R2<P1 of b "2"
    A1< "done"
    """
    assert make_cuts(tmp_path, rendered, ("T1", 0)).picture == "U1 T2<U1 P1<T2 R2<P1 A1<R2"


def test_removed_calls_are_dropped_from_lists_of_calls(tmp_path: Path) -> None:
    item, other = ({"kind": "x", "toolUseId": f"$(call {name})"} for name in ("a", "b"))
    small = {"compactedToolIds": ["$(call a)", "$(call b)"], "trigger": "auto"}
    rendered = f"""
    U1 "go"
    T1< Bash(command="a") as a
    R1< of a "1"
    T2< Bash(command="b") as b
    R2< of b "2"
    S1< system microcompact_boundary {json.dumps({"microcompactMetadata": small})}
    line {json.dumps({"type": "content-replacement", "replacements": [item]})}
    line {json.dumps({"type": "content-replacement", "replacements": [item, other]})}
    line {json.dumps({"type": "content-replacement", "replacements": [other]})}
    A1<S1 "done"
    """
    found = make_cuts(tmp_path, rendered, ("T1", 0))
    facts = found.record("S1").fields["microcompactMetadata"]
    assert len(facts["compactedToolIds"]) == 1 and facts["trigger"] == "auto"
    replaced = [item for item in found.records if item.type == "content-replacement"]
    assert [len(item.fields["replacements"]) for item in replaced] == [1, 1]
    assert replaced[0].fields["replacements"] == replaced[1].fields["replacements"]
    assert replaced[0].fields["replacements"][0]["toolUseId"] == facts["compactedToolIds"][0]


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("A1.1", "U1 A1<U1 R2<A1 A2<R2"),
        ("A1", "U1 A1.1<U1 R1<A1.1 A2<R1"),
    ],
)
def test_the_conversation_continues_after_a_kept_result(
    tmp_path: Path, name: str, after: str
) -> None:
    rendered = """
    U1 "go"
    A1< Bash(command="1") as one + Bash(command="2") as two
    R2<A1 of two "2"
    R1<A1.1 of one "1"
    A2< "done"
    """
    found = make_cuts(tmp_path, rendered, (name, 0))
    assert found.picture == after and found.texts[-1] == "done" and len(found.texts) == 4


def test_older_results_follow_the_last_block_and_each_other(tmp_path: Path) -> None:
    rendered = """
    file main version=2.1.29
    U1 "go"
    A1< Bash(command="1") as one + Bash(command="2") as two
    P1< bash_progress of=one
    R1<P1 of one "1"
    P2<R1 bash_progress of=two
    R2<P2 of two "2"
    A2< "done"
    """
    first = make_cuts(tmp_path / "a", rendered, ("A1.1", 0))
    assert first.picture == "U1 A1<U1 P2<A1 R2<P2 A2<R2"
    second = make_cuts(tmp_path / "b", rendered, ("A1", 0))
    assert second.picture == "U1 A1.1<U1 P1<A1.1 R1<P1 A2<R1"


def test_text_next_to_a_removed_call_is_still_sent(tmp_path: Path) -> None:
    rendered = """
    U1 "go"
    T1< Bash(command="ls") as ls
    A1<T1~T1 "meanwhile"
    R1<T1 of ls "a.py"
    A2< "done"
    """
    found = make_cuts(tmp_path, rendered, ("T1", 0))
    assert found.texts == ["go", "meanwhile", "done"]


def test_a_note_after_a_parallel_result_is_put_back_on_the_chain(tmp_path: Path) -> None:
    rendered = """
    U1 "go"
    A1< Bash(command="1") as one + Bash(command="2") as two
    R1<A1.1 of one "1"
    H1< attachment date
    R2<A1 of two "2"
    A2< "done"
    """
    found = make_cuts(tmp_path, rendered, ("A1.1", 0), ("A1", 0))
    assert found.picture == "U1 H1<U1 A2<H1"


def test_pointers_lead_to_the_nearest_kept_ancestor(tmp_path: Path) -> None:
    rendered = f"""
    {PAIR.replace(chr(10), chr(10) + "    ")}
    file-history-snapshot of T1 files={{"a.py": 1}} update
    summary "what was" leaf R1
    last-prompt "go" leaf R1
    """
    found = make_cuts(tmp_path, rendered, ("T1", 0))
    prompt = found.drawing.uuids["U1"]
    snapshot, summary, pointer = (record.fields for record in found.records[-3:])
    assert snapshot["messageId"] == snapshot["snapshot"]["messageId"] == prompt
    assert list(snapshot["snapshot"]["trackedFileBackups"]) == ["a.py"]
    assert summary["leafUuid"] == pointer["leafUuid"] == prompt


def test_a_file_delta_of_a_removed_edit_moves_to_its_ancestor(tmp_path: Path) -> None:
    delta = {
        "type": "file-history-delta",
        "messageId": "$(uuid T1)",
        "snapshotMessageId": "$(uuid U1)",
        "trackingPath": "a.py",
        "backup": {"backupFileName": "f@v1", "version": 1},
    }
    found = make_cuts(
        tmp_path, f"{PAIR}line {json.dumps(delta)}\nA1<R1 'x'".replace("'", '"'), ("T1", 0)
    )
    line = next(item.fields for item in found.records if item.type == "file-history-delta")
    assert line["messageId"] == line["snapshotMessageId"] == found.drawing.uuids["U1"]


def test_without_an_ancestor_a_child_becomes_a_root_and_a_backup_is_removed(tmp_path: Path) -> None:
    rendered = """
    H1 attachment date
    file-history-snapshot of H1 files={"a.py": 1}
    summary "what was" leaf H1
    U1<H1 "go"
    A1< "done"
    """
    found = make_cuts(tmp_path, rendered, ("H1", None))
    assert found.picture == "U1 A1<U1"
    assert [record.type for record in found.records] == ["summary", "user", "assistant"]
    assert found.records[0].fields["leafUuid"] is None


BOUNDED = """
U1 "go"
T1< Bash(command="ls") as ls
R1< of ls "a.py"
A1< "done"
B1 boundary after {after} keep=["{keep}"] anchor=C1
C1< recap "what was"
U2< "more"
A2< "yes"
"""


def test_a_compaction_follows_and_preserves_only_kept_records(tmp_path: Path) -> None:
    rendered = BOUNDED.format(after="R1", keep='T1","R1","A1')
    found = make_cuts(tmp_path, rendered, ("T1", 0))
    fields, uuids = found.record("B1").fields, found.drawing.uuids
    assert fields["logicalParentUuid"] == uuids["U1"]
    kept = fields["compactMetadata"]["preservedMessages"]
    assert kept["uuids"] == [uuids["A1"]]
    assert "done" in found.texts


def test_a_compaction_without_kept_preserved_records_preserves_none(tmp_path: Path) -> None:
    found = make_cuts(tmp_path, BOUNDED.format(after="A1", keep='T1","R1'), ("T1", 0))
    assert "preservedMessages" not in found.record("B1").fields["compactMetadata"]


def test_a_preserved_segment_shrinks_to_its_kept_records(tmp_path: Path) -> None:
    segment = {"headUuid": "$(uuid T1)", "anchorUuid": "$(uuid C1)", "tailUuid": "$(uuid A1)"}
    facts = json.dumps({"compactMetadata": {"trigger": "auto", "preservedSegment": segment}})
    rendered = BOUNDED.format(after="A1", keep="A1").replace("anchor=C1", f"anchor=C1 {facts}")
    found = make_cuts(tmp_path, rendered, ("T1", 0))
    kept = found.record("B1").fields["compactMetadata"]["preservedSegment"]
    assert kept["headUuid"] == kept["tailUuid"] == found.drawing.uuids["A1"]


def test_a_later_abandoned_branch_does_not_become_active(tmp_path: Path) -> None:
    rendered = """
    U1 "go"
    A1< "done"
    U2< "left"
    A2< "for good"
    T1<A1 Bash(command="ls") as ls
    R1< of ls "a.py"
    """
    found = make_cuts(tmp_path, rendered, ("T1", 0))
    assert found.texts == ["go", "done"]
    assert found.records[-1].type == "last-prompt"


def test_the_usage_of_a_response_moves_to_a_kept_line(tmp_path: Path) -> None:
    rendered = """
    file main version=2.1.29
    U1 "go"
    A1< "looking" + Bash(command="ls") as ls
    R1< of ls "a.py"
    A2< "done"
    """
    full = make_cuts(tmp_path, rendered, ("A1", 0))
    before = [item for item in records_of(full.before) if item.uuid == full.drawing.uuids["A1"]]
    usage = before[0].fields["message"]["usage"]
    assert full.record("A1.1").fields["message"]["usage"] == usage


def test_the_stop_reason_of_a_response_moves_to_a_kept_line(tmp_path: Path) -> None:
    rendered = """
    file main version=2.1.29
    U1 "go"
    A1< "looking" + Bash(command="ls") as ls + Bash(command="cd") as cd
    R1<A1.2 of ls "a.py"
    R2<A1 of cd ""
    A2< "done"
    """
    last = make_cuts(tmp_path / "last", rendered, ("A1", 0))
    before = [record for record in records_of(last.before) if record.type == "assistant"]
    assert list(map(stop_reason, before)) == [None, None, "tool_use", "end_turn"]
    assert stop_reason(last.record("A1.2")) == "tool_use"
    assert stop_reason(last.record("A1.1")) is None
    both = make_cuts(tmp_path / "both", rendered, ("A1.2", 0), ("A1", 0))
    assert stop_reason(both.record("A1.1")) == "end_turn"


def stop_reason(record: Record) -> Any:
    return record.fields["message"]["stop_reason"]


AGENTS = """
U1 "go"
T1< Task(prompt="look", description="d", subagent_type="Explore") as scout
R1< of scout "found"
A1< "next"
T2< Task(prompt="write", description="d", subagent_type="Explore") as author
R2< of author "written"
A2< "done"
agent scout of scout type=Explore
U1 "look"
A1< "found"
agent author of author type=Explore
U1 "write"
A1< "written"
"""


def removed_suffixes(found: Trimmed) -> set[str]:
    """Return the endings of the files that go."""
    return {step.path.suffixes[-1] for step in found.plan.steps if isinstance(step, Remove)}


def test_the_agent_of_a_removed_call_is_removed_and_others_kept(tmp_path: Path) -> None:
    found = make_cuts(tmp_path, AGENTS, ("T1", 0))
    names = [step.path.name for step in found.plan.steps if isinstance(step, Remove)]
    assert len(names) == 2 and removed_suffixes(found) == {".jsonl", ".json"}
    assert [step.path for step in found.plan.steps if isinstance(step, Write)] == [found.plan.path]
    found.plan.apply(force=True)
    left = {path.name for path in tmp_path.rglob("agent-*")}
    assert len(left) == 2 and left.isdisjoint(names)
    new = make_cuts(tmp_path / "b", AGENTS, ("T1", 0), in_place=False)
    logs = [step.path.name for step in new.plan.steps if isinstance(step, Write)]
    assert sum(name.startswith("agent-") for name in logs) == 2


def test_an_agent_of_a_removed_record_is_attached_to_its_ancestor(tmp_path: Path) -> None:
    rendered = f"""
    {PAIR.replace(chr(10), chr(10) + "    ")}
    agent aside nometa
    U1<main:R1 "what next?"
    A2< "tests"
    """
    here = make_cuts(tmp_path / "a", rendered, ("T1", 0))
    here.plan.apply(force=True)
    (path,) = (tmp_path / "a").rglob("agent-*.jsonl")
    assert records_of(path.read_bytes())[0].parent_uuid == here.drawing.uuids["U1"]
    new = make_cuts(tmp_path / "b", rendered, ("T1", 0), in_place=False)
    edit = new.plan.apply(force=True)
    (copy,) = (edit.path.with_suffix("") / "subagents").glob("agent-*.jsonl")
    prompt = records_of(edit.path.read_bytes())[0]
    assert records_of(copy.read_bytes())[0].parent_uuid == prompt.uuid


def test_inline_agents_of_version_1_0_are_removed_with_their_call(tmp_path: Path) -> None:
    rendered = """
    U1 "go"
    T1< Task(prompt="look", description="d") as scout
    U2!side "look"
    A2<U2!side "found"
    R1<T1 of scout "found"
    U3!side "something else"
    A3<U3!side "yes"
    A4<R1 "done"
    """
    assert make_cuts(tmp_path, rendered, ("T1", 0)).picture == "U1 U3 A3<U3 A4<U1"


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


@pytest.mark.parametrize(
    "pair",
    [
        'T1< AskUserQuestion(question="which?") as it\nR1< of it "the red one"',
        f'T1< Bash(command="ls") as it\nR1< of it error "{REFUSED}. the user said:\\nuse rg"',
        'T1< Bash(command="ls") as it\nR1< of it error "no" {"userFeedback": "use rg"}',
    ],
)
def test_results_answered_by_the_user_are_kept(tmp_path: Path, pair: str) -> None:
    found = make_cuts(
        tmp_path, f'U1 "go"\n{pair}\nA1< "done"', ("T1", 0), ("R1", 0, "short"), ("R1", None)
    )
    assert not found.plan.steps


@pytest.mark.parametrize(
    ("drawn", "name", "block"),
    [
        ('U1 "go"', "U1", None),
        ('U1 "go" image=a', "U1", 0),
        ('U1 "go"\nA1< "x"\nQ1< "typed meanwhile"', "Q1", None),
        ('U1 "go"\nA1< "x"\nB1 boundary after A1\nC1< recap "what was"', "B1", None),
        ('U1 "go"\nA1< "x"\nB1 boundary after A1\nC1< recap "what was"', "C1", None),
        ('U1 "go"\nS1< system local_command "<command-name>/x</command-name>"', "S1", None),
        ('U1 "go"\nA1< "x"', "A1", 3),
    ],
)
def test_prompts_and_compactions_are_never_cut(
    tmp_path: Path, drawn: str, name: str, block: int | None
) -> None:
    assert not make_cuts(tmp_path, drawn, (name, block)).plan.steps


def test_a_trim_that_prevents_resuming_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="could not resume the result"):
        make_cuts(tmp_path, 'A1 Bash(command="ls")', ("A1", 0))


def test_cuts_that_are_not_allowed_are_counted(tmp_path: Path) -> None:
    rendered = f'{PAIR}T2< AskUserQuestion(question="which?") as it\nR2< of it "red"\nA1< "done"'
    found = make_cuts(tmp_path, rendered, ("T1", 0), ("T2", 0))
    assert any(note.startswith("1 cut was skipped") for note in found.plan.notes)


def test_a_trim_of_a_live_session_is_noted_and_can_be_undone(tmp_path: Path) -> None:
    found = make_cuts(tmp_path, AGENTS, ("T1", 0), ("T2", 0))
    edit = found.plan.apply(force=True)
    Archive([tmp_path]).undo(edit.id, force=True)
    (path,) = tmp_path.rglob(f"{found.drawing.session}.jsonl")
    assert path.read_bytes() == found.before
    assert len(list(tmp_path.rglob("subagents/agent-*"))) == 4


def test_bytes_around_a_removed_block_are_unchanged(tmp_path: Path) -> None:
    rendered = 'U1 "go"\nA1< together "looking" + Bash(command="ls") as ls\nR1< of ls "a"\nA2< "ok"'
    drawing = draw(rendered)
    (path, *_) = drawing.write(tmp_path)
    odd = b'"odd":[1.0,1e3,"\\u00e9\\/"],"requestId"'
    path.write_bytes(path.read_bytes().replace(b'"requestId"', odd))
    plan = Archive([tmp_path]).plan.trim(drawing.session, in_place=True, tools=("Bash",))
    before = next(byte for byte in path.read_bytes().split(b"\n") if b"looking" in byte)
    after = next(byte for byte in result_of(plan).split(b"\n") if b"looking" in byte)
    start, end = before.index(b',{"type":"tool_use"'), before.index(b'],"stop_reason"')
    assert after.partition(b',"trimmedTokens"')[0] in before[:start] + before[end:]
    assert odd in after


def test_a_line_in_an_unusual_form_is_encoded_again() -> None:
    line = b'{"toolUs\\u0065Result": "x", "message": {"content": [{"type": "a"}, {"type": "b"}]}}'
    found = splice_record(parse_record(line), {0: GONE}, {"toolUseResult": GONE})
    assert json.loads(found) == {"message": {"content": [{"type": "b"}]}}


def test_spaces_between_fields_do_not_matter() -> None:
    line = b'{ "a" : 1.0 , "message" : { "content" : [ { "x" : 1e2 } , [ ] , "," ] , "b" : [ ] } }'
    found = splice_record(parse_record(line), {1: GONE}, {"c": 2}, {"b": None})
    assert found == b'{"a":1.0,"message":{"content":[{ "x" : 1e2 },","],"b":null},"c":2}'
