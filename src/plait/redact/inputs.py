"""What is written to a program to the secrets in it: pipes, here-strings, lines, answers."""

import re
from collections.abc import Iterator
from itertools import islice

from plait.redact.look_alikes import NOTHING
from plait.redact.model import Family, TextSpan
from plait.redact.nouns import QUOTE
from plait.redact.programs import Program
from plait.redact.shell import (
    BACK,
    VALUE,
    WORD,
    is_given,
    last_command,
    line_start,
    unquoted,
    words_of,
)

HERE = re.compile(rb"[ \t]*<<<[ \t]*")
LINES = re.compile(rb"[ \t]*<<-?[ \t]*\\{0,7}[\"']?([A-Za-z_]+)\\{0,7}[\"']?")
LOGIN_LINE = re.compile(rb"(?:\n|\\{1,7}n)[ \t]*[A-Za-z0-9_.-]{1,40}:([^\x00-\x20\"'\\:]{4,80})")
LINE = re.compile(rb"(?:\n|\\{1,7}n)[ \t+>]*([^\x00-\x20\"'\\]{4,200})")
MOST_LINES = 20


def stdin_of(text: bytes, place: int, program: Program) -> Iterator[TextSpan]:
    """Yields the secrets that a program reads from what stands behind its arguments."""
    here = HERE.match(text, place)
    if here and program.stdin and (word := WORD.match(text, here.end())):
        bare = unquoted(text, TextSpan(*word.span(1)))
        yield from _lines_of(text, bare, program.stdin)
    lines = LINES.match(text, place)
    if lines and program.stdin:
        end = text.find(lines[1], lines.end(), lines.end() + 2000)
        form = LOGIN_LINE if program.stdin == b"<:" else LINE
        for line in islice(form.finditer(text, lines.end(), max(end, lines.end())), MOST_LINES):
            yield TextSpan(*line.span(1))


def _lines_of(text: bytes, bare: TextSpan, stdin: bytes) -> Iterator[TextSpan]:
    """Yields the secrets of what is written to a program: lines, with a name or without."""
    for line in re.finditer(rb"[^\n\\]+(?:\\(?![nr])[^\n\\]*)*", text[bare.start : bare.end]):
        start, end = bare.start + line.start(), bare.start + line.end()
        start += text[start - 1 : start] == b"\\" and text[start : start + 1] in (b"n", b"r")
        colon = text.find(b":", start, end) if stdin == b"<:" else -1
        yield TextSpan(colon + 1 if colon >= 0 else start, end)


WRITES = re.compile(
    rb"(?:echo|printf|print|yes|Write-Output|Write-Host)((?:[ \t]+-[a-zA-Z]+)*)[ \t]+([^|;&\n]*?)[ \t]*\Z"
)
RECEIVES = re.compile(
    rb"(?i)passw|secret|token|credential|login|auth|\bsudo\b|\bsu\b|passphrase|stdin|cryptsetup|kinit"
    rb"|vault|unlock|keychain|smbpasswd|openconnect|private-key|pass insert"
)


def _piped(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what `echo` writes into a program that asks for a secret."""
    bar = text.rfind(b"|", max(0, match.start - 120), match.end)
    start = bar if bar >= 0 else match.start
    line = line_start(text, start)
    wrote = WRITES.search(text, last_command(text, line, start), start) or _written(text, start)
    if wrote is None or not RECEIVES.search(text, start, match.end + 60):
        return NOTHING
    stdin = b"<:" if b"chpasswd" in text[start : match.end + 20] else b"<"
    found = []
    for word in words_of(text, wrote.start(2)):
        if word.start >= wrote.end(2):
            break
        bare = unquoted(text, word)
        found += [one for one in _lines_of(text, bare, stdin) if is_given(text[slice(*one)])]
    return tuple(found[-1:])


def _written(text: bytes, bar: int) -> re.Match[bytes] | None:
    """Returns what was written last before a bar, where it holds line breaks as codes."""
    first = max(text.rfind(sign, max(0, bar - BACK), bar) for sign in (b"\n", b"\0"))
    place = max(text.rfind(name, max(first, 0), bar) for name in (b"echo ", b"printf ", b"yes "))
    return WRITES.match(text, place, bar) if place >= 0 else None


def _here(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a here-string of a command that speaks of secrets."""
    before = text[max(0, match.start - 120) : match.start].rpartition(b"\n")[2].rpartition(b"\0")[2]
    word = WORD.match(text, match.end)
    if word is None or not RECEIVES.search(before):
        return NOTHING
    bare = unquoted(text, TextSpan(*word.span(1)))
    stdin = b"<:" if b"chpasswd" in before else b"<"
    return tuple(one for one in _lines_of(text, bare, stdin) if is_given(text[slice(*one)]))[:1]


ASKED = re.compile(rb"(?i)passw|assword|passphrase|assphrase|\bpin\b|expect|token|secret")


def _answered(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what a script answers where a password is asked for."""
    if not ASKED.search(text, max(0, match.start - 200), match.start):
        return NOTHING
    found = text[value.start : value.end]
    end = value.end - len(found) + len(re.sub(rb"(?:\\+[rn])+\Z", b"", found))
    span = TextSpan(value.start, end)
    return (span,) if is_given(text[span.start : end]) else NOTHING


def _substituted(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what a program reads from a file that a command writes."""
    if not RECEIVES.search(text, max(0, match.start - 80), match.start):
        return NOTHING
    bare = unquoted(text, value)
    return tuple(one for one in _lines_of(text, bare, b"<") if is_given(text[slice(*one)]))[-1:]


PIPED = (
    r"\|[ \t]*(?:sudo|su|doas|kinit|chpasswd|passwd|smbpasswd|cryptsetup|htpasswd|openconnect|docker"
    r"|podman|gh|glab|wrangler|gcloud|vault|pass|secret-tool|fly|flyctl|vercel|heroku|kubectl|npm|aws"
    r"|az|security|op|doppler|supabase|mysql_config_editor|gpg|openssl|ssh-add|ansible-vault|argocd)[ \t\n\\\"']"
    r"|\|[ \t]*(?:sudo[ \t]+)?(?:chpasswd|passwd|smbpasswd)"
    r"|--password-stdin|--with-token|--passwd-on-stdin|--passphrase-fd|--data-file=-|--stdin[ \t\n]"
)
INPUTS: tuple[Family, ...] = (
    Family("piped", "password of a command", PIPED, _piped),
    Family(
        "substituted",
        "password of a command",
        rf"<\((?:echo|printf)(?:[ \t]+-[a-z]+)*[ \t]+(?P<v>{VALUE})",
        _substituted,
    ),
    Family("here", "password of a command", r"<<<[ \t]*", _here),
    Family(
        "answer",
        "password of a command",
        rf"send(?:line|_keys|Keys)?(?:[ \t]+--)?(?:[ \t]+|\()(?:{QUOTE})(?P<v>[^\x00-\x1f\"'`]{{4,100}})",
        _answered,
    ),
)
