"""Analysis of shell commands: what is safe, what a rule allows or denies.

A command is allowed when a rule names each of its steps, also behind a wrapper such as `timeout`;
it is denied when any step may match, whatever comes before it.

A command runs without approval only if it certainly does nothing but read files of the workspace.
Variables, patterns and paths that lead out are uncertain, and so is git, since the configuration of
a repository can name programs that git runs.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from plait.chat.tools.base import Workplace

SILENT_PROGRAMS = frozenset(
    "cd chgrp chmod chown cp export ln mkdir mv rm rmdir touch unset wait".split()
)
EXIT_CODE_1 = {
    "grep": "No matches found",
    "egrep": "No matches found",
    "fgrep": "No matches found",
    "rg": "No matches found",
    "diff": "Files differ",
    "find": "Some directories were inaccessible",
    "test": "Condition is false",
    "[": "Condition is false",
}

READ_ONLY_PROGRAMS = frozenset(
    """
    [ basename cat cmp column comm cut date df diff dirname du echo egrep expr false fgrep file
    fold grep head id jq ls md5sum nl od paste printf ps pwd readlink realpath rev rg seq
    sha256sum sleep sort stat strings tac tail test tr true uname uniq uptime wc which whoami
    """.split()
)
"""Programs that change nothing, whatever their arguments."""
READ_ONLY_GIT = frozenset("blame describe diff log ls-files rev-parse shortlog show status".split())
HARMLESS_REDIRECT = re.compile(r"(?:2>&1|[12&]?>\s*/dev/null)(?![^\s;&|])")
REDIRECTS = ("<", ">", "`", "$(")
"""Syntax that may redirect output or run something else."""


def split_steps(command: str) -> list[list[str]]:
    """Return the words of each step of a command; empty if it cannot be split."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|\n")
        lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
        words = list(lexer)
    except ValueError:
        return []
    found: list[list[str]] = [[]]
    for word in words:
        if word.strip(";&|\n"):
            found[-1].append(word)
        else:
            found.append([])
    return [step for step in found if step]


def expects_no_output(command: str) -> bool:
    """Return whether a command normally prints nothing."""
    parts = split_steps(command)
    return bool(parts) and all(step[0] in SILENT_PROGRAMS for step in parts)


def explain_exit_code(command: str, code: int) -> str | None:
    """Return the meaning of an exit code that is not a failure; None if there is none."""
    parts = split_steps(command)
    return EXIT_CODE_1.get(parts[-1][0]) if code == 1 and parts else None


def is_wait(command: str) -> bool:
    """Return whether a command begins with `sleep`: it need not move to the background."""
    parts = split_steps(command)
    return bool(parts) and parts[0][0] == "sleep"


def is_read_only(command: str) -> bool:
    """Return whether a command seems to change nothing, so that others may run at the same time.

    This grants no permission; `is_safe_command` is stricter.
    """
    plain = HARMLESS_REDIRECT.sub("", command)
    steps = split_steps(plain)
    if not steps or any(sign in plain for sign in REDIRECTS):
        return False
    for program, *words in steps:
        match program:
            case "git":
                writes = any(word.startswith("--output") for word in words)
                is_reading = bool(words) and words[0] in READ_ONLY_GIT and not writes
            case "uniq":  # a second name is the output
                is_reading = "--" not in words and sum(word[:1] != "-" for word in words) <= 1
            case "printf":
                is_reading = not any(word.startswith("-v") for word in words)
            case "sort":
                # options, possibly abbreviated, may name an output file or a program
                names = [word.partition("=")[0] for word in words if word.startswith("-")]
                is_reading = not any(
                    any(long.startswith(name) for long in ("--output", "--compress-program"))
                    if name.startswith("--")
                    else "o" in name
                    for name in names
                )
            case _:
                is_reading = program in READ_ONLY_PROGRAMS
        if not is_reading:
            return False
    return True


PREFIX_SUFFIX = ":*"
SEPARATORS = re.compile(r"[;&|\n`(){}]|\$\(")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
REDIRECT = re.compile(r"^(\d*|&)(<{1,3}|>{1,2}\|?)&?")
WRAPPERS = frozenset(("timeout", "nohup", "time", "nice", "stdbuf"))
"""Programs that run another one without changing what it may do."""
PREFIX_PROGRAMS = WRAPPERS | frozenset(
    """
    ! { builtin busybox chroot command do doas elif else env exec fi flock if ionice nsenter
    parallel setsid strace sudo then until watch while xargs
    """.split()
)
"""Words before a program that is run all the same."""
SHELLS = frozenset("ash bash dash eval fish ksh sh zsh".split())
MAX_TEXTS = 200
READING_PROGRAMS = frozenset(
    """
    . awk base64 bat cat cmp column comm cp cut dd diff du egrep fgrep file fold gawk grep gunzip
    gzip head hexdump jq less ln ls md5sum more mv nl od paste readlink rev rg rsync scp sed sha1sum
    sha256sum sort source split stat strings tac tail tar tee test tree uniq vi vim wc xxd yq zcat
    zip [
    """.split()
)
WRITING_PROGRAMS = frozenset(
    """
    chgrp chmod chown cp dd install ln mkdir mv patch rm rmdir rsync sed shred split tee touch
    truncate unlink
    """.split()
)


