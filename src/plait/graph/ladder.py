"""The children of a host to what becomes of each: rungs tried in order, the first answers.

A rung answers with the name of a rung or declines with None. It never raises and never looks
at another rung. The last cannot decline: what no rung explains is a rewind.

What documents call artifacts (parallel calls, early and late results, responses that go on,
hooks and progress beside the conversation) never comes here: steps have dissolved it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
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
    is_reply: bool
    """Said by the model, or returned to it by a call."""
    is_answered: bool
    holds_leaf: bool
    """The client would go on from here or from below."""
    went_on: bool
    """A person's prompt was answered in it or below it."""
    is_after_error: bool
    """An API error stands between it and its host."""
    is_below_prompt: bool
    """Its host is what somebody asked, not an answer or a result."""
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
    def answers_same(self) -> bool:
        """Tells whether both answer one thing: a prompt, though it was written twice."""
        is_prompted = self.older.is_below_prompt and self.newer.is_below_prompt
        return self.is_same_place or is_prompted

    @property
    def has_same_words(self) -> bool:
        return self.older.digest is not None and self.older.digest == self.newer.digest


Rung: TypeAlias = Callable[[Fork], RungName | None]


def _replay(fork: Fork) -> RungName | None:
    """The same words at the same instant: written twice, the second is folded.

    A ──┬── U₁ "go on" 10:02 ── A …
        └── U₂ "go on" 10:02            folded under U₁; what hangs on it hangs on U₁
    """
    same_time = fork.older.stamp is not None and fork.older.stamp == fork.newer.stamp
    return "replay" if same_time and fork.has_same_words and fork.is_same_place else None


def _retry(fork: Fork) -> RungName | None:
    """The model answered again, or its answer stands beside an error of the API.

    U ──┬── A₁ "…"                      U ──┬── A₁ "…"
        └── A₂ "…" ── U …                   └── api_error ── U₂ …
    """
    if fork.is_rootless or fork.older.is_opener or not fork.older.is_answered:
        return None
    if not fork.newer.is_opener:
        return "retry" if fork.newer.is_answered and fork.answers_same else None
    return "retry" if fork.newer.is_after_error else None


def _other_writer(fork: Fork) -> RungName | None:
    """An answer beside a conversation that went on: nobody can rewind to it, another client's.

    A ──┬── result ── U₂ ── A …             resumed while the first client still waits
        └── result ── A₃                    its call comes back, and it goes on
    """
    if fork.is_rootless or not fork.newer.is_reply or not fork.newer.is_answered:
        return None
    return "parallel" if fork.older.went_on else None


def _sent_again(fork: Fork) -> RungName | None:
    """A command that got no answer was sent once more, with the same words.

    A ──┬── "/review src"                   unanswered, folded
        └── "/review src" ── A …            goes on
    """
    is_command = not fork.older.is_opener and fork.newer.is_opener and not fork.is_rootless
    return "resent" if is_command and _retracted(fork) == "resent" else None


def _note(fork: Fork) -> RungName | None:
    """What begins no turn stays on the line, and so does what nothing can have rewound.

    A ──┬── U "next" ── A …             ∅ ── U    ∅ ── A    ∅ ── U     no parents at all
        └── "/model" (no answer)

    R ──┬── A …                         R ──┬── A ── U ── A …
        └── notice ── A …  stays            └── notice ── A …   leaves a person's words behind
    """
    older, newer = fork.older, fork.newer
    if not newer.is_opener:
        return "note"
    if older.is_opener:
        return None
    if fork.is_rootless or not older.is_answered:
        return "note"
    return "note" if not newer.is_prompt and not older.went_on else None


def _retracted(fork: Fork) -> RungName | None:
    """The earlier prompt got no answer: it folds under the one that replaced it.

    A ──┬── U₁ "fix teh bug"                unanswered, folded
        └── U₂ "fix the bug" ── A …         goes on
    """
    older = fork.older
    if older.is_answered or older.holds_leaf or not fork.is_same_place:
        return None
    return "resent" if fork.has_same_words else "retracted"


def _parallel(fork: Fork) -> RungName | None:
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


LADDER: tuple[Rung, ...] = (
    _replay,
    _other_writer,
    _retry,
    _sent_again,
    _note,
    _retracted,
    _parallel,
    rewind,
)


