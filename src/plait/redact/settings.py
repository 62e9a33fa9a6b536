"""Settings to the secrets in them: a key whose name says it, and its value in any notation."""

import re

from plait.redact.look_alikes import (
    ABOUT,
    NAME,
    NOTHING,
    OTHER_KEYS,
    OTHER_TOKENS,
    PASSWORDS,
    is_dotted_name,
    is_placeholder,
    is_reference,
)
from plait.redact.model import TextSpan
from plait.redact.strength import (
    PIECE,
    is_chosen,
    is_mixed,
    is_passphrase,
    is_phrase,
    is_plain_word,
    is_random,
    is_weak,
)

KEY_BEFORE = re.compile(rb"[A-Za-z0-9_.\-]{1,64}\Z")
KEY = re.compile(rb"[A-Za-z0-9_.\-]+")
KEY_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
OPENING = re.compile(rb"[bfru]?\\{0,7}[\"'`]")
ESCAPED = re.compile(rb"\\[nrt]")
CAMEL = re.compile(
    rb"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+[A-Z]?[0-9]{0,3}|[a-z]+[0-9]{0,2}|[A-Z][a-z]+[0-9]{0,2}"
)
MOST_LETTERS = 2048
ANOTHER = re.compile(rb"(?i)(?:passwo?r?d|token|secret)[=:]|=\{|x86_64|-linux-|aarch64")
PARAMETER = re.compile(rb"[?&;][A-Za-z0-9_.-]*\Z")
# Caches, lists and tables have keys too.
STRONG_KEY = re.compile(
    rb"(?i)(?:api|secret|access|private|account|encryption|signing|master|license|subscription|shared"
    rb"|admin|application|auth|preshared|webhook|hmac|fernet|jwt|deploy)[_. -]?keys?"
)
CALLS = frozenset(b"([{<")
CALLABLE = re.compile(rb"[A-Za-z_$&*!@][\w$.:?!>&*-]*")


