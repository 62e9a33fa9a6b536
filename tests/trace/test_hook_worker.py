"""The hook's worker: every complete turn arrives exactly once."""

import json
import os
import random
import string
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from plait.line.output import lock_file
from plait.redact import Redactor
from plait.trace import worker
from plait.trace.delivery import Spool, Target, otlp_target, read_sending_status
from plait.trace.hook_event import WORKER_LOCK, write_job
from plait.trace.jobs import MAX_ATTEMPTS, MAX_FAILED, WorkerLog, iter_jobs, list_jobs
from plait.trace.model import Content
from plait.trace.state import SessionState, read_states, save_state
from plait.trace.worker import HookLimits, HookOptions, HookWorker, find_new_spans
from tests.trace.logs import OTHER, SESSION, Growing
from tests.trace.otlp_receiver import Answer, Receiver, free_port

QUICK = HookLimits(idle=0.15, life=0.3, step=0.02)


class Bench:
    """A log, a folder, and workers that do what hooks leave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "trace"
        self.log = Growing(folder / "-home-dev-shop")

    def tell(self, event: str = "stop", log: Growing | None = None, **more: Any) -> None:
        """Leave a job as the hook does."""
        told = (log or self.log).told(**more)
        write_job(self.folder, event, json.dumps(told).encode())

    def work(
        self, target: Target | Receiver, manner: HookOptions | None = None, **limits: Any
    ) -> HookWorker:
        """Let a worker do all jobs."""
        where = otlp_target(target.url) if isinstance(target, Receiver) else target
        chosen = HookLimits(**{**LIMITS, **limits})
        worker = HookWorker(self.folder, where, manner or HookOptions(), chosen)
        worker.run()
        assert list_jobs(self.folder) == []
        return worker

    def state(self, session: str = SESSION) -> SessionState:
        return read_states(self.folder)[session]

    @property
    def said(self) -> str:
        return (self.folder / "hook.log").read_text(encoding="utf-8")


LIMITS = {"idle": QUICK.idle, "life": QUICK.life, "step": QUICK.step}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# checklist: T1, T2
def test_stop_event_names_session_and_log(bench: Bench) -> None:
    bench.log.turn("one")
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
    assert bench.log.path.name == f"{SESSION}.jsonl"
    assert receiver.names() == ["Turn 1"]
    assert (bench.state().last_line, bench.state().turn_count) == (5, 1)


def test_each_turn_arrives_once(bench: Bench) -> None:
    with Receiver() as receiver:
        for number in range(1, 5):
            bench.log.turn(f"prompt {number}")
            bench.tell()
            bench.tell()  # Stop may fire several times
            bench.work(receiver)
            assert receiver.names() == [f"Turn {one}" for one in range(1, number + 1)]
    assert set(receiver.arrivals.values()) == {1}


def test_a_turn_without_a_noted_end_is_sent_after_a_silence(bench: Bench) -> None:
    bench.log.turn("one", is_closed=False)
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]
    assert not bench.state().is_open


def test_a_turn_whose_end_is_noted_after_the_hook_is_sent_at_once(bench: Bench) -> None:
    bench.log.turn("one", is_closed=False)
    bench.tell()
    timer = threading.Timer(0.2, bench.log.closed)
    with Receiver() as receiver:
        timer.start()
        started = time.monotonic()
        bench.work(receiver, idle=600, life=600)
        assert time.monotonic() - started < 60
    timer.join()
    assert receiver.names() == ["Turn 1"]


def test_a_continued_turn_is_waited_for(bench: Bench) -> None:
    bench.log.prompt("one")
    bench.log.answer("first try")
    bench.log.prompt("Stop hook feedback:\n- no", isMeta=True)
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver, idle=0.0)
        assert receiver.names() == []
        assert bench.state().is_open
        bench.log.answer("second try")
        bench.tell()
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]


@pytest.mark.parametrize(
    ("event", "more", "is_sent"),
    [
        ("session-end", {"reason": "other"}, True),
        ("pre-compact", {"trigger": "manual"}, True),
        ("pre-compact", {"trigger": "auto"}, False),
        ("subagent-stop", {"agent_id": "a1"}, False),
    ],
)
def test_each_event_decides_about_the_last_turn(
    bench: Bench, event: str, more: dict[str, Any], is_sent: bool
) -> None:
    bench.log.turn("one", is_closed=False)
    bench.tell(event, **more)
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"] * is_sent


@pytest.mark.parametrize("event", ["stop", "session-end"])
def test_a_turn_in_progress_is_not_sent_partly(bench: Bench, event: str) -> None:
    bench.log.turn("one", is_closed=False)
    bench.tell(event)
    bench.log.prompt("two, before any worker has started")
    bench.log.answer("First a look.")
    with Receiver() as receiver:
        bench.work(receiver)
        assert receiver.names() == ["Turn 1"]
        call = bench.log.call(command="make")
        bench.tell("pre-compact", trigger="auto")
        bench.work(receiver)
        assert receiver.names() == ["Turn 1"]
        bench.log.result(call)
        bench.log.answer("done")
        bench.tell("session-end")
        bench.work(receiver)
    assert receiver.names() == ["Turn 1", "Turn 2"]
    assert set(receiver.arrivals.values()) == {1}


def test_an_interrupted_turn_is_sent_after_a_silence(bench: Bench) -> None:
    bench.log.prompt("one")
    bench.log.call(command="sleep 60")
    bench.tell("session-end")
    with Receiver() as receiver:
        began = time.monotonic()
        bench.work(receiver)
        assert time.monotonic() - began >= QUICK.idle
    assert receiver.names() == ["Turn 1"]


def test_consecutive_turns_are_each_sent_once_in_full(bench: Bench) -> None:
    with Receiver() as receiver:
        thread = threading.Thread(target=_ask_again_and_again, args=(bench, 12))
        thread.start()
        until = time.monotonic() + 60
        while (thread.is_alive() or list_jobs(bench.folder)) and time.monotonic() < until:
            HookWorker(bench.folder, otlp_target(receiver.url), HookOptions(), QUICK).run()
        thread.join(timeout=60)
        bench.work(receiver)
    assert receiver.names() == [f"Turn {number}" for number in range(1, 13)]
    assert set(receiver.arrivals.values()) == {1}
    ends = [span.end_time_unix_nano for span in receiver.spans.values() if not span.parent_span_id]
    lasts = {
        name: max(one.end_time_unix_nano for one in receiver.spans.values() if one.trace_id == name)
        for name in {one.trace_id for one in receiver.spans.values()}
    }
    assert sorted(ends) == sorted(lasts.values())


def _ask_again_and_again(bench: Bench, times: int) -> None:
    """Write as a client in print mode does: each run goes on from the one before at once."""
    for number in range(times):
        text = f"prompt {number}"
        for operation in ("enqueue", "dequeue"):
            bench.log.aside(
                type="queue-operation",
                operation=operation,
                timestamp=f"2026-11-02T10:00:{number:02}Z",
                content=text,
            )
            time.sleep(0.02)
        bench.log.prompt(text)
        time.sleep(0.02)
        bench.log.answer("First a look.")
        call = bench.log.call(command="ls")
        time.sleep(0.05)
        bench.log.result(call)
        bench.log.answer("done")
        bench.tell("stop")
        bench.tell("session-end")


def test_a_job_knows_the_size_of_the_log_at_the_event(bench: Bench) -> None:
    bench.log.path = bench.log.path.with_name('quoted "\\ü".jsonl')
    bench.log.turn("one")
    size = bench.log.path.stat().st_size
    bench.tell()
    bench.log.turn("two")
    [(_, job)] = list(iter_jobs(bench.folder))
    assert job
    assert (job.event, job.size) == ("stop", size)


@pytest.mark.parametrize(
    "told", [b"{}", b'{"transcript_path": "/no/such/log"}', b'{"transcript_path": "\\', b""]
)
def test_a_job_without_a_log_has_no_size(bench: Bench, told: bytes) -> None:
    assert write_job(bench.folder, "stop", told).endswith("-stop.json")


def test_a_session_that_ended_without_an_event_is_sent_eventually(bench: Bench) -> None:
    log = bench.log
    log.turn("one")
    log.prompt("two")
    log.call(command="sleep 1000")  # and the client was killed
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
        assert receiver.names() == ["Turn 1"]
        long_ago = time.time() - 7200
        os.utime(log.path, (long_ago, long_ago))
        other = Growing(log.path.parent, OTHER)
        other.turn("elsewhere")
        bench.tell(log=other)
        bench.work(receiver)
    assert sorted(receiver.names()) == ["Turn 1", "Turn 1", "Turn 2"]


# checklist: T45, T53
def test_broken_lines_are_logged(bench: Bench) -> None:
    bench.log.turn("one")
    bench.log.write(b'{"type": "user", "mess\n' * 12)
    bench.log.turn("two")
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1", "Turn 2"]
    assert "skipped broken lines: 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 and 2 more" in bench.said
    assert bench.state().last_line == 22


# checklist: T58
def test_a_previous_session_without_a_hook_is_sent_first(bench: Bench) -> None:
    before = Growing(bench.log.path.parent, OTHER)
    before.turn("plan it", is_closed=False)
    bench.log.aside(**before.record(type="user", message={"role": "user", "content": "do it"}))
    bench.log.turn("do it")
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
        assert receiver.names() == ["Turn 1", "Turn 1"]
        lines = bench.said.splitlines()
        assert OTHER in lines[0]
        assert SESSION in lines[1]
        bench.log.turn("and more")
        bench.tell()
        bench.work(receiver)
    assert bench.said.count(f"{OTHER}:") == 1  # it is known to be done
    assert set(receiver.arrivals.values()) == {1}


# checklist: T59
def test_an_unreadable_previous_session_does_not_stop_the_worker(bench: Bench) -> None:
    before = Growing(bench.log.path.parent, OTHER)
    before.turn("plan it")
    bench.log.aside(**before.record(type="user", message={"role": "user", "content": "do it"}))
    bench.log.turn("do it")
    bench.tell()
    (bench.folder / "sessions").mkdir(parents=True)
    (bench.folder / "sessions" / f"{OTHER}.sent").mkdir()  # its journal cannot be read
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]
    assert read_states(bench.folder)[OTHER].error
    assert bench.state().turn_count == 1


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"{",
        b"[]",
        b'{"session_id": 3}',
        b'{"session_id": "x"}',
        b'{"transcript_path": "/x"}',
        b'{"session_id": "x", "transcript_path": "x.jsonl"}',
        b'{"session_id": "x", "transcript_path": "/dev/zero"}',
        b'{"session_id": "x", "transcript_path": "/etc/passwd"}',
        b'{"session_id": "x", "transcript_path": "/\\u0000.jsonl"}',
        b'{"session_id": "x", "transcript_path": "/' + b"x" * 5000 + b'.jsonl"}',
    ],
)
def test_a_job_without_a_session_is_skipped(bench: Bench, told: bytes) -> None:
    write_job(bench.folder, "stop", told)
    bench.log.turn("one")
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]
    assert "is not a session log" in bench.said


DEEP = b'{"session_id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize("told", [DEEP, b'{"transcript_path": "\\u002fx.jsonl", "x": ' + DEEP])
def test_an_unreadable_job_is_set_aside_and_reported(bench: Bench, told: bytes) -> None:
    left = write_job(bench.folder, "stop", told)
    bench.log.turn("one")
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]
    (aside,) = read_sending_status(bench.folder).aside
    assert (aside.job, aside.reason) == (Path(left).name, "is not a session log")
    assert aside.job in bench.said


def test_a_failing_job_is_set_aside_and_reported(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(path: Path, session: str) -> None:
        if session == OTHER:
            raise RecursionError("so deep")

    monkeypatch.setattr(worker, "find_previous_session", failing)
    bench.log.turn("one")
    bench.tell(session_id=OTHER)
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]
    (aside,) = read_sending_status(bench.folder).aside
    assert aside.reason.startswith("RecursionError in test_hook_worker.py")
    assert aside.job.endswith("stop.json") or "stop" in aside.job


def test_a_job_that_kills_the_worker_is_set_aside_eventually(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """Stands for what no program can catch."""

    def killing(path: Path, session: str) -> None:
        if session == OTHER:
            raise Killed

    monkeypatch.setattr(worker, "find_previous_session", killing)
    bench.log.turn("one")
    bench.tell(session_id=OTHER)
    bench.tell()
    with Receiver() as receiver:
        for _ in range(MAX_ATTEMPTS):
            with pytest.raises(Killed):
                bench.work(receiver)
            assert read_sending_status(bench.folder).aside == []
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]
    (aside,) = read_sending_status(bench.folder).aside
    assert aside.reason == f"crashed the worker {MAX_ATTEMPTS} times"


def test_the_number_of_failed_jobs_is_limited(bench: Bench) -> None:
    for _ in range(MAX_FAILED + 5):
        write_job(bench.folder, "stop", b"{}")
    with Receiver() as receiver:
        bench.work(receiver)
    kept = [one.job for one in read_sending_status(bench.folder).aside]
    assert len(kept) == MAX_FAILED and kept == sorted(kept)


def test_the_worker_log_has_one_line_per_note(bench: Bench) -> None:
    WorkerLog(bench.folder.parent).write("a\nb\x1b]0;x\x07 \u202e")
    (line,) = (bench.folder.parent / "hook.log").read_text(encoding="utf-8").splitlines()
    assert line.endswith("a�b�]0;x� �")


def test_other_files_among_the_jobs_are_ignored(bench: Bench) -> None:
    pipe = bench.log.path.with_name("pipe.jsonl")
    os.mkfifo(pipe)  # whoever opens it waits for ever
    bench.tell(transcript_path=str(pipe))
    (bench.folder / "jobs" / "folder.json").mkdir()
    (bench.folder / "jobs" / "odd.json").write_bytes(b"{}")
    bench.log.turn("one")
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]


def test_the_state_of_a_deleted_log_is_pruned(bench: Bench) -> None:
    other = Growing(bench.log.path.parent, OTHER)
    other.turn("one")
    bench.log.turn("one")
    save_state(bench.folder, "of another tool", SessionState(3, 1, "2020-01-01T00:00:00Z"))
    with Receiver() as receiver:
        for log in (other, bench.log):
            bench.tell(log=log)
        bench.work(receiver)
        (bench.folder / "sessions" / "lost.sent").write_bytes(b"")
        bench.log.path.unlink()
        bench.work(receiver)
        assert SESSION in read_states(bench.folder)
        bench.work(receiver, retention=0.0)
    assert set(read_states(bench.folder)) == {OTHER, "of another tool"}
    assert {path.stem for path in (bench.folder / "sessions").iterdir()} == {OTHER}


def test_a_missing_log_is_noted(bench: Bench) -> None:
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
        assert "no such file" in bench.state().error
        bench.work(receiver, retention=0.0)
    assert read_states(bench.folder) == {}


@pytest.mark.parametrize("trouble", ["down", "500", "429", "slow", "dying"])
def test_unsent_spans_are_sent_later(bench: Bench, trouble: str) -> None:
    answers = {
        "500": Answer(500),
        "429": Answer(429, {"retry-after": "1"}),
        "slow": Answer(500, delay=0.5),
        "dying": Answer(is_dying=True),
    }
    bench.log.turn("one")
    bench.tell()
    if trouble == "down":
        bench.work(otlp_target(f"http://127.0.0.1:{free_port()}"))
    else:
        with Receiver(lambda _: answers[trouble]) as receiver:
            bench.work(Target(url=f"{receiver.url}/v1/traces", timeout=0.2))
    spool = Spool(bench.folder)
    assert spool.count() == 4
    assert bench.state().turn_count == 1  # it is Plait's to send, not the log's
    assert spool.read_tries().count >= 1
    bench.log.turn("two")
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver, life=30)
    assert receiver.names() == ["Turn 1", "Turn 2"]
    assert set(receiver.arrivals.values()) == {1}
    assert spool.count() == 0


def test_refused_spans_are_reported_and_not_retried(bench: Bench) -> None:
    bench.log.turn("one")
    bench.tell()
    with Receiver(lambda _: Answer(401)) as receiver:
        bench.work(receiver)
        assert len(receiver.requests) == 1
    found = read_sending_status(bench.folder)
    assert (found.waiting, found.refused) == (0, 4)
    assert [one.refused for one in found.sessions] == [4]
    assert list(found.reasons) == ["401 Unauthorized"]


def test_full_spool_leaves_turns_for_later(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = otlp_target(f"http://127.0.0.1:{free_port()}")
    monkeypatch.setattr(worker, "Spool", lambda folder: Spool(folder, max_bytes=1))
    for number in range(4):
        bench.log.turn(f"prompt {number}")
        bench.tell()
        bench.work(nobody, life=0)
    assert Spool(bench.folder).count() == 4
    assert (bench.state().turn_count, bench.state().error) == (1, "the queue is full")
    assert bench.state().is_open
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver, life=30)  # makes room
        bench.tell()
        monkeypatch.undo()
        bench.work(receiver, life=30)
    assert receiver.names() == [f"Turn {number}" for number in range(1, 5)]
    assert set(receiver.arrivals.values()) == {1}
    assert (bench.state().turn_count, bench.state().error) == (4, "")


def test_only_one_worker_runs(bench: Bench) -> None:
    bench.log.turn("one")
    bench.tell()
    with Receiver() as receiver, lock_file(bench.folder / WORKER_LOCK):
        HookWorker(bench.folder, otlp_target(receiver.url), limits=QUICK).run()
        assert receiver.names() == []
        assert len(list_jobs(bench.folder)) == 1


def test_a_job_left_while_the_worker_ends_is_processed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.log.turn("one")
    bench.tell()
    rounds: list[int] = []
    serve = HookWorker.serve

    def then_another(self: HookWorker) -> None:
        serve(self)
        if not rounds:
            bench.log.turn("two")
            bench.tell()
        rounds.append(1)

    monkeypatch.setattr(HookWorker, "serve", then_another)
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1", "Turn 2"]


def test_the_state_of_another_tool_is_continued(bench: Bench) -> None:
    for text in ("one", "two", "three"):
        bench.log.turn(text)
    save_state(bench.folder, SESSION, SessionState(10, 2, "2025-01-15T10:00:00Z"))
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
        assert receiver.names() == ["Turn 3"]
        bench.log.turn("four")
        bench.tell()
        bench.work(receiver)
    assert receiver.names() == ["Turn 3", "Turn 4"]
    assert bench.state().turn_count == 4


def test_secrets_reach_neither_target_nor_disk(bench: Bench) -> None:
    chance, letters = random.Random(7), string.ascii_letters + string.digits
    secret = f"sk-ant-api03-{''.join(chance.choices(letters, k=93))}AA"
    bench.log.prompt(f"my key is {secret}")
    bench.log.answer(f"I will not tell {secret}")
    bench.log.closed()
    bench.tell()
    nobody = otlp_target(f"http://127.0.0.1:{free_port()}", {"x-key": "hidden-header"})
    bench.work(nobody, HookOptions(Content(), Redactor))
    written = b"".join(path.read_bytes() for path in bench.folder.rglob("*") if path.is_file())
    assert Spool(bench.folder).count() == 2
    assert secret.encode() not in written
    assert b"hidden-header" not in written
    with Receiver() as receiver:
        bench.tell()
        bench.work(receiver, life=30)
    assert receiver.names() == ["Turn 1"]
    assert secret.encode() not in b"".join(s.SerializeToString() for s in receiver.spans.values())


def test_a_secret_of_an_earlier_turn_is_redacted_in_later_ones(bench: Bench) -> None:
    value = "correcthorsebattery77staple"
    bench.log.turn(f"DB_PASSWORD={value} is the password")
    manner = HookOptions(Content(), Redactor)
    with Receiver() as receiver:
        for number in range(3):
            bench.tell()
            bench.work(receiver, manner)
            bench.log.turn(f"{number}: {value}")
        bench.tell()
        bench.work(receiver, manner)
    assert len(receiver.names()) == 4
    assert value.encode() not in b"".join(s.SerializeToString() for s in receiver.spans.values())


def test_an_unexpected_error_in_one_session_stops_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sometimes(path: Path, session: str, *args: Any, **more: Any) -> Any:
        if session == OTHER:
            raise ZeroDivisionError("words of the log")
        return find_new_spans(path, session, *args, **more)

    monkeypatch.setattr(worker, "find_new_spans", sometimes)
    other = Growing(bench.log.path.parent, OTHER)
    other.turn("one")
    bench.log.turn("one")
    bench.tell(log=other)
    bench.tell()
    with Receiver() as receiver:
        bench.work(receiver)
    assert receiver.names() == ["Turn 1"]
    assert "ZeroDivisionError in test_hook_worker.py" in read_states(bench.folder)[OTHER].error
    assert "words of the log" not in bench.said + read_states(bench.folder)[OTHER].error
