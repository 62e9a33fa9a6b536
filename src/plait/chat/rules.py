"""Permission rules such as `Bash(git log:*)`: parsing, matching, and saving new ones.

    Bash                 every command
    Bash(npm test)       that command        Bash(git log:*), Bash(git log *)   by prefix
    Read(docs/**)        files below docs    Edit(//etc/**)    files below /etc; Edit and Write alike
    WebFetch(domain:x)   pages of a host     WebFetch(domain:*.x)   of all its subdomains
    mcp__files           all tools of a server                 mcp__files__list   one of them
    Agent(Explore)       agents of a kind    Skill(review)     a skill

File patterns work as in `.gitignore`:

    //etc/**       from the root             ~/notes/*     from the home directory
    /docs/**       from the folder of the settings file that has the rule
    docs/*, .env   from the workspace; without a slash, in any folder below
"""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from plait.chat.approval import Verdict
from plait.chat.settings import FOLDER, LOCAL, ClientSettings
from plait.chat.tools.base import Proposal, Workplace
from plait.chat.tools.commands import (
    has_no_subcommands,
    is_safe_command,
    iter_denied_steps,
    iter_files_touched,
    matches_command,
    split_for_allowing,
)
from plait.errors import SourceError, UserError
from plait.line import read_regular
from plait.line.output import replace_file
from plait.record.json_text import MARK, insert_value

PIECES = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]")
WILDCARDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
MAX_PATTERN_LENGTH = 1000


def matches_pattern(pattern: str, path: str, *, ignores_case: bool = False) -> bool:
    """Return whether a path below a folder, or one of its parents, matches a pattern."""
    meant = _compile_pattern(pattern[:MAX_PATTERN_LENGTH])
    if ignores_case:
        meant, path = _compile_pattern(pattern[:MAX_PATTERN_LENGTH].casefold()), path.casefold()
    parts = path.split("/")
    return any(meant.fullmatch("/".join(parts[:end])) for end in range(len(parts), 0, -1))


@lru_cache(maxsize=512)
def _compile_pattern(pattern: str) -> "re.Pattern[str]":
    bare = pattern.rstrip("/")
    while bare.endswith("/**"):  # a pattern for the content of a folder also matches the folder
        bare = bare.removesuffix("/**")
    is_anywhere = "/" not in pattern.rstrip("/")
    inner = bare.lstrip("/") or "**"
    pieces, at = [], 0
    for found in PIECES.finditer(inner):
        piece = WILDCARDS.get(found[0])
        if piece is None:  # a character class; literal text if it is invalid
            negation = "^" if found[0][1] in "!^" else ""
            letters = found[0][1 + len(negation) : -1].replace("\\", "\\\\").replace("[", "\\[")
            try:
                re.compile(f"[{letters}]")
            except re.error:
                piece = re.escape(found[0])
            else:
                letters = letters.replace("]", "\\]").replace("^", "\\^")
                piece = f"(?!/)[{negation}{letters}]"
        pieces += [re.escape(inner[at : found.start()]), piece]
        at = found.end()
    text = "".join(pieces) + re.escape(inner[at:])
    return re.compile(f"(?:.*/)?{text}" if is_anywhere else text, re.DOTALL)


RuleSource: TypeAlias = Literal[
    "cliArg", "userSettings", "projectSettings", "localSettings", "session", "command"
]
RULE = re.compile(r"([A-Za-z_][\w-]*\*?)(?:\((.*)\))?", re.DOTALL)
WRITE_TOOLS = frozenset({"Edit", "Write", "NotebookEdit"})
READ_TOOLS = frozenset({"Read", "Glob", "Grep"})
FILE_TOOL_GROUPS = {"Edit": WRITE_TOOLS, "Read": READ_TOOLS}
"""Tools that share rules about files."""
OLD_TOOL_NAMES = {"Task": "Agent"}
"""Former names of tools."""
SUBJECTS = {"Agent": "subagent_type", "Skill": "skill", "WebSearch": "query"}
"""The argument that a rule's text is compared with."""
NAMED_PATHS = ("file_path", "notebook_path", "path")
DOMAIN: Final = "domain:"


