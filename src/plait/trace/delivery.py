"""Delivery of spans: targets, the spool of waiting batches, and sending.

    <folder>/waiting/<order>.<spans>.batch      to be sent, in the order of the names
    <folder>/refused/<order>.<spans>.batch      rejected by the target, with its reason
    <folder>/tries.json                         how often it has failed in a row

The spool is limited. When it is full, adding fails and the caller is told: what came first is sent
first. One request is sent at a time. The SDK's exporter writes the request, but the owner of the
spool decides when to retry, so a failure is final for the exporter: it never sees an error that it
would retry.
"""

import logging
import math
import os
import re
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import count
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from plait.errors import ConfigError, MissingExtra
from plait.line.output import lock_file, replace_file, sync_folder
from plait.trace.jobs import FailedJob, list_failed_jobs
from plait.trace.model import Convention, Span
from plait.trace.otlp import sdk_spans
from plait.trace.state import SessionState, read_states
from plait.view.formats import format_bytes, format_count, format_second

if TYPE_CHECKING:
    from requests import Response


T = TypeVar("T")

# Targets

OTLP_PATH = "/v1/traces"
LANGFUSE_PATH = "/api/public/otel/v1/traces"
LANGFUSE_CLOUD = "https://cloud.langfuse.com"
LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


class Target(Struct, frozen=True, kw_only=True):
    """Where spans are sent, and how. Its headers hold keys: they are never shown."""

    url: str
    headers: Mapping[str, str] = {}
    convention: Convention = "both"
    timeout: float = 10.0
    """Seconds that one request may take."""

    def __repr__(self) -> str:
        return f"Target({self.url})"

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        return LOOPBACK.fullmatch(urlsplit(self.url).hostname or "") is not None


def otlp_target(endpoint: str, headers: Mapping[str, str] | None = None) -> Target:
    """Return an OTLP collector; an address without a path means its usual path."""
    parts = _split_url(endpoint)
    has_path = parts.path.rstrip("/")
    url = endpoint if has_path else f"{parts.scheme}://{parts.netloc}{OTLP_PATH}"
    return Target(url=url, headers=dict(headers or {}))


def langfuse_target(host: str, public_key: str, secret_key: str) -> Target:
    """Return a Langfuse project."""
    _split_url(host)
    keys = b64encode(f"{public_key}:{secret_key}".encode()).decode()
    return Target(
        url=host.rstrip("/") + LANGFUSE_PATH,
        headers={"Authorization": f"Basic {keys}"},
        convention="langfuse",
    )


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port  # raises for an invalid port
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigError(
            f"'{url}' is not an address to send traces to", "for example http://localhost:4318"
        )
    if parts.username or parts.password:
        raise ConfigError(
            f"the address of '{parts.hostname}' contains a user name or a password",
            "put them in `otlp_headers`: addresses are shown, headers are not",
        )
    return parts


def parse_headers(text: str) -> dict[str, str]:
    """Return the headers of a list such as `api-key=abc,x-team=blue`."""
    headers: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, sign, value = part.partition("=")
        if not (sign and name.strip()):
            raise ConfigError(
                "`otlp_headers` is not a list of headers", "for example name=value,name=value"
            )
        headers[name.strip()] = value.strip()
    return headers


# The spool

BATCH_SUFFIX = ".batch"
BATCH_NAME = re.compile(r"[0-9][0-9a-z-]*\.[0-9]+\.batch")
TRIES_FILE = "tries.json"
MAX_SPOOL_BYTES = 256 << 20
MAX_BATCH_SPANS = 512
MAX_BATCH_BYTES = 1_500_000
"""Servers accept a few megabytes at once."""
MAX_INTEGER = 1 << 63
SERIAL = count()


class Batch(Struct, frozen=True):
    """Spans that are sent together."""

    spans: list[Span]
    made: float
    """Seconds since 1970."""
    reason: str = ""
    """Why the target rejected it."""

    @property
    def sessions(self) -> set[str]:
        """The sessions that the spans are of."""
        return {span.session for span in self.spans}


