"""A session that is lost to a log that is made of what is left of it, marked as what it is.

    note      what this is, and what is lost
    prompts   as they were typed, at their times
    deltas    which backups hold how files were
    notes     commits, with why they are taken for the session's
    tag       incomplete

The same traces make the same bytes.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TypeAlias

from plait.keep.model import Kind, NewFile
from plait.keep.rescue.leftovers import BACKUPS, ENVIRONMENTS
from plait.keep.rescue.model import COMMAND, Backup, Commit, LostSession, Typed
from plait.line import read_small, slug_of
from plait.line.discover import PROJECTS, SUFFIX
from plait.write import SessionWriter
from plait.write.ids import Ids, written_time
from plait.write.lines import file_delta
from plait.write.model import Fields, Setting

INCOMPLETE = "incomplete"
"""The mark of a session that is not whole."""
NOWHERE = "/"
"""The directory of a session of which nobody knows it."""
REASONS = {
    "named": "it names this session",
    "co-authored": "with Claude, after a prompt of this session",
    "at the time": "made after a prompt of this session",
}
MOST_NAMED = 20
"""Files of a commit that are told."""
Event: TypeAlias = Typed | Backup | Commit


def made_files(one: LostSession, config: Path) -> tuple[NewFile, ...]:
    """Returns the log that is made of a lost session, first, and the files that it still has."""
    with TemporaryDirectory(prefix="plait-rescue-") as folder:
        log = _written(one, Path(folder))
        project, data = log.parent.name, log.read_bytes()
    home = str(config.absolute())

    def file(path: str, data: bytes, kind: Kind, moment: datetime | None) -> NewFile:
        modified = round(moment.timestamp() * 1000) * 10**6 if moment else None
        return NewFile(home, path, project, one.session, data, kind, modified, mark=INCOMPLETE)

    path = f"{PROJECTS}/{project}/{one.session}{SUFFIX}"
    return (
        file(path, data, "session", one.ended),
        *(
            file(f"{BACKUPS}/{one.session}/{found.copy.name}", held, "backup", found.time)
            for found in one.backups
            if (held := read_small(found.copy)) is not None
        ),
        *(
            file(f"{ENVIRONMENTS}/{one.session}/{script.name}", held, "beside", one.began)
            for script in one.scripts
            if (held := read_small(script)) is not None
        ),
    )


class _Hands:
    """A clock that is set."""

    def __init__(self) -> None:
        self.moment = datetime.fromtimestamp(0, UTC)

    def __call__(self) -> datetime:
        return self.moment


def _written(one: LostSession, folder: Path) -> Path:
    clock = _Hands()
    cwd = one.directory or NOWHERE
    project = one.project or slug_of(cwd)
    path = folder / PROJECTS / project / f"{one.session}{SUFFIX}"
    branch = one.listed.branch or "HEAD"
    setting = Setting(one.session, cwd, branch, permission_mode=None)
    clock.moment = one.began or clock.moment
    ids = Ids(Random(one.session), clock)
    with SessionWriter(path, setting, ids, has_snapshots=False) as writer:
        _note(writer, note(one))
        for event in _events(one):
            clock.moment = event.time
            _tell(writer, event, cwd)
        if one.title:
            writer.title(one.title)
        elif one.listed.title:
            writer.ai_title(one.listed.title)
        writer.tag(INCOMPLETE)
    return path


def _events(one: LostSession) -> Iterator[Event]:
    """Yields what happened, in order; what only a list of sessions tells comes first."""
    prompts = one.prompts
    first = one.listed.first_prompt
    if not prompts and first:
        began = one.began or datetime.fromtimestamp(0, UTC)
        prompts = (Typed(began, first, one.directory, one.session),)
    events: list[Event] = [*prompts, *one.backups, *one.commits]
    yield from sorted(events, key=lambda event: (event.time, not isinstance(event, Typed)))


def _tell(writer: SessionWriter, event: Event, cwd: str) -> None:
    match event:
        case Typed():
            writer.prompt(_as_logged(event.text))
        case Backup():
            message = writer.tip or ""
            name = _name_in(event.file, cwd) if event.file else event.key
            time = written_time(event.time)
            writer.append(file_delta(message, message, name, _backup(event), time))
        case Commit():
            _note(writer, _commit_words(event, cwd))


def _note(writer: SessionWriter, words: str) -> None:
    """Writes something that readers see, and the model when it goes on from here."""
    content = f"<local-command-stdout>{words}</local-command-stdout>"
    writer.system("local_command", content=content)


def _as_logged(text: str) -> str:
    """Returns what was typed as the client logs it: commands have a form of their own."""
    if text.startswith("!"):
        return f"<bash-input>{text[1:].strip()}</bash-input>"
    found = COMMAND.fullmatch(text.strip())
    if not found:
        return text
    name, rest = found[1], found[2] or ""
    message = f"<command-message>{name[1:]}</command-message>"
    return f"<command-name>{name}</command-name>\n{message}\n<command-args>{rest}</command-args>"


def _name_in(file: str, cwd: str) -> str:
    place = Path(file)
    return str(place.relative_to(cwd)) if place.is_relative_to(cwd) else file


def _backup(one: Backup) -> Fields:
    parent = {"realParentDir": str(Path(one.file).parent)} if one.file else {}
    return {
        "backupFileName": one.copy.name,
        "version": one.version,
        "backupTime": written_time(one.time),
        **parent,
    }


def _commit_words(one: Commit, cwd: str) -> str:
    names = [_name_in(name, cwd) for name in one.files[:MOST_NAMED]]
    more = len(one.files) - len(names)
    files = "\n".join(f"  {name}" for name in [*names, *([f"and {more} more"] if more else [])])
    return f"commit {one.id[:12]} {one.subject} ({REASONS[one.why]})\n{files}".rstrip()


def note(one: LostSession) -> str:
    """Returns what is said at the beginning of a log that was made."""
    return "\n".join(
        [
            "This session is incomplete: its log is gone, and all answers with it. This was put"
            " together by `plait keep rescue` from what was left:",
            *(f"- {words}" for words in found_words(one)),
        ]
    )


def found_words(one: LostSession) -> Iterator[str]:
    """Yields what was found of a session, and where."""
    if one.prompts:
        yield f"{_counted(len(one.prompts), 'prompt')} in history.jsonl"
    missing = sum(prompt.missing_pastes for prompt in one.prompts)
    if missing:
        yield f"{_counted(missing, 'pasted text')} of them gone"
    if one.is_guess:
        yield "no id: prompts of this directory less than four hours apart are taken for a session"
    if one.backups:
        nameless = len({backup.key for backup in one.backups if not backup.file})
        unknown = f", of {_counted(nameless, 'file')} whose name is not known" if nameless else ""
        yield f"{_counted(len(one.backups), 'backup')} in file-history{unknown}"
    if one.commits:
        yield f"{_counted(len(one.commits), 'commit')} in Git"
    if one.scripts:
        yield f"{_counted(len(one.scripts), 'script')} in session-env"
    if one.listed.messages:
        yield f"a list of sessions, which says that it had {one.listed.messages} messages"
    if not one.directory:
        yield "not the directory it was held in"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
