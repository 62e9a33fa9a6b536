"""The Glob and Grep tools, by ripgrep or by a search of our own."""

import asyncio
import os
import re
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

from plait.chat.tools import files
from plait.chat.tools import files as paths
from plait.chat.tools.base import (
    Arguments,
    BuiltInTool,
    Field,
    Outcome,
    ProgressCallback,
    Proposal,
    ToolError,
    Workplace,
)
from plait.chat.tools.files import UTF16
from plait.chat.tools.globs import (
    FILE_TYPES,
    REPOSITORY_FOLDERS,
    SEARCH_TIMEOUT,
    Entry,
    GlobSet,
    IsCancelled,
    display_path,
    is_hidden_file,
    make_search_error,
    run_search,
    split_patterns,
    walk_files,
)

Search: TypeAlias = Callable[[bytes, int], "tuple[int, int] | None"]
"""Finds the first match in some bytes, from a place on."""
NAMED_GROUP = re.compile(r"(?<!\\)\(\?<(?=[A-Za-z_])")
MAX_REGEX_MEMORY = 64 << 20


def compile_search(pattern: str, *, ignores_case: bool, is_multiline: bool) -> Search:
    """Return what finds a pattern; raises ToolError where it is none."""
    flags = ("i" if ignores_case else "") + ("sm" if is_multiline else "m")
    compiled = _compile(f"(?{flags}){NAMED_GROUP.sub('(?P<', pattern)}", pattern)

    def search(data: bytes, place: int) -> tuple[int, int] | None:
        found = compiled.search(data, place)
        return found.span() if found else None

    return search


def _compile(told: str, pattern: str) -> Any:
    """Compile with re2, which takes no longer for a pattern that is made to be slow."""
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:  # no wheel for this platform
        try:
            return re.compile(told.encode("utf-8", "replace"))
        except (re.error, RecursionError, OverflowError) as error:
            raise _make_regex_error(pattern, str(error)) from error
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_REGEX_MEMORY
    try:
        return re2.compile(told.encode("utf-8", "replace"), options)
    except re2.error as error:
        told_why = error.args[0] if error.args else b"it is none"
        why = told_why.decode() if isinstance(told_why, bytes) else str(told_why)
        raise _make_regex_error(pattern, why.partition(": ")[0]) from error


def _make_regex_error(pattern: str, why: str) -> Exception:
    return make_search_error(f"rg: regex parse error:\n    {pattern}\nerror: {why}")


