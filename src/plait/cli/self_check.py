"""`plait self-check`: whether Plait can work here, and what to attach to a report."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from shutil import disk_usage, which
from typing import Literal, NamedTuple

import plait
from plait.cli import shared
from plait.cli.debug import describe_versions
from plait.cli.options import Request, command
from plait.errors import PlaitError
from plait.settings import find_config_file, find_home_folder
from plait.terminal.output import format_json, write_bytes
from plait.view.formats import format_bytes, format_count

State = Literal["ok", "note", "problem"]
DEVELOPMENT = ("all", "dev", "dist", "docs", "mutants")
"""Extras that add nothing to what Plait can do."""
LITTLE = 1 << 30
"""Bytes of free space below which an index or a backup may fail."""
TIMEOUT = 20
"""Seconds for the client to say its version."""


class Check(NamedTuple):
    """Something that was looked at: how it is, and what to do about it."""

    name: str
    state: State
    detail: str
    hint: str = ""


@command(examples="plait self-check\nplait self-check --json")
def self_check_command(request: Request, as_json: bool = shared.as_json) -> int:
    """Check versions, settings, folders, index, Claude Code and extras; change nothing.

    Attach the output to a report: your home folder is shown as `~`. The exit code is 1 if
    something does not work.
    """
    home = str(find_home_folder())
    checks = [
        check._replace(detail=check.detail.replace(home, "~"), hint=check.hint.replace(home, "~"))
        for check in check_everything(request)
    ]
    is_fine = all(check.state != "problem" for check in checks)
    if as_json:
        rows = [check._asdict() for check in checks]
        write_bytes(format_json({"ok": is_fine, "checks": rows}) + b"\n")
        return 0 if is_fine else 1
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{check.state:7}  {check.name:{width}}  {check.detail}")
        if check.hint:
            lines.append(f"{'':{width + 11}}{check.hint}")
    write_bytes(("\n".join(lines) + "\n").encode("utf-8", "replace"))
    return 0 if is_fine else 1


def check_everything(request: Request) -> Iterator[Check]:
    """Yield what is found, the basics first."""
    for line in describe_versions():
        name, _, detail = line.partition(" ")
        yield Check(name, "ok", detail)
    yield Check("installed", "ok", str(Path(plait.__file__).parent))
    yield from check_packages()
    encoding = getattr(sys.stdout, "encoding", None) or "none"
    is_unicode = encoding.lower().replace("-", "") == "utf8"
    yield Check("output", "ok" if is_unicode else "note", encoding)
    try:
        settings = request.settings
    except PlaitError as error:
        yield Check("settings", "problem", error.message, "`plait config edit` opens the file")
        return
    file = find_config_file()
    yield Check("settings", "ok", str(file) if file.exists() else f"defaults; no '{file}'")
    for name in ("cache", "data", "state"):
        yield check_folder(name, getattr(settings, name))
    for root in settings.roots:
        if not root.exists():
            state: State = "note" if settings.is_default_root else "problem"
            yield Check("root", state, f"'{root}' does not exist")
        elif not os.access(root, os.R_OK | os.X_OK):
            yield Check("root", "problem", f"'{root}' cannot be read")
        else:
            yield Check("root", "ok", str(root))
    yield from check_sessions(request)
    yield check_client(settings.claude)


def check_packages() -> Iterator[Check]:
    """Yield the versions of the packages that Plait needs, and which extras are there."""
    try:
        needed = requires("plait") or []
    except PackageNotFoundError:
        yield Check("packages", "note", "not installed as a package")
        return
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    for line in needed:
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        condition = re.search(r"extra == ['\"]([\w-]+)", line)
        wanted[condition[1] if condition else ""].append(name)
    for extra, names in sorted(wanted.items()):
        if extra in DEVELOPMENT:
            continue
        found = {}
        for name in names:
            with suppress(PackageNotFoundError):
                found[name] = version(name)
        detail = ", ".join(f"{name} {number}" for name, number in found.items())
        if not extra:  # those with a condition may be left out
            yield Check("packages", "ok", detail)
        elif len(found) < len(names):
            hint = f"`pip install 'plait[{extra}]'` adds it"
            yield Check(f"extra {extra}", "note", "not installed", hint)
        else:
            yield Check(f"extra {extra}", "ok", detail)


def check_folder(name: str, folder: Path) -> Check:
    """Return whether one of Plait's own folders can be used, and by whom."""
    place = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    if not os.access(place, os.W_OK | os.X_OK) or not place.is_dir():
        hint = f"`plait config set {name}_dir DIR` uses another one"
        return Check(name, "problem", f"'{folder}' cannot be written", hint)
    free = disk_usage(place).free
    if free < LITTLE:
        return Check(name, "note", f"{folder}, only {format_bytes(free)} free")
    if os.name == "posix" and place == folder and folder.stat().st_mode & 0o077:
        return Check(name, "note", f"{folder}, readable by other users", f"chmod 700 '{folder}'")
    return Check(name, "ok", f"{folder}, {format_bytes(free)} free")


def check_sessions(request: Request) -> Iterator[Check]:
    """Yield whether sessions, index and backup can be read."""
    try:
        archive = request.indexed_archive
        files = archive.files
        size = format_bytes(sum(file.size for file in files))
        logs = f"{format_count(len(archive.sessions), 'session')}, {size}"
        closed = [file.path for file in files if not os.access(file.path, os.R_OK)]
        if closed:
            unreadable = f"{format_count(len(closed), 'log')} cannot be read"
            yield Check("sessions", "problem", f"{logs}; {unreadable}, for example '{closed[0]}'")
        else:
            yield Check("sessions", "ok", logs)
        found = archive.index_status()
        if not found.exists and (request.settings.index / "catalogue.sqlite").exists():
            yield Check("index", "problem", "damaged", "`plait index --rebuild` repairs it")
        elif not found.exists:
            yield Check("index", "note", "none yet", "`plait index` builds it")
        else:
            changed = f", {format_count(found.changed, 'file')} changed since" * bool(found.changed)
            yield Check("index", "ok", f"{format_count(found.sessions, 'session')}{changed}")
        kept = str(request.settings.store) if request.has_store else "none"
        yield Check("backup", "ok", kept)
    except (PlaitError, OSError) as error:
        yield Check("sessions", "problem", str(error))


def check_client(named: str | None) -> Check:
    """Return which Claude Code there is."""
    path = which(named or "claude")
    if path is None:
        detail = f"'{named}' is not a program" if named else "not found"
        hint = "needed only for `plait resume --run` and `--prove`"
        return Check("claude", "problem" if named else "note", detail, hint)
    try:
        done = subprocess.run(  # noqa: S603
            [path, "--version"], capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Check("claude", "problem", f"'{path}' cannot be started: {error}")
    return Check("claude", "ok", f"{done.stdout.strip()}, {path}")
