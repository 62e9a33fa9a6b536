"""`plait lake ship`: what is new on this machine to a lake elsewhere, or what would leave."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plait.cli.lake.build import as_json_of, tell
from plait.cli.lake.options import need_extra
from plait.cli.lake.whose import key_option, labels_of, stand_in_key, whose_options
from plait.cli.options import Request, global_options, json_option, rules_option, strict_option
from plait.cli.text import counted, safe_line, size
from plait.errors import UserError
from plait.lake.model import PROFILES

if TYPE_CHECKING:
    from plait.archive.lake import Leaving, Manner
    from plait.lake.model import Profile

WAYS = ("systemd", "cron")
MOST_CHARACTERS = 40


@click.command("ship")
@click.option(
    "--to", "url", metavar="URL", help="The lake that they go to; else as the settings say."
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    help="What leaves: figures alone (counts), sessions without secrets, or all. Default: counts.",
)
@whose_options
@key_option
@rules_option
@strict_option
@click.option("--dry-run", "is_dry", is_flag=True, help="Show what would leave; nothing does.")
@click.option(
    "--install",
    metavar="[systemd|cron]",
    type=click.Choice(WAYS),
    is_flag=False,
    flag_value=WAYS[0],
    help="Ship every hour from now on.",
)
@click.option(
    "--uninstall",
    metavar="[systemd|cron]",
    type=click.Choice([*WAYS, "all"]),
    is_flag=False,
    flag_value="all",
    help="Do so no more; what was shipped stays.",
)
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask before it is installed.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    /,
    url: str | None,
    install: str | None,
    uninstall: str | None,
    is_dry: bool,
    **asked: Any,
) -> None:
    """Ship what is new in the sessions of this machine to a lake elsewhere.

    Nothing leaves unless this is called, or installed to be. Without a profile it is figures
    alone: no text, no path, no name. Ended at any time, it goes on where it was. `--dry-run` shows
    all that would leave: sessions, tables, columns with values, bytes.
    """
    if install or uninstall:
        _change(request, url, install, uninstall, is_dry, asked)
        return
    need_extra()
    to, manner = _destination(request, url), _manner(request, asked)
    if is_dry:
        _tell_leaving(request, to, manner, asked["as_json"])
    else:
        _ship(request, to, manner, asked["as_json"])


def _destination(request: Request, url: str | None) -> str:
    found = url or request.settings.lake.ship_to
    if not found:
        raise UserError(
            "nothing is shipped unless you say where to",
            "`plait lake ship --to URL --dry-run` shows what would leave",
            'or set `ship_to = "…"` in config.toml',
        )
    return found


def _profile(request: Request, asked: dict[str, Any]) -> "Profile":
    chosen: Profile = asked["profile"] or request.settings.lake.ship_profile
    return chosen


def _manner(request: Request, asked: dict[str, Any]) -> "Manner":
    from plait.archive.lake import Manner, hides_names
    from plait.cli.redact import rules_with

    profile = _profile(request, asked)
    is_redacted = profile == "redacted"
    if not is_redacted and (asked["rules"] or asked["strict"]):
        raise UserError("`--rules` and `--strict` are about what is redacted", "see `--profile`")
    return Manner(
        labels_of(request, asked["source"], asked["person"], asked["team"]),
        profile,
        request.priced.prices,
        stand_in_key(request, asked["key"]) if hides_names(profile) else b"",
        rules_with(asked["rules"], strict=asked["strict"]) if is_redacted else None,
    )


def _ship(request: Request, to: str, manner: "Manner", in_json: bool) -> None:
    archive = request.priced
    with request.output.watched("shipping") as watch:
        built = archive.lake.ship(to, manner, options=request.settings.lake.options, watch=watch)
    request.output.note_unread(archive)
    request.output.note_losses(archive)
    if in_json:
        request.output.json({"profile": manner.profile, **as_json_of(to, built)})
    else:
        tell(request, to, built, "shipped")
    if built.failed:
        raise click.exceptions.Exit(1)


def _tell_leaving(request: Request, to: str, manner: "Manner", in_json: bool) -> None:
    archive = request.priced
    with request.output.watched("looking") as watch:
        leaving = archive.lake.rehearse(
            to, manner, options=request.settings.lake.options, watch=watch
        )
    request.output.note_unread(archive)
    request.output.note_losses(archive)
    if in_json:
        request.output.json(_leaving_as_json(to, manner, leaving))
        return
    with request.output.paged():
        _print_leaving(request, to, manner, leaving)


def _leaving_as_json(to: str, manner: "Manner", leaving: "Leaving") -> dict[str, Any]:
    return {
        "lake": to,
        "is_new": leaving.is_new,
        "profile": manner.profile,
        "source": manner.labels.source,
        "person": manner.labels.person,
        "team": manner.labels.team,
        "unchanged": leaving.built.unchanged,
        "failed": [one._asdict() for one in leaving.built.failed],
        "bytes": leaving.bytes,
        "sessions": [one["session"] for one in leaving.sessions],
        "tables": {
            name: {
                "rows": one.rows,
                "bytes": one.bytes,
                "columns": {
                    column: [_shown(value, None) for value in values]
                    for column, values in one.examples.items()
                },
            }
            for name, one in leaving.tables.items()
        },
    }


def _print_leaving(request: Request, to: str, manner: "Manner", leaving: "Leaving") -> None:
    from plait.archive.lake import WHAT_LEAVES

    output, labels = request.output, manner.labels
    if not leaving.sessions:
        output.print(
            f"nothing would leave: {counted(leaving.built.unchanged, 'session')} as before"
        )
        return
    count, whole = counted(len(leaving.sessions), "session"), size(leaving.bytes)
    output.print(f"{count} would leave, {whole}: {safe_line(to)}", style="bold")
    output.print(f"profile {manner.profile}: {WHAT_LEAVES[manner.profile]}")
    whose = {"source": labels.source, "person": labels.person, "team": labels.team}
    output.print(", ".join(f"{name} {safe_line(value)}" for name, value in whose.items() if value))
    if leaving.is_new:
        output.print("there is no lake yet: it would be made")
    output.print("")
    for one in leaving.sessions:
        output.print(
            f"  {safe_line(str(one['session']))}  {one['month']}  {size(one['log_bytes'])}"
        )
    for name, table in leaving.tables.items():
        output.print("")
        output.print(f"{name}: {counted(table.rows, 'row')}, {size(table.bytes)}", style="bold")
        shown = output.table("column", "values, such as", wide="values, such as")
        for column, values in table.examples.items():
            told = [_shown(value, MOST_CHARACTERS) for value in values]
            shown.add_row(column, "  ".join(told) if told else "—")
        output.print(shown)
    for failed in leaving.built.failed:
        output.unbroken(f"  {safe_line(failed.session)}: {safe_line(failed.why)}")


def _shown(value: object, most: int | None) -> str:
    """Returns a value as it would leave, in a line."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, datetime):
        value = value.isoformat()
    line = safe_line(value if isinstance(value, str) else json.dumps(value, default=str))
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def _change(
    request: Request,
    url: str | None,
    install: str | None,
    uninstall: str | None,
    is_dry: bool,
    asked: dict[str, Any],
) -> None:
    """Has sessions shipped every hour, or no more."""
    from plait.cli import timers
    from plait.keep.timers import SHIPPING

    ways = {
        timers.SYSTEMD: (timers.systemd_in, timers.systemd_out),
        timers.CRON: (timers.cron_in, timers.cron_out),
    }
    how = {"is_sure": asked["is_sure"], "is_dry": is_dry, "is_quiet": asked["as_json"]}
    if install and uninstall:
        raise UserError("`--install` or `--uninstall`, one at a time")
    if install:
        need_extra()  # else the timer would fail every hour, where nobody sees it
        call = _call(request, _destination(request, url), asked)
        plans = [ways[install][0](SHIPPING, call)]
    else:
        plans = [ways[way][1](SHIPPING) for way in WAYS if uninstall in (way, "all")]
    told = [timers.as_object(plan, timers.carried_out(request, plan, **how)) for plan in plans]
    if asked["as_json"]:
        request.output.json(told)
    elif not any(plan.is_change for plan in plans):
        request.output.print("shipped already so" if install else "nothing of ours is installed")
    elif any(one["written"] for one in told):
        done = "sessions are shipped from now on, every hour" if install else "no more shipped"
        request.output.print(done, style="bold green")


def _call(request: Request, to: str, asked: dict[str, Any]) -> list[str]:
    """Returns the command of a timer: it says where to and how much, whatever is set later."""
    from plait.cli.keep.install import named_roots

    place = to if "://" in to else str(Path(to).absolute())
    words = ["lake", "ship", "--to", place, "--profile", _profile(request, asked)]
    for name in ("source", "person", "team"):
        words += [f"--{name}", asked[name]] if asked[name] else []
    for name in ("key", "rules"):
        words += [f"--{name}", str(Path(asked[name]).absolute())] if asked[name] else []
    words += ["--strict"] if asked["strict"] else []
    return [*words, *(part for root in named_roots(request) for part in ("--root", root))]
