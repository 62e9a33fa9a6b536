"""Families of sessions to their files: here, or by several processes, the same bytes either way.

A family is told by itself: by names that are its own, and through a twin of the redactor. What
two families may not both do is seen when their turn comes: the second is then drawn again, behind
the first.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plait.archive.export.formats import EXPORTERS, File, Form, Told
from plait.archive.export.transcripts import Family, Names
from plait.archive.model import Members
from plait.archive.open_session import OpenSession, opened_together
from plait.archive.redaction import Redaction
from plait.archive.shares import bare, can_be_sent, size_of
from plait.conversation.totals import Pricing
from plait.conversation.usage import Tokens

if TYPE_CHECKING:
    from plait.archive.shared_redactor import SharedRedactor
    from plait.line.workers import Workers
    from plait.redact import Redactor
    from plait.redact.lessons import Lesson, Outcome

WORTH = 4_000_000
"""Bytes of logs from which on several processes are sooner done with them."""


@dataclass
class Drawing:
    """What was made of one family."""

    told: Told = field(default_factory=Told)
    sizes: dict[str, int] = field(default_factory=dict)
    """Of its files."""
    names: list[str] = field(default_factory=list)
    """What nobody else's files may be called."""
    changed: int = 0
    """Records that were redacted."""
    outcome: "Outcome | None" = None
    is_alone: bool = True
    """Whether nothing but the family itself decided how it was drawn."""
    is_dated: bool = False
    """Whether the day on which it was drawn did too."""

    def take(self, name: str, data: bytes) -> File:
        """Notes a file of the family, and returns it."""
        self.sizes[name] = len(data)
        return name, data


@dataclass
class _Prices:
    """Prices, and whether it mattered when they were asked for."""

    pricing: Pricing
    is_dated: bool = False

    def cost(self, model: str | None, tokens: Tokens, when: datetime | None) -> float | None:
        self.is_dated = self.is_dated or when is None
        return self.pricing.cost(model, tokens, when)


def files_of(
    form: Form,
    members: Members,
    drawing: Drawing,
    taken: set[str],
    redactor: "Redactor | None" = None,
    held: OpenSession | None = None,
) -> Iterator[File]:
    """Yields the files of a family; the drawing says the rest once all were asked for."""
    redaction = Redaction(redactor) if redactor else None
    opened = (
        held.passed_through(redaction)
        if held and redaction
        else opened_together(members, redaction)
    )
    prices = _Prices(form.pricing) if form.pricing else None
    names = Names(taken)
    private = redaction.name if redaction else str
    family = Family(opened, private, names, prices, form.branches == "active")
    drawing.told.count(family)
    for name, data in EXPORTERS[form.format](form._replace(pricing=prices), family, drawing.told):
        yield drawing.take(name, data)
    drawing.names = list(names.given)
    drawing.is_dated = prices is not None and prices.is_dated
    drawing.is_alone = not (names.is_crowded or drawing.is_dated)
    if redaction and redactor:
        drawing.changed, drawing.outcome = redaction.changed, redactor.outcome
        drawing.is_alone = drawing.is_alone and not drawing.outcome.unsettled


