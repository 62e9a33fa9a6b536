"""GitHub Copilot CLI: events, each naming the one before it as its parent.

    ~/.copilot/session-state/<session>/events.jsonl     before 0.0.37: session-state/<session>.jsonl
    ~/.copilot/session-state/<session>/workspace.yaml   with a summary, which is the title
    ~/.copilot/session-store.db                         a row for each request, with its tokens

After a rewind, an event names an earlier one. Events of sub-agents stand in the same file and name
the call that sent them. Events without a message are notes; what hangs on one hangs on its parent.

Tokens come from the database where it has them, a row for each request. Its rows name no response,
so they are given to the responses of the same agent in their order; what is left over is counted as
background requests. Without rows, tokens are known for a whole run of the client alone, when it ends
or at its last checkpoint, and are counted as a background request of that run.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from plait.sources.base import Source, SourceLog, iter_objects, open_database, parse_object
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
STATES = "session-state"
STORE = "session-store.db"
FAMILIES = frozenset(
    """
    abort agent assistant auto_mode_switch capabilities command commands elicitation exit_plan_mode
    external_tool hook human_response mcp mcp_app model pending_messages permission
    prompt_cache_break sampling sandbox session session_limits_exhausted skill subagent system tool
    tool_search ui user user_input workflow
    """.split()
)
"""The known families of events; those without a message are notes."""
SUMMARY = re.compile(r"^(?:summary|name):[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
MOST_REQUESTS = 10_000
UNIT = 1e9
"""Copilot counts its own unit in billionths."""
TEXTS = {
    "session.error": "message",
    "session.info": "message",
    "session.warning": "message",
    "session.task_complete": "summary",
    "session.handoff": "summary",
    "subagent.failed": "error",
    "abort": "reason",
}
"""Events that tell the user something, and the field with the words."""


class Copilot(Source):
    """The logs of GitHub Copilot CLI."""

    name = "copilot"
    title = "Copilot CLI"
    roots = ROOTS["copilot"]
    verified = "1.0.78"

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return the session of a file that begins with the event of its start."""
        events = [parse_object(head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0])]
        if path.name == EVENTS and path.parent.parent.name == STATES:
            events = [*iter_objects(head)]  # the first may have been damaged
        start = next((event for event in events if event.get("type") == "session.start"), {})
        data = start.get("data")
        if not isinstance(data, dict):
            if path.name != EVENTS or not any(map(_is_event, events)):
                return []
            data = {}
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


def _is_event(event: Fields) -> bool:
    known = to_text(event.get("type")).partition(".")[0] in FAMILIES
    return known and {"id", "timestamp", "parentId", "data"} <= event.keys()


