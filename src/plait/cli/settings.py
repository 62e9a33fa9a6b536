"""The settings, from options, environment and `config.toml`: the only place that reads these.

An option beats the environment, the environment beats the file, the file beats the default.

    $CLAUDE_CONFIG_DIR       where Claude Code keeps its logs (default ~/.claude)
    $PLAIT_ROOT              other roots, separated as in $PATH
    $PLAIT_AGENTS            the coding agents whose folders are read by default: claude,codex
    $PLAIT_CONFIG            another config.toml
    $PLAIT_CACHE_DIR         the index, which can be thrown away
    $PLAIT_DATA_DIR          kept logs, journal and backups
    $PLAIT_STATE_DIR         traces and what waits to be sent
    $PLAIT_JOBS              how many processes read at once
    $PLAIT_PAGER, $PAGER     the pager; an empty one means none
    $PLAIT_PRICES            a file of your own prices
    $PLAIT_CLAUDE            the client of Claude Code, where it is not on the path
    $PLAIT_OTLP_ENDPOINT     where `plait trace send` sends to
    $PLAIT_OTLP_HEADERS      what is sent with it, such as keys
    $LANGFUSE_PUBLIC_KEY     the keys of a Langfuse project, with $LANGFUSE_SECRET_KEY
    $LANGFUSE_BASE_URL       where Langfuse is; older names it $LANGFUSE_HOST
    $TRACE_TO_LANGFUSE       whether hooks take the target from the environment, where they may
    $CLAUDE_PROJECT_DIR      the project, which Claude Code tells its hooks
    $ANTHROPIC_API_KEY       the key that `plait chat` sends
    $ANTHROPIC_BASE_URL      where it sends to
    $ANTHROPIC_MODEL         whom it asks
    $VISUAL, $EDITOR         what long prompts are written in
    $NO_COLOR, $FORCE_COLOR  colours never, or always
    $TERM                    what the terminal can show
    $DISPLAY, $BROWSER       whether a browser can be opened, and which
    $XDG_CONFIG_HOME         where systemd looks for units of the user
    $PLAIT_LAKE              the lake that is asked where none is named
    AWS_*, AZURE_*, GOOGLE_*  who may read and write in an object store, and where that is
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from plait.errors import ConfigError

if TYPE_CHECKING:
    from plait.conversation.prices import Prices
    from plait.lake.schema import Profile
    from plait.trace.delivery import Target


T = TypeVar("T", bound=str)
Colour = Literal["auto", "always", "never"]
COLOURS: tuple[Colour, ...] = get_args(Colour)
LOCATION_VARIABLES = (
    *("CLAUDE_CONFIG_DIR", "PLAIT_ROOT", "PLAIT_CONFIG", "PLAIT_DATA_DIR", "PLAIT_CACHE_DIR"),
    *("PLAIT_STATE_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
)
CONTENTS = ("redacted", "strict", "all", "none")
MOST_JOBS = 64
PIPE_WIDTH = 100
LANGFUSE = ("public_key", "secret_key", "host")
EDITING_MODES, EDITOR = ("emacs", "vi"), "vi"
ENGINES = ("api", "claude")
SHIPPED_PROFILES: "tuple[Profile, ...]" = ("counts", "redacted")
"""The profiles that can be a setting; `full` has to be asked for each time."""
OBJECT_STORES = ("AWS_", "AZURE_", "GOOGLE_")
"""How variables for object stores begin."""
KEYS: dict[str, type] = {
    "roots": list,
    "agents": list,
    "cache_dir": str,
    "data_dir": str,
    "state_dir": str,
    "pager": str,
    "jobs": int,
    "colour": str,
    "prices": str,
    "claude": str,
    "otlp_endpoint": str,
    "otlp_headers": str,
    "langfuse_host": str,
    "langfuse_public_key": str,
    "langfuse_secret_key": str,
    "trace_content": str,
    "api_key": str,
    "base_url": str,
    "model": str,
    "permission_mode": str,
    "max_turns": int,
    "max_budget_usd": float,
    "let_through": list,
    "engine": str,
    "editing_mode": str,
    "ask_above_usd": float,
    "trim_preset": str,
    "trim_presets": dict,
    "lake": str,
    "lake_source": str,
    "lake_person": str,
    "lake_team": str,
    "lake_key": str,
    "ship_to": str,
    "ship_profile": str,
    "lake_options": list,
    "ui_keys": dict,
}
NAMES: dict[type, str] = {
    list: "a list of strings",
    dict: "a table",
    int: "a whole number above 0",
    float: "a number above 0",
    str: "a string",
}


@dataclass(frozen=True, slots=True)
class Collector:
    """Where traces go, as it was set. Headers and keys are secret."""

    otlp_endpoint: str | None = None
    otlp_headers: str | None = field(default=None, repr=False)
    langfuse_host: str | None = None
    langfuse_public_key: str | None = None
    langfuse_secret_key: str | None = field(default=None, repr=False)
    content: str = "redacted"
    """What of a conversation the hook sends: redacted, strictly redacted, all or none of it."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """Settings of `plait chat`. The key and the environment are secret."""

    api_key: str | None = field(default=None, repr=False)
    key_from: str | None = None
    """Where the key was set: a variable or a file."""
    base_url: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    let_through: tuple[str, ...] = ()
    """Variables that tools see although they look like secrets."""
    engine: str | None = None
    claude: str | None = None
    """The path of Claude Code, if set."""
    editing_mode: str = EDITING_MODES[0]
    editor: str = EDITOR
    """The editor for long prompts."""
    ask_above_usd: float = 0.5
    """The cost above which a prompt has to be confirmed."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """All variables, from which those for tools are chosen."""


@dataclass(frozen=True, slots=True)
class LakeSettings:
    """The default lake, and the labels of sessions in it. The options are secret."""

    url: str | None = None
    source: str | None = None
    person: str = ""
    team: str = ""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Addresses and keys of object stores."""
    key: Path | None = None
    """The file with the key for pseudonyms, if it is not this machine's own."""
    ship_to: str | None = None
    ship_profile: "Profile" = SHIPPED_PROFILES[0]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run, with nothing left to look up."""

    roots: tuple[Path, ...]
    is_default_root: bool
    """Whether no root was named: then it need not exist."""
    cache: Path
    data: Path
    state: Path
    pager: str | None
    colour: Colour
    directory: Path
    """The current directory."""
    jobs: int | None = None
    """How many processes read at once; None for as many as there are cores."""
    prices: Path | None = None
    """A file of the user's own prices."""
    claude: str | None = None
    """The path of Claude Code, if set."""
    collector: Collector = Collector()
    hook_collector: Collector = Collector()
    """From the file alone: a project's environment must not decide for all projects."""
    chat: ChatSettings = field(default_factory=ChatSettings)
    lake: LakeSettings = field(default_factory=LakeSettings)
    trim_preset: str | None = None
    """The default preset of `plait trim`."""
    trim_presets: Mapping[str, Any] = field(default_factory=dict)
    """The user's own presets as written; they are parsed where they are used."""
    ui_keys: Mapping[str, Any] = field(default_factory=dict)
    """Keys of `plait ui` as written, by name."""

    @property
    def index(self) -> Path:
        """The folder of the index of these roots: each set of roots has its own."""
        import hashlib

        names = "\0".join(sorted(os.path.realpath(root) for root in self.roots))
        return self.cache / "index" / hashlib.sha256(names.encode()).hexdigest()[:16]

    @property
    def store(self) -> Path:
        """The folder of the backup, of all roots."""
        return self.data / "keep"

    @property
    def stars(self) -> Path:
        """The file of starred sessions and turns."""
        return self.data / "stars.json"

    @property
    def translations(self) -> Path:
        """The folder for translated logs of other agents."""
        return self.cache / "agents"

    @property
    def unpack_folder(self) -> Path:
        """The folder that backed-up sessions are unpacked to."""
        return self.cache / "kept"


