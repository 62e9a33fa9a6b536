"""Facts of files to one index: each uuid once, with its owner and its copies.

    A.jsonl  a b c d e            the session itself
    B.jsonl  a b c f g            forked or resumed: a b c are copies, f g its own
    C.jsonl  a b' d               b' has the uuid of b and other words: a finding

Files that carry one session id are told apart where they are not the same:

    S.jsonl          a b c d      the newest: S
    old/S.jsonl      a b          holds nothing else: a copy of S
    loose.jsonl      a b e        says something else: S~2

The index numbers its nodes in the order of files and lines. That number is the position
that "earlier in the file" means everywhere in this package.
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

from plait.graph.model import Finding, Node, Place, SourceFile
from plait.graph.source import FileFacts


@dataclass(slots=True)
class SessionNames:
    """The session of each file, and the file that each session is."""

    sessions: list[str]
    homes: dict[str, int] = field(default_factory=dict)
    """By session: the file that its leaf and its title come from."""
    renamed: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By file: the id that its records carry, and the one that it is told apart by."""
    findings: list[Finding] = field(default_factory=list)

    def rename(self, file: int, session: str) -> None:
        """Gives a file a session of its own."""
        old = self.sessions[file]
        self.renamed[file] = old, session
        self.sessions[file] = session


def _name_sessions(files: Sequence[FileFacts]) -> SessionNames:
    names = SessionNames([facts.session for facts in files])
    known = set(names.sessions)
    own: dict[str, list[int]] = {}
    for number, session in enumerate(names.sessions):
        if files[number].file.kind == "session":
            own.setdefault(session, []).append(number)
    for session, numbers in own.items():
        home = names.homes[session] = _newest(files, numbers)
        if len(numbers) > 1:
            names.findings.append(_shared_id(files, session, home, len(numbers)))
        free = (f"{session}~{number}" for number in count(2) if f"{session}~{number}" not in known)
        for number in _differing_files(files, home, numbers):
            name = next(free)
            names.homes[name] = number
            names.rename(number, name)
    if names.renamed:
        _rename_side_files(files, names)
    _adopt_strangers(files, names)
    return names


def _adopt_strangers(files: Sequence[FileFacts], names: SessionNames) -> None:
    """Lets a file whose records all carry other ids be what it is called.

    The client resumes a session by the name of its file, whatever its records say.
    """
    for number, facts in enumerate(files):
        if facts.file.kind == "session" and number not in names.renamed:
            own = names.sessions[number]
            if said := _carried_instead(facts, own):
                names.renamed[number] = said, own


def _carried_instead(facts: FileFacts, own: str) -> str | None:
    """Returns the id that the last records of a file carry where none carries its own."""
    if any(node.session in ("", own) for node in facts.nodes):
        return None
    return next((node.session for node in reversed(facts.nodes) if not node.is_sidechain), None)


def _newest(files: Sequence[FileFacts], numbers: Sequence[int]) -> int:
    if len(numbers) == 1:
        return numbers[0]
    stamps = {
        number: max((node.timestamp or "" for node in files[number].nodes), default="")
        for number in numbers
    }
    return max(numbers, key=lambda number: (stamps[number], len(files[number].nodes), -number))


def _differing_files(files: Sequence[FileFacts], home: int, numbers: Sequence[int]) -> list[int]:
    if len(numbers) == 1:
        return []
    held = {node.uuid for node in files[home].nodes}
    return [
        number for number in numbers if any(node.uuid not in held for node in files[number].nodes)
    ]


def _rename_side_files(files: Sequence[FileFacts], names: SessionNames) -> None:
    folders = {
        PurePath(files[number].file.path).with_suffix(""): new
        for number, (_, new) in names.renamed.items()
    }
    for number, facts in enumerate(files):
        if facts.file.kind != "session":
            above = PurePath(facts.file.path).parents
            name = next((folders[folder] for folder in above if folder in folders), None)
            if name is not None:
                names.rename(number, name)


def _shared_id(files: Sequence[FileFacts], session: str, home: int, several: int) -> Finding:
    sentence = f"{several} files carry the session id {session}, this is the newest"
    return Finding("same-session", sentence, home)


def _differing_copies(
    files: Sequence[FileFacts], shared: Mapping[str, list[Node]], owners: Mapping[str, int]
) -> list[Finding]:
    found: dict[tuple[int, int], list[Node]] = {}
    for uuid, nodes in shared.items():
        own = next(node for node in nodes if node.file == owners[uuid])
        content = _comparable_content(own)
        for node in nodes:
            if node is not own and _comparable_content(node) != content:
                found.setdefault((node.file, own.file), []).append(node)
    return [
        _other_content(files[owner].file.path, nodes) for (_, owner), nodes in sorted(found.items())
    ]


