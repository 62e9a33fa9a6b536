"""Registered readers, and where they look."""

import tomllib
from pathlib import Path

from plait.line import make_root
from plait.settings import load_settings
from plait.sources.base import load_source, load_sources
from plait.sources.places import BUILT_IN, ROOTS, find_candidates, find_default_roots

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def test_own_readers_are_entry_points() -> None:
    points = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]
    assert points["plait.sources"] == BUILT_IN


def test_reader_metadata_needs_no_import() -> None:
    assert {name: reader.roots for name, reader in load_sources().items()} == ROOTS
    assert all(load_source(name).name == name for name in BUILT_IN)


def test_guide_lists_verified_versions() -> None:
    guide = (PROJECT.parent / "docs/guide/agents.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in guide.splitlines() if line.startswith("| ")]
    versions = {row[2].strip(" `"): row[4].strip() for row in rows if len(row) > 4}
    for name, reader in load_sources().items():
        assert versions[name] == reader.verified


def test_default_folders_exist(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".pi/agent/sessions").mkdir(parents=True)
    env = {"COPILOT_HOME": str(tmp_path / "elsewhere"), "QWEN_HOME": str(tmp_path / "missing")}
    assert find_default_roots(env, tmp_path) == [
        tmp_path / ".codex",
        tmp_path / "elsewhere",
        tmp_path / ".pi/agent/sessions",
    ]


def test_default_folders_can_be_limited(tmp_path: Path) -> None:
    for name in (".claude", ".codex", ".qwen"):
        (tmp_path / name).mkdir()
    home = {"HOME": str(tmp_path), "PLAIT_CONFIG": str(tmp_path / "none.toml")}

    def find_roots(**env: str) -> list[str]:
        return [root.name for root in load_settings(environment=home | env).roots]

    assert find_roots() == [".claude", ".codex", ".qwen"]
    assert find_roots(PLAIT_AGENTS="claude") == [".claude"]
    assert find_roots(PLAIT_AGENTS="claude,qwen") == [".claude", ".qwen"]
    assert find_roots(PLAIT_AGENTS="codex") == [".codex"]


def test_write_folder_comes_first_even_if_missing(
    tmp_path: Path,
) -> None:
    (tmp_path / ".codex").mkdir()
    home = {"HOME": str(tmp_path), "PLAIT_CONFIG": str(tmp_path / "none.toml")}
    roots = load_settings(environment=home).roots
    assert [root.name for root in roots] == [".claude", ".codex"]


def test_claude_code_logs_are_not_candidates(gallery: Path, tmp_path: Path) -> None:
    assert find_candidates([make_root(gallery)], []) == []
    log = next(gallery.rglob("*.jsonl"))
    elsewhere = tmp_path / "logs" / "a.jsonl"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(log.read_bytes())
    (tmp_path / "logs" / "link").symlink_to(tmp_path)
    assert find_candidates([make_root(tmp_path / "logs")], []) == []
