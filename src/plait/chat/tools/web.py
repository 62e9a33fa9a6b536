"""The WebFetch and WebSearch tools.

A host name is looked up once and the connection goes to that address, so that a name which points
elsewhere a moment later (DNS rebinding) reaches nothing private.
"""

import asyncio
import ipaddress
import json
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPException
from ssl import create_default_context
from time import monotonic
from typing import Any, TypeAlias
from urllib.parse import SplitResult, urljoin, urlsplit

from plait.chat.tools.base import (
    Arguments,
    BuiltInTool,
    Field,
    Outcome,
    ProgressCallback,
    Proposal,
    ToolError,
    Workplace,
    make_input_error,
)

IsAllowedAddress: TypeAlias = Callable[[str], bool]
"""Tells whether an IP address may be connected to."""
CONNECT_TIMEOUT = 20.0
MAX_RESPONSE_BYTES = 10 * 1024 * 1024
MAX_REDIRECTS = 5
MAX_URL_LENGTH = 2000
REQUEST_HEADERS = {
    "Accept": "text/markdown, text/html, text/*, application/json, */*",
    "Accept-Encoding": "identity",
    "User-Agent": "plait",
}
REDIRECT_STATUSES = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The response of a server."""

    url: str
    code: int
    reason: str
    content_type: str
    data: bytes
    redirect_url: str | None = None
    """The URL of a redirect that was not followed."""


def is_public(address: str) -> bool:
    """Return whether an IP address is on the public internet."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None) or getattr(parsed, "sixtofour", None)
    return parsed.is_global and not parsed.is_multicast and (mapped is None or mapped.is_global)


def parse_url(url: str) -> SplitResult:
    """Return the parts of an HTTP(S) URL; raise ToolError if it is not one."""
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_right = False
    if not is_right or len(url) > MAX_URL_LENGTH or any(ord(letter) < 33 for letter in url):
        raise ToolError(f"Invalid URL: {url[:200]!r}", is_misuse=True)
    if parts.username or parts.password:
        raise ToolError("URLs with a user name and password are not fetched.", is_misuse=True)
    return parts


def fetch(url: str, may_reach: IsAllowedAddress) -> HttpResponse:
    """Fetch a URL; follow redirects to the same host only."""
    for _ in range(MAX_REDIRECTS):
        parts = parse_url(url)
        connection = _connect(parts, may_reach)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request("GET", target, headers=REQUEST_HEADERS)
            response = connection.getresponse()
            status, reason = response.status, response.reason
            kind = response.headers.get_content_type()
            location = response.headers.get("Location")
            is_redirect = status in REDIRECT_STATUSES and location is not None
            data = b"" if is_redirect else response.read(MAX_RESPONSE_BYTES + 1)
            url = parts.geturl()
            if not is_redirect or not location:
                if len(data) > MAX_RESPONSE_BYTES:
                    raise ToolError("The content is too large: more than 10MB")
                return HttpResponse(url, status, reason, kind, data)
            following = urljoin(url, location)
        except (OSError, HTTPException, ValueError) as error:
            raise ToolError(f"Request failed: {error}") from error
        finally:
            connection.close()
        if urlsplit(following).hostname != parts.hostname:
            return HttpResponse(url, status, reason, kind, b"", following)
        url = following
    raise ToolError(f"Too many redirects (exceeded {MAX_REDIRECTS})")


def _connect(parts: SplitResult, may_reach: IsAllowedAddress) -> HTTPConnection:
    """Connect to the host of a URL; raise ToolError if one of its addresses is not allowed."""
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(item[4][0]) for item in resolved]
        if not addresses or not all(map(may_reach, addresses)):
            raise ToolError(f"Refusing to fetch from {host}: it is not on the public internet.")
        connection = HTTPConnection(host, port, timeout=CONNECT_TIMEOUT)
        plain = socket.create_connection((addresses[0], port), timeout=CONNECT_TIMEOUT)
        context = create_default_context() if parts.scheme == "https" else None
        connection.sock = context.wrap_socket(plain, server_hostname=host) if context else plain
    except (OSError, UnicodeError) as error:
        raise ToolError(f"Cannot reach {host}: {error}") from error
    return connection


