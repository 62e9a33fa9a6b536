"""Requests of a log file, and which of their tokens missed the prompt cache, and why.

The messages before a request are its ancestors. The nearest response among them belongs to the
previous request, which contained all of them: what that one left in the cache could have been read
again instead of being written again.

    prompt ── response A ── result ── response B      B continues A
                        └── prompt ── response C      C too: when B read A's part, it kept it warm

A background request of the client (a summary, a prompt suggestion) has a file of its own and
continues a line of the session's main file.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.usage import (
    NO_TOKENS,
    SYNTHETIC,
    Tokens,
    make_response_key,
    parse_known_time,
    parse_tokens,
    supersedes,
)
from plait.graph.parents import NO_NODE, find_cycles
from plait.record.billing import ASSISTANT, CLEARING, Figures, SentLine, Thinking
from plait.record.time import parse_time

MissCause: TypeAlias = Literal[
    "pause", "process", "model", "changed", "compaction", "rewind", "edited", "unexplained"
]
"""Why tokens were written to the cache although they had been in it.

    pause        the cache entry had expired
    process      resumed or forked: another process sent the request
    model        each model has its own cache
    changed      version, instructions, tools or thinking settings, which precede all messages
    compaction   preserved messages now follow a summary
    rewind       the request continues an earlier point of the session
    edited       the history became shorter without a compaction
    unexplained  nothing in the log explains it
"""
UNNAMED = "line "
"""Prefix of the key of a response that has no id: the number of its line follows."""
HOUR, FIVE_MINUTES = timedelta(hours=1), timedelta(minutes=5)


class TokenParts(Struct, frozen=True, gc=False):
    """Tokens of a request by how they were paid; all but `output` are its input."""

    read: int = 0
    """From the cache."""
    new: int = 0
    """Written to the cache for the first time."""
    again: int = 0
    """Written to the cache although they had been in it."""
    uncached: int = 0
    output: int = 0

    def __add__(self, other: "TokenParts") -> "TokenParts":
        """Return the sums."""
        return TokenParts(
            self.read + other.read,
            self.new + other.new,
            self.again + other.again,
            self.uncached + other.uncached,
            self.output + other.output,
        )


class PaidRequest(Struct, frozen=True, gc=False):
    """A request with its tokens, and why some of them missed the cache."""

    response: str
    """The key of its response."""
    line: int
    uuid: str | None
    model: str | None
    time: datetime | None
    """Time of its first line."""
    sent_at: datetime | None
    tokens: Tokens
    previous: str | None
    """The key of the request that it continues."""
    known: int
    """Tokens in the cache when the previous request was answered."""
    again: int
    """Tokens written again although the cache had held them."""
    cause: MissCause | None
    """None if nothing was written again."""
    gap: timedelta | None
    """Time since the cached prefix was last read."""
    is_cut: bool = False
    """Whether the previous request is not in the log."""

    @property
    def unknown(self) -> int:
        """Tokens written to the cache that may or may not have been in it."""
        return self.tokens.cache_write if self.is_cut else 0

    @property
    def parts(self) -> TokenParts:
        """Its tokens by how they were paid."""
        tokens = self.tokens
        new = tokens.cache_write - self.again
        return TokenParts(tokens.cache_read, new, self.again, tokens.input, tokens.output)


@dataclass(slots=True)
class Request:
    """A request of a file, and what the log contained when it was answered."""

    key: str
    line: int
    first_line: SentLine
    figures: Figures
    process: int
    """How many processes of the client had ended before it."""
    prompt: bytes | None
    """Digest of the instructions and tools last recorded before it."""
    previous: "Request | None" = None
    successors: "list[Request]" = field(default_factory=list)
    """Requests that continue this one, in file order."""
    is_background: bool = False
    """True where the previous request is in the session's main file."""
    gap: "RequestGap" = field(default_factory=lambda: RequestGap())
    tokens: Tokens = NO_TOKENS
    sent_at: datetime | None = None

    @property
    def model(self) -> str | None:
        """The model that answered."""
        return self.first_line.message.model if self.first_line.message else None

    @property
    def cached(self) -> int:
        """Tokens in the cache once it was answered."""
        return self.tokens.cache_read + self.tokens.cache_write


@dataclass(slots=True)
class RequestGap:
    """What the log contains between a request and the one it continues."""

    is_compacted: bool = False
    is_cleared: bool = False
    """The client removed old tool results."""
    is_resumed: bool = False
    """A hook reported that the session was resumed."""
    is_lost: bool = False
    """A parent is not in the file."""
    preserved_after: Request | None = None
    """The request after whose answer a compaction preserved all messages."""
    thinking: Thinking | None = None
    """The thinking settings of the prompt."""
    uuids: list[str] = field(default_factory=list)
    """The lines, nearest first."""


@dataclass(frozen=True, slots=True)
class FileRequests:
    """The lines of a file by uuid, and its requests in the order of their first lines."""

    lines: dict[str, SentLine] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)


MainFileLoader: TypeAlias = Callable[[], FileRequests]
"""Loads the session's main file, for parents that are not in the file at hand."""


