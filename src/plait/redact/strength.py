"""Values to how much they look like a secret: drawn by chance, chosen by somebody, or words."""

import re
from functools import lru_cache
from itertools import pairwise

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
# A letter and what often follows it in words of prose and of programs.
FOLLOWERS = (
    b"abcdfgiklmnprstuvwxy baeijlorsuy cacdefhiklmnoprstu dabcdefgilmoprstu eabcdefghilmnopqrstvwxy"
    b" facefilorstu gaehilnorstu haeimort iabcdefglmnoprstuvxz jaeou kaceis labcdefgilmnoprstuvy"
    b" mabcdeilmopstu nabcdefghiklmnoprstuv oabcdfgiklmnoprstuvwx pacdehilmoprstuy qu"
    b" rabcdefgiklmnoprstuvy sacdefhiklmnopqrstuwy tabcdefghilmnoprstuvwy uabcdefilmnprst vaceio"
    b" waceinors xceimpt ycelmnprst zaeo"
)
COMMON_PAIRS = frozenset((row[0], one) for row in FOLLOWERS.split() for one in row[1:])
COMMON_SHARE = 0.66
WORDY = 0.7


def is_plain_word(value: bytes) -> bool:
    """Tells whether a value is a word of programs and settings."""
    return value.lower() in PLAIN_WORDS


def is_mixed(value: bytes) -> bool:
    """Tells whether a value has letters and also digits or signs, as passwords do."""
    has_letter = any(65 <= one <= 90 or 97 <= one <= 122 for one in value)
    return has_letter and any(48 <= one <= 57 or one in b"!@#$%^&*?~+=" for one in value)


SIGNS = frozenset(b"!@#$%^&*?~+=._-:/,;|")
IDENTIFIER = re.compile(rb"[a-z]+(?:[_.:/-][a-z]*[0-9]{0,4})+|[A-Z]+(?:_[A-Z]*[0-9]{0,4})+")
TECHNICAL = re.compile(
    rb"(?i)sha-?[0-9]|md5|base(?:32|58|64)|utf-?(?:8|16)|oauth|bcrypt|argon2|pbkdf2|scrypt|[hrep]s(?:256|384|512)"
    rb"|aes-?[0-9]|ipv[46]|x-?509|pkcs|ed25519|rsa-?[0-9]|http/|v[0-9]+\.[0-9]|\.(?:py|js|ts|go|rs|md|ya?ml"
    rb"|json|toml|txt|sh|env|conf|cfg|ini|html?|css|java|rb|php|xml|lock|log|pem|key|crt)(?:[:#][0-9L]+)?\Z"
)


@lru_cache(4096)
def is_chosen(value: bytes) -> bool:
    """Tells whether a value looks like a password that somebody chose: mixed, and no name."""
    if len(value) < LEAST_CHOSEN or TECHNICAL.search(value) or IDENTIFIER.fullmatch(value):
        return False
    has_digit = any(48 <= one <= 57 for one in value)
    has_upper = any(65 <= one <= 90 for one in value)
    has_lower = any(97 <= one <= 122 for one in value)
    has_sign = any(one in SIGNS for one in value)
    return has_digit and has_upper + has_lower + has_sign >= (1 if is_random(value) else 2)


LEAST_CHOSEN = 8
PASSPHRASE = re.compile(rb"[A-Za-z]{3,12}(?:-[A-Za-z]{3,12}){2,6}(?:-?[0-9]{1,4})?[!.]?")
# What words of names and addresses of programs have, and passphrases have not.
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
    """Tells whether a value is a row of words that name nothing, as people are told to choose."""
    if PASSPHRASE.fullmatch(value) is None:
        return False
    words = [word.lower() for word in PIECE.findall(value)]
    return not any(word in NAMING or word in PLAIN_WORDS for word in words)


PHRASE = re.compile(rb"[a-z]{3,10}(?: [a-z]{3,10}){3,7}")
# What sentences have, and rows of words drawn by chance seldom have.
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
    """Tells whether a value is four words or more that make no sentence."""
    if PHRASE.fullmatch(value) is None:
        return False
    return not any(word in PROSE or word in NAMING or word in PLAIN_WORDS for word in value.split())


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
    if vowels * 6 < len(piece):
        return False
    letters = piece.lower()
    pairs = sum(pair in COMMON_PAIRS for pair in pairwise(letters))
    return pairs >= COMMON_SHARE * (len(piece) - 1)


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
    if value.islower() or value.isupper():
        return False
    return len(value) >= LONG_ENOUGH or _is_scrambled(value)


LONG_ENOUGH, LEAST_SCRAMBLED, FEWEST_BITS = 20, 8, 3


def _is_scrambled(value: bytes) -> bool:
    """Tells whether capitals and small letters change as nobody writes names."""
    bits = sum(len(piece) < 3 for piece in PIECE.findall(value))
    return len(value) >= LEAST_SCRAMBLED and bits >= FEWEST_BITS


def is_likely(value: bytes) -> bool:
    """Tells whether a value may be a secret where one is expected, however weak it is."""
    return is_mixed(value) or is_random(value) or is_passphrase(value)


WORD_AND_NUMBER = re.compile(
    rb"([A-Z][a-z]{3,15}|[a-z]{4,15}|[A-Z]{4,15})(?:[0-9]{2}|[-_.]?[0-9]{3,6})[!?#*.$@&]{0,3}"
)
# Words that have a number behind them in programs.
COUNTED = frozenset(
    b"""uint float char double long number size width height level step page item line lines node
    host file image part phase chapter section table column field param value version build release
    issue commit port error code python java ubuntu debian fedora windows linux claude opus sonnet
    haiku agent model group task case rule note color vector matrix utf sha""".split()
)


def is_weak(value: bytes) -> bool:
    """Tells whether a value is a word with a number behind it, as many choose for a password."""
    found = WORD_AND_NUMBER.fullmatch(value)
    if found is None or TECHNICAL.search(value):
        return False
    word = found[1].lower()
    return word not in COUNTED and word not in PLAIN_WORDS
