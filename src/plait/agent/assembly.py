"""A log that is written and how its session is held to the parts of a client."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from plait.agent.agents import SENDERS, Crew
from plait.agent.agents.definitions import defined_agents
from plait.agent.agents.messages import SendMessage
from plait.agent.agents.tool import SendOut
from plait.agent.aside import aside
from plait.agent.beside import Beside, beside_of
from plait.agent.capacity import LONG
from plait.agent.compaction import SessionCompactor
from plait.agent.context import LiveContext
from plait.agent.hooks import SessionHooks
from plait.agent.hooks.configured import hook_book
from plait.agent.keeping import keep_rules
from plait.agent.memory import SessionMemory
from plait.agent.parts import Limits, Parts
from plait.agent.permission import Asker, Mode
from plait.agent.permissions import SessionPermissions
from plait.agent.recollection import Recollection
from plait.agent.rules import RuleBook, rule_book
from plait.agent.settings import ClientSettings
from plait.agent.streaming import Model
from plait.agent.system_prompt import Surroundings, system_prompt
from plait.agent.tools import Tool, Workplace, secret_values, toolbox, without_secrets
from plait.errors import PlaitError
from plait.write import SessionWriter
from plait.write.place import configuration_of

NETWORK = frozenset({"WebFetch", "WebSearch"})


@dataclass(frozen=True, slots=True)
class Manner:
    """How a session is held: who answers, what may be done, who is asked, how far it goes."""

    model: Model
    mode: Mode = "default"
    asker: Asker | None = None
    """Whoever is asked before something is done; without one it is refused."""
    allowed: tuple[str, ...] = ()
    """What is done without asking: names of tools, or rules such as `Bash(git log:*)`."""
    forbidden: tuple[str, ...] = ()
    settings: ClientSettings = field(default_factory=ClientSettings)
    """What settings files of Claude Code say besides."""
    others: tuple[Path, ...] = ()
    """Further directories that may be written to."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What commands inherit, but for secrets."""
    let_through: tuple[str, ...] = ()
    """Names of secrets that they inherit all the same."""
    limits: Limits = field(default_factory=Limits)
    system_prompt: str | None = None
    appended: str = ""
    """What stands behind the system prompt."""
    note: Callable[[str], None] = lambda text: None
    """Told of what goes wrong once nobody follows the session any more."""
    tools: Mapping[str, Tool] | None = None
    """Tools in the place of the usual ones."""

    @property
    def rules(self) -> RuleBook:
        """The rules that were given, and those of settings files."""
        return rule_book(self.settings, self.allowed, self.forbidden)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Further directories that were given, and those of settings files."""
        return (*self.others, *self.settings.directories)

    def toolbox(self) -> Mapping[str, Tool]:
        """Returns what the model can have done; the network only where that is allowed."""
        if self.tools is not None:
            return self.tools
        rules = self.rules
        return toolbox(without=rules.closed | (NETWORK - rules.named), has_network=True)


def parts_of(writer: SessionWriter, manner: Manner) -> Parts:
    """Returns all that turns of a session need."""
    root = Path(writer.setting.cwd)
    defined = defined_agents(configuration_of(writer.path), root)
    crew, model = Crew(defined.kinds, notices=defined.notices), manner.model
    tools = _with_agents(manner, crew, is_older=writer.setting.is_older)
    place = _workplace(writer, manner, tools)
    place.hides = manner.rules.hiding(place)
    crew.around = around = Surroundings.of(place.root, date.today(), manner.folders)
    system = system_prompt(around, instead=manner.system_prompt, appended=manner.appended)
    context = LiveContext(writer)
    beside = _beside(writer, context, place, manner, tools)
    tools = beside.tools
    memory = SessionMemory(context, writer.setting.model, system + beside.system)
    past = Recollection(context, writer.path, place, is_due=writer.tip is not None)
    definitions = [tool.definition for tool in tools.values()]
    hooks, permissions = _judges(writer, place, manner, tools)
    compactor = SessionCompactor(writer, memory, model, tools=definitions)
    compactor.hooks = hooks
    parts = Parts(
        writer=writer,
        model=model,
        memory=memory,
        permissions=permissions,
        place=place,
        tools=tools,
        compactor=compactor,
        limits=manner.limits,
        along=beside.along,
        commands=beside.skills,
        servers=beside.servers,
        recall=past.recall,
        crew=crew,
        hooks=hooks,
    )
    beside.follower.parts = parts
    return parts


def _beside(
    writer: SessionWriter,
    context: LiveContext,
    place: Workplace,
    manner: Manner,
    tools: Mapping[str, Tool],
) -> Beside:
    """Returns what people wrote down for the directory, with the tools that come of it."""
    closed, is_given = frozenset(manner.rules.closed), manner.tools is not None
    settings = manner.settings
    return beside_of(
        writer, context, place, settings, tools, forbidden=closed, has_own_tools=is_given
    )


def _judges(
    writer: SessionWriter, place: Workplace, manner: Manner, tools: Mapping[str, Tool]
) -> tuple[SessionHooks | None, SessionPermissions]:
    """Returns who has a say in what is done: hooks where there are any, rules, a mode, a person."""
    book = hook_book(manner.settings)
    hooks = SessionHooks(book, writer, place, note=manner.note) if book.hooks else None
    rules = manner.rules
    permissions = SessionPermissions(
        writer,
        place,
        manner.mode,
        manner.asker,
        tools,
        rules.allowed,
        rules.forbidden,
        rules.asked,
        hooks,
        lambda texts: _keep(place.root, texts, manner.note),
    )
    if hooks:
        hooks.mode = lambda: permissions.mode
    return hooks, permissions


def _keep(project: Path, rules: Sequence[str], note: Callable[[str], None]) -> None:
    """Writes rules into a project's settings; where that fails, the call is done all the same."""
    try:
        keep_rules(project, rules)
    except PlaitError as error:
        note(f"not kept for the next session: {error.message}")


def _with_agents(manner: Manner, crew: Crew, *, is_older: bool) -> Mapping[str, Tool]:
    """Returns the tools of a session, and the one that sends out agents where it is allowed."""
    tools = manner.toolbox()
    send = SendOut(crew.kinds, "Task" if is_older else "Agent")
    if manner.tools is not None or manner.rules.closed & {*SENDERS}:
        return tools
    tell = SendMessage()
    has_tell = not is_older and tell.name not in manner.rules.closed
    return {send.name: send, **tools, **({tell.name: tell} if has_tell else {})}


def _workplace(writer: SessionWriter, manner: Manner, tools: Collection[str]) -> Workplace:
    root = Path(writer.setting.cwd)
    environment = {**manner.environment, **manner.settings.environment}
    return Workplace(
        root,
        cwd=root,
        others=manner.folders,
        environment=without_secrets(environment, manner.let_through),
        secrets=secret_values(environment, manner.let_through),
        results=writer.path.with_suffix("") / "tool-results",
        has_network=not NETWORK.isdisjoint(tools),
        ask=aside(manner.model, writer.setting.model.removesuffix(LONG)),
    )
