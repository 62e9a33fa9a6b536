"""`plait trace` end to end: the waterfall, and what arrives at a collector."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from examples.drawing import draw
from plait.cli.app import run
from plait.cli.registry import subcommands
from plait.cli.trace import trace_command as group
from plait.trace.otlp import iter_request_spans
from plait.trace.spans import format_span_time
from tests.trace.collecting import receiving

ROOT = Path(__file__).resolve().parents[2]
WORK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=claude-opus-4-5
U1 "Where is the price computed?"
A1< "I look." + Agent(prompt="look", description="Find it", subagent_type="Explore") as sent
R1< of sent @+30s "In cart.py."
A2< Bash(command="npm test", description="Run the tests") as test
R2< of test error @+8s
  | Exit code 1
P1< hook_progress "guard" hookEvent=PreToolUse of test
A3< "Found it."
U2< "Mine is AKIAIOSFODNN7ABCDEFG"
A4< "Thanks."
U3<A3 "Fix it"
A5< think "Hm." + "Done." @+5s
agent looker of sent
U11 "look"
A11< Read(file_path="/home/dev/shop/src/cart.py") as read
R11< of read "x"
A12< "In cart.py."
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    draw(WORK).write(tmp_path / "logs")
    return tmp_path / "logs"


def shown(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert run([str(item) for item in arguments]) == 0
    return capsys.readouterr().out


def failed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    code = run([str(item) for item in arguments])
    return code, capsys.readouterr().err


def test_the_waterfall(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert shown(capsys, "trace", "show", "latest", "--root", work) == WIDE
    monkeypatch.setenv("COLUMNS", "40")
    assert shown(capsys, "trace", "show", "latest", "--root", work, "--turn", "1") == NARROW


WIDE = """\
Turn 1  Where is the price computed?      72k    $0.20    43 s
├ opus-4-5 I look.                        43k    $0.19    32 s  ████████████
│ └ Agent Find it                         29k    $0.10    30 s  ████████████
│   └ Explore Find it                     29k    $0.10   3.0 s  ██
│     ├ opus-4-5                          14k    $0.09   2.0 s   █
│     │ └ Read src/cart.py                               1.0 s   █
│     └ opus-4-5 In cart.py.              14k  $0.0073           │
├ opus-4-5                                14k  $0.0086    10 s              ████
│ └ ✗ Bash Exit code 1 · Run the tests                   8.0 s              ███
└ opus-4-5 Found it.                      14k  $0.0074                         │
  1 quiet hook (`--all` shows it)

Turn 2 abandoned  Mine is AKIAIOSFODNN…   14k  $0.0074   1.0 s
└ opus-4-5 Thanks.                        14k  $0.0074                         │

Turn 2  Fix it                            14k  $0.0074   6.0 s
└ opus-4-5 Done.                          14k  $0.0074   1.0 s               ███

"""
NARROW = """\
Turn 1  Where is the…     43 s
├ opus-4-5 I look.        32 s  ██████
│ └ Agent Find it         30 s  ██████
│   └ Explore Find it    3.0 s  █
│     ├ opus-4-5         2.0 s  █
│     │ └ Read src/ca…   1.0 s  █
│     └ opus-4-5                │
├ opus-4-5                10 s        ██
│ └ ✗ Bash Exit code…    8.0 s        ██
└ opus-4-5 Found it.                   │
  1 quiet hook (`--all` shows it)

