"""The path of a file to what the model sees of it: lines, an image, cells, pages."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

from plait.agent.tools import paths
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.images import IMAGES, image_outcome
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    Sight,
    ToolError,
    Workplace,
)
from plait.agent.tools.notebooks import notebook_outcome
from plait.agent.tools.pdf import pdf_outcome
from plait.agent.tools.text import decoded, digest_of, size_of

MOST_BYTES = 256 * 1024
MOST_LETTERS = 100_000
MOST_SHOWN = 85_000
"""Letters that are shown of a file that is longer than that."""
BINARY = frozenset(
    (
        ".7z .a .aac .accdb .ai .avi .bin .bmp .bz2 .cab .class .dat .db .deb .dll .dmg .doc "
        ".docx .dylib .ear .eot .exe .flac .flv .gz .ico .idx .iso .jar .lib .lz4 .m4a .m4v "
        ".mdb .mkv .mov .mp3 .mp4 .mpeg .mpg .msi .o .obj .odp .ods .odt .ogg .otf .pak "
        ".parquet .pkg .pkl .ppt .pptx .psd .pyc .pyd .pyo .rar .rlib .rpm .sketch .so "
        ".sqlite .sqlite3 .swf .tar .tgz .tif .tiff .ttf .war .wasm .wav .webm .wma .wmv "
        ".woff .woff2 .xls .xlsx .xz .z .zip .zst "
    ).split()
)
LARGEST = 64 * 1024 * 1024
"""Bytes that are ever read of a file, however they are asked for."""
FIELDS = (
    Field("file_path", "string", "The file to read, as an absolute path", is_needed=True),
    Field("offset", "integer", "The line to begin with, for files that are long"),
    Field("limit", "integer", "How many lines to read, for files that are long"),
    Field("pages", "string", 'Pages of a PDF, such as "3" or "1-5"'),
    Field("allow_large", "boolean", "Read a file that is larger than usual, as far as it fits"),
)
NULL_BYTES = "Read file_path cannot contain null bytes (\\0). Remove the null byte and try again."
ABOUT = (
    "Reads a file of this machine. Lines come with their numbers. Images, PDFs and notebooks are"
    " shown as what they are. Long files can be read in parts with offset and limit."
)


@dataclass(frozen=True, slots=True)
class Read:
    """The tool that reads a file."""

    name: str = "Read"
    effect: Effect = "read"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Finds the file, links followed."""
        taken = checked(self.name, FIELDS, arguments)
        text = taken["file_path"]
        if "\0" in text:
            raise ToolError(NULL_BYTES, is_misuse=True)
        path = paths.located(text, place)
        shown = str(paths.named(text, place))
        if any(f"{one}/".startswith(paths.DEVICES) for one in (shown, str(path))):
            raise paths.no_file(text)
        return Proposal(self.name, taken, self.effect, text, (path,))

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Reads it, and remembers that the model has seen it."""
        return await asyncio.to_thread(read_now, proposal, place)


def read_now(proposal: Proposal, place: Workplace) -> Outcome:
    """Reads a file, and returns what the model sees of it; raises ToolError."""
    path, text = proposal.paths[0], str(proposal.arguments["file_path"])
    shown = paths.named(text, place)
    try:
        size = paths.status(path).st_size
        match path.suffix.lower():
            case ".ipynb":
                return _seen(notebook_outcome(text, paths.read_bytes(path, LARGEST)), path, place)
            case ".pdf":
                return pdf_outcome(text, size, paths.read_bytes(path, LARGEST))
            case suffix if suffix in BINARY:
                raise ToolError(_binary(suffix), is_misuse=True)
            case suffix if suffix in IMAGES:
                return image_outcome(text, paths.read_bytes(path, LARGEST))
            case _:
                return _lines(proposal.arguments, size, path, place)
    except FileNotFoundError as error:
        raise ToolError(missing(shown, place)) from error
    except IsADirectoryError as error:
        raise paths.fault(error, "read", shown) from error
    except OSError as error:
        raise paths.fault(error, "open", shown) from error


def missing(path: Path, place: Workplace) -> str:
    """Returns that a file is not there, and which one may be meant."""
    told = f"File does not exist. Note: your current working directory is {place.cwd}."
    like = _like(path)
    return f"{told} Did you mean {like}?" if like else told


def _like(path: Path) -> str | None:
    try:
        names = sorted(entry.name for entry in os.scandir(path.parent) if entry.is_file())
    except OSError:
        return None
    same = [name for name in names if Path(name).stem == path.stem]
    return next(iter([*same, *get_close_matches(path.name, names[:5000], 1, 0.85)]), None)


def _lines(arguments: Arguments, size: int, path: Path, place: Workplace) -> Outcome:
    is_part = "offset" in arguments or "limit" in arguments
    if size > MOST_BYTES and not is_part and not arguments.get("allow_large"):
        raise _too_much(f"({size_of(size)}) exceeds maximum allowed size (256KB)")
    data = paths.read_bytes(path, LARGEST)
    found = decoded(data)
    lines = found.shown.split("\n")
    start, picked = _picked(arguments, lines)
    content = "\n".join(picked)
    is_cut = len(content) > MOST_LETTERS and not arguments.get("allow_large")
    if is_cut:
        picked = [] if is_part else _fitting(picked)
        if not picked:
            raise _too_much(f"({len(content) // 4} tokens) exceeds maximum allowed tokens (25000)")
        content = "\n".join(picked)
    place.seen[path] = Sight(digest_of(data), len(picked) == len(lines))
    file = {
        "filePath": arguments["file_path"],
        "content": content,
        "numLines": len(picked),
        "startLine": start,
        "totalLines": len(lines),
        **({"truncatedByTokenCap": True} if is_cut else {}),
    }
    told = "\n".join(_numbered(picked, start)) or ""
    told = _nothing(start, len(lines)) if not content and len(picked) < 2 else told
    note = _cut_note(len(picked), len(lines)) if is_cut else ""
    return Outcome(told + found.note + note, {"type": "text", "file": file})


def _fitting(lines: list[str]) -> list[str]:
    """Returns the first lines, as many as the model is shown of a file that it asked for whole."""
    ends = accumulate(len(line) + 1 for line in lines)
    return lines[: sum(1 for _ in takewhile(lambda end: end <= MOST_SHOWN, ends))]


def _cut_note(shown: int, total: int) -> str:
    return (
        f"\n\n[The first {shown} of {total} lines. Read the rest with offset and limit, or search"
        " for what is needed.]"
    )


def _picked(arguments: Arguments, lines: list[str]) -> tuple[int, list[str]]:
    """Returns the first line's number and the lines asked for; senseless numbers are none."""
    offset, limit = arguments.get("offset", 1), arguments.get("limit")
    start = offset if offset >= 0 else 1
    begin = max(start - 1, 0)
    return start, lines[begin : begin + limit] if limit and limit > 0 else lines[begin:]


def _numbered(lines: list[str], start: int) -> Iterator[str]:
    return (f"{number}\t{line}" for number, line in enumerate(lines, start))


def _nothing(start: int, total: int) -> str:
    if start > total:
        why = f"is shorter than the provided offset ({start}). The file has {total} lines."
    else:
        why = "the contents are empty."
    return f"<system-reminder>Warning: the file exists but {why}</system-reminder>"


def _seen(outcome: Outcome, path: Path, place: Workplace) -> Outcome:
    place.seen[path] = Sight(digest_of(paths.read_bytes(path, LARGEST)), True)
    return outcome


def _binary(suffix: str) -> str:
    return (
        f"This tool cannot read binary files. The file appears to be a binary {suffix} file. Use a"
        " skill for this file type if one is available, or a shell command or script that can"
        " read the format."
    )


def _too_much(told: str) -> ToolError:
    return ToolError(
        f"File content {told}. Use offset and limit parameters to read specific portions of the"
        " file, or search for specific content instead of reading the whole file. To read it"
        " anyway, up to what still fits in your context, call Read again with allow_large: true —"
        " only if you genuinely need all of it or the user asked for the whole file."
    )
