"""What was said to turns that the API accepts: merged, paired, nothing empty."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from plait.graph.client.load import is_blank
from plait.graph.client.model import NO_CONTENT, Block, Said
from plait.graph.client.wording import CLOSING, OPENING, as_reminder


@dataclass(slots=True)
class Turn:
    """One message for the API, with the system texts that follow it."""

    role: str
    blocks: list[Block]
    results: list[Block] = field(default_factory=list)
    """Tool results, until the turn is over: they come before all else."""
    system: list[list[Block]] = field(default_factory=list)
    """What the system says behind it: each a text, and the tools that it adds."""
    is_plain: bool = False
    """One prompt that is a string: nothing stands in for it where it is blank."""
    had_words: bool = False
    """More than results was said in it, be it blank."""


def turns(said: list[Said]) -> list[Turn]:
    """Returns the turns in order; system texts hang on the turn they follow."""
    talk = Talk()
    for one in _in_order_of_sending(said):
        if one.role == "system":
            talk.waiting.append(one.blocks)
        elif one.role == "user":
            talk.ask(one)
        elif not one.is_error:
            talk.answer(one)
    talk.hang_system_texts()
    finished = [_finish(turn) for turn in talk.turns]
    return [turn for turn in finished if turn.role == "assistant" or turn.blocks]


def _in_order_of_sending(said: list[Said]) -> Iterable[Said]:
    """Yields what is said, with the notes of a turn moved up to its head, then queued prompts.

    An answer or a tool result is where a turn's head begins.
    """
    notes: list[Said] = []
    queued: list[Said] = []
    others: list[Said] = []
    for one in said:
        if one.is_note and one.role == "user":
            notes.append(one)
        elif one.is_queued:
            queued.append(one)
        elif one.role == "assistant" or any(_is_result_block(block) for block in one.blocks):
            yield from (*notes, *queued, *others, one)
            notes, queued, others = [], [], []
        else:
            others.append(one)
    yield from (*notes, *queued, *others)


class Talk:
    """Makes turns of one thing said after another."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.waiting: list[list[Block]] = []
        """System texts for the end of the turn."""
        self.responses: dict[str, Turn] = {}
        """Answers that more of the same response can still join."""
        self.opener: int | None = None
        """The attachment that began the last turn: each of its texts is a turn."""

    def ask(self, one: Said) -> None:
        """Joins a prompt or results to the user's turn, or begins one."""
        is_first = not self.turns or self.turns[-1].role != "user"
        is_new = is_first or (one.place > 0 and self.opener == one.number)
        if is_new:
            self.turns.append(Turn("user", []))
        self.opener = one.number if is_new else None
        turn = self.turns[-1]
        turn.is_plain = is_new and one.is_plain
        blocks = [dict(block) for block in one.blocks]
        folds = one.is_note and not one.is_apart
        if folds and turn.results and not turn.blocks and _is_text(blocks[:1]):
            turn.results[-1] = _folded(turn.results[-1], blocks)
            return
        # format: text meets text; of attachments only files and the like come with a line break
        is_joined = not one.is_note or one.is_apart
        if is_joined and _is_text(turn.blocks[-1:]) and _is_text(blocks[:1]):
            turn.blocks[-1]["text"] += "\n"
        turn.results.extend(block for block in blocks if _is_result_block(block))
        turn.blocks.extend(block for block in blocks if not _is_result_block(block))

    def answer(self, one: Said) -> None:
        """Merges an answer into the turn of its response, or begins one."""
        if self.turns and self.turns[-1].role == "user" and not self.turns[-1].results:
            self.responses.clear()  # format: a response ends with the next prompt, not with results
        turn = self.responses.get(one.message_id or "")
        if turn is not None:
            turn.blocks.extend(one.blocks)
            return
        self.hang_before_answer()
        turn = Turn("assistant", list(one.blocks))
        self.turns.append(turn)
        if one.message_id:
            self.responses[one.message_id] = turn

    def hang_system_texts(self) -> None:
        """Hangs the waiting system texts on the last turn."""
        if self.turns:
            self.turns[-1].system.extend(self.waiting)
            self.waiting = []

    def hang_before_answer(self) -> None:
        """Hangs the waiting system texts on a user's turn, else makes one of them.

        Nobody but a user speaks before the system does.
        """
        if self.waiting and (not self.turns or self.turns[-1].role != "user"):
            words = system_text(self.waiting)
            is_one = words.startswith(OPENING) and words.endswith(CLOSING)
            words = words if is_one else as_reminder(words)
            self.turns.append(Turn("user", [{"type": "text", "text": words}]))
            self.waiting = []
        self.hang_system_texts()


