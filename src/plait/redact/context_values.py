"""Matches that their surroundings make a secret to their values, or to nothing.

`password = getpass()`, `token: string` and `key=$KEY` look like secrets to an expression.
"""

import base64
import binascii
import re

from plait.redact.model import Span
from plait.redact.values import (
    DOTTED_NAME,
    NAME,
    is_mixed,
    is_placeholder,
    is_plain_word,
    is_random,
    is_reference,
    is_wordy,
)

NOTHING: tuple[Span, ...] = ()
KEY_BEFORE = re.compile(rb"[A-Za-z0-9_.\-]{1,64}\Z")
KEY = re.compile(rb"[A-Za-z0-9_.\-]+")
KEY_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
OPENING = re.compile(rb"[bfru]?\\{0,7}[\"'`]")
KEY_WORD = re.compile(rb"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
ESCAPED = re.compile(rb"\\[nrt]")
MOST_LETTERS = 2048
LEAST_SPOKEN = 10
CALLS = frozenset(b"([{<")

PASSWORDS = frozenset(
    b"password passwd passphrase pwd pw pass psw credential credentials requirepass".split()
)
# A key whose last word is one of these is about a secret, and holds none.
ABOUT = frozenset(
    b"""name names id ids type types url uri urls path paths file files filename dir field fields
    length len size count counts limit max min expiry expires expiration exp ttl age regex pattern
    policy policies prefix suffix header headers hint label env var variable ref arn endpoint usage
    summary parts display info response request provider manager store handler error errors event
    list format index position budget cost price rate window total used left class method function
    func fn param params arg args option options enabled required valid validation check status
    state mode strategy version scope scopes kind role level source config settings schema model
    input output message title description placeholder help mask rotation at on time timestamp date
    start end iterator stream host hosts port region domain email user username users group groups
    algorithm alg digest hash hashes fingerprint hex bits bytes chars strength score reset changed
    rules rule confirm confirmation mismatch plural s str parser stats chart table row column map
    panel view page button icon link text color colour width height style line lines
    block""".split()
)
# "Token" has other meanings than a key.
OTHER_TOKENS = frozenset(
    b"""next page continuation cancel cancellation stop eos bos pad unk sep cls special first last
    input output syntax current prev previous per string number identifier word lex lexer comment
    close open start end delimiter css design cache sync shift reduce max min total tok""".split()
)

OTHER_KEYS = frozenset(
    b"public primary foreign redis cache sort partition hot shortcut index group row query".split()
)


def assigned(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes the value of a setting whose key says that it is secret."""
    key = _key_around(text, match.start)
    words = [word.lower() for word in KEY_WORD.findall(key)]
    if not _is_secret_key(key, words):
        return NOTHING
    opening = OPENING.match(text, value.start)
    span = Span(opening.end(), value.end) if opening else _trimmed(text, value)
    if span.end - span.start > MOST_LETTERS:
        return NOTHING
    if PASSWORDS & set(words):
        is_secret = _is_password(text, match, span, is_quoted=bool(opening))
    else:
        is_secret = _is_key(text, match, span, is_quoted=bool(opening))
    return (span,) if is_secret else NOTHING


def spoken(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes what follows the word itself, as people write it, if chance made it."""
    opening = OPENING.match(text, value.start)
    span = Span(opening.end(), value.end) if opening else _trimmed(text, value)
    found = text[span.start : span.end]
    is_other = is_placeholder(found) or is_reference(found) or b" " in found
    return (span,) if len(found) >= LEAST_SPOKEN and not is_other and is_random(found) else NOTHING


def _key_around(text: bytes, start: int) -> bytes:
    start += text[start] not in KEY_LETTERS
    before = KEY_BEFORE.search(text, max(0, start - 64), start)
    behind = KEY.match(text, start)
    key = (before[0] if before else b"") + (behind[0] if behind else b"")
    first = start - len(before[0]) if before else start
    if ESCAPED.match(text, first - 1) and first:
        return key[1:]
    return key.strip(b"-.")


def _is_secret_key(key: bytes, words: list[bytes]) -> bool:
    while words and words[-1].isdigit():
        words = words[:-1]
    if not words or words[-1] in ABOUT or key in (b"PWD", b"OLDPWD"):
        return False
    if words[-1] == b"key" and len(words) > 1 and words[-2] in OTHER_KEYS:
        return False
    if b"token" in words:
        place = words.index(b"token")
        return not (place and words[place - 1] in OTHER_TOKENS) and words[-1] not in OTHER_TOKENS
    return True


def _trimmed(text: bytes, value: Span) -> Span:
    found = text[value.start : value.end]
    for stop in (b"&", b"#L", b"..."):
        found = found.partition(stop)[0]
    return Span(value.start, value.start + len(found.rstrip(b".:*?")))


def _is_password(text: bytes, match: Span, span: Span, *, is_quoted: bool) -> bool:
    value = text[span.start : span.end]
    if _is_out_of_question(text, span, value, is_quoted=is_quoted) or len(value) < 6:
        return False
    if is_quoted:
        return b" " not in value and (is_mixed(value) or is_random(value))
    if _is_in_environment(text, match, span):
        return not value.isalpha() or len(value) >= 8
    if NAME.fullmatch(value) and not _ends_line(text, span.end):
        return is_random(value)
    return is_mixed(value)


def _is_key(text: bytes, match: Span, span: Span, *, is_quoted: bool) -> bool:
    value = text[span.start : span.end]
    if _is_out_of_question(text, span, value, is_quoted=is_quoted) or b" " in value:
        return False
    if _is_in_environment(text, match, span):
        return is_random(value) or (len(value) >= 10 and is_mixed(value))
    if (
        not is_quoted
        and NAME.fullmatch(value)
        and len(value) < 16
        and not _ends_line(text, span.end)
    ):
        return False
    return is_random(value)


def _is_out_of_question(text: bytes, span: Span, value: bytes, *, is_quoted: bool) -> bool:
    if is_placeholder(value) or is_reference(value) or is_plain_word(value):
        return True
    if is_quoted:
        return False
    follows = text[span.end : span.end + 2]
    is_open = bool(follows) and follows[0] in CALLS and follows != b"</"
    is_call = is_open and CALLABLE.fullmatch(value) is not None
    return is_call or DOTTED_NAME.fullmatch(value) is not None


def _is_in_environment(text: bytes, match: Span, span: Span) -> bool:
    key = text[match.start : span.start]
    return key.endswith((b"=", b"='", b'="')) and key.isupper() and b" " not in key


def _ends_line(text: bytes, end: int) -> bool:
    follows = text[end : end + 2]
    return (
        not follows or follows[:1] in (b"\n", b"\r", b"\0", b"\x1f") or follows in (b"\\n", b"\\r")
    )


CALLABLE = re.compile(rb"[A-Za-z_$&*!@][\w$.:?!>&*-]*")
SCHEME = re.compile(rb"([A-Za-z-]{2,20})[ \t]+")


LONGEST_NAME = 60
"""What has dots and is longer is a token rather than the name of a variable."""


def header(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes the credentials of an authorization header, without the name of the scheme."""
    scheme = SCHEME.match(text, value.start, value.end)
    span = Span(scheme.end(), value.end) if scheme else value
    found = text[span.start : span.end].rstrip(b".:")
    is_name = len(found) < LONGEST_NAME and DOTTED_NAME.fullmatch(found)
    if is_placeholder(found) or is_plain_word(found) or is_name:
        return NOTHING
    if scheme and scheme[1].lower() == b"basic":
        is_secret = _is_basic(found)
    else:
        is_secret = is_random(found) or (len(found) >= 24 and not is_wordy(found))
    return (Span(span.start, span.start + len(found)),) if is_secret else NOTHING


def basic(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes a name and a password in base64."""
    return (value,) if _is_basic(text[value.start : value.end]) else NOTHING


def _is_basic(value: bytes) -> bool:
    try:
        _, colon, password = base64.b64decode(value, validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return False
    return bool(colon) and len(password) >= 3 and not is_placeholder(password)


PAIR = re.compile(rb"[ ]*([A-Za-z0-9_.\-]+)=([^;,\x00-\x20\"'\\]*)(?:; ?|\Z)")
ATTRIBUTES = frozenset(b"path domain expires max-age samesite version priority".split())


def cookies(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes the cookies of a header up to their attributes, if one of them is worth it."""
    end, place, is_secret = value.start, value.start, False
    while pair := PAIR.match(text, place, value.end):
        if pair[1].lower() in ATTRIBUTES:
            break
        is_secret = is_secret or (is_random(pair[2]) and not is_placeholder(pair[2]))
        end, place = pair.end(2), pair.end()
    return (Span(value.start, end),) if is_secret else NOTHING


WEAK = frozenset(b"pw pwd pass psw secret user users usr me you us x xx xxx xxxx".split())


def credential(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes the password of an address, unless it stands for one or is the well-known one."""
    found = text[value.start : value.end]
    user = text[match.start : value.start].rpartition(b"/")[2].rstrip(b":")
    if found in WEAK or found == user or (found.isdigit() and len(found) < 6):
        return NOTHING
    if is_placeholder(found) or is_plain_word(found) or found[:1] in b"${<%[*":
        return NOTHING
    if any(sign in found for sign in (b"{", b"}", b"$", b"(", b"|")) and not is_random(found):
        return NOTHING
    return (value,)


FETCHES = re.compile(rb"curl|wget|http|login|sshpass|mysql|mariadb|redis")


def flagged(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes the password that a command is given."""
    span = _trimmed(text, value)
    found = text[span.start : span.end]
    if is_placeholder(found) or is_reference(found) or is_plain_word(found) or found.isdigit():
        return NOTHING
    follows = text[span.end : span.end + 1]
    if DOTTED_NAME.fullmatch(found) or (follows and follows[0] in CALLS):
        return NOTHING
    if is_random(found):
        return (span,)
    line = text.rfind(b"\n", max(0, match.start - 200), match.start) + 1
    command = text[max(line, match.start - 200) : match.end]
    return (span,) if is_mixed(found) and FETCHES.search(command) else NOTHING
