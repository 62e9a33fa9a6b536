"""The secrets that only their surroundings tell: one family each, and a second look at its matches.

`password = getpass()`, `token: string` and `key=$KEY` look like secrets to an expression. Quotes
may be escaped any number of times, because logs hold JSON in JSON in JSON.
"""

import base64
import binascii
import re

from plait.redact.look_alikes import (
    ABOUT,
    DOTTED_NAME,
    NAME,
    NOTHING,
    OTHER_KEYS,
    OTHER_TOKENS,
    PASSWORDS,
    PIECE,
    WEAK,
    anywhere,
    block,
    is_mixed,
    is_placeholder,
    is_plain_word,
    is_random,
    is_reference,
    is_wordy,
    letters_of,
)
from plait.redact.model import Family, TextSpan

QUOTE = r"""\\{0,7}["'`]"""
SPACE = r"[ \t]{0,8}"
# In three spellings rather than in any case: "tokens" and its kin are everywhere in a log.
NOUNS = (
    "password|Password|PASSWORD|passwd|Passwd|PASSWD|passphrase|Passphrase|PASSPHRASE"
    "|secret|Secret|SECRET|token|Token|TOKEN"
    "|[aA][pP][iI][_-]?[kK](?:ey|EY)|(?:access|private|auth|account|signing|encryption|master"
    "|license|service|admin|storage|shared|webhook)[_-]?[kK]ey"
    "|(?:ACCESS|PRIVATE|AUTH|ACCOUNT|SIGNING|ENCRYPTION|MASTER|LICENSE|SERVICE|ADMIN|STORAGE|APP"
    "|WEBHOOK)[_-]?KEY|[a-z](?:Access|Private|Auth|Account|Signing|Encryption|Master)Key"
    "|credential|CREDENTIAL|[pP]wd|PWD|_PASS|_pass|PGPASS|_PSW|_PAT|AccountKey|SharedAccessKey"
    r"|_auth|_AUTH|\.dockerconfigjson|_DSN|_SALT|_KEY|_PW|[^A-Za-z0-9_]pass|IDENTIFIED|requirepass"
    r"|(?:API|api|Api|access|Access|secret|Secret) [kK]ey"
)
SUFFIX = r"(?:[_.-][A-Za-z0-9_.-]*|[A-Z0-9][A-Za-z0-9_]*)?"
EQUALS = (
    rf"(?:{QUOTE}\]?)?(?:{SPACE}(?::=|=>|==?=?|:|>|\(|,)|[ \t](?:is|was|to|BY|by)[ \t:])"
    r"[ \t]{0,8}"
)
BARE = r"""[^\x00-\x20"'`\\<>(),;{}\[\]|\x7f-\xff][^\x00-\x20"'`\\<>(),;{}\[\]|\x7f-\xff]{4,}"""
QUOTED = r"""[^\x00-\x1f"'`\\]{5,}"""

KEY_BEFORE = re.compile(rb"[A-Za-z0-9_.\-]{1,64}\Z")
KEY = re.compile(rb"[A-Za-z0-9_.\-]+")
KEY_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
OPENING = re.compile(rb"[bfru]?\\{0,7}[\"'`]")
ESCAPED = re.compile(rb"\\[nrt]")
MOST_LETTERS = 2048
LEAST_SPOKEN = 10
CALLS = frozenset(b"([{<")


