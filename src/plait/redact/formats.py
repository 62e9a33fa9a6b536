"""Secrets in formats of their own: numeric codes, keys in a section, byte lists, answers, dumps.

Each row of the table covers one format with all spellings of its label, delimiter and quotes. The
texts are read without their wrapping, as in `labelled`.
"""

import re

from plait.redact.contexts import is_secret_key
from plait.redact.labelled import (
    LABEL_WORD,
    PASSWORD_WORDS,
    SECRET_WORDS,
    count_signs,
    has_non_ascii_letters,
    is_secret,
    is_spaced_phrase,
    line_at,
)
from plait.redact.likelihood import (
    NOTHING,
    TECHNICAL,
    any_value,
    is_dotted_name,
    is_harmless,
    is_in_stand_in,
    is_mixed,
    is_odd,
    is_placeholder,
    is_plain_word,
    is_random,
    is_reference,
    is_weak,
    is_wordy,
)
from plait.redact.model import Family, TextSpan, setting_secret

HEX = re.compile(rb"[0-9a-f]{32,128}|[0-9A-F]{32,128}")
UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LEAST_RANDOM = 20


def is_random_key(value: bytes) -> bool:
    """Return whether a value is a long row of random characters, or of hex digits."""
    if is_placeholder(value) or is_reference(value) or TECHNICAL.search(value):
        return False
    if HEX.fullmatch(value):
        return True
    has_digit = re.search(rb"[0-9]", value) is not None
    return len(value) >= LEAST_RANDOM and has_digit and is_random(value) and b" " not in value


def is_likely_secret(value: bytes) -> bool:
    """Return whether a value that fills a line or an argument looks like a secret."""
    if is_harmless(value) or is_placeholder(value) or is_reference(value) or is_plain_word(value):
        return False
    if is_random_key(value):
        return True
    if TECHNICAL.search(value) or is_dotted_name(value) or LABEL_WORD.search(value):
        return False
    return is_odd(value) or is_weak(value) or has_non_ascii_letters(value)


