"""Generate the page of trimming examples: records before and after.

python -m tools.trims        write `before.txt` and `after.txt` of each, and examples/trims/README.md anew

The command of an example shows a plan; this tool applies it in place, to a copy. Records have
their names in the drawing; new ones are numbered: `+1`, `+2`.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from examples.drawing import Drawing, draw
from plait.record import Record, read
from plait.record.types import get_content_blocks
from tools.shown import ROOT, run_shown_command

TRIMS = ROOT / "examples" / "trims"
PAGE = TRIMS / "README.md"
LONGEST = 44
POINTERS = ("leafUuid", "messageId")
INTRODUCTION = """# Trims, before and after

What [`plait trim`](../../docs/guide/trim.md#plait-trim) and [`plait compress`](../../docs/guide/trim.md#plait-compress) remove, one kind of
content after the other. The sessions are in `examples/trims`, in the same notation as the gallery. Each
line is a record: its name and its parent's, its type, and its content. `view` is the length in
characters of a result's `toolUseResult`; `beside` is a file in the session's folder.
"""


def pictures(folder: Path) -> tuple[str, str]:
    """Return the records of an example, and what its command leaves of them."""
    drawing = draw((folder / "drawing.txt").read_text(encoding="utf-8"))
    command = (folder / "command").read_text(encoding="utf-8").strip()
    with TemporaryDirectory() as copy:
        place = Path(copy, "config")
        shutil.copytree(folder / "projects", place / "projects")
        before = picture(drawing, place)
        run_shown_command(command.replace("--dry-run", "--in-place --yes --force"), place)
        return before, picture(drawing, place)


def picture(drawing: Drawing, config: Path) -> str:
    """Return the records of a session and the files beside it, one line each."""
    log = config / "projects" / drawing.files[0].path
    names = {uuid: name for name, uuid in drawing.files[0].uuids.items()}
    records = list(read(log))
    for record in records:
        if record.uuid:
            names.setdefault(record.uuid, f"+{sum(name[0] == '+' for name in names.values()) + 1}")
    rows = [_row(record, names) for record in records]
    widths = [max(len(row[at]) for row in rows) for at in (0, 1)]
    result = (f"{one:<{widths[0]}}  {kind:<{widths[1]}}  {rest}" for one, kind, rest in rows)
    return "\n".join(line.rstrip() for line in (*result, *_beside(log, drawing))) + "\n"


def _row(record: Record, names: Mapping[str, str]) -> tuple[str, str, str]:
    name = names.get(record.uuid or "", "")
    parent = names.get(record.parent_uuid or "", "")
    kind = str(record.fields.get("subtype") or record.type)
    return f"{name}<{parent}" if parent else name, kind, " · ".join(_holds(record, names))


def _holds(record: Record, names: Mapping[str, str]) -> Iterator[str]:
    fields = record.fields
    yield from (_block(block) for block in get_content_blocks(record))
    view = fields.get("toolUseResult")
    if view is not None:
        yield f"view {len(json.dumps(view, ensure_ascii=False)):,}"
    if isinstance(fields.get("content"), str):
        yield _short(fields["content"])
    attachment = fields.get("attachment")
    if isinstance(attachment, dict):
        yield f"{attachment.get('type')} {_short(attachment.get('prompt') or '')}".strip()
    for key in POINTERS:
        if key in fields:
            yield f"→ {names.get(str(fields[key]), fields[key])}"
    if logical := fields.get("logicalParentUuid"):
        yield f"after {names.get(logical, '?')}"
    kept = (fields.get("compactMetadata") or {}).get("preservedMessages") or {}
    if kept:
        yield f"keeps {' '.join(names.get(uuid, '?') for uuid in kept['uuids'])}"
    if files := (fields.get("snapshot") or {}).get("trackedFileBackups"):
        yield f"files {' '.join(files)}"


def _block(block: dict[str, Any]) -> str:
    kind = str(block["type"])
    if kind in ("text", "thinking"):
        return _short(block[kind]) if kind == "text" else f"thinking {_short(block[kind])}"
    if kind in ("tool_use", "server_tool_use"):
        return f"{kind} {block['name']}"
    if kind == "tool_result":
        failed = "failed " if block.get("is_error") else ""
        return f"{failed}result {_result(block.get('content'))}"
    return kind


def _result(content: Any) -> str:
    if isinstance(content, list):
        return ", ".join(_block(part) for part in content)
    return _short(content)


def _short(words: str) -> str:
    full = " ".join(str(words).split())
    if len(full) <= LONGEST:
        return json.dumps(full, ensure_ascii=False) if full else ""
    return json.dumps(full[: LONGEST - 1] + "…", ensure_ascii=False) + f" {len(words):,}"


def _beside(log: Path, drawing: Drawing) -> Iterator[str]:
    home = log.with_suffix("")
    known = {file.path: file.name for file in drawing.files}
    for file in sorted(home.rglob("*")):
        if file.is_file():
            path = file.relative_to(log.parents[1]).as_posix()
            yield f"beside: {known.get(path, path)}"


def page() -> str:
    """Return the page of all examples."""
    return "\n".join((INTRODUCTION, *map(_shown, sorted(TRIMS.glob("*/")))))


def _shown(folder: Path) -> str:
    names = ("README.md", "command", "before.txt", "after.txt")
    text, command, before, after = ((folder / name).read_text(encoding="utf-8") for name in names)
    result = f"```text\n{before}\n$ {command.strip().replace(' --dry-run', '')}\n\n{after}```"
    return f"#{text}\n{result}\n"


def main() -> None:
    """Write the records of every example, and the page."""
    for folder in sorted(TRIMS.glob("*/")):
        for name, text in zip(("before.txt", "after.txt"), pictures(folder), strict=True):
            (folder / name).write_text(text, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
