"""Generated archives: size, bytes and shapes."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.generate import Archive, generate, main, parse_size

SIZE = 3_000_000
SHAPES = {
    "agent",
    "attachment",
    "compaction",
    "parallel",
    "progress",
    "prompt",
    "queue-operation",
    "response",
    "result",
    "resumed",
    "retracted",
    "rewind",
    "thinking",
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return generate(tmp_path_factory.mktemp("archive"), SIZE, seed=7)


def files(out: Path) -> list[Path]:
    """Return all logs of an archive."""
    return sorted(out.rglob("*.jsonl"))


def records(out: Path) -> Iterator[dict[str, Any]]:
    """Yield all lines of an archive."""
    for path in files(out):
        for line in path.read_bytes().splitlines():
            yield json.loads(line)


def contents(out: Path) -> dict[str, bytes]:
    """Return the bytes of an archive, by path."""
    found = (path for path in out.rglob("*") if path.is_file())
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in found}


def test_size_is_as_requested(archive: Archive) -> None:
    size = sum(path.stat().st_size for path in files(archive.out))
    assert size == archive.size
    assert abs(size - SIZE) < SIZE * 0.05
    assert len(files(archive.out)) == archive.files


def test_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        generate(tmp_path / name, 300_000, seed)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") != contents(tmp_path / "c")


def test_every_line_has_the_clients_form(archive: Archive) -> None:
    for path in files(archive.out):
        for line in path.read_bytes().split(b"\n")[:-1]:
            again = json.dumps(json.loads(line), separators=(",", ":"), ensure_ascii=False)
            assert again.encode() == line


def test_every_parent_precedes_its_child(archive: Archive) -> None:
    for path in files(archive.out):
        seen: set[str | None] = {None}
        for line in path.read_bytes().splitlines():
            record = json.loads(line)
            if "uuid" in record:
                assert record["parentUuid"] in seen
                seen.add(record["uuid"])


def test_every_shape_is_generated(archive: Archive) -> None:
    assert set(archive.shapes) == SHAPES
    assert all(archive.shapes.values())


def test_line_types_and_versions(archive: Archive) -> None:
    types = Counter(record["type"] for record in records(archive.out))
    assert set(types) >= {
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
        "summary",
        "ai-title",
        "last-prompt",
        "queue-operation",
        "file-history-snapshot",
    }
    for record in records(archive.out):
        if record["type"] == "progress":
            assert tuple(map(int, record["version"].split("."))) < (2, 1, 92)
    assert len({r["version"] for r in records(archive.out) if "version" in r}) >= 5


def test_responses_span_lines_and_results_repeat(archive: Archive) -> None:
    messages: Counter[str] = Counter()
    sizes = []
    for record in records(archive.out):
        if record["type"] == "assistant":
            messages[record["message"]["id"]] += 1
            assert len(record["message"]["content"]) == 1
        elif isinstance(record.get("toolUseResult"), dict):
            content = record["message"]["content"][0]["content"]
            sizes.append(len(content))
            stdout = record["toolUseResult"].get("stdout", content)
            assert stdout == content
    assert max(messages.values()) >= 3
    assert max(sizes) > 10_000


def test_sub_agents_are_in_their_sessions_folder(archive: Archive) -> None:
    agents = list(archive.out.glob("projects/*/*/subagents/agent-*.jsonl"))
    assert agents
    calls = {
        block["id"]
        for record in records(archive.out)
        if record["type"] == "assistant"
        for block in record["message"]["content"]
        if block["type"] == "tool_use"
    }
    for path in agents:
        meta = json.loads(path.with_suffix(".meta.json").read_text(encoding="utf-8"))
        assert meta["toolUseId"] in calls
        first = json.loads(path.read_bytes().splitlines()[0])
        assert (first["isSidechain"], first["parentUuid"]) == (True, None)
        assert first["sessionId"] == path.parent.parent.name


def test_resumed_sessions_repeat_uuids(archive: Archive) -> None:
    counts: Counter[str] = Counter(r["uuid"] for r in records(archive.out) if "uuid" in r)
    assert max(counts.values()) == 2


def test_many_small_files(tmp_path: Path) -> None:
    archive = generate(tmp_path, 2_400_000, seed=1, files=120)
    assert len(list(tmp_path.glob("projects/*/*.jsonl"))) == 120
    assert abs(archive.size - 2_400_000) < 2_400_000 * 0.05


@pytest.mark.parametrize(
    ("text", "size"),
    [("1000", 1000), ("5KB", 5000), ("100MB", 10**8), ("1.5GB", 1_500_000_000), ("2g", 2 * 10**9)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


def test_invalid_size() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="'lots' is not a size such as 100MB"):
        parse_size("lots")


def test_command_reports_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--size", "200KB", "--seed", "3"]) == 0
    assert "files, 0.2 MB: " in capsys.readouterr().out
