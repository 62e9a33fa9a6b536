"""Settings files of Claude Code, and the directories that the user trusts.

    <configuration>/settings.json            userSettings      the user's own
    <project>/.claude/settings.json          projectSettings   shared with a repository
    <project>/.claude/settings.local.json    localSettings     the user's, for this project

Lists are joined; for anything else the nearest file wins. What cannot be read or has the wrong type
is left out with a notice. Hooks and environment of a project apply only where its files are active,
and permissions of the shared file only where the project is trusted; denials always apply.

Claude Code keeps trust in `.claude.json`, and a trusted directory includes everything below it.
Trust given to Plait goes to a file of its own, since the client rewrites its file while it runs.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from plait.line import read_regular
from plait.line.output import replace_file
from plait.record.codec import NotAnObject, as_mapping, decode_object, encode

Source: TypeAlias = Literal["userSettings", "projectSettings", "localSettings"]
SETTINGS, LOCAL, FOLDER = "settings.json", "settings.local.json", ".claude"
MAX_BYTES = 4_000_000
BYPASS_MODE = "bypassPermissions"
TYPE_NAMES: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "a boolean",
}


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One settings file."""

    source: Source
    path: Path
    folder: Path
    """Where paths with one leading slash start: the project or the configuration folder."""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_own(self) -> bool:
        """Whether it is the user's own, in any project."""
        return self.source == "userSettings"

    def value(self, *keys: str) -> Any:
        """Return the value at a path of keys; None if there is none."""
        found: Any = self.values
        for name in keys:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """All settings files, nearest last."""

    files: tuple[SettingsFile, ...] = ()
    is_trusted: bool = True
    """Whether the user trusts the project, so that its shared file may allow things."""
    is_active: bool = True
    """Whether the project's files may run things; in print mode they may."""
    notices: tuple[str, ...] = ()
    """Messages for the user: files and values that were left out."""

    @property
    def active_files(self) -> tuple[SettingsFile, ...]:
        """Files that may run things."""
        return tuple(file for file in self.files if file.is_own or self.is_active)

    @property
    def trusted_files(self) -> tuple[SettingsFile, ...]:
        """Files that may allow things."""
        shared = "projectSettings"
        return tuple(file for file in self.active_files if file.source != shared or self.is_trusted)

    def value(self, *keys: str, kind: type = object) -> Any:
        """Return the value in the nearest allowed file; None if none has one of that type."""
        for file in reversed(self.active_files):
            found = file.value(*keys)
            if found is not None and isinstance(found, kind):
                return found
        return None

    def list_values(
        self, *keys: str, is_strict: bool = False
    ) -> Iterator[tuple[str, SettingsFile]]:
        """Yield the items of a list with their files; `is_strict` includes untrusted files."""
        for file in self.files if is_strict else self.trusted_files:
            found = file.value(*keys)
            for item in found if isinstance(found, list) else ():
                if isinstance(item, str) and item.strip():
                    yield item, file

    def merge_objects(self, *keys: str) -> dict[str, Any]:
        """Return an object merged from all allowed files; the nearest wins."""
        members: dict[str, Any] = {}
        for file in self.active_files:
            found = file.value(*keys)
            members |= found if isinstance(found, dict) else {}
        return members

    def default_mode(self, known: Collection[str]) -> str | None:
        """Return the default mode; only the user's own files may choose to bypass permissions."""
        for file in reversed(self.active_files):
            mode = file.value("permissions", "defaultMode")
            if mode in known and (file.is_own or mode != BYPASS_MODE):
                return str(mode)
        return None

    @property
    def trust_warnings(self) -> tuple[str, ...]:
        """What the project's files would run or allow if trusted, as text."""
        lines: list[str] = []
        for file in self.files:
            if file.is_own:
                continue
            hooks, allowed = file.value("hooks"), file.value("permissions", "allow")
            for event, groups in hooks.items() if isinstance(hooks, dict) else ():
                for group in groups if isinstance(groups, list) else ():
                    inner = as_mapping(group).get("hooks")
                    for hook in inner if isinstance(inner, list) else ():
                        command = as_mapping(hook).get("command")
                        lines += [f"{event} runs: {command}"] if isinstance(command, str) else []
            if isinstance(env := file.value("env"), dict) and env:
                lines.append(f"sets environment variables: {', '.join(map(str, env))}")
            if isinstance(allowed, list) and allowed:
                lines.append(f"allows without asking: {', '.join(map(str, allowed))}")
            others = file.value("permissions", "additionalDirectories")
            if isinstance(others, list) and others:
                lines.append(f"allows access to other directories: {', '.join(map(str, others))}")
        return tuple(lines)

    @property
    def environment(self) -> dict[str, str]:
        """Additional environment variables for commands."""
        variables = self.merge_objects("env")
        return {
            name: (str(value).lower() if isinstance(value, bool) else str(value))
            for name, value in variables.items()
            if isinstance(value, str | int | float)
        }

    @property
    def extra_directories(self) -> tuple[Path, ...]:
        """Additional working directories that exist."""
        named = self.list_values("permissions", "additionalDirectories")
        found = (file.folder / name for name, file in named)
        return tuple(path for path in found if path.is_dir())


