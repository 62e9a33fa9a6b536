"""The Read tool: text, images, PDF files and notebooks."""

import asyncio
import json
import os
import struct
from base64 import b64encode
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

from plait.chat.tools import files
from plait.chat.tools.base import (
    Arguments,
    BuiltInTool,
    Field,
    FileView,
    Outcome,
    ProgressCallback,
    Proposal,
    ToolError,
    Workplace,
)
from plait.chat.tools.files import compute_digest, decode_file, format_size

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MAX_IMAGE_LENGTH = 5 * 1024 * 1024
"""Letters of base64 that the API takes for one image."""
IMAGE_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


def detect_media_type(data: bytes) -> str | None:
    """Return what kind of image data begins as."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in IMAGE_SIGNATURES.items() if data.startswith(start)), None)


def make_image_outcome(path: str, data: bytes) -> Outcome:
    """Return an image as the model and the log have it; raises ToolError where it is none."""
    if not data:
        raise ToolError(f"Image file is empty: {path}")
    kind = detect_media_type(data)
    if kind is None:
        start = " ".join(f"{byte:02x}" for byte in data[:8])
        raise ToolError(
            "File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP. Detected:"
            f" unrecognized bytes (hex: {start}). This usually means a download saved an error/login"
            f' page instead of the image. Use `file "{path}"` to confirm, or read it as text with Bash'
            " (e.g. `head -c 500`)."
        )
    encoded = b64encode(data).decode()
    if len(encoded) > MAX_IMAGE_LENGTH:
        raise ToolError(
            f"Image is too large to read ({len(data) / 1024**2:.1f}MB): {path}. Make a smaller copy"
            " of it with a shell command and read that."
        )
    block = {
        "type": "image",
        "source": {"type": "base64", "data": encoded, "media_type": kind},
    }
    file = {
        "base64": encoded,
        "type": kind,
        "originalSize": len(data),
        **_dimension_fields(kind, data),
    }
    return Outcome([block], {"type": "image", "file": file})


def _dimension_fields(kind: str, data: bytes) -> dict[str, Any]:
    size = read_dimensions(kind, data)
    if size is None:
        return {}
    original = {"originalWidth": size[0], "originalHeight": size[1]}
    return {"dimensions": original | {"displayWidth": size[0], "displayHeight": size[1]}}


def read_dimensions(kind: str, data: bytes) -> tuple[int, int] | None:
    """Return width and height as an image states them, None where it does not."""
    try:
        match kind:
            case "image/png":
                width, height = struct.unpack_from(">II", data, 16)
            case "image/gif":
                width, height = struct.unpack_from("<HH", data, 6)
            case "image/jpeg":
                return _read_jpeg_size(data)
            case _:
                return _read_webp_size(data)
    except struct.error:
        return None
    return width, height


def _read_jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        mark, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length
    return None


def _read_webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            width, height = data[24:27], data[27:30]
            return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            bits = struct.unpack_from("<I", data, 21)[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            return None


MAX_PDF_BYTES = 20 * 1024 * 1024
"""Bytes of a document that fit into a request."""


def make_pdf_outcome(path: str, size: int, data: bytes) -> Outcome:
    """Return a document as the model and the log have it; raises ToolError where it is none."""
    if not size:
        raise ToolError(f"PDF file is empty: {path}")
    if not data.startswith(b"%PDF-"):
        raise ToolError(f"File is not a valid PDF (missing %PDF- header): {path}")
    if size > MAX_PDF_BYTES:
        raise ToolError(
            f"PDF file is too large ({size / 1024**2:.1f}MB): {path}. Take out the pages that are"
            " needed, or its text (pdftotext), with a shell command."
        )
    encoded = b64encode(data).decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": encoded}
    fields = {"type": "text", "text": f"PDF file read: {path} ({format_size(size)})"}
    file = {"filePath": path, "base64": encoded, "originalSize": size}
    return Outcome([fields, {"type": "document", "source": source}], {"type": "pdf", "file": file})


MAX_CELL_OUTPUT = 10_000
"""Letters of what came of one cell."""
INVALID_NOTEBOOK = (
    'Notebook file is not a valid Jupyter notebook (top-level "cells" must be an array of cell'
    ' objects, each with a string or string-array "source").'
)
OUTPUTS_TOO_LARGE = (
    "Outputs are too large to include. Use Bash with: cat <notebook_path> | jq '.cells[{}].outputs'"
)
IMAGE_KINDS = ("image/png", "image/jpeg")


def parse_notebook(data: bytes) -> dict[str, Any]:
    """Return a notebook; raises ToolError where it is none."""
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ToolError(
            "Notebook file is not valid JSON (it may be truncated, corrupted, or still being"
            f" written): {error}"
        ) from error
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list) or not all(map(_is_cell, cells)):
        raise ToolError(INVALID_NOTEBOOK)
    return dict(found)


def _is_cell(cell: Any) -> bool:
    source = cell.get("source") if isinstance(cell, dict) else None
    is_list = isinstance(source, list) and all(isinstance(line, str) for line in source)
    return is_list or isinstance(source, str)


def get_language(notebook: Mapping[str, Any]) -> str:
    """Return the language that the code of a notebook is in."""
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    return str(info.get("name", "python")) if isinstance(info, dict) else "python"


def join_text(value: Any) -> str:
    """Return a text that may be a list of lines."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def get_cell_id(cell: Mapping[str, Any], at: int) -> str:
    """Return the name of a cell: its own, or its place."""
    return str(cell.get("id") or f"cell-{at}")


