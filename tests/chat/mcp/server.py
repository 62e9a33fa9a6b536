"""An MCP server that behaves as its name says: right, wrong, too much or nothing.

python server.py WAY      well, hangs, dies, floods, garbage, many, silent
"""

import json
import os
import sys
import time
from typing import Any

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
    "hgGAWjR9awAAAABJRU5ErkJggg=="
)
SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}


def tools(way: str) -> list[dict[str, Any]]:
    """Return the tools."""
    if way == "many":
        return [{"name": f"t{number}", "inputSchema": SCHEMA} for number in range(500)]
    plain = ("echo", "fail", "error", "structured", "picture", "kinds", "empty", "long", "die")
    return [
        *({"name": name, "description": f"Does {name}", "inputSchema": SCHEMA} for name in plain),
        {"name": "reads", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
        {"name": "waits", "inputSchema": SCHEMA},
        {"name": "odd name.é", "inputSchema": SCHEMA},
        {"name": "wordy", "description": "w" * 5000, "inputSchema": SCHEMA},
    ]


def text(words: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": words}


def called(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a call."""
    match name:
        case "echo":
            secret = os.environ.get("ANTHROPIC_API_KEY", "none")
            return {"content": [text(f"{given.get('x')} {os.environ.get('GIVEN')} {secret}")]}
        case "fail":
            return {"content": [text("it failed"), text("twice")], "isError": True}
        case "structured":
            return {"content": [text("x")], "structuredContent": {"a": 1}, "_meta": {"k": "v"}}
        case "picture":
            return {"content": [{"type": "image", "data": DOT, "mimeType": "image/png"}]}
        case "kinds":
            return {"content": kinds()}
        case "empty":
            return {"content": []}
        case "long":
            return {"content": [text("line\n" * 40_000)]}
        case "die":
            os._exit(3)
        case "waits":
            time.sleep(60)
    return {"content": [text(f"called {name}")]}


def kinds() -> list[dict[str, Any]]:
    """Return one block of every kind."""
    return [
        {"type": "resource", "resource": {"uri": "lab://x", "text": "its text"}},
        {"type": "resource_link", "uri": "lab://y", "name": "y", "description": "a link"},
        {
            "type": "resource",
            "resource": {"uri": "lab://b", "mimeType": "application/zip", "blob": "AAEC"},
        },
        {"type": "audio", "data": "AAEC", "mimeType": "audio/wav"},
        {"type": "image", "data": "AAEC", "mimeType": "image/png"},
    ]


def answer(way: str, message: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request."""
    given = message.get("params") or {}
    match message["method"]:
        case "initialize":
            return {
                "result": {
                    "protocolVersion": given["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "lab", "version": "1"},
                    "instructions": "Use with care.",
                }
            }
        case "tools/list":
            return {"result": page(tools(way), int(given.get("cursor") or 0))}
        case "tools/call" if given["name"] == "error":
            return {"error": {"code": -32000, "message": "protocol trouble"}}
        case "tools/call":
            return {"result": called(given["name"], given.get("arguments") or {})}
    return {"error": {"code": -32601, "message": "no such method"}}


def page(offered: list[dict[str, Any]], start: int) -> dict[str, Any]:
    """Return a hundred tools and the cursor of the next page."""
    more = {"nextCursor": str(start + 100)} if start + 100 < len(offered) else {}
    return {"tools": offered[start : start + 100], **more}


def main(way: str) -> None:
    """Answer requests until the input ends."""
    if way == "dies":
        sys.exit("it cannot work here")
    if way == "hangs":
        time.sleep(600)
    while way in ("floods", "garbage"):
        sys.stdout.write("x" * 65536 + ("\n" if way == "garbage" else ""))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            found = {"jsonrpc": "2.0", "id": message["id"], **answer(way, message)}
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
