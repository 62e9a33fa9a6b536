"""`plait serve` and `plait open`: starting, signing in, stopping, cleaning up."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from tests.conftest import ROOT
from tests.web.commands import Home, at_terminal


@pytest.fixture
def home(tmp_path: Path, gallery: Path) -> Iterator[Home]:
    """Return a home with a few sessions; what runs in the background ends with it."""
    shutil.copytree(gallery / "rewind", tmp_path / "logs")
    found = Home(tmp_path, tmp_path / "logs")
    yield found
    if found.running:
        found.run("serve", "--stop")
    assert found.running == []


def is_free(port: int) -> bool:
    """Return whether a port can be listened on."""
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def fetch(address: str, **headers: str) -> tuple[int, str]:
    """Return the status and the text of an answer."""
    opener = build_opener(ProxyHandler({}))
    with opener.open(Request(address, headers=headers), timeout=20) as answer:
        return answer.status, answer.read().decode()


def test_ctrl_c_stops_cleanly(home: Home) -> None:
    with at_terminal(home.command("serve", "--port", "0"), home.env) as terminal:
        output = terminal.wait_for("Ctrl-C")
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)", output)[1])  # type: ignore[index]
        assert fetch(f"http://127.0.0.1:{port}/alive")[0] == 200
        assert [path.stat().st_mode & 0o777 for path in home.running] == [0o600]
        listening = socket.create_connection(("127.0.0.1", port))
        code = terminal.press_ctrl_c()
        listening.close()
    assert code == 0, terminal.said
    assert "Traceback" not in terminal.said
    assert "rror" not in terminal.said
    assert home.running == []
    assert is_free(port)


def test_ctrl_c_ends_worker_processes(home: Home) -> None:
    for number in range(4):
        message = {"role": "user", "content": "a long way home " * 300_000}
        line = {"type": "user", "uuid": f"u{number}", "parentUuid": None, "message": message}
        (home.root / "projects" / f"s{number}.jsonl").write_text(json.dumps(line) + "\n")
    with at_terminal(home.command("serve", "--port", "0"), home.env) as terminal:
        terminal.wait_for("Ctrl-C")
        readers = begun_by(terminal.process.pid)
        code = terminal.press_ctrl_c()
    assert code == 0, terminal.said
    assert "Traceback" not in terminal.said
    assert [pid for pid in readers if Path(f"/proc/{pid}").exists()] == []


def begun_by(pid: int) -> list[str]:
    """Wait for processes that another one has begun, and return them."""
    for _ in range(1000):
        lists = Path(f"/proc/{pid}/task").glob("*/children")
        found = [child for path in lists for child in path.read_text().split()]
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("nobody else reads")


def test_open_page_does_not_delay_the_stop(home: Home) -> None:
    with at_terminal(home.command("serve", "--port", "0"), home.env) as terminal:
        output = terminal.wait_for("Ctrl-C")
        address = re.search(r"http://[\d.:]+", output)[0]  # type: ignore[index]
        key = re.search(r"key +(\S+)", output)[1]  # type: ignore[index]
        request = Request(f"{address}/api/v1/events", headers={"Authorization": f"Bearer {key}"})
        with build_opener(ProxyHandler({})).open(request, timeout=20) as stream:
            assert stream.readline() == b"retry: 2000\n"
            started = time.monotonic()
            code = terminal.press_ctrl_c()
            assert time.monotonic() - started < 10
    assert code == 0
    assert "Traceback" not in terminal.said


def test_closed_terminal_stops_the_server(home: Home) -> None:
    with at_terminal(home.command("serve", "--port", "0"), home.env) as terminal:
        terminal.wait_for("Ctrl-C")
        terminal.process.send_signal(1)
        assert terminal.ended() == 0
    assert home.running == []


def test_second_serve_shows_the_running_server(home: Home) -> None:
    with at_terminal(home.command("serve", "--port", "0"), home.env) as terminal:
        address = re.search(r"http://[\d.:]+", terminal.wait_for("Ctrl-C"))[0]  # type: ignore[index]
        again = home.run("serve")
        assert again.returncode == 0
        assert f"Plait is already running at {address}" in again.stderr
        assert "key      `plait open --print-key --root" in again.stderr
        assert not re.search(r"[a-z2-7]{6}-[a-z2-7]{6}-", again.stderr)
        assert terminal.press_ctrl_c() == 0


def test_next_port_is_used_if_one_is_taken(home: Home) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        found = home.run("serve", "--no-open", "--port", str(port), "--until-idle", "0.0001")
    assert found.returncode == 0, found.stderr
    assert f"port {port} is in use; using another one" in found.stderr
    taken = int(re.search(r"Plait is at http://127\.0\.0\.1:(\d+)", found.stderr)[1])  # type: ignore[index]
    assert taken != port


@pytest.mark.parametrize("host", ["0.0.0.0", "example.org"])
def test_other_hosts_need_an_option(home: Home, host: str) -> None:
    found = home.run("serve", "--host", host)
    assert found.returncode == 2
    assert "--allow-remote" in found.stderr


def test_open_starts_a_background_server_without_printing_secrets(home: Home) -> None:
    printed = home.run("open", "latest", "--turn", "1", "--print")
    assert printed.returncode == 0, printed.stderr
    path = Path(printed.stdout.strip())
    assert path.stat().st_mode & 0o777 == 0o600
    page = path.read_text()
    address, ticket, to = re.search(
        r'action="([^"]+)/enter".*value="([^"]+)".*name="to" value="([^"]+)"', page
    ).groups()  # type: ignore[union-attr]
    assert to.endswith("?turn=1")
    report = json.loads(home.running[0].read_text())
    log = (home.path / "state" / "serve.log").read_text()
    key = home.run("open", "--print-key").stdout.strip()
    commands = subprocess.run(
        ["ps", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout
    for secret in (report["secret"], ticket, key):
        assert secret not in log
        assert secret not in commands
    form = urlencode({"ticket": ticket, "to": to}).encode()
    opener = build_opener(ProxyHandler({}))
    with opener.open(Request(f"{address}/enter", form), timeout=20) as answer:
        assert "HttpOnly" in answer.headers["set-cookie"]
    listed = fetch(f"{address}/api/v1/sessions", Authorization=f"Bearer {key}")[1]
    assert json.loads(listed)["total"] == 1
    stopped = home.run("serve", "--stop")
    assert stopped.returncode == 0
    assert f"the server at {address} was stopped" in stopped.stderr
    assert home.running == []
    assert not path.exists()


def test_idle_server_stops_and_logs_no_key(home: Home) -> None:
    found = home.run("serve", "--no-open", "--port", "0", "--until-idle", "0.0001")
    assert found.returncode == 0, found.stderr
    assert home.running == []
    assert "`plait open --print-key --root" in found.stderr
    assert not re.search(r"[a-z2-7]{6}-[a-z2-7]{6}-", found.stderr)


def test_stop_without_a_server(home: Home) -> None:
    found = home.run("serve", "--stop")
    assert found.returncode == 0
    assert "no server is running" in found.stderr


def test_crashed_server_is_detected(home: Home) -> None:
    state = home.path / "state"
    state.mkdir()
    printed = home.run("open", "--print-key").stdout
    path = home.running[0]
    report = json.loads(path.read_text())
    os.kill(report["pid"], 9)
    again = home.run("open", "--print-key").stdout
    assert again.strip()
    assert again != printed
    assert json.loads(path.read_text())["pid"] != report["pid"]


def test_open_without_a_browser_prints_the_address(home: Home) -> None:
    found = home.run("open")
    assert found.returncode == 0, found.stderr
    assert "could not open a browser; Plait is at http://127.0.0.1:" in found.stderr
    assert re.search(r"key +[a-z2-7-]{27}", found.stderr)


def test_open_runs_the_chosen_browser_with_a_file_without_secrets(home: Home) -> None:
    seen = home.path / "seen"
    program = home.path / "look"
    program.write_text(f'#!/bin/sh\necho "$@" > {seen}\n')
    program.chmod(0o755)
    found = home.run("open", BROWSER=f"{program} %s")
    assert found.returncode == 0, found.stderr
    assert re.fullmatch(r"file://.*/open-[0-9a-f]{16}\.html\n", seen.read_text())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["open", "--turn", "2"], "`--turn` needs a session"),
        (["open", "nobody-called-so"], "nobody-called-so"),
    ],
)
def test_open_refuses_unknown_targets(home: Home, arguments: list[str], words: str) -> None:
    found = home.run(*arguments)
    assert found.returncode == 2
    assert words in found.stderr
    assert home.running == []


def test_make_run_serves_the_gallery_and_stops(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path / "nothing")
    make = [sys.executable, "-m", "plait", "serve", "--port", "0"]
    command = [*make, "--gallery", str(ROOT / "examples/gallery")]
    with at_terminal(command, home.env) as terminal:
        output = terminal.wait_for("Ctrl-C")
        assert "this is the examples gallery" in output
        assert (tmp_path / "state" / "gallery" / "rewind").is_dir()  # a copy, which may be edited
        assert terminal.press_ctrl_c() == 0
