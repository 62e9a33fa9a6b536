"""What a user asks to a tree of what is wanted.

parser error              both words, anywhere in one passage
"parse error"             these words in this order
"parse error"~3           with up to so many words between them
"parse err"*              the last of them only begun
pars*  *arse*             words that begin so, that hold this
parcer~  parcer~2         words that differ by a letter or two
lexer OR parser           either; AND binds stronger; ( ) group
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
"""Names that a query may use, and what they mean."""
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
"""Words with a star or a tilde: each goes through all words of the index."""
NAMES = (
    *("tool", "in", "outcome", "project", "branch", "before", "after", "file", "model"),
    "session",
)
TEXTUAL = re.compile(r"[\d/\\:=]")
"""What follows the colon of a text that is no field: `localhost:8080`, `http://`, `std::map`."""


class Word(Struct, frozen=True):
    """A word, the beginning of one, a part of one, or one much like it."""

    text: str
    is_prefix: bool = False
    is_inner: bool = False
    distance: int = 0


class Phrase(Struct, frozen=True):
    """Words in their order."""

    text: str
    slop: int = 0
    """How many other words may stand between them."""
    is_prefix: bool = False
    """True where the last word is only begun."""


class Field(Struct, frozen=True):
    """What a passage is, rather than what it says."""

    name: str
    value: str


class Not(Struct, frozen=True):
    """What is not wanted."""

    wanted: "Wanted"


class All(Struct, frozen=True):
    """Everything of this."""

    wanted: "tuple[Wanted, ...]"


class Either(Struct, frozen=True):
    """Any of this."""

    wanted: "tuple[Wanted, ...]"


Wanted: TypeAlias = Word | Phrase | Field | Not | All | Either


def of_sessions(ids: Iterable[str]) -> Either:
    """Returns what is asked for, so that a search looks in these sessions alone."""
    return Either(tuple(Field("session", one) for one in sorted(ids)))


def parse(text: str) -> Wanted:
    """Returns what a query wants, or says what is wrong with it."""
    reader = QueryParser(text)
    if not reader.tokens:
        raise UserError("the query is empty", 'say what to look for: `plait search "parse error"`')
    found = reader.either(0)
    if reader.place < len(reader.tokens):
        raise UserError(
            f"a parenthesis closes that never opened in '{short(text)}'",
            "put text with parentheses in quotes, or use `--exact`",
        )
    return found


def looks_of(wanted: Wanted | None) -> tuple[str, ...]:
    """Returns the words and phrases that are wanted as a query writes them, each once."""
    found, waiting = dict[str, None](), [wanted]
    while waiting:
        one = waiting.pop()
        match one:
            case Word():
                found[_written_word(one)] = None
            case Phrase():
                slop = f"~{one.slop}" if one.slop else ""
                found[f'"{one.text}"{"*" if one.is_prefix else slop}'] = None
            case All(parts) | Either(parts):
                waiting.extend(reversed(parts))
    return tuple(found)


def _written_word(word: Word) -> str:
    if word.distance:
        return f"{word.text}~{word.distance}"
    return f"*{word.text}*" if word.is_inner else f"{word.text}{'*' * word.is_prefix}"


def short(text: str) -> str:
    """Returns a text as a message can show it."""
    return text if len(text) <= 80 else f"{text[:79]}…"


class QueryParser:
    """Reads the parts of a query from left to right."""

    def __init__(self, text: str) -> None:
        self.text = short(text)
        if text.count('"') % 2:
            raise UserError(f"a quote is not closed in '{self.text}'", "add the closing quote")
        self.tokens = list(TOKEN.finditer(text.strip()))
        self.place = 0
        self._check_size()

    def _check_size(self) -> None:
        """Refuses what would take very long."""
        if len(self.tokens) > MOST_PARTS:
            raise UserError(
                f"the query has {len(self.tokens)} parts, more than {MOST_PARTS}",
                "a few of its words find it too; `--exact` finds a text as it stands",
            )
        words = [token["word"] or "" for token in self.tokens]
        if sum("*" in word or "~" in word for word in words) > MOST_OPEN:
            raise UserError(
                f"the query has more than {MOST_OPEN} words with `*` or `~`",
                "write some of them out",
            )

    def _peek(self) -> re.Match[str] | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _is_next(self, word: str) -> bool:
        token = self._peek()
        return bool(token and token["word"] == word and not token["field"] and not token["minus"])

    def either(self, depth: int) -> Wanted:
        """Reads parts with OR between them."""
        if depth > DEEPEST:
            raise UserError("the query is nested too deep", "use fewer parentheses")
        found = [self.both(depth)]
        while self._is_next("OR"):
            self.place += 1
            found.append(self.both(depth))
        return found[0] if len(found) == 1 else Either(tuple(found))

    def both(self, depth: int) -> Wanted:
        """Reads parts that are wanted together."""
        found: list[Wanted] = []
        while (token := self._peek()) and not token["close"] and not self._is_next("OR"):
            if self._is_next("AND"):
                self.place += 1
                continue
            found.append(self.one(depth))
        if not found:
            raise UserError(
                f"something is missing beside an operator or in parentheses in '{self.text}'",
                'to look for the word itself, put it in quotes: `"OR"`',
            )
        return found[0] if len(found) == 1 else All(tuple(found))

    def one(self, depth: int) -> Wanted:
        """Reads one part."""
        negations = 0
        while self._is_next("NOT"):
            self.place += 1
            negations += 1
        token = self._peek()
        if token is None:
            raise UserError(
                f"nothing follows NOT in '{self.text}'",
                'to look for the word itself, put it in quotes: `"NOT"`',
            )
        self.place += 1
        negations += bool(token["minus"] or token["open"] == "-(")
        found = self.group(depth) if token["open"] else _part_of(token)
        return Not(found) if negations % 2 else found

    def group(self, depth: int) -> Wanted:
        """Reads what stands in parentheses."""
        found = self.either(depth + 1)
        token = self._peek()
        if token is None or not token["close"]:
            raise UserError(
                f"a parenthesis is not closed in '{self.text}'",
                "put text with parentheses in quotes, or use `--exact`",
            )
        self.place += 1
        return found


def _part_of(token: re.Match[str]) -> Wanted:
    value = token["phrase"] if token["phrase"] is not None else token["word"]
    name = token["field"]
    if not name and value.endswith(":") and value[:-1].lower() in FIELDS:
        return _field_of(value[:-1], value[:-1], "")
    if name:
        known = FIELDS.get(name.lower())
        if known:
            return _field_of(known, name, value)
        _check_field(name, value)
        value = f"{name}:{value}"
    return _word_of(value) if token["phrase"] is None else _phrase_of(value, token["after"])


def _phrase_of(text: str, after: str) -> Phrase:
    if not text.strip():
        raise UserError("there is nothing between the quotes", "put some words there")
    distance = after[1:] if after.startswith("~") else ""
    return Phrase(text, int(distance) if re.fullmatch(r"[0-9]{1,2}", distance) else 0, after == "*")


def _field_of(known: str, name: str, value: str) -> Field:
    if not value:
        raise UserError(f"'{name}:' has no value", f"say `{name}:SOMETHING` without a space")
    return Field(known, value)


def _check_field(name: str, value: str) -> None:
    if len(name) < 2 or not value or TEXTUAL.match(value):
        return
    near = get_close_matches(name.lower(), FIELDS, n=1, cutoff=0.7)
    meant = f"did you mean '{near[0]}:{short(value)}'? " if near else ""
    raise UserError(
        f"no field is called '{short(name)}'",
        f"{meant}there are {', '.join(NAMES)}",
        f'to look for the text itself, put it in quotes: `"{short(f"{name}:{value}")}"`',
    )


def _word_of(text: str) -> Word:
    fuzzy = FUZZY.fullmatch(text)
    if fuzzy:
        return Word(fuzzy[1], distance=int(fuzzy[2] or 1))
    is_inner = text.startswith("*") and len(text.strip("*")) > 0
    is_prefix = text.endswith("*") and len(text.strip("*")) > 0
    return Word(text.strip("*") or text, is_prefix=is_prefix and not is_inner, is_inner=is_inner)
