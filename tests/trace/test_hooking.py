"""From a growing log to new final spans: each once, none too early."""

import json
import random
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.documents import group_turns
from plait.record.reader import parse_record
from plait.sessions.discovery import find_sessions_near
from plait.trace.model import Content, Span
from plait.trace.spans import to_nanoseconds
from plait.trace.state import SessionJournal, SessionState
from plait.trace.traces import traces
from plait.trace.worker import (
    Inspection,
    NewSpans,
    find_new_spans,
    find_pending_prompts,
    find_previous_session,
)
from tests.trace.logs import OTHER, SESSION, Growing

NEVER = 1e9
OVER = Inspection(is_over=True)


@dataclass
class Hook:
    """Looks again and again, and keeps what the worker would."""

    folder: Path
    spans: dict[str, Span] = field(default_factory=dict)
    last_line: int = 0
    turn_count: int = 0
    last: NewSpans | None = None

    def __call__(
        self, log: Growing, occasion: Inspection | None = None, **state: Any
    ) -> list[tuple[str, str]]:
        """Return what a look finds to send, as kinds and names."""
        journal = SessionJournal(self.folder / "state", log.session)
        known = SessionState(self.last_line, self.turn_count, path="" if state else "x", **state)
        wanted = occasion or Inspection(idle_after=NEVER, abandoned_after=NEVER)
        stopped = frozenset(journal.read_stopped()) | wanted.agents
        found = find_new_spans(
            log.path,
            log.session,
            journal,
            state=known,
            inspection=replace(wanted, agents=stopped),
        )
        new = [span for trace in found.traces for span in trace]
        assert not {span.id for span in new} & set(self.spans), "sent twice"
        self.spans |= {span.id: span for span in new}
        journal.add_sent([*found.known, *(span.id for span in new)])
        journal.save_progress(found.progress)
        self.last_line = found.last_line or self.last_line
        self.turn_count += found.turns
        self.last = found
        return [(span.kind, span.name) for span in new]

    def was_whole(self) -> bool:
        """Return whether the last look has read all of the log."""
        assert self.last
        return self.last.is_full


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    return Hook(tmp_path)


@pytest.fixture
def log(tmp_path: Path) -> Growing:
    return Growing(tmp_path / "-home-dev-shop")


TURN = ("generation", "claude-opus-5-5"), ("tool", "Bash"), ("generation", "claude-opus-5-5")


# checklist: T3, T38, T44
def test_only_new_lines_are_read_and_sent(hook: Hook, log: Growing) -> None:
    log.turn("one")
    assert hook(log) == [("turn", "Turn 1"), *TURN]
    log.turn("two")
    assert hook(log) == [("turn", "Turn 2"), *TURN]
    assert not hook.was_whole()
    log.turn("three")
    assert hook(log) == [("turn", "Turn 3"), *TURN]  # numbers go on from run to run
    assert hook(log) == []
    assert (hook.last_line, hook.turn_count) == (15, 3)
    turns = [span for span in hook.spans.values() if span.kind == "turn"]
    assert [span.metadata["turn_number"] for span in turns] == [1, 2, 3]


# checklist: T43
def test_documented_flow(hook: Hook, tmp_path: Path) -> None:
    before = Growing(tmp_path / "p", OTHER)
    before.turn("left behind", is_closed=False)
    log = Growing(tmp_path / "p")
    log.aside(**{**before.record(type="user"), "message": {"role": "user", "content": "x"}})
    log.prompt("go on")  # its session is another than that of line 1
    log.answer("gone on")
    log.write(b"{broken\n")
    log.prompt("not answered yet")
    assert find_previous_session(log.path, log.session) == (OTHER, before.path)  # 1
    assert hook(log) == [("turn", "Turn 1"), ("generation", "claude-opus-5-5")]  # 2 to 6
    assert hook.last_line == 3  # 7: the line of the last message of the last complete turn
    assert hook(log) == []