class Tries(Struct, frozen=True):
    """How often the target has failed in a row, and when to try again."""

    count: int = 0
    next: float = 0.0
    """Seconds since 1970."""
    reason: str = ""


class Spool:
    """A folder of batches."""

    def __init__(self, folder: Path, max_bytes: int = MAX_SPOOL_BYTES) -> None:
        self.folder = folder
        self.waiting = folder / "waiting"
        self.refused = folder / "refused"
        self.max_bytes = max_bytes

    def add(self, spans: Iterable[Span]) -> bool:
        """Keep spans until they are sent: all of them, or none if there is no room."""
        parts = list(split_into_batches(spans))
        size = self.size()
        if size and size + sum(len(data) for _, data in parts) > self.max_bytes:
            return False
        for part, data in parts:
            order = f"{time.time_ns():020}-{os.getpid()}-{next(SERIAL):04}"
            replace_file(self.waiting / _make_batch_name(order, part), data)
        return True

    def batches(self) -> Iterator[tuple[Path, Batch]]:
        """Yield what is waiting, the oldest first."""
        return _iter_batches(self.waiting)

    def refused_batches(self) -> Iterator[tuple[Path, Batch]]:
        """Yield rejected batches, oldest first."""
        return _iter_batches(self.refused)

    def size(self) -> int:
        """Return the size of waiting and rejected batches in bytes."""
        total = 0
        for folder in (self.waiting, self.refused):
            for name in _list_names(folder):
                with suppress(FileNotFoundError):
                    total += (folder / name).stat().st_size
        return total

    def count(self) -> int:
        """Return how many spans are waiting."""
        return sum(int(name.split(".")[1]) for name in _list_names(self.waiting))

    def drop(self, path: Path) -> None:
        """Delete a batch that was sent."""
        with suppress(FileNotFoundError):
            path.unlink()

    def split(self, path: Path, batch: Batch) -> None:
        """Replace a batch by two halves, which keep its place in the order."""
        middle = len(batch.spans) // 2
        order = path.name.split(".")[0]
        for mark, half in (("a", batch.spans[:middle]), ("b", batch.spans[middle:])):
            data = msgspec.msgpack.encode(replace(batch, spans=half))
            replace_file(path.with_name(_make_batch_name(order + mark, half)), data)
        self.drop(path)

    def refuse(self, path: Path, batch: Batch, reason: str) -> None:
        """Set a batch aside with the reason; it is not sent again unless somebody asks."""
        data = msgspec.msgpack.encode(replace(batch, reason=reason))
        replace_file(self.refused / path.name, data)
        self.drop(path)

    def read_tries(self) -> Tries:
        """Return how often the target has failed in a row."""
        try:
            return msgspec.json.decode((self.folder / TRIES_FILE).read_bytes(), type=Tries)
        except (OSError, msgspec.MsgspecError):
            return Tries()

    def save_tries(self, tries: Tries) -> None:
        """Save how often the target has failed in a row."""
        if tries != self.read_tries():
            replace_file(self.folder / TRIES_FILE, msgspec.json.encode(tries))

    def retry_refused(self) -> int:
        """Queue all rejected batches again; return how many."""
        names = _list_names(self.refused)
        self.waiting.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in names:
            (self.refused / name).replace(self.waiting / name)
        sync_folder(self.waiting)
        return len(names)


def split_into_batches(spans: Iterable[Span]) -> Iterator[tuple[list[Span], bytes]]:
    """Yield spans in batches that a server accepts, with their bytes."""
    part: list[Span] = []
    size = 0
    for span in map(_make_encodable, spans):
        length = len(msgspec.msgpack.encode(span))
        if part and (len(part) >= MAX_BATCH_SPANS or size + length > MAX_BATCH_BYTES):
            yield part, msgspec.msgpack.encode(Batch(part, time.time()))
            part, size = [], 0
        part.append(span)
        size += length
    if part:
        yield part, msgspec.msgpack.encode(Batch(part, time.time()))


