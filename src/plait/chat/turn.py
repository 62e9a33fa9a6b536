"""One turn: from a prompt through responses and tool calls to its end.

A response stopped by a safety classifier is reported to the model once, and the turn continues; the
second time it ends. 2.1.29 ends the turn at once.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, NamedTuple

from plait.chat.events import (
    Compacted,
    Ending,
    Notice,
    PromptLogged,
    ResponseLogged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from plait.chat.hooks import HookEffect
from plait.chat.mcp import ServerTool
from plait.chat.permissions import REJECTED_OUTPUT
from plait.chat.prompts import Prompt, PromptQueue
from plait.chat.responses import ResponseClient, is_too_long, log_model_error
from plait.chat.runtime import Emit, Ruling, Runtime, SessionTool, cancel_and_wait
from plait.chat.session_hooks import find_refusal, make_refusal
from plait.chat.skills import (
    SkillError,
    log_command_prompt,
    log_failure,
    log_skill_result,
    use_model,
)
from plait.chat.streaming import UNPARSED, Block, ModelError
from plait.chat.tools.base import Outcome, Proposal, Tool, ToolError
from plait.chat.tools.commands import is_read_only
from plait.chat.tools.secrets import SecretHidingTool
from plait.chat.usage import Meter
from plait.errors import SourceError
from plait.graph.client.messages import INTERRUPTED as LOST
from plait.line.discovery import read_git_branch
from plait.write.lines import get_prompt_text
from plait.write.transcript import REJECTED

FAMILY = re.compile(r"claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?!\d)")
REFUSAL_NOTICE = "{}'s safeguards stopped the response above · continuing once with that noted"
REFUSAL_NOTE = (
    "Your response above was stopped by a safety classifier — this is not a tool or API error. The"
    " rest of it was withheld, and tool calls in it that had not finished did not run. Do not"
    " produce that content again, even reworded."
)
NOT_RUN = (
    "<tool_use_error>Not run: the response was stopped by a safety classifier</tool_use_error>"
)
REFUSAL_ERROR = (
    "API Error: {name}'s safeguards flagged this message (https://www.anthropic.com/legal/aup)."
    " This sometimes happens with safe, normal conversations. Claude Code can't respond to this"
    " message with {name}.\n\nTry rephrasing the request in a new session or change your model.\n\n"
    "Learn more: https://support.claude.com/en/articles/8106465\n\nRequest ID: {request}\n\n"
    "Message ID: {message}"
)


CREATE_COMMAND = re.compile(r"\bgh\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?){0,9}?pr\s+create\b")
PULL_REQUEST_URL = re.compile(r"https://[\w.-]+/([\w.-]+/[\w.-]+)/pull/(\d{1,9})\b")


class PullRequest(NamedTuple):
    """A pull request that a session created."""

    number: int
    url: str
    repository: str


def find_pull_request(
    command: str, output: str | Sequence[Mapping[str, Any]]
) -> PullRequest | None:
    """Return the pull request that a command created; None if there is none."""
    if not isinstance(output, str) or not CREATE_COMMAND.search(command):
        return None
    found = list(PULL_REQUEST_URL.finditer(output))
    if not found:
        return None
    last = found[-1]
    return PullRequest(int(last[2]), last[0], last[1])


CONCURRENT_EFFECTS = frozenset({"none", "read", "network"})
"""Effects of calls that may run at the same time."""
FILE_TOOLS = frozenset({"Read", "Write", "Edit", "NotebookEdit"})
"""Tools that read or write the files they name."""
MAX_UNPARSED_SHOWN = 200
TOOL_ALIASES = {"Agent": "Task", "Task": "Agent"}
"""Tools that other versions name differently."""
USE_OTHER_TOOLS = "Continue with the tools you have."
INVALID_REWRITE = (
    "PreToolUse hook for {} returned updatedInput that failed schema validation: {}\nThe tool input"
    " from the model was valid; the hook's rewrite of it was not."
)
INVALID_CALL_ERRORS = ("InputValidationError", "Error: No such tool")
"""Errors of invalid calls, which hooks do not see."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call and its tool; None for an unknown tool."""

    id: str
    name: str
    arguments: Any
    tool: Tool | None

    @property
    def may_run_concurrently(self) -> bool:
        """Whether other calls may run at the same time: it changes nothing."""
        if self.tool is None or self.tool.effect in CONCURRENT_EFFECTS:
            return True
        command = self.arguments.get("command") if isinstance(self.arguments, Mapping) else None
        return isinstance(command, str) and is_read_only(command)


