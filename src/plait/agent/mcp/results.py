"""What a server returned to what the model is told, what the log keeps, and files beside it."""

import base64
import binascii
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from mimetypes import guess_extension
from pathlib import Path
from secrets import choice
from string import ascii_lowercase, digits
from typing import Any

from plait.agent.tools.images import media_type
from plait.agent.tools.model import Outcome
from plait.line.folder import OutputFolder

MOST_LETTERS = 100_000
"""What the model is told of one result: about 25,000 tokens."""
TOO_LONG = """\
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
class Results:
    """Makes outcomes of what one server returns."""

    server: str
    folder: Path | None
    """Where what does not fit goes."""

    def outcome(self, tool: str, name: str, told: Mapping[str, Any]) -> Outcome:
        """Returns what became of a call, by what the protocol says of it."""
        blocks = [one for part in told.get("content") or () for one in self._blocks(part)]
        if told.get("isError"):
            words = "\n".join(_words(blocks)) or "The tool failed and did not say why."
            return Outcome(words, f"Error: {words}", is_error=True)
        structured = told.get("structuredContent")
        meta = _meta(told)
        if structured is not None:
            text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
            return self._fitted(tool, text, text, "JSON", meta)
        if not blocks:
            return Outcome(f"({name} completed with no output)", [], fields=meta)
        text = "\n".join(_words(blocks))
        return self._fitted(tool, text, blocks, "Plain text", meta)

    def _fitted(
        self, tool: str, text: str, content: Any, form: str, meta: Mapping[str, Any]
    ) -> Outcome:
        """Returns what fits; else where the whole of it lies."""
        if len(text) <= MOST_LETTERS:
            return Outcome(content, content, fields=meta)
        stamp = round(time.time() * 1000)
        path = self._kept(f"mcp-{self.server}-{tool}-{stamp}.txt", text.encode())
        lines = text.count("\n") + 1
        told = TOO_LONG.format(letters=len(text), lines=lines, path=path, form=form)
        return Outcome(told, told, fields=meta)

    def _blocks(self, part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        match part.get("type"):
            case "text":
                yield _text(str(part.get("text", "")))
            case "image":
                yield from self._image(part)
            case "audio":
                yield _text(f"[Audio from {self.server}] {self._saved(part, 'data')}")
            case "resource_link":
                about = part.get("description")
                told = f"[Resource link: {part.get('name')}] {part.get('uri')}"
                yield _text(f"{told} ({about})" if about else told)
            case "resource":
                yield _text(self._resource(part.get("resource") or {}))
            case kind:
                yield _text(f"[{kind}] {json.dumps(part, ensure_ascii=False)}")

    def _image(self, part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        data = _decoded(part.get("data"))
        kind = media_type(data) if data else None
        if data is None or kind is None:
            yield _text(f"[Image from {self.server}] {self._saved(part, 'data')}")
            return
        source = {"type": "base64", "media_type": kind, "data": part["data"]}
        yield {"type": "image", "source": source}
        yield _text(f"[Image: source: {self._blob(data, kind)}]")

    def _resource(self, resource: Mapping[str, Any]) -> str:
        head = f"[Resource from {self.server} at {resource.get('uri')}] "
        if "text" in resource:
            return head + str(resource["text"])
        return head + self._saved(resource, "blob")

    def _saved(self, part: Mapping[str, Any], name: str) -> str:
        kind = str(part.get("mimeType") or "application/octet-stream")
        data = _decoded(part.get(name))
        if data is None:
            return f"Binary content ({kind}) that cannot be read"
        place = self._blob(data, kind)
        return f"Binary content ({kind}, {len(data)} bytes) saved to {place}"

    def _blob(self, data: bytes, kind: str) -> str:
        suffix = {"audio/wav": ".wav"}.get(kind) or guess_extension(kind) or ".bin"
        chance = "".join(choice(ascii_lowercase + digits) for _ in range(6))
        stamp = round(time.time() * 1000)
        return self._kept(f"mcp-{self.server}-blob-{stamp}-{chance}{suffix}", data)

    def _kept(self, name: str, data: bytes) -> str:
        if self.folder is None:
            return "nowhere: this session keeps no files"
        OutputFolder(self.folder).write(name, data)
        return str(self.folder / name)


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _words(blocks: list[dict[str, Any]]) -> list[str]:
    return [block["text"] for block in blocks if block["type"] == "text"]


def _decoded(data: object) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True) if isinstance(data, str) else None
    except (binascii.Error, ValueError):
        return None


def _meta(told: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what the line of the result says of it besides."""
    found: dict[str, Any] = {}
    if told.get("_meta"):
        found["_meta"] = told["_meta"]
    if told.get("structuredContent") is not None:
        found["structuredContent"] = told["structuredContent"]
    links = [part for part in told.get("content") or () if part.get("type") == "resource_link"]
    if links:
        found["resourceLinks"] = [
            {name: value for name, value in link.items() if name != "type"} for link in links
        ]
    return {"mcp_meta": found} if found else {}
