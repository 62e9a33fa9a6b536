"""The Read tool: text, images, PDF files and notebooks."""

import asyncio
import json
import os
import struct
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
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
"""Characters of base64 that the API accepts for one image."""
IMAGE_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


def detect_media_type(data: bytes) -> str | None:
    """Return the media type of an image by its first bytes; None if it is not a known one."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in IMAGE_SIGNATURES.items() if data.startswith(start)), None)


def make_image_outcome(path: str, data: bytes) -> Outcome:
    """Return the result of reading an image; raise ToolError if it is not one."""
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
    file: dict[str, Any] = {"base64": encoded, "type": kind, "originalSize": len(data)}
    if size := read_dimensions(kind, data):
        width, height = size
        file["dimensions"] = {
            "originalWidth": width,
            "originalHeight": height,
            "displayWidth": width,
            "displayHeight": height,
        }
    return Outcome([block], {"type": "image", "file": file})


def read_dimensions(kind: str, data: bytes) -> tuple[int, int] | None:
    """Return the width and height from the header of an image; None if it is broken."""
    width = height = 0
    try:
        match kind:
            case "image/png":
                width, height = struct.unpack_from(">II", data, 16)
            case "image/gif":
                width, height = struct.unpack_from("<HH", data, 6)
            case "image/jpeg":
                at = 2
                while at + 9 <= len(data) and data[at] == 0xFF:
                    marker, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
                    # a start of frame; C4, C8 and CC in that range are other segments
                    if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                        height, width = struct.unpack_from(">HH", data, at + 5)
                        return width, height
                    at += 2 + length
                return None
            case _ if data[12:16] == b"VP8X":
                width = int.from_bytes(data[24:27], "little") + 1
                height = int.from_bytes(data[27:30], "little") + 1
            case _ if data[12:16] == b"VP8 ":
                width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", data, 26))
            case _ if data[12:16] == b"VP8L":
                bits = struct.unpack_from("<I", data, 21)[0]
                width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
            case _:
                return None
    except struct.error:
        return None
    return width, height


MAX_PDF_BYTES = 20 * 1024 * 1024
"""Size of a document that fits into a request."""


def make_pdf_outcome(path: str, size: int, data: bytes) -> Outcome:
    """Return the result of reading a PDF file; raise ToolError if it is not one."""
    if not size:
        raise ToolError(f"PDF file is empty: {path}")
    if not data.startswith(b"%PDF-"):
        raise ToolError(f"File is not a valid PDF (missing %PDF- header): {path}")
    if size > MAX_PDF_BYTES:
        raise ToolError(
            f"PDF file is too large ({size / 1024**2:.1f}MB): {path}. Extract the pages you"
            " need, or the text (pdftotext), with a shell command."
        )
    encoded = b64encode(data).decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": encoded}
    fields = {"type": "text", "text": f"PDF file read: {path} ({format_size(size)})"}
    file = {"filePath": path, "base64": encoded, "originalSize": size}
    return Outcome([fields, {"type": "document", "source": source}], {"type": "pdf", "file": file})


MAX_CELL_OUTPUT = 10_000
"""Characters of the outputs of one cell."""
INVALID_NOTEBOOK = (
    'Notebook file is not a valid Jupyter notebook (top-level "cells" must be an array of cell'
    ' objects, each with a string or string-array "source").'
)
OUTPUTS_TOO_LARGE = (
    "Outputs are too large to include. Use Bash with: cat <notebook_path> | jq '.cells[{}].outputs'"
)
NOTEBOOK_IMAGE_TYPES = ("image/png", "image/jpeg")


def parse_notebook(data: bytes) -> dict[str, Any]:
    """Decode a notebook; raise ToolError if it is not one."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ToolError(
            "Notebook file is not valid JSON (it may be truncated, corrupted, or still being"
            f" written): {error}"
        ) from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ToolError(INVALID_NOTEBOOK)
    for cell in cells:
        source = cell.get("source") if isinstance(cell, dict) else None
        lines = source if isinstance(source, list) else [source]
        if not all(isinstance(line, str) for line in lines):
            raise ToolError(INVALID_NOTEBOOK)
    return dict(notebook)


