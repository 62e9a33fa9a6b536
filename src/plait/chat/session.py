"""Putting a session together from its log and options, and restoring what its tools knew.

A file counts as known when the model still has all of it in context, as in Claude Code: a complete
read or write, not edited since. Lists survive compactions and rewinds, so they are rebuilt from the
whole log.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

from plait.chat.agent_kinds import AGENT_TOOL_NAMES, load_agent_kinds
from plait.chat.agents import AgentPool, SendMessage, SpawnAgent
from plait.chat.approval import Approver, Mode
from plait.chat.attachments import FileMentions, ServerInstructions, SessionAttachments
from plait.chat.compaction import SessionCompactor
from plait.chat.context import (
    LiveContext,
    RequestBuilder,
    build_system_prompt,
    describe_environment,
)
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
from plait.chat.tools import toolbox
from plait.chat.tools.base import FileView, Tool, ToolError, Workplace
from plait.chat.tools.files import BYTE_ORDER_MARK, compute_text_digest, resolve_path
from plait.chat.tools.secrets import secret_values, without_secrets
from plait.chat.tools.tasks import restore_task, restore_todos
from plait.errors import PlaitError, UserError
from plait.line import iter_lines
from plait.line.discovery import find_configuration
from plait.record import Record, iter_client_records
from plait.record.codec import as_mapping
from plait.record.types import get_content_blocks
from plait.write import SessionWriter
from plait.write.lines import NEWEST, Version

CHECKPOINT_VARIABLE = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
TRUE_VALUES = ("1", "true", "yes", "on")
"""Values of environment variables that Claude Code takes as true, in any case."""
NETWORK_TOOLS = frozenset({"WebFetch", "WebSearch"})
SIDE_QUERY_MAX_TOKENS = 8192


def keeps_file_history(
    version: Version, entrypoint: str, environment: Mapping[str, str] | None = None
) -> bool:
    """Return whether edited files are backed up, so that a rewind can restore them.

    2.1.325 and later do so in interactive sessions; in print mode only if the environment says so.
    """
    is_requested = (environment or {}).get(CHECKPOINT_VARIABLE, "").strip().casefold()
    return entrypoint == "cli" or version != NEWEST or is_requested in TRUE_VALUES


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Model, permissions, directories and limits of a session."""

    model: Model
    mode: Mode = "default"
    asker: Approver | None = None
    """Approves tool calls; without one, what would be asked about is denied."""
    allowed: tuple[str, ...] = ()
    """Tools or rules such as `Bash(git log:*)` that need no approval."""
    forbidden: tuple[str, ...] = ()
    settings: ClientSettings = field(default_factory=ClientSettings)
    """The settings files of Claude Code."""
    others: tuple[Path, ...] = ()
    """Additional directories that may be written to."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment of commands, from which secrets are removed."""
    let_through: tuple[str, ...] = ()
    """Names of secrets that commands inherit all the same."""
    limits: Limits = field(default_factory=Limits)
    system_prompt: str | None = None
    appended: str = ""
    """Text to add to the system prompt."""
    note: Callable[[str], None] = lambda text: None
    """Called with warnings that no event can carry."""
    tools: Mapping[str, Tool] | None = None
    """Tools to use in place of the built-in ones."""

    @property
    def rules(self) -> PermissionRules:
        """The rules of these options and of the settings files."""
        return load_permission_rules(self.settings, self.allowed, self.forbidden)

    def toolbox(self) -> Mapping[str, Tool]:
        """Return the tools of the session; those for the network only if a rule names them."""
        if self.tools is not None:
            return self.tools
        rules = self.rules
        return toolbox(
            without=rules.disabled_tools | (NETWORK_TOOLS - rules.named_tools), has_network=True
        )


def parse_session_options(model: Model, named: Mapping[str, Any]) -> SessionOptions:
    """Return options from keyword arguments; raise UserError for an unknown one."""
    if unknown := named.keys() - {option.name for option in fields(SessionOptions)}:
        raise UserError(f"unknown session option '{min(unknown)}'")
    return SessionOptions(model, **named)


