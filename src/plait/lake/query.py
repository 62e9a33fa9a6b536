"""SQL over the tables of a lake, and the queries of its page.

Each table has its own name and only its current rows. A query can access these tables and nothing
else: no file, no address, no setting; nothing is fetched or changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from weakref import finalize

from plait.errors import MissingExtra, UserError
from plait.lake.schema import TABLES, Profile, Table, tables_for_profile

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from pyarrow.dataset import Dataset

OpenTable: TypeAlias = "Callable[[str], Dataset | pa.Table]"
"""A function that opens a table by its name."""
RowDict: TypeAlias = dict[str, Any]

SESSIONS = "sessions"
SETTINGS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",  # files, and variables of this program
    "SET TimeZone = 'UTC'",
    "SET lock_configuration = true",  # the last one: nothing can be set after it
)
QUERY_EXAMPLE = '`plait lake sql "SELECT model, sum(cost_usd) FROM responses GROUP BY model"`'
INTERNAL_PREFIXES = ("pg_", "duckdb_", "sqlite_", "pragma_", "stored ", "seen ")
"""Beginnings of the names of tables that are not those of the lake."""
# How DuckDB words its errors.
ERROR_PREFIX = re.compile(r"^[A-Z][\w ]*? Error: ")
SUGGESTION = re.compile(r'^(?:Did you mean|Candidate bindings:) *"?([^"\n,?]+)', re.MULTILINE)
MISSING_TABLE = re.compile(r"Table with name (\w+) does not exist")
LOCKED_MESSAGES = ("disabled by config", "disabled through config", "configuration has been locked")


class QueryError(UserError):
    """The engine cannot answer a query; its message may quote what the tables hold."""


class QueryableLake(Protocol):
    """The part of a lake that queries need."""

    @property
    def profile(self) -> Profile:
        """How much of each session the lake has."""

    def dataset(self, table: str) -> "Dataset | pa.Table":
        """Open a table."""


class QueryResult:
    """The rows of a query, computed as they are read."""

    def __init__(
        self, reader: "pa.RecordBatchReader", connection: "duckdb.DuckDBPyConnection"
    ) -> None:
        self._reader = reader
        self._connection = connection  # kept, because its temporary folder goes with it
        schema = reader.schema
        import pyarrow as pa

        counts: dict[str, int] = {}
        fields = []
        for field in schema:
            counts[field.name] = count = counts.get(field.name, 0) + 1
            is_integer = pa.types.is_decimal(field.type) and field.type.scale == 0
            name = field.name if count == 1 else f"{field.name}_{count}"
            fields.append(pa.field(name, pa.int64() if is_integer else field.type))
        self.schema = pa.schema(fields)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; no two are alike."""
        return tuple(self.schema.names)

    def batches(self) -> "Iterator[pa.RecordBatch]":
        """Yield the rows in Arrow batches, once."""
        import pyarrow as pa

        try:
            for batch in self._reader:
                columns = []
                for column, field in zip(batch.columns, self.schema, strict=True):
                    try:
                        columns.append(column.cast(field.type))
                    except pa.ArrowInvalid as error:
                        raise QueryError(
                            f"a whole number in '{field.name}' has more than 64 bits",
                            "cast it with `…::DOUBLE`",
                        ) from error
                yield pa.RecordBatch.from_arrays(columns, schema=self.schema)
        except pa.ArrowException as error:
            raise _explain_error(error) from error

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, once."""
        for batch in self.row_batches():
            yield from batch

    def row_batches(self) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Yield the rows, some at a time, once."""
        for batch in self.batches():
            columns = []
            for column, name in zip(batch.columns, self.columns, strict=True):
                try:
                    columns.append(column.to_pylist())
                except (OverflowError, ValueError) as error:
                    raise QueryError(
                        f"'{name}' has an invalid time", "cast it with `…::VARCHAR`"
                    ) from error
            yield zip(*columns, strict=True)