def read_summary(events: Path) -> str | None:
    """Return the title in the file beside a session's events."""
    if events.name != EVENTS:
        return None
    try:
        text = events.with_name("workspace.yaml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = SUMMARY.search(text)
    return match[1].strip("'\"") or None if match else None


def read_usage(events: Path, session: str) -> list[Fields]:
    """Return the rows of a session's requests, in order; none without the database."""
    store = next((above / STORE for above in events.parents if (above / STORE).is_file()), None)
    if store is None:
        return []
    try:
        with closing(open_database(store)) as base:
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
        """The rows that are not yet given to a response."""
        self.all_rows = [*requests]
        self.has_rows = bool(requests)
        self.title: str | None = None
        self.model: str | None = None
        self.uuids: dict[str, str | None] = {}
        """The uuid for each event; for a note that of its parent."""
        self.parents: dict[str, str | None] = {}
        """The uuid for the parent of each event."""
        self.root: str | None = None
        """What an event without a parent hangs on: nothing, but for a rewind to the start."""
        self.ends: dict[str, str | None] = {}
        """The last uuid of each sub-agent."""
        self.agents: dict[str, str] = {}
        """The sub-agents by the calls that started them."""
        self.shell: set[str] = set()
        """Commands that the user ran."""
        self.responses: set[str] = set()
        self.checkpoint: Fields = {}
        """The last figures of a run that has not ended."""
        self.compactions: list[tuple[object, Fields]] = []
        """The models and tokens of compactions in this run."""
        self.counted: dict[str, dict[str, int]] = {}
        """The totals of earlier runs, by model: a resumed session's figures contain them."""
        self.sent: Counter[str] = Counter()
        """The requests of the runs before, by model."""
        self.units = 0
        """Copilot's units in billionths that the runs before came to."""

    def read(self, line: SourceLine) -> None:
        """Translate one event."""
        out, event = self.out, line.fields
        data = event.get("data")
        data = data if isinstance(data, dict) else {}
        kind = to_text(event.get("type"))
        out.timestamp = to_text(event.get("timestamp")) or out.timestamp
        before = self.uuids.get(to_text(event.get("parentId")), out.parent)
        if event.get("parentId") is None:
            before = self.root
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
                    self.counted, self.units, self.root = {}, 0, None
                    self.sent.clear()
                self._context(data)
                out.note(kind)
            case "session.model_change":
                self.model = to_text(data.get("newModel")) or self.model
                out.note(kind)
            case "session.title_changed":
                self.title = to_text(data.get("title")) or self.title
                out.note(kind)
            case "user.message":
                is_typed = data.get("source") in (None, "", "user")
                is_meta = not is_typed or data.get("isAutopilotContinuation") is True or None
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
            case _ if kind in TEXTS and data.get(TEXTS[kind]):
                level = "error" if kind in ("session.error", "subagent.failed") else "info"
                out.system(to_text(data[TEXTS[kind]]), uuid=uuid, level=level)
            case "session.compaction_complete" if data.get("success") is not False:
                out.compaction(
                    to_text(data.get("summaryContent")) or None,
                    trigger=to_text(data.get("trigger")) or "auto",
                    preTokens=data.get("preCompactionTokens"),
                    postTokens=data.get("postCompactionTokens"),
                )
                used = data.get("compactionTokensUsed")
                used = used if isinstance(used, dict) else {}
                self.compactions.append((used.get("model") or data.get("model"), used))
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
                self._leg(event.get("id"), data)
            case "assistant.usage" if not self.requests:
                out.note(kind)
                self.has_rows = True
                model, units = data.get("model"), data.get("copilotUsage")
                units = units.get("totalNanoAiu") if isinstance(units, dict) else None
                self._service(event.get("id"), model, _read_figures(data), to_count(units))
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
        usage, units = None, None
        if response and response not in self.responses:
            self.responses.add(response)
            if row := self._take_row(model):
                model = to_text(row.get("model")) or model
                usage, units = _read_row(row), _read_units(row.get("total_nano_aiu"))
        self.out.assistant(
            blocks,
            id=response or self.out.make_uuid(data),
            uuid=uuid,
            model=model,
            usage=usage,
            agentUnits=units,
        )

    def _take_row(self, model: str | None) -> Fields | None:
        """Return the next row of the agent that is speaking, of its model if there is one."""
        agent = self.out.agent
        own = [
            number
            for number, row in enumerate(self.requests)
            if agent in (row.get("agent_id") or None, row.get("parent_tool_call_id") or None)
        ]
        same = [number for number in own if self.requests[number].get("model") == model]
        return self.requests.pop((same or own)[0]) if own else None

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
        first = to_text(
            removed[0] if isinstance(removed, list) and removed else data.get("upToEventId")
        )
        if first in self.parents:
            before = self.parents[first]
            self.out.rewind(before)
            if before is None:
                self.root = self.out.parent
            for id_, uuid in self.uuids.items():
                if uuid == before:  # what comes next may name the last event that was kept
                    self.uuids[id_] = self.out.parent

    def _leg(self, event: object, data: Fields) -> None:
        """Write the tokens of a run of the client whose requests are not known one by one."""
        if self.has_rows:
            return
        compactions, self.compactions = self.compactions, []
        metrics = _read_metrics(data)
        units = to_count(data.get("totalNanoAiu"))
        units, self.units = units - (self.units if units >= self.units else 0), units
        for model, figures in metrics.items():
            total = _read_figures(figures.get("usage"))
            before = self.counted.get(model, {})
            if any(total[name] < count for name, count in before.items()):
                before = {}  # the client counts anew
            self.counted[model] = total
            usage = {name: count - before.get(name, 0) for name, count in total.items()}
            self._requests(event, model, usage, self._count_requests(model, figures), units)
            units = 0
        self._service(event, None, {}, units)
        for number, (name, used) in enumerate(compactions):
            if not _holds_compaction(metrics.get(to_text(name), {})):
                self._service((event, "compaction", number), name, _read_figures(used), 0)

    def _count_requests(self, model: str, figures: Fields) -> int:
        requests = figures.get("requests")
        count = to_count(requests.get("count") if isinstance(requests, dict) else None)
        before, self.sent[model] = self.sent[model], count
        return count - before if count >= before else count

    def _requests(
        self, event: object, model: str, usage: dict[str, int], requests: int, units: int
    ) -> None:
        """Write the tokens of several requests: each its share, since long ones cost more."""
        requests = min(max(requests, 1), MOST_REQUESTS)
        for number in range(requests):
            share = {
                name: count // requests + (number < count % requests)
                for name, count in usage.items()
            }
            self._service((event, number), model, share, 0 if number else units)

    def _service(self, event: object, model: object, usage: dict[str, int], units: int) -> None:
        """Write tokens that belong to no response of the conversation."""
        if not any(usage.values()) and not units:
            return
        out = self.out
        parent, agent = out.parent, out.agent
        id_ = out.make_uuid(event, model, "usage")
        out.parent, out.agent = None, f"aside_question-{id_[:8]}"
        name = to_text(model) or self.model
        out.assistant([], id=id_, uuid=id_, model=name, usage=usage, agentUnits=_read_units(units))
        out.parent, out.agent = parent, agent

    def end(self) -> None:
        """Count requests without a response, and a run that ended without a word."""
        for row in self.requests:
            key, units = row.get("id") or tuple(map(str, row.values())), row.get("total_nano_aiu")
            self._service(("row", key), row.get("model"), _read_row(row), to_count(units))
        rows = [(_read_row(row), row.get("model")) for row in self.all_rows]
        self.compactions = [
            (model, used)
            for model, used in self.compactions
            if (_read_figures(used), model) not in rows
        ]
        self.has_rows = False
        self._leg("checkpoint", self.checkpoint if not rows else {})


def _read_metrics(data: Fields) -> dict[str, Fields]:
    """Return the figures of a run or a checkpoint by model, in whichever form they come."""
    snapshot = data.get("accountingSnapshot")
    for place in (data, snapshot if isinstance(snapshot, dict) else {}):
        if isinstance(metrics := place.get("modelMetrics"), dict) and metrics:
            return {name: value for name, value in metrics.items() if isinstance(value, dict)}
        found: dict[str, Fields] = {}
        listed = place.get("providerModelMetrics")
        for row in iter_dicts(listed):  # by provider: the same model may come from several
            metrics = row.get("metrics")
            name = f"{to_text(row.get('modelId'))}"
            if not isinstance(metrics, dict):
                continue
            if name in found:
                usage, more = _read_raw(found[name]), _read_raw(metrics)
                metrics = {"usage": {key: usage[key] + more[key] for key in usage}}
            found[name] = metrics
        if found:
            return found
    return {}


def _read_raw(metrics: Fields) -> dict[str, int]:
    usage = metrics.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    return {name: to_count(usage.get(name)) for name in names}


def _holds_compaction(figures: Fields) -> bool:
    """Return whether a model's sums contain compactions: its details always do."""
    details, usage = figures.get("tokenDetails"), _read_raw(figures)
    if not isinstance(details, dict) or not details:
        return False
    counts = {
        name: to_count(value.get("tokenCount") if isinstance(value, dict) else None)
        for name, value in details.items()
    }
    sent = sum(count for name, count in counts.items() if name != "output")
    return sent == usage["inputTokens"] and counts.get("output") == usage["outputTokens"]


def _read_units(billionths: object) -> float | None:
    return to_count(billionths) / UNIT or None


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


def _read_row(row: Fields) -> dict[str, int]:
    names = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
    names |= {"cacheReadTokens": "cache_read_tokens", "cacheWriteTokens": "cache_write_tokens"}
    return _read_figures({name: row.get(column) for name, column in names.items()})
