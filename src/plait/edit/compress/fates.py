"""Records of a band to what becomes of each: it stays, it goes, or only its words stay."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from plait.edit.compress.made import is_made
from plait.edit.compress.model import Segment
from plait.edit.compress.told import is_asked
from plait.graph.client.load import call_ids, is_result, result_ids
from plait.graph.entries import CHAIN_TYPES
from plait.record import Record

Fate: TypeAlias = Literal["stays", "goes", "words"]
STANDING = frozenset(
    """
    agent_listing_delta auto_mode auto_mode_exit companion_intro date date_change
    deferred_tools_delta deferred_tools_record environment goal_status instructions
    mcp_instructions_delta model nested_memory output_style plan_mode plan_mode_exit
    plan_mode_reentry remote_session_change session_context skill_listing
    """.split()
)
"""Attachments that say how things stand, whatever was said since: instructions, tools, modes."""


def fates_of(segment: Segment) -> list[Fate]:
    """Returns what becomes of each record of a turn."""
    asked = {item.uuid for item in segment.items if is_asked(item)}
    asked |= {one.uuid for one in segment.records[:1] if segment.number}
    return [
        _fate(record, is_asked=record.uuid in asked, is_head=segment.is_head)
        for record in segment.records
    ]


def _fate(record: Record, *, is_asked: bool, is_head: bool) -> Fate:
    if is_result(record):
        return "words" if is_asked else "goes"
    if is_asked or is_made(record):
        return "stays"
    if record.type == "assistant" or record.is_sidechain:
        return "goes"
    head = record.envelope.attachment
    return "stays" if is_head or (head and head.type in STANDING) else "goes"


def beside(records: Sequence[Record], chain: set[str], gone: set[str]) -> set[str]:
    """Returns what goes with records that go though it is not sent: progress, agents, notices.

    A branch that was left stays, if anybody speaks on it; results whose call went do not.
    """
    off = {record.uuid: record for record in records if record.uuid and record.uuid not in chain}
    below = _below(off.values())
    found = {uuid for root in gone for uuid in _idle(root, below, off)}
    lost = _calls(one for one in records if one.uuid in gone) - _calls(off.values())
    found |= {uuid for uuid, one in off.items() if _answers_only(one, lost)}
    return found


def _below(records: Iterable[Record]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for record in records:
        if record.parent_uuid and record.uuid:
            found.setdefault(record.parent_uuid, []).append(record.uuid)
    return found


def _idle(root: str, below: dict[str, list[str]], off: dict[str, Record]) -> Iterator[str]:
    """Yields what hangs on a record, but for the children on whose branch somebody speaks."""
    for child in below.get(root, ()):
        family = [child]
        for one in family:
            family += below.get(one, ())
        if not any(_speaks(off[one]) for one in family):
            yield from family


def _speaks(record: Record) -> bool:
    if record.is_sidechain or record.type not in CHAIN_TYPES:
        return False
    return record.type == "assistant" or (record.type == "user" and not is_result(record))


def _calls(records: Iterable[Record]) -> set[str]:
    return {call for record in records for call in call_ids(record)}


def _answers_only(record: Record, lost: set[str]) -> bool:
    answered = result_ids(record)
    return bool(answered) and lost.issuperset(answered)
