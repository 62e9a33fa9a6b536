"""The settings, from options, environment and `config.toml`: the only place that reads these.

An option beats the environment, the environment beats the file, the file beats the default.
`SETTINGS` lists what the file may hold, `VARIABLES` the other variables of the environment that
are read; the guide and the template of `plait config edit` are made from both.
"""

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

from plait.errors import ConfigError
from plait.lazy import LazyModule

if TYPE_CHECKING:
    import json
    import tomllib

    from plait import redact
    from plait.conversation import prices as price_list
    from plait.conversation.prices import Prices
    from plait.conversation.prices import table as price_table
    from plait.lake.schema import Profile
    from plait.redact import Redactor, Rules
    from plait.sources import places
    from plait.trace import delivery, environment
    from plait.trace.delivery import Target
else:
    json = LazyModule("json")
    tomllib = LazyModule("tomllib")
    redact = LazyModule("plait.redact")
    price_list = LazyModule("plait.conversation.prices")
    price_table = LazyModule("plait.conversation.prices.table")
    places = LazyModule("plait.sources.places")
    delivery = LazyModule("plait.trace.delivery")
    environment = LazyModule("plait.trace.environment")


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


class Setting(NamedTuple):
    """A setting of `config.toml`."""

    kind: type
    summary: str
    """In Markdown, for the guide; links are left out elsewhere."""
    variables: str = ""
    """The variables of the environment that beat it, with the first one first."""
    choices: tuple[str, ...] = ()
    is_secret: bool = False


