"""Judge conversations: what both clients wrote, and whether the real one resumes ours."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from conformance.chat.alike import differing, told
from conformance.chat.explained import FIELDS
from conformance.chat.explained import TALKS as TALKS_EXPLAINED
from conformance.chat.hooked import HOOKED, differing_hearing, heard_at
from conformance.chat.kinds import Difference, Form, differences, forms
from conformance.chat.players import Alternating, Genuine, Ours, play
from conformance.chat.screens import (
    DRIVEN,
    SCREENED,
    Screened,
    with_driven,
    with_ours,
    with_theirs,
)
from conformance.chat.talks import IN_TURN, LEAVE, TALKS, TURNS, Talk, answers, many_prompts
from conformance.client import Client, objects
from conformance.judge import Judge, safe
from conformance.model import Json, Mark, Verdict
from conformance.sandbox import Desk
from conformance.scenarios.printed import lay_out
from conformance.terminal import NotShown

Playing: TypeAlias = Callable[[Desk], list[Path]]

LONG_ONE = f"{TURNS} turns"
PLACES, LINES, FIELDS_OF = "chat", "chat, lines", "chat, fields"


def verdicts(judge: Judge, only: str) -> Iterator[Verdict]:
    """Yield what came of all talks: how ours resume, how their lines and fields compare."""
    chat = ChatJudge(judge)
    for talk in (*TALKS, *HOOKED):
        if only in talk.name:
            yield from chat.played(talk)
    for screened in (one for one in SCREENED if only in one.name):
        yield from chat.screened(screened)
    for screened in (one for one in DRIVEN if only in one.name):
        yield from chat.driven(screened)
    if only in IN_TURN.name:
        yield from chat.in_turn(IN_TURN)
    if only in LONG_ONE:
        yield from chat.long_one()
    for name, lines in chat.lines.items():
        words, why = TALKS_EXPLAINED.get(name, ((), ""))
        is_known = lines and all(any(word in line for word in words) for line in lines)
        yield explained(LINES, name, why) if is_known else told_alike(LINES, name, lines)
    found = differences(chat.ours, chat.theirs)
    for kind in sorted(chat.ours):
        unexplained = [str(one) for one in found if one.kind == kind and not is_explained(one)]
        yield told_alike(FIELDS_OF, kind, unexplained)


def explained(group: str, name: str, why: str) -> Verdict:
    """Return the row of something that differs for a known reason."""
    return Verdict(group, name, Mark.NOT_ASKED, Mark.NOT_ASKED, Mark.EXPLAINED, why=why)


def told_alike(group: str, name: str, found: list[str]) -> Verdict:
    """Return the row of something that was compared on paper."""
    same = Mark.DIFFERENT if found else Mark.EQUAL
    return Verdict(group, name, Mark.NOT_ASKED, Mark.NOT_ASKED, same, why="\n  ".join(found))


def is_explained(found: Difference) -> bool:
    """Whether it is known why a field differs."""
    return (found.what, found.path) in FIELDS or (
        found.what,
        f"{found.kind}: {found.path}",
    ) in FIELDS


def seated(
    lead: Callable[[Client, Desk, Screened], None], client: Client, desk: Desk, talk: Screened
) -> list[Path]:
    """Has a client led through a talk on a screen, and returns the sessions that came of it."""
    client.standin.choose = answers(desk.directory)
    lay_out(desk)
    lead(client, desk, talk)
    return desk.sessions()


def agents_of(file: Path) -> list[Path]:
    """Return the logs of a session's agents, by what they were sent out for."""
    found = file.with_suffix("").glob("subagents/*.jsonl")
    return sorted(found, key=lambda log: json.dumps(next(objects(log))["message"]))


def kept_beside(log: Path) -> Iterator[Json]:
    """Yield what is kept beside the log of an agent, as a line of its own kind."""
    beside = log.with_suffix(".meta.json")
    if beside.is_file():
        yield {"type": "beside an agent", **json.loads(beside.read_bytes())}


