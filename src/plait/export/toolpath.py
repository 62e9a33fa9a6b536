"""Sessions as a graph of steps in the Toolpath format, with file changes as diffs.

A path has the steps of a session, each with its predecessor; abandoned branches are dead ends.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote

from plait.conversation.costs import CostFunction, unique_responses
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    ClientNote,
    CompactionItem,
    Conversation,
    Enclosure,
    LateResult,
    OtherBlock,
    Response,
    Result,
    ToolCall,
    UserMessage,
)
from plait.conversation.patches import format_unified_diff, list_patches
from plait.conversation.tools import ToolKind, get_tool
from plait.conversation.usage import NO_TOKENS, tokens_to_json
from plait.export.steps import (
    BY_PEOPLE,
    CLIENT,
    PROMPT_FIELDS,
    Pictures,
    Step,
    Steps,
    build_steps,
    count_items,
    describe_enclosures,
    drop_empty,
    format_left_out_note,
    get_typed_words,
    parse_known_time,
)
from plait.graph.paths import SPOKEN
from plait.record.codec import as_mapping
from plait.view.passages import RenderOptions

CATEGORIES: Mapping[ToolKind, str] = {
    "read": "file_read",
    "edit": "file_write",
    "find": "file_search",
    "shell": "shell",
    "web": "network",
    "agent": "delegation",
}
ERRORS = frozenset({"failed", "rejected", "interrupted"})
TRIGGERS = ("auto", "manual")
HUMAN, TOOL, SENDER = "human:user", f"tool:{CLIENT}", f"agent:{CLIENT}"
UNNAMEABLE = re.compile(r"[^a-zA-Z0-9_.-]+")
DRIVE = re.compile(r"[A-Za-z]:[\\/]")
Change = dict[str, Any]


@dataclass
class StepChanges:
    """Describes what steps changed; counts what it cannot represent."""

    manner: RenderOptions
    cost_of: CostFunction
    counted: Mapping[tuple[str, int], Response]
    """The responses whose usage is included, by conversation and number."""
    paths: Mapping[str, str]
    """By conversation: its path."""
    left_out: Counter[str] = field(default_factory=Counter)
    reported: set[tuple[str, int]] = field(default_factory=set)
    """The responses whose usage was included."""
    _pictures: Pictures = field(default_factory=Pictures)

    def describe(self, conversation: Conversation, step: Step, directory: str | None) -> Change:
        """Return everything that a step changed, by artifact."""
        match step.first:
            case UserMessage() as message:
                role = "user" if message.kind in BY_PEOPLE else "system"
                facts = {name: getattr(message, name) for name in PROMPT_FIELDS}
                found = {
                    "type": "conversation.append",
                    "role": role,
                    "text": get_typed_words(message),
                }
                found = found | drop_empty(
                    {**facts, "enclosures": self._enclosed(message.enclosures)}
                )
            case LateResult() as answer:
                found = self._describe_result(answer)
            case CompactionItem() as point:
                found = _make_compaction(point, step)
            case ClientNote() as note:
                found = _make_event(note.kind, note.uuid, subtype=note.subtype, text=note.text)
                found |= drop_empty({"value": note.value})
            case _:
                found = self._describe_response(conversation, step)
        artifact = f"{CLIENT}://{conversation.agent or conversation.session}"
        return {artifact: {"structural": found}, **file_changes(step, directory)}

    def count_left_out(self) -> Counter[str]:
        """Return what could not be represented."""
        return self.left_out + self._pictures.lost

    def _describe_result(self, answer: LateResult) -> Change:
        found = _make_event("tool_result", answer.uuid, text=answer.result.text, name=answer.name)
        facts = {"call": answer.call, "standing": answer.origin}
        return found | facts | self._facts(answer.result)

    def _describe_response(self, conversation: Conversation, step: Step) -> Change:
        number = step.response or 0
        response = conversation.responses[number]
        thoughts = [item for item in step.items if isinstance(item, AssistantThinking)]
        self.left_out["wordless"] += sum(not thought.text for thought in thoughts)
        shown = [item.enclosure for item in step.items if isinstance(item, OtherBlock)]
        facts = {
            "thinking": step.words(AssistantThinking),
            "group_id": response.id,
            "tool_uses": [self._describe_call(call) for call in step.calls],
            "stop_reason": response.stop_reason,
            "delegations": [
                delegation for call in step.calls for delegation in self._delegations(call)
            ],
            "request": response.request,
            "is_error": response.is_error,
            "effort": response.effort,
            "blocks": [f"{item.__struct_config__.tag}" for item in step.items],
            "enclosures": self._enclosed(shown),
        }
        found = {
            "type": "conversation.append",
            "role": "assistant",
            "text": step.words(AssistantText),
        }
        return found | drop_empty(facts) | self._describe_usage(conversation.id, number)

    def _describe_usage(self, line: str, number: int) -> Change:
        response = self.counted.get((line, number))
        if response is None or (line, number) in self.reported:
            return {}
        self.reported.add((line, number))
        if response.usage is None:
            return {}
        tokens = response.tokens
        usage = {
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "cache_read_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
        }
        return {"token_usage": usage, **drop_empty({"cost_usd": self.cost_of(response)})}

    def _describe_call(self, called: ToolCall) -> Change:
        found = {
            "id": called.call,
            "name": called.name,
            "input": called.input,
            "category": CATEGORIES.get(get_tool(called.name).kind),
            "outcome": called.outcome,
        }
        result = called.result
        if result is None:
            return found
        is_error = result.outcome in ERRORS
        described = {"content": result.text, "is_error": is_error, **self._facts(result)}
        return {**found, "result": described}

    def _facts(self, result: Result) -> Change:
        return drop_empty(
            {
                "outcome": result.outcome,
                "exit_code": result.exit_code,
                "feedback": result.feedback,
                "persisted": result.persisted,
                "enclosures": self._enclosed(result.enclosures),
                "detail": result.detail if self.manner.depth == "all" else None,
            }
        )

    def _delegations(self, called: ToolCall) -> list[Change]:
        prompt = as_mapping(called.input).get("prompt")
        words = prompt if isinstance(prompt, str) else ""
        result = called.result.text if called.result else None
        return [
            {"agent_id": name.rpartition("#")[2], "prompt": words}
            | drop_empty({"result": result, "path": self.paths.get(name)})
            for name in called.agents
        ]

    def _enclosed(self, enclosures: Sequence[Enclosure]) -> list[Change]:
        for enclosure in enclosures:
            self._pictures.place(enclosure)
        return describe_enclosures(enclosures)


def move_figures_to_last_step(steps: Sequence[Mapping[str, Any]]) -> None:
    """Move the usage of each response to its last step in a path, where readers look for it."""
    last: dict[str, Change] = {}
    changes = (change for step in reversed(steps) for change in step["change"].values())
    for change in changes:
        turn = change.get("structural", {})
        if "group_id" not in turn:
            continue
        kept = last.setdefault(turn["group_id"], turn)
        if kept is not turn and "token_usage" in turn:
            usage, sums = turn.pop("token_usage"), kept.setdefault("token_usage", {})
            sums.update({name: sums.get(name, 0) + count for name, count in usage.items()})
            if "cost_usd" in turn:
                kept["cost_usd"] = kept.get("cost_usd", 0) + turn.pop("cost_usd")


def get_actor(conversation: Conversation, step: Step, *, is_agent: bool) -> str:
    """Return who made a step: a user, a model, the client, or the parent of an agent."""
    first = step.first
    if isinstance(first, UserMessage) and first.kind in BY_PEOPLE:
        return SENDER if is_agent else HUMAN
    if step.response is None:
        return TOOL
    response = conversation.responses[step.response]
    if response.is_synthetic:
        return TOOL
    maker, _, name = (response.model or "unknown").rpartition("/")
    parts = (UNNAMEABLE.sub("-", part).strip("-") for part in (maker, name))
    return f"agent:{'/'.join(filter(None, parts)) or 'unknown'}"


def describe_actor(actor: str, model: str | None) -> dict[str, str]:
    """Return a description of an actor."""
    if actor == HUMAN:
        return {"name": "user"}
    if model is None or actor in (TOOL, SENDER):
        return {"name": "Claude Code"}
    provider = {"provider": "anthropic"} if model.startswith("claude") else {}
    return {"name": model, "model": model, **provider}


def _make_event(kind: str, uuid: str | None, **facts: Any) -> Change:
    source = {"event_source_id": uuid, **facts}
    return {"type": "conversation.event", "entry_type": kind, **drop_empty(source)}


def _make_compaction(point: CompactionItem, step: Step) -> Change:
    is_known = point.trigger in TRIGGERS
    facts = {
        "trigger" if is_known else "trigger_said": point.trigger,
        "summary": step.summary.text if step.summary else None,
        "pre_tokens": point.pre_tokens,
        "post_tokens": point.post_tokens,
        "duration_ms": point.duration_ms,
        "text": point.text,
    }
    return {"type": "conversation.compact", **drop_empty(facts)}


def file_changes(step: Step, directory: str | None) -> Change:
    """Return the files that the calls of a step changed, as patches by path."""
    found: Change = {}
    changes = ((called, patch) for called in step.calls for patch in list_patches(called))
    for called, patch in changes:
        diff = "\n".join(format_unified_diff(patch.path, patch.hunks, is_new=patch.is_new)) + "\n"
        known = found.get(get_artifact_name(patch.path, directory))
        if known:
            known["raw"] += diff
            known["structural"]["tool_ids"].append(called.call)
            continue
        operation = "add" if patch.is_new else "update"
        done = {"type": "file.write", "operation": operation, "tool": called.name}
        ids = {"tool_id": called.call, "tool_ids": [called.call]}
        found[get_artifact_name(patch.path, directory)] = {"raw": diff, "structural": done | ids}
    return found


def get_artifact_name(path: str, directory: str | None) -> str:
    """Return the name of an artifact: relative to the base of its path, else its URL."""
    plain = path.replace("\\", "/") if DRIVE.match(path) else path
    base = (directory or "").replace("\\", "/").rstrip("/")
    if base and plain.startswith(f"{base}/"):
        return plain.removeprefix(f"{base}/")
    return make_file_address(plain) if plain.startswith("/") or DRIVE.match(plain) else plain


def make_file_address(path: str) -> str:
    """Return the URL of an absolute path."""
    plain = path.replace("\\", "/") if DRIVE.match(path) else path
    return f"file:///{quote(plain.lstrip('/'), safe='/:', errors='replace')}"


KIND = "https://toolpath.net/kinds/agent-coding-session/v1.2.0"
LINE_FIELDS = "id kind label is_active parent attachment agent call started ended".split()
NEVER = "1970-01-01T00:00:00.000Z"
"""Every step has a time; this one if nothing nearby has any."""


class SessionFacts(NamedTuple):
    """What is known of a session besides its conversations."""

    lines: Sequence[str] = ()
    """Its conversations, possibly including agents'."""
    leaf: str | None = None
    """The record that the client would resume from."""
    title: str | None = None
    directory: str | None = None
    branch: str | None = None
    versions: Sequence[str] = ()


