"""A chain to the entries that the client keeps, with the reason for each that is not sent."""

from collections.abc import Iterator
from typing import TypeAlias

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
from plait.record import Record
from plait.record.record import content_blocks

Dropped: TypeAlias = dict[int, Reason]

SILENT = frozenset({"text", "thinking", "redacted_thinking"})
GONE = frozenset({"companion_intro"})
"""Kinds of attachments that the client once wrote and now drops."""


def prune(loaded: Loaded, chain: list[int]) -> tuple[list[int], Dropped]:
    """Returns the entries that stay, and those that the client drops from its chain."""
    dropped: Dropped = {}
    for step in (_shapeless, _empty_answers, _unanswered, _empty_answers):
        found = step(loaded.records, chain)
        dropped.update(found)
        chain = [number for number in chain if number not in found]
    return chain, dropped


def _shapeless(records: list[Record], chain: list[int]) -> Dropped:
    found: Dropped = {}
    for number in chain:
        record = records[number]
        if record.type == "attachment":
            kind = record.envelope.attachment.type if record.envelope.attachment else None
            if not kind or kind in GONE:
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
    last = last_response(records, turn)
    spoken = [number for number in turn if records[number].type != "attachment"]
    if spoken and is_result(records[spoken[-1]]):
        return turn
    answered = answered_calls(records, turn)
    if all(call in answered for number in last for call in call_ids(records[number])):
        return []
    # format: once something came between its answers, the client keeps the turn as it is
    answers = turn[: turn.index(last[-1])]
    return turn if any(records[n].type == "user" for n in answers) else last


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


def last_response(records: list[Record], turn: list[int]) -> list[int]:
    """Returns the entries of the last answer of a turn; an API error is none."""
    answers = [number for number in turn if records[number].type == "assistant"]
    if not answers or records[answers[-1]].is_api_error_message:
        return []
    last = records[answers[-1]].message_id
    return [n for n in answers[:-1] if last and records[n].message_id == last] + answers[-1:]


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
    for number, record in enumerate(loaded.records):
        if number in shown or record.uuid is None:
            continue
        if number in dropped:
            reason = dropped[number]
        elif number not in places:
            reason = _why_not_on_chain(loaded, number, record)
        else:
            is_before = places[number] < cut
            reason = Reason.BEFORE_COMPACTION if is_before else _why_not_said(record)
        yield LeftOut(record.uuid, record.line, reason)


def _why_not_on_chain(loaded: Loaded, number: int, record: Record) -> Reason:
    if record.is_sidechain:
        return Reason.SIDECHAIN
    if loaded.is_read[number]:
        return Reason.ABANDONED
    return Reason.BEFORE_COMPACTION if number in loaded.forgotten else Reason.NO_MESSAGE


def _why_not_said(record: Record) -> Reason:
    if record.type == "system":
        return Reason.SYSTEM
    if record.type == "attachment":
        return Reason.NO_RENDERED_TEXT
    return Reason.API_ERROR if record.is_api_error_message else Reason.EMPTY