def _assigned(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the value of a setting whose key says that it is secret."""
    key = _key_around(text, match.start)
    words = [word.lower() for word in PIECE.findall(key)]
    if not _is_secret_key(key, words):
        return NOTHING
    span, is_quoted = _bare(text, value)
    if span.end - span.start > MOST_LETTERS:
        return NOTHING
    is_secret = _is_password if PASSWORDS & set(words) else _is_key
    return (span,) if is_secret(text, match, span, is_quoted=is_quoted) else NOTHING


def _spoken(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what follows the word itself, as people write it, if chance made it."""
    span, _ = _bare(text, value)
    found = text[span.start : span.end]
    is_other = is_placeholder(found) or is_reference(found) or b" " in found
    return (span,) if len(found) >= LEAST_SPOKEN and not is_other and is_random(found) else NOTHING


def _bare(text: bytes, value: TextSpan) -> tuple[TextSpan, bool]:
    """Returns a value without its quote, or what ends a sentence behind it; whether it had one."""
    opening = OPENING.match(text, value.start)
    return (TextSpan(opening.end(), value.end), True) if opening else (_trimmed(text, value), False)


def _key_around(text: bytes, start: int) -> bytes:
    start += text[start] not in KEY_LETTERS
    before = KEY_BEFORE.search(text, max(0, start - 64), start)
    behind = KEY.match(text, start)
    key = (before[0] if before else b"") + (behind[0] if behind else b"")
    first = start - len(before[0]) if before else start
    if ESCAPED.match(text, first - 1):
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


def _trimmed(text: bytes, value: TextSpan) -> TextSpan:
    found = text[value.start : value.end]
    for stop in (b"&", b"#L", b"..."):
        found = found.partition(stop)[0]
    return TextSpan(value.start, value.start + len(found.rstrip(b".:*?")))


def _is_password(text: bytes, match: TextSpan, span: TextSpan, *, is_quoted: bool) -> bool:
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


def _is_key(text: bytes, match: TextSpan, span: TextSpan, *, is_quoted: bool) -> bool:
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


def _is_out_of_question(text: bytes, span: TextSpan, value: bytes, *, is_quoted: bool) -> bool:
    if is_placeholder(value) or is_reference(value) or is_plain_word(value):
        return True
    if is_quoted:
        return False
    follows = text[span.end : span.end + 2]
    is_open = bool(follows) and follows[0] in CALLS and follows != b"</"
    is_call = is_open and CALLABLE.fullmatch(value) is not None
    return is_call or DOTTED_NAME.fullmatch(value) is not None


def _is_in_environment(text: bytes, match: TextSpan, span: TextSpan) -> bool:
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


def _header(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the credentials of an authorization header, without the name of the scheme."""
    scheme = SCHEME.match(text, value.start, value.end)
    span = TextSpan(scheme.end(), value.end) if scheme else value
    found = text[span.start : span.end].rstrip(b".:")
    is_name = len(found) < LONGEST_NAME and DOTTED_NAME.fullmatch(found)
    if is_placeholder(found) or is_plain_word(found) or is_name:
        return NOTHING
    if scheme and scheme[1].lower() == b"basic":
        is_secret = _is_basic(found)
    else:
        is_secret = is_random(found) or (len(found) >= 24 and not is_wordy(found))
    return (TextSpan(span.start, span.start + len(found)),) if is_secret else NOTHING


def _basic(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
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


def _cookies(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the cookies of a header up to their attributes, if one of them is worth it."""
    end, place, is_secret = value.start, value.start, False
    while pair := PAIR.match(text, place, value.end):
        if pair[1].lower() in ATTRIBUTES:
            break
        is_secret = is_secret or (is_random(pair[2]) and not is_placeholder(pair[2]))
        end, place = pair.end(2), pair.end()
    return (TextSpan(value.start, end),) if is_secret else NOTHING


def _credential(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
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


def _flagged(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
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


CONTEXTS: tuple[Family, ...] = (
    Family(
        "private-key",
        "private key",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----",
        block,
        canonical=letters_of,
    ),
    Family(
        "putty-key",
        "private key",
        r"Private-Lines: [0-9]{1,3}",
        block,
        canonical=letters_of,
    ),
    Family(
        "authorization",
        "authorization header",
        rf"(?:[aA]uthorization|AUTHORIZATION)(?:{QUOTE})?{SPACE}[:=,]{SPACE}(?:{QUOTE})?"
        rf"(?P<v>(?:[A-Za-z-]{{2,20}}[ \t]{{1,4}})?[A-Za-z0-9._~+/=:|-]{{8,}})",
        _header,
    ),
    Family(
        "bearer",
        "bearer token",
        r"(?:Bearer|bearer|BEARER)(?:[ \t]{1,4}|%20|\+)(?P<v>[A-Za-z0-9._~+/=|-]{16,})",
        _header,
    ),
    Family(
        "cookie",
        "cookie",
        rf"(?:[cC]ookie|COOKIE)(?:{QUOTE})?{SPACE}[:=,]{SPACE}(?:{QUOTE})?"
        r"(?P<v>[A-Za-z0-9_.-]+=[A-Za-z0-9._~%+/=:|-]{8,}[^\x00-\x1f\"'\\]*)",
        _cookies,
    ),
    Family(
        "url-password",
        "password in an address",
        r"[a-z0-9]:(?:\\{0,4}/){2}[^\x00-\x20\"'`\\<>/@:]*:(?P<v>[^\x00-\x20\"'`\\<>/@]{3,})@[A-Za-z0-9\[]",
        _credential,
    ),
    Family(
        "url-token",
        "token in an address",
        r"https?:(?:\\{0,4}/){2}(?P<v>[A-Za-z0-9_-]{20,})(?::|:x-oauth-basic)?@[A-Za-z0-9]",
        _credential,
    ),
    Family(
        "curl-user",
        "password of a command",
        rf"[ \t](?:-u|--user|--auth|--proxy-user|--http-user)[ =]{SPACE}(?:{QUOTE})?"
        r"[^\x00-\x20\"'`\\:]+:(?P<v>[^\x00-\x20\"'`\\]{3,})",
        _flagged,
    ),
    Family(
        "flag",
        "password of a command",
        r"(?:--?(?:[a-z]+-)?(?:password|passphrase|token|secret|api-key|pass|access-key|secret-key"
        rf"|storepass|keypass)[ \t]{{1,4}}|-pass(?:in|out)?[ \t]pass:)(?:{QUOTE})?"
        r"(?P<v>[^\x00-\x20\"'`\\<>(){}|-][^\x00-\x20\"'`\\<>(){}|]{4,})",
        _flagged,
    ),
    Family(
        "short-flag",
        "password of a command",
        rf"(?:sshpass[ \t]+-p[ \t]?|(?:mysql|mysqldump|mysqladmin|mariadb|[a-z]+ login|redis-cli)"
        rf"[ \t][^\x00-\x1f\"'`\\|;&]{{0,80}}-[pa][ \t]?)(?:{QUOTE})?"
        r"(?P<v>[^\x00-\x20\"'`\\<>(){}|;-]{5,})",
        _flagged,
    ),
    Family(
        "shell-set",
        "secret in a setting",
        r"setx?[ \t](?:-[A-Za-z]+[ \t])*[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASS)[ \t]{1,4}"
        rf"(?:{QUOTE})?(?P<v>[^\x00-\x20\"'`\\<>(){{}}|]{{6,}})",
        _flagged,
    ),
    Family(
        "docker-login",
        "docker login",
        rf"{QUOTE}auth{QUOTE}{SPACE}:{SPACE}{QUOTE}(?P<v>[A-Za-z0-9+/]{{8,}}={{0,2}})",
        _basic,
    ),
    Family(
        "netrc",
        "password of netrc",
        r"login(?:[ \t\n]|\\{1,7}[nt])+[^\x00-\x20\"'\\]+(?:[ \t\n]|\\{1,7}[nt])+"
        r"password(?:[ \t\n]|\\{1,7}[nt])+(?P<v>[^\x00-\x20\"'\\]{5,})",
        _flagged,
    ),
    Family(
        "azure-sas",
        "azure signature",
        r"[?&]sig=(?P<v>[A-Za-z0-9%+/=]{40,})",
        anywhere,
    ),
    Family(
        "auth-pair",
        "password of a command",
        rf"auth{SPACE}=?{SPACE}\({SPACE}{QUOTE}[^\x00-\x1f\"'\\]+{QUOTE}{SPACE},{SPACE}{QUOTE}"
        r"(?P<v>[^\x00-\x20\"'`\\]{6,})",
        _flagged,
    ),
    Family(
        "named-value",
        "secret in a setting",
        rf"(?:{NOUNS}){SUFFIX}(?:{QUOTE})?,?(?:[ \t\r\n]|\\{{1,7}}[nrt])*"
        rf"(?:{QUOTE})?[vV]alue(?:{QUOTE})?{SPACE}[:=]{SPACE}(?P<v>{QUOTE}{QUOTED}|{BARE})",
        _assigned,
    ),
    Family(
        "assigned",
        "secret in a setting",
        rf"(?:{NOUNS}){SUFFIX}{EQUALS}(?P<v>[bfru]?{QUOTE}{QUOTED}|{BARE})",
        _assigned,
    ),
    Family(
        "told",
        "secret in a setting",
        rf"(?:PASSWORD|[pP]assword|passphrase|requirepass|masterauth|(?:API|api|access|secret) key"
        rf"|ENV [A-Z0-9_]+_(?:TOKEN|KEY|SECRET|PASSWORD)|ConvertTo-SecureString)[ \t]"
        rf"(?P<v>{QUOTE}{QUOTED}|{BARE})",
        _spoken,
    ),
)
