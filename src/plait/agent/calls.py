"""Calls of one response to their results in the log, each written as it comes."""

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from plait.agent.ending import ended
from plait.agent.events import Called, Progressed, Resulted
from plait.agent.hooks.advice import advice_of, refusal_of, refused, rewritten
from plait.agent.hooks.model import Effect
from plait.agent.mcp.tool import ServerTool
from plait.agent.parts import Emit, Parts, Ruling, Sender
from plait.agent.pull_requests import pull_request_in
from plait.agent.skills.following import follow
from plait.agent.streaming import Block
from plait.agent.tools.commands import only_looks
from plait.agent.tools.model import Outcome, Proposal, Report, Tool, ToolError
from plait.agent.tools.secrets import Discreet
from plait.write.transcript import REJECTED

TOGETHER = frozenset({"none", "read", "network"})
"""Effects of calls that may be done at the same time."""
FILES = frozenset({"Read", "Write", "Edit", "NotebookEdit"})
"""Tools that read or write the files they name."""
UNPARSED = "__unparsedToolInput"
"""What a call has for its arguments where they are no JSON, as the client logs it."""
SHOWN_OF_UNPARSED = 200
SYNONYMS = {"Agent": "Task", "Task": "Agent"}
"""Tools that other versions call otherwise."""
WITH_OTHERS = "Continue with the tools you have."
REJECTED_OUTPUT = "User rejected tool use"
NO_CALL = ("InputValidationError", "Error: No such tool")
"""What is told of calls that are none: hooks do not hear of them."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call with the tool that does it, None where there is none."""

    id: str
    name: str
    arguments: Any
    tool: Tool | None

    @property
    def goes_together(self) -> bool:
        """Whether it may be done while others are."""
        return self.tool is None or self.tool.effect in TOGETHER or self._only_looks

    @property
    def _only_looks(self) -> bool:
        command = self.arguments.get("command") if isinstance(self.arguments, Mapping) else None
        return isinstance(command, str) and only_looks(command)


