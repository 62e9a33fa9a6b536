"""The index of a graph: each uuid once, with the file that owns it and its copies.

    A.jsonl  a b c d e            the session itself
    B.jsonl  a b c f g            forked or resumed: a b c are copies, f g its own
    C.jsonl  a b' d               b' has the uuid of b and other content: a finding

Files with one session id are separated if their content differs:

    S.jsonl          a b c d      the newest: S
    old/S.jsonl      a b          contains nothing else: a copy of S
    loose.jsonl      a b e        contains something else: S~2

Nodes are numbered in the order of files and lines. That number is the position that "earlier in the
file" means everywhere in this package.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, permutations
from math import inf
from operator import attrgetter
from pathlib import PurePath
from typing import Any

from msgspec.structs import replace

from plait.graph.facts import FileFacts
from plait.graph.model import Finding, Node, Place, SourceFile

LATE = "\uffff"
"""Sorts after every timestamp."""
SHORT = 2000
"""Length of notes that distinguish an original from its copy. Longer ones are not read where only
usage is counted, and both ways must agree.
"""


@dataclass(frozen=True, slots=True)
class Index:
    """Every uuid of the files, with the files in the order of their paths."""

    facts: tuple[FileFacts, ...]
    files: tuple[SourceFile, ...]
    sessions: tuple[str, ...]
    """The session that each file is about."""
    homes: dict[str, int]
    """The file of each session."""
    nodes: list[Node]
    at: dict[str, int]
    named: dict[str, Node]
    """The nodes by uuid, in their order."""
    findings: tuple[Finding, ...]

    def copies(self) -> int:
        """Count the lines that repeat a uuid."""
        return sum(len(facts.nodes) for facts in self.facts) - len(self.nodes)


def build_index(facts: Iterable[FileFacts]) -> Index:
    """Build the index of files; their order does not matter."""
    ordered = sorted(facts, key=lambda file: file.file.path)
    files = tuple(file.renumbered(number) for number, file in enumerate(ordered))
    holders = Holders.collect(files)
    owners, guesses = _choose_owners(files, [file.session for file in files], holders.shared)
    names = _name_sessions(files)
    nodes, named = _number_nodes(files, names, holders, owners)
    at = dict(zip(named, range(len(nodes)), strict=True))
    findings = (*names.findings, *guesses, *_find_differing_copies(files, holders.shared, owners))
    sources = tuple(file.file for file in files)
    return Index(files, sources, tuple(names.sessions), names.homes, nodes, at, named, findings)


@dataclass(slots=True)
class SessionNames:
    """The session of each file, and the file of each session."""

    sessions: list[str]
    homes: dict[str, int] = field(default_factory=dict)
    """By session: the file with its leaf and its title."""
    renamed: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By file: the id in its records, and the one that replaces it."""
    findings: list[Finding] = field(default_factory=list)

    def rename(self, file: int, session: str) -> None:
        """Give a file a session of its own."""
        self.renamed[file] = self.sessions[file], session
        self.sessions[file] = session


def _name_sessions(files: Sequence[FileFacts]) -> SessionNames:
    """Name the sessions of files; several different files with one session id become several."""
    names = SessionNames([facts.session for facts in files])
    known = set(names.sessions)
    files_of_sessions: dict[str, list[int]] = {}
    for number, session in enumerate(names.sessions):
        if files[number].file.kind == "session":
            files_of_sessions.setdefault(session, []).append(number)
    for session, numbers in files_of_sessions.items():
        if len(numbers) == 1:
            names.homes[session] = numbers[0]
            continue
        latest = {
            number: max((node.timestamp or "" for node in files[number].nodes), default="")
            for number in numbers
        }
        home = names.homes[session] = max(
            numbers, key=lambda number: (latest[number], len(files[number].nodes), -number)
        )
        sentence = f"{len(numbers)} files have the session id {session}; this is the newest"
        names.findings.append(Finding("same-session", sentence, home))
        in_newest = {node.uuid for node in files[home].nodes}
        free = (f"{session}~{number}" for number in count(2) if f"{session}~{number}" not in known)
        for number in numbers:
            if any(node.uuid not in in_newest for node in files[number].nodes):
                name = next(free)
                names.homes[name] = number
                names.rename(number, name)
    folders = {
        PurePath(files[number].file.path).with_suffix(""): new
        for number, (_, new) in names.renamed.items()
    }
    for number, facts in enumerate(files if folders else ()):
        if facts.file.kind != "session":  # an agent's file goes with its session
            above = PurePath(facts.file.path).parents
            renamed = next((folders[folder] for folder in above if folder in folders), None)
            if renamed is not None:
                names.rename(number, renamed)
    for number, facts in enumerate(files):
        # The client resumes a session by the name of its file, whatever its records say. So a file
        # whose records all have other ids is named after itself.
        if facts.file.kind != "session" or number in names.renamed:
            continue
        own = names.sessions[number]
        if any(node.session in ("", own) for node in facts.nodes):
            continue
        main = (node.session for node in reversed(facts.nodes) if not node.is_sidechain)
        if carried := next(main, None):
            names.renamed[number] = carried, own
    return names


