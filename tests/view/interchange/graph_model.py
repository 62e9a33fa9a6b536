"""What the published schemas of Toolpath ask of a document: a graph, and coding sessions in it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

KIND = "https://toolpath.net/kinds/agent-coding-session/v1.2.0"
ACTOR = re.compile(r"(human|agent|tool|ci):[a-zA-Z0-9_.-]+(/[a-zA-Z0-9_.-]+)?")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
CATEGORIES = "file_read file_write file_search shell network delegation".split()
TEXTS = {
    "conversation.append": "thinking group_id stop_reason",
    "conversation.compact": "summary",
    "conversation.event": "entry_type event_source_id",
    "file.write": "tool_id tool operation before after rename_to",
}
"""What is a text wherever it is there, by the type of a change."""


def faults(document: Any) -> list[str]:
    """Return what is wrong with a document."""
    names = [item["path"]["id"] for item in document["paths"]]
    found = [*_unknown("root", document, "graph paths meta")]
    if not isinstance(document["graph"].get("id"), str) or set(document["graph"]) != {"id"}:
        found.append("graph")
    if len(set(names)) < len(names):
        found.append("two paths of one name")
    steps = {
        item["path"]["id"]: {step["step"]["id"] for step in item["steps"]}
        for item in document["paths"]
    }
    for path in document["paths"]:
        found += [f"{path['path']['id']}: {fault}" for fault in _in_path(path, steps)]
    return found


def ancestors(path: Any, step: str) -> list[str]:
    """Return a step and all that it hangs on, the nearest first; each once."""
    parents = {item["step"]["id"]: item["step"].get("parents", []) for item in path["steps"]}
    found: dict[str, None] = {}
    waiting = [step]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += parents[name]
    return list(found)


def _in_path(path: dict[str, Any], steps: Mapping[str, set[str]]) -> Iterator[str]:
    yield from _unknown("path", path, "path steps meta")
    identity, ids = path["path"], [item["step"]["id"] for item in path["steps"]]
    yield from _unknown("path", identity, "id base head graph_ref")
    base = identity.get("base", {"uri": ""})
    yield from _unknown("base", base, "uri ref branch")
    if not all(isinstance(item, str) for item in base.values()):
        yield "base"
    if base["uri"].startswith("toolpath:"):
        name, _, step = base["uri"].removeprefix("toolpath:").rpartition("/")
        if step not in steps.get(name, ()):
            yield f"base: {base['uri']} is nowhere"
    if identity["head"] not in ids:
        yield "head"
    if len(set(ids)) < len(ids):
        yield "two steps of one name"
    if any(name not in ids for item in path["steps"] for name in item["step"].get("parents", ())):
        yield "a parent that is nowhere"
    if _goes_round(path):
        yield "a circle"
    yield from _in_groups(path)
    yield from _in_meta(path["meta"], {item["step"]["actor"] for item in path["steps"]})
    for item in path["steps"]:
        yield from (f"{item['step']['id']}: {fault}" for fault in _in_step(item))


def _goes_round(path: dict[str, Any]) -> bool:
    """Return whether steps hang on each other: those without parents are taken off until none is."""
    waiting = {item["step"]["id"]: set(item["step"].get("parents", ())) for item in path["steps"]}
    below: dict[str, list[str]] = {}
    for name, parents in waiting.items():
        for parent in parents:
            below.setdefault(parent, []).append(name)
    free = [name for name, parents in waiting.items() if not parents]
    count = 0
    while free:
        name = free.pop()
        count += 1
        for child in below.get(name, ()):
            waiting[child].discard(name)
            if not waiting[child]:
                free.append(child)
    return count < len(waiting)


def _in_groups(path: dict[str, Any]) -> Iterator[str]:
    """Step of one group have one total, on the last of them: so sums over steps are right."""
    groups: dict[str, list[bool]] = {}
    for step in path["steps"]:
        for change in step["change"].values():
            report = change.get("structural", {})
            if "group_id" in report:
                groups.setdefault(report["group_id"], []).append("token_usage" in report)
    yield from (
        f"{name}: a total before its end" for name, item in groups.items() if any(item[:-1])
    )


def _in_meta(meta: dict[str, Any], actors: set[str]) -> Iterator[str]:
    if meta.get("kind") != KIND or not isinstance(meta["source"], str):
        yield "kind"
    if actors - set(meta["actors"]):
        yield "actors that are not defined"
    for name, actor in meta["actors"].items():
        yield from _unknown("actor", actor, "name provider model identities keys")
        if not ACTOR.fullmatch(name) or not all(isinstance(item, str) for item in actor.values()):
            yield f"actor {name}"
    if not isinstance(meta.get("title", ""), str) or not isinstance(meta["producer"]["name"], str):
        yield "title"


def _in_step(step: dict[str, Any]) -> Iterator[str]:
    yield from _unknown("step", step, "step change meta")
    identity = step["step"]
    yield from _unknown("step", identity, "id parents actor timestamp")
    if not ACTOR.fullmatch(identity["actor"]) or not TIME.fullmatch(identity["timestamp"]):
        yield "actor or time"
    for ref in step.get("meta", {}).get("refs", ()):
        if set(ref) != {"rel", "href"}:
            yield "ref"
    for change in step["change"].values():
        yield from _unknown("change", change, "raw structural")
        if not change or not isinstance(change.get("raw", ""), str):
            yield "change"
        yield from _in_structure(change.get("structural", {"type": ""}))


def _in_structure(told: dict[str, Any]) -> Iterator[str]:
    kind = told["type"]
    for name in TEXTS.get(kind, "").split():
        if not isinstance(told.get(name, ""), str):
            yield f"{kind}: {name}"
    if kind == "conversation.append":
        yield from _in_turn(told)
    elif kind == "conversation.compact":
        is_right = told.get("trigger", "auto") in ("auto", "manual")
        kept = all(isinstance(item, str) for item in told.get("kept", ()))
        if not is_right or not kept or not isinstance(told.get("pre_tokens", 0), int | float):
            yield kind
    elif kind == "conversation.event" and "entry_type" not in told:
        yield kind


def _in_turn(told: dict[str, Any]) -> Iterator[str]:
    if not isinstance(told["role"], str) or not isinstance(told["text"], str):
        yield "role or text"
    for use in told.get("tool_uses", ()):
        is_named = isinstance(use["id"], str) and isinstance(use["name"], str) and "input" in use
        if not is_named or use["category"] not in (None, *CATEGORIES):
            yield "tool_uses"
        result = use.get("result", {"content": "", "is_error": False})
        if not isinstance(result["content"], str) or not isinstance(result["is_error"], bool):
            yield "result"
    usage = told.get("token_usage", {"input_tokens": 0, "output_tokens": 0})
    if not {"input_tokens", "output_tokens"} <= set(usage):
        yield "token_usage"
    if not all(isinstance(item, int) for item in usage.values()):
        yield "token_usage"
    for item in told.get("delegations", ()):
        if not isinstance(item["agent_id"], str) or not isinstance(item["prompt"], str):
            yield "delegations"


def _unknown(name: str, value: dict[str, Any], known: str) -> Iterator[str]:
    yield from (f"{name}: there is no {key}" for key in value if key not in known.split())
