"""A shell command to what can be told by its words: what its exit code means, whether it speaks."""

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
