"""`plait serve --lake`: a lake to pages that several people see, each what a policy says."""

import json
import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plait.cli.lake.options import opened_lake
from plait.cli.options import Request
from plait.cli.output import write_bytes
from plait.cli.serve import (
    HOUR,
    end_server,
    ended_by_signals,
    listener_on,
    should_open,
    show,
)
from plait.cli.settings import config_file
from plait.cli.text import to_type
from plait.errors import UserError
from plait.web.guard import Commands, Keys, new_secret
from plait.web.place import PORT, Running, alive, announced, is_local

if TYPE_CHECKING:
    from plait.lake.serving import PolicyFile


class LakeServing(NamedTuple):
    """What was asked for."""

    lake: str | None
    policy: str | None
    new_key: str | None
    host: str
    port: int | None
    names: tuple[str, ...]
    idle: float | None
    is_opened: bool | None
    is_stopped: bool


def serve_lake(request: Request, asked: LakeServing) -> None:
    """Serves a lake, ends the server that does, or makes a key for somebody."""
    if asked.new_key:
        _make_key(request, asked.new_key)
        return
    if not asked.lake:
        raise UserError("`--policy` is about a lake", "add `--lake URL`")
    file = _running_file(request, asked.lake)
    if asked.is_stopped:
        end_server(request, file)
        return
    if not is_local(asked.host) and not asked.policy:
        raise UserError(
            "a lake that other machines reach needs to know who sees what",
            "add `--policy FILE`: docs/guide/serve.md has an example",
        )
    if (known := alive(file)) is not None:
        _tell(request, known, asked, "is served already")
        return
    _serve(request, asked, file)


def _serve(request: Request, asked: LakeServing, file: Path) -> None:
    from plait.lake.questions import OWN, questions
    from plait.lake.serving import PolicyFile, ServedLake
    from plait.web.lake.asked import LakeState
    from plait.web.lake.server import run_lake

    policy = PolicyFile(Path(asked.policy)) if asked.policy else None
    served = ServedLake(opened_lake(request, asked.lake), policy)
    own = config_file().with_name(OWN)
    state = LakeState(served, lambda: questions(own))
    state.questions()  # what is wrong with the file is said before anybody comes
    listener = listener_on(request, asked.host, PORT if asked.port is None else asked.port)
    host, port = listener.getsockname()[:2]
    running = Running(host, port, os.getpid(), new_secret())
    seconds = asked.idle * HOUR if asked.idle else None
    known_as = frozenset(name.lower() for name in asked.names)
    commands = Commands("", to_type("plait", "serve", "--lake", asked.lake or ""))
    with listener, announced(file, running), ended_by_signals():
        _tell(request, running, asked, "is")
        run_lake(state, listener, _keys(running, policy), known_as, seconds, commands)


def _keys(running: Running, policy: "PolicyFile | None") -> Keys:
    if policy is None:
        return Keys(running.secret)
    from plait.web.lake.people import PeopleKeys

    return PeopleKeys(running.secret, policy)


def _tell(request: Request, running: Running, asked: LakeServing, how: str) -> None:
    output = request.output
    output.note(f"the lake {how} at {running.place.address}", is_whole=True)
    if asked.policy:
        output.note("key      each person's own, as the policy knows it", is_whole=True)
        output.note("stop with Ctrl-C", is_whole=True)
        return
    is_seen = sys.stderr.isatty()  # a key does not belong into a log
    key = Keys(running.secret).key if is_seen else "shown where this is typed again in a terminal"
    output.note(f"key      {key}", is_whole=True)
    output.note("stop with Ctrl-C", is_whole=True)
    if should_open(asked.is_opened):
        show(request, running)


def _make_key(request: Request, name: str) -> None:
    """Prints a key for somebody, and what the policy has to know of it."""
    from plait.lake.policy import digest

    key = Keys(new_secret()).key
    request.output.note(f"the key of {name}, which is shown once; the policy file knows it by:")
    quoted = json.dumps(name, ensure_ascii=False)
    request.output.note(f'[people.{quoted}]\nkey = "{digest(key)}"', is_whole=True)
    write_bytes(f"{key}\n".encode())


def _running_file(request: Request, lake: str) -> Path:
    local = Path(lake).absolute() if "://" not in lake else lake
    name = sha256(str(local).encode()).hexdigest()[:16]
    return request.settings.state / f"serve-lake-{name}.json"