@dataclass(frozen=True, slots=True)
class Rule:
    """A permission rule: all calls of a tool, or those that match a text."""

    tool: str
    specifier: str | None = None
    source: RuleSource = field(default="cliArg", compare=False)
    folder: Path | None = field(default=None, compare=False)
    """Where patterns with one leading slash start; the workspace by default."""

    @property
    def text(self) -> str:
        """The rule as written."""
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"

    @property
    def is_about_commands(self) -> bool:
        """Whether it is about certain shell commands."""
        return self.tool == "Bash" and self.specifier is not None

    @property
    def is_about_files(self) -> bool:
        """Whether it is about files."""
        return self.tool in FILE_TOOL_GROUPS or (
            self.tool == "Write" and self.specifier is not None
        )

    def matches_tool(self, tool: str) -> bool:
        """Return whether it applies to a tool, by name or by MCP server."""
        mine = OLD_TOOL_NAMES.get(self.tool, self.tool)
        if mine == OLD_TOOL_NAMES.get(tool, tool):
            return True
        if not mine.startswith("mcp__"):
            return False
        return tool.startswith(f"{mine.removesuffix('__*').removesuffix('*')}__")

    def matches(self, proposal: Proposal, place: Workplace, *, is_strict: bool = False) -> bool:
        """Return whether it matches a whole call; a strict rule matches in doubt."""
        if self.specifier is None:
            return self.matches_tool(proposal.tool)
        if self.tool == "Bash":
            command = str(proposal.arguments.get("command", ""))
            return proposal.tool == "Bash" and matches_command(self.specifier, command)
        if self.specifier.startswith(DOMAIN):
            host = get_host(proposal) or ""
            pattern = self.specifier.removeprefix(DOMAIN).casefold()
            return proposal.tool == self.tool and fnmatchcase(host, pattern)
        if subject := SUBJECTS.get(OLD_TOOL_NAMES.get(self.tool, self.tool)):
            text = str(proposal.arguments.get(subject, ""))
            return self.matches_tool(proposal.tool) and matches_command(self.specifier, text)
        if proposal.tool not in FILE_TOOL_GROUPS.get(self.tool, {self.tool}):
            return False
        if not is_strict:
            return bool(proposal.paths) and all(
                self.matches_file(path, place) for path in proposal.paths
            )
        named = (str(proposal.arguments.get(name) or "") for name in NAMED_PATHS)
        paths = {*proposal.paths, *(place.cwd / item for item in named if item)}
        return any(self.matches_file(path, place, is_strict=True) for path in paths)

    def matches_file(self, path: Path, place: Workplace, *, is_strict: bool = False) -> bool:
        """Return whether it applies to a file, given by its path with links resolved."""
        pattern = self.specifier
        if pattern is None:
            return True
        if pattern.startswith("//"):
            base, pattern = Path("/"), pattern[1:]
        elif pattern.startswith("~/"):
            home = place.environment.get("HOME")
            if not home:
                return False
            base, pattern = Path(home), pattern[1:]
        elif pattern.startswith("/"):
            base = self.folder or place.root
        else:
            base, pattern = place.root, pattern.removeprefix("./") if pattern != "./" else "**"
        for start in {base, base.resolve()}:
            if path.is_relative_to(start):
                inner = path.relative_to(start).as_posix()
                return matches_pattern(pattern, inner, ignores_case=is_strict)
        return False


@dataclass(frozen=True, slots=True)
class Match:
    """The rule that matched a call, and how."""

    rule: Rule
    is_by_step: bool = False
    """Whether the steps of a command were matched one by one."""


def parse_rule(text: str, source: RuleSource = "cliArg", folder: Path | None = None) -> Rule:
    """Return the rule in a text."""
    found = RULE.fullmatch(text.strip())
    if not found or found[2] == "":
        raise UserError(
            f"'{text}' is not a permission rule", "for example 'Edit' or 'Bash(git log:*)'"
        )
    is_all = found[2] is not None and found[2].strip() == "*" and found[1] not in FILE_TOOL_GROUPS
    return Rule(found[1], None if is_all else found[2], source, folder)


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules in some texts; each may have several, separated by commas or spaces."""
    parts = [""]
    for text in texts:
        depth = 0
        for letter in text:
            depth += (letter == "(") - (letter == ")")
            if depth <= 0 and (letter == "," or letter.isspace()):
                parts.append("")
            else:
                parts[-1] += letter
        parts.append("")
    return tuple(parse_rule(part) for part in parts if part.strip())


def load_rules(settings: ClientSettings, kind: Verdict) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Return the rules of settings files of one kind, and messages about invalid ones."""
    rules: list[Rule] = []
    notices: list[str] = []
    for text, file in settings.list_values("permissions", kind, is_strict=kind != "allow"):
        try:
            rules.append(parse_rule(text, file.source, file.folder))
        except UserError as error:
            notices.append(f"{error.message}: ignored in '{file.path}'")
    return tuple(rules), tuple(notices)


