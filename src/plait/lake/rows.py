"""The rows of a lake's tables, built from sessions that are read once.

`build_tables` is the only entry: a pure function of a unit's files and the prices, wherever it
runs. What counts is decided by the same code as in `usage`, `stats`, `why` and `waste`, so that
rows add up to what these commands print.

Values that Arrow cannot hold are converted: half a surrogate pair becomes U+FFFD, an integer beyond
64 bits the nearest one, a time outside the calendar null.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from plait.conversation.build import may_branch
from plait.conversation.changes import CHANGING, Touch, list_touches
from plait.conversation.model import Conversation, Item, ToolCall
from plait.conversation.prices import Prices
from plait.conversation.session_counts import (
    UNNAMED,
    CountedItem,
    Ownership,
    hash_text,
    iter_counted_errors,
    iter_counted_items,
    iter_counted_responses,
    iter_counted_turns,
)
from plait.conversation.statistics import ResponseCounts, count_response
from plait.conversation.usage import BilledResponse, ResponseKey
from plait.conversation.walk import find_agent_types
from plait.graph.facts import make_source
from plait.graph.model import DagLine, Node, PlacedLine, SessionGraph
from plait.index.model import Passage
from plait.insights.cache_misses import UNNAMED as LINE_KEY_PREFIX
from plait.insights.cache_misses import FileRequests, MainFileLoader, PaidRequest
from plait.insights.losses import PaidFile, read_paid_file
from plait.insights.waste import is_launched_agent, price_losses
from plait.insights.why import (
    ResponsesByFile,
    compute_input_cost,
    compute_resend_cost,
    make_main_loader,
)
from plait.lake.profiles import Unit, create_redaction, reduce_to_counts
from plait.lake.schema import (
    COMMON_COLUMNS,
    FINDINGS,
    LOGS,
    RAW,
    RECORDS,
    TABLES,
    VERSION,
    Table,
    arrow_schema,
    tables_for_profile,
)
from plait.line import Finding, LogFile, iter_lines
from plait.record.billing import SentLine, decode_sent_lines, iter_bills_in_blocks
from plait.record.counts import make_broken_line_finding
from plait.record.prompts import is_warmup_agent
from plait.record.reader import Blank, Broken, parse_entry
from plait.record.time import TIMESTAMP_LENGTH, compute_elapsed_ms, format_timestamp, parse_time
from plait.sessions.facts import LogFacts, collect_log_facts
from plait.sessions.families import read_start
from plait.sessions.model import Session
from plait.sessions.open_session import Log, OpenSession
from plait.sessions.session_text import TextLine, iter_passages, make_title_passage
from plait.usage.responses import (
    CountedResponses,
    FileBills,
    count_responses,
    find_abandoned,
    iter_inactive_records,
    list_billed_files,
    list_billed_paths,
)

Row: TypeAlias = tuple[Any, ...]
"""The values of a row in the order of the table's own columns."""
Columns: TypeAlias = Mapping[str, Sequence[Any]]
ColumnLists: TypeAlias = dict[str, list[Any]]

NO_MONTH = "none"
MAX_INTEGER = (1 << 63) - 1
UUID_COLUMNS = "uuid parent logical_parent subtype copy_of edge host rung folded".split()
"""Columns that only records with a uuid have."""
PLACE_COLUMNS = {
    "line": attrgetter("line"),
    "offset": attrgetter("offset"),
    "length": attrgetter("length"),
    "kind": attrgetter("kind"),
    "time": attrgetter("timestamp"),
}
"""The columns of `records` that say what a line is and where, with the field that holds each."""
LINK_COLUMNS = {
    "uuid": attrgetter("uuid"),
    "parent": attrgetter("parent"),
    "logical_parent": attrgetter("logical"),
    "subtype": attrgetter("subtype"),
    "copy_of": attrgetter("copy_of"),
}
"""Those that only records with a uuid have."""
TURN_COUNTS = (
    "responses prompts queued retracted commands shell_lines interruptions compactions "
    "api_errors api_retries calls failed rejected words_typed words_said"
).split()
"""The columns of `turns` that are counts, in their order."""

