"""Tables of sessions to what a profile lets out of them.

    counts    tables as they were read, names by stand-ins, nothing of what was said
    redacted  sessions are read through one redactor; tables are made of that
    full      as it is

A stand-in is a keyed digest: the same name has the same one in all tables and at all times, and
nobody without the key can try which name it is.
"""

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

from plait.archive.lake.known_words import ID, JOINT, KNOWN, UUID
from plait.archive.lake.model import Unit
from plait.lake.schema import TABLES, Bearing, Column, tables_in

if TYPE_CHECKING:
    import pyarrow as pa

    from plait.archive.redaction import Redaction

DIGEST = 8
"""Bytes of a stand-in: of a billion names hardly any two share one."""
LABELS = {"file": "log", "git_branch": "branch", "path": "file", "agent_type": "agent"}
"""What stand-ins are called, where not as their column."""
ALL_UUIDS = rf"^(?:{UUID})?$"


def counted(tables: "Mapping[str, pa.Table]", key: bytes) -> "dict[str, pa.Table]":
    """Returns tables with figures alone: no text, no path, no name.

    Names have stand-ins by the key, words that everybody knows stay, what was said is empty.
    """
    kept = [one.name for one in tables_in("counts") if one.name in tables]
    return {name: _counted(tables[name], TABLES[name].columns, key) for name in kept}


def _counted(table: "pa.Table", columns: tuple[Column, ...], key: bytes) -> "pa.Table":
    for place, column in enumerate(columns):
        change = _CHANGES[column.bearing]
        if change is not None:
            found = change(table.column(column.name), column.name, key)
            table = table.set_column(place, table.schema.field(column.name), found)
    return table


def _emptied(values: "pa.ChunkedArray", name: str, key: bytes) -> "pa.Array":
    import pyarrow as pa

    return pa.nulls(len(values), values.type)


def _known_or_stand_in(values: "pa.ChunkedArray", name: str, key: bytes) -> "pa.ChunkedArray":
    is_known = KNOWN.get(name)
    stand_in = partial(_stand_in, key, LABELS.get(name, name))

    def told(value: str) -> str:
        return value if is_known is not None and is_known(value) else stand_in(value)

    return _mapped(values, told)


def _ids(values: "pa.ChunkedArray", name: str, key: bytes) -> "pa.ChunkedArray":
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(values, ALL_UUIDS)).as_py() is not False:
        return values
    return _mapped(values, partial(counted_id, key))


def counted_id(key: bytes, value: str) -> str:
    """Returns an id as counts have it: what does not look like one has a stand-in.

    Those of DAG-lines have parts, and each is looked at by itself.
    """
    parts = JOINT.split(value)
    own = (one if not one or ID.fullmatch(one) else _stand_in(key, "id", one) for one in parts[::2])
    return "".join(one + joint for one, joint in zip(own, [*parts[1::2], ""], strict=True))


def _mapped(values: "pa.ChunkedArray", told: Callable[[str], str]) -> "pa.ChunkedArray":
    """Returns texts changed, each different one once; what is empty stays so."""
    import pyarrow as pa

    chunks = []
    for chunk in values.dictionary_encode().chunks:
        words = [told(one) if one else one for one in chunk.dictionary.to_pylist()]
        chunks.append(pa.array(words, values.type).take(chunk.indices))
    return pa.chunked_array(chunks, values.type)


def _stand_in(key: bytes, label: str, value: str) -> str:
    text = f"{label}\0{value}".encode("utf-8", "surrogatepass")
    secret = key if len(key) <= blake2b.MAX_KEY_SIZE else blake2b(key).digest()
    return f"{label}-{blake2b(text, digest_size=DIGEST, key=secret).hexdigest()}"


_CHANGES: Mapping[
    Bearing, "Callable[[pa.ChunkedArray, str, bytes], pa.ChunkedArray | pa.Array] | None"
] = {
    "plain": None,
    "id": _ids,
    "listed": _known_or_stand_in,
    "named": _known_or_stand_in,
    "worded": _emptied,
}


def redaction_of(unit: Unit) -> "Redaction | None":
    """Returns what a unit is read through; it knows nothing of it yet."""
    if unit.profile != "redacted":
        return None
    from plait.archive.redaction import Redaction
    from plait.redact import Redactor

    return Redaction(Redactor(unit.rules))