class ToolCallRunner:
    """Runs the tool calls of a response, as far as they are allowed."""

    def __init__(self, runtime: Runtime, emit: Emit) -> None:
        self._runtime = runtime
        self._emit = emit
        self._is_stopped = False
        self.is_ended_by_hook = False
        """Whether a hook ends the turn after the results."""
        self._hook_results: list[Mapping[str, Any]] = []
        """The results of a response's calls, for hooks."""

    async def run_all(self, blocks: Sequence[Block]) -> bool:
        """Run all calls of a response; return whether the turn continues.

        A call that may change something waits for those before it, and later ones wait for it.
        """
        self._runtime.restore_tool_state()
        calls: dict[str, ToolCall] = {}
        for block in blocks:
            name, tools = str(block.get("name", "")), self._runtime.tools
            tool = tools.get(name) or tools.get(TOOL_ALIASES.get(name, ""))
            # an id that occurs twice has one result
            calls.setdefault(block["id"], ToolCall(block["id"], name, block.get("input"), tool))
        batches: list[list[ToolCall]] = [[]]
        for call in calls.values():
            if call.may_run_concurrently:
                batches[-1].append(call)
            else:
                batches += [[call], []]
        for batch in filter(None, batches):
            tasks = [asyncio.ensure_future(self._run(call)) for call in batch]
            try:
                await asyncio.gather(*tasks)
            finally:  # if one crashes or the turn is stopped, the others end first
                await cancel_and_wait(tasks)
        results, self._hook_results = self._hook_results, []
        if self._runtime.hooks and results:
            effect = await self._runtime.hooks.fire_post_tool_batch(results)
            self.is_ended_by_hook = self.is_ended_by_hook or effect.stop is not None
        return not self._is_stopped

    async def _run(self, call: ToolCall) -> None:
        """Run one call; never raise."""
        if self._is_stopped:
            self._log_result(
                call, Outcome(REJECTED, REJECTED_OUTPUT, is_error=True), is_denied=True
            )
            return
        try:
            proposal = self._propose(call)
        except ToolError as error:
            await self._log_failure(call, error)
            return
        except Exception as error:
            self._log_result(call, _make_crash_outcome(error))
            return
        effect = await self._run_pre_hooks(call, proposal)
        try:
            ruling = await self._decide(call, proposal, effect)
        except ToolError as error:
            ruling = make_refusal(proposal, error.text, "PreToolUse", is_older=self._is_older)
        if not ruling.is_allowed:
            self._is_stopped = self._is_stopped or ruling.ends_turn
            outcome = Outcome(ruling.message, ruling.output, is_error=True)
            self._log_result(call, outcome, ruling.fields, is_denied=True)
            return
        self._emit(ToolStarted(call.id, ruling.proposal))
        began = monotonic()
        outcome = await self._run_tool(call, ruling.proposal)
        output = outcome.output
        name = output.get("backgroundTaskId") if isinstance(output, Mapping) else None
        if task := self._runtime.place.background.get(str(name)):
            task.call = call.id
        attachments = self._runtime.attachments
        if attachments and ruling.proposal.tool in FILE_TOOLS and not outcome.is_error:
            for path in ruling.proposal.paths:
                attachments.note_file(path)
        logged = self._log_pull_request(ruling.proposal, outcome)
        fields = dict(ruling.fields)
        if call.name == "Bash" and not self._is_older:
            fields["sandboxed"] = False
        self._log_result(call, logged, fields)
        await self._run_post_hooks(call, ruling.proposal, logged, began, effect)

    def _propose(self, call: ToolCall) -> Proposal:
        """Return what a call would do; raise ToolError if it is invalid."""
        if call.tool is None:
            text = f"Error: No such tool available: {call.name}"
            if self._runtime.writer.setting.agent is not None:
                text += f". {call.name} is not among the tools available here. {USE_OTHER_TOOLS}"
            raise _make_input_error(text)
        arguments = call.arguments
        if isinstance(arguments, Mapping) and UNPARSED in arguments:
            unparsed = arguments[UNPARSED]
            raw, size = str(unparsed.get("raw", "")), unparsed.get("len", 0)
            shown = raw[:MAX_UNPARSED_SHOWN]
            raise _make_input_error(
                f"InputValidationError: {call.name} was called with input that could not be parsed as JSON.\n"
                f"You sent (first {len(shown)} of {size} bytes): {shown}\n"
                "Common causes: unescaped backslashes in file paths (use / or \\\\), unescaped control"
                " characters, or truncated output. Retry with valid JSON."
            )
        if not isinstance(arguments, Mapping):
            text = (
                f"InputValidationError: {call.name} was called with input that is not a JSON object"
            )
            raise _make_input_error(text)
        return call.tool.propose(arguments, self._runtime.place)

    @property
    def _is_older(self) -> bool:
        return self._runtime.writer.setting.is_older

    async def _run_pre_hooks(self, call: ToolCall, proposal: Proposal) -> HookEffect:
        """Run the PreToolUse hooks and return their combined effect."""
        hooks = self._runtime.hooks
        if hooks is None:
            return HookEffect()
        return await hooks.fire_pre_tool_use(call.id, proposal, call.arguments)

    async def _decide(self, call: ToolCall, proposal: Proposal, effect: HookEffect) -> Ruling:
        """Decide on a call; hooks may deny it, change it or advise."""
        if refusal := find_refusal(effect, proposal, is_older=self._is_older):
            return refusal
        if effect.arguments is not None and call.tool:
            try:
                rewritten = call.tool.propose(effect.arguments, self._runtime.place)
            except ToolError as error:
                raise ToolError(INVALID_REWRITE.format(proposal.tool, error.text)) from error
            proposal = replace(rewritten, is_user_modified=proposal.is_user_modified)
        async with self._runtime.approval_lock:
            return await self._runtime.permissions.check(proposal, call.id, effect)

    async def _log_failure(self, call: ToolCall, error: ToolError) -> None:
        """Log a call that failed; hooks are told unless the call was invalid."""
        is_call = self._runtime.hooks and not error.text.startswith(INVALID_CALL_ERRORS)
        if not (is_call and call.tool):
            self._log_result(call, error.outcome)
            return
        proposal = Proposal(call.name, call.arguments, call.tool.effect, call.name)
        effect = await self._run_pre_hooks(call, proposal)
        if refusal := find_refusal(effect, proposal, is_older=self._is_older):
            outcome = Outcome(refusal.message, refusal.output, is_error=True)
            self._log_result(call, outcome, refusal.fields, is_denied=True)
            return
        self._log_result(call, error.outcome)
        await self._run_post_hooks(call, proposal, error.outcome, monotonic(), effect)

    async def _run_post_hooks(
        self, call: ToolCall, proposal: Proposal, outcome: Outcome, began: float, before: HookEffect
    ) -> None:
        """Run PostToolUse hooks; one that ends the turn does so after the results."""
        hooks = self._runtime.hooks
        if hooks is None:
            return
        took = round((monotonic() - began) * 1000)
        effect = await hooks.fire_post_tool_use(call.id, proposal, call.arguments, outcome, took)
        if before.stop is not None:
            hooks.log_tool_stop(call.id, proposal, before.stop)
        self.is_ended_by_hook = (
            self.is_ended_by_hook or before.stop is not None or effect.stop is not None
        )

    async def _run_tool(self, call: ToolCall, proposal: Proposal) -> Outcome:
        tool = call.tool
        if tool is None:
            raise AssertionError(f"{call.name} was not proposed by a tool")
        if proposal.effect == "write":
            for path in proposal.paths:
                self._runtime.writer.before_change(path, call.id)
        try:
            if isinstance(tool, SessionTool):
                return await tool.run_in_session(proposal, call.id, self._runtime)

            def report(data: Mapping[str, Any]) -> None:
                self._runtime.writer.progress(data, call=call.id)
                self._emit(ToolProgress(call.id, data))

            return await tool.run(proposal, self._runtime.place, report)
        except ToolError as error:
            return error.outcome
        except Exception as error:
            return _make_crash_outcome(error)

    def _log_result(
        self,
        call: ToolCall,
        outcome: Outcome,
        fields: Mapping[str, Any] | None = None,
        *,
        is_denied: bool = False,
    ) -> None:
        writer = self._runtime.writer
        if call.id not in writer.waiting_calls:  # two calls with one id: one result answers both
            return
        writer.setting.cwd = str(self._runtime.place.cwd)  # `cd` affects the calls that follow
        if outcome.fields and not writer.setting.is_older:
            fields = {**(fields or {}), **outcome.fields}
        self._set_attribution(call)
        writer.result(
            call.id, outcome.content, outcome.output, is_error=outcome.is_error, **(fields or {})
        )
        if outcome.expansion:
            log_skill_result(outcome.expansion, call.id, self._runtime)
        self._emit(ToolFinished(call.id, call.name, outcome, is_denied))
        if self._runtime.hooks:
            named = {"tool_name": call.name, "tool_input": call.arguments, "tool_use_id": call.id}
            self._hook_results.append({**named, "tool_response": outcome.content})

    def _set_attribution(self, call: ToolCall) -> None:
        """Note the MCP server that the next response is attributed to."""
        tool = call.tool.tool if isinstance(call.tool, SecretHidingTool) else call.tool
        if isinstance(tool, ServerTool):
            named = {"attributionMcpServer": tool.server, "attributionMcpTool": tool.own_name}
            self._runtime.writer.attribution = named

    def _log_pull_request(self, proposal: Proposal, outcome: Outcome) -> Outcome:
        """Log the pull request that a command created; return the outcome with a note about it."""
        if proposal.effect != "execute" or outcome.is_error:
            return outcome
        found = find_pull_request(str(proposal.arguments.get("command", "")), outcome.content)
        if found is None:
            return outcome
        self._runtime.writer.pull_request(found.number, found.url, found.repository)
        if self._runtime.writer.setting.is_older or not isinstance(outcome.output, dict):
            return outcome
        made = {"number": found.number, "url": found.url, "action": "created"}
        return replace(outcome, output={**outcome.output, "gitOperation": {"pr": made}})


