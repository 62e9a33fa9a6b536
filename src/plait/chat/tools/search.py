"""The Glob and Grep tools, by ripgrep or by a search of our own, with globs and .gitignore.

Globs are translated as ripgrep reads them (`**`, braces, classes), so that both searches find the
same files; `fnmatch` and `glob` of the standard library read them otherwise.
"""

import asyncio
import os
import re
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, takewhile
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, TypeAlias, TypeVar

from plait.chat.tools import files
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

MAX_PATTERN_LENGTH = 10_000
"""Characters of a pattern."""


def _make_glob_error(pattern: str, why: str) -> ToolError:
    return make_search_error(f"rg: error parsing glob '{pattern}': {why}")


def make_search_error(why: str) -> ToolError:
    """Return the error for an invalid search, as Claude Code words it."""
    return ToolError(
        "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\n"
        + why
    )


@lru_cache(maxsize=2048)
def compile_glob(pattern: str) -> "re.Pattern[str]":
    """Return a regular expression for paths relative to a folder; raise ToolError.

    A pattern without a slash matches names in any folder below.
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise _make_glob_error(pattern[:80] + "…", "it is too long")
    glob = pattern.removeprefix("/")
    pieces: list[str] = []
    at = depth = 0
    while at < len(glob):
        letter, following = glob[at], glob[at + 1 : at + 2]
        at += 1
        match letter:
            case "*" if following == "*":
                is_folder = at < 2 or glob[at - 2] in "/{,"
                at += 1
                if is_folder and glob[at : at + 1] == "/":
                    at += 1
                    pieces.append("(?:.*/)?")
                else:
                    pieces.append(".*")
            case "*":
                pieces.append("[^/]*")
            case "?":
                pieces.append("[^/]")
            case "[":
                end = glob.find("]", at + 1 + (following != "" and following in "!^"))
                if end < 0:
                    raise _make_glob_error(glob, "unclosed character class; missing ']'")
                inner, at = glob[at:end], end + 1
                negation = "^" if inner[:1] in ("!", "^") else ""
                body = (inner[1:] if negation else inner).replace("\\", "\\\\")
                body = body.replace("[", "\\[").replace("^", "\\^")
                pieces.append(f"(?!/)[{negation}{body}]")
            case "{":
                depth += 1
                pieces.append("(?:")
            case "}" if depth:
                depth -= 1
                pieces.append(")")
            case "," if depth:
                pieces.append("|")
            case "\\" if following:
                at += 1
                pieces.append(re.escape(following))
            case _:
                pieces.append(re.escape(letter))
    if depth:
        raise _make_glob_error(pattern, "unclosed alternate group; missing '}'")
    any_folder = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    try:
        return re.compile(any_folder + "".join(pieces), re.DOTALL)
    except re.error as error:
        raise _make_glob_error(pattern, str(error)) from error


@dataclass(frozen=True, slots=True)
class GlobSet:
    """Patterns that select files; one with a leading `!` excludes."""

    patterns: tuple[str, ...]

    @classmethod
    def parse(cls, patterns: Iterable[str]) -> "GlobSet":
        """Check patterns; raise ToolError if one is invalid."""
        checked = tuple(patterns)
        for pattern in checked:
            compile_glob(pattern.removeprefix("!"))
        return cls(checked)

    def matches(self, path: str) -> bool | None:
        """Return whether a file is selected by the last pattern that matches; None if none does."""
        for pattern in reversed(self.patterns):
            if compile_glob(pattern.removeprefix("!")).fullmatch(path):
                return not pattern.startswith("!")
        return False if any(not pattern.startswith("!") for pattern in self.patterns) else None


def split_patterns(text: str) -> list[str]:
    """Return the patterns in a list separated by blanks or commas."""
    found: list[str] = []
    for part in text.split():
        found += [part] if "{" in part else [piece for piece in part.split(",") if piece]
    return found


FILE_TYPES: dict[str, tuple[str, ...]] = {
    "c": ("*.[chH]", "*.[chH].in", "*.cats"),
    "clojure": ("*.clj", "*.cljc", "*.cljs", "*.cljx"),
    "cmake": ("*.cmake", "CMakeLists.txt"),
    "config": ("*.cfg", "*.conf", "*.config", "*.ini"),
    "cpp": ("*.[ChH]", "*.cc", "*.[ch]pp", "*.[ch]xx", "*.hh", "*.inl"),
    "cs": ("*.cs",),
    "csharp": ("*.cs",),
    "css": ("*.css", "*.scss"),
    "csv": ("*.csv",),
    "dart": ("*.dart",),
    "docker": ("*Dockerfile*",),
    "elixir": ("*.ex", "*.eex", "*.exs", "*.heex", "*.leex", "*.livemd"),
    "elm": ("*.elm",),
    "erlang": ("*.erl", "*.hrl"),
    "go": ("*.go",),
    "graphql": ("*.graphql", "*.graphqls"),
    "h": ("*.h", "*.hh", "*.hpp"),
    "haskell": ("*.hs", "*.lhs", "*.cpphs", "*.c2hs", "*.hsc"),
    "html": ("*.ejs", "*.htm", "*.html"),
    "java": ("*.java", "*.jsp", "*.jspx", "*.properties"),
    "js": ("*.cjs", "*.js", "*.jsx", "*.mjs", "*.vue"),
    "json": ("*.json", "composer.lock", "*.sarif"),
    "jsonl": ("*.jsonl",),
    "julia": ("*.jl",),
    "jupyter": ("*.ipynb", "*.jpynb"),
    "kotlin": ("*.kt", "*.kts"),
    "less": ("*.less",),
    "lisp": ("*.el", "*.jl", "*.lisp", "*.lsp", "*.sc", "*.scm"),
    "log": ("*.log",),
    "lua": ("*.lua",),
    "make": ("[Gg][Nn][Uu]makefile", "[Mm]akefile", "*.mak", "*.mk"),
    "markdown": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
    "md": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
    "nix": ("*.nix",),
    "objc": ("*.h", "*.m"),
    "ocaml": ("*.ml", "*.mli", "*.mll", "*.mly"),
    "perl": ("*.perl", "*.pl", "*.PL", "*.plh", "*.plx", "*.pm", "*.t"),
    "php": ("*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"),
    "protobuf": ("*.proto",),
    "py": ("*.py", "*.pyi"),
    "python": ("*.py", "*.pyi"),
    "r": ("*.R", "*.r", "*.Rmd", "*.rmd", "*.Rnw", "*.rnw"),
    "rst": ("*.rst",),
    "ruby": ("*.gemspec", "*.rb", "*.rbw", ".irbrc", "config.ru", "Gemfile", "Rakefile"),
    "rust": ("*.rs",),
    "sass": ("*.sass", "*.scss"),
    "scala": ("*.sbt", "*.scala"),
    "sh": ("*.bash", "*.csh", "*.ksh", "*.sh", "*.tcsh", "*.zsh", ".bashrc", ".profile", ".zshrc"),
    "sql": ("*.psql", "*.sql"),
    "svelte": ("*.svelte",),
    "swift": ("*.swift",),
    "tex": ("*.bib", "*.cls", "*.ltx", "*.sty", "*.tex"),
    "tf": ("*.tf", "*.tf.json", "*.tfvars", "*.tfvars.json", "terraform.rc", ".terraformrc"),
    "toml": ("*.toml", "Cargo.lock"),
    "ts": ("*.cts", "*.mts", "*.ts", "*.tsx"),
    "txt": ("*.txt",),
    "typescript": ("*.cts", "*.mts", "*.ts", "*.tsx"),
    "vim": ("*.vim", ".vimrc", "vimrc"),
    "vue": ("*.vue",),
    "xml": ("*.dtd", "*.rng", "*.sch", "*.xhtml", "*.xjb", "*.xml", "*.xml.dist", "*.xsd", "*.xsl"),
    "yaml": ("*.yaml", "*.yml"),
    "zig": ("*.zig",),
}


T = TypeVar("T")
IsCancelled: TypeAlias = Callable[[], bool]
SEARCH_TIMEOUT = 20.0
"""Seconds that a search may take."""

REPOSITORY_FOLDERS = frozenset((".git", ".svn", ".hg", ".bzr", ".jj", ".sl"))
IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
MAX_RULES_BYTES = 256 * 1024
"""Bytes read of an ignore file."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A regular file below a folder."""

    path: Path
    name: str
    """Its path relative to the folder, with slashes."""
    changed: int
    """Modification time in nanoseconds."""


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of an ignore file."""

    pattern: str
    is_negated: bool
    is_folder_only: bool


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The ignore rules of a folder, with those of its parents."""

    folder: str
    rules: tuple[IgnoreRule, ...] = ()
    parent: "IgnoreRules | None" = field(default=None, repr=False)

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return whether a path is ignored; the nearest rule that matches decides."""
        level: IgnoreRules | None = self
        while level is not None:
            inner = os.path.relpath(path, level.folder).replace(os.sep, "/")
            for rule in reversed(level.rules):
                with suppress(ToolError):  # an invalid pattern ignores nothing
                    if (is_folder or not rule.is_folder_only) and compile_glob(
                        rule.pattern
                    ).fullmatch(inner):
                        return not rule.is_negated
            level = level.parent
        return False


async def run_search(work: Callable[[IsCancelled], T]) -> T:
    """Run a search in a thread; tell it to stop when cancelled or after a timeout."""
    over, end = Event(), monotonic() + SEARCH_TIMEOUT
    try:
        return await asyncio.to_thread(work, lambda: over.is_set() or monotonic() > end)
    finally:
        over.set()


def display_path(path: Path, place: Workplace) -> str:
    """Return a path relative to the working directory if it is below it."""
    return str(path.relative_to(place.cwd)) if path.is_relative_to(place.cwd) else str(path)


def is_hidden_file(path: Path, place: Workplace) -> bool:
    """Return whether searches skip a file because it must not be read."""
    return place.is_hidden is not None and place.is_hidden(path)


def walk_files(
    root: Path,
    *,
    respects_ignores: bool,
    is_cancelled: IsCancelled,
    includes_repositories: bool = False,
) -> Iterator[Entry]:
    """Yield the files below a folder until cancelled.

    Folders such as `.git` are skipped unless `includes_repositories`.
    """
    rules: IgnoreRules | None = None
    if respects_ignores:
        rules = IgnoreRules(str(root))
        parents = [root, *root.parents]
        top = next((at for at, folder in enumerate(parents) if (folder / ".git").exists()), 0)
        for parent in reversed(parents[1 : top + 1]):
            rules = _load_rules(str(parent), rules, is_git=True)
    waiting = [(str(root), rules)]
    while waiting and not is_cancelled():
        folder, above = waiting.pop()
        own = _load_rules(folder, above) if above else None
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name in REPOSITORY_FOLDERS and not includes_repositories:
                continue
            if own and own.ignores(entry.path, is_folder=is_folder):
                continue
            if is_folder:
                waiting.append((entry.path, own))
            elif entry.is_file(follow_symlinks=False):
                try:
                    changed = entry.stat(follow_symlinks=False).st_mtime_ns
                except OSError:
                    continue
                path = Path(entry.path)
                yield Entry(path, path.relative_to(root).as_posix(), changed)


def _load_rules(folder: str, above: IgnoreRules, *, is_git: bool | None = None) -> IgnoreRules:
    """Return the rules that apply in a folder; `.gitignore` counts in repositories only."""
    was_git = is_git
    if was_git is None:
        parents = [Path(above.folder), *Path(above.folder).parents]
        was_git = any((parent / ".git").exists() for parent in parents)
    is_git = was_git or Path(folder, ".git").exists()
    rules: list[IgnoreRule] = []
    for name in IGNORE_FILES if is_git else IGNORE_FILES[1:]:
        path = Path(folder, name)
        text = ""
        with suppress(OSError):
            if path.is_file() and not path.is_symlink():
                text = path.read_bytes()[:MAX_RULES_BYTES].decode("utf-8", "replace")
        for line in map(str.rstrip, text.splitlines()):
            pattern = line.removeprefix("!").removeprefix("\\")
            if pattern.strip("/") and not line.startswith("#"):
                rules.append(
                    IgnoreRule(pattern.rstrip("/"), line.startswith("!"), pattern.endswith("/"))
                )
    return IgnoreRules(folder, tuple(rules), above) if rules or is_git != was_git else above


Search: TypeAlias = Callable[[bytes, int], "tuple[int, int] | None"]
"""Finds the first match in some bytes from an offset on; returns its span."""
NAMED_GROUP = re.compile(r"(?<!\\)\(\?<(?=[A-Za-z_])")
MAX_REGEX_MEMORY = 64 << 20


def compile_search(pattern: str, *, ignores_case: bool, is_multiline: bool) -> Search:
    """Return a search for a regular expression; raise ToolError if it is invalid.

    re2 takes linear time for every pattern; it has no wheels for some platforms.
    """
    flags = ("i" if ignores_case else "") + ("sm" if is_multiline else "m")
    source = f"(?{flags}){NAMED_GROUP.sub('(?P<', pattern)}".encode("utf-8", "replace")
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:
        try:
            compiled: Any = re.compile(source)
        except (re.error, RecursionError, OverflowError) as error:
            raise _make_regex_error(pattern, str(error)) from error
    else:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = MAX_REGEX_MEMORY
        try:
            compiled = re2.compile(source, options)
        except re2.error as error:
            reason = error.args[0] if error.args else b"invalid pattern"
            text = reason.decode() if isinstance(reason, bytes) else str(reason)
            raise _make_regex_error(pattern, text.partition(": ")[0]) from error

    def search(data: bytes, start: int) -> tuple[int, int] | None:
        match = compiled.search(data, start)
        return match.span() if match else None

    return search


def _make_regex_error(pattern: str, reason: str) -> ToolError:
    return make_search_error(f"rg: regex parse error:\n    {pattern}\nerror: {reason}")


MAX_LINE_LENGTH = 500
"""Bytes of a line that is shown in full."""
MAX_SEARCHED_BYTES = 64 * 1024 * 1024
SAMPLE = 64 * 1024
MAX_LINES = 100_000


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search: what to look for, in which files, and what to show."""

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
    """Return the lines that report the matches below a path; file lists have the newest first."""
    search = compile_search(
        query.pattern, ignores_case=query.ignores_case, is_multiline=query.is_multiline
    )
    entries = [
        entry
        for entry in _iter_entries(query, path, is_cancelled)
        if not is_hidden_file(entry.path, place)
    ]
    if query.mode == "files_with_matches":
        matching = [
            entry
            for entry in entries
            if not is_cancelled()
            and next(_iter_matches(_read_text(entry.path), search, query), None) is not None
        ]
        matching.sort(key=lambda entry: (-entry.changed, entry.name))
        return [display_path(entry.path, place) for entry in matching]
    lines: list[str] = []
    for entry in sorted(entries, key=lambda entry: entry.name):
        if is_cancelled() or len(lines) > MAX_LINES:
            break
        name = "" if path.is_file() and query.mode == "content" else display_path(entry.path, place)
        found = [*_format_file(entry.path, name, search, query)]
        lines += ["--"] if lines and found and query.has_context else []
        lines += found
    return lines