cached_schema = cache(arrow_schema)
cached_version = cache(version)


def build_tables(unit: Unit, prices: Prices) -> dict[str, pa.Table]:
    """Return all rows of some sessions, by table."""
    opened = OpenUnit(unit)
    names = [table.name for table in tables_for_profile(unit.profile)]
    parts: dict[str, list[pa.Table]] = {name: [] for name in names}
    figures = FigureRows(opened, prices)
    for number, owner in enumerate(opened.owners):
        for name, rows in figures.build(number, has_text="text" in names).items():
            columns: Columns = empty_columns(TABLES[name])
            if rows:
                columns = dict(zip(columns, zip(*rows, strict=True), strict=True))
            parts[name].append(make_table(name, owner, columns))
    logs = LogRows(opened, figures.has_own)
    makers: dict[str, Callable[[int], ColumnLists]] = {
        "sessions": logs.session_columns,
        "logs": logs.log_columns,
        "records": logs.record_columns,
        "findings": logs.finding_columns,
        "raw": logs.raw_columns,
    }
    for name, make_columns in makers.items():
        if name in names:
            for number, owner in enumerate(opened.owners):
                parts[name].append(make_table(name, owner, make_columns(number)))
    tables = {name: pa.concat_tables(parts[name]) for name in names}
    return reduce_to_counts(tables, unit.key) if unit.profile == "counts" else tables


# Reading


@dataclass(slots=True)
class ReadLog:
    """A log file as it was read, with all its lines."""

    file: LogFile
    name: str
    """Its path below the root."""
    log: Log
    lines: list[bytes]
    """Without their newlines."""
    is_ended: bool = True
    """Whether the last line ends with a newline."""
    blank: int = 0
    broken: list[Finding] = field(default_factory=list)
    """Lines that are neither records nor blank."""

    @property
    def size(self) -> int:
        """How many bytes were read."""
        return sum(map(len, self.lines)) + len(self.lines) - (not self.is_ended)

    @property
    def broken_lines(self) -> list[int]:
        """The numbers of lines that are neither records nor blank."""
        return [finding.line for finding in self.broken if finding.line]


def read_log(file: LogFile, name: str) -> ReadLog:
    """Read a log file up to the size it had when it was found."""
    read = ReadLog(file, name, Log([], []), [])
    for line in iter_lines(file.path, end=file.size):
        read.lines.append(line.data)
        read.is_ended = line.is_ended
        entry = parse_entry(line)
        if isinstance(entry, Broken):
            read.broken.append(make_broken_line_finding(entry, file.path))
            read.log.recovered.extend(entry.recovered)
        elif isinstance(entry, Blank):
            read.blank += 1
        else:
            read.log.records.append(entry)
    return read


class RowOwner(NamedTuple):
    """The columns that every row of a session begins with."""

    build: int
    source: str
    session: str
    project: str
    month: str


