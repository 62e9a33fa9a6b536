"""Exact texts and regular expressions: finding them in texts, and in the raw bytes of logs.

Expressions are run by `re2`, whose time grows linearly with the text; what it does not support
(lookaround, back-references) is run by `re`.

A log is JSON: a character of a text may be written as itself, as an escape, or as several bytes.
`translate_to_raw` translates an expression to one for raw lines: whatever the first matches in a
text, the second matches in its line, and maybe more. Anchors and lookaround are dropped. For an
expression with syntax that is not translated, every line is examined.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from os.path import commonprefix
from typing import Any, NamedTuple, Protocol

from plait.errors import UserError

SAFE = re.compile(r"[ !#-%'-.0-;=?-\[\]-~]+")
"""Characters that are always written as themselves in JSON: others may be escaped."""
ESCAPED = r"\\u[0-9A-Fa-f]{4}(?:\\u[0-9A-Fa-f]{4})?|\\[^u]"
OTHER = rf"[/<>&\x7f-\xff]|[\xc0-\xff][\x80-\xbf]{{1,3}}|{ESCAPED}"
"""A character that is not safe, in any of its forms."""
ANYTHING = r"[^\n]*"
FOLDING = frozenset("iksIKS")
"""Characters that equal some beyond ASCII if case is ignored."""
MAX_REPEAT = 12
"""More repetitions than this count as unlimited."""
FLAGS = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
FOR_ALL = re.compile(r"(?:\(\?[aims]+\))*")
"""The flags at the beginning of an expression apply to all of it."""
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
"""Short JSON escapes."""
NO_TEXT = 0xFFFD
BREAK = "\n"
"""Separates texts that need not be adjacent; it is not a safe character."""


def translate_to_raw(pattern: str, flags: int = 0) -> str | None:
    """Return the expression for lines; None if any line may contain a match."""
    try:
        form = _translate(pattern, flags).pattern
        is_idle = re.compile(form.encode("latin-1")).fullmatch(b"") is not None
    except (_Untranslatable, re.error, RecursionError, OverflowError):
        return None
    return None if is_idle else form


def find_required_text(pattern: str, flags: int = 0) -> tuple[str, bool]:
    """Return the longest text that every match contains, and whether its case matters."""
    try:
        held = _translate(pattern, flags).required
    except (_Untranslatable, re.error):
        return "", True
    is_cased = not _flags_for_all(pattern, flags) & re.IGNORECASE
    runs = held.split(BREAK) if is_cased else re.split(f"[{BREAK}iksIKS]", held)
    return max(runs, key=len), is_cased


class _Untranslatable(Exception):
    """The expression has syntax that is not translated."""


class _Part(NamedTuple):
    pattern: str
    required: str = BREAK
    """The characters that every match contains, separated where they need not be adjacent."""


class _Group:
    """An open group: its alternatives so far, each a sequence of parts."""

    def __init__(self, flags: int, *, is_look: bool = False) -> None:
        self.flags = flags
        self.is_cased = not flags & re.IGNORECASE
        self.is_look = is_look
        self.ways: list[list[_Part]] = [[]]

    def closed(self) -> _Part:
        if self.is_look:
            return _Part("", "")
        forms = ["".join(part.pattern for part in way) for way in self.ways]
        held = ["".join(part.required for part in way) for way in self.ways]
        if len(forms) > 1:
            first = commonprefix(held)  # noqa: RUF071  by letters is intended
            return _Part(f"(?:{'|'.join(forms)})", first + BREAK)
        return _Part(forms[0], held[0])


def _translate(pattern: str, flags: int) -> _Part:
    start = FOR_ALL.match(pattern)
    at = start.end() if start else 0
    reader = _Reader(_flags_for_all(pattern, flags))
    while at < len(pattern):
        sign = re.compile(SIGN, re.ASCII | re.DOTALL | re.VERBOSE).match(pattern, at)
        if sign is None:
            raise _Untranslatable
        reader.take(sign)
        at = sign.end()
    return reader.result()


@cache
def _flags_for_all(pattern: str, flags: int) -> int:
    start = FOR_ALL.match(pattern)
    return _add_flags(flags, set(start[0]) & FLAGS.keys() if start else "")


def _add_flags(flags: int, letters: Iterable[str]) -> int:
    for letter in letters:
        flags |= FLAGS[letter]
    return flags


class _Reader:
    """Adds the parts of an expression to the innermost open group."""

    def __init__(self, flags: int) -> None:
        self.is_cased = not flags & re.IGNORECASE
        self.groups = [_Group(flags)]

    def result(self) -> _Part:
        if len(self.groups) > 1:
            raise _Untranslatable
        return self.groups[0].closed()

    def take(self, sign: re.Match[str]) -> None:
        inner = self.groups[-1]
        match sign.lastgroup:
            case "or":
                inner.ways.append([])
            case "group" | "look" as kind:
                flags = _add_flags(inner.flags, sign["on"] or "") & ~_add_flags(
                    0, sign["off"] or ""
                )
                self.groups.append(_Group(flags, is_look=kind == "look"))
            case "end":
                if len(self.groups) < 2:
                    raise _Untranslatable
                part = self.groups.pop().closed()
                self.groups[-1].ways[-1].append(part)
            case "repeat":
                parts = inner.ways[-1]
                if not parts:
                    raise _Untranslatable
                parts.append(_repeat(parts.pop(), *_parse_bounds(sign)))
            case "comment":
                pass
            case _:
                inner.ways[-1].append(self._part(sign, inner))

    def _part(self, sign: re.Match[str], group: _Group) -> _Part:
        match sign.lastgroup:
            case "place":
                return _Part("", "")
            case "again":
                return _Part(ANYTHING)
            case "any":
                return _Part(ANYTHING if group.flags & re.DOTALL else rf"(?:[ -~]|{OTHER})")
            case "set":
                form, only = _translate_set(sign[0], is_cased=group.is_cased)
                return self._letter(only, group) if only else _Part(form)
            case _:
                if sign.lastgroup == "short":
                    letter = SHORT[sign[0][1]]
                elif sign.lastgroup == "letter":
                    letter = sign[0][-1]
                else:
                    code = int(sign[0].lstrip(r"\xuU"), 16)
                    if code > 0x10FFFF:
                        raise _Untranslatable
                    letter = chr(code)
                return self._letter(letter, group)

    def _letter(self, letter: str, group: _Group) -> _Part:
        is_held = SAFE.fullmatch(letter) and group.is_cased == self.is_cased
        return _Part(
            _translate_letter(letter, is_cased=group.is_cased), letter if is_held else BREAK
        )


def _parse_bounds(sign: re.Match[str]) -> tuple[int, int | None]:
    """Return the minimum and maximum of a repetition."""
    if sign[0][0] != "{":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign[0][0]]
    least = int(sign["least"] or 0)
    if not sign["range"]:
        return least, least
    return least, int(sign["most"]) if sign["most"] else None


def _repeat(part: _Part, least: int, most: int | None) -> _Part:
    """Return a repetition; a large one becomes unlimited."""
    held = f"{BREAK}{part.required}{BREAK}" if least else BREAK
    if part.pattern == ANYTHING:
        return _Part(ANYTHING, held)
    few = min(least, MAX_REPEAT)
    many = most if most is not None and most <= MAX_REPEAT else ""
    return _Part(f"(?:{part.pattern}){{{few},{many}}}", held)


def _translate_set(source: str, *, is_cased: bool) -> tuple[str, str | None]:
    """Return the ways in which a character of a set may be written in a line, and its only
    character.
    """
    some = re.compile(source, re.ASCII if is_cased else re.ASCII | re.IGNORECASE)
    if some.match("\n"):
        return ANYTHING, None
    held = [letter for letter in map(chr, range(128)) if some.match(letter)]
    safe = [letter for letter in held if SAFE.match(letter)]
    plain = r"\[(?!\^)(?:[^\\]|\\[ -/:-@\[-`{-~dwsfnrtv])+\]|\\[dws]"
    is_small = source.isascii() and re.fullmatch(plain, source) is not None
    if safe == held and is_small and (is_cased or FOLDING.isdisjoint(held)):
        return _make_letter_class(safe), held[0] if len(held) == 1 else None
    if not is_cased and not is_small:
        safe += sorted(FOLDING)
    return f"(?:{_make_letter_class(safe)}|{OTHER})" if safe else f"(?:{OTHER})", None


def _make_letter_class(safe: Iterable[str]) -> str:
    return f"[{''.join(map(re.escape, safe))}]"


def _translate_letter(letter: str, *, is_cased: bool) -> str:
    """Return the ways in which a character may be written in a line."""
    if letter == "\n":
        return ANYTHING
    if not SAFE.fullmatch(letter):
        if is_cased or letter.isascii():
            code = ord(letter)
            if 0xD800 <= code < 0xE000 or code == NO_TEXT:  # at such a position there is no text
                return f"(?:{OTHER})"
            units = letter.encode("utf-16-be").hex()
            digits = [f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in units]
            written = "".join(
                r"\\u" + "".join(digits[at : at + 4]) for at in range(0, len(units), 4)
            )
            ways = [written, rf"\\{re.escape(ESCAPES[letter])}"] if letter in ESCAPES else [written]
            if code >= 32 and letter not in '"\\':
                ways.append("".join(rf"\x{byte:02x}" for byte in letter.encode()))
            return f"(?:{'|'.join(ways)})"
        same = letter.casefold()  # some characters beyond ASCII fold to `k` or `s`
        return f"(?:[{same}{same.upper()}]|{OTHER})" if same in FOLDING else f"(?:{OTHER})"
    if is_cased or not letter.isalpha():
        return re.escape(letter)
    both = f"[{letter.lower()}{letter.upper()}]"
    return f"(?:{both}|{OTHER})" if letter in FOLDING else both


# ---------------------------------------------------------------------- patterns for a scan


try:
    import re2  # type: ignore[import-untyped]
except ImportError:  # no wheel for this platform: slower, with the same results
    re2 = None

RE2_MEMORY = 64 << 20
TEXT_FLAGS = re.MULTILINE | re.ASCII
DIFFERENT_SYNTAX = ("{,", "[[:")
"""Syntax that the two engines read differently."""
MIN_REQUIRED_LENGTH = 3


class Highlighter(Protocol):
    """Finds matches in a text."""

    def finditer(self, text: str, /) -> Iterator[Any]:
        """Yield the matches, each with `start()` and `span()`."""
        ...


class ScanPattern(NamedTuple):
    """What to search for, and how to recognise possible lines by their bytes."""

    pattern: str
    text: str | None = None
    """The exact text, if that is searched for."""
    required: str = ""
    """What every line must contain; empty if unknown."""
    is_cased: bool = True
    raw_pattern: str | None = None
    """The expression that every line must match; None if any line may."""


def pattern_for_text(text: str) -> ScanPattern:
    """Return the pattern for an exact text."""
    if not text:
        raise UserError("the search is empty", "use `plait search --exact 'some text'`")
    needed = max(SAFE.findall(text), key=len, default="")
    pattern = re.escape(text)
    form = None if needed == text else translate_to_raw(pattern)
    return ScanPattern(pattern, text, needed, raw_pattern=form)


def pattern_for_regex(pattern: str) -> ScanPattern:
    """Return the pattern for a regular expression; raise if it is invalid."""
    if not pattern:
        raise UserError("the search is empty", "use `plait search --regex 'some.*text'`")
    try:
        _compile_expression(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UserError(
            f"'{pattern[:80]}' is not a regular expression: {error}",
            "`--exact` searches for the literal text",
        ) from None
    needed, is_cased = find_required_text(pattern, TEXT_FLAGS)
    return ScanPattern(pattern, None, needed, is_cased, translate_to_raw(pattern, TEXT_FLAGS))


def pattern_for_all(looks: Sequence[str]) -> ScanPattern:
    """Return the pattern for several texts anywhere in one text, ignoring case."""
    needs = [find_required_text(look, re.IGNORECASE) for look in looks]
    needed, is_cased = max(needs, key=lambda need: len(need[0]))
    pattern = r"(?is)\A" + "".join(f"(?=.*?{look})" for look in looks)
    return ScanPattern(pattern, required=needed, is_cased=is_cased)


class Expression:
    """Finds an expression in texts, with the better engine that supports it."""

    def __init__(self, pattern: str) -> None:
        self.engine = _compile_re2(pattern)
        if self.engine is None:
            self.engine = re.compile(pattern, TEXT_FLAGS)

    def matches(self, text: str) -> bool:
        """Return whether a text contains a match."""
        if isinstance(self.engine, re.Pattern):
            return self.engine.search(text) is not None
        return self.engine.search(text.encode("utf-8", "replace")) is not None

    def finditer(self, text: str) -> Iterator[Any]:
        """Yield the matches in a text."""
        if isinstance(self.engine, re.Pattern):
            return self.engine.finditer(text)
        found: Iterator[Any] = self.engine.finditer(text.encode("utf-8", "replace").decode())
        return found


class PlainText:
    """Finds an exact text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def matches(self, text: str) -> bool:
        """Return whether a text contains this one."""
        return self.text in text

    def finditer(self, text: str) -> Iterator[Any]:
        """Yield the positions of this text in another."""
        return re.finditer(re.escape(self.text), text)


