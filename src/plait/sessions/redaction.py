"""Redaction of a session: everything read from it goes through one redactor.

Records, side files and file names are redacted before anything is built from them, so that no face
can forget it.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace as replace_field

from plait.graph.facts import Source
from plait.graph.model import SourceFile
from plait.line.workers import Workers
from plait.record import Record
from plait.record.reader import read_if_exists
from plait.record.side_files import AgentMeta, read_agent_meta, read_title_file
from plait.redact.stand_ins import Lesson
from plait.sessions.model import Session, SessionFamily
from plait.sessions.open_session import OpenSession
from plait.sessions.worker_pool import count_bytes, detach

if TYPE_CHECKING:
    from plait.redact import Redactor, Rules


@dataclass
class Redaction:
    """Puts everything that is read of some sessions through one redactor."""

    redactor: "Redactor"
    changed: int = 0
    """Records whose bytes changed."""
    _names: dict[str, str] = field(default_factory=dict)

    def learn(self, sessions: Iterable[Session]) -> None:
        """Let the redactor see everything first: what one place reveals is hidden in all."""
        for session in sessions:
            for file in session.files:
                self.redactor.learn(read_if_exists(file.path))
                self.learn_metadata(read_agent_meta(file.path) if file.kind == "agent" else None)
                self.learn_metadata(
                    read_title_file(file.folder) if file.kind == "session" else None
                )

    def learn_source(self, source: Source) -> None:
        """Show the redactor what was read of one file, and its side files."""
        self.redactor.learn(source.records)
        self.learn_metadata(source.meta, source.title)

    def learn_metadata(self, *found: AgentMeta | str | None) -> None:
        """Show the redactor the titles and notes next to logs."""
        for item in found:
            texts = (item.name, item.description) if isinstance(item, AgentMeta) else (item,)
            for text in filter(None, texts):
                self.redactor.learn(text)

    def redact_source(self, source: Source) -> Source:
        """Return what was read of one file and of its side files, redacted."""
        path = source.file.path
        return replace(
            source,
            file=self._file(source.file),
            records=[self.redact_record(record, path) for record in source.records],
            meta=self._meta(source.meta) if source.meta else None,
            title=self.redact_name(source.title) if source.title else source.title,
        )

    def redact_record(self, record: Record, path: str) -> Record:
        """Return a record, redacted; the report names only its file."""
        found = self.redactor.record(record, self.redact_name(PurePath(path).name))
        self.changed += found is not record
        return found

    def learn_texts(self, found: Iterable[bytes]) -> None:
        """Let the redactor see lines that are not records."""
        for data in found:
            self.redactor.learn(_decode_text(data))

    def redact_line(self, data: bytes) -> bytes:
        """Return a line that is not a record, redacted."""
        return self.redactor.text(_decode_text(data)).encode("utf-8", "surrogateescape")

    def redact_name(self, text: str) -> str:
        """Return a title or a name, redacted; each is computed once."""
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = self.redactor.text(text)
        return known

    def _file(self, file: SourceFile) -> SourceFile:
        """Return a file with redacted names; its real path is for reading only."""
        return replace_field(
            file,
            session=self._name_if_any(file.session),
            agent=self._name_if_any(file.agent),
            run=self._name_if_any(file.run),
            project=self.redact_name(file.project),
        )

    def _meta(self, meta: AgentMeta) -> AgentMeta:
        return replace_field(
            meta,
            agent_type=self._name_if_any(meta.agent_type),
            description=self._name_if_any(meta.description),
            name=self._name_if_any(meta.name),
            model=self._name_if_any(meta.model),
            call_id=self._name_if_any(meta.call_id),
            parent_agent_id=self._name_if_any(meta.parent_agent_id),
        )

    def _name_if_any(self, text: str | None) -> str | None:
        return self.redact_name(text) if text else text


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# ---------------------------------------------------------------------- many parts, one redactor
#
# The redactor learns from each part separately. Then each part is redacted by a copy of the
# redactor that knows what all parts have taught, and passes nothing on to the next. The findings of
# a copy are merged, or refused if it chose a placeholder that another part has taken: then the part
# is done again.


@dataclass
class SharedRedactor:
    """A redactor, and what each part has taught it."""

    redactor: "Redactor"
    lessons: list[Lesson] = field(default_factory=list)
    """The lines of each part that teach nothing, which are not read a second time."""
    learnt: bytes = b""
    """A digest of everything it has learnt."""

    def learn(self, taught: Iterable[Lesson]) -> None:
        """Take what all parts teach: what any of them contains is hidden in all."""
        seen: dict[object, None] = {}
        for lesson in taught:
            self.lessons.append(lesson._replace(named=(), hits=(), owners=()))
            self.redactor.take(lesson)
            for kind, part in enumerate((lesson.named, lesson.hits, lesson.owners)):
                seen.update(dict.fromkeys((kind, item) for item in part))
        self.redactor.settle()
        self.learnt = blake2b(repr(list(seen)).encode()).digest()

    def lesson(self, number: int) -> Lesson | None:
        """Return the lines of a part that teach nothing."""
        return self.lessons[number] if self.lessons else None

    def twin(self, number: int) -> "Redactor":
        """Return the copy that redacts a part in this process."""
        return self.redactor.twin(self.lesson(number))

    def packed(self) -> bytes:
        """Its pickled redactor, from which other processes make copies."""
        return pickle.dumps(self.redactor)


def load_twin(packed: bytes, lesson: Lesson | None) -> "Redactor":
    """Return the copy that redacts a part in a worker process."""
    return _redactor(packed).twin(lesson)


def iter_lessons(
    redactor: "Redactor", families: Sequence[SessionFamily], workers: Workers | None
) -> Iterator[Lesson]:
    """Yield what each family teaches, read here or by workers."""
    if workers is None:
        yield from (learn_family(redactor.apprentice(), members) for members in families)
        return
    items = [(str(family[0].path), redactor.rules, detach(family)) for family in families]
    for data in workers.map(f"{__name__}:packed_lesson", items, [*map(count_bytes, families)]):
        yield pickle.loads(data)  # noqa: S301  from a process of our own


def packed_lesson(item: tuple[str, "Rules", SessionFamily]) -> bytes:
    """Return what a family teaches, pickled for the parent process."""
    from plait.redact import Redactor  # loads all expressions

    _, rules, members = item
    return pickle.dumps(learn_family(Redactor(rules).apprentice(), members))


def learn_family(
    redactor: "Redactor", members: SessionFamily, opened: OpenSession | None = None
) -> Lesson:
    """Return what a family and the names of its files teach; it may have been read already."""
    redaction = Redaction(redactor)
    for file in (file for session in members for file in session.files):
        redaction.learn_metadata(file.session, file.agent, file.run, file.project, file.path.name)
    if opened is None:
        redaction.learn(members)
    else:
        for source in opened.sources:
            redaction.learn_source(source)
    return redactor.lesson


@lru_cache(1)
def _redactor(packed: bytes) -> "Redactor":
    found: Redactor = pickle.loads(packed)  # noqa: S301  from the process that asks
    return found