def _make_encodable(span: Span) -> Span:
    """Return a span without what msgpack cannot hold: lone surrogates, huge integers."""

    def fit(value: Any) -> Any:
        match value:
            case str():
                return value.encode("utf-8", "replace").decode()
            case dict():
                return {fit(key): fit(item) for key, item in value.items()}
            case list() | tuple():
                return [fit(item) for item in value]
            case int() if not -MAX_INTEGER <= value < MAX_INTEGER:
                return str(value)
            case _:
                return value

    try:
        msgspec.msgpack.encode(span)
    except (UnicodeEncodeError, OverflowError):
        return msgspec.convert(fit(msgspec.to_builtins(span)), Span)
    return span


def _make_batch_name(order: str, spans: Sequence[Span]) -> str:
    return f"{order}.{len(spans)}{BATCH_SUFFIX}"


def _iter_batches(folder: Path) -> Iterator[tuple[Path, Batch]]:
    for name in _list_names(folder):
        path = folder / name
        try:
            yield path, msgspec.msgpack.decode(path.read_bytes(), type=Batch)
        except FileNotFoundError:  # another process has sent it
            continue
        except (msgspec.MsgspecError, OSError):
            with suppress(OSError):
                path.rename(path.with_suffix(".broken"))


def _list_names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if BATCH_NAME.fullmatch(path.name))
    except FileNotFoundError:
        return []


class SessionStatus(Struct, frozen=True):
    """How far one session has been sent."""

    session: str
    turns: int
    last_line: int
    updated: str
    path: str
    waiting: int
    refused: int
    is_open: bool
    error: str


class SendingStatus(Struct, frozen=True):
    """What was sent and what is waiting."""

    sessions: list[SessionStatus]
    """The one inspected last comes last."""
    waiting: int
    refused: int
    bytes: int
    """The size of waiting and rejected batches on disk."""
    reasons: dict[str, int]
    """Why spans were rejected, and how many."""
    tries: int
    """How often the target has failed in a row."""
    next_try: float | None
    """Seconds since 1970."""
    last_error: str
    aside: list[FailedJob] = []
    """Jobs that could not be done."""


def read_sending_status(folder: Path) -> SendingStatus:
    """Return what was sent and what is waiting."""
    spool = Spool(folder)
    waiting, refused, reasons = Counter[str](), Counter[str](), Counter[str]()
    for _, batch in spool.batches():
        waiting.update(span.session for span in batch.spans)
    for _, batch in spool.refused_batches():
        refused.update(span.session for span in batch.spans)
        reasons[batch.reason] += len(batch.spans)
    states = {session: SessionState() for session in (*waiting, *refused)} | read_states(folder)
    sessions = [
        SessionStatus(
            session=session,
            turns=state.turn_count,
            last_line=state.last_line,
            updated=state.updated,
            path=state.path,
            waiting=waiting[session],
            refused=refused[session],
            is_open=state.is_open,
            error=state.error,
        )
        for session, state in states.items()
    ]
    tries = spool.read_tries()
    return SendingStatus(
        sessions=sorted(sessions, key=lambda status: (status.updated, status.session)),
        waiting=waiting.total(),
        refused=refused.total(),
        bytes=spool.size(),
        reasons=dict(reasons),
        tries=tries.count,
        next_try=tries.next or None,
        last_error=tries.reason,
        aside=list_failed_jobs(folder),
    )


# Requests

ReplyKind: TypeAlias = Literal["sent", "again", "too large", "refused"]
CONNECTION_ERRORS = {
    "ConnectTimeout": "connection timed out",
    "ReadTimeout": "no response in time",
    "TimeoutError": "no response in time",
    "SSLError": "the certificate is not trusted",
    "ProxyError": "the proxy refused the connection",
}
TRANSIENT = frozenset({408, 425, 429})
TOO_LARGE = 413
MAX_REPLY_BYTES = 1 << 16


class SendReply(Struct, frozen=True):
    """The result of a request."""

    kind: ReplyKind
    reason: str = ""
    retry_after: float | None = None
    """Seconds the server asks to wait."""
    rejected: int = 0
    """Spans that the server rejected while it accepted the others."""


class SendFailed(Exception):
    """A request has failed, and the exporter need not try again."""


