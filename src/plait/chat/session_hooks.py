"""Hooks of a running session: when each event fires, and what it writes to the log.

    hooks = SessionHooks(load_hooks(settings), writer, place, mode=lambda: "default")
    effect = await hooks.fire_pre_tool_use("toolu_1", proposal, arguments)
    effect.verdict, effect.arguments, effect.stop

All hooks of an event run at the same time. 2.1.325 logs their output as attachments; 2.1.29 logs a
progress line for each hook that runs, and otherwise only the context for the model.
"""

import asyncio
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from plait.chat.events import Notice, TurnEnded
from plait.chat.hooks import (
    Hook,
    HookBlock,
    HookEffect,
    HookEvent,
    HookOutput,
    HookSettings,
    parse_output,
    run_hook,
)
from plait.chat.rules import find_allow_rule, parse_rule
from plait.chat.runtime import Emit, Ruling, Runtime
from plait.chat.tools.base import SECRET_PLACEHOLDER, Outcome, Proposal, Workplace
from plait.chat.tools.shell import format_preview
from plait.chat.usage import Meter
from plait.conversation.prices import Prices
from plait.errors import SourceError, UserError
from plait.line.output import OutputFolder, make_file_name
from plait.record.codec import as_mapping, encode
from plait.write import SessionWriter

MAX_OUTPUT_SHOWN = 10_000
"""Characters of a hook's output that the model gets; longer output is saved to a file."""
REMINDER = "<system-reminder>\n{}\n</system-reminder>"
CONTEXT_EVENTS = ("SessionStart", "UserPromptSubmit")
"""Events whose hook output becomes context for the model."""
POST_TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure", "PostToolBatch")
UNBLOCKABLE_EVENTS = ("SessionStart", "SubagentStart", "Notification")
"""Events that cannot be blocked: a hook that tries has failed."""


def describe_attachment(attachment: Mapping[str, Any]) -> str:
    """Return what an attachment of a hook says, without its id and duration."""
    ignored = ("hookName", "toolUseID", "durationMs")
    return repr(sorted((key, value) for key, value in attachment.items() if key not in ignored))


