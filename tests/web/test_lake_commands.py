"""`plait serve --lake` as a process: starting, signing in, stopping."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from plait.cli.app import run
from plait.lake.access import hash_key, parse_policy
from plait.lake.store import Lake
from tests.lake.small import SmallLake
from tests.web.commands import PATIENCE, Home
from tests.web.lake_server import Visitor

KEY = "ann-has-a-key"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a lake and a policy."""
    found = tmp_path_factory.mktemp("served")
    made = Lake.create(str(found / "lake"), "full")
    made.commit([made.write(SmallLake(sessions=[{"session": "a", "person": "ann"}]).tables)])
    (found / "policy.toml").write_text(f'[people.ann]\nkey = "{hash_key(KEY)}"\n')
    (found / "broken.toml").write_text("fewest = 1")
    return found


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return a home with both; nothing of the machine is seen."""
    found = Home(folder, folder)
    for name, value in found.env.items():
        monkeypatch.setenv(name, value)
    return found


def test_lake_is_served_to_people_in_the_policy(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = ("serve", "--lake", str(home.path / "lake"))
    command = [sys.executable, "-m", "plait", *lake, "--port", "0", "--no-open"]
    requested = [*command, "--policy", str(home.path / "policy.toml")]
    with subprocess.Popen(requested, env=home.env, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            result = [server.stderr.readline() for _ in range(3)]
            port = int(re.findall(r"the lake is at http://127\.0\.0\.1:(\d+)", result[0])[0])
            assert result[1] == "key      each person has their own, listed in the policy\n"
            visitor = Visitor(port, key=KEY)
            assert visitor.json("sessions")["total"] == 1
            assert Visitor(port).ask("/api/sessions")[0] == 401
            assert run([*lake, "--policy", "policy.toml"]) == 0
            assert "is already served" in capsys.readouterr().err
            assert run([*lake, "--stop"]) == 0
            assert "was stopped" in capsys.readouterr().err
            assert server.wait(PATIENCE) == 0
        finally:
            server.kill()
    assert home.running == []
    assert run([*lake, "--stop"]) == 0
    assert "no server is running" in capsys.readouterr().err


def test_new_key_is_printed_once_with_its_digest(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "--new-key", 'an"na']) == 0
    result = capsys.readouterr()
    policy = parse_policy(result.err.partition("\n")[2], "p")
    assert policy.find_person(result.out) == 'an"na'
    assert run(["serve", "--new-key", "ben"]) == 0
    assert policy.find_person(capsys.readouterr().out) is None


WRONG = {
    ("--policy", "POLICY"): "`--policy` needs a lake",
    ("--lake", "LAKE", "--host", "0.0.0.0"): "'0.0.0.0' is reachable from other machines",
    ("--lake", "LAKE", "--host", "0.0.0.0", "--allow-remote"): "needs a policy",
    ("--lake", "LAKE", "--policy", "/nowhere"): "cannot read the policy in '/nowhere'",
    ("--lake", "LAKE", "--policy", "BROKEN"): "is not valid",
    ("--lake", "/nowhere", "--policy", "POLICY"): "no lake at '/nowhere'",
}


@pytest.mark.parametrize("words", WRONG)
def test_refused_options(
    words: tuple[str, ...], home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"LAKE": "lake", "POLICY": "policy.toml", "BROKEN": "broken.toml"}
    result = [str(home.path / places[word]) if word in places else word for word in words]
    assert run(["serve", *result, "--port", "0", "--no-open"]) in (2, 4)
    assert WRONG[words] in capsys.readouterr().err