def judge(fork: Fork) -> RungName:
    """Returns the name of the first rung that answers."""
    for rung in LADDER:
        if name := rung(fork):
            return name
    raise AssertionError("the last rung answers")  # pragma: no cover


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on two steps."""

    rung: RungName
    older: int
    newer: int


@dataclass(slots=True)
class Outcome:
    """What becomes of the children of one host."""

    staying: list[int] = field(default_factory=list)
    """Steps that stay on the host's line whichever way the conversation went."""
    sides: list[list[int]] = field(default_factory=list)
    """The ways it went, oldest first; one of them stays on the host's line."""
    folded: list[Judged] = field(default_factory=list)
    """Prompts folded under the newer one; the newest verdict is the last."""
    replayed: list[Judged] = field(default_factory=list)
    """Steps folded under the older one."""
    verdicts: list[Judged] = field(default_factory=list)


IsBelow: TypeAlias = Callable[[Child, Child], bool]
"""Whether the first hangs below the second."""


def weigh(children: Iterable[Child], is_below: IsBelow, *, is_rootless: bool = False) -> Outcome:
    """Judges the children of a host in file order, each against what came before it."""
    outcome = Outcome()
    standing: list[Child] = []
    unanswered: dict[tuple[int, int | None], Child] = {}
    for newer in _without_replays(children, outcome):
        _fold_sent_again(outcome, unanswered, newer, is_rootless)
        if standing and is_below(newer, standing[-1]):  # the same way, no fork
            _stand(outcome, standing, newer)
        else:
            _place(outcome, standing, newer, is_rootless)
    return outcome


def _fold_sent_again(
    outcome: Outcome,
    unanswered: dict[tuple[int, int | None], Child],
    newer: Child,
    is_rootless: bool,
) -> None:
    """Folds a command under the same one, answered; what stays on the line is remembered."""
    older = unanswered.get((newer.host, newer.digest))
    if older and judge(Fork(older, newer, is_rootless)) == "resent":
        del unanswered[newer.host, newer.digest]
        outcome.staying.remove(older.step)
        outcome.folded.append(Judged("resent", older.step, newer.step))
        outcome.verdicts.append(outcome.folded[-1])
    if not newer.is_opener and not newer.is_answered and newer.digest is not None:
        unanswered[newer.host, newer.digest] = newer


def _without_replays(children: Iterable[Child], outcome: Outcome) -> list[Child]:
    kept: list[Child] = []
    written: dict[tuple[int, str | None, int | None], int] = {}
    for newer in children:
        at = written.setdefault((newer.host, newer.stamp, newer.digest), len(kept))
        if at < len(kept) and judge(Fork(kept[at], newer)) == "replay":
            outcome.replayed.append(Judged("replay", kept[at].step, newer.step))
            kept[at] = _merged(kept[at], newer)
        else:
            kept.append(newer)
    outcome.verdicts.extend(outcome.replayed)
    return kept


def _merged(older: Child, newer: Child) -> Child:
    return replace(
        older,
        is_opener=older.is_opener or newer.is_opener,
        is_answered=older.is_answered or newer.is_answered,
        holds_leaf=older.holds_leaf or newer.holds_leaf,
        went_on=older.went_on or newer.went_on,
        last=max(older.last, newer.last),
    )


def _place(outcome: Outcome, standing: list[Child], newer: Child, is_rootless: bool) -> None:
    rung: RungName | None = None
    while standing:
        older = standing[-1]
        rung = judge(Fork(older, newer, is_rootless))
        if rung not in ("retracted", "resent"):
            outcome.verdicts.append(Judged(rung, older.step, newer.step))
            break
        _withdraw(outcome, Judged(rung, standing.pop().step, newer.step))
        rung = None
    if rung in ("rewind", "parallel"):
        outcome.sides.append([])
    _stand(outcome, standing, newer)


def _stand(outcome: Outcome, standing: list[Child], newer: Child) -> None:
    if not newer.is_opener and not newer.is_answered:
        outcome.staying.append(newer.step)
        return
    if not outcome.sides:
        outcome.sides.append([])
    standing.append(newer)
    outcome.sides[-1].append(newer.step)


def _withdraw(outcome: Outcome, judged: Judged) -> None:
    outcome.verdicts.append(judged)
    outcome.folded.append(judged)
    outcome.sides[-1].pop()
    if not outcome.sides[-1]:
        outcome.sides.pop()
