"""The accounting of files, their inventory, and unknown content."""

import json
import random
from pathlib import Path

import pytest

from bench.generate import generate
from plait.line import Line, iter_lines
from plait.record import Blank, Broken, Record, entries
from plait.record.counts import Drift, LogCounts, count_content
from plait.record.reader import parse_record
from plait.record.types import RECORD_CLASSES


def logs(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.jsonl"))


def assert_nothing_lost(path: Path) -> None:
    data = path.read_bytes()
    pieces = []
    for entry in entries(iter_lines(path)):
        line = entry.raw if isinstance(entry, Record) else entry.line.data
        pieces.append(line)
        if isinstance(entry, Record):
            _ = entry.fields, entry.message, entry.text
    assert b"\n".join(pieces) in (data, data.removesuffix(b"\n"))
    account = LogCounts()
    account.add_file(path)
    assert account.is_balanced


@pytest.mark.parametrize("part", ["corpus", "produced", "resume-cases"])
def test_real_logs_lose_nothing_and_keep_their_bytes(shared: Path, part: str) -> None:
    paths = logs(shared / part)
    assert paths
    for path in paths:
        assert_nothing_lost(path)


def test_real_logs_contain_little_unknown(shared: Path) -> None:
    account = LogCounts()
    for part in ("corpus", "produced"):
        for path in logs(shared / part):
            account.add_file(path)
    assert account.records > 17_000
    assert account.drift.counts == {}


def test_own_logs_contain_nothing_unknown(gallery: Path, tmp_path: Path) -> None:
    generate(tmp_path, 1_000_000, seed=7)
    account = LogCounts()
    for path in (*logs(gallery), *logs(tmp_path)):
        if "unknown-record" not in path.parts:
            account.add_file(path)
    assert account.records > 500
    assert account.drift.counts == {}


def test_every_field_seen_so_far_is_known() -> None:
    account = LogCounts()
    account.add_file(Path(__file__).with_name("known_lines.jsonl"))
    assert set(account.types) == set(RECORD_CLASSES)
    assert account.drift.counts == {}


def test_the_gallery_loses_nothing(gallery: Path) -> None:
    paths = logs(gallery)
    assert paths
    for path in paths:
        assert_nothing_lost(path)


def test_generated_archives_lose_nothing(tmp_path: Path) -> None:
    generate(tmp_path, 3_000_000, seed=5)
    paths = logs(tmp_path)
    assert len(paths) > 3
    for path in paths:
        assert_nothing_lost(path)


def test_account_of_all_kinds_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"type":"user","version":"2.1.325"}\r\n'
        b"\n"
        b'{"type":"user"}{"type":"user"}\n'
        b"[]\n"
        b'{"type":"new-thing"}\n'
        b'{"type":"assistant","mess'
    )
    account = LogCounts()
    account.add_file(path)
    assert (account.lines, account.records, account.blank, account.broken) == (6, 2, 1, 3)
    assert account.is_balanced
    assert account.recovered == 2
    assert account.types == {"user": 1, "new-thing": 1}
    assert account.versions == {"2.1.325": 1}
    assert account.drift.counts == {"types": {"new-thing": 1}}
    assert [str(finding).removeprefix(f"{path}:") for finding in account.findings] == [
        "3: 2 records glued together; 2 recovered",
        "4: not an object: a JSON array",
        "6: truncated: the line does not end",
    ]


def test_account_missing_a_line_does_not_balance(tmp_path: Path) -> None:
    account = LogCounts(lines=1)
    assert not account.is_balanced
    account.add(Blank(next(iter_lines(written(tmp_path, b"\n")))), tmp_path)
    assert account.is_balanced


def written(folder: Path, data: bytes) -> Path:
    path = folder / "x.jsonl"
    path.write_bytes(data)
    return path


def test_drift_counts_every_unknown_thing() -> None:
    drift = Drift()
    for fields in (
        {"type": "user", "brandNew": 1, "message": {"content": [{"type": "hologram"}], "aura": 1}},
        {"type": "user", "toolUseResult": {"weird": 1, "form": 2}},
        {"type": "system", "subtype": "eclipse"},
        {"type": "attachment", "attachment": {"type": "smell"}},
        {"type": "attachment", "attachment": {"type": "date", "date": "d", "moon": 1}},
        {"type": "progress", "data": {"type": "dance"}},
        {"type": "assistant", "message": {"usage": {"joules": 5}}},
        {"type": "never-seen"},
        {"type": "never-seen"},
    ):
        drift.add(parse_record(json.dumps(fields).encode()))
    assert drift.counts == {
        "fields": {"user.brandNew": 1, "message.aura": 1, "date.moon": 1, "usage.joules": 1},
        "blocks": {"hologram": 1},
        "results": {"form weird": 1},
        "subtypes": {"eclipse": 1},
        "attachments": {"smell": 1},
        "progress": {"dance": 1},
        "types": {"never-seen": 2},
    }