class Sender:
    """Sends batches to one target."""

    def __init__(self, target: Target) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http import Compression
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        except ModuleNotFoundError as error:
            raise MissingExtra(
                "sending traces needs the OpenTelemetry SDK", "run `pip install 'plait[trace]'`"
            ) from error
        self.target = target
        self.session = _create_session(target)
        self.exporter = OTLPSpanExporter(
            endpoint=target.url,
            headers=dict(target.headers),
            timeout=target.timeout,
            compression=Compression.Gzip,
            session=self.session,
        )
        # Failures are in the replies; the exporter would print them as well.
        logging.getLogger(OTLPSpanExporter.__module__).setLevel(logging.CRITICAL)

    def send(self, spans: Sequence[Span]) -> SendReply:
        """Send spans in one request."""
        self.session.reply = SendReply("refused", "the spans cannot be encoded as a request")
        self.exporter.export(sdk_spans(spans, convention=self.target.convention))
        reply: SendReply = self.session.reply
        return reply

    def close(self) -> None:
        """Close the connection."""
        self.session.close()


def _create_session(target: Target) -> Any:
    """Return an HTTP session that tries once, and keeps the result of the request."""
    import requests

    class SingleTrySession(requests.Session):
        reply = SendReply("again")

        def request(self, *args: Any, **kwargs: Any) -> "Response":
            request = partial(super().request, *args, **{**kwargs, "stream": True})

            def read_response() -> "Response":
                with request() as response:
                    parts = response.iter_content(MAX_REPLY_BYTES)
                    response._content = next(parts, b"")
                    next(parts, None)  # read to its end, so that the connection can be used again
                return response

            try:
                response = _run_with_timeout(target.timeout, read_response)
            except (requests.RequestException, TimeoutError) as error:
                reason = CONNECTION_ERRORS.get(type(error).__name__, "connection failed")
                self.reply = SendReply("again", reason)
                raise SendFailed from error
            self.reply = _classify_response(response)
            if self.reply.kind != "sent":
                raise SendFailed
            return response

    session = SingleTrySession()
    session.trust_env = not target.is_loopback  # loopback needs no proxy
    session.auth = lambda request: request  # or a .netrc would replace the keys
    return session


def _run_with_timeout(seconds: float, function: Callable[[], T]) -> T:
    """Return a result; raise TimeoutError if it takes too long.

    The timeouts of a socket begin anew with each byte, so a slow server would hold up everything.
    A thread that still waits for it ends with the process.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except Exception as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future.result(seconds)


def _classify_response(response: "Response") -> SendReply:
    status = response.status_code
    reason = f"{status} {response.reason or ''}".strip()
    is_protobuf = "protobuf" in response.headers.get("Content-Type", "")
    if 200 <= status < 300:
        rejected = 0
        if is_protobuf:
            from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

            with suppress(Exception):  # whatever the server answers, it has accepted the batch
                answer = service.ExportTraceServiceResponse.FromString(response.content)
                rejected = int(answer.partial_success.rejected_spans)
        return SendReply("sent", rejected=rejected)
    if status == TOO_LARGE:
        return SendReply("too large", reason)
    if status in TRANSIENT or status >= 500:
        return SendReply("again", reason, _parse_retry_after(response.headers.get("Retry-After")))
    line = "" if is_protobuf else response.text.strip().split("\n")[0][:200]
    is_html = line.startswith("<")
    return SendReply("refused", reason if is_html or not line else f"{reason}: {line}".rstrip(": "))


def _parse_retry_after(text: str | None) -> float | None:
    """Return the seconds of a Retry-After header: a number, or a date."""
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


# Sending

FIRST_PAUSE, MAX_PAUSE = 1.0, 300.0
SENDING_LOCK = "sending.lock"
BUSY = "another process is sending"


class DeliveryResult(Struct, frozen=True):
    """How many spans were sent, and how many were not."""

    sent: int = 0
    waiting: int = 0
    """Neither sent nor rejected: the target could not be reached."""
    refused: int = 0
    reason: str = ""
    """The target's last answer, if it did not accept everything."""

    def __add__(self, other: "DeliveryResult") -> "DeliveryResult":
        return DeliveryResult(
            self.sent + other.sent,
            self.waiting + other.waiting,
            self.refused + other.refused,
            other.reason or self.reason,
        )


