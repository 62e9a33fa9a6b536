"""Every way out gives the same for the same text: what is planted anywhere leaves by none."""

from pathlib import Path
from random import Random

import pytest

from tests.redact.letters import ALNUM, drawn
from tests.redact.ways_out import PLACES, WAYS, everywhere, spoken, written

RNG = Random(11)
VALUES = {
    "token": "gh" + "p_" + drawn(RNG, ALNUM, 36),
    "key": "AK" + "IA" + drawn(RNG, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
    "address": "wilhelmina.quist@" + "mailbox.example.org",
    "home": "wilhelmq",
}
TEXT = f"see {VALUES['token']} and {VALUES['key']} of {VALUES['address']} in /home/wilhelmq/notes"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns an archive that holds the values wherever a log can."""
    root = tmp_path_factory.mktemp("planted")
    return written(root, everywhere(TEXT), TEXT, f"-home-{VALUES['home']}-shop")


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_is_planted_leaves(planted: Path, tmp_path: Path, way: str) -> None:
    found = WAYS[way](planted, tmp_path / "scratch").decode("utf-8", "replace")
    leaks = {name: context(found, value) for name, value in VALUES.items() if value in found}
    assert leaks == {}


def context(text: str, value: str) -> str:
    place = text.index(value)
    return text[max(0, place - 150) : place + 80]


@pytest.mark.parametrize("way", ["redact", "md", "html", "json", "jsonl", "trace"])
def test_the_test_would_see_it(tmp_path: Path, way: str) -> None:
    harmless = "a word that is nobodys secret"
    root = written(tmp_path, [*PLACES["prompt"](harmless), spoken("user", "x")], harmless)
    assert harmless in WAYS[way](root, tmp_path / "scratch").decode("utf-8", "replace")
