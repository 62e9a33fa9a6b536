"""Lines of a session, as they are added, to the messages that are sent now.

The log is what the model is told: a request holds what reading the log afresh would give, were
nothing made up at its end. Where a line only goes on from the last one, it is added to what is
known; after any other the file is read again, which is always right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.agent.streaming import Message
from plait.conversation.usage import Tokens, tokens_of
from plait.graph.client.context import chain_at, messages
from plait.graph.client.load import (
    RECORDS,
    call_ids,
    is_boundary,
    is_result,
    load,
    preserved_by,
)
from plait.graph.client.model import Loaded
from plait.graph.client.prune import answered_calls, prune
from plait.graph.client.speech import since_boundary, speech, spoken_to
from plait.graph.client.turns import repaired, turns
from plait.graph.client.weigh import tokens_sent
from plait.graph.entries import CHAIN_TYPES, Entries
from plait.line import lines, stamp_of
from plait.record import Record, client_records, record_of
from plait.write import SessionWriter


class LiveContext:
    """What a session that is being written has said, for its next request."""

    def __init__(self, session: SessionWriter) -> None:
        self._session = session
        self._chain: list[Record] | None = None
        self._tip: str | None = None
        """The message that the next one is written behind."""
        self._read = 0
        """How many of the chain were read from the file."""
        self._past = _Past()
        """Turns that are over, as they are sent."""
        session.on_line = self._add

    @property
    def records(self) -> list[Record]:
        """The messages that are sent, in their order, with those that say nothing."""
        if self._chain is None or self._tip != self._session.tip:
            self._tip = self._session.tip
            self._chain = chain_to(self._session.path, self._tip)
            self._read = len(self._chain)
            self._past = _Past()
        return self._chain

    def _add(self, line: bytes) -> None:
        if self._chain is None:
            return
        record = record_of(line)
        if record.type not in CHAIN_TYPES:
            return
        if record.parent_uuid is not None and self._goes_on(self._chain, record):
            self._chain.append(record)
            self._tip = record.uuid
        else:
            self._chain = None

    def _goes_on(self, chain: list[Record], record: Record) -> bool:
        """Tells whether a message follows all others: it hangs on the last, or on its call."""
        if record.parent_uuid == self._tip:
            return True
        if not is_result(record):
            return False
        for one in reversed(chain[self._read :]):
            if one.uuid == record.parent_uuid:
                return True
            if one.type != "assistant" and not is_result(one):
                return False
        return False

    def messages(self) -> list[Message]:
        """Returns the messages of a request that is sent now.

        Only those of the last turns are made anew: what is over stays as it was.
        """
        chain = self.records
        model = spoken_to(_kept(chain[self._past.end :])) or self._past.model
        if model != self._past.model:
            self._past = _Past(model=model)
        past = self._past.grown(chain)
        if past.calls & {*_calls_in(chain[past.end :])}:
            past = _Past(model=model)  # a call that is made again is not sent again
        self._past = past
        return [*past.messages, *messages_of(chain[past.end :], model)]

    def tokens(self) -> int:
        """Returns about how many tokens the next request takes.

        The last answer says how many there were up to it; what came behind it is weighed.
        """
        used, rest = _last_usage(self.records)
        return used + weight_of(rest)


@dataclass(frozen=True, slots=True)
class _Past:
    """The messages of turns that are over: nothing that comes later changes them."""

    model: str | None = None
    end: int = 0
    """How many entries of the chain they are made of."""
    messages: tuple[Message, ...] = ()
    calls: frozenset[str] = frozenset()

    def grown(self, chain: Sequence[Record]) -> "_Past":
        """Returns it with the turns that are over by now."""
        end = _end_of_turns(chain, self.end)
        added = chain[self.end : end]
        calls = _calls_in(added)
        is_once = len({*calls}) == len(calls) and not self.calls & {*calls}
        if not is_once or not {*calls} <= answered_calls([*added], [*range(len(added))]):
            return self  # it is sent in a way that depends on what follows
        told = messages_of(added, self.model)
        if not told or told[-1]["role"] != "assistant":
            return self  # what follows joins it
        return _Past(self.model, end, (*self.messages, *told), self.calls | {*calls})


def _calls_in(chain: Sequence[Record]) -> list[str]:
    return [call for record in chain for call in call_ids(record)]


def _end_of_turns(chain: Sequence[Record], start: int) -> int:
    """Returns where the last turn begins: behind the last answer before the last prompt."""
    place = len(chain) - 1
    while place > start and not _is_prompt(chain[place]):
        place -= 1
    while place > start and chain[place - 1].type != "assistant":
        place -= 1
    is_said = place > start and not chain[place - 1].is_api_error_message
    return place if is_said else start


def _is_prompt(record: Record) -> bool:
    return record.type == "user" and not is_result(record)


def messages_of(chain: Sequence[Record], model: str | None = None) -> list[Message]:
    """Returns what messages of a session say to a model, as the API takes it."""
    return [{"role": role, "content": blocks} for role, blocks in _sent(chain, model)]


def weight_of(chain: Sequence[Record]) -> int:
    """Returns about how many tokens messages of a session take."""
    return tokens_sent(_sent(chain))


def chain_to(path: Path, tip: str | None) -> list[Record]:
    """Returns the messages that lead to one, as the client takes them from the file."""
    stamp = stamp_of(path)
    if tip is None or stamp is None:
        return []
    loaded, _ = load(client_records(lines(path)), stamp.size)
    number = loaded.readable(_last_preserved(loaded, tip) or tip)
    chain = [] if number is None else chain_at(loaded, number)
    kept = prune(loaded, chain).kept
    return [loaded.records[one] for one in since_boundary(loaded.records, kept)]


def _last_preserved(loaded: Loaded, tip: str) -> str | None:
    """Returns the last message that a compaction preserved, where its summary is the tip."""
    boundaries = [record for record in loaded.records if is_boundary(record)]
    preserved = preserved_by(boundaries[-1]) if boundaries else None
    if preserved is None or not loaded.is_relinked or preserved.anchor != tip:
        return None
    return preserved.listed[-1] if preserved.listed else preserved.tail


def _sent(
    chain: Sequence[Record], model: str | None = None
) -> list[tuple[str, list[dict[str, Any]]]]:
    kept = Entries(RECORDS, _kept(chain))
    return messages(repaired(turns(speech(kept, [*range(len(kept.records))], model))))


def _kept(chain: Sequence[Record]) -> list[Record]:
    """Returns the messages of a chain that are not dropped from it."""
    loaded = Entries(RECORDS, list(chain))
    return [loaded.records[one] for one in prune(loaded, [*range(len(chain))]).kept]


def _last_usage(chain: Sequence[Record]) -> tuple[int, Sequence[Record]]:
    """Returns the tokens of the last answer that says them, and what came behind it.

    One that a compaction preserved read what is no longer sent.
    """
    preserved = _preserved_in(chain)
    for place in range(len(chain) - 1, -1, -1):
        record = chain[place]
        if record.type != "assistant" or record.uuid in preserved:
            continue
        usage = record.message.usage if record.message else None
        used = tokens_of(usage) if usage else Tokens()
        if used.total:
            return used.total, chain[place + 1 :]
    return 0, chain


def _preserved_in(chain: Iterable[Record]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for record in chain:
        if is_boundary(record):
            found = frozenset(preserved_by(record).listed or ())
    return found
