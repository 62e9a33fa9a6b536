"""What happened in a turn, from the lines around a hit: no session has to be opened for it.

Opening a session takes its whole graph; a hit needs to know only what was changed, tested and
committed between two prompts of its own file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple

from plait.conversation.equivalents import list_equivalent_inputs
from plait.conversation.model import SUCCESSFUL
from plait.conversation.tools import get_tool
from plait.index.model import Hit, PlacedHit
from plait.recall.model import quote_title, single_line
from plait.record import Record, ToolResult, ToolUse
from plait.record.codec import NotAnObject, as_mapping, get_text
from plait.record.prompts import is_human_prompt
from plait.record.reader import parse_record
from plait.view.formats import join_dotted

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


class Outcome(NamedTuple):
    """What was changed, committed and tested by some calls; failed calls changed nothing."""

    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    tests: tuple[tuple[str, str], ...] = ()
    """Commands that ran tests, each with the outcome of its call."""

    def describe(self, private: Callable[[str], str]) -> str:
        """Return it on one line with redacted commit messages, "" where nothing was done."""
        names = [single_line(path.rpartition("/")[2], 40) for path in self.files]
        more = f" +{len(names) - 4}" if len(names) > 4 else ""
        tests = [
            f"{single_line(name, 50)} {'failed' if outcome == 'failed' else 'ran'}"
            for name, outcome in self.tests[-2:]
        ]
        return join_dotted(
            f"changed {', '.join(names[:4])}{more}" if names else "",
            f"tests: {'; '.join(tests)}" if tests else "",
            f"commit {quote_title(private(self.commits[-1]), 60)}" if self.commits else "",
        )


def summarize_calls(calls: Iterable[tuple[str, object, str]]) -> Outcome:
    """Return what calls did, given the tool, the input and the outcome of each."""
    files: dict[str, None] = {}
    commits: list[str] = []
    tests: list[tuple[str, str]] = []
    for tool, given, outcome in calls:
        command = ""
        for name, values in list_equivalent_inputs(tool, as_mapping(given)):
            path = get_text(values, "file_path") or get_text(values, "notebook_path")
            if path and outcome in SUCCESSFUL and get_tool(name).action in ("written", "edited"):
                files[path] = None
            command = get_text(values, "command") or command
        if outcome in SUCCESSFUL and COMMIT.search(command):
            commits.append(read_commit_message(command))
        if test := TESTS.search(command):
            tests.append((test[0], outcome))
    return Outcome(tuple(files), tuple(commits), tuple(tests))


def read_commit_message(command: str) -> str:
    """Return the first line of the message that a command commits with."""
    found = MESSAGE.search(command)
    text = (found["here"] or found["plain"]) if found else ""
    return text.strip().partition("\n")[0] or "(message not in the command)"


def read_outcome(hit: Hit) -> tuple[str, Outcome, bytes]:
    """Return the prompt of the turn of a hit, what was done in it, and the line of the hit."""
    if not hit.line or not isinstance(hit, PlacedHit):
        return "", Outcome(), b""
    prompt, earlier = "", list[Record]()
    try:
        with Path(hit.path).open("rb") as file:
            file.seek(hit.offset)
            own = file.readline()
            following = _iter_records(islice(file, MOST_LINES))
            later = list(takewhile(lambda record: not is_human_prompt(record), following))
            before = islice(_iter_lines_back(file, hit.offset), MOST_LINES)
            for record in _iter_records(chain([own], before)):
                if is_human_prompt(record):
                    prompt = record.text
                    break
                earlier.insert(0, record)
    except OSError:
        return "", Outcome(), b""
    calls: dict[str, ToolUse] = {}
    failed: set[str] = set()
    for record in (*earlier, *later):
        for block in record.message.content if record.message else ():
            if isinstance(block, ToolUse):
                calls[block.id] = block
            elif isinstance(block, ToolResult) and block.is_error:
                failed.add(block.tool_use_id)
    rows = ((c.name, c.input, "failed" if c.id in failed else "ok") for c in calls.values())
    return prompt, summarize_calls(rows), own


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
    """Yield prompts, calls and results; what the model only said changed nothing."""
    for data in lines:
        if b'"user"' in data or b'"tool_use"' in data:
            try:
                yield parse_record(data)
            except NotAnObject:
                continue
