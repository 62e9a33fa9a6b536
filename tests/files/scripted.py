"""A repository that sessions, a person, commands and Git change, with logs as the client's."""

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from plait.conversation.patches import diff_texts
from plait.line import make_project_slug

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Clock:
    """Gives one second after the other, and ids."""

    def __init__(self) -> None:
        self._count = 0

    def time(self) -> str:
        self._count += 1
        return f"{START + timedelta(seconds=self._count):%Y-%m-%dT%H:%M:%S}.000Z"

    def id(self) -> str:
        self._count += 1
        return str(UUID(int=(0xA << 124) | self._count))


class Scripted:
    """A configuration folder, and a repository that its sessions work in."""

    def __init__(self, folder: Path) -> None:
        self.config, self.top = folder / "config", folder / "shop"
        self.top.mkdir(parents=True)
        self.clock = Clock()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Dev")
        self.git("config", "user.email", "dev@example.com")

    def session(self, cwd: Path | None = None) -> "Script":
        return Script(self, cwd or self.top)

    def git(self, *words: str, cwd: Path | None = None) -> str:
        time = self.clock.time()
        settings = {
            "GIT_AUTHOR_DATE": time,
            "GIT_COMMITTER_DATE": time,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_AUTHOR_NAME": "Dev",
            "GIT_AUTHOR_EMAIL": "dev@example.com",
            "GIT_COMMITTER_NAME": "Dev",
            "GIT_COMMITTER_EMAIL": "dev@example.com",
        }
        done = subprocess.run(
            ["git", "-C", str(cwd or self.top), *words],
            env={**os.environ, **settings},
            check=True,
            capture_output=True,
        )
        return done.stdout.decode()

    def commit(self, words: str = "work") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", words)
        return self.git("rev-parse", "HEAD").strip()


class Script:
    """A session that does things to files for real, and logs them as the client does."""

    def __init__(self, home: Scripted, cwd: Path) -> None:
        self.home, self.cwd, self.id = home, cwd, home.clock.id()
        folder = home.config / "projects" / make_project_slug(str(cwd))
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / f"{self.id}.jsonl"
        self.last: str | None = None
        self.turn = 0
        self._versions: dict[str, int] = {}
        self._backups: dict[str, Any] = {}
        self.has_originals = True

    def prompt(self, words: str) -> str:
        self.turn += 1
        uuid = self._chain("user", {"message": {"role": "user", "content": words}})
        for name in self._backups:
            self._back_up(self.cwd / name)
        self._snapshot(uuid)
        return uuid

    def write(self, path: Path, content: str) -> str:
        before = _text(path)
        self._keep(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        detail: dict[str, Any] = {
            "type": "create" if before is None else "update",
            "filePath": str(path),
            "content": content,
            "structuredPatch": [] if before is None else list(_hunks(before, content)),
            "originalFile": before if self.has_originals else None,
        }
        return self._call("Write", {"file_path": str(path), "content": content}, detail)

    def edit(self, path: Path, old: str, new: str, *, everywhere: bool = False) -> str:
        data = path.read_bytes().decode()
        before = data.replace("\r\n", "\n")
        assert old in before
        after = before.replace(old, new, -1 if everywhere else 1)
        self._keep(path)
        path.write_bytes((after.replace("\n", "\r\n") if "\r\n" in data else after).encode())
        given = {"file_path": str(path), "old_string": old, "new_string": new}
        detail = {
            "filePath": str(path),
            "oldString": old,
            "newString": new,
            "originalFile": before if self.has_originals else None,
            "structuredPatch": list(_hunks(before, after)),
            "userModified": False,
            "replaceAll": everywhere,
        }
        return self._call("Edit", {**given, "replace_all": everywhere}, detail)

    def read(self, path: Path) -> str:
        content = path.read_bytes().decode().replace("\r\n", "\n")
        count = len(content.split("\n"))
        file = {
            "filePath": str(path),
            "content": content,
            "numLines": count,
            "startLine": 1,
            "totalLines": count,
        }
        return self._call("Read", {"file_path": str(path)}, {"type": "text", "file": file})

    def bash(self, path: Path, content: str) -> str:
        path.write_bytes(content.encode())
        report = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False}
        return self._call("Bash", {"command": f"fix {path.name}"}, report)

    def rewind(self, uuid: str | None, files: dict[Path, str]) -> None:
        """Go back to a record, and has files hold what they held."""
        self.last = uuid
        for path, content in files.items():
            path.write_bytes(content.encode())

    def rename_backup(self, path: Path, name: str) -> None:
        """Has later snapshots name a file by another path."""
        self._backups[name] = self._backups.pop(str(path))

    def _call(self, name: str, given: dict[str, Any], detail: dict[str, Any]) -> str:
        call = f"toolu_{self.home.clock.id()[-12:]}"
        block = {"type": "tool_use", "id": call, "name": name, "input": given}
        message = {
            "id": f"msg_{call}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-5",
            "content": [block],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        uuid = self._chain("assistant", {"message": message})
        result = {"type": "tool_result", "tool_use_id": call, "content": "done"}
        report = {"message": {"role": "user", "content": [result]}, "toolUseResult": detail}
        self._chain("user", report)
        return uuid

    def _chain(self, kind: str, more: dict[str, Any]) -> str:
        uuid = self.home.clock.id()
        fields = {
            "parentUuid": self.last,
            "isSidechain": False,
            "userType": "external",
            "cwd": str(self.cwd),
            "sessionId": self.id,
            "version": "2.1.325",
            "gitBranch": "main",
            "type": kind,
            "uuid": uuid,
            "timestamp": self.home.clock.time(),
        }
        self._line(fields | more)
        self.last = uuid
        return uuid

    def _keep(self, path: Path) -> None:
        name = str(path.relative_to(self.cwd)) if path.is_relative_to(self.cwd) else str(path)
        if name not in self._backups:
            self._back_up(path)

    def _back_up(self, path: Path) -> None:
        name = str(path.relative_to(self.cwd)) if path.is_relative_to(self.cwd) else str(path)
        version = self._versions[name] = self._versions.get(name, 0) + 1
        copy = f"{sha256(str(path).encode()).hexdigest()[:16]}@v{version}"
        folder = self.home.config / "file-history" / self.id
        folder.mkdir(parents=True, exist_ok=True)
        is_there = path.exists()
        if is_there:
            (folder / copy).write_bytes(path.read_bytes())
        self._backups[name] = {
            "backupFileName": copy if is_there else None,
            "version": version,
            "backupTime": self.home.clock.time(),
        }

    def _snapshot(self, uuid: str) -> None:
        report = {
            "messageId": uuid,
            "trackedFileBackups": dict(self._backups),
            "timestamp": self.home.clock.time(),
        }
        line = {"type": "file-history-snapshot", "messageId": uuid, "snapshot": report}
        self._line({**line, "isSnapshotUpdate": False})

    def _line(self, fields: dict[str, Any]) -> None:
        with self.log.open("a", encoding="utf-8") as out:
            out.write(json.dumps(fields, separators=(",", ":"), ensure_ascii=False) + "\n")


def _text(path: Path) -> str | None:
    return path.read_bytes().decode().replace("\r\n", "\n") if path.exists() else None


def _hunks(before: str, after: str) -> Iterator[dict[str, Any]]:
    for text in diff_texts(before, after):
        yield {
            "oldStart": text.old_start,
            "oldLines": text.old_lines,
            "newStart": text.new_start,
            "newLines": text.new_lines,
            "lines": list(text.lines),
        }