@dataclass(frozen=True, slots=True)
class PermissionRules:
    """All permission rules of a session."""

    allowed: tuple[Rule, ...] = ()
    asked: tuple[Rule, ...] = ()
    forbidden: tuple[Rule, ...] = ()
    notices: tuple[str, ...] = ()
    """Messages about invalid rules."""

    @property
    def named_tools(self) -> frozenset[str]:
        """Tools that allow or ask rules name."""
        return frozenset(rule.tool for rule in (*self.allowed, *self.asked))

    @property
    def disabled_tools(self) -> frozenset[str]:
        """Tools that are denied entirely: the model does not see them."""
        return frozenset(rule.tool for rule in self.forbidden if rule.specifier is None)

    def hidden_files(self, place: Workplace) -> Callable[[Path], bool] | None:
        """Return a predicate for files that must not be read or found; None if all may."""
        about = [rule for rule in self.forbidden if rule.tool == "Read" and rule.specifier]
        if not about:
            return None
        return lambda path: any(rule.matches_file(path, place, is_strict=True) for rule in about)


def load_permission_rules(
    settings: ClientSettings, allowed: Iterable[str] = (), forbidden: Iterable[str] = ()
) -> PermissionRules:
    """Return the rules of settings files and of the options."""
    kinds: tuple[Verdict, ...] = ("allow", "ask", "deny")
    allow, ask, deny = (load_rules(settings, kind) for kind in kinds)
    return PermissionRules(
        (*parse_rules(allowed), *allow[0]),
        ask[0],
        (*parse_rules(forbidden), *deny[0]),
        (*allow[1], *ask[1], *deny[1]),
    )


def find_allow_rule(
    rules: Sequence[Rule], proposal: Proposal, place: Workplace, *, may_look: bool = True
) -> Match | None:
    """Return a rule that allows a call, or None; every step of a command must be allowed."""
    for rule in rules:
        if (
            not rule.is_about_commands and (rule.tool != "Write" or rule.specifier is None)
        ) and rule.matches(proposal, place):
            return Match(rule)
    command = proposal.arguments.get("command") if proposal.tool == "Bash" else None
    if not isinstance(command, str):
        return None
    about = [rule for rule in rules if rule.is_about_commands]
    if exact := next((rule for rule in about if _is_exact(rule, command)), None):
        return Match(exact)
    named: list[Rule] = []
    for step in split_for_allowing(command):
        found = _find_command_rule(about, step)
        if found:
            named.append(found)
        elif not (may_look and is_safe_command(shlex.join(step), place)):
            return None
    return Match(named[0], is_by_step=True) if named else None


def _is_exact(rule: Rule, command: str) -> bool:
    words = rule.specifier or ""
    return command in (words, words.removesuffix(":*")) and "*" not in command


def _find_command_rule(rules: Sequence[Rule], step: list[str]) -> Rule | None:
    text = " ".join(step)
    return next((rule for rule in rules if matches_command(rule.specifier or "", text)), None)


def find_deny_rule(
    rules: Sequence[Rule], proposal: Proposal, place: Workplace, *, looks: bool = True
) -> Match | None:
    """Return a rule that denies a call or requires approval; any step of a command is enough.

    Files that must not be read must not be written either; with `strict`, a command that seems to
    touch such a file is denied too.
    """
    command = str(proposal.arguments.get("command", ""))
    for rule in rules:
        is_covered = (
            looks
            and rule.tool == "Read"
            and proposal.tool in WRITE_TOOLS
            and any(rule.matches_file(path, place, is_strict=True) for path in proposal.paths)
        )
        if is_covered or rule.matches(proposal, place, is_strict=True):
            is_by_parts = rule.is_about_commands and not _is_exact(rule, command)
            return Match(rule, is_by_step=is_by_parts and has_no_subcommands(command))
    if proposal.tool != "Bash":
        return None
    about = [rule for rule in rules if rule.is_about_commands]
    for step in iter_denied_steps(command) if about else ():
        if found := _find_command_rule(about, step):
            return Match(found, is_by_step=has_no_subcommands(command))
    about = [rule for rule in rules if rule.is_about_files and rule.specifier is not None]
    for word, is_written in iter_files_touched(command) if about and looks else ():
        path = place.cwd / word
        try:
            paths = {Path(os.path.normpath(path)), path.resolve()}
        except (OSError, ValueError):
            continue
        for rule in about:
            is_meant = is_written or rule.tool == "Read"
            if is_meant and any(rule.matches_file(item, place, is_strict=True) for item in paths):
                return Match(rule, is_by_step=has_no_subcommands(command))
    return None


