"""The interface of tools: arguments, proposals, outcomes and the workplace."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from plait.chat.skills import Expansion


Arguments: TypeAlias = Mapping[str, Any]
Effect: TypeAlias = Literal["none", "read", "write", "execute", "network"]
ProgressCallback: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Takes the data of a progress line, such as `{"type": "bash_progress", …}`."""

SECRET_PLACEHOLDER = "[secret of the environment]"
"""What stands where a secret of the environment would."""
SideQuery: TypeAlias = Callable[
    [str, Sequence[Mapping[str, Any]]], Awaitable[Sequence[Mapping[str, Any]]]
]
"""Asks the model something beside the conversation, with tools; returns the blocks it answers."""


class ToolError(Exception):
    """A call that cannot be done; the model is told why, and goes on.

    A call that is wrong in itself (`is_misuse`) is told apart from one that was tried and failed.
    """

    def __init__(self, text: str, *, is_misuse: bool = False, logged: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.is_misuse = is_misuse
        self.logged = f"Error: {text}" if logged is None else logged

    @property
    def outcome(self) -> "Outcome":
        """The result that says so."""
        text = f"<tool_use_error>{self.text}</tool_use_error>" if self.is_misuse else self.text
        return Outcome(text, self.logged, is_error=True)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a call would do, once its arguments are checked: what a person is asked about."""

    tool: str
    arguments: Arguments
    """As they will be used: checked, paths absolute."""
    effect: Effect
    title: str
    """One line for a person: the command, the path, the address."""
    paths: tuple[Path, ...] = ()
    """The files that it reads or writes, links followed."""
    before: str | None = None
    """What the file holds that it changes; None where there is none."""
    after: str | None = None
    """What it will hold."""
    is_user_modified: bool = False
    """Whether a person changed the arguments (`userModified`)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call."""

    content: str | Sequence[Mapping[str, Any]]
    """What the model is told."""
    output: Any = None
    """What the log keeps beside it: `toolUseResult`."""
    is_error: bool | None = None
    expansion: "Expansion | None" = None
    """What a skill says that was asked for: it goes along with the result."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What the line of the result says besides, by names in Python; not in the older form."""


@dataclass(frozen=True, slots=True)
class FileView:
    """What the model has seen of a file."""

    digest: bytes
    """Of the whole file as it was then."""
    is_complete: bool
    """Whether it has seen all of it."""


@dataclass(slots=True)
class Workplace:
    """Where the tools of a session work, and what they remember between calls."""

    root: Path
    """The workspace: nothing outside of it and of `others` is written."""
    cwd: Path
    """Where commands run; `cd` moves it."""
    extra_directories: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """What commands inherit, secrets already left out."""
    secrets: tuple[str, ...] = ()
    """What was left out: hidden wherever a tool comes upon it."""
    results_folder: Path | None = None
    """Where output goes that is too long for the log (`<session>/tool-results`)."""
    file_views: dict[Path, FileView] = field(default_factory=dict)
    """The files that were read or written, links followed."""
    todos: list[dict[str, Any]] = field(default_factory=list)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The list of tasks, by their numbers."""
    background: dict[str, Any] = field(default_factory=dict)
    """What runs in the background, by its id."""
    keeps_cwd: bool = True
    """Whether `cd` moves what follows."""
    scratch: Path | None = None
    """Where what runs writes to; a temporary folder where nobody says."""
    is_scratch_own: bool = False
    """Whether that folder was made here, and goes when the session is over."""
    before_change: Callable[[Path], None] = lambda path: None
    """Called before a file is changed, so that a snapshot is kept."""
    on_task_done: Callable[[Any], None] = lambda task: None
    """Called with what has ended in the background (a `Task`), so that the model is told."""
    is_hidden: Callable[[Path], bool] | None = None
    """Tells whether a file may not be read: searches pass it over."""
    has_network: bool = False
    granted_rules: tuple[str, ...] = ()
    """Rules of the command that is followed: what it may do without asking."""
    side_query: SideQuery | None = None
    """Asks the model beside the conversation, for tools that have it read or search."""

    def __post_init__(self) -> None:
        # Paths are compared with links followed, so these have to be, too.
        self.root, self.cwd = self.root.resolve(), self.cwd.resolve()
        self.extra_directories = tuple(folder.resolve() for folder in self.extra_directories)
        self.results_folder = self.results_folder.resolve() if self.results_folder else None
        self.scratch = self.scratch.resolve() if self.scratch else None

    def contains(self, path: Path) -> bool:
        """Return whether a path, links followed, lies in the workspace."""
        return any(path.is_relative_to(folder) for folder in (self.root, *self.extra_directories))

    def is_readable(self, path: Path) -> bool:
        """Return whether a path, links followed, is read without asking."""
        own = [folder for folder in (self.results_folder, self.scratch) if folder]
        return self.contains(path) or any(path.is_relative_to(folder) for folder in own)


class Tool(Protocol):
    """Something that the model can have done."""

    @property
    def name(self) -> str:
        """What the model calls it."""
        ...

    @property
    def effect(self) -> Effect:
        """What it does at most."""
        ...

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and `input_schema`, as the API wants them."""
        ...

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Check arguments and says what would be done; raises ToolError."""
        ...

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Do it. Cancelled, it leaves nothing running."""
        ...


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
    """What else its schema says, such as the items of an array."""

    @property
    def schema(self) -> dict[str, Any]:
        """The field as the API wants it."""
        text: dict[str, Any] = {"description": self.description, "type": self.kind}
        if self.choices:
            text["enum"] = [*self.choices]
        if self.default is not None:
            text["default"] = self.default
        return text | dict(self.extra)


def check_arguments(tool: str, fields: Sequence[Field], arguments: Arguments) -> dict[str, Any]:
    """Return arguments that fit the fields of a tool, defaults first; raises ToolError.

    As with the client, a number or a truth value may come as text.
    """
    if not isinstance(arguments, Mapping):
        raise _make_error(tool, [_make_type_issue([], "object", arguments)])
    checked = {
        argument.name: _coerce(argument.kind, arguments[argument.name])
        for argument in fields
        if argument.name in arguments
    }
    if issues := [*_find_issues(fields, checked), *_find_unknown(fields, arguments)]:
        raise _make_error(tool, issues)
    unsaid = {
        argument.name: argument.default for argument in fields if argument.default is not None
    }
    return unsaid | checked


def _coerce(kind: Kind, value: Any) -> Any:
    if not isinstance(value, str) or kind == "string":
        return value
    if kind == "boolean":
        return BOOLEANS.get(value, value)
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return read if _type_name(read) == {"integer": "number"}.get(kind, kind) else value


def _find_issues(fields: Sequence[Field], arguments: Arguments) -> Iterator[Issue]:
    for argument in fields:
        if argument.name not in arguments:
            if argument.is_required:
                yield _make_type_issue([argument.name], argument.kind)
        elif not _has_type(argument.kind, arguments[argument.name]):
            yield _make_type_issue([argument.name], argument.kind, arguments[argument.name])
        elif argument.choices and arguments[argument.name] not in argument.choices:
            offered = "|".join(json.dumps(choice) for choice in argument.choices)
            yield {
                "code": "invalid_value",
                "values": [*argument.choices],
                "path": [argument.name],
                "message": f"Invalid option: expected one of {offered}",
            }


def _has_type(kind: Kind, value: Any) -> bool:
    if kind == "integer":
        return _type_name(value) == "number" and value == int(value)
    return _type_name(value) == kind


def _type_name(value: Any) -> str:
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
    found = "undefined" if value is _ABSENT else _type_name(value)
    expected = {"integer": "int" if found == "number" else "number"}.get(kind, kind)
    issue: Issue = {"expected": expected}
    if expected == "int":
        issue["format"] = "safeint"
    message = f"Invalid input: expected {expected}, received {found}"
    return issue | {"code": "invalid_type", "path": path, "message": message}


def _find_unknown(fields: Sequence[Field], arguments: Arguments) -> Iterator[Issue]:
    names = [argument.name for argument in fields]
    if unknown := [str(key) for key in arguments if key not in names]:
        shown = ", ".join(json.dumps(key, ensure_ascii=False) for key in unknown)
        keys = "Unrecognized key" if len(unknown) == 1 else "Unrecognized keys"
        message = f"{keys}: {shown}"
        yield {"code": "unrecognized_keys", "keys": unknown, "path": [], "message": message}


class BuiltInTool:
    """A tool of Plait's own: a name, a description and a table of arguments.

    Subclasses say what a call would do (`propose`, or only its `title`) and do it (`run`).
    """

    name: str
    effect: ClassVar[Effect] = "none"
    description: ClassVar[str] = ""
    fields: ClassVar[tuple[Field, ...]] = ()

    @property
    def definition(self) -> Mapping[str, Any]:
        """The tool as the API wants it."""
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

    def check(self, arguments: Arguments) -> dict[str, Any]:
        """Return arguments that fit the fields, defaults filled in; raise ToolError."""
        return check_arguments(self.name, self.fields, arguments)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Check arguments and say what would be done; raise ToolError."""
        checked = self.check(arguments)
        return Proposal(self.name, checked, self.effect, self.title(checked))

    def title(self, arguments: Arguments) -> str:
        """Return the line that a person is asked about."""
        return self.name


def make_input_error(*issues: Issue) -> ToolError:
    """Return the refusal of arguments for reasons that the client tells as data."""
    text = f"InputValidationError: {json.dumps(list(issues), indent=2, ensure_ascii=False)}"
    return ToolError(text, is_misuse=True, logged=text)


def _make_error(tool: str, issues: list[Issue]) -> ToolError:
    plain = make_input_error(*issues)
    lines = [line for issue in issues for line in _describe_issue(issue)]
    if len(lines) < len(issues):
        return plain
    noun = "issue" if len(lines) == 1 else "issues"
    text = f"InputValidationError: {tool} failed due to the following {noun}:\n" + "\n".join(lines)
    return ToolError(text, is_misuse=True, logged=plain.logged)


def _describe_issue(issue: Issue) -> list[str]:
    name = ".".join(map(str, issue["path"]))
    match issue["code"]:
        case "invalid_type" if issue["message"].endswith("undefined"):
            return [f"The required parameter `{name}` is missing"]
        case "invalid_type":
            expected, found = issue["expected"], issue["message"].rpartition(" ")[2]
            return [
                f"The parameter `{name}` type is expected as `{expected}` but provided as `{found}`"
            ]
        case "unrecognized_keys":
            return [f"An unexpected parameter `{key}` was provided" for key in issue["keys"]]
        case _:
            return []
