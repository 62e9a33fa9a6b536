"""Titles and texts that try to control the terminal or break the layout."""

import json
import unicodedata
from pathlib import Path

from rich.cells import cell_len

from plait.tui.widgets import Field
from tests.tui.ui import Screen, run_ui

COMMANDS = "\x1b]0;taken\x07\x1b[2J\x1b[31mred\x1b]52;c;cHduZWQ=\x1b\\\x9b5m\x08\x7f\r\u202e\u2066"
WIDE = "漢字かな交じり文 👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0301\u0301 \u200b\u200d\ufeff\u00ad ｆｕｌｌ"
LONG = "word漢\x1b[5m " * 9_000


def make_hostile(root: Path) -> None:
    """Give one session a title, a prompt and an answer that no screen expects."""
    log = next(root.rglob("b4bc37f8*.jsonl"))
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    texts = iter([COMMANDS + WIDE + " prompt", LONG])
    answers = iter([LONG, COMMANDS + WIDE * 20 + " answer"])
    for record in records:
        message = record.get("message", {})
        if record["type"] == "user" and isinstance(message.get("content"), str):
            message["content"] = next(texts, "more")
        for block in message.get("content", []) if record["type"] == "assistant" else []:
            if block["type"] == "text":
                block["text"] = next(answers, "more")
    session = {"type": "custom-title", "sessionId": log.stem}
    records.append(session | {"customTitle": f"{COMMANDS}{WIDE} title"})
    log.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def check_screen(screen: Screen) -> None:
    """Check that each line fills the screen exactly, and that it has nothing but printable text."""
    width, height = screen.app.size
    strips = screen.app.screen._compositor.render_strips(screen.app.size)
    assert len(strips) == height
    for strip in strips:
        text = "".join(part.text for part in strip)
        assert cell_len(text) == width, text
        odd = {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs")}
        assert not odd, text
        assert not any(part.control for part in strip)
        assert not any(part.style and part.style.link for part in strip)


def test_hostile_texts_stay_in_place(root: Path) -> None:
    make_hostile(root)

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("20 sessions", "漢字か")
        await screen.wait_for("b4bc37f8-6ddb", "─── 1 ", without="reading…")
        check_screen(screen)
        await screen.press("enter")
        await screen.wait_for("o Unfold", "漢字か", without="reading…")
        check_screen(screen)
        await screen.press("home", "o")
        await screen.wait_for("漢字か", without="reading…")
        check_screen(screen)
        await screen.press("end")
        check_screen(screen)
        for key, name in (("g", "Graph"), ("t", "Timeline"), ("c", "Context"), ("u", "Usage")):
            await screen.press(key)
            await screen.wait_for(f"{name} · ", without="reading…")
            check_screen(screen)
        await screen.press("escape", "escape", "f")
        await screen.wait_for("y or enter: fork")
        check_screen(screen)
        await screen.press("escape", "R")
        await screen.wait_for("New title of")
        check_screen(screen)
        await screen.press("escape", "m")
        await screen.wait_for("★ ", "starred: b4bc37f8")
        check_screen(screen)

    run_ui(root, scenario)


def test_hostile_filter_and_its_hits(root: Path) -> None:
    make_hostile(root)

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("1 session of 20", "漢")
        check_screen(screen)
        await screen.press("slash")
        screen.app.main.query_one(Field).insert_text_at_cursor(COMMANDS + WIDE)
        await screen.pilot.pause(0.3)
        check_screen(screen)

    run_ui(root, scenario, query="漢字")