class Calls:
    """Does what responses ask for, as far as it is allowed."""

    def __init__(self, parts: Parts, emit: Emit) -> None:
        self._parts = parts
        self._emit = emit
        self._is_stopped = False
        self.is_held = False
        """Whether a hook has the turn end behind the results."""
        self._told: list[Mapping[str, Any]] = []
        """What became of the calls of a response, for hooks."""

    async def carry_out(self, blocks: Sequence[Block]) -> bool:
        """Does all calls of a response; tells whether the turn goes on.

        What changes something waits for what was called before it, and the rest for that.
        """
        self._parts.recall()
        calls: dict[str, Call] = {}
        for block in blocks:
            name = str(block.get("name", ""))
            call = Call(block["id"], name, block.get("input"), self._tool(name))
            calls.setdefault(call.id, call)  # an id that comes twice has one result
        for batch in _batches([*calls.values()]):
            await _all_of([self._settle(call) for call in batch])
        await self._tell_all()
        return not self._is_stopped

    def _tool(self, name: str) -> Tool | None:
        tools = self._parts.tools
        return tools.get(name) or tools.get(SYNONYMS.get(name, ""))

    async def _settle(self, call: Call) -> None:
        """Does one call, whatever becomes of it."""
        if self._is_stopped:
            self._log(call, Outcome(REJECTED, REJECTED_OUTPUT, is_error=True), is_denied=True)
            return
        try:
            proposal = _proposed(call, self._parts)
        except ToolError as error:
            await self._fail(call, error)
            return
        except Exception as error:
            self._log(call, _broken(error))
            return
        effect = await self._advised(call, proposal)
        try:
            ruling = await self._ruled(call, proposal, effect)
        except ToolError as error:
            ruling = refused(proposal, error.text, "PreToolUse", is_older=self._is_older)
        if not ruling.is_allowed:
            self._deny(call, ruling)
            return
        self._emit(Called(call.id, ruling.proposal))
        began = monotonic()
        outcome = await self._outcome(call, ruling.proposal)
        self._note_background(call, outcome)
        self._note_files(ruling.proposal, outcome)
        told = self._with_pull_request(ruling.proposal, outcome)
        self._log(call, told, {**ruling.fields, **self._sandbox(call)})
        await self._tell_hooks(call, ruling.proposal, told, began, effect)

    @property
    def _is_older(self) -> bool:
        return self._parts.writer.setting.is_older

    async def _advised(self, call: Call, proposal: Proposal) -> Effect:
        """Returns what hooks say to a call."""
        hooks = self._parts.hooks
        return await hooks.before_call(call.id, proposal, call.arguments) if hooks else Effect()

    async def _ruled(self, call: Call, proposal: Proposal, effect: Effect) -> Ruling:
        """Decides on a call: hooks may refuse it, change it, or say what they think of it."""
        if refusal := refusal_of(effect, proposal, is_older=self._is_older):
            return refusal
        if effect.arguments is not None and call.tool:
            proposal = rewritten(proposal, effect.arguments, call.tool, self._parts.place)
        async with self._parts.asking:
            return await self._parts.permissions.rule(proposal, call.id, advice_of(effect))

    async def _fail(self, call: Call, error: ToolError) -> None:
        """Logs a call that cannot be done; hooks are told, unless it is no call at all."""
        is_call = self._parts.hooks and not error.text.startswith(NO_CALL)
        if not (is_call and call.tool):
            self._log(call, error.outcome)
            return
        proposal = Proposal(call.name, call.arguments, call.tool.effect, call.name)
        effect = await self._advised(call, proposal)
        if refusal := refusal_of(effect, proposal, is_older=self._is_older):
            self._deny(call, refusal)
            return
        self._log(call, error.outcome)
        await self._tell_hooks(call, proposal, error.outcome, monotonic(), effect)

    async def _tell_hooks(
        self, call: Call, proposal: Proposal, outcome: Outcome, began: float, before: Effect
    ) -> None:
        """Tells hooks what became of a call; one that ends the turn does so behind the results."""
        hooks = self._parts.hooks
        if hooks is None:
            return
        took = round((monotonic() - began) * 1000)
        effect = await hooks.after_call(call.id, proposal, call.arguments, outcome, took)
        if before.stop is not None:
            hooks.log_stop(call.id, proposal, before.stop)
        self.is_held = self.is_held or before.stop is not None or effect.stop is not None

    async def _tell_all(self) -> None:
        told, self._told = self._told, []
        if self._parts.hooks and told:
            effect = await self._parts.hooks.after_calls(told)
            self.is_held = self.is_held or effect.stop is not None

    def _sandbox(self, call: Call) -> Mapping[str, Any]:
        """What the newer version says of a command that was run: there is no sandbox."""
        is_told = call.name == "Bash" and not self._parts.writer.setting.is_older
        return {"sandboxed": False} if is_told else {}

    def _note_background(self, call: Call, outcome: Outcome) -> None:
        """Notes which call started what goes on in the background: its end is told with it."""
        output = outcome.output
        name = output.get("backgroundTaskId") if isinstance(output, Mapping) else None
        if task := self._parts.place.background.get(str(name)):
            task.call = call.id

    def _note_files(self, proposal: Proposal, outcome: Outcome) -> None:
        """Notes which files were read or written: what is said of them goes along."""
        if proposal.tool in FILES and not outcome.is_error:
            for path in proposal.paths:
                self._parts.along.touch(path)

    def _deny(self, call: Call, ruling: Ruling) -> None:
        self._is_stopped = self._is_stopped or ruling.stops
        outcome = Outcome(ruling.told, ruling.output, is_error=True)
        self._log(call, outcome, ruling.fields, is_denied=True)

    async def _outcome(self, call: Call, proposal: Proposal) -> Outcome:
        tool = call.tool
        if tool is None:
            raise AssertionError(f"{call.name} was proposed by nobody")
        if proposal.effect == "write":
            for path in proposal.paths:
                self._parts.writer.before_change(path, call.id)
        try:
            if isinstance(tool, Sender):
                return await tool.send_out(proposal, call.id, self._parts)
            return await tool.run(proposal, self._parts.place, self._reporter(call.id))
        except ToolError as error:
            return error.outcome
        except Exception as error:
            return _broken(error)

    def _reporter(self, call: str) -> Report:
        def report(data: Mapping[str, Any]) -> None:
            self._parts.writer.progress(data, call=call)
            self._emit(Progressed(call, data))

        return report

    def _log(
        self,
        call: Call,
        outcome: Outcome,
        fields: Mapping[str, Any] | None = None,
        *,
        is_denied: bool = False,
    ) -> None:
        writer = self._parts.writer
        if call.id not in writer.waiting_calls:  # two calls of one id: one result answers both
            return
        writer.setting.cwd = str(self._parts.place.cwd)  # `cd` moves what follows
        if outcome.fields and not writer.setting.is_older:
            fields = {**(fields or {}), **outcome.fields}
        self._attribute(call)
        writer.result(
            call.id, outcome.content, outcome.output, is_error=outcome.is_error, **(fields or {})
        )
        if outcome.expansion:
            follow(outcome.expansion, call.id, self._parts)
        self._emit(Resulted(call.id, call.name, outcome, is_denied))
        if self._parts.hooks:
            named = {"tool_name": call.name, "tool_input": call.arguments, "tool_use_id": call.id}
            self._told.append({**named, "tool_response": outcome.content})

    def _attribute(self, call: Call) -> None:
        """Has what is answered next say which server it comes of."""
        tool = call.tool.tool if isinstance(call.tool, Discreet) else call.tool
        if isinstance(tool, ServerTool):
            named = {"attributionMcpServer": tool.server, "attributionMcpTool": tool.own_name}
            self._parts.writer.attribution = named

    def _with_pull_request(self, proposal: Proposal, outcome: Outcome) -> Outcome:
        """Logs the pull request that a command made, and returns the outcome that tells of it."""
        if proposal.effect != "execute" or outcome.is_error:
            return outcome
        found = pull_request_in(str(proposal.arguments.get("command", "")), outcome.content)
        if found is None:
            return outcome
        self._parts.writer.pull_request(found.number, found.url, found.repository)
        if self._parts.writer.setting.is_older or not isinstance(outcome.output, dict):
            return outcome
        made = {"number": found.number, "url": found.url, "action": "created"}
        return replace(outcome, output={**outcome.output, "gitOperation": {"pr": made}})


