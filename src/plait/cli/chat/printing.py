"""Prompts of a program to what it is told: the last words, one result, or all as it happens."""

import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias

import msgspec

from plait.agent.client import Client
from plait.agent.events import Ending, Noticed, TurnEnded
from plait.agent.meter import Meter
from plait.cli.chat.commands import COMMANDS, parts_of, told
from plait.cli.chat.keyboard import PlainKeyboard
from plait.cli.chat.opening import Opening
from plait.cli.chat.stream import Stream, beginning
from plait.cli.chat.streamed import Said
from plait.cli.chat.tally import Json, Tally
from plait.cli.output import escaped, write_bytes
from plait.cli.text import safe
from plait.errors import UserError

Form: TypeAlias = Literal["text", "json", "stream-json"]
FORMS: tuple[Form, ...] = ("text", "json", "stream-json")
PRINTED = ("compact", "context", "cost", "rename")
"""Commands that a program can give, too."""
FAILED = 1
PATIENCE = 3.0
"""Seconds that standard input may take where there is a prompt already."""
INTERRUPTED = 130
SHORT_WORDS = {
    "max_turns": "Error: Reached max turns ({max_turns})",
    "max_budget": "Error: Exceeded USD budget ({max_budget_usd})",
    "interrupted": "Error: stopped",
}


@dataclass
class Printing:
    """Has prompts answered one after the other, and prints what comes of them."""

    client: Client
    form: Form
    tally: Tally
    stream: Stream
    beginning: Mapping[str, Any]
    """What every turn begins with in a stream."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    _last: Json = field(default_factory=dict)
    _ending: TurnEnded | None = None
    _is_unread: bool = False

    @classmethod
    def of(cls, client: Client, opening: Opening, form: Form, *, replays: bool = False) -> Self:
        """Returns what prints the session of a client."""
        writer, choice = client.parts.writer, opening.choice
        ids = writer.ids
        prices = opening.prices

        def price(model: str, usage: Mapping[str, Any]) -> float | None:
            meter = Meter(prices)
            meter.add(model, usage, ids.moment())
            return meter.cost

        begun = beginning(
            session=client.session,
            uuid=ids.uuid(),
            cwd=str(opening.directory),
            model=opening.model_name,
            version=choice.version,
            permission_mode=choice.mode,
            tools=list(client.parts.tools),
            commands=[*(command.name for command in COMMANDS), *client.commands],
            key_from=choice.key_from if choice.asks_api else None,
            others=[str(other) for other in choice.others],
        )
        tally = Tally(lambda: client.session, ids.uuid, price=price, limits=choice.limits)
        return cls(client, form, tally, Stream(ids.uuid, replays), begun, choice.limits)

    async def run(self, prompts: AsyncIterator[Said]) -> int:
        """Does all prompts; returns the exit code."""
        self._listen()
        async for said in prompts:
            await self._turn(said)
            if self._is_unread:
                raise BrokenPipeError
        if self._ending is None:
            raise UserError("there was no prompt on standard input")
        if self.form == "json":
            write_bytes(in_json(self._last))
        elif self.form == "text":
            print_words(self._ending, self.limits)
        return self._code(self._ending)

    def _code(self, ended: TurnEnded) -> int:
        if ended.ending == "interrupted":
            return INTERRUPTED
        return FAILED if self._last.get("is_error") else 0

    async def _turn(self, said: Said) -> None:
        content = said.content
        now = {"permissionMode": self.client.mode, "model": self.client.model}
        self.say({**self.beginning, **now})
        self.tally.begin()
        if isinstance(content, str) and content.startswith("/") and await self._command(content):
            return
        async for event in self.client.send(content, uuid=said.uuid):
            result = self.tally.add(event)
            if result is not None and isinstance(event, TurnEnded):
                self._end(result, event)

    def _end(self, result: Json, event: TurnEnded) -> None:
        self._last, self._ending = result, event
        self.say(result)

    async def _command(self, text: str) -> bool:
        """Does a command; tells whether it is one. To the model any other is a prompt."""
        name, focus = parts_of(text)
        writer = self.client.parts.writer
        if name not in PRINTED:
            return False
        if not writer.setting.is_older:
            writer.queue("enqueue", text)
            writer.queue("dequeue")
        if name == "compact":
            words, ending = await self._compacted(focus)
        else:
            words, ending = "\n".join(await told(self.client, text) or ()), "done"
        event = TurnEnded(ending, words, self.tally.took_ms, 0, {}, None)
        self._end(self.tally.of_command(event, name), event)
        return True

    async def _compacted(self, focus: str) -> tuple[str, Ending]:
        words = ""
        ending: Ending = "done"
        async for event in self.client.compact(focus):
            if isinstance(event, Noticed):
                words, ending = event.text, "failed"
        return words, ending

    def tell_pieces(self) -> None:
        """Tells answers piece by piece, too."""
        from plait.cli.chat.partial import Overheard

        parts = self.client.parts
        parts.model = Overheard(parts.model, self._tell_piece)

    def _tell_piece(self, event: Json) -> None:
        whose = {"session_id": self.client.session, "parent_tool_use_id": None}
        uuid = self.client.parts.writer.ids.uuid()
        self.say({"type": "stream_event", "event": event, **whose, "uuid": uuid})

    def _listen(self) -> None:
        """Tells each line of the log as it is written, beside whoever else is told."""
        writer = self.client.parts.writer
        told_before = writer.on_line

        def on_line(line: bytes) -> None:
            if told_before:
                told_before(line)
            value = msgspec.json.decode(line)
            self.tally.note(value)
            for one in self.stream.of(value):
                self.say(one)

        writer.on_line = on_line

    def say(self, value: Mapping[str, Any]) -> None:
        """Tells something, as long as anybody reads it; else the turn is stopped."""
        if self.form != "stream-json" or self._is_unread:
            return
        try:
            write_bytes(in_json(value))
        except BrokenPipeError:
            self._is_unread = True
            self.client.interrupt()


def in_json(value: Mapping[str, Any]) -> bytes:
    """Returns a value as one line of JSON in which nothing commands the terminal."""
    return escaped(msgspec.json.encode(value)) + b"\n"


def print_words(ended: TurnEnded, limits: Mapping[str, Any]) -> None:
    """Prints the last words of an answer, or why there are none."""
    words = SHORT_WORDS.get(ended.ending)
    text = words.format(**limits) if words else ended.text
    sys.stdout.write(f"{safe(text)}\n")
    sys.stdout.flush()


async def given_words(lines: PlainKeyboard, prompt: str | None) -> str:
    """Returns the prompt: what was said, and behind it what comes on standard input."""
    has_more = not (sys.stdin is not None and sys.stdin.isatty())
    if has_more and prompt:
        has_more = await lines.comes(PATIENCE)
    words = "\n".join(filter(None, (prompt, await lines.rest() if has_more else "")))
    if not words.strip():
        raise UserError("there is no prompt", "say it after `-p`, or on standard input")
    return words
