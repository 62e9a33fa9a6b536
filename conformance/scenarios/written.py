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


def write_alternately(version: Version) -> Callable[[Client, Desk], None]:
    """Return a scenario: Plait starts a session, and the client and Plait continue it alternately."""

    def play(client: Client, desk: Desk) -> None:
        lay_out(desk)
        with SessionWriter.new(desk.config, cwd=desk.directory, version=version) as session:
            _write_turns(session)
        desk.hand_over()
        ask(client, desk, "[parallel]", "--resume", session.session)
        _continue(session.path, version)
        desk.hand_over()
        ask(client, desk, "And then?", "--resume", session.session)

    return play


def continue_client_session(client: Client, desk: Desk) -> None:
    """Continue a session of the client, and let the client continue it again."""
    lay_out(desk)
    ask(client, desk, "[files]")
    _continue(desk.sessions()[0], "2.1.325")
    desk.hand_over()
    ask(client, desk, "[think]", "--continue")


def compact_with_plait(client: Client, desk: Desk) -> None:
    """Compact a session with preserved messages, and let the client continue it."""
    with SessionWriter.new(desk.config, cwd=desk.directory) as session:
        _write_turns(session)
        kept = session.answer("That is how it stands.", usage=USAGE).messages
        session.compact("They looked at notes.", pre_tokens=9000, preserved=kept)
        session.prompt("Go on.")
        session.answer("Gladly.", usage=USAGE)
    desk.hand_over()
    ask(client, desk, "What do the notes say?", "--resume", session.session)


def continue_interrupted_session(client: Client, desk: Desk) -> None:
    """Leave one of two calls without a result, continue the session, and let the client continue it."""
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


def _write_turns(session: SessionWriter) -> None:
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


def _continue(log: Path, version: Version) -> None:
    with SessionWriter.resume(log, version=version) as session:
        _write_turns(session)


WRITTEN = (
    Scenario("written alternately", write_alternately("2.1.325")),
    Scenario("written alternately, older format", write_alternately("2.1.29")),
    Scenario("continued by Plait", continue_client_session),
    Scenario("compacted by Plait", compact_with_plait),
    Scenario("interrupted and continued by Plait", continue_interrupted_session),
)
