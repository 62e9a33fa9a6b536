"""Sessions to Arrow tables: one pure function, wherever it runs.

It reads the files of what it is given and nothing else, and keeps nothing.
"""

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa

from plait.archive.lake.columns import joined, table_of
from plait.archive.lake.figure_rows import figure_tables
from plait.archive.lake.graph_rows import GraphRows, Lists
from plait.archive.lake.log_rows import log_rows, raw_rows, session_row
from plait.archive.lake.model import Unit
from plait.archive.lake.profiles import counted
from plait.archive.lake.reading import OpenUnit
from plait.conversation.prices import Prices
from plait.lake.schema import tables_in


def tables_of(unit: Unit, prices: Prices) -> dict[str, pa.Table]:
    """Returns all rows of some sessions, by table; their files are read once."""
    read = OpenUnit(unit)
    wanted = {one.name for one in tables_in(unit.profile)}
    figures = figure_tables(read, prices)
    found = graph_tables(read, figures.has_own) | figures.tables
    kept = {name: table for name, table in found.items() if name in wanted}
    return counted(kept, unit.key) if unit.profile == "counts" else kept


def graph_tables(read: OpenUnit, has_own: Sequence[bool]) -> dict[str, pa.Table]:
    """Returns the rows of sessions, of their log files, and of all that stands in those."""
    graph = GraphRows(read)
    made: dict[str, Callable[[int], Lists]] = {
        "sessions": partial(session_row, read, has_own),
        "logs": partial(log_rows, read),
        "records": graph.records,
        "findings": graph.findings,
        "raw": partial(raw_rows, read),
    }
    return {
        name: joined(name, [table_of(name, one, rows(at)) for at, one in enumerate(read.owners)])
        for name, rows in made.items()
    }
