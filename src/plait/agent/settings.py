"""Settings files of Claude Code to values, each with the file that says it.

    <configuration>/settings.json            userSettings      the person's own
    <project>/.claude/settings.json          projectSettings   shared with a repository
    <project>/.claude/settings.local.json    localSettings     the person's, for this project

Lists are joined; of all else the nearest file counts. What cannot be read or has the wrong form
is left out, and a notice says so. What a project's files loosen or have run counts only where the
project is trusted; what they forbid counts always.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from plait.line import read_regular
from plait.record.codec import NotAnObject, object_of

Source: TypeAlias = Literal["userSettings", "projectSettings", "localSettings"]
SETTINGS, LOCAL, FOLDER = "settings.json", "settings.local.json", ".claude"
MOST_BYTES = 4_000_000
KINDS: Mapping[type, str] = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What one file says."""

    source: Source
    path: Path
    folder: Path
    """Where paths that begin with one slash begin: the project, or the configuration folder."""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_own(self) -> bool:
        """Whether it is the person's own, whatever project they stand in."""
        return self.source == "userSettings"

    def value(self, *way: str) -> Any:
        """Returns what stands behind some names, None where nothing does."""
        found: Any = self.values
        for name in way:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value, and the file that says it."""

    value: Any
    file: SettingsFile


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What all files say, the nearest last."""

    files: tuple[SettingsFile, ...] = ()
    is_trusted: bool = True
    """Whether the project's files may loosen something, or have something run."""
    notices: tuple[str, ...] = ()
    """What a person should know: files and values that were left out."""

    @property
    def powerful(self) -> tuple[SettingsFile, ...]:
        """The files that may loosen something, or have something run."""
        return tuple(file for file in self.files if file.is_own or self.is_trusted)

    def value(self, *way: str, kind: type = object) -> Any:
        """Returns what the nearest file says that may, None where none says it in that form."""
        for file in reversed(self.powerful):
            found = file.value(*way)
            if found is not None and isinstance(found, kind):
                return found
        return None

    def listed(self, *way: str, is_strict: bool = False) -> Iterator[Sourced]:
        """Yields the texts of a list in all files; a strict one also counts without trust."""
        for file in self.files if is_strict else self.powerful:
            found = file.value(*way)
            for one in found if isinstance(found, list) else ():
                if isinstance(one, str) and one.strip():
                    yield Sourced(one, file)

    def joined(self, *way: str) -> dict[str, Any]:
        """Returns the members of an object in all files that may; the nearest counts."""
        members: dict[str, Any] = {}
        for file in self.powerful:
            found = file.value(*way)
            members |= found if isinstance(found, dict) else {}
        return members

    @property
    def environment(self) -> dict[str, str]:
        """What commands have in their environment besides."""
        told = self.joined("env")
        return {name: _spelled(value) for name, value in told.items() if _is_plain(value)}

    @property
    def directories(self) -> tuple[Path, ...]:
        """Further directories that may be worked in, those that are there."""
        named = self.listed("permissions", "additionalDirectories")
        found = (one.file.folder / one.value for one in named)
        return tuple(path for path in found if path.is_dir())


def settings_of(configuration: Path, directory: Path, *, is_trusted: bool = True) -> ClientSettings:
    """Reads the settings that count in a directory."""
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
            continue  # at home the folder of the project is the person's own
        try:
            files.append(SettingsFile(source, path, folder, _read(path)))
        except _Unreadable as error:
            files.append(SettingsFile(source, path, folder))
            notices.append(str(error))
    notices += [notice for file in files for notice in _complaints(file)]
    return ClientSettings(tuple(files), is_trusted, tuple(notices))


class _Unreadable(Exception):
    """A settings file that says nothing, and why."""


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise _Unreadable(f"settings are left out: cannot read '{path}': {reason}") from error
    if len(data) > MOST_BYTES:
        raise _Unreadable(f"settings are left out: '{path}' is too long")
    try:
        return object_of(data) if data.strip() else {}
    except NotAnObject as error:
        raise _Unreadable(f"settings are left out: '{path}' is not JSON: {error}") from error


FORMS: tuple[tuple[tuple[str, ...], type], ...] = (
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


def _complaints(file: SettingsFile) -> Iterable[str]:
    for way, kind in FORMS:
        found = file.value(*way)
        if found is not None and not isinstance(found, kind):
            yield f"`{'.'.join(way)}` in '{file.path}' is left out: it should be {KINDS[kind]}"


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