class QueryEngine:
    """Answers queries about one state of a lake, one at a time, from any thread."""

    def __init__(self, open_table: OpenTable, table_names: Iterable[str] = tuple(TABLES)) -> None:
        self.open_table = open_table
        self.table_names = tuple(table_names)
        self._lock = Lock()
        self._views: set[str] = set()

    def query(self, sql: str, values: Mapping[str, object] | None = None) -> QueryResult:
        """Return the complete result of the last statement; those before it are rolled back."""
        with self._lock, self._explain_errors():
            self._create_views(sql)
            self._connection.execute("BEGIN")
            try:
                rows = self._run(sql, values).to_arrow_table()
            finally:
                self._connection.execute("ROLLBACK")
        return QueryResult(rows.to_reader(), self._connection)

    def stream(self, sql: str, values: Mapping[str, object] | None = None) -> QueryResult:
        """Return the same as it is computed; the next query ends it."""
        with self._lock, self._explain_errors():
            self._create_views(sql)
            return QueryResult(self._run(sql, values).to_arrow_reader(), self._connection)

    def _run(self, sql: str, values: Mapping[str, object] | None) -> "duckdb.DuckDBPyRelation":
        statements = self._connection.extract_statements(sql)
        if not statements:
            raise UserError("the query is empty", QUERY_EXAMPLE)
        for statement in statements[:-1]:
            self._connection.execute(statement)
        relation = self._connection.sql(statements[-1], params=dict(values) if values else None)
        if relation is None:
            raise UserError("the last statement returns no rows", QUERY_EXAMPLE)
        return relation

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        duckdb = _import_duckdb()
        try:
            yield
        except duckdb.Error as error:
            missing = MISSING_TABLE.search(str(error))
            if missing and missing[1].lower() in TABLES:
                raise UserError(
                    f"this lake has no table '{missing[1].lower()}'",
                    f"a lake with the profile `counts` has {', '.join(self.table_names)}",
                ) from error
            raise _explain_error(error) from error

    @cached_property
    def _connection(self) -> "duckdb.DuckDBPyConnection":
        """A database in memory. It loads `sessions` at once, which decides what is current in
        tables that are opened later.
        """
        scratch = mkdtemp(prefix="plait-lake-")  # for what does not fit into memory
        connection: duckdb.DuckDBPyConnection = _import_duckdb().connect(
            ":memory:", config={"temp_directory": scratch}
        )
        finalize(connection, rmtree, scratch, ignore_errors=True)
        connection.register(stored_name(SESSIONS), self.open_table(SESSIONS))
        self.prepare(connection)
        for setting in SETTINGS:
            connection.execute(setting)
        return connection

    def _create_views(self, sql: str) -> None:
        """Open the tables that a query names: opening all of them takes a while."""
        connection = self._connection
        words = {word.lower() for word in re.findall(r"\w+", sql)}
        for name in [name for name in self.table_names if name in words] or self.table_names:
            if name in self._views:
                continue
            if name != SESSIONS:
                connection.register(stored_name(name), self.open_table(name))
            connection.execute(self.view_sql(TABLES[name]))
            self._views.add(name)

    def prepare(self, connection: "duckdb.DuckDBPyConnection") -> None:
        """Create what the views need besides the tables; here nothing."""

    def view_sql(self, table: Table) -> str:
        """Return the statement that creates the view of a table: its current rows."""
        where = ""
        if table.name != SESSIONS:
            where = f'WHERE build IN (SELECT build FROM "{stored_name(SESSIONS)}")'  # noqa: S608
        select = f'SELECT * FROM "{stored_name(table.name)}" {where}'  # noqa: S608  our own names
        return f'CREATE VIEW "{table.name}" AS {select}'


def open_query_engine(lake: QueryableLake) -> QueryEngine:
    """Return an engine for queries about a lake as it is now."""
    return QueryEngine(lake.dataset, [table.name for table in tables_for_profile(lake.profile)])


def stored_name(table: str) -> str:
    """Return the name of a table with all its rows, current or not."""
    return f"stored {table}"


def _import_duckdb() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "queries need DuckDB and Arrow", "`pip install 'plait[lake]'`"
        ) from error
    return duckdb


def _explain_error(error: Exception) -> QueryError:
    """Return what is wrong with a query, without what only makes sense inside the engine."""
    text = str(error)
    if any(message in text for message in LOCKED_MESSAGES):
        return QueryError("a query can only read the tables of the lake", QUERY_EXAMPLE)
    reason = ERROR_PREFIX.sub("", text.split("\n", 1)[0]).rstrip("!. ")
    if re.match(r"[A-Z][a-z ]", reason):  # not an acronym
        reason = reason[0].lower() + reason[1:]
    suggestion = SUGGESTION.search(text)
    if suggestion and not suggestion[1].startswith(INTERNAL_PREFIXES):
        hint = f"did you mean '{suggestion[1]}'?"
    else:
        hint = "`plait lake tables` lists tables and columns"
    return QueryError(f"the query failed: {reason}", hint)


# Queries of the page. They use an engine that shows only what a person may see: nothing here reads
# stored tables. The SQL is built from our own names alone; values are parameters.

