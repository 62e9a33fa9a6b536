"""Findings in plain words: what kind each is, and where, with short paths and ids."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from plait.line import Finding, Root
from plait.view.text import shorten_path

KINDS: Mapping[str, str] = {
    "broken line": "lines that are not JSON objects",
    "cycle": "parents that form a cycle",
    "guessed-owner": "copies in unknown order",
    "missing-logical-parent": "compactions that continue a missing record",
    "missing-parent": "records with a missing parent",
    "not-read": "logs outside the folder 'projects'",
    "order": "tool results before their calls",
    "orphan-result": "tool results whose call is not in any file",
    "other-content": "copies that differ",
    "result-away": "tool results whose call is on another branch",
    "same-session": "session ids used by several files",
    "stray-progress": "progress reports without a tool call",
    "tangled-lines": "sessions or agents that name each other as their origin",
    "unexpected-root": "answers without a parent in the middle of a session",
    "unnamed-agent": "agents that their session does not mention",
    "unreadable": "files and folders that cannot be read",
    "unresolved-summary": "summaries of missing records",
}
"""The findings of each kind, in plain words."""

LONG, ENDS = 44, 3
"""The width, and the number of parts, above which a path is shortened."""

ID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")

PATH = re.compile(r"'([^']*/[^']*)'")


def common_folder(roots: Sequence[Root]) -> Path | None:
    """Return the folder that all roots are in; None if that is the top of the file system."""
    folders = [str(root.logs if root.logs.is_dir() else root.logs.parent) for root in roots]
    try:
        base = Path(os.path.commonpath(folders))
    except ValueError:  # none, or on different drives
        return None
    return base if base.name else None


def format_finding(finding: Finding, base: Path | None, most: int | None = None) -> str:
    """Format a finding in one line, with short paths and ids; its place within some columns."""
    place = shorten_finding_path(finding.path, base) if finding.path else ""
    place = shorten_path(place, most) if most else place
    if finding.line:
        place += f":{finding.line}" if place else f"line {finding.line}"
    sentence = PATH.sub(
        lambda found: f"'{shorten_finding_path(Path(found[1]), base)}'", finding.sentence
    )
    text = f"{place}: {sentence}" if place else sentence
    return ID.sub(r"\1…", text)


def shorten_finding_path(path: Path, base: Path | None) -> str:
    """Shorten a path: relative to a folder; of a long one the first and the last two parts."""
    relative: PurePath = path.relative_to(base) if base and path.is_relative_to(base) else path
    shown = ID.sub(r"\1…", str(relative))
    parts = relative.parts
    if len(shown) <= LONG or len(parts) <= ENDS:
        return shown
    ends = ID.sub(r"\1…", str(PurePath(*parts[-2:])))
    return f"{parts[0].rstrip(os.sep)}{os.sep}…{os.sep}{ends}"