class OpenUnit:
    """The sessions of a unit, opened: each by itself, and all of them together."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.logs: dict[Path, ReadLog] = {
            file.path: read_log(file, relative_name(file.path, unit.roots))
            for session in unit.sessions
            for file in session.files
        }
        self.redaction = create_redaction(unit)
        if self.redaction:  # a secret that one place reveals is hidden in all of them
            for log in self.logs.values():
                self.redaction.learn_source(make_source(log.file, log.log.records))
                self.redaction.learn_texts(log.lines[number - 1] for number in log.broken_lines)
        self._masked_lines: dict[Path, list[bytes]] = {}

    @cached_property
    def sessions(self) -> tuple[OpenSession, ...]:
        """Each session by itself, in the order in which they began."""
        return tuple(self._open(session) for session in self.unit.sessions)

    @cached_property
    def combined(self) -> OpenSession:
        """All of them together: their graph is made of this."""
        sessions = self.unit.sessions
        return self.sessions[0] if len(sessions) == 1 else self._open(*sessions)

    def _open(self, *sessions: Session) -> OpenSession:
        files = (file for session in sessions for file in session.files)
        return OpenSession(
            files, *sessions, redaction=self.redaction, read=lambda path: self.logs[path].log
        )

    def name_of(self, path: str) -> str:
        """Return the path of a file below its root."""
        return self.mask(self.logs[Path(path)].name)

    def mask(self, name: str) -> str:
        """Return a name, an id or a sentence as the profile allows."""
        return self.redaction.redact_name(name) if self.redaction else name

    def masked_lines(self, path: Path) -> list[bytes]:
        """Return the lines of a file as the profile allows; a record stays a record."""
        if self.redaction is None:
            return self.logs[path].lines
        if path not in self._masked_lines:
            log = self.logs[path]
            lines = log.lines.copy()
            for record in self.sessions[self.session_numbers[str(path)]].records_of(path):
                lines[record.line - 1] = record.raw
            for number in log.broken_lines:
                lines[number - 1] = self.redaction.redact_line(lines[number - 1])
            self._masked_lines[path] = lines
        return self._masked_lines[path]

    @cached_property
    def facts(self) -> tuple[LogFacts, ...]:
        """What lists show of each session."""

        def read_facts(opened: OpenSession) -> LogFacts:
            title = opened.sources[0].title
            return collect_log_facts(opened.session, opened.records_of, lambda _: title)

        return tuple(map(read_facts, self.sessions))

    @cached_property
    def owners(self) -> tuple[RowOwner, ...]:
        """The common columns of each session."""
        owners = []
        for session, build, facts in zip(
            self.unit.sessions, self.unit.builds, self.facts, strict=True
        ):
            started = parse_time(facts.started)
            owners.append(
                RowOwner(
                    build,
                    self.unit.labels.source,
                    self.mask(session.id),
                    self.mask(session.project),
                    f"{started:%Y-%m}" if started else NO_MONTH,
                )
            )
        return tuple(owners)

    @cached_property
    def dag_lines(self) -> list[Counter[str]]:
        """How many DAG-lines of each kind begin in the files of each session."""
        counts = [Counter[str]() for _ in self.unit.sessions]
        graph = self.combined.graph
        for line in graph.lines.values():
            counts[self.session_numbers[graph.files[line.files[0]].path]][line.kind] += 1
        return counts

    @cached_property
    def session_numbers(self) -> Mapping[str, int]:
        """The session that each file belongs to, by number."""
        return {
            str(file.path): number
            for number, session in enumerate(self.unit.sessions)
            for file in session.files
        }


def relative_name(path: Path, roots: tuple[Path, ...]) -> str:
    """Return the path of a file below its root; of a file that is a root itself, its name."""
    for root in roots:
        if path.is_relative_to(root):
            relative = path.relative_to(root)
            return relative.as_posix() if relative.parts else path.name
    return PurePath(path).as_posix()


# Arrow columns


def make_table(name: str, owner: RowOwner, columns: Columns) -> pa.Table:
    """Return rows of one session; the common columns are added."""
    schema = cached_schema(name)
    count = len(next(iter(columns.values())))
    if not count:
        return schema.empty_table()
    arrays = [
        pa.repeat(pa.scalar(replace_surrogates(value) if isinstance(value, str) else value), count)
        for value in owner
    ]
    arrays += [
        make_array(columns[column.name], column.type)
        for column in list(schema)[len(COMMON_COLUMNS) :]
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def make_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return a column; times may be timestamps as logs have them, or anything that is none."""
    if pa.types.is_timestamp(kind):
        # Arrow parses the usual form much faster than we do.
        if all(
            stamp is None or (len(stamp) == TIMESTAMP_LENGTH and stamp[-1] == "Z")
            for stamp in values
        ):
            with suppress(pa.ArrowInvalid, UnicodeEncodeError):
                return pa.array(values, pa.string()).cast(kind)
        return pa.array(list(map(parse_time, values)), kind)
    try:
        return pa.array(values, kind)
    except (UnicodeEncodeError, OverflowError, pa.ArrowInvalid):
        return pa.array(list(map(_fit_value, values)), kind)


