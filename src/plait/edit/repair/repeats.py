"""History that was written again to the one time that it happened."""

from collections import defaultdict
from collections.abc import Hashable

from plait.edit.draft import Draft, DraftLine, made_uuid, with_field, with_pointers
from plait.record import Record
from plait.record.codec import encode

AGAIN = "a record that stands in the file already goes"
RENAMED = "a record whose uuid a later one took has one of its own; the client reads the later one"
COPIED = "history that was appended again under new ids goes"
RELINKED = "what went on from a copy goes on from the original"
VARYING = ("cwd", "gitBranch", "version", "entrypoint", "slug", "userType", "session_id")
"""What a client writes anew when it appends an old record again."""


def repeated_records(draft: Draft) -> None:
    """Lets the lines go that say once more what an earlier one of that uuid says.

    U1 A1 U2 A2 U1 A1 U3<A2      the second U1 and A1 go
    """
    latest: dict[str, tuple[DraftLine, Record]] = {}
    for line, record in list(draft.spoken):
        if record.uuid is None:
            continue
        known = latest.get(record.uuid)
        if known and _told(known[1]) == _told(record):
            draft.drop(line, AGAIN)
            continue
        if known:
            earlier, replaced = known
            data = with_field(replaced, "uuid", made_uuid(replaced.raw))
            draft.rewrite(earlier, data, RENAMED)
        latest[record.uuid] = line, record


def _told(record: Record) -> bytes:
    return encode({key: value for key, value in record.fields.items() if key not in VARYING})


def copied_records(draft: Draft) -> None:
    """Lets a copy of the conversation go that begins with a root and has other uuids.

    U1 ── A1 ── U2 ── A2
    U1'── A1'── U2'── A2'── U3      U3 hangs on A2, the copies go
    """
    original: dict[str, str] = {}
    known: dict[Hashable, list[str]] = defaultdict(list)
    taken: set[tuple[str | None, str]] = set()
    copies: list[DraftLine] = []
    for line, record in draft.spoken:
        if record.uuid is None or not record.timestamp:
            continue
        above = record.parent_uuid
        twins = known[original.get(above or "", above), record.timestamp, _said(record)]
        free = [twin for twin in twins if above is None or (above, twin) not in taken]
        if free and (above is None or above in original):
            original[record.uuid] = free[0]
            taken.add((above, free[0]))
            copies.append(line)
        else:
            twins.append(record.uuid)
    if not copies:
        return
    for line in copies:
        draft.drop(line, COPIED)
    for line, record in list(draft.spoken):
        data = with_pointers(record, original)
        if data != record.raw:
            draft.rewrite(line, data, RELINKED)


SAID = ("type", "subtype", "message", "attachment", "content", "data")
"""What a copy has in common with its original, besides its time."""


def _said(record: Record) -> bytes:
    return encode({key: record.fields[key] for key in SAID if key in record.fields})