def build_runtime(writer: SessionWriter, options: SessionOptions) -> Runtime:
    """Build everything the turns of a session need."""
    root, is_older = Path(writer.setting.cwd), writer.setting.is_older
    rules, configuration = options.rules, find_configuration(writer.path)
    extra_directories = (*options.others, *options.settings.extra_directories)
    agent_kinds, agent_notices = load_agent_kinds(configuration, root)
    tools = {**options.toolbox()}
    has_own_tools = options.tools is not None
    if not (has_own_tools or rules.disabled_tools & {*AGENT_TOOL_NAMES}):
        spawn = SpawnAgent(agent_kinds, "Task" if is_older else "Agent")
        tools = {spawn.name: spawn, **tools}
        if not is_older and SendMessage.name not in rules.disabled_tools:
            tools[SendMessage.name] = SendMessage()
    environment = {**options.environment, **options.settings.environment}
    model_name = writer.setting.model  # side queries stay with it when the model is switched

    async def side_query(question: str, tools: Sequence[Mapping[str, Any]]) -> Sequence[Block]:
        request = Request(
            model_name.removesuffix(LONG_CONTEXT_SUFFIX),
            [{"role": "user", "content": question}],
            tools=tools,
            max_tokens=SIDE_QUERY_MAX_TOKENS,
        )
        try:
            pieces = [piece async for piece in options.model.stream(request)]
        except ModelError as error:
            raise ToolError(f"The model did not answer: {error.text}") from error
        return [piece.block for piece in pieces if isinstance(piece, BlockFinished)]

    place = Workplace(
        root,
        cwd=root,
        extra_directories=extra_directories,
        environment=without_secrets(environment, options.let_through),
        secrets=secret_values(environment, options.let_through),
        results_folder=writer.path.with_suffix("") / "tool-results",
        has_network=not NETWORK_TOOLS.isdisjoint(tools),
        side_query=side_query,
    )
    place.is_hidden = rules.hidden_files(place)
    work_environment = describe_environment(place.root, date.today(), extra_directories)

    home = place.environment.get("HOME")
    scope = ProjectScope(place.root, configuration, Path(home) if home else None, place.secrets)
    context = LiveContext(writer)
    instructions, skills = SessionInstructions(writer, context, scope), SessionSkills(scope)
    # servers add their tools to this mapping once they are connected
    servers = SessionServers([], tools, place.root, place.environment)
    if not has_own_tools:
        found, notices = load_servers(
            scope, options.settings, place.environment, can_ask=not writer.is_unseen
        )
        servers = SessionServers(
            found,
            tools,
            place.root,
            place.environment,
            notices=notices,
            forbidden=rules.disabled_tools,
        )
        if list_model_skills(skills.skills) and SkillTool.name not in rules.disabled_tools:
            tools[SkillTool.name] = SkillTool(skills)

    system = build_system_prompt(
        work_environment, replacement=options.system_prompt, appended=options.appended
    )
    if is_older:  # it has no log lines for instructions and skills
        if files := instructions.load():
            system.append({"type": "text", "text": render_instructions(files)})
        if offered := list_model_skills(skills.skills):
            system.append({"type": "text", "text": render_listing(offered)})
    requests = RequestBuilder(context, writer.setting.model, system)

    hook_settings = load_hooks(options.settings)
    hooks = (
        SessionHooks(hook_settings, writer, place, on_warning=options.note)
        if hook_settings.hooks
        else None
    )

    def save_project_rules(texts: Sequence[str]) -> None:
        try:
            save_rules(place.root, texts)
        except PlaitError as error:  # the call is executed all the same
            options.note(f"rule not saved: {error.message}")

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
        save_project_rules,
    )
    if hooks:
        hooks.mode = lambda: permissions.mode
    definitions = [tool.definition for tool in tools.values()]
    return Runtime(
        writer=writer,
        model=options.model,
        requests=requests,
        permissions=permissions,
        place=place,
        tools=tools,
        compactor=SessionCompactor(writer, requests, options.model, tools=definitions, hooks=hooks),
        limits=options.limits,
        attachments=SessionAttachments(
            writer,
            instructions,
            FileMentions(writer, place),
            SkillListing(writer, context, skills),
            ServerInstructions(writer, context, servers),
        ),
        skills=skills,
        servers=servers,
        restore_tool_state=ToolStateRestorer(
            context, writer.path, place, is_pending=writer.tip is not None
        ).restore,
        agents=AgentPool(agent_kinds, environment=work_environment, notices=agent_notices),
        hooks=hooks,
    )


