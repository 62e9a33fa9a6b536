"""What is searched for to the lines that ripgrep prints, where there is one."""

import asyncio
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path

from plait.agent.tools.globs import patterns_in, rejected
from plait.agent.tools.matching import WIDEST, Query
from plait.agent.tools.model import ToolError, Workplace
from plait.agent.tools.walking import LONGEST, REPOSITORIES

MOST_OUTPUT = 32 * 1024 * 1024


def ripgrep(place: Workplace) -> str | None:
    """Returns the executable, None where there is none."""
    return shutil.which("rg", path=place.environment.get("PATH", ""))


def command_of(program: str, query: Query, path: Path) -> list[str]:
    """Returns the command that searches."""
    modes = {"content": [], "count": ["--count", "--with-filename"]}
    told = [program, "--no-config", "--hidden", "--color", "never", "--no-heading"]
    told += ["--max-columns", str(WIDEST), *modes.get(query.mode, ["--files-with-matches"])]
    if query.mode == "content":
        told += ["--sort", "path", "--line-number" if query.has_numbers else "--no-line-number"]
        told += ["--only-matching"] if query.only_matches else []
        if query.has_context:
            told += ["--before-context", str(query.before), "--after-context", str(query.after)]
    told += ["--ignore-case"] if query.ignores_case else []
    told += ["--multiline", "--multiline-dotall"] if query.is_multiline else []
    told += ["--type", query.kind] if query.kind else []
    globs = [*patterns_in(query.glob), *(f"!{name}" for name in sorted(REPOSITORIES))]
    told += [part for glob in globs for part in ("--glob", glob)]
    return [*told, "--regexp", query.pattern, "--", str(path)]


async def ripgrep_lines(program: str, query: Query, path: Path, place: Workplace) -> list[str]:
    """Returns the lines that tell what was found; files come newest first."""
    told, error, code = await _run(command_of(program, query, path), place)
    if code == 2 and not told:
        raise rejected(error.strip())
    lines = [_from_here(line, place) for line in told.removesuffix("\n").split("\n") if told]
    if query.mode == "files_with_matches":
        lines.sort(key=lambda name: (-_changed(place.cwd / name), name))
    return lines


def _from_here(line: str, place: Workplace) -> str:
    return line.removeprefix(f"{place.cwd}/").removesuffix("\r")


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


async def _run(command: list[str], place: Workplace) -> tuple[str, str, int]:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=place.cwd,
            env=dict(place.environment),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"Search failed: {error}") from error
    try:
        async with asyncio.timeout(LONGEST):
            told, error_text = await asyncio.gather(_some(process.stdout), _some(process.stderr))
    except TimeoutError:
        told, error_text = "", ""
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = await process.wait()
    return told, error_text, code


async def _some(stream: asyncio.StreamReader | None) -> str:
    """Returns what a stream says, as far as it is of use."""
    found = bytearray()
    while stream and len(found) < MOST_OUTPUT and (chunk := await stream.read(1 << 16)):
        found += chunk
    return found.decode("utf-8", "replace")
