"""Headers, addresses and connection strings to the secrets in them."""

import base64
import binascii
import re

from plait.redact.look_alikes import NOTHING, WEAK, is_dotted_name, is_placeholder
from plait.redact.model import Family, TextSpan
from plait.redact.nouns import QUOTE, SPACE
from plait.redact.strength import (
    is_chosen,
    is_likely,
    is_passphrase,
    is_plain_word,
    is_random,
    is_weak,
    is_wordy,
)

SCHEME = re.compile(rb"([A-Za-z-]{2,20})(?:[ \t]+|%20|\+)(?:token=\\{0,7}\"?)?")
LONGEST_NAME = 60
"""What has dots and is longer is a token rather than the name of a variable."""


def _header(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the credentials of an authorization header, without the name of the scheme."""
    scheme = SCHEME.match(text, value.start, value.end)
    span = TextSpan(scheme.end(), value.end) if scheme else value
    found = text[span.start : span.end].rstrip(b".:,")
    is_name = len(found) < LONGEST_NAME and is_dotted_name(found)
    if is_placeholder(found) or is_plain_word(found) or is_name:
        return NOTHING
    if scheme and scheme[1].lower() == b"basic":
        is_secret = _is_basic(found)
    else:
        is_secret = (
            is_random(found)
            or is_passphrase(found)
            or is_chosen(found)
            or is_weak(found)
            or (len(found) >= 24 and not is_wordy(found))
        )
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


SESSION = re.compile(rb"(?i)sess|sid\b|auth|token|jwt|csrf|xsrf|remember|login|secret")


def _cookies(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the cookies of a header up to their attributes, if one of them is worth it."""
    end, place, is_secret = value.start, value.start, False
    while pair := PAIR.match(text, place, value.end):
        if pair[1].lower() in ATTRIBUTES:
            break
        is_worth = is_random(pair[2]) or is_chosen(pair[2])
        is_worth = is_worth or (SESSION.search(pair[1]) is not None and is_likely(pair[2]))
        is_secret = is_secret or (is_worth and not is_placeholder(pair[2]))
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


NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.-]{2,40}:([^\x00-\x20\"'`\\<>/@:(){}]{6,80})\Z")


def _login(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the password between a name and a place, where no scheme stands before them."""
    found = NAME_BEFORE.search(text, max(0, match.start - 130), match.start)
    return _paired(text, match, TextSpan(*found.span(1))) if found else NOTHING


ORACLE_BEFORE = re.compile(
    rb"(?:thin:|oci:|\A|[\s\"'=])[A-Za-z0-9_]{2,30}/([^\x00-\x20\"'`\\<>/@:(){}]{6,80})\Z"
)


def _oracle(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the password between a name with a slash and a place with a port."""
    found = ORACLE_BEFORE.search(text, max(0, match.start - 130), match.start)
    return _paired(text, match, TextSpan(*found.span(1))) if found else NOTHING


def _parameter(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the value of a parameter that is worth it."""
    found = text[value.start : value.end].rstrip(b".,")
    if is_placeholder(found) or is_plain_word(found) or found.isdigit():
        return NOTHING
    name = text[match.start + 1 : value.start - 1].lower()
    is_worth = is_random(found) or (is_chosen(found) and name in CHOSEN_PARAMETERS)
    if not is_worth and not (SURE_PARAMETER.search(name) and is_likely(found)):
        return NOTHING
    return (TextSpan(value.start, value.start + len(found)),)


SURE_PARAMETER = re.compile(rb"pass|pwd|secret|token|auth|key\Z|sess|sid\Z|jwt|ticket|sig|otp")
CHOSEN_PARAMETERS = frozenset(
    b"auth pass passwd password pwd secret token session key sid sig signature code ticket".split()
)


def _secret_path(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what stands in a path behind a word that asks for a secret."""
    found = text[value.start : value.end]
    return (
        (value,)
        if is_random(found) or (is_chosen(found) and b"://" in text[match.start : value.start])
        else NOTHING
    )


STEP_NAME = re.compile(rb"bot[0-9]+:|private-")


def _secret_step(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the last step of a path in an address, behind a word that asks for a secret."""
    start = text.rfind(b"/", match.start, match.end - 1) + 1
    name = STEP_NAME.match(text, start)
    end = match.end - (text[match.end - 1 : match.end] == b"/")
    span = TextSpan(name.end() if name else start, end)
    found = text[span.start : span.end]
    return (span,) if is_random(found) or is_chosen(found) else NOTHING


def _signed(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a signature."""
    return NOTHING if is_placeholder(text[value.start : value.end]) else (value,)


def _paired(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the second of two quoted words that log somebody in."""
    found = text[value.start : value.end]
    if is_placeholder(found) or is_plain_word(found) or found.isdigit():
        return NOTHING
    return (value,) if is_likely(found) else NOTHING


LOGINS = (
    r"(?:auth|Auth|login|Login|log_in|signin|sign_in|authenticate|credentials|Credentials|Credential"
    r"|NetworkCredential|PSCredential|HTTPBasicAuth|BasicAuth|basic_auth|basicAuth|connect|mysqli_connect"
    r"|[cC]onnection|PDO|begin|createUser|create_user|create_superuser|Twilio|Credential\]?::new)"
)
WORD = rf"{QUOTE}[^\x00-\x1f\"'`\\]{{0,80}}{QUOTE}|[A-Za-z_][A-Za-z0-9_.$]{{0,40}}"
BEFORE_AT = r"[^\x00-\x20\"'`\\<>/@:]"

ADDRESSES: tuple[Family, ...] = (
    Family(
        "authorization",
        "authorization header",
        rf"(?:[aA]uthorization|AUTHORIZATION|Authentication)(?:{QUOTE})?\]?{SPACE}(?:[:=,]|[ \t]|=>){SPACE}"
        rf"(?:(?:{QUOTE})?[vV]alue(?:{QUOTE})?{SPACE}[:=]{SPACE})?(?:{QUOTE})?"
        rf"(?P<v>(?:[A-Za-z-]{{2,20}}[ \t]{{1,4}}(?:token=\\{{0,7}}\"?)?)?[A-Za-z0-9._~+/=:|!#*^-]{{8,}})",
        _header,
    ),
    Family(
        "bearer",
        "bearer token",
        rf"(?:Bearer|bearer|BEARER)(?:[ \t]{{1,4}}|%20|\+|:|,[ \t]?)(?:{QUOTE}[ \t]?[+.][ \t]?{QUOTE})?"
        r"(?P<v>[A-Za-z0-9._~+/=|!#*^-]{12,})",
        _header,
    ),
    Family(
        "digest",
        "authorization header",
        r"(?:oauth_token|response|[sS]ignature|oauth_signature|mac|nonce)=\\{0,7}\"?(?P<v>[A-Za-z0-9%+/=_.!#*^~-]{10,})",
        _parameter,
    ),
    Family(
        "cookie",
        "cookie",
        rf"(?:[cC]ookie|COOKIE)(?:{QUOTE})?{SPACE}[:=,]{SPACE}(?:{QUOTE})?"
        r"(?P<v>[A-Za-z0-9_.-]+=[A-Za-z0-9._~%+/=:|!#*^-]{4,}[^\x00-\x1f\"'\\]*)",
        _cookies,
    ),
    Family(
        "cookie-flag",
        "cookie",
        rf"[ \t](?:-b|--cookie)[ \t=](?:{QUOTE})?(?P<v>[A-Za-z0-9_.-]+=[A-Za-z0-9._~%+/=:|!#*^-]{{6,}})",
        _cookies,
    ),
    Family(
        "url-password",
        "password in an address",
        rf"[a-z0-9]:(?:\\{{0,4}}/){{2}}{BEFORE_AT}*:(?P<v>[^\x00-\x20\"'`\\<>/@]{{3,}})@[A-Za-z0-9\[]",
        _credential,
    ),
    Family(
        "url-token",
        "token in an address",
        r"https?:(?:\\{0,4}/){2}(?P<v>[A-Za-z0-9_.!+*~-]{16,})(?::|:x-oauth-basic)?@[A-Za-z0-9]",
        _secret_path,
    ),
    Family(
        "place-password",
        "password in an address",
        r"@(?:tcp|unix|udp)\(",
        _login,
    ),
    Family(
        "oracle-password",
        "password in an address",
        r"@(?://)?[A-Za-z0-9.-]+:[0-9]{4,5}[/:]",
        _oracle,
    ),
    Family(
        "azure-sas",
        "azure signature",
        r"[?&]sig=(?P<v>[A-Za-z0-9%+/=]{40,})",
        _signed,
    ),
    Family(
        "url-parameter",
        "token in an address",
        r"(?:[?&#](?:[A-Za-z0-9_.-]*(?:[kK]ey|[aA]uth|[sS]ig|[sS]ignature|[sS]ession(?:[_-]?[iI]d)?|[tT]icket|[jJ]wt"
        r"|[pP]ass|passwd|pwd|otp|sid)|[a-z_]*code|hash|pw|k)|;[a-z]*session[iI]d)=(?P<v>[A-Za-z0-9%+/=_.!#*^~-]{6,})",
        _parameter,
    ),
    Family(
        "url-path",
        "token in an address",
        r"[a-z]://[^\x00-\x20\"'`<>]{1,200}/(?:(?:reset-password|password-reset|reset_password|reset|magic-link|magic|verify|confirm|invite|unsubscribe"
        r"|activate|webhooks?|hooks?|services|token|tokens|auth|share|s|key)(?:/[A-Za-z0-9_-]{1,40}){0,3}/[A-Za-z0-9_.!+*~-]{8,}"
        r"|bot[0-9]{5,12}:[A-Za-z0-9_-]{8,}|private-[A-Za-z0-9]{8,}/)",
        _secret_step,
    ),
    Family(
        "docker-login",
        "docker login",
        rf"{QUOTE}auth{QUOTE}{SPACE}:{SPACE}{QUOTE}(?P<v>[A-Za-z0-9+/]{{8,}}={{0,2}})",
        _basic,
    ),
    Family(
        "auth-pair",
        "password of a command",
        rf"{LOGINS}{SPACE}=?{SPACE}\({SPACE}(?:{WORD}){SPACE},{SPACE}"
        rf"(?:(?:{WORD}){SPACE},{SPACE})?(?:[A-Za-z:]{{1,16}}\()?{QUOTE}(?P<v>[^\x00-\x20\"'`\\]{{6,}})",
        _paired,
        trigger=rf"{LOGINS}[ \t]?=?[ \t]?\([ \t]?[\"'\\A-Za-z_]",
    ),
    Family(
        "auth-words",
        "password of a command",
        rf"(?:basic_auth|http_basic|digest_auth)[ \t]{{1,4}}{QUOTE}[^\x00-\x1f\"'`\\]{{1,60}}{QUOTE},{SPACE}{QUOTE}(?P<v>[^\x00-\x20\"'`\\]{{6,}})",
        _paired,
    ),
    Family(
        "signed-header",
        "authorization header",
        r"[A-Za-z]-(?:[sS]ignature|SIGNATURE|[sS]ign|SIGN|[sS]ession(?:-[iI]d)?|[fF]unctions-[kK]ey|[aA]uth)(?:-[0-9]{1,3})?"
        rf"(?:{QUOTE})?[:,=][ ]?(?:{QUOTE})?(?:(?:sha[0-9]{{1,3}}|t)=(?:[0-9]{{1,12}},)?)?(?:v[01]=)?(?P<v>[A-Za-z0-9+/=_.!#*^~-]{{8,}})",
        _paired,
    ),
    Family(
        "mail-login",
        "password of a command",
        r"(?:334 UGFzc3dvcmQ6(?:\r?\n|\\{1,7}n)(?:C:[ ])?|AUTH PLAIN[ ]|AUTH LOGIN[ ])(?P<v>[A-Za-z0-9+/]{6,}={0,2})",
        _signed,
    ),
    Family(
        "mailbox-login",
        "password of a command",
        rf"[ ]LOGIN[ ](?:{QUOTE})?[A-Za-z0-9_.@+-]{{2,60}}(?:{QUOTE})?[ ](?:{QUOTE})?(?P<v>[^\x00-\x20\"'`\\]{{6,}})",
        _paired,
    ),
    Family(
        "wifi",
        "secret in a setting",
        r"WIFI:[^\x00-\x20\"]{0,80};P:(?P<v>[^\x00-\x1f;\"]{6,})",
        _paired,
    ),
    Family(
        "auth-word",
        "password of a command",
        rf"(?:btoa|Buffer|b64encode|Basic|base64){SPACE}\({SPACE}(?:b|f)?{QUOTE}[A-Za-z0-9_.@-]{{1,40}}:"
        r"(?P<v>[^\x00-\x20\"'`\\]{5,})",
        _paired,
    ),
    Family(
        "key-argument",
        "secret in a setting",
        rf"(?:jwt\.(?:sign|encode|verify|decode)|hmac\.new|createHmac|bcrypt(?:\.\w{{2,12}})?|crypt\.crypt|Fernet|set_password|check_password"
        rf"|setPassword|withPassword|setApiKey|setToken|setSecret|api_key|apiKey){SPACE}\((?:[A-Za-z0-9_.$'\" {{}}\[\]:]{{1,40}},{SPACE})?"
        rf"(?:b|f)?{QUOTE}(?P<v>[^\x00-\x20\"'`\\]{{6,}})",
        _paired,
        trigger=r"(?:jwt\.[a-z]+|hmac\.new|createHmac|bcrypt(?:\.[a-zA-Z_]+)?|crypt\.crypt|Fernet|set_password|check_password|setPassword"
        r"|withPassword|setApiKey|setToken|setSecret|api_key|apiKey)[ \t]?\(",
    ),
)
