"""The tables of a lake and their columns, each with a description and how sensitive it is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

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
"""What a column can reveal, and how the profile `counts` treats it.

plain   figures, times, words that Plait itself chooses: stays
id      ids of Claude Code: stays if it looks like an id, else becomes a pseudonym
listed  words of Claude Code: stays if public, else becomes a pseudonym
named   names and paths: becomes a pseudonym unless public
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

    def to_json(self) -> dict[str, Any]:
        """Return the table and its columns as JSON has them."""
        columns = [
            {
                "column": column.name,
                "kind": column.kind,
                "bearing": column.sensitivity,
                "says": column.description,
            }
            for column in self.columns
        ]
        return {
            "table": self.name,
            "says": self.description,
            "is_in_counts": self.is_in_counts,
            "columns": columns,
        }


COMMON_COLUMNS = (
    Column("build", "int", "the build that wrote the row; `sessions` has the current one"),
    Column("source", "text", "the source of the session"),
    Column("session", "text", "the session id", "id"),
    Column("project", "text", "the project folder; worktrees have their own", "named"),
    Column("month", "text", "the month it started, such as 2026-11; `none` if unknown", "listed"),
)
"""The columns that every table begins with; tables are partitioned by the last one."""


def _make_table(name: str, description: str, *columns: Column, is_in_counts: bool = True) -> Table:
    return Table(name, description, COMMON_COLUMNS + columns, is_in_counts)


