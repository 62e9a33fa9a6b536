"""A prompt to the end of its turn: answers, calls, results, until there is nothing left to do."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic

from plait.agent.answering import Answer, Asking
from plait.agent.calls import Calls
from plait.agent.events import Compacted, Ending, Noticed, Prompted, TurnEnded
from plait.agent.faults import is_too_long, log_fault
from plait.agent.hooks.model import Effect
from plait.agent.hooks.prompts import HELD_BACK, log_blocked, log_held, log_stopped
from plait.agent.meter import Meter
from plait.agent.parts import Emit, Parts
from plait.agent.queue import Asked, PromptQueue
from plait.agent.refusals import answer_calls, give_up, tell_once
from plait.agent.skills.following import ask, asked_of, begin, log_failure
from plait.agent.skills.model import Unexpanded
from plait.agent.streaming import ModelFault
from plait.errors import SourceError
from plait.graph.client.speech import INTERRUPTED as LOST
from plait.write.place import branch_of
from plait.write.prompts import words_of

CUT_SHORT = (
    "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick"
    " up mid-thought if that is where the cut happened. Break remaining work into smaller pieces."
)
SAID_NOTHING = (
    "[Your previous response had no visible output. Please continue and produce a user-visible"
    " response.]"
)
MOST_CONTINUED = 3
"""How often an answer that was cut short goes on by itself."""


class Turn:
    """One turn: `run` does it, from the prompt to whatever ends it."""

    def __init__(
        self, parts: Parts, emit: Emit, queue: PromptQueue, meter: Meter, asking: Asking
    ) -> None:
        self._parts = parts
        self._emit = emit
        self._queue = queue
        self._session_meter = meter
        self._meter = meter.fresh()
        self._asking = asking
        self._calls = Calls(parts, emit)
        self._continued = self._refusals = self._held = 0
        self._text = ""
        self._began = monotonic()
        self._before: str | None = None
        self._prompt_uuid = ""
        self._asked_tip: str | None = None
        """The last message of what was asked: the prompt, or what goes along with it."""
        self._is_cut = False
        """Whether the person stopped it, not by a refusal: then its duration is not told."""

    async def run(self, prompts: Sequence[Asked]) -> TurnEnded:
        """Does the turn of a prompt, or of several that waited; cancelled, it logs that."""
        try:
            return self._ended(await self._done(prompts))
        except Exception as error:
            self._parts.writer.recover()
            if not isinstance(error, SourceError):
                raise
            return self._unwritten(error)

    async def _done(self, prompts: Sequence[Asked]) -> Ending:
        try:
            await self._make_room_before()
            begin(self._parts)
            await self._start_servers()
            asked = [await self._expanded(one) for one in prompts]
            if not await self._prompt(asked):
                return "done"
            models = [one.expansion.model for one in asked if one.expansion]
            with asked_of(models[-1] if models else None, self._parts):
                return await self._steps()
        except Unexpanded as error:
            self._tell_person(log_failure(error, self._parts))
            return "done"
        except asyncio.CancelledError:
            if task := asyncio.current_task():
                task.uncancel()
            return self._interrupted()
        except ModelFault as fault:
            self._text = log_fault(self._parts.writer, fault, self._parts.writer.setting.model)
            return "failed"

    async def _make_room_before(self) -> None:
        """Makes room while there is no prompt yet, where a summary would swallow it."""
        if self._parts.compactor and self._parts.writer.setting.is_older:
            with suppress(ModelFault):  # the first answer tries again, and says so
                self._make_known(await self._parts.compactor.make_room())

    async def _start_servers(self) -> None:
        """Has servers started, the first time, and says what became of them."""
        if self._parts.servers:
            for notice in await self._parts.servers.begin():
                self._emit(Noticed(notice))

    async def _expanded(self, asked: Asked) -> Asked:
        """Returns what is asked with what a command makes of it."""
        if not asked.is_a_persons:
            return asked
        expansion = await self._parts.commands.expanded(asked.content, self._parts)
        return replace(asked, expansion=expansion)

    async def _prompt(self, prompts: Sequence[Asked]) -> bool:
        """Logs what is asked; tells whether it is: hooks may keep it from the model."""
        writer = self._parts.writer
        self._answer_lost_calls()
        if branch := branch_of(self._parts.place.cwd):
            writer.setting.git_branch = branch
        self._before = writer.tip
        let: list[tuple[Asked, Effect | None]] = []
        for asked in prompts:
            words, is_older = words_of(asked.content), writer.setting.is_older
            if asked.source == "typed" and not (self._is_typed or is_older):
                writer.queue("enqueue", words)
                writer.queue("dequeue")
            effect = await self._submitted(asked, words)
            if effect and effect.blocking:
                self._tell_person(log_blocked(writer, effect, words))
                continue
            self._prompt_uuid = self._logged(asked, is_beside=bool(let))
            self._emit(Prompted(self._prompt_uuid, words))
            let.append((asked, effect))
        return self._tell_along(let)

    def _tell_along(self, let: Sequence[tuple[Asked, Effect | None]]) -> bool:
        """Logs what goes along with prompts, and what hooks say to them; tells whether to go on."""
        if not let:
            return False
        for notice in self._parts.along.behind_prompt([asked for asked, _ in let]):
            self._emit(Noticed(notice))
        effects = [effect for _, effect in let if effect]
        writer, hooks = self._parts.writer, self._parts.hooks
        for effect in effects:
            if hooks:
                hooks.log_submitted(effect)
        self._asked_tip = writer.tip
        stop = next((one.stop for one in effects if one.stop is not None), None)
        if stop is not None:
            self._tell_person(log_stopped(writer, stop))
        return stop is None

    async def _submitted(self, asked: Asked, words: str) -> Effect | None:
        """Has hooks told of a prompt before it is logged, unless nobody typed it."""
        hooks = self._parts.hooks
        if asked.source != "typed" or hooks is None or not hooks.has("UserPromptSubmit"):
            return None
        self._parts.writer.announce()
        return await hooks.submitted(words)

    def _tell_person(self, words: str) -> None:
        """Ends the turn with words for the person: the model has not heard of it."""
        self._text, self._is_cut = words, True
        self._emit(Noticed(words, is_error=True))

    def _logged(self, asked: Asked, *, is_beside: bool) -> str:
        """Logs what is asked; returns its message."""
        writer = self._parts.writer
        if asked.expansion:
            return ask(asked.expansion, self._parts)
        fields = {} if writer.setting.is_older else asked.fields(is_typed=self._is_typed)
        return writer.prompt(asked.told, is_beside=is_beside, uuid=asked.uuid, **fields)

    def _answer_lost_calls(self) -> None:
        """Answers the calls of a turn whose log could not be written to its end."""
        writer = self._parts.writer
        denial = {} if writer.setting.is_older else {"tool_denial_kind": "interrupted"}
        for call in writer.waiting_calls:
            writer.result(call, LOST, LOST, is_error=True, **denial)

    @property
    def _is_typed(self) -> bool:
        return self._parts.writer.setting.entrypoint == "cli" and not self._is_an_agents

    @property
    def _is_an_agents(self) -> bool:
        """Whether it is the turn of an agent, of which its sender tells."""
        return self._parts.writer.setting.agent is not None

    async def _steps(self) -> Ending:
        while True:
            answer = await self._answer()
            if answer.stop_reason == "refusal":
                if not self._goes_on_after_refusal(answer):
                    return "refused"
            elif answer.calls:
                if not await self._calls.carry_out(answer.calls):
                    return self._refused()
                if self._calls.is_held:
                    self._text = ""
                    return "done"
                self._deliver_queue()
                self._parts.along.behind_results()
            elif not self._goes_on(answer) and await self._may_end(answer):
                return "done"
            if ending := self._limit():
                return ending

    async def _answer(self) -> Answer:
        """Asks, once there is room; where there is too little after all, makes some."""
        compactor = self._parts.compactor
        if compactor:
            self._make_known(await compactor.make_room())
        try:
            answer = await self._asking.answer()
        except ModelFault as fault:
            if not is_too_long(fault) or compactor is None:
                raise
            self._make_known(await compactor.compact("auto"))
            answer = await self._asking.answer()
        self._count(answer)
        return answer

    def _make_known(self, compacted: Compacted | None) -> None:
        """Counts what a summary took, and tells of it."""
        if compacted:
            when = self._parts.writer.ids.moment()
            self._session_meter.add(compacted.model, compacted.usage, when)
            self._emit(compacted)

    def _count(self, answer: Answer) -> None:
        when = self._parts.writer.ids.moment()
        self._meter.add(answer.model, answer.usage, when)
        self._session_meter.add(answer.model, answer.usage, when)
        self._text = answer.text or self._text

    def _goes_on_after_refusal(self, answer: Answer) -> bool:
        """Tells the model once that it was stopped; tells whether that was the first time."""
        writer = self._parts.writer
        self._refusals += 1
        if writer.setting.is_older:
            answer_calls(writer, answer)
            return False
        if self._refusals == 1:
            tell_once(writer, answer)
            return True
        self._text = give_up(writer, answer)
        return False

    def _goes_on(self, answer: Answer) -> bool:
        """Tells whether an answer without calls is not the last, and says what the model needs."""
        if self._continued >= MOST_CONTINUED:
            return False
        self._continued += 1
        if answer.stop_reason == "pause_turn":
            return True
        if answer.stop_reason in ("max_tokens", "model_context_window_exceeded"):
            self._tell(CUT_SHORT)
            return True
        if not answer.content and self._continued == 1:
            self._tell(SAID_NOTHING)
            return True
        return False

    async def _may_end(self, answer: Answer) -> bool:
        """Tells whether the turn is over: hooks may have it go on, but not for ever."""
        hooks = self._parts.hooks
        if hooks is None:
            return True
        effect = await hooks.stopping(answer.text, is_again=self._held > 0)
        if effect.stop is not None or not (effect.blocking or effect.contexts):
            return True
        self._held += 1
        if self._held < HELD_BACK:
            return False
        self._emit(Noticed(log_held(self._parts.writer, self._held)))
        return True

    def _tell(self, words: str) -> None:
        """Has the client say something to the model."""
        self._parts.writer.note(words)

    def _deliver_queue(self) -> None:
        """Tells the model within the turn what was typed meanwhile, and what has ended."""
        writer = self._parts.writer
        for waiting in self._queue.take_into_turn():
            if waiting.news:
                writer.queued_news(waiting.news, time=waiting.time)
            elif waiting.source == "message":
                writer.queued_message(words_of(waiting.content), time=waiting.time)
            else:
                writer.queued_prompt(waiting.content, time=waiting.time)
                self._emit(Prompted(writer.tip or "", words_of(waiting.content)))

    def _limit(self) -> Ending | None:
        limits = self._parts.limits
        if limits.responses is not None and self._meter.responses >= limits.responses:
            told = {"maxTurns": limits.responses, "turnCount": self._meter.responses + 1}
            if not (self._parts.writer.setting.is_older or self._is_an_agents):
                kind = {"type": "max_turns_reached", **told, "exitCommitted": False}
                self._parts.writer.attachment(kind)
            self._emit(Noticed(f"stopped after {limits.responses} responses", is_error=True))
            return "max_turns"
        if limits.dollars is not None and self._session_meter.dollars >= limits.dollars:
            self._emit(Noticed(f"stopped at ${self._session_meter.dollars:.4f}", is_error=True))
            return "max_budget"
        return None

    def _refused(self) -> Ending:
        """Ends the turn with a refusal that was meant to stop it."""
        self._parts.writer.interrupt(is_at_tools=True)
        return "interrupted"

    def _interrupted(self) -> Ending:
        """Logs that the person stopped the turn; before any answer, takes the prompt back."""
        writer = self._parts.writer
        self._is_cut = True
        if not self._prompt_uuid:
            return "interrupted"
        if writer.tip == self._asked_tip and self._is_typed:
            writer.rewind(self._before)
        elif self._prompt_uuid:
            writer.interrupt()
        return "interrupted"

    def _ended(self, ending: Ending) -> TurnEnded:
        writer = self._parts.writer
        took = self._milliseconds
        is_told = self._is_typed or (writer.setting.is_older and not self._is_an_agents)
        if is_told and not self._is_cut:
            crew = self._parts.crew
            writer.turn_ended(took, agents=crew.pending if crew else 0)
        return self._told(ending, took)

    def _unwritten(self, error: SourceError) -> TurnEnded:
        """Ends a turn whose log cannot be written: nothing is done that nobody would know of."""
        self._text = error.message
        self._emit(Noticed(error.message, is_error=True))
        return self._told("failed", self._milliseconds)

    @property
    def _milliseconds(self) -> int:
        return round((monotonic() - self._began) * 1000)

    def _told(self, ending: Ending, took: int) -> TurnEnded:
        meter = self._meter
        ended = TurnEnded(ending, self._text, took, meter.responses, meter.by_kind(), meter.cost)
        self._emit(ended)
        return ended
