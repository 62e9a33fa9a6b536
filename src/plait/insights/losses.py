"""Avoidable spending in one log file, request by request, in tokens.

The tokens of a tool result follow from usage: between a request and the one it continues the
characters are known, and so is the growth of the input. The median ratio of a file is its factor.
Prices come later (`plait.insights.waste`): an index stores losses, which do not depend on prices.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Raw, Struct

from plait.conversation.tools import get_tool
from plait.index.catalogue import from_bytes, to_bytes
from plait.insights.cache_misses import (
    FileRequests,
    MainFileLoader,
    PaidRequest,
    Request,
    build_paid_request,
    count_instruction_tokens,
    get_response_key,
    list_requests,
    read_file_requests,
)
from plait.record.billing import MISFITS, NOTHING, SentLine, iter_sent_lines

WasteKind: TypeAlias = Literal[
    "pause",
    "process",
    "model",
    "changed",
    "rewind",
    "unexplained",
    "reread",
    "giant",
    "unused",
    "startup",
    "retry",
    "abandoned",
    "oversized",
]
"""The causes of cache misses after which no less is sent, and:

    reread      a file was read again while it was still in the context
    giant       a large output is sent with every request
    unused      a large output is never named again
    startup     an agent's first request cost more than all its answers
    retry       a failed call was repeated unchanged
    abandoned   answers on a branch that was abandoned
    oversized   a short prompt to an expensive model, answered shortly and without a call
