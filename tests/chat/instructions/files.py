"""A few files of instructions, laid out in a folder."""

from pathlib import Path

from plait.chat.instructions import Instruction, ProjectScope, load_instructions


def write(path: Path, text: str) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def relative_names(found: list[Instruction], folder: Path) -> list[str]:
    """Return which files were found, as seen from a folder."""
    return [item.path.relative_to(folder).as_posix() for item in found]


def load_names(folder: Path) -> list[str]:
    """Return which files count in the project of a folder."""
    grounds = ProjectScope(folder / "project", folder / "config", folder / "home")
    return relative_names(load_instructions(grounds, grounds.new_reader()), folder)
