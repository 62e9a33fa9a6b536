"""Lighter readings of a line agree with the full one or decline."""

from hypothesis import given

from plait.record import parse_record
from plait.record.billing import _decode, make_bill
from plait.record.codec import Envelope, decode_envelope, decode_object
from plait.record.message import (
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    decode_message_line,
    make_blocks,
    make_message,
)
from plait.record.reader import BlockWithText, decode_with_text
from tests.record.drawn_lines import lines

HEADS = [name for name in Envelope.__struct_fields__ if name != "message"]


@given(lines)
def test_envelope_with_text_equals_the_envelope(data: bytes) -> None:
    found = decode_with_text(data)
    if found is None:
        return
    plain = decode_envelope(data)
    assert [getattr(found, name) for name in HEADS] == [getattr(plain, name) for name in HEADS]
    assert type(found.message).__name__ in ("NoneType", "MessageWithText")
    assert (found.message is None) == (plain.message is None)


@given(lines)
def test_the_text_of_an_envelope_equals_that_of_the_message(data: bytes) -> None:
    found, record = decode_with_text(data), parse_record(data)
    content = found.message.content if found and found.message else None
    if content is None or record.message is None:
        return
    if isinstance(content, str):
        assert record.message.content == (Text(content),)
        return
    for block, whole in zip(content, record.message.content, strict=True):
        match whole:
            case Text(text):
                assert block.text == text
            case Thinking(text, signature):
                assert (block.thinking, block.signature) == (text, signature)
            case ToolUse(id=call, name=name, input=given_):
                assert (block.id, block.name, block.input) == (call, name, given_)
            case ToolResult(tool_use_id=call, content=said, is_error=is_error):
                assert (block.tool_use_id, block.is_error) == (call, is_error)
                assert texts_in(block) == [
                    one.text for one in make_blocks(said) if isinstance(one, Text)
                ]


def texts_in(block: BlockWithText) -> list[str]:
    """Return the words of a result, as they stand in its envelope."""
    if isinstance(block.content, str):
        return [block.content]
    return [one.text for one in block.content or () if one.type == "text" and one.text is not None]


@given(lines)
def test_a_message_decoded_in_one_pass_is_equal(data: bytes) -> None:
    spoken = decode_message_line(data)
    if spoken is not None:
        assert spoken.message == make_message(decode_object(data)["message"])


@given(lines)
def test_a_bill_decoded_in_one_pass_is_equal(data: bytes) -> None:
    try:
        bill = _decode(data)
    except Exception:
        return
    assert bill == make_bill(decode_object(data))
