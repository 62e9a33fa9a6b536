"""What lies beside a session's log to where it lies beside that of a copy.

<session>/**                     agents, outputs too large for the log, workflows, a title
agent-<id>.jsonl                 of older versions, beside the log: into the copy's folder
file-history/<session>/**        backups that snapshots name, so that the copy can undo
tasks/<session>/**, todos/<session>-*.json
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plait.edit.model import Subject
from plait.line import LogFile, files_under
from plait.line.discover import AGENT, SUBAGENTS, SUFFIX
from plait.record import Record
from plait.record.read import read_if_there
from plait.record.sidecar import agent_meta

OUTPUTS = "tool-results"
JSON = ".json"
META = ".meta.json"
RUN = "wf_"
WHOLE_SESSION = frozenset({"tasks", "todos"})
KEPT_BY_CLIENT = ("file-history", "tasks")
LISTS = "todos"


BESIDE_OTHERS = "custom-title.json"


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file beside a session's log, and where a copy has it."""

    source: Path
    target: Path
    is_log: bool = False
    """It is lines that hold ids."""
    is_named: bool = False
    """It is one JSON text that holds ids."""


def side_files(subject: Subject, session: str) -> tuple[SideFile, ...]:
    """Returns all files that belong to a session, with where a session of another id has them."""
    found: dict[Path, SideFile] = {}
    for one in (*_in_folder(subject, session), *_elsewhere(subject, session)):
        found.setdefault(one.target, one)  # an agent may lie in two places: that of its own wins
    return (*found.values(), *_kept_by_client(subject, session))


def _in_folder(subject: Subject, session: str) -> Iterator[SideFile]:
    folder = subject.log.folder
    target = subject.log.path.with_name(session)
    for path in files_under(folder):
        yield _side_file(path, target / path.relative_to(folder))


def _side_file(path: Path, target: Path) -> SideFile:
    is_output = OUTPUTS in path.parent.parts[-2:]
    is_log = path.suffix == SUFFIX and not is_output
    return SideFile(path, target, is_log, path.suffix == JSON and not is_output)


def _elsewhere(subject: Subject, session: str) -> Iterator[SideFile]:
    """Yields logs that belong to the session and do not lie in its folder."""
    folder = subject.log.path.with_name(session) / SUBAGENTS
    for log in subject.others:
        if subject.log.folder in log.path.parents:
            continue
        home = folder / "workflows" / log.run if log.run else folder
        yield SideFile(log.path, home / log.path.name, is_log=True)
        meta = meta_of(log)
        if meta.is_file():
            yield SideFile(meta, home / meta.name, is_named=True)


def meta_of(log: LogFile) -> Path:
    """Returns where it is said what an agent is."""
    return log.path.with_suffix(META)


def _kept_by_client(subject: Subject, session: str) -> Iterator[SideFile]:
    if subject.config is None:
        return
    for name in KEPT_BY_CLIENT:
        folder = subject.config / name / subject.id
        for path in files_under(folder):
            yield SideFile(path, folder.with_name(session) / path.relative_to(folder))
    for path in files_under(subject.config / LISTS):
        if path.name.startswith(f"{subject.id}-"):
            yield SideFile(path, path.with_name(path.name.replace(subject.id, session)))


def belonging(
    found: Iterable[SideFile], kept: Iterable[Record], *, by_parent: bool = True
) -> tuple[SideFile, ...]:
    """Returns the files that some records name, or agents that they sent out.

    An agent is named by its id, by the call that sent it out, or by the record that it hangs on.
    """
    texts = [record.raw for record in kept]
    taken: list[SideFile] = []
    waiting = [one for one in found if WHOLE_SESSION.isdisjoint(one.source.parts[-3:-1])]
    while True:
        named = [one for one in waiting if _is_named(one, texts, by_parent)]
        if not named:
            return tuple(taken)
        taken += named
        waiting = [one for one in waiting if one not in named]
        logs = (one.source for one in named if one.is_log)
        texts = [record.raw for path in logs for record in read_if_there(path)]


def _is_named(one: SideFile, texts: list[bytes], by_parent: bool) -> bool:
    names = [name.encode() for name in _names_of(one, by_parent)]
    return not names or any(name in text for text in texts for name in names)


def _names_of(one: SideFile, by_parent: bool) -> Iterator[str]:
    """Yields what a file beside the log is known by in it, nothing where it is of the session."""
    path = one.source
    if path.name == BESIDE_OTHERS:
        return
    stem = path.name.removesuffix(META) if path.name.endswith(META) else path.stem
    yield stem.removeprefix(AGENT)
    meta = agent_meta(path.with_name(stem + SUFFIX)) if stem.startswith(AGENT) else None
    if meta and meta.call_id:
        yield meta.call_id
    if (
        by_parent
        and one.is_log
        and (first := next(read_if_there(path), None))
        and first.parent_uuid
    ):
        yield first.parent_uuid
    run = next((part for part in path.parts if part.startswith(RUN)), None)
    if run:
        yield run.removesuffix(path.suffix)