# checklist: T47, T48, T52
def test_an_unanswered_turn_waits_and_is_read_again(hook: Hook, log: Growing) -> None:
    log.turn("one")
    log.prompt("two")
    assert hook(log) == [("turn", "Turn 1"), *TURN]
    assert hook.last_line == 5
    assert hook(log, OVER) == []
    assert hook.last_line == 5
    log.answer("yes")
    log.closed()
    assert hook(log) == [("turn", "Turn 2"), ("generation", "claude-opus-5-5")]
    assert hook.last_line == 8


# checklist: T45, T46
def test_broken_lines_are_skipped_and_counted(hook: Hook, log: Growing) -> None:
    log.write(b"{broken\n\n")
    log.turn("one")
    log.write(b'{"type": "user", "mess\n')
    log.prompt("two")
    log.write(b"}\n")
    log.answer("yes")
    log.write(b"\xff\xfe\n")
    log.closed()
    assert [name for kind, name in hook(log) if kind == "turn"] == ["Turn 1", "Turn 2"]
    assert hook.last_line == 13
    log.turn("three")
    assert hook(log)[0] == ("turn", "Turn 3")
    assert not hook.was_whole()
    assert hook.last_line == 18


def test_a_half_written_line_is_waited_for(hook: Hook, log: Growing) -> None:
    log.prompt("one")
    log.answer("yes")
    end = log.line(log.record(type="system", subtype="turn_duration", durationMs=5))
    for size in range(0, len(end) - 2, 40):
        log.write(end[size : size + 40])
        if size + 40 < len(end) - 2:
            assert hook(log) == []
    log.path.write_bytes(log.path.read_bytes().rstrip(b"\n"))
    assert hook(log) == [("turn", "Turn 1"), ("generation", "claude-opus-5-5")]


@pytest.mark.parametrize("size", [1, 30, 200])
def test_torn_prompt_does_not_end_a_turn(hook: Hook, log: Growing, size: int) -> None:
    log.turn("one", is_closed=False)
    start = log.path.stat().st_size
    log.prompt("two")
    whole = log.path.read_bytes()
    log.path.write_bytes(whole[: start + size])
    assert hook(log) == []
    log.path.write_bytes(whole)
    assert hook(log)[0] == ("turn", "Turn 1")


def test_events_that_end_a_turn(hook: Hook, log: Growing) -> None:
    log.turn("one", is_closed=False)
    assert hook(log) == []
    assert hook.last and hook.last.is_open and hook.last.is_at_rest
    log.prompt("two")
    assert hook(log)[0] == ("turn", "Turn 1")  # the next prompt
    log.answer("yes")
    log.closed()
    assert hook(log)[0] == ("turn", "Turn 2")  # the client's own note
    log.turn("three", is_closed=False)
    assert hook(log, OVER)[0] == ("turn", "Turn 3")  # the session has ended


@pytest.mark.parametrize("last", ["call", "result", "prompt", "hook"])
def test_working_model_is_not_idle(hook: Hook, log: Growing, last: str) -> None:
    log.turn("one", is_closed=False)
    if last == "hook":
        log.prompt("Stop hook feedback:\n- go on", isMeta=True)
    elif last == "prompt":
        log.prompt("two")
    else:
        call = log.call(command="make")
        if last == "result":
            log.result(call)
    hook(log)
    assert hook.last and not hook.last.is_at_rest


def test_stop_may_come_several_times_in_one_turn(hook: Hook, log: Growing) -> None:
    log.prompt("one")
    log.answer("first try")
    assert hook(log) == []
    log.prompt("Stop hook feedback:\n- the tests fail", isMeta=True)
    assert hook(log) == []
    log.answer("second try")
    assert hook(log) == []
    log.closed()
    found = hook(log)
    assert [kind for kind, _ in found if kind in ("turn", "generation")] == [
        "turn",
        "generation",
        "generation",
    ]