def _make_crash_outcome(error: Exception) -> Outcome:
    """Return the result for a tool that crashed, which must not end the turn."""
    return Outcome(f"{type(error).__name__}: {error}", is_error=True)


def _make_input_error(text: str) -> ToolError:
    return ToolError(text, is_misuse=True, logged=text)


PROMPT_BLOCKED = "UserPromptSubmit operation blocked by hook:\n{}\n\nOriginal prompt: {}"
PROMPT_STOPPED = "Operation stopped by hook: {}"
MAX_STOP_BLOCKS = 9
"""How often in a row hooks may continue a turn."""
STOP_BLOCKS_OVERRIDDEN = (
    "A hook blocked the turn from ending {} consecutive times — overriding and ending turn. For"
    " Stop/SubagentStop hooks, check stop_hook_active in the input and return success while it's"
    " true. Set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to raise this limit."
)
OUTPUT_LIMIT_HIT = (
    "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick"
    " up mid-thought if that is where the cut happened. Break remaining work into smaller pieces."
)
NO_VISIBLE_OUTPUT = (
    "[Your previous response had no visible output. Please continue and produce a user-visible"
    " response.]"
)
MAX_CONTINUATIONS = 3
"""How often an answer that was cut off is continued."""


class Turn:
    """One turn: `run` executes it, from the prompt to its end."""

    def __init__(
        self, runtime: Runtime, emit: Emit, queue: PromptQueue, meter: Meter, asking: ResponseClient
    ) -> None:
        self._runtime = runtime
        self._emit = emit
        self._queue = queue
        self._session_meter = meter
        self._meter = Meter(meter.prices)
        self._response_client = asking
        self._calls = ToolCallRunner(runtime, emit)
        self._continued = self._refusals = self._stop_blocks = 0
        self._text = ""
        self._began = monotonic()
        self._tip_before: str | None = None
        self._prompt_uuid = ""
        self._prompt_tip: str | None = None
        """The last message of the input: the prompt or its last attachment."""
        self._is_interrupted = False
        """Whether the user interrupted it, other than by a rejection: no duration is logged."""

    async def run(self, prompts: Sequence[Prompt]) -> TurnEnded:
        """Run the turn of one or several prompts; if cancelled, log the interruption."""
        try:
            ending = await self._run_guarded(prompts)
            writer, took = self._runtime.writer, self._milliseconds
            is_logged = self._is_typed or (writer.setting.is_older and not self._is_agent)
            if is_logged and not self._is_interrupted:
                pool = self._runtime.agents
                writer.turn_ended(took, agents=pool.background_count if pool else 0)
            return self._emit_ended(ending, took)
        except Exception as error:
            self._runtime.writer.recover()
            if not isinstance(error, SourceError):
                raise
            self._text = error.message
            self._emit(Notice(error.message, is_error=True))
            return self._emit_ended("failed", self._milliseconds)

    async def _run_guarded(self, prompts: Sequence[Prompt]) -> Ending:
        try:
            await self._compact_before_prompt()
            self._runtime.place.granted_rules = ()  # granted by a command to the last turn
            self._runtime.writer.attribution = {}
            if self._runtime.servers:
                for notice in await self._runtime.servers.start():
                    self._emit(Notice(notice))
            queued = []
            for prompt in prompts:
                if (skills := self._runtime.skills) and prompt.is_from_user:
                    expansion = await skills.expand(prompt.content, self._runtime)
                    prompt = replace(prompt, expansion=expansion)
                queued.append(prompt)
            if not await self._log_prompts(queued):
                return "done"
            models = [prompt.expansion.model for prompt in queued if prompt.expansion]
            with use_model(models[-1] if models else None, self._runtime):
                return await self._run_steps()
        except SkillError as error:
            self._end_with_notice(log_failure(error, self._runtime))
            return "done"
        except asyncio.CancelledError:
            if task := asyncio.current_task():
                task.uncancel()
            # Log the interruption; before any answer, take the prompt back.
            writer = self._runtime.writer
            self._is_interrupted = True
            if not self._prompt_uuid:
                return "interrupted"
            if writer.tip == self._prompt_tip and self._is_typed:
                writer.rewind(self._tip_before)
            elif self._prompt_uuid:
                writer.interrupt()
            return "interrupted"
        except ModelError as fault:
            self._text = log_model_error(
                self._runtime.writer, fault, self._runtime.writer.setting.model
            )
            return "failed"

    async def _compact_before_prompt(self) -> None:
        """Compact before the prompt is logged, if a summary would otherwise swallow it."""
        if self._runtime.compactor and self._runtime.writer.setting.is_older:
            with suppress(ModelError):  # the first request tries again and reports it
                self._report_compaction(await self._runtime.compactor.compact_if_needed())

    async def _log_prompts(self, prompts: Sequence[Prompt]) -> bool:
        """Log the prompts; return whether to continue: hooks may block them."""
        writer = self._runtime.writer
        self._answer_unfinished_calls()
        if branch := read_git_branch(self._runtime.place.cwd):
            writer.setting.git_branch = branch
        self._tip_before = writer.tip
        accepted: list[tuple[Prompt, HookEffect | None]] = []
        for prompt in prompts:
            words, is_older = get_prompt_text(prompt.content), writer.setting.is_older
            if prompt.source == "typed" and not (self._is_typed or is_older):
                writer.queue("enqueue", words)
                writer.queue("dequeue")
            effect = await self._run_prompt_hooks(prompt, words)
            if effect and effect.blocking:
                block = effect.blocking[0]
                text = PROMPT_BLOCKED.format(block.message, words)
                self._log_prompt_ending(text, "blocked_by_hook", block.reason, is_kept=False)
                continue
            if prompt.expansion:
                self._prompt_uuid = log_command_prompt(prompt.expansion, self._runtime)
            else:
                fields = {} if is_older else prompt.fields(is_typed=self._is_typed)
                self._prompt_uuid = writer.prompt(
                    prompt.log_content, continues_turn=bool(accepted), uuid=prompt.uuid, **fields
                )
            self._emit(PromptLogged(self._prompt_uuid, words))
            accepted.append((prompt, effect))
        return self._log_attachments(accepted)

    def _log_attachments(self, accepted: Sequence[tuple[Prompt, HookEffect | None]]) -> bool:
        """Log attachments of prompts and the output of hooks; return whether to go on."""
        if not accepted:
            return False
        prompts = [prompt for prompt, _ in accepted]
        if attachments := self._runtime.attachments:
            for notice in attachments.write_for_prompts(prompts):
                self._emit(Notice(notice))
        effects = [effect for _, effect in accepted if effect]
        writer, hooks = self._runtime.writer, self._runtime.hooks
        for effect in effects:
            if hooks:
                hooks.log_prompt_submit(effect)
        self._prompt_tip = writer.tip
        stop = next((effect.stop for effect in effects if effect.stop is not None), None)
        if stop is not None:
            text = PROMPT_STOPPED.format(stop)
            writer.note(text, is_companion=False)
            self._log_prompt_ending(text, "stopped_by_hook", stop, is_kept=True)
        return stop is None

    def _log_prompt_ending(self, text: str, kind: str, reason: str, *, is_kept: bool) -> None:
        """Log and report that a hook ends the turn before the model gets the prompt."""
        writer = self._runtime.writer
        ending = {"ending": {"kind": kind, "reason": reason}, "promptKept": is_kept}
        newer = {"prevent_continuation": True, "prompt_submit_ending": ending}
        fields = {} if writer.setting.is_older else newer
        writer.system("informational", content=text, level="warning", **fields)
        self._end_with_notice(text)

    async def _run_prompt_hooks(self, prompt: Prompt, words: str) -> HookEffect | None:
        """Run the hooks before a prompt is logged, unless it was not typed."""
        hooks = self._runtime.hooks
        if prompt.source != "typed" or hooks is None or not hooks.has("UserPromptSubmit"):
            return None
        self._runtime.writer.announce()
        return await hooks.fire("UserPromptSubmit", None, {"prompt": words})

    def _end_with_notice(self, words: str) -> None:
        """End the turn with a message for the user that the model does not see."""
        self._text, self._is_interrupted = words, True
        self._emit(Notice(words, is_error=True))

    def _answer_unfinished_calls(self) -> None:
        """Answer the calls of a turn whose log was cut off."""
        writer = self._runtime.writer
        denial = {} if writer.setting.is_older else {"tool_denial_kind": "interrupted"}
        for call in writer.waiting_calls:
            writer.result(call, LOST, LOST, is_error=True, **denial)

    @property
    def _is_typed(self) -> bool:
        return self._runtime.writer.setting.entrypoint == "cli" and not self._is_agent

    @property
    def _is_agent(self) -> bool:
        """Whether it is an agent's turn, reported in its parent's log."""
        return self._runtime.writer.setting.agent is not None

    async def _run_steps(self) -> Ending:
        while True:
            answer = await self._request_response()
            if answer.stop_reason == "refusal":
                if not self._continue_after_refusal(answer):
                    return "refused"
            elif answer.tool_calls:
                if not await self._calls.run_all(answer.tool_calls):
                    self._runtime.writer.interrupt(is_at_tools=True)
                    return "interrupted"
                if self._calls.is_ended_by_hook:
                    self._text = ""
                    return "done"
                writer = self._runtime.writer
                for waiting in self._queue.take_into_turn():
                    if waiting.notification:
                        writer.queued_news(waiting.notification, time=waiting.time)
                    elif waiting.source == "message":
                        writer.queued_message(get_prompt_text(waiting.content), time=waiting.time)
                    else:
                        writer.queued_prompt(waiting.content, time=waiting.time)
                        self._emit(PromptLogged(writer.tip or "", get_prompt_text(waiting.content)))
                if self._runtime.attachments:
                    self._runtime.attachments.write_for_results()
            elif not self._continue_response(answer) and await self._run_stop_hooks(answer):
                return "done"
            if ending := self._check_limits():
                return ending

    async def _request_response(self) -> ResponseLogged:
        """Send the request when there is room; compact if there is too little."""
        compactor = self._runtime.compactor
        if compactor:
            self._report_compaction(await compactor.compact_if_needed())
        try:
            answer = await self._response_client.request()
        except ModelError as fault:
            if not is_too_long(fault) or compactor is None:
                raise
            self._report_compaction(await compactor.compact("auto"))
            answer = await self._response_client.request()
        when = self._runtime.writer.ids.moment()
        self._meter.add(answer.model, answer.usage, when)
        self._session_meter.add(answer.model, answer.usage, when)
        self._text = answer.text or self._text
        return answer

    def _report_compaction(self, compacted: Compacted | None) -> None:
        """Count and report the usage of a compaction."""
        if compacted:
            when = self._runtime.writer.ids.moment()
            self._session_meter.add(compacted.model, compacted.usage, when)
            self._emit(compacted)

    def _continue_after_refusal(self, answer: ResponseLogged) -> bool:
        """Log that a safety classifier stopped a response; return whether to continue, once."""
        writer, name = self._runtime.writer, answer.model
        if found := FAMILY.search(name):
            name = f"{found[1].capitalize()} {'.'.join(filter(None, found.groups()[1:]))}"
        self._refusals += 1
        for call in answer.tool_calls:
            if call["id"] in writer.waiting_calls:
                writer.result(call["id"], NOT_RUN, is_error=True)
        if writer.setting.is_older:
            return False
        if self._refusals == 1:
            notice = REFUSAL_NOTICE.format(name)
            writer.system("informational", content=notice, level="notice")
            writer.note(REFUSAL_NOTE, refused_message_id=answer.message)
            return True
        writer.system(
            "model_refusal_no_fallback", original_model=answer.model, request_id=answer.request
        )
        self._text = REFUSAL_ERROR.format(name=name, request=answer.request, message=answer.message)
        writer.api_error(
            self._text,
            error="invalid_request",
            request=answer.request,
            stop_reason="refusal",
            refused_message_id=answer.message,
            refusing_model=answer.model,
        )
        return False

    def _continue_response(self, answer: ResponseLogged) -> bool:
        """Return whether an answer without calls is continued; log the reason for the model."""
        if self._continued >= MAX_CONTINUATIONS:
            return False
        self._continued += 1
        if answer.stop_reason == "pause_turn":
            return True
        if answer.stop_reason in ("max_tokens", "model_context_window_exceeded"):
            self._runtime.writer.note(OUTPUT_LIMIT_HIT)
            return True
        if not answer.content and self._continued == 1:
            self._runtime.writer.note(NO_VISIBLE_OUTPUT)
            return True
        return False

    async def _run_stop_hooks(self, answer: ResponseLogged) -> bool:
        """Return whether the turn is over: hooks may continue it, but not for ever."""
        hooks = self._runtime.hooks
        if hooks is None:
            return True
        effect = await hooks.fire_stop(answer.text, is_again=self._stop_blocks > 0)
        if effect.stop is not None or not (effect.blocking or effect.contexts):
            return True
        self._stop_blocks += 1
        if self._stop_blocks < MAX_STOP_BLOCKS:
            return False
        text = STOP_BLOCKS_OVERRIDDEN.format(self._stop_blocks)
        self._runtime.writer.system("informational", content=text, level="warning")
        self._emit(Notice(text))
        return True

    def _check_limits(self) -> Ending | None:
        limits = self._runtime.limits
        if limits.responses is not None and self._meter.responses >= limits.responses:
            fields = {"maxTurns": limits.responses, "turnCount": self._meter.responses + 1}
            if not (self._runtime.writer.setting.is_older or self._is_agent):
                kind = {"type": "max_turns_reached", **fields, "exitCommitted": False}
                self._runtime.writer.attachment(kind)
            self._emit(Notice(f"stopped after {limits.responses} responses", is_error=True))
            return "max_turns"
        if limits.dollars is not None and self._session_meter.dollars >= limits.dollars:
            self._emit(
                Notice(
                    f"stopped at the cost limit: ${self._session_meter.dollars:.4f} spent",
                    is_error=True,
                )
            )
            return "max_budget"
        return None

    @property
    def _milliseconds(self) -> int:
        return round((monotonic() - self._began) * 1000)

    def _emit_ended(self, ending: Ending, took: int) -> TurnEnded:
        meter = self._meter
        ended = TurnEnded(ending, self._text, took, meter.responses, meter.by_kind(), meter.cost)
        self._emit(ended)
        return ended