@dataclass(frozen=True)
class GraphInput:
    """Sessions that share records, as far as they are exported."""

    conversations: Mapping[str, Conversation]
    sessions: Mapping[str, SessionFacts]
    hangs_on: Callable[[str], str | None]
    """By record: its real parent."""
    away: Counter[str] = field(default_factory=Counter)
    """Conversations that are excluded."""


@dataclass
class Graph:
    """A document, and what it does not contain."""

    document: dict[str, Any]
    left_out: Counter[str]


def build_graph(
    woven: GraphInput,
    manner: RenderOptions,
    cost_of: CostFunction,
    name: str,
    used_names: set[str] | None = None,
) -> Graph:
    """Return sessions as a graph; path names in `used_names` are not reused."""
    writing = _GraphWriter(woven, manner, cost_of, used_names if used_names is not None else set())
    writing.name_all()
    paths = [path for group in writing.groups for path in writing.path(group)]
    titles = (session.title for session in woven.sessions.values())
    return writing.graph(name, paths, next(filter(None, titles), None))


def join_graphs(graphs: Sequence[Graph], name: str) -> dict[str, Any]:
    """Join several graphs."""
    left_out = sum((graph.left_out for graph in graphs), Counter[str]())
    accounts = [graph.document["meta"]["account"] for graph in graphs]
    paths = [path for graph in graphs for path in graph.document["paths"]]
    return _make_document(name, paths, None, _sum_accounts(accounts), left_out, {})


