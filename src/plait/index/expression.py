"""A text or a regular expression to what finds it: in texts, and in the bytes of logs.

Expressions are those of `re2`, which takes a time that grows with the text and no faster.
What it does not know (looks around, references back) is left to `re`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from plait.errors import UserError
from plait.index.raw_expression import SAFE, needed_by, raw_form

try:
    import re2  # type: ignore[import-untyped]
except ImportError:  # no wheel for this platform: slower, and the same
    re2 = None

MEMORY = 64 << 20
FLAGS = re.MULTILINE | re.ASCII
ODD = ("{,", "[[:")
"""Signs that the two engines read in different ways."""
SHORTEST = 3


class Mark(Protocol):
    """What shows where something stands in a text."""

    def finditer(self, text: str, /) -> Iterator[Any]:
        """Yields the places, each with `start()` and `span()`."""
        ...


class Sought(NamedTuple):
    """What is looked for, and what tells from the bytes of a line that it may be there."""

    pattern: str
    text: str | None = None
    """The very text, where that is what is looked for."""
    needed: str = ""
    """What every line must hold; empty where that is not known."""
    is_cased: bool = True
    form: str | None = None
    """The expression that every line must match; None where any line may do."""


def sought_text(text: str) -> Sought:
    """Returns what looks for a text as it stands."""
    if not text:
        raise UserError("there is nothing to look for", "say `plait search --exact 'some text'`")
    needed = max(SAFE.findall(text), key=len, default="")
    pattern = re.escape(text)
    form = None if needed == text else raw_form(pattern)
    return Sought(pattern, text, needed, form=form)


def sought_pattern(pattern: str) -> Sought:
    """Returns what looks for a regular expression, or says what is wrong with it."""
    if not pattern:
        raise UserError("there is nothing to look for", "say `plait search --regex 'some.*text'`")
    try:
        _of_text(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UserError(
            f"'{pattern[:80]}' is not a regular expression: {error}",
            "`--exact` looks for the text as it stands",
        ) from None
    needed, is_cased = needed_by(pattern, FLAGS)
    return Sought(pattern, None, needed, is_cased, raw_form(pattern, FLAGS))


def sought_patterns(looks: Sequence[str]) -> Sought:
    """Returns what looks for several things anywhere in one text, in any case."""
    needs = [needed_by(look, re.IGNORECASE) for look in looks]
    needed, is_cased = max(needs, key=lambda one: len(one[0]))
    pattern = r"(?is)\A" + "".join(f"(?=.*?{look})" for look in looks)
    return Sought(pattern, needed=needed, is_cased=is_cased)


class Expression:
    """Finds an expression in texts, by the better engine that knows it."""

    def __init__(self, pattern: str) -> None:
        self.engine = _linear(pattern)
        if self.engine is None:
            self.engine = re.compile(pattern, FLAGS)

    def is_in(self, text: str) -> bool:
        """Tells whether a text holds a match."""
        if isinstance(self.engine, re.Pattern):
            return self.engine.search(text) is not None
        return self.engine.search(text.encode("utf-8", "replace")) is not None

    def finditer(self, text: str) -> Iterator[Any]:
        """Yields the matches in a text."""
        if isinstance(self.engine, re.Pattern):
            return self.engine.finditer(text)
        found: Iterator[Any] = self.engine.finditer(text.encode("utf-8", "replace").decode())
        return found


class Plain:
    """Finds a text as it stands."""

    def __init__(self, text: str) -> None:
        self.text = text

    def is_in(self, text: str) -> bool:
        """Tells whether a text holds this one."""
        return self.text in text

    def finditer(self, text: str) -> Iterator[Any]:
        """Yields the places of this text in another."""
        return re.finditer(re.escape(self.text), text)


@lru_cache(maxsize=8)
def _of_text(pattern: str) -> Expression:
    return Expression(pattern)


def finder_of(sought: Sought) -> Expression | Plain:
    """Returns what finds what is sought in texts."""
    return _of_text(sought.pattern) if sought.text is None else Plain(sought.text)


def _linear(pattern: str) -> Any:
    """Returns an expression of `re2`, None where it does not know such."""
    if re2 is None or any(sign in pattern for sign in ODD):
        return None
    options = re2.Options()
    options.never_capture, options.log_errors, options.max_mem = True, False, MEMORY
    try:
        return re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeEncodeError):
        return None


@lru_cache(maxsize=16)
def of_bytes(form: str, *, is_cased: bool = True) -> Any:
    """Returns what finds an expression in bytes."""
    pattern = (form if is_cased else f"(?i){form}").encode("latin-1")
    if re2 is None:
        return re.compile(pattern)
    options = re2.Options()
    options.never_capture, options.log_errors, options.max_mem = True, False, MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    try:
        return re2.compile(pattern, options)
    except re2.error:  # larger than it takes
        return re.compile(pattern)


def line_finders(sought: Sought) -> tuple[Any, Any]:
    """Returns what finds the lines that may match, and what looks at each of them again."""
    whole = of_bytes(sought.form) if sought.form else None
    if len(sought.needed) >= SHORTEST or (sought.needed and whole is None):
        return of_bytes(re.escape(sought.needed), is_cased=sought.is_cased), whole
    return whole, None
