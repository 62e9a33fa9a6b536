"""Texts to an archive that holds them wherever a log can, and to all that leaves the machine of it.

Each place is a function from a text to lines, so that a set of texts can be put into all places
or be spread over them. Each way out gives everything that it writes, names of files included,
with what is packed unpacked.
"""

import io
import json
import re
import subprocess
import sys
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from plait.archive import Archive
from plait.redact import Redactor
from plait.trace.delivery import otlp_target
from plait.trace.hook_event import write_job
from plait.trace.model import Content
from plait.trace.worker import HookLimits, HookOptions, HookWorker
from tests.trace.otlp_receiver import Receiver
from tests.view.page.packed import packed_in
from tests.web.bare import bare

SESSION = "5a0e7c11-0000-4000-8000-000000000001"
AGENT = "a0b1c2d3e4f5a6b7c"
KNOWN_LINES = Path(__file__).parents[1] / "record" / "known_lines.jsonl"
LINKS = frozenset("uuid parentUuid logicalParentUuid sessionId timestamp leafUuid type id".split())
PIECE = re.compile(
    rb'(?:"|>)((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)["<]'
)

Line = dict[str, Any]
Place = Callable[[str], Iterator[Line]]
Way = Callable[[Path, Path], bytes]


def spoken(role: str, content: Any, **more: Any) -> Line:
    """Return a line in which somebody says something."""
    message: Line = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{len(str(content))}", "model": "claude-opus-4-5"}
    return {"type": role, "message": message, **more}


def called(text: str, given: Any, answered: Any, view: Any = None) -> Iterator[Line]:
    """Yield a call and its result."""
    name = f"toolu_{abs(hash((text, str(given)))):x}"
    call = {"type": "tool_use", "id": name, "name": "Bash", "input": given}
    result = {"type": "tool_result", "tool_use_id": name, "content": answered}
    yield spoken("assistant", [call])
    yield spoken("user", [result], **({} if view is None else {"toolUseResult": view}))


