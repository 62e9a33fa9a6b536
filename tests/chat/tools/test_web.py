"""WebFetch and WebSearch: public web pages only."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from plait.chat.tools import toolbox
from plait.chat.tools.base import ToolError
from plait.chat.tools.web import MAX_RESPONSE_BYTES, WebFetch, html_to_text, is_public
from tests.chat.tools.workspace import ToolWorkspace

PAGE = (
    "<html><head><title>A  page</title><style>x{}</style></head><body><h2>Head</h2><p>Some"
    " <a href='/x'>link</a>\n text.</p><script>evil()</script><ul><li>one<li>two</ul>"
    "<pre>a\n  b</pre></body></html>"
)


class Handler(BaseHTTPRequestHandler):
    """A few pages."""

    def do_GET(self) -> None:
        """Answer by the path."""
        port = str(self.headers["Host"]).rpartition(":")[2]
        moves = {
            "/moved": "/page",
            "/away": "http://other.example/page",
            "/inward": f"http://127.0.0.2:{port}/page",
            "/round": "/round",
        }
        if place := moves.get(self.path):
            self.send_response(302)
            self.send_header("Location", place)
            self.end_headers()
            return
        kind, data = {
            "/page": ("text/html; charset=utf-8", PAGE.encode()),
            "/data": ("application/json", b'{"a": 1}'),
            "/picture": ("image/png", b"\x89PNG\0"),
            "/endless": ("text/plain", b"x" * (MAX_RESPONSE_BYTES + 1)),
            "/long": ("text/plain", b"x" * 100_001),
        }.get(self.path, ("text/plain", b""))
        self.send_response(200 if data else 404)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """Where the pages are."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def online(workspace: ToolWorkspace) -> ToolWorkspace:
    """A workspace with the network on, and this machine taken for a part of it."""
    workspace.place.has_network = True
    workspace.tools["WebFetch"] = WebFetch(
        is_allowed_address=lambda address: address == "127.0.0.1"
    )
    return workspace


# checklist: P118
def test_page_is_fetched(online: ToolWorkspace, url: str) -> None:
    outcome = online.run_tool("WebFetch", url=f"{url}/page", prompt="read")
    text = "# A page\n\n## Head\n\nSome [link](/x) text.\n\n- one\n- two\n\na\n  b"
    assert outcome.content == text
    assert outcome.output.pop("durationMs") >= 0
    assert outcome.output == {
        "bytes": len(PAGE),
        "code": 200,
        "codeText": "OK",
        "result": text,
        "url": f"{url}/page",
    }


# checklist: P118
def test_page_is_answered_for_a_prompt(online: ToolWorkspace, url: str) -> None:
    asked: list[str] = []

    async def ask(question: str, tools: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        asked.append(question)
        return [{"type": "text", "text": "It has two."}]

    online.place.side_query = ask
    assert online.result_text("WebFetch", url=f"{url}/page", prompt="How many?") == "It has two."
    assert asked[0].startswith("Web page content:\n---\n# A page\n")
    assert asked[0].endswith("\n---\n\nHow many?")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/moved", "# A page"),
        ("/data", '{"a": 1}'),
        ("/picture", "[Binary content (image/png, 5 bytes) is not shown.]"),
        ("/nothing", "Request failed with status code 404"),
        ("/round", "Too many redirects (exceeded 5)"),
        ("/endless", "The content is too large: more than 10MB"),
        ("/long", "x" * 100_000 + "\n\n[Content truncated due to length...]"),
    ],
)
def test_result_texts(online: ToolWorkspace, url: str, path: str, text: str) -> None:
    assert online.result_text("WebFetch", url=url + path, prompt="read").startswith(text)


def test_a_redirect_to_another_host_is_not_followed(online: ToolWorkspace, url: str) -> None:
    outcome = online.run_tool("WebFetch", url=f"{url}/away", prompt="read")
    assert outcome.content == (
        "REDIRECT DETECTED: The URL redirects to a different host.\n\n"
        f"Original URL: {url}/away\nRedirect URL: http://other.example/page\nStatus: 302 Found\n\n"
        "To complete your request, I need to fetch content from the redirected URL. Please use"
        ' WebFetch again with these parameters:\n- url: "http://other.example/page"\n'
        '- prompt: "read"'
    )
    assert outcome.output["code"] == 302
    inward = online.result_text("WebFetch", url=f"{url}/inward", prompt="read")
    assert inward.startswith("REDIRECT DETECTED")