"""


@pytest.mark.parametrize("width", [20, 40, 60, 80, 110, 200])
def test_no_line_is_wider_than_the_screen(
    gallery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for folder in ("sub-agent", "workflow", "old-version", "compaction"):
        text = shown(capsys, "trace", "show", "latest", "--root", gallery / folder, "--all")
        assert max(map(len, text.splitlines())) <= width


def test_json_gives_the_spans(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spans = json.loads(shown(capsys, "trace", "show", "latest", "--root", work, "--json"))
    assert {span["kind"] for span in spans} == {"turn", "generation", "tool", "agent", "hook"}
    assert not [span for span in spans if "thinking" in span]
    more = shown(capsys, "trace", "show", "latest", "--root", work, "--json", "--thinking")
    assert [span["thinking"] for span in json.loads(more) if "thinking" in span] == ["Hm."]
    item = json.loads(
        shown(capsys, "trace", "show", "latest", "--root", work, "--json", "--turn", "1")
    )
    assert {span["turn"] for span in item} == {1}


def test_session_without_responses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw('U1 "hello?"').write(tmp_path / "logs")
    assert run(["trace", "show", "latest", "--root", str(tmp_path / "logs")]) == 0
    report = capsys.readouterr()
    assert (report.out, report.err.split(":")[0]) == ("", "nothing to trace")
    to = tmp_path / "none.json"
    output = shown(capsys, "trace", "send", "latest", "--root", tmp_path / "logs", "--to", to)
    assert output == f"sent 0 traces with 0 spans of 1 session to {to}\n"


def test_unknown_turns(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show = ("trace", "show", "latest", "--root", work, "--turn")
    assert failed(capsys, *show, "9") == (
        2,
        "error: no answered turn 9 in this session\nhint: the last is 2\n",
    )
    assert failed(capsys, *show, "x")[1].startswith("error: 'x' is not a turn\n")


def test_sending_to_a_collector(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spans = json.loads(shown(capsys, "trace", "show", "latest", "--root", work, "--json"))
    with receiving() as received:
        send = ("trace", "send", "latest", "--root", work, "--to", received.url)
        output = shown(capsys, *send, "--header", "x-team=blue")
        assert (
            output
            == f"sent 3 traces with {len(spans)} spans of 1 session to {received.url}/v1/traces\n"
        )
        assert received.headers[0]["x-team"] == "blue"
        first = received.spans
        assert sorted(first) == sorted(span["id"] for span in spans)
        shown(capsys, *send, "--header", "x-team=blue")
        assert received.spans == first, "sending twice changes nothing"


def test_secrets_names_and_paths_are_not_sent(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with receiving() as received:
        send = ("trace", "send", "--all", "--root", work, "--to", received.url)
        assert run([str(item) for item in send]) == 0
        assert "redacted: " in capsys.readouterr().err
        everything = json.dumps(list(received.spans.values()))
        assert "AKIAIOSFODNN7ABCDEFG" not in everything
        assert "/home/dev/" not in everything
        assert "shop/src/cart.py" in everything
        assert run([*map(str, send), "--no-redact"]) == 0
        assert "nothing is redacted" in capsys.readouterr().err
        assert "AKIAIOSFODNN7ABCDEFG" in json.dumps(list(received.spans.values()))


def test_without_content_no_text_is_sent(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with receiving() as received:
        shown(
            capsys, "trace", "send", "--all", "--root", work, "--to", received.url, "--no-content"
        )
        everything = json.dumps(list(received.spans.values()))
    for words in ("price", "I look", "npm", "Exit code", "Find it", "cart.py", "guard"):
        assert words not in everything, words
    assert "claude-opus-4-5" in everything


def test_limits_conventions_and_thinking(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def sent(*more: str) -> str:
        with receiving() as received:
            shown(capsys, "trace", "send", "--all", "--root", work, "--to", received.url, *more)
            return json.dumps(list(received.spans.values()))

    assert "gen_ai." not in sent("--convention", "langfuse")
    assert "langfuse." not in sent("--convention", "genai")
    assert "Hm." in sent("--thinking")
    assert "Hm." not in sent("--limit", "100")


@pytest.mark.parametrize("name", ["traces.json", "traces.jsonl"])
def test_output_to_a_file(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = tmp_path / name
    shown(capsys, "trace", "send", "latest", "--root", work, "--to", path)
    assert path.stat().st_mode & 0o077 == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    ids = [item["spanId"] for line in lines for item in iter_request_spans(json.loads(line))]
    spans = json.loads(shown(capsys, "trace", "show", "latest", "--root", work, "--json"))
    assert sorted(ids) == sorted(span["id"] for span in spans)
    code, report = failed(capsys, "trace", "send", "latest", "--root", work, "--to", f"file:{path}")
    assert (code, report) == (2, f"error: '{path}' already exists\nhint: choose another name\n")


def test_a_dry_run_sends_nothing(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with receiving() as received:
        send = ("trace", "send", "--all", "--root", work, "--to", received.url, "--dry-run")
        assert shown(capsys, *send).startswith("would send 3 traces with ")
        found = json.loads(shown(capsys, *send, "--json"))
        assert not received.headers
    assert (found["sessions"], found["traces"], found["sent"]) == (1, 3, 0)


def test_failing_target_is_reported(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with receiving(status=401) as received:
        send = ("trace", "send", "--all", "--root", work, "--to", received.url)
        code, report = failed(capsys, *send)
    assert code == 3
    assert "could not be sent: 401 Unauthorized" in report
    assert "hint: the target rejects them" in report
    with receiving(status=503) as received:
        assert "hint: send again" in failed(capsys, *send[:-1], received.url)[1]


@pytest.mark.parametrize(
    ("arguments", "report"),
    [
        (["--to", "http://localhost:9"], "error: nothing selected to send"),
        (["--all"], "error: no destination"),
        (["--all", "--to", "langfuse"], "error: the keys of a Langfuse project are not set"),
        (["--all", "--to", "somewhere"], "error: 'somewhere' is not an address to send traces to"),
        (["--all", "--to", "a.json", "--project", "no"], "error: no session matches"),
    ],
)
def test_impossible_requests(
    work: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    report: str,
) -> None:
    for name in ("PLAIT_OTLP_ENDPOINT", "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    code, output = failed(capsys, "trace", "send", "--root", work, *arguments)
    assert code in (2, 4)
    assert output.startswith(report), output


def test_missing_extra_is_reported(work: Path, tmp_path: Path) -> None:
    arguments = ["trace", "send", "latest", "--root", str(work), "--to", str(tmp_path / "t.json")]
    code = f"""
