"""A store to what is damaged in it: every block is read, and all that is there twice compared.

What only repeats something else (an index, the copy of the journal) is made anew at once where the
store can be written to. A block is stored again by the next run, if its source is still there.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from plait.keep.damage import mark_damaged
from plait.keep.journal import States
from plait.keep.model import Damage, KeptFile, Progress, Report
from plait.keep.pack_writer import write_index
from plait.keep.packs import INDEX, IndexLine, LostBlock, Packs, placed
from plait.line.atomic import held

if TYPE_CHECKING:
    from plait.keep.store import Store


def verify(store: "Store", report: Report | None = None) -> tuple[Damage, ...]:
    """Returns what is damaged: journal and indexes, then blocks in the order of packs."""
    states = store.states()
    store.packs.forget()
    found = [*_in_journal(store, states), *_in_indexes(store.packs)]
    blocks = [*_in_blocks(store.packs, states, report)]
    mark_damaged(store.folder, (one.block for one in blocks))
    return (*found, *blocks)


def _in_journal(store: "Store", states: States) -> Iterator[Damage]:
    journal = store.journal
    for number in states.damaged:
        copy = "and its copy too" if number in states.lost else "but not its copy"
        yield Damage("", journal.path.name, f"line {number} is damaged, {copy}")
    if states.damaged or not states.whole:
        return
    with suppress(OSError), held(store.lock) as is_ours:
        whole = journal.path.read_bytes()[: states.whole]
        if is_ours and journal.copy.read() != whole:
            is_behind = journal.copy.end() != len(whole)  # a run was cut off before it was written
            journal.copy.remake(journal.path)
            if not is_behind:
                yield Damage("", journal.copy.path.name, "it was damaged; it has been made anew")


def _in_indexes(packs: Packs) -> Iterator[Damage]:
    """Yields where an index and its pack do not say the same, and makes a wrong index anew."""
    for number in packs.numbers():
        index, listed = packs.indexed(number), packs.listed(number)
        if index == listed:
            continue
        if index is not None and _holds(packs, number, index, listed):
            yield Damage("", packs.path(number).name, "what it says of its blocks is damaged")
            continue
        if _holds(packs, number, listed, index or []):
            with suppress(OSError):
                write_index(packs.path(number, INDEX), listed)
        yield Damage("", packs.path(number, INDEX).name, "it is damaged; the pack has it, too")
    packs.forget()


def _holds(packs: Packs, number: int, lines: list[IndexLine], other: list[IndexLine]) -> bool:
    """Tells whether every block lies where only one of two lists says."""
    alone = {line.sha256 for line in {*lines} - {*other}}
    for name, place in placed(number, lines):
        if name in alone:
            try:
                packs.read_at(name, place)
            except LostBlock:
                return False
    return bool(alone)


def _in_blocks(packs: Packs, states: States, report: Report | None) -> Iterator[Damage]:
    needed = _needed(states)
    places = packs.places
    order = sorted(needed, key=lambda name: places[name][:5] if name in places else ())
    done, whole = 0, sum(places[name].size for name in needed if name in places)
    for number, name in enumerate(order):
        if report and number % 64 == 0:
            report(Progress(number, len(order), done, whole, name[:16]))
        try:
            done += len(packs.read(name))
        except LostBlock as error:
            yield Damage(name, packs.where(name), str(error), tuple(needed[name]))
    if report:
        report(Progress(len(order), len(order), done, whole, ""))


def _needed(states: States) -> dict[str, list[KeptFile]]:
    """Returns the states that need each block."""
    found: dict[str, list[KeptFile]] = {}
    for state in states.all():
        for name in dict.fromkeys(state.blocks):
            found.setdefault(name, []).append(state)
    return found