def ended(log: Growing, **more: Any) -> Inspection:
    """Return the end of a session as of now."""
    size = log.path.stat().st_size
    return Inspection(is_over=True, idle_after=NEVER, abandoned_after=NEVER, until=size, **more)


def test_a_session_end_does_not_end_a_turn_begun_since(hook: Hook, log: Growing) -> None:
    log.turn("one", is_closed=False)
    end = ended(log)
    log.prompt("resumed before anybody has read that")
    log.answer("First a look.")
    assert hook(log, end) == [("turn", "Turn 1"), *TURN]
    assert hook.last
    assert (hook.last.is_open, hook.last.is_awaited, hook.last.is_at_rest) == (True, False, False)
    log.result(log.call(command="ls"))
    log.answer("done")
    assert hook(log, end) == []
    assert hook(log, ended(log))[0] == ("turn", "Turn 2")


def test_unfinished_work_of_the_model_waits_for_silence(hook: Hook, log: Growing) -> None:
    log.prompt("one")
    log.call(command="sleep 60")
    end = ended(log)
    assert hook(log, end) == []
    assert hook.last
    assert (hook.last.is_open, hook.last.is_awaited, hook.last.is_at_rest) == (True, True, False)
    assert hook(log, replace(end, is_silent=True))[0] == ("turn", "Turn 1")


def test_notes_after_the_end_of_a_session_wait(hook: Hook, log: Growing) -> None:
    log.turn("one", is_closed=False)
    end = ended(log)
    log.prompt("<command-name>/model</command-name>")
    assert hook(log, end) == [("turn", "Turn 1"), *TURN]
    assert hook(log, replace(end, is_silent=True)) == [("event", "Command")]


def test_a_queued_prompt_is_pending_until_the_log_resolves_it(hook: Hook, log: Growing) -> None:
    log.turn("one", is_closed=False)
    end = ended(log)
    queued(log, "two")
    assert hook(log, end) == [("turn", "Turn 1"), *TURN]
    queued(log, operation="dequeue")
    assert hook(log, end) == []
    log.turn("two")
    assert hook(log) == [("turn", "Turn 2"), *TURN]


def test_two_queued_prompts_become_two_turns(hook: Hook, log: Growing) -> None:
    log.prompt("one")
    queued(log, "two")
    queued(log, "three")
    log.answer("done")
    log.closed()
    assert [kind for kind, _ in hook(log)] == ["turn", "generation"]
    for number, text in ((2, "two"), (3, "three")):
        queued(log, operation="dequeue")
        log.turn(text)
        assert hook(log) == [("turn", f"Turn {number}"), *TURN]


def test_prompts_dequeued_together_are_resolved_one_by_one(hook: Hook, log: Growing) -> None:
    log.prompt("one")
    queued(log, "two")
    queued(log, "three")
    log.answer("done")
    log.closed()
    queued(log, operation="dequeue")
    queued(log, operation="dequeue")
    log.prompt("two")
    assert [kind for kind, _ in hook(log)] == ["turn", "generation"]
    log.prompt("three")
    log.answer("both")
    log.closed()
    assert ("event", "Queued prompt") not in hook(log)


@pytest.mark.parametrize("operation", ["remove", "popAll"])
def test_a_retracted_prompt_is_sent_once_it_is_known(
    hook: Hook, log: Growing, operation: str
) -> None:
    log.prompt("one")
    queued(log, "never mind")
    log.answer("done")
    log.closed()
    assert ("event", "Queued prompt") not in hook(log)
    queued(log, "never mind", operation=operation)
    log.prompt("two")
    log.answer("done")
    log.closed()
    assert hook(log) == [
        ("event", "Queued prompt"),
        ("turn", "Turn 2"),
        ("generation", "claude-opus-5-5"),
    ]
    log.turn("three")
    assert hook(log) == [("turn", "Turn 3"), *TURN]


def test_a_prompt_left_in_the_queue_is_sent_at_session_end(hook: Hook, log: Growing) -> None:
    log.turn("one", is_closed=False)
    queued(log, "left behind")
    assert hook(log, ended(log))[-1] == ("event", "Queued prompt")


