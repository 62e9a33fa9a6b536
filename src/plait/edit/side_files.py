"""Side files of a session, their places in a copy, and deletion of a session.

<session>/**                     agents, outputs too large for the log, workflows, a title
agent-<id>.jsonl                 older versions: next to the log; a copy has it in its folder
file-history/<session>/**        backups that snapshots name, so that rewinding works
tasks/<session>/**, todos/<session>-*.json
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plait.edit.log import measure_log, read_stamp
from plait.edit.plan import NO_MEASURES, Change, Plan, Remove, Subject
from plait.line import list_files, read_file_stamp
from plait.line.discovery import AGENT_PREFIX, LOG_SUFFIX, SUBAGENTS
from plait.record import Record
from plait.record.reader import read_if_exists
from plait.record.side_files import read_agent_meta

OUTPUTS = "tool-results"
JSON = ".json"
META = ".meta.json"
RUN = "wf_"
SESSION_FOLDERS = frozenset({"tasks", "todos"})
CLIENT_FOLDERS = ("file-history", "tasks")
LISTS = "todos"


TITLE_FILE = "custom-title.json"


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
    for side_file in (
        *_iter_folder_files(subject, session),
        *_iter_outside_files(subject, session),
    ):
        found.setdefault(
            side_file.target, side_file
        )  # an agent may have two logs: the one in the session's folder wins
    return (*found.values(), *_iter_client_files(subject, session))


def _iter_folder_files(subject: Subject, session: str) -> Iterator[SideFile]:
    folder = subject.log.folder
    target = subject.log.path.with_name(session)
    for path in list_files(folder):
        is_output = OUTPUTS in path.parent.parts[-2:]
        is_log = path.suffix == LOG_SUFFIX and not is_output
        yield SideFile(
            path, target / path.relative_to(folder), is_log, path.suffix == JSON and not is_output
        )


def _iter_outside_files(subject: Subject, session: str) -> Iterator[SideFile]:
    """Yield logs that belong to the session but are outside its folder."""
    folder = subject.log.path.with_name(session) / SUBAGENTS
    for log in subject.others:
        if subject.log.folder in log.path.parents:
            continue
        home = folder / "workflows" / log.run if log.run else folder
        yield SideFile(log.path, home / log.path.name, is_log=True)
        meta = log.path.with_suffix(META)
        if meta.is_file():
            yield SideFile(meta, home / meta.name, is_named=True)


def _iter_client_files(subject: Subject, session: str) -> Iterator[SideFile]:
    if subject.config is None:
        return
    for name in CLIENT_FOLDERS:
        folder = subject.config / name / subject.id
        for path in list_files(folder):
            yield SideFile(path, folder.with_name(session) / path.relative_to(folder))
    for path in list_files(subject.config / LISTS):
        if path.name.startswith(f"{subject.id}-"):
            yield SideFile(path, path.with_name(path.name.replace(subject.id, session)))


def select_referenced(
    found: Iterable[SideFile], kept: Iterable[Record], *, by_parent: bool = True
) -> tuple[SideFile, ...]:
    """Return the files that some records refer to, and the logs of agents they started.

    An agent is identified by its id, by the call that started it, or by its parent record.
    """
    texts = [record.raw for record in kept]
    selected: list[SideFile] = []
    waiting = [
        side_file
        for side_file in found
        if SESSION_FOLDERS.isdisjoint(side_file.source.parts[-3:-1])
    ]
    while True:
        named = [side_file for side_file in waiting if _is_named(side_file, texts, by_parent)]
        if not named:
            return tuple(selected)
        selected += named
        waiting = [side_file for side_file in waiting if side_file not in named]
        logs = (side_file.source for side_file in named if side_file.is_log)
        texts = [record.raw for path in logs for record in read_if_exists(path)]


def _is_named(side_file: SideFile, texts: list[bytes], by_parent: bool) -> bool:
    names = [name.encode() for name in _iter_names(side_file, by_parent)]
    return not names or any(name in text for text in texts for name in names)


def _iter_names(side_file: SideFile, by_parent: bool) -> Iterator[str]:
    """Yield the names by which the log refers to a side file; none if it belongs to the whole
    session.
    """
    path = side_file.source
    if path.name == TITLE_FILE:
        return
    stem = path.name.removesuffix(META) if path.name.endswith(META) else path.stem
    yield stem.removeprefix(AGENT_PREFIX)
    meta = (
        read_agent_meta(path.with_name(stem + LOG_SUFFIX))
        if stem.startswith(AGENT_PREFIX)
        else None
    )
    if meta and meta.call_id:
        yield meta.call_id
    if (
        by_parent
        and side_file.is_log
        and (first := next(read_if_exists(path), None))
        and first.parent_uuid
    ):
        yield first.parent_uuid
    run = next((part for part in path.parts if part.startswith(RUN)), None)
    if run:
        yield run.removesuffix(path.suffix)


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
    notes = (f"also removes {len(side_files)} files next to its log",) if side_files else ()
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
