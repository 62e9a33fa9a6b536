"""Build all examples: the session files of every `drawing.txt`.

python examples/build.py            rebuild all
python examples/build.py --check    report what differs, and fail
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent
if __package__ in (None, ""):  # run as a script: the folder above holds the package
    sys.path.insert(0, str(ROOT.parent))

from examples.drawing import draw  # noqa: E402


def main(arguments: list[str]) -> int:
    """Rebuild the examples, or report differences; return the exit code."""
    wanted = list(gallery(ROOT))
    if "--check" in arguments:
        found = [difference for folder in wanted for difference in differences(folder)]
        print("\n".join(found) or f"{len(wanted)} examples match their drawings")
        return 1 if found else 0
    for folder in wanted:
        rebuild(folder)
    print(f"{len(wanted)} examples rebuilt")
    return 0


def gallery(root: Path) -> Iterator[Path]:
    """Yield the folders of the examples, in order."""
    for shelf in ("gallery", "edits", "repairs", "trims", "causes"):
        for drawing in sorted((root / shelf).glob("*/drawing.txt")):
            yield drawing.parent


def built(folder: Path) -> dict[Path, bytes]:
    """Return the files described by the drawing of an example, by path."""
    drawing = draw((folder / "drawing.txt").read_text(encoding="utf-8"))
    return {folder / "projects" / file.path: file.data for file in drawing.files}


def rebuild(folder: Path) -> None:
    """Write the files of an example, and remove files that are no longer in the drawing."""
    wanted = built(folder)
    for path in _present(folder):
        if path not in wanted:
            path.unlink()
    for path, data in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def differences(folder: Path) -> list[str]:
    """Return the differences between an example's files and its drawing, one line each."""
    wanted, present = built(folder), set(_present(folder))
    found = [f"not in the drawing: {_short(path)}" for path in sorted(present - set(wanted))]
    for path, data in wanted.items():
        if path not in present:
            found.append(f"missing: {_short(path)}")
        elif path.read_bytes() != data:
            found.append(f"differs: {_short(path)}")
    return found


def _present(folder: Path) -> list[Path]:
    return [path for path in (folder / "projects").rglob("*") if path.is_file()]


def _short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