def load_settings(
    configuration: Path, directory: Path, *, is_trusted: bool = True, is_active: bool = True
) -> ClientSettings:
    """Read the settings that apply in a directory."""
    project = directory / FOLDER
    places: tuple[tuple[Source, Path, Path], ...] = (
        ("userSettings", configuration / SETTINGS, configuration),
        ("projectSettings", project / SETTINGS, directory),
        ("localSettings", project / LOCAL, directory),
    )
    files: list[SettingsFile] = []
    notices: list[str] = []
    for source, path, folder in places:
        if files and path.resolve() == files[0].path.resolve():
            continue  # in the home directory the project's folder is the user's own
        values, problem = _read(path)
        files.append(SettingsFile(source, path, folder, values))
        notices += [f"settings skipped: {problem}"] if problem else []
    for file in files:
        for way, kind in EXPECTED_TYPES:
            found = file.value(*way)
            if found is not None and not isinstance(found, kind):
                name = f"`{'.'.join(way)}` in '{file.path}'"
                notices.append(f"{name} ignored: it must be {TYPE_NAMES[kind]}")
    return ClientSettings(tuple(files), is_trusted, is_active, tuple(notices))


def _read(path: Path) -> tuple[Mapping[str, Any], str]:
    """Return the object in a file, and why it cannot be used."""
    try:
        data = read_regular(path)
        if len(data) > MAX_BYTES:
            return {}, f"'{path}' is too large"
        return (decode_object(data) if data.strip() else {}), ""
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except OSError as error:
        return {}, f"cannot read '{path}': {(error.strerror or str(error)).lower()}"
    except NotAnObject as error:
        return {}, f"'{path}' is not JSON: {error}"


EXPECTED_TYPES: tuple[tuple[tuple[str, ...], type], ...] = (
    (("permissions",), dict),
    (("permissions", "allow"), list),
    (("permissions", "ask"), list),
    (("permissions", "deny"), list),
    (("permissions", "additionalDirectories"), list),
    (("permissions", "defaultMode"), str),
    (("hooks",), dict),
    (("env",), dict),
    (("model",), str),
    (("disableAllHooks",), bool),
)


CLIENT_STATE_FILE = ".claude.json"
TRUST_KEY = "hasTrustDialogAccepted"


class TrustStore:
    """Directories trusted in the client or in Plait."""

    def __init__(self, configuration: Path, own: Path) -> None:
        self._configuration = configuration
        self._own = own

    def is_trusted(self, directory: Path) -> bool:
        """Return whether a directory is trusted."""
        place = directory.resolve()
        known = {str(path) for path in (place, *place.parents)}
        return not known.isdisjoint(self._trusted_directories())

    def _trusted_directories(self) -> Iterator[str]:
        for name, trust in _read_object(self._own).items():
            if trust is True:
                yield name
        inside = self._configuration / CLIENT_STATE_FILE
        is_usual = self._configuration.name == ".claude"
        for path in (
            (inside, self._configuration.with_name(CLIENT_STATE_FILE)) if is_usual else (inside,)
        ):
            projects = _read_object(path).get("projects")
            for name, trust in projects.items() if isinstance(projects, Mapping) else ():
                if isinstance(trust, Mapping) and trust.get(TRUST_KEY) is True:
                    yield name

    def add(self, directory: Path) -> None:
        """Trust a directory."""
        fields = {**_read_object(self._own), str(directory.resolve()): True}
        replace_file(self._own, encode(fields) + b"\n")


def _read_object(path: Path) -> Mapping[str, Any]:
    try:
        return decode_object(read_regular(path))
    except (OSError, NotAnObject):
        return {}
