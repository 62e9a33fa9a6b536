"""Token usage in the index: bills of files, counted responses, abandoned branches.

Most responses are on several log lines that say the same; they are stored as one.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple, replace

from plait.conversation.usage import BilledResponse, make_response_key, supersedes
from plait.index.catalogue import (
    RowChange,
    from_bytes,
    insert_tables,
    load_bill,
    load_by_session,
    save_bills,
    save_meta,
    save_usage_rows,
    to_bytes,
)
from plait.line import LogFile
from plait.record.billing import (
    Bill,
    BilledMessage,
    CacheFigures,
    Figures,
    ToolFigures,
    iter_bills,
    iter_bills_in_blocks,
)
from plait.record.prompts import is_warmup_agent
from plait.sessions.fresh_index import FreshIndex, catalogue_key
from plait.sessions.model import Session
from plait.usage.responses import (
    CountedResponses,
    FileBills,
    Watch,
    count_responses,
    find_abandoned,
    list_abandoned_records,
    list_billed_paths,
)

NO_FIGURES = Figures()


class PackedTools(ToolFigures, frozen=True, gc=False, array_like=True):
    """Uses of the provider's own tools, as stored."""


class PackedCache(CacheFigures, frozen=True, gc=False, array_like=True):
    """Tokens written to the cache, as stored."""


class PackedFigures(Figures, frozen=True, gc=False, array_like=True):
    """The usage of a response, as stored."""

    server_tool_use: PackedTools | None = None
    cache_creation: PackedCache | None = None


class PackedMessage(BilledMessage, frozen=True, gc=False, array_like=True):
    """A message, as stored."""

    usage: PackedFigures | None = None


class PackedBill(Bill, frozen=True, gc=False, array_like=True):
    """A bill, as stored."""

    message: PackedMessage | None = None


class PackedBills(Struct, frozen=True, array_like=True):
    """The usage and cost in one file."""

    lines: list[int]
    """The line numbers."""
    bills: list[PackedBill]
    is_warmup: bool


def pack_bills(path: Path, kind: str, data: bytes | None = None) -> bytes:
    """Return the usage in a file; empty if it is gone.

    Given bytes are used instead of reading it again.
    """
    found = _merge_repeated(
        iter_bills(path) if data is None else iter_bills_in_blocks([(data, len(data))])
    )
    lines = [line for line, _ in found]
    is_errand = kind == "agent" and is_warmup_agent(path)
    packed: list[list[object]] = []
    for _, bill in found:
        row = [*_bill_parts(bill)]
        message = bill.message
        if message is not None:
            row[MESSAGE] = parts = [*_message_parts(message)]
            usage = message.usage
            if usage is not None:
                parts[USAGE] = paid = [*_figures_parts(usage)]
                if usage.server_tool_use is not None:
                    paid[TOOLS] = _tools_parts(usage.server_tool_use)
                if usage.cache_creation is not None:
                    paid[CACHED] = _cached_parts(usage.cache_creation)
        packed.append(row)
    return to_bytes((lines, packed, is_errand))


class SentBills(Struct, frozen=True, array_like=True):
    """The usage in one file in the form workers send: faster to encode and decode, not for
    storage.
    """

    lines: list[int]
    bills: list[Bill]
    is_warmup: bool


def read_bills_in_worker(file: tuple[str, str]) -> bytes:
    """Return the usage in a file, given its path and kind, in a worker."""
    path, kind = Path(file[0]), file[1]
    found = _merge_repeated(iter_bills(path))
    lines, bills = [line for line, _ in found], [bill for _, bill in found]
    return to_bytes(SentBills(lines, bills, kind == "agent" and is_warmup_agent(path)))


def decode_sent_bills(data: bytes) -> SentBills:
    """Return what a worker sent."""
    return from_bytes(data, SentBills)


def unpack_bills(data: bytes) -> PackedBills:
    """Return the stored usage of a file."""
    return from_bytes(data, PackedBills)


_bill_parts = attrgetter(*PackedBill.__struct_fields__)
_message_parts = attrgetter(*PackedMessage.__struct_fields__)
_figures_parts = attrgetter(*PackedFigures.__struct_fields__)
_cached_parts = attrgetter(*PackedCache.__struct_fields__)
_tools_parts = attrgetter(*PackedTools.__struct_fields__)
MESSAGE = PackedBill.__struct_fields__.index("message")
USAGE = PackedMessage.__struct_fields__.index("usage")
TOOLS = PackedFigures.__struct_fields__.index("server_tool_use")
CACHED = PackedFigures.__struct_fields__.index("cache_creation")