def _iter_entries(query: SearchQuery, path: Path, is_cancelled: IsCancelled) -> Iterator[Entry]:
    """Yield the files that a search reads."""
    if query.type and query.type not in FILE_TYPES:
        raise make_search_error(f"rg: unrecognized file type: {query.type}")
    globs = GlobSet.parse(split_patterns(query.glob))
    types = GlobSet.parse(FILE_TYPES.get(query.type, ()))
    if path.is_file():
        yield Entry(path, path.name, 0)
        return
    for entry in walk_files(path, respects_ignores=True, is_cancelled=is_cancelled):
        if globs.matches(entry.name) is not False and types.matches(entry.name) is not False:
            yield entry


def _read_text(path: Path) -> bytes:
    """Return the text of a file; nothing if it is binary or cannot be read."""
    try:
        data = files.read_bytes(path, MAX_SEARCHED_BYTES)
    except (OSError, ToolError):
        return b""
    if data.startswith(UTF16):
        data = data.decode("utf-16", "replace").encode()
    return b"" if b"\0" in data[:SAMPLE] else data


def _iter_matches(data: bytes, search: Search, query: SearchQuery) -> Iterator[tuple[int, int]]:
    """Yield the spans of matches, one for each line; with multiline searches for each match."""
    at = 0
    while at < len(data) and (span := search(data, at)):
        start = data.rfind(b"\n", 0, span[0]) + 1
        end = _find_line_end(data, span[0])
        if query.is_multiline:
            end = _find_line_end(data, max(span[1] - 1, span[0]))
            yield span
        # a match across lines does not count, but the line alone may still match
        elif span[1] <= end or search(data[start:end], 0):
            yield start, end
        at = end + 1


