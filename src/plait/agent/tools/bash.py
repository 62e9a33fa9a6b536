"""A shell command to what it said, and where it left the shell."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.agent.tools import background, process
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.commands import expects_no_output, meaning_of, waits_only
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)
from plait.agent.tools.persisted import LIMIT, persisted, preview, shortened
from plait.agent.tools.process import Running

USUAL_MS, MOST_MS = 120_000, 600_000
MOST_BACKGROUND_MS = 7_200_000
QUIET = 3.0
"""Seconds before a command that goes on is reported of, once a second."""
IMAGE = re.compile(r"data:(image/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=\s]+)\Z", re.IGNORECASE)
SILENT = (
    " No output had been read from it when it was moved. A program that buffers its output, or a"
    " pipe into one such as tail, can keep the output file empty until the command finishes."
)
FIELDS = (
    Field("command", "string", "The command to run", is_needed=True),
    Field("timeout", "number", "Milliseconds it may take, at most 600000 in the foreground"),
    Field("description", "string", "What the command does, in a few words for the user"),
    Field("run_in_background", "boolean", "Go on without waiting for it to end"),
    Field("dangerouslyDisableSandbox", "boolean", "Taken and ignored: there is no sandbox"),
)
ABOUT = (
    "Runs a command in bash and returns what it says. Each command starts anew in the working"
    " directory that the last one left; variables are not kept. It has no terminal and nothing to"
    " read from. One that takes longer than its timeout goes on in the background."
)


@dataclass(frozen=True, slots=True)
class Bash:
    """The tool that runs a command."""

    name: str = "Bash"
    effect: Effect = "execute"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Takes the command as it is."""
        taken = checked(self.name, FIELDS, arguments)
        if "\0" in taken["command"]:
            raise ToolError("A command cannot contain null bytes (\\0).", is_misuse=True)
        return Proposal(self.name, taken, self.effect, taken["command"])

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Runs it; cancelled, it ends all that the command started."""
        taken = proposal.arguments
        name, folder = background.task_name(), background.scratch(place)
        cwd = place.cwd if place.cwd.is_dir() else place.root
        environment = {**place.environment, "GIT_EDITOR": "true"}
        running = await process.start(taken["command"], cwd, environment, folder, name)
        try:
            if taken.get("run_in_background"):
                return _left(taken, running, name, place)
            if await _ended(running, _milliseconds(taken) / 1000, report):
                return _finished(taken, running, name, place)
            return await _late(taken, running, name, place)
        except asyncio.CancelledError:
            await asyncio.shield(process.stop(running))
            raise


def _milliseconds(taken: Arguments) -> float:
    asked = float(taken.get("timeout") or USUAL_MS)
    return min(asked, MOST_MS) if asked > 0 else USUAL_MS


async def _ended(running: Running, seconds: float, report: Report) -> bool:
    """Waits for a command to end, and reports of it meanwhile; tells whether it has."""
    assert running.pump is not None
    pause = QUIET
    while (left := seconds - running.seconds) > 0:
        done, _ = await asyncio.wait([running.pump], timeout=min(pause, left))
        if done:
            return True
        if left > pause:
            report(_progress(running))
        pause = 1.0
    return running.pump.done()


def _progress(running: Running) -> dict[str, Any]:
    lines = running.text.split("\n")
    return {
        "type": "bash_progress",
        "output": "\n".join(lines[-5:]),
        "fullOutput": running.text[-LIMIT:],
        "elapsedTimeSeconds": round(running.seconds),
        "totalLines": len(lines),
    }


def _finished(taken: Arguments, running: Running, name: str, place: Workplace) -> Outcome:
    text, code = tidy(running.text), running.code or 0
    moved = _move(running, place)
    whole = running.output
    try:
        interpreted = meaning_of(taken["command"], code)
        if code and interpreted is None:
            parts = (f"Exit code {code}", text[:LIMIT], moved.strip())
            told = "\n".join(part for part in parts if part)
            raise ToolError(shortened(told))
        return _said(taken, running.text, moved, interpreted, _kept(running, text, name, place))
    finally:
        whole.unlink(missing_ok=True)


def tidy(text: str) -> str:
    """Returns output without blank lines before it and blanks after it."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def _kept(running: Running, text: str, name: str, place: Workplace) -> Path | None:
    """Returns where output is kept that is too long to be told, None where it is not."""
    if len(text) <= LIMIT or place.results is None:
        return None
    return persisted(running.output, place.results / f"{name}.txt", place.secrets)


