"""`plait cat` and raw lines show what the agent wrote."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from plait.cli.app import run
from plait.line.compression import zstd
from plait.sources.originals import find_original, iter_originals
from tests.sources.builders import CodexLog, open_archive
from tests.sources.test_gemini import HEADER, TALK
from tests.sources.test_opencode import Store


def cat(capfd: pytest.CaptureFixture[str], root: Path, *words: str) -> list[str]:
    """Return the lines that `plait cat` prints."""
    capfd.readouterr()
    assert run(["cat", *words, "--root", str(root)]) == 0
    return capfd.readouterr().out.splitlines()


def test_cat_prints_the_agents_own_lines(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = CodexLog().prompt("one").answer("1").write(tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    root = tmp_path / ".codex"
    assert cat(capfd, root, "latest") == lines
    assert cat(capfd, root, "latest", "--line", "3") == lines[2:3]
    translated = [json.loads(line) for line in cat(capfd, root, "latest", "--translation")]
    prompt = next(line for line in translated if line["type"] == "user")
    assert prompt["sourceLine"] == 3
    assert cat(capfd, root, "latest", "--uuid", prompt["uuid"]) == lines[2:3]


def test_compressed_log_is_printed_uncompressed(tmp_path: Path) -> None:
    path = CodexLog().prompt("one").answer("1").write(tmp_path)
    data = path.read_bytes()
    path.with_name(f"{path.name}.zst").write_bytes(zstd.compress(data))
    path.unlink()
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert session.origin is not None
    lines = [*iter_originals(session.origin)]
    assert b"\n".join(line.data for line in lines) + b"\n" == data
    assert [line.offset for line in lines][:2] == [0, data.index(b"\n") + 1]


def test_inherited_line_is_read_from_its_file(tmp_path: Path) -> None:
    first = CodexLog(1).prompt("one").answer("1")
    place = first.write(tmp_path)
    base = {"thread_id": first.id, "end_byte_offset": place.stat().st_size}
    CodexLog(2, history_base=base).prompt("two").answer("2").write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    fork = next(session for session in archive.sessions if session.id != first.id)
    archive.open(fork)
    lines = [json.loads(line) for line in fork.path.read_bytes().splitlines()]
    prompt = next(line for line in lines if line["type"] == "user")
    assert fork.origin is not None
    found = find_original(fork.origin, prompt)
    assert found is not None and found.data == place.read_bytes().splitlines()[2]


def test_rows_of_a_database_and_messages_of_a_document(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        store.turn("ses_1", 1_790_000_000_000, "one", "1")
        base.commit()
    rows = [json.loads(line) for line in cat(capfd, tmp_path / "opencode", "ses_1")]
    assert [row.get("id") for row in rows][:2] == ["ses_1", "msg_0001"]
    assert {row.get("text") for row in rows} >= {"one", "1"}
    chats = tmp_path / "logs/tmp/p/chats"
    chats.mkdir(parents=True)
    (chats / "session-2026-10-01T10-00-g.json").write_text(json.dumps(HEADER | {"messages": TALK}))
    rows = [json.loads(line) for line in cat(capfd, tmp_path / "logs", "g")]
    assert rows[1:] == TALK
