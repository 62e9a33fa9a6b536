"""Questions in SQL to rows, over the tables of a lake.

Each table stands under its own name, without the rows that hold no more. What is asked reaches
these tables alone: no file, no address, no setting, and nothing is fetched or changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from weakref import finalize

from plait.errors import MissingExtra, UserError
from plait.lake.model import Profile
from plait.lake.schema import TABLES, Table, tables_in

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from pyarrow.dataset import Dataset

Opened: TypeAlias = "Callable[[str], Dataset | pa.Table]"
"""What opens a table by its name."""
SETTINGS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",  # no file, and no variable of this program, either
    "SET TimeZone = 'UTC'",
    "SET lock_configuration = true",  # the last: nothing is set after it
)
EXAMPLE = '`plait lake sql "SELECT model, sum(cost_usd) FROM responses GROUP BY model"`'
PREFIX = re.compile(r"^[A-Z][\w ]*? Error: ")
NEAR = re.compile(r'^(?:Did you mean|Candidate bindings:) *"?([^"\n,?]+)', re.MULTILINE)
MISSING = re.compile(r"Table with name (\w+) does not exist")
CAPITAL = re.compile(r"^[A-Z](?=[a-z ])")
LOCKED = ("disabled by config", "disabled through config", "configuration has been locked")
OF_ENGINE = ("pg_", "duckdb_", "sqlite_", "pragma_", "stored ", "seen ")
"""What tables begin with that are none of a lake."""
LISTED = "`plait lake tables` lists tables and columns"
WORD = re.compile(r"\w+")
SESSIONS = "sessions"


class Unanswerable(UserError):
    """The engine cannot answer; what it says may quote what the tables hold."""


class Kept(Protocol):
    """A lake, as far as it is asked."""

    @property
    def profile(self) -> Profile:
        """How much of each session it has."""

    def dataset(self, table: str) -> "Dataset | pa.Table":
        """Opens a table."""


class Answer:
    """The rows that a question has, read as they are asked for."""

    def __init__(
        self, reader: "pa.RecordBatchReader", connection: "duckdb.DuckDBPyConnection"
    ) -> None:
        self._reader = reader
        self._connection = connection  # its folder goes with it
        self.schema = _plain_schema(reader.schema)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns, no two alike."""
        return tuple(self.schema.names)

    def batches(self) -> "Iterator[pa.RecordBatch]":
        """Yields the rows in batches, once."""
        import pyarrow as pa

        try:
            for batch in self._reader:
                kept = [_cast(one, to) for one, to in zip(batch.columns, self.schema, strict=True)]
                yield pa.RecordBatch.from_arrays(kept, schema=self.schema)
        except pa.ArrowException as error:
            raise _in_words(error) from error

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yields the rows, once."""
        for some in self.groups():
            yield from some

    def groups(self) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Yields the rows, some at a time, once."""
        for batch in self.batches():
            yield zip(*map(_values_of, batch.columns, self.columns), strict=True)


