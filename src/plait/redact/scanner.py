"""The scanner kingfisher as a second opinion on secrets; it runs offline."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plait.errors import MissingExtra, SourceError

SCANNER = "kingfisher"
# It must neither try the secrets at their services nor check for updates.
OFFLINE = ("scan", "--no-validate", "--no-update-check", "--format", "json")
EXIT_CODES = (0, 200, 205)
"""Nothing found, something found, something found and verified."""
MOST_PATHS = 500
"""Paths in one call: the length of a command line is limited."""


def scan_with_kingfisher(paths: Sequence[Path], known: frozenset[str]) -> list[dict[str, object]]:
    """Return rule, file and line of what the scanner found and Plait did not."""
    python_folder = str(Path(sys.executable).parent)
    scanner = shutil.which(SCANNER) or shutil.which(SCANNER, path=python_folder)
    if scanner is None:
        raise MissingExtra(
            f"the scanner '{SCANNER}' is not installed", "pip install 'plait[secrets]'"
        )
    found: list[dict[str, object]] = []
    for start in range(0, len(paths), MOST_PATHS):
        files = map(str, paths[start : start + MOST_PATHS])
        try:
            done = subprocess.run([scanner, *OFFLINE, *files], capture_output=True, check=False)  # noqa: S603
        except OSError as error:
            raise SourceError(
                f"cannot start '{SCANNER}': {(error.strerror or '').lower()}"
            ) from error
        if done.returncode not in EXIT_CODES:
            raise SourceError(f"'{SCANNER}' exited with {done.returncode}")
        text = done.stdout.decode("utf-8", "replace").strip()
        try:
            report, _ = json.JSONDecoder().raw_decode(
                text or "{}"
            )  # a summary may follow the report
        except ValueError:
            raise SourceError(f"'{SCANNER}' printed something that is not JSON") from None
        findings = report.get("findings") if isinstance(report, dict) else None
        for finding in findings if isinstance(findings, list) else []:
            rule, match = _inner_object(finding, "rule"), _inner_object(finding, "finding")
            secret, line = str(match.get("snippet", "")), match.get("line")
            if any(secret in value or value in secret for value in known if value):
                continue
            found.append(
                {
                    "rule": str(rule.get("name", "unnamed")),
                    "file": str(match.get("path", "")),
                    "line": line if isinstance(line, int) else None,
                }
            )
    return found


def _inner_object(value: Any, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}
