"""What is done every hour by itself, by systemd or by cron, to what changes for that, and back.

    systemd   a timer of the user     plait-keep.service, plait-keep.timer
    cron      a line                  crontab

What would change is shown first, and asked for.
"""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click

from plait.cli.hook.settings import backup_of, own_program
from plait.cli.options import Request
from plait.cli.output import write_bytes
from plait.cli.settings import standing_environment, units_folder
from plait.cli.text import safe
from plait.errors import PlaitError, UserError
from plait.keep.timers import (
    Task,
    crontab_with,
    crontab_without,
    has_line,
    is_our_unit,
    service_unit,
)
from plait.line import read_small
from plait.trace.hook.install import SettingsPlan, write_settings

SYSTEMD, CRON = "systemd", "cron"
PROGRAMS = {SYSTEMD: "systemctl", CRON: "crontab"}
NO_CRONTAB = "no crontab for"
LONGEST = 30


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What changes so that something is done by itself, or not any more."""

    way: str
    files: tuple[SettingsPlan, ...] = ()
    crontab: tuple[str, str] | None = None
    """What it holds, and what it will hold."""
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that run before files are written."""
    after: tuple[tuple[str, ...], ...] = ()
    is_end: bool = False
    """It takes something away: what does not answer then is no hindrance."""
    timer: str | None = None
    """The unit of systemd that it is about."""

    @property
    def is_change(self) -> bool:
        """Tells whether there is anything to do."""
        return any(file.is_change for file in self.files) or self._is_crontab_new

    @property
    def _is_crontab_new(self) -> bool:
        return self.crontab is not None and self.crontab[0] != self.crontab[1]

    def told(self) -> str:
        """Returns the change as diffs, and the commands that run with it."""
        parts = [f"$ {shlex.join(one)}" for one in self.before]
        parts += [file.diff() for file in self.files if file.is_change]
        if self.crontab and self._is_crontab_new:
            old, new = (text.splitlines() for text in self.crontab)
            parts.append("\n".join(unified_diff(old, new, "crontab", "crontab", lineterm="")))
        return "\n".join([*parts, *(f"$ {shlex.join(one)}" for one in self.after)])


def systemd_in(task: Task, call: Sequence[str]) -> InstallPlan:
    """Returns what has a command of ours run every hour, by systemd."""
    systemctl = _program("systemctl", task)
    folder = units_folder()
    service = service_unit([*own_program(), *call], standing_environment(), task)
    units = ((task.service, service), (task.timer, task.timer_unit))
    files = tuple(_unit(folder / name, text, task) for name, text in units)
    reload = (systemctl, "--user", "daemon-reload")
    begin = (systemctl, "--user", "enable", "--now", task.timer)
    return InstallPlan(SYSTEMD, files, after=(reload, begin), timer=task.timer)


def systemd_out(task: Task) -> InstallPlan:
    """Returns what ends that."""
    folder = units_folder()
    files = tuple(_unit(folder / name, None, task) for name in (task.service, task.timer))
    systemctl = shutil.which("systemctl")
    if systemctl is None or not any(file.is_change for file in files):
        return InstallPlan(SYSTEMD, files, is_end=True, timer=task.timer)
    disable = (systemctl, "--user", "disable", "--now", task.timer)
    reload = (systemctl, "--user", "daemon-reload")
    return InstallPlan(
        SYSTEMD, files, before=(disable,), after=(reload,), is_end=True, timer=task.timer
    )


def _unit(path: Path, after: str | None, task: Task) -> SettingsPlan:
    data = read_small(path)
    before = None if data is None else data.decode("utf-8", "replace")
    if before is None or is_our_unit(before, task):
        return SettingsPlan(path, before, after)
    if after is None:
        return SettingsPlan(path, before, before)
    raise UserError(f"'{path}' is there, and not by us", "move it away first")


def cron_in(task: Task, call: Sequence[str]) -> InstallPlan:
    """Returns what has a command of ours run every hour, by cron."""
    text = _crontab(task)
    after = crontab_with(text, [*own_program(), *call], standing_environment(), task)
    return InstallPlan(CRON, crontab=(text, after))