SNIPPET_LENGTH, SNIPPET_LEAD = 240, 60
"""Characters of a passage that are shown around the first word, and of these before it."""
MAX_PASSAGE_LENGTH = 20_000
TOKENS = "input + output + cache_write_5m + cache_write_1h + cache_read"
SESSION_COLUMNS = (
    "source, session, person, team, project, directory, git_branch, title, started, ended"
)
FILTER_SQL = """
  ($person IS NULL OR s.person = $person) AND ($project IS NULL OR s.project = $project)
"""
LIST_SQL = f"""
SELECT build, month, {SESSION_COLUMNS}, branches, agents, log_lines, count(*) OVER () AS total
FROM sessions s WHERE {FILTER_SQL}
ORDER BY ended DESC NULLS LAST, session, source LIMIT $limit OFFSET $start
"""  # noqa: S608  our own names
FIGURES_SQL = f"""
WITH spent AS (
  SELECT build, count(*) AS responses, sum({TOKENS}) AS tokens, sum(cost_usd) AS cost_usd,
         count(*) FILTER (cost_usd IS NULL) AS unpriced
  FROM responses WHERE month IN (MONTHS) AND build IN (BUILDS) GROUP BY build
), had AS (
  SELECT build, count(*) FILTER (counts AND typed) AS turns FROM turns
  WHERE month IN (MONTHS) AND build IN (BUILDS) GROUP BY build
)
SELECT coalesce(spent.build, had.build) AS build, coalesce(turns, 0) AS turns,
       coalesce(responses, 0) AS responses, coalesce(tokens, 0) AS tokens,
       cost_usd, coalesce(unpriced, 0) AS unpriced
FROM spent FULL JOIN had ON spent.build = had.build
"""  # noqa: S608  our own names
INTERNAL_COLUMNS = ("build", "month", "total")
NO_FIGURES = {"turns": 0, "responses": 0, "tokens": 0, "cost_usd": None, "unpriced": 0}
PEOPLE_SQL = """
SELECT DISTINCT person, project FROM sessions ORDER BY person, project
"""
SESSION_SQL = f"""
SELECT build, month, {SESSION_COLUMNS}, branches, agents, log_lines, version
FROM sessions s WHERE source = $source AND session = $session
"""  # noqa: S608  our own names
STATES_SQL = """
SELECT state, count(*) AS passages FROM text
WHERE month = $month AND build = $build AND kind != 'title' GROUP BY state ORDER BY passages DESC
"""
PASSAGES_SQL = f"""
SELECT turn, uuid, kind, state, tool, time, length(text) AS length,
       substr(text, 1, {MAX_PASSAGE_LENGTH}) AS text
FROM (SELECT *, row_number() OVER () AS place FROM text WHERE month = $month AND build = $build)
WHERE state = $state AND kind != 'title' AND ($turn IS NULL OR turn >= $turn)
ORDER BY place LIMIT $limit OFFSET $start
"""  # noqa: S608  our own names
TOOLS_SQL = """
SELECT tool, count(*) AS calls, count(*) FILTER (outcome = 'failed') AS failed
FROM tool_calls WHERE month = $month AND build = $build AND counts
GROUP BY tool ORDER BY calls DESC, tool
"""
MODELS_SQL = f"""
SELECT model, count(*) AS responses, sum({TOKENS}) AS tokens, sum(cost_usd) AS cost_usd
FROM responses WHERE month = $month AND build = $build GROUP BY model
ORDER BY cost_usd DESC NULLS LAST, model
"""  # noqa: S608  our own names
SEARCH_SQL = f"""
SELECT s.source AS source, s.session AS session, s.person AS person, s.project AS project,
       s.directory AS directory, s.title AS title, t.turn AS turn, t.uuid AS uuid, t.kind AS kind,
       t.state AS state, t.tool AS tool, t.time AS time,
       substr(t.text, greatest(instr(lower(t.text), $first) - {SNIPPET_LEAD}, 1), {SNIPPET_LENGTH}) AS snippet,
       count(*) OVER () AS total
FROM text t JOIN sessions s ON s.build = t.build
WHERE {FILTER_SQL} AND ($kind IS NULL OR t.kind = $kind) AND WORDS
ORDER BY t.time DESC NULLS LAST, t.uuid, t.kind LIMIT $limit
"""  # noqa: S608  our own names
TOTALS_SQL = f"""
SELECT count(DISTINCT r.build) AS sessions, count(*) AS responses,
       coalesce(sum({TOKENS}), 0) AS tokens, coalesce(sum(r.output), 0) AS output,
       coalesce(sum(r.cost_usd), 0) AS cost_usd, count(*) FILTER (r.cost_usd IS NULL) AS unpriced
FROM responses r JOIN sessions s ON s.build = r.build
WHERE {FILTER_SQL} AND ($since IS NULL OR r.time >= $since)
"""  # noqa: S608  our own names


