"""What a hook printed and how it ended to what it says: words, orders in JSON, a refusal, trouble.

exit code 0   fine; words, or orders in JSON
exit code 2   it does not let it happen, for the reason on stderr
any other     it failed, and nothing comes of it
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from plait.agent.hooks.model import STOPPED, Blocking, Event, Ran, Said, Verdict
from plait.record.codec import NotAnObject, object_of

Check: TypeAlias = Callable[[object], str | None]
REFUSES = 2
FAILED = "Failed with non-blocking status code: {}"
SILENT = "No stderr output"
UNREADABLE = (
    "Hook output looks like a JSON object but is not valid JSON — {}. Emit the payload with a JSON"
    " encoder (jq, ConvertTo-Json, json.dumps) rather than string concatenation so backslashes and"
    " quotes inside strings are escaped."
)
WRONG = "Hook JSON output validation failed — {}\n\nThe hook's output was: {}"
ELSEWHERE = (
    "Failed to run: Hook returned incorrect event name: expected '{}' but got '{}'. Full stdout: {}"
)


def said(ran: Ran, event: Event) -> Said:
    """Returns what a hook says that ran."""
    if ran.is_late:
        return Said(ran, "late")
    words = ran.stdout.strip()
    if words.startswith("{"):
        try:
            return _with_refusal(_ordered(ran, object_of(words.encode()), event))
        except NotAnObject as error:
            if words.endswith("}"):
                return Said(ran, "failed", UNREADABLE.format(f"JSON Parse error: {error}"))
    if ran.code == REFUSES:
        return _with_refusal(Said(ran))
    if ran.code:
        return Said(ran, "failed", FAILED.format(ran.stderr.strip() or SILENT))
    return Said(ran, "words") if words else Said(ran)


def _with_refusal(found: Said) -> Said:
    """Returns that the exit code refuses, whatever else a hook says."""
    ran = found.ran
    if ran.code != REFUSES:
        return found
    told = f"[{ran.hook.command}]: {ran.stderr or SILENT}"
    blocking = Blocking(told, ran.stderr.strip() or SILENT)
    return Said(ran, found.kind, found.trouble, blocking, context=found.context)


def _ordered(ran: Ran, orders: Mapping[str, Any], event: Event) -> Said:
    """Returns what orders in JSON say, or what is wrong with them."""
    own = orders.get("hookSpecificOutput")
    if wrong := _wrong(orders, FORMS) or _wrong(own or {}, OWN_FORMS, "hookSpecificOutput."):
        return Said(ran, "failed", WRONG.format(wrong, _pretty(orders)))
    inner: Mapping[str, Any] = own if isinstance(own, Mapping) else {}
    if (named := inner.get("hookEventName", event)) != event and inner:
        elsewhere = Ran(ran.hook, 1, milliseconds=ran.milliseconds)
        return Said(elsewhere, "failed", ELSEWHERE.format(event, named, _pretty(orders)))
    reason = str(orders.get("reason") or "Blocked by hook")
    is_blocking = orders.get("decision") == "block"
    verdict, why = _verdict(orders, inner)
    decision = inner.get("decision") if isinstance(inner.get("decision"), Mapping) else {}
    return Said(
        ran,
        "orders",
        blocking=Blocking(reason, reason, is_order=True) if is_blocking else None,
        stop=_stop(orders),
        context=str(inner.get("additionalContext") or ""),
        message=str(orders.get("systemMessage") or ""),
        verdict=verdict,
        reason=why,
        arguments=inner.get("updatedInput") or (decision or {}).get("updatedInput"),
        interrupts=(decision or {}).get("interrupt") is True,
    )


def _stop(orders: Mapping[str, Any]) -> str | None:
    return str(orders.get("stopReason") or STOPPED) if orders.get("continue") is False else None


def _verdict(orders: Mapping[str, Any], inner: Mapping[str, Any]) -> tuple[Verdict | None, str]:
    """Returns what is said of a call, as it is said today or was said before."""
    if (given := inner.get("permissionDecision")) in ("allow", "ask", "deny"):
        return given, str(inner.get("permissionDecisionReason") or "")
    decision = inner.get("decision")
    if isinstance(decision, Mapping):
        behaviour = decision.get("behavior")
        known: Verdict | None = behaviour if behaviour in ("allow", "deny") else None
        return known, str(decision.get("message") or "")
    match orders.get("decision"):
        case "approve":
            return "allow", str(orders.get("reason") or "")
        case "block":
            return "deny", str(orders.get("reason") or "Blocked by hook")
    return None, ""


def _of(kind: type, name: str) -> Check:
    def check(value: object) -> str | None:
        return None if isinstance(value, kind) else f"expected {name}, received {_kind(value)}"

    return check


def _one_of(*names: str) -> Check:
    def check(value: object) -> str | None:
        told = "|".join(f'"{name}"' for name in names)
        return None if value in names else f"Invalid option: expected one of {told}"

    return check


FORMS: Mapping[str, Check] = {
    "continue": _of(bool, "boolean"),
    "suppressOutput": _of(bool, "boolean"),
    "stopReason": _of(str, "string"),
    "decision": _one_of("approve", "block"),
    "reason": _of(str, "string"),
    "systemMessage": _of(str, "string"),
    "hookSpecificOutput": _of(dict, "object"),
}
OWN_FORMS: Mapping[str, Check] = {
    "hookEventName": _of(str, "string"),
    "permissionDecision": _one_of("allow", "deny", "ask", "defer"),
    "permissionDecisionReason": _of(str, "string"),
    "updatedInput": _of(dict, "object"),
    "additionalContext": _of(str, "string"),
    "decision": _of(dict, "object"),
}


def _wrong(orders: object, forms: Mapping[str, Check], lead: str = "") -> str | None:
    for name, check in forms.items():
        value = orders.get(name) if isinstance(orders, Mapping) else None
        if value is not None and (told := check(value)):
            return f"{lead}{name}: {told}"
    return None


def _kind(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}
    return names.get(type(value), "object")


def _pretty(orders: Mapping[str, Any]) -> str:
    return json.dumps(orders, indent=2, ensure_ascii=False)
