"""Session events as lines: parents, stop reasons, errors, refusals."""

import json
import re
from pathlib import Path
from typing import Any, Literal

import pytest

import plait
from plait.errors import SourceError, UserError
from plait.write.lines import VERSIONS, Version
from plait.write.transcript import CAVEAT, DEFAULT_USAGE
from plait.write.writer import CONTINUED, NO_MESSAGE
from tests.write.stories import USAGE, compacted, interrupted, rewound, sent_out, tools, writer

Entry = dict[str, Any]


def read_lines(path: Path) -> list[Entry]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def chain(path: Path) -> list[str]:
    """Draw the messages of a log: each with a letter, and the letter that it hangs on.

    Lines without a uuid stand between them by their type.
    """
    letters: dict[str | None, str] = {None: "-"}
    drawn = []
    for entry in read_lines(path):
        if "uuid" not in entry:
            drawn.append(entry["type"])
            continue
        letters[entry["uuid"]] = chr(ord("A") + len(letters) - 1)
        content = entry.get("message", {}).get("content")
        what = entry.get("subtype") or entry["type"]
        if isinstance(content, list) and content:
            what = content[0]["type"]
        drawn.append(f"{letters[entry['uuid']]}<{letters[entry['parentUuid']]} {what}")
    return drawn


# checklist: P75
def test_results_follow_their_calls_and_the_answer_the_last_result(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        tools(session)
    assert chain(session.path) == [
        "file-history-snapshot",
        "A<- user",
        "B<A thinking",
        "C<B text",
        "D<C tool_use",
        "E<D tool_use",
        "F<E tool_use",
        "G<F tool_result",
        "H<D tool_result",
        "I<E tool_result",
        "J<I text",
        "K<J turn_duration",
        "last-prompt",
    ]


# checklist: P75
def test_older_version_chains_results(tmp_path: Path) -> None:
    with writer(tmp_path, "2.1.29") as session:
        tools(session)
    assert chain(session.path) == [
        "file-history-snapshot",
        "A<- user",
        "B<A thinking",
        "C<B text",
        "D<C tool_use",
        "E<D tool_use",
        "F<E tool_use",
        "G<F progress",
        "H<F tool_result",
        "I<H tool_result",
        "J<I tool_result",
        "K<J text",
        "L<K turn_duration",
    ]


@pytest.mark.parametrize(
    ("version", "ends"),
    [
        ("2.1.325", ["tool_use"] * 5 + ["end_turn"]),
        ("2.1.29", [None] * 4 + ["tool_use", "end_turn"]),
    ],
)
def test_blocks_share_response_and_stop_reason(
    tmp_path: Path, version: Version, ends: list[str | None]
) -> None:
    with writer(tmp_path, version) as session:
        tools(session)
    answers = [entry for entry in read_lines(session.path) if entry["type"] == "assistant"]
    assert [entry["message"]["stop_reason"] for entry in answers] == ends
    assert len({entry["message"]["id"] for entry in answers[:5]}) == 1
    assert len({entry["requestId"] for entry in answers[:5]}) == 1
    assert len({entry["message"]["id"] for entry in answers}) == 2
    assert len({entry["requestId"] for entry in answers}) == 2
    said_besides = {} if version == "2.1.29" else DEFAULT_USAGE
    assert all(entry["message"]["usage"] == USAGE | said_besides for entry in answers)


# checklist: P74
def test_every_message_has_its_own_uuid(tmp_path: Path) -> None:
    session = plait.SessionWriter.new(tmp_path, cwd="/tmp/app")
    tools(session)
    uuids = [entry["uuid"] for entry in read_lines(session.path) if "uuid" in entry]
    assert len(uuids) == 11 and len(set(uuids)) == 11
    version_4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert all(re.fullmatch(version_4, uuid) for uuid in uuids)


# checklist: P73
@pytest.mark.parametrize("version", VERSIONS)
def test_message_is_one_compact_line(tmp_path: Path, version: Version) -> None:
    result = 'two\nlines, \u2028, \x0c, \x00, Zürich, \U0001f600, \ud800 and "quotes"'
    with writer(tmp_path, version) as session:
        session.prompt(result)
        session.answer(result)
    data = session.path.read_bytes()
    assert data.endswith(b"}\n")
    found = data.decode().split("\n")[:-1]
    for line in found:
        entry = json.loads(line)
        plain = json.dumps(entry, separators=(",", ":"), ensure_ascii=False)
        assert line == plain.replace("\ud800", "\\ud800")
    assert json.loads(found[1])["message"]["content"] == result


def test_block_is_written_when_the_next_begins_or_the_response_ends(tmp_path: Path) -> None:
    def count(session: plait.SessionWriter) -> int:
        return sum(entry["type"] == "assistant" for entry in read_lines(session.path))

    expected: dict[Version, list[int]] = {"2.1.29": [0, 1, 2], "2.1.325": [0, 0, 2]}
    for version, counts in expected.items():
        session = writer(tmp_path, version, seed=len(version))
        session.prompt("x")
        response = session.response()
        response.text("a")
        seen = [count(session)]
        response.text("b")
        seen.append(count(session))
        response.end()
        assert [*seen, count(session)] == counts
        response.end()
        assert count(session) == 2


def test_the_final_usage_of_the_api_counts(tmp_path: Path) -> None:
    session = writer(tmp_path, "2.1.29")
    session.prompt("x")
    response = session.response(usage={"input_tokens": 3, "output_tokens": 1})
    response.text("a")
    response.text("b")
    response.end("stop_sequence", usage={"input_tokens": 3, "output_tokens": 9}, stop_sequence="!")
    first, last = (entry["message"] for entry in read_lines(session.path)[2:])
    assert (first["usage"]["output_tokens"], last["usage"]["output_tokens"]) == (1, 9)
    assert (last["stop_reason"], last["stop_sequence"]) == ("stop_sequence", "!")


def test_an_interrupted_response_has_no_stop_reason(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    with pytest.raises(ZeroDivisionError), session.response() as response:
        response.text("half")
        raise ZeroDivisionError
    assert read_lines(session.path)[-1]["message"]["stop_reason"] is None
    session.answer("whole")


def test_results_have_a_version_for_the_model_and_one_for_the_client(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    with session.response() as response:
        calls = [response.call("Bash", {"n": number}) for number in range(4)]
    session.result(calls[0], "fine", {"stdout": "fine"})
    session.result(calls[1], "fine", {"stdout": "fine"}, is_error=False)
    session.result(calls[2], "Exit code 1", is_error=True)
    session.result(calls[3], [{"type": "text", "text": "no"}], is_error=True, sandboxed=True)
    results = [entry for entry in read_lines(session.path) if "sourceToolAssistantUUID" in entry]
    assert [entry.get("toolUseResult") for entry in results] == [
        {"stdout": "fine"},
        {"stdout": "fine"},
        "Error: Exit code 1",
        None,
    ]
    errors = [entry["message"]["content"][0].get("is_error") for entry in results]
    assert errors == [None, False, True, True]
    assert [entry["sourceToolAssistantUUID"] for entry in results] == response.messages
    assert [entry["parentUuid"] for entry in results] == response.messages
    assert results[3]["sandboxed"] is True


def test_an_interruption_ends_the_response_and_rejects_open_calls(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        interrupted(session)
    assert chain(session.path) == [
        "file-history-snapshot",
        "A<- user",
        "B<A text",
        "C<B text",
        "file-history-snapshot",
        "D<C user",
        "E<D tool_use",
        "F<E tool_use",
        "G<E tool_result",
        "H<F tool_result",
        "I<H text",
        "file-history-snapshot",
        "J<I user",
        "K<J text",
        "last-prompt",
    ]
    entries = read_lines(session.path)
    results = [
        entry["message"]["content"][0] for entry in entries if "interruptedMessageId" in entry
    ]
    assert [block["text"] for block in results] == [
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
    ]
    (rejected,) = (entry for entry in entries if "toolDenialKind" in entry)
    assert rejected["toolUseResult"] == "User rejected tool use"


def test_a_compaction_has_no_parent_and_preserves_messages(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        compacted(session)
    drawn = [line for line in chain(session.path) if "file-history" not in line]
    assert drawn == [
        "A<- user",
        "B<A text",
        "C<B user",
        "D<C text",
        "E<- compact_boundary",
        "F<E user",
        "G<F user",
        "H<G text",
        "last-prompt",
    ]
    entries = [entry for entry in read_lines(session.path) if "uuid" in entry]
    kept, boundary, summary = entries[3:6]
    assert boundary["logicalParentUuid"] == kept["uuid"]
    assert boundary["compactMetadata"] == {
        "trigger": "manual",
        "preTokens": 99,
        "preservedSegment": {
            "headUuid": kept["uuid"],
            "anchorUuid": summary["uuid"],
            "tailUuid": kept["uuid"],
        },
        "preservedMessages": {
            "anchorUuid": summary["uuid"],
            "uuids": [kept["uuid"]],
            "allUuids": [kept["uuid"]],
        },
    }
    assert summary["isCompactSummary"] and summary["isVisibleInTranscriptOnly"]
    assert summary["turnPosition"] == {"promptIndex": 2, "turnIndex": 2}
    assert summary["message"]["content"] == f"{CONTINUED}They counted."


def test_a_compaction_of_the_older_version_writes_a_summary_line(tmp_path: Path) -> None:
    with writer(tmp_path, "2.1.29") as session:
        compacted(session)
    drawn = [line for line in chain(session.path) if "file-history" not in line]
    assert drawn[3:] == [
        "D<C text",
        "summary",
        "E<- compact_boundary",
        "F<- user",
        "G<F user",
        "H<G text",
    ]
    entries = [entry for entry in read_lines(session.path) if "snapshot" not in entry]
    assert entries[4]["leafUuid"] == entries[3]["uuid"] == entries[5]["logicalParentUuid"]
    assert "turnPosition" not in entries[6]
    with pytest.raises(UserError, match=r"'2\.1\.29' cannot preserve messages"):
        session.compact("x", preserved=[session.tip or ""])


def test_a_complete_summary_gets_no_introduction(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    session.compact(f"{CONTINUED}All is well.")
    assert read_lines(session.path)[-1]["message"]["content"] == f"{CONTINUED}All is well."


def test_rewound_messages_stay_as_a_branch(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        rewound(session)
    drawn = [line for line in chain(session.path) if "file-history" not in line]
    assert drawn == [
        "A<- user",
        "B<A text",
        "C<B user",
        "D<C text",
        "E<B user",
        "last-prompt",
        "F<E text",
        "last-prompt",
    ]
    results = [entry for entry in read_lines(session.path) if entry["type"] == "last-prompt"]
    assert results[0]["leafUuid"] == NO_MESSAGE and results[0]["explicit"] is True
    assert results[1]["leafUuid"] == session.tip and results[1]["lastPrompt"] == "Right"
    positions = [entry.get("turnPosition") for entry in read_lines(session.path)]
    assert [found["turnIndex"] for found in positions if found] == [1, 2, 2]


def test_rewind_to_the_beginning_has_no_parent(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    with session.response() as response:
        response.call("Bash", {})
    session.rewind(None)
    assert session.waiting_calls == ()
    session.prompt("y")
    assert read_lines(session.path)[-2]["parentUuid"] is None


def test_agents_have_their_own_logs(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        sent_out(session)
    logs = sorted((session.path.with_suffix("") / "subagents").iterdir())
    assert [log.suffixes for log in logs] == [[".jsonl"], [".meta.json"[:5], ".json"]] * 2
    metas = [json.loads(log.read_bytes()) for log in logs if log.suffix == ".json"]
    by_depth = sorted(metas, key=lambda meta: int(meta["spawnDepth"]))
    outer = next(log for log in logs if "Do it" in log.read_text() and log.suffix == ".jsonl")
    assert [list(meta) for meta in by_depth] == [
        ["agentType", "description", "toolUseId", "spawnDepth"],
        ["agentType", "description", "toolUseId", "parentAgentId", "spawnDepth"],
    ]
    assert by_depth[0]["agentType"] == "Explore"
    assert outer.stem == f"agent-{by_depth[1]['parentAgentId']}"
    assert re.fullmatch(r"agent-a[0-9a-f]{16}", outer.stem)
    for entry in read_lines(outer):
        assert entry["isSidechain"] is True
        assert entry["sessionId"] == session.session
        assert entry["agentId"] == by_depth[1]["parentAgentId"]
    assert read_lines(outer)[0]["parentUuid"] is None
    assert read_lines(outer)[0]["promptId"] == read_lines(session.path)[1]["promptId"]


def test_older_agents_are_beside_their_session(tmp_path: Path) -> None:
    with writer(tmp_path, "2.1.29") as session:
        sent_out(session)
    names = sorted(path.name for path in session.path.parent.iterdir())
    assert len(names) == 3 and session.path.name in names
    agents = [name for name in names if name.startswith("agent-")]
    assert all(re.fullmatch(r"agent-a[0-9a-f]{6}\.jsonl", name) for name in agents)


def test_the_last_prompt_is_shortened_in_the_pointer(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        session.prompt("word  \n" * 60)
    lines = read_lines(session.path)[-1]
    assert lines["lastPrompt"] == ("word " * 60)[:200] + "…"
    with plait.SessionWriter.resume(session.path):
        pass
    assert read_lines(session.path)[-2]["type"] == "user"


def test_invalid_calls_are_refused_and_write_nothing(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    response = session.response()
    for verb in (
        lambda: session.prompt("y"),
        lambda: session.system("informational", content="y"),
        lambda: session.rewind(None),
        session.response,
    ):
        with pytest.raises(UserError, match=f"the response '{response.id}' has not ended yet"):
            verb()
    response.text("a")
    response.end()
    with pytest.raises(UserError, match="has already ended"):
        response.text("b")
    before = session.path.read_bytes()
    assert before.count(b"\n") == 3
    with pytest.raises(UserError, match="no tool call 'toolu_9' is waiting for a result"):
        session.result("toolu_9", "x")
    with pytest.raises(UserError, match="no tool call 'toolu_9' is waiting for an agent"):
        session.agent("toolu_9")
    with pytest.raises(UserError, match="use `compact` to write a compaction boundary"):
        session.system("compact_boundary", compact_metadata={})
    with pytest.raises(UserError, match="'turn_duration' line requires 'durationMs'"):
        session.system("turn_duration")
    with pytest.raises(UserError, match="there is no message 'nothing' on"):
        session.rewind("nothing")
    with pytest.raises(UserError, match="there is no message 'nothing' on"):
        session.compact("x", preserved=["nothing"])
    assert session.path.read_bytes() == before


def test_call_is_answered_once(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    with session.response() as response:
        call = response.call("Bash", {})
    assert session.waiting_calls == (call,)
    session.result(call, "y")
    with pytest.raises(UserError, match="is waiting for a result"):
        session.result(call, "y")


def test_only_the_older_version_writes_progress(tmp_path: Path) -> None:
    newer, older = writer(tmp_path, seed=1), writer(tmp_path, "2.1.29", seed=2)
    for session in (newer, older):
        session.prompt("x")
    assert newer.progress({"type": "query_update", "query": "x"}) is None
    tip = older.tip
    assert older.progress({"type": "query_update", "query": "x"}, call="t", label="p-0")
    assert older.tip == tip
    lines = read_lines(older.path)[-1]
    assert (lines["toolUseID"], lines["parentToolUseID"]) == ("p-0", "t")


def test_an_existing_session_is_not_created_again(tmp_path: Path) -> None:
    first = writer(tmp_path)
    second = writer(tmp_path)
    first.prompt("x")
    with pytest.raises(SourceError, match="file exists"):
        second.prompt("x")
    with pytest.raises(UserError, match="already exists"):
        writer(tmp_path)
    assert first.path.read_bytes().count(b"\n") == 2


def test_only_two_versions_are_supported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unsupported log version '1\.0\.0'"):
        plait.SessionWriter.new(tmp_path, cwd="/tmp/app", version="1.0.0")  # type: ignore[arg-type]


def test_a_failed_line_is_not_continued_from(tmp_path: Path) -> None:
    session = writer(tmp_path)
    tip = session.prompt("x")
    session.path.chmod(0o600)
    held, session.path = session.path, tmp_path / "gone" / "x.jsonl"
    (tmp_path / "gone").write_bytes(b"")
    with pytest.raises(SourceError, match="cannot write"):
        session.answer("y")
    assert session.tip == tip
    session.path = held
    assert read_lines(held)[-1]["uuid"] == tip


def test_a_preserved_segment_names_its_first_and_last_message(
    tmp_path: Path,
) -> None:
    session = writer(tmp_path)
    kept = [session.prompt("x"), *session.answer("y", "z").messages]
    anchor = session.compact("So far.", preserved=kept)
    lines = read_lines(session.path)[-2]["compactMetadata"]
    assert lines["preservedSegment"] == {
        "headUuid": kept[0],
        "anchorUuid": anchor,
        "tailUuid": kept[2],
    }
    assert lines["preservedMessages"]["uuids"] == kept


@pytest.mark.parametrize(
    ("version", "entrypoint", "is_told"),
    [("2.1.325", "cli", True), ("2.1.325", "sdk-cli", False), ("2.1.29", "cli", False)],
)
def test_messages_of_a_turn_name_their_terminal_session(
    tmp_path: Path, version: Version, entrypoint: str, is_told: bool
) -> None:
    session = plait.SessionWriter.new(
        tmp_path, cwd="/tmp/app", version=version, entrypoint=entrypoint
    )
    sent_out(session)
    session.interrupt()
    session.api_error("API Error")
    results = [(entry["type"], "session_id" in entry) for entry in read_lines(session.path)[1:]]
    assert results[0] == ("user", False), "a prompt never does"
    assert [found for _, found in results[1:]] == [is_told] * (len(results) - 1)
    agents = list(tmp_path.rglob("agent-*.jsonl"))
    assert len(agents) == 2
    assert not any(b"session_id" in path.read_bytes() for path in agents)
    asked = read_lines(session.path)[1]
    if version == "2.1.325":
        assert asked["promptSource"] == ("typed" if is_told else "sdk")
        assert asked["turnOrigin"] == ("human" if is_told else "sdk")
        assert asked["turnPosition"] == {"promptIndex": int(is_told), "turnIndex": 1}
        assert ("origin" in asked) == is_told


def command_lines(path: Path) -> list[tuple[str, str]]:
    """The lines of a command: their kinds, and what they say first."""
    found = []
    for entry in read_lines(path):
        if "uuid" in entry:
            content = entry.get("content") or entry["message"]["content"]
            found.append((entry["type"], content.splitlines()[0]))
    return found


RENAMED = ("rename", "New", "Session renamed to: New")
CALLED = "<command-name>/rename</command-name>"
PRINTED = "<local-command-stdout>Session renamed to: New</local-command-stdout>"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_command_in_the_terminal_is_two_notes(tmp_path: Path, version: Version) -> None:
    session = writer(tmp_path, version)
    session.prompt("x")
    last = session.command(*RENAMED)
    assert session.tip == last
    assert command_lines(session.path)[1:] == [("system", CALLED), ("system", PRINTED)]
    called, printed = read_lines(session.path)[-2:]
    assert called["content"] == (
        f"{CALLED}\n            <command-message>rename</command-message>\n"
        "            <command-args>New</command-args>"
    )
    assert "commandRun" not in called
    is_told = printed.get("commandRun") == {"command": "rename", "args": "New"}
    assert is_told == (version == "2.1.325")
    assert "commandOutcome" not in printed


def test_a_command_in_print_mode_takes_the_place_of_a_prompt(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.setting.entrypoint = "sdk-cli"
    session.prompt("x")
    asked = session.prompt_id
    session.command(*RENAMED, is_failed=True)
    shown = PRINTED.replace("stdout", "stderr")
    assert command_lines(session.path)[1:] == [
        ("user", CAVEAT),
        ("user", CALLED),
        ("system", shown),
    ]
    caveat, called, printed = read_lines(session.path)[-3:]
    assert caveat["isMeta"] and "isMeta" not in called
    assert caveat["promptId"] == called["promptId"] == session.prompt_id != asked
    assert "session_id" not in called
    assert printed["commandOutcome"] == {"kind": "failed"}


def test_command_output_may_be_for_the_model(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    session.command("compact", "", "Done", is_asked=True, is_heard=True)
    shown = "<local-command-stdout>Done</local-command-stdout>"
    assert command_lines(session.path)[3] == ("user", shown)
    called, heard = read_lines(session.path)[-2:]
    assert called["session_id"] == heard["session_id"] == session.session
    snapshot = read_lines(session.path)[-4]
    assert snapshot["messageId"] == called["uuid"]


def test_first_command_belongs_to_no_turn(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.command("clear", is_asked=True)
    caveat, called = (entry for entry in read_lines(session.path) if entry["type"] == "user")
    assert not {"promptId", "session_id"} & (caveat.keys() | called.keys())
    assert (
        read_lines(session.path)[-1]["content"] == "<local-command-stdout></local-command-stdout>"
    )


@pytest.mark.parametrize(
    ("version", "entrypoint", "trigger", "is_noted"),
    [
        ("2.1.325", "cli", "manual", False),
        ("2.1.325", "cli", "auto", False),
        ("2.1.325", "sdk-cli", "auto", False),
        ("2.1.325", "sdk-cli", "manual", True),
        ("2.1.29", "cli", "auto", True),
    ],
)
def test_boundary_counts_as_a_note_like_in_the_client(
    tmp_path: Path,
    version: Version,
    entrypoint: str,
    trigger: Literal["auto", "manual"],
    is_noted: bool,
) -> None:
    session = writer(tmp_path, version)
    session.setting.entrypoint = entrypoint
    session.prompt("x")
    session.compact("They spoke.", trigger=trigger)
    boundary, summary = read_lines(session.path)[-2:]
    assert ("isMeta" in boundary) == is_noted
    names = list(boundary)
    if version == "2.1.325":
        assert (names.index("level") < names.index("timestamp")) != is_noted
        origin = "human" if entrypoint == "cli" else "sdk"
        assert summary.get("turnOrigin") == (origin if trigger == "auto" else None)
        assert ("session_id" in summary) == (entrypoint == "cli")


def test_message_counts_continue_after_a_compaction(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    session.answer("y")
    session.compact("They spoke.")
    session.answer("z")
    session.turn_ended(1)
    assert read_lines(session.path)[-1]["messageCount"] == 5