class HookLog:
    """Writes the log lines of the hooks of one event."""

    def __init__(
        self, writer: SessionWriter, place: Workplace, event: HookEvent, name: str, occasion: str
    ) -> None:
        self._writer = writer
        self._place = place
        self._event = event
        self._name = name
        self._occasion = occasion
        """The event's id: that of a call, or one of its own."""
        self._saved_files = 0
        self.skipped: Container[str] = ()
        """Attachments that are not logged again, as `describe_attachment` describes them."""

    def log_start(self, command: str) -> None:
        """Log that a hook starts, as the older version does."""
        data = {"hookEvent": self._event, "hookName": self._name, "command": command}
        self._writer.progress({"type": "hook_progress", **data}, call=self._occasion)

    def log_all(self, started: Sequence[HookOutput], ended: Sequence[HookOutput]) -> None:
        """Log hooks that ran before the log was ready: their starts, then their output."""
        for output in started:
            self.log_start(output.run.hook.command)
        for output in ended:
            self.log_output(output)

    def log_output(self, text: HookOutput) -> None:
        """Log the output of a hook that has ended."""
        if text.stop is not None and self._event in ("Stop", "SubagentStop"):
            self.log_stop(text.stop)
        ran = text.run
        took = {"command": ran.hook.command, "durationMs": ran.milliseconds}
        if text.kind == "late":
            limit = {"timedOut": True, "timeoutMs": round(ran.hook.seconds * 1000)}
            self._log_note(
                "hook_cancelled", {} if self._event in POST_TOOL_EVENTS else took | limit
            )
        elif text.kind == "failed":
            fields = {"stderr": text.error, "stdout": ran.stdout, "exitCode": ran.code}
            self._log_note("hook_non_blocking_error", fields | took)
        elif self._is_logged(text):
            words = ran.stdout.strip() if text.kind == "words" else ""
            content = self._truncate(words, "stdout")
            fields = {"content": content, "stdout": ran.stdout, "stderr": ran.stderr}
            heard = f"{self._name} hook success: {content}"
            is_heard = content and self._event in CONTEXT_EVENTS
            self._log_note(
                "hook_success", fields | {"exitCode": ran.code} | took, heard if is_heard else None
            )
        if text.message:
            self._log_note("hook_system_message", {"content": text.message})
        if text.blocking:
            self._log_block(text.blocking, ran.hook.command)
        if text.stop is not None and self._event in POST_TOOL_EVENTS:
            self.log_stop(text.stop)
        if text.context and self._event != "SessionStart":
            self.log_context([text.context])

    def _is_logged(self, text: HookOutput) -> bool:
        """Return whether the output of a hook is logged."""
        if text.kind == "words":
            return True
        if text.kind != "orders" or self._event == "UserPromptSubmit":
            return False
        is_order = text.blocking is not None and text.blocking.is_json
        is_refusal = self._event == "PreToolUse" and text.verdict == "deny"
        is_behind = self._event in POST_TOOL_EVENTS and text.stop is not None
        return not (is_order or is_refusal or is_behind)

    def _log_block(self, blocking: HookBlock, command: str) -> None:
        if self._event in UNBLOCKABLE_EVENTS:
            fields = {"stderr": blocking.message, "stdout": "", "exitCode": 2, "command": command}
            self._log_note("hook_non_blocking_error", fields)
        is_stop = self._event in ("Stop", "SubagentStop")
        if is_stop:
            words = f"{self._event} hook feedback:\n{blocking.message}"
            self._writer.note(words, is_companion=False)
        if (is_stop and blocking.is_json) or self._event in POST_TOOL_EVENTS:
            error = {"blockingError": {"blockingError": blocking.message, "command": command}}
            words = (
                f'{self._name} hook blocking error from command: "{command}": {blocking.message}'
            )
            self._log_note("hook_blocking_error", error, words)

    def log_context(self, contexts: list[str], name: str | None = None) -> None:
        """Log additional context for the model."""
        lines = [self._truncate(context, "additionalContext") for context in contexts]
        name = name or self._name
        occasion = name if self._event == "SessionStart" else self._occasion
        if self._event == "UserPromptSubmit":
            occasion = f"hook-{self._writer.ids.uuid()}"
        words = f"{name} hook additional context: {chr(10).join(lines)}"
        fields = {"content": lines, "hookName": name, "toolUseID": occasion}
        self._log_attachment("hook_additional_context", fields, words)

    def log_stop(self, reason: str) -> None:
        """Log that a hook ends the turn."""
        words = f"{self._name} hook stopped continuation: {reason}"
        self._log_note("hook_stopped_continuation", {"message": reason}, words)

    def _log_note(self, kind: str, fields: Mapping[str, Any], words: str | None = None) -> None:
        named = {"hookName": self._name, "toolUseID": self._occasion}
        is_first = kind == "hook_stopped_continuation"
        entry = {**fields, **named} if is_first else {**named, "hookEvent": self._event, **fields}
        self._log_attachment(kind, entry, words)

    def _log_attachment(self, kind: str, fields: Mapping[str, Any], words: str | None) -> None:
        """Log an attachment; the older version only has those for the model."""
        if words is None and self._writer.setting.is_older:
            return
        entry = {"type": kind, **fields, "hookEvent": self._event}
        if self.skipped and describe_attachment(entry) in self.skipped:
            return
        if kind in ("hook_system_message", "hook_success"):
            order = "type hookName toolUseID hookEvent content".split()
            if entry["type"] == "hook_system_message":
                order = "type content hookName toolUseID hookEvent".split()
            entry = {
                name: entry[name]
                for name in (*order, *(item for item in entry if item not in order))
            }
        rendered = None if words is None else REMINDER.format(words)
        self._writer.attachment(entry, rendered, role="system")

    def _truncate(self, text: str, what: str) -> str:
        """Return a text for the model; one that is too long is saved to a file."""
        if len(text) <= MAX_OUTPUT_SHOWN or self._place.results_folder is None:
            return text[:MAX_OUTPUT_SHOWN]
        self._saved_files += 1
        name = f"hook-{make_file_name(self._occasion)}-{self._saved_files}-{what}.txt"
        data = text.encode("utf-8", "replace")
        try:
            OutputFolder(self._place.results_folder).write(name, data)
        except SourceError:
            return text[:MAX_OUTPUT_SHOWN]
        return format_preview(text, len(data), self._place.results_folder / name)

    def log_summary(self, effect: HookEffect) -> None:
        """Log a summary of the Stop hooks, in the order of the settings."""
        infos = [
            {"command": output.run.hook.command}
            | ({} if output.blocking else {"durationMs": output.run.milliseconds})
            for output in effect.in_order
        ]
        errors = [
            output.blocking.message if output.blocking else output.error
            for output in effect.outputs
        ]
        self._writer.system(
            "stop_hook_summary",
            hook_infos=infos,
            hook_errors=[error for error in errors if error],
            hook_additional_context=effect.contexts,
            prevented_continuation=effect.stop is not None,
            stop_reason=effect.stop or "",
            has_output=any(
                output.kind not in ("nothing", "late") or output.blocking
                for output in effect.outputs
            ),
            tool_use_id=self._occasion,
        )


