"""An environment to what commands may know of it, and outcomes to the same without its secrets."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from plait.agent.tools.model import (
    HIDDEN,
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    Tool,
    ToolError,
    Workplace,
)

NAMED = re.compile(
    r"(?i)(?:^|_)(?:api_?keys?|auth|bearer|cert(?:ificate)?|cookies?|cred(?:ential)?s?|keys?|jwt"
    r"|pass(?:wd|word|phrase|code)?s?|pats?|pins?|private|pw|pwd_hash|salt|secrets?|signature"
    r"|tokens?|webhook)(?:_|\d*$)|(?:token|secret|password|passwd|apikey|credentials?)$|^anthropic_"
)
OPEN = frozenset(("SSH_AUTH_SOCK", "KEYBOARD", "XAUTHORITY", "ANTHROPIC_MODEL"))
"""Names that only look like a secret's."""
SHORTEST = 6
"""Letters of a secret that is told from ordinary words."""


def is_secret(name: str, value: str) -> bool:
    """Tells by its name and by what it holds whether a variable is a secret."""
    if name in OPEN or not value:
        return False
    return NAMED.search(name) is not None or _holds_secret(name, value)


def _holds_secret(name: str, value: str) -> bool:
    from plait.redact import Group, Redactor, Rules

    line = f"{name}={value}"
    groups: tuple[Group, ...] = ("secrets",)
    return Redactor(Rules().only(groups)).text(line) != line


def without_secrets(
    environment: Mapping[str, str], allowed: Collection[str] = ()
) -> dict[str, str]:
    """Returns what commands inherit: all but secrets, and those that are allowed."""
    return {
        name: value
        for name, value in environment.items()
        if name in allowed or not is_secret(name, value)
    }


def secret_values(environment: Mapping[str, str], allowed: Collection[str] = ()) -> tuple[str, ...]:
    """Returns the secrets of an environment, longest first, as they would stand in an output."""
    found = {
        value.strip()
        for name, value in environment.items()
        if name not in allowed and is_secret(name, value)
    }
    return tuple(sorted((one for one in found if len(one) >= SHORTEST), key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class Discreet:
    """A tool whose outcomes and reports hold no secret of the environment."""

    tool: Tool

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.tool.name

    @property
    def effect(self) -> Effect:
        """What the tool does at most."""
        return self.tool.effect

    @property
    def definition(self) -> Mapping[str, Any]:
        """The definition of the tool."""
        return self.tool.definition

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Proposes what the tool proposes; what it says of a refusal holds no secret."""
        try:
            return self.tool.propose(arguments, place)
        except ToolError as error:
            raise _discreet(error, place.secrets) from None

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Runs the tool, and hides secrets in what comes of it."""
        secrets = place.secrets
        if not secrets:
            return await self.tool.run(proposal, place, report)
        try:
            found = await self.tool.run(
                proposal, place, lambda data: report(without(data, secrets))
            )
        except ToolError as error:
            raise _discreet(error, secrets) from None
        content, output = without(found.content, secrets), without(found.output, secrets)
        return replace(found, content=content, output=output)


def _discreet(error: ToolError, secrets: Collection[str]) -> ToolError:
    text, logged = without(error.text, secrets), without(error.logged, secrets)
    return ToolError(text, is_misuse=error.is_misuse, logged=logged)


def without(value: Any, secrets: Collection[str]) -> Any:
    """Returns a value as JSON has it with secrets hidden in all its texts."""
    if isinstance(value, str):
        return _hidden(value, secrets)
    told = json.dumps(value, ensure_ascii=False)
    if not any(_quoted(secret) in told for secret in secrets):
        return value
    for secret in secrets:
        told = told.replace(_quoted(secret), HIDDEN)
    return json.loads(told)


def _hidden(text: str, secrets: Collection[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def _quoted(secret: str) -> str:
    return json.dumps(secret, ensure_ascii=False)[1:-1]