def _said(
    taken: Arguments, raw: str, moved: str, interpreted: str | None, kept: Path | None
) -> Outcome:
    text = tidy(raw)
    image = IMAGE.match(text)
    output: dict[str, Any] = {
        "stdout": text if image else tidy(raw[:LIMIT]),
        "stderr": moved,
        "interrupted": False,
        "isImage": image is not None,
    }
    if interpreted:
        output["returnCodeInterpretation"] = interpreted
    output["noOutputExpected"] = expects_no_output(taken["command"])
    if image:
        source = {"type": "base64", "media_type": image[1], "data": "".join(image[2].split())}
        return Outcome([{"type": "image", "source": source}], output)
    if kept:
        size = kept.stat().st_size
        output |= {"persistedOutputPath": str(kept), "persistedOutputSize": size}
        return Outcome(preview(text, size, kept), output, is_error=False)
    told = "\n".join(part for part in (shortened(text, LIMIT), moved.strip()) if part)
    return Outcome(told or "(Bash completed with no output)", output, is_error=False)


def _move(running: Running, place: Workplace) -> str:
    """Follows a command to where it went; returns what is said where it may not stay there."""
    try:
        told = running.where.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n")
        running.where.unlink()
    except OSError:
        return ""
    cwd = Path(told).resolve()
    if not place.keeps_cwd:
        return ""
    if place.holds(cwd):
        place.cwd = cwd
        return ""
    place.cwd = place.root
    return f"\nShell cwd was reset to {place.root}"


def _left(taken: Arguments, running: Running, name: str, place: Workplace) -> Outcome:
    asked = float(taken.get("timeout") or MOST_MS)
    seconds = min(asked if asked > 0 else MOST_MS, MOST_BACKGROUND_MS) / 1000
    background.keep(place, name, running, str(taken.get("description") or ""), seconds)
    told = (
        f"Command running in background with ID: {name}. Output is being written to:"
        f" {running.output}. You will be notified when it completes. To check interim output, use"
        " Read on that file path."
    )
    return Outcome(told, _unfinished(running, name), is_error=False)


def _unfinished(running: Running, name: str, **more: Any) -> dict[str, Any]:
    return {
        "stdout": tidy(running.text),
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
        "backgroundTaskId": name,
        **more,
    }


async def _late(taken: Arguments, running: Running, name: str, place: Workplace) -> Outcome:
    """Ends a command that only waits; goes on with any other in the background."""
    ms = _milliseconds(taken)
    if waits_only(taken["command"]):
        await process.stop(running)
        text = tidy(running.text)
        running.output.unlink(missing_ok=True)
        end = ("Exit code 143", f"Command timed out after {span(ms)}", text)
        raise ToolError(shortened("\n".join(part for part in end if part)))
    background.keep(place, name, running, str(taken.get("description") or ""), background.LONGEST)
    said = tidy(running.text)
    silent = "" if said else SILENT
    told = (
        f"Command did not complete within its {span(ms)} timeout and was moved to the background"
        f" (ID: {name}). Output is being written to: {running.output}. You will be notified when it"
        f" completes. If it is still running after {span(background.LONGEST * 1000)} in the"
        " background, it will be stopped and you will be notified. It is running now: do not start"
        " a second copy while it runs. If it is no longer needed, stop it with"
        f" TaskStop.{silent} To check interim output, use Read on that file path."
    )
    output = _unfinished(running, name, timedOutAfterMs=int(ms))
    parts = (shortened(said, LIMIT), told)
    return Outcome("\n".join(part for part in parts if part), output, is_error=False)


def span(ms: float) -> str:
    """Returns a time as the client writes it: 2s, 10m, 1m 30s."""
    seconds = int(ms / 1000 + 0.5)
    minutes, rest = divmod(seconds, 60)
    if not minutes:
        return f"{rest}s"
    return f"{minutes}m {rest}s" if rest else f"{minutes}m"
