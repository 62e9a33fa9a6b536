"""What happened in a turn, from the lines around a hit: no session has to be opened for it.

Opening a session takes its whole graph; a hit needs to know only what was changed, tested and
committed between two prompts of its own file.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import BinaryIO

from plait.conversation.tools import get_tool
from plait.index.model import Hit, PlacedHit
from plait.recall.model import Outcome
from plait.record import Record, ToolResult, ToolUse
from plait.record.codec import NotAnObject, as_mapping, get_text
from plait.record.prompts import is_human_prompt
from plait.record.reader import parse_record

BLOCK = 128_000
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
    if not hit.line or not isinstance(hit, PlacedHit):
        return Outcome(), b""
    try:
        with Path(hit.path).open("rb") as file:
            file.seek(hit.offset)
            own = file.readline()
            following = _iter_records(islice(file, MOST_LINES))
            later = list(takewhile(lambda record: not is_human_prompt(record), following))
            earlier, prompt = list[Record](), ""
            before = islice(_iter_lines_back(file, hit.offset), MOST_LINES)
            for record in _iter_records(chain([own], before)):
                if is_human_prompt(record):
                    prompt = record.text
                    break
                earlier.insert(0, record)
    except OSError:
        return Outcome(), b""
    return summarize_records([*earlier, *later], prompt), own


def _iter_lines_back(file: BinaryIO, end: int) -> Iterator[bytes]:
    """Yield the lines before an offset, the last first."""
    rest = b""
    while end > 0:
        start = max(0, end - BLOCK)
        file.seek(start)
        rest, *lines = (file.read(end - start) + rest).split(b"\n")
        end = start
        yield from reversed(lines)
    yield rest


def _iter_records(lines: Iterable[bytes]) -> Iterator[Record]:
    """Yield what people wrote and what tools did; what the model only said matters to nobody here."""
    for data in lines:
        if b'"user"' in data or b'"tool_use"' in data:
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
