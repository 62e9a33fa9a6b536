"""Packs to fewer and larger ones, and a journal to fewer lines, as a store grows.

    small small small small small      each of one run
    └──────────── one ──────────┘      their files' blocks side by side

What nobody needs any more stays behind. A new pack is on the disk before an old one goes: whenever
that is cut off, a block lies in two packs, and the next time one of them goes.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from plait.keep.journal import States
from plait.keep.model import KeptFile
from plait.keep.pack_writer import FULL, PackWriter
from plait.keep.packs import INDEX, PACK, LostBlock, Packs
from plait.line.atomic import settle

if TYPE_CHECKING:
    from plait.keep.store import Store

TIERS = (256 << 10, 2 << 20, 16 << 20, FULL)
"""Sizes below which packs are put together with their like."""
MANY = 5
MOST_DEAD = 0.25
"""The part of a large pack that may be dead."""


def tidy(store: "Store", states: States) -> None:
    """Puts small packs together where there are many, and shortens a journal that repeats itself.

    Where there is no room for that, everything stays as it is.
    """
    with suppress(OSError):
        merging = _alike(store.packs)
        if merging:
            rewrite(store.packs, states, {*merging, *with_dead(store.packs, states, MOST_DEAD)})
        if states.is_wordy and not states.lost:
            store.journal.rewrite(states)


def _alike(packs: Packs) -> set[int]:
    """Returns packs of about the same size, where there are many of them."""
    tiers: dict[int, set[int]] = {}
    for number in packs.numbers():
        size = packs.path(number).stat().st_size
        tier = next((one for one in TIERS if size < one), None)
        if tier:
            tiers.setdefault(tier, set()).add(number)
    many = (alike for alike in tiers.values() if len(alike) >= MANY)
    return set().union(*many)


def with_dead(packs: Packs, states: States, more_than: float = 0.0) -> set[int]:
    """Returns the packs of which so much is dead: nobody needs it, or it lies elsewhere too."""
    live = states.live()
    found: set[int] = set()
    for number in packs.numbers():
        dead = whole = 0
        for name, place in packs.index(number):
            whole += place.size
            if name not in live or packs.places[name] != place:
                dead += place.size
        if dead > more_than * whole or not whole:
            found.add(number)
    return found


def rewrite(packs: Packs, states: States, numbers: Iterable[int]) -> None:
    """Writes the blocks of some packs that are needed into new ones, and deletes the old."""
    old = set(numbers)
    if not old:
        return
    moving: dict[str, KeptFile] = {}
    for state in sorted(states.all(), key=_owner):
        for name in state.blocks:
            if name in packs.places and packs.places[name].pack in old:
                moving.setdefault(name, state)
    writer = PackWriter(packs)
    damaged: set[int] = set()
    try:
        for name, state in moving.items():
            pack = packs.places[name].pack
            writer.turn_to(*_owner(state))
            try:
                writer.add(name, packs.read(name))
            except LostBlock:
                damaged.add(pack)
            if writer.is_full:
                writer.commit()
        writer.commit()
    except BaseException:
        writer.give_up()
        raise
    for number in sorted(old - damaged):  # what is damaged may still be read one day
        packs.path(number, PACK).unlink(missing_ok=True)
        packs.path(number, INDEX).unlink(missing_ok=True)
    settle(packs.folder)
    packs.forget()


def _owner(state: KeptFile) -> tuple[str, str, str]:
    return state.root, state.project, state.session
