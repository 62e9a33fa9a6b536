"""A recorded session to a model that says again what was said in it.

    recorded   prompt ── answer, answer ── prompt ── answer
    played     any words ─ the same two ── any words ─ the same

Each prompt has the answers of the next recorded one, whatever it says; the calls in them are done
anew. Prompts that nobody answered are passed over, agents too.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from plait.agent.models.reply import Reply, played
from plait.agent.models.script import holds_results
from plait.agent.streaming import Block, ModelFault, Request, Streamed
from plait.errors import UserError
from plait.record import Record, ToolResult, read
from plait.record.codec import mapping
from plait.record.record import content_blocks
from plait.write.ids import Ids
from plait.write.response import SYNTHETIC

OVER = "The recorded conversation is over."
ENDED = "The recorded turn ends here."
STOPPED = "[Request interrupted by user"


@dataclass(slots=True)
class RecordedTurn:
    """What was asked at once, and what was answered to it, one step after the other."""

    prompts: list[str] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)


class ReplayModel:
    """Answers as a session was answered."""

    def __init__(self, path: Path, *, pause: float = 0, random: Random | None = None) -> None:
        self.name = f"replay:{path.stem}"
        self._ids = Ids(random)
        self._pause = pause
        self._turns = [turn for turn in _turns(read(path)) if turn.replies]
        if not self._turns:
            raise UserError(f"nothing is answered in '{path.name}' that could be played")
        self._next_turn = 0
        self._next_step = 0

    @property
    def prompts(self) -> tuple[str, ...]:
        """What was asked, for whoever wants to ask it again."""
        return tuple("\n".join(turn.prompts) for turn in self._turns)

    async def stream(self, request: Request) -> AsyncGenerator[Streamed, None]:
        """Answers with the next recorded answer of the turn, or of the next one."""
        async for piece in played(self._reply(request), request, self._ids.message()):
            yield piece

    def _reply(self, request: Request) -> Reply:
        goes_on = bool(request.messages) and holds_results(request.messages[-1])
        if not goes_on or self._next_turn == 0:
            self._next_turn += 1
            self._next_step = 0
        if self._next_turn > len(self._turns):
            raise ModelFault(OVER, kind="replay")
        replies = self._turns[self._next_turn - 1].replies
        self._next_step += 1
        if self._next_step > len(replies):  # it was stopped there
            return Reply(({"type": "text", "text": ENDED},))
        return self._renamed(replies[self._next_step - 1])

    def _renamed(self, reply: Reply) -> Reply:
        """Gives calls new ids: in the session that it plays in they may stand already."""
        content = tuple(
            {**block, "id": self._ids.call()} if block.get("type") == "tool_use" else block
            for block in reply.content
        )
        return Reply(content, reply.stop_reason, reply.usage, reply.model, self._pause)


def _turns(records: Iterable[Record]) -> Iterator[RecordedTurn]:
    turn = RecordedTurn()
    lines: dict[str, list[Record]] = {}
    """The lines of each answer, by its id."""
    for record in records:
        if record.is_sidechain:
            continue
        if record.type == "assistant" and not _is_made_up(record):
            lines.setdefault(record.message_id or record.uuid or "", []).append(record)
        elif record.type == "user" and not _holds_results(record):
            if lines:
                turn.replies = [*map(_reply_of, lines.values())]
                yield turn
                turn, lines = RecordedTurn(), {}
            if _is_prompt(record):
                turn.prompts.append(_words(record))
    turn.replies = [*map(_reply_of, lines.values())]
    yield turn


def _is_prompt(record: Record) -> bool:
    is_told = record.is_meta or record.is_compact_summary
    return not is_told and not _words(record).startswith(STOPPED)


def _words(record: Record) -> str:
    return record.message.text if record.message else ""


def _is_made_up(record: Record) -> bool:
    return record.message is None or record.message.model == SYNTHETIC


def _holds_results(record: Record) -> bool:
    blocks = record.message.content if record.message else ()
    return any(isinstance(block, ToolResult) for block in blocks)


def _reply_of(lines: list[Record]) -> Reply:
    told = [mapping(line.fields.get("message")) for line in lines]
    content: list[Block] = [block for line in lines for block in content_blocks(line)]
    reasons = [message.get("stop_reason") for message in told if message.get("stop_reason")]
    usage = max((mapping(message.get("usage")) for message in told), key=_output)
    model = lines[-1].message.model if lines[-1].message else None
    return Reply(tuple(content), reasons[-1] if reasons else None, usage, model)


def _output(usage: Mapping[str, Any]) -> int:
    output = usage.get("output_tokens")
    return output if isinstance(output, int) else 0
