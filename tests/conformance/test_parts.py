"""Parts around the client: scripts, samples, workspaces, missing tools."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import sandbox
from conformance.client import forked, objects
from conformance.corpus import sample
from conformance.judge import is_expected, safe, shortened
from conformance.model import Resumed
from conformance.sandbox import Desk
from conformance.scenarios import PRINTED, SHOWN, WRITTEN
from conformance.scenarios.script import script
from conformance.sdk import as_message
from tests.standin import Answer, Json, StandIn, by_script

ROOT = Path(__file__).resolve().parents[2]


def test_scenarios_have_unique_names() -> None:
    names = [scenario.name for scenario in (*PRINTED, *SHOWN, *WRITTEN)]
    assert len({safe(name) for name in names}) == len(names)


def test_script_answers_every_step(tmp_path: Path) -> None:
    choose = by_script(script(tmp_path))
    for rule in script(tmp_path)["rules"]:
        messages: list[Json] = [{"role": "user", "content": f"{rule['when']} please"}]
        for expected in rule["answers"]:
            answer: Answer = choose({"messages": messages})
            assert answer == expected
            messages.append({"role": "assistant", "content": "…"})
            messages.append({"role": "user", "content": [{"type": "tool_result"}]})


def test_sample_has_mixed_sizes_and_versions(tmp_path: Path) -> None:
    for version in ("1.0.30", "2.0.60", "2.1.170"):
        for size in range(1, 6):
            line = json.dumps({"version": version}, separators=(",", ":")) + "\n"
            (tmp_path / f"{version}-{size}.jsonl").write_text(line * size)
    (tmp_path / "agent-a1.jsonl").write_text("{}\n")
    (tmp_path / "history.jsonl").write_text("{}\n")
    names = [file.stem for file in sample(tmp_path, 6)]
    assert names == ["1.0.30-5", "2.0.60-5", "2.1.170-5", "1.0.30-1", "2.0.60-1", "2.1.170-1"]
    assert len(sample(tmp_path, 100)) == 15


def test_client_environment_is_built_from_scratch(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    found = desk.environment("http://127.0.0.1:1")
    assert found["HOME"] == str(tmp_path / "home")
    assert found["CLAUDE_CONFIG_DIR"] == str(tmp_path / "config")
    assert desk.project.name.endswith("-demo")
    assert {name for name in found if name.startswith("DISABLE")} >= {"DISABLE_TELEMETRY"}


def test_fork_ends_before_the_probe(tmp_path: Path) -> None:
    file = tmp_path / "fork.jsonl"
    probe = {"role": "user", "content": "Probe 7f3a: what was said?"}
    lines: list[Json] = [
        {"type": "mode", "mode": "normal"},
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "a"}},
        {"type": "user", "uuid": "2", "message": probe},
        {"type": "assistant", "uuid": "3"},
    ]
    file.write_text("\n".join(["torn {", *map(json.dumps, lines), "[1]"]), encoding="utf-8")
    assert [entry["uuid"] for entry in forked(file)] == ["1"]
    assert len(list(objects(file))) == 4


def test_cases_match_the_client(tmp_path: Path) -> None:
    found = Resumed(True, "u", ("u",), [("user", [{"type": "text", "text": "a"}])])
    session = tmp_path / "session.jsonl"
    assert is_expected(None, found)
    assert is_expected(session, found)
    expected = {**found.as_object(), "sdk_messages": []}
    (tmp_path / "expected.json").write_text(json.dumps(expected), encoding="utf-8")
    assert is_expected(session, found)
    assert not is_expected(session, Resumed(False, None, (), []))


def test_titles_are_cut_like_the_sdk() -> None:
    assert shortened("two\n words ") == "two words"
    assert shortened("x" * 300) == "x" * 200 + "…"


@pytest.mark.parametrize(
    ("said", "content"),
    [({"content": "a"}, "a"), ({"content": [1]}, [1]), ({"content": None}, []), ("odd", [])],
)
def test_sdk_accepts_any_session(said: object, content: object) -> None:
    assert as_message("user", said) == {"role": "user", "content": content}


def test_without_root_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("shutil.which", lambda name: None if name == "unshare" else name)
    assert [text.split(" is ")[0] for text in sandbox.needs()] == ["root", "unshare"]


def test_missing_tools_are_a_row_and_an_exit_code(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance"]
    place = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=place, capture_output=True, text=True, timeout=60)
    assert done.returncode == 5, done.stderr
    assert "| all   | skipped: " in done.stdout
    assert "unshare is not installed" in done.stdout


def test_unknown_group_is_refused() -> None:
    command = [sys.executable, "-m", "conformance", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "no group 'nothing': there are print, terminal" in done.stderr


def test_stand_in_can_change_its_script() -> None:
    with StandIn(by_script({})) as standin:
        standin.choose = by_script({"otherwise": {"text": "another"}})
        assert standin.choose({"messages": []}) == {"text": "another"}
