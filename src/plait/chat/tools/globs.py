"""Glob patterns and walks over files, with the rules of .gitignore."""

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TypeAlias, TypeVar

from plait.chat.tools.base import ToolError, Workplace

MAX_PATTERN_LENGTH = 10_000
"""Characters of a pattern."""


class _GlobParser:
    """Translates a glob pattern to a regular expression, piece by piece."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0

    def next(self) -> str:
        """Return the expression for the next piece of the pattern."""
        letter = self.pattern[self.at]
        self.at += 1
        match letter:
            case "*":
                if self.pattern[self.at : self.at + 1] != "*":
                    return "[^/]*"
                self.at += 1
                is_folder = self.at < 3 or self.pattern[self.at - 3] in "/{,"
                if is_folder and self.pattern[self.at : self.at + 1] == "/":
                    self.at += 1
                    return "(?:.*/)?"
                return ".*"
            case "?":
                return "[^/]"
            case "[":
                end = self.pattern.find(
                    "]", self.at + 1 + (self.pattern[self.at : self.at + 1] in "!^")
                )
                if end < 0:
                    raise _make_glob_error(self.pattern, "unclosed character class; missing ']'")
                inner = self.pattern[self.at : end]
                self.at = end + 1
                not_in = "^" if inner[:1] in ("!", "^") else ""
                body = (inner[1:] if not_in else inner).replace("\\", "\\\\").replace("[", "\\[")
                return f"(?!/)[{not_in}{body.replace('^', chr(92) + '^')}]"
            case "{":
                self.depth += 1
                return "(?:"
            case "}" if self.depth:
                self.depth -= 1
                return ")"
            case "," if self.depth:
                return "|"
            case "\\" if self.at < len(self.pattern):
                self.at += 1
                return re.escape(self.pattern[self.at - 1])
            case _:
                return re.escape(letter)


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
    reader = _GlobParser(pattern.removeprefix("/"))
    pieces = []
    while reader.at < len(reader.pattern):
        pieces.append(reader.next())
    if reader.depth:
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
        for entry in _scan(folder):
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name in REPOSITORY_FOLDERS and not includes_repositories:
                continue
            if own and own.ignores(entry.path, is_folder=is_folder):
                continue
            if is_folder:
                waiting.append((entry.path, own))
            elif entry.is_file(follow_symlinks=False) and (found := _make_entry(entry, root)):
                yield found


def _scan(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return []


def _make_entry(entry: "os.DirEntry[str]", root: Path) -> Entry | None:
    try:
        changed = entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return None
    path = Path(entry.path)
    return Entry(path, path.relative_to(root).as_posix(), changed)


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
