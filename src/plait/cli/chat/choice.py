"""Options and settings to what was chosen for a session, or to what is wrong with it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import UUID

from plait.agent.permission import Mode
from plait.agent.rules import rules_of
from plait.cli.chat_settings import ChatSettings
from plait.errors import UserError
from plait.write.order import NEWEST, Version

REPLAY, SCRIPT = "replay:", "script:"
EngineName: TypeAlias = Literal["api", "claude"]
DEFAULT_MODEL = "claude-opus-5-5"
MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a session is begun with."""

    model: str = DEFAULT_MODEL
    api_key: str | None = field(default=None, repr=False)
    key_from: str | None = None
    base_url: str | None = None
    mode: Mode = "default"
    has_mode: bool = False
    """Whether somebody chose it: settings of the client choose it else."""
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
    """The model, where somebody named one."""

    @property
    def asks_api(self) -> bool:
        """Whether somebody far away answers."""
        return not self.model.startswith((REPLAY, SCRIPT))

    @property
    def limits(self) -> dict[str, Any]:
        """How far it may go, by the names of the options."""
        return {"max_turns": self.max_turns, "max_budget_usd": self.max_budget_usd}


def chosen(asked: Mapping[str, Any], settings: ChatSettings) -> Choice:
    """Returns what options and settings come to; an option goes first."""
    _check_sessions(asked)
    _check_forms(asked)
    choice = Choice(
        model=asked["model"] or settings.model or DEFAULT_MODEL,
        api_key=settings.api_key,
        key_from=settings.key_from,
        base_url=asked["base_url"] or settings.base_url,
        mode=mode_named(asked["permission_mode"] or settings.permission_mode or "default"),
        has_mode=bool(asked["permission_mode"] or settings.permission_mode),
        allowed=_rules(asked["allowed"]),
        denied=_rules(asked["denied"]),
        others=tuple(map(Path, asked["others"])),
        max_turns=asked["max_turns"] or settings.max_turns,
        max_budget_usd=asked["max_budget_usd"] or settings.max_budget_usd,
        system_prompt=asked["system_prompt"],
        appended=asked["append_system_prompt"] or "",
        version=asked["log_version"] or NEWEST,
        session=_session_id(asked["session_id"]),
        title=asked["title"],
        is_printed=asked["is_printed"],
        named_model=asked["model"] or settings.model,
    )
    _check_power(choice.mode, settings)
    return replace(choice, engine=_engine(choice, asked, settings))


def _engine(choice: Choice, asked: Mapping[str, Any], settings: ChatSettings) -> EngineName:
    """Returns who holds the session: the API where it can be asked, else the client, if any."""
    is_own = asked["demo"] or not choice.asks_api
    named = asked["engine"] or (None if is_own else settings.engine)
    if named == "claude":
        _check_claude(choice, asked)
        return "claude"
    if is_own or choice.api_key:
        return "api"
    from plait.agent.claude.finding import found

    if named is None and not asked["log_version"] and found(settings.environment, settings.claude):
        return "claude"
    raise UserError(
        "there is no key for the API",
        "set `ANTHROPIC_API_KEY`, or `api_key` in config.toml; `--engine claude` needs none",
        "`plait chat --demo` shows it without one",
    )


def _check_claude(choice: Choice, asked: Mapping[str, Any]) -> None:
    if asked["demo"] or not choice.asks_api:
        raise UserError("Claude Code asks models of its own", "leave `--engine claude` out")
    if asked["log_version"]:
        raise UserError("Claude Code writes the log in its own form", "leave `--log-version` out")


def _check_sessions(asked: Mapping[str, Any]) -> None:
    is_old = asked["resume"] or asked["is_continued"]
    if asked["resume"] and asked["is_continued"]:
        raise UserError("say either `--resume` or `--continue`, not both")
    if asked["is_fork"] and not is_old:
        raise UserError("`--fork-session` needs a session", "add `--resume` or `--continue`")
    if asked["session_id"] and is_old and not asked["is_fork"]:
        raise UserError(
            "a session that goes on has its id already", "`--fork-session` gives it a new one"
        )
    if asked["at"] and not (asked["resume"] and asked["is_printed"]):
        raise UserError("`--resume-session-at` needs `-p` and `--resume`")
    if asked["demo"] and (is_old or asked["model"]):
        raise UserError("the demo has a session and a model of its own")


def _check_forms(asked: Mapping[str, Any]) -> None:
    is_stream = asked["input_format"] == "stream-json"
    if not asked["is_printed"] and (asked["output_format"] != "text" or is_stream):
        raise UserError("other forms than text are for programs", "add `-p`")
    if is_stream and asked["output_format"] != "stream-json":
        raise UserError(
            "`--input-format stream-json` needs `--output-format stream-json`",
        )
    if asked["prompt_tool"] and not is_stream:
        raise UserError("only a program that streams can be asked", "`--input-format stream-json`")
    if asked["is_partial"] and asked["output_format"] != "stream-json":
        raise UserError("pieces are told in a stream", "add `--output-format stream-json`")
    if asked["replays"] and not is_stream:
        raise UserError("only prompts of `--input-format stream-json` are told back")


def in_mode(choice: Choice, name: str | None, settings: ChatSettings) -> Choice:
    """Returns a choice in the mode that settings of the client say, unless somebody chose one."""
    if choice.has_mode or name is None:
        return choice
    mode = mode_named(name)
    _check_power(mode, settings)
    return replace(choice, mode=mode)


def _check_power(mode: Mode, settings: ChatSettings) -> None:
    """Refuses to do whatever is asked for with all power over a machine, as the client does."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if mode == "bypassPermissions" and is_root and settings.environment.get("IS_SANDBOX") != "1":
        raise UserError(
            "`bypassPermissions` is not for root: nobody would be asked about anything",
            "use another account, or `IS_SANDBOX=1` where nothing can come to harm",
        )


def _rules(texts: tuple[str, ...]) -> tuple[str, ...]:
    rules_of(texts)  # says what is none, before anything begins
    return texts


def mode_named(name: str) -> Mode:
    """Returns the mode of a name; says which there are."""
    for mode in MODES:
        if name == mode:
            return mode  # type: ignore[return-value]
    raise UserError(f"there is no permission mode '{name}'", f"there are {', '.join(MODES)}")


def _session_id(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return str(UUID(text))
    except ValueError:
        raise UserError(f"'{text}' is no UUID", "without `--session-id` one is made up") from None
