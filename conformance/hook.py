"""Check the live hook with the real client: each turn arrives once, final and complete.

python -m conformance.hook [--turns N] [--shown N] [--cli VERSION|latest]

The hooks are installed by `plait trace install`; the client calls them as it works, with no
pause between one run and the next, and a receiver on loopback takes what is sent. In the end
the logs say what should have arrived. Exit codes: 0 all of it, 1 something else, 5 skipped.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from conformance import install, sandbox
from conformance.client import Client, objects
from conformance.model import Missing, Places
from conformance.scenarios.shown import BUSY, ask
from conformance.terminal import NotShown, Terminal, settle_in, terminal
from plait.archive import Archive
from plait.settings import load_prices
from plait.trace.hook_event import is_worker_running
from plait.trace.jobs import list_jobs
from plait.trace.model import Content, Span
from plait.trace.otlp import build_request
from plait.trace.traces import traces
from tests.standin import Script, StandIn, by_script, call, calls, said, thought
from tests.trace.otlp_receiver import Receiver

PROJECT = Path(__file__).resolve().parents[1]
LONGEST = 3600
PATIENCE = 120.0
DIFFERS, LACKS = 1, 5
ALLOWED = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash", "Agent")
PROMPTS = ("Go on.", "[tool] once more", "[two] at once", "[slow] please", "[think] it over")
SCRIPT: Script = {
    "rules": [
        {
            "when": "[tool]",
            "answers": [calls(call("Bash", command="sleep 0.2; echo one")), said("Done.")],
        },
        {
            "when": "[two]",
            "answers": [
                calls(call("Bash", command="sleep 0.3; echo a"), call("Bash", command="echo b")),
                said("Both."),
            ],
        },
        {"when": "[slow]", "answers": [said("This takes a while. " * 6, pause=0.05, chunk=60)]},
        {
            "when": "[wait]",
            "answers": [calls(call("Bash", command="sleep 3; echo late")), said("Late.")],
        },
        {
            "when": "[think]",
            "answers": [thought("Which?", {"type": "text", "text": "The second."})],
        },
        {"when": "[never]", "answers": [said("Too late. " * 20, hold=1, pause=0.5, chunk=10)]},
    ],
    "otherwise": said("Understood."),
    "object": {"title": "A made-up title"},
}


def main() -> int:
    """Run outside or inside, and return the exit code."""
    given = _arguments()
    return _judged(given) if given.inside else _prepared(given)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conformance.hook")
    parser.add_argument("--turns", type=int, default=50, help="how many in print mode")
    parser.add_argument("--shown", type=int, default=15, help="how many on a screen")
    parser.add_argument("--cli", default=install.PINNED, help="a version, or latest")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _prepared(given: argparse.Namespace) -> int:
    try:
        if lacking := list(sandbox.needs()):
            raise Missing("; ".join(lacking))
        version = install.newest() if given.cli == "latest" else given.cli
        install.client(_places(), version)
    except Missing as missing:
        print(f"skipped: {missing}")
        return LACKS
    with sandbox.temporary() as folder:
        rest = [*sys.argv[1:], "--cli", version, "--inside", str(folder)]
        command = [sys.executable, "-m", "conformance.hook", *rest]
        return sandbox.inside(command, PROJECT, seconds=LONGEST)


def _places() -> Places:
    return Places(PROJECT / ".cache" / "conformance")


def _judged(given: argparse.Namespace) -> int:
    folder: Path = given.inside
    sandbox.furnish(folder)
    sandbox.check_alone()
    sandbox.python_within_reach(folder)
    executable = sandbox.within_reach(install.client(_places(), given.cli), folder)
    room = sandbox.Room(folder)
    with StandIn(by_script(SCRIPT)) as standin, Receiver() as receiver, room.desk() as desk:
        play = Play(Client(executable, room, standin), HookedDesk(desk.root), receiver)
        play.install()
        play.print_turns(given.turns)
        play.show_turns(given.shown)
        play.settle()
        outcome = play.outcome()
        play.keep(_places().root / "hook")
    print(outcome.table())
    return 0 if outcome.is_right else DIFFERS


class HookedDesk(sandbox.Desk):
    """A desk whose client finds Plait and its state."""

    __slots__ = ()

    @property
    def trace(self) -> Path:
        """Where jobs and what waits lie."""
        return self.root / "state" / "trace"

    def environment(self, url: str) -> dict[str, str]:
        """Return the whole environment of a client, with that of its hooks."""
        folders = {
            "PLAIT_STATE_DIR": str(self.root / "state"),
            "PLAIT_CACHE_DIR": str(self.root / "cache"),
            "PLAIT_CONFIG": str(self.root / "config.toml"),
        }
        path = os.environ.get("PYTHONPATH")
        more = {"PYTHONPATH": path} if path else {}
        return {**super().environment(url), **folders, **more}


@dataclass
class Outcome:
    """What should have arrived, and what did."""

    expected: dict[str, WireSpan]
    arrived: dict[str, WireSpan]
    arrivals: Counter[str]
    sessions: int = 0
    turns: int = 0
    latencies: list[float] = field(default_factory=list)
    """Of the hooks, in milliseconds, as the client timed them."""

    @property
    def missing(self) -> list[str]:
        """Spans that never came."""
        return [self._words(one) for name, one in self.expected.items() if name not in self.arrived]

    @property
    def phantoms(self) -> list[str]:
        """Spans that came though the log has none like them."""
        return [self._words(one) for name, one in self.arrived.items() if name not in self.expected]

    @property
    def half(self) -> list[str]:
        """Spans that came before they were final."""
        both = self.expected.keys() & self.arrived.keys()
        pairs = ((self.expected[name], self.arrived[name]) for name in both)
        return [_difference(wanted, found) for wanted, found in pairs if not _equal(wanted, found)]

    @property
    def repeated(self) -> list[str]:
        """Spans that came more than once."""
        return [
            self._words(self.arrived[name]) for name, count in self.arrivals.items() if count > 1
        ]

    @property
    def is_right(self) -> bool:
        """Whether everything came once and final."""
        return not (self.missing or self.phantoms or self.half or self.repeated)

    def _words(self, span: WireSpan) -> str:
        return f"{span.name} of trace {span.trace_id.hex()[:8]}"

    def table(self) -> str:
        """Return the verdict as text."""
        faults = {
            "missing": self.missing,
            "phantom": self.phantoms,
            "half": self.half,
            "repeated": self.repeated,
        }
        head = f"{self.turns} turns in {self.sessions} sessions, {len(self.expected)} spans"
        rows = [f"{name:>9}: {len(found)}" for name, found in faults.items()]
        details = [f"  {name}: {one}" for name, found in faults.items() for one in found[:20]]
        return "\n".join([head, *rows, *details, self._pace()])

    def _pace(self) -> str:
        if not self.latencies:
            return "the client has timed no hook"
        found = sorted(self.latencies)
        p95 = found[int(len(found) * 0.95)]
        pace = f"median {median(found):.0f} ms, p95 {p95:.0f} ms"
        return f"hooks as the client timed them: {pace}, {len(found)} runs"


def _equal(one: WireSpan, other: WireSpan) -> bool:
    mine, theirs = (bytes(span.SerializeToString(deterministic=True)) for span in (one, other))
    return mine == theirs


def _difference(wanted: WireSpan, found: WireSpan) -> str:
    facts = [
        f"{name}: {getattr(found, name)!r} for {getattr(wanted, name)!r}"
        for name in ("name", "start_time_unix_nano", "end_time_unix_nano", "parent_span_id")
        if getattr(wanted, name) != getattr(found, name)
    ]
    mine, theirs = (
        {one.key: str(one.value) for one in span.attributes} for span in (wanted, found)
    )
    facts += [
        f"{key}: {theirs.get(key, '')[:60]!r} for {mine.get(key, '')[:60]!r}"
        for key in sorted(mine.keys() | theirs.keys())
        if mine.get(key) != theirs.get(key)
    ]
    return f"{wanted.name}: {'; '.join(facts)}"


@dataclass
class Play:
    """A client with hooks, and the receiver of what they send."""

    client: Client
    desk: HookedDesk
    receiver: Receiver

    def install(self) -> None:
        """Install the hooks as a user does, and say where traces go."""
        config = f'otlp_endpoint = "{self.receiver.url}"\ntrace_content = "all"\n'
        (self.desk.root / "config.toml").write_text(config, encoding="utf-8")
        settle_in(self.desk)
        plait = Path(sys.executable).with_name("plait")
        done = subprocess.run(
            [str(plait), "trace", "install", "--yes"],
            cwd=self.desk.directory,
            env=self.desk.environment(self.client.standin.url),
            user=sandbox.UID,
            group=sandbox.UID,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if done.returncode:
            raise Missing(f"plait trace install: {done.stderr.strip()}")

    def print_turns(self, count: int) -> None:
        """Ask in print mode, run after run: each goes on from the one before at once."""
        for number in range(count):
            prompt = f"{PROMPTS[number % len(PROMPTS)]} ({number})"
            _report(f"print {number + 1}: {prompt}")
            self.client.run(self.desk, "-p", prompt, *self._way(number), *ALLOWED)

    def _way(self, number: int) -> tuple[str, ...]:
        """Return how a run goes on: mostly it continues, at times it resumes or forks."""
        if number % 12 == 0:
            return ()
        if number % 12 == 7:
            return ("--resume", self.desk.sessions()[-1].stem)
        if number % 12 == 11:
            return ("--continue", "--fork-session")
        return ("--continue",)

    def show_turns(self, count: int) -> None:
        """Ask on a screen: prompts typed while a tool runs, Esc, `/compact`, then again."""
        for start in range(0, count, 8):
            arguments = (*ALLOWED, "--continue") if start else ALLOWED
            with terminal(self.client, self.desk, *arguments) as screen:
                for number in range(start, min(start + 8, count)):
                    self._step(screen, number)
                _leave(screen)

    def _step(self, screen: Terminal, number: int) -> None:
        steps = (
            _plain,
            _typed_meanwhile,
            _retracted,
            _plain,
            _stopped,
            _compacted,
            _two_typed,
            _plain,
        )
        chosen = steps[number % len(steps)]
        _report(f"screen {number + 1}: {chosen.__name__[1:]}")
        try:
            chosen(screen, number)
        except NotShown as complaint:
            _report(str(complaint))

    def settle(self) -> None:
        """Wait until nothing more is sent."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if not list_jobs(self.desk.trace) and not is_worker_running(self.desk.trace):
                return
            time.sleep(0.2)

    def outcome(self) -> Outcome:
        """Read the logs, and compare what should have arrived."""
        found: dict[str, WireSpan] = {}
        turns: set[str] = set()
        for spans in self._traces():
            turns |= {span.trace for span in spans if span.kind == "turn"}
            found |= {span.span_id.hex(): span for span in _wired(spans)}
        latencies = [one for file in self.desk.sessions() for one in _latencies(file)]
        return Outcome(
            found,
            dict(self.receiver.spans),
            self.receiver.arrivals,
            len(self.desk.sessions()),
            len(turns),
            latencies,
        )

    def _traces(self) -> Iterator[list[Span]]:
        sessions = Archive([self.desk.config]).sessions
        return traces(sessions, content=Content(), pricing=load_prices(None))

    def keep(self, folder: Path) -> None:
        """Keep the logs and what the worker said, to look at."""
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.desk.project, folder / "sessions")
        shutil.copytree(self.desk.trace, folder / "trace")


