"""Words to whether they are a secret or only stand where one would."""

import re
from functools import lru_cache

# What people write where a secret belongs.
PLACEHOLDER = re.compile(
    rb"(?i)\.\.\.|\xe2\x80[\xa6\xb9]|x{5,}|\*{3,}|#{4,}|_{5,}|-{12,}|<[a-z]|\{\{|\$\{|\$\(|%\(|%s\b"
)
MADE_UP = re.compile(
    rb"(?i)\byour|your[-_]|[-_]your|example|placeholder|change[-_]?(?:me|this)|redacted"
    rb"|replace[-_]?(?:me|with)|dummy|foobar|insert[-_]|[-_]here\b|abcdefgh|12345678(?:9|\Z)"
    rb"|deadbeef|not[-_]a?[-_]?(?:real|secret|key)|fake[-_]|[-_]fake|mock[-_]|[-_]mock|sample[-_]"
)
REPEATED = re.compile(rb"(.)\1{7,}|(..)\2{5,}|(...)\3{4,}")
PLAIN_WORDS = frozenset(
    rb"""true false null none nil undefined string str int integer number float bool boolean any
    object optional bytes text char varchar required missing invalid incorrect empty unset hidden
    disabled enabled default unknown expired revoked password passwd passphrase passw0rd secret
    secrets token tokens admin root user username test testing tester test123 test1234 guest
    postgres postgresql mysql redis mongo mongodb rabbit rabbitmq minio localhost await async
    return self this function const public private static inherit initial bearer basic digest
    value values key keys apikey api_key foo bar baz qux hunter pass auth login optional[str]
    list dict tuple bytearray record promise unauthorized forbidden denied failed success error
    warning generated encrypted plaintext environment variable prompt stdin keychain keyring vault
    always never dynamic manual system session cookie signed unsigned sensitive masked""".split()
)
PASSWORDS = frozenset(
    b"password passwd passphrase pwd pw pass psw credential credentials requirepass".split()
)
# A key whose last word is one of these is about a secret, and holds none.
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
    b"public primary foreign redis cache sort partition hot shortcut index group row query".split()
)
# Passwords that everybody knows, in examples of addresses.
WEAK = frozenset(b"pw pwd pass psw secret user users usr me you us x xx xxx xxxx".split())
REFERENCE = re.compile(
    rb"\$|@[/{]|&|\*|%[A-Za-z_]+%|\{|<|!(?:Ref|Sub|Get|Vault|secret)\b|env[.:(]|process\.|os\.environ"
    rb"|secrets?\.|vars?\.|arn:aws|op://|vault:|ref\+|kms:|ssm:|file:|gs://|s3://|https?:(?:$|//)"
)
PATH = re.compile(rb"(?:[.~]{0,2}/|[A-Za-z]:[\\/])[\w.\-/\\ @+]*")
DOTTED_NAME = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_$][\w$]*)+[!?]?")
NAME = re.compile(rb"[A-Za-z_$][\w$]*")
PIECE = re.compile(rb"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
VOWELS = frozenset(b"aeiouyAEIOUY")
WORDY = 0.7
LEAST_REST = 12
RUN = re.compile(rb"[A-Za-z0-9+/]+")
EXPRESSION = re.compile(rb"\[[\^A-Za-z0-9\\]+-|\(\?|\\[wdsbS]|\.\*|\[\^|\{\d+,?\d*\}")


@lru_cache(4096)
def is_placeholder(value: bytes) -> bool:
    """Tells whether a value only shows where a secret would stand.

    A key with "example" in it may still be one: it is, if what is left looks drawn by chance.
    """
    if is_blank(value):
        return True
    rest = MADE_UP.sub(b"-", value)
    longest = max(RUN.findall(rest), key=len, default=b"")
    return rest != value and not (len(longest) >= LEAST_REST and is_random(longest))


def is_blank(value: bytes) -> bool:
    """Tells whether a value has a gap that is to be filled in."""
    if PLACEHOLDER.search(value):
        return True
    return REPEATED.search(value.lstrip(b"A") or value) is not None  # some keys begin with zeros


def is_reference(value: bytes) -> bool:
    """Tells whether a value says where the secret is kept, or is a path, or an expression."""
    return (
        REFERENCE.match(value) is not None
        or b"${" in value
        or b"://" in value
        or EXPRESSION.search(value) is not None
        or (PATH.fullmatch(value) is not None and not is_random(value))
    )


def is_plain_word(value: bytes) -> bool:
    """Tells whether a value is a word of programs and settings."""
    return value.lower() in PLAIN_WORDS


def is_mixed(value: bytes) -> bool:
    """Tells whether a value has letters and also digits or signs, as passwords do."""
    has_letter = any(65 <= one <= 90 or 97 <= one <= 122 for one in value)
    return has_letter and any(48 <= one <= 57 or one in b"!@#$%^&*?~+=" for one in value)


def is_wordy(value: bytes) -> bool:
    """Tells whether a value is made of words, as names are."""
    pieces = PIECE.findall(value)
    letters = sum(map(len, pieces)) or 1
    worded = sum(len(piece) for piece in pieces if _is_word(piece))
    digits = sum(len(piece) for piece in pieces if piece.isdigit() and len(piece) <= 4)
    return worded / letters >= WORDY or (worded > 0 and worded + digits == letters)


def _is_word(piece: bytes) -> bool:
    if len(piece) < 3 or piece.isdigit():
        return False
    vowels = sum(letter in VOWELS for letter in piece)
    return vowels * 6 >= len(piece)


def is_random(value: bytes) -> bool:
    """Tells whether a value looks drawn by chance rather than chosen."""
    if len(value) < 8 or is_wordy(value):
        return False
    digits = sum(48 <= one <= 57 for one in value)
    letters = sum(65 <= one <= 90 or 97 <= one <= 122 for one in value)
    if not letters:
        return False
    if digits:
        return True
    # Without digits: long, and both cases mixed within.
    return len(value) >= 20 and not value.islower() and not value.isupper()
