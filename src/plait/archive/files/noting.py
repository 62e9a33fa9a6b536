"""Lines that sessions wrote to notes of git-ai beside the commits that have them: a plan first."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence

from msgspec import Struct

from plait.archive.files.blame import Blame, BlamedLine
from plait.archive.files.git import CommittedLine, FileInGit
from plait.archive.files.notes import REF, Claim, is_same, note_in, note_text, with_claims
from plait.errors import SourceError, UserError
from plait.line.git import LONGEST, asked


class PlannedNote(Struct, frozen=True, kw_only=True):
    """The note of one commit, as it is and as it would be."""

    commit: str
    summary: str
    path: str
    """From the top of the repository on, as the commit has it."""
    lines: int
    sessions: tuple[str, ...]
    before: str | None
    """What stands there; None where there is no note."""
    after: str | None
    """None where nothing is to be done."""
    why: str = ""
    """Why nothing is done."""


class NotePlan(Struct, frozen=True, kw_only=True):
    """Notes to be written."""

    top: str
    notes: tuple[PlannedNote, ...]

    @property
    def to_do(self) -> tuple[PlannedNote, ...]:
        """Those that are not there yet."""
        return tuple(one for one in self.notes if one.after is not None)


def plan_notes(blame: Blame, git: FileInGit | None) -> NotePlan:
    """Returns the notes that say what the logs say of a file's lines."""
    if git is None or not blame.has_git:
        raise UserError(
            f"'{blame.path}' is in no commit", "notes stand beside commits: commit it first"
        )
    by_commit: dict[str, list[tuple[BlamedLine, CommittedLine]]] = {}
    for line, known in zip(blame.lines, git.blame(), strict=True):
        if known.commit and line.call and line.session and line.certainty != "unknown":
            by_commit.setdefault(known.commit.id, []).append((line, known))
    notes = tuple(_planned(git, commit, found) for commit, found in by_commit.items())
    return NotePlan(top=git.top, notes=notes)


def _planned(
    git: FileInGit, commit: str, found: Sequence[tuple[BlamedLine, CommittedLine]]
) -> PlannedNote:
    told = asked(git.top, "notes", f"--ref={REF}", "show", commit)
    note = note_in(told) if told is not None else None
    first = found[0][1]
    assert first.commit is not None
    made = with_claims(note, commit, first.commit.author, _claims(found))
    why = ""
    if told is not None and note is None:
        why = "the note that is there is none of git-ai"
    elif is_same(note, made):
        why = "the note that is there says who wrote this file"
    return PlannedNote(
        commit=commit,
        summary=first.commit.summary,
        path=first.path,
        lines=len(found),
        sessions=tuple(dict.fromkeys(line.session or "" for line, _ in found)),
        before=told,
        after=None if why else note_text(made),
        why=why,
    )


def _claims(found: Sequence[tuple[BlamedLine, CommittedLine]]) -> Iterator[Claim]:
    for line, known in found:
        yield Claim(known.path, known.number, line.session or "", line.call or "", line.model)


def write_notes(plan: NotePlan) -> int:
    """Writes the notes of a plan and returns how many; one that has changed since is refused."""
    for one in plan.to_do:
        if asked(plan.top, "notes", f"--ref={REF}", "show", one.commit) != one.before:
            raise UserError(f"the note of {one.commit[:10]} has changed since", "look at it again")
        assert one.after is not None
        blob = _told(plan.top, one.after.encode(), "hash-object", "-w", "--stdin").strip()
        _told(plan.top, b"", "notes", f"--ref={REF}", "add", "-f", "-C", blob, one.commit)
    return len(plan.to_do)


def _told(top: str, data: bytes, *words: str) -> str:
    program = shutil.which("git")
    if program is None:
        raise SourceError("there is no `git` here")
    command = [program, "--no-pager", "-C", top, *words]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=LONGEST)  # noqa: S603  Git
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"Git does not answer: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise SourceError(f"Git refuses the note: {said}")
    return done.stdout.decode("utf-8", "replace")
