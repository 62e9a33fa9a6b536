"""Slash commands to what they do and say, logged as the client logs its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from plait.agent.capacity import capacity_of
from plait.agent.client import Client
from plait.agent.cost import usage_lines
from plait.agent.memory import SessionMemory
from plait.agent.meter import Meter
from plait.agent.sessions import rename
from plait.view.amounts import dotted, many, money_in_words, tokens_in_words
from plait.write import SessionWriter

if TYPE_CHECKING:
    from plait.cli.chat.talk import Talk

Tell: TypeAlias = Callable[[Client, str], list[str]]
"""Does something with a session, and returns what is said of it."""
Do: TypeAlias = "Callable[[Talk, str], Awaitable[None]]"
SHARES = (
    ("input", "input"),
    ("cache_write", "written to the cache"),
    ("cache_read", "read from the cache"),
    ("output", "output"),
)
KEYS = (
    "  Enter sends, Alt-Enter or a backslash before it breaks the line",
    "  Ctrl-C stops a turn, twice it leaves; what is typed meanwhile waits its turn",
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command, what it takes, and what it is for."""

    name: str
    takes: str
    help: str
    tell: Tell | None = None
    """What it does wherever it is given; None where it is for whoever sits there."""
    do: "Do | None" = None

    @property
    def line(self) -> str:
        """How it is listed."""
        usage = f"/{self.name} {self.takes}".strip()
        return f"  {usage:<18} {self.help}"


async def obey(talk: "Talk", text: str) -> None:
    """Does what a line that begins with a slash asks for."""
    name, rest = parts_of(text)
    command = BY_NAME.get(name)
    if command is None:
        _note_unknown(talk.client.parts.writer, name, rest)
        await talk.say(f"no command is called '/{name}': /help lists them")
    elif command.tell:
        await talk.say(*command.tell(talk.client, rest))
    elif command.do:
        await command.do(talk, rest)


def _note_unknown(session: SessionWriter, name: str, arguments: str) -> None:
    session.system("informational", content=f"Unknown command: /{name}", level="warning")
    if arguments:
        words = f"Args from unknown skill: {arguments}"
        session.system("informational", content=words, level="warning")


def parts_of(text: str) -> tuple[str, str]:
    """Returns the name of a command, and what it is given."""
    name, _, rest = text[1:].partition(" ")
    return name.strip().casefold(), rest.strip()


def told(client: Client, text: str) -> list[str] | None:
    """Does a command that can be given anywhere, and returns what it says; None for no such one."""
    name, rest = parts_of(text)
    command = BY_NAME.get(name)
    return command.tell(client, rest) if command and command.tell else None


def _rename(client: Client, rest: str) -> list[str]:
    return [rename(client.parts.writer, rest)]


def _cost(client: Client, rest: str) -> list[str]:
    """Tells what a session took: a program as the client tells it, a person in our words.

    On a screen the client shows it in a window of its own, and logs nothing.
    """
    writer = client.parts.writer
    if writer.setting.is_older:
        return _logged(client, "cost", rest, _taken(client))
    if writer.is_unseen:
        return _logged(client, "usage", rest, usage_lines(client.cost.fields))
    return _taken(client)


def _taken(client: Client) -> list[str]:
    meter = client.meter
    parts = [
        f"{tokens_in_words(count)} {words}"
        for name, words in SHARES
        if (count := getattr(meter.tokens, name))
    ]
    lines = [dotted(many(meter.responses, "response"), _money(meter))]
    if parts:
        lines.append(f"tokens: {', '.join(parts)}")
    if client.cost.before:
        lines.append(f"in all, with what came before: ${client.cost.fields['totalCostUSD']:.4f}")
    return lines


def _money(meter: Meter) -> str:
    if meter.unpriced == meter.responses:
        return "no known price" if meter.unpriced else ""
    rest = f" and {many(meter.unpriced, 'response')} without a known price"
    return money_in_words(meter.dollars) + (rest if meter.unpriced else "")


def _context(client: Client, rest: str) -> list[str]:
    return _logged(client, "context", rest, _fill(client))


def _fill(client: Client) -> list[str]:
    memory = client.parts.memory
    if not isinstance(memory, SessionMemory):
        return ["nobody counts what this session holds"]
    tokens, capacity = memory.context.tokens(), capacity_of(memory.model)
    share = round(100 * tokens / capacity.window)
    used = f"{tokens_in_words(tokens)} of {tokens_in_words(capacity.window)} tokens ({share} %)"
    return [used, f"from {tokens_in_words(capacity.full)} on it is compacted by itself"]


def _logged(client: Client, name: str, rest: str, lines: list[str]) -> list[str]:
    client.parts.writer.command(name, rest, "\n".join(lines))
    return lines


async def _help(talk: "Talk", rest: str) -> None:
    lines = [command.line for command in COMMANDS]
    await talk.say(*lines, *(("", *KEYS) if talk.keyboard.is_live else ()))


async def _clear(talk: "Talk", rest: str) -> None:
    old = talk.client.session
    await talk.clear()
    await talk.say(f"a new session begins; `plait chat --resume {old}` goes back")


async def _compact(talk: "Talk", rest: str) -> None:
    await talk.compact(rest)


async def _exit(talk: "Talk", rest: str) -> None:
    talk.leave()


COMMANDS = (
    Command("help", "", "list the commands", do=_help),
    Command("clear", "", "begin a new session with nothing in its context", do=_clear),
    Command("compact", "[focus]", "let a summary stand for what was said", do=_compact),
    Command("rename", "NAME", "give the session a title", tell=_rename),
    Command("cost", "", "tokens and money since the session was opened", tell=_cost),
    Command("context", "", "how full the context is", tell=_context),
    Command("exit", "", "leave; `plait chat --continue` comes back", do=_exit),
)
BY_NAME = {command.name: command for command in COMMANDS} | {"quit": COMMANDS[-1]}
