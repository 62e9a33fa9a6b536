"""What was said to turns that the API accepts: merged, paired, nothing empty."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from plait.graph.client.load import (
    block_heads,
    call_ids,
    has_calls,
    is_blank,
    is_boundary,
    is_result,
    is_thinking,
    result_ids,
)
from plait.graph.client.model import NO_CONTENT, Block, LeftOut, Loaded, Reason, Said
from plait.record import Record
from plait.record.record import content_blocks


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
    for one in _in_order_of_sending(said):
        if one.role == "system":
            talk.waiting.append("\n".join(str(block["text"]) for block in one.blocks))
        elif one.role == "user":
            talk.ask(one)
        elif not one.is_error:
            talk.answer(one)
    talk.hang_system_texts()
    finished = [_finish(turn) for turn in talk.turns]
    return [turn for turn in finished if turn.role == "assistant" or turn.blocks]


def _in_order_of_sending(said: list[Said]) -> Iterable[Said]:
    """Yields what is said, with the notes of a turn moved up to its head.

    An answer or a tool result is where a turn's head begins.
    """
    notes: list[Said] = []
    others: list[Said] = []
    for one in said:
        if one.is_note and one.role == "user":
            notes.append(one)
        elif one.role == "assistant" or any(_is_result_block(block) for block in one.blocks):
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
        if one.is_note and turn.results and not turn.blocks and _is_text(blocks[:1]):
            turn.results[-1] = _folded(turn.results[-1], blocks)
            return
        # format: text meets text; an attachment is joined without the line break
        if not one.is_note and _is_text(turn.blocks[-1:]) and _is_text(blocks[:1]):
            turn.blocks[-1]["text"] += "\n"
        turn.results.extend(block for block in blocks if _is_result_block(block))
        turn.blocks.extend(block for block in blocks if not _is_result_block(block))

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


def _folded(result: Block, notes: list[Block]) -> Block:
    content = result.get("content")
    if isinstance(content, list):
        return {**result, "content": [*content, *notes]}
    words = [content] if isinstance(content, str) and content else []
    return {**result, "content": "\n\n".join([*words, *(str(one["text"]) for one in notes)])}


def _finish(turn: Turn) -> Turn:
    if turn.role == "assistant":
        turn.blocks.sort(key=lambda block: block["type"] == "tool_use")
    else:
        # format: a blank prompt is gone, the line break before it stays
        spoken = [block for block in turn.blocks if not is_blank(block)]
        if turn.blocks and not spoken and not turn.results and not turn.is_plain:
            spoken = [{"type": "text", "text": NO_CONTENT}]
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
            _settle(turn, calls, is_first=not found)
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


Dropped: TypeAlias = dict[int, Reason]

SILENT = frozenset({"text", "thinking", "redacted_thinking"})
GONE = frozenset({"companion_intro"})
"""Kinds of attachments that the client once wrote and now drops."""


def prune(loaded: Loaded, chain: list[int]) -> tuple[list[int], Dropped]:
    """Returns the entries that stay, and those that the client drops from its chain."""
    dropped: Dropped = {}
    for step in (_shapeless, _empty_answers, _unanswered, _empty_answers):
        found = step(loaded.records, chain)
        dropped.update(found)
        chain = [number for number in chain if number not in found]
    return chain, dropped


def _shapeless(records: list[Record], chain: list[int]) -> Dropped:
    found: Dropped = {}
    for number in chain:
        record = records[number]
        if record.type == "attachment":
            kind = record.envelope.attachment.type if record.envelope.attachment else None
            if not kind or kind in GONE:
                found[number] = Reason.NO_MESSAGE
        elif record.type != "system" and block_heads(record) and not _has_blocks(record):
            found[number] = Reason.EMPTY
    return found


def _has_blocks(record: Record) -> bool:
    if any(head.type and head.type != "text" for head in block_heads(record)):
        return True
    return record.spoken is not None or bool(content_blocks(record))


def _unanswered(records: list[Record], chain: list[int]) -> Dropped:
    under_way = _calls_under_way(records, chain)
    settled = answered_calls(records, chain)
    settled.update(call for number in under_way for call in call_ids(records[number]))
    kept = frozenset(under_way)
    return {
        number: Reason.UNANSWERED
        for number in chain
        if number not in kept
        and has_calls(records[number])
        and settled.isdisjoint(call_ids(records[number]))
    }


def _calls_under_way(records: list[Record], chain: list[int]) -> list[int]:
    turn = last_turn(records, chain)
    last = last_response(records, turn)
    spoken = [number for number in turn if records[number].type != "attachment"]
    if spoken and is_result(records[spoken[-1]]):
        return turn
    answered = answered_calls(records, turn)
    if all(call in answered for number in last for call in call_ids(records[number])):
        return []
    # format: once something came between its answers, the client keeps the turn as it is
    answers = turn[: turn.index(last[-1])]
    return turn if any(records[n].type == "user" for n in answers) else last


def last_turn(records: list[Record], chain: list[int]) -> list[int]:
    """Returns the answers, results and attachments after the last prompt."""
    found: list[int] = []
    for number in reversed(chain):
        record = records[number]
        if is_boundary(record) or (record.type == "user" and not is_result(record)):
            break
        if record.type != "system":
            found.append(number)
    return found[::-1]


def last_response(records: list[Record], turn: list[int]) -> list[int]:
    """Returns the entries of the last answer of a turn; an API error is none."""
    answers = [number for number in turn if records[number].type == "assistant"]
    if not answers or records[answers[-1]].is_api_error_message:
        return []
    last = records[answers[-1]].message_id
    return [n for n in answers[:-1] if last and records[n].message_id == last] + answers[-1:]


def answered_calls(records: list[Record], chain: list[int]) -> set[str]:
    """Returns the calls that the results of a chain answer."""
    return {call for number in chain for call in result_ids(records[number])}


def _empty_answers(records: list[Record], chain: list[int]) -> Dropped:
    spoken = {
        record.message_id
        for record in map(records.__getitem__, chain)
        if record.type == "assistant" and _says_something(record)
    }
    found: Dropped = {}
    for number in chain:
        record = records[number]
        if record.type != "assistant" or (record.message_id and record.message_id in spoken):
            continue
        blocks = content_blocks(record)
        if blocks and not _says_something(record):
            thinks = any(is_thinking(block) for block in blocks)
            found[number] = Reason.THINKING_ONLY if thinks else Reason.EMPTY
    return found


def _says_something(record: Record) -> bool:
    if any(head.type and head.type not in SILENT for head in block_heads(record)):
        return True
    if record.spoken:
        return bool(record.spoken.message.text.strip())
    return any(not is_blank(block) and not is_thinking(block) for block in content_blocks(record))


def reasons(
    loaded: Loaded, chain: list[int], dropped: Dropped, said: list[Said]
) -> Iterator[LeftOut]:
    """Yields every entry that no message shows, in file order."""
    shown = {one.number for one in said if not one.is_error and one.blocks}
    places = {number: place for place, number in enumerate(chain)}
    cuts = [places[number] for number in chain if is_boundary(loaded.records[number])]
    cut = cuts[-1] if cuts else -1
    start = _first_since_compaction(loaded, chain)
    for number, record in enumerate(loaded.records):
        if number in shown or record.uuid is None:
            continue
        if number in dropped:
            reason = dropped[number]
        elif number not in places:
            reason = _why_not_on_chain(loaded, number, record, start)
        else:
            is_before = places[number] < cut
            reason = Reason.BEFORE_COMPACTION if is_before else _why_not_said(record)
        yield LeftOut(record.uuid, record.line, reason)


def _first_since_compaction(loaded: Loaded, chain: list[int]) -> int:
    """Returns the boundary that the chain begins with or behind, 0 where it does with none."""
    before = [number for number in loaded.lines if chain and number <= chain[0]]
    nearest = [number for number in before[-2:] if is_boundary(loaded.records[number])]
    return nearest[-1] if nearest else 0


def _why_not_on_chain(loaded: Loaded, number: int, record: Record, start: int) -> Reason:
    if record.is_sidechain:
        return Reason.SIDECHAIN
    if loaded.is_read[number]:
        return Reason.BEFORE_COMPACTION if number < start else Reason.ABANDONED
    return Reason.BEFORE_COMPACTION if number in loaded.forgotten else Reason.NO_MESSAGE


def _why_not_said(record: Record) -> Reason:
    if record.type == "system":
        return Reason.SYSTEM
    if record.type == "attachment":
        return Reason.NO_RENDERED_TEXT
    return Reason.API_ERROR if record.is_api_error_message else Reason.EMPTY
