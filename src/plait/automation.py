"""Commands that run automatically: by a hook of Claude Code, a systemd timer or a line of crontab.

    hook      when a session of Claude Code ends     settings.json
    systemd   every hour                             plait-keep.service, plait-keep.timer
    cron      every hour                             crontab

A change is a plan first, which is shown as a diff, and then applied.
"""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path

from plait.errors import PlaitError, UserError
from plait.keep.timers import (
    Task,
    add_to_crontab,
    build_service_unit,
    has_line,
    is_our_unit,
    remove_from_crontab,
)
from plait.line import read_small
from plait.settings import (
    Settings,
    collect_scheduled_environment,
    find_claude_folder,
    find_systemd_folder,
    load_settings,
)
from plait.trace.hook_settings import (
    KEEP_HOOKS,
    SettingsPlan,
    list_installed_hooks,
    plan_install,
    plan_uninstall,
    write_settings,
)

PROGRAMS = {"systemd": "systemctl", "cron": "crontab"}
TIMEOUT = 30


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The changes that make a command run automatically, or stop that."""

    way: str
    files: tuple[SettingsPlan, ...] = ()
    crontab: tuple[str, str] | None = None
    """Its text before and after."""
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that run before files are written."""
    after: tuple[tuple[str, ...], ...] = ()
    is_removal: bool = False
    """Whether something is removed: then failing programs are ignored."""
    timer: str | None = None

    @property
    def is_change(self) -> bool:
        """Whether anything would change."""
        changes_crontab = self.crontab is not None and self.crontab[0] != self.crontab[1]
        return any(file.is_change for file in self.files) or changes_crontab

    def diff(self) -> str:
        """Return the changes as diffs, and the commands that would run."""
        parts = [f"$ {shlex.join(command)}" for command in self.before]
        parts += [file.diff() for file in self.files if file.is_change]
        if self.crontab and self.crontab[0] != self.crontab[1]:
            old, new = (text.splitlines() for text in self.crontab)
            parts.append("\n".join(unified_diff(old, new, "crontab", "crontab", lineterm="")))
        return "\n".join([*parts, *(f"$ {shlex.join(command)}" for command in self.after)])

    def apply(self, backups: Path) -> None:
        """Make the changes, with copies of changed files in a folder; all of them or none."""

        def backup_of(path: Path) -> Path:
            return backups / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{path.name}"

        for command in self.before:
            _run(command, ignore_errors=self.is_removal)
        written: list[SettingsPlan] = []
        try:
            for file in self.files:
                if file.is_change:
                    write_settings(file, backup_of(file.path))
                    written.append(file)
            if self.crontab is not None:
                crontab, text = shutil.which("crontab") or "crontab", self.crontab[1]
                if text:
                    _run((crontab, "-"), text.encode("utf-8", "surrogateescape"))
                else:
                    _run((crontab, "-r"))
            for command in self.after:
                _run(command, ignore_errors=self.is_removal)
        except PlaitError:
            for file in reversed(written):
                original = SettingsPlan(file.path, file.after, file.before)
                write_settings(original, backup_of(file.path))
            raise
        if self.timer and self.is_removal:
            # The link that enabled the timer, and folders that are empty now.
            wants = find_systemd_folder() / "timers.target.wants"
            link = wants / self.timer
            if link.is_symlink() and not link.exists():
                link.unlink()
            for folder in (wants, wants.parent, wants.parent.parent):
                with suppress(OSError):
                    folder.rmdir()


def list_program_arguments() -> list[str]:
    """Return what starts this program again, from any directory."""
    program = Path(sys.argv[0])
    if program.stem == "plait" and program.is_file():
        return [str(program.absolute())]
    return [sys.executable, "-m", "plait"]


def list_root_options(settings: Settings) -> list[str]:
    """Return the `--root` options for the roots that were named on the command line."""
    roots = settings.roots
    if roots == load_settings().roots:
        return []
    return [part for root in roots for part in ("--root", str(root.absolute()))]


def list_installed_ways(task: Task) -> list[str]:
    """Return the ways in which a task runs automatically."""
    ways = []
    for way in task.ways:
        with suppress(PlaitError):
            if plan_removal(way, task).is_change:
                ways.append(way)
    return ways


