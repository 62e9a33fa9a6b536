"""Facts of files to one index: each uuid once, with its owner and its copies.

    A.jsonl  a b c d e            the session itself
    B.jsonl  a b c f g            forked or resumed: a b c are copies, f g its own

The index numbers its nodes in the order of files and lines. That number is the position
that "earlier in the file" means everywhere in this package.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from plait.graph.copies import differing
from plait.graph.model import Finding, Node, Place, SourceFile
from plait.graph.namesakes import Names, tell_apart
from plait.graph.source import FileFacts

LATE = "\uffff"
"""Sorts behind every timestamp."""


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
    findings: tuple[Finding, ...]

    def copies(self) -> int:
        """Counts the lines that repeat a uuid."""
        return sum(len(facts.nodes) for facts in self.facts) - len(self.nodes)


def index(facts: Iterable[FileFacts]) -> Index:
    """Returns the index of some files; the order in which they come does not matter."""
    ordered = sorted(facts, key=lambda one: one.file.path)
    files = tuple(one.renumbered(number) for number, one in enumerate(ordered))
    held = held_by(files)
    owners, guesses = choose_owners(files, [one.session for one in files], held.shared)
    names = tell_apart(files)
    nodes, at = number_nodes(files, names, held, owners)
    findings = (*names.findings, *guesses, *differing(files, held.shared, owners))
    sources = tuple(one.file for one in files)
    return Index(files, sources, tuple(names.sessions), names.homes, nodes, at, findings)


@dataclass(frozen=True, slots=True)
class Held:
    """Which files hold a uuid, with the node as the last line of each file has it."""

    first: dict[str, Node]
    """By the first file that holds it."""
    shared: dict[str, list[Node]]
    """Of all files, where several hold it."""
    repeats: dict[str, list[Place]]
    """The earlier lines of the same file."""


def held_by(files: Sequence[FileFacts]) -> Held:
    """Finds the repeats of each uuid within files and across them."""
    held = Held({}, {}, {})
    for facts in files:
        for node in facts.nodes:
            if held.first.setdefault(node.uuid, node) is not node:
                repeat(held, node)
    return held


def repeat(held: Held, node: Node) -> None:
    """Takes in a uuid that was met before."""
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


Rank = tuple[bool, bool, str, int, str, str, str]
SURE = 4
"""How many of the first parts of a rank are knowledge; the others are a guess."""


def choose_owners(
    files: Sequence[FileFacts], sessions: Sequence[str], shared: dict[str, list[Node]]
) -> tuple[dict[str, int], list[Finding]]:
    """Returns the owner of each uuid that several files hold, and what was guessed."""
    if not shared:
        return {}, []
    concerned = {node.file for nodes in shared.values() for node in nodes}
    ranks = {file: rank_of(file, files[file], sessions, shared) for file in sorted(concerned)}
    owners: dict[str, int] = {}
    guesses: dict[tuple[int, int], str] = {}
    for uuid, nodes in shared.items():
        ranked = sorted((*ranks[node.file](node, nodes), node.file) for node in nodes)
        first, second = ranked[0], ranked[1]
        owners[uuid] = first[-1]
        if first[:SURE] == second[:SURE]:
            guesses.setdefault((first[-1], second[-1]), uuid)
    return owners, [guessed(files, pair, uuid) for pair, uuid in guesses.items()]


def rank_of(
    file: int, facts: FileFacts, sessions: Sequence[str], shared: dict[str, list[Node]]
) -> "Ranking":
    """Returns how a file stands among those that hold the same uuid."""
    stamps = [node.timestamp for node in facts.nodes if node.timestamp]
    outside = [node.timestamp for node in facts.nodes if node.timestamp and node.uuid not in shared]
    return Ranking(
        facts.file.kind == "agent",
        sessions[file],
        min(stamps, default=LATE),
        min(outside, default=LATE),
        facts.file.path,
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """What decides whether a file owns the uuids it shares; the smallest rank owns."""

    is_agent: bool
    session: str
    started: str
    went_on: str
    """The first record that no other file has; late where there is none."""
    path: str

    def __call__(self, node: Node, rivals: Sequence[Node]) -> Rank:
        named = any(rival.forked_from == self.session for rival in rivals if rival is not node)
        return (
            self.is_agent,
            # format: older versions copied history with its old session id
            node.session not in ("", self.session),
            self.started,
            2 - named - (named and node.forked_from is None),
            self.went_on,
            self.session,
            self.path,
        )


def guessed(files: Sequence[FileFacts], pair: tuple[int, int], uuid: str) -> Finding:
    """Says that nothing tells which of two files came first."""
    owner, other = pair
    sentence = f"nothing tells whether '{files[owner].file.path}' or this file was first"
    return Finding("guessed-owner", sentence, other, None, uuid)


def number_nodes(
    files: Sequence[FileFacts], names: Names, held: Held, owners: dict[str, int]
) -> tuple[list[Node], dict[str, int]]:
    """Numbers each uuid by the first line of its owner that holds it."""
    nodes: list[Node] = []
    at: dict[str, int] = {}
    repeats, shared = held.repeats, held.shared
    for number, facts in enumerate(files):
        for node in facts.nodes:
            uuid = node.uuid
            if uuid in at or owners.get(uuid, number) != number:
                continue
            at[uuid] = len(nodes)
            is_plain = uuid not in repeats and uuid not in shared and node.session
            nodes.append(node if is_plain else owned(held, uuid, number, names.sessions[number]))
        if number in names.renamed:
            rename(nodes, number, *names.renamed[number])
    return nodes, at


def rename(nodes: list[Node], file: int, old: str, new: str) -> None:
    """Gives the records that a file has just added the session that it is told apart by."""
    for at in range(len(nodes) - 1, -1, -1):
        if nodes[at].file != file:
            break
        if nodes[at].session == old:
            nodes[at] = replace(nodes[at], session=new)


def owned(held: Held, uuid: str, owner: int, session: str) -> Node:
    """Returns the owner's node with the places of all copies."""
    node = held.first[uuid]
    repeats = held.repeats.get(uuid, [])
    sharing = held.shared.get(uuid)
    if sharing:
        node = next(one for one in sharing if one.file == owner)
        repeats = [*repeats, *(one.place for one in sharing if one is not node)]
    if node.session and not repeats:
        return node
    return replace(node, session=node.session or session, copies=tuple(sorted(repeats)))