EFFORT = "high"
"""The API's default effort."""
EFFORT_EVENTS: tuple[HookEvent, ...] = (
    *("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PostToolBatch"),
    *("Stop", "SubagentStop"),
)
MODE_EVENTS: tuple[HookEvent, ...] = ("UserPromptSubmit", *EFFORT_EVENTS)


@dataclass(slots=True)
class SessionHooks:
    """The hooks of a session or of one of its agents."""

    settings: HookSettings
    writer: SessionWriter
    place: Workplace
    mode: Callable[[], str] = lambda: "default"
    emit: Emit = lambda event: None
    on_warning: Callable[[str], None] = lambda text: None
    """Called with warnings when events are no longer shown."""
    agent: Mapping[str, str] = field(default_factory=dict)
    """The agent's id and kind."""
    transcript: Path | None = None
    """The session's log, if it is another file."""

    def for_agent(self, writer: SessionWriter, place: Workplace, kind: str) -> "SessionHooks":
        """Return the hooks for an agent."""
        agent = {"agent_id": writer.setting.agent or "", "agent_type": kind}
        transcript = self.transcript or self.writer.path
        return replace(self, writer=writer, place=place, agent=agent, transcript=transcript)

    def has(self, event: HookEvent) -> bool:
        """Return whether any hook listens to an event."""
        return any(hook.event == event for hook in self.settings.hooks)

    async def fire_session_start(
        self, source: str, logged: Container[str] = (), **fields: Any
    ) -> None:
        """Run the SessionStart hooks; their output is logged before the next prompt.

        The client logs nothing that is among the `logged` attachments of a resumed session.
        """
        entry = {"source": source, **fields}
        effect = await self.fire("SessionStart", source, entry)
        if source == "compact":
            self._log_session_start(source, effect, logged)
        elif effect.outputs:
            self.writer.leading.append(lambda: self._log_session_start(source, effect, logged))

    def _log_session_start(self, source: str, effect: HookEffect, logged: Container[str]) -> None:
        log = self._make_log("SessionStart", source)
        log.skipped = logged
        log.log_all(effect.outputs, effect.outputs)
        if effect.contexts:
            log.log_context(effect.contexts, "SessionStart")

    def log_prompt_submit(self, effect: HookEffect) -> None:
        """Log the output of UserPromptSubmit hooks after the prompt."""
        going_on = [output for output in effect.outputs if not output.stop]
        self._make_log("UserPromptSubmit").log_all(effect.outputs, going_on)

    async def fire_pre_tool_use(
        self, call: str, proposal: Proposal, given: Mapping[str, Any]
    ) -> HookEffect:
        """Run the hooks before a call is approved."""
        fields = {"tool_name": proposal.tool, "tool_input": given, "tool_use_id": call}
        log = self._make_log("PreToolUse", proposal.tool, call)
        return await self.fire("PreToolUse", proposal.tool, fields, log, proposal)

    async def fire_permission_request(
        self, call: str, proposal: Proposal, suggested: Sequence[Any]
    ) -> HookEffect:
        """Run the hooks before the user is asked about a call."""
        given = {"tool_name": proposal.tool, "tool_input": proposal.arguments}
        fields = {**given, "permission_suggestions": [*suggested]}
        log = self._make_log("PermissionRequest", proposal.tool, call)
        effect = await self.fire("PermissionRequest", proposal.tool, fields, proposal=proposal)
        log.log_all((), [output for output in effect.outputs if output.verdict is None])
        if effect.verdict in ("allow", "deny") and not self.writer.setting.is_older:
            entry = {"type": "hook_permission_decision", "decision": effect.verdict}
            self.writer.attachment({**entry, "toolUseID": call, "hookEvent": "PermissionRequest"})
        return effect

    async def fire_post_tool_use(
        self,
        call: str,
        proposal: Proposal,
        given: Mapping[str, Any],
        outcome: Outcome,
        milliseconds: int,
    ) -> HookEffect:
        """Run the hooks after a call was logged."""
        event: HookEvent = "PostToolUseFailure" if outcome.is_error else "PostToolUse"
        fields: dict[str, Any] = {"tool_name": proposal.tool, "tool_input": given}
        if outcome.is_error:
            fields |= {
                "tool_use_id": call,
                "error": outcome.text,
                "is_interrupt": False,
            }
        else:
            response = outcome.content if outcome.output is None else outcome.output
            fields |= {"tool_response": response, "tool_use_id": call}
        log = self._make_log(event, proposal.tool, call)
        fields["duration_ms"] = milliseconds
        return await self.fire(event, proposal.tool, fields, log, proposal)

    def log_tool_stop(self, call: str, proposal: Proposal, reason: str) -> None:
        """Log that a PreToolUse hook ends the turn."""
        self._make_log("PreToolUse", proposal.tool, call).log_stop(reason)

    async def fire_post_tool_batch(self, calls: Sequence[Mapping[str, Any]]) -> HookEffect:
        """Run the hooks after all calls of a response."""
        log = self._make_log("PostToolBatch", occasion=f"hook-{self.writer.ids.uuid()}")
        return await self.fire("PostToolBatch", None, {"tool_calls": [*calls]}, log)

    async def fire_stop(self, words: str, *, is_again: bool) -> HookEffect:
        """Run the hooks at the end of a turn and log a summary, unless one continues the turn."""
        event: HookEvent = "SubagentStop" if self.agent else "Stop"
        subject = self.agent.get("agent_type") if self.agent else None
        log = self._make_log(event)
        own = {"agent_transcript_path": str(self.writer.path)} if self.agent else {}
        tasks = [
            {"id": name, "type": "shell"}
            for name, task in self.place.background.items()
            if task.status == "running"
        ]
        fields = {
            "stop_hook_active": is_again,
            **own,
            "last_assistant_message": words,
            "background_tasks": tasks,
            "session_crons": [],
        }
        effect = await self.fire(event, subject, fields, log)
        if effect.in_order:
            log.log_summary(effect)
        return effect

    async def fire_subagent_start(self) -> None:
        """Run the hooks for the start of an agent."""
        kind = self.agent.get("agent_type")
        await self.fire("SubagentStart", kind, {}, self._make_log("SubagentStart", kind))

    async def fire_session_end(self, reason: str) -> None:
        """Run the SessionEnd hooks; their errors go to the caller."""
        effect = await self.fire("SessionEnd", reason, {"reason": reason})
        for output in effect.outputs:
            if trouble := _describe_error(output):
                self.on_warning(f"SessionEnd hook [{output.run.hook.command}] failed: {trouble}")

    def _make_log(
        self, event: HookEvent, subject: str | None = None, occasion: str | None = None
    ) -> HookLog:
        name = f"{event}:{subject}" if subject else event
        return HookLog(self.writer, self.place, event, name, occasion or self.writer.ids.uuid())

    async def fire(
        self,
        event: HookEvent,
        subject: str | None,
        fields: Mapping[str, Any],
        log: HookLog | None = None,
        proposal: Proposal | None = None,
    ) -> HookEffect:
        """Run the hooks of an event concurrently and log the output of each as it ends."""
        hooks = [
            hook for hook in self.settings.select(event, subject) if self._applies(hook, proposal)
        ]
        effect = HookEffect()
        if not hooks:
            return effect
        data = encode({**self._common_fields(event), "hook_event_name": event, **fields})
        environment = {
            **self.place.environment,
            "CLAUDECODE": "1",
            "CLAUDE_CODE_ENTRYPOINT": self.writer.setting.entrypoint,
            "CLAUDE_CODE_SESSION_ID": self.writer.session,
            "CLAUDE_PROJECT_DIR": str(self.place.root),
            **({"CLAUDE_EFFORT": EFFORT} if event in EFFORT_EVENTS else {}),
        }
        for hook in hooks:
            if log:
                log.log_start(hook.command)
        running = {
            asyncio.ensure_future(run_hook(hook, data, self.place.cwd, environment)): number
            for number, hook in enumerate(hooks)
        }
        found: dict[int, HookOutput] = {}
        try:
            while waiting := [task for task in running if running[task] not in found]:
                done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=lambda task: running[task]):
                    run = task.result()
                    texts = [run.stdout, run.stderr]
                    for secret in self.place.secrets:
                        texts = [text.replace(secret, SECRET_PLACEHOLDER) for text in texts]
                    output = parse_output(replace(run, stdout=texts[0], stderr=texts[1]), event)
                    found[running[task]] = output
                    effect.outputs.append(output)
                    if log:
                        log.log_output(output)
                    if output.message:
                        self.emit(Notice(f"{event} hook: {output.message}"))
                    if event != "SessionEnd" and (trouble := _describe_error(output)):
                        text = f"{event} hook [{run.hook.command}]: {trouble}"
                        self.emit(Notice(text, is_error=True))
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        effect.in_order = [found[number] for number in sorted(found)]
        return effect

    def _applies(self, hook: Hook, proposal: Proposal | None) -> bool:
        """Return whether a hook's condition matches the call."""
        if hook.condition is None or proposal is None:
            return True
        try:
            rule = parse_rule(hook.condition)
        except UserError:
            return False
        return find_allow_rule([rule], proposal, self.place) is not None

    def _common_fields(self, event: HookEvent) -> dict[str, Any]:
        writer = self.writer
        own = self.transcript or writer.path
        fields: dict[str, Any] = {
            "session_id": writer.session,
            "transcript_path": str(own),
            "cwd": str(self.place.cwd),
        }
        if writer.prompt_id and not writer.setting.is_older:
            fields["prompt_id"] = writer.prompt_id
        if event in MODE_EVENTS:
            fields["permission_mode"] = self.mode()
        fields |= self.agent
        if event in EFFORT_EVENTS and not writer.setting.is_older:
            fields["effort"] = {"level": EFFORT}
        return fields


