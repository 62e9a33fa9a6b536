"""Two steps that hang on one host to what they mean: rungs tried in order, the first answers.

A rung answers with the name of a rung or declines with None. It never raises and never looks
at another rung. The last cannot decline: what no rung explains is a rewind.

What documents call artifacts (parallel calls, early and late results, responses that go on,
hooks and progress beside the conversation) never comes here: steps have dissolved it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from plait.graph.model import RungName


@dataclass(frozen=True, slots=True)
class Child:
    """A step that hangs on a host, as the rungs see it."""

    step: int
    host: int
    """The record it hangs on; below none, and in another session's file, they can differ."""
    stamp: str | None
    digest: int | None
    """Of its words, where it is a prompt."""
    is_opener: bool
    is_prompt: bool
    """Typed by a person."""
    is_answered: bool
    holds_leaf: bool
    """The client would go on from here or from below."""
    is_after_error: bool
    """An API error stands between it and its host."""
    first: int
    last: int
    """Positions in the file: its first record, and the last in it or below it."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A newer step beside an older one."""

    older: Child
    newer: Child
    is_rootless: bool = False
    """Both hang on nothing: the file may not say what follows what."""

    @property
    def is_same_place(self) -> bool:
        return self.older.host == self.newer.host

    @property
    def has_same_words(self) -> bool:
        return self.older.digest is not None and self.older.digest == self.newer.digest


Rung: TypeAlias = Callable[[Fork], RungName | None]


def replay(fork: Fork) -> RungName | None:
    """The same words at the same instant: written twice, the second is folded.

    A ──┬── U₁ "go on" 10:02 ── A …
        └── U₂ "go on" 10:02            folded under U₁; what hangs on it hangs on U₁
    """
    same_time = fork.older.stamp is not None and fork.older.stamp == fork.newer.stamp
    return "replay" if same_time and fork.has_same_words and fork.is_same_place else None


def retry(fork: Fork) -> RungName | None:
    """The model answered again, or its answer stands beside an error of the API.

    U ──┬── A₁ "…"                      U ──┬── A₁ "…"
        └── A₂ "…" ── U …                   └── api_error ── U₂ …
    """
    if fork.is_rootless or fork.older.is_opener or not fork.older.is_answered:
        return None
    if not fork.newer.is_opener:
        return "retry" if fork.newer.is_answered else None
    return "retry" if fork.newer.is_after_error else None


def note(fork: Fork) -> RungName | None:
    """What begins no turn stays on the line, and so does what nothing can have rewound.

    A ──┬── U "next" ── A …             ∅ ── U    ∅ ── A    ∅ ── U     no parents at all
        └── "/model" (no answer)
    """
    older, newer = fork.older, fork.newer
    if not newer.is_opener:
        return "note"
    if older.is_opener:
        return None
    return "note" if fork.is_rootless or not older.is_answered or not newer.is_prompt else None


def retracted(fork: Fork) -> RungName | None:
    """The earlier prompt got no answer: it folds under the one that replaced it.

    A ──┬── U₁ "fix teh bug"                unanswered, folded
        └── U₂ "fix the bug" ── A …         goes on
    """
    older = fork.older
    if older.is_answered or older.holds_leaf or not fork.is_same_place:
        return None
    return "resent" if fork.has_same_words else "retracted"


def parallel(fork: Fork) -> RungName | None:
    """Both sides grow at the same time: two clients write to one session.

    A ──┬── U₁ (line 7) ── A (line 9) ── U (line 12) …
        └── U₂ (line 8) ── A (line 10) …
    """
    return "parallel" if fork.older.last > fork.newer.first else None


def rewind(fork: Fork) -> RungName:
    """The conversation was taken back to the host and went another way.

    A ──┬── U₁ 10:02 ── A …
        └── U₂ 10:35 ── A …
    """
    return "rewind"


LADDER: tuple[Rung, ...] = (replay, retry, note, retracted, parallel, rewind)


def judge(fork: Fork) -> RungName:
    """Returns the name of the first rung that answers."""
    for rung in LADDER:
        if name := rung(fork):
            return name
    raise AssertionError("the last rung answers")  # pragma: no cover
