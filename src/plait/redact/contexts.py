"""Secrets recognised by their surroundings: settings, sentences, headers, URLs, config files."""

import base64
import binascii
import re
from collections.abc import Iterator

from plait.redact.command_lines import COMMANDS, INPUTS, is_name_of_secret, line_start
from plait.redact.likelihood import (
    ABOUT,
    BARE,
    BEGINS_LINE,
    FULL_LINE,
    NAME,
    NEW_LINE,
    NOTHING,
    NOUN,
    NOUNS,
    OTHER_KEYS,
    OTHER_TOKENS,
    PASSWORDS,
    PIECE,
    PROSE,
    QUOTE,
    QUOTED,
    SPACE,
    SPOKEN,
    TECHNICAL,
    WEAK,
    anywhere,
    extend_to_quote,
    is_at_word_start,
    is_chosen,
    is_dotted_name,
    is_in_stand_in,
    is_likely,
    is_mixed,
    is_numbered_phrase,
    is_odd,
    is_passphrase,
    is_phrase,
    is_placeholder,
    is_plain_word,
    is_random,
    is_reference,
    is_salt,
    is_weak,
    is_wordy,
)
from plait.redact.model import (
    Family,
    SecondLook,
    TextSpan,
    command_secret,
    setting_secret,
    user_name,
)
from plait.redact.names import TITLED, is_person
from plait.redact.tokens import PRIVATE_KEYS

__all__ = ["CONTEXTS", "NOUNS"]


KEY_BEFORE = re.compile(rb"[A-Za-z0-9_.\-]{1,64}\Z")
KEY = re.compile(rb"[A-Za-z0-9_.\-]+")
KEY_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
OPENING = re.compile(rb"[bfruN@$]?(?:(?:\\{0,7}\"){3}|\\{0,7}[\"'`])")
ESCAPED = re.compile(rb"\\[nrt]")
CAMEL = re.compile(
    rb"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+[A-Z]?[0-9]{0,3}|[a-z]+[0-9]{0,2}|[A-Z][a-z]+[0-9]{0,2}"
)
MOST_LETTERS = 2048
DAY = re.compile(
    rb"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]|\Z)|[A-Za-z0-9_./-]+\.[A-Za-z0-9]+:[0-9]+(?::|\Z)"
)
ANOTHER = re.compile(rb"(?i)(?:passwo?r?d|token|secret)[=:]|=\{|x86_64|-linux-|aarch64")
PARAMETER = re.compile(rb"(?:[?&]|&amp;)[A-Za-z0-9_.-]*\Z")
# Caches, lists and tables have keys too.
STRONG_KEY = re.compile(
    rb"(?i)(?:api|secret|access|private|account|encryption|signing|master|license|subscription|shared"
    rb"|admin|application|auth|preshared|webhook|hmac|fernet|jwt|deploy)[_. -]?keys?"
)
CALLS = frozenset(b"([{<")
CALLABLE = re.compile(rb"[A-Za-z_$&*!@][\w$.:?!>&*-]*")


