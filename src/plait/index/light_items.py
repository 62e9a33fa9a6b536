"""Records that were read for their words to items of a conversation, as the index needs them.

What `plait.conversation.items` makes of them, without what no word depends on: the client's
view of a result, the figures of a response. What has another form than the usual one is left
to it. `bench/index.py` tells what this earns; `tests/index/test_reading.py` that both agree.
"""

from typing import Any

from plait.conversation.items import Responses, items_of
from plait.conversation.model import Answered, Called, Item, Noted, Result, Said, Thought
from plait.conversation.results import REJECTED
from plait.index.passages import COPIES
from plait.index.usual_lines import has_output_beside, is_said, result_words
from plait.record import Record
from plait.record.read import Worded, WordedBlock


class ResponseModels(Responses):
    """The responses of a conversation, of which only the model counts."""

    def __init__(self) -> None:
        super().__init__()
        self.models: list[str | None] = []
        self._known: dict[str, int] = {}

    def number_of(self, record: Record) -> int:
        """Returns the number of the response that a record belongs to."""
        name = record.message_id or record.envelope.request_id
        number = self._known.get(name) if name else None
        if number is None:
            number = len(self.models)
            self.models.append(None)
            if name:
                self._known[name] = number
        if self.models[number] is None:
            self.models[number] = _model_of(record)
        return number


def _model_of(record: Record) -> str | None:
    message = record.envelope.message if isinstance(record.envelope, Worded) else record.message
    return message.model if message else None


def light_items(record: Record, responses: Responses, file: int = 0) -> list[Item]:
    """Returns what a record is in a conversation, without what no word depends on."""
    envelope = record.envelope
    kind = envelope.type or ""
    if kind in COPIES:
        return [Noted(uuid=envelope.uuid, file=file, line=record.line, kind=kind)]
    found: list[Item] = []
    if isinstance(envelope, Worded) and envelope.message:
        content = envelope.message.content
        place = {
            "uuid": envelope.uuid,
            "file": file,
            "line": record.line,
            "time": record.timestamp,
        }
        if kind == "assistant":
            found = _of_model(record, responses, content, place)
        elif kind == "user" and isinstance(content, list):
            found = _of_user(record, envelope, content, place)
    return found or items_of(record, responses, file)


def _of_model(
    record: Record,
    responses: Responses,
    content: str | list[WordedBlock] | None,
    place: dict[str, Any],
) -> list[Item]:
    blocks = [WordedBlock(type="text", text=content)] if isinstance(content, str) else content
    if not blocks or not all(map(is_said, blocks)):
        return []
    number = responses.number_of(record)
    return [_of_block(block, number, place) for block in blocks]


def _of_block(block: WordedBlock, number: int, place: dict[str, Any]) -> Item:
    if block.type == "text":
        return Said(**place, response=number, text=block.text or "")
    if block.type == "thinking":
        return Thought(**place, response=number, text=block.thinking or "")
    call, name = block.id or "", block.name or ""
    return Called(**place, response=number, call=call, name=name, input=block.input)


def _of_user(
    record: Record, line: Worded, blocks: list[WordedBlock], place: dict[str, Any]
) -> list[Item]:
    if has_output_beside(line):
        return []
    found: list[Item] = []
    for block in blocks:
        text = result_words(block)
        if text is None or (block.is_error and _is_rejected(record, text)):
            return []
        result = Result(text, "ok")
        found.append(Answered(**place, call=block.tool_use_id or "", name=None, result=result))
    return found


def _is_rejected(record: Record, text: str) -> bool:
    return text.startswith(REJECTED) or b'"userFeedback"' in record.raw