# checklist: F2, F10, F11, F12, F13, F41
def test_inventory_of_a_session(tmp_path: Path) -> None:
    def answer(version: str, kind: str, stop: str | None) -> dict[str, object]:
        message = {"content": [{"type": kind}], "stop_reason": stop}
        return {"type": "assistant", "version": version, "message": message}

    path = tmp_path / "s.jsonl"
    entries_ = [
        {"type": "user", "version": "2.0.37", "message": {"content": "please"}},
        answer("2.0.37", "thinking", None),
        answer("2.0.42", "tool_use", "tool_use"),
        {"type": "user", "version": "2.0.42", "message": {"content": [{"type": "tool_result"}]}},
        answer("2.0.42", "text", "end_turn"),
        {
            "type": "user",
            "version": "2.0.42",
            "message": {"content": "<bash-input>ls</bash-input>"},
        },
        {"type": "file-history-snapshot"},
        {"type": "summary"},
        {"type": "queue-operation"},
        {"type": "system", "version": "2.0.42"},
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries_) + "\n")
    held = count_content(path)
    assert (held.lines, held.human_turns, held.tool_calls) == (11, 1, 1)
    assert held.versions == {"2.0.37": 2, "2.0.42": 5}
    assert held.types == {
        "user": 3,
        "assistant": 3,
        "file-history-snapshot": 1,
        "summary": 1,
        "queue-operation": 1,
        "system": 1,
    }
    assert held.stop_reasons == {"null": 1, "tool_use": 1, "end_turn": 1}
    assert held.blocks == {"thinking": 1, "tool_use": 1, "text": 1, "tool_result": 1}


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the data after a few cuts, copies, swaps and wrong bytes."""
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
        match chance.randrange(6):
            case 0:
                data = data[:at] + data[to:]
            case 1:
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 2:
                data = data[:at] + data[at:to] * 2 + data[to:]
            case 3:
                data = data[:at] + chance.choice(AWKWARD) + data[at:]
            case 4:
                data = data[to:] + data[:at]
            case _:
                data = data[:at] + data[at:to][::-1] + data[to:]
        data = data or b"\n"
    return data


AWKWARD = (
    *(b"}{", b"\n", b"\r\n", b"\0" * 8, b'"', b"\\", b"\xff", b"\xed\xa0\x80", b"NaN", b"{" * 9),
    *(b"\\ud800", b"null", b"1e999", b"\xef\xbb\xbf", b',"uuid":7', b"[" * 30),
)


def seeds(gallery: Path) -> list[bytes]:
    return [path.read_bytes()[:6000] for path in logs(gallery)]


def assert_mutants_lose_nothing(gallery: Path, folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    sources = seeds(gallery)
    path = folder / "mutant.jsonl"
    for _ in range(count):
        path.write_bytes(mutated(chance.choice(sources), chance))
        assert_nothing_lost(path)


def test_mutated_files_lose_nothing(gallery: Path, tmp_path: Path) -> None:
    assert_mutants_lose_nothing(gallery, tmp_path, 300, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_mutated_files_lose_nothing_at_length(gallery: Path, tmp_path: Path, seed: int) -> None:
    assert_mutants_lose_nothing(gallery, tmp_path, 1250, seed)


def assert_mutated_lines_are_read(gallery: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    whole = [line for data in seeds(gallery) for line in data.split(b"\n") if line]
    for _ in range(count):
        data = mutated(chance.choice(whole)[:2000], chance).replace(b"\n", b" ")
        (entry,) = entries([Line(1, 0, data, True)])
        if isinstance(entry, Record):
            assert entry.raw == data
            for name in ("fields", "message", "text", "time", "block_heads", "kind"):
                getattr(entry, name)
            Drift().add(entry)
        else:
            assert entry.line.data == data
            assert isinstance(entry, Blank | Broken)


def test_mutated_lines_are_read(gallery: Path) -> None:
    assert_mutated_lines_are_read(gallery, 3000, seed=2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(9))
def test_mutated_lines_are_read_at_length(gallery: Path, seed: int) -> None:
    assert_mutated_lines_are_read(gallery, 10_000, seed)