LIST_MARKERS = (
    *(b'"TaskCreate"', b'"TaskUpdate"', b'"TodoWrite"'),
    *(b'"task":{', b'"updatedFields"', b'"newTodos"'),
)
"""What lines about lists contain: few others have to be decoded."""
FILE_TOOLS = frozenset(("Read", "Write", "Edit", "NotebookEdit"))
LIST_TOOLS = frozenset(("TaskCreate", "TaskUpdate", "TodoWrite"))


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A logged tool call that succeeded."""

    name: str
    arguments: Mapping[str, Any]
    output: Mapping[str, Any]
    cwd: str


@dataclass(slots=True)
class ToolStateRestorer:
    """Restores what tools knew from the log of a resumed session."""

    context: LiveContext
    path: Path
    place: Workplace
    is_pending: bool
    """Whether there is something to restore."""

    def restore(self) -> None:
        """Restore known files, the to-do list and tasks, once."""
        if not self.is_pending:
            return
        self.is_pending = False
        restore_files(self.context.records, self.place)
        list_lines = (
            line
            for line in iter_lines(self.path)
            if any(marker in line.data for marker in LIST_MARKERS)
        )
        for call in _iter_finished_calls(iter_client_records(list_lines), LIST_TOOLS):
            if call.name == "TodoWrite":
                restore_todos(self.place, call.arguments)
            else:
                restore_task(self.place, call.name, call.arguments, call.output)


def restore_files(chain: Iterable[Record], place: Workplace) -> None:
    """Note the files that the model has in its context as known."""
    for call in _iter_finished_calls(chain, FILE_TOOLS):
        name = call.arguments.get("file_path") or call.arguments.get("notebook_path")
        try:
            path = resolve_path(str(Path(call.cwd) / str(name or "")), place)
        except ToolError:
            continue
        text = None
        if call.name == "Write":
            text = call.output.get("content", call.arguments.get("content"))
        elif call.name == "Read":
            file = as_mapping(call.output.get("file"))
            is_part = {"offset", "limit"} & call.arguments.keys() or file.get("startLine", 1) != 1
            if not is_part and file.get("numLines") == file.get("totalLines"):
                text = file.get("content")
        if isinstance(text, str):
            normalized = text.replace("\r\n", "\n").removeprefix(BYTE_ORDER_MARK)
            place.file_views[path] = FileView(compute_text_digest(normalized), True)
        elif call.name != "Read":
            place.file_views.pop(path, None)


def _iter_finished_calls(
    records: Iterable[Record], names: frozenset[str]
) -> Iterator[FinishedCall]:
    """Yield the successful calls of some tools, in the order of their results."""
    waiting: dict[str, Mapping[str, Any]] = {}
    for record in records:
        heads = record.block_heads if record.type in ("assistant", "user") else ()
        if any(head.type == "tool_use" and head.name in names for head in heads):
            calls = (block for block in get_content_blocks(record) if block.get("name") in names)
            waiting |= {str(call.get("id")): call for call in calls}
        elif waiting and any(head.tool_use_id in waiting for head in heads):
            for block in get_content_blocks(record):
                call = waiting.pop(str(block.get("tool_use_id")), None)
                output = record.fields.get("toolUseResult")
                if call and not block.get("is_error") and isinstance(output, Mapping):
                    arguments = as_mapping(call.get("input"))
                    yield FinishedCall(str(call["name"]), arguments, output, record.cwd or "/")