"""
LineRange: TypeAlias = tuple[float | None, float | None]
"""The offset and limit of a read."""

GIANT = 10_000
"""Tokens from which an output counts as giant."""
LARGE = 2_000
"""Tokens from which the use of an output is searched for."""
SMALL = 300
"""Tokens that a small prompt and a small answer stay below."""
MOST_ADDED = 2_000
"""Tokens that may come with a small prompt: reminders, but no file."""
OUTPUT_FACTOR = 5
"""What an output token costs, in input tokens."""

LEAST_CHARACTERS, LEAST_GROWTHS = 400, 3
"""What a file must contain for a factor of its own."""
LOWEST, HIGHEST = 0.15, 0.6
USUAL = 0.29
"""Tokens per character for files without a factor of their own."""

IMAGE = b'"type":"image"'
IMAGE_CHARACTERS = 5440
"""Characters that take about as many tokens as an image."""
FRAME_CHARACTERS = 150
"""Characters for the JSON around a call and its result."""
MOST_SUBJECT = 120


class Loss(Struct, frozen=True, gc=False, array_like=True):
    """Tokens of one request that were avoidable.

    What would have been paid instead is subtracted, so that a figure may be negative.
    """

    kind: WasteKind
    response: str
    """The request that paid, or the first that did."""
    line: int
    model: str | None
    time: float | None
    entrypoint: str | None
    input: float = 0
    output: float = 0
    write_5m: float = 0
    write_1h: float = 0
    read: float = 0
    total_input: int = 0
    """Of the request: long requests have other prices."""
    certain: float = 1.0
    """The share that was definitely wasted."""
    subject: str = ""
    """A file, a command or an agent."""
    uuid: str | None = None
    previous: str | None = None
    """The response that the request continues."""


def _make_loss(kind: WasteKind, request: Request, **figures: Any) -> Loss:
    return Loss(
        kind,
        request.key,
        request.line,
        request.model,
        request.sent_at.timestamp() if request.sent_at else None,
        request.first_line.entrypoint,
        total_input=request.tokens.total_input,
        uuid=request.first_line.uuid,
        previous=request.previous.key if request.previous else None,
        **figures,
    )


class SizedBlock(Struct, frozen=True, gc=False):
    """The fields of a message block that matter for tool calls."""

    type: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    input: Raw = NOTHING
    content: Raw = NOTHING


class _CallInput(Struct, frozen=True, gc=False):
    """The inputs of a call that name its subject."""

    file_path: str | None = None
    notebook_path: str | None = None
    command: str | None = None
    url: str | None = None
    pattern: str | None = None
    description: str | None = None
    offset: float | None = None
    limit: float | None = None


_decode_blocks = msgspec.json.Decoder(list[SizedBlock]).decode
_decode_raw_blocks = msgspec.json.Decoder(list[Raw]).decode
_decode_block = msgspec.json.Decoder(SizedBlock).decode
_decode_call_input = msgspec.json.Decoder(_CallInput).decode


def iter_sized_blocks(content: bytes) -> Iterator[tuple[int, SizedBlock]]:
    """Yield the readable blocks of a message, each with its length in the log."""
    try:
        parts = _decode_raw_blocks(content)
    except MISFITS:
        return
    for part in parts:
        with suppress(*MISFITS):
            yield len(bytes(part)), _decode_block(part)


@dataclass(slots=True)
class CallNote:
    """A tool call, with its result if there is one."""

    id: str
    response: str
    name: str
    line: int
    input: bytes
    """As logged."""
    path: str | None = None
    line_range: LineRange = (None, None)
    subject: str = ""
    characters: int = 0
    """Of its result and the JSON around both."""
    answered: int = 0
    """The line of the result; 0 if there is none."""
    is_error: bool = False
    is_image: bool = False

    @property
    def read_file_name(self) -> bytes | None:
        """The file name that later text about its result would contain; None for other calls."""
        if self.path is None or get_tool(self.name).action != "read":
            return None
        return PurePosixPath(self.path.replace("\\", "/")).name.encode() or None


@dataclass(slots=True)
class CallNotes:
    """The tool calls of a file, collected while its lines go by."""

    calls: dict[str, CallNote] = field(default_factory=dict)
    characters: dict[str, int] = field(default_factory=dict)
    """By response: how many characters it wrote."""
    words: list[tuple[int, bytes]] = field(default_factory=list)
    """Contents of responses, by line."""
    prompts: dict[str, int] = field(default_factory=dict)
    """Characters of each user line."""
    result_lines: set[str] = field(default_factory=set)
    """Lines that hold a tool result."""
    unreadable: set[str] = field(default_factory=set)
    """Responses whose blocks cannot be decoded: they may hold a call."""

    def watch(self, lines: Iterable[tuple[int, SentLine]]) -> Iterator[tuple[int, SentLine]]:
        """Yield the lines unchanged, and collect the calls in them."""
        for number, line in lines:
            if line.message is not None and line.message.content:
                self._add_line(number, line, line.message.content)
            yield number, line

    def _add_line(self, number: int, line: SentLine, content: Raw) -> None:
        key = get_response_key(line, number)
        if line.type == "user" and line.uuid:
            self.prompts[line.uuid] = len(memoryview(content))
        if bytes(memoryview(content)[:1]) != b"[":
            return
        if key is not None:
            text = bytes(content)
            self.characters[key] = self.characters.get(key, 0) + len(text)
            self.words.append((number, text))
        try:
            blocks = _decode_blocks(content)
        except MISFITS:
            self.unreadable.add(key or "")
            return
        for block in blocks:
            if block.type == "tool_use" and key and block.id:
                name, data = block.name or "", bytes(block.input)
                try:
                    given = _decode_call_input(data)
                except MISFITS:
                    given = _CallInput()
                path = given.file_path or given.notebook_path
                words = (
                    path or given.command or given.url or given.pattern or given.description or ""
                )
                call = CallNote(
                    block.id or "",
                    key,
                    name,
                    number,
                    data,
                    path=path,
                    line_range=(given.offset, given.limit),
                    subject=f"{name} {words}".strip()[:MOST_SUBJECT],
                )
                self.calls.setdefault(call.id, call)
            elif block.type == "tool_result" and block.tool_use_id:
                self.result_lines.add(line.uuid or "")
                self._add_result(number, block)

    def _add_result(self, number: int, block: SizedBlock) -> None:
        call = self.calls.get(block.tool_use_id or "")
        if call is None or call.answered:
            return
        content = bytes(block.content)
        call.is_image = IMAGE in content.replace(b" ", b"")[:200]
        call.characters = FRAME_CHARACTERS + (IMAGE_CHARACTERS if call.is_image else len(content))
        call.answered, call.is_error = number, block.is_error is True

    def list_answered(self) -> list[CallNote]:
        """Return the calls that have a result, in order."""
        return [call for call in self.calls.values() if call.answered]

    def is_named_later(self, call: CallNote) -> bool:
        """Return whether a later response mentions the file that a call read."""
        name = call.read_file_name
        return name is None or any(
            number > call.answered and name in words for number, words in reversed(self.words)
        )

    def group_by_response(self) -> Mapping[str, list[CallNote]]:
        """Return the calls by the response that made them."""
        grouped: dict[str, list[CallNote]] = {}
        for call in self.calls.values():
            grouped.setdefault(call.response, []).append(call)
        return grouped


class PaidFile(NamedTuple):
    """The requests of one file, and their avoidable tokens."""

    requests: Collection[PaidRequest]
    losses: list[Loss]


def read_paid_file(
    lines: Iterable[tuple[int, SentLine]],
    *,
    is_agent: bool = False,
    load_main: MainFileLoader = FileRequests,
) -> PaidFile:
    """Read one file, and find its avoidable spending.

    `load_main` returns the session's main file, which background requests continue.
    """
    notes = CallNotes()
    requests = list_requests(notes.watch(lines), load_main)
    paid = {request.key: build_paid_request(request) for request in requests}
    resent = [loss for request in requests if (loss := _find_resent(request, paid[request.key]))]
    results = _ResultCosts(requests, notes)
    wasted_results = list(results.find_wasted())
    resent_tokens = {loss.response: round(-loss.read) for loss in resent}
    losses = [
        *resent,
        *wasted_results,
        *_find_oversized(requests, resent_tokens, notes, results),
        *results.find_retries(),
    ]
    if is_agent and requests:
        # An agent's first request counts if all its answers together cost less
        first = requests[0].tokens
        answered = sum(request.tokens.output for request in requests)
        if first.total_input > OUTPUT_FACTOR * answered:
            losses.append(
                _make_loss(
                    "startup",
                    requests[0],
                    input=first.input,
                    write_5m=first.cache_write_5m,
                    write_1h=first.cache_write_1h,
                    read=first.cache_read,
                    certain=0.0,
                )
            )
    return PaidFile(paid.values(), losses)


def _find_resent(request: Request, paid: PaidRequest) -> Loss | None:
    """Return what was written to the cache again and could have been read."""
    cause = paid.cause
    if cause is None or cause == "compaction" or cause == "edited":
        return None  # less is sent from then on
    again = paid.again
    if request.gap.is_compacted:  # preserved messages would have been written anyway
        again = min(again, max(count_instruction_tokens(request) - request.tokens.cache_read, 0))
    write_5m = min(again, request.tokens.cache_write_5m)
    return _make_loss(
        cause,
        request,
        write_5m=write_5m,
        write_1h=again - write_5m,
        read=-again,
        certain=0.0 if cause == "unexplained" else 1.0,  # what would have avoided it is unknown
    )


def iter_growths(requests: Iterable[Request], notes: CallNotes) -> Iterator[tuple[Request, float]]:
    """Yield the requests that brought in tool results, with the tokens per character of these."""
    calls = notes.group_by_response()
    for request in requests:
        previous = request.previous
        if previous is None or previous.key not in calls or request.model != previous.model:
            continue
        characters = notes.characters.get(previous.key, 0)
        characters += sum(call.characters for call in calls[previous.key])
        growth = request.tokens.total_input - previous.tokens.total_input
        if growth > 0 and characters >= LEAST_CHARACTERS:
            yield request, growth / characters


def estimate_tokens_per_character(growths: Iterable[float]) -> float:
    """Return the median of some ratios, within bounds; the default if there are few."""
    known = list(growths)
    if len(known) < LEAST_GROWTHS:
        return USUAL
    return min(max(median(known), LOWEST), HIGHEST)


class _ResultCosts:
    """The cost of tool results: when they came in, and with every later request.

    Each later request counts as reading them from the cache: if it had to write them again, that is
    a loss of its own.
    """

    def __init__(self, requests: list[Request], notes: CallNotes) -> None:
        self._by_key = {request.key: request for request in requests}
        self._notes = notes
        self._carriers = dict.fromkeys(self._by_key, 0)
        """How many later requests hold the same messages; other branches count for themselves."""
        for request in reversed(requests):
            previous = request.previous
            if previous and previous.successors[-1:] == [request] and not request.gap.is_compacted:
                self._carriers[previous.key] += self._carriers[request.key] + 1
        self.tokens_per_character = estimate_tokens_per_character(
            growth for _, growth in iter_growths(requests, notes)
        )
        self.wasted_tokens: dict[str, float] = {}
        """Tokens of wasted results, by the request that brought them in."""

    def find_wasted(self) -> Iterator[Loss]:
        """Yield results that were giant, unused or already in the context."""
        seen: dict[tuple[str, LineRange], CallNote] = {}
        for call in self._notes.list_answered():
            tokens = call.characters * self.tokens_per_character
            maker = self._by_key.get(call.response)
            successors = maker.successors if maker else ()
            sender = next((request for request in successors if request.line > call.answered), None)
            if sender is None:
                continue
            is_reread = False
            if call.path is not None and not call.is_error:
                if get_tool(call.name).action == "read":
                    is_reread = seen.setdefault((call.path, call.line_range), call) is not call
                else:  # a change: what was read before is outdated
                    for key in [key for key in seen if key[0] == call.path]:
                        del seen[key]
            if is_reread:
                yield self._make_result_loss("reread", call, sender, tokens, tokens)
            elif tokens >= GIANT:
                # it had to be written once
                yield self._make_result_loss("giant", call, sender, tokens, 0.0, certain=0.0)
            elif tokens >= LARGE and not self._notes.is_named_later(call):
                yield self._make_result_loss("unused", call, sender, tokens, tokens, certain=0.5)

    def _make_result_loss(
        self,
        kind: WasteKind,
        call: CallNote,
        sender: Request,
        tokens: float,
        written: float,
        *,
        certain: float = 1.0,
    ) -> Loss:
        self.wasted_tokens[sender.key] = self.wasted_tokens.get(sender.key, 0.0) + tokens
        is_hour = sender.tokens.cache_write_1h > sender.tokens.cache_write_5m
        return _make_loss(
            kind,
            sender,
            write_1h=written if is_hour else 0.0,
            write_5m=0.0 if is_hour else written,
            read=tokens * self._carriers[sender.key],
            certain=certain,
            subject=call.subject,
        )

    def find_retries(self) -> Iterator[Loss]:
        """Yield calls that had failed, were repeated unchanged, and failed again."""
        failed: set[tuple[str, bytes]] = set()
        for call in self._notes.list_answered():
            if not call.is_error:
                continue
            key = call.name, call.input
            maker = self._by_key.get(call.response)
            if key in failed and maker:
                share = len(call.input) / (self._notes.characters.get(call.response) or 1)
                output = maker.tokens.output * min(share, 1.0)
                yield _make_loss("retry", maker, output=output, subject=call.subject)
            failed.add(key)


def _find_oversized(
    requests: Iterable[Request],
    resent: Mapping[str, int],
    notes: CallNotes,
    results: _ResultCosts,
) -> Iterator[Loss]:
    """Yield small questions: short prompts that were answered shortly and without a call.

    Only prices tell whether their model was too expensive for them. Tokens that count as another
    loss are left out: what was written again counts as read, wasted results as not there.
    """
    calling = notes.group_by_response().keys() | notes.unreadable
    wasted = results.wasted_tokens
    carried: dict[str, float] = {}  # tokens of wasted results in the context of each request
    for request in requests:
        previous = request.previous if not request.gap.is_compacted else None
        inherited = carried.get(previous.key, 0.0) if previous else 0.0
        carried[request.key] = inherited + wasted.get(request.key, 0.0)
        if (
            request.key in calling
            or request.key in wasted
            or not _is_short_answer(request)
            or not _has_short_prompt(request, notes, results.tokens_per_character)
        ):
            continue
        tokens, again = request.tokens, resent.get(request.key, 0)
        again_5m = min(again, tokens.cache_write_5m)
        yield _make_loss(
            "oversized",
            request,
            input=tokens.input,
            output=tokens.output,
            write_5m=tokens.cache_write_5m - again_5m,
            write_1h=tokens.cache_write_1h - (again - again_5m),
            read=max(tokens.cache_read + again - inherited, 0),
            certain=0.0,
        )


def _is_short_answer(request: Request) -> bool:
    """Return whether a session's own answer is short, and little had come in before it."""
    line = request.first_line
    if line.is_sidechain or line.agent_id or request.tokens.output >= SMALL:
        return False
    previous = request.previous
    if previous is None or request.gap.is_compacted:
        return True
    known = previous.tokens.total_input + previous.tokens.output
    return request.tokens.total_input - known < MOST_ADDED


def _has_short_prompt(request: Request, notes: CallNotes, tokens_per_character: float) -> bool:
    """Return whether a short prompt led to a request, and no tool result."""
    uuids = request.gap.uuids
    if any(uuid in notes.result_lines for uuid in uuids):
        return False
    characters = sum(notes.prompts.get(uuid, 0) for uuid in uuids)
    return 0 < characters * tokens_per_character < SMALL


SessionLogPaths: TypeAlias = tuple[str, Sequence[tuple[str, bool]]]
"""A session's main file, and all its billed files, each with whether it is an agent's."""


def pack_losses(session: SessionLogPaths) -> bytes:
    """Return the losses of each file of a session in the form that an index stores."""
    main_path, files = session

    @cache
    def load_main() -> FileRequests:
        return read_file_requests(iter_sent_lines(Path(main_path))) if main_path else FileRequests()

    return to_bytes(
        [
            read_paid_file(
                iter_sent_lines(Path(path)),
                is_agent=is_agent,
                load_main=FileRequests if path == main_path else load_main,
            ).losses
            for path, is_agent in files
        ]
    )


def unpack_losses(data: bytes) -> list[list[Loss]]:
    """Return the losses of each file of a session."""
    return from_bytes(data, list[list[Loss]])
