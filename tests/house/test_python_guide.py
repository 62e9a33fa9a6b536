"""The library guide: every script runs and prints what is shown."""

import doctest
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from select import select

import pytest

import plait

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "examples" / "gallery"
TEXT = (ROOT / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(
    r"```python\n((?:(?!```).)*)```\n(?:```text\n((?:(?!```).)*)```)?", TEXT, re.DOTALL
)
CONVERSATION = re.findall(r"```pycon\n(.*?)```", TEXT, re.DOTALL)
HOME = "/home/me/.claude"
MOST_LINES = 15


def test_scripts_are_short_and_use_public_names() -> None:
    assert len(SCRIPTS) == 7
    for code, _ in SCRIPTS:
        assert len(code.splitlines()) < MOST_LINES
        assert set(re.findall(r"plait\.([A-Za-z_]\w*)", code.replace(HOME, ""))) <= set(
            plait.__all__
        )
        assert not re.search(r"from plait|import plait\.|\._", code)


@pytest.mark.parametrize("number", [number for number, (_, said) in enumerate(SCRIPTS) if said])
def test_script_prints_what_is_shown(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    code, output = SCRIPTS[number]
    exec(code.replace(HOME, str(GALLERY)), {})
    assert capsys.readouterr().out == output


def test_interactive_example_runs_as_shown() -> None:
    text = CONVERSATION[0].replace(HOME, str(GALLERY))
    parsed = doctest.DocTestParser().get_doctest(text, {}, "guide", None, 0)
    output: list[str] = []
    assert doctest.DocTestRunner().run(parsed, out=output.append).failed == 0, "".join(output)


def test_watch_example(tmp_path: Path) -> None:
    shutil.copytree(GALLERY / "straight-line", tmp_path / "logs")
    log = next((tmp_path / "logs").rglob("*.jsonl"))
    code = next(code for code, _ in SCRIPTS if ".watch()" in code).replace(HOME, str(tmp_path))
    ready = code.replace("for session in", "print('ready', flush=True)\nfor session in")
    with subprocess.Popen(
        [sys.executable, "-u", "-c", ready], stdout=subprocess.PIPE, text=True
    ) as script:
        assert script.stdout and script.stdout.readline() == "ready\n"
        result = ""
        try:
            for _ in range(20):
                with log.open("a", encoding="utf-8") as file:
                    file.write('{"type":"mode","mode":"normal","sessionId":"x"}\n')
                if select([script.stdout], [], [], 0.5)[0]:
                    result = script.stdout.readline()
                    break
        finally:
            script.kill()
    assert result.startswith("Gift card is deducted twice at checkout | ")


def test_follow_example(tmp_path: Path) -> None:
    shutil.copytree(GALLERY / "straight-line", tmp_path / "logs")
    log = next((tmp_path / "logs").rglob("*.jsonl"))
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    result = next(number for number, line in enumerate(lines) if '"tool_result"' in line)
    log.write_text("".join(lines[:result]), encoding="utf-8")
    code = next(code for code, _ in SCRIPTS if ".follow(" in code).replace(HOME, str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-u", "-c", code], stdout=subprocess.PIPE, text=True
    ) as script:
        assert script.stdout
        try:
            while "ToolCall(" not in (line := script.stdout.readline()):
                assert line.startswith("added ")
            with log.open("a", encoding="utf-8") as file:
                file.write(lines[result])
            while (line := script.stdout.readline()).startswith("added "):
                pass
        finally:
            script.kill()
    assert line.startswith("updated toolu_")


def test_every_conversation_function_works() -> None:
    names = re.findall(r"^\| `(plait\.conversation\.[\w.]+)` \|", TEXT, re.MULTILINE)
    assert len(names) == 6
    result = plait.Archive([GALLERY]).session("Two tests that fail once in ten runs").conversations
    for name in names:
        module, _, function = name.rpartition(".")
        assert isinstance(getattr(import_module(module), function)(result.active), tuple)
