"""Options that the commands of a lake share, to the lake that they mean."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plait.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from plait.cli.options import Request
    from plait.lake.store import Lake

F = TypeVar("F", bound=Callable[..., Any])

lake_option = click.option(
    "--lake",
    "url",
    metavar="URL",
    help="The lake: a folder, s3://bucket/name, gs://…, az://…; else as the settings say.",
)


def lake_url(request: "Request", url: str | None, option: str = "--lake") -> str:
    """Returns where the lake is that is meant: as was said, else as the settings say."""
    found = url or request.settings.lake.url
    if not found:
        raise UserError(
            "which lake?",
            f"`{option} URL`: a folder or an address",
            'or set `lake = "…"` in config.toml',
        )
    return found


def opened_lake(request: "Request", url: str | None) -> "Lake":
    """Opens the lake that is meant, to read it."""
    need_extra()
    from plait.lake.store import Lake

    return Lake(lake_url(request, url), request.settings.lake.options)


def need_extra() -> None:
    """Says what to install where the parts that make a lake are not."""
    from importlib.util import find_spec

    missing = [name for name in ("pyarrow", "deltalake", "duckdb") if find_spec(name) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise MissingExtra(
            f"a lake needs {', '.join(missing)}, which {are} not installed",
            "`pip install 'plait[lake]'`",
        )
