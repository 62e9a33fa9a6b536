"""What was said to turns: notes moved, neighbours joined, answers merged by message id."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from plait.graph.client.entry import is_blank
from plait.graph.client.model import NO_CONTENT, Block, Said


@dataclass(slots=True)
class Turn:
    """One message for the API, with the system texts that follow it."""

    role: str
    blocks: list[Block]
    results: list[Block] = field(default_factory=list)
    """Tool results, until the turn is over: they come before all else."""
    system: list[str] = field(default_factory=list)
    is_plain: bool = False
    """One prompt that is a string: nothing stands in for it where it is blank."""


def turns(said: list[Said]) -> list[Turn]:
    """Returns the turns in order; system texts hang on the turn they follow."""
    talk = Talk()
    for one in in_order_of_sending(said):
        if one.role == "system":
            talk.waiting.append("\n".join(str(block["text"]) for block in one.blocks))
        elif one.role == "user":
            talk.ask(one)
        elif not one.is_error:
            talk.answer(one)
    talk.hang_system_texts()
    finished = [finish(turn) for turn in talk.turns]
    return [turn for turn in finished if turn.role == "assistant" or turn.blocks]


def in_order_of_sending(said: list[Said]) -> Iterable[Said]:
    """Yields what is said, with the notes of a turn moved up to its head.

    An answer or a tool result is where a turn's head begins.
    """
    notes: list[Said] = []
    others: list[Said] = []
    for one in said:
        if one.is_note and one.role == "user":
            notes.append(one)
        elif one.role == "assistant" or any(is_result(block) for block in one.blocks):
            yield from (*notes, *others, one)
            notes, others = [], []
        else:
            others.append(one)
    yield from (*notes, *others)


class Talk:
    """Makes turns of one thing said after another."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.waiting: list[str] = []
        """System texts for the end of the turn."""
        self.responses: dict[str, Turn] = {}
        """Answers that more of the same response can still join."""

    def ask(self, one: Said) -> None:
        """Joins a prompt or results to the user's turn, or begins one."""
        is_new = not self.turns or self.turns[-1].role != "user"
        if is_new:
            self.turns.append(Turn("user", []))
        turn = self.turns[-1]
        turn.is_plain = is_new and one.is_plain
        blocks = [dict(block) for block in one.blocks]
        if one.is_note and turn.results and not turn.blocks and is_text(blocks[:1]):
            turn.results[-1] = folded(turn.results[-1], blocks)
            return
        # format: text meets text; an attachment is joined without the line break
        if not one.is_note and is_text(turn.blocks[-1:]) and is_text(blocks[:1]):
            turn.blocks[-1]["text"] += "\n"
        turn.results.extend(block for block in blocks if is_result(block))
        turn.blocks.extend(block for block in blocks if not is_result(block))

    def answer(self, one: Said) -> None:
        """Merges an answer into the turn of its response, or begins one."""
        self.hang_system_texts()
        if self.turns and self.turns[-1].role == "user" and not self.turns[-1].results:
            self.responses.clear()  # format: a response ends with the next prompt, not with results
        turn = self.responses.get(one.message_id or "")
        if turn is not None:
            turn.blocks.extend(one.blocks)
            return
        turn = Turn("assistant", list(one.blocks))
        self.turns.append(turn)
        if one.message_id:
            self.responses[one.message_id] = turn

    def hang_system_texts(self) -> None:
        """Hangs the waiting system texts on the last turn, as soon as there is one."""
        if self.turns:
            self.turns[-1].system.extend(self.waiting)
            self.waiting = []


def folded(result: Block, notes: list[Block]) -> Block:
    """Returns a tool result with the notes that follow it inside."""
    content = result.get("content")
    if isinstance(content, list):
        return {**result, "content": [*content, *notes]}
    words = [content] if isinstance(content, str) and content else []
    return {**result, "content": "\n\n".join([*words, *(str(one["text"]) for one in notes)])}


def finish(turn: Turn) -> Turn:
    """Returns a turn in the order that the API asks for: results first, calls last."""
    if turn.role == "assistant":
        turn.blocks.sort(key=lambda block: block["type"] == "tool_use")
    else:
        # format: a blank prompt is gone, the line break before it stays
        spoken = [block for block in turn.blocks if not is_blank(block)]
        if turn.blocks and not spoken and not turn.results and not turn.is_plain:
            spoken = [{"type": "text", "text": NO_CONTENT}]
        turn.blocks, turn.results = [*turn.results, *spoken], []
    return turn


def is_result(block: Block) -> bool:
    """Whether a block is a tool result."""
    return bool(block["type"] == "tool_result")


def is_text(blocks: list[Block]) -> bool:
    """Whether there is a block and it is text."""
    return bool(blocks) and blocks[0]["type"] == "text"
