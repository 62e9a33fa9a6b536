"""Sessions of a family to their transcripts: one for each path, with names and headings."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import TypeAlias

from msgspec.structs import replace

from plait.archive.open_session import OpenSession
from plait.archive.resume import Resume
from plait.archive.sessions import is_uuid
from plait.conversation.build import recovered_from
from plait.conversation.model import Conversation
from plait.conversation.totals import Pricing, Totals, totals_over, with_own_responses
from plait.conversation.walk import parent_of, path_to
from plait.graph.model import Session as GraphSession
from plait.graph.model import SessionGraph
from plait.graph.paths import SPOKEN, Path, paths
from plait.line.folder import file_name
from plait.record import Record
from plait.view.costs import agents_called
from plait.view.transcript.coverage import Coverage
from plait.view.transcript.heading import Heading, Transcript


@dataclass(frozen=True)
class Surroundings:
    """What the records of a session say of where it took place."""

    directory: str | None = None
    branch: str | None = None
    versions: tuple[str, ...] = ()


@dataclass
class Names:
    """Gives each transcript a name of its own."""

    taken: AbstractSet[str] = frozenset()
    """What others are called."""
    given: dict[str, None] = field(default_factory=dict)
    is_crowded: bool = False
    """Whether others had a name that was asked for."""

    def free(self, name: str) -> str:
        """Returns a name that no other has, on any file system."""
        safe = file_name(name)
        found, number = safe, 2
        while (folded := found.casefold()) in self.given or folded in self.taken:
            self.is_crowded = self.is_crowded or folded in self.taken
            found, number = f"{safe}_{number}", number + 1
        self.given[folded] = None
        return found


def _surroundings(records: Iterable[Record]) -> Surroundings:
    directory = branch = None
    versions: dict[str, None] = {}
    for record in records:
        envelope = record.envelope
        directory = directory or envelope.cwd
        branch = envelope.git_branch or branch
        if envelope.version:
            versions[envelope.version] = None
    return Surroundings(directory, branch, tuple(versions))


def _empty_conversation(path: Path, graph: SessionGraph) -> Conversation:
    project = graph.sessions[path.session].project
    files = tuple(file.path for file in graph.files)
    return Conversation(path.session, "trunk", path.session, project, None, (), (), files)


Private: TypeAlias = Callable[[str], str]
"""A text to the same without what should not be shared."""


@dataclass(frozen=True)
class Family:
    """Sessions that share records, read together."""

    opened: OpenSession
    private: Private
    names: Names
    pricing: Pricing | None = None
    is_active_only: bool = False

    @property
    def graph(self) -> SessionGraph:
        """All their records in their places."""
        return self.opened.graph

    @cached_property
    def by_line(self) -> dict[str, Conversation]:
        """All conversations, their files by their names alone."""
        told = {**self.opened.by_line, **self.recovered}
        return {name: replace(one, files=self._files) for name, one in told.items()}

    @cached_property
    def recovered(self) -> dict[str, Conversation]:
        """What can be read from broken lines, for each session that has any."""
        records: dict[str, list[tuple[int, Record]]] = {}
        for number, record in self.opened.recovered():
            session = self.session_of.get(number)
            if session:
                records.setdefault(session, []).append((number, record))
        found = (recovered_from(held, session) for session, held in records.items())
        return {one.id: one for one in found if one}

    @cached_property
    def session_of(self) -> dict[int, str]:
        """The session of each file."""
        sessions = self.graph.sessions.values()
        return {number: one.id for one in sessions for number in one.files}

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """One for each ending; what else is left of a session stands in the place of one."""
        found = paths(self.graph)
        told = {path.session for path in found} | {
            self.by_line[line].session for path in found for line in self.way(path)
        }
        rest = [
            one for one in self.graph.sessions.values() if one.id not in told and self._holds(one)
        ]
        return (
            *found,
            *(Path(one.id, 0, 0, "ACTIVE", None, "", one.id, one.title) for one in rest),
        )

    @cached_property
    def coverage(self) -> Coverage:
        """How its sessions are told."""
        sessions = self.graph.sessions.values()
        told = {path.session for path in self.paths if path.of}
        alone = sum(not path.of for path in self.paths)
        silent = sum(bool(one.files) and not one.lines for one in sessions)
        inside = sum(not one.files for one in sessions)
        own = sum(bool(one.files) and one.id in told for one in sessions)
        carried = len(self.opened.sessions) - own - alone - silent
        return Coverage(own, alone, carried, silent, inside)

    @cached_property
    def chosen(self) -> list[tuple[int, Path]]:
        """The paths that are wanted, with their places among all."""
        numbered = enumerate(self.paths)
        return [one for one in numbered if not self.is_active_only or one[1].status == "ACTIVE"]

    def _holds(self, session: GraphSession) -> bool:
        """Tells whether a session has records that no other has."""
        return any(self.graph.lines[line].nodes for line in session.lines)

    @property
    def unspoken(self) -> list[str]:
        """What files without a conversation are called, those that hold summaries alone."""
        bare = (one for one in self.graph.sessions.values() if not one.lines)
        return [f"{one.title} ({one.id})" for one in bare if one.title]

    @cached_property
    def copies(self) -> list[str]:
        """Sessions that hold nothing but what another holds as well."""
        told = (one for one in self.graph.sessions.values() if one.lines)
        return [one.id for one in told if not self._holds(one)]

    def way(self, path: Path) -> list[str]:
        """Returns the DAG-lines that a path goes along, its end first."""
        line = self.by_line.get(path.line)
        found: list[str] = []
        while line is not None:
            found.append(line.id)
            line = parent_of(line, self.by_line.get)
        return found

    def lines_told(self, *, has_agents: bool) -> dict[str, None]:
        """Returns the conversations that are wanted: on chosen paths, and the agents of those."""
        ways = {line for _, path in self.chosen for line in self.way(path)}
        found = {line: None for line, one in self.by_line.items() if line in ways}
        waiting = [line for number, _ in self.chosen for line in self.unnamed.get(number, ())]
        if not has_agents:
            return found
        if not self.is_active_only:
            return dict.fromkeys(self.by_line)
        waiting += [name for line in found for name in agents_called(self.by_line[line].items())]
        while waiting:
            name = waiting.pop()
            if name not in found and name in self.by_line:
                found[name] = None
                waiting += agents_called(self.by_line[name].items())
        return {line: None for line in self.by_line if line in found}

    def hangs_on(self, uuid: str) -> str | None:
        """Returns the record that another really hangs on."""
        return self.graph.edge_of(uuid).parent if uuid in self.graph.nodes else None

    @cached_property
    def named(self) -> dict[int, str]:
        """The name of each path's transcript, by the path's place."""
        return {number: self.names.free(self._name(path)) for number, path in enumerate(self.paths)}

    @cached_property
    def pages(self) -> dict[str, str]:
        """The name of each session's page, without its ending."""
        return {one: self.names.free(one) for one in self.graph.sessions}

    @cached_property
    def targets(self) -> dict[str, str]:
        """By DAG-line: the transcript that reads it to its end, else one that goes along it."""
        found = {path.line: self.named[number] for number, path in self.chosen}
        for number, path in self.chosen:
            for line in self.way(path):
                found.setdefault(line, self.named[number])
        for line in self.agents:
            session = self.by_line[line].session
            agent = self.by_line[line].agent or line.rpartition("#")[2]
            found[line] = self.names.free(f"transcript_{session}_agent_{agent}")
        return found

    @cached_property
    def agents(self) -> list[str]:
        """The agents there are, service agents too."""
        return [name for name, one in self.by_line.items() if one.kind not in SPOKEN]

    @cached_property
    def unnamed(self) -> dict[int, list[str]]:
        """Agents that no call names, by the path at whose end they stand."""
        called = {name for one in self.by_line.values() for name in agents_called(one.items())}
        homes: dict[str, int] = {}
        for number, path in enumerate(self.paths):
            if path.status == "ACTIVE":
                homes[path.session] = number
                for line in self.way(path):
                    homes.setdefault(self.by_line[line].session, number)
        found: dict[int, list[str]] = {}
        for name in (*self.recovered, *self.agents):
            if name not in called:
                home = homes.get(self.by_line[name].session, len(self.paths) - 1)
                found.setdefault(home, []).append(name)
        return found

    def transcripts(self) -> Iterator[Transcript]:
        """Yields the paths that are wanted as transcripts, one by one."""
        for number, path in self.chosen:
            yield self.transcript(number, path)

    def transcript(self, number: int, path: Path) -> Transcript:
        """Returns one path as a transcript."""
        end = self.by_line.get(path.line) or _empty_conversation(path, self.graph)
        conversation = path_to(end, self.by_line.get)
        unnamed = tuple(self.unnamed.get(number, ()))
        return Transcript(
            name=self.named[number],
            heading=self._heading(path, conversation, unnamed),
            conversation=conversation,
            by_line=self.by_line,
            names=self.targets,
            way=frozenset(self.way(path)),
            unnamed=unnamed,
        )

    def agent_transcripts(self) -> Iterator[Transcript]:
        """Yields the agents as transcripts of their own."""
        for name in self.agents:
            agent = self.by_line[name]
            yield Transcript(
                name=self.targets[name],
                heading=Heading(
                    session=agent.session,
                    started=agent.started,
                    ended=agent.ended,
                    turns=len(agent.turns),
                    totals=totals_over([agent], self.pricing),
                    directory=self.places[agent.session].directory,
                ),
                conversation=agent,
                by_line=self.by_line,
                names=self.targets,
                way=frozenset({name}),
                agent=name,
            )

    def _name(self, path: Path) -> str:
        number = f"_path{path.path}" if path.of > 1 else ""
        mark = "_abandoned" if path.of > 1 and path.status == "ABANDONED" else ""
        return f"transcript_{path.session}{number}{mark}"

    @cached_property
    def _files(self) -> tuple[str, ...]:
        """The files by their names alone."""
        return tuple(self.private(PurePath(file.path).name) for file in self.graph.files)

    def _heading(self, path: Path, told: Conversation, unnamed: Iterable[str]) -> Heading:
        session = self.graph.sessions[path.session]
        place = self.places[path.session]
        models = (one.model for one in told.responses if one.model and not one.is_synthetic)
        started = next((turn.started for turn in told.turns if turn.started), told.started)
        return Heading(
            session=path.session,
            path=path.path,
            of=path.of,
            status=path.status if path.of else None,
            fork_point=path.fork_point,
            messages=path.messages,
            compactions=path.compactions,
            turns=sum(turn.number > 0 for turn in told.turns),
            title=session.title or None,
            project=session.project,
            directory=place.directory,
            branch=place.branch,
            models=tuple(dict.fromkeys(models)),
            versions=place.versions,
            started=started,
            ended=told.ended,
            totals=self._totals(told, unnamed),
            resume=self.resume_line(path.session) if path.status == "ACTIVE" else None,
        )

    def resume_line(self, session: str) -> str | None:
        """Returns what continues a session in Claude Code; None where nobody could run it."""
        from plait.redact.stand_ins import holds_stand_in

        line = Resume(session, None, self.places[session].directory, None).line
        return line if self._is_resumable(session) and not holds_stand_in(line) else None

    def _is_resumable(self, session: str) -> bool:
        """Tells whether the client knows a session: it has a file of its own, and a uuid."""
        files = (self.graph.files[number] for number in self.graph.sessions[session].files)
        return is_uuid(session) and any(file.kind == "session" for file in files)

    def _totals(self, told: Conversation, unnamed: Iterable[str]) -> Totals:
        """Returns what a path came to, with the agents that were sent out on it."""
        agents: dict[str, None] = {}
        waiting = [*unnamed, *agents_called(told.items())]
        while waiting:
            name = waiting.pop()
            if name not in agents and name in self.by_line:
                agents[name] = None
                waiting += agents_called(self.by_line[name].items())
        parts = [with_own_responses(told), *(self.by_line[name] for name in agents)]
        return totals_over(parts, self.pricing)

    @cached_property
    def places(self) -> dict[str, Surroundings]:
        """Where each session took place."""
        return {name: self._place(one) for name, one in self.graph.sessions.items()}

    def _place(self, session: GraphSession) -> Surroundings:
        files = [self.graph.files[number] for number in session.files]
        own = [file for file in files if file.kind == "session"] or files
        return _surroundings(record for file in own for record in self.opened.records_of(file.path))
