"""A cell of a notebook to another one in its place, beside it, or to none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from plait.agent.tools import changing
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)
from plait.agent.tools.notebooks import cell_id, language_of, parsed, text_of

MODES = ("replace", "insert", "delete")
FIELDS = (
    Field("notebook_path", "string", "The notebook, as an absolute path", is_needed=True),
    Field("cell_id", "string", "The cell to change, or the one to insert behind"),
    Field("new_source", "string", "What the cell will hold", is_needed=True),
    Field("cell_type", "string", "The kind of the cell", choices=("code", "markdown")),
    Field("edit_mode", "string", "What is done, replacing it as usual", choices=MODES),
)
ABOUT = "Replaces, inserts or deletes a cell of a notebook (.ipynb) of the workspace."
NO_NOTEBOOK = (
    "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit"
    " tool."
)


@dataclass(frozen=True, slots=True)
class _Made:
    """A notebook with one cell changed."""

    text: str
    name: str
    kind: str
    language: str
    old: str | None


@dataclass(frozen=True, slots=True)
class NotebookEdit:
    """The tool that changes a notebook."""

    name: str = "NotebookEdit"
    effect: Effect = "write"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Finds the cell in the notebook as it is now."""
        taken = checked(self.name, FIELDS, arguments)
        text = taken["notebook_path"]
        if not text.endswith(".ipynb"):
            raise _misuse(NO_NOTEBOOK)
        if taken.get("edit_mode") == "insert" and "cell_type" not in taken:
            raise _misuse("Cell type is required when using edit_mode=insert.")
        found = changing.target(text, place)
        changing.refuse_unseen_change(found, place)
        if found.data is None:
            raise _misuse("Notebook file does not exist.")
        made = _changed(found.data, taken)
        before = found.data.decode("utf-8", "replace")
        proposed = {**taken, "file_path": text}
        title = f"{text} {made.name}"
        return Proposal(self.name, proposed, self.effect, title, (found.path,), before, made.text)

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Changes the cell in the notebook as it is now."""
        taken = proposal.arguments
        found = changing.again(proposal, place)
        if found.data is None:
            raise _misuse("Notebook file does not exist.")
        held = found.held(is_misuse=False)
        made = _changed(found.data, taken)
        changing.write(found.path, made.text.encode("utf-8", "replace"), place, is_whole=True)
        mode = taken.get("edit_mode", "replace")
        output = {
            "new_source": taken["new_source"],
            **({} if made.old is None else {"old_source": made.old}),
            "cell_type": made.kind,
            "language": made.language,
            "edit_mode": mode,
            "cell_id": made.name,
            "error": "",
            "notebook_path": taken["notebook_path"],
            "original_file": held.raw if held else "",
            "updated_file": made.text,
        }
        return Outcome(_told(mode, made.name, taken["new_source"]), output)


def _misuse(text: str) -> ToolError:
    return ToolError(text, is_misuse=True)


def _told(mode: str, name: str, source: str) -> str:
    match mode:
        case "insert":
            return f"Inserted cell {name} with {source}"
        case "delete":
            return f"Deleted cell {name}"
        case _:
            return f"Updated cell {name} with {source}"


def _changed(data: bytes, taken: Arguments) -> _Made:
    notebook = parsed(data)
    cells: list[dict[str, Any]] = notebook["cells"]
    mode, source = taken.get("edit_mode", "replace"), taken["new_source"]
    at = _place(cells, taken)
    if mode == "insert":
        cell = _new_cell(taken, notebook)
        cells.insert(at + 1, cell)
        name, old = cell_id(cell, at + 1), None
    else:
        cell, name = cells[at], str(taken["cell_id"])
        old = text_of(cell.get("source"))
        if mode == "delete":
            del cells[at]
        else:
            _replace(cell, source, taken.get("cell_type"))
    kind = str(cell.get("cell_type", "code"))
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    return _Made(text, name, kind, language_of(notebook), old)


def _place(cells: list[dict[str, Any]], taken: Arguments) -> int:
    """Returns where the cell is that is named; before all where a new one has none before it."""
    wanted = taken.get("cell_id")
    if wanted is None:
        if taken.get("edit_mode") == "insert":
            return -1
        raise _misuse("Cell ID must be specified when not inserting a new cell.")
    names = [cell_id(cell, at) for at, cell in enumerate(cells)]
    by_place = [f"cell-{at}" for at in range(len(cells))]
    for known in (names, by_place):
        if wanted in known:
            return known.index(wanted)
    raise _misuse(f'Cell with ID "{wanted}" not found in notebook.')


def _new_cell(taken: Arguments, notebook: Mapping[str, Any]) -> dict[str, Any]:
    has_names = (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5)
    cell: dict[str, Any] = {"cell_type": taken["cell_type"]}
    if has_names:
        cell["id"] = token_hex(4)
    cell |= {"source": taken["new_source"], "metadata": {}}
    return cell | ({"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {})


def _replace(cell: dict[str, Any], source: str, kind: str | None) -> None:
    cell["source"] = source
    if kind and kind != cell.get("cell_type"):
        cell["cell_type"] = kind
    if cell.get("cell_type") == "code":
        cell |= {"execution_count": None, "outputs": []}
