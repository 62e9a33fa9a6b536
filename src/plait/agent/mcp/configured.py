"""Files that name servers to those that there are, nearer ones before others.

    <configuration>/.claude.json     mcpServers            the person's own
                                     projects.<directory>.mcpServers   theirs, for one directory
    <directory>/.mcp.json            mcpServers            the project's, of every directory upwards

`${NAME}` and `${NAME:-otherwise}` stand for variables of the environment, secrets left out. A
project's servers wait for leave: `enableAllProjectMcpServers`, `enabledMcpjsonServers` in settings
give it, `disabledMcpjsonServers` takes it away.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plait.agent.instructions import Grounds
from plait.agent.mcp.model import Server, Source
from plait.agent.settings import ClientSettings
from plait.line import read_regular
from plait.record.codec import NotAnObject, mapping, object_of

FILE, STATE = ".mcp.json", ".claude.json"
MOST_BYTES = 4_000_000
MOST_SERVERS = 50
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class Configured:
    """Reads the servers of a session, and what a person should know of them."""

    def __init__(
        self,
        grounds: Grounds,
        settings: ClientSettings,
        environment: Mapping[str, str],
        *,
        is_asked: bool,
    ) -> None:
        self._grounds = grounds
        self._settings = settings
        self._environment = environment
        self._is_asked = is_asked
        """Whether somebody is there who can give leave."""
        self.notices: list[str] = []

    def servers(self) -> list[Server]:
        """Returns them, each name once."""
        found: dict[str, Server] = {}
        for source, path, servers in self._told():
            for name, told in servers.items():
                if name not in found and len(found) < MOST_SERVERS:
                    server = self._server(name, source, path, mapping(told))
                    if server:
                        found[name] = server
        return [*found.values()]

    def _told(self) -> Iterator[tuple[Source, Path, Mapping[str, Any]]]:
        own = self._grounds.configuration
        places = [own / STATE, own.parent / STATE] if own else []
        state = next((path for path in places if path.is_file()), None)
        values = self._read(state) if state else {}
        here = mapping(mapping(values.get("projects")).get(str(self._grounds.root)))
        if state:
            yield "local", state, mapping(here.get("mcpServers"))
        for folder in (self._grounds.root, *self._grounds.root.parents):
            path = folder / FILE
            if path.is_file():
                yield "project", path, mapping(self._read(path).get("mcpServers"))
        if state:
            yield "user", state, mapping(values.get("mcpServers"))

    def _read(self, path: Path) -> Mapping[str, Any]:
        try:
            if path.stat().st_size > MOST_BYTES:
                raise OSError("it is too long")
            return object_of(read_regular(path))
        except (OSError, NotAnObject) as error:
            self.notices.append(f"servers of '{path}' are left out: {error}")
            return {}

    def _server(
        self, name: str, source: Source, path: Path, told: Mapping[str, Any]
    ) -> Server | None:
        command, url = told.get("command"), told.get("url")
        if not isinstance(command or url, str):
            self.notices.append(f"the server '{name}' of '{path}' has neither command nor url")
            return None
        given = told["args"] if isinstance(told.get("args"), list) else []
        return Server(
            name,
            source,
            path,
            command=self._filled(command, name) if command else "",
            arguments=tuple(self._filled(one, name) for one in given),
            environment=self._texts(told.get("env"), name),
            url="" if command else self._filled(url, name),
            headers=self._texts(told.get("headers"), name),
            is_approved=source != "project" or self._is_approved(name),
        )

    def _texts(self, told: object, name: str) -> dict[str, str]:
        return {key: self._filled(value, name) for key, value in mapping(told).items()}

    def _filled(self, told: object, name: str) -> str:
        def put(found: re.Match[str]) -> str:
            value: str | None = self._environment.get(found[1], found[2])
            if value is None:
                self.notices.append(
                    f"the server '{name}' asks for ${found[1]}, which is not there or a secret:"
                    " `let_through` in config.toml names secrets that may be passed on"
                )
            return value or ""

        return VARIABLE.sub(put, str(told))

    def _is_approved(self, name: str) -> bool:
        """Tells whether a project's server may start; what the project says gives no leave."""
        refused = self._settings.listed("disabledMcpjsonServers", is_strict=True)
        if name in {one.value for one in refused}:
            return False
        own = [file for file in self._settings.obeyed if file.source != "projectSettings"]
        allowed = [file.value("enabledMcpjsonServers") for file in own]
        is_all = any(file.value("enableAllProjectMcpServers") is True for file in own)
        is_named = any(name in one for one in allowed if isinstance(one, list))
        return not self._is_asked or is_all or is_named


def servers_in(
    grounds: Grounds,
    settings: ClientSettings,
    environment: Mapping[str, str],
    *,
    is_asked: bool = False,
) -> tuple[list[Server], list[str]]:
    """Returns the servers that count in a directory, and what a person should know of them."""
    reader = Configured(grounds, settings, environment, is_asked=is_asked)
    return reader.servers(), reader.notices
