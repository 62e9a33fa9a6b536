"""Lines of a program to prompts that wait their turn, and to requests that are answered at once.

A program can stop a turn, go on with another model or mode, name the session, ask what it took
and put files back, while a turn goes on; and it is asked about calls where it wants to be
(`--permission-prompt-tool stdio`), in the words of the client.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import uuid4

from plait.agent.client import Client
from plait.agent.cost import usage_lines
from plait.agent.permission import Answer
from plait.agent.rewinding import Restoration
from plait.agent.tools.model import Proposal
from plait.cli.chat.choice import mode_named
from plait.cli.chat.commands import COMMANDS
from plait.cli.chat.keyboard import PlainKeyboard
from plait.cli.chat.streamed import Said, object_of, said_in
from plait.errors import UserError
from plait.record.codec import mapping, said

Json: TypeAlias = dict[str, Any]
Say: TypeAlias = Callable[[Mapping[str, Any]], None]
Do: TypeAlias = "Callable[[Controls, Mapping[str, Any]], Awaitable[Json]]"
SESSION = "session"
UNKNOWN = "unsupported_request"
NO_FILES = "No file checkpoint found for this message."
NO_POWER = (
    "Cannot set permission mode to bypassPermissions because the session was not launched with"
    " --permission-mode bypassPermissions"
)


class Unsupported(Exception):
    """A request that there is not."""


@dataclass
class Controls:
    """Reads what a program says, all the time, and answers it."""

    lines: PlainKeyboard
    may_bypass: bool = False
    """Whether nothing has to be asked about, if that is asked for."""
    client: Client = field(init=False)
    say: Say = field(init=False)
    _prompts: asyncio.Queue[Said | BaseException | None] = field(default_factory=asyncio.Queue)
    _waiting: set[str] = field(default_factory=set)
    """The ids of prompts that wait, as far as they have some."""
    _asked: dict[str, asyncio.Future[Mapping[str, Any]]] = field(default_factory=dict)

    def serve(self, client: Client, say: Say) -> None:
        """Answers for a session from now on, by way of `say`."""
        self.client, self.say = client, say

    async def prompts(self) -> AsyncIterator[Said]:
        """Yields the prompts, each as it comes."""
        reader = asyncio.ensure_future(self._read())
        try:
            while (found := await self._prompts.get()) is not None:
                if isinstance(found, BaseException):
                    raise found
                if found.uuid is None or found.uuid in self._waiting:
                    self._waiting.discard(found.uuid or "")
                    yield found
        finally:
            reader.cancel()
            with suppress(asyncio.CancelledError):
                await reader

    async def _read(self) -> None:
        number = 0
        try:
            while (line := await self.lines.line()) is not None:
                number += 1
                if line.strip():
                    await self._take(object_of(line, number), number)
        except UserError as error:
            self._prompts.put_nowait(error)
        for answer in self._asked.values():
            if not answer.done():
                answer.set_result({})  # nobody is there any more
        self._prompts.put_nowait(None)

    async def _take(self, value: Mapping[str, Any], number: int) -> None:
        match value.get("type"):
            case "user":
                found = said_in(value, number)
                self._waiting |= {found.uuid} if found.uuid else set()
                self._prompts.put_nowait(found)
            case "control_request":
                await self._answer(value)
            case "control_response":
                response = mapping(value.get("response"))
                answer = self._asked.get(str(response.get("request_id")))
                if answer and not answer.done():
                    answer.set_result(mapping(response.get("response")))
            case _:
                pass

    async def _answer(self, value: Mapping[str, Any]) -> None:
        request = mapping(value.get("request"))
        name = str(request.get("subtype"))
        told: Json = {"subtype": "success"}
        try:
            if name not in REQUESTS:
                raise Unsupported
            told["response"] = await REQUESTS[name](self, request)
        except Unsupported:
            words = f"Unsupported control request subtype: {name}"
            told = {"subtype": "error", "error": words, "error_code": UNKNOWN}
        except UserError as error:
            told = {"subtype": "error", "error": error.message}
        told["request_id"] = value.get("request_id")
        self.say({"type": "control_response", "response": told})

    async def ask(self, proposal: Proposal, call: str) -> Answer:
        """Asks the program about a call; what is no answer refuses."""
        name = str(uuid4())
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[name] = answer
        self.say({"type": "control_request", "request_id": name, "request": asked(proposal, call)})
        try:
            return understood(await answer, proposal)
        except asyncio.CancelledError:
            self.say({"type": "control_cancel_request", "request_id": name})
            raise
        finally:
            self._asked.pop(name, None)

    def withdraw(self, uuid: str) -> bool:
        """Takes a prompt back that waits; tells whether it did."""
        is_there = uuid in self._waiting
        self._waiting.discard(uuid)
        return is_there


def asked(proposal: Proposal, call: str) -> Json:
    """Returns what a program is asked about a call."""
    is_change = proposal.effect == "write"
    rule = {"toolName": proposal.tool, "ruleContent": proposal.title}
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": SESSION}
    rules = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": SESSION}
    return {
        "subtype": "can_use_tool",
        "tool_name": proposal.tool,
        "display_name": proposal.tool,
        "input": dict(proposal.arguments),
        "description": proposal.title,
        "permission_suggestions": [mode if is_change else rules],
        "tool_use_id": call,
    }


def understood(response: Mapping[str, Any], proposal: Proposal) -> Answer:
    """Returns what a program answered."""
    if response.get("behavior") != "allow":
        words = said(response, "message") or ""
        stops = response.get("interrupt") is True or not words
        return Answer(False, "" if stops else words, stops=stops, is_verbatim=True)
    meant = response.get("updatedInput")
    is_other = isinstance(meant, Mapping) and dict(meant) != dict(proposal.arguments)
    return Answer(
        True,
        arguments=meant if is_other else None,
        is_for_session=bool(response.get("updatedPermissions")),
    )


async def _initialize(controls: Controls, request: Mapping[str, Any]) -> Json:
    commands = [
        {"name": one.name, "description": one.help, "argumentHint": one.takes} for one in COMMANDS
    ]
    styles = {"output_style": "default", "available_output_styles": ["default"]}
    return {"commands": commands, "agents": [], **styles, "models": [], "account": {}}


async def _interrupt(controls: Controls, request: Mapping[str, Any]) -> Json:
    controls.client.interrupt()
    return {"still_queued": []}


async def _set_model(controls: Controls, request: Mapping[str, Any]) -> Json:
    model = said(request, "model")
    if not model:
        raise UserError("a model needs a name")
    await controls.client.switch(model=model)
    return {"model": model}


async def _set_mode(controls: Controls, request: Mapping[str, Any]) -> Json:
    mode = mode_named(str(request.get("mode")))
    if mode == "bypassPermissions" and not controls.may_bypass:
        raise UserError(NO_POWER)
    await controls.client.switch(mode=mode)
    ids = {"uuid": str(uuid4()), "session_id": controls.client.session}
    controls.say(
        {"type": "system", "subtype": "status", "status": None, "permissionMode": mode, **ids}
    )
    return {"mode": mode}


async def _rename(controls: Controls, request: Mapping[str, Any]) -> Json:
    await controls.client.rename(said(request, "title") or "")
    return {}


async def _context(controls: Controls, request: Mapping[str, Any]) -> Json:
    fill = controls.client.fill
    if fill is None:
        raise UserError("nobody counts what this session holds")
    return {
        "categories": [],
        "totalTokens": fill.tokens,
        "maxTokens": fill.window,
        "rawMaxTokens": fill.window,
        "percentage": round(100 * fill.tokens / fill.window),
        "model": controls.client.model,
    }


async def _cost(controls: Controls, request: Mapping[str, Any]) -> Json:
    return {"text": "\n".join(usage_lines(controls.client.cost.fields))}


async def _cancel(controls: Controls, request: Mapping[str, Any]) -> Json:
    return {"cancelled": controls.withdraw(str(request.get("message_uuid")))}


async def _rewind_files(controls: Controls, request: Mapping[str, Any]) -> Json:
    uuid = str(request.get("user_message_id"))
    point = next((one for one in controls.client.points() if one.uuid == uuid), None)
    plan = controls.client.files_at(point) if point else None
    if plan is None:
        raise UserError(NO_FILES)
    if request.get("dry_run") is True:
        return _planned(plan)
    done = plan.carry_out(over=request.get("over") is True)
    left = [str(step.path) for step in plan.steps if step not in done]
    return {"canRewind": True, "skippedLinks": 0, **({"leftAlone": left} if left else {})}


def _planned(plan: Restoration) -> Json:
    counts = [step.lines for step in plan.steps]
    return {
        "canRewind": True,
        "filesChanged": [str(step.path) for step in plan.steps],
        "insertions": sum(more for more, _ in counts),
        "deletions": sum(fewer for _, fewer in counts),
        **({"leftAlone": [str(step.path) for step in plan.foreign]} if plan.foreign else {}),
    }


REQUESTS: dict[str, Do] = {
    "initialize": _initialize,
    "interrupt": _interrupt,
    "set_model": _set_model,
    "set_permission_mode": _set_mode,
    "rename_session": _rename,
    "get_context_usage": _context,
    "get_session_cost": _cost,
    "cancel_async_message": _cancel,
    "rewind_files": _rewind_files,
}
"""What a program can ask for."""
