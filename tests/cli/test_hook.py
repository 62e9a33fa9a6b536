"""`plait hook`, and what it leaves for `plait trace status` and `plait trace flush`."""

import base64
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run
from plait.cli.registry import subcommands
from plait.hook.event import COMMANDS, find_trace_folder, read_quick_state_folder
from plait.settings import find_config_file, read_state_folder
from plait.trace.delivery import Spool
from plait.trace.hook_event import EVENTS, is_worker_running
from plait.trace.jobs import list_jobs
from plait.trace.state import SessionState, read_states, save_state
from tests.trace.logs import SESSION, Growing
from tests.trace.made import many
from tests.trace.otlp_receiver import Answer, Receiver, free_port

PLAIT = [sys.executable, "-m", "plait"]


@pytest.fixture
def folder(nobodys_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PLAIT_OTLP_ENDPOINT", "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(nobodys_home)
    return nobodys_home / "state" / "plait" / "trace"


def send_to(url: str) -> None:
    """Say in config.toml where traces go."""
    path = find_config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'otlp_endpoint = "{url}"', encoding="utf-8")


def hooked(
    *words: str, report: bytes | str = b"", **env: str
) -> "subprocess.CompletedProcess[str]":
    """Run a hook as Claude Code does."""
    data = report.decode() if isinstance(report, bytes) else report
    return subprocess.run(
        ["sh", "-c", '"$0" "$@"', *PLAIT, "hook", *words],
        input=data,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def settle(folder: Path) -> None:
    """Wait until no worker runs and no job is left."""
    for _ in range(1200):
        if not list_jobs(folder) and not is_worker_running(folder):
            return
        time.sleep(0.05)
    raise AssertionError("the worker does not come to an end")


def test_turn_is_sent_in_the_background(folder: Path, tmp_path: Path) -> None:
    log = Growing(tmp_path / "p")
    log.turn("one")
    with Receiver() as receiver:
        send_to(receiver.url)
        done = hooked("stop", report=json.dumps(log.told()), LANGFUSE_SECRET_KEY="of the project")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        settle(folder)
    assert receiver.names() == ["Turn 1"]
    assert read_states(folder)[SESSION].turn_count == 1


def test_sending_can_be_awaited(folder: Path, tmp_path: Path) -> None:
    log = Growing(tmp_path / "p")
    log.turn("one", is_closed=False)
    with Receiver() as receiver:
        report = json.dumps(log.told("SessionEnd"))
        words = ("session-end", "--wait", "--verbose")
        send_to(receiver.url)
        done = hooked(*words, report=report)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "plait hook session-end: done\n")
    assert receiver.names() == ["Turn 1"]


@pytest.mark.parametrize(
    ("words", "report", "env"),
    [
        (("stop",), "", {}),
        (("stop", "--nonsense", "more"), "", {}),
        (("stop",), "{}", {"PLAIT_STATE_DIR": "/proc/no/such/place"}),
        (("stop",), "", {"PLAIT_CONFIG": "/dev/null/nothing"}),
    ],
    ids=["nothing", "odd-options", "nowhere-to-write", "broken-config"],
)
def test_errors_never_reach_claude_code(
    folder: Path, words: tuple[str, ...], report: str, env: dict[str, str]
) -> None:
    done = hooked(*words, report=report, **env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_unknown_event_does_not_stop_claude_code(folder: Path) -> None:
    done = hooked("post-compact", "--verbose", report="{}")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no such event" in done.stderr
    assert not list_jobs(folder)


def test_manual_invocation_is_not_an_event() -> None:
    assert set(COMMANDS) == subcommands("hook").keys()


def test_job_without_a_target_is_dropped_and_logged(folder: Path) -> None:
    assert hooked("stop", "--wait", report='{"session_id": "x"}').returncode == 0
    assert "no target for traces" in (folder / "hook.log").read_text(encoding="utf-8")
    assert list_jobs(folder) == []


def test_endless_stdin_is_not_awaited(folder: Path) -> None:
    with subprocess.Popen([*PLAIT, "hook", "stop"], stdin=subprocess.PIPE) as process:
        assert process.wait(60) == 0


def test_hook_imports_very_little(folder: Path) -> None:
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "import plait.cli, plait.hook.event, plait.trace.hook_event as event\n"
        "folder = plait.hook.event.find_trace_folder()\n"
        "event.read_hook_input(0, 1.0)\n"
        "event.write_job(folder, 'stop', b'{}')\n"
        "event.is_worker_running(folder)\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, input=""
    )
    found = done.stdout.split()
    ours = ["cli", "errors", "hook", "hook.event"]
    ours += ["trace", "trace.hook_event"]
    assert [item for item in found if item.startswith("plait.")] == [
        f"plait.{item}" for item in ours
    ]
    assert {item for item in found if not item.startswith("plait")} <= {"fcntl", "select", "time"}


