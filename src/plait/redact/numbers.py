"""Numbers that tell of people and machines: addresses of the net, telephones, accounts."""

import ipaddress
import re

from plait.redact.look_alikes import NOTHING, is_at_word_start
from plait.redact.model import Family, TextSpan
from plait.redact.nouns import QUOTE

VERSION_BEFORE = re.compile(
    rb"(?i)(?:\b(?:v|version|ver|release|build|tag|rev|schema|chrome|firefox|safari|edge|opera|netcore|runtime|sdk)|[=~^<>]=|@|==)[\s:=\"'/v-]{0,3}\Z"
)
DOCUMENTED = tuple(
    ipaddress.ip_network(one)
    for one in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
)
COMMON = frozenset(
    b"8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 1.2.3.4 4.3.2.1 255.255.255.0 10.0.0.1 10.0.0.0 192.168.0.1"
    b" 192.168.1.1 192.168.0.0 172.17.0.1 172.16.0.0 169.254.169.254 168.63.129.16".split()
)


def _internet(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes an address that is somebody's: not a version, nor one that all have."""
    value = TextSpan(value.start, value.end - (text[value.end - 1 : value.end] == b":"))
    found = text[value.start : value.end]
    behind = text[value.end : value.end + 2]
    if not is_at_word_start(text, value.start) or text[value.start - 1 : value.start] in (
        b".",
        b"-",
    ):
        return NOTHING
    if behind[:1].isalnum() or behind[:1] == b"_" or re.match(rb"[.-][0-9A-Za-z]", behind):
        return NOTHING
    if found in COMMON or VERSION_BEFORE.search(text, max(0, value.start - 16), value.start):
        return NOTHING
    return (value,) if _is_somebodys(found) else NOTHING


def _is_somebodys(found: bytes) -> bool:
    try:
        address = ipaddress.ip_address(found.decode())
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return False
    if any(address.version == net.version and address in net for net in DOCUMENTED):
        return False
    return not (
        address.version == 4
        and (found[:2] in (b"0.", b"1.", b"2.", b"3.") or found.startswith(b"255."))
    )


DATE = re.compile(rb"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}")


def _telephone(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a number with as many digits as telephones have."""
    found = text[value.start : value.end].rstrip(b" .-(/")
    digits = re.sub(rb"[^0-9]", b"", found)
    if DATE.match(found):
        return NOTHING
    if not 7 <= len(digits) <= 15 or len(set(digits)) < 3 or digits in b"01234567890123456789":
        return NOTHING
    if text[value.start - 1 : value.start].isalnum() or text[value.end : value.end + 1].isalnum():
        return NOTHING
    return (TextSpan(value.start, value.start + len(found)),)


def _international(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a number with the sign of a country, unless the sign is that of a patch."""
    found = text[value.start : value.end]
    before = text[max(0, value.start - 2) : value.start]
    is_patch = not before or before[-1:] in (b"\n", b"\0") or before == b"\\n"
    if is_patch and not re.search(rb"[0-9][ (-]", found):
        return NOTHING
    if before[-1:].isalnum() and before[:1] != b"\\":
        return NOTHING
    return _telephone(text, match, value)


def _bank(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a number of a bank account whose check digits are right."""
    found = text[value.start : value.end].rstrip()
    for length in range(len(found), 14, -1):
        plain = re.sub(rb"[ \xa0]", b"", found[:length]).decode("latin-1").upper()
        if 15 <= len(plain) <= 34 and _is_checked(plain):
            return (TextSpan(value.start, value.start + length),)
    return NOTHING


def _is_checked(plain: str) -> bool:
    turned = plain[4:] + plain[:4]
    return turned.isalnum() and int("".join(str(int(one, 36)) for one in turned)) % 97 == 1


def _card(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a number of a card whose check digit is right."""
    digits = re.sub(rb"[ -]", b"", text[value.start : value.end])
    if (
        not 13 <= len(digits) <= 19
        or len(set(digits)) < (2 if len(digits) < value.end - value.start else 4)
        or not is_at_word_start(text, value.start)
    ):
        return NOTHING
    before = text[value.start - 1 : value.start]
    if before in (b".", b"-", b"/", b"x") or text[value.end : value.end + 1].isalnum():
        return NOTHING
    total = 0
    for place, one in enumerate(reversed(digits)):
        number = (one - 48) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return (value,) if total % 10 == 0 else NOTHING


def _number(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a number that its name says is an account's."""
    found = text[value.start : value.end]
    digits = sum(48 <= one <= 57 for one in found)
    return (value,) if digits >= 5 and not text[value.end : value.end + 1].isalnum() else NOTHING


def _apart(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes a number that nothing runs into."""
    before, behind = text[value.start - 1 : value.start], text[value.end : value.end + 2]
    is_joined = before in (b".", b"-", b"+", b":", b"/") or re.match(rb"[.:-]?[0-9A-Za-z_]", behind)
    return NOTHING if is_joined or not is_at_word_start(text, value.start) else (value,)


def _station(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the address of a network card, unless it is made up."""
    parts = set(re.split(rb"[:-]", text[value.start : value.end].lower()))
    return _apart(text, match, value) if len(parts) > 3 else NOTHING


def _given(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return (value,)


CALLS = (
    r"(?:[rR]ing me|[tT]ext me|[dD]ial|T(?:é|e)l|[tT]el(?:efon|efono|éfono|éphone|\.)?|TEL|[pP]hone|PHONE|[mM]obile?|[hH]andy|[fF]ax|FAX|[mM]obil(?:e phone|telefon)?|[fF]estnetz|GSM|[hH]otline|[vV]iber|[tT]elefoon|[tT]elefone|[cC]ell|WhatsApp|[sS]ignal"
    r"|SMS|sms|[cC]all(?: me)?|[rR]each me|[cC]ontact|[nN]umber|Rufnummer|Nummer)(?:[_ -]?(?:[nN]umber|[nN]o\.?|[nN]r\.?|nummer))?"
)
TO = r"(?:[ ]?(?:is|at|on|to|under|unter|sent to|ist|[:=])[ ]?|[ ]|\.:?[ ]?|:|\\{0,7}[\"'][ ]?[:=][ ]?\\{0,7}[\"']){1,3}"
DIGITS = r"(?P<v>\(?\+?[0-9][0-9 ()./-]{5,20}[0-9])"
ACCOUNTS = (
    r"(?:[aA]ccount|ACCOUNT|[cC]ustomer|CUSTOMER|[mM]ember|[pP]olicy|[iI]nvoice account|[rR]outing|[pP]assport|[tT]ax|[pP]roject|[sS]ubscription"
    r"|[pP]atient|[dD]river|[lL]icen[cs]e|[sS]ocial security|[cC]lient|[kK]onto|[kK]unden|[sS]teuer|[vV]ersicherungs|[pP]ersonal|[mM]itglieds|SSN|TIN|BSN"
    r"|[nN]ational|[cC]ontract|[vV]ertrags)[_ -]?"
    r"(?:[nN]umber|NUMBER|[nN]o\.?|[nN]r\.?|[nN]ummer|id|ID|Id|account|security number)?"
)

NUMBERS: tuple[Family, ...] = (
    Family(
        "mac",
        "",
        r"[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})",
        _station,
        "host",
    ),
    Family("dashed-telephone", "", r"[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}", _apart, "phone"),
    Family("cpf", "", r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", _apart, "account"),
    Family("queue", "", r"sqs\.[a-z0-9-]+\.amazonaws\.com/(?P<v>[0-9]{12})/", _given, "account"),
    Family(
        "ipv4",
        "",
        r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}",
        _internet,
        "host",
    ),
    Family(
        "ipv6",
        "",
        r"[0-9a-fA-F]{2,4}(?::[0-9a-fA-F]{1,4}){1,6}::?(?:[0-9a-fA-F]{1,4}:?){1,6}|fe80::[0-9a-fA-F:]{4,}",
        _internet,
        "host",
        trigger=r"[0-9a-fA-F]{2,4}:[0-9a-fA-F]{1,4}:[0-9a-fA-F:]*:[0-9a-fA-F]|fe80::[0-9a-fA-F:]{4,}",
    ),
    Family(
        "telephone",
        "",
        rf"{CALLS}{TO}{DIGITS}",
        _telephone,
        "phone",
        trigger=rf"{CALLS}{TO}[(+0-9][0-9 (]",
    ),
    Family(
        "international",
        "",
        r"(?P<v>\+[1-9][0-9]{0,2}[ -]?\(?[0-9][0-9 ()./-]{5,18}[0-9])",
        _international,
        "phone",
        trigger=r"\+[1-9][0-9 (-]{8}",
    ),
    Family(
        "national",
        "",
        r"(?P<v>\([2-9][0-9]{2}\) [2-9][0-9]{2}-[0-9]{4})",
        _telephone,
        "phone",
    ),
    Family(
        "iban",
        "",
        r"(?P<v>[A-Z]{2}[0-9]{2}[ ]?(?:[A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4})",
        _bank,
        "account",
        trigger=r"[A-Z]{2}[0-9]{2}[ ]?[A-Z0-9]{4}[ ]?[0-9]{4}",
    ),
    Family(
        "card",
        "",
        r"(?P<v>[3-6][0-9]{3}(?:[ -][0-9]{4}){3}|[3-6][0-9]{12,18})",
        _card,
        "account",
        trigger=r"[3-6][0-9]{3}[ -][0-9]{4}[ -][0-9]{4}[ -]|[3-6][0-9]{12}",
    ),
    Family(
        "social",
        "",
        r"(?:SSN|ssn|[sS]ocial[ _][sS]ecurity)[^\x00-\x1f0-9]{1,20}(?P<v>[0-9]{3}-[0-9]{2}-[0-9]{4})",
        _given,
        "account",
    ),
    Family(
        "account-number",
        "",
        rf"{ACCOUNTS}(?:{QUOTE})?[ ]?(?:[:=#]|is|ist)?[ ]?(?:{QUOTE})?(?P<v>[A-Z]{{0,3}}[0-9][0-9A-Z-]{{5,20}})",
        _number,
        "account",
        trigger=rf"{ACCOUNTS}(?:{QUOTE})?[ ]?(?:[:=#]|is|ist)?[ ]?(?:{QUOTE})?[A-Z]*[0-9]{{3}}",
    ),
    Family(
        "tax",
        "",
        rf"(?:USt-Id(?:-?Nr\.?)?|UID|VAT|NIF|CIF|DNI|NIE|PESEL|BSN|CNPJ|NINO|EIN|SIREN|SIRET|AHV|CURP|Aadhaar|Steuer-?ID|Codice Fiscale|[cC]odice fiscale|[pP]ersonnummer)"
        rf"(?:[ ](?:ID|[nN]o\.?|[nN]umber|[nN]r\.?))?(?:{QUOTE})?[ :=#.]{{1,3}}(?:{QUOTE})?(?P<v>[A-Z]{{0,6}}[0-9][0-9A-Z. -]{{5,20}}[0-9A-Z])",
        _number,
        "account",
    ),
    Family(
        "bucket",
        "",
        r"[a-z0-9]-(?P<v>[0-9]{12})-(?:us|eu|ap|sa|ca|me|af)-[a-z]+-[0-9]",
        _given,
        "account",
    ),
    Family("registry", "", r"(?P<v>[0-9]{12})\.dkr\.ecr\.", _given, "account"),
    Family("customer", "", r"(?P<v>(?:cus|acct|sub|pm)_[A-Za-z0-9]{14,24})", _given, "account"),
    Family(
        "tenant",
        "",
        rf"(?:[sS]ubscriptions?|[tT]enant|TENANT|SUBSCRIPTION)[_-]?(?:ID|[iI]d)?(?:{QUOTE})?[ ]?[:=/ ][ ]?(?:{QUOTE})?"
        r"(?P<v>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})",
        _given,
        "account",
    ),
)