def cron_out(task: Task) -> InstallPlan:
    """Returns what ends that."""
    if shutil.which("crontab") is None:
        return InstallPlan(CRON)
    text = _crontab(task)
    after = crontab_without(text, task) if has_line(text, task) else text
    return InstallPlan(CRON, crontab=(text, after))


def as_object(plan: InstallPlan, is_done: bool) -> dict[str, Any]:
    """Returns what changes, or has changed, for programs."""
    return {
        "way": plan.way,
        "changes": plan.is_change,
        "written": is_done,
        "files": [str(file.path) for file in plan.files if file.is_change],
        "plan": plan.told() if plan.is_change else "",
    }


def carried_out(
    request: Request, plan: InstallPlan, *, is_sure: bool, is_dry: bool, is_quiet: bool
) -> bool:
    """Shows what would change, asks, and does it; tells whether it was done."""
    if not plan.is_change:
        return False
    if not is_quiet:
        write_bytes(f"{safe(plan.told())}\n".encode())
    if is_dry:
        return False
    if not is_sure:
        if is_quiet or not sys.stdin.isatty():
            raise UserError("nobody is there to ask", "add `--yes` to write this change")
        click.confirm("write this?", default=True, abort=True, err=True)
    _write(request, plan)
    return True


def _write(request: Request, plan: InstallPlan) -> None:
    for command in plan.before:
        _run_for(plan, command)
    written: list[SettingsPlan] = []
    try:
        for file in plan.files:
            if file.is_change:
                write_settings(file, backup_of(request, file.path))
                written.append(file)
        if plan.crontab is not None:
            _write_crontab(plan.crontab[1])
        for command in plan.after:
            _run_for(plan, command)
    except PlaitError:
        for file in reversed(written):
            back = SettingsPlan(file.path, file.after, file.before)
            write_settings(back, backup_of(request, file.path))
        raise
    if plan.timer and plan.is_end:
        _clear_units(units_folder(), plan.timer)


def _run_for(plan: InstallPlan, command: Sequence[str]) -> None:
    try:
        _run(command)
    except PlaitError:
        if not plan.is_end:
            raise


def _crontab(task: Task) -> str:
    """Returns what the crontab of the user holds, nothing where there is none."""
    done = _asked((_program("crontab", task), "-l"))
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape")
    said = done.stderr.decode("utf-8", "replace").strip()
    if NO_CRONTAB in said.lower():
        return ""
    raise UserError(f"crontab says: {safe(said)}", _others(task, "crontab"))


def _write_crontab(text: str) -> None:
    crontab = shutil.which("crontab") or "crontab"
    if text:
        _run((crontab, "-"), text.encode("utf-8", "surrogateescape"))
    else:
        _run((crontab, "-r"))


def _program(name: str, task: Task) -> str:
    found = shutil.which(name)
    if found is None:
        raise UserError(f"there is no {name} here", _others(task, name))
    return found


def _others(task: Task, program: str) -> str:
    """Returns what else can be typed where a program is missing or does not answer."""
    ways = [way for way in task.ways if PROGRAMS.get(way) != program]
    return " or ".join(f"`{task.typed} --install {way}`" for way in ways)


def _run(command: Sequence[str], given: bytes | None = None) -> None:
    done = _asked(command, given)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
        first = safe(said.splitlines()[0])
        raise UserError(
            f"{Path(command[0]).name} says: {first}", "nothing is installed; another way may work"
        )


def _asked(
    command: Sequence[str], given: bytes | None = None
) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(  # noqa: S603  programs of the system, found on the path
            list(command), input=given or b"", capture_output=True, timeout=LONGEST
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{Path(command[0]).name} does not answer: {error}") from error


def _clear_units(folder: Path, timer: str) -> None:
    """Removes the link by which a timer is enabled, and folders in which nothing is left."""
    wants = folder / "timers.target.wants"
    link = wants / timer
    if link.is_symlink() and not link.exists():
        link.unlink()
    for place in (wants, folder, folder.parent):
        with suppress(OSError):
            place.rmdir()
