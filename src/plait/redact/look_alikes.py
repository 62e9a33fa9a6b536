"""Words to whether they are a secret or only stand where one would."""

import re
from functools import lru_cache

from plait.redact.model import SecondLook, TextSpan
from plait.redact.strength import is_random, is_wordy

# What people write where a secret belongs.
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
YEARS = re.compile(rb"[A-Za-z]{3,}[0-9]{2,4}\Z")
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
        or (PATH.fullmatch(value) is not None and not is_random(_longest_step(value)))
    )


def _longest_step(path: bytes) -> bytes:
    return max(re.split(rb"[/\\]", path), key=len)


def is_dotted_name(value: bytes) -> bool:
    """Tells whether a value is the name of something in a program."""
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

# What may cut a value in two: a line break, real or escaped, with the margin of the next line
# (indentation, the sign of a patch or a quote, a line number), or the edge of a block.
GAP = re.compile(
    rb"(?:\x1f|\\{0,1}[ \t]*\r?\n(?:[ \t]*[0-9]+(?:\t|\xe2\x86\x92))?[ \t]{0,16}[+>|-]?[ \t]{0,8}"
    rb"|\\{1,4}n[ \t]{0,16}[+>|-]?[ \t]{0,8})"
)


def is_at_word_start(text: bytes, start: int) -> bool:
    """Tells whether no word runs into a place; the letter of an escape such as `\\n` is none.

    A stand-in is a word, since what it stands for was one.
    """
    if start == 0:
        return True
    if text[start - 1] not in WORD:
        return not is_behind_stand_in(text, start)
    is_escape = text[start - 1] in ESCAPE_LETTERS and start > 1 and text[start - 2] == BACKSLASH
    return is_escape or _is_after_code(text, start)


def is_in_stand_in(text: bytes, place: int) -> bool:
    """Tells whether a place lies within a stand-in, whose words are no words of the text."""
    first = max(0, place - LONGEST_STAND_IN)
    opened = text.rfind(b"\xe2\x80\xb9", first, place)
    return opened >= 0 and text.rfind(b"\xe2\x80\xba", opened, place) < 0


LONGEST_STAND_IN = 60


def is_behind_stand_in(text: bytes, start: int) -> bool:
    """Tells whether a stand-in ends at a place."""
    if text[start - 1 : start] != STAND_IN_END:
        return False
    return STAND_IN_BEFORE.search(text, max(0, start - 80), start) is not None


CODES = (
    r"(?:\\u00[0-9a-fA-F]{2}|%[0-9A-F]{2}|\\x[0-9a-f]{2}"
    r"|(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z])"
)
"""Signs that are written as codes, and what colours a text."""
CODE = re.compile(CODES.encode() + rb"\Z")


def _is_after_code(text: bytes, start: int) -> bool:
    return CODE.search(text, max(0, start - 24), start) is not None


def run_of(letters: str, least: int, most: int | None = None, *, before: str = "") -> SecondLook:
    """Returns a look at keys of certain letters and length, which a line break may cut.

    `before` is an expression for what a value has in front of the match.
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
    """Tells whether a value that could end with its line was broken because the line was full."""
    start = spans[0].start
    first = max(0, start - NARROWEST)
    line = max(text.rfind(b"\n", first, start), text.rfind(b"\0", first, start), first - 1) + 1
    is_full = spans[0].end - line >= NARROWEST
    is_another = text[start : start + 3] == text[more.start : more.start + 3]
    return is_full and not is_another and is_random(text[more.start : more.end])


def anywhere(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what the expression found, whatever stands before it."""
    return NOTHING if is_placeholder(text[value.start : value.end]) else (value,)