def _find_line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _format_file(path: Path, name: str, search: Search, query: SearchQuery) -> Iterator[str]:
    """Yield the lines that report the matches in a file."""
    data = _read_text(path)
    if not data:
        return
    lines = data.removesuffix(b"\n").split(b"\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    spans = [*_iter_matches(data, search, query)]
    if query.mode == "count":
        if spans:
            yield f"{name}:{len(spans)}"
        return
    if query.only_matches:
        at = 0
        while at < len(data) and (span := search(data, at)):
            at = max(span[1], span[0] + 1)
            if span[1] > span[0] and (query.is_multiline or b"\n" not in data[slice(*span)]):
                number = bisect_right(starts, span[0])
                yield _format_line(name, number, data[slice(*span)], ":", query)
        return
    hits: set[int] = set()
    for start, end in spans:
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, max(end - 1, start))
        hits |= {number for number in range(first, last) if number < len(lines)}
    shown = hits
    if query.has_context:
        shown = {
            number
            for hit in hits
            for number in range(max(hit - query.before, 0), min(hit + query.after + 1, len(lines)))
        }
    previous = None
    for number in sorted(shown):
        if query.has_context and previous is not None and number > previous + 1:
            yield "--"
        mark = ":" if number in hits else "-"
        yield _format_line(name, number + 1, lines[number], mark, query)
        previous = number


