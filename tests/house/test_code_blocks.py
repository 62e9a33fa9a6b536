"""Code blocks in the docs that other tests do not run are valid."""

import json
import re
import shlex
import shutil
import sqlite3
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from plait.cli.app import LazyGroup, app, run
from plait.settings import parse_config

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/guide").glob("*.md")]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = ("README", "agents", "documents", "python", "write")
"""Pages whose Python other tests run."""
SETTINGS = ("setup", "ui", "trace", "trim")
"""Pages whose TOML is settings."""


def blocks(*languages: str) -> Iterator[tuple[Path, str]]:
    for page in sorted(PAGES):
        for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
            if language in languages:
                yield page, code


def typed_commands() -> Iterator[tuple[str, str]]:
    for page, code in blocks("", "sh", "text"):
        for line in code.replace("\\\n", " ").splitlines():
            found = re.match(r"(?:\$ )?(plait(?: .*)?)$", line)
            if found and not re.search(r"[…├]|\[|  [a-z]", found[1].partition(" # ")[0].rstrip()):
                yield page.name, found[1]


COMMANDS = sorted(set(typed_commands()))


def test_commands_exist() -> None:
    assert len(COMMANDS) > 40


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_command_can_be_parsed(page: str, line: str) -> None:
    words = shlex.split(re.split(r"\s(?:>>?|<|\|)\s", line)[0], comments=True)[1:]
    command: click.Command = app
    context = click.Context(app, info_name="plait")
    while True:
        command.make_parser(context).parse_args(list(words))
        names = [word for word in words if not word.startswith("-")]
        if not isinstance(command, LazyGroup) or not names:
            break
        found = command.get_command(context, names[0])
        assert found is not None, names[0]
        words.remove(names[0])
        command, context = found, click.Context(found, context, names[0])


def test_tables_and_objects_parse() -> None:
    kinds = [tomllib.loads(code) for _, code in blocks("toml")]
    kinds += [json.loads(code) for _, code in blocks("json")]
    assert len(kinds) > 15


def test_settings_are_valid() -> None:
    checked = 0
    for page, code in blocks("toml"):
        if page.stem in SETTINGS:
            parse_config(page, code)
            checked += 1
    assert checked >= 4


PYTHON = [(page, code) for page, code in blocks("python") if page.stem not in ELSEWHERE]


@pytest.mark.parametrize(("page", "code"), PYTHON, ids=lambda value: getattr(value, "stem", ""))
def test_python_runs(
    page: Path, code: str, tmp_path: Path, gallery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(gallery / "rewind", home / "projects-of", dirs_exist_ok=True)
    (log,) = home.rglob("*.jsonl")
    shutil.copy(log, tmp_path / "session.jsonl")
    monkeypatch.chdir(tmp_path)
    for said, meant in {
        "/home/me/.local/share/plait/keep": str(tmp_path / "keep"),
        "/home/me/.claude": str(home),
        "/home/dev/.claude": str(home),
        "src/app.py": "/home/dev/shop/shop/search.py",
        "3f2a": log.stem[:4],
        "/tmp/there": str(tmp_path / "there"),
    }.items():
        code = code.replace(said, meant)
    exec(code, {})


def test_catalogue_queries_run(
    tmp_path: Path, gallery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(tmp_path))
    for command in ("index", "stats", "usage"):
        assert run([command, "--root", str(gallery)]) == 0
    (found,) = tmp_path.rglob("catalogue.sqlite")
    catalogue = sqlite3.connect(found)
    asked = [
        question
        for page, code in blocks("sql")
        if page.name == "catalogue.md"
        for question in code.split(";")
        if question.strip()
    ]
    assert len(asked) >= 2
    for question in asked:
        assert catalogue.execute(question).fetchall(), question
    catalogue.close()
