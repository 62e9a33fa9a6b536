"""Environment and file to how `plait chat` is set: whom it asks, how far it goes, its keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plait.errors import ConfigError

EDITING_MODES = ("emacs", "vi")
ENGINES = ("api", "claude")
EDITOR = "vi"
ASK_ABOVE = 0.5


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """Whom `plait chat` asks, and how far it may go. The key and the environment are secret."""

    api_key: str | None = field(default=None, repr=False)
    key_from: str | None = None
    """Where the key comes from, as a name."""
    base_url: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    let_through: tuple[str, ...] = ()
    """Names of the environment that tools see although they look like secrets."""
    engine: str | None = None
    """Who holds the sessions, where that was said."""
    claude: str | None = None
    """Where the client of Claude Code is, where that was said."""
    editing_mode: str = EDITING_MODES[0]
    """Which keys a line is edited with."""
    editor: str = EDITOR
    """What a long prompt is written in."""
    ask_above_usd: float = ASK_ABOVE
    """Dollars above which a prompt is not sent before it was said twice."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """All of it: what tools see is chosen from it."""


def chosen_chat(
    env: Mapping[str, str], config: Mapping[str, Any], claude: str | None = None
) -> ChatSettings:
    """Return how a chat is set by an environment and a file."""
    key, key_from = env.get("ANTHROPIC_API_KEY"), "ANTHROPIC_API_KEY"
    base = env.get("ANTHROPIC_BASE_URL") or config.get("base_url")
    if not key:
        # a project's environment must not lead the key of the file elsewhere
        key, key_from = config.get("api_key"), "config.toml"
        base = config.get("base_url") if key else base
    return ChatSettings(
        api_key=key or None,
        key_from=key_from if key else None,
        base_url=base or None,
        model=env.get("ANTHROPIC_MODEL") or config.get("model") or None,
        permission_mode=config.get("permission_mode"),
        max_turns=config.get("max_turns"),
        max_budget_usd=config.get("max_budget_usd"),
        let_through=tuple(config.get("let_through", ())),
        engine=one_of("engine", config["engine"], ENGINES) if config.get("engine") else None,
        claude=claude,
        editing_mode=one_of(
            "editing_mode", config.get("editing_mode", EDITING_MODES[0]), EDITING_MODES
        ),
        ask_above_usd=config.get("ask_above_usd", ASK_ABOVE),
        editor=env.get("VISUAL") or env.get("EDITOR") or EDITOR,
        environment=dict(env),
    )


def one_of(name: str, chosen: str, among: Sequence[str]) -> str:
    """Return what was chosen, or says what can be."""
    if chosen in among:
        return chosen
    raise ConfigError(f"unknown {name} '{chosen}'", f"known are {', '.join(among)}")
