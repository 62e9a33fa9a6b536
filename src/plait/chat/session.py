"""Restoring what tools remember from the log of a resumed session.

A file counts as known when the model still has all of it in context, as the client counts it: a
complete read or write, not edited since. Lists survive compactions and rewinds, so they are
rebuilt from the whole file.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

from plait.chat.agent_kinds import load_agent_kinds
from plait.chat.agents import AGENT_TOOL_NAMES, AgentPool, SendMessage, SpawnAgent
from plait.chat.approval import Approver, Mode
from plait.chat.attachments import FileMentions, ServerInstructions, SessionAttachments
from plait.chat.compaction import SessionCompactor
from plait.chat.context import LiveContext, RequestBuilder, WorkEnvironment, build_system_prompt
from plait.chat.hooks import load_hooks
from plait.chat.instructions import ProjectScope, SessionInstructions, render_instructions
from plait.chat.mcp import SessionServers, load_servers
from plait.chat.model_info import LONG_CONTEXT_SUFFIX
from plait.chat.permissions import SessionPermissions
from plait.chat.rules import PermissionRules, load_permission_rules, save_rules
from plait.chat.runtime import Limits, Runtime
from plait.chat.session_hooks import SessionHooks
from plait.chat.settings import ClientSettings
from plait.chat.skills import (
    SessionSkills,
    SkillListing,
    SkillTool,
    list_model_skills,
    render_listing,
)
from plait.chat.streaming import Block, BlockFinished, Model, ModelError, Request
from plait.chat.tools import Tool, secret_values, toolbox, without_secrets
from plait.chat.tools.base import FileView, SideQuery, ToolError, Workplace
from plait.chat.tools.files import BYTE_ORDER_MARK, compute_text_digest, resolve_path
from plait.chat.tools.tasks import restore_task, restore_todos
from plait.errors import PlaitError, UserError
from plait.line import iter_lines
from plait.line.discovery import find_configuration
from plait.record import Record, iter_client_records
from plait.record.codec import as_mapping
from plait.write import SessionWriter
from plait.write.lines import NEWEST, Version

LIST_MARKERS = (
    *(b'"TaskCreate"', b'"TaskUpdate"', b'"TodoWrite"'),
    *(b'"task":{', b'"updatedFields"', b'"newTodos"'),
)
"""What stands in lines that tell of lists: few others have to be read."""
FILE_TOOLS = frozenset(("Read", "Write", "Edit", "NotebookEdit"))
LIST_TOOLS = frozenset(("TaskCreate", "TaskUpdate", "TodoWrite"))


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that was answered without an error."""

    name: str
    given: Mapping[str, Any]
    output: Mapping[str, Any]
    cwd: str


@dataclass(slots=True)
class ToolStateRestorer:
    """Puts together what tools remember, before the first of them is called."""

    context: LiveContext
    path: Path
    place: Workplace
    is_pending: bool
    """Whether there is a past."""

    def restore(self) -> None:
        """Have the workplace know it, once."""
        if self.is_pending:
            self.is_pending = False
            restore_files(self.context.records, self.place)
            list_lines = (
                line
                for line in iter_lines(self.path)
                if any(marker in line.data for marker in LIST_MARKERS)
            )
            for done in _iter_finished_calls(iter_client_records(list_lines), LIST_TOOLS):
                if done.name == "TodoWrite":
                    restore_todos(self.place, done.given)
                else:
                    restore_task(self.place, done.name, done.given, done.output)


def restore_files(chain: Iterable[Record], place: Workplace) -> None:
    """Have a workplace know the files that the model has before it."""
    for done in _iter_finished_calls(chain, FILE_TOOLS):
        named = done.given.get("file_path") or done.given.get("notebook_path")
        try:
            path = resolve_path(str(Path(done.cwd) / str(named or "")), place)
        except ToolError:
            continue
        text = _find_whole_text(done)
        if text is not None:
            place.file_views[path] = FileView(
                compute_text_digest(text.replace("\r\n", "\n").removeprefix(BYTE_ORDER_MARK)), True
            )
        elif done.name != "Read":
            place.file_views.pop(path, None)


def _find_whole_text(done: FinishedCall) -> str | None:
    """Return what a file held where all of it was told, None where it was not."""
    if done.name == "Write":
        text = done.output.get("content", done.given.get("content"))
        return text if isinstance(text, str) else None
    file = as_mapping(done.output.get("file"))
    text, count, total = (file.get(key) for key in ("content", "numLines", "totalLines"))
    is_part = {"offset", "limit"} & done.given.keys() or file.get("startLine", 1) != 1
    is_whole = done.name == "Read" and not is_part and count == total
    return text if is_whole and isinstance(text, str) else None


