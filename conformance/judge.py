"""Judge sessions: client, SDK and Plait read each one, and are compared."""

import json
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from conformance import reading
from conformance.client import Client
from conformance.compare import (
    OWN_WORDS,
    STOPPED,
    comparable,
    explanation,
    mark,
    without_joined,
    without_stopped,
)
from conformance.model import Listed, Mark, Places, Readings, Resumed, Verdict
from conformance.sandbox import Desk
from conformance.scenarios import Scenario
from conformance.scenarios.script import script
from conformance.sdk import Sdk
from tests.standin import by_script

LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Judge:
    """Those who are asked, and where their disagreements go."""

    client: Client
    sdk: Sdk | None
    places: Places

    def produced(self, scenario: Scenario) -> list[Verdict]:
        """Let the client make sessions, and judges each of them."""
        with self.client.room.desk() as desk:
            self.client.standin.choose = by_script(script(desk.directory))
            scenario.play(self.client, desk)
            files = desk.sessions()
            self._keep(scenario.name, desk)
            listed = self._same_list(desk)
            return [
                replace(self._made(scenario.name, number, desk, file), title=listed)
                for number, file in enumerate(files, 1)
            ]

    def _made(self, name: str, number: int, desk: Desk, file: Path) -> Verdict:
        account = mark(reading.is_balanced(file), True)
        named = name if number == 1 else f"{name}, {number}"
        return replace(self._verdict("produced", named, desk, file), account=account)

    def given(self, group: str, name: str, file: Path) -> Verdict:
        """Judges a file of our making, or somebody's."""
        with self.client.room.desk() as desk:
            return self._verdict(group, name, desk, desk.take(file), file)

    def judged(self, group: str, name: str, desk: Desk, file: Path) -> Verdict:
        """Judges a session where it lies."""
        return self._verdict(group, name, desk, file)

    def _verdict(
        self, group: str, name: str, desk: Desk, file: Path, source: Path | None = None
    ) -> Verdict:
        read = self.read(desk, file)
        found = verdict(group, name, read)
        if not is_expected(source, read.client):
            found = replace(found, why="expected.json says something else")
        if not found.is_equal or found.why:
            self.keep_case(f"{group} {name}", file, read)
        return found

    def read(self, desk: Desk, file: Path) -> Readings:
        """Ask everybody what a session says."""
        ours, ours_as_sdk = reading.resumed(file), reading.resumed(file, "sdk")
        sdks = self.sdk.resumed(desk, file.stem) if self.sdk else None
        return Readings(self.client.resume(desk, file), ours, sdks, ours_as_sdk)

    def keep_case(self, name: str, file: Path, read: Readings) -> None:
        """Keep a session on which the readers differ, with what each makes of it."""
        write_case(self.places.disagreements / safe(name), file, read)

    def _same_list(self, desk: Desk) -> Mark:
        """Compare the list of sessions, with their titles."""
        if self.sdk is None:
            return Mark.NOT_ASKED
        ours, theirs = list(reading.listed(desk.config)), self.sdk.listed(desk)
        found = mark(titles(ours), titles(theirs))
        if found is Mark.DIFFERENT:
            place = self.places.disagreements / f"list {safe(desk.root.name)}.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            both = {"plait": titles(ours), "sdk": titles(theirs)}
            place.write_text(json.dumps(both, indent=1), encoding="utf-8")
        return found

    def _keep(self, name: str, desk: Desk) -> None:
        """Keep what the client wrote, to look at and to watch the format by."""
        place = self.places.produced / safe(name)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(desk.config / "projects", place / "projects")


def verdict(group: str, name: str, read: Readings) -> Verdict:
    """Return in what the readers of a session agree."""
    ours, theirs = read.plait, read.client
    messages, why = compared(ours, theirs)
    full = mark(ours.request, theirs.request)
    if full is Mark.DIFFERENT and (why or ours.own_words):
        full, why = Mark.EXPLAINED, why or OWN_WORDS
    if full is Mark.DIFFERENT and mark(ours.request, without_stopped(theirs.request)) is Mark.EQUAL:
        full, why = Mark.EXPLAINED, STOPPED
    return Verdict(
        group,
        name,
        resumed=mark(ours.resumes, theirs.resumes),
        leaf=mark([ours.leaf, ours.chain], [theirs.leaf, theirs.chain]),
        messages=messages,
        full=full,
        sdk=mark(said(read.plait_as_sdk), said(read.sdk)) if read.sdk else Mark.NOT_ASKED,
        why=why,
    )


def compared(ours: Resumed, theirs: Resumed) -> tuple[Mark, str]:
    """Return whether two requests are the same, and why they differ where that is known."""
    found = mark(ours.messages, theirs.messages)
    if found is Mark.EQUAL:
        return found, ""
    is_summarized = theirs.is_summarized
    why = explanation(ours.messages, theirs.messages, is_summarized=is_summarized)
    if not why and ours.own_words:
        bare = [without_joined(one.messages) for one in (ours, theirs)]
        why = explanation(*bare, is_summarized=is_summarized) or (
            OWN_WORDS if mark(*bare) is Mark.EQUAL else ""
        )
    return (Mark.EXPLAINED if why else found), why


def said(found: Resumed) -> list[object]:
    """Return what the SDK says of a session."""
    return [found.chain, found.messages]


def titles(listed: list[Listed]) -> dict[str, str]:
    """Return the titles by session, as long as the SDK makes them."""
    return {one.session: shortened(one.title or "") for one in listed}


def shortened(title: str) -> str:
    """Return a title on one line, cut where the SDK cuts it."""
    whole = " ".join(title.split())
    return whole if len(whole) <= LONGEST_TITLE else whole[:LONGEST_TITLE].rstrip() + "…"


def is_expected(source: Path | None, theirs: Resumed) -> bool:
    """Whether a case says of itself what the client says; True where it says nothing."""
    expected = source.with_name("expected.json") if source else None
    if expected is None or not expected.exists():
        return True
    case = json.loads(expected.read_text(encoding="utf-8"))
    case["messages"] = comparable(
        {"role": role, "content": said} for role, said in case["messages"]
    )
    found = theirs.as_object()
    return mark({key: case.get(key) for key in found}, found) is Mark.EQUAL


def write_case(folder: Path, file: Path, read: Readings) -> None:
    """Write a case that one can look at: the file, and what each reader makes of it."""
    folder.mkdir(parents=True, exist_ok=True)
    if file.exists():
        shutil.copyfile(file, folder / "session.jsonl")
    for name, found in read.by_name().items():
        if found:
            told = {**found.as_object(), "request": found.request, "note": found.note}
            (folder / f"{name}.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


def safe(name: str) -> str:
    """Return a name for a folder."""
    return re.sub(r"[^\w-]+", "-", name).strip("-")
