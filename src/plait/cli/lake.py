"""`plait lake`: sessions as tables in a folder or an object store; queries are in `lake_query`."""

import importlib.util
from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from plait.archive import Archive, StorePlace, check_log
from plait.automation import list_root_options
from plait.cli import shared
from plait.cli.app import LazyGroup
from plait.cli.automation import change_automation
from plait.cli.options import OptionGroup, Request, argument, command, option
from plait.cli.registry import subcommands
from plait.errors import MissingExtra, UserError
from plait.keep.timers import SHIP_TASK
from plait.lake.identity import load_pseudonym_key, load_source_name
from plait.lake.schema import PROFILES, TABLES, Labels, Profile
from plait.redact import add_own_names
from plait.settings import find_home_folder, load_rules
from plait.terminal.output import Output, select_fields
from plait.terminal.text import format_number, safe_line
from plait.view.formats import format_bytes, format_count

if TYPE_CHECKING:
    from plait.lake.build import BuildOptions, BuildResult
    from plait.lake.engine import Engine
    from plait.lake.shipping import Shipment
    from plait.lake.store import Lake

MOST_LISTED = 12
MOST_CHARACTERS = 40

LAKE_HELP = "The lake: a folder, s3://bucket/name, gs://…, az://…; default: from the settings."
lake_option = option("--lake", metavar="URL", help=LAKE_HELP)


class LabelOptions(OptionGroup):
    """The labels of sessions in a lake."""

    source: str | None = option(
        "--source", metavar="NAME", help="Label for this machine; default: a generated name."
    )
    person: str | None = option(
        "--person", metavar="NAME", help="Label for the person these sessions belong to."
    )
    team: str | None = option("--team", metavar="NAME", help="Label for the team they belong to.")
    key: str | None = option(
        "--key", metavar="FILE", help="The key for pseudonyms; a team can share one."
    )

    def resolve(self, request: Request) -> Labels:
        """Return the labels as given, else as in the settings."""
        settings = request.settings.lake
        return Labels(
            self.source or settings.source or load_source_name(request.settings.state),
            settings.person if self.person is None else self.person,
            settings.team if self.team is None else self.team,
        )

    def load_key(self, request: Request) -> bytes:
        """Return the key for pseudonyms as given, else as in the settings."""
        file = Path(self.key) if self.key else request.settings.lake.key
        return load_pseudonym_key(request.settings.state, file)


class ShipOptions(LabelOptions):
    """What of sessions is sent to a lake."""

    profile: "Profile | None" = option(
        "--profile",
        choices=PROFILES,
        help="What to send: figures only (counts), sessions without secrets, or everything; "
        "default: counts.",
    )
    rules: str | None = shared.rules
    strict: bool = shared.strict

    def build(self, request: Request) -> "BuildOptions":
        """Return the options with the settings' defaults."""
        from plait.lake.build import BuildOptions, hides_names

        profile = self.profile or request.settings.lake.ship_profile
        is_redacted = profile == "redacted"
        if not is_redacted and (self.rules or self.strict):
            raise UserError("`--rules` and `--strict` need `--profile redacted`")
        return BuildOptions(
            self.resolve(request),
            profile,
            request.prices,
            self.load_key(request) if hides_names(profile) else b"",
            load_rules(self.rules, strict=self.strict) if is_redacted else None,
        )

    def list_arguments(self, request: Request, to: str) -> list[str]:
        """Return the command of a timer; it must not depend on settings that may change."""
        place = to if "://" in to else str(Path(to).absolute())
        profile = self.profile or request.settings.lake.ship_profile
        words = ["lake", "ship", "--to", place, "--profile", profile]
        for name in ("source", "person", "team"):
            words += [f"--{name}", value] if (value := getattr(self, name)) else []
        for name in ("key", "rules"):
            words += (
                [f"--{name}", str(Path(file).absolute())] if (file := getattr(self, name)) else []
            )
        words += ["--strict"] if self.strict else []
        return [*words, *list_root_options(request.settings)]


@click.group("lake", cls=LazyGroup, table=subcommands("lake"))
def lake_command() -> None:
    """Collect sessions as tables in a folder or an object store, and query them with SQL.

    A lake holds the sessions of one archive or of thousands: tables of sessions, records, turns,
    responses, tool calls. Needs `pip install 'plait[lake]'`.
    """


def lake_url(request: Request, url: str | None, option: str = "--lake") -> str:
    """Return the address of the lake that was named, or that the settings name."""
    found = url or request.settings.lake.url
    if not found:
        raise UserError(
            "no lake given",
            f"`{option} URL`: a folder or an address",
            'or set `lake = "…"` in config.toml',
        )
    return found