def system_text(told: list[list[Block]]) -> str:
    """Returns the words of what the system says, one after the other."""
    return "\n\n".join(str(blocks[0]["text"]) for blocks in told)


def _folded(result: Block, notes: list[Block]) -> Block:
    content = result.get("content")
    if isinstance(content, list):
        return {**result, "content": _joined(content, notes)}
    words = [content] if isinstance(content, str) else []
    trimmed = [text.strip() for text in (*words, *(str(one["text"]) for one in notes))]
    return {**result, "content": "\n\n".join(text for text in trimmed if text)}


def _joined(content: list[Any], notes: list[Block]) -> list[Any]:
    """Returns parts of a result with notes behind them; where text meets text, a line break."""
    found = list(content)
    for one in notes:
        last = found[-1] if found else None
        if isinstance(last, dict) and last.get("type") == "text":
            found[-1] = {**last, "text": f"{last['text']}\n"}
        found.append(one)
    return found


def _finish(turn: Turn) -> Turn:
    if turn.role == "assistant":
        turn.blocks.sort(key=lambda block: block["type"] == "tool_use")
    else:
        # format: a blank prompt is gone, the line break before it stays
        turn.had_words = bool(turn.blocks)
        spoken = [block for block in turn.blocks if not is_blank(block)]
        if turn.blocks and not spoken and not turn.results:
            spoken = turn.blocks if turn.is_plain else [{"type": "text", "text": NO_CONTENT}]
        turn.blocks, turn.results = [*turn.results, *spoken], []
    return turn


def _is_result_block(block: Block) -> bool:
    return bool(block["type"] == "tool_result")


def _is_text(blocks: list[Block]) -> bool:
    return bool(blocks) and blocks[0]["type"] == "text"


MISSING_RESULT = "[Tool result missing due to internal error]"
REMOVED_RESULT = "[Orphaned tool result removed due to conversation resume]"
INTERRUPTED_CALL = "[Tool use interrupted]"


def repaired(turns: list[Turn]) -> list[Turn]:
    """Returns the turns with calls and results in pairs and no turn empty."""
    _drop_repeated_calls(turns)
    for turn in turns:
        if turn.role == "assistant" and not turn.blocks:
            turn.blocks = [_made_up(NO_CONTENT)]
    return _with_results(turns)


def _drop_repeated_calls(turns: list[Turn]) -> None:
    seen: set[str] = set()
    for turn in turns:
        if turn.role != "assistant":
            continue
        kept: list[Block] = []
        for block in turn.blocks:
            call = _call_id(block)
            if call is None or call not in seen:
                kept.append(block)
            if call is not None:
                seen.add(call)
        if turn.blocks and not kept:
            kept = [_made_up(INTERRUPTED_CALL)]
        turn.blocks = kept


def _with_results(turns: list[Turn]) -> list[Turn]:
    found: list[Turn] = []
    for turn in turns:
        calls = _open_ids(found)
        if turn.role == "user":
            _settle(turn, calls, is_first=not found and not turn.had_words)
        elif calls:
            found.append(Turn("user", [_missing(call) for call in calls]))
        found.append(turn)
    if calls := _open_ids(found):
        found.append(Turn("user", [_missing(call) for call in calls]))
    return found


def _open_ids(found: list[Turn]) -> list[str]:
    blocks = found[-1].blocks if found and found[-1].role == "assistant" else []
    return [call for block in blocks if (call := _call_id(block)) is not None]


def _settle(turn: Turn, calls: list[str], *, is_first: bool) -> None:
    wanted = set(calls)
    kept: list[Block] = []
    for block in turn.blocks:
        if block["type"] == "tool_result":
            call = block.get("tool_use_id")
            if call not in wanted:
                continue
            wanted.remove(call)
        kept.append(block)
    lacking = [_missing(call) for call in calls if call in wanted]
    if not kept and not lacking:
        text = REMOVED_RESULT if is_first else NO_CONTENT
        kept = [{"type": "text", "text": text}]
    turn.blocks = [*lacking, *kept]


def _missing(call: str) -> Block:
    return {
        "type": "tool_result",
        "tool_use_id": call,
        "content": MISSING_RESULT,
        "is_error": True,
    }


def _made_up(text: str) -> Block:
    return {"type": "text", "text": text, "citations": []}


def _call_id(block: Block) -> str | None:
    call = block.get("id") if block["type"] == "tool_use" else None
    return call if isinstance(call, str) else None