def _comparable_content(node: Node) -> tuple[Any, ...]:
    calls = tuple(call.id for call in node.calls)
    return node.kind, node.subtype, node.message_id, calls, node.results, node.digest


def _other_content(owner: str, nodes: Sequence[Node]) -> Finding:
    count = len(nodes)
    records = "1 record has" if count == 1 else f"{count} records have"
    sentence = f"{records} the same uuid as in '{owner}', but other content"
    return Finding("other-content", sentence, nodes[0].file, nodes[0].line)


LATE = "\uffff"
"""Sorts behind every timestamp."""
SHORT = 2000
"""Bytes of the notes that tell an original from its copy: longer ones are not looked at where
only money is counted, and both must come to the same.
"""


@dataclass(frozen=True, slots=True)
class Index:
    """Every uuid of the files, with the files in the order of their paths."""

    facts: tuple[FileFacts, ...]
    files: tuple[SourceFile, ...]
    sessions: tuple[str, ...]
    """The session that each file is about."""
    homes: dict[str, int]
    """The file that each session is."""
    nodes: list[Node]
    at: dict[str, int]
    named: dict[str, Node]
    """The nodes by uuid, in their order."""
    findings: tuple[Finding, ...]

    def copies(self) -> int:
        """Counts the lines that repeat a uuid."""
        return sum(len(facts.nodes) for facts in self.facts) - len(self.nodes)


def index(facts: Iterable[FileFacts]) -> Index:
    """Returns the index of some files; the order in which they come does not matter."""
    ordered = sorted(facts, key=lambda one: one.file.path)
    files = tuple(one.renumbered(number) for number, one in enumerate(ordered))
    held = _held_by(files)
    owners, guesses = _choose_owners(files, [one.session for one in files], held.shared)
    names = _name_sessions(files)
    nodes, named = _number_nodes(files, names, held, owners)
    at = dict(zip(named, range(len(nodes)), strict=True))
    findings = (*names.findings, *guesses, *_differing_copies(files, held.shared, owners))
    sources = tuple(one.file for one in files)
    return Index(files, sources, tuple(names.sessions), names.homes, nodes, at, named, findings)


@dataclass(frozen=True, slots=True)
class Held:
    """Which files hold a uuid, with the node as the last line of each file has it."""

    first: dict[str, Node]
    """By the first file that holds it."""
    shared: dict[str, list[Node]]
    """Of all files, where several hold it."""
    repeats: dict[str, list[Place]]
    """The earlier lines of the same file."""


def _held_by(files: Sequence[FileFacts]) -> Held:
    nodes = [node for facts in files for node in facts.nodes]
    held = Held({node.uuid: node for node in nodes}, {}, {})
    if len(held.first) == len(nodes):  # no uuid stands twice
        return held
    held = Held({}, {}, {})
    for facts in files:
        for node in facts.nodes:
            if held.first.setdefault(node.uuid, node) is not node:
                _repeat(held, node)
    return held


def _repeat(held: Held, node: Node) -> None:
    uuid = node.uuid
    first = held.first[uuid]
    sharing = held.shared.get(uuid)
    latest = sharing[-1] if sharing else first
    if latest.file != node.file:
        held.shared.setdefault(uuid, [first]).append(node)
        return
    # format: duplicate uuid, the last line wins for content and parent
    held.repeats.setdefault(uuid, []).append(latest.place)
    if sharing:
        sharing[-1] = node
    if latest is first:
        held.first[uuid] = node


Rank = tuple[bool, bool, str, int, bool, int, str, str, str]
SURE = 6
"""How many of the first parts of a rank are knowledge; the others are a guess."""


def _choose_owners(
    files: Sequence[FileFacts], sessions: Sequence[str], shared: dict[str, list[Node]]
) -> tuple[dict[str, int], list[Finding]]:
    if not shared:
        return {}, []
    concerned = sorted({node.file for nodes in shared.values() for node in nodes})
    copies = _copies_of(files, concerned, shared)
    ids = Counter(sessions[file] for file in concerned)
    ranks = {
        file: _rank_of(
            files[file], sessions[file], shared, copies, is_alone=ids[sessions[file]] == 1
        )
        for file in concerned
    }
    owners: dict[str, int] = {}
    guesses: dict[tuple[int, int], str] = {}
    for uuid, nodes in shared.items():
        ranked = sorted((*ranks[node.file](node, nodes), node.file) for node in nodes)
        first, second = ranked[0], ranked[1]
        owners[uuid] = first[-1]
        if first[:SURE] == second[:SURE]:
            guesses.setdefault((first[-1], second[-1]), uuid)
    return owners, [_guessed(files, pair, uuid) for pair, uuid in guesses.items()]


