"""The chain to the entries that stay in it, and why the others are in no message."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from plait.graph.client.attachments import is_read
from plait.graph.client.load import (
    block_heads,
    call_ids,
    has_calls,
    is_blank,
    is_boundary,
    is_result,
    is_thinking,
    result_ids,
)
from plait.graph.client.model import LeftOut, Loaded, Reason, Said
from plait.graph.client.wording import OWN_WORDS
from plait.record import Record
from plait.record.record import content_blocks

Dropped: TypeAlias = dict[int, Reason]

SILENT = frozenset({"text", "thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Pruned:
    """What the client keeps of a chain."""

    kept: list[int]
    dropped: Dropped
    open_calls: list[str]
    """Calls of the last response that nothing answers."""


def prune(loaded: Loaded, chain: list[int]) -> Pruned:
    """Returns the entries that stay, and those that the client drops from its chain."""
    records = loaded.records
    dropped: Dropped = {}
    for step in (_shapeless, _empty_answers):
        chain = _without(chain, step(records, chain), dropped)
    calls = _open_calls(records, chain)
    for step in (_unanswered, _empty_answers):
        chain = _without(chain, step(records, chain), dropped)
    return Pruned(chain, dropped, calls)


def _without(chain: list[int], found: Dropped, dropped: Dropped) -> list[int]:
    dropped.update(found)
    return [number for number in chain if number not in found]


def _open_calls(records: list[Record], chain: list[int]) -> list[str]:
    answered = answered_calls(records, chain)
    last = _last_response(records, chain)
    return [call for n in last for call in call_ids(records[n]) if call not in answered]


def _shapeless(records: list[Record], chain: list[int]) -> Dropped:
    found: Dropped = {}
    for number in chain:
        record = records[number]
        if record.type == "attachment":
            if not is_read(record):
                found[number] = Reason.NO_MESSAGE
        elif record.type != "system" and block_heads(record) and not _has_blocks(record):
            found[number] = Reason.EMPTY
    return found


def _has_blocks(record: Record) -> bool:
    if any(head.type and head.type != "text" for head in block_heads(record)):
        return True
    return record.spoken is not None or bool(content_blocks(record))


def _unanswered(records: list[Record], chain: list[int]) -> Dropped:
    under_way = _calls_under_way(records, chain)
    settled = answered_calls(records, chain)
    settled.update(call for number in under_way for call in call_ids(records[number]))
    kept = frozenset(under_way)
    return {
        number: Reason.UNANSWERED
        for number in chain
        if number not in kept
        and has_calls(records[number])
        and settled.isdisjoint(call_ids(records[number]))
    }


def _calls_under_way(records: list[Record], chain: list[int]) -> list[int]:
    turn = last_turn(records, chain)
    spoken = [number for number in turn if records[number].type != "attachment"]
    if spoken and is_result(records[spoken[-1]]):
        return turn
    return _kept_with(records, turn) or _last_response(records, chain)


def _kept_with(records: list[Record], turn: list[int]) -> list[int]:
    """Returns what the client keeps of a turn that a call ends, besides that call's response.

    All of it, where a result follows its last words; in a turn without words an attachment does
    as well.
    """
    places = [place for place, number in enumerate(turn) if _has_words(records[number])]
    rest = turn[places[-1] :] if places else turn
    kinds = ("user",) if places else ("user", "attachment")
    return turn if any(records[number].type in kinds for number in rest) else []


def _has_words(record: Record) -> bool:
    return record.type == "assistant" and any(
        block["type"] == "text" and not is_blank(block) for block in content_blocks(record)
    )


def last_turn(records: list[Record], chain: list[int]) -> list[int]:
    """Returns the answers, results and attachments after the last prompt."""
    found: list[int] = []
    for number in reversed(chain):
        record = records[number]
        if is_boundary(record) or (record.type == "user" and not is_result(record)):
            break
        if record.type != "system":
            found.append(number)
    return found[::-1]


def _last_response(records: list[Record], chain: list[int]) -> list[int]:
    """Returns the response that began last: its entries in the last turn.

    An API error is none.
    """
    joined = (n for n in _one_conversation(records, chain) if records[n].type == "assistant")
    began = dict.fromkeys(records[number].message_id or number for number in joined)
    last = next(reversed(began), None)
    turn = (n for n in last_turn(records, chain) if records[n].type == "assistant")
    found = [number for number in turn if (records[number].message_id or number) == last]
    return [] if found and records[found[-1]].is_api_error_message else found


def _one_conversation(records: list[Record], chain: list[int]) -> list[int]:
    """Returns the end of a chain across which answers of one response are joined.

    It begins with the last prompt that no result stands beside.
    """
    start, has_prompt, has_result = 0, False, False
    for place, number in enumerate(chain):
        record = records[number]
        if record.type == "assistant":
            start = place if has_prompt and not has_result else start
            has_prompt = has_result = False
        elif record.type == "user":
            has_result = has_result or is_result(record)
            has_prompt = has_prompt or not is_result(record)
    return chain[start:]


def answered_calls(records: list[Record], chain: list[int]) -> set[str]:
    """Returns the calls that the results of a chain answer."""
    return {call for number in chain for call in result_ids(records[number])}


def _empty_answers(records: list[Record], chain: list[int]) -> Dropped:
    spoken = {
        record.message_id
        for record in map(records.__getitem__, chain)
        if record.type == "assistant" and _says_something(record)
    }
    found: Dropped = {}
    for number in chain:
        record = records[number]
        if record.type != "assistant" or (record.message_id and record.message_id in spoken):
            continue
        blocks = content_blocks(record)
        if blocks and not _says_something(record):
            thinks = any(is_thinking(block) for block in blocks)
            found[number] = Reason.THINKING_ONLY if thinks else Reason.EMPTY
    return found


def _says_something(record: Record) -> bool:
    if any(head.type and head.type not in SILENT for head in block_heads(record)):
        return True
    if record.spoken:
        return bool(record.spoken.message.text.strip())
    return any(not is_blank(block) and not is_thinking(block) for block in content_blocks(record))


def reasons(
    loaded: Loaded, chain: list[int], dropped: Dropped, said: list[Said]
) -> Iterator[LeftOut]:
    """Yields every entry that no message shows, in file order."""
    shown = {one.number for one in said if not one.is_error and one.blocks}
    places = {number: place for place, number in enumerate(chain)}
    cuts = [places[number] for number in chain if is_boundary(loaded.records[number])]
    cut = cuts[-1] if cuts else -1
    start = _first_since_compaction(loaded, chain)
    for number, record in enumerate(loaded.records):
        if number in shown or record.uuid is None:
            continue
        if number in dropped:
            reason = dropped[number]
        elif number not in places:
            reason = _why_not_on_chain(loaded, number, record, start)
        else:
            is_before = places[number] < cut
            reason = Reason.BEFORE_COMPACTION if is_before else _why_not_said(record)
        yield LeftOut(record.uuid, record.line, reason)


def _first_since_compaction(loaded: Loaded, chain: list[int]) -> int:
    """Returns the boundary that the chain begins with or behind, 0 where it does with none."""
    before = [number for number in loaded.lines if chain and number <= chain[0]]
    nearest = [number for number in before[-2:] if is_boundary(loaded.records[number])]
    return nearest[-1] if nearest else 0


def _why_not_on_chain(loaded: Loaded, number: int, record: Record, start: int) -> Reason:
    if record.is_sidechain:
        return Reason.SIDECHAIN
    if loaded.is_read[number]:
        return Reason.BEFORE_COMPACTION if number < start else Reason.ABANDONED
    return Reason.BEFORE_COMPACTION if number in loaded.forgotten else Reason.NO_MESSAGE


def _why_not_said(record: Record) -> Reason:
    if record.type == "system":
        return Reason.SYSTEM
    if record.type == "attachment":
        kind = record.envelope.attachment.type if record.envelope.attachment else None
        return Reason.OWN_WORDS if kind in OWN_WORDS else Reason.NO_RENDERED_TEXT
    return Reason.API_ERROR if record.is_api_error_message else Reason.EMPTY
