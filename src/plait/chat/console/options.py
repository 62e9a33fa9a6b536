"""Chat options from the command line and settings, checked."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import UUID

from plait.chat.approval import MODES, Mode
from plait.chat.claude_code import find_claude
from plait.chat.console.command import ChatArguments
from plait.chat.model_info import resolve_alias
from plait.chat.rules import parse_rules
from plait.errors import UserError
from plait.settings import ChatSettings
from plait.write.lines import NEWEST, Version

REPLAY_PREFIX, SCRIPT_PREFIX = "replay:", "script:"
EngineName: TypeAlias = Literal["api", "claude"]
DEFAULT_MODEL = "claude-opus-5-5"
INTERRUPTED_EXIT_CODE = 130


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a session starts."""

    model: str = DEFAULT_MODEL
    api_key: str | None = field(default=None, repr=False)
    key_from: str | None = None
    base_url: str | None = None
    mode: Mode = "default"
    has_mode: bool = False
    """Whether a mode was given; otherwise the client's settings decide."""
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    others: tuple[Path, ...] = ()
    max_turns: int | None = None
    max_budget_usd: float | None = None
    system_prompt: str | None = None
    appended: str = ""
    version: Version = NEWEST
    session: str | None = None
    title: str | None = None
    is_printed: bool = False
    engine: EngineName = "api"
    named_model: str | None = None
    """The model, if one was named."""

    @property
    def asks_api(self) -> bool:
        """Whether a remote API answers."""
        return not self.model.startswith((REPLAY_PREFIX, SCRIPT_PREFIX))

    @property
    def limits(self) -> dict[str, Any]:
        """Limits by option name."""
        return {"max_turns": self.max_turns, "max_budget_usd": self.max_budget_usd}


def parse_options(given: ChatArguments, settings: ChatSettings) -> ChatOptions:
    """Return the chat options from the command line and settings; the command line wins."""
    is_old = given.resume or given.is_continued
    if given.resume and given.is_continued:
        raise UserError("use either `--resume` or `--continue`, not both")
    if given.is_fork and not is_old:
        raise UserError("`--fork-session` needs a session", "add `--resume` or `--continue`")
    if given.session_id and is_old and not given.is_fork:
        raise UserError(
            "a resumed session keeps its ID", "`--fork-session` makes a copy with a new ID"
        )
    if given.at and not (given.resume and given.is_printed):
        raise UserError("`--resume-session-at` needs `-p` and `--resume`")
    if given.demo and (is_old or given.model):
        raise UserError("`--demo` cannot be combined with `--resume`, `--continue` or `--model`")
    is_stream = given.input_format == "stream-json"
    if not given.is_printed and (given.output_format != "text" or is_stream):
        raise UserError("`--output-format` and `--input-format` need print mode", "add `-p`")
    for option, is_given in (
        ("--input-format stream-json", is_stream),
        ("--include-partial-messages", given.is_partial),
    ):
        if is_given and given.output_format != "stream-json":
            raise UserError(f"`{option}` needs `--output-format stream-json`")
    for option, is_given in (
        ("--permission-prompt-tool", given.prompt_tool is not None),
        ("--replay-user-messages", given.replays),
    ):
        if is_given and not is_stream:
            raise UserError(f"`{option}` needs `--input-format stream-json`")
    parse_rules((*given.allowed, *given.denied))  # raises before anything starts
    session: str | None = None
    if given.session_id is not None:
        try:
            session = str(UUID(given.session_id))
        except ValueError:
            raise UserError(
                f"'{given.session_id}' is not a UUID",
                "omit `--session-id` to generate one",
            ) from None
    choice = ChatOptions(
        model=resolve_alias(given.model or settings.model or DEFAULT_MODEL),
        api_key=settings.api_key,
        key_from=settings.key_from,
        base_url=given.base_url or settings.base_url,
        mode=parse_mode(given.permission_mode or settings.permission_mode or "default"),
        has_mode=bool(given.permission_mode or settings.permission_mode),
        allowed=given.allowed,
        denied=given.denied,
        others=given.others,
        max_turns=given.max_turns or settings.max_turns,
        max_budget_usd=given.max_budget_usd or settings.max_budget_usd,
        system_prompt=given.system_prompt,
        appended=given.append_system_prompt or "",
        version=given.log_version or NEWEST,
        session=session,
        title=given.title,
        is_printed=given.is_printed,
        named_model=given.model or settings.model,
    )
    _check_root(choice.mode, settings)
    # the API if a key is available, else the installed client
    is_own = given.demo or not choice.asks_api
    named = given.engine or (None if is_own else settings.engine)
    if named == "claude":
        if is_own:
            raise UserError(
                "`--engine claude` cannot run a demo, a replay or a script",
                "omit `--engine claude`",
            )
        if given.log_version:
            raise UserError("Claude Code writes the log in its own format", "omit `--log-version`")
        return replace(choice, engine="claude")
    if is_own or choice.api_key:
        return choice
    may_use_claude = named is None and not given.log_version
    if may_use_claude and find_claude(settings.environment, settings.claude):
        return replace(choice, engine="claude")
    raise UserError(
        "no API key",
        "set `ANTHROPIC_API_KEY`, or `api_key` in config.toml; `--engine claude` needs none",
        "`plait chat --demo` works without a key",
    )


def apply_default_mode(
    choice: ChatOptions, name: str | None, settings: ChatSettings
) -> ChatOptions:
    """Return options with the mode of the client's settings, unless one was given."""
    if choice.has_mode or name is None:
        return choice
    mode = parse_mode(name)
    _check_root(mode, settings)
    return replace(choice, mode=mode)


def _check_root(mode: Mode, settings: ChatSettings) -> None:
    """Refuse to bypass permissions as root, as the client does."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if mode == "bypassPermissions" and is_root and settings.environment.get("IS_SANDBOX") != "1":
        raise UserError(
            "`bypassPermissions` is not allowed for root",
            "use another account, or set `IS_SANDBOX=1` in a sandbox",
        )


def parse_mode(name: str) -> Mode:
    """Return the mode with this name; raise UserError with the valid names."""
    mode = next((mode for mode in MODES if mode == name), None)
    if mode:
        return mode
    raise UserError(f"unknown permission mode '{name}'", f"available: {', '.join(MODES)}")