def _merge_repeated(found: Iterable[tuple[int, Bill]]) -> list[tuple[int, Bill]]:
    given = list(found)
    first: dict[str, int] = {}
    several: dict[str, list[int]] = {}
    for place, (_, bill) in enumerate(given):
        message = bill.message
        key = message and (message.id or make_response_key(None, bill.request, bill.uuid))
        if not key:
            continue
        known = first.setdefault(key, place)
        if known != place:
            several.setdefault(key, [known]).append(place)
    left_out: set[int] = set()
    for places in several.values():
        merged = _merge_lines([given[place][1] for place in places])
        if merged:
            given[places[0]] = given[places[0]][0], merged
            left_out.update(places[1:])
    if not left_out:
        return given
    return [item for place, item in enumerate(given) if place not in left_out]


def _merge_lines(lines: list[Bill]) -> Bill | None:
    """Return the last line of a response with the time of the first; None if they differ."""
    first, last = lines[0], lines[-1]
    begun, figures = first.timestamp, last.figures or NO_FIGURES
    if not isinstance(begun, str):
        return None
    for bill in lines:
        stamp = bill.timestamp
        if not isinstance(stamp, str) or stamp < begun or len(stamp) != len(begun):
            return None
        if bill is not first and not _has_same_origin(bill, first):
            return None
        if bill is not last and not supersedes(figures, bill.figures or NO_FIGURES):
            return None
    return replace(last, timestamp=begun)


def _has_same_origin(bill: Bill, other: Bill) -> bool:
    """Return whether two lines agree on where a response belongs."""
    message, before = bill.message, other.message
    return (
        bill.session_id == other.session_id
        and bill.type == other.type
        and (bill.forked_from is None) == (other.forked_from is None)
        and (message and message.model) == (before and before.model)
        and (message is not None and message.usage is not None)
        == (before is not None and before.usage is not None)
    )


USAGE_STATE = "usage"
"""The name of the note on how far the rows of usage are up to date."""


def count_indexed_responses(warm: FreshIndex, sessions: Iterable[Session]) -> CountedResponses:
    """Return the responses of some sessions, each counted once."""
    chosen = list(sessions)
    read = IndexedBills(warm)
    found = count_responses(chosen, read=read)
    has_all = len(chosen) == len(warm.library.sessions)
    if has_all and warm.catalogue.meta(USAGE_STATE) != warm.generation:
        changes: list[RowChange] = []
        owners = warm.catalogue.owners()
        files = [owners[catalogue_key(path)] for path in list_billed_paths(chosen)]
        rows: dict[int, list[tuple[Any, ...]]] = {sid: [] for sid in warm.sids.values()}
        for key, response in zip(found.keys, found.responses, strict=True):
            own = rows[files[response.file]]
            own.append(
                (
                    len(own),
                    key if isinstance(key, str) else None,
                    response.uuid,
                    response.model,
                    response.time.isoformat() if response.time else None,
                    response.kind,
                    response.agent,
                    *astuple(response.tokens),
                    response.logged,
                )
            )
        known = load_by_session(warm.catalogue, "billed")
        for sid, several in rows.items():
            mark = blake2b(to_bytes(several), digest_size=8).digest()
            if known.get(sid) != mark:
                changes.append(save_usage_rows(sid, several, mark))
        changes.append(save_meta(USAGE_STATE, warm.generation))
        read.save(*changes)
    else:
        read.save()
    return found


def find_indexed_abandoned(
    warm: FreshIndex, sessions: Iterable[Session], responses: Iterable[BilledResponse], watch: Watch
) -> frozenset[str]:
    """Return the uuids of responses on abandoned branches."""
    read = IndexedBranches(warm)
    found = find_abandoned(sessions, responses, watch, read)
    read.save()
    return found


class IndexedBills:
    """Returns the bills of files; what a file gained since is read and saved."""

    def __init__(self, warm: FreshIndex) -> None:
        self._warm = warm
        self._new: dict[str, bytes] = {}

    def __call__(self, files: Sequence[LogFile]) -> Iterator[FileBills]:
        """Yield the usage in files."""
        for file in files:
            key = catalogue_key(file.path)
            data = self._new.get(key) or load_bill(self._warm.catalogue, key)
            if data is None:
                data = self._new[key] = pack_bills(file.path, file.kind)
            found = unpack_bills(data)
            yield FileBills(zip(found.lines, found.bills, strict=True), found.is_warmup)

    def save(self, *others: RowChange) -> None:
        """Save what was read, and what was computed from it."""
        own = [save_bills(self._new)] if self._new else []
        self._warm.save([*own, *others])


class IndexedBranches:
    """Returns the records on abandoned branches; unknown sessions are read."""

    def __init__(self, warm: FreshIndex) -> None:
        self._warm = warm
        self._known = load_by_session(warm.catalogue, "abandoned")
        self._new: dict[int, bytes] = {}

    def __call__(self, session: Session) -> Iterable[str]:
        """Return the records of a session on lines that are not active."""
        sid = self._warm.session_number(session)
        data = self._known.get(sid)
        if data is not None:
            return from_bytes(data, list[str])
        found = list_abandoned_records(session)
        self._new[sid] = to_bytes(found)
        return found

    def save(self) -> None:
        """Save what was read."""
        self._warm.save([insert_tables({"abandoned": self._new.items()})] if self._new else [])