def _iter_finished_calls(
    records: Iterable[Record], names: frozenset[str]
) -> Iterator[FinishedCall]:
    """Yield the calls of some tools that went well, in the order of their results."""
    waiting: dict[str, Mapping[str, Any]] = {}
    for record in records:
        heads = record.block_heads if record.type in ("assistant", "user") else ()
        if any(head.type == "tool_use" and head.name in names for head in heads):
            calls = (block for block in _get_blocks(record) if block.get("name") in names)
            waiting |= {str(call.get("id")): call for call in calls}
        elif waiting and any(head.tool_use_id in waiting for head in heads):
            for block in _get_blocks(record):
                call = waiting.pop(str(block.get("tool_use_id")), None)
                output = record.fields.get("toolUseResult")
                if call and not block.get("is_error") and isinstance(output, Mapping):
                    given = as_mapping(call.get("input"))
                    yield FinishedCall(str(call["name"]), given, output, record.cwd or "/")


def _get_blocks(record: Record) -> list[Mapping[str, Any]]:
    content = as_mapping(record.fields.get("message")).get("content")
    found = content if isinstance(content, list) else []
    return [block for block in found if isinstance(block, Mapping)]


MAX_TOKENS = 8192


def make_side_query(model: Model, model_name: str) -> SideQuery:
    """Return what asks a model something that the conversation does not hold."""

    async def ask(question: str, tools: Sequence[Mapping[str, Any]]) -> Sequence[Block]:
        messages = [{"role": "user", "content": question}]
        request = Request(model_name, messages, tools=tools, max_tokens=MAX_TOKENS)
        try:
            pieces = [piece async for piece in model.stream(request)]
        except ModelError as fault:
            raise ToolError(f"The model did not answer: {fault.text}") from fault
        return [piece.block for piece in pieces if isinstance(piece, BlockFinished)]

    return ask


@dataclass(frozen=True, slots=True)
class Extensions:
    """Instructions, skills and servers of a session, and what goes along with its prompts."""

    tools: dict[str, Tool]
    """Those of the session; those of servers join them."""
    attachments: SessionAttachments
    skills: SessionSkills
    servers: SessionServers
    skill_tool: SkillTool
    system: list[Block]
    """What the older form tells beside the log."""


def load_extensions(
    writer: SessionWriter,
    context: LiveContext,
    place: Workplace,
    settings: ClientSettings,
    tools: Mapping[str, Tool],
    *,
    forbidden: frozenset[str] = frozenset(),
    has_own_tools: bool = False,
) -> Extensions:
    """Return what counts in the directory of a session; its own tools stay as they are."""
    home = place.environment.get("HOME")
    own = find_configuration(writer.path)
    grounds = ProjectScope(place.root, own, Path(home) if home else None, place.secrets)
    instructions, skills = SessionInstructions(writer, context, grounds), SessionSkills(grounds)
    skill_tool, all_tools = SkillTool(skills), {**tools}
    servers = SessionServers([], all_tools, place.root, place.environment)
    if not has_own_tools:
        is_asked = not writer.is_unseen
        found, notices = load_servers(grounds, settings, place.environment, can_ask=is_asked)
        servers = SessionServers(
            found, all_tools, place.root, place.environment, notices=notices, forbidden=forbidden
        )
        if list_model_skills(skills.skills) and skill_tool.name not in forbidden:
            all_tools[skill_tool.name] = skill_tool
    attachments = SessionAttachments(
        writer,
        FileMentions(writer, place),
        instructions,
        SkillListing(writer, context, skills),
        ServerInstructions(writer, context, servers),
    )
    system = _older_system_blocks(instructions, skills) if writer.setting.is_older else []
    return Extensions(all_tools, attachments, skills, servers, skill_tool, system)


def _older_system_blocks(instructions: SessionInstructions, skills: SessionSkills) -> list[Block]:
    files, offered = instructions.load(), list_model_skills(skills.skills)
    texts = [render_instructions(files)] * bool(files) + [render_listing(offered)] * bool(offered)
    return [{"type": "text", "text": text} for text in texts]


def parse_session_options(model: Model, told: Mapping[str, Any]) -> "SessionOptions":
    """Return the manner that some words say; raises UserError for one that is none."""

    if unknown := told.keys() - {field.name for field in fields(SessionOptions)}:
        raise UserError(f"a session is not held by '{min(unknown)}'")
    return SessionOptions(model, **told)


CHECKPOINT_VARIABLE = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
TRUE_VALUES = ("1", "true", "yes", "on")
"""What Claude Code takes for true in its environment, in any case."""


def keeps_file_history(
    version: Version, entrypoint: str, environment: Mapping[str, str] | None = None
) -> bool:
    """Return whether edited files are backed up, so that a rewind can restore them.

    2.1.325 and later do so in interactive sessions; in print mode only if the environment says so.
    """
    is_requested = (environment or {}).get(CHECKPOINT_VARIABLE, "").strip().casefold()
    return entrypoint == "cli" or version != NEWEST or is_requested in TRUE_VALUES