SETTINGS: dict[str, Setting] = {
    "roots": Setting(
        list,
        "Where the logs are; default `~/.claude`, and the folders of [other agents](agents.md)"
        " that exist.",
        "$PLAIT_ROOT $CLAUDE_CONFIG_DIR",
    ),
    "agents": Setting(
        list,
        'The agents whose folders are read by default, such as `["claude", "codex"]`;'
        " default: all.",
        "$PLAIT_AGENTS",
    ),
    "cache_dir": Setting(
        str,
        "Folder for the index, which can be deleted; each set of roots has its own.",
        "$PLAIT_CACHE_DIR",
    ),
    "data_dir": Setting(
        str, "Folder for backed-up logs, the journal and backups.", "$PLAIT_DATA_DIR"
    ),
    "state_dir": Setting(
        str,
        "Folder for unsent traces and for the key of a running server.",
        "$PLAIT_STATE_DIR",
    ),
    "pager": Setting(str, "Pager for long output; empty for none.", "$PLAIT_PAGER $PAGER"),
    "jobs": Setting(
        int,
        "Processes for reading large archives; default: one per core, at most 8.",
        "$PLAIT_JOBS",
    ),
    "colour": Setting(
        str, "Colours: `auto`, `always` or `never`.", "$NO_COLOR $FORCE_COLOR", COLOURS
    ),
    "prices": Setting(
        str, "File with your own prices for [plait usage](cost.md#plait-usage).", "$PLAIT_PRICES"
    ),
    "claude": Setting(
        str,
        "The Claude Code executable that [`--prove`](edit.md#proof) and `plait chat --engine claude` run;"
        " default: the one on your path.",
        "$PLAIT_CLAUDE",
    ),
    "otlp_endpoint": Setting(
        str,
        "OTLP collector to send [traces](trace.md#plait-trace) to, such as"
        " `http://localhost:4318`.",
        "$PLAIT_OTLP_ENDPOINT",
    ),
    "otlp_headers": Setting(
        str,
        "Headers to send with traces: `name=value,name=value`.",
        "$PLAIT_OTLP_HEADERS",
        is_secret=True,
    ),
    "langfuse_host": Setting(
        str, "URL of Langfuse; default: Langfuse Cloud.", "$LANGFUSE_BASE_URL $LANGFUSE_HOST"
    ),
    "langfuse_public_key": Setting(
        str,
        "Public key of a Langfuse project; if set, traces are sent there.",
        "$LANGFUSE_PUBLIC_KEY",
    ),
    "langfuse_secret_key": Setting(
        str, "Secret key of the Langfuse project.", "$LANGFUSE_SECRET_KEY", is_secret=True
    ),
    "trace_content": Setting(
        str,
        "Content that the [trace hooks](trace.md#send-each-turn-as-you-work) send: `redacted`,"
        " `strict` (redacted as with `--strict`), `all`, or `none` (only names, times and"
        " numbers).",
        choices=CONTENTS,
    ),
    "api_key": Setting(str, "API key for `plait chat`.", "$ANTHROPIC_API_KEY", is_secret=True),
    "base_url": Setting(str, "Base URL of the API for `plait chat`.", "$ANTHROPIC_BASE_URL"),
    "model": Setting(str, "Model for `plait chat`.", "$ANTHROPIC_MODEL"),
    "engine": Setting(
        str,
        "Run sessions of `plait chat` through the API (`api`) or the installed Claude Code"
        " (`claude`).",
        choices=ENGINES,
    ),
    "permission_mode": Setting(
        str,
        "Permission mode of `plait chat`: `default`, `acceptEdits`, `plan`,"
        " `bypassPermissions`, `dontAsk`.",
    ),
    "max_turns": Setting(int, "Maximum number of responses per prompt in `plait chat`."),
    "max_budget_usd": Setting(float, "Maximum cost of a chat session, in dollars."),
    "let_through": Setting(
        list,
        "Names of environment variables that chat tools may see although they look like secrets.",
    ),
    "editing_mode": Setting(
        str, "Keys for editing chat prompts: `emacs` (default) or `vi`.", choices=EDITING_MODES
    ),
    "ask_above_usd": Setting(
        float,
        "Ask for a second Enter if the input of a prompt costs more than this many dollars;"
        " default 0.5.",
    ),
    "trim_preset": Setting(str, "Default preset of [plait trim](trim.md#your-own-presets)."),
    "trim_presets": Setting(dict, "Your own presets, one table each."),
    "ui_keys": Setting(dict, "Keys of [`plait ui`](ui.md#keys), by name."),
    "lake": Setting(
        str,
        "Default [lake](lake.md): a folder, or an address such as `s3://logs/plait`.",
        "$PLAIT_LAKE",
    ),
    "lake_source": Setting(
        str,
        "Name of this machine's sessions in a [lake](lake.md); default: a random name, generated once.",
    ),
    "lake_person": Setting(str, "Person these sessions belong to in a lake."),
    "lake_team": Setting(str, "Team these sessions belong to in a lake."),
    "lake_key": Setting(
        str,
        "File with the key for pseudonyms in a lake with the profile `counts`; a team may"
        " share it; default: a random key, generated once.",
    ),
    "ship_to": Setting(
        str,
        "Default lake of [plait lake ship](lake.md#plait-lake-ship); without it nothing is"
        " shipped.",
    ),
    "ship_profile": Setting(
        str,
        "What is shipped: `counts` (default) or `redacted`; `full` only on the command line.",
        choices=SHIPPED_PROFILES,
    ),
    "lake_options": Setting(
        list,
        "Credentials and location of an object store for a lake; in the file, a list such as"
        ' `["AWS_REGION=eu-west-1"]`, used instead of the environment.',
        "$AWS_… $AZURE_… $GOOGLE_…",
        is_secret=True,
    ),
}
VARIABLES = {
    "$PLAIT_CONFIG": "Path of `config.toml`, if not the default one.",
    "$TRACE_TO_LANGFUSE $CC_LANGFUSE_… $CLAUDE_PROJECT_DIR": "Target of"
    " [hooks installed with `--from-environment`](trace.md#a-langfuse-project-for-each-project),"
    " and the project directory that Claude Code passes to them.",
    "$VISUAL $EDITOR": "Editor for long chat prompts and `plait config edit`; default `vi`.",
    "$TERM": "Terminal type; [plait ui](ui.md#plait-ui) does not start on `dumb`.",
    "$DISPLAY $BROWSER": "Whether [plait open](serve.md#plait-open) can open a browser, and which.",
    "$XDG_CONFIG_HOME": "Where systemd looks for user units;"
    " [plait keep --install](keep.md#plait-keep) writes its units there.",
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
    return expand_user(named, env) if named else find_platform_folder("config") / "config.toml"


def find_config_file() -> Path:
    """Return the path of `config.toml` for this run."""
    return _config_path(os.environ)


class ConfigFile(dict[str, Any]):
    """What `config.toml` holds, and where."""

    def __init__(self, path: Path, text: str = "") -> None:
        super().__init__(tomllib.loads(text))
        self.path, self.text = path, text

    def error(self, key: str, problem: str, *hints: str) -> ConfigError:
        """Return the error that a setting has a problem, with its file and line."""
        from plait.settings.file import find_line

        line = find_line(self.text, key)
        return ConfigError(f"{problem} in '{self.path}'{f', line {line}' if line else ''}", *hints)


def parse_config(path: Path, text: str) -> ConfigFile:
    """Return the settings of a file; fail if one is unknown or has a wrong value."""
    config = ConfigFile(path, text)
    for key, value in config.items():
        setting = SETTINGS.get(key)
        if setting is None:
            from difflib import get_close_matches

            near = get_close_matches(key, SETTINGS, n=1)
            hint = (
                f"did you mean '{near[0]}'?" if near else f"the settings are {', '.join(SETTINGS)}"
            )
            raise config.error(key, f"unknown setting '{key}'", hint)
        if not _is_of(setting.kind, value):
            raise config.error(key, f"setting '{key}' must be {NAMES[setting.kind]}")
        if key == "ship_profile" and value == "full":
            raise config.error(
                key,
                "'full' cannot be a setting: everything would be sent as it is",
                "use `plait lake ship --profile full` each time",
            )
        if key == "jobs" and value > MOST_JOBS:
            raise config.error(
                key,
                f"'{value}' is not a valid number of jobs",
                f"use a number from 1 to {MOST_JOBS}",
            )
        if setting.choices and value not in setting.choices:
            hint = f"choose from {', '.join(setting.choices)}"
            raise config.error(key, f"unknown {key} '{value}'", hint)
    for option in config.get("lake_options", ()):
        name, sign, _ = option.partition("=")
        if not (sign and name.startswith(OBJECT_STORES)):
            raise config.error(
                "lake_options",
                f"'{name}' is not an object store option",
                'write `lake_options = ["AWS_REGION=eu-west-1"]`',
            )
    return config


def find_editor() -> str:
    """Return the user's editor."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or EDITOR


def find_overriding_variable(key: str) -> str | None:
    """Return the variable of the environment that beats a setting of the file, if one does."""
    names = SETTINGS[key].variables.replace("$", "").split()
    return next((name for name in names if os.environ.get(name)), None)


def read_config_text(path: Path) -> str:
    """Return the text of `config.toml`, an empty one if there is no such file."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read '{path}': {error}") from error


