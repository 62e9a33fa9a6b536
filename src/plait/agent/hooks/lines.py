"""What hooks said to the lines that they leave in the log.

2.1.325   attachments: what each said, what the model is told of it
2.1.29    a line of progress for each that is run, and only what the model is told
"""

from collections.abc import Mapping
from typing import Any

from plait.agent.hooks.model import Effect, Event, Said
from plait.agent.tools.model import Workplace
from plait.agent.tools.persisted import preview
from plait.errors import SourceError
from plait.line.folder import OutputFolder, file_name
from plait.write import SessionWriter

MOST_TOLD = 10_000
"""Letters of what a hook says that the model is told; more lies in a file."""
REMINDER = "<system-reminder>\n{}\n</system-reminder>"
HEARD = ("SessionStart", "UserPromptSubmit")
"""Events at which the model is told what a hook prints."""
SAID_BEHIND = ("PostToolUse", "PostToolUseFailure", "PostToolBatch")
UNBLOCKED = ("SessionStart", "SubagentStart", "Notification")
"""Events at which there is nothing to block: who would, has failed."""


class HookLog:
    """Writes what the hooks of one occasion leave in the log."""

    def __init__(
        self, writer: SessionWriter, place: Workplace, event: Event, name: str, occasion: str
    ) -> None:
        self._writer = writer
        self._place = place
        self._event = event
        self._name = name
        self._occasion = occasion
        """What names the occasion: the id of a call, or one of its own."""
        self._kept = 0

    def began(self, command: str) -> None:
        """Writes that a hook is run, as the older version does."""
        data = {"hookEvent": self._event, "hookName": self._name, "command": command}
        self._writer.progress({"type": "hook_progress", **data}, call=self._occasion)

    def ended(self, said: Said) -> None:
        """Writes what a hook said that has ended."""
        if said.stop is not None and self._event in ("Stop", "SubagentStop"):
            self.stopped(said.stop)
        self._write_outcome(said)
        if said.message:
            self._note("hook_system_message", {"content": said.message})
        if said.blocking:
            self._write_blocking(said)
        if said.stop is not None and self._event in SAID_BEHIND:
            self.stopped(said.stop)
        if said.context and self._event != "SessionStart":
            self.context([said.context])

    def _write_outcome(self, said: Said) -> None:
        ran = said.ran
        took = {"command": ran.hook.command, "durationMs": ran.milliseconds}
        if said.kind == "late":
            limit = {"timedOut": True, "timeoutMs": round(ran.hook.seconds * 1000)}
            self._note("hook_cancelled", {} if self._event in SAID_BEHIND else took | limit)
        elif said.kind == "failed":
            told = {"stderr": said.trouble, "stdout": ran.stdout, "exitCode": ran.code}
            self._note("hook_non_blocking_error", told | took)
        elif self._is_told(said):
            words = ran.stdout.strip() if said.kind == "words" else ""
            content = self._short(words, "stdout")
            told = {"content": content, "stdout": ran.stdout, "stderr": ran.stderr}
            heard = f"{self._name} hook success: {content}"
            is_heard = content and self._event in HEARD
            self._note(
                "hook_success", told | {"exitCode": ran.code} | took, heard if is_heard else None
            )

    def _is_told(self, said: Said) -> bool:
        """Tells whether the log keeps what a hook printed."""
        if said.kind == "words":
            return True
        if said.kind != "orders" or self._event == "UserPromptSubmit":
            return False
        is_order = said.blocking is not None and said.blocking.is_order
        is_refusal = self._event == "PreToolUse" and said.verdict == "deny"
        is_behind = self._event in SAID_BEHIND and said.stop is not None
        return not (is_order or is_refusal or is_behind)

    def _write_blocking(self, said: Said) -> None:
        blocking, command = said.blocking, said.ran.hook.command
        if blocking is None:
            return
        if self._event in UNBLOCKED:
            told = {"stderr": blocking.told, "stdout": "", "exitCode": 2, "command": command}
            self._note("hook_non_blocking_error", told)
        if self._event in ("Stop", "SubagentStop"):
            self._writer.note(f"{self._event} hook feedback:\n{blocking.told}", is_companion=False)
        is_stop = self._event in ("Stop", "SubagentStop") and blocking.is_order
        if is_stop or self._event in SAID_BEHIND:
            error = {"blockingError": {"blockingError": blocking.told, "command": command}}
            words = f'{self._name} hook blocking error from command: "{command}": {blocking.told}'
            self._note("hook_blocking_error", error, words)

    def context(self, contexts: list[str], name: str | None = None) -> None:
        """Writes what the model is told besides."""
        told = [self._short(one, "additionalContext") for one in contexts]
        name = name or self._name
        occasion = name if self._event == "SessionStart" else self._occasion
        if self._event == "UserPromptSubmit":
            occasion = f"hook-{self._writer.ids.uuid()}"
        words = f"{name} hook additional context: {chr(10).join(told)}"
        fields = {"content": told, "hookName": name, "toolUseID": occasion}
        self._attach("hook_additional_context", fields, words)

    def stopped(self, reason: str) -> None:
        """Writes that a hook ends the turn."""
        words = f"{self._name} hook stopped continuation: {reason}"
        self._note("hook_stopped_continuation", {"message": reason}, words)

    def _note(self, kind: str, fields: Mapping[str, Any], words: str | None = None) -> None:
        named = {"hookName": self._name, "toolUseID": self._occasion}
        is_first = kind == "hook_stopped_continuation"
        told = {**fields, **named} if is_first else {**named, "hookEvent": self._event, **fields}
        self._attach(kind, told, words)

    def _attach(self, kind: str, fields: Mapping[str, Any], words: str | None) -> None:
        """Writes an attachment; the older version has only those that the model is told."""
        if words is None and self._writer.setting.is_older:
            return
        told = {"type": kind, **fields, "hookEvent": self._event}
        if kind in ("hook_system_message", "hook_success"):
            told = _content_first(told)
        rendered = None if words is None else REMINDER.format(words)
        self._writer.attachment(told, rendered, role="system")

    def _short(self, text: str, what: str) -> str:
        """Returns a text as it is told: one that is too long is kept in a file."""
        if len(text) <= MOST_TOLD or self._place.results is None:
            return text[:MOST_TOLD]
        self._kept += 1
        name = f"hook-{file_name(self._occasion)}-{self._kept}-{what}.txt"
        data = text.encode("utf-8", "replace")
        try:
            OutputFolder(self._place.results).write(name, data)
        except SourceError:
            return text[:MOST_TOLD]
        return preview(text, len(data), self._place.results / name)

    def summary(self, effect: Effect) -> None:
        """Writes how the hooks that run when a turn ends went, in the order of the settings."""
        infos = [
            {"command": one.ran.hook.command}
            | ({} if one.blocking else {"durationMs": one.ran.milliseconds})
            for one in effect.ran
        ]
        errors = [one.blocking.told if one.blocking else one.trouble for one in effect.said]
        self._writer.system(
            "stop_hook_summary",
            hook_infos=infos,
            hook_errors=[one for one in errors if one],
            hook_additional_context=effect.contexts,
            prevented_continuation=effect.stop is not None,
            stop_reason=effect.stop or "",
            has_output=any(
                one.kind not in ("nothing", "late") or one.blocking for one in effect.said
            ),
            tool_use_id=self._occasion,
        )


def _content_first(told: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of an attachment in the order in which the client writes them."""
    order = "type hookName toolUseID hookEvent content".split()
    if told["type"] == "hook_system_message":
        order = "type content hookName toolUseID hookEvent".split()
    return {name: told[name] for name in (*order, *(one for one in told if one not in order))}
