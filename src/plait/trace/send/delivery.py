"""Batches of spans to a target: one request at a time, what waits again after a pause.

The SDK's exporter writes the request; when to try again is decided by who keeps the spool,
so a failure is final for the exporter: it is told of no error that it would retry.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from msgspec import Struct

from plait.errors import MissingExtra
from plait.line.atomic import held
from plait.trace.model import Span
from plait.trace.send.spool import Batch, Spool, Tries, in_batches
from plait.trace.send.target import Target

if TYPE_CHECKING:
    from requests import Response


Meaning: TypeAlias = Literal["sent", "again", "too large", "refused"]
TRANSIENT = frozenset({408, 425, 429})
TOO_LARGE = 413
MOST_SAID = 1 << 16
"""Bytes of an answer that are read."""
T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
SENDING_LOCK = "sending.lock"
BUSY = "another process is sending"


class SendReply(Struct, frozen=True):
    """What became of a request."""

    meaning: Meaning
    reason: str = ""
    after: float | None = None
    """Seconds that the server wants to be left alone."""
    rejected: int = 0
    """Spans that the server did not want though it took the rest."""


class Sender:
    """Sends batches to one target."""

    def __init__(self, target: Target) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http import Compression
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        except ModuleNotFoundError as error:
            raise MissingExtra(
                "sending traces needs a part that is not installed", "`pip install 'plait[trace]'`"
            ) from error
        self.target = target
        self.session = _one_try(target)
        self.exporter = OTLPSpanExporter(
            endpoint=target.url,
            headers=dict(target.headers),
            timeout=target.timeout,
            compression=Compression.Gzip,
            session=self.session,
        )
        # Every failure is told by its reply; the exporter would print it as well.
        logging.getLogger(OTLPSpanExporter.__module__).setLevel(logging.CRITICAL)

    def send(self, spans: Sequence[Span]) -> SendReply:
        """Sends spans in one request and says what became of it."""
        from plait.trace.send.otlp import sdk_spans

        self.session.reply = SendReply("refused", "the spans cannot be written as a request")
        self.exporter.export(sdk_spans(spans, convention=self.target.convention))
        reply: SendReply = self.session.reply
        return reply

    def close(self) -> None:
        """Lets go of the connection."""
        self.session.close()


def _one_try(target: Target) -> Any:
    import requests

    class OneTry(requests.Session):
        """Answers or fails; either way it knows what that means."""

        reply = SendReply("again")

        def request(self, *args: Any, **kwargs: Any) -> "Response":
            try:
                ask = partial(super().request, *args, **{**kwargs, "stream": True})
                response = _within(target.timeout, lambda: _read_whole(ask()))
            except (requests.RequestException, TimeoutError) as error:
                self.reply = SendReply("again", _unreached(error))
                raise Unsent from error
            self.reply = _meaning_of(response)
            if self.reply.meaning != "sent":
                raise Unsent
            return response

    session = OneTry()
    session.trust_env = not target.is_loopback  # no proxy stands before this machine itself
    session.auth = lambda request: request  # or a .netrc would replace the keys
    return session


def _read_whole(response: "Response") -> "Response":
    with response:
        parts = response.iter_content(MOST_SAID)
        response._content = next(parts, b"")
        next(parts, None)  # read to its end, so that the connection serves again
    return response


def _within(seconds: float, ask: Callable[[], T]) -> T:
    """Returns an answer; raises what went wrong, or TimeoutError where it takes too long.

    The time limits of a socket begin anew with each byte: a server that dawdles would hold up
    everything. Whoever is left waiting for it ends with the process.
    """
    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(ask())
        except Exception as error:
            found.set_exception(error)

    Thread(target=run, daemon=True).start()
    return found.result(seconds)


class Unsent(Exception):
    """The exporter need not try again."""


def _meaning_of(response: "Response") -> SendReply:
    status = response.status_code
    reason = f"{status} {response.reason or ''}".strip()
    if 200 <= status < 300:
        return SendReply("sent", rejected=_rejected_in(response))
    if status == TOO_LARGE:
        return SendReply("too large", reason)
    if status in TRANSIENT or status >= 500:
        return SendReply("again", reason, _wanted_pause(response.headers.get("Retry-After")))
    return SendReply("refused", f"{reason}: {_said_in(response)}".rstrip(": "))


def _rejected_in(response: "Response") -> int:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    if "protobuf" not in response.headers.get("Content-Type", ""):
        return 0
    try:
        answer = ExportTraceServiceResponse.FromString(response.content)
    except Exception:  # whatever a server says there, it has taken the batch
        return 0
    return int(answer.partial_success.rejected_spans)


def _said_in(response: "Response") -> str:
    if "protobuf" in response.headers.get("Content-Type", ""):
        return ""
    line = response.text.strip().split("\n")[0][:200]
    return "" if line.startswith("<") else line


def _wanted_pause(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _unreached(error: Exception) -> str:
    name = type(error).__name__
    words = {
        "ConnectTimeout": "no connection in time",
        "ReadTimeout": "no answer in time",
        "TimeoutError": "no answer in time",
        "SSLError": "the connection is not trusted",
        "ProxyError": "the proxy does not connect",
    }
    return words.get(name, "no connection")


class Delivered(Struct, frozen=True):
    """How many spans went where."""

    sent: int = 0
    waiting: int = 0
    """Neither sent nor refused: the target did not answer well."""
    refused: int = 0
    reason: str = ""
    """What the target said last, where it did not take all."""

    def __add__(self, other: "Delivered") -> "Delivered":
        return Delivered(
            self.sent + other.sent,
            self.waiting + other.waiting,
            self.refused + other.refused,
            other.reason or self.reason,
        )


def deliver(batches: Iterable[list[Span]], target: Target) -> Delivered:
    """Sends batches one after the other; once the target fails, what is left is only counted."""
    done = Delivered()
    sender = Sender(target)
    try:
        for batch in batches:
            for part, _ in in_batches(batch):
                is_down = done.waiting > 0
                done += Delivered(waiting=len(part)) if is_down else _send_whole(sender, part)
    finally:
        sender.close()
    return done


def _send_whole(sender: Sender, spans: Sequence[Span]) -> Delivered:
    done = Delivered()
    parts = [spans]
    while parts:
        part = parts.pop()
        reply = sender.send(part)
        if reply.meaning == "too large" and len(part) > 1:
            middle = len(part) // 2
            parts += [part[middle:], part[:middle]]
        elif reply.meaning == "again":  # all of them wait: a span that goes twice keeps its id
            return Delivered(waiting=len(spans), reason=reply.reason)
        else:
            done += _delivery_counts(reply, len(part))
    return done


def _delivery_counts(reply: SendReply, count: int) -> Delivered:
    if reply.meaning != "sent":
        return Delivered(refused=count, reason=reply.reason)
    reason = f"{reply.rejected} spans rejected" if reply.rejected else ""
    return Delivered(sent=count - reply.rejected, refused=reply.rejected, reason=reason)


def flush(spool: Spool, target: Target, *, wait: float = 0.0) -> Delivered:
    """Sends all that waits, until the target fails; one process at a time does so."""
    with held(spool.folder / SENDING_LOCK, wait) as is_ours:
        if not is_ours:
            return Delivered(waiting=spool.count(), reason=BUSY)
        sender = Sender(target)
        try:
            return _sent_from(spool, sender)
        finally:
            sender.close()


def _sent_from(spool: Spool, sender: Sender) -> Delivered:
    done = Delivered()
    while found := next(spool.batches(), None):
        reply = sender.send(found[1].spans)
        if reply.meaning == "again":
            _note_failure(spool, reply)
            return done + Delivered(waiting=spool.count(), reason=reply.reason)
        done += _settled(spool, *found, reply)
        spool.note_tries(Tries())
    return done


def _settled(spool: Spool, path: Path, batch: Batch, reply: SendReply) -> Delivered:
    count = len(batch.spans)
    if reply.meaning == "too large" and count > 1:
        spool.split(path, batch)
        return Delivered()
    if reply.meaning == "sent":
        spool.drop(path)
    else:
        spool.refuse(path, batch, reply.reason)
    return _delivery_counts(reply, count)


def _note_failure(spool: Spool, reply: SendReply) -> None:
    count = spool.tries().count + 1
    pause = min(FIRST_PAUSE * 2 ** min(count - 1, 16), LONGEST_PAUSE)
    if reply.after is not None:
        pause = min(max(reply.after, pause), LONGEST_PAUSE)
    spool.note_tries(Tries(count, time.time() + pause, reply.reason))