def plan_installation(way: str, task: Task, arguments: Sequence[str]) -> InstallPlan:
    """Plan to run a task automatically in one way."""
    call = [*list_program_arguments(), *arguments]
    if way == "hook":
        if "--root" in arguments:
            raise UserError(
                "a hook only sees the sessions of its own Claude Code installation",
                "leave out `--root`, or use `--install cron` or `--install systemd`",
            )
        settings = find_claude_folder() / "settings.json"
        plan = plan_install(settings, shlex.join(list_program_arguments()), hooks=KEEP_HOOKS)
        return InstallPlan(way, (plan,))
    program = _find_program(way, task)
    if way == "cron":
        text = _read_crontab(task)
        after = add_to_crontab(text, call, collect_scheduled_environment(), task)
        return InstallPlan(way, crontab=(text, after))
    service = build_service_unit(call, collect_scheduled_environment(), task)
    units = ((task.service, service), (task.timer, task.timer_unit))
    files = tuple(_plan_unit(name, text, task) for name, text in units)
    reload = (program, "--user", "daemon-reload")
    enable = (program, "--user", "enable", "--now", task.timer)
    return InstallPlan(way, files, after=(reload, enable), timer=task.timer)


def plan_removal(way: str, task: Task) -> InstallPlan:
    """Plan to run a task no longer in one way."""
    if way == "hook":
        settings = find_claude_folder() / "settings.json"
        is_there = bool(list_installed_hooks(settings, KEEP_HOOKS))
        return InstallPlan(way, (plan_uninstall(settings, KEEP_HOOKS),) if is_there else ())
    program = shutil.which(PROGRAMS[way])
    if way == "cron":
        if program is None:
            return InstallPlan(way)
        text = _read_crontab(task)
        after = remove_from_crontab(text, task) if has_line(text, task) else text
        return InstallPlan(way, crontab=(text, after))
    files = tuple(_plan_unit(name, None, task) for name in (task.service, task.timer))
    before: tuple[tuple[str, ...], ...] = ()
    after_commands: tuple[tuple[str, ...], ...] = ()
    if program is not None and any(file.is_change for file in files):
        before = ((program, "--user", "disable", "--now", task.timer),)
        after_commands = ((program, "--user", "daemon-reload"),)
    return InstallPlan(
        way, files, before=before, after=after_commands, is_removal=True, timer=task.timer
    )


def _plan_unit(name: str, text: str | None, task: Task) -> SettingsPlan:
    path = find_systemd_folder() / name
    data = read_small(path)
    before = None if data is None else data.decode("utf-8", "replace")
    if before is None or is_our_unit(before, task):
        return SettingsPlan(path, before, text)
    if text is None:
        return SettingsPlan(path, before, before)
    raise UserError(f"'{path}' exists, but was not written by Plait", "move it elsewhere first")


def _find_program(way: str, task: Task) -> str:
    found = shutil.which(PROGRAMS[way])
    if found is None:
        raise UserError(f"{PROGRAMS[way]} is not installed", _suggest_others(way, task))
    return found


def _suggest_others(way: str, task: Task) -> str:
    return " or ".join(f"`{task.typed} --install {other}`" for other in task.ways if other != way)


def _read_crontab(task: Task) -> str:
    done = _call((_find_program("cron", task), "-l"))
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape")
    message = done.stderr.decode("utf-8", "replace").strip()
    if "no crontab for" in message.lower():
        return ""
    raise UserError(f"crontab failed: {message}", _suggest_others("cron", task))


def _run(command: Sequence[str], data: bytes = b"", *, ignore_errors: bool = False) -> None:
    with suppress(PlaitError) if ignore_errors else nullcontext():
        done = _call(command, data)
        if done.returncode:
            message = done.stderr.decode("utf-8", "replace").strip()
            first = (message or f"exit code {done.returncode}").splitlines()[0]
            raise UserError(
                f"{Path(command[0]).name} failed: {first}",
                "nothing was installed; try another method",
            )


def _call(command: Sequence[str], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603  programs of the system, found on the path
            list(command), input=data, capture_output=True, timeout=TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{Path(command[0]).name} does not respond: {error}") from error
