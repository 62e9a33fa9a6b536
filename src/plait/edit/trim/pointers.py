"""A draft that some records went from to one in which nothing points to them."""

from plait.edit.draft import Draft, with_field

MOVED = "what it names has gone: it names the nearest record above that"


def mend_pointers(draft: Draft) -> dict[str, str | None]:
    """Points to the nearest record above instead, and returns which that is for each."""
    stands = _Above(draft)
    for line, record in list(draft.spoken):
        if record.parent_uuid in stands.gone:
            parent = stands.kept(record.parent_uuid)
            draft.rewrite(line, with_field(record, "parentUuid", parent), MOVED)
    return {uuid: stands.kept(uuid) for uuid in stands.gone}


class _Above:
    """What stood above each record that went."""

    def __init__(self, draft: Draft) -> None:
        there = {record.uuid for record in draft.records}
        self.gone: dict[str, str | None] = {}
        for line in draft.lines:
            entry = line.entry
            uuid = getattr(entry, "uuid", None)
            if line.is_gone and uuid and uuid not in there:
                self.gone[uuid] = getattr(entry, "parent_uuid", None)

    def kept(self, uuid: str | None) -> str | None:
        """Returns the nearest record above one that went, itself where it stays."""
        seen: set[str] = set()
        while uuid in self.gone and uuid not in seen:
            seen.add(uuid)
            uuid = self.gone[uuid]
        return None if uuid in self.gone else uuid
