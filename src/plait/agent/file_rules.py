"""Patterns such as `docs/**` to the files that they mean, as `.gitignore` has them.

    //etc/**       from the root of all        ~/notes/*     from the home
    /docs/**       from the folder of the settings that say it
    docs/*, .env   from the workspace; without a slash, in any folder below

A pattern that means a folder means all that lies in it.
"""

import re
from functools import lru_cache
from pathlib import Path

from plait.agent.tools.model import Workplace

PIECES = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]")
KNOWN = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
MOST_LETTERS = 1000


def is_meant(
    path: Path, words: str, folder: Path, place: Workplace, *, ignores_case: bool = False
) -> bool:
    """Tells whether a pattern of a folder means a path, all links of which are followed."""
    start, pattern = _begun(words, folder, place)
    if start is None:
        return False
    for one in {start, start.resolve()}:
        if path.is_relative_to(one):
            inner = path.relative_to(one).as_posix()
            return covers(pattern, inner, ignores_case=ignores_case)
    return False


def _begun(words: str, folder: Path, place: Workplace) -> tuple[Path | None, str]:
    """Returns where a pattern begins, and the rest of it."""
    if words.startswith("//"):
        return Path("/"), words[1:]
    if words.startswith("~/"):
        home = place.environment.get("HOME")
        return (Path(home) if home else None), words[1:]
    if words.startswith("/"):
        return folder, words
    return place.root, words.removeprefix("./") if words != "./" else "**"


def covers(pattern: str, path: str, *, ignores_case: bool = False) -> bool:
    """Tells whether a pattern means a path below a folder, or a folder that it lies in."""
    meant = _expression(pattern[:MOST_LETTERS])
    if ignores_case:
        meant, path = _expression(pattern[:MOST_LETTERS].casefold()), path.casefold()
    parts = path.split("/")
    return any(meant.fullmatch("/".join(parts[:end])) for end in range(len(parts), 0, -1))


@lru_cache(maxsize=512)
def _expression(pattern: str) -> "re.Pattern[str]":
    bare = pattern.rstrip("/")
    while bare.endswith("/**"):  # what lies in a folder, and so the folder
        bare = bare.removesuffix("/**")
    is_anywhere = "/" not in pattern.rstrip("/")
    inner = bare.lstrip("/") or "**"
    pieces, at = [], 0
    for found in PIECES.finditer(inner):
        pieces += [re.escape(inner[at : found.start()]), _piece(found[0])]
        at = found.end()
    text = "".join(pieces) + re.escape(inner[at:])
    return re.compile(f"(?:.*/)?{text}" if is_anywhere else text, re.DOTALL)


def _piece(text: str) -> str:
    if text in KNOWN:
        return KNOWN[text]
    inner = text[1:-1]
    negated = "^" if inner[:1] in ("!", "^") else ""
    letters = (inner[1:] if negated else inner).replace("\\", "\\\\").replace("[", "\\[")
    try:
        re.compile(f"[{letters}]")
    except re.error:
        return re.escape(text)
    return f"(?!/)[{negated}{letters.replace(']', chr(92) + ']').replace('^', chr(92) + '^')}]"