def _format_line(name: str, number: int, text: bytes, mark: str, query: SearchQuery) -> str:
    """Return a line as ripgrep prints it: `name:number:text`."""
    line = text.removesuffix(b"\r").decode("utf-8", "replace")
    if len(text) > MAX_LINE_LENGTH:
        line = f"[Omitted long {'matching' if mark == ':' else 'context'} line]"
    numbers = [str(number)] if query.has_numbers else []
    return mark.join([*([name] if name else []), *numbers, line])


MAX_OUTPUT_BYTES = 32 * 1024 * 1024


def build_command(program: str, query: SearchQuery, path: Path) -> list[str]:
    """Return the ripgrep command for a search."""
    modes = {"content": [], "count": ["--count", "--with-filename"]}
    words = [program, "--no-config", "--hidden", "--color", "never", "--no-heading"]
    words += [
        "--max-columns",
        str(MAX_LINE_LENGTH),
        *modes.get(query.mode, ["--files-with-matches"]),
    ]
    if query.mode == "content":
        words += ["--sort", "path", "--line-number" if query.has_numbers else "--no-line-number"]
        words += ["--only-matching"] if query.only_matches else []
        if query.has_context:
            words += ["--before-context", str(query.before), "--after-context", str(query.after)]
    words += ["--ignore-case"] if query.ignores_case else []
    words += ["--multiline", "--multiline-dotall"] if query.is_multiline else []
    words += ["--type", query.type] if query.type else []
    globs = [*split_patterns(query.glob), *(f"!{name}" for name in sorted(REPOSITORY_FOLDERS))]
    words += [part for glob in globs for part in ("--glob", glob)]
    return [*words, "--regexp", query.pattern, "--", str(path)]


