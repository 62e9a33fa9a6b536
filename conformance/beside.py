"""What the real client sends of trimmed sessions: a row per way to trim.

python -m conformance.beside FOLDER [--logs FOLDER] [--sample N] [--cli VERSION|latest]

`python -m bench.trim --keep FOLDER` leaves the sessions there, a folder for each way. Each is
resumed offline, and what the client sends is weighed, compared with `plait context`, and searched
for what people typed. Exit codes: 0 done, 5 skipped.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conformance import install, reading, sandbox
from conformance.client import Client
from conformance.corpus import sample
from conformance.edits.operations import messages_of
from conformance.edits.trims import lost, typed
from conformance.judge import compared
from conformance.model import Mark, Missing, Places, Resumed
from conformance.table import as_table
from plait.graph.client.tokens import estimate_request_tokens
from tests.standin import StandIn, by_script

PROJECT = Path(__file__).resolve().parents[1]
LONGEST = 3600
LACKS = 5
UNTOUCHED = "as it was"
HEADINGS = ("way", "sessions", "resume", "as plait says", "tokens sent", "saved", "words lost")


@dataclass(slots=True)
class Tally:
    """What the client made of the sessions of one way."""

    sessions: int = 0
    resumed: int = 0
    equal: int = 0
    tokens: int = 0
    lost: int = 0
    """Sessions in which something that was asked is no longer sent."""
    differing: list[str] = field(default_factory=list)


def main() -> int:
    """Run outside or inside, and return the exit code."""
    given = arguments()
    return judged(given) if given.inside else prepared(given)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m conformance.beside")
    parser.add_argument("folder", type=Path, help="trimmed sessions, a folder for each way")
    parser.add_argument("--logs", type=Path, required=True, help="the sessions as they were")
    parser.add_argument("--sample", type=int, default=30, help="how many of them")
    parser.add_argument("--cli", default=install.PINNED, help="a version, or latest")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def places() -> Places:
    """Return where the client lies."""
    return Places(PROJECT / ".cache" / "conformance")


def prepared(given: argparse.Namespace) -> int:
    """Install the client, then run itself inside namespaces."""
    try:
        if lacking := list(sandbox.needs()):
            raise Missing("; ".join(lacking))
        version = install.newest() if given.cli == "latest" else given.cli
        install.client(places(), version)
    except Missing as missing:
        print(f"skipped: {missing}")
        return LACKS
    with sandbox.temporary() as folder:
        rest = [*sys.argv[1:], "--cli", version, "--inside", str(folder)]
        command = [sys.executable, "-m", "conformance.beside", *rest]
        return sandbox.inside(command, PROJECT, seconds=LONGEST)


def judged(given: argparse.Namespace) -> int:
    """Ask the client about every session of the sample, as it was and trimmed."""
    folder: Path = given.inside
    sandbox.furnish(folder)
    sandbox.check_alone()
    executable = sandbox.within_reach(install.client(places(), given.cli), folder)
    ways = sorted(one.name for one in given.folder.iterdir() if one.is_dir())
    tallies = {way: Tally() for way in (UNTOUCHED, *ways)}
    with StandIn(by_script({})) as standin:
        client = Client(executable, sandbox.Room(folder), standin)
        for file in sample(given.folder / ways[0], given.sample):
            name = file.relative_to(given.folder / ways[0])
            weigh(client, given.logs / name, name, given.folder, tallies)
    print(as_table([HEADINGS, *rows(tallies)]))
    for way, tally in tallies.items():
        for one in tally.differing:
            print(f"{way}: {one}: the client sends something else than `plait context` says")
    return 0


def weigh(client: Client, file: Path, name: Path, folder: Path, tallies: dict[str, Tally]) -> None:
    """Add what the client makes of one session to the tallies; where it resumes at all."""
    before = resumed(client, file)
    if not before.resumes:
        return
    asked = {words for entry in messages_of(file) for words in typed(entry)}
    for way, tally in tallies.items():
        trimmed = file if way == UNTOUCHED else folder / way / name
        after = before if way == UNTOUCHED else resumed(client, trimmed)
        tally.sessions += 1
        tally.resumed += after.resumes
        tally.tokens += estimate_request_tokens(after.request)
        tally.lost += bool(lost(asked, before, after))
        is_equal = compared(reading.resumed(trimmed), after)[0] is not Mark.DIFFERENT
        tally.equal += is_equal
        tally.differing += [] if is_equal else [str(name)]
    print(name, file=sys.stderr, flush=True)


def resumed(client: Client, file: Path) -> Resumed:
    """Return what the client makes of a session, on a desk of its own."""
    with client.room.desk() as desk:
        return client.resume(desk, desk.take(file))


def rows(tallies: dict[str, Tally]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    whole = tallies[UNTOUCHED].tokens
    for way, one in tallies.items():
        saved = f"{1 - one.tokens / whole:.1%}" if whole else "-"
        counts = [one.sessions, one.resumed, one.equal, f"{one.tokens:,}", saved, one.lost]
        yield (way, *map(str, counts))


if __name__ == "__main__":
    sys.exit(main())
