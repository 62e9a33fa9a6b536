"""How likely a value is a secret: random, chosen by a person, ordinary words, a placeholder."""

import re
from functools import lru_cache
from itertools import pairwise

from plait.redact.model import SecondLook, TextSpan

PLAIN_WORDS = frozenset(
    rb"""true false null none nil undefined string str int integer number float bool boolean any
    object optional bytes text char varchar required missing invalid incorrect empty unset hidden
    disabled enabled default unknown expired revoked password passwd passphrase passw0rd secret
    secrets token tokens admin root user username test testing tester test123 test1234 guest
    postgres postgresql mysql redis mongo mongodb rabbit rabbitmq minio localhost await async
    return self this function const public private static inherit initial bearer basic digest
    value values key keys apikey api_key foo bar baz qux pass auth login optional[str]
    list dict tuple bytearray record promise unauthorized forbidden denied failed success error
    warning generated encrypted plaintext environment variable prompt stdin keychain keyring vault
    always never dynamic manual system session cookie signed unsigned sensitive masked""".split()
)
PIECE = re.compile(rb"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
VOWELS = frozenset(b"aeiouyAEIOUY")
# Letters and what often follows them in prose and code.
FOLLOWERS = (
    b"abcdfgiklmnprstuvwxy baeijlorsuy cacdefhiklmnoprstu dabcdefgilmoprstu eabcdefghilmnopqrstvwxy"
    b" facefilorstu gaehilnorstu haeimort iabcdefglmnoprstuvxz jaeou kaceis labcdefgilmnoprstuvy"
    b" mabcdeilmopstu nabcdefghiklmnoprstuv oabcdfgiklmnoprstuvwx pacdehilmoprstuy qu"
    b" rabcdefgiklmnoprstuvy sacdefhiklmnopqrstuwy tabcdefghilmnoprstuvwy uabcdefilmnprst vaceio"
    b" waceinors xceimpt ycelmnprst zaeo"
)
COMMON_PAIRS = frozenset((row[0], number) for row in FOLLOWERS.split() for number in row[1:])
COMMON_SHARE = 0.66
WORDY = 0.7


def is_plain_word(value: bytes) -> bool:
    """Return whether a value is a word of programs and settings."""
    return value.lower() in PLAIN_WORDS


def is_mixed(value: bytes) -> bool:
    """Return whether a value has letters and also digits or symbols, as passwords do."""
    has_letter = any(65 <= number <= 90 or 97 <= number <= 122 for number in value)
    return has_letter and any(48 <= number <= 57 or number in b"!@#$%^&*?~+=" for number in value)


SIGNS = frozenset(b"!@#$%^&*?~+=._-:/,;|")
IDENTIFIER = re.compile(rb"[a-z]+(?:[_.:/-][a-z]*[0-9]{0,4})+|[A-Z]+(?:_[A-Z]*[0-9]{0,4})+")
TECHNICAL = re.compile(
    rb"(?i)sha-?[0-9]|md5|base(?:32|58|64)|utf-?(?:8|16)|oauth|bcrypt|argon2|pbkdf2|scrypt|[hrep]s(?:256|384|512)"
    rb"|aes-?[0-9]|ipv[46]|x-?509|pkcs|ed25519|rsa-?[0-9]|http/|v[0-9]+\.[0-9]|\.(?:py|js|ts|go|rs|md|ya?ml"
    rb"|json|toml|txt|sh|env|conf|cfg|ini|html?|css|java|rb|php|xml|lock|log|pem|key|crt)(?:[:#][0-9L]+)?\Z"
)


@lru_cache(4096)
def is_chosen(value: bytes) -> bool:
    """Return whether a value looks like a password that somebody chose: mixed, and not a name."""
    if len(value) < LEAST_CHOSEN or TECHNICAL.search(value) or IDENTIFIER.fullmatch(value):
        return False
    has_digit = any(48 <= number <= 57 for number in value)
    has_upper = any(65 <= number <= 90 for number in value)
    has_lower = any(97 <= number <= 122 for number in value)
    has_sign = any(number in SIGNS for number in value)
    return has_digit and has_upper + has_lower + has_sign >= (1 if is_random(value) else 2)


LEAST_CHOSEN = 8
PASSPHRASE = re.compile(rb"[A-Za-z]{3,12}(?:-[A-Za-z]{3,12}){2,6}(?:-?[0-9]{1,4})?[!.]?")
# Words of names and program addresses, which passphrases do not contain.
NAMING = frozenset(
    b"""the and for with not your this that from into app api dev prod stage staging test tests env
    config service server client account database cluster node image build release deploy name file
    path key keys secret secrets token tokens password passwords credential credentials auth login
    user admin root default example sample demo dummy placeholder change here generated random
    string value http https web www aws gcp azure github gitlab docker kube helm vault redis mysql
    postgres mongo min max length required optional type based only read write project team read
    access""".split()
)


@lru_cache(4096)
def is_passphrase(value: bytes) -> bool:
    """Return whether a value is a row of words that name nothing, like a recommended passphrase."""
    if PASSPHRASE.fullmatch(value) is None:
        return False
    words = [word.lower() for word in PIECE.findall(value)]
    return not any(word in NAMING or word in PLAIN_WORDS for word in words)


PHRASE = re.compile(rb"[a-z]{3,10}(?: [a-z]{3,10}){3,7}")
# Words that sentences contain, and randomly drawn words seldom do.
PROSE = frozenset(
    b"""are was has have had can must may will would should could does did its our you they them what
    when where which who how why all any each some more most less than then there these those one
    two use used using enter please minimum maximum least contain contains characters letters digits
    invalid wrong incorrect field cannot allowed empty blank forgot reset confirm new old again match
    matches but too also just now out about after before between over under same other another first
    last next make made get set add need needs run runs see say says tell let try per via""".split()
)


@lru_cache(4096)
def is_phrase(value: bytes) -> bool:
    """Return whether a value is four words or more that form no sentence."""
    if PHRASE.fullmatch(value) is None:
        return False
    return not any(word in PROSE or word in NAMING or word in PLAIN_WORDS for word in value.split())


def is_wordy(value: bytes) -> bool:
    """Return whether a value is made of words, as names are."""
    pieces = PIECE.findall(value)
    letters = sum(map(len, pieces)) or 1
    worded = sum(len(piece) for piece in pieces if _is_word(piece))
    digits = sum(len(piece) for piece in pieces if piece.isdigit() and len(piece) <= 4)
    return worded / letters >= WORDY or (worded > 0 and worded + digits == letters)


def _is_word(piece: bytes) -> bool:
    if len(piece) < 3 or piece.isdigit():
        return False
    vowels = sum(letter in VOWELS for letter in piece)
    if vowels * 6 < len(piece):
        return False
    letters = piece.lower()
    pairs = sum(pair in COMMON_PAIRS for pair in pairwise(letters))
    return pairs >= COMMON_SHARE * (len(piece) - 1)


def is_random(value: bytes) -> bool:
    """Return whether a value looks random rather than chosen."""
    if len(value) < 8 or is_wordy(value):
        return False
    digits = sum(48 <= number <= 57 for number in value)
    letters = sum(65 <= number <= 90 or 97 <= number <= 122 for number in value)
    if not letters:
        return False
    if digits:
        return True
    if value.islower() or value.isupper():
        return False
    return len(value) >= LONG_ENOUGH or _is_scrambled(value)


LONG_ENOUGH, LEAST_SCRAMBLED, FEWEST_BITS = 20, 8, 3


def _is_scrambled(value: bytes) -> bool:
    """Return whether upper and lower case alternate as in no name."""
    bits = sum(len(piece) < 3 for piece in PIECE.findall(value))
    return len(value) >= LEAST_SCRAMBLED and bits >= FEWEST_BITS


def is_likely(value: bytes) -> bool:
    """Return whether a value may be a secret where one is expected, however weak it is."""
    return is_mixed(value) or is_random(value) or is_passphrase(value)


WORD_AND_NUMBER = re.compile(
    rb"(?:[A-Z][a-z]{2,15}){0,4}([A-Z][a-z]{3,15}|[a-z]{4,15}|[A-Z]{4,15})(?:[0-9]{2}|[-_.]?[0-9]{3,6})[!?#*.$@&]{0,3}"
)
# Words that are followed by a number in programs.
COUNTED = frozenset(
    b"""uint float char double long number size width height level step page item line lines node
    host file image part phase chapter section table column field param value version build release
    issue commit port error code python java ubuntu debian fedora windows linux claude opus sonnet
    haiku agent model group task case rule note color vector matrix utf sha""".split()
)


def is_weak(value: bytes) -> bool:
    """Return whether a value is a word or a few, followed by a number, as many passwords are."""
    found = WORD_AND_NUMBER.fullmatch(value)
    if found is None or TECHNICAL.search(value):
        return False
    word = found[1].lower()
    return word not in COUNTED and word not in PLAIN_WORDS


NUMBERED_PHRASE = re.compile(rb"[a-z]{3,12}(?: (?:[a-z]{3,12}|[0-9]{1,4})){2,7}")
UNITS = frozenset(b"seconds minutes hours days weeks months years times more bytes bits".split())


@lru_cache(4096)
def is_numbered_phrase(value: bytes) -> bool:
    """Return whether a value is a row of words and numbers that form no sentence."""
    words = value.split()
    if NUMBERED_PHRASE.fullmatch(value) is None or not any(word.isdigit() for word in words):
        return False
    ordinary = (PROSE, NAMING, PLAIN_WORDS, COUNTED, UNITS)
    return not any(word in group for word in words for group in ordinary)


# What a program fills in, or what is shown in place of a value.
FILLED_IN = re.compile(
    rb"\$\{[A-Za-z_][^{}()\[\]]*\}|\{\{[^{}]*\}\}|\$\([^)]*\)|%\(\w+\)|<[A-Za-z][A-Za-z0-9 _.-]*>|\{[A-Za-z_][\w.\[\]]*\}"
    rb"|\.\.\.|\xe2\x80[\xa6\xb9\xba]|x{5,}|\*{3,}|#{4,}|_{5,}|-{6,}|://"
)
NAMED_ELSEWHERE = re.compile(rb"[$&*@%!]+[\w.-]+%?")
LINE_OF_FILE = re.compile(rb"#L[0-9]+(?:-L?[0-9]+)?")
SIGNS_OF_NAMES = b"-_./:"
MOST_SIGNS_OF_NAMES = 3
"""A value with more of them is a path or a name of several parts."""
LEAST_ODD, MOST_ODD = 8, 200


ODD_SIGNS, FEWEST_ODD_SIGNS = frozenset(b"!#%^&*?~$@<>|"), 3
LEAST_SALT, FEWEST_SIGNS, MOST_SPACES = 24, 5, 4


@lru_cache(4096)
def is_salt(value: bytes) -> bool:
    """Return whether a value is a long row of letters, digits and many signs, spaces among them."""
    if not LEAST_SALT <= len(value) <= MOST_ODD or value.count(b" ") > MOST_SPACES:
        return False
    has_all = re.search(rb"[0-9]", value) and re.search(rb"[a-z]", value)
    signs = {number for number in value if not chr(number).isalnum() and number != 32}
    is_made = FILLED_IN.search(value) or EXPRESSION.search(value) or is_wordy(value)
    return bool(has_all) and len(signs) >= FEWEST_SIGNS and not is_made


IN_BRACKETS = re.compile(rb"<[A-Za-z][A-Za-z0-9_.-]*>|\{[A-Za-z_][\w.]*\}|\[[0-9A-Za-z]*\]")
OF_CALL = re.compile(rb"[ (),;\"'`]")
PASSWORD_SIGN = re.compile(rb"[!^#*?~]")


def is_decorated(value: bytes) -> bool:
    """Return whether a value has a word in brackets, and around it what no template has."""
    if not 8 <= len(value) <= 40 or re.search(rb"[0-9]", value) is None or OF_CALL.search(value):
        return False
    rest = IN_BRACKETS.sub(b"", value)
    return rest != value and PASSWORD_SIGN.search(rest) is not None and b"${" not in value


@lru_cache(4096)
def is_odd(value: bytes) -> bool:
    """Return whether a value mixes letters, digits and symbols like no word or code."""
    if not LEAST_ODD <= len(value) <= MOST_ODD or any(number <= 32 for number in value):
        return False
    if is_decorated(value):
        return True
    has_digit = any(48 <= number <= 57 for number in value)
    has_upper = any(65 <= number <= 90 for number in value)
    has_lower = any(97 <= number <= 122 for number in value)
    has_sign = not value.isalnum()
    if has_upper + has_lower + has_sign < (2 if has_digit else 3) or is_wordy(value):
        return False
    if not has_digit and len(ODD_SIGNS & {*value}) < FEWEST_ODD_SIGNS:
        return False
    if len(value.translate(None, SIGNS_OF_NAMES)) + MOST_SIGNS_OF_NAMES < len(value):
        return False
    return not (
        is_dotted_name(value)
        or NAMED_ELSEWHERE.fullmatch(value)
        or FILLED_IN.search(value)
        or MADE_UP.search(value)
        or REPEATED.search(value)
        or OF_EXPRESSION.search(value)
        or TECHNICAL.search(value)
        or LINE_OF_FILE.search(value)
        or PATH.fullmatch(value)
    )


# What people write in place of a secret.
PLACEHOLDER = re.compile(
    rb"(?i)\.\.\.|\xe2\x80[\xa6\xb9]|x{5,}|\*{3,}|#{4,}|_{5,}|-{12,}|<[a-z]|\{\{|\$\{|\$\(|%\(|%s\b"
)
MADE_UP = re.compile(
    rb"(?i)\byour|your[-_]|[-_]your|example|placeholder|change[-_]?(?:me|this)|redacted"
    rb"|replace[-_]?(?:me|with)|dummy|foobar|insert[-_]|[-_]here\b|abcdefgh|12345678(?:9|\Z)"
    rb"|deadbeef|not[-_]a?[-_]?(?:real|secret|key)|fake[-_]|[-_]fake|mock[-_]|[-_]mock|sample[-_]"
)
REPEATED = re.compile(rb"(.)\1{7,}|(..)\2{5,}|(...)\3{4,}|(.)\4{3}([-_. ])(?:\4{3,}\5?){2,}")
PASSWORDS = frozenset(
    b"password passwd passphrase pwd pw pass psw credential credentials requirepass identified".split()
)
# A key whose last word is one of these is about a secret, but contains none.
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
    b"public primary foreign redis cache sort partition hot shortcut index group row query surrogate".split()
)
# Well-known passwords in example addresses.
WEAK = frozenset(b"pw pwd pass psw secret user users usr me you us x xx xxx xxxx".split())
REFERENCE = re.compile(
    rb"\$|@[/{]|&|\*|%[A-Za-z_]+%|\{|<|!(?:Ref|Sub|Get|Vault|secret)\b|env[.:(]|process\.|os\.environ"
    rb"|secrets?\.|vars?\.|arn:aws|op://|vault:|ref\+|kms:|ssm:|file:|gs://|s3://|https?:(?:$|//)"
)
PATH = re.compile(rb"(?:[.~]{0,2}/|[A-Za-z]:[\\/])[\w.\-/\\ @+]*")
DOTTED_NAME = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_$][\w$]*)+[!?]?")
NAME = re.compile(rb"[A-Za-z_$][\w$]*")
YEARS = re.compile(rb"[A-Za-z]{3,}[0-9]{2,4}\Z")
LEAST_REST = 12
RUN = re.compile(rb"[A-Za-z0-9+/]+")
EXPRESSION = re.compile(
    rb"\[\^?[A-Za-z0-9\\]-[A-Za-z0-9\\]|\(\?[:=!<Pi]|\\[wdsbS]|\.\*|\[\^[^\]]*\]|\{\d+,?\d*\}"
)


