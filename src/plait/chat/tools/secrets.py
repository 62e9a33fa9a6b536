"""Secrets of the environment: finding them, and hiding them in what tools return."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from plait.chat.tools.base import (
    SECRET_PLACEHOLDER,
    Arguments,
    Effect,
    Outcome,
    ProgressCallback,
    Proposal,
    Tool,
    ToolError,
    Workplace,
)

SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:api_?keys?|auth|bearer|cert(?:ificate)?|cookies?|cred(?:ential)?s?|keys?|jwt"
    r"|pass(?:wd|word|phrase|code)?s?|pats?|pins?|private|pw|pwd_hash|salt|secrets?|signature"
    r"|tokens?|webhook)(?:_|\d*$)|(?:token|secret|password|passwd|apikey|credentials?)$|^anthropic_"
)
NOT_SECRET = frozenset(("SSH_AUTH_SOCK", "KEYBOARD", "XAUTHORITY", "ANTHROPIC_MODEL"))
"""Names that look like those of secrets but are not."""
MIN_SECRET_LENGTH = 6
"""Length from which a secret is hidden; shorter ones are in ordinary text by chance."""


def is_secret(name: str, value: str) -> bool:
    """Return whether an environment variable is a secret, by its name and value."""
    if name in NOT_SECRET or not value:
        return False
    if SECRET_NAME.search(name):
        return True
    from plait.redact import Group, Redactor, Rules  # only for values whose name says nothing

    line = f"{name}={value}"
    groups: tuple[Group, ...] = ("secrets",)
    return Redactor(Rules().only(groups)).text(line) != line


def without_secrets(
    environment: Mapping[str, str], allowed_names: Collection[str] = ()
) -> dict[str, str]:
    """Return the environment for commands: without secrets, except for those allowed."""
    return {
        name: value
        for name, value in environment.items()
        if name in allowed_names or not is_secret(name, value)
    }


def secret_values(
    environment: Mapping[str, str], allowed_names: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the values of secrets in an environment, longest first."""
    found = {
        value.strip()
        for name, value in environment.items()
        if name not in allowed_names and is_secret(name, value)
    }
    return tuple(
        sorted((item for item in found if len(item) >= MIN_SECRET_LENGTH), key=len, reverse=True)
    )


@dataclass(frozen=True, slots=True)
class SecretHidingTool:
    """A tool whose results and progress reports have secrets of the environment hidden."""

    tool: Tool

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def effect(self) -> Effect:
        return self.tool.effect

    @property
    def definition(self) -> Mapping[str, Any]:
        return self.tool.definition

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Return the tool's proposal; hide secrets in its errors."""
        try:
            return self.tool.propose(arguments, place)
        except ToolError as error:
            raise _hide_in_error(error, place.secrets) from None

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Run the tool and hide secrets in its result."""
        secrets = place.secrets
        if not secrets:
            return await self.tool.run(proposal, place, report)
        try:
            outcome = await self.tool.run(
                proposal, place, lambda data: report(hide_secrets(data, secrets))
            )
        except ToolError as error:
            raise _hide_in_error(error, secrets) from None
        return replace(
            outcome,
            content=hide_secrets(outcome.content, secrets),
            output=hide_secrets(outcome.output, secrets),
        )


def _hide_in_error(error: ToolError, secrets: Collection[str]) -> ToolError:
    text, logged = hide_secrets(error.text, secrets), hide_secrets(error.logged, secrets)
    return ToolError(text, is_misuse=error.is_misuse, logged=logged)


def hide_secrets(value: Any, secrets: Collection[str]) -> Any:
    """Return a JSON value with secrets hidden in all its strings."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, SECRET_PLACEHOLDER)
        return value
    text = json.dumps(value, ensure_ascii=False)
    if not any(_json_quote(secret) in text for secret in secrets):
        return value
    for secret in secrets:
        text = text.replace(_json_quote(secret), SECRET_PLACEHOLDER)
    return json.loads(text)


def _json_quote(secret: str) -> str:
    return json.dumps(secret, ensure_ascii=False)[1:-1]
