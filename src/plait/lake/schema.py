"""The tables of a lake and their columns, each with a description and how sensitive it is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from msgspec import Struct

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
"""The version of all tables together: a lake with another one has to be built again."""
Profile: TypeAlias = Literal["counts", "redacted", "full"]
"""How much of a session goes into a lake.

    counts    figures only: no text, no paths, no names
    redacted  all tables, made of sessions without secrets, names and paths
    full      all tables, made of sessions as they are
"""
PROFILES: tuple[Profile, ...] = get_args(Profile)
ColumnKind: TypeAlias = Literal["text", "int", "float", "flag", "time", "bytes"]
Sensitivity: TypeAlias = Literal["plain", "id", "listed", "named", "worded"]
"""What a column can reveal, and what the profile `counts` makes of it.

    plain   figures, times, words that Plait itself chooses: stays
    id      ids of Claude Code: stays if it looks like an id, else becomes a pseudonym
    listed  words of Claude Code: stays if everybody knows it, else becomes a pseudonym
    named   names and paths: becomes a pseudonym, unless everybody knows it
    worded  text: removed
"""


class Labels(Struct, frozen=True):
    """Whose sessions these are."""

    source: str
    """The machine or the archive that they come from."""
    person: str = ""
    team: str = ""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: ColumnKind
    description: str
    sensitivity: Sensitivity = "plain"


class Table(NamedTuple):
    """One table of a lake."""

    name: str
    description: str
    columns: tuple[Column, ...]
    is_in_counts: bool = True
    """Whether a lake with the profile `counts` has it."""


COMMON_COLUMNS = (
    Column("build", "int", "the building that the row comes from; `sessions` says which one holds"),
    Column("source", "text", "where the session comes from"),
    Column("session", "text", "its id", "id"),
    Column("project", "text", "the folder that its log lies in, a worktree its own", "named"),
    Column("month", "text", "when it began, as 2026-11; `none` where no line says", "listed"),
)
"""The columns that every table begins with; tables are partitioned by the last one."""


def _table(name: str, description: str, *columns: Column, is_in_counts: bool = True) -> Table:
    return Table(name, description, COMMON_COLUMNS + columns, is_in_counts)


SESSIONS = _table(
    "sessions",
    "one row a session: the only table that says what holds",
    Column("person", "text", "whose it is, as whoever brought it said"),
    Column("team", "text", "the same of a team"),
    Column("title", "text", "what it is called", "worded"),
    Column("directory", "text", "where it was begun", "named"),
    Column("git_branch", "text", "the branch that its directory was on at the end", "named"),
    Column("started", "time", "the first time in its log"),
    Column("ended", "time", "the last time in its log"),
    Column("version", "text", "the last version of the client that wrote it", "listed"),
    Column("log_bytes", "int", "the size of all its log files"),
    Column("log_lines", "int", "the lines of all its log files"),
    Column("agents", "int", "files of agents"),
    Column("dag_lines", "int", "DAG-lines: its trunk, branches and agents"),
    Column("branches", "int", "those that begin at a rewind"),
    Column("has_own", "flag", "whether anything in it stands in no session that began earlier"),
    Column("began", "text", "what decides which of two sessions began first", "listed"),
    Column(
        "family", "text", "the first of the sessions that it shares records with, or itself", "id"
    ),
    Column("fingerprint", "text", "what its files and those of its family were when it was read"),
    Column("profile", "text", "how much of it was taken in"),
    Column("schema", "int", "the version of these tables"),
    Column("plait", "text", "the version of Plait that made them"),
)
LOGS = _table(
    "logs",
    "one row a log file: its account, lines = records + blank + broken",
    Column("file", "text", "its path below the root", "named"),
    Column("kind", "text", "session, agent or journal"),
    Column("agent", "text", "the id of the agent whose it is", "id"),
    Column("log_bytes", "int", "its size"),
    Column("modified", "time", "when it was last written"),
    Column("lines", "int", "its lines"),
    Column("records", "int", "lines that are records"),
    Column("blank", "int", "lines with nothing in them"),
    Column("broken", "int", "lines that are neither"),
    Column("recovered", "int", "what could be read from broken lines"),
)
RECORDS = _table(
    "records",
    "one row a record: the graph",
    Column("file", "text", "the log file that it stands in", "named"),
    Column("line", "int", "its line there, from 1"),
    Column("offset", "int", "where that begins, in bytes"),
    Column("length", "int", "how long it is, in bytes"),
    Column("uuid", "text", "its id; empty where it has none", "id"),
    Column("parent", "text", "the record that it names as its parent", "id"),
    Column("logical_parent", "text", "the one that it goes on from after a compaction", "id"),
    Column("kind", "text", "its type", "listed"),
    Column("subtype", "text", "what kind of that it is", "listed"),
    Column("time", "time", "when it was written"),
    Column("calls", "int", "calls of tools in it"),
    Column("results", "int", "results of tools in it"),
    Column("branch", "text", "the DAG-line that it stands on", "id"),
    Column("branch_kind", "text", "trunk, branch, agent, service or foreign"),
    Column("live", "flag", "whether its DAG-line is the one that goes on"),
    Column("host", "text", "the record that it hangs on, whatever parent it names", "id"),
    Column("edge", "text", "why it hangs there: parent, root, repaired, logical and so on"),
    Column("rung", "text", "the rule that explains the fork which it begins; of several, all"),
    Column("folded", "text", "why it is folded; empty where it stands inline"),
    Column("copies", "int", "how many other lines hold it too"),
    Column("repeated", "flag", "whether it is such another line: not to be counted again"),
    Column("copy_of", "text", "the record that it is a copy of, under another id", "id"),
)
TURNS = _table(
    "turns",
    "one row a turn: a prompt and all that answers it; from responses to words all adds up, and "
    "what several sessions hold is counted once",
    Column("branch", "text", "the DAG-line that it stands on", "id"),
    Column("branch_kind", "text", "trunk, branch, agent and so on"),
    Column("agent_type", "text", "the kind of agent; empty for the person", "named"),
    Column("turn", "int", "its number there"),
    Column("uuid", "text", "of the record that opens it", "id"),
    Column("opener", "text", "prompt, queued, command and so on; empty where nothing opens it"),
    Column("typed", "flag", "whether a person typed it"),
    Column("started", "time", "when it began"),
    Column("working_ms", "float", "how long it was worked on"),
    Column("asking_ms", "float", "how long a person was asked meanwhile"),
    Column("waited_ms", "float", "how long it had been waited for"),
    Column("first_edit_ms", "float", "from its begin to the first file that was changed"),
    Column("interrupted", "flag", "whether it was interrupted"),
    Column("begins", "flag", "whether its DAG-line counts from here on: rewinds, agents"),
    Column("responses", "int", "responses of models, those that say nothing of usage too"),
    Column("prompts", "int", "prompts that a person typed, those in the queue among them"),
    Column("queued", "int", "those in the queue"),
    Column("retracted", "int", "prompts that were taken back"),
    Column("commands", "int", "slash commands"),
    Column("shell_lines", "int", "lines for the shell"),
    Column("interruptions", "int", "interruptions"),
    Column("compactions", "int", "compactions"),
    Column("api_errors", "int", "errors in the place of an answer"),
    Column("api_retries", "int", "requests that were tried again"),
    Column("calls", "int", "calls of tools"),
    Column("failed", "int", "those that failed"),
    Column("rejected", "int", "those that a person rejected"),
    Column("words_typed", "int", "words of prompts"),
    Column("words_said", "int", "words of the model"),
    Column("counts", "flag", "whether it counts: a turn that several sessions hold does once"),
)
RESPONSES = _table(
    "responses",
    "one row a response of a model, counted once over all sessions that hold it",
    Column("key", "int", "what it is known by, as a digest; the same in every session"),
    Column("uuid", "text", "of its line", "id"),
    Column("branch", "text", "the DAG-line that it stands on", "id"),
    Column("turn", "int", "the turn that it answers in"),
    Column("kind", "text", "main, agent, service or workflow"),
    Column("agent", "text", "the id of the agent", "id"),
    Column("agent_type", "text", "the kind of agent; empty for the person", "named"),
    Column("model", "text", "the model that answered", "listed"),
    Column("time", "time", "when its first line was written"),
    Column("input", "int", "tokens neither written to the cache nor read from it"),
    Column("output", "int", "tokens that were written"),
    Column("cache_write_5m", "int", "tokens written to the cache for five minutes"),
    Column("cache_write_1h", "int", "tokens written to the cache for an hour"),
    Column("cache_read", "int", "tokens read from the cache"),
    Column("web_searches", "int", "searches that the provider made"),
    Column("web_fetches", "int", "pages that the provider fetched"),
    Column("tier", "text", "empty for the ordinary one", "listed"),
    Column("speed", "text", "empty for the ordinary one", "listed"),
    Column("geo", "text", "where it had to run; empty for anywhere", "listed"),
    Column("cost_usd", "float", "what it cost; empty where the model has no price"),
    Column("logged_usd", "float", "what the log itself says it cost"),
    Column("abandoned", "flag", "whether it stands on a branch that was left"),
    Column("again", "int", "tokens that were written to the cache though they had been in it"),
    Column("cause", "text", "why; empty where nothing was written again"),
    Column("again_usd", "float", "what that cost"),
    Column("input_usd", "float", "what all cost that the model read"),
)
WASTE = _table(
    "waste",
    "one row a thing that was paid for and need not have been",
    Column("kind", "text", "why: pause, reread, abandoned and so on"),
    Column("key", "int", "the response that paid, as in `responses`"),
    Column("uuid", "text", "of its line", "id"),
    Column("time", "time", "when"),
    Column("entrypoint", "text", "the way that the session was held: cli, SDK, editor", "listed"),
    Column("about", "text", "a file, a command, an agent", "worded"),
    Column("cost_usd", "float", "what it cost"),
    Column("least_usd", "float", "what of that was surely in vain"),
)
TOOL_CALLS = _table(
    "tool_calls",
    "one row a call of a tool",
    Column("branch", "text", "the DAG-line that it stands on", "id"),
    Column("branch_kind", "text", "trunk, branch, agent and so on"),
    Column("agent_type", "text", "the kind of agent; empty for the person", "named"),
    Column("turn", "int", "the turn that it stands in"),
    Column("uuid", "text", "of its record", "id"),
    Column("call", "text", "its id", "id"),
    Column("tool", "text", "its name", "named"),
    Column("time", "time", "when it was called"),
    Column("outcome", "text", "ok, failed, rejected and so on"),
    Column("took_ms", "float", "from the call to its result"),
    Column("result_bytes", "int", "how long its result is"),
    Column("before_rewind", "flag", "whether a rewind leaves the conversation right behind it"),
    Column("counts", "flag", "whether it counts: a call that several sessions hold does once"),
)
FILES = _table(
    "files",
    "one row a file that a call read or changed",
    Column("branch", "text", "the DAG-line that it stands on", "id"),
    Column("turn", "int", "the turn that it stands in"),
    Column("uuid", "text", "of the call's record", "id"),
    Column("path", "text", "the file", "named"),
    Column("action", "text", "read, edited, written and so on"),
    Column("time", "time", "when"),
    Column("outcome", "text", "of the call"),
    Column("added", "int", "lines that came"),
    Column("removed", "int", "lines that went"),
    Column("counts", "flag", "whether it counts: what several sessions hold does once"),
)
FINDINGS = _table(
    "findings",
    "one row a thing that is odd in the logs",
    Column("code", "text", "what kind of thing"),
    Column("sentence", "text", "what it is", "worded"),
    Column("file", "text", "the log file", "named"),
    Column("line", "int", "its line there"),
    Column("uuid", "text", "the record", "id"),
)
TEXT = _table(
    "text",
    "one row a passage: what was said, asked, answered, called and given back",
    Column("branch", "text", "the DAG-line that it stands on", "id"),
    Column("turn", "int", "the turn that it stands in"),
    Column("uuid", "text", "of its record", "id"),
    Column("kind", "text", "prompt, answer, thinking, input, output and so on"),
    Column("state", "text", "active, abandoned, agent, service, recovered"),
    Column("tool", "text", "the tool, of a call", "named"),
    Column("time", "time", "when"),
    Column("text", "text", "its words", "worded"),
    is_in_counts=False,
)
RAW = _table(
    "raw",
    "one row a line of a log file, as it is",
    Column("file", "text", "the log file", "named"),
    Column("line", "int", "its number there, from 1"),
    Column("ended", "flag", "whether a newline ends it"),
    Column("data", "bytes", "its bytes, without the newline", "worded"),
    is_in_counts=False,
)
TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        SESSIONS,
        LOGS,
        RECORDS,
        TURNS,
        RESPONSES,
        WASTE,
        TOOL_CALLS,
        FILES,
        FINDINGS,
        TEXT,
        RAW,
    )
}


def tables_for_profile(profile: Profile) -> tuple[Table, ...]:
    """Return the tables of a lake with a profile."""
    return tuple(table for table in TABLES.values() if table.is_in_counts or profile != "counts")


def arrow_schema(table: str) -> "pa.Schema":
    """Return the columns of a table as an Arrow schema."""
    import pyarrow as pa

    kinds: dict[ColumnKind, pa.DataType] = {
        "text": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", "UTC"),
        "bytes": pa.binary(),
    }
    return pa.schema([(column.name, kinds[column.kind]) for column in TABLES[table].columns])