def patch_of(text: str) -> Line:
    """Return what the client notes of an edit."""
    lines = [f"+{line}" for line in text.split("\n")]
    hunk = {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": len(lines), "lines": lines}
    return {"filePath": "/x/a.py", "structuredPatch": [hunk], "originalFile": text}


def hook_note(text: str) -> Line:
    """Return what a hook printed."""
    return {
        "type": "attachment",
        "attachment": {"type": "hook_success", "hookName": "Stop", "stdout": text, "command": text},
    }


def _prompt(text: str) -> Iterator[Line]:
    yield spoken("user", text)
    yield spoken("assistant", [{"type": "text", "text": "Yes."}])


PLACES: dict[str, Place] = {
    "prompt": _prompt,
    "answer": lambda text: iter([spoken("assistant", [{"type": "text", "text": text}])]),
    "thinking": lambda text: iter([spoken("assistant", [{"type": "thinking", "thinking": text}])]),
    "call": lambda text: called(text, {"command": text}, "done"),
    "key of a call": lambda text: called(text, {text: {text: 1}}, "done"),
    "result": lambda text: called(text, {"command": "x"}, text),
    "parts of a result": lambda text: called(text, {}, [{"type": "text", "text": text}]),
    "view of a result": lambda text: called(text, {}, "x", {"stdout": text, "stderr": text}),
    "patch": lambda text: called(text, {}, "x", patch_of(text)),
    "queue": lambda text: iter(
        [{"type": "queue-operation", "operation": "enqueue", "content": text}]
    ),
    "summary": lambda text: iter([{"type": "summary", "summary": text, "leafUuid": "x"}]),
    "last prompt": lambda text: iter([{"type": "last-prompt", "lastPrompt": text}]),
    "hook": lambda text: iter([hook_note(text)]),
    "progress": lambda text: iter(
        [{"type": "progress", "data": {"type": "bash_progress", "fullOutput": text}}]
    ),
    "notice": lambda text: iter(
        [{"type": "system", "subtype": "informational", "content": text, "level": "info"}]
    ),
    "compaction": lambda text: iter(
        [
            {"type": "system", "subtype": "compact_boundary", "content": text},
            spoken("user", text, isCompactSummary=True),
        ]
    ),
    "unknown line": lambda text: iter([{"type": "never-seen", "payload": [{text: text}]}]),
    "folder and branch": lambda text: iter([spoken("user", "x", cwd=text, gitBranch=text)]),
    "command": lambda text: iter([spoken("user", f"<bash-input>{text}</bash-input>")]),
}


def titles(text: str) -> Iterator[Line]:
    """Yield lines that name the session."""
    yield {"type": "custom-title", "customTitle": text}
    yield {"type": "ai-title", "aiTitle": text}
    yield {"type": "agent-name", "agentName": text}
    yield {"type": "tag", "tag": text}
    yield {"type": "pr-link", "prUrl": f"https://x.example/{text}", "prRepository": text}


def known_fields(text: str) -> Iterator[Line]:
    """Yield a line of every kind that is known, each field of it filled."""
    for line in KNOWN_LINES.read_text(encoding="utf-8").splitlines():
        yield filled(json.loads(line), text)


def filled(value: Any, text: str) -> Any:
    """Return a value with a text wherever it holds nothing."""
    if isinstance(value, dict):
        return {k: filled(one, text) for k, one in value.items() if k not in LINKS or one}
    if isinstance(value, list):
        return [filled(one, text) for one in value]
    return text if value is None else value


def chained(lines: Iterable[Line], session: str, **more: Any) -> Iterator[bytes]:
    """Yield lines, each the child of the one before it."""
    parent = None
    for number, line in enumerate(lines):
        uuid = f"00000000-0000-4000-8000-{number:012x}"
        links = {"uuid": uuid, "parentUuid": parent, "sessionId": session}
        stamp = f"2026-11-02T{9 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
        parent = uuid
        yield json.dumps({**links, "timestamp": stamp, **more, **line}).encode() + b"\n"


def everywhere(text: str) -> Iterator[Line]:
    """Yield lines that hold a text wherever one can stand."""
    yield from titles(text)
    for place in PLACES.values():
        yield from place(text)
    yield from known_fields(text)
    yield from PLACES["prompt"]("And now?")


def written(root: Path, lines: Iterable[Line], beside: str, name: str = "-srv-shop") -> Path:
    """Write an archive of one session with an agent; a text stands in all that lies beside."""
    folder = root / "projects" / name
    own = folder / SESSION
    (own / "subagents").mkdir(parents=True)
    (own / "tool-results").mkdir()
    (folder / f"{SESSION}.jsonl").write_bytes(
        b"".join(chained(lines, SESSION, version="2.1.325", cwd="/srv/shop"))
    )
    (own / "custom-title.json").write_text(json.dumps({"customTitle": beside}))
    agent = [spoken("user", beside), spoken("assistant", [{"type": "text", "text": beside}])]
    log = own / "subagents" / f"agent-{AGENT}.jsonl"
    log.write_bytes(b"".join(chained(agent, SESSION, agentId=AGENT, isSidechain=True)))
    meta = dict.fromkeys(("description", "name", "agentType", "model"), beside)
    log.with_suffix(".meta.json").write_text(json.dumps(meta))
    return root


def exported(format_: str, *extra: str) -> Way:
    """Return what `plait export` writes into a folder, and what it says of it."""

    def way(root: Path, scratch: Path) -> bytes:
        arguments = ("--format", format_, "--depth", "all", "-o", str(scratch / "out"), *extra)
        told = commanded("export", "--all", "--root", str(root), *arguments)
        return told + all_of(scratch / "out")

    return way


def commanded(*arguments: str, said: bytes = b"") -> bytes:
    """Return what a command prints, on both ways."""
    done = subprocess.run(
        [sys.executable, "-m", "plait", *arguments], input=said, capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout + done.stderr


def all_of(folder: Path) -> bytes:
    """Return the names and the bytes of all files, what is packed in them too."""
    found = io.BytesIO()
    for path in sorted(folder.rglob("*")):
        found.write(f"{path.relative_to(folder)}\n".encode())
        if path.is_file():
            found.write(unpacked(path.read_bytes()))
    return found.getvalue()


def unpacked(data: bytes) -> bytes:
    """Return bytes, followed by what is packed in them."""
    parts = [data, *(text for _, _, text in packed_in(data))]
    with suppress(zlib.error):
        parts.append(zlib.decompress(data))
    for piece in PIECE.findall(data):
        try:
            parts.append(zlib.decompress(b64decode(piece), wbits=47))
        except (zlib.error, ValueError):
            continue
    return b"\n".join(parts)


def _printed(root: Path, _: Path) -> bytes:
    return commanded("export", "--all", "--root", str(root), "-o", "-", "--depth", "all")


def _one_turn(root: Path, _: Path) -> bytes:
    arguments = ("--turn", "1-9999", "--depth", "all")
    return commanded("export", SESSION, "--root", str(root), *arguments)


def _redacted_text(root: Path, _: Path) -> bytes:
    text = next(root.rglob(f"{SESSION}.jsonl")).read_bytes()
    return commanded("redact", said=text)


def _checked(*extra: str) -> Way:
    return lambda root, _: commanded("redact", "--check", "--root", str(root), *extra)


def shared(format_: str, more: str = "") -> Way:
    """Return what the page hands out."""

    def way(root: Path, scratch: Path) -> bytes:
        with bare(root, scratch / "index") as server:
            body = f"format={format_}&branches=all{more}".encode()
            origin = f"Origin: http://127.0.0.1:{server.port}"
            kind = "Content-Type: application/x-www-form-urlencoded"
            length = f"Content-Length: {len(body)}"
            line = f"POST /s/{SESSION}/export HTTP/1.1"
            found = server.say(line, server.host, server.cookie, origin, kind, length, body=body)
        assert found.startswith(b"HTTP/1.1 200"), found[:300]
        return unpacked(found)

    return way


def traced(*extra: str) -> Way:
    """Return what is sent as traces."""

    def way(root: Path, scratch: Path) -> bytes:
        scratch.mkdir(exist_ok=True)
        target = str(scratch / "traces.json")
        arguments = ("--thinking", "--limit", "1000000", "--to", target, *extra)
        told = commanded("trace", "send", "--all", "--root", str(root), *arguments)
        return told + Path(target).read_bytes()

    return way


def hooked(redactor: Callable[[], Redactor] = Redactor) -> Way:
    """Return what the hook sends, and its log."""

    def way(root: Path, scratch: Path) -> bytes:
        log = next(root.rglob(f"{SESSION}.jsonl"))
        told = {"session_id": SESSION, "transcript_path": str(log), "hook_event_name": "SessionEnd"}
        write_job(scratch, "session-end", json.dumps(told).encode())
        with Receiver() as receiver:
            manner = HookOptions(Content(has_thinking=True, limit=1_000_000), redactor)
            HookWorker(scratch, otlp_target(receiver.url), manner, HookLimits(0.1, 0.2, 0.3)).run()
            sent = "\n".join(map(str, receiver.spans.values())).encode()
        assert receiver.spans
        return sent + (scratch / "hook.log").read_bytes()

    return way


def _library(root: Path, _: Path) -> bytes:
    archive = Archive([root])
    files = [data for format_ in ("md", "json") for _, data in archive.export(SESSION, format_)]
    traces = archive.traces(content=Content(limit=1_000_000), redactor=Redactor())
    spans = [str(span) for trace in traces for span in trace]
    return b"".join(files) + "".join(spans).encode("utf-8", "replace")


WAYS: dict[str, Way] = {
    "redact": _redacted_text,
    "redact --check": _checked("--all"),
    "redact --check --json": _checked("--json"),
    "md": exported("md"),
    "md, agents apart": exported("md", "--agents", "files"),
    "md, combined": exported("md", "--combined", "--front-matter"),
    "one turn": _one_turn,
    "stdout": _printed,
    "txt": exported("txt"),
    "html": exported("html"),
    "html, single": exported("html", "--single-file"),
    "json": exported("json"),
    "jsonl": exported("jsonl", "--agents", "files"),
    "share html": shared("html"),
    "share md": shared("md"),
    "share json": shared("json"),
    "trace": traced(),
    "hook": hooked(),
    "library": _library,
}
