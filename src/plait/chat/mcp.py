"""Servers of the Model Context Protocol, and their tools.

    <configuration>/.claude.json     mcpServers                        the user's own
                                     projects.<directory>.mcpServers   the user's, for a directory
    <directory>/.mcp.json            mcpServers                        the project's, also of parents

`${NAME}` and `${NAME:-default}` stand for environment variables, secrets excluded. A project's
servers need approval: `enableAllProjectMcpServers` and `enabledMcpjsonServers` give it,
`disabledMcpjsonServers` withdraws it.

One task owns each connection from start to end, as the SDK requires; calls only send requests to
it. A server that died is restarted by the next call. The pipe to a server is our own: the SDK's
lets a line grow without limit and prints what it cannot parse.
"""

import asyncio
import base64
import binascii
import json
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from mimetypes import guess_extension
from pathlib import Path
from secrets import choice
from string import ascii_lowercase, digits
from time import monotonic
from typing import Any, Literal, TypeAlias

from plait.chat.instructions import ProjectScope
from plait.chat.settings import ClientSettings
from plait.chat.tools.base import (
    Arguments,
    Effect,
    Outcome,
    ProgressCallback,
    Proposal,
    Tool,
    ToolError,
    Workplace,
)
from plait.chat.tools.read import detect_media_type
from plait.chat.tools.secrets import SecretHidingTool
from plait.errors import MissingExtra, UserError
from plait.line import read_regular
from plait.line.output import OutputFolder
from plait.record.codec import NotAnObject, as_mapping, decode_object
from plait.view.formats import format_count

ServerSource: TypeAlias = Literal["user", "project", "local"]
ServerState: TypeAlias = Literal["starting", "ready", "failed", "ended", "unapproved", "off"]
MAX_TOOL_NAME = 128
"""Length of a tool name that the API accepts."""


@dataclass(frozen=True, slots=True)
class Server:
    """How to reach a server: a command or a URL."""

    name: str
    source: ServerSource
    path: Path
    """The file that configures it."""
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_approved: bool = True
    """Whether it may be started; a project's servers need approval."""

    @property
    def where(self) -> str:
        """Its command or URL, as shown to the user."""
        return self.url or " ".join([self.command, *self.arguments])


def sanitize_name(text: str) -> str:
    """Return a text with the characters that tool names allow."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)


def tool_name(server: str, tool: str) -> str:
    """Return the model's name for a tool of a server."""
    return f"mcp__{sanitize_name(server)}__{sanitize_name(tool)}"[:MAX_TOOL_NAME]


PROJECT_FILE, USER_FILE = ".mcp.json", ".claude.json"
MAX_CONFIG_BYTES = 4_000_000
MAX_SERVERS = 50
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def load_servers(
    scope: ProjectScope,
    settings: ClientSettings,
    environment: Mapping[str, str],
    *,
    can_ask: bool = False,
) -> tuple[list[Server], list[str]]:
    """Return the servers of a directory, each name once, and what the user should know."""
    notices: list[str] = []

    def read_object(path: Path) -> Mapping[str, Any]:
        try:
            if path.stat().st_size > MAX_CONFIG_BYTES:
                raise OSError("the file is too large")
            return decode_object(read_regular(path))
        except (OSError, NotAnObject) as error:
            notices.append(f"MCP servers in '{path}' ignored: {error}")
            return {}

    def iter_sources() -> Iterator[tuple[ServerSource, Path, Mapping[str, Any]]]:
        own = scope.configuration
        places = [own / USER_FILE, own.parent / USER_FILE] if own else []
        state = next((path for path in places if path.is_file()), None)
        values = read_object(state) if state else {}
        here = as_mapping(as_mapping(values.get("projects")).get(str(scope.root)))
        if state:
            yield "local", state, as_mapping(here.get("mcpServers"))
        for folder in (scope.root, *scope.root.parents):
            path = folder / PROJECT_FILE
            if path.is_file():
                yield "project", path, as_mapping(read_object(path).get("mcpServers"))
        if state:
            yield "user", state, as_mapping(values.get("mcpServers"))

    def fill(template: object, name: str) -> str:
        def replace_variable(match: re.Match[str]) -> str:
            value: str | None = environment.get(match[1], match[2])
            if value is None:
                notices.append(
                    f"MCP server '{name}' uses ${match[1]}, which is unset or a secret;"
                    " to pass on a secret, list it in `let_through` in config.toml"
                )
            return value or ""

        return VARIABLE.sub(replace_variable, str(template))

    def fill_all(templates: object, name: str) -> dict[str, str]:
        return {key: fill(value, name) for key, value in as_mapping(templates).items()}

    # a project's servers need approval, which no file of the project can give
    refused = settings.list_values("disabledMcpjsonServers", is_strict=True)
    refused_names = {name for name, _ in refused}
    own_files = [file for file in settings.active_files if file.source != "projectSettings"]
    lists = [file.value("enabledMcpjsonServers") for file in own_files]
    approved = [name for names in lists if isinstance(names, list) for name in names]
    is_all = any(file.value("enableAllProjectMcpServers") is True for file in own_files)

    found: dict[str, Server] = {}
    for source, path, servers in iter_sources():
        for name, value in servers.items():
            if name in found or len(found) >= MAX_SERVERS:
                continue
            entry = as_mapping(value)
            command, url, given = entry.get("command"), entry.get("url"), entry.get("args")
            if not isinstance(command or url, str):
                notices.append(f"MCP server '{name}' in '{path}' has neither a command nor a URL")
                continue
            is_approved = not can_ask or is_all or name in approved
            found[name] = Server(
                name,
                source,
                path,
                command=fill(command, name) if command else "",
                arguments=tuple(
                    fill(item, name) for item in (given if isinstance(given, list) else ())
                ),
                environment=fill_all(entry.get("env"), name),
                url="" if command else fill(url, name),
                headers=fill_all(entry.get("headers"), name),
                is_approved=source != "project" or (is_approved and name not in refused_names),
            )
    return [*found.values()], notices


MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_INVALID_LINES = 1000
"""Lines that are not messages after which a server is given up."""
MAX_STDERR_KEPT = 2000
"""Bytes of error output that are kept."""
EXIT_TIMEOUT = 0.5
"""Seconds a server has to exit after its input is closed."""


class StdioServer:
    """A running server and the end of its error output."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.stderr_tail = b""
        self.error = ""
        """What was wrong with its output."""

    @asynccontextmanager
    async def run(self) -> AsyncIterator[tuple[Any, Any, "StdioServer"]]:
        """Yield its streams for the SDK; stop it in the end."""
        import anyio

        inward, text = anyio.create_memory_object_stream[Any](0)
        outgoing, outward = anyio.create_memory_object_stream[Any](0)
        work = [self._read(inward), self._write(outward), self._read_stderr()]
        tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
        try:
            yield text, outgoing, self
        finally:
            await asyncio.shield(self._stop())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (inward, text, outgoing, outward):
                stream.close()

    @property
    def exit_reason(self) -> str:
        """Why it exited, as far as known."""
        lines = self.stderr_tail.decode(errors="replace").strip().splitlines()
        return self.error or (lines[-1] if lines else "")

    async def _read(self, into: Any) -> None:
        """Forward its messages until it exits or sends too much."""
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        assert self.process.stdout
        garbage = 0
        async with into:
            while garbage < MAX_INVALID_LINES:
                try:
                    line = await self.process.stdout.readline()
                except ValueError:
                    self.error = "a message was too long"
                    return
                if not line:
                    return
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    garbage += bool(line.strip())
                    continue
                await into.send(SessionMessage(message))
            self.error = "it sent invalid messages"

    async def _write(self, source: Any) -> None:
        assert self.process.stdin
        with suppress(OSError):
            async for item in source:
                line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                self.process.stdin.write(line.encode() + b"\n")
                await self.process.stdin.drain()

    async def _read_stderr(self) -> None:
        assert self.process.stderr
        while data := await self.process.stderr.read(4096):
            self.stderr_tail = (self.stderr_tail + data)[-MAX_STDERR_KEPT:]

    async def _stop(self) -> None:
        """Stop it and its process group: first by closing its input, then by force."""
        assert self.process.stdin
        self.process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), EXIT_TIMEOUT)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        # A process whose output nobody reads counts as running until its pipes are closed.
        self.process._transport.close()  # type: ignore[attr-defined]
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), EXIT_TIMEOUT)


START_TIMEOUT = 30.0
"""Seconds a server has to become ready."""
CALL_TIMEOUT = 1800.0
"""Seconds a call may take."""
LEAVE_TIMEOUT = 10.0
"""Seconds a server has to exit after its connection is closed."""
CONNECTION_CLOSED = "Connection closed"
MAX_TOOLS = 200
MAX_PAGES = 50


class Connection:
    """A connection to a server."""

    def __init__(
        self,
        server: Server,
        cwd: Path,
        environment: Mapping[str, str],
        *,
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        self.server = server
        self.state: ServerState = "starting" if server.is_approved else "unapproved"
        self.error = ""
        """Why it failed."""
        self.instructions = ""
        self.tools: list[Mapping[str, Any]] = []
        """Its tools, as the protocol describes them."""
        self._cwd = cwd
        self._environment = environment
        self._start_timeout = start_timeout
        self._session: Any = None
        self._task: asyncio.Task[None] | None = None
        self.settled = asyncio.Event()
        """Set once it is ready or has failed."""
        self._leave = asyncio.Event()

    def start(self) -> None:
        """Start connecting."""
        if self._task is None or self._task.done():
            self.state, self.error = "starting", ""
            self.settled, self._leave = asyncio.Event(), asyncio.Event()
            self._task = asyncio.ensure_future(self._run())

    async def close(self) -> None:
        """Close the session and stop the server."""
        self._leave.set()
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self.state = "off"

    async def call(self, tool: str, given: Mapping[str, Any], progress: Any) -> Mapping[str, Any]:
        """Call a tool; return the protocol's result."""
        if self.state == "ended":
            self.start()
        await self.settled.wait()
        if self.state != "ready":
            raise ToolError(f"The server '{self.server.name}' is not available: {self.error}")
        from mcp import MCPError

        ended = asyncio.ensure_future(self._leave.wait())
        calling = asyncio.ensure_future(
            self._session.call_tool(
                tool, dict(given), read_timeout_seconds=CALL_TIMEOUT, progress_callback=progress
            )
        )
        try:
            await asyncio.wait({ended, calling}, return_when=asyncio.FIRST_COMPLETED)
            if not calling.done():
                raise ToolError(self._describe_closed())
            result = calling.result()
        except MCPError as error:
            if error.error.message == CONNECTION_CLOSED:
                # the old session must be closed before the next call opens another
                self._leave.set()
                if self._task:
                    await asyncio.wait({self._task}, timeout=LEAVE_TIMEOUT)
                raise ToolError(self._describe_closed()) from None
            raise ToolError(error.error.message) from None
        finally:
            for item in (ended, calling):
                item.cancel()
            await asyncio.gather(ended, calling, return_exceptions=True)
        return dict(result.model_dump(mode="json", by_alias=True, exclude_none=True))

    def _describe_closed(self) -> str:
        return f"{CONNECTION_CLOSED}: {self.error}" if self.error else CONNECTION_CLOSED

    async def _run(self) -> None:
        """Own the session from start to end, and note how it ended."""
        try:
            await self._run_session()
            self.state = "ended"
        except asyncio.CancelledError:
            raise
        except BaseExceptionGroup as group:
            error: BaseException = group
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            self._set_failed(error)
        except Exception as failure:
            self._set_failed(failure)
        finally:
            self._session = None
            self._leave.set()
            self.settled.set()

    def _set_failed(self, error: BaseException) -> None:
        self.state = "failed" if not self.settled.is_set() else "ended"
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        if isinstance(error, TimeoutError):
            reason = f"not ready after {self._start_timeout:g} seconds"
        elif isinstance(error, FileNotFoundError):
            reason = f"command not found: '{self.server.command}'"
        self.error = self.error or reason

    async def _run_session(self) -> None:
        async with self._open_streams() as (text, outgoing, pipe):
            from mcp import ClientSession

            async with ClientSession(text, outgoing) as session:
                try:
                    async with asyncio.timeout(self._start_timeout):
                        await self._initialize(session)
                except Exception:
                    self.error = pipe.exit_reason if pipe else ""
                    raise
                self._session, self.state = session, "ready"
                self.settled.set()
                await self._wait_until_gone(pipe)

    async def _initialize(self, session: Any) -> None:
        from mcp_types import PaginatedRequestParams

        begun = await session.initialize()
        self.instructions = begun.instructions or ""
        self.tools = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = PaginatedRequestParams(cursor=cursor) if cursor else None
            page = await session.list_tools(params=params)
            self.tools += [tool.model_dump(by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor or len(self.tools) > MAX_TOOLS:
                break

    async def _wait_until_gone(self, pipe: Any) -> None:
        """Wait until it is closed or the server exits."""
        if pipe is None:
            await self._leave.wait()
            return
        left = asyncio.ensure_future(self._leave.wait())
        gone = asyncio.ensure_future(pipe.process.wait())
        try:
            await asyncio.wait({left, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            gone.cancel()
        self.error = pipe.exit_reason

    @asynccontextmanager
    async def _open_streams(self) -> AsyncIterator[tuple[Any, Any, Any]]:
        """Reach the server; yield the streams for the SDK, and the process of a local one."""
        if self.server.command:
            process = await asyncio.create_subprocess_exec(
                self.server.command,
                *self.server.arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self._cwd,
                env={**self._environment, **self.server.environment},
                start_new_session=True,
                limit=MAX_LINE_BYTES,
            )
            async with StdioServer(process).run() as streams:
                yield streams
            return
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx2.AsyncClient(headers=dict(self.server.headers), timeout=CALL_TIMEOUT) as client,
            streamable_http_client(self.server.url, http_client=client) as (text, outgoing),
        ):
            yield text, outgoing, None


def check_installed() -> None:
    """Raise UserError if the SDK is not installed."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "using MCP servers requires the MCP SDK", "`pip install 'plait[agent]'`"
        ) from None


MAX_RESULT_LENGTH = 100_000
"""Characters of a result that the model gets: about 25,000 tokens."""
RESULT_TOO_LONG = """\
Error: result ({letters:,} characters across {lines:,} lines) exceeds maximum allowed tokens. \
Output has been saved to {path}.
Format: {form}
Use offset and limit parameters to read specific portions of the file, search within it for \
specific content, and jq to make structured queries.
REQUIREMENTS FOR SUMMARIZATION/ANALYSIS/REVIEW:
- You MUST read the content from the file at {path} in sequential chunks until 100% of the content \
has been read.
- If you receive truncation warnings when reading the file, reduce the chunk size until you have \
read 100% of the content without truncation.
- Before producing ANY summary or analysis, you MUST explicitly describe what portion of the \
content you have read. ***If you did not read the entire content, you MUST explicitly state this.***
- If after a few attempts you cannot read the file (file not found, lines too long for Read's \
offset/limit, no shell access), STOP retrying. Summarize what you were able to read, explicitly \
state which portion you could not read and why, and proceed.
"""


@dataclass(frozen=True, slots=True)
class ResultConverter:
    """Converts results of a server to outcomes."""

    server: str
    folder: Path | None
    """The folder for results that are too long."""

    def convert(self, tool: str, name: str, result: Mapping[str, Any]) -> Outcome:
        """Return the outcome of a call."""
        blocks = [
            item for part in result.get("content") or () for item in self._convert_block(part)
        ]
        if result.get("isError"):
            words = "\n".join(_get_texts(blocks)) or "The tool failed without a message."
            return Outcome(words, f"Error: {words}", is_error=True)
        structured = result.get("structuredContent")
        found: dict[str, Any] = {"_meta": result["_meta"]} if result.get("_meta") else {}
        if structured is not None:
            found["structuredContent"] = structured
        links = [
            part for part in result.get("content") or () if part.get("type") == "resource_link"
        ]
        if links:
            found["resourceLinks"] = [
                {name: value for name, value in link.items() if name != "type"} for link in links
            ]
        meta = {"mcp_meta": found} if found else {}
        if structured is not None:
            text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
            return self._fit(tool, text, text, "JSON", meta)
        if not blocks:
            return Outcome(f"({name} completed with no output)", [], fields=meta)
        text = "\n".join(_get_texts(blocks))
        return self._fit(tool, text, blocks, "Plain text", meta)

    def _fit(
        self, tool: str, text: str, content: Any, form: str, meta: Mapping[str, Any]
    ) -> Outcome:
        """Return a text that fits; if it is too long, the path of a file with all of it."""
        if len(text) <= MAX_RESULT_LENGTH:
            return Outcome(content, content, fields=meta)
        stamp = round(time.time() * 1000)
        path = self._save(f"mcp-{self.server}-{tool}-{stamp}.txt", text.encode())
        lines = text.count("\n") + 1
        message = RESULT_TOO_LONG.format(letters=len(text), lines=lines, path=path, form=form)
        return Outcome(message, message, fields=meta)

    def _convert_block(self, part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        match part.get("type"):
            case "text":
                yield _make_text_block(str(part.get("text", "")))
            case "image":
                data = _decode_base64(part.get("data"))
                kind = detect_media_type(data) if data else None
                if data is None or kind is None:
                    place = self._save_binary(part, "data")
                    yield _make_text_block(f"[Image from {self.server}] {place}")
                    return
                source = {"type": "base64", "media_type": kind, "data": part["data"]}
                yield {"type": "image", "source": source}
                yield _make_text_block(f"[Image: source: {self._save_blob(data, kind)}]")
            case "audio":
                yield _make_text_block(
                    f"[Audio from {self.server}] {self._save_binary(part, 'data')}"
                )
            case "resource_link":
                about = part.get("description")
                text = f"[Resource link: {part.get('name')}] {part.get('uri')}"
                yield _make_text_block(f"{text} ({about})" if about else text)
            case "resource":
                resource = part.get("resource") or {}
                head = f"[Resource from {self.server} at {resource.get('uri')}] "
                is_text = "text" in resource
                body = resource["text"] if is_text else self._save_binary(resource, "blob")
                yield _make_text_block(f"{head}{body}")
            case kind:
                yield _make_text_block(f"[{kind}] {json.dumps(part, ensure_ascii=False)}")

    def _save_binary(self, part: Mapping[str, Any], name: str) -> str:
        kind = str(part.get("mimeType") or "application/octet-stream")
        data = _decode_base64(part.get(name))
        if data is None:
            return f"Binary content ({kind}) that could not be decoded"
        place = self._save_blob(data, kind)
        return f"Binary content ({kind}, {len(data)} bytes) saved to {place}"

    def _save_blob(self, data: bytes, kind: str) -> str:
        suffix = {"audio/wav": ".wav"}.get(kind) or guess_extension(kind) or ".bin"
        chance = "".join(choice(ascii_lowercase + digits) for _ in range(6))
        stamp = round(time.time() * 1000)
        return self._save(f"mcp-{self.server}-blob-{stamp}-{chance}{suffix}", data)

    def _save(self, name: str, data: bytes) -> str:
        if self.folder is None:
            return "no file, because this session has no folder for results"
        OutputFolder(self.folder).write(name, data)
        return str(self.folder / name)


def _make_text_block(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _get_texts(blocks: list[dict[str, Any]]) -> list[str]:
    return [block["text"] for block in blocks if block["type"] == "text"]


def _decode_base64(data: object) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True) if isinstance(data, str) else None
    except (binascii.Error, ValueError):
        return None


MAX_DESCRIPTION = 2048
"""Longest description; longer ones are cut."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of a server."""

    connection: Connection
    spec: Mapping[str, Any]
    """The server's description of it."""
    name: str

    @property
    def server(self) -> str:
        """The name of the server."""
        return self.connection.server.name

    @property
    def own_name(self) -> str:
        """The server's name for it."""
        return str(self.spec["name"])

    @property
    def is_read_only(self) -> bool | None:
        """Whether the server says that it changes nothing; None if it does not say."""
        hint = (self.spec.get("annotations") or {}).get("readOnlyHint")
        return hint if isinstance(hint, bool) else None

    @property
    def effect(self) -> Effect:
        """The most it may do; tools that may change something run alone."""
        return "network" if self.is_read_only else "execute"

    @property
    def definition(self) -> Mapping[str, Any]:
        about = str(self.spec.get("description") or "")
        cut = about if len(about) <= MAX_DESCRIPTION else f"{about[:MAX_DESCRIPTION]}… [cut]"
        return {"name": self.name, "description": cut, "input_schema": self.spec["inputSchema"]}

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Accept any arguments: the server checks them."""
        return Proposal(self.name, arguments, self.effect, f"{self.server} - {self.own_name}")

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Call it on the server."""
        begun = monotonic()
        about = {"serverName": self.server, "toolName": self.own_name}

        async def progress(done: float, total: float | None, words: str | None) -> None:
            fields = {"progress": done, "total": total, "progressMessage": words}
            known = {name: value for name, value in fields.items() if value is not None}
            report({"type": "mcp_progress", "status": "progress", **about, **known})

        report({"type": "mcp_progress", "status": "started", **about})
        fields = await self.connection.call(self.own_name, proposal.arguments, progress)
        took = round((monotonic() - begun) * 1000)
        report({"type": "mcp_progress", "status": "completed", **about, "elapsedTimeMs": took})
        outcome = ResultConverter(self.server, place.results_folder).convert(
            self.own_name, self.name, fields
        )
        if outcome.is_error or self.is_read_only:
            return outcome
        hint = "no_hint" if self.is_read_only is None else "hint_false"
        return replace(outcome, fields={**outcome.fields, "mcp_call_not_read_only": hint})


START_PATIENCE = 5.0
"""Seconds the first prompt waits for servers; slower ones join later."""


class SessionServers:
    """The servers of a session, and their tools among the session's tools."""

    def __init__(
        self,
        servers: Sequence[Server],
        tools: dict[str, Tool],
        cwd: Path,
        environment: Mapping[str, str],
        *,
        notices: Sequence[str] = (),
        forbidden: frozenset[str] = frozenset(),
        start_patience: float = START_PATIENCE,
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        self.connections = [
            Connection(server, cwd, environment, start_timeout=start_timeout) for server in servers
        ]
        self._tools = tools
        self._forbidden = forbidden
        self._start_patience = start_patience
        self._notices = [*notices]
        self._is_started = False
        self._joined: set[str] = set()
        self._connecting: list[asyncio.Task[None]] = []

    @property
    def instructions(self) -> dict[str, str]:
        """The instructions of servers that are ready."""
        ready = (
            connection
            for connection in self.connections
            if connection.state == "ready" and connection.instructions
        )
        return {connection.server.name: connection.instructions for connection in ready}

    async def start(self) -> list[str]:
        """Start them once and wait a while; return messages for the user."""
        if not self._is_started:
            self._is_started = True
            approved = [item for item in self.connections if item.server.is_approved]
            for connection in self.connections:
                if not connection.server.is_approved:
                    name = connection.server.name
                    self._notices.append(
                        f"the project's MCP server '{name}' needs approval: `/mcp approve {name}`"
                    )
            try:
                if approved:
                    await asyncio.to_thread(check_installed)  # importing it takes seconds
                    await self._connect_all(approved)
            except MissingExtra as error:
                self._notices.append(f"MCP servers skipped: {error.message}")
        notices, self._notices = self._notices, []
        return notices

    async def _connect_all(self, connections: Sequence[Connection]) -> None:
        joining = [asyncio.ensure_future(self._connect(connection)) for connection in connections]
        self._connecting += joining
        _, late = await asyncio.wait(joining, timeout=self._start_patience)
        for task, item in zip(joining, connections, strict=True):
            if task in late:
                self._notices.append(f"MCP server '{item.server.name}' is not ready yet")

    async def _connect(self, connection: Connection) -> None:
        """Connect to a server and add its tools when it is ready."""
        connection.start()
        await connection.settled.wait()
        if connection.state != "ready":
            self._notices.append(
                f"MCP server '{connection.server.name}' is not available: {connection.error}"
            )
            return
        found: dict[str, ServerTool] = {}
        for description in connection.tools[:MAX_TOOLS]:
            name = tool_name(connection.server.name, str(description.get("name", "")))
            if name not in self._tools:
                found.setdefault(name, ServerTool(connection, description, name))
        offered = [*found.values()]
        self._tools |= {
            tool.name: SecretHidingTool(tool)
            for tool in offered
            if not self._is_forbidden(tool.name)
        }
        if len(connection.tools) > len(offered):
            counted = f"{len(offered)} of {len(connection.tools)} tools"
            self._notices.append(f"MCP server '{connection.server.name}': {counted} available")

    def _is_forbidden(self, name: str) -> bool:
        server = "__".join(name.split("__")[:2])
        return bool({name, server, f"{server}__*"} & self._forbidden)

    async def approve(self, name: str) -> str:
        """Start a server that needed approval; return the message for the user."""
        found = next(
            (connection for connection in self.connections if connection.server.name == name), None
        )
        if found is None:
            raise UserError(f"there is no MCP server '{name}'", "`/mcp` lists them")
        check_installed()
        if found.state != "ready":
            await self._connect_all([found])
            self._notices.clear()
        if found.state != "ready":
            return f"{name} is not available: {found.error or 'it is not ready yet'}"
        return f"{name} is ready, with {format_count(len(found.tools), 'tool')}"

    async def close(self) -> None:
        """Close all connections."""
        for task in self._connecting:
            task.cancel()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        await asyncio.gather(*(connection.close() for connection in self.connections))

    def status_lines(self) -> list[str]:
        """Return the status of each server, one per line."""
        lines = []
        for connection in self.connections:
            server, status = connection.server, str(connection.state)
            if connection.state == "ready":
                status = format_count(len(connection.tools), "tool")
            elif connection.state == "unapproved":
                status = f"needs approval: /mcp approve {server.name}"
            elif connection.error and connection.state in ("failed", "ended"):
                status += f": {connection.error}"
            lines.append(f"{server.name} ({server.source}) {status} — {server.where}")
        return lines
