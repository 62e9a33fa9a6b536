"""A session to what the user's own client makes of it, in an empty home, on loopback alone.

The client gets a copy of the session and goes on in a fork of it: nothing of the user's is
read, and nothing is written that stays.
"""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from plait.archive import CLIENT, context
from plait.cli.prove.compare import bare_messages, first_difference
from plait.cli.prove.standin import StandIn
from plait.cli.text import counted, safe_line
from plait.line import slug_of

if TYPE_CHECKING:
    from plait.archive import Session
    from plait.graph.client.model import Context

PROBE = "Plait asks whether this session goes on."
SUMMARIZE = "Your task is to create a detailed summary"
LONGEST = 120.0
NOWHERE = "http://127.0.0.1:9"
"""Where nobody listens: what is not meant for the stand-in goes there."""
NAMELESS = "c0ffee00-0000-4000-8000-000000000001"
QUIET = (
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)
State = Literal["resumed", "not resumed", "not installed"]


class Proof(Struct, frozen=True, kw_only=True):
    """What came of resuming a session."""

    state: State
    client: str | None = None
    """What the client calls itself."""
    messages: int = 0
    """How many it sent."""
    is_equal: bool | None = None
    """Whether it sent what Plait says that it sends; None where that cannot be compared."""
    difference: str | None = None
    said: str | None = None
    """What a client said that did not resume, or why it could not be started."""

    @property
    def is_good(self) -> bool:
        """Tells whether nothing speaks against the session."""
        return self.state == "not installed" or self.is_equal is not False


def proved(session: "Session", executable: str | None = None) -> Proof:
    """Resumes a session with the client, where there is one, and returns what came of it."""
    client = executable or shutil.which(CLIENT)
    if client is None or not os.access(client, os.X_OK):
        return Proof(state="not installed")
    expected = context(session)
    with TemporaryDirectory(prefix="plait-prove-", ignore_cleanup_errors=True) as name:
        room = Path(name).resolve()
        called = _furnish(room, session)
        with StandIn() as standin:
            try:
                said = _run(client, room, called, standin.url)
            except OSError as error:  # what was done before stays done, and is told
                return Proof(state="not installed", said=(error.strerror or str(error)).lower())
        return _judged(standin, expected, said)


def _furnish(room: Path, session: "Session") -> str:
    """Lays a copy of a session where the client looks for it; returns its name there."""
    name = session.path.stem if _is_id(session.path.stem) else NAMELESS
    project = room / "config" / "projects" / slug_of(str(room / "work"))
    for folder in (project, room / "home", room / "work"):
        folder.mkdir(parents=True)
    shutil.copyfile(session.path, project / f"{name}.jsonl")
    beside = session.path.with_suffix("")
    if beside.is_dir():
        shutil.copytree(beside, project / name, symlinks=True)
    return name


def _is_id(name: str) -> bool:
    return len(name) == 36 and name.count("-") == 4


def _run(client: str, room: Path, session: str, url: str) -> str:
    asked = ("-p", PROBE, "--output-format", "json", "--resume", session, "--fork-session")
    process = subprocess.Popen(  # noqa: S603  the user's own client
        [client, *asked],
        cwd=room / "work",
        env=_environment(room, url),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    return _said(out) or err.strip() or out.strip()


def _said(out: str) -> str:
    try:
        return str(json.loads(out)["result"])
    except (ValueError, KeyError, TypeError):
        return ""


def _environment(room: Path, url: str) -> dict[str, str]:
    """Returns all that the client knows of the world; nothing of it is the user's."""
    return {
        "PATH": os.defpath,
        "HOME": str(room / "home"),
        "LANG": "C.UTF-8",
        "CLAUDE_CONFIG_DIR": str(room / "config"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "made-up-key-for-the-stand-in",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1",
        **dict.fromkeys(QUIET, "1"),
    }


def _judged(standin: StandIn, expected: "Context", said: str) -> Proof:
    for request in standin.requests:
        messages = request.get("messages")
        if not isinstance(messages, list):
            continue
        last = json.dumps(messages[-3:])
        if SUMMARIZE in last:
            return Proof(state="resumed", client=standin.client, messages=len(messages))
        if PROBE in last:
            return _compared(standin, expected, messages)
    is_agreed = not expected.resumes
    return Proof(state="not resumed", client=standin.client, is_equal=is_agreed, said=said[:300])


def _compared(standin: StandIn, expected: "Context", messages: list[dict[str, object]]) -> Proof:
    sent = ((str(one.get("role")), one.get("content")) for one in messages)
    theirs = bare_messages(sent, PROBE)
    found = first_difference(bare_messages(expected.messages), theirs)
    return Proof(
        state="resumed",
        client=standin.client,
        messages=len(theirs),
        is_equal=found is None,
        difference=f"message {found[0]}: {found[1]}" if found else None,
    )


def proof_words(proof: Proof) -> str:
    """Says what came of it in a sentence."""
    if proof.state == "not installed":
        why = f"cannot be started: {proof.said}" if proof.said else "is not installed here"
        return f"none: '{CLIENT}' {why}"
    who = safe_line((proof.client or CLIENT).partition(" ")[0])
    if proof.state == "not resumed":
        end = ", as `plait context` says" if proof.is_equal else ""
        return f"{who} does not resume it{end}: {safe_line(proof.said or 'it said nothing')}"
    if proof.is_equal is None:
        return f"{who} resumes it, and first asks for a summary: it is too long to go on"
    sent = counted(proof.messages, "message")
    if proof.is_equal:
        return f"{who} resumes it and sends the {sent} that `plait context` shows"
    return f"{who} resumes it, but sends others than `plait context` shows: {proof.difference}"
