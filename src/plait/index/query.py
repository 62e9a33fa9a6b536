"""The query language of search, and its parser.

parser error              both words, anywhere in one passage
"parse error"             the words in this order
"parse error"~3           with up to three words between them
"parse err"*              the last word is only a prefix
pars*  *arse*             words that begin with it, words that contain it
parcer~  parcer~2         words that differ by one or two letters
lexer OR parser           either; AND binds more tightly; ( ) for groups
NOT test  -test           without
tool:Bash outcome:failed  fields, see FIELDS
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeAlias

from msgspec import Struct

from plait.errors import UserError

FIELDS = {
    "tool": "tool",
    "in": "kind",
    "kind": "kind",
    "outcome": "outcome",
    "project": "project",
    "branch": "branch",
    "before": "before",
    "until": "before",
    "after": "after",
    "since": "after",
    "file": "file",
    "model": "model",
    "session": "session",
}
"""Names that a query may use, and their meaning."""
TOKEN = re.compile(
    r"""\s*(?:
        (?P<open>-?\() | (?P<close>\)) |
        (?P<minus>-(?=[\w"(*]))? (?:(?P<field>[A-Za-z]+):)? (?:
            "(?P<phrase>[^"]*)"(?P<after>\S*?)(?=[\s()]|$) | (?P<word>[^\s()"]+)
        ))""",
    re.VERBOSE,
)
FUZZY = re.compile(r"(.+?)~([12]?)")
DEEPEST = 30
MOST_PARTS = 256
MOST_OPEN = 32
"""Limit for words with a star or a tilde: each scans all words of the index."""
NAMES = (
    *("tool", "in", "outcome", "project", "branch", "before", "after", "file", "model"),
    "session",
)
TEXTUAL = re.compile(r"[\d/\\:=]")
"""What follows the colon if it is no field: `localhost:8080`, `http://`, `std::map`."""


class Word(Struct, frozen=True):
    """A word, a prefix, a part of a word, or an approximate word."""

    text: str
    is_prefix: bool = False
    is_inner: bool = False
    distance: int = 0


class Phrase(Struct, frozen=True):
    """Words in order."""

    text: str
    slop: int = 0
    """How many other words may be between them."""
    is_prefix: bool = False
    """Whether the last word is a prefix."""


class Field(Struct, frozen=True):
    """A condition on what a passage is, rather than what it says."""

    name: str
    value: str


class Not(Struct, frozen=True):
    """An exclusion."""

    operand: "QueryNode"


class And(Struct, frozen=True):
    """A conjunction."""

    operands: "tuple[QueryNode, ...]"


class Or(Struct, frozen=True):
    """A disjunction."""

    operands: "tuple[QueryNode, ...]"


QueryNode: TypeAlias = Word | Phrase | Field | Not | And | Or


def filter_by_sessions(ids: Iterable[str]) -> Or:
    """Return a query restricted to these sessions."""
    return Or(tuple(Field("session", id_) for id_ in sorted(ids)))


def parse_query(text: str) -> QueryNode:
    """Return a parsed query; raise with what is wrong with it."""
    reader = QueryParser(text)
    if not reader.tokens:
        raise UserError("the query is empty", 'for example `plait search "parse error"`')
    found = reader.parse_or(0)
    if reader.place < len(reader.tokens):
        raise UserError(
            f"a parenthesis is closed but never opened in '{shorten(text)}'",
            "put text with parentheses in quotation marks, or use `--exact`",
        )
    return found


def list_terms(wanted: QueryNode | None) -> tuple[str, ...]:
    """Return the words and phrases searched for as a query writes them, each once."""
    found, waiting = dict[str, None](), [wanted]
    while waiting:
        item = waiting.pop()
        match item:
            case Word(text=text, distance=distance) if distance:
                found[f"{text}~{distance}"] = None
            case Word(text=text, is_inner=True):
                found[f"*{text}*"] = None
            case Word(text=text):
                found[f"{text}{'*' * item.is_prefix}"] = None
            case Phrase():
                slop = f"~{item.slop}" if item.slop else ""
                found[f'"{item.text}"{"*" if item.is_prefix else slop}'] = None
            case And(parts) | Or(parts):
                waiting.extend(reversed(parts))
    return tuple(found)


def shorten(text: str) -> str:
    """Return a text shortened for a message."""
    return text if len(text) <= 80 else f"{text[:79]}…"


class QueryParser:
    """Reads the parts of a query from left to right."""

    def __init__(self, text: str) -> None:
        self.text = shorten(text)
        if text.count('"') % 2:
            raise UserError(
                f"a quotation mark is not closed in '{self.text}'", "add the closing quotation mark"
            )
        self.tokens = list(TOKEN.finditer(text.strip()))
        self.place = 0
        # Refuse what would take very long.
        if len(self.tokens) > MOST_PARTS:
            raise UserError(
                f"the query has {len(self.tokens)} parts, more than {MOST_PARTS}",
                "a few words are enough; `--exact` finds literal text",
            )
        words = [token["word"] or "" for token in self.tokens]
        if sum("*" in word or "~" in word for word in words) > MOST_OPEN:
            raise UserError(
                f"the query has more than {MOST_OPEN} words with `*` or `~`",
                "use fewer of them",
            )

    def _peek(self) -> re.Match[str] | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _is_next(self, word: str) -> bool:
        token = self._peek()
        return bool(token and token["word"] == word and not token["field"] and not token["minus"])

    def parse_or(self, depth: int) -> QueryNode:
        """Parse parts with OR between them."""
        if depth > DEEPEST:
            raise UserError("the query is nested too deeply", "use fewer parentheses")
        found = [self.parse_and(depth)]
        while self._is_next("OR"):
            self.place += 1
            found.append(self.parse_and(depth))
        return found[0] if len(found) == 1 else Or(tuple(found))

    def parse_and(self, depth: int) -> QueryNode:
        """Parse parts that must all match."""
        found: list[QueryNode] = []
        while (token := self._peek()) and not token["close"] and not self._is_next("OR"):
            if self._is_next("AND"):
                self.place += 1
                continue
            found.append(self.parse_not(depth))
        if not found:
            raise UserError(
                f"a word is missing next to an operator or in parentheses in '{self.text}'",
                'to search for the word itself, put it in quotation marks: `"OR"`',
            )
        return found[0] if len(found) == 1 else And(tuple(found))

    def parse_not(self, depth: int) -> QueryNode:
        """Parse one part."""
        negations = 0
        while self._is_next("NOT"):
            self.place += 1
            negations += 1
        token = self._peek()
        if token is None:
            raise UserError(
                f"nothing follows NOT in '{self.text}'",
                'to search for the word itself, put it in quotation marks: `"NOT"`',
            )
        self.place += 1
        negations += bool(token["minus"] or token["open"] == "-(")
        found = self.parse_group(depth) if token["open"] else _parse_term(token)
        return Not(found) if negations % 2 else found

    def parse_group(self, depth: int) -> QueryNode:
        """Parse a group in parentheses."""
        found = self.parse_or(depth + 1)
        token = self._peek()
        if token is None or not token["close"]:
            raise UserError(
                f"a parenthesis is not closed in '{self.text}'",
                "put text with parentheses in quotation marks, or use `--exact`",
            )
        self.place += 1
        return found


def _parse_term(token: re.Match[str]) -> QueryNode:
    value = token["phrase"] if token["phrase"] is not None else token["word"]
    name = token["field"]
    if not name and value.endswith(":") and value[:-1].lower() in FIELDS:
        return _parse_field(value[:-1], value[:-1], "")
    if name:
        known = FIELDS.get(name.lower())
        if known:
            return _parse_field(known, name, value)
        _check_field(name, value)
        value = f"{name}:{value}"
    if token["phrase"] is None:
        fuzzy = FUZZY.fullmatch(value)
        if fuzzy:
            return Word(fuzzy[1], distance=int(fuzzy[2] or 1))
        is_inner = value.startswith("*") and len(value.strip("*")) > 0
        is_prefix = value.endswith("*") and len(value.strip("*")) > 0
        return Word(
            value.strip("*") or value, is_prefix=is_prefix and not is_inner, is_inner=is_inner
        )
    after = token["after"]
    if not value.strip():
        raise UserError("the quotation marks are empty", "put words between them")
    distance = after[1:] if after.startswith("~") else ""
    return Phrase(
        value, int(distance) if re.fullmatch(r"[0-9]{1,2}", distance) else 0, after == "*"
    )


def _parse_field(known: str, name: str, value: str) -> Field:
    if not value:
        raise UserError(f"'{name}:' has no value", f"write `{name}:VALUE` without a space")
    return Field(known, value)


def _check_field(name: str, value: str) -> None:
    if len(name) < 2 or not value or TEXTUAL.match(value):
        return
    near = get_close_matches(name.lower(), FIELDS, n=1, cutoff=0.7)
    meant = f"did you mean '{near[0]}:{shorten(value)}'? " if near else ""
    raise UserError(
        f"no field named '{shorten(name)}'",
        f"{meant}fields are {', '.join(NAMES)}",
        f'to search for the text itself, put it in quotation marks: `"{shorten(f"{name}:{value}")}"`',
    )