@lru_cache(maxsize=8)
def _compile_expression(pattern: str) -> Expression:
    return Expression(pattern)


def make_finder(sought: ScanPattern) -> Expression | PlainText:
    """Return a finder for a pattern."""
    return _compile_expression(sought.pattern) if sought.text is None else PlainText(sought.text)


def _compile_re2(pattern: str) -> Any:
    """Return an `re2` expression; None if it is not supported."""
    if re2 is None or any(sign in pattern for sign in DIFFERENT_SYNTAX):
        return None
    options = re2.Options()
    options.never_capture, options.log_errors, options.max_mem = True, False, RE2_MEMORY
    try:
        return re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeEncodeError):
        return None


@lru_cache(maxsize=16)
def compile_for_bytes(form: str, *, is_cased: bool = True) -> Any:
    """Return a finder for an expression in bytes."""
    pattern = (form if is_cased else f"(?i){form}").encode("latin-1")
    if re2 is None:
        return re.compile(pattern)
    options = re2.Options()
    options.never_capture, options.log_errors, options.max_mem = True, False, RE2_MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    try:
        return re2.compile(pattern, options)
    except re2.error:  # too large for it
        return re.compile(pattern)


def compile_line_finders(sought: ScanPattern) -> tuple[Any, Any]:
    """Return a finder for lines that may match, and one that checks each of them."""
    raw = compile_for_bytes(sought.raw_pattern) if sought.raw_pattern else None
    if len(sought.required) >= MIN_REQUIRED_LENGTH or (sought.required and raw is None):
        return compile_for_bytes(re.escape(sought.required), is_cased=sought.is_cased), raw
    return raw, None
