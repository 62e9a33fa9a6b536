"""Every command over a hostile archive: nothing controls the terminal or the shell."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plait.cli.app import run
from plait.cli.registry import COMMANDS
from tests.hostile.archive import SESSION, hostile_archive

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OWN_STYLE = re.compile(
    r"\x1b\[[0-9;]*m|\x1b\]8;[ -~]*\x1b\\|\r?\x1b\[(?:\?25[lh]|2K|[0-9]*A)|\r(?=\x1b)"
)
"""What a terminal is told by Plait itself: colours, links to plain addresses, a bar that moves."""
LISTS = ("config", "doctor", "index", "log", "ls", "paths", "stats", "trace", "tree", "usage", "")
"""Commands that print names and figures, each on a line of its own."""
FILE = "FILE"
OTHERS = ("atif", "toolpath")
"""Formats of others."""
PLAIT = (sys.executable, "-m", "plait")
RUNS: dict[str, list[list[str]]] = {
    "about": [["\x1b]0;x\x07"], ["parser", "--json"], ["/home/dev/shop/a.py"]],
    "blame": [
        ["\x1b]0;x\x07"],
        ["/home/dev/shop/a.py", "--json"],
        ["a.py", "--as", "/x/\x1b]0;x\x07", "--lines", "\x1b]0;x\x07"],
        ["a.py", "--notes"],
    ],
    "cat": [["--pretty", SESSION], ["--pretty", FILE]],
    "chat": [
        ["--demo", "-p", "\x1b]0;x\x07"],
        ["--demo", "-p", "x", "--output-format", "stream-json"],
        ["--demo", "\x1b]0;x\x07"],
        ["--resume", "\x1b]0;x\x07", "--model", "script:x"],
        ["--model", "script:x", "--resume"],
        ["--model", "script:\x1b]0;x\x07", "hi"],
        ["--model", f"replay:{SESSION}", "--resume", FILE, "-p", "hi"],
        ["--engine", "claude", "hi"],
        ["--engine", "claude", "--model", "script:\x1b]0;x\x07", "hi"],
        ["--demo", "-p", "--input-format", "stream-json", "--output-format", "stream-json"],
        ["hi"],
    ],
    "clone": [[FILE, "--dry-run"], [FILE, "--dry-run", "--json"], [SESSION, "--dry-run"]],
    "completion": [["bash"]],
    "compress": [
        [FILE, "--keep-last", "1", "--dry-run"],
        [SESSION, "--keep-last", "1", "--dry-run", "--json"],
        [FILE, "--until", "\x1b]0;x\x07"],
    ],
    "config": [[], ["--json"]],
    "context": [[SESSION], [FILE], [SESSION, "--json"], [SESSION, "--as", "sdk"]],
    "delete": [[FILE, "--dry-run"], [SESSION, "--dry-run", "--json"]],
    "diff": [
        [SESSION],
        [FILE, "--branch", "1", "\x1b]0;x\x07"],
        [SESSION, "--branch", "1", "2", "--all"],
        [FILE, "--json"],
    ],
    "self-check": [[], ["--json"]],
    "doctor": [
        [],
        ["--all"],
        ["--inventory"],
        ["--json"],
        ["--inventory", "--json"],
        [FILE],
    ],
    "export": [
        [FILE, "-o", "-", "-f", format_, "--depth", "all"]
        for format_ in ("md", "txt", "json", *OTHERS)
    ]
    + [[SESSION, "-o", "out", "-f", format_] for format_ in ("md", "html", "jsonl", *OTHERS)]
    + [[SESSION, "--turn", "1"], [SESSION, "-o", "out/json", "--json"]]
    + [["--all", "-o", "out/all"], ["--all", "-o", "out/all", "--redraw"]],
    "files": [
        *([[SESSION], [FILE], [FILE, "--json"], [SESSION, "-p"], ["\x1b]0;x\x07"]]),
        *([[SESSION, "--at", "1"], [SESSION, "--at", "1", "-o", "out/files"], [FILE, "-o", "x"]]),
    ],
    "fork": [[FILE, "--at", "1", "--dry-run"], [FILE, "--at", "\x1b]0;x\x07", "--dry-run"]],
    "handoff": [[SESSION], [FILE, "--to", "\x1b]0;x\x07"], [FILE, "--json"]],
    "history": [
        ["\x1b]0;x\x07"],
        ["a.py", "--at", "\x1b]0;x\x07"],
        ["a.py", "--at", "\x1b]0;x\x07:1", "--json"],
        ["a.py", "--as", "\x1b]0;x\x07", "-p"],
    ],
    "hook": [["--help"]],
    "index": [[], ["--json"], ["--status"]],
    "insights": [[], ["--json"], ["\x1b]0;x\x07"], ["--since", "2020-01-01"]],
    "keep": [
        *([[], ["--dry-run"], [SESSION, "--dry-run", "--json"], ["\x1b]0;x\x07"], ["status"]]),
        *(
            [
                ["status", "--json"],
                ["verify"],
                ["forget", "\x1b]0;x\x07"],
                ["rescue", "--dry-run"],
                ["--install", "hook", "--dry-run"],
                ["--uninstall", "--dry-run"],
                ["pack", "x/\x1b]0;x\x07"],
            ]
        ),
        *([["unpack", "\x1b]0;x\x07"], ["forget", "--max-age", "0"]]),
    ],
    "lake": [
        *([["\x1b]0;x\x07"], ["tables"], ["tables", "\x1b]0;x\x07"], ["tables", "--json"]]),
        *([["ask"], ["ask", "--json"], ["ask", "\x1b]0;x\x07"], ["ask", "cost", "\x1b]0;x\x07=1"]]),
        ["sql", "SELECT '\x1b]0;x\x07'", "--lake", "\x1b]0;x\x07"],
        ["build", "--to", "out/lake\x1b]0;x\x07", "--source", "\x1b]0;x\x07"],
        ["build", "--to", "out/lake", "--profile", "counts", "--json"],
        ["build", "--to", "\x1b]0;x\x07://lake"],
        *([["ls", "--lake", "\x1b]0;x\x07"], ["tidy", "--lake", "\x1b]0;x\x07", "--json"]]),
        ["build", "\x1b]0;x\x07", "--to", "out/lake"],
        *([["ship"], ["ship", "--to", "\x1b]0;x\x07", "--uninstall", "--dry-run"]]),
        ["ship", "--to", "out/\x1b]0;x\x07", "--profile", "full", "--dry-run"],
        ["ship", "--to", "out/shipped", "--profile", "redacted", "--dry-run", "--json"],
        ["ship", "--to", "out/shipped", "--person", "\x1b]0;x\x07"],
    ],
    "log": [[SESSION], [FILE], [SESSION, "--json"], [FILE, "--all"]],
    "ls": [[], ["--no-fold"], ["--starred"], ["--long"], ["--json"], ["--expiring"]],
    "mcp": [["--skill"], ["--install", "--dry-run"]],
    "move": [["\x1b]0;x\x07", "/elsewhere"], [".", "/x\x1b]0;x\x07", "--dry-run"]],
    "open": [["\x1b]0;x\x07"]],
    "paths": [[], [SESSION], [FILE], ["--raw"], ["--json"]],
    "port": [
        *([[FILE, "-o", "out.zip"], [SESSION, "-o", "x/y\x1b]0;x\x07", "--dry-run", "--json"]]),
        *([["\x1b]0;x\x07", "--into", "/x"], [FILE, "--into", "\x1b]0;x\x07"]]),
    ],
    "redact": [
        *([["--check"], ["--check", "--all"], ["--check", "--json"], ["--check", SESSION]]),
        *([[FILE, "--copy", "--dry-run"], [FILE, "--in-place"], [SESSION, "--copy", "--dry-run"]]),
    ],
    "recall": [["\x1b]0;x\x07"], ["README"], ["README", "--json"]],
    "rename": [[FILE, "\x1b]0;x\x07", "--dry-run"], [SESSION, "new", "--dry-run", "--json"]],
    "repair": [[FILE, "--dry-run"], ["--all", "--dry-run"], [SESSION, "--dry-run", "--json"]],
    "restore": [[SESSION], [SESSION, "--json"], ["\x1b]0;x\x07"]],
    "resume": [[SESSION], [FILE], [SESSION, "--json"], [SESSION, "--turn", "1"], [FILE, "--run"]],
    "search": [
        *([["link"], ["link", "--json"], ["--exact", "link"], ["link", "--context", "2"]]),
        *(
            [
                ["--outcome", "failed"],
                ["link", "--each", "--sort", "time"],
                ["-link", "a"],
                ["link", "--starred"],
            ]
        ),
    ],
    "serve": [
        ["--stop"],
        ["--new-key", "\x1b]0;x\x07"],
        ["--lake", "\x1b]0;x\x07", "--port", "0"],
    ],
    "show": [
        [SESSION, "--depth", "all"],
        [FILE, "--depth", "all"],
        [SESSION, "--json"],
        [SESSION, "--turn", "1"],
        [SESSION, "--branch", "nope"],
        [SESSION, "--outcome", "failed", "--tool", "Bash"],
        ["\x1b]0;x\x07"],
    ],
    "standup": [[], ["--json"], ["--since", "2020-01-01"]],
    "star": [[], ["--json"], [SESSION], [FILE, "--json"], ["\x1b]0;x\x07", "--remove"]],
    "stats": [[], ["--json"]],
    "switch": [[FILE, "--branch", "1", "--dry-run"], [FILE, "--branch", "\x1b]0;x\x07"]],
    "tag": [[FILE, "word", "--dry-run"], [FILE, "\x1b]0;x\x07", "--dry-run"]],
    "trim": [
        [SESSION],
        [FILE],
        [FILE, "--json"],
        [FILE, "heavy", "--dry-run"],
        [FILE, "--tool", "\x1b]0;x\x07", "--thinking", "--images", "--dry-run"],
        [SESSION, "\x1b]0;x\x07"],
    ],
    "trace": [
        *([["show", SESSION], ["show", FILE], ["show", SESSION, "--json"], ["status"]]),
        *([["hooks"], ["install", "--dry-run"]]),
    ],
    "tree": [[], ["--all"], ["--json"], [SESSION], [FILE]],
    "ui": [["\x1b]0;x\x07"]],
    "undo": [["--list"], ["--list", "--json"], ["\x1b]0;x\x07"], []],
    "waste": [[], ["--json"], ["--all", "--no-index"], ["--project", "\x1b]0;x\x07"]],
    "why": [[SESSION], [FILE], [SESSION, "--all"], [FILE, "--json"], [FILE, "--turn", "1"]],
    "usage": [
        *([[], ["session"], ["project"], ["model"], ["--json"], ["--statusline"]]),
        *([["--by", "project,session,week"], ["--by", "\x1b]0;x\x07"], ["session", "--csv"]]),
        *([["--by", "session,model", "--csv"], ["--by", "model,week", "--json"]]),
    ],
    "": [[]],
}


@pytest.fixture(autouse=True)
def no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has no test speak with a client that is installed."""
    monkeypatch.setenv("PLAIT_CLAUDE", "/nowhere/claude")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the archive."""
    return hostile_archive(tmp_path_factory.mktemp("hostile"))


def arguments(root: Path, command: str, given: list[str], *more: str) -> list[str]:
    """Return what is run: a command over the archive."""
    named = max(root.glob("projects/*/*.jsonl"))
    words = [str(named) if item == FILE else item for item in given]
    name = [command] if command else []
    first, rest = (words[:1], words[1:]) if command in ("hook", "lake", "trace") else ([], words)
    place = (
        [] if command in ("completion", "hook") or first == ["status"] else ["--root", str(root)]
    )
    return [*name, *first, *place, *more, *rest]


def test_every_command_is_covered() -> None:
    assert {*RUNS} == {*COMMANDS, ""}


@pytest.mark.parametrize(
    ("command", "given"),
    [(name, given) for name, runs in RUNS.items() for given in runs],
    ids=lambda item: " ".join(item).replace("\x1b", "ESC") if isinstance(item, list) else item,
)
def test_output_cannot_control_the_terminal(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: str,
    given: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code = run(arguments(root, command, given))
    out, err = capfd.readouterr()
    output = out + err
    assert code in (0, 1, 2, 3), output[-500:]
    assert UNSAFE.findall(output) == []
    if command in LISTS:
        assert "\nhint: run this" not in output
    assert not (tmp_path / "owned").exists()
    if "--json" in given and code == 0:
        json.loads(out)


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("cat", [SESSION]),
        ("cat", [FILE, "--pretty"]),
        ("log", [FILE]),
        ("show", [FILE, "--depth", "all"]),
        ("search", ["link"]),
        ("tree", []),
        ("doctor", ["--all"]),
        ("export", [FILE, "-o", "-", "-f", "jsonl", "--no-redact"]),
        ("", []),
    ],
    ids=lambda item: " ".join(item) if isinstance(item, list) else item,
)
def test_output_on_a_terminal_is_safe(
    root: Path, tmp_path: Path, command: str, given: list[str]
) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PLAIT_PAGER": "cat", "TERM": "xterm-256color"}
    words = [*PLAIT, *arguments(root, command, given)]
    process = subprocess.Popen(
        words, stdout=theirs, stderr=theirs, stdin=theirs, cwd=tmp_path, env=environment
    )
    os.close(theirs)
    output = screen(ours).decode("utf-8", "replace").replace("\r\n", "\n")
    assert process.wait(timeout=60) in (0, 1)
    assert "Traceback" not in output
    assert UNSAFE.findall(OWN_STYLE.sub("", output)) == []


def screen(handle: int) -> bytes:
    """Return all that is drawn."""
    found = b""
    try:
        while part := os.read(handle, 65536):
            found += part
    except OSError:  # the other side has gone
        pass
    os.close(handle)
    return found


COMMAND = re.compile(
    r"(?:^|[ `])((?:cd .* && )?(?:plait|claude|mkdir) (?:[^`\n]|'[^']*')*)", re.MULTILINE
)


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("search", ["said"]),
        ("show", [FILE]),
        ("resume", [FILE]),
        ("resume", [FILE, "--turn", "999"]),
        ("tree", [FILE]),
        ("context", [FILE]),
        ("", []),
    ],
    ids=lambda item: " ".join(item) if isinstance(item, list) else item,
)
def test_suggested_commands_are_quoted(tmp_path: Path, command: str, given: list[str]) -> None:
    evil = "$(>own);>own;#"  # harmful within the eight letters that an id is shortened to
    root = hostile_archive(tmp_path / "root", f"{evil} said", evil)
    words = [*PLAIT, *arguments(root, command, given)]
    done = subprocess.run(words, capture_output=True, cwd=tmp_path, timeout=120, check=False)
    output = (done.stdout + done.stderr).decode()
    found = [item for item in COMMAND.findall(output) if "own" in item]
    assert found or command != "search"
    for line in found:
        script = f"plait() {{ :; }}; claude() {{ :; }}; mkdir() {{ :; }}; cd() {{ :; }}\n{line}\n"
        subprocess.run(["sh", "-c", script], cwd=tmp_path, check=False, capture_output=True)
        assert not (tmp_path / "own").exists(), line
