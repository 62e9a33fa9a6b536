"""Accounting identity over real logs."""

import re
from collections import Counter
from pathlib import Path

import pytest

from plait.graph import SessionGraph, build
from plait.line import discover
from plait.line.discovery import make_root
from plait.record.reader import read
from plait.record.types import get_content_blocks


@pytest.fixture(scope="module")
def archive(shared: Path) -> SessionGraph:
    """Return the graph of all real logs at once."""
    roots = [make_root(shared / "corpus"), make_root(shared / "produced")]
    return build(discover(roots).files)


@pytest.fixture(scope="module")
def folders(shared: Path) -> list[SessionGraph]:
    """Return a graph for each folder that holds sessions."""
    files = discover([make_root(shared / "corpus"), make_root(shared / "produced")]).files
    by_folder: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        by_folder.setdefault(str(file.path).partition("/subagents/")[0], []).append(number)
    return [build([files[number] for number in found]) for found in by_folder.values()]


def test_account_balances_for_every_session(archive: SessionGraph) -> None:
    assert archive.account.balanced
    assert [name for name, one in archive.accounts.items() if not one.balanced] == []
    assert archive.account.nodes > 15_000


def test_the_counts_of_every_file_balance(folders: list[SessionGraph]) -> None:
    assert all(graph.account.balanced for graph in folders)


def test_every_result_is_with_its_call_or_is_listed(archive: SessionGraph) -> None:
    codes = Counter(finding.code for finding in archive.findings)
    account = archive.account
    assert codes["result-away"] == 0
    assert account.tool_results - account.tool_results_reachable == codes["orphan-result"]
    assert codes["orphan-result"] < 10


def test_no_result_is_reported_as_orphan_if_a_file_has_its_call(
    shared: Path, archive: SessionGraph
) -> None:
    lost = {one.sentence.split()[2] for one in archive.findings if one.code == "orphan-result"}
    files = discover([make_root(shared / "corpus"), make_root(shared / "produced")]).files
    blocks = (
        block
        for file in files
        for record in read(file.path)
        if record.kind == "assistant"
        for block in get_content_blocks(record)
    )
    called = {block.get("id") for block in blocks if str(block.get("type")).endswith("tool_use")}
    assert lost and not lost & called


def test_no_session_falls_back_to_file_order(archive: SessionGraph) -> None:
    codes = {finding.code for finding in archive.findings}
    assert not codes & {"order", "tangled-lines", "cycle"}


def test_forks_are_rare_in_real_logs(archive: SessionGraph) -> None:
    rungs = archive.account.rungs
    assert rungs["rewind"] == 4  # two of them made by hand
    assert rungs["retracted"] + rungs["resent"] == 2
    assert rungs["compaction"] == 5
    assert "parallel" not in rungs and "replay" not in rungs


def test_agents_have_no_branches(archive: SessionGraph) -> None:
    for line in archive.lines.values():
        if line.kind == "branch":
            assert not archive.nodes[line.nodes[0]].is_sidechain


def test_every_record_is_on_one_line(archive: SessionGraph) -> None:
    assert len(archive.line_of) == len(archive.nodes)
    stood = sum(
        len(line.nodes) + sum(map(len, line.folded.values())) for line in archive.lines.values()
    )
    assert stood == len(archive.nodes)


def test_file_order_does_not_matter(shared: Path, archive: SessionGraph) -> None:
    files = discover([make_root(shared / "produced")]).files
    assert build(files) == build(list(reversed(files)))


def test_calls_of_orphan_results_are_in_no_file(shared: Path, archive: SessionGraph) -> None:
    """Searches every byte of the corpus, whether it is a log or not, for the lost calls."""
    lost = [one.sentence.split()[2] for one in archive.findings if one.code == "orphan-result"]
    assert len(lost) == len(set(lost)) == 5
    signs = {name: re.compile(rb'"id"\s*:\s*"' + name.encode() + rb'"') for name in lost}
    texts = [path.read_bytes() for path in (shared / "corpus").rglob("*") if path.is_file()]
    results = {name: sum(f'"{name}"'.encode() in text for text in texts) for name in lost}
    assert all(results.values())
    assert [name for name, sign in signs.items() if any(map(sign.search, texts))] == []
