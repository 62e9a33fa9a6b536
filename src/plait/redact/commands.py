"""Command lines to the secrets in them: arguments, stdin, here-strings and answers to a prompt.

Quotes may be escaped any number of times, and a line may end with a written `\\n`, because logs
hold commands in JSON in JSON.
"""

import re
from collections.abc import Iterator
from functools import cache

from plait.redact.look_alikes import (
    NOTHING,
    PASSWORDS,
    PIECE,
    TECHNICAL,
    is_at_word_start,
    is_chosen,
    is_dotted_name,
    is_mixed,
    is_passphrase,
    is_placeholder,
    is_plain_word,
    is_random,
    is_reference,
)
from plait.redact.model import Family, TextSpan
from plait.redact.nouns import QUOTE
from plait.redact.programs import Program, names, programs

WORD = re.compile(
    rb"""[ \t]*((?:\\{0,7}"[^"\n]{0,400}?"|\\{0,7}'[^'\n]{0,400}?'|\\{1,7}[^\s\\nr"']|[^\s"'`|;&()<>\\]"""
    rb"""|\\{1,7}[nr](?=[A-Za-z0-9$-]*\\))+)"""
)
REDIRECTED = re.compile(rb"[ \t]*[0-9]?(?:>>?|<)&?[ \t]*[^\s|;&<>]+")
HERE = re.compile(rb"[ \t]*<<<[ \t]*")
CONTINUED = re.compile(rb"[ \t]*\\{1,2}\r?\n[ \t]*[+>|]?|[ \t]*\\{2,8}n[ \t]+(?=-)")
LINES = re.compile(rb"[ \t]*<<-?[ \t]*\\{0,7}[\"']?([A-Za-z_]+)\\{0,7}[\"']?")
LOGIN_LINE = re.compile(rb"(?:\n|\\{1,7}n)[ \t]*[A-Za-z0-9_.-]{1,40}:([^\s\"'\\:]{4,80})")
FLAG = re.compile(rb"-{1,2}[A-Za-z]")
OPENING = re.compile(rb"\\{0,7}[\"']")
CLOSING = re.compile(rb"\\{0,7}[\"']?[,.]?\Z")
FLAG_SECRETS = frozenset(
    b"""password passwd passphrase pass pwd pw secret token apikey credential credentials creds auth
    bearer jwt pin psk storepass keypass authkey authtoken cookie passcode accesskey secretkey
    """.split()
) | frozenset((b"login",))
MOST_WORDS = 40
BACK = 400


def is_given(value: bytes) -> bool:
    """Tells whether a program was given a secret rather than a word for one."""
    if len(value) < 5 or is_placeholder(value) or is_reference(value) or is_plain_word(value):
        return False
    if _is_path(value) or is_dotted_name(value):
        return False
    if is_passphrase(value):
        return True
    return is_random(value) or is_chosen(value) or (is_mixed(value) and not TECHNICAL.search(value))


def _is_path(value: bytes) -> bool:
    return b"/" in value and not is_random(value.replace(b"/", b""))


def _unquoted(text: bytes, span: TextSpan) -> TextSpan:
    opening = OPENING.match(text, span.start, span.end)
    start = opening.end() if opening else span.start
    closing = CLOSING.search(text, start, span.end) if opening else None
    return TextSpan(start, closing.start() if closing else span.end)


def _words(text: bytes, place: int) -> Iterator[TextSpan]:
    """Yields the words of a command up to its end; redirections are passed over."""
    for _ in range(MOST_WORDS):
        while more := REDIRECTED.match(text, place) or CONTINUED.match(text, place):
            place = more.end()
        word = WORD.match(text, place)
        if word is None:
            return
        yield TextSpan(*word.span(1))
        place = word.end()