import sys
sys.modules["opentelemetry"] = None
from plait.cli.app import run
sys.exit(run({arguments!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 5
    assert "pip install 'plait[trace]'" in done.stderr
    assert not (tmp_path / "t.json").exists()


def test_langfuse_keys_come_from_the_settings(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving() as received:
        monkeypatch.setenv("LANGFUSE_HOST", received.url)
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-1")
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-2")
        output = shown(capsys, "trace", "send", "latest", "--root", work, "--to", "langfuse")
        assert output.endswith(f" to {received.url}/api/public/otel/v1/traces\n")
        assert received.headers[0]["authorization"] == "Basic cGstMTpzay0y"
        item: Any = next(iter(received.spans.values()))
        assert "langfuse.observation.type" in item["attributes"]
        assert "gen_ai.conversation.id" not in item["attributes"]


def test_every_subcommand_and_option_is_in_the_guide() -> None:
    text = (ROOT / "docs" / "guide" / "trace.md").read_text(encoding="utf-8")
    general = (ROOT / "docs" / "guide" / "options.md").read_text(encoding="utf-8")
    context = click.Context(group)
    for name in ("send", "show"):
        assert f"plait trace {name}" in text
        found = group.get_command(context, name)
        assert found is not None
        for parameter in found.params:
            if isinstance(parameter, click.Option):
                option = max(parameter.opts, key=len)
                assert f"`{option}" in text or f"`{option}" in general, option
    assert set(re.findall(r"^## plait trace (\w+)", text, re.MULTILINE)) <= set(
        subcommands("trace")
    )


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (None, ""),
        (0, ""),
        (1, "1 ms"),
        (325_000_000, "325 ms"),
        (3_600_000_000, "3.6 s"),
        (52_000_000_000, "52 s"),
        (169_000_000_000, "2m 49s"),
        (3_900_000_000_000, "1h 05m"),
    ],
)
def test_span_durations(duration: int | None, words: str) -> None:
    assert format_span_time(duration) == words
