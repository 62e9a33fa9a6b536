"""`plait keep --install`, `--uninstall`: what keeps sessions by itself, and its end.

    hook      when a session of Claude Code ends     settings.json
    systemd   every hour, by a timer of the user     plait-keep.service, plait-keep.timer
    cron      every hour, by a line                  crontab

What would change is shown first, and asked for.
"""

import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress

from plait.cli.hook.settings import own_program
from plait.cli.options import Request
from plait.cli.settings import claude_home, load_settings
from plait.cli.timers import (
    CRON,
    SYSTEMD,
    InstallPlan,
    as_object,
    carried_out,
    cron_in,
    cron_out,
    systemd_in,
    systemd_out,
)
from plait.errors import PlaitError, UserError
from plait.keep.timers import KEEPING as TASK
from plait.trace.hook.install import KEEPING, install_plan, installed_hooks, uninstall_plan

HOOK = "hook"
WAYS = (HOOK, SYSTEMD, CRON)
ALL = "all"
WORDS = {
    HOOK: "by a hook, when a session of Claude Code ends",
    SYSTEMD: "every hour, by a timer of systemd",
    CRON: "every hour, by a line of the crontab",
}


def install(
    request: Request, way: str, *, is_sure: bool, is_dry: bool, as_json: bool = False
) -> None:
    """Has sessions kept by themselves from now on."""
    plan = _PLANS[way][0](request)
    is_done = carried_out(request, plan, is_sure=is_sure, is_dry=is_dry, is_quiet=as_json)
    if as_json:
        request.output.json([as_object(plan, is_done)])
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
        is_done = carried_out(request, plan, is_sure=is_sure, is_dry=is_dry, is_quiet=as_json)
        told.append(as_object(plan, is_done))
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


def _hook_in(request: Request) -> InstallPlan:
    path = claude_home() / "settings.json"
    if named_roots(request):
        raise UserError(
            "a hook keeps what the client it belongs to has written",
            "leave out `--root`, or use `--install cron` or `--install systemd`",
        )
    return InstallPlan(HOOK, (install_plan(path, shlex.join(own_program()), hooks=KEEPING),))


def named_roots(request: Request) -> list[str]:
    """Returns the roots that were named here and nowhere else."""
    chosen = request.settings.roots
    return [] if chosen == load_settings().roots else [str(root.absolute()) for root in chosen]


def _call(request: Request) -> list[str]:
    return ["keep", *(part for root in named_roots(request) for part in ("--root", root))]


def _hook_out(request: Request) -> InstallPlan:
    path = claude_home() / "settings.json"
    if not installed_hooks(path, KEEPING):
        return InstallPlan(HOOK)
    return InstallPlan(HOOK, (uninstall_plan(path, KEEPING),))


_PLANS: dict[str, tuple[Callable[[Request], InstallPlan], Callable[[Request], InstallPlan]]] = {
    HOOK: (_hook_in, _hook_out),
    SYSTEMD: (lambda request: systemd_in(TASK, _call(request)), lambda _: systemd_out(TASK)),
    CRON: (lambda request: cron_in(TASK, _call(request)), lambda _: cron_out(TASK)),
}
