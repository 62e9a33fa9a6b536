"""Hooks configured in settings files: selecting them, running them, parsing their output.

exit code 0   success: plain text, or JSON output
exit code 2   blocks, for the reason given on stderr
any other     the hook failed, and has no effect
"""

import asyncio
import json
import os
import re
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final, Literal, TypeAlias, get_args

from plait.chat.approval import Verdict
from plait.chat.settings import ClientSettings
from plait.record.codec import NotAnObject, as_mapping, decode_object

HookEvent: TypeAlias = Literal[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
]
EVENTS: Final[tuple[HookEvent, ...]] = get_args(HookEvent)
STOPPED_BY_HOOK: Final = "Execution stopped by hook"


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that runs at an event."""

    event: HookEvent
    command: str
    matcher: str = ""
    """Which tools or occasions it is for; empty for all."""
    seconds: float = 60.0
    """Its timeout."""
    condition: str | None = None
    """A rule for calls, such as `Bash(git *)`: the hook runs for matching calls only (`if`)."""


@dataclass(frozen=True, slots=True)
class HookRun:
    """A hook that ran."""

    hook: Hook
    code: int
    stdout: str = ""
    stderr: str = ""
    milliseconds: int = 0
    timed_out: bool = False
    """Whether it was killed because it took too long."""


@dataclass(frozen=True, slots=True)
class HookBlock:
    """Why a hook blocks something."""

    message: str
    """The text for the model."""
    reason: str
    """The reason the hook gave."""
    is_json: bool = False
    """Whether it was given in JSON, not by the exit code."""


@dataclass(frozen=True, slots=True)
class HookOutput:
    """The parsed output of a hook."""

    run: HookRun
    kind: Literal["nothing", "words", "orders", "failed", "late"] = "nothing"
    error: str = ""
    """The error, if it failed."""
    blocking: HookBlock | None = None
    stop: str | None = None
    """Why the turn is to end."""
    context: str = ""
    """Additional context for the model."""
    message: str = ""
    """A message for the user."""
    verdict: Verdict | None = None
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    """The changed arguments of the call."""
    ends_turn: bool = False
    """Whether a rejection ends the turn."""


@dataclass(slots=True)
class HookEffect:
    """The combined result of all hooks of an event."""

    outputs: list[HookOutput] = field(default_factory=list)
    """In the order in which they ended."""
    in_order: Sequence[HookOutput] = ()
    """In the order of the settings."""

    @property
    def blocking(self) -> list[HookBlock]:
        """The reasons of all hooks that block it."""
        return [output.blocking for output in self.outputs if output.blocking]

    @property
    def stop(self) -> str | None:
        """Why the turn is to end, from the first hook that says so."""
        return next((output.stop for output in self.outputs if output.stop is not None), None)

    @property
    def contexts(self) -> list[str]:
        """Further context for the model."""
        return [output.context for output in self.outputs if output.context]

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """The changed arguments of a call: those of the last hook that changes them."""
        changed = (output.arguments for output in reversed(self.outputs) if output.arguments)
        return next(changed, None)

    @property
    def verdict(self) -> Verdict | None:
        """The permission decision: deny wins over ask, ask over allow."""
        given = {output.verdict for output in self.outputs}
        verdicts: tuple[Verdict, ...] = ("deny", "ask", "allow")
        return next((verdict for verdict in verdicts if verdict in given), None)

    @property
    def reason(self) -> str:
        """The reason of the last denial, or of the first other decision."""
        order = reversed(self.outputs) if self.verdict == "deny" else self.outputs
        return next((output.reason for output in order if output.verdict == self.verdict), "")


DEFAULT_TIMEOUT, SESSION_END_TIMEOUT, MAX_TIMEOUT = 60.0, 1.5, 3600.0
"""Timeouts in seconds: the default, that at the end of a session, and the longest."""
PLAIN_MATCHER = re.compile(r"[\w\s|,-]*")
KNOWN_TYPES = ("command",)


@dataclass(frozen=True, slots=True)
class HookSettings:
    """All hooks of a session."""

    hooks: tuple[Hook, ...] = ()
    notices: tuple[str, ...] = ()

    def select(self, event: HookEvent, subject: str | None) -> list[Hook]:
        """Return the hooks of an event, each command once."""
        found: dict[tuple[str, str | None], Hook] = {}
        for hook in self.hooks:
            if hook.event == event and matches_matcher(hook.matcher, subject):
                found.setdefault((hook.command, hook.condition), hook)
        return [*found.values()]


def load_hooks(settings: ClientSettings) -> HookSettings:
    """Return the hooks in settings files; none if one of them disables all."""
    if settings.value("disableAllHooks", kind=bool):
        return HookSettings()
    hooks: list[Hook] = []
    notices: list[str] = []
    for file in settings.active_files:
        events = file.value("hooks")
        for name, groups in events.items() if isinstance(events, dict) else ():
            event = next((event for event in EVENTS if event == name), None)
            if event is None:
                notices.append(f"hooks for '{name}' in '{file.path}' ignored: unknown event")
                continue
            if not isinstance(groups, list):
                text = f"`hooks.{name}` in '{file.path}' ignored: it must be a list"
                notices.append(text)
                continue
            for group in groups:
                inner = as_mapping(group).get("hooks")
                matcher = as_mapping(group).get("matcher", "")
                ignored = f"a hook for {name} in '{file.path}' was ignored"
                if not isinstance(inner, list) or not isinstance(matcher, str):
                    notices.append(f"{ignored}: it must be an object")
                    continue
                for entry in map(as_mapping, inner):
                    command = entry.get("command")
                    if entry.get("type", "command") not in KNOWN_TYPES or not (
                        isinstance(command, str) and command.strip()
                    ):
                        notices.append(f"{ignored}: only hooks of type `command` are supported")
                        continue
                    given, condition = entry.get("timeout"), entry.get("if")
                    seconds = SESSION_END_TIMEOUT if event == "SessionEnd" else DEFAULT_TIMEOUT
                    if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
                        seconds = min(float(given), MAX_TIMEOUT)
                    condition = condition if isinstance(condition, str) else None
                    hooks.append(Hook(event, command, matcher, seconds, condition))
    return HookSettings(tuple(hooks), tuple(notices))


def matches_matcher(matcher: str, subject: str | None) -> bool:
    """Return whether a matcher (names or a regular expression) matches a tool or an occasion."""
    if subject is None or matcher in ("", "*"):
        return True
    if PLAIN_MATCHER.fullmatch(matcher):
        return subject in [name.strip() for name in re.split(r"[|,]", matcher)]
    try:
        return re.search(matcher, subject) is not None
    except (re.error, RecursionError, OverflowError):
        return False


SHELL = "/bin/sh"
CHUNK = 64 * 1024
MAX_HOOK_OUTPUT = 4 * 1024 * 1024
"""Bytes of a hook's output that are read; a hook that prints more is killed."""
LINGER_SECONDS = 0.2
"""Seconds in which output is still read after a hook has ended but left processes running."""
NOT_RUN_CODE = 126