def test_the_named_prompt_is_dequeued() -> None:
    first, second = ({"content": text} for text in ("first", "second"))
    times = ("2026-11-02T09:00:01Z", "2026-11-02T09:00:02Z", "2026-11-02T09:00:03Z")
    lines: list[dict[str, Any]] = [
        {"operation": "enqueue", "timestamp": times[0], **first},
        {"operation": "enqueue", "timestamp": times[1], **second},
        {"operation": "remove", "timestamp": times[2], **second},
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": "next"}},
    ]
    records = [parse_record(json.dumps({"type": QUEUE, **line}).encode()) for line in lines]
    assert find_pending_prompts(records) == {to_nanoseconds(times[0]), to_nanoseconds(times[1])}
    answer, copied = (
        parse_record(f'{{"type": "assistant", "uuid": "a", "timestamp": "{time}"}}'.encode())
        for time in ("2026-11-02T09:00:03Z", "2026-11-02T09:00:02Z")
    )
    assert find_pending_prompts([*records, copied]) == find_pending_prompts(records)
    assert find_pending_prompts([*records, answer]) == {to_nanoseconds(times[0])}
    assert find_pending_prompts([*records[:3], answer, records[3]]) == find_pending_prompts(records)
    absorbed = {"type": "attachment", "uuid": "a", "attachment": {"type": "queued_command"}}
    told = [*records[:3], parse_record(json.dumps(absorbed).encode()), answer]
    assert find_pending_prompts(told) == {to_nanoseconds(times[0])}


QUEUE = "queue-operation"


def queued(log: Growing, text: str | None = None, operation: str = "enqueue") -> None:
    """Write what happens to the queue of prompts."""
    log.count += 1
    stamp = f"2026-11-02T09:00:{log.count:02}Z"
    content = {"content": text} if text else {}
    log.aside(type=QUEUE, operation=operation, timestamp=stamp, sessionId=log.session, **content)


def test_the_open_turn_of_another_client_is_left_to_it(hook: Hook, log: Growing) -> None:
    log.turn("one")
    log.prompt("two")
    call = log.call(command="sleep 4")
    waiting = log.tip
    log.result(call, "[Tool call interrupted]")
    log.turn("three, of a client that resumed meanwhile")
    other, log.tip = log.tip, waiting
    log.result(call, "late")
    call = log.call(command="sleep 4")
    assert turns_in(hook(log, ended(log))) == ["Turn 1", "Turn 3"]
    first, log.tip = log.tip, other
    log.turn("four, of the other client")
    hook(log, ended(log))
    assert hook.last
    assert hook.last.is_open
    assert all(span.output for span in hook.spans.values() if span.kind == "tool")
    log.tip = first
    log.result(call, "at last")
    log.answer("Writer one over.")
    hook(log, ended(log))
    assert "at last" in [span.output for span in hook.spans.values()]
    assert not hook.last.is_open


def turns_in(found: list[tuple[str, str]]) -> list[str]:
    """Return the names of the turns among spans."""
    return [name for kind, name in found if kind == "turn"]


def test_a_turn_that_continues_after_sending_is_sent_further(hook: Hook, log: Growing) -> None:
    log.prompt("one")
    log.answer("done")
    assert hook(log, OVER) == [("turn", "Turn 1"), ("generation", "claude-opus-5-5")]
    log.answer("not quite")
    assert hook(log) == []
    log.turn("two")
    found = hook(log)
    assert found[0] == ("generation", "claude-opus-5-5")
    assert found[1] == ("turn", "Turn 2")
    assert hook.turn_count == 2
    traces_ = {span.trace for span in hook.spans.values()}
    assert len(traces_) == 2


