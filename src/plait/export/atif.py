"""A transcript as a trajectory in ATIF, Harbor's format: one line of steps from first to last.

Each response of the model is one step, with its calls and their results; agents are trajectories of
their own, in the same document or in files beside it. A line has no branches and nothing out of
order: what it cannot represent is counted in `extra` and noted in `notes`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plait.conversation.costs import (
    CostFunction,
    iter_agents_launched,
    keep_responses_on_path,
    unique_responses,
)
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
from plait.conversation.usage import NO_TOKENS, Tokens, tokens_to_json
from plait.export.formats import INTERCHANGE_ENDINGS
from plait.export.steps import (
    BY_PEOPLE,
    CLIENT,
    FOLDED,
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
from plait.record.codec import drop_none
from plait.view.passages import RenderOptions
from plait.view.transcript.heading import Transcript
from plait.view.transcript.json_form import list_agents

VERSION = "ATIF-v1.8"
OF_HEADING = "path of status fork_point title project directory branch started ended".split()
OF_COMPACTION = "text trigger pre_tokens post_tokens duration_ms preserved".split()
OF_RESULT = "outcome exit_code feedback persisted".split()
OF_RESPONSE = "id request stop_reason is_error logged_cost".split()


@dataclass
class Trajectory:
    """A document, its image files, and what it does not contain."""

    document: dict[str, Any]
    pictures: Pictures
    left_out: Counter[str]


def build_trajectory(
    transcript: Transcript, manner: RenderOptions, cost_of: CostFunction, folder: str | None = None
) -> Trajectory:
    """Return a transcript as a trajectory; images are saved if a folder for them is given."""
    own, agents = transcript.conversation, list_agents(transcript, manner)
    if manner.agents == "files" and manner.has_tools:  # only those without a file of their own
        unnamed = (transcript.by_line[name] for name in transcript.unnamed)
        agents = [agent for agent in unnamed if agent.kind in SPOKEN]
    writing = _TrajectoryWriter(transcript, manner, cost_of, Pictures(folder))
    writing.count([own, *agents])
    root = writing.trajectory(own)
    below = [writing.trajectory(agent) for agent in agents]
    if transcript.unnamed and manner.has_tools:
        root["steps"].append(writing.unnamed_step(len(root["steps"]) + 1))
    if not manner.has_tools:
        writing.left_out["agents"] += len(list_agents(transcript, RenderOptions()))
    root["final_metrics"]["total_cost_usd"] = transcript.heading.totals.cost_usd
    for trajectory in (root, *below):
        # Every trajectory has at least one step, even that of an empty conversation.
        if not trajectory["steps"]:
            empty = {"step_id": 1, "source": "system", "message": "", "extra": {"kind": "empty"}}
            trajectory["steps"].append(empty)
        figures = {**trajectory["final_metrics"], "total_steps": len(trajectory["steps"])}
        trajectory["final_metrics"] = drop_none(figures)
        trajectory["extra"] = drop_empty(trajectory["extra"])
    document = drop_empty({**writing.headed(root), "subagent_trajectories": below})
    return Trajectory(document, writing.pictures, +writing.left_out)


@dataclass
class _TrajectoryWriter:
    transcript: Transcript
    manner: RenderOptions
    cost_of: CostFunction
    pictures: Pictures
    left_out: Counter[str] = field(default_factory=Counter)
    counted: dict[str, dict[int, Response]] = field(default_factory=dict)
    """The responses whose usage is included here, by conversation and number."""

    def count(self, conversations: Sequence[Conversation]) -> None:
        """Choose where the usage of each response is included: it counts once."""
        path, *agents = conversations
        own = keep_responses_on_path(path)
        kept = {id(response) for response in own.responses}
        numbers = [place for place, response in enumerate(path.responses) if id(response) in kept]
        for conversation, number, response in unique_responses([own, *agents]):
            place = numbers[number] if conversation is own else number
            self.counted.setdefault(conversation.id, {})[place] = response

    def trajectory(self, conversation: Conversation) -> dict[str, Any]:
        """Return one conversation; what does not fit into a line is counted."""
        made = build_steps(conversation, self.manner)
        folded = sum(len(step.held) for step in made.steps if step.fold)
        if folded:
            made.left_out[FOLDED] += folded
            made.steps = made.inline
        numbers = {id(step): number for number, step in enumerate(made.steps, 1)}
        leaving = [(branch, numbers.get(id(step))) for branch, step in made.leaving]
        self.left_out.update(made.left_out)
        self.left_out["branches"] += sum(branch.kind == "branch" for branch, _ in leaving)
        return {
            "schema_version": VERSION,
            "session_id": conversation.session,
            "trajectory_id": conversation.id,
            "agent": self._agent(conversation),
            "steps": [self._step(made, step, number) for number, step in enumerate(made.steps, 1)],
            "final_metrics": self._totals(made),
            "extra": {
                **{name: getattr(conversation, name) for name in ("kind", "label", "agent")},
                "account": count_items(made),
                "branches": [
                    drop_empty({"to": branch.to, "label": branch.label, "after_step": at})
                    for branch, at in leaving
                ],
            },
        }

    def unnamed_step(self, number: int) -> dict[str, Any]:
        """Return the step that names agents which no call names."""
        refs = [ref for name in self.transcript.unnamed for ref in self._refs([name])]
        results = [{"subagent_trajectory_ref": [ref]} for ref in refs]
        extra = {"kind": "agents without a call"}
        step = {"step_id": number, "source": "system", "message": "", "extra": extra}
        return {**step, "observation": {"results": results}} if results else step

    def headed(self, trajectory: dict[str, Any]) -> dict[str, Any]:
        """Return a trajectory with the heading of its transcript."""
        head = self.transcript.heading
        self.left_out.update(self.pictures.lost)
        facts = {name: getattr(head, name) for name in OF_HEADING}
        counts = {name: count for name, count in self.left_out.items() if count}
        extra = {**facts, **trajectory["extra"], "left_out": counts}
        return {
            **trajectory,
            "notes": format_left_out_note("ATIF", self.left_out),
            "extra": drop_empty(extra),
        }

    def _agent(self, conversation: Conversation) -> dict[str, Any]:
        versions = self.transcript.heading.versions
        models = (
            response.model for response in conversation.responses if not response.is_synthetic
        )
        return drop_empty(
            {
                "name": CLIENT,
                "version": versions[-1] if versions else "unknown",
                "model_name": next((model for model in models if model), None),
                "extra": {"versions": versions} if len(versions) > 1 else None,
            }
        )

    def _totals(self, made: Steps) -> dict[str, Any]:
        """Return the sums over the steps, and the usage of responses that no step has."""
        line = made.conversation.id
        in_steps = {step.response for step in made.steps}
        own = self.counted.get(line, {})
        inside = _sum(response for number, response in own.items() if number in in_steps)
        outside = [response for number, response in own.items() if number not in in_steps]
        missing = {"responses": len(outside), **tokens_to_json(_sum(outside))} if outside else None
        below = iter_agents_launched(made.conversation.items(), self.transcript.by_line)
        lines = dict.fromkeys((line, *below))
        costs = [cost for name in lines for cost in self._costs(name)]
        return {
            "total_prompt_tokens": inside.total_input,
            "total_completion_tokens": inside.output,
            "total_cached_tokens": inside.cache_read,
            "total_cost_usd": sum(costs) if costs else None,
            "extra": {"not_in_steps": missing} if missing else None,
        }

    def _costs(self, line: str) -> list[float]:
        found = map(self.cost_of, self.counted.get(line, {}).values())
        return [cost for cost in found if cost is not None]

    def _step(self, made: Steps, step: Step, number: int) -> dict[str, Any]:
        first = step.first
        time = parse_known_time(first.time)
        extra = {"turn": step.turn, "records": made.records(step)}
        if first.time and not time:
            extra["time"] = first.time
        values: dict[str, Any]
        match first:
            case UserMessage():
                values = {
                    "source": "user" if first.kind in BY_PEOPLE else "system",
                    "message": self._content(get_typed_words(first), first.enclosures),
                    "extra": {
                        **{name: getattr(first, name) for name in PROMPT_FIELDS},
                        "enclosures": describe_enclosures(first.enclosures),
                    },
                }
            case LateResult():
                values = self._alone(first)
            case CompactionItem():
                facts = {name: getattr(first, name) for name in OF_COMPACTION}
                words = step.summary.text if step.summary else first.text
                values = {
                    "source": "system",
                    "message": words,
                    "extra": {"kind": "compaction", **facts},
                }
            case ClientNote():
                values = _note(first)
            case _:
                values = self._answer(made.conversation, step)
        found = {"step_id": number, "timestamp": time, **values}
        return drop_none({**found, "extra": drop_empty(extra | values["extra"])})

    def _alone(self, answer: LateResult) -> dict[str, Any]:
        """Return a result whose call is not in the conversation, or was answered before."""
        result = self._result(answer.result, None, ())
        extra = {"kind": "result", "call": answer.call, "name": answer.name}
        return {
            "source": "system",
            "message": "",
            "observation": {"results": [result]},
            "extra": extra | {"standing": answer.origin},
        }

    def _answer(self, conversation: Conversation, step: Step) -> dict[str, Any]:
        number = step.response or 0
        response = conversation.responses[number]
        thoughts = step.words(AssistantThinking)
        self.left_out["wordless"] += sum(
            isinstance(item, AssistantThinking) and not item.text for item in step.items
        )
        shown = [item.enclosure for item in step.items if isinstance(item, OtherBlock)]
        results = []
        for call in step.calls:
            refs = self._refs(call.agents)
            if call.result is not None or refs:
                results.append(self._result(call.result, call.call, refs))
        is_model = not response.is_synthetic
        metrics = self._metrics(conversation.id, number) if is_model else None
        return {
            "source": "agent",
            "model_name": response.model if is_model else None,
            "reasoning_effort": response.effort,
            "message": self._content(step.words(AssistantText), shown),
            "reasoning_content": thoughts or None if is_model else None,
            "tool_calls": [_call(call) for call in step.calls] or None,
            "observation": {"results": results} if results else None,
            "metrics": metrics,
            "llm_call_count": int(is_model),
            "extra": {
                **{name: getattr(response, name) for name in OF_RESPONSE},
                "thoughts": None if is_model else thoughts,
                "blocks": [f"{item.__struct_config__.tag}" for item in step.items],
                "enclosures": describe_enclosures(shown),
            },
        }

    def _metrics(self, line: str, number: int) -> dict[str, Any] | None:
        response = self.counted.get(line, {}).get(number)
        if response is None or response.usage is None:
            return None
        tokens = response.tokens
        figures = {
            "prompt_tokens": tokens.total_input,
            "completion_tokens": tokens.output,
            "cached_tokens": tokens.cache_read,
            "cost_usd": self.cost_of(response),
            "extra": {name: count for name, count in tokens_to_json(tokens).items() if count},
        }
        return drop_none(figures)

    def _result(
        self, result: Result | None, call: str | None, refs: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        if result is None:
            return {"source_call_id": call, "subagent_trajectory_ref": refs}
        extra = {
            **{name: getattr(result, name) for name in OF_RESULT},
            "enclosures": describe_enclosures(result.enclosures),
            "detail": result.detail if self.manner.depth == "all" else None,
        }
        found = {
            "source_call_id": call,
            "content": self._content(result.text, result.enclosures),
            "subagent_trajectory_ref": refs or None,
            "extra": drop_empty(extra),
        }
        return drop_none(found)

    def _refs(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """Return references to the agents of a call, as far as they exist."""
        refs = []
        for agent in map(self.transcript.by_line.get, names):
            if agent is None:
                continue
            ref = {"trajectory_id": agent.id, "session_id": agent.session}
            file = self.transcript.names.get(agent.id)
            if self.manner.agents == "files" and file:
                ref["trajectory_path"] = f"{file}.{INTERCHANGE_ENDINGS['atif']}"
            refs.append(ref)
        return refs

    def _content(self, words: str, enclosures: Sequence[Enclosure]) -> str | list[dict[str, Any]]:
        """Return text, with the images among it if they are saved."""
        places = [(enclosure, self.pictures.place(enclosure)) for enclosure in enclosures]
        kept = [
            {"type": "image", "source": {"media_type": enclosure.media_type, "path": place}}
            for enclosure, place in places
            if place
        ]
        text = [{"type": "text", "text": words}] if words else []
        return [*text, *kept] if kept else words


def _call(called: ToolCall) -> dict[str, Any]:
    is_object = isinstance(called.input, dict)
    extra = {
        "outcome": called.outcome,
        "is_server_side": called.is_server_side,
        "input": None if is_object else called.input,
    }
    return {
        "tool_call_id": called.call,
        "function_name": called.name,
        "arguments": called.input if is_object else {},
        "extra": drop_empty(extra),
    }


def _note(note: ClientNote) -> dict[str, Any]:
    extra = {"kind": note.kind, "subtype": note.subtype, "value": note.value}
    return {"source": "system", "message": note.text, "extra": extra}


def _sum(responses: Iterable[Response]) -> Tokens:
    return sum((response.tokens for response in responses), NO_TOKENS)
