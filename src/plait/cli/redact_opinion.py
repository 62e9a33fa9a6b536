"""Files to what the scanner `kingfisher` sees in them, besides what Plait found."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plait.errors import MissingExtra, SourceError

SCANNER = "kingfisher"
# It must neither try the secrets at their services nor look for a newer version of itself.
OFFLINE = ("scan", "--no-validate", "--no-update-check", "--format", "json")
NOTHING, SOMETHING, PROVEN = 0, 200, 205
AT_ONCE = 500  # a command line has an end


def opinions(paths: Sequence[Path], known: frozenset[str]) -> list[dict[str, object]]:
    """Returns rule, file and line of what the scanner sees and Plait did not."""
    scanner = executable()
    found: list[dict[str, object]] = []
    for start in range(0, len(paths), AT_ONCE):
        named = map(str, paths[start : start + AT_ONCE])
        for rule, file, line, secret in findings_in(run([scanner, *OFFLINE, *named])):
            if not is_known(secret, known):
                found.append({"rule": rule, "file": file, "line": line})
    return found


def executable() -> str:
    """Returns the scanner, or says how to get it."""
    beside = Path(sys.executable).parent
    found = shutil.which(SCANNER) or shutil.which(SCANNER, path=str(beside))
    if found is None:
        raise MissingExtra(
            f"the scanner '{SCANNER}' is not installed", "pip install 'plait[secrets]'"
        )
    return found


def run(arguments: list[str]) -> bytes:
    """Runs the scanner and returns what it prints."""
    try:
        done = subprocess.run(arguments, capture_output=True, check=False)  # noqa: S603
    except OSError as error:
        raise SourceError(f"cannot start '{SCANNER}': {(error.strerror or '').lower()}") from error
    if done.returncode not in (NOTHING, SOMETHING, PROVEN):
        raise SourceError(f"'{SCANNER}' ended with {done.returncode}")
    return done.stdout


def findings_in(output: bytes) -> list[tuple[str, str, int | None, str]]:
    """Returns rule, file, line and secret of every finding; what is odd is passed over."""
    try:  # a summary may follow the report
        report, _ = json.JSONDecoder().raw_decode(output.decode("utf-8", "replace").strip() or "{}")
    except ValueError:
        raise SourceError(f"'{SCANNER}' printed something that is not JSON") from None
    found = []
    for one in report.get("findings", ()) if isinstance(report, dict) else ():
        rule, finding = part(one, "rule"), part(one, "finding")
        line = finding.get("line")
        found.append(
            (
                str(rule.get("name", "unnamed")),
                str(finding.get("path", "")),
                line if isinstance(line, int) else None,
                str(finding.get("snippet", "")),
            )
        )
    return found


def part(value: Any, key: str) -> dict[str, Any]:
    """Returns an object inside an object, an empty one where it is none."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def is_known(secret: str, known: frozenset[str]) -> bool:
    """Tells whether a secret, or what it is a part of, was found already."""
    return any(secret in one or one in secret for one in known if one)
