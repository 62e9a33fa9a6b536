"""Keys of the SDK to the paths that their streams have in a store, and back.

    {"project_key": "-srv-app", "session_id": S}                       projects/-srv-app/S.jsonl
    {…, "subpath": "subagents/agent-1"}           projects/-srv-app/S/subagents/agent-1.jsonl

A key may be any text: what is no plain name of a file is written as `%` and two digits a byte.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.errors import UserError
from plait.keep.model import Kind
from plait.line.discover import AGENT, JOURNAL, PROJECTS, SUFFIX

META = ".meta.json"
LONGEST = 240
"""Bytes of a name: systems take 255, and a suffix comes behind it."""
ODD = re.compile(rb"[^A-Za-z0-9._~+@=-]")
DOTS = re.compile(rb"\.+")
ESCAPED = re.compile(rb"%([0-9A-F]{2})")


@dataclass(frozen=True, slots=True)
class Stream:
    """One list of entries: a session's, or that of an agent of it."""

    project: str
    """The name of its project's folder."""
    session: str
    parts: tuple[str, ...] = ()
    """The names that lead to an agent's, below the session's folder."""

    @property
    def path(self) -> str:
        """Where it lies below a root."""
        return "/".join((PROJECTS, self.project, self.session, *self.parts)) + SUFFIX

    @property
    def beside(self) -> str:
        """What the paths of all streams of the session's agents begin with."""
        return f"{PROJECTS}/{self.project}/{self.session}/"

    @property
    def meta(self) -> str:
        """Where it is said what an agent is."""
        return self.path.removesuffix(SUFFIX) + META

    @property
    def kind(self) -> Kind:
        """What kind of file it is."""
        if not self.parts:
            return "session"
        if self.parts[-1].startswith(AGENT):
            return "agent"
        return "journal" if self.parts[-1] + SUFFIX == JOURNAL else "beside"


def stream_of(key: Mapping[str, Any]) -> Stream:
    """Returns the stream that a key of the SDK means."""
    project, session = key.get("project_key"), key.get("session_id")
    subpath = key.get("subpath")
    texts = [project, session, *([] if subpath is None else [subpath])]
    if not all(isinstance(text, str) and text for text in texts):
        raise UserError("a key needs a `project_key` and a `session_id`, and no empty `subpath`")
    parts = tuple(map(name_of, str(subpath).split("/"))) if subpath is not None else ()
    return Stream(name_of(str(project)), name_of(str(session)), parts)


def stream_at(path: str) -> Stream | None:
    """Returns the stream that lies at a path below a root, None where none does."""
    top, *names = path.split("/")
    if top != PROJECTS or len(names) < 2 or not path.endswith(SUFFIX):
        return None
    project, *inner = names
    inner[-1] = inner[-1].removesuffix(SUFFIX)
    return Stream(project, inner[0], tuple(inner[1:]))


def name_of(text: str) -> str:
    """Returns the name of a file for a part of a key."""
    data = text.encode("utf-8", "surrogatepass")
    if not data or DOTS.fullmatch(data):
        return "%" + "".join(f"%{byte:02X}" for byte in data)
    name = ODD.sub(lambda found: b"%%%02X" % found[0][0], data).decode()
    if len(name) > LONGEST:
        raise UserError(f"'{text[:40]}…' is too long for a key", f"{LONGEST} letters are the most")
    return name


def text_of(name: str) -> str:
    """Returns the part of a key that a name of a file stands for."""
    data = name.encode("utf-8", "surrogatepass")
    if data.startswith(b"%") and not ESCAPED.match(data):
        data = data[1:]  # a part of dots alone, or of nothing
    plain = ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), data)
    return plain.decode("utf-8", "surrogatepass")