class Asking:
    """Answers questions about one state of a lake, one after the other, to any thread."""

    def __init__(self, opened: Opened, names: Iterable[str] = tuple(TABLES)) -> None:
        self.opened = opened
        self.names = tuple(names)
        self._lock = Lock()
        self._shown: set[str] = set()

    def ask(self, sql: str, values: Mapping[str, object] | None = None) -> Answer:
        """Returns the whole answer to the last statement; those before it are run, and undone."""
        with self._lock, self._in_words():
            connection = self._connection
            self._show(sql)
            connection.execute("BEGIN")
            try:
                found = self._found(sql, values).to_arrow_table()
            finally:
                connection.execute("ROLLBACK")
        return Answer(found.to_reader(), connection)

    def stream(self, sql: str, values: Mapping[str, object] | None = None) -> Answer:
        """Returns the same as it is worked out: it ends where anything else is asked."""
        with self._lock, self._in_words():
            self._show(sql)
            return Answer(self._found(sql, values).to_arrow_reader(), self._connection)

    def _found(self, sql: str, values: Mapping[str, object] | None) -> "duckdb.DuckDBPyRelation":
        statements = self._connection.extract_statements(sql)
        if not statements:
            raise UserError("nothing is asked", EXAMPLE)
        for one in statements[:-1]:
            self._connection.execute(one)
        found = self._connection.sql(statements[-1], params=dict(values) if values else None)
        if found is None:
            raise UserError("the last statement has no rows", EXAMPLE)
        return found

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        duckdb = _duckdb()
        try:
            yield
        except duckdb.Error as error:
            raise self._lacking(str(error)) or _in_words(error) from error

    def _lacking(self, said: str) -> UserError | None:
        """Returns that a table is not kept here, where it is one that other lakes have."""
        missing = MISSING.search(said)
        if missing is None or missing[1].lower() not in TABLES:
            return None
        return UserError(
            f"this lake has no table '{missing[1].lower()}'",
            f"a lake of counts keeps {', '.join(self.names)}",
        )

    @cached_property
    def _connection(self) -> "duckdb.DuckDBPyConnection":
        """What is asked; it knows `sessions`, which says what holds in tables opened later."""
        place = mkdtemp(prefix="plait-lake-")  # for what memory does not hold
        connection: duckdb.DuckDBPyConnection = _duckdb().connect(
            ":memory:", config={"temp_directory": place}
        )
        finalize(connection, rmtree, place, ignore_errors=True)
        connection.register(stored(SESSIONS), self.opened(SESSIONS))
        self.prepare(connection)
        for setting in SETTINGS:
            connection.execute(setting)
        return connection

    def _show(self, sql: str) -> None:
        """Opens the tables that are named, where they are not yet."""
        connection = self._connection
        for name in self._wanted(sql):
            if name in self._shown:
                continue
            if name != SESSIONS:
                connection.register(stored(name), self.opened(name))
            connection.execute(self.view(TABLES[name]))
            self._shown.add(name)

    def _wanted(self, sql: str) -> tuple[str, ...]:
        """Returns the tables that are named: to open one takes a while; all where none is."""
        words = {word.lower() for word in WORD.findall(sql)}
        return tuple(name for name in self.names if name in words) or self.names

    def prepare(self, connection: "duckdb.DuckDBPyConnection") -> None:
        """Brings what views need besides the tables; here nothing."""

    def view(self, table: Table) -> str:
        """Returns what shows a table without what holds no more."""
        holds = f'WHERE build IN (SELECT build FROM "{stored(SESSIONS)}")'  # noqa: S608  ours
        where = "" if table.name == SESSIONS else holds
        from_all = f'SELECT * FROM "{stored(table.name)}" {where}'  # noqa: S608  ours
        return f'CREATE VIEW "{table.name}" AS {from_all}'


def asking(lake: Kept) -> Asking:
    """Returns what answers questions about a lake as it is now."""
    return Asking(lake.dataset, [table.name for table in tables_in(lake.profile)])


def stored(name: str) -> str:
    """Returns what all rows of a table go by, those that hold no more among them."""
    return f"stored {name}"


def _duckdb() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "to ask a lake needs DuckDB and Arrow", "`pip install 'plait[lake]'`"
        ) from error
    return duckdb


def _plain_schema(schema: "pa.Schema") -> "pa.Schema":
    """Returns a schema in which names are unlike, and sums of whole numbers are such."""
    import pyarrow as pa

    names: dict[str, int] = {}
    fields = []
    for field in schema:
        names[field.name] = names.get(field.name, 0) + 1
        count = names[field.name]
        kind = field.type
        is_whole = pa.types.is_decimal(kind) and kind.scale == 0
        name = field.name if count == 1 else f"{field.name}_{count}"
        fields.append(pa.field(name, pa.int64() if is_whole else kind))
    return pa.schema(fields)


def _cast(column: "pa.Array", to: "pa.Field") -> "pa.Array":
    """Returns a column as it is told; only sums of whole numbers are told otherwise."""
    import pyarrow as pa

    try:
        return column if column.type == to.type else column.cast(to.type)
    except pa.ArrowInvalid as error:
        raise Unanswerable(
            f"a whole number in '{to.name}' has more than 64 bits", "ask for it by `…::DOUBLE`"
        ) from error


def _values_of(column: "pa.Array", name: str) -> list[Any]:
    try:
        found: list[Any] = column.to_pylist()
    except (OverflowError, ValueError) as error:
        raise Unanswerable(
            f"'{name}' holds a time that no calendar has", "ask for it by `…::VARCHAR`"
        ) from error
    return found


def _in_words(error: Exception) -> Unanswerable:
    """Returns what is wrong with a question, without what only the engine understands."""
    said = str(error)
    if any(one in said for one in LOCKED):
        return Unanswerable("a question reaches the tables of the lake alone", EXAMPLE)
    line = CAPITAL.sub(lambda found: found[0].lower(), PREFIX.sub("", said.split("\n", 1)[0]))
    near = NEAR.search(said)
    is_ours = near is not None and not near[1].startswith(OF_ENGINE)
    hint = f"did you mean '{near[1]}'?" if near and is_ours else LISTED
    return Unanswerable(f"that cannot be asked: {line.rstrip('!. ')}", hint)
