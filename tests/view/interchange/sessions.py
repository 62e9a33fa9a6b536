"""Sessions that documents are made of: examples, real ones, drawn ones."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

from examples.drawing import draw
from plait.archive import Archive
from plait.conversation.prices import Prices
from plait.export.plan import ExportPlan
from plait.export.transcripts import Family
from plait.sessions.families import group_families
from plait.view.passages import RenderOptions
from tests.graph.generated import lines_of
from tests.sampling import one_of

ALL, TOOLS = RenderOptions(depth="all"), RenderOptions()
SAMPLE = 7
"""Of so many real sessions one is looked at in an ordinary run."""


def families_in(folder: Path, every: int = 1, **changes: Any) -> Iterator[Family]:
    """Yield the families of some sessions below a folder, read."""
    found = one_of(every, list(group_families(Archive([folder]).sessions)))
    sessions = tuple(member for members in found for member in members)
    return ExportPlan(sessions, pricing=Prices(), **changes).families()


def families_of_drawing(folder: Path, text: str) -> list[Family]:
    """Return the families of a drawing."""
    draw(dedent(text)).write(folder)
    return list(families_in(folder))


def families_of_rows(folder: Path, archive: dict[str, list[dict[str, Any]]]) -> Iterator[Family]:
    """Yield the families of random rows."""
    for path, rows in archive.items():
        file = folder / "projects" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(line + b"\n" for line in lines_of(path, rows)))
    return families_in(folder)


def plain(value: Any) -> Any:
    """Return a value of ours as JSON can write it."""
    return {name: getattr(value, name) for name in value.__struct_fields__}