def get_host(proposal: Proposal) -> str | None:
    """Return the host that a call would contact."""
    try:
        return urlsplit(str(proposal.arguments.get("url", ""))).hostname
    except ValueError:
        return None


NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:@")
MAX_SUGGESTED_RULES = 5


def suggest_rules(proposal: Proposal) -> tuple[str, ...]:
    """Return rules that would allow similar calls permanently; empty if there are none."""
    if proposal.tool == "Bash":
        command = str(proposal.arguments.get("command", ""))
        steps = split_for_allowing(command)
        if not steps or len(steps) > MAX_SUGGESTED_RULES or any(len(step) < 2 for step in steps):
            return (f"Bash({command})",) if _is_plain(command) else ()
        if all(
            (not word.startswith("-") and NAME_LETTERS.issuperset(word))
            for step in steps
            for word in step[:2]
        ):
            return tuple(dict.fromkeys(f"Bash({step[0]} {step[1]} *)" for step in steps))
        return (f"Bash({command})",) if _is_plain(command) else ()
    if proposal.tool == "WebFetch" and (host := get_host(proposal)):
        return (f"WebFetch(domain:{host})",)
    if proposal.tool.startswith("mcp__") or proposal.tool in ("WebSearch", "Skill"):
        return (proposal.tool,)
    return ()


def _is_plain(command: str) -> bool:
    """Return whether a rule with this command would match only this command."""
    return bool(command.strip()) and not any(sign in command for sign in "*\n()")


def suggest_permissions(proposal: Proposal) -> list[Mapping[str, Any]]:
    """Return the permission suggestions that hooks get with a call."""
    named = [text.removesuffix(")").partition("(") for text in suggest_rules(proposal)]
    rules = [{"toolName": tool, "ruleContent": words} for tool, _, words in named]
    if rules:
        kept = {"behavior": "allow", "destination": "localSettings"}
        return [{"type": "addRules", "rules": rules, **kept}]
    if proposal.effect == "write":
        return [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    if proposal.effect == "read" and proposal.paths:
        rules = [
            {"toolName": "Read", "ruleContent": f"/{path.parent}/**"} for path in proposal.paths
        ]
        return [{"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}]
    return []


def save_rules(project: Path, rules: Sequence[str]) -> None:
    """Add rules to a project's local settings; the rest of the file stays unchanged."""
    path = project / FOLDER / LOCAL
    try:
        text = read_regular(path).decode("utf-8")
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read '{path}': {error}") from error
    mark, exists = MARK if text.startswith(MARK) else "", bool(text)
    text = text.removeprefix(MARK)
    if not text.strip():
        new = {"permissions": {"allow": [*rules]}}
        text, rules = json.dumps(new, indent=2, ensure_ascii=False) + "\n", ()
    for rule in rules:
        try:
            settings = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"'{path}' is not JSON: {error}", "fix the file first") from error
        if not isinstance(settings, dict):
            raise UserError(f"'{path}' is not a settings file", "it must contain a JSON object")
        permissions = settings.get("permissions", {})
        allowed = permissions.get("allow", []) if isinstance(permissions, dict) else None
        if not isinstance(allowed, list):
            raise UserError(f"`permissions.allow` in '{path}' is not a list", "fix the file first")
        if rule in allowed:
            continue
        if "allow" in permissions:
            text = insert_value(text, ("permissions", "allow"), rule)
        elif "permissions" in settings:
            text = insert_value(text, ("permissions",), [rule], "allow")
        else:
            text = insert_value(text, (), {"allow": [rule]}, "permissions")
    try:
        place = path.resolve()  # a link stays a link
        mode = place.stat().st_mode & 0o777 if exists else 0o644
        replace_file(place, f"{mark}{text}".encode(), mode=mode)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot write '{path}': {reason}") from error
