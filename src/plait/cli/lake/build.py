"""`plait lake build`: sessions into a lake, only those that are new or have changed."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plait.cli.lake.options import lake_url, need_extra
from plait.cli.lake.whose import key_option, labels_of, stand_in_key, whose_options
from plait.cli.options import Request, global_options, json_option
from plait.cli.settings import own_home
from plait.cli.text import counted, safe_line, size
from plait.errors import UserError
from plait.lake.model import PROFILES

if TYPE_CHECKING:
    from plait.archive import Archive, StorePlace
    from plait.archive.lake import Built, Engine

ENGINES = ("local", "ray")
MOST_SHOWN = 12


@click.command("build")
@click.argument("places", metavar="[ROOT]...", nargs=-1)
@click.option(
    "--to",
    "url",
    metavar="URL",
    help="The lake: a folder, s3://bucket/name, gs://…, az://…; else as the settings say.",
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    help="What goes in: figures alone, sessions without secrets, or all; of a new lake full.",
)
@whose_options
@key_option
@click.option(
    "--engine",
    "engine_name",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    help="Who works: processes of this machine, or a Ray cluster.",
)
@click.option("--address", metavar="HOST:PORT", help="The Ray cluster; without it one is begun.")
@click.option(
    "--prune", is_flag=True, help="Take out sessions of this source that are there no more."
)
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    /,
    places: tuple[str, ...],
    url: str | None,
    engine_name: str,
    address: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Bring a lake up to date with sessions: what is new or has changed is read.

    A ROOT is a folder of logs, a store of `plait keep`, or an address in an object store; without
    one it is where `--root` and the settings say. Ended at any time, it goes on where it was.
    """
    need_extra()
    from plait.redact import with_own_names

    if address and engine_name != "ray":
        raise UserError("`--address` is of a Ray cluster", "add `--engine ray`")
    to = lake_url(request, url, "--to")
    archive, folders = _inputs(request, places)
    labels = labels_of(request, asked["source"], asked["person"], asked["team"])
    with request.output.watched("building the lake") as watch:
        built = archive.lake.build(
            to,
            labels,
            profile=asked["profile"],
            options=request.settings.lake.options,
            folders=folders,
            engine=_engine(request, archive, engine_name, address),
            prune=asked["prune"],
            key=lambda: stand_in_key(request, asked["key"]),
            rules=with_own_names(None, own_home()),
            watch=watch,
        )
    request.output.note_unread(archive)
    request.output.note_losses(archive)
    if as_json:
        request.output.json(as_json_of(to, built))
    else:
        tell(request, to, built)
    if built.failed:
        raise click.exceptions.Exit(1)


def _engine(request: Request, archive: "Archive", name: str, address: str | None) -> "Engine":
    from plait.archive.lake import LocalEngine, RayEngine

    if name == "ray":
        return RayEngine(address, request.settings.jobs, archive.losses)
    return LocalEngine(archive.jobs, archive.losses)


def _inputs(request: Request, places: tuple[str, ...]) -> "tuple[Archive, list[str]]":
    """Returns the archive that is meant, and the addresses of object stores."""
    from plait.archive import Archive, check_log

    named = [*request.roots, *places]
    if not named:
        return request.priced, []
    settings = request.settings
    far = [one for one in named if "://" in one]
    stores = [Path(one) for one in named if one not in far and _is_store(Path(one))]
    if len(stores) > 1:
        raise UserError("one store of kept sessions at a time", "build each by itself")
    roots = [Path(one) for one in named if one not in far and Path(one) not in stores]
    for root in roots:
        check_log(root)
    store = _store_place(request, stores[0]) if stores else request.store if roots else None
    return Archive(roots, None, request.prices, settings.jobs, store, settings.stars), far


def _is_store(folder: Path) -> bool:
    from plait.archive import StorePlace

    return StorePlace(folder, folder).is_there and (folder / "packs").is_dir()


def _store_place(request: Request, folder: Path) -> "StorePlace":
    """Returns a store all of whose sessions are read; below a place of its own, for so long."""
    from hashlib import sha256

    from plait.archive import StorePlace

    name = sha256(str(folder.absolute()).encode()).hexdigest()[:16]
    return StorePlace(folder, request.settings.cache / "kept-elsewhere" / name, is_whole=True)


def as_json_of(to: str, built: "Built") -> dict[str, Any]:
    """Returns what became of a building, for programs."""
    return {
        "lake": to,
        "sessions": built.seen,
        "unchanged": built.unchanged,
        "built": built.built,
        "bytes": built.bytes,
        "written_bytes": built.written,
        "gone": built.gone,
        "pruned": built.pruned,
        "failed": [one._asdict() for one in built.failed],
    }


def tell(request: Request, to: str, built: "Built", done: str = "built") -> None:
    """Tells what became of a building."""
    output = request.output
    if built.built:
        count, logs = counted(built.built, "session"), size(built.bytes)
        told = f"{count} {done}, {logs} of logs in {size(built.written)}: {safe_line(to)}"
        output.print(told, style="bold green")
        if built.unchanged:
            output.print(f"{counted(built.unchanged, 'session')} as before", style="dim")
    elif not built.failed:
        seen = counted(built.seen, "session")
        output.print(f"nothing new: {seen} as before" if built.seen else "there are no sessions")
    if built.pruned:
        output.print(f"{counted(built.pruned, 'session')} taken out: no more there", style="dim")
    elif built.gone:
        gone = counted(built.gone, "session")
        output.print(f"{gone} no more there, still in the lake: `--prune` takes them out")
    for one in built.failed[:MOST_SHOWN]:
        output.unbroken(f"  {safe_line(one.session)}: {safe_line(one.why)}")
    if len(built.failed) > MOST_SHOWN:
        output.print(f"  and {len(built.failed) - MOST_SHOWN} more")
    if built.failed:
        output.note(f"{counted(len(built.failed), 'session')} failed: what the lake had stays")