IGNORED_TAGS = frozenset(("script", "style", "noscript", "template", "svg", "iframe", "head"))
BLOCK_TAGS = frozenset(
    "address article aside blockquote br div dl dt dd fieldset figure footer form h1 h2 h3 h4 h5 h6"
    " header hr li main nav ol p pre section table tr ul".split()
)
BLANK_LINES = re.compile(r"\n{3,}")


class _TextExtractor(HTMLParser):
    """Collects the text of an HTML page as Markdown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.hidden = 0
        self.title = ""
        self._is_title = False
        self._links: list[str] = []
        self._kept = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_title = tag == "title"
        if tag in IGNORED_TAGS:
            self.hidden += 1
        elif tag == "pre":
            self._kept += 1
        if tag in BLOCK_TAGS:
            self.pieces.append("\n")
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.pieces.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self.pieces.append("- ")
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")
            self.pieces.append("[")

    def handle_endtag(self, tag: str) -> None:
        self._is_title = False
        if tag in IGNORED_TAGS:
            self.hidden = max(self.hidden - 1, 0)
        elif tag == "pre":
            self._kept = max(self._kept - 1, 0)
        if tag == "a" and self._links:
            self.pieces.append(f"]({self._links.pop()})")
        if tag in BLOCK_TAGS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title += data
        elif not self.hidden:
            self.pieces.append(data if self._kept else re.sub(r"\s+", " ", data))


def html_to_text(html: str) -> str:
    """Return the text of an HTML page as Markdown, without scripts and styles."""
    page = _TextExtractor()
    page.feed(html)
    page.close()
    lines = (line.rstrip() for line in "".join(page.pieces).split("\n"))
    text = BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
    title = " ".join(page.title.split())
    return f"# {title}\n\n{text}" if title and not text.startswith("# ") else text


MAX_PAGE_TEXT = 100_000
MAX_SEARCHES = 8
STRING_ITEMS = {"items": {"type": "string"}}
REMINDER = (
    "REMINDER: You MUST include the sources above in your response to the user using markdown"
    " hyperlinks."
)
NETWORK_OFF = "Network access is off in this session."


@dataclass(frozen=True)
class WebFetch(BuiltInTool):
    """The tool that fetches a page."""

    is_allowed_address: IsAllowedAddress = is_public
    name = "WebFetch"
    effect = "network"
    description = (
        "Fetches a public web page and returns its text, or an answer to a prompt about it."
        " Redirects to another host are not followed: fetch the new URL if it is the right one."
    )
    fields = (
        Field("url", "string", "URL to fetch", is_required=True, extra={"format": "uri"}),
        Field("prompt", "string", "What to find out from the page", is_required=True),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        url = proposal.arguments["url"]
        try:
            parse_url(url)
        except ToolError as error:
            if error.text.startswith("Invalid URL"):
                issue = {
                    "code": "invalid_format",
                    "format": "url",
                    "path": ["url"],
                    "message": "Invalid URL",
                }
                raise make_input_error(issue) from error
            raise
        if not place.has_network:
            raise ToolError(NETWORK_OFF, is_misuse=True)
        return replace(proposal, title=url)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        began, arguments = monotonic(), proposal.arguments
        answer = await asyncio.to_thread(fetch, arguments["url"], self.is_allowed_address)
        if answer.redirect_url is None and answer.code >= 400:
            raise ToolError(f"Request failed with status code {answer.code}")
        result = (
            "REDIRECT DETECTED: The URL redirects to a different host.\n\n"
            f"Original URL: {arguments['url']}\nRedirect URL: {answer.redirect_url}\n"
            f"Status: {answer.code} {answer.reason}\n\n"
            "To complete your request, I need to fetch content from the redirected URL. Please use"
            f' WebFetch again with these parameters:\n- url: "{answer.redirect_url}"\n'
            f'- prompt: "{arguments["prompt"]}"'
            if answer.redirect_url
            else await _build_result(answer, arguments, place)
        )
        output = {
            "bytes": len(answer.data),
            "code": answer.code,
            "codeText": answer.reason,
            "result": result,
            "durationMs": round((monotonic() - began) * 1000),
            "url": arguments["url"],
        }
        return Outcome(result, output)


async def _build_result(answer: HttpResponse, arguments: Arguments, place: Workplace) -> str:
    """Return the answer to the prompt of a call about a page."""
    if b"\0" in answer.data[:8192] or not (
        answer.content_type.startswith("text/")
        or answer.content_type.endswith(("json", "xml", "javascript", "yaml"))
    ):
        return f"[Binary content ({answer.content_type}, {len(answer.data)} bytes) is not shown.]"
    message = answer.data.decode("utf-8", "replace")
    text = html_to_text(message) if "html" in answer.content_type else message
    if len(text) > MAX_PAGE_TEXT:
        text = text[:MAX_PAGE_TEXT] + "\n\n[Content truncated due to length...]"
    if place.side_query is None:
        return text or "(The page has no text.)"
    blocks = await place.side_query(
        f"Web page content:\n---\n{text}\n---\n\n{arguments['prompt']}", ()
    )
    return "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text") or text


class WebSearch(BuiltInTool):
    """The tool that searches the web, through the API's own tool for that."""

    name = "WebSearch"
    effect = "network"
    description = (
        "Searches the web and returns links with a summary. Cite the sources in the answer."
    )
    fields = (
        Field("query", "string", "What to search for", is_required=True, extra={"minLength": 2}),
        Field("allowed_domains", "array", "Only results from these domains", extra=STRING_ITEMS),
        Field("blocked_domains", "array", "No results from these domains", extra=STRING_ITEMS),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        checked = proposal.arguments
        if len(checked["query"]) < 2:
            raise make_input_error(
                {
                    "origin": "string",
                    "code": "too_small",
                    "minimum": 2,
                    "inclusive": True,
                    "path": ["query"],
                    "message": "Too small: expected string to have >=2 characters",
                }
            )
        if checked.get("allowed_domains") and checked.get("blocked_domains"):
            text = "Cannot specify both allowed_domains and blocked_domains in the same request"
            raise ToolError(f"Error: {text}", is_misuse=True)
        if not place.has_network or place.side_query is None:
            raise ToolError(NETWORK_OFF, is_misuse=True)
        return replace(proposal, title=checked["query"])

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        if place.side_query is None:
            raise ToolError(NETWORK_OFF)
        began, arguments = monotonic(), proposal.arguments
        query = arguments["query"]
        report({"type": "query_update", "query": query})
        prompt = f"Perform a web search for the query: {query}"
        domains = {
            key: arguments[key]
            for key in ("allowed_domains", "blocked_domains")
            if arguments.get(key)
        }
        tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": MAX_SEARCHES}
        results: list[dict[str, Any] | str] = []
        for block in await place.side_query(prompt, ((tool | domains),)):
            if block.get("type") == "text":
                text = str(block["text"])
                if results and isinstance(results[-1], str):
                    results[-1] += text
                else:
                    results.append(text)
            elif block.get("type") == "web_search_tool_result":
                content = block.get("content")
                links = [
                    {key: item.get(key) for key in ("title", "url")}
                    for item in (content if isinstance(content, list) else ())
                    if isinstance(item, Mapping)
                ]
                results.append({"tool_use_id": block.get("tool_use_id"), "content": links})
        results = [item.strip() if isinstance(item, str) else item for item in results]
        results = [item for item in results if item]
        count = sum(len(item["content"]) for item in results if isinstance(item, dict))
        report({"type": "search_results_received", "resultCount": count, "query": query})
        output = {"query": query, "results": results, "durationSeconds": monotonic() - began}
        parts = [f'Web search results for query: "{query}"']
        for item in results:
            if isinstance(item, str):
                parts.append(item)
            elif item["content"]:
                listed = json.dumps(item["content"], ensure_ascii=False, separators=(",", ":"))
                parts.append(f"Links: {listed}")
            else:
                parts.append("No links found.")
        return Outcome("\n\n".join([*parts, "\n" + REMINDER]), output)