NETWORK_TOOLS = frozenset({"WebFetch", "WebSearch"})


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a session is held: who answers, what may be done, who is asked, how far it goes."""

    model: Model
    mode: Mode = "default"
    asker: Approver | None = None
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
    def rules(self) -> PermissionRules:
        """The rules that were given, and those of settings files."""
        return load_permission_rules(self.settings, self.allowed, self.forbidden)

    @property
    def all_extra_directories(self) -> tuple[Path, ...]:
        """Further directories that were given, and those of settings files."""
        return (*self.others, *self.settings.extra_directories)

    def toolbox(self) -> Mapping[str, Tool]:
        """Return what the model can have done; the network only where that is allowed."""
        if self.tools is not None:
            return self.tools
        rules = self.rules
        return toolbox(
            without=rules.disabled_tools | (NETWORK_TOOLS - rules.named_tools), has_network=True
        )


def build_runtime(writer: SessionWriter, options: SessionOptions) -> Runtime:
    """Return all that turns of a session need."""
    root = Path(writer.setting.cwd)
    defined = load_agent_kinds(find_configuration(writer.path), root)
    pool, model = AgentPool(defined.kinds, notices=defined.notices), options.model
    tools = _add_agent_tools(options, pool, is_older=writer.setting.is_older)
    place = _build_workplace(writer, options, tools)
    place.is_hidden = options.rules.hidden_files(place)
    pool.environment = around = WorkEnvironment.detect(
        place.root, date.today(), options.all_extra_directories
    )
    system = build_system_prompt(
        around, replacement=options.system_prompt, appended=options.appended
    )
    context = LiveContext(writer)
    closed, is_given = frozenset(options.rules.disabled_tools), options.tools is not None
    settings = options.settings
    extensions = load_extensions(
        writer, context, place, settings, tools, forbidden=closed, has_own_tools=is_given
    )
    tools = extensions.tools
    requests = RequestBuilder(context, writer.setting.model, system + extensions.system)
    past = ToolStateRestorer(context, writer.path, place, is_pending=writer.tip is not None)
    definitions = [tool.definition for tool in tools.values()]
    hooks, permissions = _build_permissions(writer, place, options, tools)
    compactor = SessionCompactor(writer, requests, model, tools=definitions)
    compactor.hooks = hooks
    runtime = Runtime(
        writer=writer,
        model=model,
        requests=requests,
        permissions=permissions,
        place=place,
        tools=tools,
        compactor=compactor,
        limits=options.limits,
        attachments=extensions.attachments,
        skills=extensions.skills,
        servers=extensions.servers,
        restore_tool_state=past.restore,
        agents=pool,
        hooks=hooks,
    )
    extensions.skill_tool.runtime = runtime
    return runtime


def _build_permissions(
    writer: SessionWriter, place: Workplace, options: SessionOptions, tools: Mapping[str, Tool]
) -> tuple[SessionHooks | None, SessionPermissions]:
    """Return who has a say in what is done: hooks where there are any, rules, a mode, a person."""
    book = load_hooks(options.settings)
    hooks = SessionHooks(book, writer, place, on_warning=options.note) if book.hooks else None
    rules = options.rules
    permissions = SessionPermissions(
        writer,
        place,
        options.mode,
        options.asker,
        tools,
        rules.allowed,
        rules.forbidden,
        rules.asked,
        hooks,
        lambda texts: _save_rules(place.root, texts, options.note),
    )
    if hooks:
        hooks.mode = lambda: permissions.mode
    return hooks, permissions


def _save_rules(project: Path, rules: Sequence[str], note: Callable[[str], None]) -> None:
    """Write rules into a project's settings; where that fails, the call is done all the same."""
    try:
        save_rules(project, rules)
    except PlaitError as error:
        note(f"not kept for the next session: {error.message}")


def _add_agent_tools(
    options: SessionOptions, pool: AgentPool, *, is_older: bool
) -> Mapping[str, Tool]:
    """Return the tools of a session, and the one that sends out agents where it is allowed."""
    tools = options.toolbox()
    send = SpawnAgent(pool.kinds, "Task" if is_older else "Agent")
    if options.tools is not None or options.rules.disabled_tools & {*AGENT_TOOL_NAMES}:
        return tools
    tell = SendMessage()
    has_tell = not is_older and tell.name not in options.rules.disabled_tools
    return {send.name: send, **tools, **({tell.name: tell} if has_tell else {})}


def _build_workplace(
    writer: SessionWriter, options: SessionOptions, tools: Collection[str]
) -> Workplace:
    root = Path(writer.setting.cwd)
    environment = {**options.environment, **options.settings.environment}
    return Workplace(
        root,
        cwd=root,
        extra_directories=options.all_extra_directories,
        environment=without_secrets(environment, options.let_through),
        secrets=secret_values(environment, options.let_through),
        results_folder=writer.path.with_suffix("") / "tool-results",
        has_network=not NETWORK_TOOLS.isdisjoint(tools),
        side_query=make_side_query(
            options.model, writer.setting.model.removesuffix(LONG_CONTEXT_SUFFIX)
        ),
    )
