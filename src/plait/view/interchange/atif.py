"""A transcript to a trajectory in ATIF, Harbor's format: one line of steps from first to last.

Each answer of the model is one step, with its calls and their results; agents are trajectories
of their own, in the same document or in files beside it. A line has no branches and nothing out
of its order: what it cannot hold is counted in `extra` and said in `notes`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Enclosure,
    Noted,
    Response,
    Result,
    Said,
    Shown,
    Thought,
    Told,
)
from plait.conversation.totals import counted_once, with_own_responses
from plait.conversation.usage import NOTHING, Tokens
from plait.graph.paths import SPOKEN
from plait.view.costs import CostOf, agents_sent
from plait.view.interchange import ENDINGS
from plait.view.interchange.enclosures import Pictures, described
from plait.view.interchange.left_out import account_of, note_of
from plait.view.interchange.steps import (
    BY_PEOPLE,
    CLIENT,
    FOLDED,
    OF_TOLD,
    Step,
    Steps,
    given,
    known_time,
    steps_of,
    without_none,
    words_told,
)
from plait.view.passages.stream import Manner
from plait.view.transcript.heading import Transcript
from plait.view.transcript.json_form import agents_of
from plait.view.usage import tokens_object

VERSION = "ATIF-v1.8"
OF_HEADING = "path of status fork_point title project directory branch started ended".split()
OF_COMPACTION = "text trigger pre_tokens post_tokens duration_ms preserved".split()
OF_RESULT = "outcome exit_code feedback persisted".split()
OF_RESPONSE = "id request stop_reason is_error logged_cost".split()


@dataclass
class Trajectory:
    """A document, the pictures that lie beside it, and what it does not hold."""

    document: dict[str, Any]
    pictures: Pictures
    left_out: Counter[str]


def trajectory_of(
    transcript: Transcript, manner: Manner, cost_of: CostOf, folder: str | None = None
) -> Trajectory:
    """Returns a transcript as a trajectory; pictures are kept where a folder for them is named."""
    own, agents = transcript.conversation, _embedded(transcript, manner)
    writing = _Writing(transcript, manner, cost_of, Pictures(folder))
    writing.count([own, *agents])
    told = writing.trajectory(own)
    below = [writing.trajectory(one) for one in agents]
    if transcript.unnamed and manner.has_tools:
        told["steps"].append(writing.unnamed_step(len(told["steps"]) + 1))
    if not manner.has_tools:
        writing.left_out["agents"] += len(agents_of(transcript, Manner()))
    told["final_metrics"]["total_cost_usd"] = transcript.heading.totals.cost_usd
    for one in (told, *below):
        _complete(one)
    document = given({**writing.headed(told), "subagent_trajectories": below})
    return Trajectory(document, writing.pictures, +writing.left_out)


def _embedded(transcript: Transcript, manner: Manner) -> list[Conversation]:
    """Returns the conversations that have no file of their own."""
    if manner.agents != "files" or not manner.has_tools:
        return agents_of(transcript, manner)
    rest = (transcript.by_line[name] for name in transcript.unnamed)
    return [one for one in rest if one.kind in SPOKEN]


@dataclass
class _Writing:
    transcript: Transcript
    manner: Manner
    cost_of: CostOf
    pictures: Pictures
    left_out: Counter[str] = field(default_factory=Counter)
    counted: dict[str, dict[int, Response]] = field(default_factory=dict)
    """The answers whose figures are told here, by conversation and number."""

    def count(self, conversations: Sequence[Conversation]) -> None:
        """Chooses where the figures of each answer are told: a response counts once."""
        path, *agents = conversations
        own = with_own_responses(path)
        kept = {id(one) for one in own.responses}
        numbers = [place for place, one in enumerate(path.responses) if id(one) in kept]
        for conversation, number, response in counted_once([own, *agents]):
            place = numbers[number] if conversation is own else number
            self.counted.setdefault(conversation.id, {})[place] = response

    def trajectory(self, conversation: Conversation) -> dict[str, Any]:
        """Returns one conversation; what is no part of a line is counted."""
        made = steps_of(conversation, self.manner)
        folded = sum(len(step.held) for step in made.steps if step.fold)
        if folded:
            made.left_out[FOLDED] += folded
            made.steps = made.inline
        numbers = {id(step): number for number, step in enumerate(made.steps, 1)}
        leaving = [(one, numbers.get(id(step))) for one, step in made.leaving]
        self.left_out.update(made.left_out)
        self.left_out["branches"] += sum(one.kind == "branch" for one, _ in leaving)
        return {
            "schema_version": VERSION,
            "session_id": conversation.session,
            "trajectory_id": conversation.id,
            "agent": self._agent(conversation),
            "steps": [self._step(made, one, number) for number, one in enumerate(made.steps, 1)],
            "final_metrics": self._totals(made),
            "extra": {
                **{name: getattr(conversation, name) for name in ("kind", "label", "agent")},
                "account": account_of(made),
                "branches": [
                    given({"to": one.to, "label": one.label, "after_step": at})
                    for one, at in leaving
                ],
            },
        }

    def unnamed_step(self, number: int) -> dict[str, Any]:
        """Returns the step that names agents which no call names."""
        refs = [ref for name in self.transcript.unnamed for ref in self._refs([name])]
        results = [{"subagent_trajectory_ref": [ref]} for ref in refs]
        extra = {"kind": "agents that no call names"}
        step = {"step_id": number, "source": "system", "message": "", "extra": extra}
        return {**step, "observation": {"results": results}} if results else step

    def headed(self, told: dict[str, Any]) -> dict[str, Any]:
        """Returns a trajectory with what its transcript says of itself."""
        head = self.transcript.heading
        self.left_out.update(self.pictures.lost)
        facts = {name: getattr(head, name) for name in OF_HEADING}
        counts = {name: count for name, count in self.left_out.items() if count}
        extra = {**facts, **told["extra"], "left_out": counts}
        return {**told, "notes": note_of("ATIF", self.left_out), "extra": given(extra)}

    def _agent(self, conversation: Conversation) -> dict[str, Any]:
        versions = self.transcript.heading.versions
        models = (one.model for one in conversation.responses if not one.is_synthetic)
        return given(
            {
                "name": CLIENT,
                "version": versions[-1] if versions else "unknown",
                "model_name": next((model for model in models if model), None),
                "extra": {"versions": versions} if len(versions) > 1 else None,
            }
        )

    def _totals(self, made: Steps) -> dict[str, Any]:
        """Returns the sums over the steps, and what answers took that no step tells of."""
        line = made.conversation.id
        told = {step.response for step in made.steps}
        own = self.counted.get(line, {})
        inside = _sum(one for number, one in own.items() if number in told)
        outside = [one for number, one in own.items() if number not in told]
        missing = {"responses": len(outside), **tokens_object(_sum(outside))} if outside else None
        below = agents_sent(made.conversation.items(), self.transcript.by_line)
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
        time = known_time(first.time)
        extra = {"turn": step.turn, "records": made.records(step)}
        if first.time and not time:
            extra["time"] = first.time
        match first:
            case Told():
                told = self._told(first)
            case Answered():
                told = self._alone(first)
            case Compacted():
                told = _compaction(first, step.summary)
            case Noted():
                told = _note(first)
            case _:
                told = self._answer(made.conversation, step)
        found = {"step_id": number, "timestamp": time, **told}
        return without_none({**found, "extra": given(extra | told["extra"])})

    def _told(self, told: Told) -> dict[str, Any]:
        return {
            "source": "user" if told.kind in BY_PEOPLE else "system",
            "message": self._content(words_told(told), told.enclosures),
            "extra": {
                **{name: getattr(told, name) for name in OF_TOLD},
                "enclosures": described(told.enclosures),
            },
        }

    def _alone(self, answer: Answered) -> dict[str, Any]:
        """Returns a result whose call is not in the conversation, or was answered before."""
        result = self._result(answer.result, None, ())
        extra = {"kind": "result", "call": answer.call, "name": answer.name}
        return {
            "source": "system",
            "message": "",
            "observation": {"results": [result]},
            "extra": extra | {"standing": answer.standing},
        }

    def _answer(self, conversation: Conversation, step: Step) -> dict[str, Any]:
        number = step.response or 0
        response = conversation.responses[number]
        thoughts = step.words(Thought)
        self.left_out["wordless"] += sum(
            isinstance(one, Thought) and not one.text for one in step.items
        )
        shown = [one.enclosure for one in step.items if isinstance(one, Shown)]
        results = [one for one in map(self._own_result, step.calls) if one]
        is_model = not response.is_synthetic
        metrics = self._metrics(conversation.id, number) if is_model else None
        return {
            "source": "agent",
            "model_name": response.model if is_model else None,
            "reasoning_effort": response.effort,
            "message": self._content(step.words(Said), shown),
            "reasoning_content": thoughts or None if is_model else None,
            "tool_calls": [_call(one) for one in step.calls] or None,
            "observation": {"results": results} if results else None,
            "metrics": metrics,
            "llm_call_count": int(is_model),
            "extra": {
                **{name: getattr(response, name) for name in OF_RESPONSE},
                "thoughts": None if is_model else thoughts,
                "blocks": [f"{one.__struct_config__.tag}" for one in step.items],
                "enclosures": described(shown),
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
            "extra": {name: count for name, count in tokens_object(tokens).items() if count},
        }
        return without_none(figures)

    def _own_result(self, called: Called) -> dict[str, Any] | None:
        refs = self._refs(called.agents)
        if called.result is None and not refs:
            return None
        return self._result(called.result, called.call, refs)

    def _result(
        self, result: Result | None, call: str | None, refs: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        if result is None:
            return {"source_call_id": call, "subagent_trajectory_ref": refs}
        extra = {
            **{name: getattr(result, name) for name in OF_RESULT},
            "enclosures": described(result.enclosures),
            "detail": result.detail if self.manner.depth == "all" else None,
        }
        found = {
            "source_call_id": call,
            "content": self._content(result.text, result.enclosures),
            "subagent_trajectory_ref": refs or None,
            "extra": given(extra),
        }
        return without_none(found)

    def _refs(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """Returns where the agents of a call are told, those that are there."""
        known = (self.transcript.by_line.get(name) for name in names)
        return [self._ref(one) for one in known if one is not None]

    def _ref(self, agent: Conversation) -> dict[str, Any]:
        ref = {"trajectory_id": agent.id, "session_id": agent.session}
        name = self.transcript.names.get(agent.id)
        if self.manner.agents == "files" and name:
            ref["trajectory_path"] = f"{name}.{ENDINGS['atif']}"
        return ref

    def _content(self, words: str, enclosures: Sequence[Enclosure]) -> str | list[dict[str, Any]]:
        """Returns words, with the pictures among them where they are kept."""
        places = [(one, self.pictures.place(one)) for one in enclosures]
        kept = [
            {"type": "image", "source": {"media_type": one.media_type, "path": place}}
            for one, place in places
            if place
        ]
        text = [{"type": "text", "text": words}] if words else []
        return [*text, *kept] if kept else words


def _call(called: Called) -> dict[str, Any]:
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
        "extra": given(extra),
    }


def _compaction(point: Compacted, summary: Told | None) -> dict[str, Any]:
    facts = {name: getattr(point, name) for name in OF_COMPACTION}
    words = summary.text if summary else point.text
    return {"source": "system", "message": words, "extra": {"kind": "compaction", **facts}}


def _note(note: Noted) -> dict[str, Any]:
    extra = {"kind": note.kind, "subtype": note.subtype, "value": note.value}
    return {"source": "system", "message": note.text, "extra": extra}


def _sum(responses: Iterable[Response]) -> Tokens:
    return sum((one.tokens for one in responses), NOTHING)


def _complete(told: dict[str, Any]) -> None:
    """Gives a conversation of which nothing is told the one step that every trajectory has."""
    if not told["steps"]:
        empty = {"step_id": 1, "source": "system", "message": "", "extra": {"kind": "empty"}}
        told["steps"].append(empty)
    figures = {**told["final_metrics"], "total_steps": len(told["steps"])}
    told["final_metrics"] = without_none(figures)
    told["extra"] = given(told["extra"])
