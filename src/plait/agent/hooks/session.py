"""What happens in a session to its hooks: each is told, all of an occasion at the same time.

hooks = SessionHooks(hook_book(settings), writer, place, mode=lambda: "default")
effect = await hooks.before_call("toolu_1", proposal)     # PreToolUse
effect.verdict, effect.arguments, effect.stop             # what is to be done
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plait.agent.events import Noticed
from plait.agent.hooks.configured import HookBook
from plait.agent.hooks.lines import HookLog
from plait.agent.hooks.model import Effect, Event, Hook, Said
from plait.agent.hooks.reading import said
from plait.agent.hooks.running import run
from plait.agent.parts import Emit
from plait.agent.rules import permitting, rule_of
from plait.agent.tools.model import HIDDEN, Outcome, Proposal, Workplace
from plait.errors import UserError
from plait.record.codec import encode
from plait.write import SessionWriter

EFFORT = "high"
"""What the API takes for how much effort is asked for, where nobody says."""
AT_TOOLS: tuple[Event, ...] = (
    *("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PostToolBatch"),
    *("Stop", "SubagentStop"),
)
MODED: tuple[Event, ...] = ("UserPromptSubmit", *AT_TOOLS)


def _no_one(event: Any) -> None:
    """Shows something to nobody."""


@dataclass(slots=True)
class SessionHooks:
    """The hooks of a session, or of an agent that works for it."""

    book: HookBook
    writer: SessionWriter
    place: Workplace
    mode: Callable[[], str] = lambda: "default"
    emit: Emit = _no_one
    note: Callable[[str], None] = _no_one
    """Told of trouble when nobody is shown events any more."""
    agent: Mapping[str, str] = field(default_factory=dict)
    """What is said of the agent that works: its id and its kind."""
    transcript: Path | None = None
    """The log of the session, where that is another."""

    def of_agent(self, writer: SessionWriter, place: Workplace, kind: str) -> "SessionHooks":
        """Returns the hooks as an agent has them."""
        agent = {"agent_id": writer.setting.agent or "", "agent_type": kind}
        transcript = self.transcript or self.writer.path
        return replace(self, writer=writer, place=place, agent=agent, transcript=transcript)

    def join(self, emit: Emit) -> None:
        """Has whoever looks on shown what hooks say to people."""
        self.emit = emit

    def has(self, event: Event) -> bool:
        """Tells whether anybody is told of an event at all."""
        return any(hook.event == event for hook in self.book.hooks)

    async def session_began(self, source: str, **fields: Any) -> None:
        """Tells that a session begins; what is said of it stands before the next prompt."""
        told = {"source": source, **fields}
        effect = await self._fire("SessionStart", source, None, told)
        if source == "compact":
            self._write_beginning(source, effect)
        elif effect.said:
            self.writer.leading.append(lambda: self._write_beginning(source, effect))

    def _write_beginning(self, source: str, effect: Effect) -> None:
        log = self._log("SessionStart", source)
        for one in effect.said:
            log.began(one.ran.hook.command)
        for one in effect.said:
            log.ended(one)
        if effect.contexts:
            log.context(effect.contexts, "SessionStart")

    async def submitted(self, words: str) -> Effect:
        """Tells what a person asks, before it is logged; `log_submitted` logs what was said."""
        return await self._fire("UserPromptSubmit", None, None, {"prompt": words})

    def log_submitted(self, effect: Effect) -> None:
        """Logs what hooks said to a prompt, behind it."""
        log = self._log("UserPromptSubmit")
        for one in effect.said:
            log.began(one.ran.hook.command)
        for one in effect.said:
            if not one.stop:
                log.ended(one)

    async def before_call(self, call: str, proposal: Proposal, given: Mapping[str, Any]) -> Effect:
        """Tells of a call before anybody is asked about it."""
        fields = {"tool_name": proposal.tool, "tool_input": given, "tool_use_id": call}
        log = self._log("PreToolUse", proposal.tool, call)
        return await self._fire("PreToolUse", proposal.tool, log, fields, proposal)

    async def requested(self, call: str, proposal: Proposal, suggested: Sequence[Any]) -> Effect:
        """Tells that somebody is to be asked about a call."""
        given = {"tool_name": proposal.tool, "tool_input": proposal.arguments}
        fields = {**given, "permission_suggestions": [*suggested]}
        log = self._log("PermissionRequest", proposal.tool, call)
        effect = await self._fire("PermissionRequest", proposal.tool, None, fields, proposal)
        for one in effect.said:
            if one.verdict is None:
                log.ended(one)
        if effect.verdict in ("allow", "deny") and not self.writer.setting.is_older:
            told = {"type": "hook_permission_decision", "decision": effect.verdict}
            self.writer.attachment({**told, "toolUseID": call, "hookEvent": "PermissionRequest"})
        return effect

    async def after_call(
        self,
        call: str,
        proposal: Proposal,
        given: Mapping[str, Any],
        outcome: Outcome,
        milliseconds: int,
    ) -> Effect:
        """Tells what became of a call, once it is logged."""
        event: Event = "PostToolUseFailure" if outcome.is_error else "PostToolUse"
        told: dict[str, Any] = {"tool_name": proposal.tool, "tool_input": given}
        if outcome.is_error:
            told |= {"tool_use_id": call, "error": _text(outcome.content), "is_interrupt": False}
        else:
            response = outcome.content if outcome.output is None else outcome.output
            told |= {"tool_response": response, "tool_use_id": call}
        log = self._log(event, proposal.tool, call)
        told["duration_ms"] = milliseconds
        return await self._fire(event, proposal.tool, log, told, proposal)

    def log_stop(self, call: str, proposal: Proposal, reason: str) -> None:
        """Logs that a hook which was told before a call ends the turn."""
        self._log("PreToolUse", proposal.tool, call).stopped(reason)

    async def after_calls(self, calls: Sequence[Mapping[str, Any]]) -> Effect:
        """Tells what became of all calls of a response."""
        log = self._log("PostToolBatch", occasion=f"hook-{self.writer.ids.uuid()}")
        return await self._fire("PostToolBatch", None, log, {"tool_calls": [*calls]})

    async def stopping(self, words: str, *, is_again: bool) -> Effect:
        """Tells that the turn ends, unless a hook has it go on; the log says how they went."""
        event: Event = "SubagentStop" if self.agent else "Stop"
        subject = self.agent.get("agent_type") if self.agent else None
        log = self._log(event)
        own = {"agent_transcript_path": str(self.writer.path)} if self.agent else {}
        tasks = [{"id": name, "type": "shell"} for name, one in self._running()]
        fields = {
            "stop_hook_active": is_again,
            **own,
            "last_assistant_message": words,
            "background_tasks": tasks,
            "session_crons": [],
        }
        effect = await self._fire(event, subject, log, fields)
        if effect.ran:
            log.summary(effect)
        return effect

    def _running(self) -> list[tuple[str, Any]]:
        tasks = self.place.background.items()
        return [(name, one) for name, one in tasks if getattr(one, "status", "") == "running"]

    async def agent_began(self) -> Effect:
        """Tells that an agent begins to work."""
        kind = self.agent.get("agent_type")
        return await self._fire("SubagentStart", kind, self._log("SubagentStart", kind), {})

    async def before_compaction(self, trigger: str, focus: str) -> Effect:
        """Tells that what was said is to be summed up."""
        fields = {"trigger": trigger, "custom_instructions": focus or None}
        return await self._fire("PreCompact", trigger, None, fields)

    async def after_compaction(self, trigger: str, summary: str) -> Effect:
        """Tells that a summary stands for what was said."""
        fields = {"trigger": trigger, "compact_summary": summary}
        return await self._fire("PostCompact", trigger, None, fields)

    async def notified(self, message: str, kind: str) -> None:
        """Tells that somebody is waited for."""
        told = {"message": message, "notification_type": kind}
        await self._fire("Notification", kind, None, told)

    async def session_ended(self, reason: str) -> None:
        """Tells that a session is left; what fails then is told to whoever called us."""
        effect = await self._fire("SessionEnd", reason, None, {"reason": reason})
        for one in effect.said:
            if trouble := _trouble(one):
                self.note(f"SessionEnd hook [{one.ran.hook.command}] failed: {trouble}")

    def _log(
        self, event: Event, subject: str | None = None, occasion: str | None = None
    ) -> HookLog:
        name = f"{event}:{subject}" if subject else event
        return HookLog(self.writer, self.place, event, name, occasion or self.writer.ids.uuid())

    async def _fire(
        self,
        event: Event,
        subject: str | None,
        log: HookLog | None,
        fields: Mapping[str, Any],
        proposal: Proposal | None = None,
    ) -> Effect:
        """Runs the hooks of an occasion, all at once, and logs what each says as it ends."""
        hooks = [hook for hook in self.book.of(event, subject) if self._is_due(hook, proposal)]
        effect = Effect()
        if not hooks:
            return effect
        told = encode({**self._common(event), "hook_event_name": event, **fields})
        environment = self._environment(event)
        for hook in hooks:
            if log:
                log.began(hook.command)
        running = {
            asyncio.ensure_future(run(hook, told, self.place.cwd, environment)): number
            for number, hook in enumerate(hooks)
        }
        found: dict[int, Said] = {}
        try:
            while waiting := [one for one in running if running[one] not in found]:
                done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for one in sorted(done, key=lambda task: running[task]):
                    found[running[one]] = heard = self._heard(said(one.result(), event))
                    effect.said.append(heard)
                    self._show(heard, event, log)
        finally:
            for one in running:
                one.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        effect.ran = [found[number] for number in sorted(found)]
        return effect

    def _is_due(self, hook: Hook, proposal: Proposal | None) -> bool:
        """Tells whether the call is one of those that a hook is for."""
        if hook.condition is None or proposal is None:
            return True
        try:
            rule = rule_of(hook.condition)
        except UserError:
            return False
        return permitting([rule], proposal, self.place) is not None

    def _common(self, event: Event) -> dict[str, Any]:
        writer = self.writer
        own = self.transcript or writer.path
        told: dict[str, Any] = {
            "session_id": writer.session,
            "transcript_path": str(own),
            "cwd": str(self.place.cwd),
        }
        if writer.prompt_id and not writer.setting.is_older:
            told["prompt_id"] = writer.prompt_id
        if event in MODED:
            told["permission_mode"] = self.mode()
        told |= self.agent
        if event in AT_TOOLS and not writer.setting.is_older:
            told["effort"] = {"level": EFFORT}
        return told

    def _environment(self, event: Event) -> dict[str, str]:
        """Returns what a hook has in its environment: what commands have, and where it is."""
        own = {
            "CLAUDECODE": "1",
            "CLAUDE_CODE_ENTRYPOINT": self.writer.setting.entrypoint,
            "CLAUDE_CODE_SESSION_ID": self.writer.session,
            "CLAUDE_PROJECT_DIR": str(self.place.root),
        }
        effort = {"CLAUDE_EFFORT": EFFORT} if event in AT_TOOLS else {}
        return {**self.place.environment, **own, **effort}

    def _heard(self, one: Said) -> Said:
        """Returns what a hook says, without secrets of the environment."""
        if not any(secret in one.ran.stdout + one.ran.stderr for secret in self.place.secrets):
            return one
        texts = [one.ran.stdout, one.ran.stderr]
        for secret in self.place.secrets:
            texts = [text.replace(secret, HIDDEN) for text in texts]
        return said(replace(one.ran, stdout=texts[0], stderr=texts[1]), one.ran.hook.event)

    def _show(self, one: Said, event: Event, log: HookLog | None) -> None:
        if log:
            log.ended(one)
        if one.message:
            self.emit(Noticed(f"{event} hook: {one.message}"))
        if event != "SessionEnd" and (trouble := _trouble(one)):
            self.emit(Noticed(f"{event} hook [{one.ran.hook.command}]: {trouble}", is_error=True))


def _trouble(one: Said) -> str:
    """Returns what went wrong with a hook, nothing where all is well."""
    if one.kind == "late":
        return f"it was ended after {one.ran.hook.seconds:g} seconds"
    if one.kind == "failed":
        return one.ran.stderr.strip() or one.trouble.partition("\n")[0]
    return ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content)
