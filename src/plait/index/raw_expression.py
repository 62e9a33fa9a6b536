"""A regular expression to one that finds the lines of a log which may hold a match.

A log is JSON: a letter of a text may stand there as itself, as an escape, as several bytes.
Everything that the first expression matches in a text, the second matches in its line; it may
match more. Signs for places (`^`, `\\b`) and looks around are left out. Of an expression with
a sign that is not read here nothing is known, and every line is looked at.
"""

import re
from collections.abc import Iterable
from functools import cache
from os.path import commonprefix
from typing import NamedTuple

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
FLAGS = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
FOR_ALL = re.compile(r"(?:\(\?[aims]+\))*")
"""The flags that an expression begins with hold for all of it."""
SIGN = r"""
      (?P<set>      \[\^?\]?(?:\\.|[^\]\\])*\] | \\[dDwWsS])
    | (?P<repeat>   (?:[*+?] | \{(?=[\d,])(?P<least>\d*)(?P<range>,?)(?P<most>\d*)\}) [+?]?)
    | (?P<comment>  \(\?\#[^)]*\))
    | (?P<look>     \(\?<?[=!])
    | (?P<again>    \(\?P=\w+\) | \\[1-9]\d?(?!\d))
    | (?P<group>    \((?!\?) | \(\?(?:P?<\w+> | > | (?P<on>[aims]*)(?:-(?P<off>[ims]+))?:))
    | (?P<end>      \))
    | (?P<or>       \|)
    | (?P<place>    [\^$] | \\[AbBZz])
    | (?P<any>      \.)
    | (?P<code>     \\(?:x[\dA-Fa-f]{2} | u[\dA-Fa-f]{4} | U[\dA-Fa-f]{8}))
    | (?P<short>    \\[afnrtv])
    | (?P<letter>   \\[^\dA-Za-z] | [^\\(\[])
"""
SHORT = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
"""How JSON may write a letter in short."""
NO_TEXT = 0xFFFD
BREAK = "\n"
"""Stands between texts that need not follow each other; it is no safe letter."""


def raw_form(pattern: str, flags: int = 0) -> str | None:
    """Returns the expression for lines, None where any line may hold a match."""
    try:
        form = _read(pattern, flags).form
        is_idle = re.compile(form.encode("latin-1")).fullmatch(b"") is not None
    except (_Unread, re.error, RecursionError, OverflowError):
        return None
    return None if is_idle else form


def needed_by(pattern: str, flags: int = 0) -> tuple[str, bool]:
    """Returns the longest text that every match must hold, and whether its case matters."""
    try:
        held = _read(pattern, flags).held
    except (_Unread, re.error):
        return "", True
    is_cased = not _flags_for_all(pattern, flags) & re.IGNORECASE
    runs = held.split(BREAK) if is_cased else re.split(f"[{BREAK}iksIKS]", held)
    return max(runs, key=len), is_cased


class _Unread(Exception):
    """There is a sign that is not read here."""


class _Part(NamedTuple):
    form: str
    held: str = BREAK
    """The letters that every match must hold, broken where they need not follow each other."""


class _Group:
    """A group whose end has not come: its ways so far, each of parts in a row."""

    def __init__(self, flags: int, *, is_look: bool = False) -> None:
        self.flags = flags
        self.is_cased = not flags & re.IGNORECASE
        self.is_look = is_look
        self.ways: list[list[_Part]] = [[]]

    def closed(self) -> _Part:
        if self.is_look:
            return _Part("", "")
        forms = ["".join(part.form for part in way) for way in self.ways]
        held = ["".join(part.held for part in way) for way in self.ways]
        if len(forms) > 1:
            first = commonprefix(held)  # noqa: RUF071  by letters is meant
            return _Part(f"(?:{'|'.join(forms)})", first + BREAK)
        return _Part(forms[0], held[0])


def _read(pattern: str, flags: int) -> _Part:
    start = FOR_ALL.match(pattern)
    at = start.end() if start else 0
    reader = _Reader(_flags_for_all(pattern, flags))
    while at < len(pattern):
        sign = _signs().match(pattern, at)
        if sign is None:
            raise _Unread
        reader.take(sign)
        at = sign.end()
    return reader.whole()


@cache
def _signs() -> re.Pattern[str]:
    return re.compile(SIGN, re.ASCII | re.DOTALL | re.VERBOSE)


def _flags_for_all(pattern: str, flags: int) -> int:
    start = FOR_ALL.match(pattern)
    return _with(flags, set(start[0]) & FLAGS.keys() if start else "")


def _with(flags: int, letters: Iterable[str]) -> int:
    for letter in letters:
        flags |= FLAGS[letter]
    return flags