def _accept(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    found = text[slice(*value)]
    is_no = is_placeholder(found) or is_reference(found) or is_plain_word(found)
    return NOTHING if is_no or is_in_stand_in(text, value.start) else (value,)


def _match_likely_secret(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return (value,) if is_likely_secret(text[slice(*value)]) else NOTHING


def _match_random_key(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return (value,) if is_random_key(text[slice(*value)]) else NOTHING


def _match_password(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    found = text[slice(*value)]
    is_given = is_secret(found, b"password", is_quoted=True, is_clear=True)
    return (value,) if is_given else NOTHING


# Digits: `pin == "255536"`, `alarm_code: "7553"`, `AT+CPIN="7222"`, `y el PUK 88029976`.
CODE_WORDS = (
    r"(?:C?PIN[12]?|[a-z_]*_pin|\bpin|[a-z]Pin|\b[pP]in|PUK[12]?|\bpuk|[pP]ass[kK]ey|PASSKEY|[pP]airing[ _]?[cC]ode"
    r"|(?i:alarm|door|gate|safe|lock|parental|entry|unlock|panel|garage|keypad|disarm|pairing)[ _-]?(?:[cC]ode|CODE|PIN|pin))"
)
TO_CODE = r"[\"'`\])]{0,3}(?:[ \t]*(?:={1,3}|:=|:|=>|->|→)[ \t]*|[ \t]+(?:is|es|ist|est|set|set to|was|war|era)?:?[ \t]*)"
AFTER_NUMBER = re.compile(rb"[0-9A-Za-z_]|[.:/-][0-9A-Za-z]")
AFTER_NUMBER_OF_PIN = re.compile(rb"[ ]?(?:mm|V\b|Hz|px|ms\b)")


def _match_code(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the digits of a code unless they are part of something longer."""
    before, first = text[match.start - 1 : match.start], text[match.start : match.start + 1]
    is_inside = before.isalpha() and not (before.islower() and first.isupper())
    if is_inside or AFTER_NUMBER.match(text, value.end):
        return NOTHING
    return NOTHING if AFTER_NUMBER_OF_PIN.match(text, value.end) else (value,)


# Keys whose section or neighbour says what they open: `api:\n  key: …`, `'crypt' => ['key' => …`.
SECTION = re.compile(
    rb"(?i)(?:\bapi|crypt\w*|\bjwt|\bauth\w*|username|\buser|\baccount\w*|encryption|signing|hmac|cipher|\btokens?|\bcredentials?|ssid)"
    rb"""["'\]]*[ \t]*(?:[:={\[]|=>|[ ]['"])"""
)


def _match_key_of_section(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    found = text[slice(*value)].rstrip(b" ,;")
    before = text[max(0, match.start - 120) : match.start]
    if SECTION.search(before) is None:
        return NOTHING
    is_given = is_random_key(found)
    if b" " in found:
        is_given = is_secret(found, b"password", is_quoted=True)
    return (TextSpan(value.start, value.start + len(found)),) if is_given else NOTHING


# Lists of bytes: `aes_key[16] = { 0x34, … }`, `network_key: [163, …]`.
BYTE = r"(?:0x[0-9a-fA-F]{1,2}|[0-9]{1,3})"


def _match_bytes(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    found = [
        int(item, 16 if item[:2] == b"0x" else 10)
        for item in re.findall(rb"\w+", text[slice(*value)])
    ]
    is_drawn = len({*found}) * 2 > len(found) and found != sorted(found) and max(found) > 99
    return (value,) if is_drawn else NOTHING


# Answers below a question or below the command that prints them.
PRINTS = re.compile(
    rf"(?:pass(?:[ ]show|[ ]-c)?[ ][\w.-]+/|secret-tool[ ]lookup|secret_key|\.psk\b|(?i:{PASSWORD_WORDS})|[sS]ecret|[tT]oken|api_?[kK]ey)".encode()
)
SPEAKER = re.compile(
    rb"(?:[^\s:<>]{1,20}:[ ]+)?(?:(?:it's|it is|still|c'est|es|ist|use|is|sure|try|that's|the|one)[ :,]+){0,4}"
)
ANSWER = re.compile(rb"[\"'`*]{0,2}(?P<v>[^\s\"'`]{6,100}?)[\"'`*]{0,2}(?P<end>[.,;!]?(?:\s|\Z))")
WORD_AND_SIGN = re.compile(rb"[A-Za-z\x80-\xff]{4,20}[+@#!&*_=.][0-9]{2,5}[!?#*.$]?")
HEAD_OF_MESSAGE = re.compile(
    rb".{0,60}[0-9]{1,2}:[0-9]{2}(?:[ ]?[AP]M)?[ \t]*\r?\Z|\xe2\x80\xb9[^\n]{1,40}\r?\Z"
)
UNQUOTED_LINE = re.compile(rb"(?:[>|\xe2\x94\x82][ ]?)?[ \t]*")


def _match_answer(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the first word of the answer below a question for a secret."""
    line = line_at(text, match.end - 1)
    for number in range(3):
        if line.end >= len(text):
            return NOTHING
        line = line_at(text, line.end + 1)
        found = text[slice(*line)]
        if not found.strip() or (number == 0 and HEAD_OF_MESSAGE.match(found)):
            continue
        margin = UNQUOTED_LINE.match(text, line.start, line.end)
        speaker = SPEAKER.match(text, margin.end() if margin else line.start, line.end)
        answer = ANSWER.match(text, speaker.end() if speaker else line.start, line.end)
        if answer is None:
            return NOTHING
        word = answer["v"].rstrip(b".,;!") if not is_odd(answer["v"]) else answer["v"]
        is_alone = answer.end() >= line.end and WORD_AND_SIGN.fullmatch(word) is not None
        is_answer = is_alone or is_likely_secret(word)
        is_answer = is_answer or (word.isalnum() and len(word) >= 12 and is_random(word))
        start = answer.start("v")
        return (TextSpan(start, start + len(word)),) if is_answer else NOTHING
    return NOTHING


def _match_printed(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the line that is printed by a command that reads a secret."""
    command = text[match.start : match.end].rstrip()
    if PRINTS.search(command) is None or re.search(rb"[|>]|[ ](?:ls|list|grep|rm)[ ]", command):
        return NOTHING
    line = line_at(text, match.end - 1)
    for _ in range(2):
        if line.end >= len(text):
            return NOTHING
        line = line_at(text, line.end + 1)
        found = text[slice(*line)].strip()
        start = line.start + text[slice(*line)].find(found)
        span = TextSpan(start, start + len(found))
        if b" " in found:
            is_shown = is_spaced_phrase(found) and found[-1:].isdigit() and b"pass" in command
            return (span,) if is_shown else NOTHING
        if UUID.fullmatch(found) or is_likely_secret(found):
            return (span,)
        if b"@" not in found and b"\xe2\x80\xba" not in found:
            return NOTHING
    return NOTHING


# Lines `name:password` below `chpasswd:`.
LOGIN_LINE = re.compile(
    rb"[ \t]+-?[ \t]*[\"']?[a-z_][\w.-]{0,30}:(?P<v>[^\s\"']{4,80})[\"']?[ \t]*\r?\Z"
)


def _match_changed_logins(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    line = line_at(text, match.start)
    spans: list[TextSpan] = []
    for _ in range(20):
        if line.end >= len(text):
            break
        line = line_at(text, line.end + 1)
        found = LOGIN_LINE.match(text[slice(*line)])
        if found and not is_placeholder(found["v"]) and not is_reference(found["v"]):
            spans.append(TextSpan(line.start + found.start("v"), line.start + found.end("v")))
        elif spans or not text[slice(*line)].lstrip().startswith((b"list:", b"users:")):
            break
    return tuple(spans)


# One key in two strings: `"ghp_r4D…" + "XYV…"`.
HEADS = r"(?:gh[pousr]_|github_pat_|sk-|[sr]k_(?:live|test)_|AKIA|ASIA|glpat-|xox[abprs]-|hf_|npm_|AIza|SG\.|whsec_|dop_v1_|pypi-|eyJ|shpat_|gsk_|key-)"
CONTINUED = re.compile(
    rb"""(?P<q>["'`])[ \t]*(?:\+|\.\.?|&|\\|,)?[ \t]*(?:\\?\r?\n[ \t]*)?(?:\+|\.\.?|&)?[ \t]*[fb]?(?P=q)(?P<v>[A-Za-z0-9_.-]{6,120})(?P=q)"""
)


def _match_split_key(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    spans, place = [value], value.end
    while len(spans) < 4 and (more := CONTINUED.match(text, place)):
        spans.append(TextSpan(*more.span("v")))
        place = more.end() - 1
    joined = b"".join(text[slice(*span)] for span in spans)
    is_key = len(spans) > 1 and is_random_key(joined) and is_random(text[slice(*spans[-1])])
    return tuple(spans) if is_key else NOTHING


# `["apiSecret"]=>\n  string(32) "…"`
def _match_dumped(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    key = re.search(rb"[\w.-]+", text[match.start : value.start])
    name = key[0] if key else b""
    if LABEL_WORD.search(name) is None or not is_secret_key(name):
        return NOTHING
    return (value,) if is_secret(text[slice(*value)], name, is_quoted=True) else NOTHING


# A string whose comment says what it is: `Client(sid, "4f79…")  # auth token`.
def _match_commented(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    found = text[slice(*value)]
    return (
        (value,) if is_random_key(found) or (is_odd(found) and is_likely_secret(found)) else NOTHING
    )


def _match_near_label(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a word after "changed it to" if a secret's label is shortly before."""
    if LABEL_WORD.search(text, max(0, match.start - 120), match.start) is None:
        return NOTHING
    found = text[slice(*value)].rstrip(b".,;:!?)")
    is_given = is_likely_secret(found) or (is_mixed(found) and is_random(found) and found.isalnum())
    if not is_given or (is_wordy(found) and not is_odd(found) and not is_weak(found)):
        return NOTHING
    return (TextSpan(value.start, value.start + len(found)),)


def _match_filled(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what a test types into the field of a password."""
    if LABEL_WORD.search(text, max(0, match.start - 120), match.start) is None:
        return NOTHING
    found = text[slice(*value)]
    is_given = is_mixed(found) and b" " not in found and not is_reference(found)
    return (value,) if is_given and not is_placeholder(found) else NOTHING


def _match_odbc(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a password named PWD in a section that also names a user."""
    before, found = text[max(0, match.start - 160) : match.start], text[slice(*value)]
    has_user = re.search(rb"(?i)\bU(?:ID|SER)[ \t]*=", before) is not None
    # PWD is also the name of the working directory
    is_password = has_user and count_signs(found) and b"/" not in found
    return (value,) if is_password else NOTHING


QUOTED = r"[\"'`]"
# Triggers search for the commonest words only: all words would make every search slower.
COMMON_WORDS = r"(?i:passwor|passwd|passphrase|kennwort|mot de passe|contrase|senha|wachtwoord|secret|token|api[ _-]?key|\bpsk)"
FORMATS: tuple[Family, ...] = (
    setting_secret(
        "code-of-digits",
        rf"{CODE_WORDS}{TO_CODE}{QUOTED}?(?P<v>[0-9]{{4,8}})",
        _match_code,
        trigger=rf"{CODE_WORDS}{QUOTED}?\]?[ \t]*(?:[:=>-]+|is|es|ist|est|set|was)?[ \t:to]*{QUOTED}?[0-9]{{4}}",
    ),
    setting_secret(
        "mailbox-code", r"\b[0-9]{2,6}[ ]*=>[ ]*(?P<v>[0-9]{3,8}),[^\n,]*,", _match_code
    ),
    setting_secret(
        "network-digits",
        r"(?i:netzwerkschl(?:ü|u|ue)ssel|network key|wpa[23]?[- ](?:key|psk))[^\n:=0-9]{0,6}(?:\(WPA[0-9]?\))?[ ]?[:=][ ]*(?P<v>[0-9]{8,63})",
        _match_code,
    ),
    setting_secret(
        "key-of-section",
        rf"\b[kK]ey{QUOTED}?[ \t]*(?:=>|[:=]|[ ])[ \t]*{QUOTED}?(?P<v>[^\s\"'`{{}}\[\](][^\n\"'`{{}}]{{15,100}})",
        _match_key_of_section,
        trigger=rf"\b[kK]ey{QUOTED}?[ \t]*(?:=>|[:=]|[ ])[ \t]*{QUOTED}?[A-Za-z0-9]",
    ),
    setting_secret(
        "byte-list",
        rf"(?i:key|secret|psk|salt)[a-z0-9_]*(?:\[[\w ]*\])?[\"']?[ \t]*[:=]?[ \t]*(?:bytes\(|bytearray\(|new byte\[\])?[ \t]*[\[{{][ \t\n]*(?P<v>{BYTE}(?:,[ \t\n]*{BYTE}){{7,63}})",
        _match_bytes,
        trigger=rf"(?i:key|secret|psk|salt)[a-z0-9_]*(?:\[[\w ]*\])?[\"']?[ \t]*[:=]?[ \t]*(?:bytes\(|bytearray\(|new byte\[\])?[ \t]*[\[{{][ \t\n]*{BYTE},[ \t\n]*{BYTE},",
    ),
    setting_secret(
        "answer",
        rf"(?:{SECRET_WORDS})[^\n?]{{0,80}}\?[ \t\"']{{0,3}}(?:\r?\n)",
        _match_answer,
        trigger=rf"{COMMON_WORDS}[^\n?]*\?[ \t\"']*\r?\n",
    ),
    setting_secret(
        "answer-of-choice",
        rf"(?:{SECRET_WORDS})[^\n?]{{0,80}}\?[ ]*(?:→|->|=>)[ ]*(?P<v>[^\s\"'`]{{8,100}})",
        _match_likely_secret,
        trigger=rf"{COMMON_WORDS}[^\n?]*\?[ ]*(?:→|->|=>)",
    ),
    setting_secret(
        "printed",
        r"[$%#][ ](?:sudo[ ])?(?:nmcli|plesk|pass|gopass|secret-tool|jq|vault|op|bw|kubectl|aws|security)[ ][^\n]{3,160}\n",
        _match_printed,
        trigger=r"[$%#][ ](?:sudo[ ])?(?:nmcli|plesk|pass|gopass|secret-tool|jq|vault|op|bw|kubectl|aws|security)[ ]",
    ),
    setting_secret("changed-logins", r"chpasswd:[ \t]*\r?\n", _match_changed_logins, is_many=True),
    setting_secret(
        "split-key",
        rf"{QUOTED}(?P<v>{HEADS}[A-Za-z0-9_.-]{{4,100}}){QUOTED}[ \t]*[+.&\\\n]",
        _match_split_key,
    ),
    setting_secret(
        "dumped",
        r"\[\"[\w.-]{2,40}\"\]=>\s{0,40}string\([0-9]{1,3}\)[ ]\"(?P<v>[^\"\n]{5,200})\"",
        _match_dumped,
        trigger=r"\[\"[\w.-]+\"\]=>\s*string\(",
    ),
    setting_secret(
        "commented",
        rf"{QUOTED}(?P<v>[^\s\"'`]{{12,120}}){QUOTED}[),;\]]{{0,4}}[ \t]*(?:#|//|--|/\*)[ ]?[^\n]{{0,40}}(?:{SECRET_WORDS})",
        _match_commented,
        trigger=rf"{QUOTED}[^\s\"'`]+{QUOTED}[),;\]]*[ \t]*(?:#|//|--|/\*)[ ]?[^\n]*{COMMON_WORDS}",
    ),
    setting_secret(
        "changed-to",
        r"(?i:changed|reset|rotated|switched|updated|set)[ ](?:it|that|them|this)[ ]to[ ][\"'`]?(?P<v>[^\s\"'`]{6,80})",
        _match_near_label,
    ),
    setting_secret(
        "field-of-form",
        r"(?i:name=\"[\w.-]*(?:pwd|passw|pass|secret|token|pin)[\w.-]*\")\s{2,40}(?P<v>[^\s\"-][^\n\"]{3,80})",
        _match_password,
        trigger=r"(?i:name=\"[\w.-]*(?:pwd|passw|pass|secret|token|pin)[\w.-]*\")\s*\n",
    ),
    setting_secret(
        "filled",
        rf"(?:fill|type|sendKeys|send_keys|setValue|pressSequentially)\({QUOTED}(?P<v>[^\"'`\n]{{6,80}}){QUOTED}\)",
        _match_filled,
    ),
    setting_secret(
        "root-password",
        r"rootpw[ ]+(?:--[a-z]+[ ]+)+(?P<v>[^\s\"'-][^\s\"']{4,80})",
        _accept,
    ),
    setting_secret(
        "dns-provider",
        r"\bdns[ ][a-z]{3,16}[ ](?P<v>[A-Za-z0-9_-]{20,80})",
        _match_random_key,
        trigger=r"\bdns[ ][a-z]+[ ][A-Za-z0-9_-]{20}",
    ),
    setting_secret(
        "stream-key",
        r"\brtmps?://[^\s\"'`/]+/[^\s\"'`]*?(?P<v>[A-Za-z0-9]{16,60})",
        _match_random_key,
    ),
    setting_secret(
        "key-in-address",
        r"(?:alchemy\.com|infura\.io|quiknode\.pro|ankr\.com|moralis\.io|chainstack\.com|getblock\.io|llamarpc\.com)/[a-z0-9_/]{0,20}?(?P<v>[A-Za-z0-9_-]{24,64})",
        _match_random_key,
    ),
    setting_secret(
        "parameter",
        r"[?&](?:app_?id|appkey|app_key|key|api|apikey|auth|k|subscription-key|code|hash)=(?P<v>[0-9a-f]{32,64}|[A-Za-z0-9_-]{32,64})",
        _match_random_key,
        trigger=r"[?&](?:app_?id|appkey|app_key|key|api|apikey|auth|k|subscription-key)=[A-Za-z0-9_-]{20}",
    ),
    setting_secret(
        "weak-label",
        rf"(?:[hH]mac|HMAC|_SEED|_seed|[oO]tp[sS]eed|authtok|\bencrypt|\bgossip(?:_key)?|[sS]erver[kK]ey)[\"'`]?[ \t]*[:=][ \t]*{QUOTED}?(?P<v>[A-Za-z0-9+/_:.=-]{{10,300}})",
        _match_likely_secret,
        trigger=rf"(?:[hH]mac|HMAC|_SEED|_seed|[oO]tp[sS]eed|authtok|\bencrypt|\bgossip(?:_key)?|[sS]erver[kK]ey)[\"'`]?[ \t]*[:=][ \t]*{QUOTED}?[A-Za-z0-9+/_]{{10}}",
    ),
    setting_secret(
        "totp-seed",
        rf"(?i:totp|otp|mfa|2fa)[_ -]?(?i:seed|secret|key)[\"'`]?[ \t]*[:=][ \t]*{QUOTED}?(?P<v>[A-Z2-7]{{16,64}}|[a-z2-7]{{16,64}})",
        _accept,
    ),
    setting_secret(
        "token-of-role",
        rf"tokens[ \t]*[={{\n][^}}]{{0,80}}?[a-z_]+[ \t]*=[ \t]*{QUOTED}(?P<v>[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})",
        _accept,
        trigger=r"tokens[ \t]*[={][^}]*[a-z_]+[ \t]*=[ \t]*[\"']",
    ),
    setting_secret("ftp-pass", r"(?i:ftp)>[ ](?:pass|user[ ]\S+)[ ](?P<v>[^\s\"']{4,60})", _accept),
    setting_secret(
        "backup-account",
        r"authorize[-_]account[ ]+[0-9a-f]{8,25}[ ]+(?P<v>[A-Za-z0-9/+]{20,40})",
        _match_random_key,
    ),
    setting_secret("odbc", r"\bPWD[ \t]*=[ \t]*(?P<v>[^\s/;\"'$][^\s;\"']{5,80})", _match_odbc),
    setting_secret(
        "set-user", r"SETUSER[ ]+\S+[ ]+(?:\S+[ ]+){0,4}?>(?P<v>[^\s\"'<>]{5,80})", _accept
    ),
    setting_secret(
        "net-user",
        r"\bnet1?[ ]user[ ][^\n/]{1,40}?[ ](?P<v>[^\s/*\"'>]{5,60})[ ]+/(?i:add|domain|active|expires|fullname|passwordchg)",
        _accept,
    ),
    setting_secret(
        "tunnel-secret",
        r":[ ]+(?:EAP|XAUTH|NTLM)[ ]+\"(?P<v>[^\"\n]{5,80})\"",
        _accept,
    ),
    setting_secret("peer-secret", r"[ \t]\*[ \t]+\"(?P<v>[^\"\s]{5,60})\"[ \t]+\*", _accept),
    setting_secret(
        "app-password",
        r":[0-9]{2,5}[ \t]+[^\n:]{1,60}:(?P<v>[a-z]{4}(?:[ ][a-z]{4}){3})",
        _accept,
    ),
    setting_secret(
        "temporary",
        r"(?i:temporary|initial|generated|new) password[^\n:]{1,60}@[^\s:]+:[ ]+(?P<v>[^\s\"'`]{8,40})",
        any_value,
    ),
    setting_secret("encrypted-psk", r"psksecret[ ]ENC[ ](?P<v>[A-Za-z0-9+/=]{20,300})", _accept),
)

FORMAT_GATES = (
    rf"{CODE_WORDS}{QUOTED}?\]?[ \t]*(?:[:=>-]+|is|es|ist|est|set|was)?[ \t:to]*[\\\"'`]*[0-9]{{4}}|[0-9][ ]*=>[ ]*[0-9]{{3,8}},"
    r"|\b[kK]ey[\"'`\\]*[ \t]*(?:=>|[:=])[ \t]*[\"'`\\]*[A-Za-z0-9]{16}|\b[kK]ey['\"\\]*[ :]+['\"\\]+[A-Za-z]+ "
    rf"|(?i:key|secret|psk)[a-z0-9_]*(?:\[[\w ]*\])?[\\\"']*[ \t]*[:=]?[ \t]*[\[{{][ \t]*{BYTE},[ \t]*{BYTE},"
    r"|[$%#][ ](?:nmcli|plesk|pass|gopass|secret-tool)[ ]|chpasswd:|string\([0-9]+\)[ ]"
    rf"|[\"'`]{HEADS}[A-Za-z0-9_.-]+[\"'`][ \t]*[+.&\\\n]"
    r"|rtmps?://|alchemy\.com/|infura\.io/|quiknode\.pro/|[?&](?:app_?id|appkey)=[A-Za-z0-9]{20}"
    r"|(?:[hH]mac|HMAC|_SEED|_seed|authtok|\bencrypt|[sS]erver[kK]ey)[\\\"'`]*[ \t]*[:=][ \t]*[\\\"'`]*[A-Za-z0-9+/_]{10}"
    r"|tokens[ ]\{|authorize[-_]account|(?:ftp|FTP)>[ ]|\bPWD[ \t]+=|SETUSER|\bnet[ ]user|:[ ](?:EAP|XAUTH)[ ]|\*[ \t]+\"[^\"\s]+\"[ \t]+\*|psksecret|\bdns[ ][a-z]+[ ][A-Za-z0-9_-]{20}"
    r"|[0-9a-f]{24}[\"'\\]+[),;]*[ ]+(?:#|//)[ ]|(?:changed|reset|rotated|switched)[ ](?:it|that|them)[ ]to[ ]"
    r"|(?i:netzwerkschl|network key|wpa[23]?[- ](?:key|psk))|[pP]assword is generated|form-data; name|\\nPWD[ \t]+="
    r"|rootpw[ ]--|(?:fill|sendKeys)\([\"'\\]|:587[ ]"
    r"|(?i:passwor[dt]|contrase[^ ]*|senha|mot de passe|kennwort|wachtwoord)[ ](?:de|del|du|da|do|of|for|von|vom|f(?:ü|u)r|to|on|in|zu|van)[ ][^\x00\n.:=]*[ ](?:is|es|ist|est|é|è)[ ]"
    rf"|{COMMON_WORDS}[^\x00\n?]*\?[ \t\"']*(?:[\r\n\\]|→)",
)
"""What makes a text worth a second look for these formats."""
