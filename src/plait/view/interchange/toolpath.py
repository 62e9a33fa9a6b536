"""Sessions to a graph of steps in Toolpath: each session a path, its abandoned ways dead ends.

A path holds the steps of a session, each with the one that it hangs on; what is not an ancestor
of its head was abandoned, or taken back. Agents are paths that begin at the step that sent them
out; a session that another goes on from is the base of its path.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote

from plait.conversation.model import Compacted, Conversation, Response
from plait.conversation.totals import counted_once
from plait.conversation.usage import NOTHING
from plait.graph.paths import SPOKEN
from plait.view.costs import CostOf
from plait.view.interchange.left_out import account_of, note_of
from plait.view.interchange.steps import CLIENT, Step, Steps, given, known_time, steps_of
from plait.view.interchange.toolpath_changes import (
    Changes,
    actor_of,
    address_of,
    definition_of,
    settle_figures,
)
from plait.view.passages.stream import Manner
from plait.view.usage import tokens_object

KIND = "https://toolpath.net/kinds/agent-coding-session/v1.2.0"
NEVER = "1970-01-01T00:00:00.000Z"
"""Every step has a time; this one where nothing near it says any."""


class SessionFacts(NamedTuple):
    """What is known of a session besides its conversations."""

    lines: Sequence[str] = ()
    """Its conversations; those of agents may be among them."""
    leaf: str | None = None
    """The record that the client would go on from."""
    title: str | None = None
    directory: str | None = None
    branch: str | None = None
    versions: Sequence[str] = ()


@dataclass(frozen=True)
class Woven:
    """Sessions that share records, as far as they are told."""

    conversations: Mapping[str, Conversation]
    sessions: Mapping[str, SessionFacts]
    hangs_on: Callable[[str], str | None]
    """By record: the one that it really hangs on."""
    away: Counter[str] = field(default_factory=Counter)
    """Whole conversations that are not wanted."""


@dataclass
class Graph:
    """A document, and what it does not hold."""

    document: dict[str, Any]
    left_out: Counter[str]


def graph_of(
    woven: Woven, manner: Manner, cost_of: CostOf, name: str, taken: set[str] | None = None
) -> Graph:
    """Returns sessions as a graph; names of paths that are taken are not given again."""
    writing = _Writing(woven, manner, cost_of, taken if taken is not None else set())
    writing.name_all()
    paths = [path for group in writing.groups for path in writing.path(group)]
    titles = (one.title for one in woven.sessions.values())
    return writing.graph(name, paths, next(filter(None, titles), None))


def joined(graphs: Sequence[Graph], name: str) -> dict[str, Any]:
    """Returns several graphs as one."""
    left_out = sum((one.left_out for one in graphs), Counter[str]())
    accounts = [one.document["meta"]["account"] for one in graphs]
    paths = [path for one in graphs for path in one.document["paths"]]
    return _document(name, paths, None, _summed(accounts), left_out, {})


class _Group(NamedTuple):
    """Conversations that make one path."""

    id: str
    session: str
    lines: Sequence[Conversation]
    is_agent: bool


@dataclass
class _Writing:
    woven: Woven
    manner: Manner
    cost_of: CostOf
    taken: set[str]
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
        """Makes all steps, and gives paths and steps their names."""
        told = self.woven.conversations
        self.steps = {name: steps_of(one, self.manner) for name, one in told.items()}
        self.counted = {
            (one.id, number): response for one, number, response in counted_once(told.values())
        }
        for group in self._grouped():
            self.groups.append(group)
            used: set[str] = set()
            for line in group.lines:
                self.path_ids[line.id] = group.id
                steps = self.steps[line.id]
                for step in steps.steps:
                    self.ids[id(step)] = _free(steps.record(step.first), used)
        self.changes = Changes(self.manner, self.cost_of, self.counted, self.path_ids)

    def _grouped(self) -> Iterator[_Group]:
        told = self.woven.conversations
        ways: dict[str, list[Conversation]] = {}
        for session, facts in self.woven.sessions.items():
            lines = (told[name] for name in facts.lines if name in told)
            ways[session] = [one for one in lines if one.kind in SPOKEN]
            if ways[session]:
                yield _Group(_free(session, self.taken), session, ways[session], is_agent=False)
        known = {one.id for lines in ways.values() for one in lines}
        for one in told.values():
            if one.id not in known:
                is_agent = one.kind not in SPOKEN
                yield _Group(_free(one.id, self.taken), one.session, [one], is_agent)

    def path(self, group: _Group) -> Iterator[dict[str, Any]]:
        """Yields the path of a session or an agent; none where nothing of it is told."""
        account = _summed([account_of(self.steps[one.id]) for one in group.lines])
        self.accounts.append(account)
        facts = self.woven.sessions.get(group.session, SessionFacts())
        actors: dict[str, dict[str, str]] = {}
        steps = [
            step for line in group.lines for step in self._line_steps(group, line, facts, actors)
        ]
        settle_figures(steps)
        if steps:
            identity = {"id": group.id, "base": self._base(group, facts)}
            identity["head"] = self._head(group, facts)
            meta = self._meta(group, facts, steps, actors)
            yield {
                "path": given(identity),
                "steps": steps,
                "meta": {**meta, "actors": actors, "account": account},
            }

    def graph(self, name: str, paths: list[dict[str, Any]], title: str | None) -> Graph:
        """Returns the whole document."""
        left_out = self.changes.lost() + self.woven.away
        for one in self.steps.values():
            left_out.update(one.left_out)
        left_out["times"] += self.times
        missing = [one for key, one in self.counted.items() if key not in self.changes.told]
        tokens = tokens_object(sum((one.tokens for one in missing), NOTHING))
        rest = {"not_in_steps": {"responses": len(missing), **tokens}} if missing else {}
        account = _summed(self.accounts)
        return Graph(_document(name, paths, title, account, left_out, rest), +left_out)

    def _line_steps(
        self,
        group: _Group,
        line: Conversation,
        facts: SessionFacts,
        actors: dict[str, dict[str, str]],
    ) -> Iterator[dict[str, Any]]:
        """Yields the steps of one conversation, each hung on the one that it follows."""
        made = self.steps[line.id]
        unseen = {uuid for turn in line.turns for uuid in turn.unseen}
        last, time = self._left_at(group, line), known_time(line.started)
        made_so_far: dict[int, None] = {}
        for step in made.steps:
            parent = last if step.fold is None else self._folded_at(made, step, made_so_far, last)
            actor = actor_of(line, step, is_agent=group.is_agent)
            time = self._time(step, time)
            self._define(actors, actor, line, step)
            identity: dict[str, Any] = {"id": self.ids[id(step)], "actor": actor}
            identity["timestamp"] = time
            if parent is not None:
                identity["parents"] = [self.ids[id(parent)]]
            refs = self._refs(group, line) if parent is None else None
            yield {
                "step": identity,
                "change": self._change(line, step, facts.directory),
                "meta": _step_meta(made, step, unseen) | given({"refs": refs}),
            }
            made_so_far[id(step)] = None
            last = step if step.fold is None else last

    def _change(self, line: Conversation, step: Step, directory: str | None) -> dict[str, Any]:
        found = self.changes.of(line, step, directory)
        if isinstance(step.first, Compacted) and step.first.preserved:
            at = self.steps[line.id].at
            kept = (at.get(uuid) for uuid in step.first.preserved)
            ids = dict.fromkeys(self.ids[id(one)] for one in kept if one is not None)
            next(iter(found.values()))["structural"]["kept"] = list(ids)
        return found

    def _left_at(self, group: _Group, line: Conversation) -> Step | None:
        """Returns the step of the same path that a conversation goes on from."""
        above = line.parent if line.kind in SPOKEN else None
        if above is None or self.path_ids.get(above) != group.id or above == line.id:
            return None
        return self.steps[above].at.get(line.attachment or "")

    def _folded_at(
        self, made: Steps, step: Step, before: Mapping[int, None], last: Step | None
    ) -> Step | None:
        """Returns what a step out of the reading order hangs on: as its record says, if it can."""
        above = self.woven.hangs_on(step.first.uuid) if step.first.uuid else None
        found = made.at.get(above) if above else None
        return found if found is not None and id(found) in before else last

    def _time(self, step: Step, before: str | None) -> str:
        found = known_time(step.first.time)
        self.times += found is None
        return found or before or NEVER

    def _define(
        self, actors: dict[str, dict[str, str]], actor: str, line: Conversation, step: Step
    ) -> None:
        if actor not in actors:
            model = line.responses[step.response].model if step.response is not None else None
            actors[actor] = definition_of(actor, model)

    def _refs(self, group: _Group, line: Conversation) -> list[dict[str, str]]:
        """Returns where a conversation goes on from, where the base of the path does not say it."""
        address = self._beginning(group, line) if line is not group.lines[0] else None
        return [{"rel": "continues", "href": address}] if address else []

    def _beginning(self, group: _Group, line: Conversation) -> str | None:
        """Returns the step of another path that a conversation begins at."""
        above = line.parent
        if above is None or above not in self.steps or self.path_ids[above] == group.id:
            return None
        step = self.steps[above].at.get(line.attachment or "")
        if step is None:
            return None
        parts = (quote(one, safe=":@#~") for one in (self.path_ids[above], self.ids[id(step)]))
        return f"toolpath:{'/'.join(parts)}"

    def _base(self, group: _Group, facts: SessionFacts) -> dict[str, str] | None:
        address = self._beginning(group, group.lines[0])
        if address:
            return {"uri": address}
        if not facts.directory:
            return None
        return given({"uri": address_of(facts.directory), "branch": facts.branch})

    def _head(self, group: _Group, facts: SessionFacts) -> str:
        """Returns the step that the client would go on from, else the last that is read."""
        if not group.is_agent and facts.leaf:
            for line in group.lines:
                step = self.steps[line.id].at.get(facts.leaf)
                if step is not None:
                    return self.ids[id(step)]
        lines = sorted(group.lines, key=lambda one: one.is_active)
        found = [step for one in lines for step in self.steps[one.id].inline]
        rest = [step for one in lines for step in self.steps[one.id].steps]
        return self.ids[id((found or rest)[-1])]

    def _meta(
        self,
        group: _Group,
        facts: SessionFacts,
        steps: Iterable[Mapping[str, Any]],
        actors: Mapping[str, Any],
    ) -> dict[str, Any]:
        first = group.lines[0]
        files = (name for one in steps for name, what in one["change"].items() if "raw" in what)
        version = {"version": facts.versions[-1]} if facts.versions else {}
        title = first.label if group.is_agent else facts.title
        return {
            "kind": KIND,
            "source": CLIENT,
            **given({"title": title or first.label, "session": group.session}),
            "files_changed": list(dict.fromkeys(files)),
            "producer": {"name": CLIENT, **version},
            "lines": [_line_facts(one) for one in group.lines],
        }


def _line_facts(line: Conversation) -> dict[str, Any]:
    names = "id kind label is_active parent attachment agent call started ended".split()
    return given({name: getattr(line, name) for name in names})


def _step_meta(made: Steps, step: Step, unseen: set[str]) -> dict[str, Any]:
    records = made.records(step)
    facts = {
        "line": made.conversation.id,
        "turn": step.turn,
        "records": records,
        "folded": step.fold.reason if step.fold else None,
        "folded_under": step.fold.under if step.fold else None,
        "is_unseen": any(one in unseen for one in records),
        "time": step.first.time if not known_time(step.first.time) else None,
    }
    return given(facts)


def _document(
    name: str,
    paths: list[dict[str, Any]],
    title: str | None,
    account: dict[str, Any],
    left_out: Counter[str],
    rest: Mapping[str, Any],
) -> dict[str, Any]:
    counts = {one: count for one, count in left_out.items() if count}
    told = given({"title": title, "description": note_of("Toolpath", left_out)})
    meta = {**told, "account": account, "left_out": counts, **rest}
    return {"graph": {"id": name}, "paths": paths, "meta": meta}


def _summed(accounts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    left_out, items, held = Counter[str](), 0, 0
    for one in accounts:
        left_out.update(one["left_out"])
        items += one["items"]
        held += one["held"]
    return {"items": items, "held": held, "left_out": dict(sorted(left_out.items()))}


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}~{number}", number + 1
    taken.add(found)
    return found
