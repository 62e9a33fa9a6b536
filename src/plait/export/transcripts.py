"""The transcripts of a family of sessions, one per path, with their names and headings."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import PurePath
from typing import TypeAlias

from msgspec.structs import replace

from plait.conversation.build import build_recovered
from plait.conversation.costs import (
    Pricing,
    Totals,
    iter_agents_called,
    keep_responses_on_path,
    sum_conversations,
)
from plait.conversation.model import Conversation
from plait.conversation.results import read_full_result
from plait.conversation.walk import build_path, find_parent, iter_calls
from plait.graph.model import Session as GraphSession
from plait.graph.model import SessionGraph
from plait.graph.paths import SPOKEN, Path, get_label, list_paths
from plait.line.output import make_file_name
from plait.record import Record
from plait.sessions.discovery import is_uuid
from plait.sessions.open_session import OpenSession
from plait.sessions.resume import Resume
from plait.view.passages import RenderOptions
from plait.view.transcript.heading import Coverage, Heading, Transcript
from plait.view.transcript.markdown import iter_markdown, iter_turns_markdown, join_blocks


@dataclass(frozen=True)
class Surroundings:
    """What the records of a session say about where it took place."""

    directory: str | None = None
    branch: str | None = None
    versions: tuple[str, ...] = ()


@dataclass
class Names:
    """Gives each transcript a name of its own."""

    reserved: AbstractSet[str] = frozenset()
    """Names used by others."""
    used: dict[str, None] = field(default_factory=dict)
    is_crowded: bool = False
    """Whether a requested name was taken."""

    def reserve(self, name: str) -> str:
        """Return an unused name, valid on any file system."""
        safe = make_file_name(name)
        found, number = safe, 2
        while (folded := found.casefold()) in self.used or folded in self.reserved:
            self.is_crowded = self.is_crowded or folded in self.reserved
            found, number = f"{safe}_{number}", number + 1
        self.used[folded] = None
        return found


RedactText: TypeAlias = Callable[[str], str]
"""Returns a text, redacted."""


@dataclass(frozen=True)
class Family:
    """Sessions that share records, read together."""

    opened: OpenSession
    private: RedactText
    names: Names
    pricing: Pricing | None = None
    is_active_only: bool = False

    @property
    def graph(self) -> SessionGraph:
        """The graph of all their records."""
        return self.opened.graph

    @cached_property
    def by_line(self) -> dict[str, Conversation]:
        """All conversations, with file names only."""
        conversations = {**self.opened.by_line, **self.recovered}
        return {
            name: replace(conversation, files=self._files)
            for name, conversation in conversations.items()
        }

    @cached_property
    def recovered(self) -> dict[str, Conversation]:
        """Recovered records, for each session that has any."""
        records: dict[str, list[tuple[int, Record]]] = {}
        for number, record in self.opened.recovered():
            session = self.session_of.get(number)
            if session:
                records.setdefault(session, []).append((number, record))
        found = (build_recovered(held, session) for session, held in records.items())
        return {conversation.id: conversation for conversation in found if conversation}

    @cached_property
    def session_of(self) -> dict[int, str]:
        """The session of each file."""
        sessions = self.graph.sessions.values()
        return {number: session.id for session in sessions for number in session.files}

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """One for each leaf; sessions without one get a substitute."""
        found = list_paths(self.graph)
        covered = {path.session for path in found} | {
            self.by_line[line].session for path in found for line in self.lines_of_path(path)
        }
        rest = [
            session
            for session in self.graph.sessions.values()
            if session.id not in covered and self._holds(session)
        ]
        return (
            *found,
            *(
                Path(session.id, 0, 0, "ACTIVE", None, "", session.id, session.title)
                for session in rest
            ),
        )

    @cached_property
    def coverage(self) -> Coverage:
        """How its sessions are covered."""
        sessions = self.graph.sessions.values()
        main_sessions = {path.session for path in self.paths if path.of}
        alone = sum(not path.of for path in self.paths)
        silent = sum(bool(session.files) and not session.lines for session in sessions)
        inside = sum(not session.files for session in sessions)
        own = sum(bool(session.files) and session.id in main_sessions for session in sessions)
        carried = len(self.opened.sessions) - own - alone - silent
        return Coverage(own, alone, carried, silent, inside)

    @cached_property
    def chosen_paths(self) -> list[tuple[int, Path]]:
        """The selected paths, with their positions among all."""
        return [
            (number, path)
            for number, path in enumerate(self.paths)
            if not self.is_active_only or path.status == "ACTIVE"
        ]

    def _holds(self, session: GraphSession) -> bool:
        """Return whether a session has records that no other has."""
        return any(self.graph.lines[line].nodes for line in session.lines)

    @property
    def unspoken(self) -> list[str]:
        """Descriptions of files without a conversation, and of those with summaries only."""
        bare = (session for session in self.graph.sessions.values() if not session.lines)
        return [f"{session.title} ({session.id})" for session in bare if session.title]

    @cached_property
    def copied_sessions(self) -> list[str]:
        """Sessions whose content another session contains."""
        spoken = (session for session in self.graph.sessions.values() if session.lines)
        return [session.id for session in spoken if not self._holds(session)]

    def lines_of_path(self, path: Path) -> list[str]:
        """Return the DAG-lines along a path, its end first."""
        line = self.by_line.get(path.line)
        found: list[str] = []
        while line is not None:
            found.append(line.id)
            line = find_parent(line, self.by_line.get)
        return found

    def list_wanted_lines(self, *, has_agents: bool) -> dict[str, None]:
        """Return the selected conversations: on selected paths, with their agents."""
        ways = {line for _, path in self.chosen_paths for line in self.lines_of_path(path)}
        found = {line: None for line, conversation in self.by_line.items() if line in ways}
        waiting = [
            line for number, _ in self.chosen_paths for line in self.unnamed_agents.get(number, ())
        ]
        if not has_agents:
            return found
        if not self.is_active_only:
            return dict.fromkeys(self.by_line)
        waiting += [
            name for line in found for name in iter_agents_called(self.by_line[line].items())
        ]
        while waiting:
            name = waiting.pop()
            if name not in found and name in self.by_line:
                found[name] = None
                waiting += iter_agents_called(self.by_line[name].items())
        return {line: None for line in self.by_line if line in found}

    def find_parent(self, uuid: str) -> str | None:
        """Return the record that is another's real parent."""
        return self.graph.edge_of(uuid).parent if uuid in self.graph.nodes else None

    @cached_property
    def transcript_names(self) -> dict[int, str]:
        """The name of each path's transcript, by the path's position."""
        return {
            number: self.names.reserve(self._name(path)) for number, path in enumerate(self.paths)
        }

    @cached_property
    def pages(self) -> dict[str, str]:
        """The name of each session's page, without suffix."""
        return {session: self.names.reserve(session) for session in self.graph.sessions}

    @cached_property
    def targets(self) -> dict[str, str]:
        """By DAG-line: the transcript that contains its end, else one that passes through it."""
        found = {path.line: self.transcript_names[number] for number, path in self.chosen_paths}
        for number, path in self.chosen_paths:
            for line in self.lines_of_path(path):
                found.setdefault(line, self.transcript_names[number])
        for line in self.agents:
            session = self.by_line[line].session
            agent = self.by_line[line].agent or line.rpartition("#")[2]
            found[line] = self.names.reserve(f"transcript_{session}_agent_{agent}")
        return found

    @cached_property
    def agents(self) -> list[str]:
        """All agents, including background requests."""
        return [
            name for name, conversation in self.by_line.items() if conversation.kind not in SPOKEN
        ]

    @cached_property
    def unnamed_agents(self) -> dict[int, list[str]]:
        """Agents that no call names, by the path at whose end they are shown."""
        called = {
            name
            for conversation in self.by_line.values()
            for name in iter_agents_called(conversation.items())
        }
        homes: dict[str, int] = {}
        for number, path in enumerate(self.paths):
            if path.status == "ACTIVE":
                homes[path.session] = number
                for line in self.lines_of_path(path):
                    homes.setdefault(self.by_line[line].session, number)
        found: dict[int, list[str]] = {}
        for name in (*self.recovered, *self.agents):
            if name not in called:
                home = homes.get(self.by_line[name].session, len(self.paths) - 1)
                found.setdefault(home, []).append(name)
        return found

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the selected paths as transcripts."""
        for number, path in self.chosen_paths:
            yield self.transcript(number, path)

    def find_transcript(self, line: str) -> Transcript | None:
        """Return the transcript that contains the end of a conversation, without making the others."""
        if line in self.agents:
            return self.agent_transcript(line)
        name = self.targets.get(line)
        for number, path in self.chosen_paths:
            if self.transcript_names[number] == name:
                return self.transcript(number, path)
        return None

    def transcript(self, number: int, path: Path) -> Transcript:
        """Return one path as a transcript."""
        end = self.by_line.get(path.line)
        if end is None:
            project = self.graph.sessions[path.session].project
            files = tuple(file.path for file in self.graph.files)
            end = Conversation(path.session, "trunk", path.session, project, None, (), (), files)
        conversation = build_path(end, self.by_line.get)
        unnamed = tuple(self.unnamed_agents.get(number, ()))
        return Transcript(
            name=self.transcript_names[number],
            heading=self._heading(path, conversation, unnamed),
            conversation=conversation,
            by_line=self.by_line,
            names=self.targets,
            path_lines=frozenset(self.lines_of_path(path)),
            unnamed=unnamed,
        )

    def agent_transcripts(self) -> Iterator[Transcript]:
        """Yield the agents as transcripts of their own."""
        return map(self.agent_transcript, self.agents)

    def agent_transcript(self, name: str) -> Transcript:
        """Return one agent as a transcript."""
        agent = self.by_line[name]
        heading = Heading(
            session=agent.session,
            started=agent.started,
            ended=agent.ended,
            turns=len(agent.turns),
            totals=sum_conversations([agent], self.pricing),
            directory=self.places[agent.session].directory,
        )
        return Transcript(
            name=self.targets[name],
            heading=heading,
            conversation=agent,
            by_line=self.by_line,
            names=self.targets,
            path_lines=frozenset({name}),
            agent=name,
        )

    def _name(self, path: Path) -> str:
        number = f"_path{path.path}" if path.of > 1 else ""
        mark = "_abandoned" if path.of > 1 and path.status == "ABANDONED" else ""
        return f"transcript_{path.session}{number}{mark}"

    @cached_property
    def _files(self) -> tuple[str, ...]:
        """The files by their names only."""
        return tuple(self.private(PurePath(file.path).name) for file in self.graph.files)

    def _heading(self, path: Path, conversation: Conversation, unnamed: Iterable[str]) -> Heading:
        session, line = self.graph.sessions[path.session], self.graph.lines.get(path.line)
        place = self.places[path.session]
        models = (
            response.model
            for response in conversation.responses
            if response.model and not response.is_synthetic
        )
        started = next(
            (turn.started for turn in conversation.turns if turn.started), conversation.started
        )
        return Heading(
            session=path.session,
            path=path.path,
            of=path.of,
            status=path.status if path.of else None,
            fork_point=path.fork_point,
            messages=path.messages,
            compactions=path.compactions,
            turns=sum(turn.number > 0 for turn in conversation.turns),
            title=(get_label(self.graph, line) if line and line.summary else session.title) or None,
            project=session.project,
            directory=place.directory,
            branch=place.branch,
            models=tuple(dict.fromkeys(models)),
            versions=place.versions,
            started=started,
            ended=conversation.ended,
            totals=self._totals(conversation, unnamed),
            resume=self.resume_line(path.session) if path.status == "ACTIVE" else None,
        )

    def resume_line(self, session: str) -> str | None:
        """Return the command that resumes a session in Claude Code; None if that is impossible."""
        from plait.redact.stand_ins import holds_stand_in

        line = Resume(session, None, self.places[session].directory, None).line
        return line if self._is_resumable(session) and not holds_stand_in(line) else None

    def _is_resumable(self, session: str) -> bool:
        """Return whether the client knows a session: it has a file of its own, and a uuid."""
        files = (self.graph.files[number] for number in self.graph.sessions[session].files)
        return is_uuid(session) and any(file.kind == "session" for file in files)

    def _totals(self, conversation: Conversation, unnamed: Iterable[str]) -> Totals:
        """Return the totals of a path, with the agents that were started on it."""
        agents: dict[str, None] = {}
        waiting = [*unnamed, *iter_agents_called(conversation.items())]
        while waiting:
            name = waiting.pop()
            if name not in agents and name in self.by_line:
                agents[name] = None
                waiting += iter_agents_called(self.by_line[name].items())
        parts = [keep_responses_on_path(conversation), *(self.by_line[name] for name in agents)]
        return sum_conversations(parts, self.pricing)

    @cached_property
    def places(self) -> dict[str, Surroundings]:
        """The working directories of each session."""
        return {name: self._place(session) for name, session in self.graph.sessions.items()}

    def _place(self, session: GraphSession) -> Surroundings:
        files = [self.graph.files[number] for number in session.files]
        own = [file for file in files if file.kind == "session"] or files
        directory = branch = None
        versions: dict[str, None] = {}
        for file in own:
            for record in self.opened.records_of(file.path):
                envelope = record.envelope
                directory = directory or envelope.cwd
                branch = envelope.git_branch or branch
                if envelope.version:
                    versions[envelope.version] = None
        return Surroundings(directory, branch, tuple(versions))


def render_session_markdown(opened: OpenSession, line: str, prices: Pricing) -> str | None:
    """Return a path through a session as an export of it alone would have it, not redacted."""
    is_main = line == opened.conversations.main
    family = Family(opened, str, Names(), prices, is_active_only=is_main)
    own = family.find_transcript(line)
    return join_blocks(iter_markdown(own, RenderOptions(), set())) if own else None


def render_turn_markdown(opened: OpenSession, uuid: str) -> str | None:
    """Return the turn of a record as an export of this turn alone would have it."""
    family = Family(opened, str, Names())
    main = family.targets.get(opened.conversations.main)
    # the active branch first, agents last
    transcripts = sorted(family.transcripts(), key=lambda transcript: transcript.name != main)
    for transcript in chain(transcripts, family.agent_transcripts()):
        conversation = transcript.conversation
        turns = tuple(
            turn for turn in conversation.turns if turn.opener and turn.opener.uuid == uuid
        )
        if turns:
            part = replace(transcript, conversation=replace(conversation, turns=turns), unnamed=())
            return join_blocks(iter_turns_markdown(part, RenderOptions()))
    return None


def read_full_output(opened: OpenSession, call: str) -> str | None:
    """Return the complete result of a call, including output saved next to the log."""
    for line in opened.conversations.by_line.values():
        for _, called in iter_calls(line):
            if called.call == call and called.result is not None:
                return read_full_result(opened.session.path.with_suffix(""), called)
    return None
