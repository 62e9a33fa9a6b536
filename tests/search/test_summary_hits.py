"""A hit in a `summary` line leads to the session it summarises."""

from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.index.model import Hit

SESSION = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "A search box"
U1 "What would a first version look like?"
A1< "Two ways."
U2< "Take LIKE"
A2< "It is done."
"""


def found(root: Path, word: str, way: str) -> Hit:
    (hit,) = Archive([root], index=root / "index").search(word, way=way).hits
    return hit


# checklist: S33
@pytest.mark.parametrize("way", ["words", "exact"])
def test_summary_leads_to_its_session(tmp_path: Path, way: str) -> None:
    draw(SESSION).write(tmp_path / "projects")
    (log,) = tmp_path.rglob("*.jsonl")
    (leaf,) = (one.uuid for one in Archive([tmp_path]).sessions[0].turns[-1].items[1:])
    lone = log.with_name("lone.jsonl")
    lone.write_text(
        f'{{"type":"summary","summary":"about okapis","leafUuid":"{leaf}"}}\n'
        '{"type":"summary","summary":"about quaggas","leafUuid":"gone"}\n'
        '{"type":"summary","summary":"about gnus"}\n'
    )
    led = found(tmp_path, "okapis", way)
    assert (led.session, led.title, led.turn, led.uuid) == (log.stem, "A search box", 2, leaf)
    assert (Path(led.path), led.line, led.kind) == (lone, 1, "summary")
    for word in ("quaggas", "gnus"):
        stays = found(tmp_path, word, way)
        assert (stays.session, stays.uuid, Path(stays.path)) == ("lone", None, lone)


def test_summary_in_its_own_session_leads_to_the_turn(tmp_path: Path) -> None:
    draw(SESSION + 'summary "about okapis" leaf A1\n').write(tmp_path / "projects")
    assert found(tmp_path, "okapis", "words").turn == 1