def get_language(notebook: Mapping[str, Any]) -> str:
    """Return the programming language of a notebook."""
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    return str(info.get("name", "python")) if isinstance(info, dict) else "python"


def join_text(value: Any) -> str:
    """Return a text that the notebook format may store as a list of lines."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def get_cell_id(cell: Mapping[str, Any], index: int) -> str:
    """Return the ID of a cell; older notebooks have none, so it is made from its index."""
    return str(cell.get("id") or f"cell-{index}")


def make_notebook_outcome(path: str, data: bytes) -> Outcome:
    """Return the result of reading a notebook; raise ToolError if it is not one."""
    notebook = parse_notebook(data)
    language = get_language(notebook)
    cells: list[dict[str, Any]] = []
    blocks: list[dict[str, Any]] = []

    def add_text(text: str) -> None:  # consecutive texts become one block
        if blocks and blocks[-1]["type"] == "text":
            blocks[-1]["text"] += f"\n{text}"
        else:
            blocks.append({"text": text, "type": "text"})

    for index, cell in enumerate(notebook["cells"]):
        kind, name = str(cell.get("cell_type", "code")), get_cell_id(cell, index)
        fields: dict[str, Any] = {"cellType": kind, "source": join_text(cell.get("source"))}
        if kind == "code" and cell.get("execution_count") is not None:
            fields["execution_count"] = cell["execution_count"]
        fields["cell_id"] = name
        about = f"<cell_type>{kind}</cell_type>"
        if kind == "code":
            fields["language"] = language
            about = "" if language == "python" else f"<language>{language}</language>"
            outputs = cell.get("outputs")
            if isinstance(outputs, list) and outputs:
                described = [_describe_output(item) for item in outputs if isinstance(item, dict)]
                is_long = sum(len(output["text"]) for output in described) > MAX_CELL_OUTPUT
                note = {"output_type": "stream", "text": OUTPUTS_TOO_LARGE.format(index)}
                fields["outputs"] = [note] if is_long else described
        cells.append(fields)
        add_text(f'<cell id="{name}">{about}{fields["source"]}</cell id="{name}">')
        for output in fields.get("outputs", ()):
            if output["text"]:
                add_text(f"\n{output['text']}")
            if image := output.get("image"):
                source = {"data": image["image_data"], "media_type": image["media_type"]}
                blocks.append({"type": "image", "source": source | {"type": "base64"}})
    file = {"filePath": path, "cells": cells}
    content = blocks or "(Read completed with no output)"
    return Outcome(content, {"type": "notebook", "file": file})


def _describe_output(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output of a cell as it is logged."""
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
    for media_type in NOTEBOOK_IMAGE_TYPES:
        if isinstance(encoded := shown.get(media_type), (str, list)):
            data = "".join(join_text(encoded).split())
            fields["image"] = {"image_data": data, "media_type": media_type}
            break
    return fields


MAX_FULL_READ_BYTES = 256 * 1024
MAX_CONTENT = 100_000
MAX_CUT_CONTENT = 85_000
"""Characters shown of a longer file."""
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
"""Bytes read of a file at most, whatever was requested."""
NULL_BYTES = "Read file_path cannot contain null bytes (\\0). Remove the null byte and try again."