def _wired(spans: list[Span]) -> Iterator[WireSpan]:
    for resource in build_request(spans).resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans


def _latencies(file: Path) -> Iterator[float]:
    for entry in objects(file):
        noted = entry.get("attachment")
        if isinstance(noted, dict) and "plait" in str(noted.get("command")):
            yield float(noted.get("durationMs") or 0)
        for one in entry.get("hookInfos") or ():
            if isinstance(one, dict) and "plait" in str(one.get("command")):
                yield float(one.get("durationMs") or 0)


def _plain(screen: Terminal, number: int) -> None:
    ask(screen, f"Screen {number}: [tool]")


def _typed_meanwhile(screen: Terminal, number: int) -> None:
    screen.type(f"Screen {number}: [wait]")
    screen.wait_for(BUSY)
    time.sleep(0.5)
    screen.type(f"Typed meanwhile ({number})")
    screen.wait_until_idle(BUSY)


def _two_typed(screen: Terminal, number: int) -> None:
    screen.type(f"Screen {number}: [slow]")
    screen.type(f"First of two ({number})")
    screen.type(f"Second of two ({number})")
    screen.wait_until_idle(BUSY)


def _retracted(screen: Terminal, number: int) -> None:
    _stop(screen, f"Screen {number}: [never]", 1.0)


def _stopped(screen: Terminal, number: int) -> None:
    _stop(screen, f"Screen {number}: [wait]", 1.5)


def _stop(screen: Terminal, prompt: str, seconds: float) -> None:
    """Ask, and presses Esc after a while; a prompt that comes back is wiped."""
    screen.type(prompt)
    screen.wait_for(BUSY)
    time.sleep(seconds)
    screen.press("Escape")
    screen.wait_until_gone(BUSY)
    screen.press("C-u")


def _compacted(screen: Terminal, number: int) -> None:
    screen.type("/compact")
    screen.wait_for("Compacted")


def _leave(screen: Terminal) -> None:
    screen.type("/exit")
    time.sleep(0.5)


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
