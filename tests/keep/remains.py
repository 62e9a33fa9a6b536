"""Configuration folders after the client's cleanup, drawn for tests."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LOST = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


def at(minutes: float) -> datetime:
    """Return a time so many minutes after the start of the story."""
    return START + timedelta(minutes=minutes)


def typed(
    text: str,
    minutes: float = 0,
    *,
    session: str | None = LOST,
    directory: str = "/srv/app",
    pasted: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a line of the client's list of prompts, as 2.1.325 writes it."""
    line = {
        "display": text,
        "pastedContents": pasted or {},
        "timestamp": int(at(minutes).timestamp() * 1000),
        "project": directory,
    }
    return line | ({"sessionId": session} if session else {})


def remains(folder: Path, *prompts: dict[str, Any]) -> Path:
    """Write a configuration folder in which only prompts are left."""
    config = folder / "config"
    (config / "projects").mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in prompts)
    (config / "history.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return config


def backup(config: Path, file: str, version: int, data: str, minutes: float) -> Path:
    """Write the backup of a file as the client does."""
    folder = config / "file-history" / LOST
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / f"{sha256(file.encode()).hexdigest()[:16]}@v{version}"
    copy.write_text(data, encoding="utf-8")
    os.utime(copy, (at(minutes).timestamp(),) * 2)
    return copy


def git(directory: Path, *arguments: str, minutes: float = 0) -> None:
    """Ask Git for something in a directory, at a time of the story."""
    stamp = at(minutes).isoformat()
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A"}
    times = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp, "GIT_COMMITTER_EMAIL": "a@b"}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env={"PATH": os.environ["PATH"], **who, **times, **quiet},
        check=True,
        capture_output=True,
    )


def repository(directory: Path, *commits: tuple[float, str]) -> Path:
    """Make a repository with commits at times, each of a file of its own."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "-q", "-b", "main")
    for number, (minutes, message) in enumerate(commits, 1):
        (directory / f"file{number}.txt").write_text(message, encoding="utf-8")
        git(directory, "add", "-A")
        git(directory, "commit", "-q", "-m", message, minutes=minutes)
    return directory