def deliver(batches: Iterable[list[Span]], target: Target) -> DeliveryResult:
    """Send batches one after the other; once the target fails, the rest is only counted.

    A batch that is too large is sent in halves of halves.
    """
    result = DeliveryResult()
    sender = Sender(target)
    try:
        for spans in (part for batch in batches for part, _ in split_into_batches(batch)):
            if result.waiting:  # the target does not answer
                result += DeliveryResult(waiting=len(spans))
                continue
            done, parts = DeliveryResult(), [spans]
            while parts:
                part = parts.pop()
                reply = sender.send(part)
                if reply.kind == "too large" and len(part) > 1:
                    middle = len(part) // 2
                    parts += [part[middle:], part[:middle]]
                elif reply.kind == "again":
                    # The whole batch waits: spans keep their ids when they are sent twice.
                    done = DeliveryResult(waiting=len(spans), reason=reply.reason)
                    break
                else:
                    done += _count_delivery(reply, len(part))
            result += done
    finally:
        sender.close()
    return result


def _count_delivery(reply: SendReply, count: int) -> DeliveryResult:
    if reply.kind != "sent":
        return DeliveryResult(refused=count, reason=reply.reason)
    reason = f"{reply.rejected} spans rejected" if reply.rejected else ""
    return DeliveryResult(sent=count - reply.rejected, refused=reply.rejected, reason=reason)


def flush(spool: Spool, target: Target, *, wait: float = 0.0) -> DeliveryResult:
    """Send everything that is waiting, until the target fails; one process does so at a time."""
    with lock_file(spool.folder / SENDING_LOCK, wait) as is_ours:
        if not is_ours:
            return DeliveryResult(waiting=spool.count(), reason=BUSY)
        sender = Sender(target)
        result = DeliveryResult()
        try:
            while entry := next(spool.batches(), None):
                path, batch = entry
                reply = sender.send(batch.spans)
                if reply.kind == "again":
                    # The pause doubles with each failure.
                    failures = spool.read_tries().count + 1
                    pause = min(FIRST_PAUSE * 2 ** min(failures - 1, 16), MAX_PAUSE)
                    if reply.retry_after is not None:
                        pause = min(max(reply.retry_after, pause), MAX_PAUSE)
                    spool.save_tries(Tries(failures, time.time() + pause, reply.reason))
                    return result + DeliveryResult(waiting=spool.count(), reason=reply.reason)
                if reply.kind == "too large" and len(batch.spans) > 1:
                    spool.split(path, batch)
                else:
                    if reply.kind == "sent":
                        spool.drop(path)
                    else:
                        spool.refuse(path, batch, reply.reason)
                    result += _count_delivery(reply, len(batch.spans))
                spool.save_tries(Tries())
        finally:
            sender.close()
        return result


MOST_FAILED = 5
"""Failed jobs that are listed."""


def format_sending_status(found: SendingStatus, target: str | None) -> list[str]:
    """Return what is waiting, refused and wrong, a line each, and what to do about it."""
    lines = [f"target: {target or 'none yet, see `plait config`'}"]
    if found.waiting or found.refused:
        held = f"{format_count(found.waiting, 'span')} waiting, {found.refused:,} refused"
        lines.append(f"{held}, {format_bytes(found.bytes)} on disk")
    lines += [f"{entry.session[:8]}: {entry.error}" for entry in found.sessions if entry.error]
    lines += [f"failed: {entry.job}: {entry.reason}" for entry in found.aside[-MOST_FAILED:]]
    for reason, spans in found.reasons.items():
        lines.append(f"refused: {format_count(spans, 'span')}: {reason}")
    if found.last_error:
        when = datetime.fromtimestamp(found.next_try or 0, UTC).astimezone()
        tries = format_count(found.tries, "failed attempt")
        lines.append(
            f"last error: {found.last_error} ({tries}); next attempt {format_second(when)}"
        )
    if found.waiting:
        lines.append("`plait trace flush` tries to send now")
    if found.refused:
        lines.append("`plait trace flush --refused` retries what was refused")
    return lines
