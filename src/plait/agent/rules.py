"""Words such as `Bash(git log:*)` to rules, and what a call would do to the rule that names it.

Bash                 every command
Bash(npm test)       that command        Bash(git log:*), Bash(git log *)   those that begin so
Read(docs/**)        files below docs    Edit(//etc/**)    files below /etc; Edit and Write alike
WebFetch(domain:x)   pages of a host     WebFetch(domain:*.x)   of all below it
mcp__files           all tools of a server                 mcp__files__list   one of them
Agent(Explore)       agents of a kind    Skill(review)     a skill
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from plait.agent.command_rules import (
    allowed_steps,
    files_touched,
    forbidden_steps,
    is_plain,
    names_command,
)
from plait.agent.file_rules import is_meant
from plait.agent.harmless import is_harmless
from plait.agent.settings import ClientSettings, Sourced
from plait.agent.tools.model import Proposal, Workplace
from plait.errors import UserError

RuleSource: TypeAlias = Literal[
    "cliArg", "userSettings", "projectSettings", "localSettings", "session", "command"
]
Kind: TypeAlias = Literal["allow", "ask", "deny"]
RULE = re.compile(r"([A-Za-z_][\w-]*\*?)(?:\((.*)\))?", re.DOTALL)
CHANGING = frozenset({"Edit", "Write", "NotebookEdit"})
LOOKING = frozenset({"Read", "Glob", "Grep"})
OF_A_KIND = {"Edit": CHANGING, "Read": LOOKING}
"""Tools that a rule for one of them is for too, where it names files."""
ONE_TOOL = {"Task": "Agent"}
"""Older names of tools."""
SUBJECTS = {"Agent": "subagent_type", "Skill": "skill", "WebSearch": "query"}
"""The argument that the words of a rule are compared with."""
NAMED_PATHS = ("file_path", "notebook_path", "path")
DOMAIN: Final = "domain:"


@dataclass(frozen=True, slots=True)
class Rule:
    """Calls of a tool: all, or those that a few words describe."""

    tool: str
    words: str | None = None
    source: RuleSource = field(default="cliArg", compare=False)
    folder: Path | None = field(default=None, compare=False)
    """Where a pattern that begins with one slash begins; the workspace where nobody says."""

    @property
    def text(self) -> str:
        """How it is written."""
        return self.tool if self.words is None else f"{self.tool}({self.words})"

    @property
    def is_about_commands(self) -> bool:
        """Whether it names some commands of a shell."""
        return self.tool == "Bash" and self.words is not None

    @property
    def is_about_files(self) -> bool:
        """Whether it names some files, or all of them."""
        return self.tool in OF_A_KIND or (self.tool == "Write" and self.words is not None)

    @property
    def may_permit(self) -> bool:
        """Whether it can allow a call as a whole; of files, rules for Edit are for Write too."""
        return not self.is_about_commands and (self.tool != "Write" or self.words is None)

    def names_tool(self, tool: str) -> bool:
        """Tells whether it is for a tool, by its own name or by the server that it is of."""
        mine = ONE_TOOL.get(self.tool, self.tool)
        if mine == ONE_TOOL.get(tool, tool):
            return True
        if not mine.startswith("mcp__"):
            return False
        return tool.startswith(f"{mine.removesuffix('__*').removesuffix('*')}__")

    def names(self, proposal: Proposal, place: Workplace, *, is_strict: bool = False) -> bool:
        """Tells whether a call is one of those, as a whole; a strict one means all in doubt."""
        if self.words is None:
            return self.names_tool(proposal.tool)
        if self.tool == "Bash":
            command = str(proposal.arguments.get("command", ""))
            return proposal.tool == "Bash" and names_command(self.words, command)
        if self.words.startswith(DOMAIN):
            host = host_of(proposal) or ""
            pattern = self.words.removeprefix(DOMAIN).casefold()
            return proposal.tool == self.tool and fnmatchcase(host, pattern)
        if subject := SUBJECTS.get(ONE_TOOL.get(self.tool, self.tool)):
            told = str(proposal.arguments.get(subject, ""))
            return self.names_tool(proposal.tool) and names_command(self.words, told)
        return self._names_files(proposal, place, is_strict=is_strict)

    def _names_files(self, proposal: Proposal, place: Workplace, *, is_strict: bool) -> bool:
        if proposal.tool not in OF_A_KIND.get(self.tool, {self.tool}):
            return False
        if not is_strict:
            return bool(proposal.paths) and all(self.means(one, place) for one in proposal.paths)
        named = (str(proposal.arguments.get(name) or "") for name in NAMED_PATHS)
        paths = {*proposal.paths, *(place.cwd / one for one in named if one)}
        return any(self.means(one, place, is_strict=True) for one in paths)

    def means(self, path: Path, place: Workplace, *, is_strict: bool = False) -> bool:
        """Tells whether it is about a file."""
        if self.words is None:
            return True
        folder = self.folder or place.root
        return is_meant(path, self.words, folder, place, ignores_case=is_strict)


@dataclass(frozen=True, slots=True)
class Match:
    """The rule that names a call, and how."""

    rule: Rule
    is_by_parts: bool = False
    """Whether the steps of a command were looked at, one by one."""


def rule_of(text: str, source: RuleSource = "cliArg", folder: Path | None = None) -> Rule:
    """Returns the rule that a text says."""
    found = RULE.fullmatch(text.strip())
    if not found or found[2] == "":
        raise UserError(f"'{text}' is no rule for a tool", "such as 'Edit' or 'Bash(git log:*)'")
    is_all = found[2] is not None and found[2].strip() == "*" and found[1] not in OF_A_KIND
    return Rule(found[1], None if is_all else found[2], source, folder)


def rules_of(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Returns the rules of some texts, each with one or with several between commas or spaces."""
    return tuple(rule_of(one) for text in texts for one in _parted(text))


