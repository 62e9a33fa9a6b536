"""Every command on a session of every agent works, or says why not."""

import json
from pathlib import Path

import pytest

from plait.cli.app import run
from tests.sources.builders import write_lines
from tests.sources.lines import LINES
from tests.sources.test_opencode import Store

WORKING = """
    ls | show latest | show latest --json | log latest | tree latest
    paths latest | search hello | usage | usage agent | usage --by agent,month --json | stats
    why latest | waste | insights | redact latest --check | doctor | resume latest | handoff latest
    standup | trace show latest | cat latest | cat latest --translation | files latest | keep latest
    star latest | recall hello | ls --agent {agent} | lake build --to {out}/lake
"""
EXPORTS = "md html txt json jsonl atif toolpath".split()
REFUSED = """
    context latest --as sdk | trim latest | compress latest --keep-last 1 | clone latest
    rename latest title | repair latest
"""


def write_log(agent: str, folder: Path) -> None:
    """Write a session of an agent."""
    if agent == "opencode":
        store = Store(folder / "opencode")
        store.session("ses_1")
        store.turn("ses_1", 1_790_000_000_000, "hello", "hi")
        store.base.commit()
        store.base.close()
        return
    name, lines = LINES[agent]
    write_lines(folder / name, lines)


def words_of(text: str, agent: str, out: Path) -> list[list[str]]:
    """Return the commands of a list."""
    lines = text.strip().replace("\n", "|").split("|")
    return [line.format(agent=agent, out=out).split() for line in lines]


@pytest.mark.parametrize("agent", [*LINES, "opencode"])
def test_every_command(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write_log(agent, tmp_path / "logs")
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "own" / name))
    monkeypatch.chdir(tmp_path)
    root = ["--root", str(tmp_path / "logs")]
    commands = words_of(WORKING, agent, tmp_path)
    commands += [
        ["export", "latest", "--format", name, "-o", str(tmp_path / name)] for name in EXPORTS
    ]
    if agent != "copilot":
        commands.append(["context", "latest"])
    failed = {}
    for words in commands:
        code = run([*words, *root])
        printed = capfd.readouterr()
        if code not in (0, 1) or "error:" in printed.err:
            failed[" ".join(words)] = printed.err
    assert failed == {}
    for words in words_of(REFUSED, agent, tmp_path):
        assert run([*words, *root]) in (1, 2), words
        (sentence, *hints) = capfd.readouterr().err.splitlines()
        assert agent in sentence and all(line.startswith("hint:") for line in hints[:1]), words
    assert run(["ls", "--json", *root]) == 0
    (row,) = json.loads(capfd.readouterr().out)
    assert row["agent"] == agent
