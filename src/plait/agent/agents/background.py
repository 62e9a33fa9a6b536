"""An agent in the background to how it stands, and to what is told when it has ended."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape

from plait.agent.agents.reports import LIMITED
from plait.agent.agents.work import Work
from plait.agent.ending import ended
from plait.agent.tools.background import Status
from plait.agent.tools.model import Outcome
from plait.write.ids import Ids
from plait.write.queued import News

LAUNCHED = (
    "Async agent launched successfully. (This tool result is internal metadata — never quote or"
    " paste any part of it, including the agentId below, into a user-facing reply.)\n"
    "agentId: {agent} (internal ID - do not mention to user. Use SendMessage with to: '{agent}',"
    " summary: '<5-10 word recap>' to continue this agent.)\n"
    "The agent is working in the background. You will be notified automatically when it completes."
    " You know nothing about its results until that notification arrives — do not report, assume,"
    " or predict them; continue other work or respond to the user in the meantime.\n"
    "Do not duplicate this agent's work — avoid working with the same files or topics it is"
    " using.\n"
    "output_file: {file}\n"
    "Do NOT Read or tail this file via the shell tool — it is the full subagent JSONL transcript"
    " and reading it will overflow your context. If the user asks for progress, say the agent is"
    " still running; you'll get a completion notification."
)
LAUNCHED_BEFORE = (
    "Async agent launched successfully.\n"
    "agentId: {agent} (internal ID - do not mention to user. Use to resume later if needed.)\n"
    "The agent is working in the background. You will be notified automatically when it"
    " completes.\nContinue with other tasks.\n"
    "output_file: {file}\n"
    "To check progress before completion (optional), use Read or Bash tail on the output file."
)
AGAIN = (
    "<note>A task-notification fires each time this agent stops with no live background children"
    " of its own. The user can send it another message and resume it, so the same task-id may"
    " notify more than once.</note>"
)
USAGE = (
    "<usage><subagent_tokens>{}</subagent_tokens><tool_uses>{}</tool_uses>"
    "<duration_ms>{}</duration_ms></usage>"
)
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class AgentTask:
    """An agent in the background."""

    work: Work
    output: Path
    """Where its log can be read."""
    run: str
    """The id of this run of it."""
    call: str | None
    """The call that has it work."""
    is_told: bool = False
    kind: str = field(default="local_agent", init=False)
    stopped_by: Literal["", "Claude", "user"] = ""
    """Who ended it early."""

    @property
    def name(self) -> str:
        """The id of the agent."""
        return self.work.id

    @property
    def description(self) -> str:
        """Its task in a few words."""
        return self.work.errand.description

    @property
    def subject(self) -> str:
        """What it does: its task."""
        return self.description

    @property
    def code(self) -> int | None:
        """Nothing: agents have no exit code."""
        return None

    @property
    def status(self) -> Status:
        """How it stands."""
        if self.work.is_busy:
            return "running"
        match self._ending:
            case "interrupted":
                return "killed"
            case "failed":
                return "failed"
            case _:
                return "completed"

    @property
    def _ending(self) -> str:
        task = self.work.task
        if task is None or not task.done():
            return ""
        if task.cancelled():
            return "interrupted"
        return "failed" if task.exception() else task.result().ending

    @property
    def said(self) -> str:
        """Its last words."""
        task = self.work.task
        if self._ending == "max_turns" and task:
            return LIMITED.format(task.result().responses)
        return "\n".join(self.work.words)

    async def wait(self, seconds: float) -> None:
        """Waits for its end, not longer than some seconds."""
        if self.work.task:
            await asyncio.wait([self.work.task], timeout=seconds)

    async def stop(self) -> None:
        """Ends it, and waits until it has ended."""
        if self.work.task:
            self.stopped_by = self.stopped_by or "Claude"
            await ended([self.work.task])

    def launched(self) -> Outcome:
        """Returns what is told of it at first."""
        errand, is_older = self.work.errand, self.work.writer.setting.is_older
        words = (LAUNCHED_BEFORE if is_older else LAUNCHED).format(
            agent=self.name, file=self.output
        )
        model = {} if is_older else {"resolvedModel": errand.model}
        more = {} if is_older else {"canReadOutputFile": True, "canContinueAgent": True}
        output: dict[str, Any] = {
            "isAsync": True,
            "status": "async_launched",
            "agentId": self.name,
            "description": errand.description,
            **model,
            "prompt": errand.prompt,
            "outputFile": str(self.output),
            **more,
        }
        return Outcome([{"type": "text", "text": words}], output)

    @property
    def news(self) -> News:
        """What the model is told when it has ended."""
        tally, is_completed = self.work.tally, self.status == "completed"
        if self.work.writer.setting.is_older:
            return News(self._told_before())
        usage = {
            "totalTokens": tally.tokens,
            "toolUses": tally.calls,
            "durationMs": self.work.milliseconds,
        }
        used = sorted(tally.used)
        return News(self._told(), self.run, used, usage if is_completed else {})

    def _told(self) -> str:
        tally, is_completed = self.work.tally, self.status == "completed"
        took = USAGE.format(tally.tokens, tally.calls, self.work.milliseconds)
        asked = [f"<tool-use-id>{self.call}</tool-use-id>"] if self.call else []
        return "\n".join(
            [
                "<task-notification>",
                f"<task-id>{self.name}</task-id>",
                *asked,
                f"<output-file>{self.output}</output-file>",
                f"<status>{self.status}</status>",
                f"<summary>{escape(self._summary('finished'))}</summary>",
                AGAIN,
                *([f"<result>{self.said}</result>", took] if is_completed else []),
                "</task-notification>",
            ]
        )

    def _told_before(self) -> str:
        """What 2.1.29 tells."""
        is_completed = self.status == "completed"
        return "\n".join(
            [
                "<task-notification>",
                f"<task-id>{self.name}</task-id>",
                f"<status>{self.status}</status>",
                f"<summary>{escape(self._summary('completed'))}</summary>",
                *([f"<result>{self.said}</result>"] if is_completed else []),
                "</task-notification>",
                f"Full transcript available at: {self.output}",
            ]
        )

    def _summary(self, done: str) -> str:
        told = f'Agent "{self.description}"'
        match self.status:
            case "completed":
                return f"{told} {done}"
            case "failed":
                return f"{told} failed: {self._why()}"
            case "killed":
                by = f" by {self.stopped_by}" if self.stopped_by else ""
                return f"{told} was stopped{by}"
            case _:
                return f"{told} is running"

    def _why(self) -> str:
        task = self.work.task
        if task is None or task.cancelled():
            return ""
        error = task.exception()
        return str(error) if error else self.work.failure(task.result().text)


def run_name(ids: Ids) -> str:
    """Returns a name for a run of an agent, as the client makes them: when, and by chance."""
    rest, letters = round(ids.moment().timestamp() * 1000), ""
    while rest:
        rest, digit = divmod(rest, len(LETTERS))
        letters = LETTERS[digit] + letters
    return f"{letters:0>9}-{ids.agent(8)[1:]}"