def _find_differing_copies(
    files: Sequence[FileFacts], shared: Mapping[str, list[Node]], owners: Mapping[str, int]
) -> list[Finding]:
    """Return a finding for each file with records whose content differs from the owner's."""

    def content(node: Node) -> tuple[Any, ...]:
        calls = tuple(call.id for call in node.calls)
        return node.kind, node.subtype, node.message_id, calls, node.results, node.digest

    differing: dict[tuple[int, int], list[Node]] = {}
    for uuid, nodes in shared.items():
        original = next(node for node in nodes if node.file == owners[uuid])
        for node in nodes:
            if node is not original and content(node) != content(original):
                differing.setdefault((node.file, original.file), []).append(node)
    findings: list[Finding] = []
    for (_, owner), nodes in sorted(differing.items()):
        records = "1 record has" if len(nodes) == 1 else f"{len(nodes)} records have"
        sentence = (
            f"{records} the same uuid as in '{files[owner].file.path}', but with different content"
        )
        findings.append(Finding("other-content", sentence, nodes[0].file, nodes[0].line))
    return findings


@dataclass(frozen=True, slots=True)
class Holders:
    """Which files hold a uuid, with the node on the last line of each file."""

    first: dict[str, Node]
    """In the first file that holds it."""
    shared: dict[str, list[Node]]
    """In all files, if several hold it."""
    repeats: dict[str, list[Place]]
    """The earlier lines of the same file."""

    @classmethod
    def collect(cls, files: Sequence[FileFacts]) -> "Holders":
        """Collect the uuids of files."""
        nodes = [node for facts in files for node in facts.nodes]
        first = {node.uuid: node for node in nodes}
        if len(first) == len(nodes):  # no uuid is repeated
            return cls(first, {}, {})
        first.clear()
        shared: dict[str, list[Node]] = {}
        repeats: dict[str, list[Place]] = {}
        for node in nodes:
            uuid = node.uuid
            earliest = first.setdefault(uuid, node)
            if earliest is node:
                continue
            sharing = shared.get(uuid)
            latest = sharing[-1] if sharing else earliest
            if latest.file != node.file:
                shared.setdefault(uuid, [earliest]).append(node)
                continue
            # format: duplicate uuid, the last line wins for content and parent
            repeats.setdefault(uuid, []).append(latest.place)
            if sharing:
                sharing[-1] = node
            if latest is earliest:
                first[uuid] = node
        return cls(first, shared, repeats)


Rank = tuple[bool, bool, str, int, bool, int, str, str, str]
SURE = 6
"""How many of the first parts of a rank are certain; the others are a guess."""


def _choose_owners(
    files: Sequence[FileFacts], sessions: Sequence[str], shared: dict[str, list[Node]]
) -> tuple[dict[str, int], list[Finding]]:
    """Return the file that owns each shared uuid, and findings where that is a guess."""
    if not shared:
        return {}, []
    sharing = sorted({node.file for nodes in shared.values() for node in nodes})
    copies = _find_copies(files, sharing, shared)
    files_per_session = Counter(sessions[file] for file in sharing)
    ranks: dict[int, Ranking] = {}
    for number in sharing:
        facts, session = files[number], sessions[number]
        stamps = [node.timestamp for node in facts.nodes if node.timestamp]
        own = [node.timestamp for node in facts.nodes if node.timestamp and node.uuid not in shared]
        notes = (line.timestamp for line in facts.asides if not line.after and line.timestamp)
        ranks[number] = Ranking(
            facts.file.kind == "agent",
            session,
            min(stamps, default=LATE),
            next(notes, ""),
            copies,
            min(own, default="" if files_per_session[session] == 1 else LATE),
            facts.file.path,
        )
    owners: dict[str, int] = {}
    guesses: dict[tuple[int, int], str] = {}
    for uuid, nodes in shared.items():
        ranked = sorted((*ranks[node.file](node, nodes), node.file) for node in nodes)
        first, second = ranked[0], ranked[1]
        owners[uuid] = first[-1]
        if first[:SURE] == second[:SURE]:
            guesses.setdefault((first[-1], second[-1]), uuid)
    findings: list[Finding] = []
    for (owner, other), uuid in guesses.items():
        sentence = f"unclear whether '{files[owner].file.path}' or this file was first"
        findings.append(Finding("guessed-owner", sentence, other, None, uuid))
    return owners, findings


