"""Randomly broken sessions: every command ends without a traceback."""

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run
from tests.hostile.archive import SESSION, WORD, conversation, linked
from tests.hostile.conftest import rounds

COMMANDS = (
    ["show", "--depth", "all"],
    ["log"],
    ["context"],
    ["resume"],
    ["paths"],
    ["trace", "show"],
    ["export", "-f", "md", "-o", "-", "--depth", "all"],
    ["export", "-f", "json", "-o", "-"],
    ["export", "-f", "html", "-o", "site"],
    ["export", "-f", "jsonl", "-o", "records"],
    ["export", "--turn", "1"],
)
OVER_ALL = (["ls"], ["tree"], ["stats"], ["usage"], ["doctor"], ["search", "again"])
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e308,
    10**30,
    "",
    WORD,
    "\ud800",
    "\0",
    [],
    {},
    [[]],
    {"": {}},
    "../../x",
    "9999-99-99T99:99:99Z",
    "0000-00-00",
)


def broken(rng: random.Random) -> Iterator[bytes]:
    """Yield the lines of a session, some of them not as they should be."""
    for line in linked(conversation("a word"), SESSION, "x"):
        value: Any = json.loads(json.dumps(line))
        for _ in range(rng.choice((0, 0, 1, 2))):
            spoil(value, rng)
        data = json.dumps(value).encode()
        if rng.random() < 0.03:
            data = data[: rng.randrange(len(data))]
        if rng.random() < 0.01:
            data = b'{"type":"user","message":' + b"[" * 5000 + b"]" * 5000 + b"}"
        yield data + rng.choice((b"\n", b"\n", b"\n", b"\r\n", b"\n\n"))


def spoil(value: dict[str, Any], rng: random.Random) -> None:
    """Put something odd somewhere into a value."""
    place: Any = value
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.6:
            place = place[key]
            continue
        if isinstance(place, dict) and rng.random() < 0.2:
            del place[key]
        else:
            place[key] = deepcopy(rng.choice(ODD))  # else one is put into itself
        return


@pytest.mark.parametrize("seed", range(rounds(2, 538)))
def test_broken_sessions(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    seed: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)
    folder = tmp_path / "root" / "projects" / "-srv-x"
    (folder / SESSION / "subagents").mkdir(parents=True)
    log = folder / f"{SESSION}.jsonl"
    log.write_bytes(b"".join(broken(rng)))
    agent = folder / SESSION / "subagents" / "agent-a1.jsonl"
    agent.write_bytes(b"".join(broken(rng)))
    agent.with_suffix(".meta.json").write_text(json.dumps(rng.choice(ODD)))
    for words in COMMANDS:
        code = run([*words, str(log), *(("--force",) if "site" in words else ())])
        assert code in (0, 1, 2, 3), words
    for words in OVER_ALL:
        assert run([*words, "--root", str(tmp_path / "root")]) in (0, 1, 2), words
    assert "Traceback" not in "".join(capfd.readouterr())