def _fit_value(value: object) -> object:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, int):
        return max(-MAX_INTEGER - 1, min(MAX_INTEGER, value))
    return value


def replace_surrogates(text: str) -> str:
    """Return a text that can be written as UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def empty_columns(table: Table) -> ColumnLists:
    """Return the own columns of a table, without values."""
    return {column.name: [] for column in table.columns[len(COMMON_COLUMNS) :]}


# sessions, logs, records, findings, raw


class LogRows:
    """Makes the rows that come from the logs of a unit and their graph, session by session."""

    def __init__(self, opened: OpenUnit, has_own: Sequence[bool]) -> None:
        self.opened = opened
        self.has_own = has_own
        """For each session, whether it has anything that no earlier session has."""
        self.graph: SessionGraph = opened.combined.graph
        rungs: dict[str, list[str]] = {}
        for verdict in self.graph.verdicts:
            rungs.setdefault(verdict.newer, []).append(verdict.rung)
        self._rungs = {uuid: " ".join(names) for uuid, names in rungs.items()}
        """The rules that explained a fork or an edge, by its first record."""
        self._findings: dict[int, list[Finding]] = {}
        for found in self.graph.findings:
            path = None if found.file is None else Path(self.graph.files[found.file].path)
            finding = Finding(found.code, found.sentence, path, found.line, found.uuid)
            number = opened.session_numbers[str(path)] if path else 0
            self._findings.setdefault(number, []).append(finding)
        self._loose: dict[int, list[PlacedLine]] = {}
        for line in self.graph.loose:
            self._loose.setdefault(line.place.file, []).append(line)
        self._facts = {facts.file.path: facts for facts in opened.combined.file_facts}
        self._files: list[list[int]] = [[] for _ in opened.owners]
        for number, file in enumerate(self.graph.files):
            self._files[opened.session_numbers[file.path]].append(number)

    def session_columns(self, number: int) -> ColumnLists:
        """Return the row of a session."""
        opened = self.opened
        unit, session, facts = opened.unit, opened.unit.sessions[number], opened.facts[number]
        logs = [opened.logs[file.path] for file in session.files]
        line_kinds = opened.dag_lines[number]
        row = {
            "person": unit.labels.person,
            "team": unit.labels.team,
            "title": facts.title,
            "directory": facts.cwd,
            "git_branch": facts.git_branch,
            "started": facts.started,
            "ended": facts.ended,
            "version": facts.version,
            "log_bytes": sum(log.size for log in logs),
            "log_lines": sum(len(log.lines) for log in logs),
            "agents": len(session.agents),
            "dag_lines": line_kinds.total(),
            "branches": line_kinds["branch"],
            "has_own": self.has_own[number],
            "began": read_start(session, opened.sessions[number].records_of),
            "family": opened.mask(unit.family),
            "fingerprint": unit.fingerprint,
            "profile": unit.profile,
            "schema": VERSION,
            "plait": cached_version("plait"),
        }
        return {name: [value] for name, value in row.items()}

    def log_columns(self, number: int) -> ColumnLists:
        """Return the account of each log file of a session."""
        opened = self.opened
        columns = empty_columns(LOGS)
        for file in opened.unit.sessions[number].files:
            log = opened.logs[file.path]
            columns["file"].append(opened.mask(log.name))
            columns["kind"].append(file.kind)
            columns["agent"].append(file.agent and opened.mask(file.agent))
            columns["log_bytes"].append(log.size)
            columns["modified"].append(format_timestamp(parse_time(file.modified)))
            columns["lines"].append(len(log.lines))
            columns["records"].append(len(log.log.records))
            columns["blank"].append(log.blank)
            columns["broken"].append(len(log.broken))
            columns["recovered"].append(len(log.log.recovered))
        return columns

    def raw_columns(self, number: int) -> ColumnLists:
        """Return the lines of a session's files as they are."""
        opened = self.opened
        columns = empty_columns(RAW)
        for file in opened.unit.sessions[number].files:
            log = opened.logs[file.path]
            count = len(log.lines)
            columns["file"] += [opened.mask(log.name)] * count
            columns["line"] += range(1, count + 1)
            columns["ended"] += [True] * count
            columns["data"] += opened.masked_lines(file.path)
            if not log.is_ended:
                columns["ended"][-1] = False
        return columns

    def record_columns(self, session: int) -> ColumnLists:
        """Return the records of a session's files, in each file those with a uuid first."""
        columns = empty_columns(RECORDS)
        for number in self._files[session]:
            path = self.graph.files[number].path
            name = self.opened.name_of(path)
            self._add_nodes(columns, self._facts[path].nodes, name)
            facts = self._facts[path]
            loose = self._loose.get(number, ())
            records, count = facts.asides, len(facts.asides)
            columns["file"] += [name] * count
            for column, get_value in PLACE_COLUMNS.items():
                columns[column] += map(get_value, records)
            self._add_branches(columns, [placed.line for placed in loose])
            for column in ("calls", "results", "copies"):
                columns[column] += [0] * count
            columns["repeated"] += [False] * count
            for column in UUID_COLUMNS:
                columns[column] += [None] * count
        return columns

    def _add_nodes(self, columns: ColumnLists, nodes: Sequence[Node], name: str) -> None:
        # What records say of themselves.
        columns["file"] += [name] * len(nodes)
        for column, get_value in {**PLACE_COLUMNS, **LINK_COLUMNS}.items():
            columns[column] += map(get_value, nodes)
        columns["calls"] += [len(node.calls) for node in nodes]
        columns["results"] += [len(node.results) for node in nodes]
        # What the graph says about them; `owned` are the nodes it keeps of equal records.
        graph, edges, folds, rungs = self.graph, self.graph.edges, self.graph.folds, self._rungs
        uuids = [node.uuid for node in nodes]
        owned = [graph.nodes[uuid] for uuid in uuids]
        self._add_branches(columns, [graph.line_of[uuid] for uuid in uuids])
        columns["edge"] += [
            edges[node.uuid].kind if node.uuid in edges else "parent" if node.parent else "root"
            for node in owned
        ]
        columns["host"] += [
            edges[node.uuid].parent if node.uuid in edges else node.parent for node in owned
        ]
        columns["rung"] += [rungs.get(uuid) for uuid in uuids] if rungs else [None] * len(uuids)
        columns["folded"] += [folds[uuid].reason if uuid in folds else None for uuid in uuids]
        columns["copies"] += [len(node.copies) for node in owned]
        columns["repeated"] += [
            kept.line != node.line or kept.file != node.file
            for kept, node in zip(owned, nodes, strict=True)
        ]

    def _add_branches(self, columns: ColumnLists, names: Sequence[str | None]) -> None:
        lines: dict[str | None, DagLine | None] = {
            name: self.graph.lines.get(name or "") for name in names
        }
        columns["branch"] += names
        columns["branch_kind"] += [line and line.kind for line in map(lines.get, names)]
        columns["live"] += [line and line.is_active for line in map(lines.get, names)]

    def finding_columns(self, session: int) -> ColumnLists:
        """Return the findings of a session: its broken lines, then those of its graph."""
        opened = self.opened
        columns = empty_columns(FINDINGS)
        broken = [
            finding
            for file in opened.unit.sessions[session].files
            for finding in opened.logs[file.path].broken
        ]
        for finding in [*broken, *self._findings.get(session, ())]:
            sentence = finding.sentence
            for root in opened.unit.roots:
                sentence = sentence.replace(f"{root}{os.sep}", "")
            path = str(finding.path) if finding.path else None
            columns["code"].append(finding.code)
            columns["sentence"].append(opened.mask(sentence))
            columns["file"].append(opened.name_of(path) if path else None)
            columns["line"].append(finding.line)
            columns["uuid"].append(finding.uuid)
        return columns


