"""The strict mode: weak signs are enough, at the price of false alarms."""

import re
from collections.abc import Callable, Iterator

from plait.redact.likelihood import (
    NOTHING,
    NOUN,
    is_at_word_start,
    is_chosen,
    is_in_stand_in,
    is_mixed,
    is_passphrase,
    is_random,
    is_reference,
)
from plait.redact.model import Family, Hit, TextSpan, host_name, user_name
from plait.redact.people import is_somebody

SUSPECTED = "suspected"
LEAST, LEAST_LONG = 4, 20
REACH = 120
"""How far after the name of a secret a value may be, in one line."""
VALUE = r"""[^\x00-\x20"'`\\<>(){}\[\],;|\x7f-\xff]{4,200}"""
WEAK = (
    "[kK]ey|KEY|[iI]d|ID|[hH]ash|HASH|[aA]uth|AUTH|[cC]ode|CODE|[pP]in|PIN|[sS]alt|SALT|[nN]once|[sS]eed"
    "|SEED|[sS]ig|[sS]ignature|[sS]ession|[sS]id|SID|[cC]ookie|[hH]mac|[dD]igest|[cC]ert|otp|OTP|mfa|MFA"
    "|[lL]ogin|[aA]ccount|ACCOUNT|[aA]ccess|[pP]rivate|[wW]ebhook|[cC]onnection|CONNECTION|DSN|dsn|[bB]earer"
    "|[bB]asic|[pP]ass|PASS|[lL]icen[sc]e|[sS]erial|[uU]nlock|[vV]oucher|[cC]oupon|[iI]nvite"
)
LINE_END = re.compile(rb"\r?\n|\\+n|\0|\x1f")
WORDS = re.compile(VALUE.encode())
PARTS = re.compile(rb"[^:/@=]{4,}(?:@[^:/@.]+)?")
OPENING = re.compile(rb"[:=*_~.!?(-]+")
CLOSING = b".:*_~"
# What is in every text and is no secret: ids of the format, version numbers, times, file names.
ORDINARY = re.compile(
    rb"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    rb"|(?:toolu|srvtoolu|msg|req|call)_[A-Za-z0-9_-]+|claude-[a-z0-9.-]+|v?[0-9]+(?:\.[0-9]+){1,3}(?:[a-z-][a-z0-9.]*)?"
    rb"|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z?)?|[0-9:.,%/+-]+|[a-z]+/[a-z0-9.+-]+|[A-Za-z0-9_./@-]+\.[a-z]{1,5}(?::[0-9]+)*"
    rb"|[a-z]+[0-9]{0,2}|[A-Z][a-z]+[0-9]{0,2}|https?://[^@]*"
)


def _is_suspect(value: bytes) -> bool:
    if len(value) < LEAST or ORDINARY.fullmatch(value) or is_reference(value):
        return False
    return is_mixed(value) or is_random(value) or is_passphrase(value)


def is_worth_remembering(hit: Hit) -> bool:
    """Return whether a value is rare enough to search for elsewhere, although weak signs revealed
    it.
    """
    return hit.label != SUSPECTED or _is_likely(hit.value)


def _bare(text: bytes, start: int, end: int) -> TextSpan:
    opening = OPENING.match(text, start, end)
    start = opening.end() if opening else start
    return TextSpan(start, start + len(text[start:end].rstrip(CLOSING)))


