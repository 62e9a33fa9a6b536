"""`plait keep pack` and `unpack`: what is kept to one file for another machine, and from one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, complete_session, global_options, json_option
from plait.cli.text import counted, safe_line, size, to_type

if TYPE_CHECKING:
    from plait.keep import Merged


@click.command("pack")
@click.argument("file", metavar="FILE")
@click.argument("names", metavar="[SESSION]...", nargs=-1, shell_complete=complete_session)
@json_option
@global_options
@click.pass_obj
def pack_command(request: Request, file: str, names: tuple[str, ...], as_json: bool) -> None:
    """Write what is kept, of all or some sessions, to one FILE for another machine."""
    chosen = [request.session(name) for name in names] or None
    found = request.archive.keep.pack(Path(file), chosen)
    if as_json:
        request.output.json({"file": file, **_as_object(found)})
        return
    told = f"packed {_in_words(found)}, {size(Path(file).stat().st_size)} in the file"
    request.output.print(told, style="bold green")
    request.output.unbroken(f"  there   {to_type('plait', 'keep', 'unpack', Path(file).name)}")


@click.command("unpack")
@click.argument("file", metavar="FILE")
@json_option
@global_options
@click.pass_obj
def unpack_command(request: Request, file: str, as_json: bool) -> None:
    """Take in what another machine has packed into FILE.

    What is here already stays as it is: to do it twice changes nothing.
    """
    found = request.archive.keep.unpack(Path(file))
    if as_json:
        request.output.json({"file": file, **_as_object(found)})
    elif not found.files:
        request.output.print(f"nothing new in '{safe_line(file)}'")
    else:
        request.output.print(f"took in {_in_words(found)}", style="bold green")


def _as_object(found: "Merged") -> dict[str, Any]:
    return {
        "sessions": list(found.sessions),
        "files": found.files,
        "bytes": found.bytes,
        "stored_bytes": found.stored_bytes,
    }


def _in_words(found: "Merged") -> str:
    sessions, files = counted(len(found.sessions), "session"), counted(found.files, "file")
    return f"{sessions}, {files}, {size(found.bytes)}"
