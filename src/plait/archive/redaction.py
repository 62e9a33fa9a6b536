"""What is read of sessions to the same without what should not be shared, in one place.

Records, the small files beside them and the names of files go through it before anything is
made of them. So whoever draws, writes or sends cannot forget it: there is nothing else to draw.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace as replace_field

from plait.archive.model import Session
from plait.graph.model import SourceFile
from plait.graph.source import Source
from plait.record import Record
from plait.record.read import read_if_there
from plait.record.sidecar import AgentMeta, agent_meta, title_file

if TYPE_CHECKING:
    from plait.redact import Redactor


@dataclass
class Redaction:
    """Puts all that is read of some sessions through one redactor."""

    redactor: "Redactor"
    changed: int = 0
    """Records whose bytes are others now."""
    _names: dict[str, str] = field(default_factory=dict)

    def learn(self, sessions: Iterable[Session]) -> None:
        """Lets the redactor see everything first: what one place tells is hidden in all."""
        for session in sessions:
            for file in session.files:
                self.redactor.learn(read_if_there(file.path))
                self.learn_beside(agent_meta(file.path) if file.kind == "agent" else None)
                self.learn_beside(title_file(file.folder) if file.kind == "session" else None)

    def learn_source(self, source: Source) -> None:
        """Lets the redactor see what was read of one file, and what lies beside it."""
        self.redactor.learn(source.records)
        self.learn_beside(source.meta, source.title)

    def learn_beside(self, *found: AgentMeta | str | None) -> None:
        """Lets the redactor see titles and notes that lie beside logs."""
        for one in found:
            told = (one.name, one.description) if isinstance(one, AgentMeta) else (one,)
            for text in filter(None, told):
                self.redactor.learn(text)

    def source(self, source: Source) -> Source:
        """Returns all that was read of one file, and of what lies beside it."""
        path = source.file.path
        return replace(
            source,
            file=self._file(source.file),
            records=[self.record(one, path) for one in source.records],
            meta=self._meta(source.meta) if source.meta else None,
            title=self.name(source.title) if source.title else source.title,
        )

    def record(self, record: Record, path: str) -> Record:
        """Returns a record; the report names its file alone."""
        found = self.redactor.record(record, self.name(PurePath(path).name))
        self.changed += found is not record
        return found

    def learn_texts(self, found: Iterable[bytes]) -> None:
        """Lets the redactor see lines that are no records."""
        for data in found:
            self.redactor.learn(_decoded(data))

    def text(self, data: bytes) -> bytes:
        """Returns a line that is no record."""
        return self.redactor.text(_decoded(data)).encode("utf-8", "surrogateescape")

    def name(self, text: str) -> str:
        """Returns a title or a name; each is looked at once."""
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = self.redactor.text(text)
        return known

    def _file(self, file: SourceFile) -> SourceFile:
        """Returns a file by other names; where it lies is for reading alone, nobody is told."""
        return replace_field(
            file,
            session=self._name_if_any(file.session),
            agent=self._name_if_any(file.agent),
            run=self._name_if_any(file.run),
            project=self.name(file.project),
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
        return self.name(text) if text else text


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