def test_local_addresses_are_refused(workspace: ToolWorkspace, url: str) -> None:
    workspace.place.has_network = True
    text = workspace.result_text("WebFetch", url=f"{url}/page", prompt="read")
    assert text == "Refusing to fetch from 127.0.0.1: it is not on the public internet."


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("192.168.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:0a00:0001::1", False),
    ],
)
def test_public_addresses(address: str, is_one: bool) -> None:
    assert is_public(address) is is_one


@pytest.mark.parametrize(
    "address",
    [
        "not a url",
        "ftp://a.example/",
        "file:///etc/passwd",
        "http://",
        "http://a b/",
        "http://[::1",
    ],
)
def test_invalid_addresses(online: ToolWorkspace, address: str) -> None:
    outcome = online.run_tool("WebFetch", url=address, prompt="read")
    assert outcome.is_error
    issues = json.loads(outcome.output.removeprefix("InputValidationError: "))
    assert issues[0]["message"] == "Invalid URL"


def test_url_with_a_password_is_refused(online: ToolWorkspace) -> None:
    text = online.result_text("WebFetch", url="https://me:word@a.example/", prompt="read")
    assert "a user name and password" in text


def test_network_is_off_by_default(workspace: ToolWorkspace, url: str) -> None:
    assert {"WebFetch", "WebSearch"} <= set(toolbox(has_network=True))
    assert not {"WebFetch", "WebSearch"} & set(toolbox())
    for tool, arguments in (
        ("WebFetch", {"url": url, "prompt": "x"}),
        ("WebSearch", {"query": "xx"}),
    ):
        text = workspace.result_text(tool, **arguments)
        assert text == "<tool_use_error>Network access is off in this session.</tool_use_error>"


# checklist: P117
def test_search_uses_the_api(online: ToolWorkspace) -> None:
    asked: list[Any] = []
    link = {"type": "web_search_result", "title": "T", "url": "https://t.example", "x": 1}

    async def ask(question: str, tools: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        asked.append((question, tools))
        return [
            {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "srv1", "content": [link]},
            {"type": "text", "text": "It is "},
            {"type": "text", "text": "so."},
        ]

    online.place.side_query = ask
    outcome = online.run_tool("WebSearch", query="what", allowed_domains=["t.example"])
    assert outcome.content == (
        'Web search results for query: "what"\n\n'
        'Links: [{"title":"T","url":"https://t.example"}]\n\nIt is so.\n\n\n'
        "REMINDER: You MUST include the sources above in your response to the user using markdown"
        " hyperlinks."
    )
    assert outcome.output.pop("durationSeconds") >= 0
    found = {"tool_use_id": "srv1", "content": [{"title": "T", "url": "https://t.example"}]}
    assert outcome.output == {"query": "what", "results": [found, "It is so."]}
    assert asked[0][1] == (
        {
            "type": "web_search_20250305",
            "name": "web_search",
            "max_uses": 8,
            "allowed_domains": ["t.example"],
        },
    )
    assert online.reports == [
        {"type": "query_update", "query": "what"},
        {"type": "search_results_received", "resultCount": 1, "query": "what"},
    ]


def test_search_without_results(online: ToolWorkspace) -> None:
    async def ask(question: str, tools: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        return [{"type": "web_search_tool_result", "tool_use_id": "s", "content": {"error": 1}}]

    online.place.side_query = ask
    assert "\n\nNo links found.\n\n" in online.result_text("WebSearch", query="what")


def test_refused_searches(online: ToolWorkspace) -> None:
    assert "expected string to have >=2 characters" in online.result_text("WebSearch", query="x")
    both = {"allowed_domains": ["a"], "blocked_domains": ["b"]}
    assert "Cannot specify both" in online.result_text("WebSearch", query="xx", **both)


def test_unknown_host(online: ToolWorkspace) -> None:
    tool = online.tools["WebFetch"]
    proposal = tool.propose({"url": "http://nowhere.invalid/", "prompt": "x"}, online.place)
    with pytest.raises(ToolError, match=r"Cannot reach nowhere\.invalid"):
        asyncio.run(tool.run(proposal, online.place, online.reports.append))


def test_malformed_pages_are_read() -> None:
    assert html_to_text("</p></a></script>a<b>b") == "ab"
    assert html_to_text("<svg><p>x</svg>y") == "y"
    assert html_to_text("") == ""