def _command(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what the facts about a program say is secret among its arguments."""
    if not is_at_word_start(text, match.start) or text[match.start - 1 : match.start] in (
        b"-",
        b".",
    ):
        return NOTHING
    words = list(_words(text, match.start))
    if not words:
        return NOTHING
    first = text[slice(*words[0])].removesuffix(b".exe").removesuffix(b".sh")
    known = programs()
    second = text[slice(*words[1])] if len(words) > 1 else b""
    found: list[TextSpan] = []
    for name in (first, first + b" " + second):
        if program := known.get(name):
            found += _arguments(text, words[1 + name.count(b" ") :], program)
            found += _stdin(text, words[-1].end, program)
    return tuple(dict.fromkeys(span for span in found if is_given(text[slice(*span)])))


def _arguments(text: bytes, words: list[TextSpan], program: Program) -> Iterator[TextSpan]:
    position, told = 0, 0
    is_named = False
    for number, word in enumerate(words):
        written = text[word.start : word.end]
        if is_named and written[:1] != b"-":
            is_named = program.is_key and _is_first_of_login(written)
            yield _unquoted(text, word)
            continue
        if written[:1] in (b"-", b"/") or written.endswith(b"="):
            told = program.told_by.get(written, told)
            yield from _flag(text, words, number, program)
            continue
        position += 1
        bare = text[slice(*_unquoted(text, word))]
        if position in program.positions or position == told:
            yield _unquoted(text, word)
        if program.is_path and (path := re.search(rb"/([^/@\s]+)@", written + b"@")):
            yield _unquoted(text, TextSpan(word.start + path.start(1), word.start + path.end(1)))
        if bare in program.words:
            is_named = True
        elif program.is_key and (is_name_of_secret(bare) or bare in NAMES_OF_LOGINS):
            is_named = b"=" not in bare


NAMES_OF_LOGINS = frozenset((b"http-basic", b"key"))


def _is_first_of_login(word: bytes) -> bool:
    return len(word) < 16 and not is_random(word) and not is_mixed(word)


def _flag(text: bytes, words: list[TextSpan], number: int, program: Program) -> Iterator[TextSpan]:
    word = words[number]
    written = text[word.start : word.end]
    for flag, sign in program.flags.items():
        if written == flag and sign != b"+" and number + 1 < len(words):
            yield from _part(text, words[number + 1], sign)
        elif written.startswith(flag) and len(written) > len(flag):
            start = word.start + len(flag)
            behind = text[start : start + 1]
            if behind in (b"=", b":") or len(flag) == 2 or sign == b"+":
                yield from _part(text, TextSpan(start + (behind in (b"=", b":")), word.end), sign)


def _part(text: bytes, word: TextSpan, sign: bytes) -> Iterator[TextSpan]:
    bare = _unquoted(text, word)
    if sign in (b"", b"+"):
        yield bare
        return
    place = text.find(sign, bare.start, bare.end)
    if place >= 0:
        yield _unquoted(text, TextSpan(place + 1, bare.end))


def _stdin(text: bytes, place: int, program: Program) -> Iterator[TextSpan]:
    here = HERE.match(text, place)
    if here and program.stdin and (word := WORD.match(text, here.end())):
        bare = _unquoted(text, TextSpan(*word.span(1)))
        yield from _lines_of(text, bare, program.stdin)
    lines = LINES.match(text, place)
    if lines and program.stdin == b"<:":
        end = text.find(lines[1], lines.end(), lines.end() + 2000)
        for line in LOGIN_LINE.finditer(text, lines.end(), max(end, lines.end())):
            yield TextSpan(*line.span(1))


def _lines_of(text: bytes, bare: TextSpan, stdin: bytes) -> Iterator[TextSpan]:
    """Yields the secrets of what is written to a program: lines, with a name or without."""
    for line in re.finditer(rb"[^\n\\]+(?:\\(?![nr])[^\n\\]*)*", text[bare.start : bare.end]):
        start, end = bare.start + line.start(), bare.start + line.end()
        start += text[start - 1 : start] == b"\\" and text[start : start + 1] in (b"n", b"r")
        colon = text.find(b":", start, end) if stdin == b"<:" else -1
        yield TextSpan(colon + 1 if colon >= 0 else start, end)


WRITES = re.compile(
    rb"(?:echo|printf|print|Write-Output|Write-Host)((?:[ \t]+-[a-zA-Z]+)*)[ \t]+([^|;&\n]*?)[ \t]*\Z"
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
    wrote = WRITES.search(text, _last_command(text, line, start), start)
    if wrote is None or not RECEIVES.search(text, start, match.end + 60):
        return NOTHING
    stdin = b"<:" if b"chpasswd" in text[start : match.end + 20] else b"<"
    found = []
    for word in _words(text, wrote.start(2)):
        if word.start >= wrote.end(2):
            break
        bare = _unquoted(text, word)
        found += [one for one in _lines_of(text, bare, stdin) if is_given(text[slice(*one)])]
    return tuple(found[-1:])


def line_start(text: bytes, place: int) -> int:
    """Returns where the line of a place begins, really or as it is written in JSON."""
    first = max(0, place - BACK)
    written = text.rfind(b"\\n", first, place)
    return max(text.rfind(b"\n", first, place) + 1, written + 2 if written >= 0 else 0, first)


def _last_command(text: bytes, line: int, end: int) -> int:
    return max(line, *(text.rfind(sign, line, end) + 1 for sign in (b";", b"&", b"(", b"`")))


def _here(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a here-string of a command that speaks of secrets."""
    before = text[max(0, match.start - 120) : match.start].rpartition(b"\n")[2]
    word = WORD.match(text, match.end)
    if word is None or not RECEIVES.search(before):
        return NOTHING
    bare = _unquoted(text, TextSpan(*word.span(1)))
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


@cache
def is_name_of_secret(name: bytes) -> bool:
    """Tells whether a name of a setting says that its value is secret."""
    from plait.redact.settings import is_secret_key

    return is_secret_key(name) and bool(
        SECRET_WORDS & {word.lower() for word in PIECE.findall(name)}
        or re.search(rb"(?i)passw|secret|token|api_?key|credential", name)
    )


SECRET_WORDS = PASSWORDS | FLAG_SECRETS | {b"key", b"keys"}


def _flagged(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the value of a flag whose name says that it is secret."""
    flag = text[match.start : value.start]
    name = re.split(rb"[ \t=:\"'`\\]", flag.lstrip(b" \t\"'`-/"), maxsplit=1)[0]
    words = [word.lower() for word in PIECE.findall(name)]
    if not words or not is_name_of_secret(name):
        return NOTHING
    span = _unquoted(text, value)
    found = text[span.start : span.end]
    name_and = re.match(rb"[A-Za-z0-9_.@-]{1,40}:", found)
    if name_and and words[-1] in (b"auth", b"credentials", b"creds", b"login", b"user", b"basic"):
        span = TextSpan(span.start + name_and.end(), span.end)
        found = text[span.start : span.end]
    elif words[-1] in (b"pass", b"passin", b"passout") and found.startswith(b"pass:"):
        span = TextSpan(span.start + 5, span.end)
        found = text[span.start : span.end]
    if text[span.end : span.end + 1] == b"(" or (words[-1] == b"key" and not is_random(found)):
        return NOTHING
    return (span,) if is_given(found) else NOTHING


def _substituted(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what a program reads from a file that a command writes."""
    if not RECEIVES.search(text, max(0, match.start - 80), match.start):
        return NOTHING
    bare = _unquoted(text, value)
    return tuple(one for one in _lines_of(text, bare, b"<") if is_given(text[slice(*one)]))[-1:]


STORE = re.compile(rb"(?:redis|valkey|keydb|:6379)[^\n]{0,40}> ?\Z|(?:\A|\n|\\n|\")\+?\Z")


def _asked_store(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what logs in to a store of keys, at its prompt or at the beginning of a line."""
    is_asked = STORE.search(text, max(0, match.start - 60), match.start) is not None
    is_loud = text[match.start : match.start + 4] == b"AUTH"
    return _answer(text, match, value) if is_asked and is_loud else NOTHING


def _alone(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return _answer(text, match, value) if is_at_word_start(text, match.start) else NOTHING


def _answer(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    span = _unquoted(text, value)
    return (span,) if is_given(text[span.start : span.end]) else NOTHING


def _pair(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the password behind a name and a colon."""
    return tuple(one for one in _part(text, value, b":") if is_given(text[slice(*one)]))


def _spelled(name: str) -> str:
    return re.escape(name).replace(r"\ ", r"[ \t]+")


FLAG_NOUNS = (
    "password|passwd|passphrase|passcode|pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|auth"
    "|private[_-]?key|secret[_-]?key|credentials?|creds|bearer|jwt|pin|psk|storepass|keypass|cookie"
    "|authkey|authtoken|encryption[_-]?key|signing[_-]?key|master[_-]?key|license[_-]?key|account[_-]?key"
    "|account-key|login|Password|Token|ApiKey|Secret|Pass|Pwd|Key"
)
VALUE = (
    r"""(?:\\{0,7}"[^"\x00-\x1f]{3,}"|\\{0,7}'[^'\x00-\x1f]{3,}'"""
    r"""|[^\x00-\x20"'`\\<>()|;&-][^\x00-\x20"'`\\<>()|;&]{3,})"""
)
LONG_FLAG = (
    rf"(?:--?|[ \t]/)(?:[A-Za-z0-9]+[-_.:])*(?:{FLAG_NOUNS})(?:[-_][a-z0-9]+)*"
    rf"(?:[ \t]{{1,4}}|[=:][ \t]?)(?P<v>{VALUE})"
)
FLAG_TRIGGER = (
    rf"(?:--?|[ \t]/)(?:[A-Za-z0-9]+[-_.:])*(?:{FLAG_NOUNS})(?:[-_][a-z0-9]+)*[ \t=:][^\x00-\x20-]"
)
PIPED = (
    r"\|[ \t]*(?:sudo|su|doas|kinit|chpasswd|passwd|smbpasswd|cryptsetup|htpasswd|openconnect|docker"
    r"|podman|gh|glab|wrangler|gcloud|vault|pass|secret-tool|fly|flyctl|vercel|heroku|kubectl|npm|aws"
    r"|az|security|op|doppler|supabase|mysql_config_editor|gpg|openssl|ssh-add|ansible-vault|argocd)[ \t\n\\\"']"
    r"|\|[ \t]*(?:sudo[ \t]+)?(?:chpasswd|passwd|smbpasswd)"
    r"|--password-stdin|--with-token|--passwd-on-stdin|--passphrase-fd|--data-file=-|--stdin[ \t\n]"
)
COMMANDS: tuple[Family, ...] = (
    Family("piped", "password of a command", PIPED, _piped),
    Family(
        "substituted",
        "password of a command",
        rf"<\((?:echo|printf)(?:[ \t]+-[a-z]+)*[ \t]+(?P<v>{VALUE})",
        _substituted,
    ),
    Family(
        "named-set",
        "password of a command",
        r"(?:secrets?[ :](?:set|put|create|import)|config:set|env:set|set-env)[ \t]+(?:-[^\x00-\x20]+[ \t]+)*"
        rf"[A-Za-z0-9_]+=(?P<v>{VALUE})",
        _answer,
    ),
    Family(
        "store-login",
        "password of a command",
        rf"(?:AUTH|auth)(?:[ \t]+default)?[ \t]+(?P<v>{VALUE})",
        _asked_store,
    ),
    Family("pass", "password of a command", rf"PASS=(?P<v>{VALUE})", _alone),
    Family("here", "password of a command", r"<<<[ \t]*", _here),
    Family(
        "answer",
        "password of a command",
        rf"send(?:line|_keys|Keys)?(?:[ \t]+--)?(?:[ \t]+|\()(?:{QUOTE})(?P<v>[^\x00-\x1f\"'`]{{4,100}})",
        _answered,
    ),
    Family("flag", "password of a command", LONG_FLAG, _flagged, trigger=FLAG_TRIGGER),
    Family(
        "secure-string",
        "password of a command",
        rf"ConvertTo-SecureString(?:[ \t]+-String)?[ \t]+(?P<v>{VALUE})",
        _answer,
    ),
    Family(
        "pair",
        "password of a command",
        rf"[ \t](?:-u|-U|-a|-auth|--user|--auth|--proxy-user|--http-user|--creds|--basic)[ =](?P<v>{VALUE})",
        _pair,
        trigger=r"[ \t](?:-u|-U|-a|-auth|--user|--auth|--proxy-user|--http-user|--creds|--basic)[ =][^\x00-\x20:]+:[^\x00-\x20]",
    ),
    Family(
        "command",
        "password of a command",
        rf"(?:{'|'.join(map(_spelled, names()))})(?:\.exe|\.sh)?[ \t]",
        _command,
        is_many=True,
    ),
)
