"""Actions on sessions: a plan first, and undo."""

import json
from pathlib import Path

import pytest

from plait.edit.cuts import PRESET_NAMES
from tests.tui.ui import Screen, run_ui


def read_all(root: Path) -> dict[str, bytes]:
    """Return the logs below a folder."""
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*.jsonl"))}


def test_unconfirmed_plan_changes_nothing(root: Path) -> None:
    before = read_all(root)

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        for key, words in (("f", "fork"), ("x", "delete")):
            await screen.press(key)
            await screen.wait_for("before", f"y or enter: {words}")
            await screen.press("escape")
        await screen.press("z")
        await screen.wait_for("nothing to undo in this run")

    run_ui(root, scenario)
    assert read_all(root) == before


def test_fork_and_undo(root: Path) -> None:
    before = read_all(root)

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("f")
        await screen.wait_for("y or enter: fork")
        await screen.press("y")
        await screen.wait_for("21 sessions", "forked as")
        assert len(read_all(root)) == len(before) + 1
        await screen.press("z")
        await screen.wait_for("20 sessions", "undone: fork")

    run_ui(root, scenario)
    assert read_all(root) == before


def test_rename_and_undo(root: Path) -> None:
    before = read_all(root)

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("R")
        await screen.wait_for("New title of b4bc37f8")
        await screen.press("ctrl+u")
        await screen.type("anchors")
        await screen.press("enter")
        await screen.wait_for("y or enter: rename")
        await screen.press("enter")
        await screen.wait_for("  anchors ")
        await screen.press("z")
        await screen.wait_for("undone: rename", "  Different anchors")

    run_ui(root, scenario)
    assert read_all(root) == before


def test_delete_and_undo(root: Path) -> None:
    before = read_all(root)

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("x")
        await screen.wait_for("y or enter: delete")
        await screen.press("y")
        await screen.wait_for("19 sessions")
        await screen.press("z")
        await screen.wait_for("20 sessions")

    run_ui(root, scenario)
    assert read_all(root) == before


def test_trim_asks_for_a_preset(root: Path) -> None:
    before = read_all(root)

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("1 session of")
        await screen.press("T")
        await screen.wait_for("Trim 336718fa", "standard")
        for _ in range(PRESET_NAMES.index("standard")):
            await screen.press("down")
        await screen.press("enter")
        await screen.wait_for("y or enter: trim")
        await screen.press("y")
        await screen.wait_for("2 sessions of 21")

    run_ui(root, scenario, query="Gift card is deducted")
    assert before.items() <= read_all(root).items()


def test_star_and_unstar(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("m")
        await screen.wait_for("★ Different")
        await screen.press("z")
        await screen.wait_for("undone: the star", without="★")

    run_ui(root, scenario)


def test_export_is_redacted(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("e")
        await screen.wait_for("Folder for the redacted transcript")
        await screen.press("ctrl+u")
        await screen.type(str(folder))
        await screen.press("enter")
        await screen.wait_for("Exported b4bc37f8", "1 transcript")

    run_ui(root, scenario)
    assert (folder / "manifest.json").exists()


def test_back_up(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("b")
        await screen.wait_for("y or enter: back up")
        await screen.press("y")
        await screen.wait_for("Backed up b4bc37f8")

    run_ui(root, scenario)
    assert (root.parent / "data" / "keep" / "journal.jsonl").exists()


def test_resume_command_is_copied(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("y")
        await screen.wait_for("copied the command")
        assert "claude --resume b4bc37f8-6ddb-4fdb-ab29-e7894b8ec389" in screen.app.clipboard

    run_ui(root, scenario)


def test_session_with_a_missing_directory_is_not_resumed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("r")
        await screen.wait_for("refusing to run: '/home/dev/quill' does not exist")

    run_ui(root, scenario)


def test_sessions_of_other_agents_are_marked_and_read_only(tmp_path: Path) -> None:
    root = tmp_path / ".codex"
    write_codex_session(root)
    before = read_all(root)

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("1 session", "codex ", "Fix the parser")
        for key in ("f", "x"):
            await screen.press(key)
            await screen.wait_for("was written by codex")
        await screen.press("y")
        await screen.wait_for("copied the command")
        assert "codex resume" in screen.app.clipboard

    run_ui(root, scenario)
    assert read_all(root) == before


def write_codex_session(root: Path) -> None:
    """Write a session as Codex does."""
    name = "0199a213-81c0-7800-8aa1-bbab2a035a53"
    log = root / "sessions" / "2026" / "10" / "30" / f"rollout-2026-10-30T10-00-00-{name}.jsonl"
    log.parent.mkdir(parents=True)

    def entry(kind: str, payload: dict[str, object]) -> str:
        stamp = "2026-10-30T10:00:00.000Z"
        return json.dumps({"timestamp": stamp, "type": kind, "payload": payload}) + "\n"

    def message(role: str, kind: str, text: str) -> str:
        content = [{"type": kind, "text": text}]
        return entry("response_item", {"type": "message", "role": role, "content": content})

    meta = {"id": name, "timestamp": "2026-10-30T10:00:00.000Z", "cwd": "/home/dev/app"}
    log.write_text(
        entry("session_meta", {**meta, "cli_version": "0.46.0", "originator": "codex_cli_rs"})
        + message("user", "input_text", "Fix the parser")
        + entry("event_msg", {"type": "user_message", "message": "Fix the parser"})
        + message("assistant", "output_text", "It is fixed."),
        encoding="utf-8",
    )
