"""The documentation is complete, and its links and examples work."""

import re
import shutil
from pathlib import Path

import click
import pytest

from plait import errors, settings
from plait.cli.app import app
from plait.cli.registry import COMMANDS
from plait.edit.check import RULES
from plait.edit.repair import REPAIR_RULES
from plait.edit.trim import PRESETS
from tools.commands import write_settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HIDDEN = {"hook": "trace install"}
"""Where old and internal commands are described."""


def command(name: str) -> click.Command:
    found = app.get_command(click.Context(app), name)
    assert found is not None
    return found


def guide(name: str) -> str:
    return (ROOT / "docs" / "guide" / f"{name}.md").read_text(encoding="utf-8")


def command_section(name: str) -> str:
    """Return the section about a command, from its heading to the next of the same level."""
    heading = re.compile(rf"^(#+) plait {HIDDEN.get(name, name)}(?=[ ,\n])", re.MULTILINE)
    for page in sorted((ROOT / "docs" / "guide").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if found := heading.search(text):
            code = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
            rest = text[found.end() :]
            plain = code.sub(lambda block: " " * len(block[0]), rest)
            end = re.search(rf"^#{{1,{len(found[1])}}} ", plain, re.MULTILINE)
            return rest[: end.start()] if end else rest
    raise AssertionError(f"no heading for {name}")


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"file"}))
def test_every_command_and_option_is_in_the_guide(name: str) -> None:
    text = command_section(name)
    general = guide("options") + guide("edit").partition("\n## Proof")[0]
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            option = max(parameter.opts, key=len)
            assert f"`{option}" in text or f"`{option}" in general, option


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_short_help_matches_the_command(name: str) -> None:
    assert (command(name).help or "").split("\n\n")[0].replace("\n", " ").strip()
    assert COMMANDS[name].summary.endswith(".")


def test_every_setting_is_in_the_guide() -> None:
    assert write_settings(guide("setup")) == guide("setup")
    read = set(
        re.findall(r'env(?:iron)?(?:\.get\(|\[)"(\w+)"', Path(settings.__file__).read_text())
    )
    text = command_section("config")
    internal = {"HOME", "USERPROFILE", "COLUMNS", "CLAUDE_CODE_SESSION_ID"}
    assert [name for name in sorted(read - internal) if f"`${name}`" not in text] == []
    assert len(read) > 15


def test_every_error_is_in_the_guide() -> None:
    text = guide("setup")
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.PlaitError):
            assert f"`{name}`" in text, name


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_work(path: Path) -> None:
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        if "://" in target or target.startswith("mailto:"):
            continue
        place = path.parent / target if target else path
        assert place.exists(), target
        if anchor and place.suffix == ".md" and "gallery" not in place.parts:
            assert anchor in anchors(place), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in plain}


def test_readme_python_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = re.findall(r"```python\n(.*?)```", DOCS[0].read_text(encoding="utf-8"), re.DOTALL)
    assert code
    example = next((ROOT / "examples" / "gallery" / "straight-line").rglob("*.jsonl"))
    shutil.copy(example, tmp_path / "session.jsonl")
    monkeypatch.chdir(tmp_path)
    for block in code:
        exec(block.replace("/home/me/.claude", str(ROOT / "examples" / "gallery")), {})
    assert "asked: Customers who pay with a gift card" in capsys.readouterr().out


def test_every_package_is_on_the_map() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "src" / "plait").glob("*/__init__.py")]
    assert [name for name in packages if f"`{name}`" not in text] == []


def test_decisions_are_numbered_once() -> None:
    names = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [name[:4] for name in names if name[:4].isdigit()]
    assert len(numbers) == len(set(numbers))


def test_every_finding_of_the_graph_is_in_the_guide() -> None:
    text = command_section("doctor")
    codes: set[str] = set()
    for path in (ROOT / "src" / "plait" / "graph").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        codes |= set(re.findall(r'(?:Finding|\.note)\(\s*"([a-z-]+)"', source))
        codes |= set(re.findall(r'code = "([a-z-]+)" if .* else "[a-z-]+"', source))
        codes |= set(re.findall(r'code = "[a-z-]+" if .* else "([a-z-]+)"', source))
    assert len(codes) > 8
    assert [code for code in sorted(codes) if f"`{code}`" not in text] == []


def test_every_rule_for_written_sessions_is_in_the_guide() -> None:
    text = command_section("repair --check")
    assert len(RULES) > 10
    assert [
        rule.name for rule in RULES if f"| `{rule.name}` | {rule.description} |" not in text
    ] == []


def test_every_preset_of_a_trim_is_in_the_guide() -> None:
    text = command_section("trim")
    for name, rule in PRESETS.items():
        turns = "1 turn" if rule.turns == 1 else f"{rule.turns} turns"
        row = f"| `{name}` | {rule.share:.0%} | {turns}, or {rule.answers} answers"
        assert row in text, name


def test_every_repair_rule_is_in_the_guide() -> None:
    text = command_section("repair")
    assert len(REPAIR_RULES) > 10
    assert [
        rung.name for rung in REPAIR_RULES if f"| `{rung.name}` | {rung.description} |" not in text
    ] == []


def test_every_page_is_in_the_site_menu() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guide").glob("*.md")]
    names = [page.relative_to(ROOT / "docs").as_posix() for page in pages]
    assert [name for name in sorted(names) if f": {name}\n" not in text] == []


def test_contributing_names_existing_places() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    matching = [name for name in re.findall(r"`([a-z_]+(?:/[\w.]+)+)`", text) if "<" not in name]
    assert len(matching) > 5
    places = (ROOT, ROOT / "src" / "plait")
    assert [name for name in matching if not any((at / name).exists() for at in places)] == []