def assigned(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the value of a setting whose key says that it is secret."""
    key = key_around(text, match.start)
    if not is_secret_key(key) and not (key == b"PWD" and _is_in_list(text, match, value)):
        return NOTHING
    span, is_quoted = bare(text, value)
    if span.end - span.start > MOST_LETTERS:
        return NOTHING
    is_secret = _is_password if _is_of_password(key, text[match.start : value.start]) else _is_key
    return (span,) if is_secret(text, match, span, is_quoted=is_quoted) else NOTHING


def _is_in_list(text: bytes, match: TextSpan, value: TextSpan) -> bool:
    """Tells whether a setting stands among others between semicolons, as drivers write them."""
    return b";" in (text[match.start - 1 : match.start], text[value.end : value.end + 1])


def _is_of_password(key: bytes, match: bytes) -> bool:
    words = {word.lower() for word in PIECE.findall(key)}
    return bool(PASSWORDS & words) or match[0] > 127 or not key


def bare(text: bytes, value: TextSpan) -> tuple[TextSpan, bool]:
    """Returns a value without its quote, or what ends a sentence behind it; whether it had one."""
    opening = OPENING.match(text, value.start)
    return (TextSpan(opening.end(), value.end), True) if opening else (trimmed(text, value), False)


def key_around(text: bytes, start: int) -> bytes:
    """Returns the whole name that a place lies in."""
    start += text[start] not in KEY_LETTERS
    before = KEY_BEFORE.search(text, max(0, start - 64), start)
    behind = KEY.match(text, start)
    key = (before[0] if before else b"") + (behind[0] if behind else b"")
    first = start - len(before[0]) if before else start
    if ESCAPED.match(text, first - 1):
        return key[1:]
    return key.strip(b"-.")


def is_secret_key(key: bytes) -> bool:
    """Tells whether a name is that of a secret rather than of something about one."""
    words = [word.lower() for word in PIECE.findall(key)]
    while words and words[-1].isdigit():
        words = words[:-1]
    if words and words[-1] in (b"confirmation", b"confirm") and PASSWORDS & set(words):
        return True
    if (words and words[-1] in ABOUT) or key in (b"PWD", b"OLDPWD"):
        return False
    if words and words[-1] == b"key" and len(words) > 1 and words[-2] in OTHER_KEYS:
        return False
    if b"token" in words:
        place = words.index(b"token")
        return not (place and words[place - 1] in OTHER_TOKENS) and words[-1] not in OTHER_TOKENS
    return bool(words) or not key


def trimmed(text: bytes, value: TextSpan) -> TextSpan:
    """Returns a value without what follows it in an address or ends a sentence."""
    found = text[value.start : value.end]
    for stop in (b"&", b"#L", b"..."):
        found = found.partition(stop)[0]
    return TextSpan(value.start, value.start + len(found.rstrip(b".:*?")))


def _is_password(text: bytes, match: TextSpan, span: TextSpan, *, is_quoted: bool) -> bool:
    value = text[span.start : span.end]
    if _is_out_of_question(text, span, value, is_quoted=is_quoted) or len(value) < 6:
        return False
    if is_passphrase(value):
        return True
    if is_quoted:
        is_worth = is_mixed(value) or is_random(value)
        return is_phrase(value) or (b" " not in value and is_worth)
    if _is_in_environment(text, match, span):
        return not value.isalpha() or len(value) >= 8
    if NAME.fullmatch(value) and not _is_literal(text, span.end):
        is_own = is_chosen(value) and CAMEL.fullmatch(value) is None
        return is_own or is_random(value) or is_weak(value)
    return is_mixed(value) or is_random(value)


def _is_key(text: bytes, match: TextSpan, span: TextSpan, *, is_quoted: bool) -> bool:
    value = text[span.start : span.end]
    if _is_out_of_question(text, span, value, is_quoted=is_quoted) or b" " in value:
        return False
    if is_passphrase(value):
        return _is_of_secret(text, match, span)
    if _is_in_environment(text, match, span):
        return is_random(value) or is_weak(value) or (len(value) >= 10 and is_mixed(value))
    if (
        not is_quoted
        and NAME.fullmatch(value)
        and len(value) < 16
        and not ends_line(text, span.end)
        and not PARAMETER.search(text, max(0, match.start - 40), match.start)
    ):
        return False
    return is_random(value) or is_weak(value) or _is_chosen_key(value)


def _is_of_secret(text: bytes, match: TextSpan, span: TextSpan) -> bool:
    """Tells whether a key is that of a lock, or no key at all but a token or a secret."""
    name = text[max(0, match.start - 12) : span.start].lower()
    is_key = b"key" in name and STRONG_KEY.search(name) is None
    return not is_key or _is_in_environment(text, match, span)


def _is_chosen_key(value: bytes) -> bool:
    is_varied = any(65 <= one <= 90 for one in value) and any(97 <= one <= 122 for one in value)
    return is_varied and is_chosen(value) and CAMEL.fullmatch(value) is None


def _is_out_of_question(text: bytes, span: TextSpan, value: bytes, *, is_quoted: bool) -> bool:
    if is_placeholder(value) or is_reference(value) or is_plain_word(value):
        return True
    if (value.strip(b"*_~=").isalpha() and not value.isalpha()) or ANOTHER.search(value):
        return True
    if is_quoted:
        return False
    follows = text[span.end : span.end + 2]
    is_open = bool(follows) and follows[0] in CALLS and follows != b"</"
    is_call = is_open and CALLABLE.fullmatch(value) is not None
    return is_call or is_dotted_name(value)


def _is_in_environment(text: bytes, match: TextSpan, span: TextSpan) -> bool:
    key = text[match.start : span.start]
    return key.endswith((b"=", b"='", b'="')) and key.isupper() and b" " not in key


def _is_literal(text: bytes, end: int) -> bool:
    """Tells whether a value ends its line or its element, signs that end a sentence aside."""
    while text[end : end + 1] in (b"*", b"?", b".", b"!"):
        end += 1
    return ends_line(text, end) or text[end : end + 2] == b"</"


def ends_line(text: bytes, end: int) -> bool:
    """Tells whether a line ends at a place, really or as it is written in JSON."""
    follows = text[end : end + 2]
    return (
        not follows or follows[:1] in (b"\n", b"\r", b"\0", b"\x1f") or follows in (b"\\n", b"\\r")
    )
