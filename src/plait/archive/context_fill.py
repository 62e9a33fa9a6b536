"""A session to what fills its context, and what each preset of a trim would leave of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

from msgspec import Struct
from msgspec.structs import replace

from plait.archive.edit_report import size_of
from plait.archive.model import Named
from plait.conversation.prices import Prices
from plait.edit.trim.model import Preset
from plait.view.amounts import tokens_in_words
from plait.view.context_window import Weighed, context_window, next_sent
from plait.view.edits import Size, saved_share

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.open_session import OpenSession
    from plait.archive.resume import Resumption


class PresetEffect(Struct, frozen=True):
    """What a preset would leave of a session."""

    preset: str
    before: Size
    after: Size
    break_even_turns: float | None
    words: str
    """The same in a few words."""


def weighed(
    opened: "OpenSession", name: str, prices: Prices, resumed: "Resumption | None" = None
) -> Weighed:
    """Returns what Claude will see of a session, weighed, with the place of everything."""
    found = resumed or opened.context()
    turns = {
        uuid: turn.number
        for turn in (opened.turns if opened.graph.sessions else ())
        for uuid in (item.uuid for item in turn.items)
        if uuid
    }
    told = context_window(name, found.context, found.tokens, found.written, turns)
    return replace(told, next_prompt=next_sent(found.next_prompt, prices))


def preset_effects(archive: "Archive", session: Named) -> Iterator[PresetEffect]:
    """Yields what each preset would leave, the gentlest first; none of what is only kept."""
    if archive.session(session).is_kept:
        return
    for preset in get_args(Preset):
        plan = archive.plan.trim(session, preset, in_place=True)
        before, after = size_of(plan.before), size_of(plan.after)
        words = _words(before, after) if plan.steps else "nothing to trim"
        yield PresetEffect(preset, before, after, plan.break_even_turns, words)


def _words(before: Size, after: Size) -> str:
    if before.tokens is None or after.tokens is None:
        return "how much is not known"
    saved = before.tokens - after.tokens
    share = saved_share(before, after)
    return f"{tokens_in_words(saved)} tokens less, {share}" if saved else "no token less"
