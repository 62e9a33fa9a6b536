"""The interface of tools: arguments, proposals, outcomes and the workplace."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

Arguments: TypeAlias = Mapping[str, Any]
Effect: TypeAlias = Literal["none", "read", "write", "execute", "network"]
ProgressCallback: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Takes the data of a progress line, such as `{"type": "bash_progress", …}`."""

SECRET_PLACEHOLDER = "[secret from the environment]"
"""Replaces secrets of the environment in results."""
SideQuery: TypeAlias = Callable[
    [str, Sequence[Mapping[str, Any]]], Awaitable[Sequence[Mapping[str, Any]]]
]
"""Sends the model a question outside the conversation, with tools; returns the answer's blocks."""


class ToolError(Exception):
    """A tool call that failed; the model gets the text as the call's result.

    A call that is invalid (`is_misuse`) is marked differently from one that was tried.
    """

    def __init__(self, text: str, *, is_misuse: bool = False, logged: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.is_misuse = is_misuse
        self.logged = f"Error: {text}" if logged is None else logged

    @property
    def outcome(self) -> "Outcome":
        """The result of the call."""
        text = f"<tool_use_error>{self.text}</tool_use_error>" if self.is_misuse else self.text
        return Outcome(text, self.logged, is_error=True)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a call would do, with checked arguments: this is what needs permission."""

    tool: str
    arguments: Arguments
    """Checked, defaults filled in."""
    effect: Effect
    title: str
    """One line for the user: the command, the path, the URL."""
    paths: tuple[Path, ...] = ()
    """The files it reads or writes, links resolved."""
    before: str | None = None
    """The content of the file it changes; None if there is no file."""
    after: str | None = None
    """The content afterwards."""
    is_user_modified: bool = False
    """Whether the user edited the arguments (`userModified`)."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """The text that a command expands to."""

    name: str
    arguments: str
    content: str
    """The text for the model."""
    allowed: tuple[str, ...] = ()
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a call."""

    content: str | Sequence[Mapping[str, Any]]
    """What the model gets."""
    output: Any = None
    """What is logged in addition: `toolUseResult`."""
    is_error: bool | None = None
    expansion: Expansion | None = None
    """The text of a skill that was called; it is sent after the result."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the result's log line, by Python names; not in the older format."""

    @property
    def text(self) -> str:
        """The text of its content."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(block.get("text", "")) for block in self.content)


@dataclass(frozen=True, slots=True)
class FileView:
    """What the model has seen of a file."""

    digest: bytes
    """Digest of the whole file at that time."""
    is_complete: bool
    """Whether the model has seen all of it."""


@dataclass(slots=True)
class Workplace:
    """The directories, environment and state that the tools of a session share."""

    root: Path
    """The workspace: only files here and in `extra_directories` are written."""
    cwd: Path
    """Where commands run; `cd` changes it."""
    extra_directories: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """The environment of commands, without secrets."""
    secrets: tuple[str, ...] = ()
    """The values left out; they are hidden in results as well."""
    results_folder: Path | None = None
    """Where output too long for the log is saved (`<session>/tool-results`)."""
    file_views: dict[Path, FileView] = field(default_factory=dict)
    """The files read or written so far, by resolved path."""
    todos: list[dict[str, Any]] = field(default_factory=list)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The task list, by number."""
    background: dict[str, Any] = field(default_factory=dict)
    """Background tasks by ID."""
    keeps_cwd: bool = True
    """Whether `cd` in a command affects later commands."""
    scratch: Path | None = None
    """Folder for the output of running commands; a temporary one is made by default."""
    is_scratch_own: bool = False
    """Whether that folder is temporary and deleted at the end of the session."""
    before_change: Callable[[Path], None] = lambda path: None
    """Called before a file is changed, so that a snapshot is kept."""
    on_task_done: Callable[[Any], None] = lambda task: None
    """Called when a background task has ended, to notify the model."""
    is_hidden: Callable[[Path], bool] | None = None
    """Tells whether a file must not be read; searches skip it."""
    has_network: bool = False
    granted_rules: tuple[str, ...] = ()
    """Permission rules granted by the skill or command of this turn."""
    side_query: SideQuery | None = None
    """Asks the model outside the conversation; used by WebFetch and WebSearch."""

    def __post_init__(self) -> None:
        # paths are compared after resolving links, so these must be resolved too
        self.root, self.cwd = self.root.resolve(), self.cwd.resolve()
        self.extra_directories = tuple(folder.resolve() for folder in self.extra_directories)
        self.results_folder = self.results_folder.resolve() if self.results_folder else None
        self.scratch = self.scratch.resolve() if self.scratch else None

    def contains(self, path: Path) -> bool:
        """Return whether a resolved path lies in the workspace."""
        return any(path.is_relative_to(folder) for folder in (self.root, *self.extra_directories))

    def is_readable(self, path: Path) -> bool:
        """Return whether a resolved path may be read without permission."""
        own = [folder for folder in (self.results_folder, self.scratch) if folder]
        return self.contains(path) or any(path.is_relative_to(folder) for folder in own)


class Tool(Protocol):
    """A tool the model can call."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def effect(self) -> Effect:
        """The most it may do."""

    @property
    def definition(self) -> Mapping[str, Any]:
        """Name, description and `input_schema`, as the API takes them."""

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Check the arguments of a call and return what it would do; raise ToolError."""

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Execute an approved call. When cancelled, leave nothing running."""


Kind: TypeAlias = Literal["string", "number", "integer", "boolean", "array", "object"]
Issue: TypeAlias = dict[str, Any]
SCHEMA_URL = "https://json-schema.org/draft/2020-12/schema"
BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a tool."""

    name: str
    kind: Kind
    description: str
    is_required: bool = False
    choices: tuple[str, ...] = ()
    default: Any = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of its JSON schema, such as `items` of an array."""

    @property
    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        schema: dict[str, Any] = {"description": self.description, "type": self.kind}
        if self.choices:
            schema["enum"] = [*self.choices]
        if self.default is not None:
            schema["default"] = self.default
        return schema | dict(self.extra)


def check_arguments(tool: str, fields: Sequence[Field], arguments: Arguments) -> dict[str, Any]:
    """Return the arguments of a call, defaults filled in; raise ToolError if they do not fit.

    As in Claude Code, numbers, booleans and the like may come as text.
    """
    if not isinstance(arguments, Mapping):
        raise _make_error(tool, [_make_type_issue([], "object", arguments)])
    checked: dict[str, Any] = {}
    issues: list[Issue] = []
    for expected in fields:
        name = expected.name
        if name not in arguments:
            if expected.is_required:
                issues.append(_make_type_issue([name], expected.kind))
            continue
        value = checked[name] = _coerce(expected.kind, arguments[name])
        is_typed = _type_name(value) == {"integer": "number"}.get(expected.kind, expected.kind)
        if not is_typed or (expected.kind == "integer" and value != int(value)):
            issues.append(_make_type_issue([name], expected.kind, value))
        elif expected.choices and value not in expected.choices:
            offered = "|".join(json.dumps(choice) for choice in expected.choices)
            issues.append(
                {
                    "code": "invalid_value",
                    "values": [*expected.choices],
                    "path": [name],
                    "message": f"Invalid option: expected one of {offered}",
                }
            )
    names = {expected.name for expected in fields}
    if unknown := [str(key) for key in arguments if key not in names]:
        shown = ", ".join(json.dumps(key, ensure_ascii=False) for key in unknown)
        noun = "key" if len(unknown) == 1 else "keys"
        message = f"Unrecognized {noun}: {shown}"
        issues.append(
            {"code": "unrecognized_keys", "keys": unknown, "path": [], "message": message}
        )
    if issues:
        raise _make_error(tool, issues)
    defaults = {known.name: known.default for known in fields if known.default is not None}
    return defaults | checked


def _coerce(kind: Kind, value: Any) -> Any:
    """Return a value of another kind that came as text; other values as they are."""
    if not isinstance(value, str) or kind == "string":
        return value
    if kind == "boolean":
        return BOOLEANS.get(value, value)
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed if _type_name(parsed) == {"integer": "number"}.get(kind, kind) else value


def _type_name(value: Any) -> str:
    """Return the name that JavaScript validators have for the type of a JSON value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "number"
        case float():
            return "number" if value == value and abs(value) != float("inf") else "nan"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


_ABSENT = object()


def _make_type_issue(path: list[str], kind: str, value: Any = _ABSENT) -> Issue:
    received = "undefined" if value is _ABSENT else _type_name(value)
    expected = {"integer": "int" if received == "number" else "number"}.get(kind, kind)
    issue: Issue = {"expected": expected}
    if expected == "int":
        issue["format"] = "safeint"
    message = f"Invalid input: expected {expected}, received {received}"
    return issue | {"code": "invalid_type", "path": path, "message": message}


def make_input_error(*issues: Issue) -> ToolError:
    """Return the error for invalid arguments, in Claude Code's words."""
    text = f"InputValidationError: {json.dumps(list(issues), indent=2, ensure_ascii=False)}"
    return ToolError(text, is_misuse=True, logged=text)


def _make_error(tool: str, issues: list[Issue]) -> ToolError:
    """Return the error for issues, in sentences if every issue has one."""
    error = make_input_error(*issues)
    lines: list[str] = []
    for issue in issues:
        name = ".".join(map(str, issue["path"]))
        match issue["code"]:
            case "invalid_type" if issue["message"].endswith("undefined"):
                lines.append(f"The required parameter `{name}` is missing")
            case "invalid_type":
                received = issue["message"].rpartition(" ")[2]
                lines.append(
                    f"The parameter `{name}` type is expected as `{issue['expected']}` but"
                    f" provided as `{received}`"
                )
            case "unrecognized_keys":
                lines += [f"An unexpected parameter `{key}` was provided" for key in issue["keys"]]
    if len(lines) < len(issues):
        return error
    noun = "issue" if len(lines) == 1 else "issues"
    text = f"InputValidationError: {tool} failed due to the following {noun}:\n" + "\n".join(lines)
    return ToolError(text, is_misuse=True, logged=error.logged)


class BuiltInTool:
    """Base of all built-in tools: name, description and a table of arguments.

    A subclass implements `run`, and `prepare` if a proposal needs more than checked arguments and
    the title from its template.
    """

    name: str
    effect: ClassVar[Effect] = "none"
    description: ClassVar[str] = ""
    fields: ClassVar[tuple[Field, ...]] = ()
    title: ClassVar[str] = ""
    """Template of the title, such as `#{taskId}`; by default the name of the tool."""

    @property
    def definition(self) -> Mapping[str, Any]:
        """The tool as the API takes it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": {
                "$schema": SCHEMA_URL,
                "type": "object",
                "properties": {argument.name: argument.schema for argument in self.fields},
                "required": [argument.name for argument in self.fields if argument.is_required],
                "additionalProperties": False,
            },
        }

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Check the arguments of a call and return what it would do; raise ToolError."""
        checked = check_arguments(self.name, self.fields, arguments)
        title = self.title.format_map(checked) or self.name
        return self.prepare(Proposal(self.name, checked, self.effect, title), place)

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        """Return a proposal with its files and their contents; raise ToolError."""
        return proposal

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Execute an approved call."""
        raise ToolError(f"{self.name} works only within a session")
