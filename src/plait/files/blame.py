"""Who wrote each line of a file: session, turn, prompt and commit, also as git-ai's Git notes.

git-ai keeps a note beside each commit:

    src/a.py                                      refs/notes/ai, "authorship/3.0.0"
      s_<14 hex>::t_<14 hex> 1-4,9                a session, and a call of it
      h_<14 hex> 12                               a person
      <16 hex> 20-22                              a session, in notes of older versions
    ---
    {"schema_version": …, "sessions": {"s_…": {"agent_id": {"tool", "id", "model"}}}, …}
"""

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from plait.errors import SourceError, UserError
from plait.files.events import UNSEEN_LINE as UNSEEN_LINE
from plait.files.events import Certainty, LineMark
from plait.files.events import Why as WhyUnknown
from plait.files.history import CommittedLine, FileHistory, FileInGit
from plait.line.git import TIMEOUT, run_git
from plait.record.codec import as_mapping, get_text
from plait.record.time import format_timestamp, parse_time
from plait.sessions.names import shorten_name

UNCERTAIN = {"sure": " ", "likely": "~", "unknown": "?"}
"""The mark before an uncertain line."""
CLOCK_TOLERANCE = timedelta(seconds=2)
"""How far the clocks of Git and the client may differ."""
NOTES_REF = "refs/notes/ai"
SCHEMA = "authorship/3.0.0"
TOOL = "claude"
"""git-ai's name of Claude Code."""
DIVIDER = "---"
QUOTED = (" ", "\t", "\n")
MOST_LINES = 10_000_000
BY_NOTE = "from a Git note"
REASONS: Mapping[WhyUnknown, str] = {
    "": "",
    "before": "written before the first known session",
    "between": "written by hand or by a command between sessions",
    "several": "written more than once: any of these turns may be the author",
    "moved": "moved by a turn: the author is that turn or the turn that first wrote it",
    "again": "removed and added again for a reason that no log shows",
    "earlier": "already in Git before any session wrote it",
    "unread": "the content is not in any log",
}


class BlamedLine(Struct, frozen=True, kw_only=True):
    """A line of a file, and who wrote it."""

    line: int
    text: str
    session: str | None = None
    turn: int | None = None
    """None if only a Git note names the session."""
    branch: str | None = None
    """The branch of the turn; None on the active branch."""
    uuid: str | None = None
    """The record of the call."""
    time: str | None = None
    certainty: Certainty = "unknown"
    why: str = ""
    """Why it is uncertain."""
    prompt: str | None = None
    agent: str | None = None
    """The task of the sub-agent, or the tool that a note names."""
    model: str | None = None
    call: str | None = None
    is_abandoned: bool = False
    """Whether it is on an abandoned branch: the file kept the line all the same."""
    commit: str | None = None
    author: str | None = None
    committed: str | None = None


class Writer(Struct, frozen=True, kw_only=True):
    """A turn that wrote lines of a file, or a reason why no author is known."""

    session: str | None
    turn: int | None
    branch: str | None
    time: str | None
    uuid: str | None
    prompt: str | None
    agent: str | None
    why: str
    lines: int


def iter_with_author_changes(lines: Iterable[BlamedLine]) -> Iterator[tuple[BlamedLine, bool]]:
    """Yield lines, each with whether its author differs from that of the line before.

    A bracket or an empty line without a known author never starts a new author.
    """
    last: tuple[object, ...] | None = None
    for line in lines:
        key = (*_get_writer_key(line), line.commit)
        is_filler = line.session is None and not any(map(str.isalnum, line.text))
        is_first = key != last and not (is_filler and last is not None)
        if is_first:
            last = key
        yield line, is_first


def list_writers(lines: Iterable[BlamedLine]) -> list[Writer]:
    """Return the authors of lines, those of most lines first, unknown ones last."""
    by_writer: dict[tuple[object, ...], list[BlamedLine]] = {}
    for line in lines:
        by_writer.setdefault(_get_writer_key(line), []).append(line)
    writers = [
        Writer(
            session=written[0].session,
            turn=written[0].turn,
            branch=written[0].branch,
            time=written[0].time,
            uuid=written[0].uuid,
            prompt=written[0].prompt,
            agent=written[0].agent,
            why="" if written[0].session else written[0].why,
            lines=len(written),
        )
        for written in by_writer.values()
    ]
    return sorted(writers, key=lambda writer: (writer.session is None, -writer.lines))


