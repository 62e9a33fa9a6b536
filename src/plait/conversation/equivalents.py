"""Tool calls of other agents in the form of Claude Code's tools, for whatever reads their input.

A call keeps its name and its input. Who asks what it did to a file, or which command it ran, asks
for its equivalents: calls of the tool of Claude Code that its row in `TOOLS` names, with the names
that this tool has for the same input. A patch over several files is a call for each of them.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from plait.conversation.model import Result, ToolCall
from plait.conversation.tools import get_tool
from plait.record.codec import as_mapping

INPUT_NAMES: Mapping[str, Mapping[str, str]] = {
    "file": {
        "path": "file_path",
        "filePath": "file_path",
        "absolute_path": "file_path",
        "file_text": "content",
        "oldText": "old_string",
        "oldString": "old_string",
        "old_str": "old_string",
        "newText": "new_string",
        "newString": "new_string",
        "new_str": "new_string",
        "replaceAll": "replace_all",
        "allow_multiple": "replace_all",
    },
    "shell": {"cmd": "command"},
    "find": {"dir_path": "path", "include": "glob"},
}
"""For each kind of tool: other agents' names of an input, and Claude Code's."""
PATCHES = ("apply_patch", "patch")
"""Tools whose input is a patch over any number of files."""
PATCH = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
MOVE = "*** Move to: "
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def list_equivalents(called: ToolCall) -> tuple[ToolCall, ...]:
    """Return a call as calls of Claude Code's tools; the call itself if it is one."""
    if get_tool(called.name).same_as is None:
        return (called,)
    calls = list_equivalent_inputs(called.name, as_mapping(called.input))
    return tuple(
        replace(
            called,
            name=name,
            input=inputs,
            result=_read_result(called, name) if get_tool(name).action else called.result,
        )
        for name, inputs in calls
    )


def list_equivalent_inputs(
    name: str, given: Mapping[str, Any]
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the names and the inputs of a call's equivalents."""
    known = get_tool(name).same_as
    command = given.get("command")
    if name in PATCHES:
        patch = given.get("input", given.get("patch", given.get("patchText")))
        return tuple(_parse_patch(patch)) if isinstance(patch, str) else ()
    if known == "Bash" and isinstance(command, list) and command[:1] == ["apply_patch"]:
        return tuple(_parse_patch(command[-1])) if isinstance(command[-1], str) else ()
    inputs = normalize_input(name, given)
    is_list = known == "Edit" and isinstance(inputs.get("edits"), list)
    return (("MultiEdit" if is_list else known or name, inputs),)


def normalize_input(name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the input of a call under the names that Claude Code's tool has for it."""
    tool = get_tool(name)
    if tool.same_as is None:
        return given
    names = INPUT_NAMES.get("file" if tool.action else tool.kind, {})
    inputs = {names.get(key, key): value for key, value in given.items()}
    if isinstance(edits := inputs.get("edits"), list):
        inputs["edits"] = [
            {names.get(key, key): value for key, value in as_mapping(edit).items()}
            for edit in edits
        ]
    command = inputs.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        is_script = len(command) == 3 and command[1] in ("-lc", "-c")
        inputs["command"] = command[2] if is_script else shlex.join(command)
    return inputs


def _parse_patch(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a call for each file of a patch in the form of `apply_patch`."""
    head: tuple[str, str] | None = None
    moved: str | None = None
    hunks: list[tuple[list[str], list[str]]] = []
    for line in (*text.split("\n"), "*** End Patch"):
        if found := PATCH.match(line):
            yield from _describe_change(head, moved, hunks)
            head, moved, hunks = (found[1], found[2].strip()), None, []
        elif line.startswith(MOVE):
            moved = line.removeprefix(MOVE).strip()
        elif line.startswith("*** End Patch"):
            yield from _describe_change(head, moved, hunks)
            return
        elif line.startswith("@@"):
            hunks.append(([], []))
        elif line[:1] in ("+", "-", " ", "") and not line.startswith("***"):
            if not hunks:
                hunks.append(([], []))
            if line[:1] != "+":
                hunks[-1][0].append(line[1:])
            if line[:1] != "-":
                hunks[-1][1].append(line[1:])


def _describe_change(
    head: tuple[str, str] | None, moved: str | None, hunks: list[tuple[list[str], list[str]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if head is None:
        return
    kind, path = head
    if kind == "Add":
        lines = [line for _, new in hunks for line in new]
        yield "Write", {"file_path": path, "content": "".join(f"{line}\n" for line in lines)}
        return
    edits = [
        {
            "old_string": "".join(f"{line}\n" for line in old),
            "new_string": "".join(f"{line}\n" for line in new),
        }
        for old, new in hunks
        if old != new
    ]
    if moved is not None or kind == "Delete":
        yield "Edit", {"file_path": path}  # it is gone from here
    if kind == "Update":
        yield "MultiEdit", {"file_path": moved or path, "edits": edits}


def _read_result(called: ToolCall, name: str) -> Result | None:
    """Return a result whose detail says what Claude Code's says of a change, nothing else."""
    if called.result is None:
        return None
    detail = as_mapping(called.result.detail)
    view: dict[str, Any] = {}
    if isinstance(original := detail.get("originalContent"), str):
        view["originalFile"] = original
    is_new = detail.get("isNewFile")
    if isinstance(exists := detail.get("exists"), bool):
        is_new = not exists
    if called.name == "create" or (name == "Write" and get_tool(called.name).same_as != "Write"):
        is_new = True
    if isinstance(is_new, bool):
        view["type"] = "create" if is_new else "update"
    for name in ("fileDiff", "diff"):
        diff = None if called.name in PATCHES else detail.get(name)  # one diff of all files
        if isinstance(diff, str) and (hunks := _parse_hunks(diff)):
            view["structuredPatch"] = hunks
            break
    return replace(called.result, detail=view or None)


def _parse_hunks(diff: str) -> list[dict[str, Any]]:
    """Return the hunks of a unified diff as Claude Code logs them."""
    hunks: list[dict[str, Any]] = []
    for line in diff.split("\n"):
        if found := HUNK.match(line):
            first, count, new_first, new_count = found.groups()
            hunks.append(
                {
                    "oldStart": int(first),
                    "oldLines": int(count or 1),
                    "newStart": int(new_first),
                    "newLines": int(new_count or 1),
                    "lines": [],
                }
            )
        elif hunks and line[:1] in ("+", "-", " ", "\\"):
            hunks[-1]["lines"].append(line)
    return hunks