def test_items_after_a_turn_wait_until_their_turn_is_known(hook: Hook, log: Growing) -> None:
    log.turn("one")
    assert hook(log)[0] == ("turn", "Turn 1")
    log.prompt("<command-name>/model</command-name>")
    log.prompt("<local-command-stdout>opus</local-command-stdout>")
    assert hook(log) == []
    log.turn("two")
    assert [name for _, name in hook(log)][:2] == ["Command", "Turn 2"]


def test_rewind_sends_nothing_twice(hook: Hook, log: Growing) -> None:
    log.turn("one")
    tip = log.tip
    log.turn("two")
    hook(log)
    log.tip = tip
    log.turn("two, but better")
    assert hook(log) == [("turn", "Turn 2"), *TURN]
    assert hook.was_whole()
    log.turn("three")
    assert hook(log)[0] == ("turn", "Turn 3")
    assert not hook.was_whole()
    assert hook.turn_count == 4


def test_a_replaced_prompt_is_ignored(hook: Hook, log: Growing) -> None:
    log.turn("one")
    tip = log.tip
    log.prompt("stopped before any answer")
    hook(log)
    log.tip = tip
    for number in (2, 3, 4):
        log.turn(f"prompt {number}")
        assert ("turn", f"Turn {number}") in hook(log)
    assert not hook.was_whole()


def test_a_rewind_into_an_open_turn_waits_for_it(hook: Hook, log: Growing) -> None:
    log.turn("one")
    tip = log.tip
    log.turn("two")
    log.turn("three")
    hook(log)
    log.tip = tip
    log.prompt("two again")
    call = log.call(command="ls")
    assert hook(log) == []
    assert hook.last
    assert hook.last.is_open
    log.result(call)
    log.answer("done")
    log.closed()
    assert hook(log) == [("turn", "Turn 2"), *TURN]


def test_a_fork_sends_only_its_own_spans(hook: Hook, log: Growing) -> None:
    log.turn("one")
    log.turn("two")
    hook(log)
    fork = Growing(log.path.parent, OTHER)
    for line in log.path.read_text(encoding="utf-8").splitlines():
        fork.aside(**{**json.loads(line), "sessionId": OTHER})
    fork.tip = log.tip
    assert hook(fork) == []
    fork.turn("three")
    assert hook(fork) == [("turn", "Turn 3"), *TURN]
    assert {span.session for span in hook.spans.values() if span.turn == 3} == {OTHER}
    hook.folder = hook.folder / "anew"  # whoever never saw the first sends all
    hook.spans.clear()
    assert [name for kind, name in hook(fork) if kind == "turn"] == ["Turn 1", "Turn 2", "Turn 3"]


def test_a_compaction_continues_linearly(hook: Hook, log: Growing) -> None:
    log.turn("one")
    hook(log)
    last, log.tip = log.tip, None
    log.add(
        type="system",
        subtype="compact_boundary",
        content="Conversation compacted",
        logicalParentUuid=last,
        compactMetadata={"trigger": "auto", "preTokens": 5},
    )
    log.prompt("This session is being continued", isCompactSummary=True)
    log.turn("two")
    found = hook(log)
    assert ("compaction", "Compaction") in found
    assert ("turn", "Turn 2") in found
    assert not hook.was_whole()


@pytest.mark.parametrize("change", ["shorter", "longer", "replaced"])
def test_a_rewritten_file_is_noticed(hook: Hook, log: Growing, change: str) -> None:
    for text in ("one", "two", "three"):
        log.turn(text)
    hook(log)
    lines = log.path.read_bytes().splitlines(keepends=True)
    changed = {
        "shorter": lines[5:],
        "longer": [b'{"type": "mode", "mode": "normal"}\n', *lines],
        "replaced": [line.replace(b"/home/dev", b"/srv/x") for line in lines],
    }
    log.path.write_bytes(b"".join(changed[change]))
    assert hook(log) == []
    assert hook.was_whole()
    log.turn("four")
    found = hook(log)
    assert [name for kind, name in found if kind == "turn"] == [
        "Turn 3" if change == "shorter" else "Turn 4"
    ]


