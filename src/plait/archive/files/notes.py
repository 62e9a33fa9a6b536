"""Notes that git-ai keeps beside commits to who wrote which lines, and back.

src/a.py                                      refs/notes/ai, "authorship/3.0.0"
  s_<14 hex>::t_<14 hex> 1-4,9                a session, and the call of it
  h_<14 hex> 12                               a person
  <16 hex> 20-22                              a session, in notes of older versions
---
{"schema_version": …, "sessions": {"s_…": {"agent_id": {"tool", "id", "model"}}}, …}
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Any

from plait.record.codec import mapping, said

REF = "refs/notes/ai"
SCHEMA = "authorship/3.0.0"
TOOL = "claude"
"""What git-ai calls Claude Code."""
DIVIDER = "---"
QUOTED = (" ", "\t", "\n")
MOST_LINES = 10_000_000


@dataclass(frozen=True, slots=True)
class Attested:
    """Who wrote a line, as a note says."""

    key: str
    tool: str | None = None
    """None for a person."""
    id: str | None = None
    """The session, as the tool calls it."""
    model: str | None = None
    person: str | None = None


@dataclass
class Note:
    """The note of one commit."""

    files: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Lines by file and key."""
    facts: dict[str, Any] = field(default_factory=dict)

    def writer(self, path: str, line: int) -> Attested | None:
        """Returns who wrote a line of a file, as it was committed."""
        for key, lines in self.files.get(path, {}).items():
            if line in lines:
                return self._attested(key)
        return None

    def _attested(self, key: str) -> Attested:
        name = key.partition("::")[0]
        if name.startswith("h_"):
            record = mapping(mapping(self.facts.get("humans")).get(name))
            return Attested(key, person=said(record, "author") or name)
        part = "sessions" if name.startswith("s_") else "prompts"
        agent = mapping(mapping(mapping(self.facts.get(part)).get(name)).get("agent_id"))
        return Attested(
            key, said(agent, "tool") or "unknown", said(agent, "id"), said(agent, "model")
        )


def note_in(text: str) -> Note | None:
    """Returns what a note says, None where it is none of these."""
    above, divider, below = f"\n{text}".partition(f"\n{DIVIDER}\n")
    try:
        facts = json.loads(below) if divider else None
    except ValueError:
        return None
    if not isinstance(facts, dict) or not str(facts.get("schema_version")).startswith("authorship"):
        return None
    note = Note(facts=facts)
    path = ""
    for line in above.split("\n"):
        if line.startswith("  ") and path:
            key, _, told = line.strip().partition(" ")
            note.files[path].setdefault(key, []).extend(_numbers(told))
        elif line.strip():
            path = line.strip('"') if line.startswith('"') else line
            note.files.setdefault(path, {})
    return note


def _numbers(told: str) -> Iterator[int]:
    for part in told.split(","):
        first, dash, last = part.strip().partition("-")
        if first.isdigit() and (not dash or last.isdigit()):
            start, end = int(first), int(last) if dash else int(first)
            if end - start < MOST_LINES:
                yield from range(start, end + 1)


def session_key(session: str, tool: str = TOOL) -> str:
    """Returns what git-ai calls a session."""
    return f"s_{sha256(f'{tool}:{session}'.encode()).hexdigest()[:14]}"


def trace_key(call: str) -> str:
    """Returns what stands for one call, always the same for the same."""
    return f"t_{sha256(call.encode()).hexdigest()[:14]}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A line that a session wrote, as it was committed."""

    path: str
    line: int
    session: str
    call: str
    model: str | None = None


def with_claims(note: Note | None, commit: str, person: str, claims: Iterable[Claim]) -> Note:
    """Returns a note with what is claimed of files that it says nothing of yet."""
    found = Note(
        {path: dict(keys) for path, keys in note.files.items()} if note else {},
        dict(note.facts) if note else {"schema_version": SCHEMA, "prompts": {}},
    )
    found.facts["base_commit_sha"] = commit
    said_already = frozenset(found.files)
    sessions = dict(mapping(found.facts.get("sessions")))
    for claim in claims:
        if claim.path in said_already:
            continue
        name = session_key(claim.session)
        key = f"{name}::{trace_key(claim.call)}"
        found.files.setdefault(claim.path, {}).setdefault(key, []).append(claim.line)
        agent = {"tool": TOOL, "id": claim.session, "model": claim.model or "unknown"}
        sessions.setdefault(name, {"agent_id": agent, "human_author": person})
    found.facts["sessions"] = sessions
    return found


def note_text(note: Note) -> str:
    """Returns a note as it is kept."""
    lines: list[str] = []
    for path, keys in note.files.items():
        lines.append(f'"{path}"' if any(one in path for one in QUOTED) else path)
        lines += [f"  {key} {_ranges(numbers)}" for key, numbers in keys.items()]
    facts = json.dumps(note.facts, indent=2, ensure_ascii=False)
    return "\n".join([*lines, DIVIDER, facts, ""])


def _ranges(numbers: Iterable[int]) -> str:
    ordered = sorted(set(numbers))
    breaks = [0, *(at for at, (a, b) in enumerate(pairwise(ordered), 1) if b > a + 1), len(ordered)]
    parts = (ordered[start:end] for start, end in pairwise(breaks))
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts if p)


def is_same(one: Note | None, other: Note) -> bool:
    """Tells whether two notes say the same of files."""
    return _said(one) == _said(other)


def _said(note: Note | None) -> Mapping[str, Any]:
    return {} if note is None else note.files