async def run_hook(hook: Hook, data: bytes, cwd: Path, environment: Mapping[str, str]) -> HookRun:
    """Run a hook; on timeout or cancellation, kill its process group."""
    began = monotonic()
    try:
        process = await asyncio.create_subprocess_exec(
            SHELL,
            "-c",
            hook.command,
            cwd=cwd,
            env=dict(environment),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        took = round((monotonic() - began) * 1000)
        return HookRun(hook, NOT_RUN_CODE, stderr=str(error), milliseconds=took)

    async def write_input() -> None:
        assert process.stdin
        with suppress(BrokenPipeError, ConnectionResetError):  # it need not read its input
            process.stdin.write(data)
            await process.stdin.drain()
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.close()

    async def read_output(stream: asyncio.StreamReader | None) -> bytes:
        output, is_killed = bytearray(), False
        with suppress(asyncio.CancelledError):
            while stream and (chunk := await stream.read(CHUNK)):
                output.extend(chunk[: max(MAX_HOOK_OUTPUT - len(output), 0)])
                if len(output) >= MAX_HOOK_OUTPUT and not is_killed:
                    # the rest is read all the same: some Python versions wait for a process until
                    # its output was read to the end
                    is_killed = True
                    _kill(process)
        return bytes(output)

    streams = (process.stdout, process.stderr)
    readers = [asyncio.ensure_future(read_output(stream)) for stream in streams]
    writer = asyncio.ensure_future(write_input())
    is_late = False
    try:
        async with asyncio.timeout(hook.seconds):
            await process.wait()
    except TimeoutError:
        is_late = True
    finally:
        if is_late or process.returncode is None:
            _kill(process)
        writer.cancel()
        with suppress(asyncio.CancelledError):
            await process.wait()
        await asyncio.wait(readers, timeout=LINGER_SECONDS)
        for task in readers:
            task.cancel()
        if transport := getattr(process, "_transport", None):
            transport.close()  # processes left running may hold the pipes open for ever
        done = await asyncio.gather(*readers, return_exceptions=True)
    texts = [item.decode("utf-8", "replace") if isinstance(item, bytes) else "" for item in done]
    code = process.returncode or 0
    code = 128 - code if code < 0 else code
    took = round((monotonic() - began) * 1000)
    return HookRun(hook, code, texts[0], texts[1], took, is_late)


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


Check: TypeAlias = Callable[[object], str | None]
BLOCKING_EXIT_CODE = 2
FAILED_STATUS = "Failed with non-blocking status code: {}"
NO_STDERR = "No stderr output"
INVALID_JSON = (
    "Hook output looks like a JSON object but is not valid JSON — {}. Emit the payload with a JSON"
    " encoder (jq, ConvertTo-Json, json.dumps) rather than string concatenation so backslashes and"
    " quotes inside strings are escaped."
)
INVALID_OUTPUT = "Hook JSON output validation failed — {}\n\nThe hook's output was: {}"
WRONG_EVENT = (
    "Failed to run: Hook returned incorrect event name: expected '{}' but got '{}'. Full stdout: {}"
)


def parse_output(ran: HookRun, event: HookEvent) -> HookOutput:
    """Return the parsed output of a hook that ran."""
    if ran.timed_out:
        return HookOutput(ran, "late")
    words = ran.stdout.strip()
    if words.startswith("{"):
        try:
            return _apply_exit_code(_parse_json_output(ran, decode_object(words.encode()), event))
        except NotAnObject as error:
            if words.endswith("}"):
                return HookOutput(ran, "failed", INVALID_JSON.format(f"JSON Parse error: {error}"))
    if ran.code == BLOCKING_EXIT_CODE:
        return _apply_exit_code(HookOutput(ran))
    if ran.code:
        return HookOutput(ran, "failed", FAILED_STATUS.format(ran.stderr.strip() or NO_STDERR))
    return HookOutput(ran, "words") if words else HookOutput(ran)


def _apply_exit_code(found: HookOutput) -> HookOutput:
    """Return the output with a denial added if the exit code says so."""
    ran = found.run
    if ran.code != BLOCKING_EXIT_CODE:
        return found
    text = f"[{ran.hook.command}]: {ran.stderr or NO_STDERR}"
    blocking = HookBlock(text, ran.stderr.strip() or NO_STDERR)
    return HookOutput(ran, found.kind, found.error, blocking, context=found.context)


def _parse_json_output(ran: HookRun, orders: Mapping[str, Any], event: HookEvent) -> HookOutput:
    """Return what a JSON output says, or what is wrong with it."""
    own = orders.get("hookSpecificOutput")
    if wrong := _find_schema_error(orders, OUTPUT_SCHEMA) or _find_schema_error(
        own or {}, SPECIFIC_SCHEMA, "hookSpecificOutput."
    ):
        return HookOutput(
            ran,
            "failed",
            INVALID_OUTPUT.format(wrong, json.dumps(orders, indent=2, ensure_ascii=False)),
        )
    inner = as_mapping(own)
    if (named := inner.get("hookEventName", event)) != event and inner:
        elsewhere = HookRun(ran.hook, 1, milliseconds=ran.milliseconds)
        return HookOutput(
            elsewhere,
            "failed",
            WRONG_EVENT.format(event, named, json.dumps(orders, indent=2, ensure_ascii=False)),
        )
    reason = str(orders.get("reason") or "Blocked by hook")
    is_blocking = orders.get("decision") == "block"
    decision = as_mapping(inner.get("decision"))
    verdict: Verdict | None = None
    why = ""
    if (given := inner.get("permissionDecision")) in ("allow", "ask", "deny"):
        verdict, why = given, str(inner.get("permissionDecisionReason") or "")
    elif isinstance(inner.get("decision"), Mapping):  # of a PermissionRequest
        behavior = decision.get("behavior")
        verdict = behavior if behavior in ("allow", "deny") else None
        why = str(decision.get("message") or "")
    elif orders.get("decision") == "approve":  # the older form
        verdict, why = "allow", str(orders.get("reason") or "")
    elif is_blocking:
        verdict, why = "deny", reason
    return HookOutput(
        ran,
        "orders",
        blocking=HookBlock(reason, reason, is_json=True) if is_blocking else None,
        stop=str(orders.get("stopReason") or STOPPED_BY_HOOK)
        if orders.get("continue") is False
        else None,
        context=str(inner.get("additionalContext") or ""),
        message=str(orders.get("systemMessage") or ""),
        verdict=verdict,
        reason=why,
        arguments=inner.get("updatedInput") or decision.get("updatedInput"),
        ends_turn=decision.get("interrupt") is True,
    )


def _check_type(kind: type, name: str) -> Check:
    names = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}

    def check(value: object) -> str | None:
        received = names.get(type(value), "object")
        return None if isinstance(value, kind) else f"expected {name}, received {received}"

    return check