def open_lake(request: Request, url: str | None) -> "Lake":
    """Open the lake that was named, or that the settings name, for reading."""
    require_lake_extra()
    from plait.lake.store import Lake

    return Lake(lake_url(request, url), request.settings.lake.options)


def require_lake_extra() -> None:
    """Fail if a package for lakes is not installed."""
    missing = [
        name
        for name in ("pyarrow", "deltalake", "duckdb")
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise MissingExtra(
            f"a lake needs {', '.join(missing)}, which {verb} not installed",
            "`pip install 'plait[lake]'`",
        )


@command(examples="plait lake ls --lake ~/lake")
def ls_command(
    request: Request, url: str | None = lake_option, as_json: bool = shared.as_json
) -> None:
    """List the sources in a lake: sessions, size of logs, months."""
    lake, output = open_lake(request, url), request.output
    sources = lake.list_sources()
    if as_json:
        output.json({"lake": lake.url, "profile": lake.profile, "sources": sources})
        return
    headings = ("source", "person", "team", "sessions", "logs", "months")
    table = output.table(*headings, right=("sessions", "logs"))
    for item in sources:
        table.add_row(
            *map(safe_line, (item.source, item.person, item.team)),
            format_number(item.sessions),
            format_bytes(item.log_bytes),
            f"{item.first} – {item.last}" if item.first != item.last else item.first,
        )
    if sources:
        output.print(table)
    count = format_count(sum(item.sessions for item in sources), "session")
    output.print_unwrapped(f"{count}, profile {lake.profile}: {safe_line(lake.url)}", style="dim")


@command(examples="plait lake tables\nplait lake tables responses")
def tables_command(
    request: Request, name: str | None = argument(metavar="[TABLE]"), as_json: bool = shared.as_json
) -> None:
    """List the tables of a lake, or the columns of one, with descriptions.

    In a lake with the profile `counts`, columns marked `named` contain pseudonyms and columns
    marked `worded` are empty; `id` and `listed` contain pseudonyms for unexpected values.
    """
    output = request.output
    if name is not None and name not in TABLES:
        raise UserError(f"a lake has no table '{name}'", f"it has {', '.join(TABLES)}")
    tables = [TABLES[name]] if name else list(TABLES.values())
    if as_json:
        output.json([table.to_json() for table in tables])
        return
    if name:
        shown = output.table("column", "kind", "content", "description", wide="description")
        for column in tables[0].columns:
            mark = "" if column.sensitivity == "plain" else column.sensitivity
            shown.add_row(column.name, column.kind, mark, column.description)
    else:
        shown = output.table("table", "description", wide="description")
        for table in tables:
            shown.add_row(table.name, table.description)
    output.print(shown)


@command(
    examples="plait lake build --to ~/lake\nplait lake build --to s3://team/lake --source laptop"
)
def build_command(
    request: Request,
    labels: LabelOptions,
    places: tuple[str, ...] = argument(metavar="[ROOT]..."),
    url: str | None = option("--to", metavar="URL", help=LAKE_HELP),
    profile: "Profile | None" = option(
        "--profile",
        choices=PROFILES,
        help="What to store: figures only, sessions without secrets, or everything; default for "
        "a new lake: everything.",
    ),
    engine_name: str = option(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="Where to run: processes on this machine, or a Ray cluster.",
    ),
    address: str | None = option(
        "--address", metavar="HOST:PORT", help="The Ray cluster to use; default: start one."
    ),
    prune: bool = option("--prune", help="Remove sessions of this source that no longer exist."),
    as_json: bool = shared.as_json,
) -> None:
    """Add new and changed sessions to a lake.

    ROOT is a folder of logs, a backup of `plait keep`, or an address in an object store; the
    default comes from `--root` and the settings. You can interrupt a build; the next one continues
    where it stopped.
    """
    require_lake_extra()
    from plait.lake.engine import LocalEngine, RayEngine

    if address and engine_name != "ray":
        raise UserError("`--address` needs a Ray cluster", "add `--engine ray`")
    to = lake_url(request, url, "--to")
    archive, folders = _open_inputs(request, places)
    engine: Engine = (
        RayEngine(address, request.settings.jobs, archive.worker_failures)
        if engine_name == "ray"
        else LocalEngine(archive.jobs, archive.worker_failures)
    )
    with request.output.byte_progress("building the lake") as watch:
        built = archive.lake.build(
            to,
            labels.resolve(request),
            profile=profile,
            options=request.settings.lake.options,
            folders=folders,
            engine=engine,
            prune=prune,
            key=lambda: labels.load_key(request),
            rules=add_own_names(None, find_home_folder()),
            watch=watch,
        )
    _present_build(request.output, archive, to, built, "built", as_json=as_json)


def _open_inputs(request: Request, places: Sequence[str]) -> tuple[Archive, list[str]]:
    """Return the archive of the local places, and the addresses of remote ones."""
    names = [*request.roots, *places]
    if not names:
        return request.priced_archive, []
    settings = request.settings
    remote = [name for name in names if "://" in name]
    local = [Path(name) for name in names if name not in remote]
    stores = [path for path in local if StorePlace(path, path).exists and (path / "packs").is_dir()]
    if len(stores) > 1:
        raise UserError("a build can read only one backup", "build from one backup after another")
    roots = [path for path in local if path not in stores]
    for root in roots:
        check_log(root)
    store = request.store if roots else None
    if stores:
        name = sha256(str(stores[0].absolute()).encode()).hexdigest()[:16]
        unpacked = settings.cache / "kept-elsewhere" / name
        store = StorePlace(stores[0], unpacked, includes_all=True)
    own = store, settings.stars, settings.translations
    return Archive(roots, None, request.prices, settings.jobs, *own), remote


def _present_build(
    output: Output,
    archive: Archive,
    to: str,
    built: "BuildResult",
    action: str,
    *,
    as_json: bool,
    profile: str | None = None,
) -> None:
    """Print what was built or sent; fail if a session could not be."""
    output.warn_unread(archive)
    output.warn_lost_workers(archive)
    if as_json:
        output.json(
            ({"profile": profile} if profile else {})
            | {"lake": to, "sessions": built.seen}
            | select_fields(built, "unchanged", "built", "bytes")
            | {"written_bytes": built.written}
            | select_fields(built, "gone", "pruned")
            | {"failed": [failure._asdict() for failure in built.failed]}
        )
    else:
        unchanged = f"{format_count(built.unchanged, 'session')} unchanged"
        if built.built:
            logs, size = format_bytes(built.bytes), format_bytes(built.written)
            words = f"{format_count(built.built, 'session')} {action}, {logs} of logs in {size}"
            output.print(f"{words}: {safe_line(to)}", style="bold green")
            if built.unchanged:
                output.print(unchanged, style="dim")
        elif not built.failed:
            output.print(f"nothing new: {unchanged}" if built.seen else "there are no sessions")
        if built.pruned:
            count = format_count(built.pruned, "session")
            output.print(f"{count} removed: no longer at the source", style="dim")
        elif built.gone:
            count = format_count(built.gone, "session")
            output.print(
                f"{count} no longer at the source but still in the lake: `--prune` removes them"
            )
        output.print_first(_list_failures(built), MOST_LISTED)
    if built.failed:
        if not as_json:
            count = format_count(len(built.failed), "session")
            output.note(f"{count} failed; their earlier rows stay in the lake")
        raise click.exceptions.Exit(1)


@command(
    examples="plait lake ship --to s3://team/lake --dry-run\nplait lake ship --install",
)
def ship_command(
    request: Request,
    chosen: ShipOptions,
    url: str | None = option(
        "--to", metavar="URL", help="The lake to send to; default: from the settings."
    ),
    is_dry: bool = shared.is_dry,
    install: str | None = shared.install(("systemd", "cron"), "Send every hour from now on."),
    uninstall: str | None = shared.uninstall(
        ("systemd", "cron"), "Stop the hourly sending; what was already sent stays."
    ),
    is_sure: bool = option("-y", "--yes", help="Install without asking for confirmation."),
    as_json: bool = shared.as_json,
) -> None:
    """Send what is new in this machine's sessions to a remote lake.

    Nothing is sent unless you run or install this. By default, only figures are sent: no text, no
    paths, no names. You can interrupt a run; the next one continues where it stopped. `--dry-run`
    shows exactly what would be sent: sessions, tables, columns with values, bytes.
    """
    if install or uninstall:
        if install:
            require_lake_extra()  # else the timer would fail every hour, unnoticed
        change_automation(
            request,
            SHIP_TASK,
            install=install,
            uninstall=uninstall,
            arguments=lambda: chosen.list_arguments(request, _destination(request, url)),
            action="sent",
            is_sure=is_sure,
            is_dry=is_dry,
            as_json=as_json,
        )
        return
    require_lake_extra()
    to, archive, settings = _destination(request, url), request.priced_archive, request.settings
    options = chosen.build(request)
    if is_dry:
        with request.output.byte_progress("preparing") as watch:
            shipment = archive.lake.rehearse(
                to, options, options=settings.lake.options, watch=watch
            )
        output, labels = request.output, to_builtins(options.labels)
        output.warn_unread(archive)
        output.warn_lost_workers(archive)
        if as_json:
            output.json(shipment.to_json(to, options))
        else:
            with output.paged():
                _print_shipment(output, to, options.profile, labels, shipment)
        return
    with request.output.byte_progress("sending") as watch:
        built = archive.lake.ship(to, options, options=settings.lake.options, watch=watch)
    _present_build(
        request.output, archive, to, built, "sent", as_json=as_json, profile=options.profile
    )


def _destination(request: Request, url: str | None) -> str:
    if destination := url or request.settings.lake.ship_to:
        return destination
    raise UserError(
        "no destination",
        "`plait lake ship --to URL --dry-run` shows what would be sent",
        'or set `ship_to = "…"` in config.toml',
    )


def _print_shipment(
    output: Output, to: str, profile: Profile, labels: dict[str, str], shipment: "Shipment"
) -> None:
    from plait.lake.shipping import PROFILE_SUMMARIES, format_example

    if not shipment.sessions:
        unchanged = format_count(shipment.built.unchanged, "session")
        output.print(f"nothing would be sent: {unchanged} unchanged")
        return
    count, size = format_count(len(shipment.sessions), "session"), format_bytes(shipment.bytes)
    output.print(f"{count} would be sent, {size}: {safe_line(to)}", style="bold")
    output.print(f"profile {profile}: {PROFILE_SUMMARIES[profile]}")
    output.print(", ".join(f"{name} {safe_line(value)}" for name, value in labels.items() if value))
    if shipment.is_new:
        output.print("the lake does not exist yet: it would be created")
    output.print("")
    for session in shipment.sessions:
        log_size = format_bytes(session["log_bytes"])
        output.print(f"  {safe_line(str(session['session']))}  {session['month']}  {log_size}")
    for name, table in shipment.tables.items():
        output.print("")
        heading = f"{name}: {format_count(table.rows, 'row')}, {format_bytes(table.bytes)}"
        output.print(heading, style="bold")
        shown = output.table("column", "example values", wide="example values")
        for column, values in table.examples.items():
            examples = [format_example(value, MOST_CHARACTERS) for value in values]
            shown.add_row(column, "  ".join(examples) if examples else "—")
        output.print(shown)
    for line in _list_failures(shipment.built):
        output.print_unwrapped(line)


def _list_failures(built: "BuildResult") -> list[str]:
    return [f"  {safe_line(failed.session)}: {safe_line(failed.why)}" for failed in built.failed]


@command(examples="plait lake forget old-laptop\nplait lake forget old-laptop --yes")
def forget_command(
    request: Request,
    source: str = argument(),
    url: str | None = lake_option,
    is_sure: bool = option("--yes", help="Apply the change; otherwise only show it."),
    as_json: bool = shared.as_json,
) -> None:
    """Remove all sessions of a source from a lake.

    Queries no longer see them. Their rows are deleted when the lake is tidied.
    """
    lake, output = open_lake(request, url), request.output
    sources = sorted(set(lake.read_builds()["source"].to_pylist()))
    if source not in sources:
        names = ", ".join(map(safe_line, sources)) or "nothing"
        raise UserError(f"the lake has nothing from '{safe_line(source)}'", f"it has {names}")
    sessions = lake.read_builds(source).num_rows
    if is_sure:
        lake.forget_source(source)
    if as_json:
        output.json({"source": source, "sessions": sessions, "forgotten": is_sure})
        return
    count = f"{format_count(sessions, 'session')} from '{safe_line(source)}'"
    if is_sure:
        output.print(f"removed: {count}", style="bold")
        output.print("`plait lake tidy --older 0` deletes their rows now", style="dim")
    else:
        output.print(f"{count} to remove", style="bold")
        output.print("nothing was changed; add `--yes` to remove them", style="dim")


@command(examples="plait lake tidy --lake ~/lake")
def tidy_command(
    request: Request,
    url: str | None = lake_option,
    hours: int = option(
        "--older",
        metavar="HOURS",
        least=0,
        default=24,
        show_default=True,
        help="Only files older than this. Below 12 hours, make sure that no build is running.",
    ),
    as_json: bool = shared.as_json,
) -> None:
    """Merge the small files of a lake, and delete unused ones.

    Every build adds files and leaves outdated rows behind. Tidying does not change the results of
    queries, only makes them faster.
    """
    tidied = open_lake(request, url).tidy(timedelta(hours=hours))
    if as_json:
        request.output.json(to_builtins(tidied))
        return
    parts = [
        f"{format_count(tidied.joined, 'file')} merged into {tidied.made}" if tidied.made else "",
        f"{format_count(tidied.rows, 'row')} removed" if tidied.rows else "",
        f"{format_count(tidied.deleted, 'file')} deleted" if tidied.deleted else "",
    ]
    done = ", ".join(filter(None, parts))
    request.output.print(
        done or f"nothing to tidy: no unused files older than {format_count(hours, 'hour')}"
    )
