"""Past sessions for the console: the session picker, export, graph, estimates."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from plait.archive import Archive, Facts, Resume, Session
from plait.cli.options import Request
from plait.conversation.next_prompt import NextPrompt
from plait.errors import SourceError, UserError
from plait.line import make_project_slug
from plait.line.output import OutputFolder
from plait.record.time import parse_time
from plait.terminal.text import format_counts, now, safe_line, shell_command, short_id
from plait.view.formats import format_age, format_bytes, format_count
from plait.view.terminal import AnyBlock, TerminalRenderer
from plait.view.text import count_columns, shorten_to_width

TIME_WIDTH = 10
MIN_TITLE_WIDTH = 16


@dataclass(frozen=True, slots=True)
class Row:
    """A session in the picker."""

    facts: Facts
    snippet: str = ""
    """The matching text of a search."""

    @property
    def title(self) -> str:
        """Its title."""
        mark = "● " if self.facts.is_live else ""
        kept = f"{self.facts.mark} · " if self.facts.mark else ""
        return f"{mark}{kept}{safe_line(self.facts.title or '(no title)')}"

    @property
    def description(self) -> str:
        """Its other details."""
        return safe_line(self.snippet or self.facts.first_prompt or "")

    def matches(self, words: Sequence[str]) -> bool:
        """Return whether all words occur in its title or details."""
        facts = self.facts
        known = (facts.title, facts.first_prompt, facts.session, facts.cwd, facts.git_branch)
        text = " ".join(filter(None, known)).casefold()
        return all(word in text for word in words)

    def render(self, width: int, time: datetime) -> str:
        """Return it as one line."""
        ended = parse_time(self.facts.ended)
        when = f"{format_age(ended, time) if ended else '':<{TIME_WIDTH}}"
        entries = format_count(self.facts.entries, "entry", "entries")
        margin = f"  {entries}  {short_id(self.facts.session)}"
        room = max(width - count_columns(when) - count_columns(margin) - 2, MIN_TITLE_WIDTH)
        title = shorten_to_width(self.title, room)
        return shorten_to_width(
            f"{when}  {title}{' ' * (room - count_columns(title))}{margin}", width
        )


@dataclass
class SessionPicker:
    """The session picker: sessions of this directory or all, filtered by title or found by content.

    Rows arrive one by one, so that thousands can be shown while they are still being read.
    """

    here: Callable[[], Iterable[Facts]]
    everywhere: Callable[[], Iterable[Facts]]
    search_messages: Callable[[str], Iterable[tuple[Facts, str]]]
    directory: str = ""
    query: str = ""
    at: int = 0
    is_everywhere: bool = False
    is_reading: bool = False
    note: str = ""
    rows: list[Row] = field(default_factory=list)
    time: datetime = field(default_factory=now)
    _number: int = 0
    """The number of the current read; rows of earlier reads are dropped."""

    @property
    def matching(self) -> list[Row]:
        """The rows that match the query."""
        words = self.query.casefold().split()
        return [row for row in self.rows if row.snippet or row.matches(words)]

    @property
    def selected(self) -> Row | None:
        """The selected row."""
        found = self.matching
        return found[min(self.at, len(found) - 1)] if found else None

    def move(self, count: int) -> None:
        """Select another row."""
        self.at = min(max(self.at + count, 0), max(len(self.matching) - 1, 0))

    def set_query(self, text: str) -> None:
        """Change the query."""
        self.query, self.at, self.note = text, 0, ""
        if any(row.snippet for row in self.rows):
            self.rows = [row for row in self.rows if not row.snippet]

    def read(self) -> None:
        """Read the sessions of the directory or all of them; thread-safe."""
        self._number += 1
        number, self.rows, self.is_reading = self._number, [], True
        known = self.everywhere if self.is_everywhere else self.here
        for facts in known():
            if number != self._number:
                return
            self.rows.append(Row(facts))
        self.is_reading = False

    def cancel(self) -> None:
        """Stop adding rows."""
        self._number += 1

    def search(self) -> None:
        """Search the sessions' content for the query; thread-safe."""
        self._number += 1
        self.is_reading = True
        hits = [Row(facts, text) for facts, text in self.search_messages(self.query)]
        seen = {row.facts.session for row in hits}
        others = [row for row in self.rows if row.facts.session not in seen and not row.snippet]
        self.rows, self.at = [*hits, *others], 0
        self.note = "" if hits else "no messages match"
        self.is_reading = False


MAX_LISTED = 300
MAX_FOUND = 30
MAX_READ_BYTES = 20_000_000
"""Size above which only a session's title is read."""
FORMATS = {".md": "md", ".markdown": "md", ".txt": "txt", ".html": "html", ".json": "json"}
DEFAULT_FORMAT = ".md"