def _check_choice(*names: str) -> Check:
    def check(value: object) -> str | None:
        text = "|".join(f'"{name}"' for name in names)
        return None if value in names else f"Invalid option: expected one of {text}"

    return check


OUTPUT_SCHEMA: Mapping[str, Check] = {
    "continue": _check_type(bool, "boolean"),
    "suppressOutput": _check_type(bool, "boolean"),
    "stopReason": _check_type(str, "string"),
    "decision": _check_choice("approve", "block"),
    "reason": _check_type(str, "string"),
    "systemMessage": _check_type(str, "string"),
    "hookSpecificOutput": _check_type(dict, "object"),
}
SPECIFIC_SCHEMA: Mapping[str, Check] = {
    "hookEventName": _check_type(str, "string"),
    "permissionDecision": _check_choice("allow", "deny", "ask", "defer"),
    "permissionDecisionReason": _check_type(str, "string"),
    "updatedInput": _check_type(dict, "object"),
    "additionalContext": _check_type(str, "string"),
    "decision": _check_type(dict, "object"),
}


def _find_schema_error(orders: object, forms: Mapping[str, Check], lead: str = "") -> str | None:
    for name, check in forms.items():
        value = orders.get(name) if isinstance(orders, Mapping) else None
        if value is not None and (problem := check(value)):
            return f"{lead}{name}: {problem}"
    return None
