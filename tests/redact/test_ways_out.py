"""Every output treats the same text alike: planted values leave by none."""

import json
from pathlib import Path
from random import Random

import pytest

from plait.settings import load_redactor
from tests.redact.letters import ALNUM, drawn
from tests.redact.ways_out import (
    PLACES,
    WAYS,
    Way,
    everywhere,
    exported,
    hooked,
    shared,
    spoken,
    traced,
    written,
)

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
    """Return an archive that holds the values wherever a log can."""
    root = tmp_path_factory.mktemp("planted")
    return written(root, everywhere(TEXT), TEXT, f"-home-{VALUES['home']}-shop")


@pytest.mark.parametrize("way", WAYS)
def test_no_planted_value_leaves(planted: Path, tmp_path: Path, way: str) -> None:
    found = WAYS[way](planted, tmp_path / "scratch").decode("utf-8", "replace")
    leaks = {name: context(found, value) for name, value in VALUES.items() if value in found}
    assert leaks == {}


def context(text: str, value: str) -> str:
    place = text.index(value)
    return text[max(0, place - 150) : place + 80]


WEAK = "seed: Fox99xq!"
STRICTLY: dict[str, Way] = {
    "md": exported("md", "--strict"),
    "html": exported("html", "--strict"),
    "jsonl": exported("jsonl", "--strict"),
    "share": shared("md", "&strict=yes"),
    "trace": traced("--strict"),
    "hook": hooked(lambda: load_redactor(None, strict=True)),
}


@pytest.mark.parametrize("way", STRICTLY)
def test_strict_applies_to_every_output(tmp_path: Path, way: str) -> None:
    root = written(tmp_path / "root", PLACES["prompt"](WEAK), "nothing")
    found = STRICTLY[way](root, tmp_path / "strict").decode("utf-8", "replace")
    assert "Fox99xq" not in found
    assert "suspected" in found
    if way in WAYS:
        assert "Fox99xq" in WAYS[way](root, tmp_path / "usual").decode("utf-8", "replace")


def test_export_report_lists_what_cannot_be_recognised(tmp_path: Path) -> None:
    root = written(tmp_path / "root", PLACES["prompt"](TEXT), TEXT)
    told = exported("md", "--strict")(root, tmp_path)
    assert b"lists what redaction can miss" in b" ".join(told.split())
    report = json.loads((tmp_path / "out" / "redaction-report.json").read_bytes())
    assert [*report["looked_for"]][-1] == "strict"
    assert any("images" in one for one in report["not_recognised"])
    assert not any(value in json.dumps(report) for value in VALUES.values())


@pytest.mark.parametrize("way", ["redact", "md", "html", "json", "jsonl", "trace", "hook"])
def test_test_detects_leaks(tmp_path: Path, way: str) -> None:
    harmless = "a word that is nobodys secret"
    root = written(tmp_path, [*PLACES["prompt"](harmless), spoken("user", "x")], harmless)
    assert harmless in WAYS[way](root, tmp_path / "scratch").decode("utf-8", "replace")