def _find_copies(
    files: Sequence[FileFacts], sharing: Iterable[int], shared: Mapping[str, list[Node]]
) -> set[tuple[int, int]]:
    """Return the pairs of a file and the one it was copied from, as far as lines tell.

    A copy is written in one go; the original has notes between its records.
    """
    last: dict[tuple[int, int], int] = {}
    for nodes in shared.values():
        if nodes[0].kind == "assistant":
            for node, rival in permutations(nodes, 2):
                pair = node.file, rival.file
                last[pair] = max(last.get(pair, 0), node.line)
    ends: dict[int, float] = {}
    """The line up to which the records of a file are consecutive from the first on."""
    for number in sharing:
        notes = (line for line in files[number].asides if line.after and line.length < SHORT)
        ends[number] = next((line.line for line in notes), inf)
    return {
        (file, other)
        for (file, other), line in last.items()
        if line < ends[file] and last[other, file] >= ends[other]
    }


@dataclass(frozen=True, slots=True)
class Ranking:
    """Decides which file owns shared uuids: the one with the smallest rank."""

    is_agent: bool
    session: str
    started: str
    begun: str
    """When the first line was written, if that is a note; a fork's own notes precede its copies."""
    copies: set[tuple[int, int]]
    """The pairs of a file and the one it was copied from."""
    continued: str
    """The first record that no other file has. A file without one was abandoned; among files of one
    session it ranks late, because there it is only an older state.
    """
    path: str

    def __call__(self, node: Node, rivals: Sequence[Node]) -> Rank:
        is_named = any(rival.forked_from == self.session for rival in rivals if rival is not node)
        return (
            self.is_agent,
            # format: older versions copied history with its old session id
            node.session not in ("", self.session),
            self.started,
            2 - is_named - (is_named and node.forked_from is None),
            self.begun > (node.timestamp or LATE),
            sum((node.file, rival.file) in self.copies for rival in rivals),
            self.continued,
            self.session,
            self.path,
        )


def _number_nodes(
    files: Sequence[FileFacts], names: SessionNames, holders: Holders, owners: dict[str, int]
) -> tuple[list[Node], dict[str, Node]]:
    """Return the nodes in the order of files and lines, each in the file that owns it."""
    repeats, shared = holders.repeats, holders.shared
    nodes = list(holders.first.values())
    if not (repeats or shared or names.renamed) and all(map(attrgetter("session"), nodes)):
        return nodes, holders.first
    nodes, numbered = [], set[str]()
    for number, facts in enumerate(files):
        start = len(nodes)
        for node in facts.nodes:
            uuid = node.uuid
            if uuid in numbered or owners.get(uuid, number) != number:
                continue
            numbered.add(uuid)
            if uuid not in repeats and uuid not in shared and node.session:
                nodes.append(node)
                continue
            owned, copies = holders.first[uuid], repeats.get(uuid, [])
            if uuid in shared:
                owned = next(copy for copy in shared[uuid] if copy.file == number)
                copies = [*copies, *(copy.place for copy in shared[uuid] if copy is not owned)]
            if copies or not owned.session:
                session = owned.session or names.sessions[number]
                owned = replace(owned, session=session, copies=tuple(sorted(copies)))
            nodes.append(owned)
        if number in names.renamed:
            old, new = names.renamed[number]
            nodes[start:] = [
                replace(node, session=new) if node.session == old else node
                for node in nodes[start:]
            ]
    return nodes, {node.uuid: node for node in nodes}
