"""Conversations with hooks and rules in the settings, and the hook input of both clients.

Each hook is a command of a shell, so both run the very same. Those that keep what they hear put
it into a file beside the project: field by field it has to be the same, in the same order.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.chat.talks import CONTINUE, LEAVE, Step, Talk
from conformance.client import objects
from conformance.model import Json
from conformance.sandbox import Desk

HEARD = "heard.jsonl"
KEEP = f'told=$(cat); printf "%s\\n" "$told" >> "$CLAUDE_PROJECT_DIR/../{HEARD}"'
ONCE = "test -e once && exit 0; touch once; "
EVENTS = (
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse"),
    *("PostToolUseFailure", "PostToolBatch", "Stop", "PreCompact", "PostCompact", "SessionEnd"),
)
VARYING = frozenset(
    """
    session_id transcript_path prompt_id tool_use_id duration_ms effort context_tokens
    seconds_since_last_response estimated_cache_write_usd
    """.split()
)
"""Fields whose values differ from run to run; effort is another, because none is asked for here."""


def orders(**told: Any) -> str:
    """Return a hook that gives orders in JSON."""
    return f"cat > /dev/null; printf '%s' '{json.dumps(told)}'"


def own(event: str, **told: Any) -> str:
    """Return a hook that gives the orders of its event."""
    return orders(hookSpecificOutput={"hookEventName": event, **told})


def hooked(
    name: str, hooks: Mapping[str, Any], *prompts: str, leave: tuple[str, ...] = LEAVE
) -> Talk:
    """Return a talk whose settings have hooks: a command, several, or a whole entry."""
    told = {event: [{"hooks": _entries(one)}] for event, one in hooks.items()}
    later = tuple(Step(prompt, CONTINUE, leave=leave) for prompt in prompts[1:])
    steps = (Step(prompts[0], leave=leave), *later)
    return Talk(f"hooks, {name}", steps, settings={"hooks": told})


def _entries(told: Any) -> list[Json]:
    commands = [told] if isinstance(told, str | dict) else told
    return [
        {"type": "command", "command": one} if isinstance(one, str) else {"type": "command", **one}
        for one in commands
    ]


def ruled(name: str, permissions: Mapping[str, Any], *prompts: str, mode: str = "default") -> Talk:
    """Return a talk whose settings have rules."""
    leave = ("--permission-mode", mode)
    steps = tuple(
        Step(prompt, CONTINUE if number else (), leave=leave)
        for number, prompt in enumerate(prompts)
    )
    return Talk(f"rules, {name}", steps, settings={"permissions": dict(permissions)})


REFUSE = own("PreToolUse", permissionDecision="deny", permissionDecisionReason="not today")
ALLOW = own("PreToolUse", permissionDecision="allow", permissionDecisionReason="fine")
ASK = own("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?")
CHANGE = own("PreToolUse", updatedInput={"command": "echo changed"})
LATE = {"command": "sleep 30", "timeout": 1}
STOP = orders(**{"continue": False, "stopReason": "enough"})
BLOCK = orders(decision="block", reason="because")
SAYING = {event: f"echo words of {event}" for event in EVENTS[:-1]}
CONTEXT = {
    event: own(event, additionalContext=f"context of {event}")
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse")
}
MESSAGES = {event: orders(systemMessage="a warning") for event in ("UserPromptSubmit", "Stop")}

HOOKED = (
    hooked("heard", dict.fromkeys(EVENTS, KEEP), "[nap]", "And then?"),
    hooked("heard of a compaction", dict.fromkeys(EVENTS, KEEP), "[nap]", "/compact"),
    hooked("heard of refusals", dict.fromkeys(EVENTS, KEEP), "[write it]", leave=()),
    hooked("words", SAYING, "[nap]", "And then?"),
    hooked("context", CONTEXT, "[nap]", "And then?"),
    hooked("messages", MESSAGES, "[nap]", "And then?"),
    hooked("a call refused", {"PreToolUse": REFUSE}, "[nap]", "And then?"),
    hooked("a call blocked", {"PreToolUse": "echo no >&2; exit 2"}, "[nap]", "And then?"),
    hooked("a call allowed", {"PreToolUse": ALLOW}, "[write only]", "And then?", leave=()),
    hooked("a call asked about", {"PreToolUse": ASK}, "[nap]", "And then?"),
    hooked("a call changed", {"PreToolUse": CHANGE}, "[nap]", "And then?"),
    hooked("a turn stopped at a call", {"PreToolUse": STOP}, "[nap]", "And then?"),
    hooked("a turn stopped behind one", {"PostToolUse": STOP}, "[nap]", "And then?"),
    hooked("fed back", {"PostToolUse": BLOCK}, "[nap]", "And then?"),
    hooked("a prompt blocked", {"UserPromptSubmit": ONCE + BLOCK}, "No.", "And then?"),
    hooked("a prompt stopped", {"UserPromptSubmit": ONCE + STOP}, "No.", "And then?"),
    hooked("a turn goes on", {"Stop": ONCE + BLOCK}, "[nap]", "And then?"),
    hooked("a turn ended", {"Stop": STOP}, "[nap]", "And then?"),
    hooked("no compaction", {"PreCompact": "echo no >&2; exit 2"}, "Hello.", "/compact", "On."),
    hooked("that fail", dict.fromkeys(EVENTS[:-3], "echo bad >&2; exit 1"), "[nap]", "And then?"),
    hooked(
        "that hang",
        {"UserPromptSubmit": LATE, "Stop": LATE},
        "Hello.",
        "And then?",
    ),
    hooked("garbage", dict.fromkeys(EVENTS[:-3], "echo '{bad'"), "[nap]", "And then?"),
    ruled("allowed", {"allow": ["Edit(new.txt)", "Bash(touch *)"]}, "[write it]", "And then?"),
    ruled("forbidden", {"deny": ["Edit(*.txt)", "Bash(touch:*)"]}, "[write it]", "And then?"),
    ruled("asked about", {"ask": ["Write", "Bash"], "allow": ["Write"]}, "[write it]", "And then?"),
    ruled(
        "in conflict",
        {"allow": ["Write", "Bash"], "ask": ["Bash(touch *)"], "deny": ["Edit(new.txt)"]},
        "[write it]",
        "And then?",
        mode="acceptEdits",
    ),
)
"""Talks that both clients are led through with the same settings."""


def heard_at(desk: Desk) -> list[Json]:
    """Return what hooks heard, without what differs from run to run."""
    file = desk.root / HEARD
    told = [*objects(file)] if file.exists() else []
    text = json.dumps(told).replace(str(desk.root), "ROOT")
    found: list[Json] = json.loads(text)
    return [
        {name: "·" if name in VARYING else _steady(value) for name, value in one.items()}
        for one in found
    ]


def _steady(value: Any) -> Any:
    if isinstance(value, list):
        return [_steady(one) for one in value]
    if isinstance(value, dict):
        return {name: "·" if name in VARYING else one for name, one in value.items()}
    return value


def differing_hearing(ours: list[Json], theirs: list[Json]) -> Iterator[str]:
    """Yield in what the same hooks heard something else."""
    events = [[one.get("hook_event_name") for one in heard] for heard in (ours, theirs)]
    if events[0] != events[1]:
        yield f"heard {events[0]} here, {events[1]} there"
        return
    for one, other in zip(ours, theirs, strict=True):
        event = one["hook_event_name"]
        if [*one] != [*other]:
            yield f"{event}: fields {[*one]} here, {[*other]} there"
        for name in one.keys() & other.keys():
            if one[name] != other[name]:
                yield f"{event}: {name} is {one[name]!r} here, {other[name]!r} there"