HOMES = {
    "plain": {},
    "named": {"PLAIT_STATE_DIR": "state"},
    "below the home": {"PLAIT_STATE_DIR": "~/state"},
    "by the system's word": {"XDG_STATE_HOME": "{home}/xdg"},
    "by a blank word": {"XDG_STATE_HOME": " ", "XDG_CONFIG_HOME": " "},
    "another configuration": {"PLAIT_CONFIG": "{home}/other.toml"},
    "another place for it": {"XDG_CONFIG_HOME": "{home}/xdg-config"},
}
CONFIGS = {"none": None, "other": 'otlp_endpoint = "x"', "state": 'state_dir = "{home}/told"'}


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("name", HOMES)
def test_fast_state_path_agrees_with_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, config: str
) -> None:
    names = ("PLAIT_STATE_DIR", "PLAIT_CONFIG", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
    for item in names:
        monkeypatch.delenv(item, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for key, value in HOMES[name].items():
        monkeypatch.setenv(key, value.format(home=tmp_path))
    text = CONFIGS[config]
    if text:
        path = find_config_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(home=tmp_path), encoding="utf-8")
    quick, slow = read_quick_state_folder(), str(read_state_folder().absolute())
    is_asked = config == "state" and not HOMES[name].get("PLAIT_STATE_DIR")
    assert quick == (None if is_asked else slow)
    assert find_trace_folder() == f"{slow}/trace"


def plait(*words: str) -> int:
    return run(list(words))


USUAL = ["Stop", "SessionEnd", "SubagentStop"]


def test_precompact_hook_is_installed_on_request(
    folder: Path, nobodys_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plait("trace", "install", "--yes", "--pre-compact") == 0
    path = nobodys_home / ".claude" / "settings.json"
    assert list(json.loads(path.read_text(encoding="utf-8"))["hooks"]) == [*USUAL, "PreCompact"]


def test_install_shows_the_change_and_keeps_the_old(
    folder: Path, nobodys_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = nobodys_home / ".claude" / "settings.json"
    path.parent.mkdir()
    before = '{\n  "model": "opus"\n}\n'
    path.write_text(before, encoding="utf-8")
    assert plait("trace", "install", "--dry-run") == 0
    assert path.read_text(encoding="utf-8") == before
    assert '+    "Stop": [' in capsys.readouterr().out
    assert plait("trace", "install", "--yes") == 0
    out = capsys.readouterr().out
    assert "added the hooks to" in out
    assert "no target for traces yet" in out
    hooks = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    assert list(hooks) == USUAL
    [backup] = (nobodys_home / "data" / "plait" / "backups").iterdir()
    assert backup.read_text(encoding="utf-8") == before
    assert plait("trace", "install") == 0
    assert "already" in capsys.readouterr().out
    assert plait("trace", "uninstall", "--yes") == 0
    assert path.read_text(encoding="utf-8") == before
    assert plait("trace", "uninstall") == 0


def test_without_a_terminal_nothing_is_written(
    folder: Path, nobodys_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plait("trace", "install") == 2
    assert "cannot ask for confirmation without a terminal" in capsys.readouterr().err
    assert not (nobodys_home / ".claude").exists()


def test_installed_hook_runs_as_a_shell_command(
    folder: Path, nobodys_home: Path, tmp_path: Path
) -> None:
    assert plait("trace", "install", "--yes") == 0
    settings = json.loads((nobodys_home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    command = settings["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    log = Growing(tmp_path / "p")
    log.turn("one")
    with Receiver() as receiver:
        send_to(receiver.url)
        done = subprocess.run(
            command,
            shell=True,
            input=json.dumps(log.told()).encode(),
            timeout=60,
            check=False,
        )
        settle(folder)
    assert done.returncode == 0
    assert receiver.names() == ["Turn 1"]


@pytest.mark.parametrize(
    ("scope", "name"), [("project", "settings.json"), ("local", "settings.local.json")]
)
def test_project_settings_are_supported(
    folder: Path, nobodys_home: Path, monkeypatch: pytest.MonkeyPatch, scope: str, name: str
) -> None:
    project = nobodys_home / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    assert plait("trace", "install", "--yes", "--scope", scope) == 0
    assert (project / ".claude" / name).exists()
    assert not (nobodys_home / ".claude").exists()


# checklist: T42
def test_cc_langfuse_state_is_imported(
    folder: Path, nobodys_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = nobodys_home / ".claude" / "state" / "cc-langfuse_state.json"
    other.parent.mkdir(parents=True)
    theirs = {"s1": {"last_line": 40, "turn_count": 9, "updated": "2025-01-15T10:00:00Z"}}
    other.write_text(json.dumps(theirs), encoding="utf-8")
    assert plait("trace", "install", "--yes") == 0
    assert "skipping traces already sent by cc-langfuse: 1 session" in capsys.readouterr().out
    assert read_states(folder)["s1"].last_line == 40
    assert json.loads(other.read_text(encoding="utf-8")) == theirs


def test_keys_stay_out_of_claude_codes_settings(
    folder: Path, nobodys_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = nobodys_home / "config" / "plait" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('langfuse_public_key = "pk-1"\nlangfuse_secret_key = "sk-2"\n')
    assert plait("trace", "install", "--yes") == 0
    assert plait("trace", "hooks") == 0
    assert plait("trace", "status") == 0
    out = capsys.readouterr().out
    assert "traces go to https://cloud.langfuse.com/api/public/otel/v1/traces" in out
    assert "sk-2" not in out
    assert "sk-2" not in (nobodys_home / ".claude" / "settings.json").read_text(encoding="utf-8")


def run_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_status_lists_installed_hooks(
    folder: Path, nobodys_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plait("trace", "install", "--yes", "--scope", "local")
    (nobodys_home / ".claude" / "settings.json").write_text("{", encoding="utf-8")
    capsys.readouterr()
    assert plait("trace", "hooks", "--json") == 0
    found = run_json(capsys)
    user, project, local = found["installed"]
    assert "is not JSON" in user["error"]
    assert "is not JSON" in project["error"]  # the home is the project here
    assert (local["events"], local["missing"]) == (USUAL, [])
    assert (found["target"], found["is_worker_running"]) == (None, False)


def test_trace_status_lists_pending_and_refused_jobs(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plait("trace", "status") == 0
    assert "nothing sent by hooks yet" in capsys.readouterr().out
    spool = Spool(folder)
    spool.add(many(3, session="s1"))
    save_state(
        folder, "s1", SessionState(12, 3, "2026-11-15T10:00:00Z", "/logs/s1.jsonl", error="odd")
    )
    send_to(f"http://127.0.0.1:{free_port()}")
    assert plait("trace", "flush") == 3
    assert "3 spans still waiting: connection failed" in capsys.readouterr().err
    assert plait("trace", "status", "--json") == 0
    found = run_json(capsys)
    assert (found["waiting"], found["tries"], found["last_error"]) == (3, 1, "connection failed")
    assert found["sessions"][0]["waiting"] == 3
    with Receiver(lambda _: Answer(403)) as receiver:
        send_to(receiver.url)
        assert plait("trace", "flush") == 0
        assert plait("trace", "status") == 0
    out = capsys.readouterr().out
    assert "refused: 3 spans: 403 Forbidden" in out
    with Receiver() as receiver:
        send_to(receiver.url)
        assert plait("trace", "flush", "--refused") == 0
        assert plait("trace", "flush") == 0
    assert len(receiver.spans) == 3
    out = capsys.readouterr().out
    assert "sent 3 spans to" in out
    assert "nothing is waiting" in out


def test_project_environment_is_ignored(folder: Path, tmp_path: Path) -> None:
    log = Growing(tmp_path / "p")
    log.turn("one")
    with Receiver() as ours, Receiver() as theirs:
        send_to(ours.url)
        keys = {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"}
        named = {"LANGFUSE_HOST": theirs.url, "PLAIT_OTLP_ENDPOINT": theirs.url}
        hooked("session-end", "--wait", report=json.dumps(log.told()), **keys, **named)
    assert (ours.names(), theirs.names()) == (["Turn 1"], [])


def test_hook_help_is_readable(capsys: pytest.CaptureFixture[str]) -> None:
    assert plait("hook", "--help") == 0
    out = capsys.readouterr().out
    assert all(name in out for name in EVENTS)
    assert "work " not in out.split("Called by Claude Code:")[1]
    assert plait("hook", "stop", "--help") == 0
    assert "always exits with 0" in capsys.readouterr().out


def langfuse_settings(url: str, public_key: str) -> dict[str, dict[str, str]]:
    variables = {
        "TRACE_TO_LANGFUSE": "true",
        "CC_LANGFUSE_PUBLIC_KEY": public_key,
        "CC_LANGFUSE_SECRET_KEY": "sk-of-the-project",
        "CC_LANGFUSE_BASE_URL": url,
    }
    return {"env": variables}


def test_langfuse_keys_from_project_settings(
    folder: Path, nobodys_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plait("trace", "install", "--yes", "--from-environment") == 0
    assert "TRACE_TO_LANGFUSE is not set here" in capsys.readouterr().out
    settings = json.loads((nobodys_home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    command = settings["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    assert command.endswith("hook session-end --from-environment")
    with Receiver() as configured, Receiver() as shop, Receiver() as till:
        send_to(configured.url)
        for name, receiver in (("shop", shop), ("till", till), ("plain", None)):
            project = tmp_path / name
            (project / ".claude").mkdir(parents=True)
            log = Growing(tmp_path / f"logs-{name}")
            log.turn(name)
            if receiver:
                file = project / ".claude" / "settings.local.json"
                content = langfuse_settings(receiver.url, f"pk-{name}")
                file.write_text(json.dumps(content), encoding="utf-8")
            report = {**log.told("SessionEnd"), "cwd": str(project)}
            done = subprocess.run(
                f"{command} --wait",
                shell=True,
                input=json.dumps(report).encode(),
                capture_output=True,
                timeout=60,
                check=False,
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    for receiver, name in ((configured, "plain"), (shop, "shop"), (till, "till")):
        (root,) = (span for span in receiver.spans.values() if span.name == "Turn 1")
        attributes = {item.key: item.value.string_value for item in root.attributes}
        assert name in attributes["langfuse.observation.input"]
    keys = base64.b64encode(b"pk-shop:sk-of-the-project").decode()
    (request,) = shop.requests
    assert request["headers"]["authorization"] == f"Basic {keys}"
    capsys.readouterr()
    assert plait("trace", "status", "--json") == 0
    status = run_json(capsys)
    assert status["target"].startswith(configured.url)
    urls = {environment["target"] for environment in status["environments"]}
    assert urls == {f"{receiver.url}/api/public/otel/v1/traces" for receiver in (shop, till)}
    assert plait("trace", "flush") == 0
    assert "sk-of-the-project" not in capsys.readouterr().out
    assert plait("trace", "install", "--yes") == 0
    assert "--from-environment" not in (nobodys_home / ".claude" / "settings.json").read_text()


def test_hook_environment_configures_or_disables_langfuse(folder: Path, tmp_path: Path) -> None:
    log = Growing(tmp_path / "p")
    log.turn("one")
    report, words = json.dumps(log.told("SessionEnd")), ("session-end", "--verbose", "--wait")
    with Receiver() as configured, Receiver() as receiver:
        send_to(configured.url)
        variables = langfuse_settings(receiver.url, "pk")["env"]
        off = {**variables, "TRACE_TO_LANGFUSE": "false"}
        done = hooked(*words, "--from-environment", report=report, **off)
        assert "switched off" in done.stderr
        lacking = {**variables, "CC_LANGFUSE_SECRET_KEY": ""}
        done = hooked(*words, "--from-environment", report=report, **lacking)
        assert "a key is missing" in done.stderr
        assert configured.requests == receiver.requests == []
        assert hooked(*words, report=report, **variables).returncode == 0  # without the option
        assert (configured.names(), receiver.names()) == (["Turn 1"], [])
        assert hooked(*words, "--from-environment", report=report, **variables).returncode == 0
    assert receiver.names() == ["Turn 1"]


def test_turns_sent_by_cc_langfuse_are_not_sent_again(
    folder: Path, nobodys_home: Path, tmp_path: Path
) -> None:
    log = Growing(tmp_path / "p")
    log.turn("one")
    lines = len(log.path.read_text(encoding="utf-8").splitlines())
    log.turn("two")
    state = nobodys_home / ".claude" / "state" / "cc-langfuse_state.json"
    state.parent.mkdir(parents=True)
    sent = {SESSION: {"last_line": lines, "turn_count": 1, "updated": "2026-11-15T10:00:00Z"}}
    state.write_text(json.dumps(sent), encoding="utf-8")
    with Receiver() as receiver:
        variables = langfuse_settings(receiver.url, "pk")["env"]
        words = ("session-end", "--wait", "--from-environment")
        hooked(*words, report=json.dumps(log.told("SessionEnd")), **variables)
    assert receiver.names() == ["Turn 2"]
