"""A notebook to its cells and what came of them, as the model sees them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from plait.agent.tools.model import Outcome, ToolError

MOST_OUTPUT = 10_000
IMAGE_KINDS = ("image/png", "image/jpeg")


def notebook_outcome(path: str, data: bytes) -> Outcome:
    """Returns the cells of a notebook; raises ToolError where it is none."""
    found = parsed(data)
    language = _language(found)
    cells = [_cell(cell, at, language) for at, cell in enumerate(found["cells"])]
    file = {"filePath": path, "cells": cells}
    return Outcome([*_joined(cells)], {"type": "notebook", "file": file})


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
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ToolError("Notebook file has no list of cells.")
    return dict(found)


def _language(notebook: Mapping[str, Any]) -> str:
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    return str(info.get("name", "python")) if isinstance(info, dict) else "python"


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def cell_id(cell: Mapping[str, Any], at: int) -> str:
    """Returns the name of a cell: its own, or its place."""
    return str(cell.get("id") or f"cell-{at}")


def _cell(cell: Mapping[str, Any], at: int, language: str) -> dict[str, Any]:
    kind = str(cell.get("cell_type", "code"))
    told: dict[str, Any] = {"cellType": kind, "source": _text(cell.get("source"))}
    if kind == "code" and cell.get("execution_count") is not None:
        told["execution_count"] = cell["execution_count"]
    told["cell_id"] = cell_id(cell, at)
    if kind == "code":
        told["language"] = language
        outputs = cell.get("outputs")
        if isinstance(outputs, list) and outputs:
            told["outputs"] = [_output(one) for one in outputs if isinstance(one, dict)]
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
    told["text"] = _short(_text(shown.get("text/plain")))
    if image := _image(shown):
        told["image"] = image
    return told


def _short(text: str) -> str:
    if len(text) <= MOST_OUTPUT:
        return text
    return f"{text[:MOST_OUTPUT]}\n\n... [{len(text) - MOST_OUTPUT} characters truncated] ..."


def _image(data: Mapping[str, Any]) -> dict[str, str] | None:
    for kind in IMAGE_KINDS:
        if isinstance(encoded := data.get(kind), (str, list)):
            return {"image_data": "".join(_text(encoded).split()), "media_type": kind}
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