# What only an expression has, even among odd signs.
OF_EXPRESSION = re.compile(
    rb"\[\^?[A-Za-z0-9\\]-[A-Za-z0-9\\]|\(\?[:=!<Pi]|\\[wdsbS]|\.[*+](?:[)(\[\\?]|\Z)|\A\^?\.\*|\[\^[^\]]*\][*+]|\{\d+,?\d*\}"
)


# Keys of the documentation of AWS.
KNOWN_EXAMPLES = (
    b"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    b"je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
)


# What stands after a label, has letters, digits and signs, and is no secret.
HARMLESS = re.compile(
    rb"0x[0-9a-fA-F]{40}|(?:ENC[\[(]|\{cipher\}|\$ANSIBLE_VAULT|vault:v[0-9]:|Ag[AB][A-Za-z0-9+/]{60}).*"
    rb"|[\w./@~-]+\.(?:py|m?js|tsx?|jsx|go|rs|md|ya?ml|json|toml|java|rb|php|cs|kt|swift|html?|css|c|h|cpp|sh)(?:[:#(][0-9:L]*)?[):,]*"
    rb"|(?:[a-z_]\w*\.){2,}[A-Z]\w*|\[?(?:String|Int|ID|Boolean|Float|[A-Z][a-z]+(?:[A-Z][a-z]+)+)[!?\]]{1,3}"
    rb"|[A-Za-z_]\w*(?:\.\w+)+[ ]?=[^=].*|[a-z_]\w*[ ]=[ ].*"
)


