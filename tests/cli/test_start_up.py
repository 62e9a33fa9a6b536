"""Modules loaded before a command answers."""

import subprocess
import sys
from pathlib import Path

import pytest

from plait.cli.registry import COMMANDS
from plait.settings import load_settings
from plait.terminal.output import Output
from plait.terminal.text import safe

LOADED = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from plait.cli import main
main()
"""
EMPTY = {
    "--help": 125,
    "usage": 195,
    "ls": 195,
    "stats": 240,
    "doctor": 265,
    "usage --json": 195,
    "ls --json": 205,
    "stats --json": 250,
    "doctor --json": 210,
    "waste": 255,
}
"""The most modules that a command loads, Python's own among them, where there are no sessions."""
FULL = {"ls": 315, "usage": 275, "search README": 330, "doctor --json": 260, "stats": 320}
"""And where there are some."""
LIGHT = "chat ui"
READING = (
    "about blame cat handoff history clone completion compress config delete files fork "
    "hook index lake mcp move port recall rename repair search standup star switch tag undo ls "
    "usage"
)
TELLING = (
    "context diff doctor insights keep log paths redact restore resume self-check show stats trace "
    "tree waste why"
)
HELP = {
    **dict.fromkeys(LIGHT.split(), 130),
    **dict.fromkeys(READING.split(), 240),
    **dict.fromkeys(TELLING.split(), 260),
    "export": 310,
    "redact": 285,
    "trace": 280,
    "trim": 330,
    "open": 690,
    "serve": 690,
}
"""And where a command only says what it takes; a server is loaded with its own."""
SELDOM = {"rich", "tomllib", "difflib", "subprocess", "tantivy", "tempfile", "platformdirs"}
NEVER = {
    *("anthropic", "prompt_toolkit", "starlette", "uvicorn", "asyncio", "opentelemetry"),
    *("pyarrow", "deltalake", "duckdb", "ray", "textual"),
}
MORE = 8 if sys.version_info >= (3, 14) else 0
"""Modules into which newer Pythons have split their own."""
OF_THE_SYSTEM = {"sitecustomize", "usercustomize", "apport_python_hook"}
"""What a system's own Python loads before anything else."""


def loaded(home: Path, *words: str) -> set[str]:
    """Return the modules that a run of the command has loaded when it ends."""
    run = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        env={"HOME": str(home), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split()) - OF_THE_SYSTEM


@pytest.mark.parametrize("command", EMPTY)
def test_a_command_without_sessions_loads_little(tmp_path: Path, command: str) -> None:
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    modules = loaded(tmp_path, *command.split())
    assert len(modules) <= EMPTY[command] + MORE
    drawn = {"rich"} if command == "doctor" else set()
    assert not modules & ((NEVER | SELDOM) - drawn)


@pytest.mark.parametrize("command", HELP)
def test_usage_errors_are_reported_fast(tmp_path: Path, command: str) -> None:
    modules = loaded(tmp_path, command, "--help")
    assert len(modules) <= HELP[command] + MORE
    if command not in ("open", "serve"):
        assert not modules & (NEVER | {"rich", "tantivy"})


def test_every_command_has_a_budget() -> None:
    assert HELP.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", FULL)
def test_a_command_loads_what_it_needs(gallery: Path, tmp_path: Path, command: str) -> None:
    modules = loaded(tmp_path, *command.split(), "--root", str(gallery))
    assert len(modules) <= FULL[command] + MORE
    assert not modules & NEVER


def test_export_without_redaction_does_not_load_redact(gallery: Path, tmp_path: Path) -> None:
    where = ("--root", str(gallery), "-o", str(tmp_path / "out"))
    modules = loaded(tmp_path, "export", "--all", "--no-redact", *where)
    assert len(modules) <= 335
    assert not modules & {"re2", "plait.redact.redactor", "importlib.metadata", *NEVER}


def test_configuration_is_read_if_present(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "plait"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("roots = []\n", encoding="utf-8")
    assert "tomllib" in loaded(tmp_path, "ls")


ENDING = {
    "nothing else": ("", ""),
    "asked for at the end": ("import atexit; atexit.register(print, 'at the end')", "at the end"),
    "a thread goes on": (
        "import threading; threading.Thread(target=lambda: "
        "(threading.main_thread().join(), print('the thread'))).start()",
        "the thread",
    ),
    "somebody profiles": (
        "import sys, threading; sys.setprofile(lambda *told: None); "
        "threading._register_atexit(print, 'apart')",
        "apart",
    ),
}
"""What runs beside a command, and what it says after it."""


@pytest.mark.parametrize("neighbour", ENDING)
def test_fast_exit_waits_for_output_and_workers(tmp_path: Path, neighbour: str) -> None:
    code, output = ENDING[neighbour]
    (tmp_path / "projects").mkdir()
    for words, status in ((["usage"], 0), (["usage", "--limit", "0"], 2)):
        run = subprocess.run(
            [
                sys.executable,
                "-c",
                f"{code}\nfrom plait.cli import main\nmain()",
                *words,
                "--root",
                str(tmp_path),
            ],
            env={"HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert run.returncode == status, run.stderr
        assert run.stdout.split("\n") == [
            *(["no usage"] if not status else []),
            *([output] if output else []),
            "",
        ]


def test_loaded_modules_are_frozen_from_garbage_collection(tmp_path: Path) -> None:
    code = (
        "import atexit, gc\n"
        "atexit.register(lambda: print(gc.isenabled(), gc.get_freeze_count() > 10_000))\n"
        "from plait.cli import main\nmain()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "ls"],
        env={"HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stdout.splitlines()[-1] == "True True", run.stderr


@pytest.mark.parametrize("colour", ["auto", "never", "always"])
@pytest.mark.parametrize(
    "text",
    [
        "no usage",
        "",
        "two\nlines\n",
        "a\ttab",
        "blanks at its end   ",
        "word " * 30,
        "漢字" * 30,
        "[bold]no markup[/bold] :smile:",
        "\x1b[31mred\r",
    ],
)
def test_plain_text_prints_the_same_without_rich(
    capsys: pytest.CaptureFixture[str], text: str, colour: str
) -> None:
    output = Output(load_settings([], colour, environment={"HOME": "/nowhere"}))
    output.console.print(safe(text), "and", style="dim")
    drawn = capsys.readouterr().out
    output.print(text, "and", style="dim")
    assert capsys.readouterr().out == drawn