class _Reader:
    """Puts the parts of an expression into the innermost group that is open."""

    def __init__(self, flags: int) -> None:
        self.is_cased = not flags & re.IGNORECASE
        self.groups = [_Group(flags)]

    def whole(self) -> _Part:
        if len(self.groups) > 1:
            raise _Unread
        return self.groups[0].closed()

    def take(self, sign: re.Match[str]) -> None:
        inner = self.groups[-1]
        match sign.lastgroup:
            case "or":
                inner.ways.append([])
            case "group" | "look" as kind:
                flags = _with(inner.flags, sign["on"] or "") & ~_with(0, sign["off"] or "")
                self.groups.append(_Group(flags, is_look=kind == "look"))
            case "end":
                self._close()
            case "repeat":
                self._repeat(sign)
            case "comment":
                pass
            case _:
                inner.ways[-1].append(self._part(sign, inner))

    def _close(self) -> None:
        if len(self.groups) < 2:
            raise _Unread
        part = self.groups.pop().closed()
        self.groups[-1].ways[-1].append(part)

    def _repeat(self, sign: re.Match[str]) -> None:
        parts = self.groups[-1].ways[-1]
        if not parts:
            raise _Unread
        parts.append(_repeated(parts.pop(), *_bounds(sign)))

    def _part(self, sign: re.Match[str], group: _Group) -> _Part:
        match sign.lastgroup:
            case "place":
                return _Part("", "")
            case "again":
                return _Part(ANYTHING)
            case "any":
                return _Part(ANYTHING if group.flags & re.DOTALL else rf"(?:[ -~]|{OTHER})")
            case "set":
                form, only = _letters(sign[0], is_cased=group.is_cased)
                return self._letter(only, group) if only else _Part(form)
            case _:
                return self._letter(_letter_of(sign), group)

    def _letter(self, letter: str, group: _Group) -> _Part:
        is_held = SAFE.fullmatch(letter) and group.is_cased == self.is_cased
        return _Part(_literal(letter, is_cased=group.is_cased), letter if is_held else BREAK)


def _letter_of(sign: re.Match[str]) -> str:
    if sign.lastgroup == "short":
        return SHORT[sign[0][1]]
    if sign.lastgroup == "letter":
        return sign[0][-1]
    code = int(sign[0].lstrip(r"\xuU"), 16)
    if code > 0x10FFFF:
        raise _Unread
    return chr(code)


def _bounds(sign: re.Match[str]) -> tuple[int, int | None]:
    """Returns how often something is repeated at least, and at most."""
    if sign[0][0] != "{":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign[0][0]]
    least = int(sign["least"] or 0)
    if not sign["range"]:
        return least, least
    return least, int(sign["most"]) if sign["most"] else None


def _repeated(part: _Part, least: int, most: int | None) -> _Part:
    """Returns a repetition; a large one is of any length."""
    held = f"{BREAK}{part.held}{BREAK}" if least else BREAK
    if part.form == ANYTHING:
        return _Part(ANYTHING, held)
    few = min(least, MOST_REPEATED)
    many = most if most is not None and most <= MOST_REPEATED else ""
    return _Part(f"(?:{part.form}){{{few},{many}}}", held)


def _letters(source: str, *, is_cased: bool) -> tuple[str, str | None]:
    """Returns the ways in which a letter of a set may stand in a line, and its only letter."""
    some = re.compile(source, re.ASCII if is_cased else re.ASCII | re.IGNORECASE)
    if some.match("\n"):
        return ANYTHING, None
    held = [letter for letter in map(chr, range(128)) if some.match(letter)]
    safe = [letter for letter in held if SAFE.match(letter)]
    is_small = _is_of_ascii(source)
    if safe == held and is_small and (is_cased or FOLDING.isdisjoint(held)):
        return _any_of(safe), held[0] if len(held) == 1 else None
    if not is_cased and not is_small:
        safe += sorted(FOLDING)
    return f"(?:{_any_of(safe)}|{OTHER})" if safe else f"(?:{OTHER})", None


def _is_of_ascii(source: str) -> bool:
    """Tells a set that holds nothing beyond ASCII, for certain."""
    plain = r"\[(?!\^)(?:[^\\]|\\[ -/:-@\[-`{-~dwsfnrtv])+\]|\\[dws]"
    return source.isascii() and re.fullmatch(plain, source) is not None


def _any_of(safe: Iterable[str]) -> str:
    return f"[{''.join(map(re.escape, safe))}]"


def _literal(letter: str, *, is_cased: bool) -> str:
    """Returns the ways in which a letter may stand in a line."""
    if letter == "\n":
        return ANYTHING
    if not SAFE.fullmatch(letter):
        return _escapable(letter) if is_cased or letter.isascii() else _foldable(letter)
    if is_cased or not letter.isalpha():
        return re.escape(letter)
    both = f"[{letter.lower()}{letter.upper()}]"
    return f"(?:{both}|{OTHER})" if letter in FOLDING else both


def _foldable(letter: str) -> str:
    """Returns the ways in which a letter beyond ASCII may stand: some are a kind of `k` or `s`."""
    same = letter.casefold()
    return f"(?:[{same}{same.upper()}]|{OTHER})" if same in FOLDING else f"(?:{OTHER})"


def _escapable(letter: str) -> str:
    code = ord(letter)
    if 0xD800 <= code < 0xE000 or code == NO_TEXT:  # what stands there is no text
        return f"(?:{OTHER})"
    units = letter.encode("utf-16-be").hex()
    written = "".join(r"\\u" + _either_case(units[at : at + 4]) for at in range(0, len(units), 4))
    ways = [written, rf"\\{re.escape(ESCAPES[letter])}"] if letter in ESCAPES else [written]
    if code >= 32 and letter not in '"\\':
        ways.append("".join(rf"\x{byte:02x}" for byte in letter.encode()))
    return f"(?:{'|'.join(ways)})"


def _either_case(digits: str) -> str:
    return "".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in digits)
