"""GitHub Copilot CLI: events, each naming the one before it as its parent.

    ~/.copilot/session-state/<session>/events.jsonl     before 0.0.37: session-state/<session>.jsonl
    ~/.copilot/session-state/<session>/workspace.yaml   with a summary, which is the title
    ~/.copilot/session-store.db                         a row for each request, with its tokens

After a rewind, an event names an earlier one. Events of sub-agents stand in the same file and name
the call that sent them. Events without a message are notes; what hangs on one hangs on its parent.

Tokens come from the database where it has them. Else they are known for a whole run of the client
alone, when it ends, and are counted as a background request of that run.
"""

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from plait.sources.base import Source, SourceLog, parse_first_object
from plait.sources.places import ROOTS
from plait.sources.translation import (
    Fields,
    SourceLine,
    Translation,
    iter_dicts,
    make_call_block,
    make_text_block,
    make_thinking_block,
    to_count,
    to_text,
)

EVENTS = "events.jsonl"
STORE = "session-store.db"
FAMILIES = frozenset(
    """
    session assistant tool permission subagent hook skill mcp model user_input elicitation
    exit_plan_mode workflow human_response user system command external_tool abort sampling
    """.split()
)
"""The families of events that are known; those without a message are notes."""
SUMMARY = re.compile(r"^(?:summary|name):[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
USAGE_COLUMNS = {
    "input_tokens": ("input_tokens", "inputtokens"),
    "output_tokens": ("output_tokens", "outputtokens"),
    "cache_read_input_tokens": ("cache_read_tokens", "cachereadtokens"),
    "cache_creation_input_tokens": ("cache_write_tokens", "cachewritetokens"),
}


class Copilot(Source):
    """The logs of GitHub Copilot CLI."""

    name = "copilot"
    title = "Copilot CLI"
    roots = ROOTS["copilot"]
    verified = "1.0.78"

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return the session of a file that begins with the event of its start."""
        event = parse_first_object(head)
        data = event.get("data")
        if event.get("type") != "session.start" or not isinstance(data, dict):
            return []
        context = data.get("context")
        cwd = context.get("cwd") if isinstance(context, dict) else None
        id_ = to_text(data.get("sessionId")) or (
            path.parent.name if path.name == EVENTS else path.stem
        )
        return [SourceLog("copilot", id_, str(path), cwd=cwd if isinstance(cwd, str) else None)]

    def translate(self, log: SourceLog, out: Translation) -> None:
        """Write the events of a session."""
        path = Path(log.path)
        reading = _Reading(out, read_usage(path, log.id))
        for line in out.lines():
            reading.read(line)
        reading.end()
        if title := reading.title or read_summary(path):
            out.title(title)

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a session in Copilot CLI."""
        return ["copilot", "--resume", log.id]


def read_summary(events: Path) -> str | None:
    """Return the title that lies beside the events of a session."""
    if events.name != EVENTS:
        return None
    try:
        text = events.with_name("workspace.yaml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = SUMMARY.search(text)
    return match[1].strip("'\"") or None if match else None


def read_usage(events: Path, session: str) -> list[Fields]:
    """Return the rows of the requests of a session, in their order; none without the database."""
    store = next((above / STORE for above in events.parents if (above / STORE).is_file()), None)
    if store is None:
        return []
    try:
        with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True, timeout=2)) as base:
            base.row_factory = sqlite3.Row
            rows = base.execute(
                "SELECT * FROM assistant_usage_events WHERE session_id = ? ORDER BY rowid",
                (session,),
            )
            return [{name.lower(): row[name] for name in row.keys()} for row in rows]  # noqa: SIM118
    except sqlite3.Error:
        return []