def is_harmless(value: bytes) -> bool:
    """Return whether a value next to a label has a form that no secret has."""
    return HARMLESS.fullmatch(value) is not None


@lru_cache(4096)
def is_placeholder(value: bytes) -> bool:
    """Return whether a value only stands for a secret.

    A key containing "example" may still be one, if the rest of it looks random.
    """
    if is_blank(value):
        return True
    rest = MADE_UP.sub(b"-", value)
    longest = max(RUN.findall(rest), key=len, default=b"")
    return rest != value and not (len(longest) >= LEAST_REST and is_random(longest))


def is_blank(value: bytes) -> bool:
    """Return whether a value has a gap to fill in."""
    if is_decorated(value):
        return False
    if PLACEHOLDER.search(value) or value in KNOWN_EXAMPLES:
        return True
    return REPEATED.search(value.lstrip(b"A") or value) is not None  # some keys begin with zeros


def is_reference(value: bytes) -> bool:
    """Return whether a value says where the secret is stored, or is a path, or an expression."""
    return not is_decorated(value) and (
        REFERENCE.match(value) is not None
        or b"${" in value
        or b"://" in value
        or EXPRESSION.search(value) is not None
        or (
            PATH.fullmatch(value) is not None
            and not is_random(max(re.split(rb"[/\\]", value), key=len))
        )
    )