def list_sessions(
    engine: QueryEngine, *, person: str | None, project: str | None, start: int, limit: int
) -> tuple[int, list[RowDict]]:
    """Return how many sessions there are, and a page of them with their figures."""
    values = {"person": person, "project": project, "start": start, "limit": limit}
    rows = rows_as_dicts(engine.query(LIST_SQL, values))
    total = rows[0]["total"] if rows else 0
    return total, _add_figures(engine, rows)


def list_people_and_projects(engine: QueryEngine) -> tuple[list[str], list[str]]:
    """Return the people and the projects of the visible sessions."""
    rows = list(engine.query(PEOPLE_SQL).rows())
    people = {person for person, _ in rows if person}
    projects = {project for _, project in rows if project}
    return sorted(people), sorted(projects)


def find_session(engine: QueryEngine, source: str, session: str) -> RowDict | None:
    """Return a session with its tools, models and states; None if it is not visible."""
    rows = rows_as_dicts(engine.query(SESSION_SQL, {"source": source, "session": session}))
    if not rows:
        return None
    partition = {"month": rows[0]["month"], "build": rows[0]["build"]}
    (row,) = _add_figures(engine, rows[:1])
    row["tools"] = rows_as_dicts(engine.query(TOOLS_SQL, partition))
    row["models"] = rows_as_dicts(engine.query(MODELS_SQL, partition))
    has_text = "text" in engine.table_names
    row["states"] = rows_as_dicts(engine.query(STATES_SQL, partition)) if has_text else []
    return row


def list_passages(
    engine: QueryEngine,
    source: str,
    session: str,
    state: str,
    *,
    turn: int | None = None,
    start: int = 0,
    limit: int,
) -> list[RowDict]:
    """Return the passages of a session in order, from a turn on; none if its text is hidden."""
    rows = rows_as_dicts(engine.query(SESSION_SQL, {"source": source, "session": session}))
    if not rows or "text" not in engine.table_names:
        return []
    values = {
        "month": rows[0]["month"],
        "build": rows[0]["build"],
        "state": state,
        "turn": turn,
        "start": start,
        "limit": limit,
    }
    return rows_as_dicts(engine.query(PASSAGES_SQL, values))


def search_passages(
    engine: QueryEngine,
    words: Sequence[str],
    *,
    person: str | None = None,
    project: str | None = None,
    kind: str | None = None,
    limit: int,
) -> tuple[int, list[RowDict]]:
    """Return how many passages contain all words, and the newest of them."""
    if not words or "text" not in engine.table_names:
        return 0, []
    word_values = {f"word{number}": word.lower() for number, word in enumerate(words)}
    condition = " AND ".join(f"contains(lower(t.text), ${name})" for name in word_values)
    values = {
        **word_values,
        "first": words[0].lower(),
        "person": person,
        "project": project,
        "kind": kind,
        "limit": limit,
    }
    rows = rows_as_dicts(engine.query(SEARCH_SQL.replace("WORDS", condition), values))
    total = rows[0]["total"] if rows else 0
    return total, [_drop_columns(row, "total") for row in rows]


def sum_usage(
    engine: QueryEngine, *, person: str | None, project: str | None, since: datetime | None
) -> RowDict:
    """Return the totals of the visible sessions."""
    values = {"person": person, "project": project, "since": since}
    (row,) = rows_as_dicts(engine.query(TOTALS_SQL, values))
    return row


def rows_as_dicts(result: QueryResult) -> list[RowDict]:
    """Return rows as dicts by column name."""
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


def _add_figures(engine: QueryEngine, rows: Sequence[RowDict]) -> list[RowDict]:
    """Return sessions with turns, tokens and cost; only the partitions of their months are read."""
    if not rows:
        return []
    builds = {f"build{number}": row["build"] for number, row in enumerate(rows)}
    months = {
        f"month{number}": month for number, month in enumerate(sorted({r["month"] for r in rows}))
    }
    sql = FIGURES_SQL
    for marker, values in (("MONTHS", months), ("BUILDS", builds)):
        sql = sql.replace(marker, ", ".join(f"${name}" for name in values))
    figures = {row["build"]: row for row in rows_as_dicts(engine.query(sql, {**builds, **months}))}
    return [
        _drop_columns({**row, **NO_FIGURES, **figures.get(row["build"], {})}, *INTERNAL_COLUMNS)
        for row in rows
    ]


def _drop_columns(row: RowDict, *names: str) -> RowDict:
    return {name: value for name, value in row.items() if name not in names}
