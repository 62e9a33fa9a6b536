"""A few files of instructions, laid out in a folder."""

from pathlib import Path

from plait.chat.instructions import Instruction, ProjectScope, load_instructions


def write(path: Path, text: str) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def names(found: list[Instruction], folder: Path) -> list[str]:
    """Return which files were found, as seen from a folder."""
    return [one.path.relative_to(folder).as_posix() for one in found]


def counted(folder: Path) -> list[str]:
    """Return which files count in the project of a folder."""
    grounds = ProjectScope(folder / "project", folder / "config", folder / "home")
    return names(load_instructions(grounds, grounds.new_reader()), folder)
