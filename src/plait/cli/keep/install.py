"""`plait keep --install`, `--uninstall`: what keeps sessions by itself, and its end.

    hook      when a session of Claude Code ends     settings.json
    systemd   every hour, by a timer of the user     plait-keep.service, plait-keep.timer
    cron      every hour, by a line                  crontab

What would change is shown first, and asked for.
"""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click

from plait.cli.hook.settings import backup_of, own_program
from plait.cli.options import Request
from plait.cli.output import write_bytes
from plait.cli.settings import claude_home, load_settings, standing_environment, units_folder
from plait.cli.text import safe
from plait.errors import PlaitError, UserError
from plait.keep.timers import (
    SERVICE,
    TIMER,
    TIMER_UNIT,
    crontab_with,
    crontab_without,
    has_line,
    is_our_unit,
    service_unit,
)
from plait.line import read_small
from plait.trace.hook.install import (
    KEEPING,
    SettingsPlan,
    install_plan,
    installed_hooks,
    uninstall_plan,
    write_settings,
)

HOOK, SYSTEMD, CRON = "hook", "systemd", "cron"
WAYS = (HOOK, SYSTEMD, CRON)
ALL = "all"
WORDS = {
    HOOK: "by a hook, when a session of Claude Code ends",
    SYSTEMD: "every hour, by a timer of systemd",
    CRON: "every hour, by a line of the crontab",
}
NO_CRONTAB = "no crontab for"
LONGEST = 30


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What changes so that sessions are kept by themselves, or not any more."""

    way: str
    files: tuple[SettingsPlan, ...] = ()
    crontab: tuple[str, str] | None = None
    """What it holds, and what it will hold."""
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that run before files are written."""
    after: tuple[tuple[str, ...], ...] = ()
    is_end: bool = False
    """It takes something away: what does not answer then is no hindrance."""

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


def install(
    request: Request, way: str, *, is_sure: bool, is_dry: bool, as_json: bool = False
) -> None:
    """Has sessions kept by themselves from now on."""
    plan = _PLANS[way][0](request)
    is_done = _carried_out(request, plan, is_sure=is_sure, is_dry=is_dry, is_quiet=as_json)
    if as_json:
        request.output.json([_as_object(plan, is_done)])
    elif not plan.is_change:
        request.output.print(f"sessions are kept already {WORDS[way]}")
    elif is_done:
        request.output.print(f"sessions are kept from now on {WORDS[way]}", style="bold green")


def uninstall(
    request: Request, way: str, *, is_sure: bool, is_dry: bool, as_json: bool = False
) -> None:
    """Has them kept no more; what is kept stays."""
    plans = list(_ends(request, way))
    told = []
    for plan in plans:
        is_done = _carried_out(request, plan, is_sure=is_sure, is_dry=is_dry, is_quiet=as_json)
        told.append(_as_object(plan, is_done))
        if is_done and not as_json:
            request.output.print(f"no more kept {WORDS[plan.way]}")
    if as_json:
        request.output.json(told)
    elif not any(plan.is_change for plan in plans):
        request.output.print("nothing of ours is installed")


def _ends(request: Request, way: str) -> Iterator[InstallPlan]:
    """Yields what takes away one way, or all; of all, what cannot be looked at is told."""
    for one in WAYS:
        if way not in (one, ALL):
            continue
        try:
            yield _PLANS[one][1](request)
        except PlaitError as error:
            if way != ALL:
                raise
            request.output.note(f"{one}: {error.message}")


def installed_ways(request: Request) -> list[str]:
    """Returns how sessions are kept by themselves, by the names of the ways."""
    found = []
    for way in WAYS:
        with suppress(PlaitError):
            if _PLANS[way][1](request).is_change:
                found.append(way)
    return found


def _as_object(plan: InstallPlan, is_done: bool) -> dict[str, Any]:
    return {
        "way": plan.way,
        "changes": plan.is_change,
        "written": is_done,
        "files": [str(file.path) for file in plan.files if file.is_change],
        "plan": plan.told() if plan.is_change else "",
    }


def _carried_out(
    request: Request, plan: InstallPlan, *, is_sure: bool, is_dry: bool, is_quiet: bool
) -> bool:
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
    if plan.way == SYSTEMD and plan.is_end:
        _clear_units(units_folder())


def _run_for(plan: InstallPlan, command: Sequence[str]) -> None:
    try:
        _run(command)
    except PlaitError:
        if not plan.is_end:
            raise


