"""`plait restore`: a kept session back to where it was, or below a folder."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, global_options, json_option, session_argument
from plait.cli.text import counted, now, safe_line, to_type
from plait.errors import SourceError

if TYPE_CHECKING:
    from plait.keep import Restored

CLEANUP = timedelta(days=30)


@click.command("restore")
@session_argument
@click.option("--to", metavar="DIR", help="Below this folder, instead of where it was.")
@click.option("--overwrite", is_flag=True, help="Write over what is there and is something else.")
@click.option("--touch", is_flag=True, help="With the time of now: the cleanup leaves it alone.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request, session: str, to: str | None, overwrite: bool, touch: bool, as_json: bool
) -> None:
    """Put a kept SESSION back where it was: its bytes, times and modes.

    With all that was kept of it. What is there already and the same stays.
    """
    found = request.session(session)
    with request.output.watched("restoring the session") as watch:
        restored = request.archive.keep.restore(
            found,
            to,
            overwrite=overwrite,
            is_fresh=touch,
            report=(lambda now: watch(now.bytes, now.of_bytes)) if watch else None,
        )
    if as_json:
        request.output.json({"session": found.id, **_as_object(restored)})
    else:
        print_restored(request, restored)
        if to is None and not touch:
            _warn_of_cleanup(request, found.id, restored)
    if restored.damaged:
        first = restored.damaged[0]
        raise SourceError(
            f"{counted(len(restored.damaged), 'file')} could not be restored: {first.why}",
            "`plait keep verify` names what is damaged",
        )


def _as_object(restored: "Restored") -> dict[str, Any]:
    return {
        "path": restored.path,
        "sha256": restored.sha256,
        "files": [str(path) for path in restored.files],
        "same": [str(path) for path in restored.same],
        "damaged": [{"block": one.block, "why": one.why} for one in restored.damaged],
    }


def print_restored(request: Request, restored: "Restored") -> None:
    """Says what was put back, and where."""
    output = request.output
    if restored.files:
        output.print(f"restored {counted(len(restored.files), 'file')}", style="bold green")
    else:
        output.print(f"nothing to do: {counted(len(restored.same), 'file')} there already")
    output.unbroken(f"  path    {safe_line(str(restored.path))}")
    output.unbroken(f"  sha256  {restored.sha256}")


def _warn_of_cleanup(request: Request, session: str, restored: "Restored") -> None:
    try:
        written = datetime.fromtimestamp(Path(restored.path).stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return
    if now() - written >= CLEANUP:
        again = to_type("plait", "restore", session[:8], "--touch")
        request.output.note(
            "it has its old time: Claude Code's cleanup may delete it again; "
            f"`{again}` gives it the time of now"
        )
