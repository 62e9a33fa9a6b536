"""House rules: purpose lines, docstrings, public surface, environment, words."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import plait

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "plait"
MODULES = sorted(SOURCE.rglob("*.py"))
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_module_docstrings_are_one_line() -> None:
    output = {name_of(path): ast.get_docstring(parsed(path)) or "" for path in MODULES}
    first = {name: text.partition("\n")[0].rstrip() for name, text in output.items()}
    ends = (".", ":", "…")
    assert [name for name, text in first.items() if len(text) > 100 or text[-1:] not in ends] == []


def test_public_names_have_docstrings() -> None:
    missing = [
        f"{name_of(path)}:{node.name}"
        for path in MODULES
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert missing == []


def test_modules_are_named_after_their_subject() -> None:
    assert [name_of(path) for path in MODULES if BANNED_NAMES & {path.stem, path.parent.name}] == []


def test_public_surface() -> None:
    assert sorted(plait.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(plait, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        plait.nothing  # noqa: B018


PUBLIC = """
    Archive Assistant Attachment Block BlockAdded BlockUpdated Broken Cleared Conversation
    Conversations Message OpenSession Other PlaitError Prices Progress Record Session SessionStore SessionWriter Summary System Text
    Thinking ToolCall ToolResult ToolUse Turn UnknownBlock Usage User __version__ context documents entries
    graph read redact
""".split()

COMMITTED = [
    path
    for folder in ("src", "tests", "docs", "bench", "conformance", "examples", "tools", ".ci")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".md", ".txt", ".sh", ".toml", ""}
    and path.is_file()
    and "__pycache__" not in path.parts
] + [ROOT / name for name in ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml")]
HOME_PATH = re.compile(r"(?<!~)/(?:root|work)/\w")


def test_no_file_names_a_machine_or_a_registry() -> None:
    hosts = ("pypi" + ".org", "registry." + "npmjs", "pythonhosted" + ".org")
    for path in COMMITTED:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not any(host in text for host in hosts), path
        if path != Path(__file__).resolve():
            assert not HOME_PATH.search(text), path


def test_only_settings_read_the_environment() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        if name_of(path) not in ("settings/__init__.py", "hook/event.py"):
            assert not re.search(r"os\.environ|getenv|Path\.home|expanduser", text), path


def test_only_tests_and_benchmarks_know_the_real_logs() -> None:
    for path in COMMITTED:
        place = path.relative_to(ROOT).as_posix()
        if (
            place == "tests/conftest.py"
            or place.startswith("bench/")
            or path == Path(__file__).resolve()
        ):
            continue
        assert "PLAIT" + "_SHARED" not in path.read_text(encoding="utf-8", errors="replace"), place


def test_sdist_contains_what_make_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = {"pyproject.toml", *project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    rules = re.findall(r"^\$\(\w+\)/\.\w+: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    needed = {name.partition("/")[0] for rule in rules for name in rule.split()}
    assert {"constraints.txt", "tools"} <= needed
    assert needed - included == set()
    assert {"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"} <= included


def test_browser_waits_use_functions() -> None:
    """A bare expression is evaluated again at each look, which the page's own policy forbids."""
    bare = re.compile(r"""wait_for_function\(\s*f?["'](?!(async )?[\w()]+ =>)""")
    tests = [path for folder in ("tests", "tools") for path in (ROOT / folder).rglob("*.py")]
    assert [str(path) for path in tests if bare.search(path.read_text(encoding="utf-8"))] == []