def list_paid_requests(
    lines: Iterable[tuple[int, SentLine]], load_main: MainFileLoader = FileRequests
) -> list[PaidRequest]:
    """Return the requests of a file with their cache misses, in the order of their first lines."""
    return [build_paid_request(request) for request in list_requests(lines, load_main)]


def list_requests(
    lines: Iterable[tuple[int, SentLine]], load_main: MainFileLoader = FileRequests
) -> list[Request]:
    """Return the requests of a file in the order of their first lines."""
    return [*read_file_requests(lines, load_main).requests.values()]


def read_file_requests(
    lines: Iterable[tuple[int, SentLine]], load_main: MainFileLoader = FileRequests
) -> FileRequests:
    """Read the lines of a file, and link each request to the one it continues."""
    file = FileRequests()
    requests = file.requests
    process, prompt = 0, None
    for number, line in lines:
        process += line.ends_process
        prompt = line.prompt or prompt
        if line.uuid:
            file.lines.setdefault(line.uuid, line)
        key = get_response_key(line, number)
        if key and line.message and (figures := line.message.usage) is not None:
            request = requests.get(key)
            if request is None:
                requests[key] = Request(key, number, line, figures, process, prompt)
            elif supersedes(figures, request.figures):
                request.figures = figures
    for request in requests.values():
        request.tokens = parse_tokens(request.figures)
        _link_to_previous(request, file, load_main)
    # The earliest request of each cycle is unlinked, so that no request continues itself
    ordered = [*requests.values()]
    numbers = {request.key: number for number, request in enumerate(ordered)}
    parents = [
        numbers[request.previous.key] if request.previous and not request.is_background else NO_NODE
        for request in ordered
    ]
    for cycle in find_cycles(parents):
        first = ordered[min(cycle)]
        if first.previous:
            first.previous.successors.remove(first)
        first.previous = None
    return file


def get_response_key(line: SentLine, number: int = 0) -> str | None:
    """Return the key of the response that a line belongs to, or None for any other line.

    A response without an id is known by the number of its line.
    """
    message = line.message
    if message is None or message.usage is None or message.model == SYNTHETIC:
        return None
    if (line.type or message.role) != ASSISTANT:
        return None
    key = make_response_key(message.id, line.request_id or message.request_id, line.uuid)
    return key or f"{UNNAMED}{number}"


def _link_to_previous(request: Request, file: FileRequests, load_main: MainFileLoader) -> None:
    """Find the request that a request continues, and note what is between them."""
    gap = request.gap
    for line, holder in _iter_ancestors(request.first_line, file, load_main, gap):
        request.sent_at = request.sent_at or parse_time(line.timestamp)
        key = get_response_key(line)
        if key and key != request.key:
            request.previous = holder.requests[key]
            request.is_background = holder is not file
            if not request.is_background:
                request.previous.successors.append(request)
            break
        if line.is_boundary and not gap.preserved_after:
            gap.is_compacted = True
            gap.preserved_after = _find_request_before_preserved(line, holder)
        gap.uuids.append(line.uuid or "")
        gap.is_cleared |= line.subtype == CLEARING
        gap.is_resumed |= line.begins_process
        gap.thinking = gap.thinking or line.thinking_metadata
    request.sent_at = request.sent_at or parse_time(request.first_line.timestamp)


def _find_request_before_preserved(boundary: SentLine, file: FileRequests) -> Request | None:
    """Return the last request before the messages that a compaction preserved."""
    metadata = boundary.compact_metadata
    preserved = (metadata.preserved_messages or metadata.preserved_segment) if metadata else None
    if preserved is None:
        return None
    head = file.lines.get(preserved.head_uuid or next(iter(preserved.uuids or ()), ""))
    if head is None:
        return None
    for line, _ in _iter_ancestors(head, file, FileRequests, RequestGap()):
        if line.is_boundary:
            return None
        if key := get_response_key(line):
            return file.requests[key]
    return None


def _iter_ancestors(
    line: SentLine, file: FileRequests, load_main: MainFileLoader, gap: RequestGap
) -> Iterator[tuple[SentLine, FileRequests]]:
    """Yield the ancestors of a line, nearest first, with the file that holds each."""
    seen: set[str] = set()
    while parent_uuid := line.parent_uuid or line.logical_parent_uuid:
        if parent_uuid in seen:
            return
        seen.add(parent_uuid)
        if parent_uuid not in file.lines:
            file = load_main()
        parent = file.lines.get(parent_uuid)
        if parent is None:
            gap.is_lost = True
            return
        line = parent
        yield line, file


def build_paid_request(request: Request) -> PaidRequest:
    """Return what a request cost in tokens, and which of them the cache had held."""
    tokens, previous = request.tokens, request.previous
    known, gap, cause = 0, None, None
    if previous:
        known = _count_known_tokens(request, previous)
        last_read = find_last_read(request, previous)
        gap = request.sent_at - last_read if request.sent_at and last_read else None
    again = max(min(known - tokens.cache_read, tokens.cache_write), 0)
    if previous and again:
        cause = find_miss_cause(request, previous, gap)
    return PaidRequest(
        response=request.key,
        line=request.line,
        uuid=request.first_line.uuid,
        model=request.model,
        time=parse_known_time(request.first_line.timestamp),
        sent_at=request.sent_at,
        tokens=tokens,
        previous=previous.key if previous else None,
        known=known,
        again=again,
        cause=cause,
        gap=gap,
        is_cut=previous is None and request.gap.is_lost,
    )