# turns, tool_calls, files


class RecordPosition(NamedTuple):
    """The position of a record."""

    branch: str
    turn: int
    agent_type: str | None


class TurnRows:
    """Makes the rows of the conversations of one session."""

    def __init__(self, ownership: Ownership, response_counts: ResponseCounts) -> None:
        self._ownership, self._response_counts = ownership, response_counts
        self.turns: list[Row] = []
        self.calls: list[Row] = []
        self.files: list[Row] = []
        self.positions: dict[str, RecordPosition] = {}
        """The positions of all records, by uuid."""

    def add(self, conversation: Conversation, agent_type: str | None) -> None:
        """Add a conversation, with the kind of agent or none."""
        turns = conversation.turns
        counts: dict[int, Counter[str]] = {turn.number: Counter() for turn in turns}
        first_edits: dict[int, float | None] = {}
        first_counted: int | None = None
        last_call = None
        if conversation.kind == "branch" and turns:  # the call after which the branch left
            last_call = next(reversed(turns[-1].calls), None)
        for counted in iter_counted_items(conversation, agent_type, self._ownership):
            turn, item = counted.turn, counted.item
            counts[turn.number].update(counted.adds)
            if counted.is_first:
                first_counted = turn.number
            if item.uuid:
                position = RecordPosition(conversation.id, turn.number, agent_type)
                self.positions.setdefault(item.uuid, position)
            if isinstance(item, ToolCall) and not item.is_intermediate:
                head = (conversation.id, conversation.kind, agent_type, turn.number)
                touches = self._add_call(counted, item, head, is_last=item is last_call)
                has_changed = any(touch.action in CHANGING for touch in touches)
                is_edit = has_changed and item.outcome == "ok"
                if is_edit and turn.number not in first_edits:
                    first_edits[turn.number] = compute_elapsed_ms(
                        turn.started, item.answered_at or item.time
                    )
        turn_of = {number: turn.number for turn in turns for number in turn.responses}
        first_turn = next((turn.number for turn in turns), 0)
        for number, _ in iter_counted_errors(conversation, self._ownership):
            counts[turn_of.get(number, first_turn)]["api_errors"] += 1
        for number, response in iter_counted_responses(conversation, self._ownership):
            if self._response_counts.add(count_response(response, agent_type)):
                counts[turn_of.get(number, first_turn)]["responses"] += 1
        own = {turn.number for turn, _ in iter_counted_turns(conversation, self._ownership)}
        for turn in turns:
            opener = turn.opener
            self.turns.append(
                (
                    conversation.id,
                    conversation.kind,
                    agent_type,
                    turn.number,
                    *(
                        (opener.uuid, opener.kind, opener.is_typed)
                        if opener
                        else (None, None, False)
                    ),
                    turn.started,
                    turn.working_ms,
                    turn.asking_ms,
                    turn.waited_ms,
                    first_edits.get(turn.number),
                    turn.is_interrupted,
                    turn.number == first_counted,
                    *(counts[turn.number][name] for name in TURN_COUNTS),
                    agent_type is None and turn.number in own,
                )
            )

    def _add_call(
        self, counted: CountedItem, call: ToolCall, head: Row, *, is_last: bool
    ) -> tuple[Touch, ...]:
        """Add a tool call, and the files that it touched; return what it did to them."""
        result, size = call.result, None
        if result and result.persisted and result.persisted.size is not None:
            size = result.persisted.size
        elif result:
            size = len(result.text)
            if not result.text.isascii():
                size = len(result.text.encode("utf-8", "surrogatepass"))
        self.calls.append(
            (
                *head,
                call.uuid,
                call.call,
                call.name or UNNAMED,
                call.time,
                call.outcome,
                call.duration_ms,
                size,
                is_last,
                counted.is_own,
            )
        )
        touches = list_touches(call, counted.turn.number)
        for touch in touches:
            patch = touch.patch
            self.files.append(
                (
                    head[0],
                    touch.turn,
                    touch.uuid,
                    touch.path,
                    touch.action,
                    touch.time,
                    touch.outcome,
                    *((patch.added, patch.removed) if patch else (None, None)),
                    counted.is_own and touch.outcome == "ok",
                )
            )
        return touches