def test_spans_sent_by_another_tool_are_not_sent_again(hook: Hook, log: Growing) -> None:
    log.turn("one")
    log.turn("two")
    log.turn("three")
    hook.last_line, hook.turn_count = 10, 2
    assert hook(log, size=0)[0] == ("turn", "Turn 3")
    assert hook.turn_count == 3
    log.turn("four")
    assert hook(log)[0] == ("turn", "Turn 4")


class TestAgents:
    """Sub-agents that end within the turn, and others that outlive it."""

    @staticmethod
    def agent(log: Growing, name: str, *answers: str) -> Path:
        folder = log.path.with_suffix("") / "subagents"
        inner = Growing(folder, log.session)
        inner.path = folder / f"agent-{name}.jsonl"
        inner.count = 500 + 20 * int(name[1:])
        more = {"agentId": name, "isSidechain": True}
        inner.prompt("Find it", **more)
        for text in answers:
            inner.answer(text, **more)
        return inner.path

    @staticmethod
    def sent_out(log: Growing, name: str, *, is_async: bool) -> None:
        call = log.call("Agent", description="Find", prompt="Find it", subagent_type="Explore")
        status = {"status": "async_launched" if is_async else "completed"}
        log.result(call, toolUseResult={"agentId": name, "prompt": "Find it", **status})

    def test_agent_is_sent_with_its_turn(self, hook: Hook, log: Growing) -> None:
        log.turn("one")
        hook(log)
        log.prompt("two")
        self.agent(log, "a1", "found")
        self.sent_out(log, "a1", is_async=False)
        assert hook(log) == []
        log.answer("It was there.")
        log.closed()
        assert ("agent", "Explore") in hook(log)
        assert not hook.was_whole()

    def test_agent_that_outlives_its_turn_is_sent_when_it_stops(
        self, hook: Hook, log: Growing
    ) -> None:
        log.prompt("one")
        path = self.agent(log, "a1", "looking")
        self.sent_out(log, "a1", is_async=True)
        log.answer("It looks.")
        log.closed()
        assert "agent" not in {kind for kind, _ in hook(log)}
        assert hook.last and hook.last.is_open
        log.turn("two")
        assert hook(log)[0] == ("turn", "Turn 2")
        assert not hook.was_whole()
        inner = Growing(path.parent, log.session)
        inner.path, inner.count = path, 530
        inner.answer("found", agentId="a1", isSidechain=True)
        found = hook(
            log, Inspection(agents=frozenset({"a1"}), idle_after=NEVER, abandoned_after=NEVER)
        )
        assert found[0] == ("agent", "Explore")
        assert len(found) == 3
        assert hook.last and not hook.last.is_open

    def test_endless_agent_is_sent_at_session_end(self, hook: Hook, log: Growing) -> None:
        log.prompt("one")
        self.agent(log, "a1", "looking")
        self.sent_out(log, "a1", is_async=True)
        log.answer("It looks.")
        log.closed()
        hook(log)
        assert hook(log, OVER)[0] == ("agent", "Explore")


# checklist: T56
def test_a_normal_session_continues_no_other(log: Growing) -> None:
    log.aside(type="file-history-snapshot", messageId="x", snapshot={})
    log.turn("one")
    assert find_previous_session(log.path, log.session) is None


# checklist: T57
@pytest.mark.parametrize("has_file", [True, False])
def test_a_continued_session_names_its_predecessor_on_line_1(
    tmp_path: Path, has_file: bool
) -> None:
    before, log = Growing(tmp_path, OTHER), Growing(tmp_path)
    if has_file:
        before.turn("one")
    log.aside(**before.record(type="user", message={"role": "user", "content": "x"}))
    log.turn("two")
    wanted = (OTHER, before.path) if has_file else None
    assert find_previous_session(log.path, log.session) == wanted


