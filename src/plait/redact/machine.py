"""A machine to the names of whoever works on it: user, host, and how Git signs."""

import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from plait.redact.logins import is_somebody
from plait.redact.model import Kind
from plait.redact.rules import Rules

GIT = (".gitconfig", ".config/git/config")
SECTION = re.compile(r"\s*\[\s*([\w.-]+)[^\]]*\]")
SETTING = re.compile(r"\s*(name|email)\s*=\s*\"?([^\"#;\n]+?)\"?\s*(?:[#;].*)?$")


def with_own_names(rules: Rules | None, home: Path, host: str | None = None) -> Rules:
    """Returns rules that also know the names of a machine and of whom its home belongs to."""
    found = names_of(home, socket.gethostname() if host is None else host)
    return replace(rules or Rules(), own=tuple(dict.fromkeys(found)))


def names_of(home: Path, host: str) -> Iterator[tuple[Kind, str]]:
    """Yields what a home folder and the name of a machine tell of somebody."""
    if is_somebody(home.name.encode("utf-8", "surrogatepass")):
        yield "user", home.name
    yield from (("host", name) for name in (host, host.partition(".")[0]) if name)
    for file in GIT:
        yield from _signatures(home / file)


def _signatures(path: Path) -> Iterator[tuple[Kind, str]]:
    section = ""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        if heading := SECTION.match(line):
            section = heading[1].lower()
        elif section == "user" and (setting := SETTING.match(line)):
            yield ("email" if setting[1] == "email" else "user"), setting[2]
