"""What the published model of ATIF 1.8 asks of a document, as far as a program can tell."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

ROOT = (
    "schema_version session_id trajectory_id agent steps notes final_metrics "
    "continued_trajectory_ref extra subagent_trajectories"
).split()
STEP = (
    "step_id timestamp source model_name reasoning_effort message reasoning_content tool_calls "
    "observation metrics is_copied_context llm_call_count extra"
).split()
OF_AGENTS = "model_name reasoning_effort reasoning_content tool_calls metrics".split()
METRICS = (
    "prompt_tokens completion_tokens cached_tokens cost_usd prompt_token_ids "
    "completion_token_ids logprobs extra"
).split()
FINAL = (
    "total_prompt_tokens total_completion_tokens total_cached_tokens total_cost_usd total_steps "
    "extra"
).split()
TEXTS = ("session_id", "trajectory_id", "notes", "continued_trajectory_ref")
PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def faults(document: Any) -> list[str]:
    """Return what is wrong with a document, and with the trajectories inside it."""
    below = document.get("subagent_trajectories") or []
    names = [item.get("trajectory_id") for item in below]
    found = [*_in_root(document)]
    if None in names or len(set(names)) < len(names):
        found.append("agents without names of their own")
    for item in below:
        found += _in_root(item)
    return found


def _in_root(told: dict[str, Any]) -> Iterator[str]:
    yield from _unknown("root", told, ROOT)
    if told.get("schema_version") != "ATIF-v1.8":
        yield "schema_version"
    for name in TEXTS:
        if not isinstance(told.get(name, ""), str):
            yield name
    agent = told.get("agent", {})
    yield from _unknown("agent", agent, "name version model_name tool_definitions extra".split())
    if not all(isinstance(agent.get(name), str) for name in ("name", "version")):
        yield "agent"
    yield from _in_numbers("final_metrics", told.get("final_metrics", {}), FINAL)
    steps = told.get("steps") or []
    if [item.get("step_id") for item in steps] != [*range(1, len(steps) + 1)] or not steps:
        yield "step_id"
    for item in steps:
        yield from (f"step {item.get('step_id')}: {fault}" for fault in _in_step(item))


def _in_step(step: dict[str, Any]) -> Iterator[str]:
    yield from _unknown("step", step, STEP)
    if step.get("source") not in ("system", "user", "agent"):
        yield "source"
    if "timestamp" in step:
        datetime.fromisoformat(step["timestamp"])
    yield from _in_content("message", step.get("message"))
    if step["source"] != "agent":
        yield from (f"{name} of an agent" for name in OF_AGENTS if name in step)
    if step.get("llm_call_count") == 0 and ("metrics" in step or "reasoning_content" in step):
        yield "figures of a model that was not asked"
    for call in step.get("tool_calls", ()):
        yield from _unknown("call", call, "tool_call_id function_name arguments extra".split())
        is_call = isinstance(call["tool_call_id"], str) and isinstance(call["function_name"], str)
        if not is_call or not isinstance(call["arguments"], dict):
            yield "call"
    yield from _in_numbers("metrics", step.get("metrics", {}), METRICS)
    yield from _in_results(step)
    if not isinstance(step.get("extra", {}), dict):
        yield "extra"


def _in_results(step: dict[str, Any]) -> Iterator[str]:
    calls = {item["tool_call_id"] for item in step.get("tool_calls", ())}
    known = "source_call_id content subagent_trajectory_ref extra".split()
    for result in step.get("observation", {"results": ()})["results"]:
        yield from _unknown("result", result, known)
        if result.get("source_call_id") not in {None, *calls}:
            yield "a result of a call that is not in the step"
        yield from _in_content("content", result.get("content", ""))
        for ref in result.get("subagent_trajectory_ref", ()):
            yield from _unknown(
                "ref", ref, "trajectory_id trajectory_path session_id extra".split()
            )
            if not (ref.get("trajectory_id") or ref.get("trajectory_path")):
                yield "a reference to nothing"


def _in_content(name: str, content: Any) -> Iterator[str]:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for part in parts:
        if part["type"] == "text":
            is_right = isinstance(part["text"], str) and "source" not in part
        else:
            source = part["source"]
            is_path = isinstance(source["path"], str) and set(source) == {"media_type", "path"}
            is_right = part["type"] == "image" and source["media_type"] in PICTURES and is_path
        if not is_right:
            yield name


def _in_numbers(name: str, figures: dict[str, Any], known: list[str]) -> Iterator[str]:
    yield from _unknown(name, figures, known)
    for key, value in figures.items():
        kinds = (int, float) if key.endswith("cost_usd") else (int,)
        if key != "extra" and (isinstance(value, bool) or not isinstance(value, kinds)):
            yield f"{name}.{key}"


def _unknown(name: str, value: dict[str, Any], known: list[str]) -> Iterator[str]:
    yield from (f"{name}: there is no {key}" for key in value if key not in known)