@pytest.mark.parametrize("named", ["../../etc/passwd", "a/b", "..", "", "\0", "x" * 400])
def test_an_odd_session_id_on_line_1_is_ignored(log: Growing, named: str) -> None:
    log.aside(type="user", sessionId=named)
    assert find_previous_session(log.path, log.session) is None


def test_a_missing_log_is_not_an_error(tmp_path: Path) -> None:
    assert find_previous_session(tmp_path / "none.jsonl", SESSION) is None


PIECES = st.lists(
    st.sampled_from(["turn", "turn", "turn", "prompt", "broken", "blank", "aside", "meta"]),
    min_size=1,
    max_size=12,
)


@given(PIECES, st.randoms(use_true_random=False))
def test_the_state_has_the_documented_fields(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    log, hook = Growing(folder / "p"), Hook(folder)
    log.path.touch()
    documented = {"last_line": 0, "turn_count": 0}
    for piece in pieces:
        grow(log, piece)
        if chance.random() < 0.5:
            hook(log, OVER)
            documented = as_documented(log.path, **documented)
            found = {"last_line": hook.last_line, "turn_count": hook.turn_count}
            assert found == documented


def grow(log: Growing, piece: str) -> None:
    """Add a piece to a log."""
    match piece:
        case "turn":
            log.turn(is_closed=False)
        case "prompt":
            log.prompt()
        case "broken":
            log.write(b'{"type": "user"\n')
        case "blank":
            log.write(b"\n")
        case "aside":
            log.aside(type="mode", mode="normal")
        case "meta":
            log.prompt("<system-reminder>x</system-reminder>", isMeta=True)


def as_documented(path: Path, last_line: int, turn_count: int) -> dict[str, int]:
    """Do what section 8 of the description of transcripts says."""
    messages, line_offsets = [], []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[last_line:], last_line + 1):
        try:
            json.loads(line)
        except ValueError:
            continue
        messages.append(parse_record(line))
        line_offsets.append(number)
    grouped = group_turns(messages)
    if grouped.consumed:
        last_line = line_offsets[grouped.consumed - 1]
    return {"last_line": last_line, "turn_count": turn_count + len(grouped.turns)}


def check_grown(path: Path, folder: Path, chance: random.Random, cuts: int) -> None:
    """Let a real log grow in steps, and compare what was sent with what all of it gives."""
    lines = path.read_bytes().splitlines(keepends=True)
    log, hook = Growing(folder, SESSION), Hook(folder)
    log.path, log.session = folder / path.name, path.stem
    places = sorted(chance.sample(range(1, len(lines)), min(len(lines) - 1, cuts)))
    for place in places:
        torn = lines[place][: len(lines[place]) // 2] if chance.random() < 0.3 else b""
        log.path.write_bytes(b"".join(lines[:place]) + torn)
        hook(log)
    log.path.write_bytes(b"".join(lines))
    hook(log, OVER)
    [session] = [one for one in find_sessions_near(log.path) if one.file]
    everything = [span for trace in traces([session], content=ALL) for span in trace]
    assert {span.id for span in everything} == set(hook.spans)


ALL = Content(has_thinking=True)


def straight_logs(shared: Path) -> list[Path]:
    """Return real logs of main sessions in which nobody rewinds."""
    from plait.conversation.build import may_branch
    from plait.record.reader import read

    found = [
        path
        for path in sorted((shared / "corpus").rglob("*.jsonl"))
        if not path.name.startswith("agent-") and path.stat().st_size < 1_000_000
    ]
    return [path for path in found if not may_branch(read(path)) and path.read_bytes().strip()]


@pytest.mark.parametrize("share", [pytest.param(15), pytest.param(1, marks=pytest.mark.long)])
def test_growing_real_logs_are_sent_once_and_completely(
    shared: Path, tmp_path: Path, share: int
) -> None:
    found = straight_logs(shared)[::share]
    assert found
    for number, path in enumerate(found):
        folder = tmp_path / str(number)
        folder.mkdir()
        check_grown(path, folder, random.Random(number), 8)
