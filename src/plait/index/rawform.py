"""A regular expression to one that finds the lines of a log which may hold a match.

A log is JSON: a letter of a text may stand there as itself, as an escape, as several bytes.
Everything that the first expression matches in a text, the second matches in its line; it may
match more. Signs for places (`^`, `\\b`) and looks around are left out.
"""

import re
from collections.abc import Iterable
from re import _constants as sign  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

SAFE = re.compile(r"[ !#-%'-.0-;=?-\[\]-~]+")
"""Letters that JSON is always written with: others may be escaped."""
ESCAPED = r"\\u[0-9A-Fa-f]{4}(?:\\u[0-9A-Fa-f]{4})?|\\[^u]"
OTHER = rf"[/<>&\x7f-\xff]|[\xc0-\xff][\x80-\xbf]{{1,3}}|{ESCAPED}"
"""A letter that is not safe, in any of its forms."""
ANYTHING = r"[^\n]*"
FOLDING = frozenset("iksIKS")
"""Letters that are the same as some beyond ASCII where case does not matter."""
MOST_REPEATED = 12
"""More repetitions than this are not counted."""
MEMBERS = {
    sign.CATEGORY_DIGIT: r"\d",
    sign.CATEGORY_NOT_DIGIT: r"\D",
    sign.CATEGORY_SPACE: r"\s",
    sign.CATEGORY_NOT_SPACE: r"\S",
    sign.CATEGORY_WORD: r"\w",
    sign.CATEGORY_NOT_WORD: r"\W",
}


def raw_form(pattern: str, flags: int = 0) -> str | None:
    """Returns the expression for lines, None where any line may hold a match."""
    try:
        form = Form(_parser.parse(pattern, flags)).whole
    except (re.error, RecursionError, OverflowError, KeyError):
        return None
    try:
        is_idle = re.compile(form.encode("latin-1")).fullmatch(b"") is not None
    except (re.error, RecursionError, OverflowError):
        return None
    return None if is_idle else form


def needed_by(pattern: str, flags: int = 0) -> tuple[str, bool]:
    """Returns the longest text that every match must hold, and whether its case matters."""
    parsed = _parser.parse(pattern, flags)
    is_cased = not parsed.state.flags & re.IGNORECASE
    runs: list[str] = []
    _gather(parsed, runs, is_cased=is_cased)
    if not is_cased:
        runs = [part for run in runs for part in re.split("[iksIKS]+", run)]
    return max(runs, key=len, default=""), is_cased


def _gather(parsed: Any, runs: list[str], *, is_cased: bool) -> None:
    """Gathers the texts that everything an expression matches must hold."""
    run = ""
    for kind, value in parsed:
        letter = chr(value) if kind is sign.LITERAL else ""
        if letter and SAFE.fullmatch(letter):
            run += letter
            continue
        runs.append(run)
        run = ""
        if kind is sign.SUBPATTERN and not (value[1] | value[2]) & re.IGNORECASE:
            _gather(value[3], runs, is_cased=is_cased)
        elif kind is sign.MAX_REPEAT and value[0] > 0:
            _gather(value[2], runs, is_cased=is_cased)
    runs.append(run)


