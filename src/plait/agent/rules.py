"""Words such as `Bash(git log:*)` to rules, and what a call would do to whether one names it.

Bash                 every command
Bash(npm test)       that command        Bash(git log:*)   those that begin so
Read(docs/**)        files below docs    Edit(//etc/**)    files below /etc; Edit and Write alike
WebFetch(domain:x)   pages of a host
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from plait.agent.tools.commands import AWAY, steps
from plait.agent.tools.model import Proposal, Workplace
from plait.errors import UserError

RULE = re.compile(r"([A-Za-z_][\w-]*)(?:\((.*)\))?", re.DOTALL)
OF_A_KIND = {"Edit": frozenset({"Edit", "Write", "NotebookEdit"}), "Read": frozenset({"Read"})}
"""Tools that a rule for one of them is for too, where it names files."""
ANY = ":*"
DOMAIN = "domain:"


@dataclass(frozen=True, slots=True)
class Rule:
    """Calls of a tool: all, or those that a few words describe."""

    tool: str
    words: str | None = None

    def names(self, proposal: Proposal, place: Workplace) -> bool:
        """Tells whether a call is one of those, as a whole."""
        if self.words is None:
            return proposal.tool == self.tool
        if self.tool == "Bash":
            command = str(proposal.arguments.get("command", ""))
            return proposal.tool == "Bash" and self.names_command(command)
        if self.words.startswith(DOMAIN):
            return proposal.tool == self.tool and host_of(proposal) == self.words[len(DOMAIN) :]
        is_of_kind = proposal.tool in OF_A_KIND.get(self.tool, {self.tool})
        return is_of_kind and _are_below(proposal.paths, self.words, place)

    def names_command(self, command: str) -> bool:
        """Tells whether a command, or a step of one, is meant."""
        words = self.words or ""
        if words.endswith(ANY):
            begun = words[: -len(ANY)]
            return command == begun or command.startswith(f"{begun} ")
        return fnmatchcase(command, words) if "*" in words else command == words


def rule_of(text: str) -> Rule:
    """Returns the rule that a text says."""
    found = RULE.fullmatch(text.strip())
    if not found or found[2] == "":
        raise UserError(f"'{text}' is no rule for a tool", "such as 'Edit' or 'Bash(git log:*)'")
    return Rule(found[1], found[2])


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


def allows(rules: Sequence[Rule], proposal: Proposal, place: Workplace) -> bool:
    """Tells whether rules allow a call: of a command, each step."""
    if any(rule.names(proposal, place) for rule in rules if not _is_about_commands(rule)):
        return True
    command = proposal.arguments.get("command") if proposal.tool == "Bash" else None
    if not isinstance(command, str):
        return False
    about = [rule for rule in rules if _is_about_commands(rule)]
    if any(rule.words == command for rule in about):
        return True
    parts = [] if any(sign in command for sign in AWAY) else steps(command)
    told = [" ".join(step) for step in parts]
    return bool(told) and all(any(rule.names_command(one) for rule in about) for one in told)


def forbids(rules: Sequence[Rule], proposal: Proposal, place: Workplace) -> bool:
    """Tells whether rules forbid a call: of a command, any step that may be meant."""
    if any(rule.names(proposal, place) for rule in rules):
        return True
    command = proposal.arguments.get("command") if proposal.tool == "Bash" else None
    if not isinstance(command, str):
        return False
    about = [rule for rule in rules if _is_about_commands(rule)]
    inner = re.split(r"[;&|\n`()]|\$\(", command)
    told = [" ".join(step) for step in steps(command)] + [one.strip() for one in inner]
    return any(rule.names_command(one) for rule in about for one in told)


def host_of(proposal: Proposal) -> str | None:
    """Returns whom a call would ask."""
    try:
        return urlsplit(str(proposal.arguments.get("url", ""))).hostname
    except ValueError:
        return None


def _is_about_commands(rule: Rule) -> bool:
    return rule.tool == "Bash" and rule.words is not None


def _are_below(paths: Sequence[Path], words: str, place: Workplace) -> bool:
    if words.startswith("//"):
        pattern = words[1:]
    elif words.startswith("/"):
        pattern = f"{place.root}{words}"
    else:
        pattern = f"{place.cwd}/{words.removeprefix('./')}"
    meant = re.compile(_expression(pattern), re.DOTALL)
    return bool(paths) and all(meant.fullmatch(str(path)) for path in paths)


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(known.get(part) or re.escape(part) for part in parts)