def _hook_in(request: Request) -> InstallPlan:
    path = claude_home() / "settings.json"
    if _roots(request):
        raise UserError(
            "a hook keeps what the client it belongs to has written",
            "leave out `--root`, or use `--install cron` or `--install systemd`",
        )
    return InstallPlan(HOOK, (install_plan(path, shlex.join(own_program()), hooks=KEEPING),))


def _roots(request: Request) -> list[str]:
    """Returns the roots that were named here and nowhere else."""
    chosen = request.settings.roots
    return [] if chosen == load_settings().roots else [str(root.absolute()) for root in chosen]


def _call(request: Request) -> list[str]:
    return ["keep", *(part for root in _roots(request) for part in ("--root", root))]


def _hook_out(request: Request) -> InstallPlan:
    path = claude_home() / "settings.json"
    if not installed_hooks(path, KEEPING):
        return InstallPlan(HOOK)
    return InstallPlan(HOOK, (uninstall_plan(path, KEEPING),))


def _systemd_in(request: Request) -> InstallPlan:
    systemctl = _program("systemctl", SYSTEMD)
    folder = units_folder()
    service = service_unit([*own_program(), *_call(request)], standing_environment())
    files = tuple(
        _unit(folder / name, text) for name, text in ((SERVICE, service), (TIMER, TIMER_UNIT))
    )
    reload = (systemctl, "--user", "daemon-reload")
    return InstallPlan(
        SYSTEMD, files, after=(reload, (systemctl, "--user", "enable", "--now", TIMER))
    )


def _systemd_out(request: Request) -> InstallPlan:
    folder = units_folder()
    files = tuple(_unit(folder / name, None) for name in (SERVICE, TIMER))
    systemctl = shutil.which("systemctl")
    if systemctl is None or not any(file.is_change for file in files):
        return InstallPlan(SYSTEMD, files, is_end=True)
    disable = (systemctl, "--user", "disable", "--now", TIMER)
    reload = (systemctl, "--user", "daemon-reload")
    return InstallPlan(SYSTEMD, files, before=(disable,), after=(reload,), is_end=True)


def _unit(path: Path, after: str | None) -> SettingsPlan:
    data = read_small(path)
    before = None if data is None else data.decode("utf-8", "replace")
    if before is None or is_our_unit(before):
        return SettingsPlan(path, before, after)
    if after is None:
        return SettingsPlan(path, before, before)
    raise UserError(f"'{path}' is there, and not by us", "move it away first")


def _cron_in(request: Request) -> InstallPlan:
    text = _crontab()
    after = crontab_with(text, [*own_program(), *_call(request)], standing_environment())
    return InstallPlan(CRON, crontab=(text, after))


def _cron_out(request: Request) -> InstallPlan:
    if shutil.which("crontab") is None:
        return InstallPlan(CRON)
    text = _crontab()
    return InstallPlan(CRON, crontab=(text, crontab_without(text) if has_line(text) else text))


def _crontab() -> str:
    """Returns what the crontab of the user holds, nothing where there is none."""
    done = _asked((_program("crontab", CRON), "-l"))
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape")
    said = done.stderr.decode("utf-8", "replace").strip()
    if NO_CRONTAB in said.lower():
        return ""
    raise UserError(f"crontab says: {safe(said)}", "`plait keep --install hook` needs none")


def _write_crontab(text: str) -> None:
    crontab = _program("crontab", CRON)
    if text:
        _run((crontab, "-"), text.encode("utf-8", "surrogateescape"))
    else:
        _run((crontab, "-r"))


def _program(name: str, way: str) -> str:
    found = shutil.which(name)
    if found is None:
        others = " or ".join(f"`plait keep --install {one}`" for one in WAYS if one != way)
        raise UserError(f"there is no {name} here", others)
    return found


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


def _clear_units(folder: Path) -> None:
    """Removes the link by which a timer is enabled, and folders in which nothing is left."""
    wants = folder / "timers.target.wants"
    link = wants / TIMER
    if link.is_symlink() and not link.exists():
        link.unlink()
    for place in (wants, folder, folder.parent):
        with suppress(OSError):
            place.rmdir()


_PLANS: dict[str, tuple[Callable[[Request], InstallPlan], Callable[[Request], InstallPlan]]] = {
    HOOK: (_hook_in, _hook_out),
    SYSTEMD: (_systemd_in, _systemd_out),
    CRON: (_cron_in, _cron_out),
}