class Form:
    """Writes an expression for lines, part by part.

    What may match a line break matches anything: texts are put together with line breaks.
    """

    def __init__(self, parsed: Any) -> None:
        self.whole = self.of(parsed, parsed.state.flags)

    def of(self, parsed: Iterable[Any], flags: int) -> str:
        """Returns the form of parts that follow each other."""
        return "".join(self.part(kind, value, flags) for kind, value in parsed)

    def part(self, kind: Any, value: Any, flags: int) -> str:
        """Returns the form of one part."""
        if kind is sign.LITERAL:
            return _literal(chr(value), is_cased=not flags & re.IGNORECASE)
        if kind is sign.IN:
            return _letters(value, is_cased=not flags & re.IGNORECASE)
        if kind is sign.ANY and not flags & re.DOTALL:
            return rf"(?:[ -~]|{OTHER})"
        if kind in (sign.ANY, sign.NOT_LITERAL, sign.GROUPREF):
            return ANYTHING
        if kind in (sign.AT, sign.ASSERT, sign.ASSERT_NOT):
            return ""
        return self.group(kind, value, flags)

    def group(self, kind: Any, value: Any, flags: int) -> str:
        """Returns the form of a part that holds others."""
        if kind is sign.BRANCH:
            return self.either(value[1], flags)
        if kind is sign.SUBPATTERN:
            _, added, taken, inner = value
            return f"(?:{self.of(inner, (flags | added) & ~taken)})"
        if kind is sign.ATOMIC_GROUP:
            return f"(?:{self.of(value, flags)})"
        if kind is sign.GROUPREF_EXISTS:
            return self.either([value[1], value[2] or ()], flags)
        least, most, inner = value
        return self.repeated(least, most, inner, flags)

    def either(self, ways: Iterable[Any], flags: int) -> str:
        """Returns the form of alternatives."""
        return f"(?:{'|'.join(self.of(way, flags) for way in ways)})"

    def repeated(self, least: int, most: Any, inner: Any, flags: int) -> str:
        """Returns the form of a repetition; a large one is of any length."""
        form, least = self.of(inner, flags), min(int(least), MOST_REPEATED)
        if form == ANYTHING:
            return ANYTHING
        if most is not sign.MAXREPEAT and int(most) <= MOST_REPEATED:
            return f"(?:{form}){{{least},{int(most)}}}"
        return f"(?:{form}){{{least},}}"


def _literal(letter: str, *, is_cased: bool) -> str:
    if letter == "\n":
        return ANYTHING
    if not SAFE.fullmatch(letter):
        return _escapable(letter) if is_cased or letter.isascii() else f"(?:{OTHER})"
    if is_cased or not letter.isalpha():
        return re.escape(letter)
    both = f"[{letter.lower()}{letter.upper()}]"
    return f"(?:{both}|{OTHER})" if letter in FOLDING else both


def _escapable(letter: str) -> str:
    code = ord(letter)
    if 0xD800 <= code < 0xE000 or code == UNREADABLE:  # what stands there is no text
        return f"(?:{OTHER})"
    units = letter.encode("utf-16-be").hex()
    written = "".join(r"\\u" + _either_case(units[at : at + 4]) for at in range(0, len(units), 4))
    ways = [written, rf"\\{re.escape(SHORT[letter])}"] if letter in SHORT else [written]
    if code >= 32 and letter not in '"\\':
        ways.append("".join(rf"\x{byte:02x}" for byte in letter.encode()))
    return f"(?:{'|'.join(ways)})"


SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
UNREADABLE = 0xFFFD


def _either_case(digits: str) -> str:
    return "".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in digits)


def _letters(members: list[Any], *, is_cased: bool) -> str:
    flags = re.ASCII if is_cased else re.ASCII | re.IGNORECASE
    some = re.compile("".join(("[", *(_member(*one) for one in members), "]")), flags)
    if some.match("\n"):
        return ANYTHING
    held = [letter for letter in map(chr, range(128)) if some.match(letter)]
    safe = [letter for letter in held if SAFE.match(letter)]
    is_plain = safe == held and all(_is_ascii(*one) for one in members)
    if is_plain and (is_cased or FOLDING.isdisjoint(held)):
        return f"[{''.join(map(re.escape, safe))}]"
    return f"(?:[{''.join(map(re.escape, safe))}]|{OTHER})" if safe else f"(?:{OTHER})"


def _is_ascii(kind: Any, value: Any) -> bool:
    if kind is sign.CATEGORY:
        return value in (sign.CATEGORY_DIGIT, sign.CATEGORY_WORD, sign.CATEGORY_SPACE)
    if kind is sign.RANGE:
        return bool(value[1] < 128)
    return kind is sign.LITERAL and value < 128


def _member(kind: Any, value: Any) -> str:
    if kind is sign.NEGATE:
        return "^"
    if kind is sign.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    if kind is sign.CATEGORY:
        return MEMBERS[value]
    return re.escape(chr(value))
