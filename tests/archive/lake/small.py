"""Small archives that come into lakes, and what holds in a lake afterwards."""

import json
from pathlib import Path
from typing import Any

from plait.archive import Archive
from plait.lake.build import BuildResult
from plait.lake.schema import Labels
from plait.lake.store import Lake

HERE = Labels("here", "ada", "core")
ONCE = ("build", "fingerprint", "modified")
"""Columns that another building has other values in, or another copy of a file."""


def lines(session: str, first: int, last: int, uuids: str = "") -> bytes:
    """Return turns of a session: a prompt and its answer each, known by the letters given."""
    known = uuids or session
    found: list[dict[str, Any]] = []
    for turn in range(first, last):
        before = f"{known}-{turn - 1}-a" if turn else None
        stamp = f"2026-10-0{1 + turn % 9}T10:00:{turn:02d}.000Z"
        common = {"sessionId": session, "cwd": "/home/ada/shop", "version": "2.1.0"}
        asked = {"role": "user", "content": f"question {turn} of {known}"}
        usage = {"input_tokens": 10 + turn, "output_tokens": 5}
        output = {
            "id": f"msg-{known}-{turn}",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [{"type": "text", "text": f"answer {turn}"}],
            "usage": usage,
        }
        found += [
            {"type": "user", "uuid": f"{known}-{turn}-u", "parentUuid": before, "message": asked},
            {
                "type": "assistant",
                "uuid": f"{known}-{turn}-a",
                "parentUuid": f"{known}-{turn}-u",
                "requestId": f"req-{known}-{turn}",
                "message": output,
            },
        ]
        for item in found[-2:]:
            item |= {"timestamp": stamp, **common}
    return b"".join(json.dumps(item).encode() + b"\n" for item in found)


def log(root: Path, session: str, project: str = "-home-ada-shop") -> Path:
    """Return where the log of a session lies."""
    path = root / "projects" / project / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def built(root: Path, to: Path | str, **how: Any) -> BuildResult:
    """Build a lake of what lies below a root."""
    archive = how.pop("archive") if "archive" in how else Archive([root], jobs=1)
    found: BuildResult = archive.lake.build(str(to), **{"labels": HERE} | how)
    return found


def holding(to: Path | str, options: dict[str, str] | None = None) -> dict[str, list[str]]:
    """Return the rows of a lake that hold, by table, but for what differs by building."""
    lake = Lake(str(to), options)
    builds = set(lake.read_builds()["build"].to_pylist())
    return {
        name: sorted(
            repr({column: value for column, value in row.items() if column not in ONCE})
            for row in lake.dataset(name).to_table().to_pylist()
            if row["build"] in builds
        )
        for name in lake.tables
    }


def counts(found: BuildResult) -> dict[str, int]:
    """Return what is not nothing of what a building says, without sizes."""
    output = {
        "unchanged": found.unchanged,
        "built": found.built,
        "gone": found.gone,
        "pruned": found.pruned,
        "failed": len(found.failed),
    }
    return {name: count for name, count in output.items() if count}
