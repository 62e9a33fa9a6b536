"""A step to what it changed, in the words of Toolpath: the conversation, and files with diffs."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

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
from plait.conversation.patches import patch_of
from plait.conversation.tools import ToolKind, tool_named
from plait.record.codec import mapping
from plait.view.blamed import unified
from plait.view.costs import CostOf
from plait.view.interchange.enclosures import Pictures, described
from plait.view.interchange.steps import BY_PEOPLE, CLIENT, OF_TOLD, Step, given, words_told
from plait.view.passages.stream import Manner

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
class Changes:
    """Writes what steps changed; counts what it has no place for."""

    manner: Manner
    cost_of: CostOf
    counted: Mapping[tuple[str, int], Response]
    """The answers whose figures are told, by conversation and number."""
    paths: Mapping[str, str]
    """By conversation: the path that it stands in."""
    left_out: Counter[str] = field(default_factory=Counter)
    told: set[tuple[str, int]] = field(default_factory=set)
    """The answers whose figures were told."""
    _pictures: Pictures = field(default_factory=Pictures)

    def of(self, conversation: Conversation, step: Step, directory: str | None) -> Change:
        """Returns all that a step changed, by what was changed."""
        match step.first:
            case Told() as told:
                found = self._told(conversation, told)
            case Answered() as answer:
                found = self._alone(answer)
            case Compacted() as point:
                found = _compaction(point, step)
            case Noted() as note:
                found = _event(note.kind, note.uuid, subtype=note.subtype, text=note.text)
                found |= given({"value": note.value})
            case _:
                found = self._answer(conversation, step)
        artifact = f"{CLIENT}://{conversation.agent or conversation.session}"
        return {artifact: {"structural": found}, **file_changes(step, directory)}

    def lost(self) -> Counter[str]:
        """Returns what had no place."""
        return self.left_out + self._pictures.lost

    def _told(self, conversation: Conversation, told: Told) -> Change:
        role = "user" if told.kind in BY_PEOPLE else "system"
        facts = {name: getattr(told, name) for name in OF_TOLD}
        found = {"type": "conversation.append", "role": role, "text": words_told(told)}
        return found | given({**facts, "enclosures": self._enclosed(told.enclosures)})

    def _alone(self, answer: Answered) -> Change:
        found = _event("tool_result", answer.uuid, text=answer.result.text, name=answer.name)
        facts = {"call": answer.call, "standing": answer.standing}
        return found | facts | self._facts(answer.result)

    def _answer(self, conversation: Conversation, step: Step) -> Change:
        number = step.response or 0
        response = conversation.responses[number]
        thoughts = [one for one in step.items if isinstance(one, Thought)]
        self.left_out["wordless"] += sum(not one.text for one in thoughts)
        shown = [one.enclosure for one in step.items if isinstance(one, Shown)]
        facts = {
            "thinking": step.words(Thought),
            "group_id": response.id,
            "tool_uses": [self._use(one) for one in step.calls],
            "stop_reason": response.stop_reason,
            "delegations": [one for call in step.calls for one in self._delegations(call)],
            "request": response.request,
            "is_error": response.is_error,
            "effort": response.effort,
            "blocks": [f"{one.__struct_config__.tag}" for one in step.items],
            "enclosures": self._enclosed(shown),
        }
        found = {"type": "conversation.append", "role": "assistant", "text": step.words(Said)}
        return found | given(facts) | self._figures(conversation.id, number)

    def _figures(self, line: str, number: int) -> Change:
        response = self.counted.get((line, number))
        if response is None or (line, number) in self.told:
            return {}
        self.told.add((line, number))
        if response.usage is None:
            return {}
        tokens = response.tokens
        usage = {
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "cache_read_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
        }
        return {"token_usage": usage, **given({"cost_usd": self.cost_of(response)})}

    def _use(self, called: Called) -> Change:
        found = {
            "id": called.call,
            "name": called.name,
            "input": called.input,
            "category": CATEGORIES.get(tool_named(called.name).kind),
            "outcome": called.outcome,
        }
        result = called.result
        if result is None:
            return found
        is_error = result.outcome in ERRORS
        told = {"content": result.text, "is_error": is_error, **self._facts(result)}
        return {**found, "result": told}

    def _facts(self, result: Result) -> Change:
        return given(
            {
                "outcome": result.outcome,
                "exit_code": result.exit_code,
                "feedback": result.feedback,
                "persisted": result.persisted,
                "enclosures": self._enclosed(result.enclosures),
                "detail": result.detail if self.manner.depth == "all" else None,
            }
        )

    def _delegations(self, called: Called) -> list[Change]:
        prompt = mapping(called.input).get("prompt")
        words = prompt if isinstance(prompt, str) else ""
        result = called.result.text if called.result else None
        return [
            {"agent_id": name.rpartition("#")[2], "prompt": words}
            | given({"result": result, "path": self.paths.get(name)})
            for name in called.agents
        ]

    def _enclosed(self, enclosures: Sequence[Enclosure]) -> list[Change]:
        for one in enclosures:
            self._pictures.place(one)
        return described(enclosures)


def settle_figures(steps: Sequence[Mapping[str, Any]]) -> None:
    """Moves the figures of each answer to its last step in a path, where readers look for them."""
    last: dict[str, Change] = {}
    for told in (one for step in reversed(steps) for one in _turns_in(step)):
        kept = last.setdefault(told["group_id"], told)
        if kept is not told and "token_usage" in told:
            usage, sums = told.pop("token_usage"), kept.setdefault("token_usage", {})
            sums.update({name: sums.get(name, 0) + count for name, count in usage.items()})
            if "cost_usd" in told:
                kept["cost_usd"] = kept.get("cost_usd", 0) + told.pop("cost_usd")


def _turns_in(step: Mapping[str, Any]) -> Iterator[Change]:
    """Yields what a step says of an answer that has a name."""
    for change in step["change"].values():
        if "group_id" in change.get("structural", {}):
            yield change["structural"]


def actor_of(conversation: Conversation, step: Step, *, is_agent: bool) -> str:
    """Returns who made a step: a person, a model, the client, or whoever sent an agent out."""
    first = step.first
    if isinstance(first, Told) and first.kind in BY_PEOPLE:
        return SENDER if is_agent else HUMAN
    if step.response is None:
        return TOOL
    response = conversation.responses[step.response]
    if response.is_synthetic:
        return TOOL
    maker, _, name = (response.model or "unknown").rpartition("/")
    parts = (UNNAMEABLE.sub("-", one).strip("-") for one in (maker, name))
    return f"agent:{'/'.join(filter(None, parts)) or 'unknown'}"


def definition_of(actor: str, model: str | None) -> dict[str, str]:
    """Returns what is known of an actor."""
    if actor == HUMAN:
        return {"name": "user"}
    if model is None or actor in (TOOL, SENDER):
        return {"name": "Claude Code"}
    provider = {"provider": "anthropic"} if model.startswith("claude") else {}
    return {"name": model, "model": model, **provider}


def _event(kind: str, uuid: str | None, **facts: Any) -> Change:
    source = {"event_source_id": uuid, **facts}
    return {"type": "conversation.event", "entry_type": kind, **given(source)}


def _compaction(point: Compacted, step: Step) -> Change:
    is_known = point.trigger in TRIGGERS
    facts = {
        "trigger" if is_known else "trigger_said": point.trigger,
        "summary": step.summary.text if step.summary else None,
        "pre_tokens": point.pre_tokens,
        "post_tokens": point.post_tokens,
        "duration_ms": point.duration_ms,
        "text": point.text,
    }
    return {"type": "conversation.compact", **given(facts)}


def file_changes(step: Step, directory: str | None) -> Change:
    """Returns the files that the calls of a step changed, as patches by where they lie."""
    found: Change = {}
    for called in step.calls:
        patch = patch_of(called)
        if patch is None:
            continue
        diff = "\n".join(unified(patch.path, patch.hunks, is_new=patch.is_new)) + "\n"
        known = found.get(artifact_of(patch.path, directory))
        if known:
            known["raw"] += diff
            known["structural"]["tool_ids"].append(called.call)
            continue
        operation = "add" if patch.is_new else "update"
        done = {"type": "file.write", "operation": operation, "tool": called.name}
        ids = {"tool_id": called.call, "tool_ids": [called.call]}
        found[artifact_of(patch.path, directory)] = {"raw": diff, "structural": done | ids}
    return found


def artifact_of(path: str, directory: str | None) -> str:
    """Returns what a file is called: from the base of its path, else by its address."""
    plain = path.replace("\\", "/") if DRIVE.match(path) else path
    base = (directory or "").replace("\\", "/").rstrip("/")
    if base and plain.startswith(f"{base}/"):
        return plain.removeprefix(f"{base}/")
    return address_of(plain) if plain.startswith("/") or DRIVE.match(plain) else plain


def address_of(path: str) -> str:
    """Returns the address of an absolute path."""
    plain = path.replace("\\", "/") if DRIVE.match(path) else path
    return f"file:///{quote(plain.lstrip('/'), safe='/:', errors='replace')}"