def _read_config(path: Path) -> dict[str, Any]:
    text = read_config_text(path)
    try:
        return parse_config(path, text) if text else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read '{path}': {error}") from error


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
        # A project's environment must not redirect the file's key.
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
    # Options of the file replace the environment's, which must not redirect sessions.
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
    """Return the choice; raise UserError if it is not among the valid ones."""
    for choice in choices:
        if choice == chosen:
            return choice
    raise ConfigError(f"unknown {name} '{chosen}'", f"choose from {', '.join(choices)}")


def format_plait_command(*, is_anywhere: bool = False) -> str:
    """Return the command that starts this program here, or in any directory.

    That is its name if it is on the path, else the path of the file.
    """
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
    """Return whether there is a display for a browser."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def read_terminal_kind() -> str:
    """Return the value of TERM."""
    return os.environ.get("TERM") or "unknown"


def read_state_folder() -> Path:
    """Return the folder of Plait's state, without loading more than necessary."""
    env = os.environ
    config = {} if env.get("PLAIT_STATE_DIR") else _read_config(_config_path(env))
    return _folder_for(env, config, "state")


def find_home_folder() -> Path:
    """Return the user's home folder."""
    return Path.home()


def find_claude_folder() -> Path:
    """Return where Claude Code keeps its own settings."""
    return expand_user(read_claude_folder(os.environ), os.environ)


def find_calling_session() -> str | None:
    """Return the session of Claude Code that started this program; None if there is none."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID") or None


def read_pipe_width() -> int:
    """Return how wide output to a pipe is: COLUMNS, if it is a usable number, else 100."""
    columns = os.environ.get("COLUMNS", "")
    is_number = columns.isascii() and columns.isdigit() and len(columns) < 5
    return (int(columns) if is_number else 0) or PIPE_WIDTH


def read_langfuse_environment(project: Path | None) -> dict[str, str]:
    """Return the environment with the variables that Claude Code's settings have for a project."""
    return environment.read_environment(os.environ, find_claude_folder(), project)