class _Group(NamedTuple):
    """Conversations that form one path."""

    id: str
    session: str
    lines: Sequence[Conversation]
    is_agent: bool


@dataclass
class _GraphWriter:
    woven: GraphInput
    manner: RenderOptions
    cost_of: CostFunction
    used_names: set[str]
    groups: list[_Group] = field(default_factory=list)
    steps: dict[str, Steps] = field(default_factory=dict)
    """By conversation."""
    ids: dict[int, str] = field(default_factory=dict)
    """The name of each step within its path."""
    path_ids: dict[str, str] = field(default_factory=dict)
    """By conversation: its path."""
    accounts: list[dict[str, Any]] = field(default_factory=list)
    counted: dict[tuple[str, int], Response] = field(default_factory=dict)
    times: int = 0
    """Times that the log does not say."""

    def name_all(self) -> None:
        """Build all steps, and name paths and steps."""
        conversations = self.woven.conversations
        self.steps = {name: build_steps(line, self.manner) for name, line in conversations.items()}
        self.counted = {
            (line.id, number): response
            for line, number, response in unique_responses(conversations.values())
        }
        for group in self._grouped():
            self.groups.append(group)
            used: set[str] = set()
            for line in group.lines:
                self.path_ids[line.id] = group.id
                steps = self.steps[line.id]
                for step in steps.steps:
                    self.ids[id(step)] = _make_free_name(steps.record(step.first), used)
        self.changes = StepChanges(self.manner, self.cost_of, self.counted, self.path_ids)

    def _grouped(self) -> Iterator[_Group]:
        conversations = self.woven.conversations
        ways: dict[str, list[Conversation]] = {}
        for session, facts in self.woven.sessions.items():
            lines = (conversations[name] for name in facts.lines if name in conversations)
            ways[session] = [line for line in lines if line.kind in SPOKEN]
            if ways[session]:
                yield _Group(
                    _make_free_name(session, self.used_names),
                    session,
                    ways[session],
                    is_agent=False,
                )
        known = {line.id for lines in ways.values() for line in lines}
        for line in conversations.values():
            if line.id not in known:
                is_agent = line.kind not in SPOKEN
                yield _Group(
                    _make_free_name(line.id, self.used_names), line.session, [line], is_agent
                )

    def path(self, group: _Group) -> Iterator[dict[str, Any]]:
        """Yield the path of a session or an agent; none if nothing of it is exported."""
        account = _sum_accounts([count_items(self.steps[line.id]) for line in group.lines])
        self.accounts.append(account)
        facts = self.woven.sessions.get(group.session, SessionFacts())
        actors: dict[str, dict[str, str]] = {}
        steps = [
            step for line in group.lines for step in self._line_steps(group, line, facts, actors)
        ]
        move_figures_to_last_step(steps)
        if steps:
            base = None
            if address := self._beginning(group, group.lines[0]):
                base = {"uri": address}
            elif facts.directory:
                address = make_file_address(facts.directory)
                base = drop_empty({"uri": address, "branch": facts.branch})
            identity = {"id": group.id, "base": base, "head": self._head(group, facts)}
            meta = self._meta(group, facts, steps, actors)
            yield {
                "path": drop_empty(identity),
                "steps": steps,
                "meta": {**meta, "actors": actors, "account": account},
            }

    def graph(self, name: str, paths: list[dict[str, Any]], title: str | None) -> Graph:
        """Return the whole document."""
        left_out = self.changes.count_left_out() + self.woven.away
        for step in self.steps.values():
            left_out.update(step.left_out)
        left_out["times"] += self.times
        missing = [
            response for key, response in self.counted.items() if key not in self.changes.reported
        ]
        tokens = tokens_to_json(sum((response.tokens for response in missing), NO_TOKENS))
        rest = {"not_in_steps": {"responses": len(missing), **tokens}} if missing else {}
        account = _sum_accounts(self.accounts)
        return Graph(_make_document(name, paths, title, account, left_out, rest), +left_out)

    def _line_steps(
        self,
        group: _Group,
        line: Conversation,
        facts: SessionFacts,
        actors: dict[str, dict[str, str]],
    ) -> Iterator[dict[str, Any]]:
        """Yield the steps of one conversation, each with its predecessor."""
        made = self.steps[line.id]
        unseen = {uuid for turn in line.turns for uuid in turn.unseen}
        # A branch continues a step of the same path.
        above, last = line.parent if line.kind in SPOKEN else None, None
        if above is not None and self.path_ids.get(above) == group.id and above != line.id:
            last = self.steps[above].at.get(line.attachment or "")
        time = parse_known_time(line.started)
        made_so_far: dict[int, None] = {}
        for step in made.steps:
            parent = last if step.fold is None else self._folded_at(made, step, made_so_far, last)
            actor = get_actor(line, step, is_agent=group.is_agent)
            found = parse_known_time(step.first.time)
            self.times += found is None
            time = found or time or NEVER
            if actor not in actors:
                model = line.responses[step.response].model if step.response is not None else None
                actors[actor] = describe_actor(actor, model)
            identity: dict[str, Any] = {"id": self.ids[id(step)], "actor": actor}
            identity["timestamp"] = time
            if parent is not None:
                identity["parents"] = [self.ids[id(parent)]]
            refs = self._refs(group, line) if parent is None else None
            change = self.changes.describe(line, step, facts.directory)
            if isinstance(step.first, CompactionItem) and step.first.preserved:
                kept = map(made.at.get, step.first.preserved)
                ids = dict.fromkeys(self.ids[id(kept_step)] for kept_step in kept if kept_step)
                next(iter(change.values()))["structural"]["kept"] = list(ids)
            records = made.records(step)
            details = {
                "line": made.conversation.id,
                "turn": step.turn,
                "records": records,
                "folded": step.fold.reason if step.fold else None,
                "folded_under": step.fold.under if step.fold else None,
                "is_unseen": any(record in unseen for record in records),
                "time": step.first.time if not parse_known_time(step.first.time) else None,
            }
            yield {
                "step": identity,
                "change": change,
                "meta": drop_empty(details | {"refs": refs}),
            }
            made_so_far[id(step)] = None
            last = step if step.fold is None else last

    def _folded_at(
        self, made: Steps, step: Step, before: Mapping[int, None], last: Step | None
    ) -> Step | None:
        """Return the predecessor of a folded step: as its record says, if possible."""
        above = self.woven.hangs_on(step.first.uuid) if step.first.uuid else None
        found = made.at.get(above) if above else None
        return found if found is not None and id(found) in before else last

    def _refs(self, group: _Group, line: Conversation) -> list[dict[str, str]]:
        """Return where a conversation continues from, unless the base of the path says it."""
        address = self._beginning(group, line) if line is not group.lines[0] else None
        return [{"rel": "continues", "href": address}] if address else []

    def _beginning(self, group: _Group, line: Conversation) -> str | None:
        """Return the step of another path where a conversation begins."""
        above = line.parent
        if above is None or above not in self.steps or self.path_ids[above] == group.id:
            return None
        step = self.steps[above].at.get(line.attachment or "")
        if step is None:
            return None
        parts = (quote(part, safe=":@#~") for part in (self.path_ids[above], self.ids[id(step)]))
        return f"toolpath:{'/'.join(parts)}"

    def _head(self, group: _Group, facts: SessionFacts) -> str:
        """Return the step that the client would resume from, else the last in reading order."""
        if not group.is_agent and facts.leaf:
            for line in group.lines:
                step = self.steps[line.id].at.get(facts.leaf)
                if step is not None:
                    return self.ids[id(step)]
        lines = sorted(group.lines, key=lambda line: line.is_active)
        found = [step for line in lines for step in self.steps[line.id].inline]
        rest = [step for line in lines for step in self.steps[line.id].steps]
        return self.ids[id((found or rest)[-1])]

    def _meta(
        self,
        group: _Group,
        facts: SessionFacts,
        steps: Iterable[Mapping[str, Any]],
        actors: Mapping[str, Any],
    ) -> dict[str, Any]:
        first = group.lines[0]
        files = (name for step in steps for name, what in step["change"].items() if "raw" in what)
        version = {"version": facts.versions[-1]} if facts.versions else {}
        title = first.label if group.is_agent else facts.title
        return {
            "kind": KIND,
            "source": CLIENT,
            **drop_empty({"title": title or first.label, "session": group.session}),
            "files_changed": list(dict.fromkeys(files)),
            "producer": {"name": CLIENT, **version},
            "lines": [
                drop_empty({name: getattr(line, name) for name in LINE_FIELDS})
                for line in group.lines
            ],
        }


def _make_document(
    name: str,
    paths: list[dict[str, Any]],
    title: str | None,
    account: dict[str, Any],
    left_out: Counter[str],
    rest: Mapping[str, Any],
) -> dict[str, Any]:
    counts = {kind: count for kind, count in left_out.items() if count}
    facts = drop_empty({"title": title, "description": format_left_out_note("Toolpath", left_out)})
    meta = {**facts, "account": account, "left_out": counts, **rest}
    return {"graph": {"id": name}, "paths": paths, "meta": meta}


def _sum_accounts(accounts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    left_out, items, held = Counter[str](), 0, 0
    for account in accounts:
        left_out.update(account["left_out"])
        items += account["items"]
        held += account["held"]
    return {"items": items, "held": held, "left_out": dict(sorted(left_out.items()))}


def _make_free_name(name: str, used_names: set[str]) -> str:
    found, number = name, 2
    while found in used_names:
        found, number = f"{name}~{number}", number + 1
    used_names.add(found)
    return found
