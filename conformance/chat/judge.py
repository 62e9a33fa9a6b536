"""Talks to verdicts: what both clients wrote of them, and what the real one makes of ours."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conformance.chat.alike import differing, told
from conformance.chat.explained import FIELDS, IN_PRINT
from conformance.chat.explained import TALKS as TALKS_EXPLAINED
from conformance.chat.kinds import Difference, Form, differences, forms
from conformance.chat.players import Alternating, Genuine, Ours, Player, play
from conformance.chat.talks import IN_TURN, TALKS, Talk
from conformance.client import objects
from conformance.judge import Judge, safe
from conformance.model import Mark, Verdict
from conformance.sandbox import Desk

PLACES, LINES, FIELDS_OF = "chat", "chat, lines", "chat, fields"


def verdicts(judge: Judge, only: str) -> Iterator[Verdict]:
    """Yields what came of all talks: how ours resume, how their lines and fields compare."""
    chat = ChatJudge(judge)
    for talk in TALKS:
        if only in talk.name:
            yield from chat.played(talk)
    if only in IN_TURN.name:
        yield from chat.in_turn(IN_TURN)
    for name, lines in chat.lines.items():
        words, why = TALKS_EXPLAINED.get(name, ((), ""))
        is_known = lines and all(any(word in line for word in words) for line in lines)
        yield explained(LINES, name, why) if is_known else told_alike(LINES, name, lines)
    found = differences(chat.ours, chat.theirs)
    for kind in sorted(chat.ours.keys() - IN_PRINT.keys()):
        unexplained = [str(one) for one in found if one.kind == kind and not is_explained(one)]
        yield told_alike(FIELDS_OF, kind, unexplained)


def explained(group: str, name: str, why: str) -> Verdict:
    """Returns the row of something that differs for a known reason."""
    return Verdict(group, name, Mark.NOT_ASKED, Mark.NOT_ASKED, Mark.EXPLAINED, why=why)


def told_alike(group: str, name: str, found: list[str]) -> Verdict:
    """Returns the row of something that was compared on paper."""
    same = Mark.DIFFERENT if found else Mark.EQUAL
    return Verdict(group, name, Mark.NOT_ASKED, Mark.NOT_ASKED, same, why="\n  ".join(found))


def is_explained(found: Difference) -> bool:
    """Whether it is known why a field differs."""
    return (found.what, found.path) in FIELDS or (
        found.what,
        f"{found.kind}: {found.path}",
    ) in FIELDS


@dataclass(slots=True)
class ChatJudge:
    """Who plays the talks, and what the lines of each client were like."""

    judge: Judge
    ours: dict[str, Form] = field(default_factory=dict)
    theirs: dict[str, Form] = field(default_factory=dict)
    lines: dict[str, list[str]] = field(default_factory=dict)
    """In what the logs of a talk differ."""

    def played(self, talk: Talk) -> Iterator[Verdict]:
        """Leads both clients through a talk, compares their logs, and yields how ours resume."""
        client = self.judge.client
        with client.room.desk() as desk:
            theirs = self._written(Genuine(client), desk, talk, self.theirs)
        with client.room.desk() as desk:
            ours = self._written(Ours(client), desk, talk, self.ours)
            for number, file in enumerate(desk.sessions(), 1):
                name = talk.name if number == 1 else f"{talk.name}, {number}"
                yield self.judge.judged(PLACES, name, desk, file)
        found = [f"{len(ours)} sessions here, {len(theirs)} there"] * (len(ours) != len(theirs))
        for one, other in zip(ours, theirs, strict=False):
            found += differing(one, other)
        self.lines[talk.name] = found

    def in_turn(self, talk: Talk) -> Iterator[Verdict]:
        """Leads the two clients through one session, turn about, and yields how it resumes."""
        client = self.judge.client
        with client.room.desk() as desk:
            play(Alternating(Genuine(client), Ours(client)), desk, client, talk)
            for file in desk.sessions():
                yield self.judge.judged(PLACES, talk.name, desk, file)

    def _written(
        self, player: Player, desk: Desk, talk: Talk, known: dict[str, Form]
    ) -> list[list[tuple[str, dict[str, object]]]]:
        files = play(player, desk, self.judge.client, talk)
        for file in files:
            forms(objects(file), known)
        self._keep(f"{player.name} {talk.name}", desk)
        paths = {str(desk.config): "CONFIG", str(desk.directory): "HERE", str(desk.root): "ROOT"}
        paths |= {path.parent.name: "SLUG" for path in files}
        return [told(file, paths, is_printed=True) for file in files]

    def _keep(self, name: str, desk: Desk) -> None:
        place: Path = self.judge.places.root / PLACES / safe(name)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(desk.config / "projects", place / "projects")
