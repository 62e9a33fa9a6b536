"""A store to what is damaged in it: every block is read, every state checked."""

from typing import TYPE_CHECKING

from plait.keep.damage import mark_damaged
from plait.keep.journal import States
from plait.keep.model import Damage, KeptFile, Progress, Report
from plait.keep.packs import LostBlock

if TYPE_CHECKING:
    from plait.keep.store import Store


def verify(store: "Store", report: Report | None = None) -> tuple[Damage, ...]:
    """Returns the blocks that cannot be read, in the order of packs, and broken journal lines."""
    states = store.states()
    store.packs.forget()
    needed = _needed(states)
    places = store.packs.places
    order = sorted(needed, key=lambda name: places[name][:5] if name in places else ())
    damaged = [
        Damage("", store.journal.path.name, f"line {number} is damaged, {_copied(number, states)}")
        for number in states.damaged
    ]
    done, whole = 0, sum(places[name].size for name in needed if name in places)
    for number, name in enumerate(order):
        if report and number % 64 == 0:
            report(Progress(number, len(order), done, whole, name[:16]))
        try:
            done += len(store.packs.read(name))
        except LostBlock as error:
            where = store.packs.where(name)
            damaged.append(Damage(name, where, str(error), tuple(needed[name])))
    if report:
        report(Progress(len(order), len(order), done, whole, ""))
    mark_damaged(store.folder, (one.block for one in damaged if one.block))
    return tuple(damaged)


def _copied(number: int, states: States) -> str:
    return "and its copy too" if number in states.lost else "but not its copy"


def _needed(states: States) -> dict[str, list[KeptFile]]:
    """Returns the states that need each block."""
    found: dict[str, list[KeptFile]] = {}
    for state in states.all():
        for name in dict.fromkeys(state.blocks):
            found.setdefault(name, []).append(state)
    return found
