"""One batch of spans to one OTLP request, and its answer to what it means.

The SDK's exporter writes the request; when to try again is decided by who keeps the spool,
so a failure is final for the exporter: it is told of no error that it would retry.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from msgspec import Struct

from plait.errors import MissingExtra
from plait.trace.model import Span
from plait.trace.target import Target

if TYPE_CHECKING:
    from requests import Response

Meaning: TypeAlias = Literal["sent", "again", "too large", "refused"]
TRANSIENT = frozenset({408, 425, 429})
TOO_LARGE = 413
MOST_SAID = 1 << 16
"""Bytes of an answer that are read."""
T = TypeVar("T")


class Reply(Struct, frozen=True):
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
        self.session = one_try(target)
        self.exporter = OTLPSpanExporter(
            endpoint=target.url,
            headers=dict(target.headers),
            timeout=target.timeout,
            compression=Compression.Gzip,
            session=self.session,
        )
        # Every failure is told by its reply; the exporter would print it as well.
        logging.getLogger(OTLPSpanExporter.__module__).setLevel(logging.CRITICAL)

    def send(self, spans: Sequence[Span]) -> Reply:
        """Sends spans in one request and says what became of it."""
        from plait.trace.wire import readable

        self.session.reply = Reply("refused", "the spans cannot be written as a request")
        self.exporter.export(readable(spans, convention=self.target.convention))
        reply: Reply = self.session.reply
        return reply

    def close(self) -> None:
        """Lets go of the connection."""
        self.session.close()


def one_try(target: Target) -> Any:
    """Returns a session of requests that tries once, and keeps what the answer means."""
    import requests

    class OneTry(requests.Session):
        """Answers or fails; either way it knows what that means."""

        reply = Reply("again")

        def request(self, *args: Any, **kwargs: Any) -> "Response":
            try:
                ask = partial(super().request, *args, **{**kwargs, "stream": True})
                response = within(target.timeout, lambda: read_whole(ask()))
            except (requests.RequestException, TimeoutError) as error:
                self.reply = Reply("again", unreached(error))
                raise Unsent from error
            self.reply = meaning_of(response)
            if self.reply.meaning != "sent":
                raise Unsent
            return response

    session = OneTry()
    session.trust_env = not target.is_loopback  # no proxy stands before this machine itself
    session.auth = lambda request: request  # or a .netrc would replace the keys
    return session


def read_whole(response: "Response") -> "Response":
    """Reads what a server says, as far as anybody wants to know."""
    with response:
        parts = response.iter_content(MOST_SAID)
        response._content = next(parts, b"")
        next(parts, None)  # read to its end, so that the connection serves again
    return response


def within(seconds: float, ask: Callable[[], T]) -> T:
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


def meaning_of(response: "Response") -> Reply:
    """Returns what an answer means for the batch."""
    status = response.status_code
    reason = f"{status} {response.reason or ''}".strip()
    if 200 <= status < 300:
        return Reply("sent", rejected=rejected_in(response))
    if status == TOO_LARGE:
        return Reply("too large", reason)
    if status in TRANSIENT or status >= 500:
        return Reply("again", reason, wanted_pause(response.headers.get("Retry-After")))
    return Reply("refused", f"{reason}: {said_in(response)}".rstrip(": "))


def rejected_in(response: "Response") -> int:
    """Returns how many spans a server says it did not want."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    if "protobuf" not in response.headers.get("Content-Type", ""):
        return 0
    try:
        answer = ExportTraceServiceResponse.FromString(response.content)
    except Exception:  # whatever a server says there, it has taken the batch
        return 0
    return int(answer.partial_success.rejected_spans)


def said_in(response: "Response") -> str:
    """Returns the first line of what a server says in words, if it is short and plain."""
    if "protobuf" in response.headers.get("Content-Type", ""):
        return ""
    line = response.text.strip().split("\n")[0][:200]
    return "" if line.startswith("<") else line


def wanted_pause(text: str | None) -> float | None:
    """Returns the seconds that `Retry-After` names, as a number or as a date."""
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


def unreached(error: Exception) -> str:
    """Returns why a server could not be reached, without addresses of objects."""
    name = type(error).__name__
    words = {
        "ConnectTimeout": "no connection in time",
        "ReadTimeout": "no answer in time",
        "TimeoutError": "no answer in time",
        "SSLError": "the connection is not trusted",
        "ProxyError": "the proxy does not connect",
    }
    return words.get(name, "no connection")
