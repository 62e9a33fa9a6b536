"""The story of a file to who wrote each of its lines, joined with what Git knows."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from plait.archive.choosing import short_name
from plait.archive.files.git import CommittedLine, FileInGit
from plait.archive.files.history import FileHistory
from plait.archive.files.notes import REF, Attested, Note, note_in
from plait.conversation.versions.model import Certainty, Mark, Version
from plait.conversation.versions.model import Why as WhyUnknown
from plait.conversation.versions.text import MARK as UNSEEN_LINE
from plait.errors import UserError
from plait.line.git import asked
from plait.record.time import moment, stamp_of

PATIENCE = timedelta(seconds=2)
"""By how much clocks may differ."""


class BlamedLine(Struct, frozen=True, kw_only=True):
    """A line of a file, and who wrote it."""

    line: int
    text: str
    session: str | None = None
    turn: int | None = None
    """None where only a note beside the commit names the session."""
    branch: str | None = None
    """The branch whose turn that is; None in the conversation that goes on."""
    uuid: str | None = None
    """The record of the call that wrote it."""
    time: str | None = None
    certainty: Certainty = "unknown"
    why: str = ""
    """Why it is not known."""
    prompt: str | None = None
    agent: str | None = None
    """The task of the agent that wrote it, or the tool that a note names."""
    model: str | None = None
    call: str | None = None
    is_abandoned: bool = False
    """On a branch that was left: the file kept it all the same."""
    commit: str | None = None
    author: str | None = None
    committed: str | None = None


class Blame(Struct, frozen=True, kw_only=True):
    """A file, line by line."""

    path: str
    lines: tuple[BlamedLine, ...]
    known_as: tuple[str, ...] = ()
    as_of: str | None = None
    """When it was like this, where it is not on this disk."""
    has_git: bool = False

    @property
    def counts(self) -> dict[Certainty, int]:
        """How many lines are known how well."""
        found: dict[Certainty, int] = {"sure": 0, "likely": 0, "unknown": 0}
        for one in self.lines:
            found[one.certainty] += 1
        return found


IN_WORDS: Mapping[WhyUnknown, str] = {
    "": "",
    "before": "it stood there before any session that is known",
    "between": "it came by hand or by a command, between what sessions tell",
    "several": "the same line was written more than once: it may be either",
    "moved": "a turn moved it: it may count for that turn, or for whoever wrote it first",
    "again": "it had gone and came again, and no log says how",
    "earlier": "Git has it in a commit from before it was written",
    "unread": "no log says what the file held",
}


def blame_of(history: FileHistory, *, has_notes: bool = True) -> Blame:
    """Returns who wrote each line of a file as it is now, else as it was last known."""
    text = history.on_disk()
    story, as_of = history.story, None
    if text is not None:
        version = story.see(text, stamp_of(datetime.now(UTC)))
    else:
        known = story.last_there
        if known is None:
            raise _never_seen(history)
        version, as_of = known, known.time
    git = history.names.git if text is not None else None
    committed = git.blame() if git else []
    lines = _joined(version, committed)
    if git and has_notes and committed:
        lines = _with_notes(lines, committed, git)
    return Blame(
        path=history.path,
        lines=tuple(lines),
        known_as=history.known_as,
        as_of=as_of,
        has_git=bool(committed),
    )


def _never_seen(history: FileHistory) -> UserError:
    if history.events:
        return UserError(
            f"'{history.path}' is not here, and no session tells what it held",
            "`plait show` finds the turns that touched it: their patches are what there is",
        )
    return UserError(
        f"'{history.path}' is not here, and no session knows it",
        "--as gives the path by which sessions know it; `plait files SESSION` lists its paths",
    )


def _joined(version: Version, committed: Sequence[CommittedLine]) -> list[BlamedLine]:
    assert version.text is not None
    lines = version.text.lines
    known = committed if len(committed) == len(lines) else [None] * len(lines)
    return [
        _line(number, text, mark, git)
        for number, (text, mark, git) in enumerate(zip(lines, version.marks, known, strict=True), 1)
    ]


def _line(number: int, text: str, mark: Mark, git: CommittedLine | None) -> BlamedLine:
    commit = git.commit if git else None
    if text.startswith(UNSEEN_LINE):
        return BlamedLine(line=number, text="", why=IN_WORDS["unread"])
    mark = _as_git_allows(mark, commit.time if commit else None)
    origin = mark.origin
    found = BlamedLine(
        line=number,
        text=text,
        certainty=mark.certainty,
        why=IN_WORDS[mark.why],
        commit=commit.id if commit else None,
        author=commit.author if commit else None,
        committed=stamp_of(commit.time) or None if commit else None,
    )
    if origin is None:
        return found
    return replace(
        found,
        session=origin.session,
        turn=origin.turn,
        branch=short_name(origin.branch) if origin.branch else None,
        uuid=origin.uuid,
        time=origin.time,
        prompt=origin.prompt,
        agent=origin.agent,
        model=origin.model,
        call=origin.call,
        is_abandoned=not origin.is_active,
    )


def _as_git_allows(mark: Mark, committed: datetime | None) -> Mark:
    """Returns a mark; none where Git had the line before, and the log is not sure of it.

    What had gone and came again is the same line where Git has it from before it went.
    """
    written = moment(mark.origin.time) if mark.origin else None
    gone = moment(mark.gone) if mark.gone else None
    if gone and (committed is None or committed > gone):
        return Mark(why="again")
    if mark.certainty != "likely" or written is None or committed is None:
        return mark
    return Mark(why="earlier") if committed + PATIENCE < written else mark


def _with_notes(
    lines: Sequence[BlamedLine], committed: Sequence[CommittedLine], git: FileInGit
) -> list[BlamedLine]:
    """Returns lines with what notes say of those that no log tells of."""
    if len(lines) != len(committed):
        return list(lines)
    wanted = {one.commit for one in lines if one.certainty == "unknown" and one.commit}
    notes = notes_of(git, wanted)
    found = []
    for line, known in zip(lines, committed, strict=True):
        note = notes.get(line.commit or "") if line.certainty == "unknown" else None
        told = note.writer(known.path, known.number) if note else None
        found.append(_noted(line, told) if told else line)
    return found


def _noted(line: BlamedLine, told: Attested) -> BlamedLine:
    if told.person is not None:
        return replace(line, why=f"a note beside the commit says that {told.person} typed it")
    return replace(
        line,
        session=told.id,
        certainty="likely" if told.id else "unknown",
        why="by a note beside the commit",
        agent=told.tool,
        model=told.model,
    )


def notes_of(git: FileInGit, commits: set[str]) -> dict[str, Note]:
    """Returns the notes of git-ai beside some commits."""
    told = asked(git.top, "notes", f"--ref={REF}", "list") if commits else None
    noted = {line.split(" ")[1] for line in (told or "").split("\n") if " " in line}
    found: dict[str, Note] = {}
    for commit in sorted(commits & noted):
        note = note_in(asked(git.top, "notes", f"--ref={REF}", "show", commit) or "")
        if note:
            found[commit] = note
    return found
