"""Generate docs/lake-schema.md from the schema.

python -m tools.lake_schema        write the page anew
"""

from collections.abc import Iterator

from plait.lake.schema import COMMON_COLUMNS, TABLES, VERSION, Column, Table, arrow_schema
from tools.shown import ROOT

PAGE = ROOT / "docs" / "lake-schema.md"
INTRODUCTION = f"""# The tables of a lake

Version {VERSION}. Each table is a Delta table in a folder of its name, partitioned by `month`,
and its files are plain Parquet. `sessions` has the version in its column `schema`; a lake with
another one is built anew.

A row holds only where its `build` is that of its session in `sessions`: a session that is built
again changes in all tables at once, and rows of older buildings lie there until they are tidied
away. The views that questions are asked of leave them out; whoever reads the files by other means
must do so, too: `WHERE build IN (SELECT build FROM sessions)`.

What is not there is NULL: a record without a uuid, a time that no line names, a cost without a
price. Times are UTC. Where a text of the log holds half of a surrogate pair, U+FFFD stands for
it. Files are named by their paths below the root that was read.

The last column says what a lake of `counts` has of it: *as it is*; *ids*, with stand-ins for what
does not look like one; *known words*, with stand-ins for what is on no list of the client's words
or of the public models; *a stand-in*, the same for the same name everywhere, but for tools and
agents of the client; *nothing*. Lakes that are `redacted` or `full` have all tables and all
columns.
"""
SHOWN = {
    "plain": "as it is",
    "id": "ids",
    "listed": "known words",
    "named": "a stand-in",
    "worded": "nothing",
}


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION, *_overview(), *_section("Every table begins with", "", COMMON_COLUMNS)]
    for table in TABLES.values():
        parts += _section(f"`{table.name}`", _said_of(table), table.columns[len(COMMON_COLUMNS) :])
    return "\n".join(parts)


def _overview() -> Iterator[str]:
    yield "| table | what a row is |\n|---|---|"
    for table in TABLES.values():
        yield f"| [`{table.name}`](#{table.name}) | {table.description} |"
    yield ""


def _said_of(table: Table) -> str:
    absent = "" if table.is_in_counts else " A lake of `counts` does not have it."
    return f"{table.description[0].upper()}{table.description[1:]}.{absent}\n"


def _section(title: str, said: str, columns: tuple[Column, ...]) -> Iterator[str]:
    yield f"## {title}\n"
    if said:
        yield said
    yield "| column | type | what it says | in `counts` |\n|---|---|---|---|"
    for column in columns:
        says = column.description.replace("|", "\\|")
        yield f"| `{column.name}` | {TYPES[column.kind]} | {says} | {SHOWN[column.sensitivity]} |"
    yield ""


TYPES = {
    one.kind: str(kind)
    for table in TABLES.values()
    for one, kind in zip(table.columns, arrow_schema(table.name).types, strict=True)
}

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
