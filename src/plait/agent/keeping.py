"""What a person allows for good to rules in the project's own settings, its other bytes kept.

Bash(npm run *)   for `npm run build`          WebFetch(domain:example.com)
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plait.agent.command_rules import allowed_steps
from plait.agent.rules import host_of
from plait.agent.settings import FOLDER, LOCAL
from plait.agent.tools.model import Proposal
from plait.errors import SourceError, UserError
from plait.line import read_regular
from plait.line.atomic import replace_file
from plait.record.json_text import MARK, put_in

LIKE_A_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:@")
MOST_RULES = 5


def permanent_rules(proposal: Proposal) -> tuple[str, ...]:
    """Returns the rules that allow the like of a call for good; none where there are no such."""
    if proposal.tool == "Bash":
        return _of_command(str(proposal.arguments.get("command", "")))
    if proposal.tool == "WebFetch" and (host := host_of(proposal)):
        return (f"WebFetch(domain:{host})",)
    if proposal.tool.startswith("mcp__") or proposal.tool in ("WebSearch", "Skill"):
        return (proposal.tool,)
    return ()


def _of_command(command: str) -> tuple[str, ...]:
    """Returns what allows a command: the first two words of each step, or the command itself."""
    steps = allowed_steps(command)
    if not steps or len(steps) > MOST_RULES or any(len(step) < 2 for step in steps):
        return (f"Bash({command})",) if _is_plain(command) else ()
    if all(_is_name(word) for step in steps for word in step[:2]):
        return tuple(dict.fromkeys(f"Bash({step[0]} {step[1]} *)" for step in steps))
    return (f"Bash({command})",) if _is_plain(command) else ()


def _is_name(word: str) -> bool:
    return not word.startswith("-") and LIKE_A_NAME.issuperset(word)


def _is_plain(command: str) -> bool:
    """Tells whether a command as a rule means itself alone."""
    return bool(command.strip()) and not any(sign in command for sign in "*\n()")


def suggestions(proposal: Proposal) -> list[Mapping[str, Any]]:
    """Returns what hooks are told that could be allowed with a call."""
    named = [text.removesuffix(")").partition("(") for text in permanent_rules(proposal)]
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


def keep_rules(project: Path, rules: Sequence[str]) -> None:
    """Writes rules into the local settings of a project; all else in the file stays as it is."""
    path = project / FOLDER / LOCAL
    try:
        text = read_regular(path).decode("utf-8")
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read '{path}': {error}") from error
    mark = MARK if text.startswith(MARK) else ""
    after = mark + _with_rules(path, text.removeprefix(MARK), rules)
    try:
        place = path.resolve()  # a link stays a link
        mode = place.stat().st_mode & 0o777 if text else 0o644
        replace_file(place, after.encode("utf-8"), mode=mode)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot write '{path}': {reason}") from error


def _with_rules(path: Path, text: str, rules: Sequence[str]) -> str:
    if not text.strip():
        return json.dumps({"permissions": {"allow": [*rules]}}, indent=2, ensure_ascii=False) + "\n"
    for rule in rules:
        permissions = _settings(path, text).get("permissions", {})
        allowed = permissions.get("allow", []) if isinstance(permissions, dict) else None
        if not isinstance(allowed, list):
            raise UserError(f"'{path}' holds no list of what is allowed", "mend it first")
        if rule in allowed:
            continue
        if "allow" in permissions:
            text = put_in(text, ("permissions", "allow"), rule)
        elif "permissions" in _settings(path, text):
            text = put_in(text, ("permissions",), [rule], "allow")
        else:
            text = put_in(text, (), {"allow": [rule]}, "permissions")
    return text


def _settings(path: Path, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"'{path}' is not JSON: {error}", "mend it first") from error
    if not isinstance(found, dict):
        raise UserError(f"'{path}' holds no settings", "it should be a JSON object")
    return found
