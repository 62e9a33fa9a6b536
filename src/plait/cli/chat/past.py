"""The archive to what a chat asks of it: which sessions there are, their graph, a copy to keep."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive import Archive, Facts, Session
from plait.cli.options import Request
from plait.cli.text import in_words, safe_line, short, size, to_type
from plait.errors import SourceError, UserError
from plait.line import slug_of
from plait.view.terminal.model import AnyBlock

if TYPE_CHECKING:
    from plait.cli.chat.picking import Picking
    from plait.conversation.next_prompt import NextPrompt

MOST_LISTED = 300
MOST_FOUND = 30
MOST_READ = 20_000_000
"""Bytes of a session of which more is told than its name."""
FORMATS = {".md": "md", ".markdown": "md", ".txt": "txt", ".html": "html", ".json": "json"}
DEFAULT_FORMAT = ".md"


@dataclass
class Past:
    """What was said before, in all sessions under the roots."""

    request: Request
    directory: Path

    @property
    def archive(self) -> Archive:
        """The sessions as they are now."""
        return self.request.archive.renewed()

    def rows(self, *, everywhere: bool = False) -> Iterator[Facts]:
        """Yields what is known of sessions that can go on, the newest first."""
        archive, slug = self.archive, slug_of(str(self.directory.resolve()))
        if self.request.settings.index.is_dir():
            archive.index = self.request.settings.index
        with archive:
            left = MOST_LISTED
            for session in reversed(archive.sessions):
                if left and session.file and (everywhere or session.project == slug):
                    left -= 1
                    yield archive.facts(session)

    def said(self, words: str) -> list[tuple[Facts, str]]:
        """Returns the sessions in which words were said, each with where it says so best."""
        archive = self.archive
        archive.index = self.request.settings.index
        found = archive.search(words, limit=MOST_FOUND)
        best = {hit.session: hit.snippet for hit in reversed(found.hits)}
        known = {one.id: one for one in archive.sessions if one.file}
        named = [
            known[one] for one in dict.fromkeys(hit.session for hit in found.hits) if one in known
        ]
        return [(archive.facts(one), " ".join(best[one.id].split())) for one in named]

    def picking(self, is_meant: Callable[[Facts], bool] = lambda facts: True) -> "Picking":
        """Returns the choice among those sessions that are meant."""
        from plait.cli.chat.picking import Picking

        return Picking(
            here=lambda: filter(is_meant, self.rows()),
            everywhere=lambda: filter(is_meant, self.rows(everywhere=True)),
            said=self.said,
            directory=str(self.directory),
        )

    def session(self, name: str) -> Session:
        """Returns the session that a person names."""
        return self.archive.session(name, self.directory)

    def place_of(self, session: Session) -> Path:
        """Returns where a session worked, or says why it cannot go on from here."""
        resume = self.archive.resume(session, default=self.request.settings.roots[0])
        if resume.why_not:
            raise UserError(f"it cannot go on: {resume.why_not}")
        place = Path(resume.directory) if resume.directory else self.directory
        if place.resolve() != self.directory.resolve():
            line = to_type("plait", "chat", "--resume", short(session.id))
            raise UserError(
                f"that session worked in '{safe_line(str(place))}'",
                f"`{to_type('cd', str(place))} && {line}` goes on with it there",
            )
        return place

    def recent(self, session: Session) -> "Iterable[AnyBlock]":
        """Returns the last turn of a session, unless it takes long to read."""
        if session.path.stat().st_size > MOST_READ:
            return ()
        from plait.view.costs import SessionFigures
        from plait.view.terminal.teller import TerminalTeller

        archive = self.archive
        found = archive.open(session).conversations
        shown = found.by_line.get(found.main or "")
        if shown is None:
            return ()
        cwd = archive.facts(session).cwd
        reading = TerminalTeller(found, SessionFigures(found), directory=cwd)
        return reading.passages(shown, shown.turns[-1:])

    def following(self, path: Path) -> "NextPrompt | None":
        """Returns what the next prompt of a session sends, unless it takes long to read."""
        try:
            if path.stat().st_size > MOST_READ:
                return None
            archive = self.archive
            return archive.resumption(archive.session_at(path)).next_prompt
        except (OSError, SourceError, UserError):
            return None

    def graph(self, path: Path) -> list[str]:
        """Returns the graph of a session as lines, with nothing but our own colours."""
        from plait.cli.log import draw

        archive, output = self.archive, self.request.output
        with output.console.capture() as capture:
            draw(archive, output, archive.session_at(path))
        return capture.get().rstrip("\n").split("\n")

    def export(self, path: Path, name: str) -> list[str]:
        """Writes a session to a file of its own; returns what is said of it."""
        from plait.archive import MANIFEST, REPORT, ExportPlan
        from plait.redact import Redactor

        file = self._file(path, name)
        archive, redactor = self.archive, Redactor()
        plan = ExportPlan(
            (archive.session_at(path),),
            branches="active",
            is_combined=True,
            redactor=redactor,
            pricing=self.request.prices,
            is_single=True,
        )
        found = archive.export(plan, FORMATS[file.suffix.casefold()])
        parts = [(one, data) for one, data in found if one not in (REPORT, MANIFEST)]
        written = _written(file, parts)
        told = f"redacted: {in_words(redactor.report.kinds)}" if redactor.report else ""
        hint = "`plait export --no-redact` leaves everything as it is" if told else ""
        return [f"written to {file} ({size(written)})", *filter(None, (told, hint))]

    def _file(self, path: Path, name: str) -> Path:
        file = self.directory / (name or f"session-{short(path.stem)}{DEFAULT_FORMAT}")
        if not file.suffix:
            file = file.with_suffix(DEFAULT_FORMAT)
        if file.suffix.casefold() not in FORMATS:
            raise UserError(
                f"nothing is written as '{file.suffix}'", f"but as {', '.join(FORMATS)}"
            )
        if file.exists():
            raise UserError(f"'{file}' is there already", "name another file")
        return file


def _written(file: Path, parts: Sequence[tuple[str, bytes]]) -> int:
    """Writes the one page of an export, or all of its parts as one file."""
    from plait.line.folder import OutputFolder

    pages = [data for name, data in parts if name.endswith(".html") and name != "index.html"]
    data = b"".join(pages[:1] or [data for _, data in parts])
    OutputFolder(file.parent).write(file.name, data)
    return len(data)
