"""A command to the installed client, or to what is wrong with it."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

from plait.errors import UserError

OLDEST = (2, 0, 0)
"""The first version that asks about calls on its standard output."""
LONGEST = 20.0
"""Seconds that it may take to say its version."""
USUAL = (".local/bin/claude", ".claude/local/claude")
"""Where installers put it, from the home folder on."""
NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")
INSTALL = "https://claude.com/claude-code says how it is installed; `--engine api` needs a key"


@dataclass(frozen=True, slots=True)
class Installed:
    """The client, and what it is started with."""

    executable: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def found(environment: Mapping[str, str], named: str | None = None) -> Path | None:
    """Returns where the client is, None where it is not; `named` is where it was said to be."""
    if named:
        return _located(named, environment)
    on_path = _located("claude", environment)
    home = environment.get("HOME")
    usual = [Path(home) / one for one in USUAL] if home else []
    return on_path or next((one for one in usual if one.is_file()), None)


def _located(name: str, environment: Mapping[str, str]) -> Path | None:
    place = which(name, path=environment.get("PATH"))
    return Path(place) if place else None


def checked(executable: Path | None, environment: Mapping[str, str], named: str | None) -> Path:
    """Returns a client that can be driven; raises UserError where there is none."""
    if executable is None:
        where = f"'{named}' is no client of Claude Code" if named else "Claude Code is not here"
        raise UserError(where, INSTALL)
    version = _version(executable, environment)
    if version < OLDEST:
        told, wanted = (".".join(map(str, one)) for one in (version, OLDEST))
        raise UserError(
            f"Claude Code {told} is too old to be driven: {wanted} is the first that can be",
            "`claude update` brings a newer one",
        )
    return executable


def _version(executable: Path, environment: Mapping[str, str]) -> tuple[int, ...]:
    try:
        done = subprocess.run(  # noqa: S603
            [str(executable), "--version"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"'{executable}' does not run: {error}", INSTALL) from error
    said = NUMBERS.search(done.stdout)
    if not said:
        raise UserError(f"'{executable}' does not say which version it is", INSTALL)
    return tuple(map(int, said.groups()))