# responses, waste


class ResponseRows:
    """Counts the responses of a unit, each once, and makes the rows of each session."""

    def __init__(self, opened: OpenUnit, prices: Prices) -> None:
        self._opened, self._prices = opened, prices
        sessions = opened.unit.sessions
        counted: CountedResponses = count_responses(sessions, read=self._read_bills)
        self._by_file = ResponsesByFile(counted, sessions)
        self._abandoned = find_abandoned(sessions, counted.responses, read=self._iter_abandoned)
        self._paid_files: dict[Path, PaidFile] = {}
        self._main_loaders: dict[Path, MainFileLoader] = {}
        paths = list_billed_paths(sessions)
        self._by_session: dict[int, list[tuple[ResponseKey, BilledResponse]]] = {}
        for key, response in zip(counted.keys, counted.responses, strict=True):
            number = opened.session_numbers[str(paths[response.file])]
            self._by_session.setdefault(number, []).append((key, response))

    def responses(self, number: int, positions: Mapping[str, RecordPosition]) -> Iterator[Row]:
        """Yield the responses of a session."""
        session = self._opened.unit.sessions[number]
        requests = {
            (response.file, request.response): request
            for file in list_billed_files(session)
            for request, response in self._by_file.keep_billed(
                file.path, self._read_paid_file(session, file).requests
            )
        }
        for key, response in self._by_session.get(number, ()):
            name = key if isinstance(key, str) else f"{LINE_KEY_PREFIX}{key[1]}"
            position = positions.get(response.uuid or "") or (None, None, None)
            request = requests.get((response.file, name))
            yield self._make_response_row(name, response, position, request)

    def _make_response_row(
        self,
        name: str,
        response: BilledResponse,
        position: RecordPosition | tuple[None, None, None],
        request: PaidRequest | None,
    ) -> Row:
        tokens, prices = response.tokens, self._prices
        branch, turn, agent_type = position
        again: Row = (0, None, None)
        if request and request.again:
            unit_prices = prices.unit(response.model, tokens, response.time)
            cost = compute_resend_cost(request, unit_prices) if unit_prices else None
            again = (request.again, request.cause, cost)
        return (
            _hash_response(name, response),
            response.uuid,
            branch,
            turn,
            response.kind,
            self._opened.mask(response.agent) if response.agent else None,
            agent_type,
            response.model,
            _format_time(response),
            tokens.input,
            tokens.output,
            tokens.cache_write_5m,
            tokens.cache_write_1h,
            tokens.cache_read,
            tokens.web_searches,
            tokens.web_fetches,
            tokens.tier,
            tokens.speed,
            tokens.geo,
            prices.cost(response.model, tokens, response.time),
            response.logged,
            response.uuid in self._abandoned,
            *again,
            compute_input_cost(response, prices),
        )

    def waste(self, number: int) -> Iterator[Row]:
        """Yield the avoidable spending of a session."""
        session = self._opened.unit.sessions[number]
        for file in list_billed_files(session):
            responses = self._by_file.in_file(file.path)
            digests = {
                id(response): _hash_response(name, response) for name, response in responses.items()
            }
            losses = self._by_file.explain_losses(
                self._read_paid_file(session, file).losses, session.id
            )
            for loss, response, cost in price_losses(
                responses, losses, self._prices, self._abandoned
            ):
                yield (
                    loss.kind,
                    digests[id(response)],
                    loss.uuid,
                    _format_time(response),
                    loss.entrypoint,
                    loss.subject or None,
                    cost,
                    cost * loss.certain,
                )

    def _read_paid_file(self, session: Session, file: LogFile) -> PaidFile:
        """Return the requests of a file; each file is looked at once."""
        if file.path not in self._paid_files:
            main: MainFileLoader | type[FileRequests] = FileRequests
            if file is not session.file:
                main = self._main_loaders.setdefault(
                    session.path, make_main_loader(session, self._iter_sent)
                )
            self._paid_files[file.path] = read_paid_file(
                self._iter_sent(file.path), is_agent=is_launched_agent(file), load_main=main
            )
        return self._paid_files[file.path]

    def _iter_sent(self, path: Path) -> Iterator[tuple[int, SentLine]]:
        return decode_sent_lines(enumerate(self._opened.masked_lines(path), 1))

    def _read_bills(self, files: Sequence[LogFile]) -> Iterator[FileBills]:
        for file in files:
            data = b"\n".join(self._opened.masked_lines(file.path))
            is_background = file.kind == "agent" and is_warmup_agent(file.path)
            yield FileBills(iter_bills_in_blocks([(data, len(data))]), is_background)

    def _iter_abandoned(self, session: Session) -> Iterable[str]:
        path = session.file.path if session.file else session.path
        opened = self._opened.sessions[self._opened.session_numbers[str(path)]]
        if not may_branch(opened.records):
            return ()
        return iter_inactive_records(opened.plain_graph.lines.values())


