"""The log lines of `/clear`, `/rename` and `/branch`."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from plait.chat.rewind import Snapshot, is_backup_name, list_rewind_points, parse_snapshot
from plait.documents import rebuild_messages
from plait.errors import UserError
from plait.line import iter_lines, read_file_stamp, read_small
from plait.line.discovery import find_history_folder
from plait.line.output import OutputFolder
from plait.record import Record, iter_client_records, read
from plait.record.codec import NotAnObject, as_mapping, decode_object, encode
from plait.write import SessionWriter, lines

TITLE_FILE = "custom-title.json"
TITLE_LINE = b'{"type":"custom-title"'
RENAME_REMINDER = (
    '<system-reminder>\nThe user named this session "{}". This may indicate the session\'s focus or'
    " intent.\n</system-reminder>"
)


def load_session(path: str | Path) -> list[dict[str, Any]]:
    """Return the messages of a file as the published protocol rebuilds them, quirks included.

    For what Claude will see on resume use `plait.context`; for the requests of a running session
    `plait.chat.context`.
    """
    return rebuild_messages(read(path))


def clear_session(session: SessionWriter) -> SessionWriter:
    """Start a new session that keeps only the name of the old one, as `/clear` does."""
    title = read_title(session.path)
    session.close()
    new = SessionWriter.new(session.path.parents[1], **_writer_options(session))
    new.setting.first = session.setting.first or session.session
    if title:
        _set_title(new, title)
    new.command("clear", is_asked=True)
    return new


def _writer_options(session: SessionWriter) -> dict[str, Any]:
    """Return the options for a writer like this one."""
    setting = session.setting
    return {
        "cwd": setting.cwd,
        "version": setting.version,
        "git_branch": setting.git_branch,
        "model": setting.model,
        "permission_mode": setting.permission_mode,
        "entrypoint": setting.entrypoint,
        "is_settled": session.is_settled,
    }


def rename_session(session: SessionWriter, title: str) -> str:
    """Rename a session, as `/rename` does; return the message for the user."""
    name = " ".join(title.split())
    if not name:
        raise UserError("a title cannot be empty", "for example `/rename Parser fixes`")
    _set_title(session, name)
    text = f"Session renamed to: {name}"
    session.command("rename", name, text)
    if not session.is_unseen and not session.setting.is_older:
        session.remind(RENAME_REMINDER.format(name))
    return text


def read_title(path: Path) -> str | None:
    """Return the session's newest title given by the user; None if there is none."""
    title: str | None = None
    for line in iter_lines(path) if read_file_stamp(path) else ():
        if line.data.startswith(TITLE_LINE):
            with suppress(NotAnObject):
                named = decode_object(line.data).get("customTitle")
                title = named if isinstance(named, str) and named else title
    return title


def _set_title(session: SessionWriter, title: str) -> None:
    session.title(title)
    if session.setting.is_older:
        return
    session.state("agent-name", agent_name=title)
    save_title(session.path, title)


def save_title(path: Path, title: str) -> None:
    """Save a session's title beside its log as well."""
    OutputFolder(path.with_suffix("")).write(TITLE_FILE, encode({"customTitle": title}))


MAX_TITLE_LENGTH = 100
BRANCH_MESSAGE = (
    "Branched conversation{named}. You are now in the new branch (session {new}). Use /resume"
    " {old}{titled} to return to the original, or run `claude -r {old}` in a new terminal."
)


def branch_session(
    session: SessionWriter, chain: Sequence[Record], title: str = ""
) -> SessionWriter:
    """Continue in a copy of the conversation, as `/branch` does.

    Each message of the new file names the one it was copied from (`forkedFrom`) and has the
    previous one as its parent. File backups are copied too, so that the branch can be rewound.
    """
    if not chain:
        raise UserError("there is nothing to branch yet")
    session.close()
    name, words = session.ids.uuid(), " ".join(title.split())
    path = session.path.parent / f"{name}.jsonl"
    known = {record.uuid for record in chain}
    snapshots: dict[str, Snapshot] = {}
    for snapshot in filter(
        None, map(parse_snapshot, iter_client_records(iter_lines(session.path)))
    ):
        if snapshot.prompt in known and snapshot.prompt:  # later updates belong to the first one
            first = snapshots.setdefault(snapshot.prompt, snapshot)
            backups = {**snapshot.backups, **first.backups}
            snapshots[snapshot.prompt] = first._replace(backups=backups)
    called = words or _choose_title(path.parent, chain)
    parts, before = [], None
    for record in chain:
        origin = {"sessionId": session.session, "messageUuid": record.uuid}
        fields = {**record.fields, "parentUuid": before, "sessionId": name, "forkedFrom": origin}
        parts.append(record.with_fields(fields).raw)
        before = record.uuid
    parts.append(lines.make_title_line(name, called))
    if not session.setting.is_older:
        parts.append(lines.make_state_line(name, "agent-name", {"agentName": called}))
        parts.append(lines.make_state_line(name, "mode", {"mode": "normal"}))
    parts += [
        lines.make_snapshot_line(snapshot.prompt or "", snapshot.backups, snapshot.time)
        for snapshot in snapshots.values()
    ]
    OutputFolder(path.parent).write(path.name, b"".join(line + b"\n" for line in parts))
    source, target = find_history_folder(session.path), find_history_folder(path)
    names = {
        as_mapping(backup).get("backupFileName")
        for snapshot in snapshots.values()
        for backup in snapshot.backups.values()
    }
    for copy in names if source and target else ():
        if isinstance(copy, str) and is_backup_name(copy) and source and target:
            data = read_small(source / copy)
            if data is not None:
                OutputFolder(target).write(copy, data)
    if not session.setting.is_older:
        save_title(path, called)
    new = SessionWriter.resume(
        path, has_snapshots=session.has_snapshots, **_writer_options(session)
    )
    old_title = read_title(session.path)
    message = BRANCH_MESSAGE.format(
        named=f' "{words}"' if words else "",
        new=name,
        old=session.session,
        titled=f' ("{old_title}")' if old_title else "",
    )
    new.command("branch", title, message)
    return new


def _choose_title(folder: Path, chain: Sequence[Record]) -> str:
    """Return the title of an unnamed branch: its first prompt and a number."""
    points = list_rewind_points(chain)
    words = " ".join(points[0].text.split())[:MAX_TITLE_LENGTH].rstrip() if points else ""
    start = words or "Branched conversation"
    form = re.compile(re.escape(start) + r" \(Branch(?: (\d+))?\)")
    titles = filter(None, map(read_title, folder.glob("*.jsonl")))
    numbers = {match[1] for title in titles if (match := form.fullmatch(title))}
    if not numbers:
        return f"{start} (Branch)"
    number = next(number for number in range(2, len(numbers) + 3) if str(number) not in numbers)
    return f"{start} (Branch {number})"
