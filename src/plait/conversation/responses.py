"""Records of the model to responses: the blocks of one `message.id`, with its final figures.

Older clients write partial figures and no stop reason on all lines of a response but the last,
newer ones the final ones on each; so the line with the most output tokens is believed, the
last among equals.
"""

from dataclasses import dataclass, field

from plait.conversation.model import Response
from plait.conversation.tokens import supersedes
from plait.record import Assistant, Record, Usage

SYNTHETIC = "<synthetic>"


@dataclass(slots=True)
class ResponseDraft:
    """A response while its blocks come in, other records between them notwithstanding."""

    first: Record
    uuids: list[str] = field(default_factory=list)
    usage: Usage | None = None
    stop_reason: str | None = None
    model: str | None = None
    ended: str | None = None
    cost: float | None = None
    is_error: bool = False

    def add(self, record: Record) -> None:
        """Takes in one more record of the response."""
        message = record.message
        if record.uuid:
            self.uuids.append(record.uuid)
        self.ended = max(filter(None, (self.ended, record.timestamp)), default=None)
        self.is_error = self.is_error or record.is_api_error_message
        said = record.spoken or (record if isinstance(record, Assistant) else None)
        if said and said.cost_usd is not None:
            self.cost = said.cost_usd
        if message is None:
            return
        self.model = self.model or message.model
        self.stop_reason = message.stop_reason or self.stop_reason
        self.usage = _fuller(self.usage, message.usage)

    def response(self) -> Response:
        """Returns the response as it stands."""
        first = self.first
        said = first.spoken or (first if isinstance(first, Assistant) else None)
        return Response(
            first.message_id,
            first.request_id,
            self.model,
            tuple(self.uuids),
            first.timestamp,
            self.ended,
            self.stop_reason,
            self.usage,
            is_synthetic=self.model == SYNTHETIC,
            is_error=self.is_error,
            is_meta=first.is_meta,
            logged_cost=self.cost,
            effort=said.effort if said else None,
        )


class Responses:
    """The responses of one conversation, in the order in which they begin."""

    def __init__(self) -> None:
        self._drafts: list[ResponseDraft] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._drafts)

    def number_of(self, record: Record) -> int:
        """Returns the number of the response that a record belongs to, and takes it in."""
        name = record.message_id or record.request_id
        number = self._numbers.get(name) if name else None
        if number is None:
            number = len(self._drafts)
            self._drafts.append(ResponseDraft(record))
            if name:
                self._numbers[name] = number
        self._drafts[number].add(record)
        return number

    def finished(self) -> tuple[Response, ...]:
        """Returns all of them."""
        return tuple(draft.response() for draft in self._drafts)


def _fuller(known: Usage | None, other: Usage | None) -> Usage | None:
    if known is None or other is None:
        return other or known
    return other if supersedes(other, known) else known
