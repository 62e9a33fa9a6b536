"""Sending spans to a real receiver: working, down, slow, failing or picky."""

import socket
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from plait.trace.delivery import (
    MAX_PAUSE,
    DeliveryResult,
    Spool,
    Target,
    Tries,
    deliver,
    flush,
    langfuse_target,
    otlp_target,
)
from tests.trace.made import ids, made, many
from tests.trace.otlp_receiver import Answer, Receiver, free_port

PARTIAL = ExportTraceServiceResponse()
PARTIAL.partial_success.rejected_spans = 1


def target_of(receiver: Receiver, timeout: float = 5.0) -> Target:
    return Target(url=f"{receiver.url}/v1/traces", timeout=timeout)


def nobody() -> Target:
    return otlp_target(f"http://127.0.0.1:{free_port()}")


def test_spans_arrive(tmp_path: Path) -> None:
    with Receiver() as receiver:
        done = deliver([many(3), [made(9)]], target_of(receiver))
    assert done == DeliveryResult(sent=4)
    assert sorted(receiver.spans) == sorted(ids([*many(3), made(9)]))
    assert [one["path"] for one in receiver.requests] == ["/v1/traces"] * 2


def test_langfuse_path_and_keys() -> None:
    with Receiver() as receiver:
        deliver([many(1)], langfuse_target(receiver.url, "pk-1", "sk-2"))
    [request] = receiver.requests
    assert request["path"] == "/api/public/otel/v1/traces"
    assert request["headers"]["authorization"] == "Basic cGstMTpzay0y"


def test_no_proxy_is_used_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with Receiver() as receiver:
        assert deliver([many(1)], target_of(receiver)).sent == 1


def test_netrc_does_not_override_the_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with Receiver() as receiver:
        deliver([many(1)], langfuse_target(receiver.url, "pk-1", "sk-2"))
    assert receiver.requests[0]["headers"]["authorization"] == "Basic cGstMTpzay0y"


def test_without_a_server_everything_waits(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add([*many(3), made(9)])
    done = flush(spool, nobody())
    assert (done.sent, done.waiting, done.reason) == (0, 4, "connection failed")
    with Receiver() as receiver:
        assert flush(spool, target_of(receiver)) == DeliveryResult(sent=4)
    assert sorted(receiver.spans) == sorted(ids([*many(3), made(9)]))
    assert spool.count() == 0


def test_a_failed_target_is_not_asked_again() -> None:
    with Receiver(lambda _: Answer(503)) as receiver:
        done = deliver([many(3), many(2)], target_of(receiver))
    assert done == DeliveryResult(waiting=5, reason="503 Service Unavailable")
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [Answer(500), Answer(503), Answer(429), Answer(408), Answer(is_dying=True, status=500)],
    ids=["500", "503", "429", "408", "dies"],
)
def test_transient_errors_are_retried(tmp_path: Path, answer: Answer) -> None:
    troubles = [answer, answer]

    def choose(_: list[WireSpan]) -> Answer | None:
        return troubles.pop() if troubles else None

    spool = Spool(tmp_path)
    spool.add(many(3))
    with Receiver(choose) as receiver:
        target = target_of(receiver)
        first = flush(spool, target)
        assert (first.sent, first.waiting) == (0, 3)
        assert first.reason
        assert spool.read_tries().count == 1
        assert (flush(spool, target).waiting, spool.read_tries().count) == (3, 2)
        assert flush(spool, target) == DeliveryResult(sent=3)
        assert spool.read_tries() == Tries()
    assert len(receiver.requests) == 3  # the SDK does not try again on its own


def test_a_batch_without_a_reply_is_sent_again_under_the_same_ids(
    tmp_path: Path,
) -> None:
    deaths = [Answer(is_dying=True)]
    spool = Spool(tmp_path)
    spool.add(many(3))
    with Receiver(lambda _: deaths.pop() if deaths else None) as receiver:
        assert flush(spool, target_of(receiver)).waiting == 3
        assert flush(spool, target_of(receiver)).sent == 3
    assert sorted(receiver.spans) == ids(many(3))
    assert set(receiver.arrivals.values()) == {2}