def _describe_error(output: HookOutput) -> str:
    """Return the error of a hook; empty if there is none."""
    if output.kind == "late":
        return f"timed out after {output.run.hook.seconds:g} seconds"
    if output.kind == "failed":
        return output.run.stderr.strip() or output.error.partition("\n")[0]
    return ""


BY_HOOK = {"decision": "reject", "source": "hook", "reasonType": "hook"}
DENIAL_KIND = "permission-rule"


def find_refusal(effect: HookEffect, proposal: Proposal, *, is_older: bool) -> Ruling | None:
    """Return the last denial among hooks; None if there is none."""
    for output in reversed(effect.outputs):
        if output.blocking or output.verdict == "deny":
            reason = output.blocking.message if output.blocking else output.reason
            text = f"PreToolUse:{proposal.tool} hook error: {reason}"
            return make_refusal(proposal, text, "PreToolUse", is_older=is_older)
    return None


def make_refusal(
    proposal: Proposal, message: str, event: str, *, is_older: bool, ends_turn: bool = False
) -> Ruling:
    """Return the result of a call that hooks deny, in the log's words."""
    decision = BY_HOOK | {"reasonCode": f"hook:{event}"}
    fields: Mapping[str, Any] = {"tool_denial_kind": DENIAL_KIND, "permission_decision": decision}
    return Ruling(
        False, proposal, message, f"Error: {message}", {} if is_older else fields, ends_turn
    )