def _count_known_tokens(request: Request, previous: Request) -> int:
    """Return how many tokens of a request had been in the cache before."""
    if request.gap.is_compacted:
        instructions = max(request.tokens.cache_read, count_instruction_tokens(request))
        boundary = request.gap.preserved_after
        if boundary is None:
            return instructions
        preserved = previous.cached - boundary.tokens.total_input - boundary.tokens.output
        return instructions + max(preserved, 0)
    # a request without cached tokens says nothing: the one before it does
    while not previous.cached and previous.previous and not previous.gap.is_compacted:
        previous = previous.previous
    return previous.cached


def find_last_read(request: Request, previous: Request) -> datetime | None:
    """Return when the cached prefix was last read: by the previous request or its successors."""
    times = [previous.sent_at]

    def is_earlier(other: Request) -> bool:
        if not request.is_background:
            return other.line < request.line
        return bool(other.sent_at and request.sent_at and other.sent_at < request.sent_at)

    while earlier := list(filter(is_earlier, previous.successors)):
        previous = earlier[-1]
        times.append(previous.sent_at)
    return max((time for time in times if time), default=None)


def find_miss_cause(request: Request, previous: Request, gap: timedelta | None) -> MissCause:
    """Return why tokens were written again: the first cause that alone explains it."""
    tokens, since = request.tokens, request.gap
    if request.model != previous.model:
        return "model"
    if since.is_compacted:
        if tokens.cache_read >= count_instruction_tokens(request):
            return "compaction"
    elif since.is_cleared or tokens.total_input < previous.cached:
        return "edited"
    if gap is not None and gap > _find_lifetime(request, previous):
        return "pause"
    if request.is_background:
        return "unexplained"  # it has tools and settings of its own, which are not logged
    if _has_other_settings(request, previous):
        return "changed"
    if _is_other_process(request, previous):
        return "process"
    if previous.successors[0] is not request:
        return "rewind"
    return "unexplained"


def _has_other_settings(request: Request, previous: Request) -> bool:
    """Tell whether something differs that precedes the messages, or invalidates their cache."""
    line, other = request.first_line, previous.first_line
    thinking, other_thinking = request.gap.thinking, previous.gap.thinking
    return (
        line.version != other.version
        or line.effort != other.effort
        or (request.prompt != previous.prompt and previous.prompt is not None)
        or (thinking is not None and other_thinking is not None and thinking != other_thinking)
        or request.tokens.speed != previous.tokens.speed
    )


def _is_other_process(request: Request, previous: Request) -> bool:
    line, other = request.first_line, previous.first_line
    return (
        request.process != previous.process
        or request.gap.is_resumed
        or line.session_id != other.session_id
        or (line.forked_from is None) != (other.forked_from is None)
        or (line.process != other.process and None not in (line.process, other.process))
        or line.entrypoint != other.entrypoint
    )


def count_instruction_tokens(request: Request) -> int:
    """Return at least how many tokens precede all messages: 0 where no figure tells.

    A first request, and the first after a compaction, can have read nothing but instructions: none
    of their messages had been sent. The same holds for later requests with unchanged settings.
    """
    most, earlier = 0, request.previous
    while earlier is not None:
        is_first = earlier.previous is None or earlier.gap.is_compacted
        if (
            is_first
            and not earlier.gap.is_lost
            and earlier.tokens.cache_write
            and request.model == earlier.model
            and not _has_other_settings(request, earlier)
            and not _is_other_process(request, earlier)
        ):
            most = max(most, earlier.tokens.cache_read)
        earlier = earlier.previous
    return most


def _find_lifetime(request: Request, previous: Request) -> timedelta:
    """Return how long the cache keeps the tokens that a request missed.

    The last write decides: the cache is looked up by its end, not by all that was written before.
    So does the write of the first missing token, if its lifetime was shorter. Tokens that no
    request in the file wrote were written elsewhere, with the lifetime of the first write.
    """
    first_missing, lifetimes = request.tokens.cache_read, []
    writer: Request | None = previous
    while writer is not None:
        tokens = writer.tokens
        if tokens.cache_write and writer.model == request.model:
            # of a write for both lifetimes, the part for an hour comes first
            hour_end = tokens.cache_read + tokens.cache_write_1h
            is_in_hour = first_missing < hour_end or not tokens.cache_write_5m
            lifetimes.append(HOUR if tokens.cache_write_1h and is_in_hour else FIVE_MINUTES)
            if first_missing >= tokens.cache_read:
                break
        writer = writer.previous
    return min(lifetimes[0], lifetimes[-1]) if lifetimes else FIVE_MINUTES
