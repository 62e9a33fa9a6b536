"""Sentences to the secrets that they tell, as people write them, in several languages."""

import re

from plait.redact.look_alikes import (
    ABOUT,
    NOTHING,
    is_at_word_start,
    is_in_stand_in,
    is_placeholder,
    is_reference,
)
from plait.redact.model import Family, TextSpan
from plait.redact.nouns import BARE, NOUNS, QUOTE, QUOTED, SPOKEN
from plait.redact.settings import bare, is_secret_key, key_around
from plait.redact.strength import (
    PROSE,
    TECHNICAL,
    is_chosen,
    is_mixed,
    is_passphrase,
    is_plain_word,
    is_random,
    is_weak,
)

LEAST_SPOKEN, LEAST_TOLD = 10, 6
LEAST_SURE = 6
ASSIGNS = re.compile(rb"[a-z]=[{(\[]|[{}]")
TECHNICAL_NAME = re.compile(rb"x86_64|-linux|-gnu|-darwin|aarch64")
NAMED = re.compile(
    rb"[a-z]+(?:[_-][a-z0-9]+)+|[\w.-]+\.[a-z]{2,4}|[A-Z][a-z]+[0-9]{0,2}|[a-z]+[0-9]{0,2}"
)


def told(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what a sentence says that the secret is."""
    span, _ = bare(text, value)
    if text.count(b"-", span.start, span.end) > 4 or TECHNICAL_NAME.search(
        text, span.start, span.end
    ):
        return NOTHING
    is_about = not is_secret_key(key_around(text, match.start))
    return (
        (span,) if not is_about and _is_told(text[span.start : span.end], LEAST_TOLD) else NOTHING
    )


LAST_WORDS = re.compile(rb"[A-Za-z]+")


def told_of(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what a sentence says that a secret of somebody is, and not what is said about it."""
    words = [word.lower() for word in LAST_WORDS.findall(text, match.start, value.start)]
    return NOTHING if any(word in ABOUT for word in words[1:]) else told(text, match, value)


def _is_told(found: bytes, least: int) -> bool:
    if len(found) < least or is_placeholder(found) or is_reference(found) or is_plain_word(found):
        return False
    if is_passphrase(found):
        return True
    if is_weak(found):
        return True
    if ASSIGNS.search(found) or (found.strip(b"*_~").isalpha() and not is_random(found)):
        return False
    if b" " in found or TECHNICAL.search(found) or NAMED.fullmatch(found):
        return is_random(found) and b" " not in found and not TECHNICAL.search(found)
    return is_random(found) or is_chosen(found) or is_mixed(found)


def spoken(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what follows the word itself, if chance made it or nobody would say it otherwise."""
    span, is_quoted = bare(text, value)
    found = text[span.start : span.end]
    if not is_secret_key(key_around(text, match.start)):
        return NOTHING
    is_sure = is_weak(found) and (is_quoted or _is_sure(text, match, value))
    if not _is_told(found, LEAST_SURE if is_quoted or is_sure else LEAST_SPOKEN):
        return NOTHING
    is_secret = is_sure or is_random(found) or is_chosen(found) or is_passphrase(found)
    return (span,) if is_secret else NOTHING


# Words that only secrets are called, and names of settings.
SURE = re.compile(
    rb"(?i)passw|passphrase|kennwort|contrase|senha|wachtwoord|parola|has[l\xc5]|heslo|salasana|adgangskode|passord"
    rb"|psk|pwd?\b|[a-z]pass\b|bindpw|rootpw|requirepass|masterauth|community|mot de passe|mdp|[\x80-\xff]"
    rb"|[A-Z]{2,}_[A-Z_]{2,}[ \t]"
)


def _is_sure(text: bytes, match: TextSpan, value: TextSpan) -> bool:
    return SURE.search(text, max(0, match.start - 12), value.start) is not None


BEFORE = re.compile(
    rb"\\{0,7}[\"'`]?([^\x00-\x20\"'`\\<>(),;{}\[\]|\x7f-\xff]{6,200})\\{0,7}[\"'`]?\Z"
)


def _said_before(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the word before `as the password`."""
    if is_in_stand_in(text, match.start):
        return NOTHING
    found = BEFORE.search(text, max(0, match.start - 200), match.start)
    if found is None or not _is_told(found[1], LEAST_TOLD):
        return NOTHING
    return (TextSpan(*found.span(1)),)


def _login(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what stands beside a name where somebody tells how to log in."""
    span, _ = bare(text, value)
    found = text[span.start : span.end]
    return (span,) if _is_told(found, LEAST_TOLD) and found[:1] != b"/" else NOTHING


def _row(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a row of words that make no sentence."""
    words = text[value.start : value.end].split()
    return (value,) if sum(word in PROSE for word in words) < 2 else NOTHING


def _digits(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes digits that stand alone."""
    behind = text[value.end : value.end + 2]
    is_more = behind[:1].isalnum() or re.match(rb"[.:-][0-9A-Za-z]", behind) is not None
    return NOTHING if is_more or not is_at_word_start(text, match.start) else (value,)


ARTICLES = (
    r"(?:[ ](?:the|my|our|your|a|an|this|its|his|her|new|old|admin|root|db|database|api|master|staging|prod|production|default"
    r"|das|mein|dem|der|die|le|la|les|mon|ma|el|mi|a|o|minha|meu|il|mia|het|mijn|jako|som)){0,4}[ ]"
)
SENTENCES: tuple[Family, ...] = (
    Family(
        "said",
        "secret in a setting",
        rf"(?:[ ](?:as|for|is|als|ist|come|como|comme|som|jako|như){ARTICLES}"
        rf"|(?:,|[ ][-–—]|,?[ ]which)(?:[ ](?:is|that's|this is))?[ ](?:the|this|that|my|our|your){ARTICLES}"
        rf"|[ ]\((?:the|my|our|your|new|old|this){ARTICLES})(?:{SPOKEN}|{NOUNS})",
        _said_before,
    ),
    Family(
        "login",
        "secret in a setting",
        r"(?:creds|Creds|credentials|Credentials|[lL]ogin|[lL]og in|[sS]ign in|Zugangsdaten|Anmeldedaten|identifiants|Identifiants"
        r"|credenciales|Credenciales|credenciais|Credenciais|credenziali|inloggegevens|Login-Daten)(?:[ ](?:are|is|with|as|via|:|using)){0,2}[ ]?[:=]?[ ]?"
        r"[A-Za-z0-9_.@-]{2,40}(?:[ ]?/[ ]?|:[ ]?|[ ](?:and|und|et|y|e|using|with|mit|avec|con)[ ]|,[ ])"
        rf"(?P<v>{QUOTE}{QUOTED}|{BARE})",
        _login,
        trigger=r"(?:creds|Creds|credentials|Credentials|[lL]ogin|[lL]og in|[sS]ign in|Zugangsdaten|Anmeldedaten|[iI]dentifiants"
        r"|[cC]redenciales|[cC]redenciais|credenziali|inloggegevens|Login-Daten)[ :=]",
    ),
    Family(
        "seed",
        "secret in a setting",
        r"(?:[sS]eed|[rR]ecovery|[mM]nemonic|[bB]ackup)(?:[ _-]?(?:[pP]hrase|[wW]ords))?[^\x00-\x1fa-z0-9]{1,4}(?:is:?[ ])?(?:\\{0,7}[\"'`])?(?P<v>[a-z]{3,8}(?:[ ][a-z]{3,8}){11,23})",
        _row,
        trigger=r"(?:[sS]eed|[rR]ecovery|[mM]nemonic|[bB]ackup)(?:[ _-]?(?:[pP]hrase|[wW]ords))?[^\x00-\x1fa-z0-9]+(?:is:?[ ])?(?:\\{0,7}[\"'`])?[a-z]+[ ][a-z]+[ ][a-z]+[ ][a-z]+[ ][a-z]+[ ][a-z]+[ ]",
    ),
    Family(
        "pin",
        "secret in a setting",
        r"(?:PIN|[pP]in code|PIN[- ][cC]ode|[mM]y pin|[tT]he pin|CVV|CVC|[oO]ne-time code|[vV]erification code|OTP)(?:[ ](?:for|of|to)[ ][a-z ]{2,30})?(?:[ ]is|:|=)?[ ]?(?P<v>[0-9]{3,8})",
        _digits,
    ),
    Family(
        "wifi-key",
        "secret in a setting",
        rf"[wW][iI]-?[fF][iI][^\x00-\x1f]{{0,40}}[ ,](?:key|pass|code)(?:[ ]is|:)?[ ](?P<v>{QUOTE}{QUOTED}|{BARE})",
        _login,
    ),
    Family(
        "set-word",
        "secret in a setting",
        r"(?:passwd|add-authtoken|authtoken|auth|login|unseal|unlock)[ \t]"
        rf"(?:[-A-Za-z0-9_./:@=]{{1,40}}[ \t]){{0,3}}(?P<v>{QUOTE}{QUOTED}|{BARE})",
        spoken,
        trigger=r"(?:passwd|authtoken|auth|login|unseal|unlock)[ \t][^\x00-\x20]",
    ),
)