def _parted(text: str) -> list[str]:
    """Returns what stands between commas and spaces, those in brackets left alone."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth <= 0 and (letter == "," or letter.isspace()):
            parts.append(part)
            part = ""
        else:
            part += letter
    return [one for one in (*parts, part) if one.strip()]


def rules_in(settings: ClientSettings, kind: Kind) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Returns the rules of settings files of one kind, and what is told of those that are none."""
    rules: list[Rule] = []
    notices: list[str] = []
    for one in settings.listed("permissions", kind, is_strict=kind != "allow"):
        try:
            rules.append(_sourced(one))
        except UserError as error:
            notices.append(f"{error.message}: it is left out of '{one.file.path}'")
    return tuple(rules), tuple(notices)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """All rules that count in a session."""

    allowed: tuple[Rule, ...] = ()
    asked: tuple[Rule, ...] = ()
    forbidden: tuple[Rule, ...] = ()
    notices: tuple[str, ...] = ()
    """What is told of rules that are none."""

    @property
    def named(self) -> frozenset[str]:
        """The tools that rules allow, or have asked about: they are wanted."""
        return frozenset(rule.tool for rule in (*self.allowed, *self.asked))

    @property
    def closed(self) -> frozenset[str]:
        """The tools that are forbidden as a whole: the model does not hear of them."""
        return frozenset(rule.tool for rule in self.forbidden if rule.words is None)

    def hiding(self, place: Workplace) -> Callable[[Path], bool] | None:
        """Returns what tells which files may not be read, nor found; None where all may."""
        about = [rule for rule in self.forbidden if rule.tool == "Read" and rule.words]
        if not about:
            return None
        return lambda path: any(rule.means(path, place, is_strict=True) for rule in about)


def rule_book(
    settings: ClientSettings, allowed: Iterable[str] = (), forbidden: Iterable[str] = ()
) -> RuleBook:
    """Returns the rules of settings files, and those that were given besides."""
    kinds: tuple[Kind, ...] = ("allow", "ask", "deny")
    allow, ask, deny = (rules_in(settings, kind) for kind in kinds)
    return RuleBook(
        (*rules_of(allowed), *allow[0]),
        ask[0],
        (*rules_of(forbidden), *deny[0]),
        (*allow[1], *ask[1], *deny[1]),
    )