def is_dotted_name(value: bytes) -> bool:
    """Return whether a value is a dotted name in source code."""
    if DOTTED_NAME.fullmatch(value) is None or YEARS.search(value):
        return False
    parts = value.split(b".")
    return len(value) < LEAST_DRAWN or any(map(is_wordy, parts)) or not is_random(b"".join(parts))


LEAST_DRAWN = 12


NOTHING: tuple[TextSpan, ...] = ()
WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
ESCAPE_LETTERS = frozenset(b"nrtbf")
BACKSLASH = ord("\\")
STAND_IN = (
    rb"\xe2\x80\xb9(?:secret|user|host|email|account|phone|word|field|file) [0-9.]+(?:: [^\xe2\n]+)?"
    rb"\xe2\x80\xba"
)
STAND_IN_BEFORE = re.compile(STAND_IN + rb"\Z")
STAND_IN_END = b"\xba"
MOST_GAPS = 3
NARROWEST = 40

# A line break, real or as written in JSON, with the margin of the next line: a number, a diff or
# quote marker, a time, the name of a service or a file.
LINE_MARGIN = (
    r"(?:[ \t]{0,8}[0-9]{1,6}(?:\t|→|\\{1,7}t)|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]+(?:Z|[+-][0-9:]+)?[ \t]+(?:[A-Z]{4,5}[ \t]+)?"
    r"(?:\[[^\]\x00-\x1f]{1,40}\][ \t]?)?|\[[0-9][^\]\x00-\x1f]{1,30}\][ \t]+(?:[A-Za-z0-9_.-]{1,40}(?:\[[0-9]+\])?:[ \t])?"
    r"|[A-Za-z0-9_./-]{1,80}\.[A-Za-z0-9]{1,8}[:-][0-9]{1,6}[:-]|[A-Za-z0-9_.-]{1,40}[ \t]+\|[ \t]|│[ \t]?|[+>|-]|//|#"
    r"|\\{0,7}\"[,}][^\n]{0,80}\n\{\\{0,7}\"log\\{0,7}\":[ ]?\\{0,7}\")"
)
NEW_LINE = rf"(?:[ \t]+(?:│|\|))?[ \t]*(?:\r?\n|\\{{1,7}}n){LINE_MARGIN}?"
BEGINS_LINE = re.compile(
    rf"(?:\A|\x00|\x1f|{NEW_LINE}|[:\[,][ ]?\\{{0,7}}\"){LINE_MARGIN}?[ \t]*\Z".encode()
)
BROKEN = re.compile(rf"\\?{NEW_LINE}[ ]?".encode())
RUN_ON = re.compile(rb"[A-Za-z0-9+/=_%.~-]{6,}")
FULL_LINE, FURTHEST_BREAK = 40, 400
QUOTES = b"\"'`"