class Read(BuiltInTool):
    """The tool that reads a file."""

    name = "Read"
    effect = "read"
    description = (
        "Reads a file. Lines are numbered. It can also read images, PDFs and notebooks. Read long"
        " files in parts with offset and limit."
    )
    fields = (
        Field("file_path", "string", "Absolute path of the file", is_required=True),
        Field("offset", "integer", "Line to start from, for long files"),
        Field("limit", "integer", "Number of lines to read, for long files"),
        Field("pages", "string", 'Pages of a PDF, such as "3" or "1-5"'),
        Field(
            "allow_large",
            "boolean",
            "Read a file above the size limit, or as much of it as fits in the context",
        ),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        text = proposal.arguments["file_path"]
        if "\0" in text:
            raise ToolError(NULL_BYTES, is_misuse=True)
        path = files.resolve_path(text, place)
        shown = str(files.make_absolute(text, place))
        if any(f"{item}/".startswith(files.DEVICES) for item in (shown, str(path))):
            raise files.make_not_a_file_error(text)
        return replace(proposal, title=text, paths=(path,))

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        return await asyncio.to_thread(read_file, proposal, place)


def read_file(proposal: Proposal, place: Workplace) -> Outcome:
    """Read a file and return the result; raise ToolError."""
    path, text = proposal.paths[0], str(proposal.arguments["file_path"])
    shown = files.make_absolute(text, place)
    try:
        size = files.get_status(path).st_size
        match path.suffix.lower():
            case ".ipynb":
                data = files.read_bytes(path, MAX_READ_BYTES)
                outcome = make_notebook_outcome(text, data)
                place.file_views[path] = FileView(compute_digest(data), True)
                return outcome
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
    """Return the message for a missing file, with a similar name if there is one."""
    text = f"File does not exist. Note: your current working directory is {place.cwd}."
    try:
        names = sorted(entry.name for entry in os.scandir(path.parent) if entry.is_file())
    except OSError:
        return text
    similar = [name for name in names if Path(name).stem == path.stem]
    similar += get_close_matches(path.name, names[:5000], 1, 0.85)
    return f"{text} Did you mean {similar[0]}?" if similar else text


def _read_lines(arguments: Arguments, size: int, path: Path, place: Workplace) -> Outcome:
    """Return the result of reading a text file, all of it or the lines requested."""
    is_part = "offset" in arguments or "limit" in arguments
    if size > MAX_FULL_READ_BYTES and not is_part and not arguments.get("allow_large"):
        raise _make_too_large_error(f"({format_size(size)}) exceeds maximum allowed size (256KB)")
    data = files.read_bytes(path, MAX_READ_BYTES)
    decoded = decode_file(data)
    lines = decoded.content.split("\n")
    offset, limit = arguments.get("offset", 1), arguments.get("limit")
    start = offset if offset >= 0 else 1
    picked = lines[max(start - 1, 0) :]
    if limit and limit > 0:
        picked = picked[:limit]
    content = "\n".join(picked)
    is_cut = len(content) > MAX_CONTENT and not arguments.get("allow_large")
    if is_cut:
        # a file requested whole is cut; a part that is too long is an error
        ends = accumulate(len(line) + 1 for line in picked)
        fitting = sum(1 for _ in takewhile(lambda end: end <= MAX_CUT_CONTENT, ends))
        picked = [] if is_part else picked[:fitting]
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
    text = "\n".join(f"{number}\t{line}" for number, line in enumerate(picked, start))
    if not content and len(picked) < 2:
        problem = "the contents are empty."
        if start > len(lines):
            problem = (
                f"is shorter than the provided offset ({start}). The file has {len(lines)} lines."
            )
        text = f"<system-reminder>Warning: the file exists but {problem}</system-reminder>"
    text += decoded.note
    if is_cut:
        text += (
            f"\n\n[The first {len(picked)} of {len(lines)} lines. Read the rest with offset and"
            " limit, or search for what you need.]"
        )
    return Outcome(text, {"type": "text", "file": file})


def _make_too_large_error(problem: str) -> ToolError:
    return ToolError(
        f"File content {problem}. Use offset and limit parameters to read specific portions of the"
        " file, or search for specific content instead of reading the whole file. To read it"
        " anyway, up to what still fits in your context, call Read again with allow_large: true —"
        " only if you genuinely need all of it or the user asked for the whole file."
    )