def take_assigned(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the value of a setting whose key says that it is secret."""
    key = key_around(text, match.start)
    if not is_secret_key(key) and not (
        key == b"PWD"
        and (b";" in (text[match.start - 1 : match.start], text[value.end : value.end + 1]))
    ):
        return NOTHING
    span, is_quoted = strip_quote(text, value)
    if span.end - span.start > MOST_LETTERS:
        return NOTHING
    if is_quoted and is_sure(text[span.start : span.end]):
        return (span,)
    is_secret = _is_key
    if is_of_password(key) or text[match.start] > 127 or not key:
        is_secret = _is_password
    return (span,) if is_secret(text, match, span, is_quoted=is_quoted) else NOTHING


def is_of_password(key: bytes) -> bool:
    """Return whether a name is that of something people choose, rather than of a key."""
    return any(word.lower() in PASSWORDS for word in PIECE.findall(key))


def is_sure(value: bytes) -> bool:
    """Return whether a value can only be a secret, next to the name of one."""
    return is_odd(value) or is_numbered_phrase(value) or is_salt(value)


def take_sure(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a value that is in braces or fills its line, if it can only be a secret."""
    opening = OPENING.match(text, value.start)
    span = TextSpan(opening.end() if opening else value.start, value.end)
    found = text[span.start : span.end]
    if not opening:
        found = ANOTHER_PARAMETER.split(found, maxsplit=1)[0]
        span = TextSpan(span.start, span.start + len(found))
    key = key_around(text, match.start)
    is_name = key == b"PWD" or is_secret_key(key)
    return (span,) if is_name and is_sure(found) and not is_call(found) else NOTHING


CODE = re.compile(rb"[A-Za-z_$][\w$.]*\(.*\)[;,]?|.*[;,({]")


def is_call(value: bytes) -> bool:
    """Return whether a value is a call in source code, or continues after it."""
    return CODE.fullmatch(value) is not None


TITLE = re.compile(r"(?:\A|[\n\x00\x1f]|\\n|\"|→|\t|\| |\] )[^\n\x00()={};,\\]{0,40}\Z".encode())
ENDS_OPEN = re.compile(
    rb"(?:[:=]|\bis|\bare|\bwas)[|>*\\\"'` \t+(-]*(?:<<[-~]?[ \t]*\\*[\"']?[A-Z_]+\\*[\"']?)?[ \t]*(?:\r|\n|\\+n|\xe2\x94\x82|\|)"
)


def take_line(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what fills the line after the name of a secret."""
    span, is_quoted = strip_quote(text, value)
    found = text[span.start : span.end].rstrip()
    span = TextSpan(span.start, span.start + len(found))
    key = key_around(text, match.start)
    if not is_secret_key(key) or (not is_quoted and is_call(found)):
        return NOTHING
    is_open = ENDS_OPEN.search(text, match.start, span.start) is not None
    if not is_open and TITLE.search(text, max(0, match.start - 80), match.start) is None:
        return NOTHING
    if is_placeholder(found) or is_reference(found) or is_dotted_name(found):
        return (span,) if is_odd(found) and is_open else NOTHING
    if is_open and is_of_password(key) and (is_passphrase(found) or is_phrase(found)):
        return (span,)
    if TECHNICAL_WORD.fullmatch(found) or TECHNICAL.search(found):
        return NOTHING
    is_worth = is_sure(found) or (
        b" " not in found and (is_random(found) or is_chosen(found) or is_weak(found))
    )
    return (span,) if is_worth else NOTHING


def strip_quote(text: bytes, value: TextSpan) -> tuple[TextSpan, bool]:
    """Return a value without its quote or the punctuation after it, and whether it had a quote."""
    opening = OPENING.match(text, value.start)
    return (
        (TextSpan(opening.end(), value.end), True) if opening else (trim_value(text, value), False)
    )


def key_around(text: bytes, start: int) -> bytes:
    """Return the whole name around a position."""
    start += text[start] not in KEY_LETTERS
    before = KEY_BEFORE.search(text, max(0, start - 64), start)
    behind = KEY.match(text, start)
    key = (before[0] if before else b"") + (behind[0] if behind else b"")
    first = start - len(before[0]) if before else start
    if ESCAPED.match(text, first - 1):
        return key[1:]
    return key.strip(b"-.")


def is_secret_key(key: bytes) -> bool:
    """Return whether a name is that of a secret rather than of something about one."""
    words = [word.lower() for word in PIECE.findall(key)]
    while words and words[-1].isdigit():
        words = words[:-1]
    if words and words[-1] in (b"confirmation", b"confirm") and PASSWORDS & set(words):
        return True
    if (words and words[-1] in ABOUT) or key in (b"PWD", b"OLDPWD", b"user.signingkey"):
        return False
    if b"public" in words:
        return False
    if words and words[-1] == b"key" and len(words) > 1 and words[-2] in OTHER_KEYS:
        return False
    if b"token" in words:
        place = words.index(b"token")
        return not (place and words[place - 1] in OTHER_TOKENS) and words[-1] not in OTHER_TOKENS
    return bool(words) or not key


NEXT_PARAMETER = re.compile(rb"&(?=&|amp;|[A-Za-z0-9_.\-\[\]]*(?:=|\Z))")

ANOTHER_PARAMETER = re.compile(rb"&(?=&|amp;|[A-Za-z0-9_.\-\[\]]*=)")


def trim_value(text: bytes, value: TextSpan) -> TextSpan:
    """Return a value without what follows it in an address or at the end of a sentence."""
    found = text[value.start : value.end]
    is_in_query = PARAMETER.search(text, max(0, value.start - 80), value.start - 1) is not None
    parameter = NEXT_PARAMETER if is_in_query else ANOTHER_PARAMETER
    found = parameter.split(found, maxsplit=1)[0]
    for stop in (b"#L", b"..."):
        found = found.partition(stop)[0]
    return TextSpan(value.start, value.start + len(found.rstrip(b".:*?")))


BY = re.compile(rb"(?i)identified\b.* by ")


def _is_password(text: bytes, match: TextSpan, span: TextSpan, *, is_quoted: bool) -> bool:
    value = text[span.start : span.end]
    if _is_out_of_question(text, span, value, is_quoted=is_quoted) or len(value) < 6:
        return False
    if is_passphrase(value):
        return True
    if is_quoted:
        is_worth = is_mixed(value) or is_random(value)
        return is_phrase(value) or (b" " not in value and is_worth)
    if _is_in_environment(text, match, span) or BY.search(text, match.start, span.start):
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
        name = text[max(0, match.start - 12) : span.start].lower()
        is_key = b"key" in name and STRONG_KEY.search(name) is None
        return not is_key or _is_in_environment(text, match, span)
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


def _is_chosen_key(value: bytes) -> bool:
    is_varied = any(65 <= number <= 90 for number in value) and any(
        97 <= item <= 122 for item in value
    )
    return is_varied and is_chosen(value) and CAMEL.fullmatch(value) is None


def _is_out_of_question(text: bytes, span: TextSpan, value: bytes, *, is_quoted: bool) -> bool:
    if is_placeholder(value) or is_reference(value) or is_plain_word(value):
        return True
    if DAY.match(value):
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


IN_LIST_OF_SETTINGS = re.compile(rb";[A-Za-z][A-Za-z _]{1,30}=|;\\{0,7}[\"']|[ ][a-z_]{2,20}=[^=]")


def _is_literal(text: bytes, end: int) -> bool:
    """Return whether a value ends its line, its element or its setting, apart from punctuation."""
    while text[end : end + 1] in (b"*", b"?", b".", b"!"):
        end += 1
    if IN_LIST_OF_SETTINGS.match(text, end):
        return True
    return ends_line(text, end) or text[end : end + 2] == b"</"


def ends_line(text: bytes, end: int) -> bool:
    """Return whether a line ends at a position, really or as written in JSON."""
    follows = text[end : end + 2]
    return (
        not follows or follows[:1] in (b"\n", b"\r", b"\0", b"\x1f") or follows in (b"\\n", b"\\r")
    )


LEAST_SPOKEN, MIN_STATED = 10, 6
LEAST_SURE = 6
ASSIGNS = re.compile(rb"[a-z]=[{(\[]|[{}]")
TECHNICAL_NAME = re.compile(rb"x86_64|-linux|-gnu|-darwin|aarch64")
TECHNICAL_WORD = re.compile(
    rb"[a-z]+(?:[_-][a-z0-9]+)+|[\w.-]+\.[a-z]{2,4}|[A-Z][a-z]+[0-9]{0,2}|[a-z]+[0-9]{0,2}"
)


ONLY_NAME = re.compile(rb"[A-Za-z_.-]+=")


def take_stated(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what a sentence says the secret is."""
    span, is_quoted = strip_quote(text, value)
    if (
        is_quoted
        and is_phrase(text[slice(*span)])
        and is_of_password(key_around(text, match.start))
    ):
        return (span,)
    if text.count(b"-", span.start, span.end) > 4 or TECHNICAL_NAME.search(
        text, span.start, span.end
    ):
        return NOTHING
    is_about = not is_secret_key(key_around(text, match.start)) or ONLY_NAME.fullmatch(
        text, span.start, span.end
    )
    return (
        (span,) if not is_about and _is_stated(text[span.start : span.end], MIN_STATED) else NOTHING
    )


LAST_WORDS = re.compile(rb"[A-Za-z]+")


def take_stated_of(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what a sentence says somebody's secret is, but not statements about it."""
    words = [word.lower() for word in LAST_WORDS.findall(text, match.start, value.start)]
    return NOTHING if any(word in ABOUT for word in words[1:]) else take_stated(text, match, value)


def _is_stated(found: bytes, least: int) -> bool:
    if is_sure(found):
        return True
    if len(found) < least or is_placeholder(found) or is_reference(found) or is_plain_word(found):
        return False
    if is_passphrase(found):
        return True
    if is_weak(found):
        return True
    if ASSIGNS.search(found) or (found.strip(b"*_~").isalpha() and not is_random(found)):
        return False
    if b" " in found or TECHNICAL.search(found) or TECHNICAL_WORD.fullmatch(found):
        return is_random(found) and b" " not in found and not TECHNICAL.search(found)
    return is_random(found) or is_chosen(found) or is_mixed(found)


def take_spoken(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what follows the word itself, if it is random or could not be said otherwise."""
    span, is_quoted = strip_quote(text, value)
    found = text[span.start : span.end]
    if not is_secret_key(key_around(text, match.start)):
        return NOTHING
    is_certain = is_weak(found) and (
        is_quoted or (SURE.search(text, max(0, match.start - 12), value.start) is not None)
    )
    if not _is_stated(found, LEAST_SURE if is_quoted or is_certain else LEAST_SPOKEN):
        return NOTHING
    is_secret = is_certain or is_random(found) or is_chosen(found) or is_passphrase(found)
    return (span,) if is_secret or (is_quoted and is_sure(found)) else NOTHING


# Words that are used for secrets only, and names of settings.
SURE = re.compile(
    rb"(?i)passw|passphrase|kennwort|contrase|senha|wachtwoord|parola|has[l\xc5]|heslo|salasana|adgangskode|passord"
    rb"|psk|pwd?\b|[a-z]pass\b|bindpw|rootpw|requirepass|masterauth|community|mot de passe|mdp|[\x80-\xff]"
    rb"|[A-Z]{2,}_[A-Z_]{2,}[ \t]"
)


BEFORE = re.compile(
    rb"\\{0,7}[\"'`]?([^\x00-\x20\"'`\\<>(),;{}\[\]|\x7f-\xff]{6,200})\\{0,7}[\"'`]?\Z"
)


def _stated_before(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the word before `as the password`."""
    if is_in_stand_in(text, match.start):
        return NOTHING
    found = BEFORE.search(text, max(0, match.start - 200), match.start)
    if found is None or not _is_stated(found[1], MIN_STATED):
        return NOTHING
    return (TextSpan(*found.span(1)),)


def _spoken_login(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what is next to a name where somebody explains how to log in."""
    span, _ = strip_quote(text, value)
    found = text[span.start : span.end]
    if found[:1] == b"/":
        return NOTHING
    is_given = LOGIN_NAME.search(text, match.start, value.start) is not None and is_mixed(found)
    is_given = is_given and len(found) >= LEAST_GIVEN and not TECHNICAL.search(found)
    return (span,) if _is_stated(found, MIN_STATED) or is_given else NOTHING


LEAST_GIVEN = 8
LOGIN_NAME = re.compile(
    rb"(?:[ (:](?:root|admin|administrator|sa|postgres|user)|@[A-Za-z0-9.-]+\.[a-z]{2,12})(?:[ ]?/[ ]?|:[ ]?|[ ](?:and|und|et|y|e|using|with|mit|avec|con)[ ]|,[ ])\Z"
)
"""Who logs in, so that what follows is a password however plain."""


def _row(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a row of words that form no sentence."""
    words = text[value.start : value.end].split()
    return (value,) if sum(word in PROSE for word in words) < 2 else NOTHING


def _digits(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match digits that stand alone."""
    behind = text[value.end : value.end + 2]
    is_more = behind[:1].isalnum() or re.match(rb"[.:-][0-9A-Za-z]", behind) is not None
    return NOTHING if is_more or not is_at_word_start(text, match.start) else (value,)


ARTICLES = (
    r"(?:[ ](?:the|my|our|your|a|an|this|its|his|her|new|old|admin|root|db|database|api|master|staging|prod|production|default"
    r"|das|mein|dem|der|die|le|la|les|mon|ma|el|mi|a|o|minha|meu|il|mia|het|mijn|jako|som)){0,4}[ ]"
)
SENTENCES: tuple[Family, ...] = (
    setting_secret(
        "said",
        rf"(?:[ ](?:as|for|is|als|ist|come|como|comme|som|jako|như){ARTICLES}"
        rf"|(?:,|[ ][-–—]|,?[ ]which)(?:[ ](?:is|that's|this is))?[ ](?:the|this|that|my|our|your){ARTICLES}"
        rf"|[ ]\((?:the|my|our|your|new|old|this){ARTICLES})(?:{SPOKEN}|{NOUNS})",
        _stated_before,
    ),
    setting_secret(
        "login",
        r"(?:(?:[tT]est|[dD]emo|[aA]dmin|[sS]ervice) (?:account|user)|creds|Creds|credentials|Credentials|[lL]ogin|[lL]og in|[sS]ign in|Zugangsdaten|Anmeldedaten|identifiants|Identifiants"
        r"|credenciales|Credenciales|credenciais|Credenciais|credenziali|inloggegevens|Login-Daten|[lL]og into|[sS]ign into|[lL]ogged into)(?:[ ](?:for|on|to|at|of|(?:the|our|my|your)[ ][^\x00-\x20:=/]{1,20})[ ](?:[^\x00-\x20:=/]{1,30}[ ]){0,4}?(?=is|are|with|as|via|using))?(?:[ ]?(?:are|is|with|as|via|:|using)){0,2}[ ]?[:=]?[ ]?"
        r"[A-Za-z0-9_.@-]{2,40}(?:[ ]?/[ ]?|:[ ]?|[ ](?:and|und|et|y|e|using|with|mit|avec|con)[ ]|,[ ])"
        rf"(?P<v>{QUOTE}{QUOTED}|{BARE})",
        _spoken_login,
        trigger=r"(?:(?:[tT]est|[dD]emo|[aA]dmin|[sS]ervice) (?:account|user)|creds|Creds|credentials|Credentials|[lL]ogin|[lL]og in|[sS]ign in|Zugangsdaten|Anmeldedaten|[iI]dentifiants"
        r"|[cC]redenciales|[cC]redenciais|credenziali|inloggegevens|Login-Daten|[lL]og into|[sS]ign into|[lL]ogged into)[ :=]",
    ),
    setting_secret(
        "login-pair",
        rf"(?:\b(?:ID|Id|id|[lL]ogin|[uU]ser(?:name)?)|계정|아이디)[ ]?[/&,|+][ ]?(?:PWD?|pwd?|[pP]ass(?:word|wd)?|PASSWORD|비번|비밀번호|패스워드)"
        rf"[^\x00-\x1f]{{0,40}}?[ :=(-](?:[A-Za-z_][A-Za-z0-9_.-]{{1,30}}[ ]?[/:(][ ]?){{1,2}}(?P<v>{BARE})",
        _spoken_login,
        trigger=r"(?:ID|Id|id|[lL]ogin|[uU]ser(?:name)?|계정|아이디)[ ]?[/&,|+][ ]?(?:PWD?|pwd?|[pP]ass|PASS|비번|비밀번호|패스워드)",
    ),
    setting_secret(
        "login-of-host",
        rf"(?:[0-9]\.[0-9]{{1,3}}|@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::[0-9]{{2,5}})?(?:/[a-z]+)?(?:[ ][^\x00-\x20()]{{1,20}}){{0,2}}[ ]?(?:\(|-+>)[ ]?[A-Za-z_][A-Za-z0-9_.-]{{1,30}}/{{1,2}}(?P<v>{BARE})",
        _spoken_login,
        trigger=r"(?:[0-9]\.[0-9]+|@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::[0-9]+)?(?:/[a-z]+)?(?:[ ][^\x00-\x20()]+)*[ ]?(?:\(|-+>)[ ]?[A-Za-z_][A-Za-z0-9_.-]*/",
    ),
    setting_secret(
        "seed",
        r"(?:[sS]eed|[rR]ecovery|[mM]nemonic|[bB]ackup)(?:[ _-]?(?:[pP]hrase|[wW]ords))?[^\x00-\x1fa-z0-9]{1,4}(?:is:?[ ])?(?:\\{0,7}[\"'`])?(?P<v>[a-z]{3,8}(?:[ ][a-z]{3,8}){11,23})",
        _row,
        trigger=r"(?:[sS]eed|[rR]ecovery|[mM]nemonic|[bB]ackup)(?:[ _-]?(?:[pP]hrase|[wW]ords))?[^\x00-\x1fa-z0-9]+(?:is:?[ ])?(?:\\{0,7}[\"'`])?[a-z]+[ ][a-z]+[ ][a-z]+[ ][a-z]+[ ][a-z]+[ ][a-z]+[ ]",
    ),
    setting_secret(
        "pin",
        r"(?:(?:door|gate|alarm|entry|safe|lock) (?:code|combination)|PIN|[pP]in code|PIN[- ][cC]ode|[mM]y pin|[tT]he pin|CVV|CVC|[oO]ne-time code|[vV]erification code|OTP)(?:[ ](?:for|of|to)[ ][a-z ]{2,30})?(?:[ ]is|:|=)?[ ]?(?P<v>[0-9]{3,8})",
        _digits,
    ),
    setting_secret(
        "wifi-key",
        rf"[wW][iI]-?[fF][iI][^\x00-\x1f]{{0,40}}[ ,](?:key|pass|code)(?:[ ]is|:)?[ ](?P<v>{QUOTE}{QUOTED}|{BARE})",
        _spoken_login,
    ),
    setting_secret(
        "set-word",
        r"(?:passwd|add-authtoken|authtoken|auth|login|unseal|unlock)[ \t]"
        rf"(?:(?:--?[a-z-]{{1,20}}=)?[-A-Za-z0-9_./:@]{{1,40}}[ \t]){{0,3}}(?P<v>{QUOTE}{QUOTED}|{BARE})",
        take_spoken,
        trigger=r"(?:passwd|authtoken|auth|login|unseal|unlock)[ \t][^\x00-\x20]",
    ),
)


XML_ATTRIBUTES = r"(?:[ \t]+[A-Za-z:]+=\\{0,7}[\"'][^\"'<>\\]{0,60}\\{0,7}[\"']){0,3}"
OPERATOR = r"(?:::?=?|\|\|=|\?\??=|\?\?|=>|==?=?|<-|->|→|—|–|：|,|\(|\|\|?|>)"
EQUALS = (
    rf"(?:\*{{1,2}}|{QUOTE})?(?:\]|\))?(?:{QUOTE})?{XML_ATTRIBUTES}(?:{SPACE}{OPERATOR}|[ \t](?:is|was|to|BY|by)[ \t:])"
    rf"(?:\*{{2}})?[ \t]{{0,8}}(?:(?:PASSWORD|password|new )?\(|\[[ \t\r\n]*|\([ \t]*\r?\n[ \t]*|\(sensitive(?: value)?\)[ ]->[ ]|(?:with|value|text):[ ]|\{{|!{{1,2}}[a-z_]+[ ]|&[A-Za-z0-9_-]+[ ]|\$\((?:echo|printf)[ ](?:-n[ ])?|env\({QUOTE}[A-Z_]+{QUOTE},[ ])?"
)
CALLED = rf"(?:{QUOTE})?\]?(?:{QUOTE})?\)?(?:\.first\(\))?\.(?:type|fill|send_keys|sendKeys|setValue|val|set|keyboard)\("
BLOCK = r"(?:\r?\n|\\{1,7}n)[ \t+>:]{0,16}"
OWN = (
    r"(?:[ ](?:for|of|on|to|in|from|at|von|für|zu|de|del|du|des|da|do|pour|para|per|van|voor|från|till|til|od|от|для|к"
    r"|you need|we use|I use)(?:[ ](?:[^\x00-\x20\"'`:=;]{1,40}|{QUOTE}[^\x00-\x1f\"'`]{1,60}{QUOTE})){1,5}"
    r"|[ ]\([^\x00-\x1f()\"'`]{1,40}\))"
).replace("{QUOTE}", QUOTE)
VERBS = (
    r"is|was|will be|should be|must be|might be|may be|could be|would be|now|are|ist|lautet|war|sei|est|était|es|era|é|è|foi|to|jest|je|on|är|er|este|là"
    r"|είναι|это|такой|такий|так|має|hier|היא|هي|set to|equals|becomes|changed to|reset to|as|from|below|follows|enter|use|try"
)
IS = rf"(?:[ ](?:{VERBS})(?:[ ]?:)?[ ]|'s[ ]|(?:は|が|是：|是|为|是|는|은)[ ]?|[ ]?(?:->|→|—|–|=>)[ ]?|[ ]-[ ]|[ ]\([ ]?)"
COLON = r"[ ]?(?:[:=：])[ ]?"
CLOSED = (
    r"[bfruN@$]?(?P<q>(?:\\{0,7}\"){3}|\\{0,7}[\"'`])"
    r"(?:(?!(?<!\\)(?P=q))(?!\\{1,7}n)[^\x00-\x1f]){5,300}(?=(?P=q))"
)
VALUE = rf"(?:「|『|“|„|«|‘|{QUOTE}(?=\\))?(?P<v>{CLOSED}|[bfru@]?{QUOTE}{QUOTED}|{BARE})"
TIME = r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]|\Z)|[A-Za-z0-9_./-]+\.[A-Za-z0-9]+[:-][0-9]+[:-])"
END_OF_VALUE = rf"[ \t]*(?:{QUOTE}|\||;|│|\r?\n|\\{{1,7}}n|</|\Z)"
PARTS_BETWEEN = rf"(?>[ \t,:={{\[(~]|{NEW_LINE}){{1,40}}+"
WORD_BETWEEN = r"(?:\\{0,7}[\"'])?[A-Za-z0-9_./][A-Za-z0-9_./-]{0,60}+(?:\\{0,7}[\"'])?"
STATES = rf"(?P<v>{QUOTE}{QUOTED})"
TYPE = r"\??:[ ]?[A-Za-z&'<>\[\]?*. ]{2,30}?[ ]?="
ELSE = r"(?:\|\||\?\?|\?:|:-|or|,|:)"
ENVIRONMENT = r"(?:env|Env|ENV|config|Config|settings|os\.|\$\{)"


# What may follow the name of a secret, and the check of the value in it.
TAILS: tuple[tuple[str, SecondLook], ...] = (
    (rf"[ \t]*=[ \t]*\{{(?P<v>[^\x00-\x1f{{}}]{{6,200}})\}}(?={END_OF_VALUE}|[ \t])", take_sure),
    (r"[^<>\x00-\x1f]{0,80}>(?P<v>[^\x00-\x20<>\\]{6,300})</", take_sure),
    (r"[^<>\x00-\x1f]{0,80}>\s*<!\[CDATA\[(?P<v>[^\x00-\x1f]{6,300}?)\]\]>", take_sure),
    (
        rf"(?:{QUOTE})?[ \t]*(?::=?|=>?)[ \t]*(?P<v>[^\x00-\x20\"'`\\#][^\x00-\x20\"'`\\]{{7,120}}?)(?={END_OF_VALUE})",
        take_sure,
    ),
    (
        rf"(?:{QUOTE})?[^\x00-\x1f(){{}}\"'\\]{{0,40}}[|,][ \t]*default\([ \t]*{VALUE}",
        take_assigned,
    ),
    (
        rf"(?:{QUOTE})?(?:,|>|[ \t]\{{|/?>[ \t\r\n]*</?[a-zA-Z]+|</[a-z]+>)?(?>{NEW_LINE}|[ \t\r\n+]|\\{{1,7}}[nrt])*+"
        rf"(?:[a-zA-Z]+={QUOTE}[A-Za-z]+{QUOTE}>?[ \t]*)?"
        rf"(?:\\{{0,7}}[\"']?[tT]ype\\{{0,7}}[\"']?[ :=\\\"'A-Za-z]{{2,30}},[ \t\\\"']*)?"
        rf"(?:{QUOTE}|<|--?)?(?:[A-Za-z_]{{0,12}}[vV]alue|default|string|content)(?:{QUOTE})?(?:{SPACE}[:=]|>|[ \t]){SPACE}{VALUE}",
        take_assigned,
    ),
    (rf"{EQUALS}{VALUE}", take_assigned),
    (rf"{TYPE}[ ]?{STATES}", take_assigned),
    (
        rf"(?:{QUOTE})?{SPACE}[:=]{{1,2}}{SPACE}(?:[A-Za-z_.]{{0,30}}{ENVIRONMENT})[^\x00-\x1f;#]{{0,60}}?[ ]?{ELSE}[ ]?{STATES}",
        take_assigned,
    ),
    (
        rf"</[a-z]{{1,6}}>:?(?:[ \t\r\n]*<[a-z][^<>\x00-\x1f]{{0,40}}>){{1,3}}[ \t\r\n]*{VALUE}",
        take_assigned,
    ),
    (rf"{CALLED}{VALUE}", take_assigned),
    (
        rf"(?:{QUOTE}|\*\*)?[ \t]*(?:is|are|was)?[ \t]*[:=]?(?:\*\*|{QUOTE})?[ \t]*[|>]?[-+]?[ \t]*\(?(?:<<[-~]?[ \t]*(?:{QUOTE})?[A-Z_]{{2,20}}(?:{QUOTE})?|(?:{QUOTE}){{3}})?(?:{NEW_LINE}[ \t]*){{1,3}}"
        rf"(?:```[a-z]*{NEW_LINE}[ \t]*)?(?:>[ \t]+)?(?!{TIME})(?P<v>{CLOSED}|[^\x00-\x20\"'`\\]{{6,200}}|[a-z0-9 ]{{6,80}})(?={END_OF_VALUE})",
        take_line,
    ),
    (
        rf"(?:{QUOTE})?{SPACE}:?[ \t]?(?:[|>][-+]?)?{BLOCK}(?:{QUOTE})?(?P<v>{BARE})",
        take_assigned,
    ),
    (rf"{IS}{VALUE}", take_stated),
    (rf"{OWN}(?:{IS}|{COLON}){VALUE}", take_stated),
    (rf"(?:[ ][^\x00-\x20\"'`:=;,.()]{{1,20}}){{1,3}}(?:{IS}|{COLON}){VALUE}", take_stated_of),
    (
        rf"[ ,][^\x00-\x1f:;=.\"'`]{{1,60}}[ ](?:generated|created|again|below|this|use|used)(?:[ ](?:for|as|by|to)[ ][^\x00-\x20:\"'`]{{1,60}})?[ ]?:[ ]{VALUE}",
        take_stated,
    ),
    (rf"[ \t]{{1,40}}(?:[0-9][ \t])?{VALUE}", take_spoken),
)
COMPILED_TAILS = [(re.compile(expression.encode()), look) for expression, look in TAILS]


PLURAL = re.compile(rb"(?i)(?:token|secret|password|passwd|passphrase|credential|api[_.-]?key)s\Z")
"""Names that are more often counts or parts of programs than secrets: only a list below them
matches.
"""
LIST_ITEM = re.compile(
    rf"(?:{QUOTE}(?=[ \t]*(?:,|\r?\n|\\{{1,7}}n)))?(?:,?{NEW_LINE}[ \t]*-[ \t]+(?P<v>{CLOSED}|[^\x00-\x20\"'`\\]{{6,200}})(?:{QUOTE})?(?={END_OF_VALUE})"
    rf"|(?>[ \t,]|{NEW_LINE}){{0,20}}+(?P<w>{CLOSED.replace('P<q>', 'P<r>').replace('P=q', 'P=r')})(?:{QUOTE}))".encode()
)
LIST_HEAD = re.compile(rf"(?:{QUOTE})?[ \t]*(?::[ \t]*(?={NEW_LINE})|(?::|=>?)[ \t]*\[)".encode())
INNER_VALUE = re.compile(
    rf"(?:{QUOTE})?(?:{PARTS_BETWEEN}{WORD_BETWEEN}){{0,10}}?{PARTS_BETWEEN}(?:{QUOTE})?"
    rf"(?:[A-Za-z_]{{0,12}}[vV]alue|default|result)(?:{QUOTE})?[ \t]*[:=][ \t]*{VALUE}".encode()
)
BROKEN_IN_QUOTES = re.compile(
    rf"(?:{EQUALS}|[ \t]{{1,4}})[bfruN@$]?(?P<q>(?:\\{{0,7}}\"){{3}}|\\{{0,7}}[\"'`])(?P<v>[^\x00-\x1f\"'`]{{3,100}})"
    rf"{NEW_LINE}(?P<w>[^\x00-\x1f\"'`]{{1,80}})(?P=q)".encode()
)
NAME_OF_VALUE = re.compile(rb"[vV]alue|default|result")
FARTHEST_VALUE = 300


def _find_listed(text: bytes, match: TextSpan) -> tuple[TextSpan, ...]:
    """Match the items of a list whose name says that they are secret."""
    head = LIST_HEAD.match(text, match.end)
    if head is None or not is_secret_key(key_around(text, match.start)):
        return NOTHING
    found: list[TextSpan] = []
    place = head.end()
    while item := LIST_ITEM.match(text, place):
        span, _ = strip_quote(text, TextSpan(*item.span("w" if item["w"] else "v")))
        value = text[span.start : span.end]
        if is_odd(value) or (is_random(value) and not is_placeholder(value)):
            found.append(span)
        place = item.end()
    return tuple(found)


def _find_inner_value(text: bytes, match: TextSpan) -> tuple[TextSpan, ...]:
    """Match the value of an object whose name says that it is secret."""
    limit = match.end + FARTHEST_VALUE
    if NAME_OF_VALUE.search(text, match.end, limit) is None:
        return NOTHING
    found = INNER_VALUE.match(text, match.end, limit)
    if found is None:
        return NOTHING
    return take_assigned(text, TextSpan(match.start, found.end()), TextSpan(*found.span("v")))


def _find_broken(text: bytes, match: TextSpan) -> tuple[TextSpan, ...]:
    """Match a quoted value that continues in the next line."""
    found = BROKEN_IN_QUOTES.match(text, match.end)
    if found is None or not is_secret_key(key_around(text, match.start)):
        return NOTHING
    spans = TextSpan(*found.span("v")), TextSpan(*found.span("w"))
    return spans if is_sure(found["v"] + found["w"]) else NOTHING


NAME_OF_THING = re.compile(rb"arn:[^\s\"']{5,110}:\Z")


def _by_name(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the value given to the name by the first matching notation."""
    if is_in_stand_in(text, match.start) or NAME_OF_THING.search(
        text, max(0, match.start - 120), match.start
    ):
        return NOTHING
    if text.startswith(b">@", match.end):  # the gap of an address
        return NOTHING
    if PLURAL.search(text, match.start, match.end):
        return _find_listed(text, match)
    if spans := _find_announced(text, match):
        return spans
    for expression, look in COMPILED_TAILS:
        found = expression.match(text, match.end)
        if found is None:
            continue
        matched = TextSpan(match.start, found.end())
        if spans := look(text, matched, TextSpan(*found.span("v"))):
            return (
                *spans,
                *continue_value(text, spans[-1].end),
                *_find_codes(text, match, spans[-1]),
            )
    if spans := _find_listed(text, match) or _find_broken(text, match):
        return spans
    spans = _find_inner_value(text, match)
    return (*spans, *continue_value(text, spans[-1].end)) if spans else NOTHING


CODES = re.compile(rb"(?i)[_ -]codes?\Z")
NEXT_CODE = re.compile(
    rf"(?:{NEW_LINE}[ \t]*(?:[-*][ ]|[0-9]{{1,2}}[.)][ ])?|[ ,]{{1,4}})(?P<v>[A-Za-z0-9-]{{6,40}})".encode()
)
MOST_CODES = 20


def _find_codes(text: bytes, match: TextSpan, first: TextSpan) -> tuple[TextSpan, ...]:
    """Match the codes after the first of a list: they have its length and its hyphens."""
    if not CODES.search(text, match.start, match.end):
        return NOTHING
    form = re.sub(rb"[A-Za-z0-9]", b"0", text[slice(*first)])
    found: list[TextSpan] = []
    place = first.end
    while len(found) < MOST_CODES and (code := NEXT_CODE.match(text, place)):
        if re.sub(rb"[A-Za-z0-9]", b"0", code["v"]) != form or code["v"].isalpha():
            break
        found.append(TextSpan(*code.span("v")))
        place = code.end()
    return tuple(found)


ANNOUNCED = re.compile(
    rf"(?:[ ][^\x00-\x1f:]{{1,80}})?:(?:{NEW_LINE}[ \t]*){{1,2}}(?:[-*][ ]|[0-9]{{1,2}}[.)][ ])?(?P<v>[A-Za-z0-9]{{3,12}}(?:-[A-Za-z0-9]{{3,12}}){{0,4}})(?=[ \t,]*(?:{QUOTE}|\r?\n|\\{{1,7}}n|[ ,][A-Za-z0-9]|\Z))".encode()
)


def _find_announced(text: bytes, match: TextSpan) -> tuple[TextSpan, ...]:
    """Match the codes below a sentence that announces them."""
    if not CODES.search(text, match.start, match.end):
        return NOTHING
    first = ANNOUNCED.match(text, match.end)
    if first is None:
        return NOTHING
    spans = (TextSpan(*first.span("v")), *_find_codes(text, match, TextSpan(*first.span("v"))))
    has_digit = any(re.search(rb"[0-9]", text[slice(*span)]) for span in spans)
    return spans if has_digit and len(first["v"]) >= LEAST_CODE else NOTHING


LEAST_CODE = 6


# What continues in the next string of a list or a concatenation, or is given as another one.
MORE = re.compile(
    rf"{QUOTE}(?:[ \t]*[,+.]?[ \t]*(?:\\{{1,2}})?(?:\r?\n|\\{{1,7}}n)?[ \t+]*|[ ](?:or|and|to|->|=>)[ ]){QUOTE}(?P<v>[^\x00-\x1f\"'`\\]{{3,2100}})"
    rf"|{QUOTE}?[ ](?:to|or)[ ](?:{QUOTE})?(?P<w>{BARE})|,?[ ](?:and )?(?:the )?new(?: one| password)?(?: is)?:?[ ](?P<x>{BARE})".encode()
)
MOST_MORE = 8


def continue_value(text: bytes, place: int) -> tuple[TextSpan, ...]:
    """Return the strings next to a secret that look like another one, or like its continuation."""
    found: list[TextSpan] = []
    while len(found) < MOST_MORE and (more := MORE.match(text, place)):
        span = extend_to_quote(text, trim_value(text, TextSpan(*more.span(more.lastgroup or 0))))
        value = text[span.start : span.end]
        is_worth = is_random(value) or is_passphrase(value) or is_chosen(value)
        if not is_odd(value) and (not is_worth or is_placeholder(value)):
            break
        found.append(span)
        place = span.end
    return tuple(found)


# Texts are searched for a name and for what may lead to its value; a second check finds the value.
LEADS = (
    rf"(?:{QUOTE})?(?:[\])*]{{1,2}})?(?:{QUOTE})?(?:[ \t]{{0,8}}{OPERATOR}[ \t*]{{0,8}}[^\x00-\x20]{{3}}|[ \t]{{1,8}}[^\x00-\x20]|'s[ ]|は|が|是|为|는|은)"
    rf"|(?:{QUOTE})?(?:\*\*)?[ \t:,>={{\[]*(?:{QUOTE}|\*\*)?[ \t]?[|>(]?[-+]?(?:[ \t]+(?:│|\|))?(?:\r?\n|\\{{1,7}}n)[^\x00]|</[a-z]+>|(?:{QUOTE})?\]?{QUOTE}\)\."
)

NAMED: tuple[Family, ...] = (
    setting_secret("named", NOUN, _by_name, trigger=rf"{NOUN}(?:{LEADS})", is_many=True),
)


SCHEME = re.compile(rb"([A-Za-z-]{2,20})(?:[ \t]+|%20|\+)(?:token=\\{0,7}\"?)?")
LONGEST_NAME = 60
"""A longer name with dots is a token rather than the name of a variable."""


def _header(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the credentials of an authorization header, without the name of the scheme."""
    scheme = SCHEME.match(text, value.start, value.end)
    span = TextSpan(scheme.end(), value.end) if scheme else value
    found = text[span.start : span.end].rstrip(b".:,")
    is_name = len(found) < LONGEST_NAME and is_dotted_name(found)
    if is_placeholder(found) or is_plain_word(found) or is_name:
        return NOTHING
    if scheme and scheme[1].lower() == b"basic":
        is_secret = is_basic(found)
    else:
        is_secret = (
            is_random(found)
            or is_passphrase(found)
            or is_chosen(found)
            or is_weak(found)
            or (len(found) >= 24 and not is_wordy(found))
        )
    return (TextSpan(span.start, span.start + len(found)),) if is_secret else NOTHING


def is_basic(value: bytes) -> bool:
    """Return whether a value is a name and a password in base64."""
    try:
        # A line break may have cut it.
        value = value[: len(value) - (len(value) % 4 == 1)]
        padded = value + b"=" * (-len(value) % 4)
        _, colon, password = base64.b64decode(padded, validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return False
    return bool(colon) and len(password) >= 3 and not is_placeholder(password)


PAIR = re.compile(
    rb"[ ]*([A-Za-z0-9_.\-]+)=([^;,\x00-\x20\"'\\]*)(?:; ?|\Z|[ ]+(?:\||\xe2\x94\x82))"
)
COOKIE_ATTRIBUTES = frozenset(b"path domain expires max-age samesite version priority".split())


SESSION = re.compile(rb"(?i)sess|sid\b|auth|token|jwt|csrf|xsrf|remember|login|secret")


def _cookies(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the cookies of a header up to their attributes, if one of them is secret."""
    end, place, is_secret = value.start, value.start, False
    while pair := PAIR.match(text, place, value.end):
        if pair[1].lower() in COOKIE_ATTRIBUTES:
            break
        is_worth = is_random(pair[2]) or is_chosen(pair[2])
        is_worth = is_worth or (SESSION.search(pair[1]) is not None and is_likely(pair[2]))
        is_secret = is_secret or (is_worth and not is_placeholder(pair[2]))
        end, place = pair.end(2), pair.end()
    return (TextSpan(value.start, end),) if is_secret else NOTHING


REST_OF_PASSWORD = re.compile(
    rb"@[^\x00-\x20\"'`\\<>/@]{1,80}(?=@[A-Za-z0-9.-]+(?::[0-9]+)?(?:[/?\s\"'\\]|\Z))"
)
"""What follows a sign that should have been written as a code."""


GAP_SIGNS = (b"$", b"{", b"<", b"%", b"[", b"*", b"&lt;")
"""How a gap in an address begins that a program or somebody fills in."""


def _credential(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the password in a URL, unless it is a placeholder or well known."""
    if rest := REST_OF_PASSWORD.match(text, value.end):
        value = TextSpan(value.start, rest.end())
    found = text[value.start : value.end]
    user = text[match.start : value.start].rpartition(b"/")[2].rstrip(b":")
    if found in WEAK or found == user or (found.isdigit() and len(found) < 6):
        return NOTHING
    if ANOTHER.search(found):  # it begins before the name of the password itself
        return NOTHING
    if is_placeholder(found) or is_plain_word(found) or found.startswith(GAP_SIGNS):
        return NOTHING
    if any(sign in found for sign in (b"{", b"}", b"$", b"(", b"|")) and not is_random(found):
        return NOTHING
    return (value,)


def _broken_credential(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the password in a URL that continues in the next line because its own was full."""
    first, *rest = split_at_breaks(text, value)
    is_full = first.end - line_start(text, first.start) >= FULL_LINE
    is_port = text[first.start : first.end].isdigit()
    return (first, *rest) if is_full and not is_port else NOTHING


NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.-]{2,40}:([^\x00-\x20\"'`\\<>/@:(){}]{6,80})\Z")


ORACLE_BEFORE = re.compile(
    rb"(?:thin:|oci:|\A|[\s\"'=])[A-Za-z0-9_]{2,30}/([^\x00-\x20\"'`\\<>/@:(){}]{6,80})\Z"
)


def take_login_before(form: re.Pattern[bytes]) -> SecondLook:
    """Return a look at the name and the password before a place, where no scheme comes first."""

    def look(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
        found = form.search(text, max(0, match.start - 130), match.start)
        return _paired(text, match, TextSpan(*found.span(1))) if found else NOTHING

    return look


def _parameter(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the value of a parameter if it is secret."""
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
    """Match a path component after a word that asks for a secret."""
    found = text[value.start : value.end]
    return (
        (value,)
        if is_random(found) or (is_chosen(found) and b"://" in text[match.start : value.start])
        else NOTHING
    )


STEP_NAME = re.compile(rb"bot[0-9]+:|private-")


def _secret_step(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the last path component of a URL, after a word that asks for a secret."""
    start = text.rfind(b"/", match.start, match.end - 1) + 1
    name = STEP_NAME.match(text, start)
    end = match.end - (text[match.end - 1 : match.end] == b"/")
    span = TextSpan(name.end() if name else start, end)
    found = text[span.start : span.end]
    if TECHNICAL.search(found):
        return NOTHING
    return (span,) if is_random(found) or is_chosen(found) else NOTHING


def _paired(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the second of two quoted words of a login."""
    value = extend_to_quote(text, value)
    found = text[value.start : value.end]
    if is_odd(found):
        return (value,)
    if is_placeholder(found) or is_plain_word(found) or found.isdigit():
        return NOTHING
    return (value,) if is_likely(found) else NOTHING


LOGINS = (
    r"(?:auth|Auth|login|Login|log_in|signin|sign_in|authenticate|credentials|Credentials|Credential"
    r"|NetworkCredential|PSCredential|HTTPBasicAuth|BasicAuth|basic_auth|basicAuth|connect|mysqli_connect"
    r"|[cC]onnection|PDO|begin|createUser|create_user|create_superuser|Twilio|Credential\]?::new"
    r"|mysqli|[a-z][A-Za-z]*(?:Password|Login|Credentials?)|sign_in_with_password|algoliasearch)"
)
WORD = rf"{QUOTE}[^\x00-\x1f\"'`\\]{{0,80}}{QUOTE}|[A-Za-z_][A-Za-z0-9_.$]{{0,40}}"
BEFORE_AT = r"[^\x00-\x20\"'`\\<>/@:]"

ADDRESSES: tuple[Family, ...] = (
    Family(
        "authorization",
        rf"(?:[aA]uthorization|AUTHORIZATION|Authentication)(?:{QUOTE})?\]?{SPACE}(?:[:=,]|[ \t]|=>){SPACE}"
        rf"(?:(?:{QUOTE})?[vV]alue(?:{QUOTE})?{SPACE}[:=]{SPACE})?(?:{QUOTE})?"
        rf"(?P<v>(?:[A-Za-z-]{{2,20}}[ \t]{{1,4}}(?:token=\\{{0,7}}\"?)?)?[A-Za-z0-9._~+/=:|!#*^-]{{8,}})",
        _header,
        label="authorization header",
    ),
    Family(
        "bearer",
        rf"(?:Bearer|bearer|BEARER)(?:[ \t]{{1,4}}|%20|\+|:|,[ \t]?)(?:{QUOTE}[ \t]?[+.][ \t]?{QUOTE})?"
        r"(?P<v>[A-Za-z0-9._~+/=|!#*^-]{12,})",
        _header,
        label="bearer token",
    ),
    Family(
        "digest",
        r"(?:oauth_token|response|[sS]ignature|oauth_signature|mac|nonce)=\\{0,7}\"?(?P<v>[A-Za-z0-9%+/=_.!#*^~-]{10,})",
        _parameter,
        label="authorization header",
    ),
    Family(
        "cookie",
        rf"(?:[cC]ookie|COOKIE)(?:{QUOTE})?{SPACE}[:=,]{SPACE}(?:(?:{QUOTE})?[vV]alue(?:{QUOTE})?{SPACE}[:=]{SPACE})?(?:{QUOTE})?"
        r"(?P<v>[A-Za-z0-9_.-]+=[A-Za-z0-9._~%+/=:|!#*^-]{1,}[^\x00-\x1f\"'\\]*)",
        _cookies,
        label="cookie",
    ),
    Family(
        "cookie-flag",
        rf"[ \t](?:-b|--cookie)[ \t=](?:{QUOTE})?(?P<v>[A-Za-z0-9_.-]+=[A-Za-z0-9._~%+/=:|!#*^-]{{6,}})",
        _cookies,
        label="cookie",
    ),
    Family(
        "url-password",
        rf"[a-z0-9]:(?:\\{{0,4}}/){{2}}{BEFORE_AT}*:(?P<v>[^\x00-\x20\"'`\\<>/@]{{3,}})@[A-Za-z0-9\[]",
        _credential,
        label="password in an address",
    ),
    Family(
        "url-password-broken",
        rf"[a-z0-9]:(?:\\{{0,4}}/){{2}}{BEFORE_AT}*:(?P<v>[^\x00-\x20\"'`\\<>/@]{{3,}}(?:\r?\n|\\{{1,7}}n)[^\x00-\x20\"'`\\<>/@:]{{2,}})@[A-Za-z0-9\[]",
        _broken_credential,
        label="password in an address",
    ),
    Family(
        "url-token",
        r"https?:(?:\\{0,4}/){2}(?P<v>[A-Za-z0-9_.!+*~-]{16,})(?::|:x-oauth-basic)?@[A-Za-z0-9]",
        _secret_path,
        label="token in an address",
    ),
    Family(
        "place-password",
        r"@(?:tcp|unix|udp)\(",
        take_login_before(NAME_BEFORE),
        label="password in an address",
    ),
    Family(
        "oracle-password",
        r"@(?://)?[A-Za-z0-9.-]+:[0-9]{4,5}[/:]",
        take_login_before(ORACLE_BEFORE),
        label="password in an address",
    ),
    Family("azure-sas", r"[?&]sig=(?P<v>[A-Za-z0-9%+/=]{40,})", anywhere, label="azure signature"),
    Family(
        "url-parameter",
        r"(?:[?&#](?:[A-Za-z0-9_.-]*(?:[kK]ey|[aA]uth|[sS]ig|[sS]ignature|[sS]ession(?:[_-]?[iI]d)?|[tT]icket|[jJ]wt"
        r"|[pP]ass|passwd|pwd|otp|sid)|[a-z_]*code|hash|pw|k)|;[a-z]*session[iI]d)=(?P<v>[A-Za-z0-9%+/=_.!#*^~-]{6,})",
        _parameter,
        label="token in an address",
    ),
    Family(
        "url-path",
        r"[a-z]://[^\x00-\x20\"'`<>]{1,200}/(?:(?:reset-password|password-reset|reset_password|reset|magic-link|magic|verify|confirm|invite|unsubscribe"
        r"|activate|IncomingWebhook|webhooks?|hooks?|services|token|tokens|auth|share|s|key)(?:/[A-Za-z0-9_-]{1,40}){0,3}/[A-Za-z0-9_.!+*~-]{8,}"
        r"|bot[0-9]{5,12}:[A-Za-z0-9_-]{8,}|private-[A-Za-z0-9]{8,}/)",
        _secret_step,
        label="token in an address",
    ),
    Family(
        "docker-login",
        rf"{QUOTE}auth{QUOTE}{SPACE}:{SPACE}{QUOTE}(?P<v>[A-Za-z0-9+/]{{8,}}={{0,2}})",
        lambda text, match, value: (value,) if is_basic(text[value.start : value.end]) else NOTHING,
        label="docker login",
    ),
    command_secret(
        "auth-pair",
        rf"{LOGINS}{SPACE}=?{SPACE}\({SPACE}(?:{WORD}){SPACE},{SPACE}"
        rf"(?:(?:{WORD}){SPACE},{SPACE})?(?:[A-Za-z:]{{1,16}}\()?{QUOTE}(?P<v>[^\x00-\x20\"'`\\]{{6,}})",
        _paired,
        trigger=rf"{LOGINS}[ \t]?=?[ \t]?\([ \t]?[\"'\\A-Za-z_]",
    ),
    command_secret(
        "auth-words",
        rf"(?:basic_auth|http_basic|digest_auth)[ \t]{{1,4}}{QUOTE}[^\x00-\x1f\"'`\\]{{1,60}}{QUOTE},{SPACE}{QUOTE}(?P<v>[^\x00-\x20\"'`\\]{{6,}})",
        _paired,
    ),
    Family(
        "signed-header",
        r"[A-Za-z]-(?:[sS]ignature|SIGNATURE|[sS]ign|SIGN|[sS]ession(?:-[iI]d)?|[fF]unctions-[kK]ey|[aA]uth)(?:-[0-9]{1,3})?"
        rf"(?:{QUOTE})?[:,=][ ]?(?:{QUOTE})?(?:(?:sha[0-9]{{1,3}}|t)=(?:[0-9]{{1,12}},)?)?(?:v[01]=)?(?P<v>[A-Za-z0-9+/=_.!#*^~-]{{8,}})",
        _paired,
        label="authorization header",
    ),
    command_secret(
        "mail-login",
        r"(?:334 UGFzc3dvcmQ6(?:\r?\n|\\{1,7}n)(?:C:[ ])?|AUTH PLAIN[ ]|AUTH LOGIN[ ])(?P<v>[A-Za-z0-9+/]{6,}={0,2})",
        anywhere,
    ),
    command_secret(
        "mailbox-login",
        rf"[ ]LOGIN[ ](?:{QUOTE})?[A-Za-z0-9_.@+-]{{2,60}}(?:{QUOTE})?[ ](?:{QUOTE})?(?P<v>[^\x00-\x20\"'`\\]{{6,}})",
        _paired,
    ),
    setting_secret("wifi", r"WIFI:[^\x00-\x20\"]{0,80};P:(?P<v>[^\x00-\x1f;\"]{6,})", _paired),
    command_secret(
        "auth-word",
        rf"(?:btoa|Buffer|b64encode|Basic|base64){SPACE}\({SPACE}(?:b|f)?{QUOTE}[A-Za-z0-9_.@-]{{1,40}}:"
        r"(?P<v>[^\x00-\x20\"'`\\]{5,})",
        _paired,
    ),
    setting_secret(
        "key-argument",
        rf"(?:jwt\.(?:sign|encode|verify|decode)|hmac\.new|createHmac|bcrypt(?:\.\w{{2,12}})?|crypt\.crypt|Fernet|set_password|check_password|(?:amplitude|mixpanel|rollbar|bugsnag|heap|analytics|logrocket)\.(?:init|load|start)"
        r"|pgp_sym_(?:en|de)crypt(?:_bytea)?|(?:AES|aes)_(?:EN|en|DE|de)(?:CRYPT|crypt)|signWith|setSigningKey|hmacShaKeyFor|SecretKeySpec"
        rf"|setPassword|withPassword|setApiKey|setToken|setSecret|api_key|apiKey){SPACE}\((?:[A-Za-z0-9_.$'\" {{}}\[\]:]{{1,40}},{SPACE})?"
        rf"(?:b|f)?{QUOTE}(?P<v>[^\x00-\x20\"'`\\]{{6,}})",
        _paired,
        trigger=r"(?:jwt\.[a-z]+|hmac\.new|createHmac|bcrypt(?:\.[a-zA-Z_]+)?|crypt\.crypt|Fernet|set_password|check_password|setPassword|pgp_sym_[a-z_]+|(?:amplitude|mixpanel|rollbar|bugsnag|heap|analytics|logrocket)\.(?:init|load|start)"
        r"|(?:AES|aes)_(?:EN|en|DE|de)(?:CRYPT|crypt)|signWith|setSigningKey|hmacShaKeyFor|SecretKeySpec"
        r"|withPassword|setApiKey|setToken|setSecret|api_key|apiKey)[ \t]?\(",
    ),
)


BREAK = r"(?:[ \t]*\r?\n(?:[ \t]*[0-9]+(?:\t|→))?[ \t+>|]{0,16}|[ \t]*\\{1,7}n[ \t+>|]{0,16})"
GAP = rf"(?:[ \t]+|{BREAK})"


def _is_worth(found: bytes) -> bool:
    if len(found) < 5 or is_placeholder(found) or is_reference(found) or is_plain_word(found):
        return False
    return is_likely(found)


def _value(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return (value,) if _is_worth(text[value.start : value.end]) else NOTHING


HEAD = re.compile(
    rb"(?i)pass|secret|token|(?:api|access)[_ -]?key|credential|kennwort|contrase|senha|mot de passe|\bpw\b|\bpwd\b"
)


RULE = re.compile(rb"-{3}[-+|:= \\]*\Z")
"""The line that a table has below its head, or around it."""


def _column(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the cells of a table below a header `password`."""
    cells = _iter_cells(text, match, value, HEAD)
    return tuple(
        span for span in cells if _is_worth(text[slice(*span)]) and b" " not in text[slice(*span)]
    )


NAME_HEAD = re.compile(
    rb"(?i)(?:first|last|full|given|family|sur|middle|customer|contact|employee|display|real)?[ _-]?name|customer|employee|assignee|contact"
)
NAME_CELL = re.compile(rf"{TITLED}(?:[ ]{TITLED}){{0,3}}".encode())


def _name_column(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the names in a table that has a column for what people have, such as an address."""
    cells = list(_iter_cells(text, match, value, NAME_HEAD))
    names = [
        span for span in cells if NAME_CELL.fullmatch(text, *span) and is_person(text[slice(*span)])
    ]
    return tuple(names) if len(names) == len(cells) else NOTHING


def _iter_cells(
    text: bytes, match: TextSpan, value: TextSpan, wanted: re.Pattern[bytes]
) -> Iterator[TextSpan]:
    """Yield the cells of a table below the heads that are wanted; `value` is a sign between cells."""
    sign = text[value.start : value.end]
    start = line_start(text, match.start)
    end = _end_of_line(text, match.start)
    below = _next_line(text, end)
    count = text.count(sign, below, _end_of_line(text, below))
    if text.count(sign, start, end) != count:  # it may begin inside a line of JSON
        start = max(start, text.rfind(b'"', start, match.start) + 1)
    heads = [item.strip(b" \t\"'`*") for item in text[start:end].split(sign)]
    search = wanted.search if wanted is HEAD else wanted.fullmatch
    columns = [n for n, head in enumerate(heads) if len(head) < 30 and search(head)]
    for _ in range(50 if columns else 0):
        start = _next_line(text, end)
        end = _end_of_line(text, start)
        cells = text[start:end].split(sign)
        if start < len(text) and RULE.search(text, start, end):
            continue
        if start >= len(text) or len(cells) != len(heads):
            break
        for column in columns:
            place = start + sum(len(cell) + len(sign) for cell in cells[:column])
            cell = cells[column]
            bare = cell.strip(b" \t\"'`*")
            place += cell.find(bare)
            if bare.strip(b"-:"):
                yield TextSpan(place, place + len(bare))


def _end_of_line(text: bytes, place: int) -> int:
    ends = [end for sign in (b"\n", b"\\n", b"\0") if (end := text.find(sign, place)) >= 0]
    return min(ends, default=len(text))


def _next_line(text: bytes, end: int) -> int:
    return end + (2 if text[end : end + 1] == b"\\" else 1)


SECTION_LINE = re.compile(
    rf"{NEW_LINE}([ \t]+)[\"']?[A-Za-z0-9_.-]+[\"']?[ \t]*[:=][ \t]*(?:[|>][-+]?{NEW_LINE}[ \t]*)?[\"']?"
    r"([^\x00-\x20\"'\\,{}\[\]]{1,400})".encode()
)


def _section(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the values of a section whose name says that all of them are secret."""
    found: list[TextSpan] = []
    place, margin = match.end, None
    while line := SECTION_LINE.match(text, place):
        margin = margin or line[1]
        if line[1] != margin:
            break
        if (is_random(line[2]) or is_chosen(line[2])) and not is_reference(line[2]):
            found.append(TextSpan(*line.span(2)))
        place = line.end()
        place += 1 if text[place : place + 1] in (b'"', b"'") else 0
    return tuple(found)


COLUMNS = re.compile(rf"\(([^()]{{1,400}})\)(?>[ \t]|{NEW_LINE})*+(?:VALUES|values)".encode())
ROW_START = re.compile(rf"(?>[ \t,]|{NEW_LINE})*+\(".encode())
CELL = re.compile(
    rf"(?>[ \t,]|{NEW_LINE})*+(?:[NEBX]?(?P<q>\\{{0,7}}')(?P<v>(?:''|(?!(?<!\\)(?P=q))[^\x00])*?)(?P=q)(?!')|[^\x00',()]+(?:\([^()]*\))?)".encode()
)
MOST_ROWS = 200


def _inserted(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the values that a statement inserts into columns with secret names."""
    found = COLUMNS.search(text, match.end, match.end + 500)
    if found is None:
        return NOTHING
    heads = [HEAD.search(head) is not None for head in found[1].split(b",")]
    place, spans = found.end(), []
    for _ in range(MOST_ROWS if any(heads) else 0):
        row = ROW_START.match(text, place)
        if row is None:
            break
        place = row.end()
        for is_secret in heads:
            cell = CELL.match(text, place)
            if cell is None:
                break
            written = cell["v"] or b""
            if is_secret and (is_sure(written) or _is_worth(written)):
                spans += split_at_breaks(text, TextSpan(*cell.span("v")))
            place = cell.end()
        place += text[place : place + 1] == b")"
    return tuple(spans)


COPIED_COLUMNS = re.compile(rb"[^\x00-\x20(]{1,100} \(([^()]{1,600})\) (?:FROM|from) stdin")
COPIED_ROW = re.compile(
    rb"(?:\r?\n|\\{1,7}n)(?P<row>[^\x00-\x08\x0a-\x1f]*?)(?=\r?\n|\\{1,7}n|\\{0,7}\"|\Z)"
)
TAB = re.compile(rb"\t|\\{1,7}t")


def _copied(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the cells of a dump in columns whose names say that they are secret."""
    head = COPIED_COLUMNS.match(text, match.end)
    if head is None:
        return NOTHING
    names = head[1].split(b",")
    columns = [number for number, name in enumerate(names) if HEAD.search(name)]
    place, spans = text.find(b";", head.end(), head.end() + 3) + 1, []
    for _ in range(MOST_ROWS if columns and place else 0):
        row = COPIED_ROW.match(text, place)
        if row is None or row["row"].lstrip(b"\\") == b".":
            break
        start = row.start("row")
        cells = TAB.split(row["row"])
        for number, cell in enumerate(
            cells, len(names) - len(cells)
        ):  # a listing numbers its lines
            if number in columns and (is_sure(cell) or _is_worth(cell)):
                spans.append(TextSpan(start, start + len(cell)))
            sign = TAB.match(text, start + len(cell))
            start = sign.end() if sign else start + len(cell)
        place = row.end()
    return tuple(spans)


NAME_AFTER = re.compile(
    rf"(?:{QUOTE})?(?>[,;]|{NEW_LINE}|[ \t]+|[\]}}]|(?:WHERE|where|AND|and)[ ]|(?:{QUOTE})?[A-Za-z_]{{1,20}}\\{{0,7}}[\"']?[:=][ ]?(?:true|false|[0-9]{{1,6}})){{1,30}}+"
    rf"(?:{QUOTE})?(?:[a-zA-Z_]{{0,20}}[nN]ame|[kK]ey|[tT]ype|[iI]d|[sS]etting)(?:{QUOTE})?[ \t]*[:=][ \t]*{QUOTE}(?P<name>[A-Za-z0-9_.:/-]{{3,80}})".encode()
)


def _named_after(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a value whose name stands behind it."""
    name = NAME_AFTER.match(text, value.end)
    if name is None or not is_name_of_secret(name["name"]):
        return NOTHING
    found = text[slice(*value)]
    return (value,) if is_sure(found) or _is_worth(found) else NOTHING


LINE_BREAK = re.compile(NEW_LINE.encode())


def split_at_breaks(text: bytes, span: TextSpan) -> list[TextSpan]:
    """Return the parts of a value that a full line has broken."""
    found, place = [], span.start
    for broken in LINE_BREAK.finditer(text, span.start, span.end):
        found.append(TextSpan(place, broken.start()))
        place = broken.end()
    return [*found, TextSpan(place, span.end)]


def _user_row(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the password in a list of users: two quoted words on a line of their own."""
    if BEGINS_LINE.search(text, max(0, match.start - 120), match.start) is None:
        return NOTHING
    span, _ = strip_quote(text, value)
    found = text[span.start : span.end]
    is_worth = is_odd(found) or is_weak(found) or (is_chosen(found) and is_random(found))
    return (span,) if is_worth and not is_placeholder(found) else NOTHING


def _aligned(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the words below a header in a table with aligned columns."""
    column = value.start - line_start(text, value.start)
    found: list[TextSpan] = []
    end = _end_of_line(text, value.end)
    for _ in range(50):
        start = _next_line(text, end)
        end = _end_of_line(text, start)
        word = re.compile(rb"[^ \t\n\\]{5,}").match(text, start + column, end)
        if start >= len(text) or word is None or text[word.start() - 1 : word.start()] != b" ":
            break
        if _is_worth(word[0]):
            found.append(TextSpan(*word.span()))
    return tuple(found)


# Commands that print a secret and nothing else.
SHOWING = "|".join(
    (
        r"kubectl[ ][^\x00-\x1f|]{0,80}get[ ]secrets?[ /]",
        r"kubectl create token[ ]",
        r"op read[ ]",
        r"(?:go)?pass(?: show)?[ ][A-Za-z0-9_.-]+/",
        r"lpass show[ ]",
        r"bw get password[ ]",
        r"argocd admin initial-password",
        r"gcloud secrets versions access[ ]",
        r"gcloud auth (?:application-default )?print-(?:access|identity)-token",
        r"aws (?:ssm get-parameters?|secretsmanager get-secret-value|ecr get-login-password)",
        r"az (?:keyvault secret show|account get-access-token|acr credential show)",
        r"security find-(?:generic|internet)-password[ ]",
        r"secret-tool lookup[ ]",
        r"keyring get[ ]",
        r"vault (?:kv get|read|print token)",
        r"(?:heroku|doppler|chamber|fly|flyctl) (?:config:get|secrets get|read)[ ]",
        r"(?:gh|glab|fly|flyctl) auth token",
        r"oc whoami -t",
        r"openssl rand -(?:hex|base64)",
        r"(?:pwgen|apg|mkpasswd)[ ]",
        r"following (?:password|passphrase|token|secret|key|code)[ :]",
        r"(?:echo|printenv)[ ](?:\\{0,7}\")?\$?\{?[A-Z0-9_]*(?:PASS|SECRET|TOKEN|API_?KEY|PWD)",
        r"(?:cat|type|less|head)[ ][^\x00-\x20]*(?:[pP]assword|[pP]asswd|[sS]ecret|[tT]oken|api[_-]?key|\.vault[_-]?pass)[^\x00-\x20]{0,40}",
    )
)


SIGNED = re.compile(rb"[!@#$%^&*?~+=].*[!@#$%^&*?~+=]")


def _take_printed(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the only word of the line below a command that prints a secret."""
    found = text[slice(*value)]
    if is_placeholder(found) or is_reference(found) or is_dotted_name(found):
        return (value,) if is_odd(found) else NOTHING
    is_worth = is_sure(found) or is_random(found) or is_chosen(found) or is_weak(found)
    is_worth = is_worth or is_passphrase(found) or is_phrase(found)
    is_worth = is_worth or (is_mixed(found) and SIGNED.search(found) is not None)
    is_known = TECHNICAL_WORD.fullmatch(found) or TECHNICAL.search(found)
    return (
        (value,) if is_worth and not is_known and is_at_word_start(text, match.start) else NOTHING
    )


SECRET = r"[^\x00-\x20\"'`\\<>]{5,}"
FILES: tuple[Family, ...] = (
    Family(
        "netrc",
        rf"(?:login|account|default login|user){GAP}[^\x00-\x20\"'\\]+{GAP}(?:password|passwd){GAP}(?:{QUOTE})?"
        rf"(?P<v>{SECRET})",
        _value,
        label="password of netrc",
        trigger=rf"(?:login|account|user){GAP}[^\x00-\x20\"'\\]+{GAP}passw",
    ),
    setting_secret(
        "pgpass",
        r":(?:[0-9]{2,5}|\*):[A-Za-z0-9_*-]+:[A-Za-z0-9_.-]+:(?P<v>[^\x00-\x20\"'`\\:]{5,})",
        _value,
    ),
    setting_secret("mail-map", rf"\]:[0-9]{{2,5}}[ \t]+[A-Za-z0-9_.@-]+:(?P<v>{SECRET})", _value),
    setting_secret(
        "hash",
        r"[:'\",](?P<v>\$(?:1|2[aby]|5|6|7|y|apr1|argon2id?)\$[A-Za-z0-9./$=,+]{20,}|\{(?:S?SHA(?:256|512)?|MD5|SMD5|CRYPT)\}[A-Za-z0-9./+=$]{20,})",
        anywhere,
    ),
    setting_secret("directory-entry", r"assword::[ ](?P<v>[A-Za-z0-9+/]{8,}={0,2})", anywhere),
    setting_secret(
        "user-pair",
        rf"(?:user|User|login)[ ]?[=:][ ]?{QUOTE}[A-Za-z0-9_.@-]{{1,40}}:(?P<v>[^\x00-\x20\"'`\\]{{6,}}){QUOTE}",
        _value,
    ),
    setting_secret(
        "key-file",
        rf"[A-Za-z0-9]\.(?:key|pem|p12|pfx|jks|keystore)(?:{QUOTE})?[ \t]*:[ \t]*(?:{QUOTE})?(?P<v>[A-Za-z0-9+/]{{100,}}={{0,2}})",
        _value,
    ),
    setting_secret(
        "shown",
        rf"(?:{SHOWING})[^\x00-\x1f]{{0,200}}?(?:{NEW_LINE}[ \t]*){{1,3}}(?P<v>(?:[^\x00-\x20\\]|\\{{1,7}}[\"']){{6,300}}?|[a-z]{{3,10}}(?:[ ][a-z]{{3,10}}){{3,7}})"
        rf"(?=[ \t]*(?:\r?\n|\\{{1,7}}n|\x1b\[|\\{{0,7}}[\"'][ \t]*[,}}\]]|\\{{0,7}}[\"']?[ \t]*\Z|</))",
        _take_printed,
        trigger=rf"(?:{SHOWING})",
    ),
    setting_secret("acl", rf"user[ \t]+[A-Za-z0-9_-]+[ \t]+on[ \t]+>(?P<v>{SECRET})", _value),
    setting_secret(
        "ppp", rf"[ \t]\*[ \t]+{QUOTE}(?P<v>[^\x00-\x20\"'`\\]{{5,}}){QUOTE}[ \t]+\*", _value
    ),
    setting_secret(
        "bundle",
        rf"(?:BUNDLE_[A-Z0-9_]+|npmAuthIdent|rpcauth)(?:{QUOTE})?[ \t]*[:=][ \t]*(?:{QUOTE})?[A-Za-z0-9_.-]+:(?P<v>{SECRET})",
        _value,
    ),
    setting_secret(
        "oauth-map",
        rf"(?:github-oauth|gitlab-token|bearer|http-bearer){QUOTE}[ \t]*:[ \t]*\{{[ \t]*{QUOTE}[^\"'\\]+{QUOTE}[ \t]*:[ \t]*"
        rf"{QUOTE}(?P<v>{SECRET})",
        _value,
        trigger=rf"(?:github-oauth|gitlab-token|bearer|http-bearer){QUOTE}[ \t]*:[ \t]*\{{",
    ),
    setting_secret(
        "column",
        r"(?P<v>[,;\t|]|\\{1,7}t)[ \"'`*]{0,40}(?:(?:[a-zA-Z]{2,12}[ _-])?(?:[pP]assword|[sS]ecret|[tT]oken|[kK]ey)|PASSWORD|[pP]asswd|[aA]pi[kK]ey|API[ _-]?[kK](?:ey|EY)|[pP]asswort|[pP]wd|[pP]ass)"
        r"[ \"'`*]{0,40}(?:(?:[,;\t|]|\\{1,7}t)[^\x00-\x08\x0a-\x1f]*?)?(?:\r?\n|\\{1,7}n)",
        _column,
        is_many=True,
        trigger=r"(?:[,;\t|]|\\t)[ \"'`*]{0,40}(?:(?:[a-zA-Z]{2,12}[ _-])?(?:[pP]assword|[sS]ecret|[tT]oken|[kK]ey)|PASSWORD|[pP]asswd|[aA]pi[kK]ey|API[ _-]?[kK](?:ey|EY)|[pP]asswort|[pP]wd|[pP]ass)"
        r"[ \"'`*]{0,40}(?:[,;\t|]|\\t|\r?\n|\\{1,7}n)",
    ),
    user_name(
        "name-column",
        r"(?P<v>[,;\t|]|\\{1,7}t)[ \"'`*]{0,40}(?:[lL]ast[_ ]?[nN]ame|[sS]urname|[eE]-?[mM]ail(?:[_ ][aA]ddress)?|[pP]hone(?:[_ ][nN]umber)?|[aA]ddress|[bB]irth[a-z]{0,8})"
        r"[ \"'`*]{0,40}(?:(?:[,;\t|]|\\{1,7}t)[^\x00-\x08\x0a-\x1f]*?)?(?:\r?\n|\\{1,7}n)",
        _name_column,
        is_many=True,
        trigger=r"(?:[,;\t|]|\\t)[ \"'`*]{0,40}(?:[lL]ast[_ ]?[nN]ame|[sS]urname|[eE]-?[mM]ail|[pP]hone|[aA]ddress|[bB]irth)",
    ),
    setting_secret(
        "user-row",
        r"\\{0,7}\"[a-z][a-z0-9_.-]{1,30}\\{0,7}\"[ \t]{1,8}(?P<v>\\{0,7}\"[^\x00-\x20\"'`\\]{8,80})"
        r"\\{0,7}\"(?:[ \t]*(?:[;#]|\r?\n|\\{1,7}n|\Z))",
        _user_row,
        trigger=r"\\*\"[a-z][a-z0-9_.-]+\\*\"[ \t]+\\*\"[^\x00-\x20\"'`\\]+\\*\"",
    ),
    setting_secret(
        "cookie-jar",
        rf"{QUOTE}name{QUOTE}[ ]?:[ ]?{QUOTE}[A-Za-z0-9_.-]*(?:[sS]ess|[sS][iI][dD]|[aA]uth|[cC]srf|[xX]srf|[jJ]wt)[A-Za-z0-9_.-]*{QUOTE}"
        rf",(?:[ \t]|{BREAK})*{QUOTE}value{QUOTE}[ ]?:[ ]?{QUOTE}(?P<v>{SECRET})",
        _value,
        trigger=rf"{QUOTE}name{QUOTE}[ ]?:[ ]?{QUOTE}[A-Za-z0-9_.-]*(?:[sS]ess|[sS][iI][dD]|[aA]uth|[cC]srf|[xX]srf|[jJ]wt)",
    ),
    setting_secret(
        "inserted", r"(?:INSERT INTO|insert into|Insert into)[ \t]", _inserted, is_many=True
    ),
    setting_secret("copied", r"(?:COPY|copy)[ ]", _copied, is_many=True),
    setting_secret(
        "named-after",
        rf"(?:[vV]alue|VALUE|result)(?:{QUOTE})?[ \t]*[:=][ \t]*(?P<q>{QUOTE})(?P<v>(?:(?!(?P=q))[^\x00-\x20]){{6,300}})",
        _named_after,
        trigger=rf"(?:[vV]alue|VALUE|result)(?:{QUOTE})?[ \t]*[:=][ \t]*{QUOTE}[^\x00-\x20\"'`\\]+",
    ),
    setting_secret(
        "aligned",
        r"[ ]{2,}(?P<v>(?:PASSWORD|[pP]assword|[sS]ecret|SECRET|[tT]oken|TOKEN|API KEY|Api key))[ \t]*(?:\r?\n|\\{1,7}n|[ ]{2})",
        _aligned,
        is_many=True,
    ),
    setting_secret(
        "section",
        r"(?:[sS]ecrets?|stringData|SECRETS|[cC]redentials|[pP]asswords|[vV]ault)(?:\"|')?[ \t]*[:\]](?:[ \t]*\{)?",
        _section,
        is_many=True,
    ),
)


CONTEXTS: tuple[tuple[Family, ...], ...] = (
    (*PRIVATE_KEYS, *ADDRESSES, *INPUTS, *COMMANDS, *FILES),
    (*NAMED, *SENTENCES),
)
"""Each row is searched for by an expression of its own."""