# A name and its sign: the next line is a setting of its own.
NEXT_SETTING = re.compile(rb"[A-Za-z_][A-Za-z0-9_.-]*[ \t]*(?::[ \t]|=[^=])")
OPENING_QUOTE = re.compile(rb"\\{0,7}[\"'`]\Z")
LONGEST_QUOTED = 200


def extend_to_quote(text: bytes, span: TextSpan) -> TextSpan:
    """Return a value with what follows it up to the quote that closes it, if all of it is odd."""
    opening = OPENING_QUOTE.search(text, max(0, span.start - 8), span.start)
    if opening is None or text.startswith(opening[0], span.end):
        return span
    end = text.find(opening[0], span.end, span.end + LONGEST_QUOTED)
    while end > 0 and text[end - 1] == BACKSLASH:
        end = text.find(opening[0], end + 1, span.end + LONGEST_QUOTED)
    return TextSpan(span.start, end) if end > 0 and is_odd(text[span.start : end]) else span


def extend_over_break(text: bytes, spans: tuple[TextSpan, ...]) -> tuple[TextSpan, ...]:
    """Return a value with its continuation in the next line, if its own line was full."""
    last = spans[-1]
    if text[last.end : last.end + 1] not in (b"\n", b"\r", b"\\", b"\x20", b"\t"):
        return spans
    broken = BROKEN.match(text, last.end)
    limit = max(0, last.start - FURTHEST_BREAK)
    written = text.rfind(b"\\n", limit, last.start)
    first = max(text.rfind(b"\n", limit, last.start) + 1, written + 2 if written >= 0 else limit)
    if broken is None or last.end - first < FULL_LINE:
        return spans
    opening = text[spans[0].start - 1 : spans[0].start]
    if opening and opening in QUOTES:
        end = text.find(opening, broken.end(), broken.end() + 2 * FULL_LINE)
        line = text.find(b"\n", broken.end(), broken.end() + 2 * FULL_LINE)
        if end <= broken.end() or 0 <= line < end:
            return spans
        end -= text[end - 1 : end] == b"\\"
        return (*spans, TextSpan(broken.end(), end))
    more = RUN_ON.match(text, broken.end())
    if more is None or (more[0].isalpha() and is_wordy(more[0])):
        return spans
    if NEXT_SETTING.match(text, broken.end()) or not is_random(text[slice(*last)] + more[0]):
        return spans
    return (*spans, TextSpan(*more.span()))


