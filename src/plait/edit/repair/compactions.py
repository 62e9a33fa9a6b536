"""Compactions that hide more than they tell to such as the client can go on from."""

from plait.edit.draft import Draft, DraftLine, with_field
from plait.graph.client.load import is_boundary
from plait.record import Record
from plait.record.codec import mapping

DOUBLE = "a second compaction of the same history goes: the conversation went on from the first"
KEPT = "what a compaction keeps no longer names records that are gone: it kept nothing else"
FACTLESS = "a compaction says what caused it: without that no later one can be made"


def double_compactions(draft: Draft) -> None:
    """Lets a compaction go that was made once more of what had been compacted already.

    U1 A1 ┆ B1 C1 U2 A2 ┆ B2 C2      B1 and B2 go on from A1: B2 and C2 go
    """
    first: dict[str, str] = {}
    for line, record in list(draft.spoken):
        target = record.logical_parent_uuid
        if not is_boundary(record) or not record.uuid or not target:
            continue
        if target not in first:
            first[target] = record.uuid
            continue
        below = _below(draft, record.uuid)
        is_idle = all(_is_machine(one) for _, one in below)
        if is_idle and _is_continued(draft, first[target]):
            for one, _ in ((line, record), *below):
                draft.drop(one, DOUBLE)


def _below(draft: Draft, root: str) -> list[tuple[DraftLine, Record]]:
    """Returns what hangs on a record, in the order of the file."""
    family = {root}
    found: list[tuple[DraftLine, Record]] = []
    for line, record in draft.spoken:
        if record.parent_uuid in family and record.uuid:
            family.add(record.uuid)
            found.append((line, record))
    return found


def _is_machine(record: Record) -> bool:
    if record.type in ("system", "attachment"):
        return record.subtype != "compact_boundary"
    return record.type == "user" and (record.is_compact_summary or record.is_meta)


def _is_continued(draft: Draft, boundary: str) -> bool:
    return any(not _is_machine(record) for _, record in _below(draft, boundary))


def gone_preserved(draft: Draft) -> None:
    """Takes records off a compaction's list that are not there: one missing, and it keeps none."""
    known = {record.uuid for record in draft.records}
    for line, record in list(draft.spoken):
        facts = mapping(record.fields.get("compactMetadata")) if is_boundary(record) else {}
        listed = mapping(facts.get("preservedMessages")).get("uuids")
        if not isinstance(listed, list) or known.issuperset(map(str, listed)):
            continue
        kept = [uuid for uuid in listed if uuid in known]
        messages = {**facts["preservedMessages"], "uuids": kept}
        if isinstance(all_ := messages.get("allUuids"), list):
            messages["allUuids"] = [uuid for uuid in all_ if uuid in known]
        changed = {**facts, "preservedMessages": messages}
        draft.rewrite(line, with_field(record, "compactMetadata", changed), KEPT)


def factless_boundaries(draft: Draft) -> None:
    """Gives compactions the facts that the client reads of all of them when it makes one."""
    for line, record in list(draft.spoken):
        if is_boundary(record) and not isinstance(record.fields.get("compactMetadata"), dict):
            facts = {"trigger": "auto", "preTokens": 0}
            draft.rewrite(line, with_field(record, "compactMetadata", facts), FACTLESS)