def load_settings(
    roots: Sequence[str] = (),
    colour: str | None = None,
    pager: bool = True,
    jobs: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings for one run."""
    env = os.environ if environment is None else environment
    config = _read_config(_config_path(env))
    chosen = tuple(roots) or _split_paths(env.get("PLAIT_ROOT")) or tuple(config.get("roots", ()))
    own = env.get("PLAIT_PRICES") or config.get("prices")
    named = env.get("PLAIT_CLAUDE") or config.get("claude")
    client = str(expand_user(named, env)) if named else None
    shade = colour or ("never" if env.get("NO_COLOR") else None)
    shade = shade or ("always" if env.get("FORCE_COLOR") else None)
    return Settings(
        roots=tuple(expand_user(root, env) for root in chosen) or _find_default_roots(env, config),
        is_default_root=not chosen,
        cache=_folder_for(env, config, "cache"),
        data=_folder_for(env, config, "data"),
        state=_folder_for(env, config, "state"),
        pager=_read_pager(env, config) if pager else None,
        colour=check_choice("colour", shade or config.get("colour", "auto"), COLOURS),
        directory=Path.cwd(),
        jobs=_read_jobs(jobs, env, config),
        prices=expand_user(own, env) if own else None,
        claude=client,
        collector=_read_collector(env, config),
        hook_collector=_read_collector({}, config),
        chat=_read_chat(env, config, client),
        lake=_read_lake(env, config),
        trim_preset=config.get("trim_preset"),
        trim_presets=config.get("trim_presets", {}),
        ui_keys=config.get("ui_keys", {}),
    )


def _config_path(env: Mapping[str, str]) -> Path:
    named = env.get("PLAIT_CONFIG")
    return expand_user(named, env) if named else platform_folder("config") / "config.toml"


def config_file() -> Path:
    """Return where `config.toml` lies in this run."""
    return _config_path(os.environ)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        import tomllib

        config = tomllib.loads(data.decode())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read '{path}': {error}") from error
    for key, value in config.items():
        if key not in KEYS:
            from difflib import get_close_matches

            near = get_close_matches(key, KEYS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"settings are {', '.join(KEYS)}"
            raise ConfigError(f"unknown setting '{key}' in '{path}'", hint)
        if not _is_of(KEYS[key], value):
            raise ConfigError(f"setting '{key}' in '{path}' must be {NAMES[KEYS[key]]}")
    return config


def _is_of(kind: type, value: object) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind in (str, dict):
        return isinstance(value, kind)
    is_number = isinstance(value, int if kind is int else int | float)
    return is_number and not isinstance(value, bool) and value > 0  # type: ignore[operator]


def _read_collector(env: Mapping[str, str], config: Mapping[str, Any]) -> Collector:
    endpoint, headers = env.get("PLAIT_OTLP_ENDPOINT"), env.get("PLAIT_OTLP_HEADERS")
    if not endpoint:
        endpoint, headers = config.get("otlp_endpoint"), headers or config.get("otlp_headers")
    public, secret = env.get("LANGFUSE_PUBLIC_KEY"), env.get("LANGFUSE_SECRET_KEY")
    host = env.get("LANGFUSE_BASE_URL") or env.get("LANGFUSE_HOST")
    if not (public or secret):
        public, secret, host = (config.get(f"langfuse_{name}") for name in LANGFUSE)
    content = config.get("trace_content", CONTENTS[0])
    check_choice("trace_content", content, CONTENTS)
    return Collector(endpoint, headers, host, public, secret, content)


def _read_chat(
    env: Mapping[str, str], config: Mapping[str, Any], claude: str | None
) -> ChatSettings:
    key, key_from = env.get("ANTHROPIC_API_KEY"), "ANTHROPIC_API_KEY"
    base = env.get("ANTHROPIC_BASE_URL") or config.get("base_url")
    if not key:
        # A project's environment must not send the key of the file elsewhere.
        key, key_from = config.get("api_key"), "config.toml"
        base = config.get("base_url") if key else base
    engine, mode = config.get("engine"), config.get("editing_mode", EDITING_MODES[0])
    same = ("permission_mode", "max_turns", "max_budget_usd", "ask_above_usd")
    return ChatSettings(
        api_key=key or None,
        key_from=key_from if key else None,
        base_url=base or None,
        model=env.get("ANTHROPIC_MODEL") or config.get("model") or None,
        let_through=tuple(config.get("let_through", ())),
        engine=check_choice("engine", engine, ENGINES) if engine else None,
        claude=claude,
        editing_mode=check_choice("editing_mode", mode, EDITING_MODES),
        environment=dict(env),
        editor=env.get("VISUAL") or env.get("EDITOR") or EDITOR,
        **{name: config[name] for name in same if name in config},
    )


def _read_lake(env: Mapping[str, str], config: Mapping[str, Any]) -> LakeSettings:
    key, profile = config.get("lake_key"), config.get("ship_profile", SHIPPED_PROFILES[0])
    parts = [option.partition("=") for option in config.get("lake_options", ())]
    for name, sign, _ in parts:
        if not (sign and name.startswith(OBJECT_STORES)):
            raise ConfigError(
                f"'{name}' is not an option of an object store",
                'write `lake_options = ["AWS_REGION=eu-west-1"]`',
            )
    if profile == "full":
        raise ConfigError(
            "'full' cannot be a setting: everything would be sent as it is",
            "`plait lake ship --profile full`, each time",
        )
    # Options of the file replace the environment's: it must not send sessions elsewhere.
    from_file = {name: value for name, _, value in parts}
    return LakeSettings(
        env.get("PLAIT_LAKE") or config.get("lake"),
        config.get("lake_source"),
        config.get("lake_person", ""),
        config.get("lake_team", ""),
        from_file or {name: env[name] for name in env if name.startswith(OBJECT_STORES)},
        expand_user(key, env) if key else None,
        config.get("ship_to"),
        check_choice("ship_profile", profile, SHIPPED_PROFILES),
    )


def check_choice(name: str, chosen: str, choices: Sequence[T]) -> T:
    """Return the choice that was made; fail if it is none of those that there are."""
    for choice in choices:
        if choice == chosen:
            return choice
    raise ConfigError(f"unknown {name} '{chosen}'", f"values are {', '.join(choices)}")


def plait_command(*, is_anywhere: bool = False) -> str:
    """Return the command that starts this program here, or in any directory.

    That is its name if it is on the path, else the path of the file.
    """
    from shlex import quote
    from shutil import which

    script, on_path = Path(sys.executable).with_name("plait"), which("plait")
    is_there = script.exists()
    if on_path and (not is_there or script.samefile(on_path)):
        return "plait"
    if not is_there:
        return f"{quote(sys.executable)} -m plait"
    near = os.path.relpath(script)
    return quote(str(script) if is_anywhere or near.startswith(os.pardir) else near)


def has_display() -> bool:
    """Return whether there is a screen that a browser can open on."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def terminal_kind() -> str:
    """Return what TERM says of the terminal."""
    return os.environ.get("TERM") or "unknown"


def state_folder() -> Path:
    """Return where Plait keeps its state; looks at nothing that this does not need."""
    env = os.environ
    config = {} if env.get("PLAIT_STATE_DIR") else _read_config(_config_path(env))
    return _folder_for(env, config, "state")


def home_folder() -> Path:
    """Return the user's home folder."""
    return Path.home()


def claude_config_folder() -> Path:
    """Return where Claude Code keeps its own settings."""
    return expand_user(claude_folder_setting(os.environ), os.environ)


def calling_session() -> str | None:
    """Return the session of Claude Code that has started this program, None where it says none."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID") or None


def pipe_width() -> int:
    """Return how wide output to a pipe is: COLUMNS, if it is a usable number, else 100."""
    columns = os.environ.get("COLUMNS", "")
    is_number = columns.isascii() and columns.isdigit() and len(columns) < 5
    return (int(columns) if is_number else 0) or PIPE_WIDTH


def langfuse_environment(project: Path | None) -> dict[str, str]:
    """Return the environment with the variables that Claude Code's settings have for a project."""
    from plait.trace.environment import read_environment

    return read_environment(os.environ, claude_config_folder(), project)


def hook_project(hook_input: bytes) -> Path | None:
    """Return the folder that Claude Code was started in, from the input of a hook."""
    from plait.trace.environment import find_project_folder

    return find_project_folder(os.environ, hook_input)


def systemd_folder() -> Path:
    """Return the folder of the user's systemd units."""
    return (
        expand_user(os.environ.get("XDG_CONFIG_HOME") or "~/.config", os.environ) / "systemd/user"
    )


def scheduled_environment() -> dict[str, str]:
    """Return the variables that say where sessions and backups are: a timer does not have them."""
    found = {name: _split_paths(os.environ.get(name)) for name in LOCATION_VARIABLES}
    absolute = {
        name: [str(expand_user(path, os.environ).absolute()) for path in paths]
        for name, paths in found.items()
    }
    return {name: os.pathsep.join(paths) for name, paths in absolute.items() if paths}


def _find_default_roots(env: Mapping[str, str], config: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the folders of Claude Code and of the other agents on this machine.

    Claude Code's stands alone where it is the only one, whether it exists or not.
    """
    claude = expand_user(claude_folder_setting(env), env)
    wanted = env.get("PLAIT_AGENTS")
    agents = wanted.split(",") if wanted else config.get("agents")
    home = env.get("HOME") or env.get("USERPROFILE")
    if home is None or agents == ["claude"]:
        return (claude,)
    from plait.sources.places import find_default_roots

    others = find_default_roots(env, Path(home), agents)
    is_wanted = agents is None or "claude" in agents
    return (claude, *others) if is_wanted and (claude.is_dir() or not others) else tuple(others)


def claude_folder_setting(env: Mapping[str, str]) -> str:
    """Return where Claude Code keeps its logs."""
    return env.get("CLAUDE_CONFIG_DIR") or "~/.claude"


def _split_paths(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in (text or "").split(os.pathsep) if part)


def expand_user(path: str, env: Mapping[str, str]) -> Path:
    """Return a path with `~` replaced by the home folder."""
    home = env.get("HOME")
    if home and (path == "~" or path.startswith("~/")):
        return Path(home + path[1:])
    return Path(path).expanduser()


def _folder_for(env: Mapping[str, str], config: Mapping[str, Any], kind: str) -> Path:
    named = env.get(f"PLAIT_{kind.upper()}_DIR") or config.get(f"{kind}_dir")
    return expand_user(named, env) if named else platform_folder(kind)


LINUX_FOLDERS = {
    "cache": "/.cache",
    "config": "/.config",
    "data": "/.local/share",
    "state": "/.local/state",
}
"""Where `platformdirs` comes to on Linux; to load it takes longer than to list some sessions."""


def platform_folder(kind: str) -> Path:
    """Return the platform's folder for cache, configuration, data or state."""
    named, home = os.environ.get(f"XDG_{kind.upper()}_HOME", ""), os.environ.get("HOME", "")
    is_plain = sys.platform == "linux" and "ANDROID_DATA" not in os.environ
    if is_plain and (named or home).startswith("/"):
        return Path(named or home.rstrip("/") + LINUX_FOLDERS[kind], "plait")
    import platformdirs

    folder: Path = getattr(platformdirs, f"user_{kind}_path")("plait", appauthor=False)
    return folder


def _read_pager(env: Mapping[str, str], config: Mapping[str, Any]) -> str | None:
    for choice in (env.get("PLAIT_PAGER"), config.get("pager"), env.get("PAGER")):
        if choice is not None:
            return choice or None
    return "less -FRX"


def _read_jobs(option: int | None, env: Mapping[str, str], config: Mapping[str, Any]) -> int | None:
    value = option if option is not None else env.get("PLAIT_JOBS") or config.get("jobs")
    if value is None:
        return None
    if not str(value).isascii() or not str(value).isdigit() or not 1 <= int(value) <= MOST_JOBS:
        raise ConfigError(f"'{value}' is not a number of jobs", f"from 1 to {MOST_JOBS}")
    return int(value)


def load_prices(own: Path | None) -> "Prices":
    """Return the prices in effect, with those of the user's own file."""
    from plait.conversation.prices import Prices

    if own is None:
        return Prices()
    from plait.conversation.prices.table import parse_price_file

    try:
        return Prices(parse_price_file(own.read_text(encoding="utf-8"), str(own)))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise ConfigError(f"cannot read the prices in '{own}': {reason.lower()}") from error


def trace_target(collector: "Collector") -> "Target | None":
    """Return the target of traces, None if there is none. An OTLP endpoint beats Langfuse."""
    from plait.trace.delivery import LANGFUSE_CLOUD, langfuse_target, otlp_target, parse_headers

    if collector.otlp_endpoint:
        return otlp_target(collector.otlp_endpoint, parse_headers(collector.otlp_headers or ""))
    public, secret = collector.langfuse_public_key, collector.langfuse_secret_key
    if public and secret:
        return langfuse_target(collector.langfuse_host or LANGFUSE_CLOUD, public, secret)
    if public or secret or collector.langfuse_host:
        raise ConfigError(
            "Langfuse needs two keys",
            "set `langfuse_public_key` and `langfuse_secret_key` in config.toml",
        )
    return None