# What may split a value: a line break, real or escaped, with the margin of the next line
# (indentation, a diff or quote marker, a line number), or the edge of a block.
GAP = re.compile(
    rb"(?:\x1f|\\{0,1}[ \t]*\r?\n(?:[ \t]*[0-9]+(?:\t|\xe2\x86\x92))?[ \t]{0,16}[+>|-]?[ \t]{0,8}"
    rb"|\\{1,4}n[ \t]{0,16}[+>|-]?[ \t]{0,8})"
)


def is_at_word_start(text: bytes, start: int) -> bool:
    r"""Return whether a word may start at a position; the letter of an escape such as `\\\
    ` is none.

    A placeholder is a word, since what it replaces was one.
    """
    if start == 0:
        return True
    if text[start - 1] not in WORD:
        return not is_behind_stand_in(text, start)
    is_escape = text[start - 1] in ESCAPE_LETTERS and start > 1 and text[start - 2] == BACKSLASH
    return is_escape or (CODE.search(text, max(0, start - 24), start) is not None)


def is_in_patch(text: bytes, start: int) -> bool:
    """Return whether a position is right after the marker of a diff line."""
    if text[start - 1 : start] not in (b"-", b"+"):
        return False
    before = text[max(0, start - 3) : start - 1]
    return not before or before[-1:] in (b"\n", b"\0", b"\x1f") or before == b"\\n"


