"""What the client goes on from to the turns that are compressed and those that are not.

┆ U₁ A₁ │ U₂ T₂ R₂ A₂ │ U₃ A₃        the newest kept: U₃ A₃
  ───── band ────────   tail
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.conversation.items import Responses, items_of
from plait.conversation.model import Called, Conversation, Folded, Item, Said, Told, Turn
from plait.conversation.results import paired
from plait.edit.compress.made import is_made_boundary
from plait.edit.compress.model import Band, Segment
from plait.errors import UserError
from plait.graph.client import chain_at
from plait.graph.client.load import is_boundary, load
from plait.graph.client.model import Loaded
from plait.graph.leaf import leaf
from plait.record import Record


def band_of(
    records: Sequence[Record],
    size: int,
    active: Conversation,
    *,
    until: str | None,
    keep_last: int | None,
) -> Band:
    """Returns the turns before one that holds a record, or all but the newest so many."""
    boundary, chain, linked = _sent(records, size)
    places = {record.uuid: place for place, record in enumerate(chain)}
    turns = [turn for turn in active.turns if turn.number and _start(turn) in places]
    kept = _from(active, turns, until) if until else _newest(turns, keep_last or 0)
    edge = places[_start(kept[0])] if kept else len(chain) if turns else 0
    older = [turn for turn in turns if places[_start(turn)] < edge and _is_asked(turn)]
    head, *rest = _segments(chain[:edge], older, active)
    is_head = boundary is None or is_made_boundary(boundary)
    segments = (replace(head, is_head=is_head), *rest)
    return Band(
        boundary, segments, tuple(chain[edge:]), len(kept), linked, _has_past(active, chain)
    )


def _has_past(active: Conversation, chain: Sequence[Record]) -> bool:
    """Tells whether the conversation that goes on begins before what the client sends of it."""
    sent = {record.uuid for record in chain}
    for item in active.items():
        if item.uuid in sent:
            return False
        if item.uuid and isinstance(item, Told | Said | Called):
            return True
    return False


def _sent(
    records: Sequence[Record], size: int
) -> tuple[Record | None, list[Record], dict[str, str]]:
    """Returns the last compaction on the client's chain, the records behind it, their links."""
    loaded, _ = load(records, size)
    end = None if loaded.is_cleared else leaf(loaded)
    if end is None:
        return None, [], {}
    numbers = chain_at(loaded, end)
    chain = [loaded.records[number] for number in numbers]
    place = max((n for n, one in enumerate(chain) if is_boundary(one)), default=-1)
    linked = dict(_linked_anew(loaded, numbers[place + 1 :]))
    return (chain[place] if place >= 0 else None), chain[place + 1 :], linked


def _linked_anew(loaded: Loaded, numbers: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yields the records that the client hangs on another one than they name, and that one."""
    for number in numbers:
        record, above = loaded.records[number], loaded.parents[number]
        parent = loaded.records[above].uuid if above >= 0 else None
        named = record.parent_uuid
        if record.uuid and parent and named in loaded.index and named != parent:
            yield record.uuid, parent


def _start(turn: Turn) -> str | None:
    return turn.opener.uuid if turn.opener else None


def _is_asked(turn: Turn) -> bool:
    """Tells a turn that somebody asked for; a task that reports goes on with the one before."""
    return turn.opener is not None and turn.opener.kind != "notice"


def _newest(turns: list[Turn], count: int) -> list[Turn]:
    return turns[-count:] if count > 0 else []


def _from(active: Conversation, turns: list[Turn], record: str) -> list[Turn]:
    """Returns the turns from the one on that holds a record."""
    meant = next((turn for turn in active.turns if record in set(_uuids(turn.items))), None)
    if meant is None:
        raise UserError(f"'{record}' is not on the line that the session goes on with")
    return [turn for turn in turns if turn.number >= meant.number]


def _segments(
    chain: Sequence[Record], turns: Sequence[Turn], active: Conversation
) -> Iterator[Segment]:
    starts = {_start(turn): turn.number for turn in turns}
    number, found = 0, list[Record]()
    items = _by_record(active, chain)
    for record in chain:
        if record.uuid in starts:
            yield _segment(number, found, items)
            number, found = starts[record.uuid], []
        found.append(record)
    yield _segment(number, found, items)


def _segment(number: int, records: list[Record], items: dict[str, list[Item]]) -> Segment:
    told = (item for record in records for item in items.get(record.uuid or "", ()))
    return Segment(number, tuple(records), tuple(told))


def _by_record(active: Conversation, chain: Sequence[Record]) -> dict[str, list[Item]]:
    """Returns what each record is in the conversation, or would be that the client alone sees."""
    found: dict[str, list[Item]] = {}
    for item in _unfolded(active.items()):
        if item.uuid and not getattr(item, "is_intermediate", False):
            found.setdefault(item.uuid, []).append(item)
    responses = Responses()
    unseen = [one for one in chain if one.uuid not in found]
    told = [item for one in unseen for item in items_of(one, responses)]
    for item in paired(told, lambda _: None, lambda _: True):
        found.setdefault(item.uuid or "", []).append(item)
    return found


def _uuids(items: Sequence[Item]) -> Iterator[str]:
    return (item.uuid for item in _unfolded(iter(items)) if item.uuid)


def _unfolded(items: Iterator[Item]) -> Iterator[Item]:
    waiting = list(items)[::-1]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Folded):
            waiting += item.items[::-1]
        else:
            yield item