def _sourced(one: Sourced) -> Rule:
    return rule_of(one.value, one.file.source, one.file.folder)


def permitting(
    rules: Sequence[Rule], proposal: Proposal, place: Workplace, *, may_look: bool = True
) -> Match | None:
    """Returns a rule that allows a call, None where none does: of a command, each step."""
    for rule in rules:
        if rule.may_permit and rule.names(proposal, place):
            return Match(rule)
    command = proposal.arguments.get("command") if proposal.tool == "Bash" else None
    if not isinstance(command, str):
        return None
    about = [rule for rule in rules if rule.is_about_commands]
    if exact := next((rule for rule in about if _is_exact(rule, command)), None):
        return Match(exact)
    named: list[Rule] = []
    for step in allowed_steps(command):
        found = _named(about, step)
        if found:
            named.append(found)
        elif not (may_look and is_harmless(shlex.join(step), place)):
            return None
    return Match(named[0], is_by_parts=True) if named else None


def _is_exact(rule: Rule, command: str) -> bool:
    words = rule.words or ""
    return command in (words, words.removesuffix(":*")) and "*" not in command


def _named(rules: Sequence[Rule], step: list[str]) -> Rule | None:
    told = " ".join(step)
    return next((rule for rule in rules if names_command(rule.words or "", told)), None)


def forbidding(
    rules: Sequence[Rule], proposal: Proposal, place: Workplace, *, looks: bool = True
) -> Match | None:
    """Returns a rule that forbids a call, or has it asked about: of a command, any step.

    What may not be read may not be written either; where it looks, a command that would touch
    such a file is forbidden as far as its words tell.
    """
    for rule in rules:
        is_covered = looks and _covers(rule, proposal, place)
        if is_covered or rule.names(proposal, place, is_strict=True):
            is_by_parts = rule.is_about_commands and not _is_exact(rule, _command(proposal))
            return Match(rule, is_by_parts=is_by_parts and is_plain(_command(proposal)))
    if proposal.tool != "Bash":
        return None
    return _of_steps(rules, _command(proposal)) or (
        _of_files(rules, _command(proposal), place) if looks else None
    )


def _command(proposal: Proposal) -> str:
    return str(proposal.arguments.get("command", ""))


def _covers(rule: Rule, proposal: Proposal, place: Workplace) -> bool:
    """Tells whether a change is of a file that may not be read."""
    is_change = rule.tool == "Read" and proposal.tool in CHANGING
    return is_change and any(rule.means(path, place, is_strict=True) for path in proposal.paths)


def _of_steps(rules: Sequence[Rule], command: str) -> Match | None:
    about = [rule for rule in rules if rule.is_about_commands]
    for step in forbidden_steps(command) if about else ():
        if rule := _named(about, step):
            return Match(rule, is_by_parts=is_plain(command))
    return None


def _of_files(rules: Sequence[Rule], command: str, place: Workplace) -> Match | None:
    about = [rule for rule in rules if rule.is_about_files and rule.words is not None]
    for word, is_written in files_touched(command) if about else ():
        path = place.cwd / word
        for rule in about:
            if (is_written or rule.tool == "Read") and _is_touched(rule, path, place):
                return Match(rule, is_by_parts=is_plain(command))
    return None


def _is_touched(rule: Rule, path: Path, place: Workplace) -> bool:
    try:
        paths = {Path(os.path.normpath(path)), path.resolve()}
    except (OSError, ValueError):
        return False
    return any(rule.means(one, place, is_strict=True) for one in paths)


def host_of(proposal: Proposal) -> str | None:
    """Returns whom a call would ask."""
    try:
        return urlsplit(str(proposal.arguments.get("url", ""))).hostname
    except ValueError:
        return None