def is_in_stand_in(text: bytes, place: int) -> bool:
    """Return whether a position is inside a placeholder, whose words do not belong to the text."""
    first = max(0, place - LONGEST_STAND_IN)
    opened = text.rfind(b"\xe2\x80\xb9", first, place)
    return opened >= 0 and text.rfind(b"\xe2\x80\xba", opened, place) < 0


LONGEST_STAND_IN = 60


def is_behind_stand_in(text: bytes, start: int) -> bool:
    """Return whether a placeholder ends at a position."""
    if text[start - 1 : start] != STAND_IN_END:
        return False
    return STAND_IN_BEFORE.search(text, max(0, start - 80), start) is not None


CODES = (
    r"(?:\\u00[0-9a-fA-F]{2}|%[0-9A-F]{2}|\\x[0-9a-f]{2}"
    r"|(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z])"
)
"""Escaped characters, and colour codes."""
CODE = re.compile(CODES.encode() + rb"\Z")


def run_of(letters: str, least: int, most: int | None = None, *, before: str = "") -> SecondLook:
    """Return a check for keys of certain characters and length, which a line break may split.

    `before` is an expression for what precedes a value in the match.
    """
    run = re.compile(b"[%b]+" % letters.encode())
    front = re.compile(before.encode() + rb"\Z") if before else None

    def look(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
        start = value.start
        if front:
            found = front.search(text, max(0, start - 64), start)
            if not found:
                return NOTHING
            start = found.start()
        if not is_at_word_start(text, start):
            return NOTHING
        spans = _over_gaps(text, TextSpan(start, value.end), run, least, most)
        joined = b"".join(text[span.start : span.end] for span in spans)
        is_made_up = is_blank(joined) if least == most else is_placeholder(joined)
        return NOTHING if is_made_up else spans

    return look


def _over_gaps(
    text: bytes, value: TextSpan, run: re.Pattern[bytes], least: int, most: int | None
) -> tuple[TextSpan, ...]:
    spans = [value]
    length = value.end - value.start
    while len(spans) <= MOST_GAPS and (more := _beyond_gap(text, spans[-1].end, run)):
        added = more.end - more.start
        if length >= least and not (most is None and _goes_on(text, spans, more)):
            break
        spans.append(more)
        length += added
    return tuple(spans) if least <= length <= (most or length) else NOTHING


def _beyond_gap(text: bytes, end: int, run: re.Pattern[bytes]) -> TextSpan | None:
    gap = GAP.match(text, end)
    more = run.match(text, gap.end()) if gap else None
    return TextSpan(*more.span()) if more else None


def _goes_on(text: bytes, spans: list[TextSpan], more: TextSpan) -> bool:
    """Return whether a value at the end of its line was broken because the line was full."""
    start = spans[0].start
    first = max(0, start - NARROWEST)
    line = max(text.rfind(b"\n", first, start), text.rfind(b"\0", first, start), first - 1) + 1
    is_full = spans[0].end - line >= NARROWEST
    is_another = text[start : start + 3] == text[more.start : more.start + 3]
    return is_full and not is_another and is_random(text[more.start : more.end])


def any_value(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Accept what the expression found: it says enough."""
    return (value,)


def anywhere(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Accept what the expression found, whatever comes before it."""
    return NOTHING if is_placeholder(text[value.start : value.end]) else (value,)


QUOTE = r"""\\{0,7}["'`]"""
SPACE = r"[ \t]{0,8}"


def _cases(words: str) -> str:
    """Return words in the three spellings of settings: any case would match everywhere."""
    found = words.split()
    return "|".join(
        dict.fromkeys(form for item in found for form in (item, item.capitalize(), item.upper()))
    )


PEOPLES = (
    "contraseña Contraseña CONTRASEÑA пароль Пароль ПАРОЛЬ токен Токен ключ Ключ hasło Hasło HASŁO lösenordet"
    " Lösenordet lösenord Lösenord jelszó Jelszó şifresi şifre Şifre κωδικός Κωδικός 密码 密碼 口令 密钥 密鑰 令牌 パスワード"
    " 暗証番号 비밀번호 암호 비번 패스워드 รหัสผ่าน סיסמה הסיסמה पासवर्ड schlüssel Schlüssel"
).split()
PHRASES = (
    "mật khẩu|Mật khẩu|kata sandi(?:nya)?|Kata sandi|كلمة المرور|كلمة السر|mot de passe|Mot de passe"
    "|mots? de passe|[pP]hrase (?:secrète|de passe)|[fF]rase de (?:contraseña|paso)|[pP]arola d'accesso|[кК]одовое слово|clave de API|clé API|chiave API|APIキー|ключ API|API-Schlüssel|palavra-passe"
)
SPOKEN = (
    f"{PHRASES}|[pP]asword|[pP]assowrd|[pP]asswrod|parola d'ordine|adgangskoden|passordet|hasłem|salasanani|"
    r"(?:secret|Secret|API|api|Api|access|Access|license|activation|wifi|Wifi|WiFi|signing|encryption|openai|admin|service"
    r"|webhook|deploy|private|shared|the|this|my|your|try|isakmp|server|OpenAI|Stripe|Anthropic|GitHub|AWS|unseal)[ -][kK]eys?|one-time password|PIN|pass code|hasłem|jeton|passordet"
    "|adgangskoden|community|SecretString"
)
NOUNS = (
    _cases(
        "password passwd passphrase passcode secret token credential passwort kennwort contrasena senha"
        " wachtwoord parola haslo heslo salasana adgangskode passord sifre psk"
    )
    + "|"
    + "|".join(PEOPLES)
    + f"|{PHRASES}|mot_?de_?passe|motDePasse|MOT_DE_PASSE|(?:\\A|[^A-Za-z0-9_])(?:mdp|MDP|Mdp|clave|Clave)"
    "|[aA][pP][iI][_.-]?[kK](?:ey|EY)|(?:access|private|auth|account|signing|encryption|master"
    "|license|service|admin|storage|shared|webhook|hmac|fernet|cipher|crypto|session|cookie|jwt|root"
    "|activation|product|subscription|instrumentation|function|insert|ingest|app|application|client|(?:Jwt|Auth|Token):"
    "|consumer|merchant|pre[_-]?shared|deploy|(?:tacacs|radius)-server|isakmp|unseal|recovery)[_ -]?[kK]eys?"
    "|(?:ACCESS|PRIVATE|AUTH|ACCOUNT|SIGNING|ENCRYPTION|MASTER|LICENSE|SERVICE|ADMIN|STORAGE|APP"
    "|WEBHOOK|APPLICATION)[_-]?KEY|[a-z](?:Access|Private|Auth|Account|Signing|Encryption|Master|Api"
    "|Session|App|Webhook|Client)Key|[sS]ubscription-[kK]ey|[a-z]Psk|[iI]nstrumentationKey|P(?:re|RE)[sS]haredKey"
    "|(?:Functions|Insert|Admin|Api|Auth|Access|Application|APPLICATION|Subscription|Private|Master"
    "|Fastly|Integration|Ingest|License|Account|Client)-K(?:ey|EY)"
    "|[pP]wd|PWD|_PASS|_pass|[a-z]Pass|PGPASS|SSHPASS|_PSW|_PAT|AccountKey|SharedAccessKey|[pP]swd"
    r"|_auth|_AUTH|\.dockerconfigjson|_DSN|_SALT|_KEY|_PW|_pw|(?:bind|root|admin|db|user|remote)p(?:w|ass)"
    r"|RootPW|(?:\A|[^A-Za-z0-9_])(?:pass|Pass|pw|PW|Pw|pin|pincode|otp|totp)|(?:erlang_|set|magic_)cookie|IDENTIFIED|identified by|requirepass|masterauth|npmAuthIdent"
    r"|(?:recovery|backup|access|one-time|auth|unlock|activation|security)[_ -](?:[cC]odes?|answer)|(?:totp|otp|mfa)_?(?:seed|secret|key)"
    r"|rpcauth|[sS]erviceAuth|bearer|authToken|snmp-server community|client-key-data"
)
SUFFIX = r"(?:[_.-][A-Za-z0-9_.-]*|[A-Z0-9][A-Za-z0-9_]*)?"
NOUN = rf"(?:{SPOKEN}|{NOUNS})s?{SUFFIX}"
BARE = r"""[^\x00-\x20"'`\\<>(),;{}\[\]|\x7f-\xff][^\x00-\x20"'`\\<>(),;{}\[\]|\x7f-\xff]{4,2100}"""
QUOTED = r"""[^\x00-\x1f"'`\\]{5,2100}"""
