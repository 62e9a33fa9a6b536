"""What is read in parts to one redactor that all of them go by, whichever process reads them.

Each part teaches by itself. Then each is redacted through a twin, which knows what all of them
have taught and tells nothing to the next. What a twin has found is taken, or declined where it
gave a stand-in that is another's by now: that part is redacted once more, behind the others.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from plait.archive.model import Members
from plait.archive.open_session import OpenSession
from plait.archive.redaction import Redaction
from plait.archive.shares import bare, size_of
from plait.redact import Redactor, Rules
from plait.redact.lessons import Lesson

if TYPE_CHECKING:
    from plait.line.workers import Workers


@dataclass
class SharedRedactor:
    """A redactor, and what each part has taught it."""

    redactor: Redactor
    lessons: list[Lesson] = field(default_factory=list)
    """The lines of each part that teach nothing, which are not read a second time."""
    learnt: bytes = b""
    """All that it has learnt, as a digest."""

    def learn(self, taught: Iterable[Lesson]) -> None:
        """Takes what all parts teach: what one of them tells is hidden in all."""
        seen: dict[object, None] = {}
        for lesson in taught:
            self.lessons.append(lesson._replace(named=(), told=(), owners=()))
            self.redactor.take(lesson)
            for kind, part in enumerate((lesson.named, lesson.told, lesson.owners)):
                seen.update(dict.fromkeys((kind, one) for one in part))
        self.redactor.settle()
        self.learnt = blake2b(repr(list(seen)).encode()).digest()

    def lesson(self, number: int) -> Lesson | None:
        """Returns which lines of a part teach nothing, where it was learnt from."""
        return self.lessons[number] if self.lessons else None

    def twin(self, number: int) -> Redactor:
        """Returns what a part is redacted through in this process."""
        return self.redactor.twin(self.lesson(number))

    def packed(self) -> bytes:
        """Returns it for other processes, which make twins of it."""
        return pickle.dumps(self.redactor)


def twin_of(packed: bytes, lesson: Lesson | None) -> Redactor:
    """Returns what a part is redacted through in a process that was given what is known."""
    return _redactor(packed).twin(lesson)


def lessons_of(
    redactor: Redactor, families: Sequence[Members], workers: "Workers | None"
) -> Iterator[Lesson]:
    """Yields what each family teaches, read here or by workers."""
    if workers is None:
        yield from (lesson_of(redactor.apprentice(), members) for members in families)
        return
    items = [(str(one[0].path), redactor.rules, bare(one)) for one in families]
    for data in workers.each(f"{__name__}:packed_lesson", items, [*map(size_of, families)]):
        yield pickle.loads(data)  # noqa: S301  from a process of our own


def packed_lesson(item: tuple[str, Rules, Members]) -> bytes:
    """Returns what a family teaches, for the process that asks."""
    _, rules, members = item
    return pickle.dumps(lesson_of(Redactor(rules).apprentice(), members))


def lesson_of(redactor: Redactor, members: Members, held: OpenSession | None = None) -> Lesson:
    """Returns what a family and the names of its files teach; it may have been read already."""
    redaction = Redaction(redactor)
    for file in (file for session in members for file in session.files):
        redaction.learn_beside(file.session, file.agent, file.run, file.project, file.path.name)
    if held is None:
        redaction.learn(members)
    else:
        for source in held.sources:
            redaction.learn_source(source)
    return redactor.lesson


@lru_cache(1)
def _redactor(packed: bytes) -> Redactor:
    found: Redactor = pickle.loads(packed)  # noqa: S301  from the process that asks
    return found
