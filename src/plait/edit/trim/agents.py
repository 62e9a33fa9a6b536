"""Calls that sent out agents to the lines of these agents within the log, as 1.0 wrote them."""

from collections.abc import Iterator, Mapping, Set

from plait.edit.draft import Draft
from plait.edit.trim.pairs import Pairs, blocks_in
from plait.record import Record
from plait.record.codec import mapping, said


def agents_within(
    draft: Draft, records: Mapping[int, Record], pairs: Pairs, calls: Set[str]
) -> Iterator[int]:
    """Yields the lines of agents that some calls sent out and that lie in the same log.

    They are known by their first prompt, which is that of the call; where another call that
    stays has the same prompt, they stay.
    """
    side = [record for record in draft.records if record.is_sidechain and record.uuid]
    if not side:
        return
    gone = {_prompt(records, pairs, call) for call in calls} - {None}
    kept = {_prompt(records, pairs, call) for call in pairs.calls.keys() - calls}
    parents = {str(record.uuid): record.parent_uuid for record in side}
    roots = {
        record.uuid
        for record in side
        if record.parent_uuid not in parents and record.text.strip() in gone - kept
    }
    for record in side:
        if _root(parents, str(record.uuid)) in roots:
            yield record.line


def _prompt(records: Mapping[int, Record], pairs: Pairs, call: str) -> str | None:
    for place in pairs.calls.get(call, ()):
        block = mapping(blocks_in(records[place.line])[place.block])
        words = said(mapping(block.get("input")), "prompt")
        return words.strip() if words else None
    return None


def _root(parents: Mapping[str, str | None], uuid: str) -> str:
    seen = {uuid}
    while (above := parents.get(uuid)) in parents and above not in seen:
        uuid = str(above)
        seen.add(uuid)
    return uuid
