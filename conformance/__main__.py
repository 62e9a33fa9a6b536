"""Run the real client in a sandbox, and print how it and Plait agree.

python -m conformance [--cli VERSION|latest] [--logs FOLDER] [--fuzz N] [GROUP...]

Outside it installs the client and the SDK and opens the namespaces; inside, as the first
process there, it runs the stand-in, the client and the comparison. Exit codes: 0 all equal,
1 something differs, 5 something was skipped because it is missing.
"""

import argparse
import shutil
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from conformance import drift, install, sandbox
from conformance.client import Client
from conformance.edits import ALL
from conformance.judge import Judge
from conformance.model import Missing, Outcome, Places, Skipped
from conformance.run import GROUPS, SOURCES, Choice, run
from conformance.sdk import Sdk, second_reader
from conformance.table import skips, table
from tests.standin import StandIn, by_script

PROJECT = Path(__file__).resolve().parents[1]
LONGEST = 3 * 3600
DIFFERS, LACKS = 1, 5


def main() -> int:
    """Run outside or inside, and return the exit code."""
    given = arguments()
    return judged(given) if given.inside else prepared(given)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m conformance")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--cli", default=install.PINNED, help="a version, or latest")
    parser.add_argument("--fuzz", type=int, default=300, help="how many shapes by chance")
    parser.add_argument("--seed", type=int, default=1, help="the first of them")
    parser.add_argument("--sample", type=int, default=60, help="how many real sessions")
    parser.add_argument("--logs", type=Path, help="a folder of real logs")
    parser.add_argument("--only", default="", help="scenarios and cases whose names hold this")
    parser.add_argument("--edits", default=",".join(ALL), help="which operations")
    parser.add_argument("--cases", default=",".join(SOURCES), help="which sessions are edited")
    parser.add_argument("--produced", type=Path, help="sessions of the client that are edited")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    named(parser, "group", given.groups, GROUPS)
    named(parser, "operation", given.edits.split(","), ALL)
    named(parser, "source of cases", given.cases.split(","), SOURCES)
    return given


def named(
    parser: argparse.ArgumentParser, what: str, given: Iterable[str], known: Iterable[str]
) -> None:
    """End where something was named that there is not."""
    for one in given:
        if one not in known:
            parser.error(f"no {what} '{one}': there are {', '.join(known)}")


def prepared(given: argparse.Namespace) -> int:
    """Install what is needed, then run itself inside namespaces."""
    places = Places(PROJECT / ".cache" / "conformance")
    try:
        lacking = list(sandbox.needs())
        if lacking:
            raise Missing("; ".join(lacking))
        version = install.newest() if given.cli == "latest" else given.cli
        install.client(places, version)
    except Missing as missing:
        return finished(Outcome(given.cli, [Skipped("all", str(missing))]))
    sdk_or_none(places)
    with sandbox.temporary() as folder:
        rest = [*sys.argv[1:], "--cli", version, "--inside", str(folder)]
        command = [sys.executable, "-m", "conformance", *rest]
        return sandbox.inside(command, PROJECT, seconds=LONGEST)


def judged(given: argparse.Namespace) -> int:
    """Run everything, inside."""
    places = Places(PROJECT / ".cache" / "conformance")
    folder: Path = given.inside
    sandbox.furnish(folder)
    sandbox.check_alone()
    shutil.rmtree(places.disagreements, ignore_errors=True)
    executable = sandbox.within_reach(install.client(places, given.cli), folder)
    outcome = Outcome(given.cli)
    with ExitStack() as stack:
        standin = stack.enter_context(StandIn(by_script({})))
        client = Client(executable, sandbox.Room(folder), standin)
        sdk = reader(stack, places, folder, outcome)
        run(Judge(client, sdk, places), choice(given, places), outcome)
    watch(places, outcome)
    return finished(outcome)


def choice(given: argparse.Namespace, places: Places) -> Choice:
    """Return what to run."""
    drawn = given.inside / "drawn"
    drawn.mkdir()
    return Choice(
        groups=tuple(given.groups or GROUPS),
        examples=PROJECT / "examples" / "resume",
        logs=given.logs,
        fuzz=given.fuzz,
        seed=given.seed,
        sample=given.sample,
        only=given.only,
        folder=drawn,
        produced=given.produced or places.produced,
        operations=tuple(given.edits.split(",")),
        cases=tuple(given.cases.split(",")),
    )


def reader(stack: ExitStack, places: Places, home: Path, outcome: Outcome) -> Sdk | None:
    """Start the SDK, or notes that it is missing."""
    python = sdk_or_none(places)
    if python is None:
        outcome.rows.append(Skipped("SDK", f"{install.SDK} could not be installed"))
        return None
    return stack.enter_context(second_reader(python, home))


def sdk_or_none(places: Places) -> Path | None:
    """Return the python of the SDK, None where it cannot be installed."""
    try:
        return install.sdk(places)
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return None


def watch(places: Places, outcome: Outcome) -> None:
    """Write and print how the format drifted."""
    page = drift.page(outcome, drift.account_of(places.produced))
    (places.root / "drift.md").write_text(page, encoding="utf-8")
    print(page)


def finished(outcome: Outcome) -> int:
    """Print the table and return the exit code."""
    print(table(outcome))
    if outcome.differences:
        return DIFFERS
    return LACKS if skips(outcome.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