def _copies_of(
    files: Sequence[FileFacts], concerned: Iterable[int], shared: Mapping[str, list[Node]]
) -> set[tuple[int, int]]:
    """Returns the pairs of a file and the one that it was copied from, as far as lines tell.

    A copy is written in one go; whoever wrote a conversation noted things between its records.
    """
    last: dict[tuple[int, int], int] = {}
    for nodes in shared.values():
        if nodes[0].kind == "assistant":
            for node, rival in permutations(nodes, 2):
                pair = node.file, rival.file
                last[pair] = max(last.get(pair, 0), node.line)
    ends = {file: _end_of_opening(files[file]) for file in concerned}
    return {
        (one, other)
        for (one, other), line in last.items()
        if line < ends[one] and last[other, one] >= ends[other]
    }


def _end_of_opening(facts: FileFacts) -> float:
    """Returns the line up to which records follow each other from the first on."""
    notes = (one.line for one in facts.asides if one.after and one.length < SHORT)
    return next(notes, inf)


def _rank_of(
    facts: FileFacts,
    session: str,
    shared: Mapping[str, list[Node]],
    copies: set[tuple[int, int]],
    *,
    is_alone: bool,
) -> "Ranking":
    stamps = [node.timestamp for node in facts.nodes if node.timestamp]
    outside = [node.timestamp for node in facts.nodes if node.timestamp and node.uuid not in shared]
    notes = (one.timestamp for one in facts.asides if not one.after and one.timestamp)
    return Ranking(
        facts.file.kind == "agent",
        session,
        min(stamps, default=LATE),
        next(notes, ""),
        copies,
        min(outside, default="" if is_alone else LATE),
        facts.file.path,
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """What decides whether a file owns the uuids it shares; the smallest rank owns."""

    is_agent: bool
    session: str
    started: str
    begun: str
    """When the first line was written, where that is a note; a fork's own precede its copies."""
    copies: set[tuple[int, int]]
    """The pairs of a file and the one that it was copied from."""
    went_on: str
    """The first record that no other file has. Who has none was left; late among files of one
    session, where it is only an older state.
    """
    path: str

    def __call__(self, node: Node, rivals: Sequence[Node]) -> Rank:
        named = any(rival.forked_from == self.session for rival in rivals if rival is not node)
        return (
            self.is_agent,
            # format: older versions copied history with its old session id
            node.session not in ("", self.session),
            self.started,
            2 - named - (named and node.forked_from is None),
            self.begun > (node.timestamp or LATE),
            sum((node.file, rival.file) in self.copies for rival in rivals),
            self.went_on,
            self.session,
            self.path,
        )


def _guessed(files: Sequence[FileFacts], pair: tuple[int, int], uuid: str) -> Finding:
    owner, other = pair
    sentence = f"nothing tells whether '{files[owner].file.path}' or this file was first"
    return Finding("guessed-owner", sentence, other, None, uuid)


def _number_nodes(
    files: Sequence[FileFacts], names: SessionNames, held: Held, owners: dict[str, int]
) -> tuple[list[Node], dict[str, Node]]:
    repeats, shared = held.repeats, held.shared
    nodes = list(held.first.values())
    if not (repeats or shared or names.renamed) and all(map(attrgetter("session"), nodes)):
        return nodes, held.first
    nodes, at = [], set[str]()
    for number, facts in enumerate(files):
        for node in facts.nodes:
            uuid = node.uuid
            if uuid in at or owners.get(uuid, number) != number:
                continue
            at.add(uuid)
            is_plain = uuid not in repeats and uuid not in shared and node.session
            nodes.append(node if is_plain else _owned(held, uuid, number, names.sessions[number]))
        if number in names.renamed:
            _rename(nodes, number, *names.renamed[number])
    return nodes, {node.uuid: node for node in nodes}


def _rename(nodes: list[Node], file: int, old: str, new: str) -> None:
    for at in range(len(nodes) - 1, -1, -1):
        if nodes[at].file != file:
            break
        if nodes[at].session == old:
            nodes[at] = replace(nodes[at], session=new)


def _owned(held: Held, uuid: str, owner: int, session: str) -> Node:
    node = held.first[uuid]
    repeats = held.repeats.get(uuid, [])
    sharing = held.shared.get(uuid)
    if sharing:
        node = next(one for one in sharing if one.file == owner)
        repeats = [*repeats, *(one.place for one in sharing if one is not node)]
    if node.session and not repeats:
        return node
    return replace(node, session=node.session or session, copies=tuple(sorted(repeats)))
