"""Records that were read for their words to items of a conversation, as the index needs them.

What `plait.conversation.items` makes of them, without what no word depends on: the client's
view of a result, the figures of a response. What has another form than the usual one is left
to it. `bench/index.py` tells what this earns; `tests/index/test_reading.py` that both agree.
"""

from plait.conversation.items import Responses, items_of
from plait.conversation.model import Answered, Called, Item, Noted, Result, Said, Thought
from plait.conversation.results import REJECTED
from plait.index.passages import COPIES
from plait.record import Record
from plait.record.read import ResultFacts, Worded, WordedBlock

SAVED = "<persisted-output>"


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
        if kind == "assistant":
            found = _of_model(record, responses, content, file)
        elif kind == "user" and isinstance(content, list):
            found = _of_user(record, envelope.tool_use_result, content, file)
    return found or items_of(record, responses, file)


def _of_model(
    record: Record, responses: Responses, content: str | list[WordedBlock] | None, file: int
) -> list[Item]:
    blocks = [WordedBlock(type="text", text=content)] if isinstance(content, str) else content
    for block in blocks or ():
        if not _is_usual(block):
            return []
    if not blocks:
        return []
    number = responses.number_of(record)
    return [_of_block(block, record, number, file) for block in blocks]


def _is_usual(block: WordedBlock) -> bool:
    kind = block.type
    if kind == "tool_use":
        return block.id is not None and block.name is not None
    return (kind == "text" and block.text is not None) or (
        kind == "thinking" and block.thinking is not None
    )


def _of_block(block: WordedBlock, record: Record, number: int, file: int) -> Item:
    uuid, line, time = record.envelope.uuid, record.line, record.timestamp
    if block.type == "text":
        text = block.text or ""
        return Said(uuid=uuid, file=file, line=line, time=time, response=number, text=text)
    if block.type == "thinking":
        text = block.thinking or ""
        return Thought(uuid=uuid, file=file, line=line, time=time, response=number, text=text)
    return Called(
        uuid=uuid,
        file=file,
        line=line,
        time=time,
        response=number,
        call=block.id or "",
        name=block.name or "",
        input=block.input,
    )


def _of_user(record: Record, view: object, blocks: list[WordedBlock], file: int) -> list[Item]:
    if isinstance(view, ResultFacts) and view.output is not None:
        return []
    uuid, line, time = record.envelope.uuid, record.line, record.timestamp
    found: list[Item] = []
    for block in blocks:
        call, text = block.tool_use_id, _words_of(block)
        if block.type != "tool_result" or call is None or _says_more(record, block, text):
            return []
        result = Result(text, "ok")
        found.append(
            Answered(
                uuid=uuid, file=file, line=line, time=time, call=call, name=None, result=result
            )
        )
    return found


def _words_of(block: WordedBlock) -> str:
    content = block.content
    if isinstance(content, str):
        return content
    inner = content or ()
    return "\n".join(one.text for one in inner if one.type == "text" and one.text is not None)


def _says_more(record: Record, block: WordedBlock, text: str) -> bool:
    if block.is_error and (text.startswith(REJECTED) or b'"userFeedback"' in record.raw):
        return True
    return text.startswith(SAVED)