SESSIONS = _make_table(
    "sessions",
    "one row per session; its `build` marks the current rows of other tables",
    Column("person", "text", "the person, as given to `plait lake build`"),
    Column("team", "text", "the team, as given to `plait lake build`"),
    Column("title", "text", "the title", "worded"),
    Column("directory", "text", "the directory where it started", "named"),
    Column("git_branch", "text", "the Git branch at the end", "named"),
    Column("started", "time", "the earliest time in its log"),
    Column("ended", "time", "the latest time in its log"),
    Column("version", "text", "the last version of Claude Code that wrote it", "listed"),
    Column("log_bytes", "int", "total size of its log files"),
    Column("log_lines", "int", "total lines of its log files"),
    Column("agents", "int", "number of agent logs"),
    Column("dag_lines", "int", "conversations: the main one, branches and agents"),
    Column("branches", "int", "branches that start at a rewind"),
    Column("has_own", "flag", "whether it has records that no earlier session has"),
    Column("began", "text", "sort key: which session started first", "listed"),
    Column("family", "text", "the first session that shares records with it, or itself", "id"),
    Column(
        "fingerprint", "text", "the state of its files and those of its family when it was read"
    ),
    Column("profile", "text", "the profile it was built with"),
    Column("schema", "int", "the version of these tables"),
    Column("plait", "text", "the version of Plait that wrote the tables"),
)
LOGS = _make_table(
    "logs",
    "one row per log file: lines = records + blank + broken",
    Column("file", "text", "path below the root", "named"),
    Column("kind", "text", "session, agent or journal"),
    Column("agent", "text", "the id of the agent", "id"),
    Column("log_bytes", "int", "size in bytes"),
    Column("modified", "time", "when it was last written"),
    Column("lines", "int", "number of lines"),
    Column("records", "int", "lines with a record"),
    Column("blank", "int", "blank lines"),
    Column("broken", "int", "broken lines"),
    Column("recovered", "int", "records recovered from broken lines"),
)
RECORDS = _make_table(
    "records",
    "one row per record: the graph",
    Column("file", "text", "the log file", "named"),
    Column("line", "int", "the line number, from 1"),
    Column("offset", "int", "byte offset of the line"),
    Column("length", "int", "length in bytes"),
    Column("uuid", "text", "the record id; empty if it has none", "id"),
    Column("parent", "text", "the parent named by the record", "id"),
    Column("logical_parent", "text", "the record it continues from after a compaction", "id"),
    Column("kind", "text", "the record type", "listed"),
    Column("subtype", "text", "the subtype", "listed"),
    Column("time", "time", "when it was written"),
    Column("calls", "int", "tool calls in it"),
    Column("results", "int", "tool results in it"),
    Column("branch", "text", "the branch or agent conversation it belongs to", "id"),
    Column("branch_kind", "text", "trunk, branch, agent, service or foreign"),
    Column("live", "flag", "whether its conversation line is active"),
    Column("host", "text", "the record it is attached to in the graph", "id"),
    Column("edge", "text", "why it is attached there: parent, root, repaired, logical and so on"),
    Column("rung", "text", "the rules that explain the fork it starts"),
    Column("folded", "text", "why it is folded; empty if inline"),
    Column("copies", "int", "how many other lines have the same record"),
    Column("repeated", "flag", "whether it is a repeated line, not to be counted again"),
    Column("copy_of", "text", "the original record, if it is a copy with another id", "id"),
)
TURNS = _make_table(
    "turns",
    "one row per turn, a prompt and everything that answers it; the columns from `responses` to "
    "`words_said` can be summed, and a turn in several sessions counts once",
    Column("branch", "text", "the branch or agent conversation it belongs to", "id"),
    Column("branch_kind", "text", "trunk, branch, agent and so on"),
    Column("agent_type", "text", "the agent type; empty for the main conversation", "named"),
    Column("turn", "int", "the turn number"),
    Column("uuid", "text", "the id of its first record", "id"),
    Column("opener", "text", "prompt, queued, command and so on; empty if there is no prompt"),
    Column("typed", "flag", "whether a person typed it"),
    Column("started", "time", "start time"),
    Column("working_ms", "float", "work time in milliseconds"),
    Column("asking_ms", "float", "time waiting for the user"),
    Column("waited_ms", "float", "idle time before the turn"),
    Column("first_edit_ms", "float", "time to the first file change"),
    Column("interrupted", "flag", "whether it was interrupted"),
    Column("begins", "flag", "whether its conversation line starts here"),
    Column("responses", "int", "model responses, including those without usage"),
    Column("prompts", "int", "typed prompts, including queued ones"),
    Column("queued", "int", "queued prompts"),
    Column("retracted", "int", "retracted prompts"),
    Column("commands", "int", "slash commands"),
    Column("shell_lines", "int", "shell commands typed after !"),
    Column("interruptions", "int", "interruptions"),
    Column("compactions", "int", "compactions"),
    Column("api_errors", "int", "API errors instead of an answer"),
    Column("api_retries", "int", "retried API requests"),
    Column("calls", "int", "tool calls"),
    Column("failed", "int", "failed tool calls"),
    Column("rejected", "int", "tool calls rejected by the user"),
    Column("words_typed", "int", "words in prompts"),
    Column("words_said", "int", "words in answers"),
    Column("counts", "flag", "whether to count it: a turn in several sessions counts once"),
)
RESPONSES = _make_table(
    "responses",
    "one row per model response, counted once across all sessions",
    Column("key", "int", "digest that identifies it in every session"),
    Column("uuid", "text", "the record id", "id"),
    Column("branch", "text", "the branch or agent conversation it belongs to", "id"),
    Column("turn", "int", "the turn number"),
    Column("kind", "text", "main, agent, service or workflow"),
    Column("agent", "text", "the id of the agent", "id"),
    Column("agent_type", "text", "the agent type; empty for the main conversation", "named"),
    Column("model", "text", "the model", "listed"),
    Column("time", "time", "time of its first line"),
    Column("input", "int", "input tokens without cache"),
    Column("output", "int", "output tokens"),
    Column("cache_write_5m", "int", "tokens written to the cache for five minutes"),
    Column("cache_write_1h", "int", "tokens written to the cache for an hour"),
    Column("cache_read", "int", "tokens read from the cache"),
    Column("web_searches", "int", "web searches by the provider"),
    Column("web_fetches", "int", "web pages fetched by the provider"),
    Column("tier", "text", "service tier; empty for standard", "listed"),
    Column("speed", "text", "speed; empty for standard", "listed"),
    Column("geo", "text", "inference region; empty for any", "listed"),
    Column("cost_usd", "float", "cost in dollars; empty if the price is unknown"),
    Column("logged_usd", "float", "cost as recorded in the log"),
    Column("abandoned", "flag", "whether it is on an abandoned branch"),
    Column("again", "int", "tokens written to the cache again"),
    Column("cause", "text", "why they were written again; empty if none were"),
    Column("again_usd", "float", "cost of writing them again"),
    Column("input_usd", "float", "total cost of input"),
)
WASTE = _make_table(
    "waste",
    "one row per finding of avoidable spending",
    Column("kind", "text", "why: pause, reread, abandoned and so on"),
    Column("key", "int", "the response that incurred the cost, as in `responses`"),
    Column("uuid", "text", "the record id", "id"),
    Column("time", "time", "when"),
    Column("entrypoint", "text", "the entry point: cli, SDK, editor", "listed"),
    Column("about", "text", "a file, command or agent", "worded"),
    Column("cost_usd", "float", "cost in dollars"),
    Column("least_usd", "float", "the part that was definitely wasted"),
)
TOOL_CALLS = _make_table(
    "tool_calls",
    "one row per tool call",
    Column("branch", "text", "the branch or agent conversation it belongs to", "id"),
    Column("branch_kind", "text", "trunk, branch, agent and so on"),
    Column("agent_type", "text", "the agent type; empty for the main conversation", "named"),
    Column("turn", "int", "the turn number"),
    Column("uuid", "text", "the record id", "id"),
    Column("call", "text", "the call id", "id"),
    Column("tool", "text", "the tool name", "named"),
    Column("time", "time", "time of the call"),
    Column("outcome", "text", "ok, failed, rejected and so on"),
    Column("took_ms", "float", "duration in milliseconds"),
    Column("result_bytes", "int", "size of the result"),
    Column("before_rewind", "flag", "whether the conversation was rewound right after it"),
    Column("counts", "flag", "whether to count it: a call in several sessions counts once"),
)
FILES = _make_table(
    "files",
    "one row per file that a tool call read or changed",
    Column("branch", "text", "the branch or agent conversation it belongs to", "id"),
    Column("turn", "int", "the turn number"),
    Column("uuid", "text", "the record id of the call", "id"),
    Column("path", "text", "the file", "named"),
    Column("action", "text", "read, edited, written and so on"),
    Column("time", "time", "when"),
    Column("outcome", "text", "outcome of the call"),
    Column("added", "int", "lines added"),
    Column("removed", "int", "lines removed"),
    Column("counts", "flag", "whether to count it: changes in several sessions count once"),
)
FINDINGS = _make_table(
    "findings",
    "one row per problem in the logs",
    Column("code", "text", "the kind of problem"),
    Column("sentence", "text", "description", "worded"),
    Column("file", "text", "the log file", "named"),
    Column("line", "int", "the line number"),
    Column("uuid", "text", "the record", "id"),
)
TEXT = _make_table(
    "text",
    "one row per passage: prompts, answers, thinking, tool input and output",
    Column("branch", "text", "the branch or agent conversation it belongs to", "id"),
    Column("turn", "int", "the turn number"),
    Column("uuid", "text", "the record id", "id"),
    Column("kind", "text", "prompt, answer, thinking, input, output and so on"),
    Column("state", "text", "active, abandoned, agent, service, recovered"),
    Column("tool", "text", "the tool that was called", "named"),
    Column("time", "time", "when"),
    Column("text", "text", "the text", "worded"),
    is_in_counts=False,
)
RAW = _make_table(
    "raw",
    "one row per line of a log file, unchanged",
    Column("file", "text", "the log file", "named"),
    Column("line", "int", "the line number, from 1"),
    Column("ended", "flag", "whether it ends with a newline"),
    Column("data", "bytes", "the bytes without the newline", "worded"),
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
