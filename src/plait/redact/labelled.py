"""Values after their labels, in texts without wrapping: settings, tables, prose, personal data.

A text that holds a label is read again without line margins, escapes and colour codes, so the
expressions here need to know neither. A label is a word of `SECRET_WORDS` in a name that is not
about a secret only; its value is what follows a separator, in quotes or up to the end of the line.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from plait.redact.contexts import (
    ANOTHER_PARAMETER,
    PLURAL,
    continue_value,
    is_basic,
    is_call,
    is_of_password,
    is_secret_key,
    key_around,
)
from plait.redact.likelihood import (
    COUNTED,
    LINE_OF_FILE,
    NAMING,
    NOTHING,
    PIECE,
    PLAIN_WORDS,
    PROSE,
    TECHNICAL,
    is_blank,
    is_chosen,
    is_decorated,
    is_dotted_name,
    is_harmless,
    is_in_stand_in,
    is_mixed,
    is_numbered_phrase,
    is_odd,
    is_passphrase,
    is_placeholder,
    is_plain_word,
    is_random,
    is_reference,
    is_salt,
    is_weak,
    is_wordy,
)
from plait.redact.model import Family, TextSpan, setting_secret

# Words for a secret that somebody chose, and words for other secrets, in any case. Letters beyond
# ASCII are written in both cases.
PASSWORD_WORDS = (
    r"passwor[dt]|passwd|passwort|passphrase|pass[ _-]phrase|passcode|pass[ _-]code|pwd|psswd|pasword"
    r"|kennwort|zugangswort|wachtwoord|l(?:ö|o)senord|l(?:ö|o)senfras|passord|adgangskode|kodeord|salasana|jelsz(?:ó|o)"
    r"|contrase(?:ñ|n)a|contrasenya|senha|palavra[ -]passe|mot[ _-]?de[ _-]?passe|phrase (?:secr(?:è|e)te|de passe)"
    r"|frase (?:de|di) (?:paso|contrase(?:ñ|n)a|accesso|acesso)|parola(?: d'ordine| chiave| d'accesso)?|parol(?:ă|e)"
    r"|has(?:ł|l)(?:o|em|a)|heslo|gesl[oa]|lozink[aeu]|zapork[aeu]|slapta(?:ž|z)odis|parool|(?:ş|s)ifre(?:si)?|aðgangsorð|lykilorð"
    r"|парол[ьяюие]|Парол[ьяюие]|ПАРОЛЬ|парола|лозинка|кодовая фраза|κωδικ(?:ό|ο)ς|Κωδικός|συνθηματικό"
    r"|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|비번|패스워드|รหัสผ่าน|סיסמה|पासवर्ड|mật khẩu|Mật khẩu|kata sandi|كلمة المرور|كلمة السر|رمز عبور"
)
TOKEN_WORDS = (
    r"secret|token|credential|api[ _.-]?key|apikey|geheimnis|segreto|segredo|secreto|hemlighet|jeton|salaisuus|sekret|tajemnica"
    r"|clave|chiave|chave|cl(?:é|e)[ _-](?:api|secr|priv)|schl(?:ü|u|ue)ssel|sleutel|klucz|kl(?:í|i)(?:č|c)|nyckel|n(?:ø|o)kkel|n(?:ø|o)gle|avain|kulcs"
    r"|ключ|Ключ|токен|Токен|секрет|密钥|密鑰|令牌|トークン|토큰"
    r"|wi-?fi[ _-](?:code|key)|psk|\bmdp\b|community|wep[ _-]?key|key[ _]?content|routing[_-]?key|integration[_-]?key"
    r"|(?:access|private|signing|encryption|master|license|unseal|shared|account|auth|client|session|storage|recovery|deploy|setup|admin|service|security|network|app|application|jwt|hmac|webhook|webhook_|nonce|logged_in|secure_auth)[ _.-]?key"
    r"|unlock[ _-]?(?:phrase|code|key)|hash_salt|_salt|authtoken|requirepass|masterauth|bind_?pw|root_?pw|rootpw|db_?pw|_passw\b"
)
SHORT_WORDS = (
    r"(?:\b|_)(?:[pP]ass|pw|PW|[pP]in|PIN|[sS]alt|SALT)(?:\b|_)|_PASS(?:\b|_)|[a-z](?:Pass|Pw|PW|Pin)(?:\b|_)"
    r"|\b(?:db|smtp|admin|root|user|ftp|mail|ldap|sql|redis|my|remote|bind)pass\b"
)
SECRET_WORDS = rf"(?:(?i:{PASSWORD_WORDS}|{TOKEN_WORDS})|{SHORT_WORDS})"
PASSWORD_WORD = re.compile(
    rf"(?i:{PASSWORD_WORDS}|phrase|psk|community|\bsecret\Z|shared[_-]?key|bind_?pw|masterauth|requirepass|mdp)|{SHORT_WORDS}".encode()
)
"""Words for what somebody may have chosen, however simple it is."""

KEY_TAIL = re.compile(rb"[A-Za-z0-9_.-]*(?<![.-])(?:[ ]API\b)?")
PAIRS = {
    b'"': b'"',
    b"'": b"'",
    b"`": b"`",
    "“".encode(): "”".encode(),
    "„".encode(): "“".encode(),
    "‚".encode(): "‘".encode(),
    "‘".encode(): "’".encode(),
    "‹".encode(): "›".encode(),
    "«".encode(): "»".encode(),
    "»".encode(): "«".encode(),
    "「".encode(): "」".encode(),
    "『".encode(): "』".encode(),
    b"[[": b"]]",
    b"**": b"**",
    b"<": b">",
    b"{": b"}",
}
"""How a value is enclosed."""
OPENING = "|".join(re.escape(sign.decode()) for sign in PAIRS)
OPERATOR = r"(?:=>|:=|::|[:=]{1,3}|->|<-|→|：|\?\?|\|\||,|\(|>)"
VERB = (
    r"(?:is|was|be|now|are|ist|lautet|war|sei|est|c'est|était|es|era|é|è|foi|to|jest|je|on|är|er|este|são|sono"
    r"|είναι|это|має|as|follows|with|set to|reads|read|avec|mit|con|com|med|z)"
)
# From a label to an opening quote: brackets that close the name, a number, a type, an operator.
TO_QUOTE = re.compile(
    rf"""(?:["'`\])*]|\(s\)){{0,4}}[ ]{{0,2}}(?:#?[0-9]{{1,2}})?[ \t]*"""
    rf"""(?:[\[\]?!&<>*A-Za-z0-9_:,. -]{{0,30}}?(?:{OPERATOR}|(?<=[ ]){VERB})(?:[ \t]*(?:\[|\())?|(?:[ ](?:ascii-text|plain-text|simple|encrypted|[0-9]))?[ \t]|[ ][^\n"'`=]{{2,50}}?(?::|[ ]{VERB}|'est))[ \t]*"""
    rf"""(?:(?:[bfruBFRUL@$]|&str|String|to_string)?#{{0,2}})(?P<open>{OPENING})""".encode()
)
TO_TAG = re.compile(
    rb"(?:</[a-zA-Z]+>(?:\s*<desc[a-z]*>[^<>\n]{0,120}</[a-z]+>)?\s*<[a-zA-Z]+[^<>\n]{0,60}>|[^<>\n]{0,160}>(?:\s*<[a-zA-Z]+>)?)\s*(?:<!\[CDATA\[)?(?P<v>[^<>\n]{5,300}?)(?:\]\]>)?\s*</"
)
TO_VALUE = re.compile(
    rb"""["']?(?:[ ]?\{)?[ \t,]*(?:\r?\n[ \t]*[a-z]+[ \t]*[:=][ \t]*[a-z]{2,12}){0,3}(?:\r?\n)?[ \t]*["']?(?:value|default|result)["']?[ \t]*[:=][ \t]*(?P<q>["']?)(?P<v>[^\n]{5,200}?)(?P=q)[ \t,]*(?=\r?\n|\Z|[}\]])"""
)
TO_COLUMN = re.compile(rb"(?:[ ]{2,}|\t+)(?P<v>[^\s=:(\[{<][^\n]{4,100}?)[ \t]*(?=\r?\n|\Z)")
TO_SHELL = re.compile(rb"=(?P<v>[^\s\"'`=]{6,200})(?=[ ])")
TO_LINE = re.compile(
    rb"""(?:["'`\])*]){0,4}[ \t]{0,12}(?:#?[0-9]{1,2})?[ \t]*(?::=|[:=]|\xef\xbc\x9a|->|=>)[ \t]*(?:\{[A-Z0-9-]{3,14}\})?(?P<v>[^\s"'`][^\n]{4,300}?)[ \t]*(?=\n|\r|\Z)"""
)
TO_PROMPT = re.compile(
    rb"[ ](?:for|of|on|to|zu|f\xc3\xbcr|de|del|du|di|do|da|pour|para|per|dla|voor|till|is generated for)[ ][^\n\"'`:=(]{1,60}:[ ]+(?P<v>[^\s\"'`][^\n]{4,100}?)[ \t]*(?=\r|\n|\Z)"
)
TO_WORD = re.compile(
    rf"""(?:["'`\])*]){{0,4}}(?:[ \t]*{OPERATOR}[ \t]*|[ \t]+(?:{VERB}[ ]?:?[ \t]+)?)(?P<v>[^\s"'`<>]{{6,200}})(?![^\s"'`<>])""".encode()
)
TO_NEXT_LINE = re.compile(
    rb"""(?:["'`\])*]){0,4}[^\n=]{0,50}?[ \t]*(?:[:=][ \t]*[|>]?[-+]?)?[ \t]*\r?\n(?:[ \t]*\r?\n)?(?:[ \t]*```[a-z]*\r?\n)?(?P<margin>[ \t]*)(?:[-*][ ])?(?P<q>["'`*]{0,3})(?P<v>[^\n]{5,200}?)(?P=q)[,;]?[ \t]*(?=\r?\n|\Z)"""
)
ENDS_OPEN = re.compile(rb"[:=][ \t]*[|>]?[-+]?[ \t]*\r?\n")
NEXT_LINES = re.compile(rb"\r?\n(?P<margin>[ \t]+)(?P<v>[^\s:]{16,200})[ \t]*(?=\r?\n|\Z)")
HASH = re.compile(
    rb"\*?[0-9A-Fa-f]{32,128}|\$(?:1|2[aby]|5|6|7|y|apr1|argon2id?|pbkdf2[a-z0-9-]*|scrypt)\$[A-Za-z0-9./$=,+-]{20,}"
    rb"|\{[A-Z0-9-]{3,14}\}[A-Za-z0-9./+=$]{16,}|[A-Za-z0-9+/]{40,}={0,2}"
)
HASHED = re.compile(rb"(?i)hash(?!_salt)|md5|sha-?[0-9]|digest|crypt|_hex")
STOP_WORDS = PROSE | NAMING | PLAIN_WORDS | COUNTED
LABEL_WORD = re.compile(SECRET_WORDS.encode())
WORDS = re.compile(rb"[a-z]{3,12}(?:[ ._-][a-z]{3,12}){2,11}[0-9]{0,4}")
NATIVE = re.compile(rb"[\x80-\xff]")
COMMON_ENDINGS = re.compile(
    rb"(?:tion|sion|ment|able|ible|ing|ed|ly|ness|ity|ous|ive|ance|ence|er|or|al|ate|ize|ise|ic|ics|ent|ant|ism|ist|ful|less|ship|th|ure|ary|ory|ies|es|ss|ly|ork|ine|age|ile|ode|ame|ript|ck|ase|ance)\Z"
)
LEAST_INVENTED = 10


def is_invented(value: bytes) -> bool:
    """Return whether a value is one long lower-case word that no program uses."""
    if len(value) < LEAST_INVENTED or not value.isalpha() or not value.islower():
        return False
    return COMMON_ENDINGS.search(value) is None and LABEL_WORD.search(value) is None


def is_words(value: bytes) -> bool:
    """Return whether a value is three words or more that form no sentence."""
    if WORDS.fullmatch(value) is None or LABEL_WORD.search(value):
        return False
    return not any(word in STOP_WORDS for word in re.split(rb"[^a-z]+", value))


SETTING_IN_VALUE = re.compile(rb" [A-Za-z_.-]+[=:]")


def is_spaced(value: bytes) -> bool:
    """Return whether a value mixes letters, digits, signs and spaces like no sentence."""
    if not 8 <= len(value) <= 80 or not 1 <= value.count(b" ") <= 3:
        return False
    if SETTING_IN_VALUE.search(value):
        return False
    compact = value.replace(b" ", b"")
    pieces = [piece for piece in PIECE.findall(value) if len(piece) > 3 and piece.isalpha()]
    return is_odd(compact) and not any(piece.islower() and is_wordy(piece) for piece in pieces)


SPACED_PHRASE = re.compile(
    rb"(?:[A-Za-z\x80-\xff]{2,14} ){1,5}[0-9]{1,4}[!?#*.$]?(?: [A-Za-z\x80-\xff]{2,14}){0,3}"
    rb"|[a-z]{4}(?: [a-z]{4}){3}"
)


def is_spaced_phrase(value: bytes) -> bool:
    """Return whether a value is a few words with a number behind them, or the four groups of an app's
    password.
    """
    words = [word.lower() for word in value.split()]
    if SPACED_PHRASE.fullmatch(value) is None or any(word in STOP_WORDS for word in words):
        return False
    return not LABEL_WORD.search(value) and (value[-1:] in b"!?#*.$" or not words[0].isdigit())


def has_non_ascii_letters(value: bytes) -> bool:
    """Return whether a value has letters beyond ASCII together with digits or signs."""
    if not NATIVE.search(value) or b" " in value or len(value) < 8:
        return False
    return re.search(rb"[0-9]", value) is not None and not FILLER.search(value)


FILLER = re.compile("…|‹|›|→|—|–|•|│|─|“|”|「|（|，|。|：|、".encode())
LONG, MANY_SIGNS = 20, 4


def has_many_symbols(value: bytes) -> bool:
    """Return whether a long value has many different signs among letters and digits."""
    if len(value) < LONG or is_wordy(value) or value.count(b" ") > MANY_SIGNS or is_blank(value):
        return False
    return count_signs(value) >= MANY_SIGNS and re.search(rb"[0-9]", value) is not None


OF_CODE = re.compile(rb"=\{|\./|\.cache|localhost")
ASSIGNMENT = re.compile(rb"[A-Za-z_]\w*=(?=[\w./])")
GROUPED_DIGITS = re.compile(rb"[0-9]{4,6}(?:-[0-9]{4,6}){3,9}")
NUMBER = re.compile(rb"[0-9]{4,30}|[0-9]{3,6}(?:-[0-9]{3,6}){2,9}")
WORD_OF_LETTERS = re.compile(
    rb"[A-Za-z\x80-\xff]{4,24}(?:[-_.+/]?[A-Za-z\x80-\xff]{3,24}){0,4}[0-9]{0,6}"
)
TYPE_NAME = re.compile(
    rb"(?:[A-Z][a-z]+){2,}[!?]?|[a-z]+(?:[A-Z][a-z]+)+[!?]?|[A-Z_]+|[A-Z][A-Za-z]*[!?]"
)


def is_free_word(value: bytes) -> bool:
    """Return whether a value is a word or a few that name nothing in programs and no label."""
    if WORD_OF_LETTERS.fullmatch(value) is None or LABEL_WORD.search(value):
        return False
    if TYPE_NAME.fullmatch(value) or TECHNICAL.search(value):
        return False
    words = [word.lower() for word in PIECE.findall(value)]
    return not any(word in STOP_WORDS or word in OTHER_WORDS for word in words)


OTHER_WORDS = frozenset(
    b"""text number email phone field label title off on yes ok hash encoded encrypted plain simple
    short long weak strong common same different shared personal account accounts remember mode
    type kind state status check validate change update reset forgot login log sign failed fail
    match correct wrong expired present absent provided available known set unset given stored saved
    shown visible masked hidden optional basic bearer digest oauth saml ldap jwt otp totp sms
    function object array string request response error message code data item list map params
    args option options props state context event form input output body header headers query
    button icon color theme light dark system content children""".split()
)


def is_secret(value: bytes, key: bytes, *, is_quoted: bool, is_clear: bool = False) -> bool:
    """Return whether a value may be the secret that its label names.

    Where it is clear that a value is given, a plain word is enough for something people choose.
    """
    if not (4 if is_clear else 5) <= len(value) <= 300:
        return False
    if key == b"PASS" or OF_CODE.search(value):
        return False
    if HASHED.search(key):
        return PASSWORD_WORD.search(key) is not None and HASH.fullmatch(value) is not None
    if is_harmless(value) or (b" " in value and LABEL_WORD.search(value)):
        return False
    is_password = is_of_password(key) or PASSWORD_WORD.search(key) is not None
    if is_clear and GROUPED_DIGITS.fullmatch(value):
        return True
    if is_clear and is_password and has_non_ascii_letters(value):
        return True
    if not is_quoted and ASSIGNMENT.match(value):
        return False
    if b" " in value and not (is_password or (is_spaced(value) and value.isascii())):
        return False
    if is_clear and is_password and NUMBER.fullmatch(value):
        return True
    if is_password and is_spaced_phrase(value):
        return True
    if not is_quoted and not is_single(value):
        return is_password and is_words(value)
    if is_odd(value) or is_salt(value) or is_numbered_phrase(value) or is_spaced(value):
        return True
    if is_quoted and (has_many_symbols(value) or has_non_ascii_letters(value)):
        return True
    if is_placeholder(value) or is_plain_word(value) or is_reference(value):
        return False
    if is_dotted_name(value) and not is_words(value):
        return False
    if is_words(value) or AROUND_NUMBER.fullmatch(value):
        return is_password
    if b" " in value or TECHNICAL.search(value):
        return False
    if has_non_ascii_letters(value) or is_invented(value):
        return is_password
    if is_clear and is_password and is_free_word(value):
        return True
    if not is_quoted and IDENTIFIER.fullmatch(value):
        return False
    if is_passphrase(value):
        return is_password
    return is_random(value) or is_weak(value) or is_chosen(value)


def is_single(value: bytes) -> bool:
    """Return whether a value without quotes does not look like one of several."""
    if OF_CODE.search(value) or any(number in b" \\\x1b\0" for number in value):
        return False
    return not SEVERAL.search(value) or count_signs(value) >= MANY_SIGNS


SEVERAL = re.compile(rb"[,;&(]|#(?![A-Za-z0-9])")
AROUND_NUMBER = re.compile(rb"[A-Za-z]{4,12}[0-9]{2,5}[A-Za-z]{4,12}")
IDENTIFIER = re.compile(rb"[A-Za-z_$][\w$.]*")


def count_signs(value: bytes) -> int:
    """Return how many different signs a value has."""
    return len({number for number in value if not chr(number).isalnum() and number != 32})


def _find_enclosed(text: bytes, start: int, opening: bytes) -> TextSpan | None:
    """Return the range up to the sign that closes a value, in its line."""
    closing = PAIRS[opening]
    line = text.find(b"\n", start)
    limit = min(start + 300, line if line >= 0 else len(text))
    end = text.find(closing, start, limit)
    while end > start and text[end - 1 : end] == b"\\" and len(closing) == 1:
        end = text.find(closing, end + 1, limit)
    if closing in (b'"', b"'", b"`"):
        # A quote that its program did not escape.
        while end > start and text[end + 1 : end + 2].isalnum() and text[end + 1 : end + 2] != b"":
            after = text.find(closing, end + 1, limit)
            if after < 0 or not is_odd(text[start:after]):
                break
            end = after
    return TextSpan(start, end) if end > start else None


ATTRIBUTE = re.compile(rb"[ ](?:Type|type|EncodingType|xmlns|xml:lang|xsi:type)=")
NAME_OF_THING = re.compile(rb"arn:[^\s\"']{3,110}\Z")


def _match_labelled_value(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the value of a label: in quotes, up to the end of the line, or in the next line."""
    if is_in_stand_in(text, match.start) or text.startswith(b"----", match.end):
        return NOTHING
    if NAME_OF_THING.search(text, max(0, match.start - 120), match.start + 1):
        return NOTHING
    if IN_BASE64.match(text, match.start - 30, match.end):
        return NOTHING
    key = key_around(text, match.start) or text[slice(*match)]
    if match.end - match.start > len(key) or not text[match.start : match.end].isascii():
        key = text[slice(*match)]
    tail = KEY_TAIL.match(text, match.end)
    place = tail.end() if tail else match.end
    key += text[match.end : place] if not key.endswith(text[match.end : place]) else b""
    if PLURAL.search(key) or not (is_secret_key(key) or HASHED.search(key)):
        return NOTHING
    is_attribute = ATTRIBUTE.match(text, place) is not None
    if not is_attribute and (spans := _match_enclosed_value(text, place, key)):
        return (*spans, *continue_value(text, spans[-1].end))
    line_start = text.rfind(b"\n", 0, match.start) + 1
    forms = [TO_TAG, TO_VALUE, TO_SHELL]
    if len(text[line_start : match.start]) <= len(key) + 8:
        forms.append(TO_COLUMN)
    for form in forms:
        found = form.match(text, place)
        bare = found["v"].strip() if found else b""
        is_tag = form is TO_TAG and is_mixed(bare) and b" " not in bare and not is_reference(bare)
        if found and (is_tag or is_secret(bare, key, is_quoted=form is not TO_SHELL)):
            start = found.start("v") + found["v"].find(bare)
            return (TextSpan(start, start + len(bare)),)
    prompt = TO_PROMPT.match(text, place) if PASSWORD_WORD.search(key) else None
    if prompt and (
        spans := _match_rest_of_line(text, TextSpan(*prompt.span("v")), key, is_clear=True)
    ):
        return spans
    line = TO_LINE.match(text, place)
    if line:
        is_clear = _is_setting(text, TextSpan(match.start, line.start("v")))
        spans = _match_rest_of_line(text, TextSpan(*line.span("v")), key, is_clear=is_clear)
        if spans:
            return spans
    if below := _match_next_line(text, place, key):
        return below
    word = TO_WORD.match(text, place)
    if word:
        bare = ANOTHER_PARAMETER.split(word["v"], maxsplit=1)[0].rstrip(b".,:;!?*)]}")
        is_far = (
            len(bare) < 8
            or not (is_single(bare) or (has_all_kinds(bare) and not OF_PROGRAM.search(bare)))
            or (is_dotted_name(bare) and not is_words(bare))
            or is_call(bare)
        )
        is_name = is_invented(bare) and key.endswith(b"community")
        if not is_far and (
            is_odd(bare) or has_non_ascii_letters(bare) or is_words(bare) or is_name
        ):
            return (TextSpan(word.start("v"), word.start("v") + len(bare)),)
    return _match_table(text, match, value) or _match_near(text, match, key, place)


# Where nothing says which word is the value, only words that can be nothing else are taken.
CANDIDATE = re.compile(
    "(?:{})|(?:[^\\s\"'`\xe2]|\xe2(?!\x80[\x98-\x9f])){{6,}}".format(
        "|".join(
            f"{re.escape(a.decode('latin-1'))}(?=[^ ])[^\n]{{5,80}}?{re.escape(b.decode('latin-1'))}(?![A-Za-z0-9])"
            for a, b in PAIRS.items()
            if a not in (b"<", b"{", b"[[")
        )
    ).encode("latin-1")
)
FIRST_OF_PAIRS = frozenset(sign[0] for sign in PAIRS)
OPENERS, CLOSERS = b"([{<:=,;>-", b"])}>.,:;!?"
FARTHEST, MOST_LINES_BELOW = 160, 3
ENTRY = re.compile(rb"[A-Za-z0-9_.@-]{1,40}[:=](?=[^/])")


def iter_candidates(text: bytes, start: int, end: int) -> Iterator[tuple[TextSpan, bool]]:
    """Yield the quoted strings and words of a range, and whether each is in quotes."""
    for found in CANDIDATE.finditer(text, start, end):
        word = found[0]
        opening = b""
        if word[0] in FIRST_OF_PAIRS:
            opening = next((sign for sign in PAIRS if word.startswith(sign)), b"")
        if opening and word.endswith(PAIRS[opening]) and len(word) > 2 * len(opening):
            inner = TextSpan(found.start() + len(opening), found.end() - len(PAIRS[opening]))
            yield inner, True
            continue
        bare = word.lstrip(OPENERS)
        first = found.start() + len(word) - len(bare)
        bare = bare.rstrip(CLOSERS) if not is_decorated(bare) else bare
        entry = ENTRY.match(bare)
        if entry:
            first, bare = first + entry.end(), bare[entry.end() :]
        yield TextSpan(first, first + len(bare)), False


ORDINARY = re.compile(
    rb"(?:[a-zA-Z0-9]-[a-zA-Z0-9]){2}.*|[0-9]+[a-z]{1,3}(?:-[a-z]+)?|@.*|[0-9]+\xe2\x86\x92.*|#?[A-Z]{1,4}-?[0-9-]+|"
    rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{7,64}|[0-9a-fA-F.]+|[A-Za-z_.]+=[0-9.]+%?|[A-Za-z_][\w-]*=[A-Z]?[a-z]+|[a-z]+(?:-[a-z]+)*-[0-9]+|[A-Z]+(?:[_-][A-Z0-9]+)+|[a-z0-9]+(?:_[a-z0-9]*)+=?[0-9]*|\.?[a-z0-9]+(?:\.[a-z0-9_]+)+|[A-Z][a-z]+-[0-9a-f]+|[0-9.,:/%+-]+|v?[0-9]+(?:\.[0-9]+)+.*"
    rb"|[^\s@]+@[^\s@]+\.[a-z]+|[A-Za-z0-9_]+\(.*|.*[\\/].*[\\/].*|[A-Z]{2,10}-[0-9]+|.*\$[({A-Z].*|.*(?:=>|->|==|!=|&&|\|\||\+\+|::|\(\)|\[\]|[({]).*"
    rb"|[A-Za-z_$][\w$]*(?:\[[^\]]*\]|\.[A-Za-z_$][\w$]*)+[;,]?|[a-z]+[0-9]+"
)


PROMISING = re.compile(rb"[0-9]|[!#%^&*?~$@<>|].*[!#%^&*?~$@<>|]")


def is_unmistakable(value: bytes, *, is_quoted: bool) -> bool:
    """Return whether a value can hardly be anything but a secret in a text that speaks of one."""
    if PROMISING.search(value) is None:
        return False
    if is_decorated(value):
        return True
    if not 8 <= len(value) <= 100 or ORDINARY.fullmatch(value) or is_harmless(value):
        return False
    if is_placeholder(value) or is_reference(value) or TECHNICAL.search(value):
        return False
    if WRITTEN_AS_CODE.search(value):
        return False
    if is_odd(value):
        return is_quoted or (
            b"," not in value
            and sum(kind.search(value) is not None for kind in KINDS_OF_LETTERS) > 2
        )
    return is_quoted and (has_non_ascii_letters(value) or is_weak(value))


KINDS_OF_LETTERS = [re.compile(kind) for kind in (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^\w./:-]")]


OF_PROGRAM = re.compile(rb"[(;&{}]")


def has_all_kinds(value: bytes) -> bool:
    """Return whether a value has lower and upper case, digits and signs."""
    return all(kind.search(value) for kind in KINDS_OF_LETTERS)


def _match_near(text: bytes, match: TextSpan, key: bytes, place: int) -> tuple[TextSpan, ...]:
    """Match words that look like a password in the line of a label, or below a line it ends."""
    if not PASSWORD_WORD.search(key) and not STRONG_LABEL.search(key):
        return NOTHING
    if b"\xe2\x80\xb9" in text[place : place + 16]:
        return NOTHING  # the value is replaced already
    line = line_at(text, match.start)
    end = min(line.end, match.end + FARTHEST)
    if spans := _list_unmistakable(text, place, end):
        return spans
    if spans := _match_announced(text, TextSpan(place, end), key):
        return spans
    start = max(line.start, match.start - FARTHEST)
    name = KEY_BEFORE.search(text, start, match.start)
    if spans := _list_unmistakable(text, start, name.start() if name else match.start):
        return spans
    if not ENDS_LINE.fullmatch(text, place, line.end):
        return NOTHING
    for _ in range(MOST_LINES_BELOW):
        line = line_at(text, line.end + 1) if line.end < len(text) else TextSpan(0, 0)
        if not line.end:
            break
        below = TextSpan(line.start, min(line.end, line.start + FARTHEST))
        if spans := _list_unmistakable(text, *below):
            return tuple(span for span in spans if LAST_IN_LINE.match(text, span.end))
        if spans := _match_announced(text, below, key):
            return spans
    return NOTHING


ANNOUNCES = re.compile(
    rf"(?:[:=]|->|→|=>|[ ,](?:{VERB}|just|still|word|literally|it's|c'est|war)|'s)[ \t]*(?:[\"'`(]|“|‘|«|»|„){{0,2}}\\Z".encode()
)
ANNOUNCES_ANY = re.compile(
    rf"[:=]|->|→|=>|[ ,](?:{VERB}|just|still|word|literally|it's|c'est|war)[ ]|'s ".encode()
)
ENDS_SENTENCE = re.compile(
    "(?:[\"'`)]|”|’|»|«){0,2}(?:[.,;!?)]|[ \t]*(?:\\(|–|—|-[ ])|[ \t]*(?:\r|\n|\\Z))".encode()
)


def _match_announced(text: bytes, span: TextSpan, key: bytes) -> tuple[TextSpan, ...]:
    """Match a weak password that a verb or a colon after its label announces."""
    if not PASSWORD_WORD.search(key):
        return NOTHING
    if ANNOUNCES_ANY.search(text, *span) is None:
        return NOTHING
    for word, is_quoted in iter_candidates(text, *span):
        value = text[slice(*word)]
        if len(value) < 6 or not (
            is_weak(value) or is_invented(value) or has_non_ascii_letters(value)
        ):
            continue
        if is_harmless(value) or is_placeholder(value) or WRITTEN_AS_CODE.search(value):
            continue
        is_announced = (
            ANNOUNCES.search(text, max(span.start, word.start - 16), word.start) is not None
        )
        if is_announced and (is_quoted or ENDS_SENTENCE.match(text, word.end)):
            return (word,)
    return NOTHING


IN_BASE64 = re.compile(rb"[A-Za-z0-9+/]{30,}")
LAST_IN_LINE = re.compile(rb"""["'`\])},;.]{0,3}(?:[ \t]*(?:\r|\n|\Z)|["'`])""")


WRITTEN_AS_CODE = re.compile(rb"\\|%[0-9A-Fa-f]{2}|&|\x1b|\xe2\x80[\xb9\xba]|</")
"""What is read again where it is decoded."""
KEY_BEFORE = re.compile(rb"[\w.-]+\Z")
STRONG_LABEL = re.compile(rb"(?i)secret|token|api[ _-]?key|credential")
ENDS_LINE = re.compile(rb"[^\n\"'`=]{0,60}[:?.({\[=|>*#\"'`-]{0,4}[ \t]*\r?")
"""What may follow a label in a line whose value is below it."""


def _list_unmistakable(text: bytes, start: int, end: int) -> tuple[TextSpan, ...]:
    if PROMISING.search(text, start, end) is None:
        return NOTHING
    return tuple(
        span
        for span, is_quoted in iter_candidates(text, start, end)
        if is_unmistakable(text[slice(*span)], is_quoted=is_quoted)
        and not is_in_stand_in(text, span.start)
    )


def _match_enclosed_value(text: bytes, place: int, key: bytes) -> tuple[TextSpan, ...]:
    """Match the value in quotes or brackets after the name of a secret."""
    found = TO_QUOTE.match(text, place)
    span = _find_enclosed(text, found.end(), found["open"]) if found else None
    if span is None:
        return NOTHING
    inner = text[slice(*span)]
    bare = inner.strip()
    start = span.start + inner.find(bare)
    is_clear = (
        found is not None and ASSIGNED.fullmatch(text, place, found.start("open")) is not None
    )
    if not is_secret(bare, key, is_quoted=True, is_clear=is_clear) or LABEL_WORD.fullmatch(bare):
        return NOTHING
    return (TextSpan(start, start + len(bare)),)


ASSIGNED = re.compile(
    rb"""["'`\])*]{0,4}[ \t]*(?:=>|:=|[:=]|->|\?\?=)[ \t]*(?:[bfruBFRU@$]|&str)?[ \t]*"""
)
"""What says that the quoted value after a label is the secret itself."""


CLOSED = re.compile(rb'\\*"[}\])>,"\\]*\Z')
"""The end of a text around a value without quotes."""
COMMENT = re.compile(rb"[ \t]+(?:#|//|;|--)[ \t].*\Z")


BEGINS_SETTING = re.compile(
    rb"[ \t]*(?:(?:export|set|setx|ENV|ARG|Environment=|declare -x)[ ]+|-[ ]|;|--?(?=[A-Za-z])|-D|\$env:|\?[ ])?[\"']?[\w.:-]*\Z"
)
SPACED_OPERATOR = re.compile(rb"[ \t]=[ \t]*\Z")
PLAIN_SETTING = re.compile(
    rb"(?m)^[ \t]*[A-Za-z_][\w.-]*[ \t]*=[ \t]*[\w./:@-]+[ \t]*\r?$|^[ \t]*\[[\w. :-]+\][ \t]*\r?$"
)
CODE_LINE = re.compile(rb"(?m)[;{(]|^[ \t]*(?:def|return|if|for|import|from|class|let|const|var)\b")


def _is_setting(text: bytes, span: TextSpan) -> bool:
    """Return whether a label begins its line and an operator follows it, as in a file of settings."""
    start = text.rfind(b"\n", 0, span.start) + 1
    if BEGINS_SETTING.fullmatch(text, start, span.start) is None:
        return False
    if SPACED_OPERATOR.search(text, *span) is None:
        return True
    around = text[max(0, start - 200) : span.end + 200]
    return len(PLAIN_SETTING.findall(around)) > 1 and CODE_LINE.search(around) is None


NOTE = re.compile("[ \t]+(?:\\([^()\n]{2,40}\\)|[–—-][ ].*)\\Z".encode())


def _match_rest_of_line(
    text: bytes, span: TextSpan, key: bytes, *, is_clear: bool
) -> tuple[TextSpan, ...]:
    found = COMMENT.sub(b"", text[slice(*span)]).rstrip(b" \t,;")
    found = LINE_OF_FILE.sub(b"", NOTE.sub(b"", found))
    found = CLOSED.sub(b"", found) if found[:1] != b'"' else found
    found = ANOTHER_PARAMETER.split(found, maxsplit=1)[0]
    if is_call(found) and not is_odd(found):
        return NOTHING
    if is_secret(found, key, is_quoted=False, is_clear=is_clear):
        return (TextSpan(span.start, span.start + len(found)),)
    return NOTHING


def _match_next_line(text: bytes, place: int, key: bytes) -> tuple[TextSpan, ...]:
    """Match the lines below a label."""
    found = TO_NEXT_LINE.match(text, place)
    if found is None:
        return NOTHING
    is_open = ENDS_OPEN.search(text, place, found.start("v")) is not None
    bare = found["v"].rstrip(b" \t\r")
    if not is_secret(bare, key, is_quoted=bool(found["q"])) or is_call(bare):
        return NOTHING
    if not is_open and not is_odd(bare) and not is_weak(bare) and not has_non_ascii_letters(bare):
        return NOTHING
    start = found.start("v")
    spans = [TextSpan(start, start + len(bare))]
    if is_open and is_random(bare):
        place = found.end()
        while (more := NEXT_LINES.match(text, place)) and is_random(more["v"]):
            spans.append(TextSpan(*more.span("v")))
            place = more.end()
    return tuple(spans)


# Tables: the cells below a head that names a secret or a person.
HEAD = re.compile(
    rb"(?i)\A(?:[\w. -]{0,20}[_ .-])?(?:"
    + PASSWORD_WORDS.encode()
    + rb"|secret|token|api[ _-]?key|key|pass|pw|pin|mdp|clave|passw|mot de passe)(?:[_ -]?(?:md5|hash|sha\d*|1|2))?\Z"
)
SEPARATORS = (b"\t", b"|", b";", b",")
RULE = re.compile(rb"[-+|:= \t]{3,}\Z")
MOST_ROWS = 100


HEAD_LINE = re.compile(rb"[\w\x80-\xff \t\"'`*.|,;/#()=-]{5,300}\r?")
"""A line of heads: words and separators."""


class Cell(NamedTuple):
    """One cell of a table, and where it is."""

    span: TextSpan
    text: bytes


CELL = {
    sign: re.compile(
        rb'[ ]*(?:"((?:[^"\n]|"")*)"|([^%b\n\r]*?))[ ]*(?:%b|\r?(?=\n)|\r?\Z)'
        % (sign, re.escape(sign))
    )
    for sign in SEPARATORS
}


def parse_cells(text: bytes, start: int, end: int, sign: bytes) -> list[Cell]:
    """Return the cells of a line, with or without quotes."""
    cells: list[Cell] = []
    place = start
    while place <= end and (found := CELL[sign].match(text, place, end)):
        group = 1 if found[1] is not None else 2
        cells.append(Cell(TextSpan(*found.span(group)), found[group].strip(b"*` ")))
        if found.end() == place:
            break
        place = found.end()
        if place >= end and text[place - 1 : place] != sign:
            break
    return cells


def line_at(text: bytes, place: int) -> TextSpan:
    """Return the line of a position."""
    end = text.find(b"\n", place)
    return TextSpan(text.rfind(b"\n", 0, place) + 1, end if end >= 0 else len(text))


def iter_rows(text: bytes, place: int) -> Iterator[TextSpan]:
    """Yield the lines after a position up to an empty one."""
    for _ in range(MOST_ROWS):
        if place >= len(text):
            return
        line = line_at(text, place)
        if not text[slice(*line)].strip():
            return
        yield line
        place = line.end + 1


def _match_table(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the cells below a head that names a secret."""
    line = line_at(text, match.start)
    field = text.rfind(b'": "', line.start, match.start)
    line = TextSpan(field + 4 if field >= 0 else line.start, line.end)
    head = text[slice(*line)]
    if HEAD_LINE.fullmatch(head) is None:
        return NOTHING
    for sign in SEPARATORS:
        if sign not in head:
            continue
        heads = parse_cells(text, line.start, line.end, sign)
        columns = [n for n, cell in enumerate(heads) if HEAD.match(cell.text)]
        if not columns or len(heads) < 2 or any(len(cell.text) > 40 for cell in heads):
            continue
        spans: list[Cell] = []
        plain: list[Cell] = []
        for row in iter_rows(text, line.end + 1):
            if RULE.match(text[slice(*row)]):
                continue
            cells = parse_cells(text, row.start, row.end, sign)
            if len(cells) != len(heads) and not (sign == b"\t" and len(cells) > columns[-1]):
                break
            for n in columns:
                is_worth = is_cell(cells[n].text, heads[n].text)
                (spans if is_worth else plain).append(cells[n])
        if spans:
            # Next to secrets, a plain word of some length is one too.
            spans += [cell for cell in plain if PLAIN_CELL.fullmatch(cell.text)]
            return tuple(cell.span for cell in spans if not is_plain_word(cell.text))
    return _columns(text, line)


PLAIN_CELL = re.compile(rb"[a-z]{5,20}")


def is_cell(value: bytes, head: bytes) -> bool:
    """Return whether a cell below the name of a secret contains one."""
    if HASH.fullmatch(value) and re.search(rb"(?i)pass|hash|md5|sha", head):
        return True
    if is_placeholder(value) or is_plain_word(value) or len(value) < 5:
        return False
    if is_secret(value, head, is_quoted=True):
        return True
    return is_mixed(value) and SIGNED.search(value) is not None


SIGNED = re.compile(rb"[!@#$%^&*?~+=]")


GAP = re.compile(rb"[ ]{2,}|\t+")


def _columns(text: bytes, line: TextSpan) -> tuple[TextSpan, ...]:
    """Match the words below a head in a table whose columns are aligned by spaces."""
    places = [
        found
        for found in re.finditer(rb"[^ \t\n](?:[^ \t\n]|[ ](?![ ]))*", text[slice(*line)])
        if len(found[0]) < 40
    ]
    words = [
        found
        for place in places
        for found in re.finditer(rb"[^ \t]+", place[0])
        for place in [place]
    ]
    if len(words) < 2:
        return NOTHING
    columns = [
        place.start()
        for place in re.finditer(rb"[^ \t]+", text[slice(*line)])
        if HEAD.match(place[0])
    ]
    spans: list[TextSpan] = []
    has_rule = False
    for row in iter_rows(text, line.end + 1) if columns else ():
        if RULE.match(text[slice(*row)]):
            has_rule = True
            continue
        for column in columns:
            start = row.start + column
            word = re.compile(rb"[^\s]{5,200}").match(text, start, row.end)
            is_start = text[start - 1 : start] in (b" ", b"\t", b"\n", b"")
            if word and is_start and is_cell(word[0], b"password"):
                spans.append(TextSpan(*word.span()))
    is_table = has_rule or CAPITALS.fullmatch(text, *line) is not None
    return tuple(spans) if is_table else NOTHING


CAPITALS = re.compile(rb"[A-Z][A-Za-z_-]*(?:[ ]+[A-Z][A-Za-z_-]*)+[ ]*\r?")
"""Heads of a table without a rule below them."""

# Other forms: each is a row of expressions, and a check of the value.
CRYPT = r"\$(?:2[abxy]\$[0-9]{2}\$[A-Za-z0-9./]{53}|(?:1|5|6|7|y|apr1)\$[A-Za-z0-9./=$,+-]{20,}|argon2(?:id?|d)\$[A-Za-z0-9./=$,+-]{20,}|scrypt\$[A-Za-z0-9./=$,+-]{20,})"
LOGIN_WORDS = r"(?i:log(?:in|ins|ged in|ging in|on| in)|sign(?:ed)?[ -]?in|accounts?|creds?|credentials|credenziali|credenciales|credenciais|zugangsdaten|anmeldedaten|identifiants|inloggegevens|inloggen|anmelde[nr]?|melde dich|konta|dane logowania|p(?:ř|r)ihla(?:š|s)\w*|entre com|accedi|acced[ae]r?|connecte[rz]?(?:-toi)?|zaloguj|logga in|logg inn|kirjaudu|giri(?:ş|s)|войти|войдите|логин)"
PAIR = re.compile(
    rb"""[ (,:;"'`]([A-Za-z][A-Za-z0-9_.@-]{1,30})[ ]?/[ ]{0,2}(?P<q>["'`<*]{0,2})(?P<v>(?<=["'`])[^"'`\n]{6,60}|[^\s"'`<>,;()]{6,60})"""
)
SEED_LABEL = r"(?i:seed|mnemonic|recovery|backup|wallet|ledger|trezor|metamask)(?:[ _-]?(?i:phrase|words?|seed|key|sentence|frase|zdanie|w(?:ö|oe)rter))?"
SEED_WORDS = re.compile(
    rb"[a-z]{3,8}(?:(?:[ ]|,[ ]?|\r?\n[ \t]*(?:[0-9]{1,2}[.)][ ]?)?)[a-z]{3,8}){11,23}(?![a-z])"
)
CODE_LABEL = r"(?i:recovery|backup|scratch|emergency|2fa|one-time|rescue|notfall|reserve|wiederherstellungs|zapasowe|secours|respaldo|recupero)[ _-]?(?:[a-z]+[ _-]){0,2}(?i:codes?|kody|c(?:ó|o)digos|codici|codes de secours)"
CODE = re.compile(rb"[A-Za-z0-9]{4,8}(?:[- ][A-Za-z0-9]{4,8}){0,4}")
CODE_GAP = re.compile(rb"[ \t,;|]*(?:\r?\n)?[ \t]*(?:[-*][ ]|[0-9]{1,2}[.)][ ])?")


def _match_login_pairs(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the passwords of pairs `name/password` after a word about logging in."""
    end = text.find(b"\n", match.end)
    end = min(end if end >= 0 else len(text), match.end + 300)
    spans: list[TextSpan] = []
    place = match.end - 1
    for pair in PAIR.finditer(text, max(0, match.end - 40), end):
        if pair.start() > place + (12 if spans else 2) and spans:
            break
        found = pair["v"].rstrip(b".!?") if not pair["q"] else pair["v"]
        is_path = b"/" in found and not is_odd(found)
        is_worth = (
            is_odd(found) or is_weak(found) or has_non_ascii_letters(found) or is_spaced(found)
        )
        is_worth = (
            is_worth
            or NUMBERED.fullmatch(found) is not None
            or (is_invented(found) and bool(spans))
        )
        if is_worth and not is_path and not is_placeholder(found):
            spans.append(TextSpan(pair.start("v"), pair.start("v") + len(found)))
            place = pair.end()
    return tuple(spans)


NUMBERED = re.compile(rb"[A-Za-z]{4,15}[-._]?[0-9]{3,6}[!?*]?")


def _match_quoted_pair(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the second of two quoted words, if nothing but a password looks like it."""
    found = text[slice(*value)]
    is_made = is_reference(found) or b"://" in found or b"(" in found or is_wordy(found)
    is_mix = count_signs(found) > 2 and b" " not in found and not is_made
    return (value,) if is_mix or (is_odd(found) and count_signs(found) > 1) else NOTHING


def _match_seed_words(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the words that restore a wallet, line by line."""
    found = SEED_WORDS.search(text, match.end, match.end + 260)
    if found is None or len(re.findall(rb"[a-z]+", found[0])) % 3:
        return NOTHING
    between = text[match.end : found.start()]
    is_prose = sum(word in PROSE for word in re.findall(rb"[a-z]+", found[0])) > 2
    if is_prose or len(between) > 60:
        return NOTHING
    lines = re.finditer(rb"[a-z]+(?:,?[ ][a-z]+)*", found[0])
    return tuple(
        TextSpan(found.start() + a, found.start() + b) for a, b in (m.span() for m in lines)
    )


CODE = re.compile(rb"[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){0,4}")


def _match_code_list(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the codes after a sentence that announces them: all of them have digits."""
    start = text.find(b"\n", match.end, match.end + 80)
    colon = text.find(b":", match.end, match.end + 80)
    place = min((item + 1 for item in (start, colon) if item >= 0), default=-1)
    spans: list[TextSpan] = []
    while place >= 0 and len(spans) < MOST_ROWS:
        gap = CODE_GAP.match(text, place)
        code = CODE.match(text, gap.end() if gap else place)
        if code is None or (code[0].isalpha() and b"-" not in code[0]):
            break
        spans.append(TextSpan(*code.span()))
        place = code.end()
    has_digits = sum(re.search(rb"[0-9]", text[slice(*span)]) is not None for span in spans)
    return (
        tuple(spans)
        if spans and has_digits * 2 > len(spans) and len(text[slice(*spans[0])]) > 5
        else NOTHING
    )


def _match_unless_placeholder(
    text: bytes, match: TextSpan, value: TextSpan
) -> tuple[TextSpan, ...]:
    """Match a value where only a secret can be, unless it is a placeholder or a reference."""
    found = text[slice(*value)]
    is_no = is_placeholder(found) or is_reference(found) or is_plain_word(found)
    return NOTHING if is_no and not is_odd(found) else (value,)


def _match_if_secret(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a value that looks like a secret."""
    return (value,) if is_secret(text[slice(*value)], b"password", is_quoted=True) else NOTHING


ENCLOSED_BEFORE = re.compile(
    "(?:[\"'`«»“”„]|\\*\\*)[ ]?([^\n\"'`«»“”]{6,80}?)[ ]?(?:[\"'`»«”“]|\\*\\*)\\Z".encode()
)


def _match_before_noun(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the quoted words before `as the password`."""
    found = ENCLOSED_BEFORE.search(text, max(0, match.start - 90), match.start)
    if found is None or not is_secret(found[1], b"password", is_quoted=True):
        return NOTHING
    return (TextSpan(*found.span(1)),)


def _match_basic_auth(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a name and a password in base64."""
    return (value,) if is_basic(text[slice(*value)]) else NOTHING


def _match_weak_key(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a quoted value of `key`, if it can only be a secret."""
    found = text[slice(*value)]
    is_long = len(found) >= LONG and is_random(found) and found.lower() != found
    is_mix = is_long and re.search(rb"[0-9]", found) is not None and b" " not in found
    is_worth = is_odd(found) and count_signs(found) > 2
    is_no = is_reference(found) or is_placeholder(found) or OF_CODE.search(found)
    if is_no or not (is_mix or is_worth):
        return NOTHING
    return (value, *continue_value(text, value.end))


def _match_snmp_password(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the passwords of a user of SNMP."""
    line = line_at(text, match.start)
    is_user = re.search(rb"createUser|snmp|usm", text[line.start : match.start]) is not None
    return (value,) if is_user else NOTHING


def _match_digits(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the digits of a code."""
    before = text[match.start - 1 : match.start]
    return NOTHING if before.isalnum() or before == b"_" else (value,)


DATA = re.compile(rb"\r?\n[ \t]*(?:stringData|data):[ \t]*(?=\r?\n)")
ENTRY = re.compile(
    rb"\r?\n[ \t]+[A-Za-z0-9_.-]+:[ \t]+[\"']?(?P<v>[^\s\"']{8,2000})[\"']?[ \t]*(?=\r?\n|\Z)"
)


def _match_manifest(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the values in the data of a secret of Kubernetes."""
    data = DATA.search(text, match.end, match.end + 600)
    place = data.end() if data else -1
    spans: list[TextSpan] = []
    while place >= 0 and (entry := ENTRY.match(text, place)):
        if is_random(entry["v"]) or is_odd(entry["v"]):
            spans.append(TextSpan(*entry.span("v")))
        place = entry.end()
    return tuple(spans)


HEX_LINE = re.compile(rb"\r?\n[ \t]*(?P<v>[0-9a-f]{32})(?=\s)")


def _match_static_key(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the lines of a key that a tunnel shares."""
    spans: list[TextSpan] = []
    place = match.end
    while line := HEX_LINE.match(text, place):
        spans.append(TextSpan(*line.span("v")))
        place = line.end()
    return tuple(spans)


OTHER_KEY = re.compile(
    rb"(?i)(?:public|cache|sort|partition|primary|foreign|index|group|row|hash|idempotency|dedup\w*|object|s3|storage"
    rb"|i18n|translation|query|lookup|bucket|file|item|map|node|parent|event|trace|message|routing|react|host|known|job|state|color|asset|chunk|content|etag|lock|registry|image|session|path|run|kid|thumbprint)[_-]?key\Z|keyid|key_id"
)


def _match_key(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the random value of a name that ends as names of keys do."""
    name = text[match.start : value.start].rstrip(b" \t\"'`:=>")
    found = text[slice(*value)]
    if OTHER_KEY.search(name) or not is_random(found) or is_placeholder(found):
        return NOTHING
    before = text[match.start - 1 : match.start]
    if before.isalnum() or before in (b"_", b"-"):
        return NOTHING  # the rest of another name
    if (
        text[match.start - 1 : match.start] in (b"$", b".")
        or text[value.end : value.end + 1].isalnum()
    ):
        return NOTHING
    is_hex = re.fullmatch(rb"[0-9a-f]+|[0-9A-F]+", found) is not None
    has_digit = re.search(rb"[0-9]", found) is not None
    return (value,) if has_digit and len(found) >= (32 if is_hex else 20) else NOTHING


def _match_login(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the word behind the name of who logs in, at the end of its line."""
    found = text[slice(*value)]
    is_worth = is_odd(found) or is_weak(found) or NUMBERED.fullmatch(found) is not None
    is_worth = is_worth or (found.isalnum() and is_random(found))
    is_no = is_harmless(found) or is_placeholder(found) or is_reference(found)
    return (value,) if is_worth and not is_no and not TECHNICAL.search(found) else NOTHING


def _match_unmistakable(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the words in the line of a word about logging in that can only be passwords."""
    line = line_at(text, match.start)
    return _list_unmistakable(text, match.end, min(line.end, match.end + FARTHEST))


ARGUMENT = re.compile(
    rb"""(?:(?P<q>["'`])(?P<v>(?:(?!(?P=q))[^\n]){6,80})(?P=q)|\bqq?\{(?P<w>[^{}\n]{6,80})\})[ ]*(?=[,)])"""
)


def _match_arguments(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what can be a password among the quoted arguments of a call that connects."""
    end = text.find(b")", match.end, match.end + 200)
    end = end if end >= 0 else line_at(text, match.start).end
    arguments = [
        argument
        for argument in ARGUMENT.finditer(text, match.end, min(len(text), end + 40))
        if argument.start() < end
    ]
    if len(arguments) < 2:
        return NOTHING
    last = arguments[-1]["v"] or arguments[-1]["w"]
    for argument in (arguments[-1], *arguments[1:-1]):
        group = "v" if argument["v"] else "w"
        found = argument[group]
        is_worth = is_odd(found)
        if found == last:
            is_worth = is_worth or is_weak(found) or has_non_ascii_letters(found) or group == "w"
        is_no = is_harmless(found) or is_reference(found) or TECHNICAL.search(found)
        if is_worth and not is_no:
            return (TextSpan(*argument.span(group)),)
    return NOTHING


def _match_file_of_secret(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the last word of a short file whose name says what it holds."""
    lines = list(iter_rows(text, line_at(text, match.start).end + 1))[:2]
    for number, row in enumerate(lines):
        found = text[slice(*row)].strip(b"\r \t")
        if not found or b" " in found or found[:1] in b"$#>%" or is_harmless(found):
            return NOTHING
        is_worth = is_odd(found) or is_random(found) or has_non_ascii_letters(found)
        is_worth = (
            is_worth or (number == 1 and is_mixed(found)) or UPPER_KEY.fullmatch(found) is not None
        )
        if is_worth and not is_placeholder(found) and not is_reference(found):
            return (TextSpan(row.start, row.start + len(found)),)
    return NOTHING


UPPER_KEY = re.compile(rb"[A-Z]{16,}")


TEXT_QUOTE = r"""["'`]"""
SECRETS: tuple[Family, ...] = (
    setting_secret("label-value", SECRET_WORDS, _match_labelled_value, is_many=True),
)
FORMS: tuple[Family, ...] = (
    setting_secret("crypt", rf"(?P<v>{CRYPT})", _match_unless_placeholder),
    setting_secret(
        "scram",
        r"(?P<v>SCRAM-SHA-(?:1|256|512)\$[0-9]+:[A-Za-z0-9+/=$:]{40,})",
        _match_unless_placeholder,
    ),
    setting_secret("nt-hash", r":[0-9A-FX]{32}:(?P<v>[0-9A-Fa-f]{32}):", _match_unless_placeholder),
    setting_secret("md5-of-role", r"[ |'\"]md5(?P<v>[0-9a-f]{32})\b", _match_unless_placeholder),
    setting_secret(
        "recovery-digits", r"\b(?P<v>[0-9]{6}(?:-[0-9]{6}){7})\b", _match_unless_placeholder
    ),
    setting_secret(
        "product-key", r"\b(?P<v>[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4})\b", _match_unless_placeholder
    ),
    setting_secret(
        "cracked",
        r"\b[0-9a-f]{32,128}:(?P<v>[^\s:]{6,60})(?=\s|\Z)",
        _match_login,
        trigger=r"\b[0-9a-f]{32,128}:[^\s:]",
    ),
    setting_secret(
        "named-key",
        rf"[A-Za-z][A-Za-z0-9_.-]*(?:[_-][kK][eE][yY]|[kK]ey|_KEY|\bsid|_sid|[sS]ecret_?I[dD])[\"'`]?\]?[ \t]*(?:=>|[:=])[ \t]*{TEXT_QUOTE}?(?P<v>[A-Za-z0-9+/_=.~-]{{16,200}})",
        _match_key,
        trigger=rf"[A-Za-z][A-Za-z0-9_.-]*(?:[_-][kK][eE][yY]|[kK]ey|\bsid|_sid|[sS]ecret_?I[dD])[\"'`]?\]?[ \t]*(?:=>|[:=])[ \t]*{TEXT_QUOTE}?[A-Za-z0-9+/_=.~-]{{16}}",
    ),
    setting_secret(
        "secret-id",
        r"(?i:secret_?id)[\"']?[ ]*[:=][ ]*[\"']?(?P<v>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
        _match_unless_placeholder,
    ),
    setting_secret(
        "identified",
        r"\b(?:IDENTIFY|LOGON|logon|signon)[ ]+[A-Za-z][A-Za-z0-9_.@-]{1,30}[ /]+(?P<v>[^\s\"'/]{6,60})(?=\s|\Z)",
        _match_login,
        trigger=r"\b(?:IDENTIFY|LOGON|logon|signon)[ ]+[A-Za-z][A-Za-z0-9_.@-]+[ /]",
    ),
    setting_secret(
        "login-line",
        rf"\b(?:{LOGIN_WORDS}|(?:USER|AUTH|PASS|EAP)[ \"]|[cC]r(?:e|é)dential\b)",
        _match_unmistakable,
        is_many=True,
        trigger=rf"\b(?:{LOGIN_WORDS}|(?:USER|AUTH|PASS|EAP)[ \"]|[cC]r(?:e|é)dential\b)[^\n]*[ \"'`:/(][^\s]*[!@#$%^&*~+=_.-]",
    ),
    setting_secret(
        "pass-line",
        r"\bPASS[ ](?P<v>[^\s:\"'/]{6,60})(?=[\s\"'\\]|\Z)",
        _match_login,
        trigger=r"\bPASS[ ][^\s:\"'/]",
    ),
    setting_secret(
        "arguments",
        r"(?i:credentials?|database|connect|login|sign_?in|auth|authenticate|open_?connection|logon)\(",
        _match_arguments,
        trigger=r"(?i:credentials?|database|connect|login|sign_?in|auth|authenticate|open_?connection|logon)\([^\n)]*[\"'`],[ ]?[\"'`]",
    ),
    setting_secret(
        "file-of-secret",
        r"(?:cat|type|more|less|tail|head|bat)[ ][^\s|;&]*(?i:auth|cookie|secret|passw|token|cred|\bkey\b|pwd|vault)[^\s|;&]*[ \t]*\r?\n",
        _match_file_of_secret,
    ),
    setting_secret(
        "pair-in-code",
        r"[A-Za-z][A-Za-z0-9_.@-]{1,30}[ ]/[ ]`(?P<v>[^`\n]{6,60})`",
        _match_login,
    ),
    setting_secret(
        "quoted-after-user",
        r"[ ]-[aAuU][ =]?[A-Za-z0-9_.@-]{1,40}[:,%](?P<q>[\"'])(?P<v>(?:(?!(?P=q))[^\n]){5,80})(?P=q)",
        _match_unless_placeholder,
        trigger=r"[ ]-[aAuU][ =]?[A-Za-z0-9_.@-]+[:,%][\"']",
    ),
    setting_secret("mysql-hash", r"\*(?P<v>[0-9A-F]{40})\b", _match_unless_placeholder),
    setting_secret(
        "scheme",
        r"\{(?:PLAIN|CLEAR|CLEARTEXT|S?SHA[0-9]{0,3}|CRAM-MD5|BLF-CRYPT|SHA512-CRYPT|ARGON2(?:ID?)?|CRYPT|SMD5|MD5|SCRAM-SHA-256)\}(?P<v>[^\s:,;\"']{6,200})",
        _match_unless_placeholder,
    ),
    setting_secret(
        "acl-hash",
        r"[ ]on[ ](?:[^\n]{0,40}[ ])?[#>](?P<v>[0-9a-f]{64})\b",
        _match_unless_placeholder,
    ),
    setting_secret(
        "auth-command",
        r"\b(?:AUTH|HELLO [23] AUTH)[ ]+(?:[a-z][a-z0-9_.-]{1,30}[ ]+)(?P<v>[^\s\"'<>$]{6,100})",
        _match_if_secret,
    ),
    setting_secret(
        "snmp",
        rf"\b(?:SHA(?:-?(?:224|256|384|512))?|MD5|AES(?:-?(?:128|192|256))?|DES)[ ]+(?P<o>{TEXT_QUOTE}?)(?P<v>(?<=[\"'])[^\"'\n]{{6,60}}|[^\s\"']{{8,60}})",
        _match_snmp_password,
        trigger=r"\b(?:SHA(?:-?(?:224|256|384|512))?|MD5|AES(?:-?(?:128|192|256))?|DES)[ ]+[\"']?[^ \n\"']{6}",
    ),
    setting_secret(
        "rsa-xml",
        r"<(?:P|Q|D|DP|DQ|InverseQ)>(?P<v>[A-Za-z0-9+/=\s]{20,2000})</",
        _match_unless_placeholder,
    ),
    setting_secret(
        "wallet",
        r"(?:Wallet|privateKeyToAccount|private[_ ]?key|accounts?|fromPrivateKey|PRIVATE_KEY|privkey|deployer)[\"'`]?[ ]?(?:\(|[:=][ ]?|\[)[\[ (]{0,3}(?:[\"'`]|\$\{|0x){0,5}(?P<v>[0-9a-fA-F]{64})\b",
        _match_unless_placeholder,
    ),
    setting_secret(
        "keystore",
        r"[\"']ciphertext[\"'][ ]?:[ ]?[\"'](?P<v>[0-9a-fA-F]{32,})",
        _match_unless_placeholder,
    ),
    setting_secret(
        "extended-key",
        r"[xyztuv]prv(?P<v>[1-9A-HJ-NP-Za-km-z]{90,112})\b",
        _match_unless_placeholder,
    ),
    setting_secret(
        "aws-pair",
        r"AKIA[A-Z2-7]{16}[^A-Za-z0-9][^\n]{0,60}?[\s\"',:|](?P<v>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        _match_weak_key,
        trigger=r"AKIA[A-Z2-7]{16}[^A-Za-z0-9]",
    ),
    setting_secret(
        "basic-value", r"\b[bB]asic[ ]+(?P<v>[A-Za-z0-9+/]{10,}={0,2})", _match_basic_auth
    ),
    setting_secret(
        "stats-auth",
        r"\b(?:stats auth|htpasswd|basic_?auth|--auth|--user|-u)[ =]+(?:[A-Za-z0-9_.-]{2,30}):(?P<v>[^\s\"'<>$]{6,60})",
        _match_if_secret,
    ),
    setting_secret(
        "login-pairs",
        rf"\b{LOGIN_WORDS}\b[^\n/]{{0,40}}/",
        _match_login_pairs,
        is_many=True,
        trigger=rf"\b{LOGIN_WORDS}\b[^\n/]*[a-z][ ]?/",
    ),
    setting_secret(
        "quoted-pair",
        rf"[(\[{{,][ ]?{TEXT_QUOTE}[A-Za-z][A-Za-z0-9_.@-]{{1,30}}{TEXT_QUOTE},[ ]?(?P<o>{TEXT_QUOTE})(?P<v>(?:(?!(?P=o))[^\n]){{8,60}})(?P=o)[ ]?[)\]}},]",
        _match_quoted_pair,
        trigger=rf"[(\[{{,][ ]?{TEXT_QUOTE}[A-Za-z][A-Za-z0-9_.@-]+{TEXT_QUOTE},[ ]?{TEXT_QUOTE}",
    ),
    setting_secret("seed-words", rf"\b{SEED_LABEL}", _match_seed_words, is_many=True),
    setting_secret("code-list", rf"\b{CODE_LABEL}", _match_code_list, is_many=True),
    setting_secret(
        "setup-key",
        r"(?i:key|secret|code|klucz|schl(?:ü|u)ssel|clave|cl(?:é|e))\b[^\n:]{0,40}:[ ]*(?P<v>[a-z2-7]{4}(?:[ ][a-z2-7]{4}){3,12}|[A-Z2-7]{4}(?:[ ][A-Z2-7]{4}){3,12})\b",
        _match_unless_placeholder,
    ),
    setting_secret("pass-argument", r"\bpass:(?P<v>[^'\"\s]{6,60})", _match_if_secret),
    setting_secret(
        "command-phrase",
        rf"\b(?:unlock|luksOpen|luksFormat|open|import|decrypt|login)[ ]+(?P<o>{TEXT_QUOTE})(?P<v>(?:(?!(?P=o))[^\n]){{8,80}})(?P=o)",
        _match_if_secret,
        trigger=rf"\b(?:unlock|luksOpen|luksFormat|open|import|decrypt|login)[ ]+{TEXT_QUOTE}",
    ),
    setting_secret(
        "piped-phrase",
        rf"\b(?:echo|printf)(?:[ ]+-[a-zA-Z]+)*(?:[ ]+['\"]%s(?:\\n)?['\"])?[ ]+(?P<o>{TEXT_QUOTE})(?P<v>(?:(?!(?P=o))[^\n]){{6,80}})(?P=o)[ ]*\|[ ]*(?:sudo|su|cryptsetup|gpg|kinit|passwd|chpasswd|[a-z-]+[ ][^\n]{{0,80}}(?:stdin|pass|login|secret|unlock|auth))",
        _match_if_secret,
        trigger=r"\b(?:echo|printf)[ ][^\n|]+\|",
    ),
    setting_secret(
        "password-command",
        r"PASSWORD_COMMAND[\"']?[ ]?[=:][ ]?[\"']?(?:echo|printf)[ ](?:-n[ ])?[\"']?(?P<v>[^\s\"']{6,80})",
        _match_if_secret,
    ),
    setting_secret(
        "as-noun",
        rf"[ ](?:as|als|como|comme|come|jako|som)[ ](?:[a-zéèàç]+[ ]){{0,3}}(?:{SECRET_WORDS})",
        _match_before_noun,
        trigger=rf"[ ](?:as|als|como|comme|come|jako|som)[ ](?:[a-z]+[ ])*(?:{SECRET_WORDS})",
    ),
    setting_secret(
        "returned",
        rf"(?i:passwor[dt]|passwd|secret|token)[a-z_]*\([^\n)]{{0,40}}\)[^\n\"'`]{{0,30}}return[ ](?P<o>{TEXT_QUOTE})(?P<v>(?:(?!(?P=o))[^\n]){{6,80}})(?P=o)",
        _match_if_secret,
        trigger=r"(?i:passwor[dt]|passwd|secret|token)[a-z_]*\([^\n)]*\)[^\n\"'`]*return[ ]",
    ),
    setting_secret(
        "field-filled",
        rf"(?i:passwor[dt]|passwd|pass|secret|token|pwd)[\"'`\])]{{1,5}},[ ]*(?P<o>{TEXT_QUOTE})(?P<v>(?:(?!(?P=o))[^\n]){{6,80}})(?P=o)[ ]?[),]",
        _match_if_secret,
        trigger=rf"(?i:passwor[dt]|passwd|pass|secret|token|pwd)[\"'`\])]+,[ ]*{TEXT_QUOTE}",
    ),
    setting_secret(
        "cipher-key",
        rf"\b(?:AES\.new|Fernet|createCipheriv|createHmac|hmac\.new|SecretKeySpec|jwt\.(?:sign|encode|verify|decode)|HS256|sign)\([^\n\"'`()]{{0,40}}b?(?P<o>{TEXT_QUOTE})(?P<v>(?:(?!(?P=o))[^\n]){{8,80}})(?P=o)",
        _match_if_secret,
        trigger=rf"\b(?:AES\.new|Fernet|createCipheriv|createHmac|hmac\.new|SecretKeySpec|jwt\.(?:sign|encode|verify|decode)|sign)\([^\n\"'`()]*{TEXT_QUOTE}",
    ),
    setting_secret(
        "random-result",
        rf"\bresult[ ]+=[ ]+(?P<o>{TEXT_QUOTE})(?P<v>(?:(?!(?P=o))[^\n]){{8,80}})(?P=o)",
        _match_weak_key,
        trigger=rf"\bresult[ ]+=[ ]+{TEXT_QUOTE}",
    ),
    setting_secret(
        "vault-variable",
        r"\bvault_[a-z_]+[ ]?[:=][ ]?[\"'](?P<v>[^\"'\n]{8,80})[\"']",
        _match_if_secret,
    ),
    setting_secret(
        "weak-key",
        rf"\b(?:vault_[a-z_]+|[kK]ey|KEY|LICENSE(?:_KEY)?|license_key)[\"'`]?(?:[ ]?(?:=>|[:=])[ ]?|[ ]+)(?P<o>{TEXT_QUOTE})(?P<v>(?:(?!(?P=o))[^\n]){{8,100}})(?P=o)",
        _match_weak_key,
        trigger=rf"\b(?:vault_[a-z_]+|[kK]ey|KEY|LICENSE(?:_KEY)?|license_key)[\"'`]?[ ]*(?:=>|[:=])?[ ]*{TEXT_QUOTE}",
    ),
    setting_secret(
        "license",
        r"(?:LICEN[CS]E|license_key|LicenseKey)[\"'`]?[ ]?[:=][ ]?(?P<v>[A-Za-z0-9_+/=-]{20,})",
        _match_weak_key,
    ),
    setting_secret(
        "pin-digits",
        r"\b(?:PIN|[pP]in|pincode|passcode|[dD]oor code|[aA]larm code|[sS]afe code|CVV|CVC|Zugangscode|T(?:ü|u)rcode|c(?:ó|o)digo|codice|kod(?: do drzwi)?|pinkod|PIN-Code)\b[^\n0-9]{0,40}?(?:[ ](?:is|ist|est|es|è|to|jest|är)[ ]|[:=→][ ]?|->[ ]?)(?P<v>[0-9]{4,8})(?![0-9A-Za-z.:-])",
        _match_digits,
        trigger=r"\b(?:PIN|[pP]in|pincode|passcode|[dD]oor code|[aA]larm code|[sS]afe code|CVV|CVC|Zugangscode|T(?:ü|u)rcode|c(?:ó|o)digo|codice|kod|pinkod)\b[^\n0-9]*[0-9]{4}",
    ),
    setting_secret(
        "manifest",
        r"(?:type:[ ]*[\"']?Opaque|kind:[ ]*[\"']?Secret)\b",
        _match_manifest,
        is_many=True,
    ),
    setting_secret(
        "login-blob",
        r"[\"']auth[\"'][ ]?:[ ]?[\"'](?P<v>[A-Za-z0-9+/]{24,}={0,2})[\"']",
        _match_weak_key,
    ),
    setting_secret(
        "user-comma", r"[ ]-u[ ]+[\w.@-]{2,40},[\"']?(?P<v>[^\s\"']{6,80})", _match_if_secret
    ),
    setting_secret(
        "user-slash", r"/user:[^\s]{2,60}[ ]+[\"']?(?P<v>[^\s\"'/]{6,80})", _match_if_secret
    ),
    setting_secret(
        "static-key", r"-----BEGIN OpenVPN Static key V1-----", _match_static_key, is_many=True
    ),
)


GATES = (
    rf"(?i:{PASSWORD_WORDS}|{TOKEN_WORDS})(?:[^sA-Za-z0-9_. ]|s?[A-Z0-9_.-]|[ ][^a-z]|[ ]{VERB}[ :]|[ ][a-z]+[.!@#$%&*0-9-][^ \n]|[ ][^\x00\n:=\"]*(?::[ ]*[\n\\\"'`*]|[ '][\"'`]))"
    rf"|(?:{SHORT_WORDS})[\"'\\\])]*(?:[ ]?[:=]+[ ]?[^\s(]|[ \t]+[\"'`\\]|[ ]{{2}}|,[ ]?[\"'\\]|[ ][^\s]*[!@#$%^&?~])",
    r"\$(?:2[abxy]\$[0-9]|[1567y]\$[A-Za-z0-9./]|argon2|scrypt|apr1)|\*[0-9A-F]{8}|\{(?:PLAIN|CLEAR|S?SHA|CRAM|BLF|ARGON|CRYPT|SMD5|MD5|SCRAM)|[ ][#>][0-9a-f]{16}"
    r"|\bAUTH[ ]|\bkey[ ]+[\"']|authenticator|\bvault_[a-z]|Opaque|[ ]-u[ ][a-z0-9]+,|/user:|\.open\(|createUser|snmp-server|<(?:P|D|DQ)>[A-Za-z0-9+/]{8}|Wallet\(|accounts:|ciphertext|[xyz]prv[1-9A-HJ-NP-Za-km-z]{8}|AKIA[A-Z2-7]{8}|\b[bB]asic[ ]+[A-Za-z0-9+/]{8}|stats auth"
    rf"|{SEED_LABEL}[^A-Za-z]|{CODE_LABEL}|\bpass:|luksOpen|(?:unlock|decrypt|login)[ ]+[\"'`]|cryptsetup|AES\.new|jwt\.|createHmac|Fernet\(|BEGIN OpenVPN|random_password|LICEN[CS]E[_=:]"
    rf"|\b(?:PIN|[pP]in|pincode|passcode)\b[^a-z]|\b{LOGIN_WORDS}\b[^\x00\n/]*[a-z][ ]?/[ ]*[^\s/.]",
    rf"(?i:{PASSWORD_WORDS})[ ](?:for|of|on|to|zu|de|del|du|di|do|da|pour|para|per|dla|voor|till|is generated for)[ ][^\x00\n:=]*:[ ][^\s]",
    r"SCRAM-SHA-|:[0-9A-FX]{32}:[0-9A-F]{8}|[ |'\"]md5[0-9a-f]{32}|[0-9]{6}-[0-9]{6}-[0-9]{6}-[0-9]{6}|[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}|[0-9a-f]{32}:[^\s:]"
    rf"|(?:[_-][kK][eE][yY]|[kK]ey|\bsid|_sid|[sS]ecret_?I[dD])[\"'`\\]*\]?[ \t]*(?:=>|[:=])[ \t]*[\"'`\\]*[A-Za-z0-9+/_=.~-]{{16}}|\bIDENTIFY |\b(?i:logon) "
    rf"|\b(?:{LOGIN_WORDS}|(?:USER|AUTH|PASS|EAP)[ ]|\"AUTH|[cC]r(?:e|é)dential\b)[^\x00\n]*[ \"'`:/(][^\s]*[!@#$%^&*~+=_.-]|(?i:credentials?|database|connect|login|sign_?in|auth|authenticate)\([^\n)]*[\"'`],"
    r"|(?:cat|type|more|less|tail|head|bat)[ ][^\s|;&]*(?i:auth|cookie|secret|passw|token|cred|\bkey\b|pwd|vault)|[A-Za-z0-9][ ]/[ ]`[^ `]|[ ]-[aAuU][ =]?[A-Za-z0-9_.@-]+[:,%][\"'\\]|(?i:key|secret|code)\b[^\n:]*:[ ]*[A-Z2-7]{4}[ ][A-Z2-7]{4}[ ]"
    r"|UGFzc3dvcmQ6",
)
"""What makes a text worth a second look for secrets."""


# A range may begin with its own label (OTHER_SETTING) or follow it (ID_BEFORE).
OTHER_SETTING = re.compile(
    rb"""(?i)["']?(?:[a-z_]*_version|version|trace|build|commit|watch\?v|vocab|epochs?|size|port|timeout|ttl|lang|theme|level|status"""
    rb"""|(?:request|trace|run|span|correlation|tool_use|tenant|build)[_-]?id|id(?=["']:["']toolu_))["']{0,2}[ ]?[:=][ ]?["']?[^\s"'=][^\s"']{1,70}["']?"""
)
ASSIGNED = re.compile(rb"""[:=>][\s"'`(\[{]*\Z""")
ID_BEFORE = re.compile(
    rb"(?i)(?:signing_?key|(?:request|trace|run|span|correlation|tool_use|tenant|object|build)[_-]?id"
    rb"|\buid|tenant|trace|build|commit|version)"
    rb"""["']{0,2}[ ]?[:=][ ]?["'<]?\Z"""
)
ID = re.compile(rb"[0-9a-fA-F]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9.]{3,24}")
CLIENT_ID = re.compile(rb"(?:toolu|msg|req)_[A-Za-z0-9]{20,}")
BLAMED = re.compile(rb"[ ]\([^()\n]{2,60}[0-9]{4}-[0-9]{2}-[0-9]{2}")


def has_harmless_label(text: bytes, start: int, end: int) -> bool:
    """Return whether a range near a secret's label has a label of its own that is harmless.

    `trace=c64f5c2e` after a password, `"id":"toolu_01…"`, a commit in the margin of `git blame`.
    """
    value, before = text[start:end], text[max(0, start - 48) : start]
    if CLIENT_ID.fullmatch(value) or (ID.fullmatch(value) and ID_BEFORE.search(before)):
        return True
    if ID.fullmatch(value.lstrip(b"^")) and BLAMED.match(text, end):
        return True
    is_value = ASSIGNED.search(before) or LABEL_WORD.search(before.rstrip()[-20:].lower())
    return not is_value and OTHER_SETTING.fullmatch(value) is not None
