"""A server that is configured, and where it stands, as values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

Source: TypeAlias = Literal["user", "project", "local"]
State: TypeAlias = Literal["starting", "ready", "failed", "ended", "unapproved", "off"]
LONGEST_NAME = 128
"""Letters of a tool's name that the API takes."""


@dataclass(frozen=True, slots=True)
class Server:
    """How a server is reached: a command that is run, or an address."""

    name: str
    source: Source
    path: Path
    """The file that says it."""
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_approved: bool = True
    """Whether it may be started; those of a project wait for leave."""

    @property
    def where(self) -> str:
        """What is run or asked, as a person is told."""
        return self.url or " ".join([self.command, *self.arguments])


def as_name(text: str) -> str:
    """Returns a text as it stands in names of tools."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)


def tool_name(server: str, tool: str) -> str:
    """Returns the name by which the model calls a tool of a server."""
    return f"mcp__{as_name(server)}__{as_name(tool)}"[:LONGEST_NAME]