def find_hook_project(hook_input: bytes) -> Path | None:
    """Return the folder that Claude Code was started in, from the input of a hook."""
    return environment.find_project_folder(os.environ, hook_input)


def find_systemd_folder() -> Path:
    """Return the folder of the user's systemd units."""
    return (
        expand_user(os.environ.get("XDG_CONFIG_HOME") or "~/.config", os.environ) / "systemd/user"
    )


def collect_scheduled_environment() -> dict[str, str]:
    """Return the variables for sessions and backups, which a timer does not have."""
    found = {name: _split_paths(os.environ.get(name)) for name in LOCATION_VARIABLES}
    absolute = {
        name: [str(expand_user(path, os.environ).absolute()) for path in paths]
        for name, paths in found.items()
    }
    return {name: os.pathsep.join(paths) for name, paths in absolute.items() if paths}


def _find_default_roots(env: Mapping[str, str], config: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the folders of Claude Code and of the other agents on this machine.

    Claude Code's comes first, whether it exists or not: sessions are written to it.
    """
    claude = expand_user(read_claude_folder(env), env)
    wanted = env.get("PLAIT_AGENTS")
    agents = wanted.split(",") if wanted else config.get("agents")
    home = env.get("HOME") or env.get("USERPROFILE")
    if home is None or agents == ["claude"]:
        return (claude,)
    found = places.find_default_roots(env, Path(home), agents)
    is_wanted = agents is None or "claude" in agents
    others = [root for root in found if root != claude]
    return (claude, *others) if is_wanted or not others else tuple(others)


def read_claude_folder(env: Mapping[str, str]) -> str:
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
    return expand_user(named, env) if named else find_platform_folder(kind)


LINUX_FOLDERS = {
    "cache": "/.cache",
    "config": "/.config",
    "data": "/.local/share",
    "state": "/.local/state",
}
"""The folders that `platformdirs` returns on Linux; importing it takes longer than listing some
sessions.
"""


def find_platform_folder(kind: str) -> Path:
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
        raise ConfigError(
            f"'{value}' is not a valid number of jobs", f"use a number from 1 to {MOST_JOBS}"
        )
    return int(value)


def load_prices(own: Path | None) -> "Prices":
    """Return the prices in effect, with those of the user's own file."""
    if own is None:
        return price_list.Prices()
    try:
        return price_list.Prices(
            price_table.parse_price_file(own.read_text(encoding="utf-8"), str(own))
        )
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise ConfigError(f"cannot read the prices in '{own}': {reason.lower()}") from error


def load_rules(file: str | None, *, strict: bool = False) -> "Rules":
    """Return the rules of redaction, with this machine's names and those of a TOML or JSON file."""
    chosen = redact.Rules()
    if file is not None:
        path = Path(file)
        try:
            text = path.read_text(encoding="utf-8")
            table = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(f"cannot read '{path}': {error}") from error
        if not isinstance(table, dict):
            raise ConfigError(f"cannot read '{path}': it is not a table of rules")
        chosen = redact.parse_rules(table, f"'{path}'")
    return replace(redact.add_own_names(chosen, find_home_folder()), strict=strict)


def load_redactor(rules: str | None = None, *, strict: bool = False) -> "Redactor":
    """Return a redactor with these rules."""
    return redact.Redactor(load_rules(rules, strict=strict))


def find_trace_target(collector: Collector) -> "Target | None":
    """Return the target of traces, None if there is none. An OTLP endpoint beats Langfuse."""
    if collector.otlp_endpoint:
        return delivery.otlp_target(
            collector.otlp_endpoint, delivery.parse_headers(collector.otlp_headers or "")
        )
    public, secret = collector.langfuse_public_key, collector.langfuse_secret_key
    if public and secret:
        return delivery.langfuse_target(
            collector.langfuse_host or delivery.LANGFUSE_CLOUD, public, secret
        )
    if public or secret or collector.langfuse_host:
        raise ConfigError(
            "Langfuse needs two keys",
            "set `langfuse_public_key` and `langfuse_secret_key` in config.toml",
        )
    return None
