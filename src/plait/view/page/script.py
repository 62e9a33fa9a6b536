"""Modules of the page's script to one script: pages on a disk can import nothing."""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|let|class) )", re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
GAP = re.compile(r"\n{2,}")


@lru_cache
def modules() -> Mapping[str, str]:
    """Returns the texts of all modules by their names."""
    folder = files("plait.view.page").joinpath("assets", "script")
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


@lru_cache
def script(entry: str) -> str:
    """Returns what a page runs: `plait.js` on a disk, `app.js` and `tabs.js` when served."""
    return joined(entry, modules())


def joined(entry: str, texts: Mapping[str, str]) -> str:
    """Returns a module and all that it imports as one script that imports nothing.

    Each module stands after those it imports, as browsers run them; their names are
    unique among all modules, so that one scope can hold them.
    """
    parts = (bare(texts[name]) for name in ordered(entry, texts))
    return '(() => {\n"use strict";\n' + "".join(parts) + "})();\n"


def ordered(entry: str, texts: Mapping[str, str]) -> list[str]:
    """Returns the names of a module and all that it imports, in the order they run.

    Raises ValueError where modules import each other in a circle.
    """
    done: list[str] = []
    path = [entry]
    while path:
        needed = next((name for name in IMPORT.findall(texts[path[-1]]) if name not in done), None)
        if needed is None:
            done.append(path.pop())
        elif needed in path:
            raise ValueError(f"modules import each other: {' → '.join([*path, needed])}")
        else:
            path.append(needed)
    return done


def bare(text: str) -> str:
    """Returns a module without imports, exports, comments and empty lines."""
    text = COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", text)))
    return GAP.sub("\n", text).lstrip("\n")