def _batches(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Yields what is done at the same time: runs of calls that only look, and each other alone."""
    batch: list[Call] = []
    for call in calls:
        if call.goes_together:
            batch.append(call)
            continue
        if batch:
            yield batch
        batch = []
        yield [call]
    if batch:
        yield batch


async def _all_of(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Waits for all; where one breaks or the turn is stopped, the others end before it returns."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        await ended(tasks)


def _proposed(call: Call, parts: Parts) -> Proposal:
    if call.tool is None:
        is_agents = parts.writer.setting.agent is not None
        raise _refused_input(_unknown(call.name, is_agents=is_agents))
    arguments = call.arguments
    if isinstance(arguments, Mapping) and UNPARSED in arguments:
        raise _refused_input(_unparsed(call.name, arguments[UNPARSED]))
    if not isinstance(arguments, Mapping):
        text = f"InputValidationError: {call.name} was called with no object of JSON"
        raise _refused_input(text)
    return call.tool.propose(arguments, parts.place)


def _unknown(name: str, *, is_agents: bool) -> str:
    text = f"Error: No such tool available: {name}"
    return (
        f"{text}. {name} is not among the tools available here. {WITH_OTHERS}" * is_agents or text
    )


def _unparsed(name: str, told: Mapping[str, Any]) -> str:
    raw, size = str(told.get("raw", "")), told.get("len", 0)
    shown = raw[:SHOWN_OF_UNPARSED]
    return (
        f"InputValidationError: {name} was called with input that could not be parsed as JSON.\n"
        f"You sent (first {len(shown)} of {size} bytes): {shown}\n"
        "Common causes: unescaped backslashes in file paths (use / or \\\\), unescaped control"
        " characters, or truncated output. Retry with valid JSON."
    )


def _broken(error: Exception) -> Outcome:
    """Returns what the model is told of a tool that breaks, which must not end the turn."""
    return Outcome(f"{type(error).__name__}: {error}", is_error=True)


def _refused_input(text: str) -> ToolError:
    return ToolError(text, is_misuse=True, logged=text)
