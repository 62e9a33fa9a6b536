"""SQL queries: only committed rows are visible and only the tables reachable."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.errors import UserError
from plait.lake.query import QueryResult, open_query_engine
from tests.lake.small import SmallLake

LAKE = SmallLake(
    sessions=[{"session": "a", "person": "ann"}, {"session": "b", "person": "bob"}],
    responses=[
        {"session": "a", "model": "opus", "output": 5, "cost_usd": 1.0},
        {"session": "b", "model": "opus", "output": 7, "cost_usd": 2.0},
        {"session": "b", "build": 9, "model": "opus", "output": 100, "cost_usd": 50.0},
        {"session": "c", "model": "opus", "output": 100, "cost_usd": 50.0},
    ],
)


WHOLE = open_query_engine(LAKE)


def rows(sql: str, lake: SmallLake = LAKE, **values: object) -> list[tuple[object, ...]]:
    asked = WHOLE if lake is LAKE else open_query_engine(lake)
    return list(asked.query(sql, values).rows())


def test_outdated_rows_are_not_visible() -> None:
    """Session b was built anew, c is not there yet: the rows of 9 and of c are nobody's."""
    assert rows("SELECT sum(cost_usd), sum(output), count(*) FROM responses") == [(3.0, 12, 2)]


@settings(max_examples=20)
@given(st.sets(st.integers(1, 6)), st.lists(st.integers(1, 6), max_size=12))
def test_a_row_is_visible_if_its_build_is_in_sessions(held: set[int], built: list[int]) -> None:
    lake = SmallLake(
        sessions=[{"session": "a", "build": one} for one in held],
        turns=[{"session": "a", "build": one} for one in built],
    )
    found = rows("SELECT build FROM turns ORDER BY build", lake)
    assert found == [(one,) for one in sorted(built) if one in held]


def test_only_used_tables_are_opened_sessions_first() -> None:
    lake = SmallLake()
    rows("SELECT count(*) FROM Responses JOIN turns USING (build)", lake)
    assert lake.opened == ["sessions", "turns", "responses"]


def test_all_tables_are_available_if_none_is_named() -> None:
    found = {name for (name,) in rows("SHOW TABLES") if not str(name).startswith("stored ")}
    assert found == set(LAKE.tables)


def test_earlier_statements_run_and_are_undone() -> None:
    asked = open_query_engine(LAKE)
    for _ in (1, 2):
        made = asked.query("CREATE TABLE mine AS SELECT 4 AS n; SELECT n + 1 FROM mine")
        assert list(made.rows()) == [(5,)]


def test_one_engine_serves_many_threads_and_survives_errors() -> None:
    asked = open_query_engine(LAKE)

    def ask(number: int) -> list[tuple[object, ...]]:
        if number % 3 == 0:
            with pytest.raises(UserError):
                asked.query("SELECT nothing FROM responses")
        sql = f"SELECT sum(output) + {number} FROM responses"
        return list(asked.query(sql).rows())

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(12))) == [[(12 + one,)] for one in range(12)]


def test_a_streamed_answer_equals_the_complete_one() -> None:
    sql = "SELECT session, output FROM responses ORDER BY 1"
    assert list(open_query_engine(LAKE).stream(sql).rows()) == rows(sql) == [("a", 5), ("b", 7)]


def test_integer_sums_stay_integers_and_names_are_unique() -> None:
    answer = open_query_engine(LAKE).query("SELECT sum(output) AS n, count(*) AS n FROM responses")
    assert answer.columns == ("n", "n_2")
    assert [str(field.type) for field in answer.schema] == ["int64", "int64"]


def test_parameters_are_bound() -> None:
    assert rows("SELECT sum(output) FROM responses WHERE output > $than", than=5) == [(7,)]


SECRET = "a-secret-word"
REACHING = (
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM glob('{folder}/*')",
    "COPY sessions TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/out.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET temp_directory = '{folder}'",
    "SELECT * FROM LAKE",
    "SELECT * FROM secret_frame",
    "SELECT getenv('HOME')",
)


@pytest.mark.parametrize("sql", REACHING)
def test_a_query_can_only_read_the_tables(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a file nor an address, nor a setting, nor a variable of this program."""
    file = tmp_path / "secret.csv"
    file.write_text(f"word\n{SECRET}\n")
    secret_frame = LAKE.tables["sessions"]
    monkeypatch.setattr("plait.lake.query.secret_frame", secret_frame, raising=False)
    with pytest.raises(UserError) as refused:
        rows(sql.format(file=file, folder=tmp_path))
    assert SECRET not in refused.value.message
    assert [*tmp_path.iterdir()] == [file] and secret_frame.num_rows == 2


def test_the_error_does_not_suggest_reading_files() -> None:
    with pytest.raises(UserError, match="a query can only read the tables of the lake"):
        rows("SELECT * FROM read_csv('/etc/passwd')")


WRONG = {
    "": ("the query is empty", "`plait lake sql"),
    "-- a word": ("the query is empty", "`plait lake sql"),
    "SELEC 1": ('the query failed: syntax error at or near "SELEC"', "`plait lake tables`"),
    "SELECT outputt FROM responses": ("the query failed: ", "did you mean 'output'?"),
    "SELECT * FROM response": ("the query failed: ", "did you mean 'responses'?"),
    "SELECT $n::INT": ("the query failed: values were not provided", "`plait lake tables`"),
    "SELECT 1 LIMIT -1": ("the query failed: LIMIT", "`plait lake tables`"),
    "SELECT * FROM pg_clas": ("the query failed: table with", "`plait lake tables`"),
    "LOAD httpfs": ("a query can only read the tables of the lake", "`plait lake sql"),
    "SELECT sum(9223372036854775807) AS n FROM responses": (
        "a whole number in 'n' has more than 64 bits",
        "cast it with `…::DOUBLE`",
    ),
    "SELECT DATE '99999-01-01' AS far": (
        "'far' has an invalid time",
        "cast it with `…::VARCHAR`",
    ),
}


def test_invalid_queries_are_refused() -> None:
    for sql in WRONG:
        with pytest.raises(UserError) as refused:
            rows(sql)
        message, hint = WRONG[sql]
        assert refused.value.message.startswith(message) and refused.value.hints[0].startswith(hint)
        assert "\n" not in refused.value.message


def test_a_counts_lake_says_that_it_has_no_text() -> None:
    with pytest.raises(UserError, match="this lake has no table 'text'") as refused:
        rows("SELECT * FROM text", SmallLake("counts"))
    assert refused.value.hints[0].startswith("a lake with the profile `counts` has sessions, ")


def test_a_type_named_like_a_table_works() -> None:
    assert rows("SELECT 4::text", SmallLake("counts")) == [("4",)]


def test_large_queries_spill_to_a_folder_that_is_removed() -> None:
    answer: QueryResult | None = open_query_engine(LAKE).stream(
        "SELECT current_setting('temp_directory')"
    )
    assert answer is not None
    ((place,),) = answer.rows()
    assert Path(place).is_dir() and Path(place).stat().st_mode & 0o77 == 0
    del answer
    assert not Path(place).exists()
