"""Side files of a session, their places in a copy, and deletion of a session.

<session>/**                     agents, outputs too large for the log, workflows, a title
agent-<id>.jsonl                 older versions: next to the log; a copy has it in its folder
file-history/<session>/**        backups that snapshots name, so that rewinding works
tasks/<session>/**, todos/<session>-*.json
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from plait.edit.log import measure_log, read_stamp
from plait.edit.plan import NO_MEASURES, Change, Plan, Remove, Subject
from plait.edit.rename import TITLE_FILE
from plait.line import list_files, read_file_stamp
from plait.line.discovery import AGENT_PREFIX, LOG_SUFFIX, SUBAGENTS
from plait.record import Record
from plait.record.reader import read_if_exists
from plait.record.side_files import read_agent_meta
from plait.view.formats import format_count

OUTPUTS = "tool-results"
JSON = ".json"
META = ".meta.json"
RUN = "wf_"
SESSION_FOLDERS = frozenset({"tasks", "todos"})
CLIENT_FOLDERS = ("file-history", "tasks")
LISTS = "todos"


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file beside a session's log, and its place in a copy."""

    source: Path
    target: Path
    is_log: bool = False
    """Whether it consists of lines with ids."""
    is_named: bool = False
    """Whether it is one JSON text with ids."""


def list_side_files(subject: Subject, session: str) -> tuple[SideFile, ...]:
    """Return all files that belong to a session, with their places for another session id."""
    found: dict[Path, SideFile] = {}
    folder, target = subject.log.folder, subject.log.path.with_name(session)
    for path in list_files(folder):
        place = target / path.relative_to(folder)
        is_output = OUTPUTS in path.parent.parts[-2:]
        is_log = path.suffix == LOG_SUFFIX and not is_output
        found[place] = SideFile(path, place, is_log, path.suffix == JSON and not is_output)
    for log in subject.others:
        if folder in log.path.parents:
            continue
        # Older clients wrote the logs of agents next to that of the session. An agent may have two:
        # the one in the session's folder wins.
        home = target / SUBAGENTS
        if log.run:
            home /= f"workflows/{log.run}"
        meta = log.path.with_suffix(META)
        found.setdefault(
            home / log.path.name, SideFile(log.path, home / log.path.name, is_log=True)
        )
        if meta.is_file():
            found.setdefault(home / meta.name, SideFile(meta, home / meta.name, is_named=True))
    files = list(found.values())
    if subject.config is None:
        return tuple(files)
    for name in CLIENT_FOLDERS:
        folder = subject.config / name / subject.id
        place = folder.with_name(session)
        files += (SideFile(path, place / path.relative_to(folder)) for path in list_files(folder))
    files += (
        SideFile(path, path.with_name(path.name.replace(subject.id, session)))
        for path in list_files(subject.config / LISTS)
        if path.name.startswith(f"{subject.id}-")
    )
    return tuple(files)


def select_referenced(
    found: Iterable[SideFile], kept: Iterable[Record], *, by_parent: bool = True
) -> tuple[SideFile, ...]:
    """Return the files that some records refer to, and the logs of agents they started.

    An agent is identified by its id, by the call that started it, or by its parent record.
    """

    def is_referenced(side_file: SideFile) -> bool:
        names = _list_names(side_file, by_parent=by_parent)
        return not names or any(name in text for text in texts for name in names)

    texts = [record.raw for record in kept]
    selected: list[SideFile] = []
    waiting = [item for item in found if SESSION_FOLDERS.isdisjoint(item.source.parts[-3:-1])]
    while True:
        named = list(filter(is_referenced, waiting))
        if not named:
            return tuple(selected)
        selected += named
        waiting = [side_file for side_file in waiting if side_file not in named]
        logs = (side_file.source for side_file in named if side_file.is_log)
        texts = [record.raw for path in logs for record in read_if_exists(path)]


def _list_names(side_file: SideFile, *, by_parent: bool) -> list[bytes]:
    """Return the names by which the log refers to a side file; none if it belongs to the whole
    session.
    """
    path = side_file.source
    if path.name == TITLE_FILE:
        return []
    stem = path.name.removesuffix(META) if path.name.endswith(META) else path.stem
    names = [stem.removeprefix(AGENT_PREFIX)]
    if stem.startswith(AGENT_PREFIX):
        meta = read_agent_meta(path.with_name(stem + LOG_SUFFIX))
        names += [meta.call_id] if meta and meta.call_id else []
    if by_parent and side_file.is_log:
        first = next(read_if_exists(path), None)
        names += [first.parent_uuid] if first and first.parent_uuid else []
    run = next((part for part in path.parts if part.startswith(RUN)), None)
    names += [run.removesuffix(path.suffix)] if run else []
    return [name.encode() for name in names]


WHY_DELETED = "removed with the session; undo restores it"


def plan_delete(subject: Subject) -> Plan:
    """Return the plan that removes a session: its log and its side files."""
    stamp = read_stamp(subject.log.path)
    before = measure_log(subject.log, stamp.size)
    found = [
        (side_file.source, read_file_stamp(side_file.source))
        for side_file in list_side_files(subject, subject.id)
    ]
    side_files = [(path, was) for path, was in found if was is not None]
    gone = ((subject.log.path, stamp), *side_files)
    notes = (
        (f"also removes {format_count(len(side_files), 'file')} next to the log",)
        if side_files
        else ()
    )
    return Plan(
        operation="delete",
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=tuple(Remove(path, was) for path, was in gone),
        before=before,
        after=NO_MEASURES,
        changes=(Change("dropped", before.lines, WHY_DELETED),),
        read=gone,
        notes=notes,
    )