@dataclass(slots=True)
class ChatJudge:
    """Who plays the talks, and what the lines of each client were like."""

    judge: Judge
    ours: dict[str, Form] = field(default_factory=dict)
    theirs: dict[str, Form] = field(default_factory=dict)
    lines: dict[str, list[str]] = field(default_factory=dict)
    """In what the logs of a talk differ."""

    def played(self, talk: Talk) -> Iterator[Verdict]:
        """Lead both clients through a talk, compares their logs, and yield how ours resume."""
        client = self.judge.client
        theirs, ours = Genuine(client), Ours(client)
        yield from self._compared(
            talk.name,
            lambda desk: play(theirs, desk, client, talk),
            lambda desk: play(ours, desk, client, talk),
        )

    def screened(self, talk: Screened) -> Iterator[Verdict]:
        """Lead both clients through a talk on a screen, and does the same."""
        client = self.judge.client
        try:
            yield from self._compared(
                talk.name,
                lambda desk: seated(with_theirs, client, desk, talk),
                lambda desk: seated(with_ours, client, desk, talk),
            )
        except NotShown as fault:
            self.lines[talk.name] = [str(fault)]

    def driven(self, talk: Screened) -> Iterator[Verdict]:
        """Has our console drive the real client through a talk, and yields how that resumes."""
        client = self.judge.client
        with client.room.desk() as desk:
            try:
                born = seated(with_driven, client, desk, talk)
            except NotShown as fault:
                self.lines[talk.name] = [str(fault)]
                return
            self._keep(talk.name, desk)
            self.lines[talk.name] = [] if born else ["there is no session"]
            for number, file in enumerate(born, 1):
                name = talk.name if number == 1 else f"{talk.name}, {number}"
                yield self.judge.judged(PLACES, name, desk, file)

    def _compared(self, name: str, with_theirs: Playing, with_ours: Playing) -> Iterator[Verdict]:
        client = self.judge.client
        with client.room.desk() as desk:
            theirs = self._written(f"client {name}", desk, with_theirs, self.theirs)
            heard_there = heard_at(desk)
        with client.room.desk() as desk:
            ours = self._written(f"plait {name}", desk, with_ours, self.ours)
            heard_here = heard_at(desk)
            for number, file in enumerate(desk.sessions(), 1):
                yield self.judge.judged(
                    PLACES, name if number == 1 else f"{name}, {number}", desk, file
                )
        found = [f"{len(ours)} sessions here, {len(theirs)} there"] * (len(ours) != len(theirs))
        for one, other in zip(ours, theirs, strict=False):
            found += differing(one, other)
        found += differing_hearing(heard_here, heard_there)
        self.lines[name] = found

    def in_turn(self, talk: Talk) -> Iterator[Verdict]:
        """Lead the two clients through one session, turn about, and yield how it resumes."""
        client = self.judge.client
        with client.room.desk() as desk:
            play(Alternating(Genuine(client), Ours(client)), desk, client, talk)
            for file in desk.sessions():
                yield self.judge.judged(PLACES, talk.name, desk, file)

    def long_one(self) -> Iterator[Verdict]:
        """Has `plait chat` hold a long session, and yields how it resumes."""
        client = self.judge.client
        with client.room.desk() as desk:
            client.standin.choose = answers(desk.directory)
            lay_out(desk)
            Ours(client).many(desk, many_prompts(), *LEAVE)
            self._keep(f"plait {LONG_ONE}", desk)
            for file in desk.sessions():
                yield self.judge.judged(PLACES, LONG_ONE, desk, file)

    def _written(
        self, name: str, desk: Desk, playing: Playing, known: dict[str, Form]
    ) -> list[list[tuple[str, dict[str, object]]]]:
        files = [log for file in playing(desk) for log in (file, *agents_of(file))]
        for file in files:
            forms(objects(file), known)
            forms(kept_beside(file), known)
        self._keep(name, desk)
        paths = {str(desk.config): "CONFIG", str(desk.directory): "HERE", str(desk.root): "ROOT"}
        paths |= {desk.project.name: "SLUG"}
        return [told(file, paths) for file in files]

    def _keep(self, name: str, desk: Desk) -> None:
        place: Path = self.judge.places.root / PLACES / safe(name)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(desk.config / "projects", place / "projects")