async def run_ripgrep(program: str, query: SearchQuery, path: Path, place: Workplace) -> list[str]:
    """Return the lines that ripgrep prints; file lists have the newest first."""
    try:
        process = await asyncio.create_subprocess_exec(
            *build_command(program, query, path),
            cwd=place.cwd,
            env=dict(place.environment),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"Search failed: {error}") from error
    output = error_output = ""
    try:
        async with asyncio.timeout(SEARCH_TIMEOUT):
            output, error_output = await asyncio.gather(
                _read_some(process.stdout), _read_some(process.stderr)
            )
    except TimeoutError:
        pass
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = await process.wait()
    if code == 2 and not output:
        raise make_search_error(error_output.strip())
    lines = [
        line.removeprefix(f"{place.cwd}/").removesuffix("\r")
        for line in output.removesuffix("\n").split("\n")
        if output
    ]
    if query.mode == "files_with_matches":
        changed: dict[str, int] = {}
        for line in lines:
            try:
                changed[line] = (place.cwd / line).stat().st_mtime_ns
            except OSError:
                changed[line] = 0
        lines.sort(key=lambda line: (-changed[line], line))
    return lines


async def _read_some(stream: asyncio.StreamReader | None) -> str:
    """Return the output of a process up to a limit."""
    output = bytearray()
    while stream and len(output) < MAX_OUTPUT_BYTES and (chunk := await stream.read(1 << 16)):
        output += chunk
    return output.decode("utf-8", "replace")


