"""A conversation to a session of its own that begins with it, as `/branch` makes it.

Each message of the new file names the one it is a copy of (`forkedFrom`) and hangs on the one
before it. The backups of files go along, so that one can go back there, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from plait.agent.rewinding.history import Snapshot, is_copy_name, snapshot_in
from plait.agent.rewinding.points import points_of
from plait.agent.sessions import keep_title, title_of
from plait.errors import UserError
from plait.line import lines as read_lines
from plait.line import read_small
from plait.line.folder import OutputFolder
from plait.record import Record, client_records
from plait.record.codec import mapping
from plait.write import SessionWriter, lines
from plait.write.place import history_folder

LONGEST_TITLE = 100
BRANCHED = (
    "Branched conversation{named}. You are now in the new branch (session {new}). Use /resume"
    " {old}{titled} to return to the original, or run `claude -r {old}` in a new terminal."
)


def branched(session: SessionWriter, chain: Sequence[Record], title: str = "") -> SessionWriter:
    """Leaves a session for a copy of a conversation of it."""
    if not chain:
        raise UserError("there is nothing yet that could be branched")
    session.close()
    name, words = session.ids.uuid(), " ".join(title.split())
    path = session.path.parent / f"{name}.jsonl"
    records = client_records(read_lines(session.path))
    kept = list(_snapshots(records, {record.uuid for record in chain}))
    called = words or _free_title(path.parent, chain)
    notes = _notes(name, called, is_older=session.setting.is_older)
    told = [*_copies(chain, name, session.session), *notes]
    told += [lines.snapshot(one.prompt or "", one.backups, one.time) for one in kept]
    OutputFolder(path.parent).write(path.name, b"".join(line + b"\n" for line in told))
    _copy_backups(session.path, path, kept)
    if not session.setting.is_older:
        keep_title(path, called)
    new = _gone_on(session, path)
    new.command("branch", title, _told(session, name, words))
    return new


def _gone_on(session: SessionWriter, path: Path) -> SessionWriter:
    setting = session.setting
    return SessionWriter.resume(
        path,
        cwd=setting.cwd,
        version=setting.version,
        git_branch=setting.git_branch,
        model=setting.model,
        permission_mode=setting.permission_mode,
        entrypoint=setting.entrypoint,
        has_snapshots=session.has_snapshots,
        is_settled=session.is_settled,
    )


def _notes(session: str, title: str, *, is_older: bool) -> Iterator[bytes]:
    yield lines.custom_title(session, title)
    if not is_older:
        yield lines.state(session, "agent-name", {"agentName": title})
        yield lines.state(session, "mode", {"mode": "normal"})


def _told(session: SessionWriter, new: str, words: str) -> str:
    title = title_of(session.path)
    return BRANCHED.format(
        named=f' "{words}"' if words else "",
        new=new,
        old=session.session,
        titled=f' ("{title}")' if title else "",
    )


def _copies(chain: Sequence[Record], session: str, source: str) -> Iterator[bytes]:
    before: str | None = None
    for record in chain:
        origin = {"sessionId": source, "messageUuid": record.uuid}
        fields = {**record.fields, "parentUuid": before, "sessionId": session, "forkedFrom": origin}
        yield record.with_fields(fields).raw
        before = record.uuid


def _free_title(folder: Path, chain: Sequence[Record]) -> str:
    """Returns what a branch is called that nobody named: its first prompt, and which one it is."""
    points = points_of(chain)
    words = " ".join(points[0].text.split())[:LONGEST_TITLE].rstrip() if points else ""
    start = words or "Branched conversation"
    form = re.compile(re.escape(start) + r" \(Branch(?: (\d+))?\)")
    taken = {match[1] for title in _titles(folder) if (match := form.fullmatch(title))}
    if not taken:
        return f"{start} (Branch)"
    number = next(one for one in range(2, len(taken) + 3) if str(one) not in taken)
    return f"{start} (Branch {number})"


def _titles(folder: Path) -> Iterator[str]:
    """Yields the titles of the sessions of a directory that lie beside them."""
    for path in folder.glob("*.jsonl"):
        if title := title_of(path):
            yield title


def _snapshots(records: Iterable[Record], known: set[str | None]) -> Iterator[Snapshot]:
    """Yields what was kept at each prompt of a conversation, with what joined it later."""
    found: dict[str, Snapshot] = {}
    for one in filter(None, map(snapshot_in, records)):
        if one.prompt in known and one.prompt:
            first = found.setdefault(one.prompt, one)
            found[one.prompt] = first._replace(backups={**one.backups, **first.backups})
    yield from found.values()


def _copy_backups(source: Path, target: Path, kept: Sequence[Snapshot]) -> None:
    folders = history_folder(source), history_folder(target)
    if not (folders[0] and folders[1]):
        return
    names = {mapping(one).get("backupFileName") for held in kept for one in held.backups.values()}
    for name in names:
        if isinstance(name, str) and is_copy_name(name):
            data = read_small(folders[0] / name)
            if data is not None:
                OutputFolder(folders[1]).write(name, data)
