"""Shell commands to their steps as rules see them: what is allowed and what is forbidden.

Allowed is a command each step of which is named, as it stands or behind something that only
waits or counts. Forbidden is one of which any step may be meant, whatever stands before it.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from plait.agent.tools.commands import AWAY, NO_FILE, steps

ANY = ":*"
INNER = re.compile(r"[;&|\n`(){}]|\$\(")
ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
SENT = re.compile(r"^(\d*|&)(<{1,3}|>{1,2}\|?)&?")
WAITING = frozenset(("timeout", "nohup", "time", "nice", "stdbuf"))
"""Programs that run another, which changes nothing about what it may do."""
LEADING = WAITING | frozenset(
    """
    ! { builtin busybox chroot command do doas elif else env exec fi flock if ionice nsenter
    parallel setsid strace sudo then until watch while xargs
    """.split()
)
"""What stands before a program that is run all the same."""
SHELLS = frozenset("ash bash dash eval fish ksh sh zsh".split())
MOST_TEXTS = 200
READERS = frozenset(
    """
    . awk base64 bat cat cmp column comm cp cut dd diff du egrep fgrep file fold gawk grep gunzip
    gzip head hexdump jq less ln ls md5sum more mv nl od paste readlink rev rg rsync scp sed sha1sum
    sha256sum sort source split stat strings tac tail tar tee test tree uniq vi vim wc xxd yq zcat
    zip [
    """.split()
)
WRITERS = frozenset(
    """
    chgrp chmod chown cp dd install ln mkdir mv patch rm rmdir rsync sed shred split tee touch
    truncate unlink
    """.split()
)


def names_command(words: str, command: str) -> bool:
    """Tells whether the words of a rule name a command: all of it, its beginning, or a pattern."""
    for ending in (ANY, " *"):
        if words.endswith(ending) and "*" not in words.removesuffix(ending):
            begun = words.removesuffix(ending)
            return command == begun or command.startswith(f"{begun} ")
    if "*" not in words:
        return command == words
    pieces = map(re.escape, words.split("*"))
    return re.fullmatch(".*".join(pieces), command, re.DOTALL) is not None


def allowed_steps(command: str) -> list[list[str]]:
    """Returns the steps that have to be allowed, none where they cannot be told apart."""
    plain = NO_FILE.sub("", command)
    if any(sign in plain for sign in AWAY) or _goes_on_alone(plain):
        return []
    found = [_bare(step) for step in steps(plain)]
    is_clear = all(step and not re.search(r"\s", step[0]) for step in found)
    return found if is_clear else []


def _goes_on_alone(command: str) -> bool:
    """Tells whether something is left running: it would go on when nobody looks any more."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="&")
        lexer.whitespace_split, lexer.commenters = True, ""
        return any(word.strip("&") == "" and len(word) % 2 for word in lexer if word)
    except ValueError:
        return True


def _bare(step: list[str]) -> list[str]:
    """Returns a step without what only waits for it, or counts."""
    while step and step[0] in WAITING:
        step = step[1:]
        while step and (step[0].startswith("-") or DURATION.fullmatch(step[0])):
            step = step[1:]
    return step


def is_plain(command: str) -> bool:
    """Tells whether a command has no other commands within its words."""
    return not any(sign in command for sign in ("`", "$(", "("))


def forbidden_steps(command: str) -> Iterator[list[str]]:
    """Yields every step of a command that may be meant, each also without what stands before it."""
    waiting, seen = [command], set[str]()
    while waiting and len(seen) < MOST_TEXTS:
        text = waiting.pop()
        if text in seen:
            continue
        seen.add(text)
        for step in [*steps(text), *map(_words, INNER.split(text))]:
            yield from _without_lead(step, waiting)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _without_lead(step: list[str], waiting: list[str]) -> Iterator[list[str]]:
    while step:
        yield step
        name = Path(step[0]).name
        if name in SHELLS:
            waiting += step[1:]
        if name == "find":
            waiting += [" ".join(step[at + 1 :]) for at, word in enumerate(step) if "exec" in word]
        if name != step[0]:
            yield [name, *step[1:]]
        if name not in LEADING and not ASSIGNED.match(step[0]):
            return
        step = step[1:]
        while step and (step[0].startswith("-") or DURATION.fullmatch(step[0])):
            yield from (step[1:], step[2:])  # an option may have an argument, or none
            step = step[1:]


def files_touched(command: str) -> Iterator[tuple[str, bool]]:
    """Yields the words of a command that name files which it would touch, and whether to change."""
    for step in forbidden_steps(command):
        name = Path(step[0]).name if step else ""
        sent = ""
        for word in step[1:]:
            found = SENT.match(word)
            rest = word[found.end() :] if found else word
            sent = found[2] if found else sent
            if rest and not rest.startswith("-"):
                is_written = name in WRITERS or sent.startswith(">")
                if sent or is_written or name in READERS:
                    yield rest, is_written
                sent = ""
