"""Patches between two texts, in the format of `structuredPatch`."""

from __future__ import annotations

from difflib import SequenceMatcher

from .model import Json


def patch(old: str, new: str) -> list[Json]:
    """Return the hunks from one text to another, three lines of context around each."""
    before, after = old.split("\n"), new.split("\n")
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [_hunk(group, before, after) for group in matcher.get_grouped_opcodes(3)]


def _hunk(group: list[tuple[str, int, int, int, int]], before: list[str], after: list[str]) -> Json:
    lines: list[str] = []
    for tag, old, old_end, new, new_end in group:
        if tag == "equal":
            lines += [" " + line for line in before[old:old_end]]
            continue
        lines += ["-" + line for line in before[old:old_end]]
        lines += ["+" + line for line in after[new:new_end]]
    first, last = group[0], group[-1]
    return {
        "oldStart": first[1] + 1,
        "oldLines": last[2] - first[1],
        "newStart": first[3] + 1,
        "newLines": last[4] - first[3],
        "lines": lines,
    }
