"""A stand-in for the models of other agents: it notes each request, and answers with one word.

python agents_server.py FILE PORT COMMAND…     runs the agent, which needs no network but loopback

It speaks the Responses API, chat completions, and Gemini's. It imports nothing of this project, since
it runs in the agent's own namespace.
"""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ANSWER = "fine"
COUNTED = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


def answer_responses() -> list[dict[str, Any]]:
    """Return the events of an answer of the Responses API."""
    content = [{"type": "output_text", "text": ANSWER, "annotations": []}]
    item = {"type": "message", "id": "m", "role": "assistant", "content": content}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "item": item, "output_index": 0},
        {"type": "response.completed", "response": {"id": "r", "usage": COUNTED}},
    ]


def answer_chat() -> list[dict[str, Any]]:
    """Return the chunks of an answer of chat completions."""
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    delta = {"role": "assistant", "content": ANSWER}
    return [
        chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage},
    ]


def answer_gemini() -> dict[str, Any]:
    """Return an answer of Gemini's API."""
    content = {"role": "model", "parts": [{"text": ANSWER}]}
    counted = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": counted, "modelVersion": "m"}


class Handler(BaseHTTPRequestHandler):
    """Notes what is sent, and answers it."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        """Refuse a web socket, and list no models."""
        if self.headers.get("upgrade"):
            self.reply(b"", "text/plain", 426)
        else:
            self.reply(b'{"data": [], "models": []}', "application/json")

    def do_POST(self) -> None:
        """Note a request, and answer it in its form."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"path": self.path, "body": json.loads(body or b"{}")}) + "\n")
        if "responses" in self.path:
            self.stream(answer_responses())
        elif "chat/completions" in self.path:
            self.stream(answer_chat(), b"data: [DONE]\n\n")
        elif "stream" in self.path:
            self.stream([answer_gemini()])
        else:
            self.reply(json.dumps(answer_gemini()).encode(), "application/json")

    def stream(self, events: list[dict[str, Any]], end: bytes = b"") -> None:
        """Send events."""
        lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
        self.reply(b"".join(lines) + end, "text/event-stream")

    def reply(self, body: bytes, kind: str, status: int = 200) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> int:
    """Serve on loopback while the command runs."""
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return subprocess.run(sys.argv[3:], stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
