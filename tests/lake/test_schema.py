"""The schema: columns common to all tables, and tables of the counts profile."""

from plait.lake.schema import COMMON_COLUMNS, TABLES, arrow_schema, tables_for_profile


def test_every_table_has_the_common_columns() -> None:
    for name in TABLES:
        names = arrow_schema(name).names
        assert names[: len(COMMON_COLUMNS)] == [one.name for one in COMMON_COLUMNS]
        assert len(names) == len(set(names))


def test_counts_have_no_text_table() -> None:
    assert {one.name for one in tables_for_profile("full")} - {
        one.name for one in tables_for_profile("counts")
    } == {
        "text",
        "raw",
    }