@dataclass
class Drawer:
    """Draws families, by several processes where that is sooner done."""

    form: Form
    families: Sequence[Members]
    redactor: "Redactor | None" = None
    jobs: int = 1
    losses: list[str] = field(default_factory=list)
    held: OpenSession | None = None
    """The only session there is, where it was read already."""
    taken: set[str] = field(default_factory=set)
    _workers: "Workers | None" = None

    @cached_property
    def shared(self) -> "SharedRedactor | None":
        """What all families go by."""
        if self.redactor is None:
            return None
        from plait.archive.shared_redactor import SharedRedactor

        return SharedRedactor(self.redactor)

    @property
    def learnt(self) -> bytes:
        """All that the redactor has learnt, as a digest."""
        return self.shared.learnt if self.shared else b""

    @contextmanager
    def working(self) -> "Iterator[Drawer]":
        """Gives itself, and ends the processes that worked for it."""
        with ExitStack() as self._stack:
            yield self
        self._workers = None

    def _helpers(self, numbers: Sequence[int]) -> "Workers | None":
        """Returns processes that help with some families, None where that is not worth it."""
        size = sum(size_of(self.families[number]) for number in numbers)
        if self.jobs == 1 or len(numbers) < 2 or size < WORTH:
            return None
        if (self.redactor and self.redactor.has_own_rules) or not can_be_sent(self.form):
            return None
        if self._workers is None:
            from plait.line.workers import Workers

            found = Workers(min(self.jobs, len(numbers)), self.losses)
            self._workers = self._stack.enter_context(found)
        return self._workers

    def learn(self) -> None:
        """Lets the redactor see everything first: what one place tells is hidden in all."""
        if self.redactor is None or self.shared is None:
            return
        if self.redactor.has_own_rules:
            Redaction(self.redactor).learn(one for members in self.families for one in members)
            return
        self.shared.learn(self._all_lessons())

    def _all_lessons(self) -> "Iterator[Lesson]":
        from plait.archive.shared_redactor import lesson_of, lessons_of

        assert self.redactor
        if self.held:
            yield lesson_of(self.redactor.apprentice(), self.families[0], self.held)
            return
        workers = self._helpers(range(len(self.families)))
        yield from lessons_of(self.redactor, self.families, workers)

    def draw(self, numbers: Sequence[int]) -> "Iterator[Callable[[Drawing], Iterator[File]]]":
        """Yields for each family what yields its files into a drawing."""
        workers = self._helpers(numbers)
        if workers is None:
            for number in numbers:
                yield lambda drawing, number=number: self.here(number, drawing)  # type: ignore[misc]
            return
        known = self.shared.packed() if self.shared else None
        items = [self._item(number, known) for number in numbers]
        sizes = [size_of(self.families[number]) for number in numbers]
        results = workers.each(f"{__name__}:packed_drawing", items, sizes)
        for number, data in zip(numbers, results, strict=True):
            found: tuple[Drawing, list[File]] = pickle.loads(data)  # noqa: S301  as above
            yield lambda drawing, number=number, found=found: self._checked(number, found, drawing)  # type: ignore[misc]

    def _item(self, number: int, known: bytes | None) -> tuple[Any, ...]:
        members = self.families[number]
        lesson = self.shared.lesson(number) if self.shared else None
        return str(members[0].path), self.form, bare(members), known, lesson

    def here(self, number: int, drawing: Drawing) -> Iterator[File]:
        """Yields the files of a family, drawn in this process."""
        through = self.redactor
        if self.shared and through and not through.has_own_rules:
            through = self.shared.twin(number)
        members = self.families[number]
        yield from files_of(self.form, members, drawing, self.taken, through, self.held)
        if through is self.redactor:
            drawing.outcome, drawing.is_alone = None, drawing.is_alone and through is None
        self.accept(drawing)

    def _checked(
        self, number: int, found: tuple[Drawing, list[File]], drawing: Drawing
    ) -> Iterator[File]:
        """Yields what another process has drawn, unless it must be drawn behind what was before."""
        made, files = found
        if not self.accept(made):
            yield from self.here(number, drawing)
            return
        drawing.__dict__.update(made.__dict__)
        yield from files

    def accept(self, made: Drawing) -> bool:
        """Takes what was drawn by itself, or declines: it came by a name that is taken."""
        if not self.taken.isdisjoint(made.names):
            return False
        if self.redactor and made.outcome and not self.redactor.absorb(made.outcome):
            return False
        self.taken.update(made.names)
        return True


def packed_drawing(item: "tuple[str, Form, Members, bytes | None, Lesson | None]") -> bytes:
    """Returns what is made of a family, for the process that asks."""
    _, form, members, known, lesson = item
    twin = _twin(known, lesson) if known else None
    drawing = Drawing()
    files = list(files_of(form, members, drawing, set(), twin))
    return pickle.dumps((drawing, files), pickle.HIGHEST_PROTOCOL)


def _twin(known: bytes, lesson: "Lesson | None") -> "Redactor":
    from plait.archive.shared_redactor import twin_of

    return twin_of(known, lesson)
