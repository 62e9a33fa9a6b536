"""Turns to turns that the API accepts: every call with one result, nothing empty."""

from plait.graph.client.model import NO_CONTENT, Block
from plait.graph.client.turns import Turn

MISSING_RESULT = "[Tool result missing due to internal error]"
REMOVED_RESULT = "[Orphaned tool result removed due to conversation resume]"
INTERRUPTED_CALL = "[Tool use interrupted]"


def repaired(turns: list[Turn]) -> list[Turn]:
    """Returns the turns with calls and results in pairs and no turn empty."""
    drop_repeated_calls(turns)
    for turn in turns:
        if turn.role == "assistant" and not turn.blocks:
            turn.blocks = [made_up(NO_CONTENT)]
    return paired(turns)


def drop_repeated_calls(turns: list[Turn]) -> None:
    """Takes out calls whose id an earlier call has."""
    seen: set[str] = set()
    for turn in turns:
        if turn.role != "assistant":
            continue
        kept: list[Block] = []
        for block in turn.blocks:
            call = call_id(block)
            if call is None or call not in seen:
                kept.append(block)
            if call is not None:
                seen.add(call)
        if turn.blocks and not kept:
            kept = [made_up(INTERRUPTED_CALL)]
        turn.blocks = kept


def paired(turns: list[Turn]) -> list[Turn]:
    """Gives every call its result in the next turn, and takes out all other results."""
    found: list[Turn] = []
    for turn in turns:
        calls = open_ids(found)
        if turn.role == "user":
            settle(turn, calls, is_first=not found)
        elif calls:
            found.append(Turn("user", [missing(call) for call in calls]))
        found.append(turn)
    if calls := open_ids(found):
        found.append(Turn("user", [missing(call) for call in calls]))
    return found


def open_ids(found: list[Turn]) -> list[str]:
    """Returns the calls of the last turn, which the next has to answer."""
    blocks = found[-1].blocks if found and found[-1].role == "assistant" else []
    return [call for block in blocks if (call := call_id(block)) is not None]


def settle(turn: Turn, calls: list[str], *, is_first: bool) -> None:
    """Makes the results of a user's turn answer exactly the calls before it."""
    wanted = set(calls)
    kept: list[Block] = []
    for block in turn.blocks:
        if block["type"] == "tool_result":
            call = block.get("tool_use_id")
            if call not in wanted:
                continue
            wanted.remove(call)
        kept.append(block)
    lacking = [missing(call) for call in calls if call in wanted]
    if not kept and not lacking:
        text = REMOVED_RESULT if is_first else NO_CONTENT
        kept = [{"type": "text", "text": text}]
    turn.blocks = [*lacking, *kept]


def missing(call: str) -> Block:
    """Returns the result of a call whose own is not where it should be."""
    return {
        "type": "tool_result",
        "tool_use_id": call,
        "content": MISSING_RESULT,
        "is_error": True,
    }


def made_up(text: str) -> Block:
    """Returns a text in place of an answer's lost content."""
    return {"type": "text", "text": text, "citations": []}


def call_id(block: Block) -> str | None:
    """Returns the id of a tool call."""
    call = block.get("id") if block["type"] == "tool_use" else None
    return call if isinstance(call, str) else None