def _hash_response(name: str, response: BilledResponse) -> int:
    """Return the key of a response; without an id of its own it is known by its line."""
    if name.startswith(LINE_KEY_PREFIX):
        return hash_text(f"{response.session} {response.file} {name}")
    return hash_text(name)


def _format_time(response: BilledResponse) -> str | None:
    return response.time.isoformat() if response.time else None


# text


def iter_text_rows(opened: OpenSession, facts: LogFacts) -> Iterator[Row]:
    """Yield the passages of a session, as search finds them; its title first."""

    def make_row(passage: Passage, branch: str | None, uuid: str | None) -> Row:
        return (
            branch,
            passage.turn,
            uuid,
            passage.kind,
            passage.state,
            passage.tool,
            passage.time,
            passage.text,
        )

    if facts.title:
        yield make_row(make_title_passage(facts.title, facts.started), None, None)
    files = [opened.records_of(file.path) for file in opened.graph.files]
    uuids = [{record.line: record.uuid for record in records} for records in files]
    # Outputs beside the log were not redacted.
    folder = None if opened.redaction else opened.session.path.with_suffix("")
    places: list[dict[int, tuple[int, int]]] = [{} for _ in files]
    lines = [
        _make_text_line(conversation) for conversation in opened.conversations.by_line.values()
    ]
    if recovered := opened.conversations.recovered:
        lines.append(replace(_make_text_line(recovered), is_recovered=True))
    for line in lines:
        for passage in iter_passages(line, 0, places, folder):
            yield make_row(passage, line.line.id, uuids[passage.file].get(passage.line))