CACHE_SECONDS = 300
"""Seconds for which the API caches a prompt."""


class SessionLifecycle:
    """The opening and closing of a session."""

    def __init__(self, runtime: Runtime, prices: Prices, emit: Emit) -> None:
        self._runtime = runtime
        self._prices = prices
        self._emit = emit
        if runtime.hooks:
            runtime.hooks.emit = emit
        self._start_task: asyncio.Task[None] | None = None
        self.reason = "other" if runtime.writer.is_unseen else "prompt_input_exit"
        """Why the session will close."""

    def start(self) -> None:
        """Start the SessionStart hooks once, without waiting for them."""
        if self._runtime.hooks and self._start_task is None:
            self._start_task = asyncio.ensure_future(self._fire_start(self._runtime.hooks))

    async def _fire_start(self, hooks: "SessionHooks") -> None:
        if hooks.has("SessionStart"):
            writer = self._runtime.writer
            source = "startup" if writer.tip is None else "resume"
            if writer.setting.first:
                source = "clear"
            fields = self._describe_resumption() if source == "resume" else {}
            if not writer.is_unseen:
                fields["model"] = writer.setting.model
            logged: frozenset[str] = frozenset()
            if source == "resume" and not writer.setting.is_older:
                records = self._runtime.requests.context.records
                attachments = (as_mapping(record.fields.get("attachment")) for record in records)
                logged = frozenset(
                    describe_attachment(attachment)
                    for attachment in attachments
                    if attachment.get("hookEvent") == "SessionStart"
                )
            await hooks.fire_session_start(source, logged, **fields)

    def _describe_resumption(self) -> dict[str, Any]:
        """Return how long ago the session ended and what resuming it costs."""
        requests, now = self._runtime.requests, self._runtime.writer.ids.moment()
        records = reversed(requests.context.records)
        times = (record.timestamp for record in records if record.type == "assistant")
        last = next(filter(None, times), None)
        tokens = requests.context.tokens()
        meter = Meter(self._prices)
        meter.add(requests.model, {"cache_creation_input_tokens": tokens}, now)
        fields: dict[str, Any] = {}
        if last is not None:
            seconds = max(0, round((now - datetime.fromisoformat(last)).total_seconds()))
            fields["seconds_since_last_response"] = seconds
        fields["context_tokens"] = tokens
        if last is not None:
            fields["prompt_cache_likely_expired"] = seconds > CACHE_SECONDS
        if meter.cost is not None:
            fields["estimated_cache_write_usd"] = round(meter.cost, 4)
        return fields

    async def wait_started(self) -> bool:
        """Wait for the SessionStart hooks; return whether none stopped the session."""
        self.start()
        try:
            if self._start_task:
                await self._start_task
        except asyncio.CancelledError:
            if task := asyncio.current_task():
                task.uncancel()
            self._emit(TurnEnded("interrupted", "", 0, 0, {}, None))
            return False
        return True

    async def end(self) -> None:
        """Run the SessionEnd hooks if the session had started."""
        if self._start_task is None or self._runtime.hooks is None:
            return
        self._start_task.cancel()
        await asyncio.wait([self._start_task])
        await self._runtime.hooks.fire_session_end(self.reason)