def _describe_cell(cell: Mapping[str, Any], at: int, language: str) -> dict[str, Any]:
    kind = str(cell.get("cell_type", "code"))
    fields: dict[str, Any] = {"cellType": kind, "source": join_text(cell.get("source"))}
    if kind == "code" and cell.get("execution_count") is not None:
        fields["execution_count"] = cell["execution_count"]
    fields["cell_id"] = get_cell_id(cell, at)
    if kind == "code":
        fields["language"] = language
        outputs = cell.get("outputs")
        if isinstance(outputs, list) and outputs:
            found = [_describe_output(output) for output in outputs if isinstance(output, dict)]
            is_long = sum(len(item["text"]) for item in found) > MAX_CELL_OUTPUT
            large = {"output_type": "stream", "text": OUTPUTS_TOO_LARGE.format(at)}
            fields["outputs"] = [large] if is_long else found
    return fields


def _describe_output(output: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(output.get("output_type"))
    fields: dict[str, Any] = {"output_type": kind}
    if kind == "error":
        trace = output.get("traceback")
        lines = map(str, trace) if isinstance(trace, list) else ()
        fields["text"] = "\n".join([f"{output.get('ename')}: {output.get('evalue')}", *lines])
        return fields
    data = output.get("data")
    shown = data if isinstance(data, dict) else {"text/plain": output.get("text")}
    fields["text"] = join_text(shown.get("text/plain"))
    if image := _find_image(shown):
        fields["image"] = image
    return fields


def _find_image(data: Mapping[str, Any]) -> dict[str, str] | None:
    for kind in IMAGE_KINDS:
        if isinstance(encoded := data.get(kind), (str, list)):
            return {"image_data": "".join(join_text(encoded).split()), "media_type": kind}
    return None


def _iter_blocks(cells: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what the cells say; texts that follow each other are one block."""
    words: list[str] = []
    for block in (block for cell in cells for block in _cell_blocks(cell)):
        if isinstance(block, str):
            words.append(block)
            continue
        yield from _make_text_blocks(words)
        words.clear()
        yield block
    yield from _make_text_blocks(words)


def _make_text_blocks(words: list[str]) -> Iterator[dict[str, Any]]:
    if words:
        yield {"text": "\n".join(words), "type": "text"}


def _cell_blocks(cell: Mapping[str, Any]) -> Iterator[str | dict[str, Any]]:
    name, kind, language = cell["cell_id"], cell["cellType"], cell.get("language", "python")
    about = "" if kind == "code" else f"<cell_type>{kind}</cell_type>"
    about += "" if language == "python" else f"<language>{language}</language>"
    yield f'<cell id="{name}">{about}{cell["source"]}</cell id="{name}">'
    for output in cell.get("outputs", ()):
        if output["text"]:
            yield f"\n{output['text']}"
        if image := output.get("image"):
            source = {"data": image["image_data"], "media_type": image["media_type"]}
            yield {"type": "image", "source": source | {"type": "base64"}}


MAX_WHOLE_BYTES = 256 * 1024
MAX_CONTENT = 100_000
MAX_CUT_CONTENT = 85_000
"""Letters that are shown of a file that is longer than that."""
BINARY_SUFFIXES = frozenset(
    (
        ".7z .a .aac .accdb .ai .avi .bin .bmp .bz2 .cab .class .dat .db .deb .dll .dmg .doc "
        ".docx .dylib .ear .eot .exe .flac .flv .gz .ico .idx .iso .jar .lib .lz4 .m4a .m4v "
        ".mdb .mkv .mov .mp3 .mp4 .mpeg .mpg .msi .o .obj .odp .ods .odt .ogg .otf .pak "
        ".parquet .pkg .pkl .ppt .pptx .psd .pyc .pyd .pyo .rar .rlib .rpm .sketch .so "
        ".sqlite .sqlite3 .swf .tar .tgz .tif .tiff .ttf .war .wasm .wav .webm .wma .wmv "
        ".woff .woff2 .xls .xlsx .xz .z .zip .zst "
    ).split()
)
MAX_READ_BYTES = 64 * 1024 * 1024
"""Bytes that are ever read of a file, however they are asked for."""
READ_FIELDS = (
    Field("file_path", "string", "The file to read, as an absolute path", is_required=True),
    Field("offset", "integer", "The line to begin with, for files that are long"),
    Field("limit", "integer", "How many lines to read, for files that are long"),
    Field("pages", "string", 'Pages of a PDF, such as "3" or "1-5"'),
    Field("allow_large", "boolean", "Read a file that is larger than usual, as far as it fits"),
)
NULL_BYTES = "Read file_path cannot contain null bytes (\\0). Remove the null byte and try again."
READ_DESCRIPTION = (
    "Reads a file of this machine. Lines come with their numbers. Images, PDFs and notebooks are"
    " shown as what they are. Long files can be read in parts with offset and limit."
)


class Read(BuiltInTool):
    """The tool that reads a file."""

    name = "Read"
    effect = "read"
    description = READ_DESCRIPTION
    fields = READ_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Find the file, links followed."""
        checked = self.check(arguments)
        text = checked["file_path"]
        if "\0" in text:
            raise ToolError(NULL_BYTES, is_misuse=True)
        path = files.resolve_path(text, place)
        shown = str(files.make_absolute(text, place))
        if any(f"{item}/".startswith(files.DEVICES) for item in (shown, str(path))):
            raise files.make_not_a_file_error(text)
        return Proposal(self.name, checked, self.effect, text, (path,))

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Read it, and remembers that the model has seen it."""
        return await asyncio.to_thread(read_file, proposal, place)


def read_file(proposal: Proposal, place: Workplace) -> Outcome:
    """Read a file, and returns what the model sees of it; raises ToolError."""
    path, text = proposal.paths[0], str(proposal.arguments["file_path"])
    shown = files.make_absolute(text, place)
    try:
        size = files.get_status(path).st_size
        match path.suffix.lower():
            case ".ipynb":
                found = parse_notebook(files.read_bytes(path, MAX_READ_BYTES))
                language = get_language(found)
                cells = [
                    _describe_cell(cell, at, language) for at, cell in enumerate(found["cells"])
                ]
                file = {"filePath": text, "cells": cells}
                message = [*_iter_blocks(cells)] or "(Read completed with no output)"
                place.file_views[path] = FileView(
                    compute_digest(files.read_bytes(path, MAX_READ_BYTES)), True
                )
                return Outcome(message, {"type": "notebook", "file": file})
            case ".pdf":
                return make_pdf_outcome(text, size, files.read_bytes(path, MAX_READ_BYTES))
            case suffix if suffix in BINARY_SUFFIXES:
                raise ToolError(
                    f"This tool cannot read binary files. The file appears to be a binary {suffix} file. Use a"
                    " skill for this file type if one is available, or a shell command or script that can"
                    " read the format.",
                    is_misuse=True,
                )
            case suffix if suffix in IMAGE_SUFFIXES:
                return make_image_outcome(text, files.read_bytes(path, MAX_READ_BYTES))
            case _:
                return _read_lines(proposal.arguments, size, path, place)
    except FileNotFoundError as error:
        raise ToolError(describe_missing_file(shown, place)) from error
    except IsADirectoryError as error:
        raise files.make_file_error(error, "read", shown) from error
    except OSError as error:
        raise files.make_file_error(error, "open", shown) from error


def describe_missing_file(path: Path, place: Workplace) -> str:
    """Return that a file is not there, and which one may be meant."""
    text = f"File does not exist. Note: your current working directory is {place.cwd}."
    like = _find_similar(path)
    return f"{text} Did you mean {like}?" if like else text


def _find_similar(path: Path) -> str | None:
    try:
        names = sorted(entry.name for entry in os.scandir(path.parent) if entry.is_file())
    except OSError:
        return None
    same = [name for name in names if Path(name).stem == path.stem]
    return next(iter([*same, *get_close_matches(path.name, names[:5000], 1, 0.85)]), None)


def _read_lines(arguments: Arguments, size: int, path: Path, place: Workplace) -> Outcome:
    is_part = "offset" in arguments or "limit" in arguments
    if size > MAX_WHOLE_BYTES and not is_part and not arguments.get("allow_large"):
        raise _make_too_large_error(f"({format_size(size)}) exceeds maximum allowed size (256KB)")
    data = files.read_bytes(path, MAX_READ_BYTES)
    found = decode_file(data)
    lines = found.content.split("\n")
    offset, limit = arguments.get("offset", 1), arguments.get("limit")
    start = offset if offset >= 0 else 1
    begin = max(start - 1, 0)
    start, picked = start, lines[begin : begin + limit] if limit and limit > 0 else lines[begin:]
    content = "\n".join(picked)
    is_cut = len(content) > MAX_CONTENT and not arguments.get("allow_large")
    if is_cut:
        picked = [] if is_part else _fit_lines(picked)
        if not picked:
            raise _make_too_large_error(
                f"({len(content) // 4} tokens) exceeds maximum allowed tokens (25000)"
            )
        content = "\n".join(picked)
    place.file_views[path] = FileView(compute_digest(data), len(picked) == len(lines))
    file = {
        "filePath": arguments["file_path"],
        "content": content,
        "numLines": len(picked),
        "startLine": start,
        "totalLines": len(lines),
        **({"truncatedByTokenCap": True} if is_cut else {}),
    }
    text = "\n".join(f"{number}\t{line}" for number, line in enumerate(picked, start)) or ""
    text = _describe_empty(start, len(lines)) if not content and len(picked) < 2 else text
    note = _format_cut_note(len(picked), len(lines)) if is_cut else ""
    return Outcome(text + found.note + note, {"type": "text", "file": file})


def _fit_lines(lines: list[str]) -> list[str]:
    """Return the first lines, as many as the model is shown of a file that it asked for whole."""
    ends = accumulate(len(line) + 1 for line in lines)
    return lines[: sum(1 for _ in takewhile(lambda end: end <= MAX_CUT_CONTENT, ends))]


def _format_cut_note(shown: int, total: int) -> str:
    return (
        f"\n\n[The first {shown} of {total} lines. Read the rest with offset and limit, or search"
        " for what is needed.]"
    )


def _describe_empty(start: int, total: int) -> str:
    if start > total:
        why = f"is shorter than the provided offset ({start}). The file has {total} lines."
    else:
        why = "the contents are empty."
    return f"<system-reminder>Warning: the file exists but {why}</system-reminder>"


def _make_too_large_error(told: str) -> ToolError:
    return ToolError(
        f"File content {told}. Use offset and limit parameters to read specific portions of the"
        " file, or search for specific content instead of reading the whole file. To read it"
        " anyway, up to what still fits in your context, call Read again with allow_large: true —"
        " only if you genuinely need all of it or the user asked for the whole file."
    )