MAX_LINE_LENGTH = 500
"""Bytes of a line that is shown."""
MAX_SEARCHED_BYTES = 64 * 1024 * 1024
SAMPLE = 64 * 1024
MAX_LINES = 100_000


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is searched for, where, and what is told of it."""

    pattern: str
    mode: str = "files_with_matches"
    glob: str = ""
    type: str = ""
    before: int = 0
    after: int = 0
    has_numbers: bool = True
    ignores_case: bool = False
    only_matches: bool = False
    is_multiline: bool = False

    @property
    def has_context(self) -> bool:
        """Whether lines around a match are shown."""
        return self.mode == "content" and not self.only_matches and (self.before + self.after) > 0


def search_files(
    query: SearchQuery, path: Path, place: Workplace, is_cancelled: IsCancelled
) -> list[str]:
    """Return the lines that tell what was found below a path; files come newest first."""
    search = compile_search(
        query.pattern, ignores_case=query.ignores_case, is_multiline=query.is_multiline
    )
    found_in = _iter_entries(query, path, is_cancelled)
    entries = [entry for entry in found_in if not is_hidden_file(entry.path, place)]
    if query.mode == "files_with_matches":
        holding = [
            entry
            for entry in entries
            if not is_cancelled() and _has_match(entry.path, search, query)
        ]
        holding.sort(key=lambda entry: (-entry.changed, entry.name))
        return [display_path(entry.path, place) for entry in holding]
    lines: list[str] = []
    for entry in sorted(entries, key=lambda entry: entry.name):
        if is_cancelled() or len(lines) > MAX_LINES:
            break
        name = "" if path.is_file() and query.mode == "content" else display_path(entry.path, place)
        found = [*_format_file(entry.path, name, search, query)]
        lines += ["--"] if lines and found and query.has_context else []
        lines += found
    return lines


def _iter_entries(query: SearchQuery, path: Path, is_over: IsCancelled) -> Iterator[Entry]:
    if query.type and query.type not in FILE_TYPES:
        raise make_search_error(f"rg: unrecognized file type: {query.type}")
    choice, kinds = (
        GlobSet.parse(split_patterns(query.glob)),
        GlobSet.parse(FILE_TYPES.get(query.type, ())),
    )
    if path.is_file():
        yield Entry(path, path.name, 0)
        return
    for entry in walk_files(path, respects_ignores=True, is_cancelled=is_over):
        if choice.matches(entry.name) is not False and kinds.matches(entry.name) is not False:
            yield entry


def _read_text(path: Path) -> bytes:
    """Return the text of a file; none where it is binary or cannot be read."""
    try:
        data = files.read_bytes(path, MAX_SEARCHED_BYTES)
    except (OSError, ToolError):
        return b""
    if data.startswith(UTF16):
        data = data.decode("utf-16", "replace").encode()
    return b"" if b"\0" in data[:SAMPLE] else data


def _has_match(path: Path, search: Search, query: SearchQuery) -> bool:
    data = _read_text(path)
    return bool(data) and next(_iter_matches(data, search, query), None) is not None


def _iter_matches(data: bytes, search: Search, query: SearchQuery) -> Iterator[tuple[int, int]]:
    """Yield where matches are, one for each line or run of lines."""
    at = 0
    while at < len(data) and (span := search(data, at)):
        start = data.rfind(b"\n", 0, span[0]) + 1
        end = _find_line_end(data, span[0])
        if query.is_multiline:
            end = _find_line_end(data, max(span[1] - 1, span[0]))
            yield span
        # a match over a line's end is none, but the line alone may still hold one
        elif span[1] <= end or search(data[start:end], 0):
            yield start, end
        at = end + 1


def _find_line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _format_file(path: Path, name: str, search: Search, query: SearchQuery) -> Iterator[str]:
    data = _read_text(path)
    if not data:
        return
    lines = data.removesuffix(b"\n").split(b"\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    spans = [*_iter_matches(data, search, query)]
    if query.mode == "count":
        if spans:
            yield f"{name}:{len(spans)}"
    elif query.only_matches:
        at = 0
        while at < len(data) and (span := search(data, at)):
            at = max(span[1], span[0] + 1)
            if span[1] > span[0] and (query.is_multiline or b"\n" not in data[slice(*span)]):
                number = bisect_right(starts, span[0])
                yield _format_line(name, number, data[slice(*span)], ":", query)
    else:
        hits = {at for span in spans for at in _line_range(span, starts)}
        yield from _iter_with_context(lines, hits, name, query)


def _line_range(span: tuple[int, int], starts: list[int]) -> range:
    first = bisect_right(starts, span[0]) - 1
    return range(first, bisect_right(starts, max(span[1] - 1, span[0])))


def _iter_with_context(
    lines: list[bytes], hits: set[int], name: str, query: SearchQuery
) -> Iterator[str]:
    """Yield matching lines with those around them, and marks where some are left out."""
    near = ((max(at - query.before, 0), at + query.after) for at in hits)
    shown = sorted(set(chain.from_iterable(range(a, min(b, len(lines) - 1) + 1) for a, b in near)))
    last = None
    for at in shown if query.has_context else sorted(hits):
        if at >= len(lines):
            continue
        if query.has_context and last is not None and at > last + 1:
            yield "--"
        yield _format_line(name, at + 1, lines[at], ":" if at in hits else "-", query)
        last = at


def _format_line(name: str, number: int, text: bytes, mark: str, query: SearchQuery) -> str:
    message = text.removesuffix(b"\r").decode("utf-8", "replace")
    if len(text) > MAX_LINE_LENGTH:
        message = f"[Omitted long {'matching' if mark == ':' else 'context'} line]"
    before = [name] if name else []
    if query.has_numbers:
        before.append(str(number))
    return mark.join([*before, message])


MOST_OUTPUT = 32 * 1024 * 1024


def build_command(program: str, query: SearchQuery, path: Path) -> list[str]:
    """Return the command that searches."""
    modes = {"content": [], "count": ["--count", "--with-filename"]}
    lines = [program, "--no-config", "--hidden", "--color", "never", "--no-heading"]
    lines += [
        "--max-columns",
        str(MAX_LINE_LENGTH),
        *modes.get(query.mode, ["--files-with-matches"]),
    ]
    if query.mode == "content":
        lines += ["--sort", "path", "--line-number" if query.has_numbers else "--no-line-number"]
        lines += ["--only-matching"] if query.only_matches else []
        if query.has_context:
            lines += ["--before-context", str(query.before), "--after-context", str(query.after)]
    lines += ["--ignore-case"] if query.ignores_case else []
    lines += ["--multiline", "--multiline-dotall"] if query.is_multiline else []
    lines += ["--type", query.type] if query.type else []
    globs = [*split_patterns(query.glob), *(f"!{name}" for name in sorted(REPOSITORY_FOLDERS))]
    lines += [part for glob in globs for part in ("--glob", glob)]
    return [*lines, "--regexp", query.pattern, "--", str(path)]


async def run_ripgrep(program: str, query: SearchQuery, path: Path, place: Workplace) -> list[str]:
    """Return the lines that tell what was found; files come newest first."""
    output, error, code = await _run(build_command(program, query, path), place)
    if code == 2 and not output:
        raise make_search_error(error.strip())
    lines = [
        line.removeprefix(f"{place.cwd}/").removesuffix("\r")
        for line in output.removesuffix("\n").split("\n")
        if output
    ]
    if query.mode == "files_with_matches":
        lines.sort(key=lambda name: (-_modified_ns(place.cwd / name), name))
    return lines


def _modified_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


async def _run(command: list[str], place: Workplace) -> tuple[str, str, int]:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=place.cwd,
            env=dict(place.environment),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"Search failed: {error}") from error
    try:
        async with asyncio.timeout(SEARCH_TIMEOUT):
            output, error_text = await asyncio.gather(
                _read_some(process.stdout), _read_some(process.stderr)
            )
    except TimeoutError:
        output, error_text = "", ""
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = await process.wait()
    return output, error_text, code


async def _read_some(stream: asyncio.StreamReader | None) -> str:
    """Return what a stream says, as far as it is of use."""
    found = bytearray()
    while stream and len(found) < MOST_OUTPUT and (chunk := await stream.read(1 << 16)):
        found += chunk
    return found.decode("utf-8", "replace")


MAX_FILES = 100
GLOB_FIELDS = (
    Field("pattern", "string", "The pattern that paths are to match", is_required=True),
    Field("path", "string", "The folder to look in; the working directory where none is given"),
)
GLOB_DESCRIPTION = (
    'Finds files by a pattern such as "**/*.py" or "src/**/*.{ts,tsx}"; those that were changed'
    " longest ago come first."
)


class Glob(BuiltInTool):
    """The tool that finds files by name."""

    name = "Glob"
    effect = "read"
    description = GLOB_DESCRIPTION
    fields = GLOB_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Find the folder to look in."""
        checked = self.check(arguments)
        folder, _ = _split_pattern(checked, place)
        return Proposal(self.name, checked, self.effect, checked["pattern"], (folder,))

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Look for files; cancelled, it stops."""
        _, pattern = _split_pattern(proposal.arguments, place)
        return await run_search(lambda over: _find_files(proposal.paths[0], pattern, place, over))


def _split_pattern(arguments: Arguments, place: Workplace) -> tuple[Path, str]:
    """Return the folder and the pattern below it."""
    pattern = str(arguments["pattern"])
    if Path(pattern).is_absolute():
        found: list[str] = []
        for part in Path(pattern).parts[:-1]:
            if any(letter in part for letter in "*?[{"):
                break
            found.append(part)
        fixed = Path(*found)
        return files.resolve_path(str(fixed), place), str(Path(pattern).relative_to(fixed))
    return files.resolve_path(str(arguments.get("path", ".")), place), pattern or "*"


def _find_files(folder: Path, pattern: str, place: Workplace, is_over: IsCancelled) -> Outcome:
    began = monotonic()
    shown = display_path(folder, place)
    if not folder.exists():
        note = f"Note: your current working directory is {place.cwd}."
        raise ToolError(f"Directory does not exist: {shown}. {note}")
    if not folder.is_dir():
        raise ToolError(f"Path is not a directory: {shown}")
    choice = GlobSet.parse([pattern])
    entries = walk_files(
        folder, respects_ignores=False, is_cancelled=is_over, includes_repositories=True
    )
    matching: list[Entry] = sorted(
        (
            entry
            for entry in entries
            if choice.matches(entry.name) and not is_hidden_file(entry.path, place)
        ),
        key=lambda entry: (entry.changed, entry.name),
    )
    names = [display_path(entry.path, place) for entry in matching[:MAX_FILES]]
    is_cut = len(matching) > MAX_FILES
    output = {
        "filenames": names,
        "durationMs": round((monotonic() - began) * 1000),
        "numFiles": len(names),
        "truncated": is_cut,
        "totalMatches": len(matching),
        "countIsComplete": not is_over(),
    }
    text = "\n".join([*names, _format_cut_note(len(matching))] if is_cut else names)
    return Outcome(text or "No files found", output)


def _format_cut_note(total: int) -> str:
    return (
        f"(Showing {MAX_FILES} of {total} matching files; {total - MAX_FILES} more are not listed. Narrow the"
        " pattern or path to see the rest.)"
    )


DEFAULT_LIMIT = 250
GREP_MODES = ("content", "files_with_matches", "count")
GREP_FIELDS = (
    Field("pattern", "string", "The regular expression to look for", is_required=True),
    Field(
        "path", "string", "The file or folder to look in; the working directory if none is given"
    ),
    Field("glob", "string", 'Which files to look in, such as "*.py" or "*.{ts,tsx}"'),
    Field("output_mode", "string", "Lines, files (as usual) or counts", choices=GREP_MODES),
    Field("-B", "number", "Lines to show before each match"),
    Field("-A", "number", "Lines to show after each match"),
    Field("-C", "number", "The same as context"),
    Field("context", "number", "Lines to show before and after each match"),
    Field("-n", "boolean", "Whether lines have their numbers, as usual"),
    Field("-i", "boolean", "Whether upper and lower case are the same"),
    Field("-o", "boolean", "Show only what matches, each on its own line"),
    Field("type", "string", "The kind of files to look in, such as py, js, rust"),
    Field("head_limit", "number", "How many lines or files to show: 250 as usual, 0 for all"),
    Field("offset", "number", "How many lines or files to pass over first"),
    Field("multiline", "boolean", "Whether a match may go over several lines"),
)
GREP_DESCRIPTION = (
    "Looks for a regular expression in files, with ripgrep where there is one. What git ignores is"
    " left out. Shows the files that hold it, the lines, or how often it is there."
)


class Grep(BuiltInTool):
    """The tool that searches files."""

    name = "Grep"
    effect = "read"
    description = GREP_DESCRIPTION
    fields = GREP_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Find where to look."""
        checked = self.check(arguments)
        for name in ("head_limit", "offset"):
            value = checked.get(name, 0)
            if value < 0 or value != int(value):
                more = " Pass 0 for unlimited." if name == "head_limit" else ""
                text = f"{name} must be a whole number of 0 or more, got {value}.{more}"
                raise ToolError(text, is_misuse=True)
        path = paths.resolve_path(str(checked.get("path", ".")), place)
        return Proposal(self.name, checked, self.effect, checked["pattern"], (path,))

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Searches; cancelled, it stops."""
        path, arguments = proposal.paths[0], proposal.arguments
        if not path.exists():
            note = f"Note: your current working directory is {place.cwd}."
            raise ToolError(f"Path does not exist: {arguments.get('path')}. {note}")
        around = arguments.get("context", arguments.get("-C"))
        query = SearchQuery(
            pattern=arguments["pattern"],
            mode=arguments.get("output_mode", "files_with_matches"),
            glob=arguments.get("glob", ""),
            type=arguments.get("type", ""),
            before=max(int(around if around is not None else arguments.get("-B", 0)), 0),
            after=max(int(around if around is not None else arguments.get("-A", 0)), 0),
            has_numbers=arguments.get("-n", True),
            ignores_case=arguments.get("-i", False),
            only_matches=arguments.get("-o", False),
            is_multiline=arguments.get("multiline", False),
        )
        if place.is_hidden is None and (
            program := shutil.which("rg", path=place.environment.get("PATH", ""))
        ):
            lines = await run_ripgrep(program, query, path, place)
        else:
            lines = await run_search(lambda over: search_files(query, path, place, over))
        match query.mode:
            case "content":
                shown, text = _paginate(lines, arguments)
                content = "\n".join(shown)
                output = {
                    "mode": "content",
                    "numFiles": 0,
                    "filenames": [],
                    "content": content,
                    "numLines": len(shown),
                    "totalLines": len(lines),
                    **text,
                }
                message = content or ("No entries at this offset" if lines else "No matches found")
                page = (
                    f"\n\n[Showing results with pagination = {_format_page(text)}]" if text else ""
                )
                return Outcome(message + page, output)
            case "count":
                return _counts_outcome(lines, arguments)
            case _:
                return _files_outcome(lines, arguments)


def _paginate(items: list[str], arguments: Arguments) -> tuple[list[str], dict[str, int]]:
    """Return the part of a list that is shown, and what is said of how it was cut."""
    limit, offset = int(arguments.get("head_limit", DEFAULT_LIMIT)), int(arguments.get("offset", 0))
    shown = items[offset : offset + limit] if limit else items[offset:]
    text = {"appliedLimit": limit} if limit and len(items) - offset > limit else {}
    return shown, text | ({"appliedOffset": offset} if offset else {})


def _format_page(text: Mapping[str, int]) -> str:
    names = {"appliedLimit": "limit", "appliedOffset": "offset"}
    return ", ".join(f"{names[key]}: {value}" for key, value in text.items())


def _counts_outcome(lines: list[str], arguments: Arguments) -> Outcome:
    shown, text = _paginate(lines, arguments)
    total = sum(int(line.rpartition(":")[2]) for line in lines)
    output = {
        "mode": "count",
        "numFiles": len(lines),
        "filenames": [],
        "content": "\n".join(shown),
        "numMatches": total,
        **text,
    }
    page = f" with pagination = {_format_page(text)}" if text else ""
    message = "\n".join(shown) or ("No entries at this offset" if lines else "No matches found")
    times, files = _format_count(total, "occurrence"), _format_count(len(lines), "file")
    message += f"\n\nFound {times.replace(' ', ' total ')} across {files}.{page}"
    return Outcome(message, output)


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _files_outcome(lines: list[str], arguments: Arguments) -> Outcome:
    shown, text = _paginate(lines, arguments)
    output = {
        "mode": "files_with_matches",
        "filenames": shown,
        "numFiles": len(shown),
        "totalFiles": len(lines),
        **text,
    }
    if not shown:
        page = f"\n\n[Showing results with pagination = {_format_page(text)}]" if text else ""
        return Outcome(("No entries at this offset" if lines else "No files found") + page, output)
    page = f" {_format_page(text)}" if text else ""
    return Outcome("\n".join([f"Found {_format_count(len(shown), 'file')}{page}", *shown]), output)
