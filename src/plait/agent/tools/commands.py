"""A shell command to what can be told by its words: what its exit code means, whether it speaks."""

import re
import shlex

SILENT = frozenset("cd chgrp chmod chown cp export ln mkdir mv rm rmdir touch unset wait".split())
MEANINGS = {
    "grep": "No matches found",
    "egrep": "No matches found",
    "fgrep": "No matches found",
    "rg": "No matches found",
    "diff": "Files differ",
    "find": "Some directories were inaccessible",
    "test": "Condition is false",
    "[": "Condition is false",
}

LOOKING = frozenset(
    """
    [ basename cat cmp column comm cut date df diff dirname du echo egrep expr false fgrep file
    fold grep head id jq ls md5sum nl od paste printf ps pwd readlink realpath rev rg seq
    sha256sum sleep sort stat strings tac tail test tr true uname uniq uptime wc which whoami
    """.split()
)
"""Programs that change nothing, whatever they are told."""
LOOKING_GIT = frozenset("blame describe diff log ls-files rev-parse shortlog show status".split())
NO_FILE = re.compile(r"(?:2>&1|[12&]?>\s*/dev/null)(?![^\s;&|])")
AWAY = ("<", ">", "`", "$(")
"""What may send words elsewhere, or run something else."""


def steps(command: str) -> list[list[str]]:
    """Returns the words of each step of a command; none where it cannot be split."""
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
    """Tells whether a command says nothing when all goes well."""
    parts = steps(command)
    return bool(parts) and all(step[0] in SILENT for step in parts)


def meaning_of(command: str, code: int) -> str | None:
    """Returns what an exit code means that is no failure; None where it says nothing."""
    parts = steps(command)
    return MEANINGS.get(parts[-1][0]) if code == 1 and parts else None


def waits_only(command: str) -> bool:
    """Tells whether a command begins by waiting: it need not go on in the background."""
    parts = steps(command)
    return bool(parts) and parts[0][0] == "sleep"


def only_looks(command: str) -> bool:
    """Tells whether a command changes nothing, as far as its words tell: others may run beside it.

    This is no leave to run it: whoever asks for leave decides on the command itself.
    """
    plain = NO_FILE.sub("", command)
    parts = steps(plain)
    return bool(parts) and not any(sign in plain for sign in AWAY) and all(map(_looks, parts))


def _looks(step: list[str]) -> bool:
    program, *words = step
    if program == "git":
        return bool(words) and words[0] in LOOKING_GIT and not _writes("--output", words)
    if program == "uniq" and ("--" in words or sum(word[:1] != "-" for word in words) > 1):
        return False
    if program == "printf" and any(word.startswith("-v") for word in words):
        return False
    return program in LOOKING and not (program == "sort" and any(map(_sends_away, words)))


def _sends_away(word: str) -> bool:
    """Tells whether an option of `sort` names a file or a program, be it cut short."""
    name = word.partition("=")[0]
    if name.startswith("--"):
        return any(one.startswith(name) for one in ("--output", "--compress-program"))
    return name.startswith("-") and "o" in name


def _writes(option: str, words: list[str]) -> bool:
    return any(word.startswith(option) for word in words)