def _get_writer_key(line: BlamedLine) -> tuple[object, ...]:
    return (line.session, line.turn, line.branch, None if line.session else line.why)


@dataclass(frozen=True, slots=True)
class Attestation:
    """The author of a line according to a note."""

    key: str
    tool: str | None = None
    """None for a person."""
    id: str | None = None
    """The tool's id of the session."""
    model: str | None = None
    person: str | None = None


@dataclass
class Note:
    """The note of one commit."""

    files: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Lines by file and key."""
    facts: dict[str, Any] = field(default_factory=dict)

    def find_author(self, path: str, line: int) -> Attestation | None:
        """Return the author of a line of a file, as it was committed."""
        key = next((key for key, lines in self.files.get(path, {}).items() if line in lines), None)
        if key is None:
            return None
        name = key.partition("::")[0]
        if name.startswith("h_"):
            human = as_mapping(as_mapping(self.facts.get("humans")).get(name))
            return Attestation(key, person=get_text(human, "author") or name)
        section = "sessions" if name.startswith("s_") else "prompts"
        entry = as_mapping(as_mapping(self.facts.get(section)).get(name))
        agent = as_mapping(entry.get("agent_id"))
        tool = get_text(agent, "tool") or "unknown"
        return Attestation(key, tool, get_text(agent, "id"), get_text(agent, "model"))


def parse_note(text: str) -> Note | None:
    """Return a parsed note; None for a note that is not git-ai's."""
    above, divider, below = f"\n{text}".partition(f"\n{DIVIDER}\n")
    try:
        facts = json.loads(below) if divider else None
    except ValueError:
        return None
    if not isinstance(facts, dict) or not str(facts.get("schema_version")).startswith("authorship"):
        return None
    note = Note(facts=facts)
    path = ""
    for line in above.split("\n"):
        if line.startswith("  ") and path:
            key, _, ranges = line.strip().partition(" ")
            numbers = note.files[path].setdefault(key, [])
            for part in ranges.split(","):
                first, dash, last = part.strip().partition("-")
                if first.isdigit() and (not dash or last.isdigit()):
                    start, end = int(first), int(last) if dash else int(first)
                    if end - start < MOST_LINES:
                        numbers.extend(range(start, end + 1))
        elif line.strip():
            path = line.strip('"') if line.startswith('"') else line
            note.files.setdefault(path, {})
    return note


def format_note(note: Note) -> str:
    """Return the text of a note."""
    lines: list[str] = []
    for path, keys in note.files.items():
        lines.append(f'"{path}"' if any(letter in path for letter in QUOTED) else path)
        lines += [f"  {key} {_format_ranges(numbers)}" for key, numbers in keys.items()]
    facts = json.dumps(note.facts, indent=2, ensure_ascii=False)
    return "\n".join([*lines, DIVIDER, facts, ""])


def _format_ranges(numbers: Iterable[int]) -> str:
    ordered = sorted(set(numbers))
    breaks = [0, *(at for at, (a, b) in enumerate(pairwise(ordered), 1) if b > a + 1), len(ordered)]
    parts = (ordered[start:end] for start, end in pairwise(breaks))
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts if p)


def session_key(session: str) -> str:
    """Return git-ai's key of a session."""
    return f"s_{sha256(f'{TOOL}:{session}'.encode()).hexdigest()[:14]}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A line of a commit that a session wrote."""

    path: str
    line: int
    session: str
    call: str
    model: str | None = None


def add_claims(note: Note | None, commit: str, person: str, claims: Iterable[Claim]) -> Note:
    """Return a note with claims about files that it does not mention yet."""
    extended = Note(
        {path: dict(keys) for path, keys in note.files.items()} if note else {},
        dict(note.facts) if note else {"schema_version": SCHEMA, "prompts": {}},
    )
    extended.facts["base_commit_sha"] = commit
    known_paths = frozenset(extended.files)
    sessions = dict(as_mapping(extended.facts.get("sessions")))
    for claim in claims:
        if claim.path in known_paths:
            continue
        name = session_key(claim.session)
        key = f"{name}::t_{sha256(claim.call.encode()).hexdigest()[:14]}"
        extended.files.setdefault(claim.path, {}).setdefault(key, []).append(claim.line)
        agent = {"tool": TOOL, "id": claim.session, "model": claim.model or "unknown"}
        sessions.setdefault(name, {"agent_id": agent, "human_author": person})
    extended.facts["sessions"] = sessions
    return extended