@dataclass
class ChatArchive:
    """All earlier sessions under the roots."""

    request: Request
    directory: Path

    @property
    def archive(self) -> Archive:
        """A fresh `Archive`."""
        return self.request.archive.reopen()

    def rows(self, *, everywhere: bool = False) -> Iterator[Facts]:
        """Yield a row for each session that can be resumed, newest first."""
        archive, slug = self.archive, make_project_slug(str(self.directory.resolve()))
        if self.request.settings.index.is_dir():
            archive.index = self.request.settings.index
        with archive:
            left = MAX_LISTED
            for session in reversed(archive.sessions):
                is_own = session.file is not None and session.origin is None
                if left and is_own and (everywhere or session.project == slug):
                    left -= 1
                    yield archive.facts(session)

    def search(self, words: str) -> list[tuple[Facts, str]]:
        """Return the sessions that contain the words, each with its best match."""
        archive = self.archive
        archive.index = self.request.settings.index
        found = archive.search(words, limit=MAX_FOUND)
        best = {hit.session: hit.snippet for hit in reversed(found.hits)}
        known = {session.id: session for session in archive.sessions if session.file}
        names = dict.fromkeys(hit.session for hit in found.hits)
        named = [known[name] for name in names if name in known]
        return [(archive.facts(session), " ".join(best[session.id].split())) for session in named]

    def make_picker(self, is_meant: Callable[[Facts], bool] = lambda facts: True) -> SessionPicker:
        """Return a picker over the sessions."""

        return SessionPicker(
            here=lambda: filter(is_meant, self.rows()),
            everywhere=lambda: filter(is_meant, self.rows(everywhere=True)),
            search_messages=self.search,
            directory=str(self.directory),
        )

    def session(self, name: str) -> Session:
        """Return the session with this name."""
        return self.archive.session(name, self.directory)

    def check_resumable(self, session: Session) -> Resume:
        """Return how a session is resumed; raise UserError if it cannot be."""
        if session.origin is not None:
            raise UserError(
                f"session '{short_id(session.id)}' was written by {session.agent}, and `plait chat`"
                " can resume only Claude Code sessions",
                f"`{shell_command('plait', 'handoff', short_id(session.id))}` writes a brief to"
                " continue from",
            )
        resume = self.archive.resume(session, default=self.request.settings.roots[0])
        if resume.why_not:
            raise UserError(f"cannot resume: {resume.why_not}")
        return resume

    def check_directory(self, session: Session) -> None:
        """Raise UserError if a session is not of this directory."""
        resume = self.check_resumable(session)
        place = Path(resume.directory) if resume.directory else self.directory
        if place.resolve() != self.directory.resolve():
            line = shell_command("plait", "chat", "--resume", short_id(session.id))
            raise UserError(
                f"that session ran in '{safe_line(str(place))}'",
                f"`{shell_command('cd', str(place))} && {line}` resumes it there",
            )

    def render_last_turn(self, session: Session) -> Iterable[AnyBlock]:
        """Return the last turn of a session; None if it takes too long to read."""
        if session.path.stat().st_size > MAX_READ_BYTES:
            return ()
        from plait.conversation.costs import SessionCosts

        archive = self.archive
        found = archive.open(session).conversations
        shown = found.by_line.get(found.main or "")
        if shown is None:
            return ()
        cwd = archive.facts(session).cwd
        reading = TerminalRenderer(found, SessionCosts(found), directory=cwd)
        return reading.iter_blocks(shown, shown.turns[-1:])

    def estimate_next_prompt(self, path: Path) -> NextPrompt | None:
        """Return what the next prompt of a session sends; None if it takes too long to read."""
        try:
            if path.stat().st_size > MAX_READ_BYTES:
                return None
            archive = self.archive
            return archive.resumption(archive.session_at(path)).next_prompt
        except (OSError, SourceError, UserError):
            return None

    def render_graph(self, path: Path) -> list[str]:
        """Return the graph of a session as lines, with no escape sequences but our colours."""
        from plait.cli.graph import print_graph

        archive, output = self.archive, self.request.output
        with output.console.capture() as capture:
            print_graph(archive, output, archive.session_at(path))
        return capture.get().rstrip("\n").split("\n")

    def export(self, path: Path, name: str) -> list[str]:
        """Write a session to a file; return the message for the user."""
        from plait.archive import MANIFEST, REPORT, ExportPlan
        from plait.redact import Redactor

        file = self.directory / (name or f"session-{short_id(path.stem)}{DEFAULT_FORMAT}")
        if not file.suffix:
            file = file.with_suffix(DEFAULT_FORMAT)
        if file.suffix.casefold() not in FORMATS:
            raise UserError(
                f"cannot export to '{file.suffix}' files",
                f"supported formats: {', '.join(FORMATS)}",
            )
        if file.exists():
            raise UserError(f"'{file}' already exists", "choose another file name")
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
        parts = [(item, data) for item, data in found if item not in (REPORT, MANIFEST)]
        pages = [data for name, data in parts if name.endswith(".html") and name != "index.html"]
        data = b"".join(pages[:1] or [data for _, data in parts])
        OutputFolder(file.parent).write(file.name, data)
        written = len(data)
        text = f"redacted: {format_counts(redactor.report.kinds)}" if redactor.report else ""
        hint = "`plait export --no-redact` exports without redaction" if text else ""
        return [f"written to {file} ({format_bytes(written)})", *filter(None, (text, hint))]
