"""A notebook to its cells and what came of them, as the model sees them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from plait.agent.tools.model import Outcome, ToolError

MOST_OUTPUT = 10_000
"""Letters of what came of one cell."""
NO_NOTEBOOK = (
    'Notebook file is not a valid Jupyter notebook (top-level "cells" must be an array of cell'
    ' objects, each with a string or string-array "source").'
)
TOO_LARGE = (
    "Outputs are too large to include. Use Bash with: cat <notebook_path> | jq '.cells[{}].outputs'"
)
IMAGE_KINDS = ("image/png", "image/jpeg")


def notebook_outcome(path: str, data: bytes) -> Outcome:
    """Returns the cells of a notebook; raises ToolError where it is none."""
    found = parsed(data)
    language = language_of(found)
    cells = [_cell(cell, at, language) for at, cell in enumerate(found["cells"])]
    file = {"filePath": path, "cells": cells}
    told = [*_joined(cells)] or "(Read completed with no output)"
    return Outcome(told, {"type": "notebook", "file": file})


def parsed(data: bytes) -> dict[str, Any]:
    """Returns a notebook; raises ToolError where it is none."""
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ToolError(
            "Notebook file is not valid JSON (it may be truncated, corrupted, or still being"
            f" written): {error}"
        ) from error
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list) or not all(map(_is_cell, cells)):
        raise ToolError(NO_NOTEBOOK)
    return dict(found)


def _is_cell(cell: Any) -> bool:
    source = cell.get("source") if isinstance(cell, dict) else None
    is_list = isinstance(source, list) and all(isinstance(line, str) for line in source)
    return is_list or isinstance(source, str)


def language_of(notebook: Mapping[str, Any]) -> str:
    """Returns the language that the code of a notebook is in."""
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    return str(info.get("name", "python")) if isinstance(info, dict) else "python"


def text_of(value: Any) -> str:
    """Returns a text that may be a list of lines."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def cell_id(cell: Mapping[str, Any], at: int) -> str:
    """Returns the name of a cell: its own, or its place."""
    return str(cell.get("id") or f"cell-{at}")


def _cell(cell: Mapping[str, Any], at: int, language: str) -> dict[str, Any]:
    kind = str(cell.get("cell_type", "code"))
    told: dict[str, Any] = {"cellType": kind, "source": text_of(cell.get("source"))}
    if kind == "code" and cell.get("execution_count") is not None:
        told["execution_count"] = cell["execution_count"]
    told["cell_id"] = cell_id(cell, at)
    if kind == "code":
        told["language"] = language
        outputs = cell.get("outputs")
        if isinstance(outputs, list) and outputs:
            found = [_output(one) for one in outputs if isinstance(one, dict)]
            is_long = sum(len(one["text"]) for one in found) > MOST_OUTPUT
            large = {"output_type": "stream", "text": TOO_LARGE.format(at)}
            told["outputs"] = [large] if is_long else found
    return told


def _output(output: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(output.get("output_type"))
    told: dict[str, Any] = {"output_type": kind}
    if kind == "error":
        trace = output.get("traceback")
        lines = map(str, trace) if isinstance(trace, list) else ()
        told["text"] = "\n".join([f"{output.get('ename')}: {output.get('evalue')}", *lines])
        return told
    data = output.get("data")
    shown = data if isinstance(data, dict) else {"text/plain": output.get("text")}
    told["text"] = text_of(shown.get("text/plain"))
    if image := _image(shown):
        told["image"] = image
    return told


def _image(data: Mapping[str, Any]) -> dict[str, str] | None:
    for kind in IMAGE_KINDS:
        if isinstance(encoded := data.get(kind), (str, list)):
            return {"image_data": "".join(text_of(encoded).split()), "media_type": kind}
    return None


def _joined(cells: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields what the cells say; texts that follow each other are one block."""
    words: list[str] = []
    for block in (block for cell in cells for block in _blocks(cell)):
        if isinstance(block, str):
            words.append(block)
            continue
        yield from _text_block(words)
        words.clear()
        yield block
    yield from _text_block(words)


def _text_block(words: list[str]) -> Iterator[dict[str, Any]]:
    if words:
        yield {"text": "\n".join(words), "type": "text"}


def _blocks(cell: Mapping[str, Any]) -> Iterator[str | dict[str, Any]]:
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