class Blame(Struct, frozen=True, kw_only=True):
    """A file, line by line."""

    path: str
    lines: tuple[BlamedLine, ...]
    known_as: tuple[str, ...] = ()
    as_of: str | None = None
    """The time of this content, if the file is not on disk."""
    has_git: bool = False

    def __iter__(self) -> Iterator[BlamedLine]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def counts(self) -> dict[Certainty, int]:
        """The number of lines of each certainty."""
        counts: dict[Certainty, int] = {"sure": 0, "likely": 0, "unknown": 0}
        for line in self.lines:
            counts[line.certainty] += 1
        return counts


def compute_blame(history: FileHistory, *, has_notes: bool = True) -> Blame:
    """Return who wrote each line of a file on disk, or of its last known content."""
    text = history.on_disk()
    story, as_of, git = history.story, None, None
    if text is not None:
        version = story.observe_disk(text, format_timestamp(datetime.now(UTC)))
        git = history.names.git
    else:
        known = story.last_there
        if known is None and history.events:
            raise UserError(
                f"'{history.path}' does not exist, and its content is not in any session",
                "`plait show` shows the turns that touched it, with their patches",
            )
        if known is None:
            raise UserError(
                f"'{history.path}' does not exist, and no session mentions it",
                "use `--as PATH` with a path from `plait files SESSION`",
            )
        version, as_of = known, known.time
    assert version.text is not None
    committed = git.blame() if git else []
    contents = version.text.lines
    in_git = committed if len(committed) == len(contents) else [None] * len(contents)
    lines = [
        _blame_line(number, content, mark, git_line)
        for number, (content, mark, git_line) in enumerate(
            zip(contents, version.marks, in_git, strict=True), 1
        )
    ]
    if git and has_notes and len(committed) == len(lines):
        lines = _apply_notes(lines, committed, git)
    return Blame(
        path=history.path,
        lines=tuple(lines),
        known_as=history.known_as,
        as_of=as_of,
        has_git=bool(committed),
    )


def _blame_line(number: int, text: str, mark: LineMark, git: CommittedLine | None) -> BlamedLine:
    commit = git.commit if git else None
    if text.startswith(UNSEEN_LINE):
        return BlamedLine(line=number, text="", why=REASONS["unread"])
    mark = _check_against_git(mark, commit.time if commit else None)
    line = BlamedLine(
        line=number,
        text=text,
        certainty=mark.certainty,
        why=REASONS[mark.why],
        commit=commit.id if commit else None,
        author=commit.author if commit else None,
        committed=format_timestamp(commit.time) or None if commit else None,
    )
    origin = mark.origin
    if origin is None:
        return line
    return replace(
        line,
        session=origin.session,
        turn=origin.turn,
        branch=shorten_name(origin.branch) if origin.branch else None,
        uuid=origin.uuid,
        time=origin.time,
        prompt=origin.prompt,
        agent=origin.agent,
        model=origin.model,
        call=origin.call,
        is_abandoned=not origin.is_active,
    )


def _check_against_git(mark: LineMark, committed: datetime | None) -> LineMark:
    """Return a mark, or an unknown one if Git had the line before its likely author wrote it.

    A line that was removed and added again is the same line if Git has it from before its removal.
    """
    written = parse_time(mark.origin.time) if mark.origin else None
    removed = parse_time(mark.gone) if mark.gone else None
    if removed and (committed is None or committed > removed):
        return LineMark(why="again")
    if mark.certainty != "likely" or written is None or committed is None:
        return mark
    return LineMark(why="earlier") if committed + CLOCK_TOLERANCE < written else mark