def _near_name(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match whatever has letters and more after the name of a secret, in its line."""
    if is_in_stand_in(text, match.start):
        return NOTHING
    end = _line_end(text, match.end)
    return tuple(_suspects(text, match.end, end, _is_suspect))


def _around(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match possible passwords on both sides of a word about logging in."""
    if is_in_stand_in(text, match.start):
        return NOTHING
    start = max(text.rfind(sign, 0, match.start) for sign in (b"\n", b"\0", b"\\n"))
    start = max(start + 1, match.start - REACH)
    return tuple(_suspects(text, start, _line_end(text, match.end), _is_likely))


def _line_end(text: bytes, place: int) -> int:
    limit = min(place + REACH, len(text))
    line = LINE_END.search(text, place, limit)
    return line.start() if line else limit


def _suspects(
    text: bytes, start: int, end: int, is_single: Callable[[bytes], bool]
) -> Iterator[TextSpan]:
    for word in WORDS.finditer(text, start, end):
        for part in PARTS.finditer(text, *word.span()):
            span = _bare(text, *part.span())
            if is_single(text[span.start : span.end]) and not is_in_stand_in(text, span.start):
                yield span


def _is_likely(value: bytes) -> bool:
    is_strong = is_chosen(value) or is_random(value) or is_passphrase(value)
    return is_strong and _is_suspect(value)


NO_VALUE = frozenset(
    b"""true false null none nil undefined str string int integer number float bool boolean any object
    bytes text required optional missing empty unset hidden disabled enabled self this return await
    function""".split()
)


def _setting_value(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match any value of a setting with a secret name, also a placeholder."""
    span = _bare(text, *value)
    found = text[span.start : span.end]
    is_word = found.lower() in NO_VALUE or is_reference(found) or is_in_stand_in(text, match.start)
    return (
        NOTHING
        if is_word or len(found) < LEAST or text[span.end : span.end + 1] == b"("
        else (span,)
    )


def _weakly_named(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what looks like a secret if a name only suggests it."""
    span = _bare(text, *value)
    is_known = is_in_stand_in(text, match.start) or not _is_suspect(text[span.start : span.end])
    return NOTHING if is_known else (span,)


def _long(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a long word of letters and digits that may be random."""
    is_inside = text[match.start - 1 : match.start] in (b"-", b"+", b".", b"=")
    if is_inside or not is_at_word_start(text, match.start) or is_in_stand_in(text, match.start):
        return NOTHING
    found = text[match.start : match.end].rstrip(b"=")
    longest = max(re.split(rb"[/.=_-]", found), key=len) if b"/" in found else found
    has_both = is_mixed(longest) and any(48 <= item <= 57 for item in longest)
    is_suspect = has_both and len(longest) >= LEAST_LONG and is_random(longest)
    return (match,) if is_suspect and not ORDINARY.fullmatch(found) else NOTHING


def _any_value(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    span = _bare(text, *value)
    return (span,) if _is_suspect(text[span.start : span.end]) else NOTHING


PUBLIC = frozenset(
    b"""github.com gitlab.com bitbucket.org githubusercontent.com npmjs.com npmjs.org python.org
    mozilla.org w3.org json-schema.org anthropic.com claude.ai claude.com openai.com google.com
    googleapis.com stackoverflow.com wikipedia.org microsoft.com docker.com docker.io debian.org ubuntu.com
    nodejs.org rust-lang.org crates.io golang.org go.dev apache.org example.com example.org example.net
    localhost schemas.xmlsoap.org readthedocs.io jsdelivr.net unpkg.com cloudflare.com shields.io
    youtube.com reactjs.org react.dev vuejs.org typescriptlang.org tailwindcss.com vercel.com""".split()
)
TOP = "com|net|org|de|eu|uk|fr|nl|ch|es|pl|se|fi|dk|cz|ru|cn|jp|kr|br|au|ca|cloud|internal|corp|lan|local|intranet"
EVERYWHERE = frozenset((b"127.0.0.1", b"0.0.0.0", b"255.255.255.255", b"1.2.3.4"))
LEAST_HOST = 4


def _host(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the host of an address unless it is a public one."""
    host = text[value.start : value.end].lower().rstrip(b".-")
    labels = host.split(b".")
    is_public = any(b".".join(labels[place:]) in PUBLIC for place in range(len(labels)))
    if is_public or host in EVERYWHERE or len(host) < LEAST_HOST or not any(labels):
        return NOTHING
    return (TextSpan(value.start, value.start + len(host)),)


GOES_ON = re.compile(rb"[A-Za-z0-9_(-]|\.[A-Za-z0-9]")


def _domain(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a name that ends as hosts do, as a whole word."""
    is_inside = (
        not is_at_word_start(text, match.start) or text[match.start - 1 : match.start] in DOTS
    )
    return NOTHING if is_inside or GOES_ON.match(text, value.end) else _host(text, match, value)


DOTS = (b".", b"-", b"@")


def _address(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    found = text[value.start : value.end]
    is_address = (
        is_at_word_start(text, match.start) and text[match.start - 1 : match.start] not in DOTS
    )
    is_address = is_address and all(int(part) < 256 for part in found.split(b"."))
    return (value,) if is_address and found not in EVERYWHERE else NOTHING


def _user(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    name = text[value.start : value.end].rstrip(b".-")
    is_word = name.lower() in NO_VALUE or not is_somebody(name) or is_in_stand_in(text, match.start)
    return NOTHING if is_word else (TextSpan(value.start, value.start + len(name)),)


STRICT: tuple[Family, ...] = (
    Family(
        "strict-named",
        rf"{NOUN}\\{{0,7}}[\"'`\])]{{0,3}}[ \t]{{0,4}}(?::=|=>|[:=])[ \t]{{0,4}}\\{{0,7}}[\"'`]?(?P<v>{VALUE})",
        _setting_value,
        label=SUSPECTED,
    ),
    Family("strict-beside", NOUN, _near_name, label=SUSPECTED, is_many=True),
    Family(
        "strict-weak",
        rf"(?:{WEAK})s?\\{{0,7}}[\"'`\])]{{0,3}}[ \t]{{0,4}}(?::=|=>|[:=]|is|was)[ \t]{{0,4}}\\{{0,7}}[\"'`]?(?P<v>{VALUE})",
        _weakly_named,
        label=SUSPECTED,
    ),
    Family(
        "strict-around",
        r"[bB]asic|[oO][aA]uth|[uU]ser|[lL]og(?:in|on)|[aA]uth|[cC]red|[aA]ccount|[aA]dmin|root|sudo|ssh|vpn|VPN|[wW]i-?[fF]i|[uU]nlock",
        _around,
        label=SUSPECTED,
        is_many=True,
    ),
    Family(
        "strict-flag",
        rf"[ \t]-(?:p|P|a|w|k|s|t|x|u|U|b)[ \t=]?[\"']?(?P<v>{VALUE})",
        _any_value,
        label=SUSPECTED,
    ),
    Family("strict-long", r"[A-Za-z0-9][A-Za-z0-9_+/=.-]{19,}", _long, label=SUSPECTED),
    host_name("strict-host", r"://(?:[^\x00-\x20/@\"'<>]{1,80}@)?(?P<v>[A-Za-z0-9.-]{4,})", _host),
    host_name(
        "strict-domain",
        rf"(?P<v>[A-Za-z0-9][A-Za-z0-9-]{{1,40}}(?:\.[A-Za-z0-9-]{{1,40}}){{0,4}}\.(?:{TOP}))",
        _domain,
    ),
    host_name("strict-address", r"(?P<v>(?:[0-9]{1,3}\.){3}[0-9]{1,3})", _address),
    user_name(
        "strict-user",
        r"(?:[uU]ser(?:[nN]ame|\.name)?[\"']?[ \t]?[:= ][ \t]?[\"']?|[aA]uthor[ :=]{1,2}|[oO]wner[:=][ ]?|/media/|(?:github|gitlab)\.com[/:]|bitbucket\.org[/:]|(?:[bB]y|cc|CC|[tT]hanks|[fF]rom|[hH]i|[hH]ey|ping)[ ,]+@)(?P<v>[A-Za-z0-9][A-Za-z0-9_-]{2,38})",
        _user,
    ),
)
