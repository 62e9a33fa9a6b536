"""Sessions that Plait's writer starts or continues, alternating with the client."""

from collections.abc import Callable
from pathlib import Path

from conformance.client import Client
from conformance.sandbox import Desk
from conformance.scenarios.model import Scenario
from conformance.scenarios.printed import ask, lay_out
from plait import SessionWriter
from plait.write.lines import Version

USAGE = {"input_tokens": 500, "output_tokens": 50}


def in_turn(version: Version) -> Callable[[Client, Desk], None]:
    """Return the scenario of a session that is begun here, goes on there, here and there."""

    def play(client: Client, desk: Desk) -> None:
        lay_out(desk)
        with SessionWriter.new(desk.config, cwd=desk.directory, version=version) as session:
            _turns(session)
        desk.hand_over()
        ask(client, desk, "[parallel]", "--resume", session.session)
        _gone_on(session.path, version)
        desk.hand_over()
        ask(client, desk, "And then?", "--resume", session.session)

    return play


def gone_on_with(client: Client, desk: Desk) -> None:
    """Go on with what the client began, and let it go on again."""
    lay_out(desk)
    ask(client, desk, "[files]")
    _gone_on(desk.sessions()[0], "2.1.325")
    desk.hand_over()
    ask(client, desk, "[think]", "--continue")


def compacted_here(client: Client, desk: Desk) -> None:
    """Compact a session here, with what it preserves, and let the client go on."""
    with SessionWriter.new(desk.config, cwd=desk.directory) as session:
        _turns(session)
        kept = session.answer("That is how it stands.", usage=USAGE).messages
        session.compact("They looked at notes.", pre_tokens=9000, preserved=kept)
        session.prompt("Go on.")
        session.answer("Gladly.", usage=USAGE)
    desk.hand_over()
    ask(client, desk, "What do the notes say?", "--resume", session.session)


def cut_off(client: Client, desk: Desk) -> None:
    """Leave two calls of which one has ended, goes on here, and let the client go on."""
    session = SessionWriter.new(desk.config, cwd=desk.directory)
    session.prompt("Both at once.")
    with session.response(usage=USAGE) as response:
        first = response.call("Bash", {"command": "true"})
        response.call("Bash", {"command": "sleep 100"})
    session.result(first, "", {"stdout": "", "stderr": "", "interrupted": False})
    with SessionWriter.resume(session.path) as later:
        later.prompt("What became of them?")
        later.answer("One is done, of the other nothing is known.", usage=USAGE)
    desk.hand_over()
    ask(client, desk, "Try it again.", "--resume", session.session)


def _turns(session: SessionWriter) -> None:
    session.prompt("Look at the notes.")
    with session.response(usage=USAGE) as response:
        response.text("Twice.")
        first = response.call("Read", {"file_path": "notes.txt"})
        second = response.call("Bash", {"command": "cat notes.txt"})
    session.result(second, "one\ntwo", {"stdout": "one\ntwo", "stderr": "", "interrupted": False})
    session.result(first, "no such file", is_error=True)
    session.answer("Two lines.", usage=USAGE)
    session.turn_ended(1500)
    session.prompt("Wait for it.")
    session.response(usage=USAGE).text("Half an")
    session.interrupt()


def _gone_on(log: Path, version: Version) -> None:
    with SessionWriter.resume(log, version=version) as session:
        _turns(session)


WRITTEN = (
    Scenario("written in turn", in_turn("2.1.325")),
    Scenario("written in turn, older form", in_turn("2.1.29")),
    Scenario("gone on with here", gone_on_with),
    Scenario("compacted here", compacted_here),
    Scenario("cut off and gone on with here", cut_off),
)
