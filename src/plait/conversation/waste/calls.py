"""Lines to the calls in them: what was asked for, how much came back, what is named later."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import msgspec
from msgspec import Raw, Struct

from plait.conversation.account.requests import key_of
from plait.conversation.tools import tool_named
from plait.record.billing import MISFITS
from plait.record.lineage import NOTHING, Sent

IMAGE = b'"type":"image"'
PICTURE_CHARACTERS = 5440
"""About as many characters as take the tokens of a picture."""
USER = "user"
AROUND = 150
"""Characters that stand for what is around a call and a result."""
MOST_SUBJECT = 120


class Piece(Struct, frozen=True, gc=False):
    """A block of a message, as far as calls are told."""

    type: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    input: Raw = NOTHING
    content: Raw = NOTHING


class _Subjects(Struct, frozen=True, gc=False):
    """What calls name: the first of these that is there."""

    file_path: str | None = None
    notebook_path: str | None = None
    command: str | None = None
    url: str | None = None
    pattern: str | None = None
    description: str | None = None
    offset: float | None = None
    limit: float | None = None


_pieces = msgspec.json.Decoder(list[Piece]).decode
_parts = msgspec.json.Decoder(list[Raw]).decode
_piece = msgspec.json.Decoder(Piece).decode
_subjects = msgspec.json.Decoder(_Subjects).decode


def sized_pieces(content: bytes) -> Iterator[tuple[int, Piece]]:
    """Yields the blocks of a message that can be read, each with its length as it is written."""
    try:
        parts = _parts(content)
    except MISFITS:
        return
    for part in parts:
        with suppress(*MISFITS):
            yield len(bytes(part)), _piece(part)


@dataclass(slots=True)
class Noted:
    """A call, and its result where there is one."""

    id: str
    response: str
    name: str
    line: int
    given: bytes
    """Its input, as it is written."""
    path: str | None = None
    part: tuple[float | None, float | None] = (None, None)
    """Which lines of the file it reads."""
    subject: str = ""
    characters: int = 0
    """Of its result, with what is around it."""
    answered: int = 0
    """The line of the result; 0 where there is none."""
    is_error: bool = False
    is_picture: bool = False


@dataclass(slots=True)
class CallNotes:
    """The calls of a file, noted while its lines go by."""

    calls: dict[str, Noted] = field(default_factory=dict)
    spoken: dict[str, int] = field(default_factory=dict)
    """Characters that each response holds."""
    words: list[tuple[int, bytes]] = field(default_factory=list)
    """What responses said, by line."""
    prompts: dict[str, int] = field(default_factory=dict)
    """Characters that the lines of people hold."""
    results: set[str] = field(default_factory=set)
    """Lines that hold the result of a call."""
    unread: set[str] = field(default_factory=set)
    """Responses whose blocks cannot be told: there may be a call among them."""

    def over(self, lines: Iterable[tuple[int, Sent]]) -> Iterator[tuple[int, Sent]]:
        """Yields lines as they come, and notes the calls in them."""
        for number, line in lines:
            if line.message is not None and line.message.content:
                self._note(number, line, line.message.content)
            yield number, line

    def _note(self, number: int, line: Sent, content: Raw) -> None:
        key = key_of(line, number)
        if line.type == USER and line.uuid:
            self.prompts[line.uuid] = len(memoryview(content))
        if bytes(memoryview(content)[:1]) != b"[":
            return
        if key is not None:
            held = bytes(content)
            self.spoken[key] = self.spoken.get(key, 0) + len(held)
            self.words.append((number, held))
        try:
            pieces = _pieces(content)
        except MISFITS:
            self.unread.add(key or "")
            return
        for piece in pieces:
            if piece.type == "tool_use" and key and piece.id:
                self._call(number, key, piece)
            elif piece.type == "tool_result" and piece.tool_use_id:
                self.results.add(line.uuid or "")
                self._answer(number, piece)

    def _call(self, number: int, key: str, piece: Piece) -> None:
        name, given = piece.name or "", bytes(piece.input)
        call = Noted(piece.id or "", key, name, number, given)
        try:
            told = _subjects(given)
        except MISFITS:
            told = _Subjects()
        call.path, call.part = told.file_path or told.notebook_path, (told.offset, told.limit)
        words = call.path or told.command or told.url or told.pattern or told.description or ""
        call.subject = f"{name} {words}".strip()[:MOST_SUBJECT]
        self.calls.setdefault(call.id, call)

    def _answer(self, number: int, piece: Piece) -> None:
        call = self.calls.get(piece.tool_use_id or "")
        if call is None or call.answered:
            return
        told = bytes(piece.content)
        call.is_picture = IMAGE in told.replace(b" ", b"")[:200]
        call.characters = AROUND + (PICTURE_CHARACTERS if call.is_picture else len(told))
        call.answered, call.is_error = number, piece.is_error is True

    def answered(self) -> list[Noted]:
        """Returns the calls that were answered, in their order."""
        return [call for call in self.calls.values() if call.answered]

    def is_named_later(self, call: Noted) -> bool:
        """Tells whether a later response says the name of what a call was about."""
        name = named(call)
        return name is None or any(
            number > call.answered and name in words for number, words in reversed(self.words)
        )

    def by_response(self) -> Mapping[str, list[Noted]]:
        """Returns the calls by the response that made them."""
        found: dict[str, list[Noted]] = {}
        for call in self.calls.values():
            found.setdefault(call.response, []).append(call)
        return found


def named(call: Noted) -> bytes | None:
    """Returns what whoever speaks of a result would name; None where that is open."""
    if call.path is None or tool_named(call.name).action != "read":
        return None
    return PurePosixPath(call.path.replace("\\", "/")).name.encode() or None