class _Reading:
    """Translates the events of one session."""

    def __init__(self, out: Translation, requests: list[Fields]) -> None:
        self.out = out
        self.requests = requests
        self.has_rows = bool(requests)
        self.title: str | None = None
        self.model: str | None = None
        self.uuids: dict[str, str | None] = {}
        """The uuid that stands for each event; a note is stood for by its parent's."""
        self.parents: dict[str, str | None] = {}
        """The uuid that stands for the parent of each event."""
        self.ends: dict[str, str | None] = {}
        """The last uuid of each sub-agent."""
        self.agents: dict[str, str] = {}
        """The sub-agents by the calls that sent them."""
        self.shell: set[str] = set()
        """Commands that the user ran."""
        self.responses: list[tuple[str, str | None]] = []
        """The responses in their order, with their models."""
        self.checkpoint: Fields = {}
        """The last figures of a run that has not ended."""
        self.counted: dict[str, dict[str, int]] = {}
        """What the runs before came to, by model: a resumed session's figures contain them."""

    def read(self, line: SourceLine) -> None:
        """Translate one event."""
        out, event = self.out, line.fields
        data = event.get("data")
        data = data if isinstance(data, dict) else {}
        kind = to_text(event.get("type"))
        out.timestamp = to_text(event.get("timestamp")) or out.timestamp
        before = self.uuids.get(to_text(event.get("parentId")), out.parent)
        if event.get("parentId") is None:
            before = None
        call = to_text(data.get("parentToolCallId"))
        agent = to_text(event.get("agentId")) or self.agents.get(call) or call
        out.agent = agent or None
        out.parent = self.ends.get(agent) if agent else before
        self._event(kind, event, data)
        if agent:
            self.ends[agent], out.parent = out.parent, before
        out.agent = None
        if isinstance(event.get("id"), str):
            self.uuids[event["id"]], self.parents[event["id"]] = out.parent, before

    def _event(self, kind: str, event: Fields, data: Fields) -> None:
        out, uuid = self.out, self._uuid(event)
        match kind:
            case "session.start" | "session.resume":
                if kind == "session.start":
                    self.counted = {}
                self._context(data)
                out.note(kind)
            case "session.model_change":
                self.model = to_text(data.get("newModel")) or self.model
                out.note(kind)
            case "session.title_changed":
                self.title = to_text(data.get("title")) or self.title
                out.note(kind)
            case "user.message":
                is_meta = data.get("source") not in (None, "", "user") or None
                out.user(to_text(data.get("content")), uuid=uuid, isMeta=is_meta)
                if data.get("transformedContent") or data.get("attachments"):
                    out.note(kind)
            case "assistant.message":
                self._answer(data, uuid)
            case "tool.user_requested":
                self.shell.add(to_text(data.get("toolCallId")))
                arguments = data.get("arguments")
                command = arguments.get("command") if isinstance(arguments, dict) else arguments
                out.user(f"<bash-input>{to_text(command)}</bash-input>", uuid=uuid)
            case "tool.execution_complete":
                self._result(data, uuid)
            case "system.message":
                out.system(to_text(data.get("content")), uuid=uuid)
            case "system.notification":
                content = to_text(data.get("content")) or to_text(data.get("message"))
                out.user(content, uuid=uuid, isMeta=True)
            case "session.error" | "session.info" | "session.warning" | "session.task_complete":
                text = to_text(data.get("message")) or to_text(data.get("summary"))
                level = "error" if kind == "session.error" else "info"
                out.system(text, uuid=uuid, level=level)
            case "session.compaction_complete" if data.get("success") is not False:
                out.compaction(
                    to_text(data.get("summaryContent")) or None,
                    trigger=to_text(data.get("trigger")) or "auto",
                    preTokens=data.get("preCompactionTokens"),
                    postTokens=data.get("postCompactionTokens"),
                )
                usage = _read_figures(data.get("compactionTokensUsed"))
                self._service(event, data.get("model"), usage)
            case "session.truncation":
                removed = to_count(data.get("messagesRemovedDuringTruncation"))
                out.system(f"{removed} messages removed from the context", uuid=uuid)
                out.note(kind)
            case "session.context_cleared":
                out.parent = None
                out.note(kind)
            case "session.snapshot_rewind":
                self._rewind(data)
                out.note(kind)
            case "subagent.started":
                call = to_text(data.get("toolCallId"))
                self.agents[call] = to_text(event.get("agentId")) or call
                out.note(kind)
            case "session.usage_checkpoint":
                self.checkpoint = data
                out.note(kind)
            case "session.shutdown":
                out.note(kind)
                self.checkpoint = {}
                self._leg(event, data.get("modelMetrics"))
            case _ if kind.partition(".")[0] in FAMILIES:
                out.note(kind)

    def _uuid(self, event: Fields) -> str | None:
        return to_text(event["id"]) if isinstance(event.get("id"), str) and event["id"] else None

    def _context(self, data: Fields) -> None:
        out, context = self.out, data.get("context")
        out.version = to_text(data.get("copilotVersion")) or out.version
        self.model = to_text(data.get("selectedModel")) or self.model
        if isinstance(context, dict):
            out.cwd = to_text(context.get("cwd")) or out.cwd
            out.git_branch = to_text(context.get("branch")) or out.git_branch

    def _answer(self, data: Fields, uuid: str | None) -> None:
        blocks: list[Fields] = []
        if reasoning := to_text(data.get("reasoningText")):
            blocks.append(
                make_thinking_block(reasoning, to_text(data.get("reasoningOpaque")) or None)
            )
        if content := to_text(data.get("content")):
            blocks.append(make_text_block(content))
        for request in iter_dicts(data.get("toolRequests")):
            id_, name = to_text(request.get("toolCallId")), to_text(request.get("name"))
            blocks.append(make_call_block(id_, name, request.get("arguments")))
        response = to_text(data.get("apiCallId")) or to_text(data.get("messageId"))
        model = to_text(data.get("model")) or self.model
        usage = None
        if response and response not in (known for known, _ in self.responses[-1:]):
            usage = self._next_request(data)
            self.responses.append((response, model))
        self.out.assistant(
            blocks, id=response or self.out.make_uuid(data), uuid=uuid, model=model, usage=usage
        )

    def _next_request(self, data: Fields) -> dict[str, int] | None:
        """Return the usage of a response: of the row that names it, else of the next row."""
        names = {to_text(data.get(name)) for name in ("apiCallId", "requestId", "messageId")} - {""}
        ids = ("api_call_id", "apicallid", "request_id", "message_id")
        for number, row in enumerate(self.requests):
            if names & {to_text(row.get(name)) for name in ids}:
                return _row_usage(self.requests.pop(number))
        is_named = any(row.get(name) for row in self.requests for name in ids)
        return _row_usage(self.requests.pop(0)) if self.requests and not is_named else None

    def _result(self, data: Fields, uuid: str | None) -> None:
        call, result = to_text(data.get("toolCallId")), data.get("result")
        error = data.get("error")
        content = to_text(result.get("content")) if isinstance(result, dict) else to_text(result)
        if isinstance(error, dict):
            content = content or to_text(error.get("message"))
        if call in self.shell:
            self.out.user(f"<bash-stdout>{content}</bash-stdout>", uuid=uuid)
            return
        detail: Any = None
        if call in self.agents:
            detail = {"agentId": self.agents[call], "status": "completed"}
        is_error = data.get("success") is False
        self.out.result(call, content, is_error=is_error, detail=detail, uuid=uuid)
        if isinstance(result, dict) and result.get("detailedContent") not in (None, content):
            self.out.note("tool.execution_complete")

    def _rewind(self, data: Fields) -> None:
        removed = data.get("eventIds")
        first = removed[0] if isinstance(removed, list) and removed else data.get("upToEventId")
        parent = self.parents.get(to_text(first))
        if parent is not None:
            self.out.leaf(parent)

    def _leg(self, event: Fields, metrics: object) -> None:
        """Write the tokens of a run of the client, where its requests are not known one by one."""
        if self.has_rows:
            return
        for model, figures in metrics.items() if isinstance(metrics, dict) else ():
            total = _read_figures(figures.get("usage") if isinstance(figures, dict) else None)
            before = self.counted.get(model, {})
            if any(total[name] < count for name, count in before.items()):
                before = {}  # the client counts anew after a compaction
            self.counted[model] = total
            usage = {name: count - before.get(name, 0) for name, count in total.items()}
            self._service(event, model, usage)

    def _service(self, event: Fields, model: object, usage: dict[str, int]) -> None:
        """Write tokens that belong to no response of the conversation."""
        if not any(usage.values()):
            return
        out = self.out
        parent, agent = out.parent, out.agent
        id_ = out.make_uuid(event.get("id"), model, "usage")
        out.parent, out.agent = None, f"aside_question-{id_[:8]}"
        out.assistant([], id=id_, uuid=id_, model=to_text(model) or self.model, usage=usage)
        out.parent, out.agent = parent, agent

    def end(self) -> None:
        """Count a run that ended without a word by its last checkpoint."""
        metrics = self.checkpoint.get("providerModelMetrics")
        self._leg(self.checkpoint, metrics)


def _read_figures(figures: object) -> dict[str, int]:
    """Return tokens as the client sums them: what was read from the cache is part of the input."""
    figures = figures if isinstance(figures, dict) else {}
    read = to_count(figures.get("cacheReadTokens", figures.get("cacheRead")))
    written = to_count(figures.get("cacheWriteTokens", figures.get("cacheWrite")))
    sent = to_count(figures.get("inputTokens", figures.get("input")))
    return {
        "input_tokens": max(sent - read - written, 0),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": to_count(figures.get("outputTokens", figures.get("output"))),
    }


def _row_usage(row: Fields) -> dict[str, int]:
    usage = {
        name: next((to_count(row[column]) for column in columns if column in row), 0)
        for name, columns in USAGE_COLUMNS.items()
    }
    cached = usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
    usage["input_tokens"] = max(usage["input_tokens"] - cached, 0)
    return usage
