"""Slash commands to what they do and say, logged as the client logs its own."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from plait.agent.engine import Engine
from plait.agent.meter import Meter
from plait.agent.model_names import model_named
from plait.agent.permission import Mode
from plait.cli.chat import looking
from plait.errors import UserError
from plait.view.amounts import dotted, many, money_in_words, tokens_in_words
from plait.view.forms import CACHE_READ, CACHE_WRITE, INPUT, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plait.cli.chat.completion import Offer
    from plait.cli.chat.talk import Talk

Tell: TypeAlias = Callable[[Engine, str], Awaitable[list[str]]]
"""Does something with a session, and returns what is said of it."""
Do: TypeAlias = "Callable[[Talk, str], Awaitable[None]]"
SHARES = (
    ("input", INPUT),
    ("cache_write", CACHE_WRITE),
    ("cache_read", CACHE_READ),
    ("output", OUTPUT),
)
OFFERED: tuple[Mode, ...] = ("default", "acceptEdits", "plan", "dontAsk")
"""Modes that one can change to; to bypass everything is said when it begins, or not at all."""
NONE: Mapping[str, str] = {}
KEYS = (
    ("Enter", "sends; Alt-Enter, Ctrl-J or \\ Enter break the line"),
    ("Ctrl-C", "stops a turn, twice it leaves; what is typed waits"),
    ("Tab, @", "complete commands, what they take, and files"),
    ("↑, Ctrl-R", "bring back what waits or was sent before, look for it"),
    ("Ctrl-O", "opens what is folded: results and thoughts, whole"),
    ("Shift-Tab", "asks before changes, makes them without, or only plans"),
    ("Ctrl-X Ctrl-E", "writes the prompt in your editor"),
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
    is_look: bool = False
    """Whether it changes nothing, and can be done while a turn goes on."""

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f"/{self.name} {self.takes}".strip()


async def obey(talk: "Talk", text: str) -> None:
    """Does what a line that begins with a slash asks for."""
    name, rest = parts_of(text)
    command = BY_NAME.get(name)
    if command is None and _written_down(text) in talk.client.commands:
        await talk.ask(text)
    elif command is None:
        talk.client.note_unknown(name, rest)
        await talk.say(f"no command is called '/{name}': /help lists them")
    elif command.tell:
        await talk.say(*await command.tell(talk.client, rest))
    elif command.do:
        await command.do(talk, rest)


def _written_down(text: str) -> str:
    """Returns the name of a command that people wrote down: its letters count as they are."""
    return (text[1:].split(maxsplit=1) or [""])[0]


def offered_commands(typed: str, others: Mapping[str, str] = NONE) -> "Iterator[Offer]":
    """Yields the commands that begin so, with what each is for; those people wrote down last."""
    from plait.cli.chat.completion import Offer

    for command in COMMANDS:
        if command.name.startswith(typed.casefold()):
            yield Offer(command.name, command.help)
    for name, words in others.items():
        if name.startswith(typed) and name not in BY_NAME:
            yield Offer(name, words)


def is_look(text: str) -> bool:
    """Tells whether a line only has something shown."""
    command = BY_NAME.get(parts_of(text)[0])
    return command is not None and command.is_look


def parts_of(text: str) -> tuple[str, str]:
    """Returns the name of a command, and what it is given."""
    name, _, rest = text[1:].partition(" ")
    return name.strip().casefold(), rest.strip()


async def told(client: Engine, text: str) -> list[str] | None:
    """Does a command that can be given anywhere, and returns what it says; None for no such one."""
    name, rest = parts_of(text)
    command = BY_NAME.get(name)
    return await command.tell(client, rest) if command and command.tell else None


async def _rename(client: Engine, rest: str) -> list[str]:
    return [await client.rename(rest)]


async def _cost(client: Engine, rest: str) -> list[str]:
    return _noted(client, "cost", rest, _taken(client))


def _taken(client: Engine) -> list[str]:
    meter = client.meter
    parts = [
        f"{tokens_in_words(count)} {words}"
        for name, words in SHARES
        if (count := getattr(meter.tokens, name))
    ]
    lines = [dotted(many(meter.responses, "response"), _money(meter))]
    if parts:
        lines.append(f"tokens: {', '.join(parts)}")
    if (dollars := client.dollars_in_all) is not None:
        lines.append(f"in all, with what came before: ${dollars:.4f}")
    return lines


def _money(meter: Meter) -> str:
    if meter.unpriced == meter.responses:
        return "no known price" if meter.unpriced else ""
    rest = f" and {many(meter.unpriced, 'response')} without a known price"
    return money_in_words(meter.dollars) + (rest if meter.unpriced else "")


async def _context(client: Engine, rest: str) -> list[str]:
    return _noted(client, "context", rest, _fill(client))


def _noted(client: Engine, name: str, rest: str, said: list[str]) -> list[str]:
    """Has the log say what was looked at, unless an answer is being written to it."""
    return said if client.is_busy else client.noted(name, rest, said)


def _fill(client: Engine) -> list[str]:
    fill = client.fill
    if fill is None:
        return ["nobody counts what this session holds"]
    share = round(100 * fill.tokens / fill.window)
    used = f"{tokens_in_words(fill.tokens)} of {tokens_in_words(fill.window)} tokens ({share} %)"
    return [used, f"from {tokens_in_words(fill.full)} on it is compacted by itself"]


async def _help(talk: "Talk", rest: str) -> None:
    own = [(f"/{name}", words) for name, words in talk.client.commands.items()]
    rows = [*((command.usage, command.help) for command in COMMANDS), *own]
    keys = KEYS if talk.keyboard.is_live else ()
    width = max(len(name) for name, _ in (*rows, *keys))
    told = [f"  {name:<{width}}  {words}" for name, words in (*rows, *keys)]
    await talk.say(*told[: len(rows)], *([""] if keys else ()), *told[len(rows) :])


async def _clear(talk: "Talk", rest: str) -> None:
    old = talk.client.session
    await talk.clear()
    await talk.say(f"a new session begins; `plait chat --resume {old}` goes back")


async def _compact(talk: "Talk", rest: str) -> None:
    await talk.compact(rest)


async def _rewind(talk: "Talk", rest: str) -> None:
    from plait.cli.chat.rewind import rewind

    await rewind(talk, rest)


async def _branch(talk: "Talk", rest: str) -> None:
    from plait.cli.chat.rewind import branch

    await branch(talk, rest)


async def _exit(talk: "Talk", rest: str) -> None:
    talk.leave()


async def _model(client: Engine, rest: str) -> list[str]:
    if not rest:
        return [f"{client.model} answers; `/model NAME` has another one do it"]
    name = model_named(rest)
    await client.switch(model=name)
    return client.noted("model", rest, [f"Set model to {name}"])


async def _tools(client: Engine, rest: str) -> list[str]:
    return [many(len(client.tools), "tool"), *(f"  {name}" for name in client.tools)]


async def _permissions(client: Engine, rest: str) -> list[str]:
    if not rest:
        return [*client.rules, f"`/permissions MODE` changes the mode: {', '.join(OFFERED)}"]
    mode = next((one for one in OFFERED if one.casefold() == rest.casefold()), None)
    if mode is None:
        raise UserError(f"'{rest}' is no mode to change to", f"there are {', '.join(OFFERED)}")
    await client.switch(mode=mode)
    return [f"{mode} from now on"]


async def _mcp(client: Engine, rest: str) -> list[str]:
    verb, _, name = rest.partition(" ")
    if rest and (verb != "approve" or not name.strip()):
        raise UserError(f"'/mcp {rest}' says nothing", "`/mcp approve NAME` starts a server")
    lines = await client.servers(name.strip())
    return lines or ["no servers are named, neither in .mcp.json nor in your own .claude.json"]


COMMANDS = (
    Command("help", "", "list the commands", do=_help, is_look=True),
    Command("clear", "", "begin a new session with nothing in its context", do=_clear),
    Command("compact", "[focus]", "let a summary stand for what was said", do=_compact),
    Command("rewind", "[N] [what]", "go back before a prompt, with or without files", do=_rewind),
    Command("branch", "[@N] [NAME]", "go on in a copy, from here or before a prompt", do=_branch),
    Command("rename", "NAME", "give the session a title", tell=_rename),
    Command("cost", "", "tokens and money since the session was opened", tell=_cost, is_look=True),
    Command("context", "", "how full the context is", tell=_context, is_look=True),
    Command("model", "[NAME]", "have another model answer: opus, sonnet, haiku …", tell=_model),
    Command("tools", "", "what the model can have done", tell=_tools, is_look=True),
    Command("permissions", "[MODE]", "the rules that count, or another mode", tell=_permissions),
    Command("mcp", "[approve NAME]", "servers, and leave for one of them", tell=_mcp),
    Command("todos", "", "what is to be done, and how far it is", do=looking.todos, is_look=True),
    Command("tasks", "[ID]", "what runs in the background", do=looking.tasks, is_look=True),
    Command("open", "[N]", "show the last result whole", do=looking.open_folded, is_look=True),
    Command("graph", "", "draw the session as a graph", do=looking.graph, is_look=True),
    Command("export", "[FILE]", "write what was said to a file", do=looking.export),
    Command("resume", "[SESSION]", "go on with another session", do=looking.resume),
    Command("exit", "", "leave; `plait chat --continue` comes back", do=_exit),
)
BY_NAME = {command.name: command for command in COMMANDS} | {"quit": COMMANDS[-1]}
