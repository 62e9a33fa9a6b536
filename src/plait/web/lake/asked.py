"""A request to whose it is, what it asks, and what may be asked for it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request

from plait.errors import UserError
from plait.lake.asking import Answer, Asking
from plait.lake.questions import Question
from plait.lake.serving import OWNER, ServedLake
from plait.record.time import moment
from plait.web.answers import number_in
from plait.web.guard import PERSON

LONGEST = 300
MOST_WORDS = 12
FARTHEST = 1_000_000
NAMES = ("q", "person", "project", "kind", "by", "state", "start")


class LakeState(NamedTuple):
    """What the pages of a lake are served from."""

    served: ServedLake
    questions: Callable[[], dict[str, Question]]


class Looking:
    """Somebody who looks, and what they ask for."""

    def __init__(self, request: Request) -> None:
        self.state: LakeState = request.app.state.lake
        self.person: str = request.scope.get(PERSON) or OWNER
        self.query = request.query_params
        self.start = min(number_in(request, "start") or 0, FARTHEST)
        self.turn = number_in(request, "turn")

    @property
    def sight(self) -> Asking:
        """What answers to them."""
        return self.state.served.sight(self.person)

    @property
    def has_text(self) -> bool:
        """Tells whether the lake keeps words at all."""
        return "text" in self.sight.names

    @property
    def asked(self) -> dict[str, Any]:
        """What the address says, cut where it is long."""
        return {name: self.query[name][:LONGEST] for name in NAMES if self.query.get(name)}

    @property
    def whose(self) -> dict[str, str | None]:
        """The person and the project that are asked for."""
        return {name: self.asked.get(name) for name in ("person", "project")}

    @property
    def words(self) -> list[str]:
        """The words that are looked for."""
        return str(self.asked.get("q", "")).split()[:MOST_WORDS]

    def answer(self, question: Question, given: Mapping[str, str]) -> Answer:
        """Asks a saved question; what is wrong with what it was told is said."""
        try:
            values = question.values(given, moment_said)
        except UserError as error:
            raise HTTPException(400, error.message) from error
        return self.sight.ask(question.sql, values)


def moment_said(text: str) -> datetime | None:
    """Returns the moment that an address names: a day or a time."""
    found = moment(text) or moment(f"{text}T00:00:00Z")
    if found is None:
        raise UserError("that is not a time", "say a day, as 2026-11-15")
    return found.astimezone(UTC)
