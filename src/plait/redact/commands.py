"""Command lines to the secrets among their arguments, by program and by the name of the flag."""

import re
from collections.abc import Iterator
from functools import cache

from plait.redact.inputs import stdin_of
from plait.redact.look_alikes import (
    CODES,
    NOTHING,
    PASSWORDS,
    is_at_word_start,
)
from plait.redact.model import Family, TextSpan
from plait.redact.people import SOFTWARE
from plait.redact.programs import Program, names, programs
from plait.redact.shell import BACK, VALUE, is_given, line_start, unquoted, words_of
from plait.redact.strength import (
    PIECE,
    is_mixed,
    is_random,
)

FLAG_SECRETS = frozenset(
    b"""password passwd passphrase pass pwd pw secret token apikey credential credentials creds auth
    bearer jwt pin psk storepass keypass authkey authtoken cookie passcode accesskey secretkey
    """.split()
) | frozenset((b"login",))


def _command(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what the facts about a program say is secret among its arguments."""
    if not is_at_word_start(text, match.start) or text[match.start - 1 : match.start] in (
        b"-",
        b".",
    ):
        return NOTHING
    words = list(_words_once(text, match.start))
    if not words:
        return NOTHING
    first = text[slice(*words[0])].removesuffix(b".exe").removesuffix(b".sh")
    known = programs()
    second = text[slice(*words[1])] if len(words) > 1 else b""
    found: list[TextSpan] = []
    for name in (first, first + b" " + second):
        if program := known.get(name):
            found += _arguments(text, words[1 + name.count(b" ") :], program)
            found += stdin_of(text, words[-1].end, program)
    return tuple(dict.fromkeys(span for span in found if is_given(text[slice(*span)])))


def _command_behind(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the same where the program stands right behind the code of a sign."""
    return _command(text, value, value)


def _words_once(text: bytes, place: int) -> Iterator[TextSpan]:
    """Yields the words of a command up to where the same program is named again."""
    program = b""
    for word in words_of(text, place):
        written = text[word.start : word.end]
        if written == program:
            return
        program = program or written
        yield word


def _arguments(text: bytes, words: list[TextSpan], program: Program) -> Iterator[TextSpan]:
    position, told = 0, 0
    is_named = False
    for number, word in enumerate(words):
        written = text[word.start : word.end]
        if is_named and written[:1] != b"-":
            is_named = program.is_key and _is_first_of_login(written)
            yield unquoted(text, word)
            continue
        if written[:1] in (b"-", b"/") or written.endswith(b"="):
            told = program.told_by.get(written, told)
            yield from _flag(text, words, number, program)
            continue
        position += 1
        bare = text[slice(*unquoted(text, word))]
        if position in program.positions or position == told:
            yield unquoted(text, word)
        if program.is_path and (path := re.search(rb"/([^/@\s]+)@", written + b"@")):
            yield unquoted(text, TextSpan(word.start + path.start(1), word.start + path.end(1)))
        if bare in program.words:
            is_named = True
        elif program.is_key and (is_name_of_secret(bare) or NAME_OF_LOGIN.match(bare)):
            is_named = b"=" not in bare


NAME_OF_LOGIN = re.compile(
    rb"(?:http-basic|github-oauth|gitlab-oauth|gitlab-token|bearer)(?:\.|\Z)|key\Z"
)


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
    bare = unquoted(text, word)
    if sign in (b"", b"+"):
        yield bare
        return
    place = text.find(sign, bare.start, bare.end)
    if place >= 0:
        yield unquoted(text, TextSpan(place + 1, bare.end))


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
    span = unquoted(text, value)
    found = text[span.start : span.end]
    name_and = re.match(rb"[A-Za-z0-9_.@-]{1,40}:", found)
    if name_and and words[-1] in (b"auth", b"credentials", b"creds", b"login", b"user", b"basic"):
        span = TextSpan(span.start + name_and.end(), span.end)
        found = text[span.start : span.end]
    elif words[-1] in (b"pass", b"passin", b"passout") and found.startswith(b"pass:"):
        span = TextSpan(span.start + 5, span.end)
        found = text[span.start : span.end]
    if text[span.end : span.end + 1] == b"(" or (words == [b"key"] and not is_random(found)):
        return NOTHING
    return (span,) if is_given(found) else NOTHING


USER_FLAG = re.compile(
    rb"[ \t](?:(?:-u|-U|-l|-login|-user|-username|--user|--username|--login)(?:[ =]|(?=[A-Za-z]))|/u(?:ser)?:)"
    rb"([A-Za-z0-9_.@\\-]+)"
)


def _beside_user(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what `-p` gives to any program that is told a user too."""
    line = line_start(text, match.start)
    end = min(
        (p for p in (text.find(sign, match.end) for sign in (b"\n", b"\0")) if p > 0),
        default=len(text),
    )
    users = (found for found in USER_FLAG.finditer(text, line, min(end, match.end + BACK)))
    is_told = any(found[1][:1] != b"-" and not SOFTWARE.search(found[1]) for found in users)
    return _answer(text, match, value) if is_told else NOTHING


STORE = re.compile(rb"(?:redis|valkey|keydb|:6379)[^\n]{0,40}> ?\Z|(?:\A|[\n\x00\x1f]|\\n|\")\+?\Z")


def _asked_store(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what logs in to a store of keys, at its prompt or at the beginning of a line."""
    is_asked = STORE.search(text, max(0, match.start - 60), match.start) is not None
    is_loud = text[match.start : match.start + 4] == b"AUTH"
    return _answer(text, match, value) if is_asked and is_loud else NOTHING


def _alone(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return _answer(text, match, value) if is_at_word_start(text, match.start) else NOTHING


def _answer(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    span = unquoted(text, value)
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
    "|account-key|login|requirepass|masterauth|otp|Password|Token|ApiKey|Secret|Pass|Pwd|Key"
)
LONG_FLAG = (
    rf"(?:--?|[ \t]/)(?:[A-Za-z0-9]+[-_.:])*(?:{FLAG_NOUNS})(?:[-_][a-z0-9]+)*"
    rf"(?:[ \t]{{1,4}}|[=:][ \t]?)(?P<v>{VALUE})"
)
FLAG_TRIGGER = (
    rf"(?:--?|[ \t]/)(?:[A-Za-z0-9]+[-_.:])*(?:{FLAG_NOUNS})(?:[-_][a-z0-9]+)*[ \t=:][^\x00-\x20-]"
)
PROGRAM = rf"(?:{'|'.join(map(_spelled, names()))})(?:\.exe|\.sh)?[ \t]"
COMMANDS: tuple[Family, ...] = (
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
    Family("flag", "password of a command", LONG_FLAG, _flagged, trigger=FLAG_TRIGGER),
    Family(
        "secure-string",
        "password of a command",
        rf"ConvertTo-SecureString(?:[ \t]+-String)?[ \t]+(?P<v>{VALUE})",
        _answer,
    ),
    Family(
        "beside-user",
        "password of a command",
        rf"[ \t](?:(?:-p|-P|-w|-pw|-pass)[ =]|-p(?=['\"])|/p(?:ass)?:)(?P<v>{VALUE})",
        _beside_user,
        trigger=r"[ \t](?:(?:-p|-P|-w|-pw|-pass)[ =]|-p['\"\\]|/p(?:ass)?:)[^\x00-\x20-]",
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
        PROGRAM,
        _command,
        is_many=True,
        trigger=rf"\b{PROGRAM}",
    ),
    Family(
        "command-behind-code",
        "password of a command",
        rf"(?:\\[nrtbf]|{CODES})(?P<v>{PROGRAM})",
        _command_behind,
        is_many=True,
    ),
)