def _apply_notes(
    lines: Sequence[BlamedLine], committed: Sequence[CommittedLine], git: FileInGit
) -> list[BlamedLine]:
    """Return lines, those without a known author with what notes say of them."""
    unknown = {line.commit for line in lines if line.certainty == "unknown" and line.commit}
    listing = run_git(git.top, "notes", f"--ref={NOTES_REF}", "list") if unknown else None
    noted = {line.split(" ")[1] for line in (listing or "").split("\n") if " " in line}
    notes: dict[str, Note] = {}
    for commit in sorted(unknown & noted):
        text = run_git(git.top, "notes", f"--ref={NOTES_REF}", "show", commit)
        if note := parse_note(text or ""):
            notes[commit] = note
    attested = []
    for line, git_line in zip(lines, committed, strict=True):
        note = notes.get(line.commit or "") if line.certainty == "unknown" else None
        author = note.find_author(git_line.path, git_line.number) if note else None
        if author and author.person is not None:
            why = f"a Git note says that {author.person} typed this line"
            line = replace(line, why=why)
        elif author:
            line = replace(
                line,
                session=author.id,
                certainty="likely" if author.id else "unknown",
                why=BY_NOTE,
                agent=author.tool,
                model=author.model,
            )
        attested.append(line)
    return attested


class PlannedNote(Struct, frozen=True, kw_only=True):
    """The note of one commit, before and after."""

    commit: str
    summary: str
    path: str
    """Relative to the top of the repository, as in the commit."""
    lines: int
    sessions: tuple[str, ...]
    before: str | None
    """None if there is no note."""
    after: str | None
    """None if nothing is to be done."""
    why: str = ""
    """Why nothing is to be done."""


class NotePlan(Struct, frozen=True, kw_only=True):
    """Notes to write."""

    top: str
    notes: tuple[PlannedNote, ...]

    def __iter__(self) -> Iterator[PlannedNote]:
        return iter(self.notes)

    def __len__(self) -> int:
        return len(self.notes)

    @property
    def to_do(self) -> tuple[PlannedNote, ...]:
        """The notes that would change."""
        return tuple(note for note in self.notes if note.after is not None)


def plan_notes(blame: Blame, git: FileInGit | None) -> NotePlan:
    """Return the notes that would attribute a file's committed lines to sessions."""
    if git is None or not blame.has_git:
        raise UserError(
            f"'{blame.path}' is not committed", "notes belong to commits: commit the file first"
        )
    by_commit: dict[str, list[tuple[BlamedLine, CommittedLine]]] = {}
    for line, git_line in zip(blame.lines, git.blame(), strict=True):
        if git_line.commit and line.call and line.session and line.certainty != "unknown":
            by_commit.setdefault(git_line.commit.id, []).append((line, git_line))
    planned: list[PlannedNote] = []
    for commit, lines in by_commit.items():
        before = run_git(git.top, "notes", f"--ref={NOTES_REF}", "show", commit)
        note = parse_note(before) if before is not None else None
        first = lines[0][1]
        assert first.commit is not None
        claims = (
            Claim(git_line.path, git_line.number, line.session or "", line.call or "", line.model)
            for line, git_line in lines
        )
        extended = add_claims(note, commit, first.commit.author, claims)
        why = ""
        if before is not None and note is None:
            why = "the existing note is not from git-ai"
        elif note is not None and note.files == extended.files:
            why = "the existing note already covers this file"
        planned.append(
            PlannedNote(
                commit=commit,
                summary=first.commit.summary,
                path=first.path,
                lines=len(lines),
                sessions=tuple(dict.fromkeys(line.session or "" for line, _ in lines)),
                before=before,
                after=None if why else format_note(extended),
                why=why,
            )
        )
    notes = tuple(planned)
    return NotePlan(top=git.top, notes=notes)


def write_notes(plan: NotePlan) -> int:
    """Write the notes of a plan and return how many; one that changed meanwhile is refused."""
    for note in plan.to_do:
        if run_git(plan.top, "notes", f"--ref={NOTES_REF}", "show", note.commit) != note.before:
            raise UserError(
                f"the note on {note.commit[:10]} has since changed", "run the command again"
            )
        assert note.after is not None
        blob = _write_git(plan.top, note.after.encode(), "hash-object", "-w", "--stdin").strip()
        add = ("notes", f"--ref={NOTES_REF}", "add", "-f", "-C", blob, note.commit)
        _write_git(plan.top, b"", *add)
    return len(plan.to_do)


def _write_git(top: str, data: bytes, *arguments: str) -> str:
    program = shutil.which("git")
    if program is None:
        raise SourceError("`git` is not installed")
    command = [program, "--no-pager", "-C", top, *arguments]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=TIMEOUT)  # noqa: S603  Git
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"Git does not respond: {error}") from error
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise SourceError(f"Git refused the note: {reason}")
    return done.stdout.decode("utf-8", "replace")
