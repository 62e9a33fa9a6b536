"""A draft to a mended one: rungs tried in order, each of them for one kind of damage.

A rung looks at what the ones before it have left. It changes what it must and says why; it never
drops what a person typed, and does nothing where nothing is wrong: mending twice is mending once.
"""

from collections.abc import Callable
from typing import NamedTuple

from plait.edit.draft import Draft
from plait.edit.repair.compactions import double_compactions, factless_boundaries, gone_preserved
from plait.edit.repair.lines import broken_lines, byte_order_mark
from plait.edit.repair.pairs import passed_over_calls, results_without_calls
from plait.edit.repair.parents import circles, missing_parents
from plait.edit.repair.refused import blank_prompts, many_pictures, pictures, thoughts
from plait.edit.repair.repeats import copied_records, repeated_records
from plait.edit.repair.resume import pointer_to_sidechain, timeless_leaf
from plait.graph.client import context
from plait.graph.client.model import NO_CONTENT, Block
from plait.graph.client.speech import INTERRUPTED
from plait.graph.client.turns import INTERRUPTED_CALL, MISSING_RESULT, REMOVED_RESULT
from plait.record.codec import encode
from plait.record.message import NO_RESPONSE


class Rung(NamedTuple):
    """One kind of damage and how it is mended."""

    name: str
    says: str
    mend: Callable[[Draft], None]
    is_lossless: bool = True
    """What the client sent before it sends afterwards too, or the rung is not taken."""


RUNGS: tuple[Rung, ...] = (
    Rung(
        "broken lines",
        "glued records get a line each, padded and torn ones are records again, NUL bytes go",
        broken_lines,
    ),
    Rung("byte order mark", "it goes, since the SDK does not read that line", byte_order_mark),
    Rung(
        "repeated records",
        "a line that says once more what one of the same uuid says goes",
        repeated_records,
    ),
    Rung(
        "double compaction",
        "a second compaction of the same history goes where the first was continued",
        double_compactions,
        is_lossless=False,
    ),
    Rung(
        "compaction without facts",
        "it gets the fields without which the client can make no other",
        factless_boundaries,
    ),
    Rung(
        "gone from compaction",
        "records that are gone are taken off the list of what is kept, so that the rest is",
        gone_preserved,
    ),
    Rung(
        "missing parents",
        "a record whose parent is nowhere hangs on its call, or on the record before it",
        missing_parents,
    ),
    Rung("circles", "parents that lead in a circle are cut where the client cuts them", circles),
    Rung(
        "copied history",
        "a copy of the conversation under new ids goes, what follows hangs on the original",
        copied_records,
    ),
    Rung(
        "passed-over calls",
        "a call behind which the conversation went on gets a result that says it was interrupted",
        passed_over_calls,
    ),
    Rung(
        "results without calls",
        "what such a result holds is told in words, since the client leaves it out",
        results_without_calls,
    ),
    Rung(
        "refused thoughts",
        "a thought of Claude that is unsigned, or stands twice in an answer, goes",
        thoughts,
        is_lossless=False,
    ),
    Rung(
        "refused pictures",
        "a picture is called what it is; one that the API cannot take becomes a note",
        pictures,
        is_lossless=False,
    ),
    Rung(
        "many pictures",
        "among more than 20 pictures those larger than 2000 pixels become notes",
        many_pictures,
        is_lossless=False,
    ),
    Rung(
        "blank prompts",
        "a prompt of white space alone says that it is empty",
        blank_prompts,
        is_lossless=False,
    ),
    Rung("timeless leaf", "the last message gets a time, else there is no resume", timeless_leaf),
    Rung(
        "pointer to a sidechain",
        "a pointer back to the conversation is added, else there is no resume",
        pointer_to_sidechain,
    ),
)


MOST_ROUNDS = 8


def mend(draft: Draft) -> None:
    """Mends all that can be mended: what one rung did may be what another waited for."""
    ladder = Ladder(draft)
    for _ in range(MOST_ROUNDS):
        count = len(draft.undoings)
        for rung in RUNGS:
            ladder.take(rung)
        if len(draft.undoings) == count:
            break


class Ladder:
    """Takes one rung after the other, and none after which the client would send less."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.sent: frozenset[bytes] | None = None
        """What the client would send of the draft as it is, where that was asked."""

    def take(self, rung: Rung) -> None:
        """Takes a rung, or leaves the draft as it was."""
        draft, count = self.draft, len(self.draft.undoings)
        rung.mend(draft)
        if len(draft.undoings) == count:
            return
        if not rung.is_lossless:
            self.sent = None
            return
        after = sent_by(draft)
        if self.sent is None:
            draft.take_back(count)
            self.sent = sent_by(draft)
            rung.mend(draft)
        if self.sent <= after:
            self.sent = after
        else:
            draft.take_back(count)


MADE_UP = frozenset(
    {NO_CONTENT, NO_RESPONSE, MISSING_RESULT, REMOVED_RESULT, INTERRUPTED_CALL, INTERRUPTED}
)
"""What the client says in the place of what it does not have."""


def sent_by(draft: Draft) -> frozenset[bytes]:
    """Returns what the client would send, block by block, without what it makes up."""
    found = context(draft.records, size=draft.size).messages
    blocks = (block for _, blocks in found for block in blocks)
    return frozenset(encode(_bare(block)) for block in blocks if not _is_made_up(block))


def _bare(block: Block) -> Block:
    words = block.get("text")
    return {**block, "text": words.strip()} if isinstance(words, str) else block


def _is_made_up(block: Block) -> bool:
    words = block.get("text", block.get("content"))
    return isinstance(words, str) and words.strip() in MADE_UP
