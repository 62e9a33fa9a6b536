"""Reading a conversation: turns, branches, search, folding, mouse, live growth."""

import json
from pathlib import Path

from plait.tui.screens import ReaderScreen
from tests.tui.ui import Screen, run_ui

REWIND = "e15389d1"


async def read(screen: Screen, text: str) -> ReaderScreen:
    """Read the only session that is listed."""
    await screen.wait_for("1 session of")
    await screen.press("enter")
    await screen.wait_for(text)
    reader = screen.app.screen
    assert isinstance(reader, ReaderScreen)
    return reader


def test_turns(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await read(screen, "turn 1")
        await screen.press("home", "j")
        await screen.wait_for("turn 1 of")
        await screen.press("j")
        await screen.wait_for("turn 2 of")
        await screen.press("k")
        await screen.wait_for("turn 1 of")
        await screen.press("escape")
        await screen.wait_for("1 session of 20")

    run_ui(root, scenario, query="4,000")


def test_branches(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        reader = await read(screen, "branch 1 of 2")
        await screen.press("right_square_bracket")
        await screen.wait_for("branch 2 of 2", "abandoned")
        assert reader.record is not None
        await screen.press("left_square_bracket")
        await screen.wait_for("branch 1 of 2")

    run_ui(root, scenario, query="4,000")


def test_search_in_a_conversation(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        reader = await read(screen, "turn 1")
        await screen.press("home", "slash")
        await screen.type("limit")
        await screen.press("enter")
        await screen.wait_for("“limit”: ")
        places = reader.view.matches
        assert len(places) > 2
        await screen.press("n", "N", "n")
        assert reader.view.top in places

    run_ui(root, scenario, query="project:shop try-redis")


def test_turn_unfolds_and_folds(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        reader = await read(screen, "turn 2")
        folded = len(reader.view.lines)
        await screen.press("home", "j", "o")
        await screen.wait_for("An endless loop in the emphasis parser")
        assert len(reader.view.lines) > folded
        await screen.press("o")
        await screen.wait_for("turn 1", without="An endless loop")
        assert len(reader.view.lines) == folded

    run_ui(root, scenario, query="unclosed emphasis")


def test_mouse_selects_and_opens(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.pilot.click("SessionList", offset=(6, 2))
        await screen.wait_for("7d5638b0")
        await screen.pilot.click("SessionList", offset=(6, 2), times=2)
        await screen.wait_for("What changed since v1.3?")

    run_ui(root, scenario)


def test_new_turns_and_sessions_appear(root: Path) -> None:
    log = next(root.rglob("d8144d28*.jsonl"))

    async def scenario(screen: Screen) -> None:
        await read(screen, "turn 1")
        last = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
        records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        prompt = [entry for entry in records if entry.get("type") == "user"][-1]
        answer = [entry for entry in records if entry.get("type") == "assistant"][-1]
        added = prompt | {
            "uuid": "11111111-2222-4333-8444-555555555555",
            "parentUuid": answer["uuid"],
            "timestamp": "2026-10-31T10:00:00.000Z",
            "message": {"role": "user", "content": "A prompt that was typed elsewhere"},
        }
        assert last
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(added) + "\n")
        await screen.wait_for("of 3")
        await screen.press("end")
        await screen.wait_for("A prompt that was typed elsewhere")
        other = log.with_name("99999999-2222-4333-8444-555555555555.jsonl")
        text = log.read_text(encoding="utf-8").replace(log.stem, other.stem)
        other.write_text(text, encoding="utf-8")
        await screen.press("escape", "escape")
        await screen.wait_for("21 sessions")

    run_ui(root, scenario, query="project:shop try-redis", is_live=True)


def test_opening_a_view_does_not_stop_loading(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04", "▌ Make headings")
        with screen.app.library.lock:  # nothing is read before both are open
            await screen.press("enter", "g")
        await screen.wait_for("Graph · ", "resumes here")
        await screen.press("escape")
        await screen.wait_for("turn 1 of 2", "▌ Make headings")

    run_ui(root, scenario)