def _make_text_line(conversation: Conversation) -> TextLine:
    """Return a conversation in the form that is indexed."""
    items: list[Item] = []
    openers: list[int] = []
    for turn in conversation.turns:
        if turn.number:
            openers.append(len(items))
        items += turn.items
    line = DagLine(
        conversation.id,
        conversation.kind,
        conversation.session,
        (),
        is_active=conversation.is_active,
    )
    models = [response.model for response in conversation.responses]
    return TextLine(line, items, openers, models)


class FigureRows:
    """Builds the rows of one session after the other, by start time.

    What an earlier session of the unit contains does not count again.
    """

    def __init__(self, opened: OpenUnit, prices: Prices) -> None:
        self._opened = opened
        self._ownership, self._response_counts = Ownership(), ResponseCounts()
        self._responses = ResponseRows(opened, prices)
        self.has_own: list[bool] = []
        """For each session, whether it has anything that no earlier session has."""

    def build(self, number: int, *, has_text: bool) -> dict[str, Sequence[Row]]:
        """Return the rows of a session by table."""
        opened = self._opened.sessions[number]
        self._ownership.start_session(opened.copied)
        turn_rows = TurnRows(self._ownership, self._response_counts)
        types = find_agent_types(opened.conversations)
        for conversation in opened.conversations.by_line.values():
            turn_rows.add(conversation, types.get(conversation.id))
        self.has_own.append(self._ownership.owns_anything)
        rows: dict[str, Sequence[Row]] = {
            "turns": turn_rows.turns,
            "tool_calls": turn_rows.calls,
            "files": turn_rows.files,
            "responses": list(self._responses.responses(number, turn_rows.positions)),
            "waste": list(self._responses.waste(number)),
        }
        if has_text:
            rows["text"] = list(iter_text_rows(opened, self._opened.facts[number]))
        return rows
