"""Lists of values, one a column, to Arrow tables as the schema has them.

What a log can hold and Arrow cannot is made to fit: a half of a surrogate pair becomes U+FFFD,
a number beyond 64 bits the nearest that there is, a time that no calendar has nothing.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa

from plait.archive.lake.reading import Owner
from plait.lake.schema import WHOSE, schema_of
from plait.record.time import LENGTH, moment

Columns: TypeAlias = Mapping[str, Sequence[Any]]
LARGEST = (1 << 63) - 1

schema = cache(schema_of)


def table_of(name: str, owner: Owner, columns: Columns) -> pa.Table:
    """Returns rows of one session; the columns that every table begins with are added."""
    wanted = schema(name)
    count = len(next(iter(columns.values())))
    if not count:
        return wanted.empty_table()
    whose = [
        pa.repeat(pa.scalar(fitting_text(value) if isinstance(value, str) else value), count)
        for value in owner
    ]
    own = [array_of(columns[one.name], one.type) for one in list(wanted)[len(WHOSE) :]]
    return pa.Table.from_arrays(whose + own, schema=wanted)


def joined(name: str, tables: Sequence[pa.Table]) -> pa.Table:
    """Returns the rows of several sessions."""
    return pa.concat_tables(tables) if tables else schema(name).empty_table()


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Returns a column; times may be given as the log has them."""
    if pa.types.is_timestamp(kind):
        return times_of(values, kind)
    try:
        return pa.array(values, kind)
    except (UnicodeEncodeError, OverflowError, pa.ArrowInvalid):
        return pa.array(list(map(_fitting, values)), kind)


def times_of(stamps: Sequence[str | None], kind: pa.DataType) -> pa.Array:
    """Returns moments; None for what names none."""
    if all(one is None or (len(one) == LENGTH and one[-1] == "Z") for one in stamps):
        try:
            return pa.array(stamps, pa.string()).cast(kind)
        except (pa.ArrowInvalid, UnicodeEncodeError):
            pass
    return pa.array(list(map(moment, stamps)), kind)


def _fitting(value: object) -> object:
    if isinstance(value, str):
        return fitting_text(value)
    if isinstance(value, int):
        return max(-LARGEST - 1, min(LARGEST, value))
    return value


def fitting_text(text: str) -> str:
    """Returns a text that can be written as UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
