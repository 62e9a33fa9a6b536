"""Items to calls that know their results, and to the order that tells the story.

A result stands with its call unless the model went on to say or think something before it
arrived: then it keeps its place. What a reader does not see parts nothing, and neither do
other calls, agents, or words that are blank.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from plait.conversation.model import Answered, Called, Item, Said, Standing, Thought

SourceOf: TypeAlias = Callable[[str], str | None]
"""The record whose call a result says that it answers."""
IsKnown: TypeAlias = Callable[[str], bool]
"""Whether a call stands in another conversation."""

WORDS = (Said, Thought)


class Placed(NamedTuple):
    """An item at its place in the story."""

    item: Item
    has_result: bool = False
    """True for a call whose result is read together with it."""


def paired(items: Sequence[Item], source_of: SourceOf, is_known: IsKnown) -> list[Item]:
    """Returns the items, calls with their results, results with the names of their tools."""
    marked = _superseded(items)
    answers: dict[int, Answered] = {}
    calls: dict[str, list[int]] = {}
    found: list[Item] = []
    for place, item in enumerate(marked):
        if isinstance(item, Called) and not item.is_intermediate:
            calls.setdefault(item.call, []).append(place)
        elif isinstance(item, Answered):
            asked = _call_of(item, calls.get(item.call, ()), marked, answers, source_of)
            item = _answered(item, asked, marked, answers, is_known)
        found.append(item)
    for place, answer in answers.items():
        found[place] = _with_result(found[place], answer)
    return found


def _call_of(
    answer: Answered,
    places: Sequence[int],
    items: Sequence[Item],
    answers: dict[int, Answered],
    source_of: SourceOf,
) -> int | None:
    """Returns the place of the call that a result answers.

    Where an id was used twice, the record that the result names is meant, else the newest
    call that waits for an answer.
    """
    if len(places) < 2:
        return places[0] if places else None
    source = source_of(answer.uuid) if answer.uuid else None
    named = [place for place in places if source and items[place].uuid == source]
    waiting = [place for place in places if place not in answers]
    return (named or waiting or list(places))[-1]


def _answered(
    answer: Answered,
    asked: int | None,
    items: Sequence[Item],
    answers: dict[int, Answered],
    is_known: IsKnown,
) -> Answered:
    if asked is None:
        standing: Standing = "foreign" if is_known(answer.call) else "orphan"
        return replace(answer, standing=standing)
    call = items[asked]
    name = call.name if isinstance(call, Called) else None
    if asked in answers:
        return replace(answer, name=name, standing="repeat")
    answers[asked] = replace(answer, name=name)
    return answers[asked]


def _with_result(item: Item, answer: Answered) -> Item:
    if not isinstance(item, Called):
        return item
    return replace(
        item,
        outcome=answer.result.outcome,
        result=answer.result,
        answered_by=answer.uuid,
        answered_at=answer.time,
        answered_in=(answer.file, answer.line),
    )


def _superseded(items: Iterable[Item]) -> list[Item]:
    found = list(items)
    last: dict[tuple[int, str], int] = {}
    for place, item in enumerate(found):
        if isinstance(item, Called):
            key = (item.response, item.call)
        elif isinstance(item, WORDS) and item.text:
            key = (item.response, type(item).__name__)
        else:
            continue
        before = last.get(key)
        if before is not None and _is_in_full(found[before], item):
            found[before] = replace(found[before], is_intermediate=True)
        last[key] = place
    return found


def _is_in_full(earlier: Item, later: Item) -> bool:
    match earlier, later:
        case (Said(text=begun), Said(text=text)) | (Thought(text=begun), Thought(text=text)):
            return text.startswith(begun) and earlier.uuid != later.uuid
        case _:
            return isinstance(earlier, Called) and isinstance(later, Called)


def story(items: Iterable[Item]) -> Iterator[Placed]:
    """Yields the items that a reader sees, each result with its call or in its own place."""
    seen = list(items)
    together = _joined(seen)
    for item in seen:
        if isinstance(item, Called):
            yield Placed(item, item.answered_by is not None and key_of(item) in together)
        elif not (isinstance(item, Answered) and key_of(item) in together):
            yield Placed(item)


def _joined(items: Iterable[Item]) -> set[tuple[str, str | None]]:
    spoken = 0
    heard: dict[tuple[str, str | None], int] = {}
    found: set[tuple[str, str | None]] = set()
    for item in items:
        if _is_continuation(item):
            spoken += 1
        elif isinstance(item, Called) and item.answered_by is not None:
            heard[key_of(item)] = spoken
        elif isinstance(item, Answered) and _is_at_hand(item, heard, spoken):
            found.add(key_of(item))
    return found


def _is_at_hand(answer: Answered, heard: dict[tuple[str, str | None], int], spoken: int) -> bool:
    return answer.standing == "own" and heard.get(key_of(answer)) == spoken


def key_of(item: Called | Answered) -> tuple[str, str | None]:
    """Returns what a call and its own result share."""
    if isinstance(item, Called):
        return item.call, item.answered_by
    return item.call, item.uuid


def _is_continuation(item: Item) -> bool:
    return isinstance(item, WORDS) and bool(item.text.strip())