MAX_FILES = 100


class Glob(BuiltInTool):
    """The tool that finds files by name."""

    name = "Glob"
    effect = "read"
    description = (
        'Finds files by a pattern such as "**/*.py" or "src/**/*.{ts,tsx}", sorted by modification'
        " time, oldest first."
    )
    fields = (
        Field("pattern", "string", "Pattern that paths must match", is_required=True),
        Field("path", "string", "Directory to search; default: the working directory"),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        folder, _ = _split_pattern(proposal.arguments, place)
        return replace(proposal, title=proposal.arguments["pattern"], paths=(folder,))

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        began = monotonic()
        _, pattern = _split_pattern(proposal.arguments, place)
        folder = proposal.paths[0]
        shown = display_path(folder, place)
        if not folder.exists():
            note = f"Note: your current working directory is {place.cwd}."
            raise ToolError(f"Directory does not exist: {shown}. {note}")
        if not folder.is_dir():
            raise ToolError(f"Path is not a directory: {shown}")
        globs = GlobSet.parse([pattern])

        def find(is_cancelled: IsCancelled) -> tuple[list[Entry], bool]:
            entries = walk_files(
                folder,
                respects_ignores=False,
                is_cancelled=is_cancelled,
                includes_repositories=True,
            )
            matching = [
                entry
                for entry in entries
                if globs.matches(entry.name) and not is_hidden_file(entry.path, place)
            ]
            return matching, not is_cancelled()

        matching, is_complete = await run_search(find)
        matching.sort(key=lambda entry: (entry.changed, entry.name))
        names = [display_path(entry.path, place) for entry in matching[:MAX_FILES]]
        left = len(matching) - len(names)
        output = {
            "filenames": names,
            "durationMs": round((monotonic() - began) * 1000),
            "numFiles": len(names),
            "truncated": left > 0,
            "totalMatches": len(matching),
            "countIsComplete": is_complete,
        }
        lines = [*names]
        if left:
            lines.append(
                f"(Showing {MAX_FILES} of {len(matching)} matching files; {left} more are not"
                " listed. Narrow the pattern or path to see the rest.)"
            )
        return Outcome("\n".join(lines) or "No files found", output)


def _split_pattern(arguments: Arguments, place: Workplace) -> tuple[Path, str]:
    """Return the folder to search, and the pattern relative to it."""
    pattern = str(arguments["pattern"])
    if Path(pattern).is_absolute():
        fixed = takewhile(
            lambda part: not any(letter in part for letter in "*?[{"), Path(pattern).parts[:-1]
        )
        base = Path(*fixed)
        return files.resolve_path(str(base), place), str(Path(pattern).relative_to(base))
    return files.resolve_path(str(arguments.get("path", ".")), place), pattern or "*"


DEFAULT_LIMIT = 250


class Grep(BuiltInTool):
    """The tool that searches files."""

    name = "Grep"
    effect = "read"
    description = (
        "Searches files for a regular expression, with ripgrep if it is installed. Skips files that"
        " git ignores. Shows matching files, lines or counts."
    )
    fields = (
        Field("pattern", "string", "Regular expression to search for", is_required=True),
        Field(
            "path",
            "string",
            "File or directory to search; default: the working directory",
        ),
        Field("glob", "string", 'Files to search, such as "*.py" or "*.{ts,tsx}"'),
        Field(
            "output_mode",
            "string",
            "What to show: lines, files (the default) or counts",
            choices=("content", "files_with_matches", "count"),
        ),
        Field("-B", "number", "Lines to show before each match"),
        Field("-A", "number", "Lines to show after each match"),
        Field("-C", "number", "Same as context"),
        Field("context", "number", "Lines to show before and after each match"),
        Field("-n", "boolean", "Show line numbers; default: true"),
        Field("-i", "boolean", "Ignore case"),
        Field("-o", "boolean", "Show only the matching parts, one per line"),
        Field("type", "string", "File type to search, such as py, js, rust"),
        Field("head_limit", "number", "Maximum number of lines or files; default: 250, 0 for all"),
        Field("offset", "number", "Number of lines or files to skip"),
        Field("multiline", "boolean", "Let matches span several lines"),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        checked = proposal.arguments
        for name in ("head_limit", "offset"):
            value = checked.get(name, 0)
            if value < 0 or value != int(value):
                more = " Pass 0 for unlimited." if name == "head_limit" else ""
                text = f"{name} must be a whole number of 0 or more, got {value}.{more}"
                raise ToolError(text, is_misuse=True)
        path = files.resolve_path(str(checked.get("path", ".")), place)
        return replace(proposal, title=checked["pattern"], paths=(path,))

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
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
        # ripgrep does not know which files the permission rules hide
        if place.is_hidden is None and (
            program := shutil.which("rg", path=place.environment.get("PATH", ""))
        ):
            lines = await run_ripgrep(program, query, path, place)
        else:
            lines = await run_search(
                lambda is_cancelled: search_files(query, path, place, is_cancelled)
            )
        return _build_outcome(query.mode, lines, arguments)


def _build_outcome(mode: str, lines: list[str], arguments: Arguments) -> Outcome:
    """Return the page of the results that was requested."""
    limit, offset = int(arguments.get("head_limit", DEFAULT_LIMIT)), int(arguments.get("offset", 0))
    shown = lines[offset : offset + limit] if limit else lines[offset:]
    page: dict[str, int] = {}
    if limit and len(lines) - offset > limit:
        page["appliedLimit"] = limit
    if offset:
        page["appliedOffset"] = offset
    names = {"appliedLimit": "limit", "appliedOffset": "offset"}
    pagination = ", ".join(f"{names[key]}: {value}" for key, value in page.items())
    empty = "No entries at this offset" if lines else "No matches found"
    content = "\n".join(shown)
    if mode == "content":
        output: dict[str, Any] = {
            "mode": "content",
            "numFiles": 0,
            "filenames": [],
            "content": content,
            "numLines": len(shown),
            "totalLines": len(lines),
            **page,
        }
        note = f"\n\n[Showing results with pagination = {pagination}]" if page else ""
        return Outcome((content or empty) + note, output)
    if mode == "count":
        total = sum(int(line.rpartition(":")[2]) for line in lines)
        output = {
            "mode": "count",
            "numFiles": len(lines),
            "filenames": [],
            "content": content,
            "numMatches": total,
            **page,
        }
        note = f" with pagination = {pagination}" if page else ""
        found = f"Found {total} total {_plural('occurrence', total)} across {len(lines)}"
        summary = f"{found} {_plural('file', len(lines))}.{note}"
        return Outcome(f"{content or empty}\n\n{summary}", output)
    output = {
        "mode": "files_with_matches",
        "filenames": shown,
        "numFiles": len(shown),
        "totalFiles": len(lines),
        **page,
    }
    if not shown:
        note = f"\n\n[Showing results with pagination = {pagination}]" if page else ""
        return Outcome((empty if lines else "No files found") + note, output)
    note = f" {pagination}" if page else ""
    head = f"Found {len(shown)} {_plural('file', len(shown))}{note}"
    return Outcome("\n".join([head, *shown]), output)


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"