def test_a_slow_server_hits_the_timeout(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add(many(1))
    with Receiver(lambda _: Answer(500, delay=1.0)) as receiver:
        done = flush(spool, target_of(receiver, timeout=0.1))
    assert (done.waiting, done.reason) == (1, "no response in time")


def test_a_trickling_server_hits_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=dawdle, args=(server,), daemon=True).start()
        target = Target(url=f"http://127.0.0.1:{server.getsockname()[1]}", timeout=0.3)
        done = deliver([many(2)], target)
    assert done == DeliveryResult(waiting=2, reason="no response in time")


def dawdle(server: socket.socket) -> None:
    """Answer a letter at a time, each well before the limit, and never comes to an end."""
    connection, _ = server.accept()
    with connection, suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
        for _ in range(400):
            connection.sendall(b"x")
            time.sleep(0.05)


def test_one_connection_serves_several_batches() -> None:
    with Receiver() as receiver:
        assert deliver([many(2), [made(7)]], target_of(receiver)).sent == 3
        assert len({request["peer"] for request in receiver.requests}) == 1


def test_a_batch_that_is_too_large_is_sent_in_halves(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add(many(7))
    with Receiver(lambda spans: Answer(413) if len(spans) > 2 else None) as receiver:
        assert flush(spool, target_of(receiver)) == DeliveryResult(sent=7)
        assert deliver([many(7)], target_of(receiver)) == DeliveryResult(sent=7)
    assert sorted(receiver.spans) == ids(many(7))


def test_too_large_span_is_dropped(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add(many(3))
    large = made(2).id

    def choose(spans: list[WireSpan]) -> Answer | None:
        return Answer(413) if large in {span.span_id.hex() for span in spans} else None

    with Receiver(choose) as receiver:
        done = flush(spool, target_of(receiver))
    assert (done.sent, done.refused, done.waiting) == (2, 1, 0)
    [(_, batch)] = spool.refused_batches()
    assert ids(batch.spans) == [large]
    assert batch.reason.startswith("413")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 302])
def test_refused_spans_are_not_sent_again(tmp_path: Path, status: int) -> None:
    spool = Spool(tmp_path)
    spool.add(many(2))
    words = {"content-type": "text/plain"}
    with Receiver(lambda _: Answer(status, words, body=b"wrong key\nand more")) as receiver:
        done = flush(spool, target_of(receiver))
        assert (done.sent, done.waiting, done.refused) == (0, 0, 2)
        flush(spool, target_of(receiver))
    assert len(receiver.requests) == 1
    [(_, batch)] = spool.refused_batches()
    assert batch.reason.startswith(str(status))
    assert batch.reason.endswith("wrong key")
    spool.retry_refused()
    with Receiver() as receiver:
        assert flush(spool, target_of(receiver)).sent == 2


def test_partly_rejected_batches_are_reported() -> None:
    with Receiver(lambda _: Answer(body=PARTIAL.SerializeToString())) as receiver:
        done = deliver([many(3)], target_of(receiver))
    assert (done.sent, done.refused, done.reason) == (2, 1, "1 spans rejected")


@pytest.mark.parametrize(
    ("after", "least", "most"),
    [("100", 99, 101), ("Wed, 01 Jan 2020 00:00:00 GMT", 0.5, 1.5), ("soon", 0.5, 1.5)],
)
def test_retry_after_is_respected(tmp_path: Path, after: str, least: float, most: float) -> None:
    spool = Spool(tmp_path)
    spool.add(many(1))
    with Receiver(lambda _: Answer(429, {"retry-after": after})) as receiver:
        flush(spool, target_of(receiver))
    assert least <= spool.read_tries().next - time.time() <= most


def test_backoff_is_bounded(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add(many(1))
    target, pauses = nobody(), []
    for count in (0, 1, 2, 30):
        spool.save_tries(Tries(count))
        flush(spool, target)
        pauses.append(round(spool.read_tries().next - time.time()))
    assert pauses == [1, 2, 4, MAX_PAUSE]


def test_only_one_process_sends(tmp_path: Path) -> None:
    from plait.line.output import lock_file
    from plait.trace.delivery import BUSY, SENDING_LOCK

    spool = Spool(tmp_path)
    spool.add(many(2))
    with lock_file(tmp_path / SENDING_LOCK), Receiver() as receiver:
        assert flush(spool, target_of(receiver)) == DeliveryResult(waiting=2, reason=BUSY)
        assert not receiver.requests
