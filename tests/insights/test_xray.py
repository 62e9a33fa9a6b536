"""What filled each request, by kind."""

import json
from pathlib import Path

from plait.archive import Archive
from plait.insights.xray import XrayColumn, build_xray
from plait.record.billing import iter_sent_lines
from tests.insights.cached_session import SYSTEM, CachedSession
from tests.insights.test_losses import Working


def columns(talk: CachedSession, folder: Path) -> tuple[XrayColumn, ...]:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in talk.lines), encoding="utf-8")
    return build_xray(iter_sent_lines(path), [talk.lines[-1]["uuid"]])


def test_results_and_calls_fill_the_next_request(tmp_path: Path) -> None:
    talk = Working()
    talk.ask()
    talk.call("Bash", {"command": "ls"}, "x" * 4000)
    talk.call("Agent", {"description": "look"}, "y" * 8000)
    first, second, third = columns(talk, tmp_path)
    assert first.fills == {"system": SYSTEM + 40}
    assert 900 < second.fills["results"] < 1100
    assert "reports" not in second.fills
    assert 1800 < third.fills["reports"] < 2200
    assert third.fills["results"] == second.fills["results"]


def test_compaction_drops_the_context(tmp_path: Path) -> None:
    talk = Working()
    talk.ask()
    talk.call("Bash", {"command": "ls"}, "x" * 40_000)
    talk.compact()
    talk.lines[-1]["message"] = {"role": "user", "content": "all that was said"}
    talk.ask()
    *_, before, after = columns(talk, tmp_path)
    assert (before.is_compacted, after.is_compacted) == (False, True)
    assert sum(after.fills.values()) < sum(before.fills.values()) / 5
    assert "results" not in after.fills
    assert after.fills["summary"] > 0


def test_preserved_messages_fill_the_context_after_a_compaction(tmp_path: Path) -> None:
    talk = Working()
    talk.ask()
    talk.call("Bash", {"command": "cat"}, "x" * 40_000)
    talk.ask()
    talk.call("Agent", {"description": "look"}, "y" * 8000)
    talk.compact(preserved=4)
    talk.ask()
    after = columns(talk, tmp_path)[-1]
    assert after.is_compacted
    assert "results" not in after.fills
    assert 1800 < after.fills["reports"] < 2600
    assert after.fills["system"] < SYSTEM + 200


def test_reduction_is_proportional(tmp_path: Path) -> None:
    talk = Working()
    talk.ask()
    talk.call("Bash", {"command": "ls"}, "x" * 4000)
    talk.pieces = talk.pieces[3:]
    talk.ask()
    *_, before, after = columns(talk, tmp_path)
    assert sum(after.fills.values()) < sum(before.fills.values())
    assert after.fills.keys() == before.fills.keys()


def test_only_own_history_is_shown(tmp_path: Path) -> None:
    talk = Working()
    talk.ask()
    talk.ask(words=900)
    talk.go_back(1)
    talk.ask()
    assert len(columns(talk, tmp_path)) == 2


def test_kinds_add_up_in_real_logs(shared: Path) -> None:
    archive, seen = Archive([shared / "corpus"]), 0
    for session in archive.sessions:
        if session.file is None or session.file.size > 3_000_000:
            continue
        chain = archive.resumption(session).context.chain
        for item in build_xray(iter_sent_lines(session.file.path), chain):
            parts = item.parts
            read = parts.read + parts.new + parts.again + parts.uncached
            assert sum(item.fills.values()) == read
            assert min(item.fills.values(), default=0) >= 0
            seen += 1
    assert seen > 1500
