"""Other users of the machine see nothing; files are private."""

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plait.web.address import (
    RunningServer,
    announce_server,
    find_running_server,
    open_listener,
    read_server_file,
    write_opening_file,
    write_private,
)
from plait.web.guard import Keys
from tests.web.bare import Bare

NOBODY = 65534
AS_NOBODY = """
import encodings.idna, http.client, json, os, sys
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
port, *paths = sys.argv[1:]
answers = {{}}
for path in ("/", "/api/v1/sessions", "/events", "/s/x/raw/0/file"):
    client = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
    client.request("GET", path)
    answers[path] = client.getresponse().status
for path in paths:
    try:
        answers[path] = open(path).read()
    except OSError as error:
        answers[path] = type(error).__name__
print(json.dumps(answers))
"""


def mode(path: Path) -> int:
    """Return who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs to become another user")
def test_other_user_may_connect_but_sees_nothing(server: Bare) -> None:
    running = RunningServer("127.0.0.1", server.port, os.getpid(), "the secret")
    with TemporaryDirectory() as folder:
        state = Path(folder)
        state.chmod(0o755)  # even where the folder was there before, and open
        with announce_server(state / "serve-x.json", running):
            page = write_opening_file(state, running, "/")
            program = [sys.executable, "-c", AS_NOBODY.format(uid=NOBODY), str(server.port)]
            program += [str(state / "serve-x.json"), str(page)]
            output = subprocess.run(program, capture_output=True, check=True, timeout=60)
    answers = list(json.loads(output.stdout).values())
    assert answers == [401] * 4 + ["PermissionError"] * 2


def test_access_files_are_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "serve-x.json"
    running = RunningServer("127.0.0.1", 1, os.getpid(), "hush")
    before = os.umask(0)
    try:
        with announce_server(path, running):
            page = write_opening_file(path.parent, running, "/")
            assert (mode(path.parent), mode(path), mode(page)) == (0o700, 0o600, 0o600)
    finally:
        os.umask(before)
    assert list(path.parent.iterdir()) == []


def test_server_file_is_written_atomically(tmp_path: Path) -> None:
    path = tmp_path / "one"
    write_private(path, b"first")
    write_private(path, b"second")
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"port": "x"}', b"\xff\xfe"])
def test_empty_server_file_means_no_server(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "serve.json"
    path.write_bytes(data)
    assert read_server_file(path) is None
    assert find_running_server(path) is None


def test_foreign_server_on_the_port_is_recognised(server: Bare, tmp_path: Path) -> None:
    path = tmp_path / "serve.json"
    with announce_server(path, RunningServer("127.0.0.1", server.port, 1, "the secret")):
        assert find_running_server(path) is not None
    with announce_server(path, RunningServer("127.0.0.1", server.port, 1, "a secret of yesterday")):
        assert find_running_server(path) is None


def test_silent_port_is_not_a_server(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        running = RunningServer("127.0.0.1", silent.getsockname()[1], 1, "x")
        with announce_server(tmp_path / "serve.json", running):
            assert find_running_server(tmp_path / "serve.json") is None


def test_ending_server_keeps_the_file_of_a_newer_one(tmp_path: Path) -> None:
    path = tmp_path / "serve.json"
    newer = RunningServer("127.0.0.1", 2, 2, "newer")
    with announce_server(path, RunningServer("127.0.0.1", 1, 1, "older")):
        write_private(
            path, json.dumps({"host": "127.0.0.1", "port": 2, "pid": 2, "secret": "newer"}).encode()
        )
    assert read_server_file(path) == newer


def test_start_page_holds_a_ticket_but_no_key_or_secret(tmp_path: Path) -> None:
    running = RunningServer("127.0.0.1", 1, 1, "hush-hush")
    text = write_opening_file(tmp_path, running, '/s/"><script>').read_text()
    keys = Keys("hush-hush")
    assert "hush" not in text
    assert keys.key not in text
    assert keys.cookie not in text
    assert "<script>document" in text
    assert '"><script>' not in text


def test_responses_use_tcp_nodelay() -> None:
    with (
        open_listener("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        taken, _ = listener.accept()
        with taken:
            assert taken.proto == socket.IPPROTO_TCP  # which asyncio goes by
