"""The end of a chain to what the client adds so that a new prompt can follow."""

from plait.graph.client.entry import call_ids, content_blocks, is_boundary
from plait.graph.client.model import ROOT, Block, Said
from plait.graph.client.prune import answered_calls, last_response, last_turn
from plait.record import Record

NO_RESPONSE = "No response requested."
INTERRUPTED = (
    "[Tool call interrupted: the session ended before this call's result was recorded, so its "
    "outcome is unknown. Check whether it took effect before relying on it or running it again.]"
)
CAVEAT = "<local-command-caveat>"
COMMAND_TAGS = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
)


def closed(records: list[Record], chain: list[int], said: list[Said]) -> list[Said]:
    """Returns what is said with the results and the answer that the client makes up."""
    unknown = open_calls(records, chain)
    if unknown:
        results: list[Block] = [interrupted(call) for call in unknown]
        return [*said, Said(ROOT, "user", results), no_response()]
    if not awaits_answer(records, chain):
        return said
    last = notices_at_end(records, chain)
    if any(is_boundary(records[number]) for number in last):
        return said
    place = next((p for p, one in enumerate(said) if one.number in last), len(said))
    return [*said[:place], no_response(), *said[place:]]


def open_calls(records: list[Record], chain: list[int]) -> list[str]:
    """Returns the calls of the last answer that have no result."""
    turn = last_turn(records, chain)
    answered = answered_calls(records, chain)
    last = [records[number] for number in last_response(records, turn)]
    return [call for record in last for call in call_ids(record) if call not in answered]


def interrupted(call: str) -> Block:
    """Returns the result of a call of which nobody knows how it ended."""
    return {"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED, "is_error": True}


def no_response() -> Said:
    """Returns the answer to a prompt that never got one."""
    return Said(ROOT, "assistant", [{"type": "text", "text": NO_RESPONSE}])


def awaits_answer(records: list[Record], chain: list[int]) -> bool:
    """Whether the last word is a prompt's, and not the output of a local command."""
    newest_first = (records[number] for number in reversed(chain))
    words = [record for record in newest_first if record.type != "system"]
    spoken = [record for record in words if record.type != "attachment"]
    if not spoken or spoken[0].type != "user":
        return bool(words) and not spoken
    # format: a summary with its attachments is a finished compaction
    is_compacted = spoken[0].is_compact_summary and words[0].type == "attachment"
    return not is_compacted and not ends_with_command(spoken)


def ends_with_command(newest_first: list[Record]) -> bool:
    """Whether the last words are a local command under its caveat."""
    for record in newest_first:
        text = opening(record)
        if record.is_meta and text.startswith(CAVEAT):
            return True
        if record.type != "user" or not text.startswith(COMMAND_TAGS):
            return False
    return False


def opening(record: Record) -> str:
    """Returns the first text of a message."""
    blocks = content_blocks(record)
    return blocks[0]["text"] if blocks and blocks[0]["type"] == "text" else ""


def notices_at_end(records: list[Record], chain: list[int]) -> frozenset[int]:
    """Returns the notices at the very end: the made-up answer goes before them."""
    notices: list[int] = []
    for number in reversed(chain):
        if records[number].type != "system":
            break
        notices.append(number)
    return frozenset(notices)