def matches_command(words: str, command: str) -> bool:
    """Return whether a rule's text matches a command: exactly, by prefix, or by pattern."""
    for ending in (PREFIX_SUFFIX, " *"):
        if words.endswith(ending) and "*" not in words.removesuffix(ending):
            begun = words.removesuffix(ending)
            return command == begun or command.startswith(f"{begun} ")
    if "*" not in words:
        return command == words
    pieces = map(re.escape, words.split("*"))
    return re.fullmatch(".*".join(pieces), command, re.DOTALL) is not None


def split_for_allowing(command: str) -> list[list[str]]:
    """Return the steps that must be allowed; empty if they cannot be told apart."""
    plain = HARMLESS_REDIRECT.sub("", command)
    if any(sign in plain for sign in REDIRECTS):
        return []
    try:
        lexer = shlex.shlex(plain, posix=True, punctuation_chars="&")
        lexer.whitespace_split, lexer.commenters = True, ""
        if any(word.strip("&") == "" and len(word) % 2 for word in lexer if word):
            return []  # it leaves something running in the background
    except ValueError:
        return []
    found = []
    for step in split_steps(plain):
        while step and step[0] in WRAPPERS:
            step = step[1:]
            while step and (step[0].startswith("-") or DURATION.fullmatch(step[0])):
                step = step[1:]
        if not step or re.search(r"\s", step[0]):
            return []
        found.append(step)
    return found


def has_no_subcommands(command: str) -> bool:
    """Return whether a command contains no nested commands."""
    return not any(sign in command for sign in ("`", "$(", "("))


def iter_denied_steps(command: str) -> Iterator[list[str]]:
    """Yield every step that a command may run, each also without what comes before it."""
    waiting, seen = [command], set[str]()
    while waiting and len(seen) < MAX_TEXTS:
        text = waiting.pop()
        if text in seen:
            continue
        seen.add(text)
        steps = split_steps(text)
        for part in SEPARATORS.split(text):
            try:
                steps.append(shlex.split(part))
            except ValueError:
                steps.append(part.split())
        for step in steps:
            while step:
                yield step
                name = Path(step[0]).name
                if name in SHELLS:
                    waiting += step[1:]
                if name == "find":
                    ends = [at for at, word in enumerate(step) if "exec" in word]
                    waiting += [" ".join(step[at + 1 :]) for at in ends]
                if name != step[0]:
                    yield [name, *step[1:]]
                if name not in PREFIX_PROGRAMS and not ASSIGNMENT.match(step[0]):
                    break
                step = step[1:]
                while step and (step[0].startswith("-") or DURATION.fullmatch(step[0])):
                    yield from (step[1:], step[2:])  # an option may have an argument, or none
                    step = step[1:]


def iter_files_touched(command: str) -> Iterator[tuple[str, bool]]:
    """Yield the file names in a command, each with whether the file would be changed."""
    for step in iter_denied_steps(command):
        name = Path(step[0]).name if step else ""
        sent = ""
        for word in step[1:]:
            found = REDIRECT.match(word)
            rest = word[found.end() :] if found else word
            sent = found[2] if found else sent
            if rest and not rest.startswith("-"):
                is_written = name in WRITING_PROGRAMS or sent.startswith(">")
                if sent or is_written or name in READING_PROGRAMS:
                    yield rest, is_written
                sent = ""


SAFE_PROGRAMS = frozenset(
    """
    [ basename cat cmp column comm cut df diff dirname du echo egrep expr false fgrep fold grep head
    id ls md5sum nl od paste printf pwd readlink realpath rev rg seq sha256sum sleep sort stat
    strings tac tail test tr true uname uniq uptime wc which whoami
    """.split()
)
EXPANSION_CHARACTERS = frozenset("$*?{}~!")
"""Characters that make the shell expand a word."""
UNSAFE_OPTIONS = (
    *("--pre", "--hostname-bin", "--compress-program", "--files0-from", "--check"),
    *("--dereference-recursive", "--recursive", "--output", "--follow"),
)
"""Options, also abbreviated, that run a program, write a file, or read unnamed files."""
UNSAFE_SHORT_OPTIONS = {"sort": "o", "printf": "v", "grep": "R", "rg": "L", "diff": "r"}
UNSAFE_SHORT_OPTIONS |= {"egrep": "R", "fgrep": "R", "md5sum": "c", "sha256sum": "c"}
"""The same in one letter, alone or among others."""


def is_safe_command(command: str, place: Workplace) -> bool:
    """Return whether a command only reads files of the workspace."""
    if not is_read_only(command) or not place.contains(place.cwd.resolve()):
        return False
    for program, *words in split_steps(command):
        # after `--` a word that looks like an option may be a file that is written
        if program not in SAFE_PROGRAMS or "--" in words:
            return False
        unsafe_letters = {*UNSAFE_SHORT_OPTIONS.get(program, "")}
        for word in words:
            option = word.partition("=")[0]
            if EXPANSION_CHARACTERS & {*word} or (word not in "[]" and "[" in word):
                return False
            if word.startswith("-") and "/" in word:
                return False
            if word.startswith("--"):
                if any(
                    name.startswith(option) or option.startswith(name) for name in UNSAFE_OPTIONS
                ):
                    return False
            elif word.startswith("-"):
                if unsafe_letters & {*word}:
                    return False
            elif not place.contains((place.cwd / word).resolve()):
                return False
    return True
