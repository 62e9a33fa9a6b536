"""The fields of a line to all its texts at once, to be searched before anything else is done.

Most lines hold nothing that should be hidden, and to find that out their texts may stand in any
order. Only where something is found are the fields walked with care.
"""

from functools import cache, cached_property, lru_cache
from typing import Any

from plait.redact.model import Island, TextSpan
from plait.redact.tree import (
    FIXED,
    FREE,
    PICTURES,
    VALUES,
    is_picture,
    is_telling_key,
    is_usual,
    known_keys,
)


class Texts:
    """The texts of some fields; those of one list are lines of one text."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.lists: dict[int, list[str]] = {}
        """The lines of some of the texts, by their numbers."""
        self.keys = 0
        """How many keys there are."""

    def add_list(self, parts: list[Any]) -> None:
        """Adds the texts right in a list."""
        lines = [part for part in parts if type(part) is str]
        if lines:
            self.lists[len(self.texts)] = lines
            self.texts.append("\n".join(lines))

    def leave_out_copies(self) -> None:
        """Leaves out texts that stand there already: a tool's result stands twice in a line."""
        if len({*self.texts}) == len(self.texts):
            return
        texts: list[str] = []
        lists: dict[int, list[str]] = {}
        known: set[str] = set()
        for number, text in enumerate(self.texts):
            lines = self.lists.get(number)
            if lines is None and text in known:
                continue
            if lines is not None:
                lists[len(texts)] = lines
            known.add(text)
            texts.append(text)
        self.texts, self.lists = texts, lists

    @cached_property
    def data(self) -> bytes:
        """All texts, joined."""
        return "\0".join(self.texts).encode("utf-8", "surrogatepass")

    @cached_property
    def islands(self) -> list[Island]:
        """Where the texts lie in the joined ones."""
        found: list[Island] = []
        place = 0
        for number, text in enumerate(self.texts):
            span = _span_of(text, place)
            found.append(Island(span, self._lines_of(number, place)))
            place = span.end + 1
        return found

    def _lines_of(self, number: int, place: int) -> tuple[TextSpan, ...]:
        lines = []
        for line in self.lists.get(number, ()):
            lines.append(_span_of(line, place))
            place = lines[-1].end + 1
        return tuple(lines)


def _span_of(text: str, place: int) -> TextSpan:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return TextSpan(place, place + size)


def texts_at_once(fields: Any) -> Texts | None:
    """Returns the texts in some fields, each as it is read alone.

    None where a key tells what its text is, or where texts stand beside each other as blocks.
    """
    found = Texts()
    free: list[Any] = []
    for fixed, waiting in ((FIXED, [fields]), (NO_KEYS, free)):
        while waiting:
            one = waiting.pop()
            if type(one) is list:
                if _has_blocks(one):
                    return None
                found.add_list(one)
                waiting += [part for part in one if type(part) is dict or type(part) is list]
            elif not _take(one, fixed, found, waiting, free):
                return None
    found.leave_out_copies()
    return found


NO_KEYS: frozenset[str] = frozenset()


def _has_blocks(parts: list[Any]) -> bool:
    return len(parts) > 1 and sum(type(part) is dict and "text" in part for part in parts) > 1


def _take(
    one: dict[str, Any], fixed: frozenset[str], found: Texts, waiting: list[Any], free: list[Any]
) -> bool:
    """Takes the texts right in a dict, and what it holds to what waits; declines loud keys."""
    texts = found.texts
    quiet, known = _quiet_keys(), known_keys()
    found.keys += len(one)
    for key, part in one.items():
        kind = type(part)
        if key not in quiet:
            if kind is str and _is_loud(key):
                return False
            if key not in known:
                texts.append(key)
        if kind is str:
            is_dull = (key in fixed and is_usual(key, part)) or (
                key in PICTURES and is_picture(one, part)
            )
            if not is_dull:
                texts.append(part)
        elif kind is dict or kind is list:
            (free if key in FREE else waiting).append(part)
    return True


@lru_cache(4096)
def _is_loud(key: str) -> bool:
    return key in VALUES or is_telling_key(key)


@cache
def _quiet_keys() -> frozenset[str]:
    return frozenset(key for key in known_keys() if not _is_loud(key))
