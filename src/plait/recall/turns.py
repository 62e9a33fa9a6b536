"""What happened in a turn, from the lines around a hit: no session has to be opened for it.

Opening a session takes its whole graph; a hit needs to know only what was changed, tested and
committed between two prompts of its own file.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from plait.conversation.tools import get_tool
from plait.index.model import Hit
from plait.recall.model import Outcome
from plait.record import Record, ToolResult, ToolUse
from plait.record.codec import NotAnObject, as_mapping, get_text
from plait.record.prompts import is_human_prompt
from plait.record.reader import parse_record

MOST_BYTES = 8 << 20
"""Larger files are not read for this."""
MOST_LINES = 400
"""Lines that are looked at before and after a hit."""
COMMIT = re.compile(r"\bgit\b[^|;&\n]*\bcommit\b")
MESSAGE = re.compile(
    r"""-[a-z]*m\s*(?:"\$\(cat <<'?EOF'?\n(?P<here>.+)|(["'])(?P<plain>.+?)\2)""", re.DOTALL
)
TESTS = re.compile(
    r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|go test|cargo (?:nextest|test)"
    r"|(?:npm|yarn|pnpm|bun)(?: run)? test|make (?:test|check)|gradlew? test|mvn (?:test|verify))\b"
)


def read_outcome(hit: Hit) -> tuple[Outcome, bytes]:
    """Return what was done in the turn of a hit, and the line that it lies on."""
    path = Path(hit.path)
    try:
        if not hit.line or path.stat().st_size > MOST_BYTES:
            return Outcome(), b""
        data = path.read_bytes()
    except OSError:
        return Outcome(), b""
    starts = [0]  # splitting all of a long log takes longer than looking for some of its lines
    while len(starts) <= hit.line + MOST_LINES and (end := data.find(b"\n", starts[-1])) >= 0:
        starts.append(end + 1)
    first = max(0, hit.line - 1 - MOST_LINES)
    place = hit.line - 1 - first
    lines = data[starts[min(first, len(starts) - 1)] : starts[-1]].split(b"\n")
    before = _iter_records(lines[: place + 1][::-1])
    after = _iter_records(lines[place + 1 :])
    turn: list[Record] = []
    prompt = ""
    for record in before:
        turn.insert(0, record)
        if is_human_prompt(record):
            prompt = record.text
            break
    for record in after:
        if is_human_prompt(record):
            break
        turn.append(record)
    return summarize_records(turn, prompt), lines[place] if place < len(lines) else b""


def _iter_records(lines: Iterable[bytes]) -> Iterator[Record]:
    for data in lines:
        if b'"user"' in data or b'"assistant"' in data:
            try:
                yield parse_record(data)
            except NotAnObject:
                continue


def summarize_records(records: Iterable[Record], prompt: str = "") -> Outcome:
    """Return what some records did to files, tests and commits; failed calls changed nothing."""
    calls: dict[str, ToolUse] = {}
    failed: set[str] = set()
    blocks = chain.from_iterable(r.message.content for r in records if r.message)
    for block in blocks:
        if isinstance(block, ToolUse):
            calls[block.id] = block
        elif isinstance(block, ToolResult) and block.is_error:
            failed.add(block.tool_use_id)
    files: dict[str, None] = {}
    commits: list[str] = []
    tests: list[str] = []
    for call in calls.values():
        given = as_mapping(call.input)
        action = get_tool(call.name).action
        path = get_text(given, "file_path") or get_text(given, "notebook_path")
        if action in ("written", "edited") and path and call.id not in failed:
            files[path] = None
        command = get_text(given, "command") or ""
        if COMMIT.search(command) and call.id not in failed:
            commits.append(read_commit_message(command))
        if test := TESTS.search(command):
            tests.append(f"{test[0]} {'failed' if call.id in failed else 'ran'}")
    return Outcome(prompt, tuple(files), tuple(commits), tuple(tests))


def read_commit_message(command: str) -> str:
    """Return the first line of the message that a command commits with."""
    found = MESSAGE.search(command)
    text = (found["here"] or found["plain"]) if found else ""
    return text.strip().partition("\n")[0] or "(message not in the command)"
