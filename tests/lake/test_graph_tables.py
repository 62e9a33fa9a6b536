"""Rows of graph, logs and lines match what `doctor` counts, byte for byte."""

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples.drawing import draw
from plait.archive import Archive
from plait.conversation.prices import Prices
from plait.errors import SourceError
from plait.lake.rows import build_tables
from plait.lake.schema import TABLES, arrow_schema
from plait.record.counts import COUNTED, LogCounts
from tests.graph.generated import archives, lines_of
from tests.index.held import write_file
from tests.lake.units import lake_of, units_of

ACCOUNT = [name for name in COUNTED if name not in ("files", "bytes")]


def _sum(table: pa.Table, column: str) -> int:
    return sum(table[column].to_pylist())


def _rows(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))


def _check(archive: Archive) -> None:
    """Hold the rows of an archive against its files and against what `doctor` says."""
    lake = lake_of(archive)
    _check_schema(lake)
    _check_lines(archive, lake)
    account = _account_of(archive)
    _check_account(account, lake)
    _check_graph(archive, account, lake)


def _check_schema(lake: dict[str, pa.Table]) -> None:
    for name, table in lake.items():
        assert table.schema == arrow_schema(name)


def _check_lines(archive: Archive, lake: dict[str, pa.Table]) -> None:
    found: dict[str, bytes] = {}
    for file, data, is_ended in _rows(lake["raw"], "file", "data", "ended"):
        found[file] = found.get(file, b"") + data + (b"\n" if is_ended else b"")
    base = archive.roots[0].path
    for one in archive.files:
        assert found.pop(_name(one.path, base), b"") == one.path.read_bytes()
    assert not found


def _name(path: Path, base: Path) -> str:
    return path.name if path == base else path.relative_to(base).as_posix()


def _account_of(archive: Archive) -> LogCounts:
    account = LogCounts()
    for file, found in zip(archive.files, archive.accounts(), strict=True):
        account.take(found, file.path)
    return account


def _check_account(account: LogCounts, lake: dict[str, pa.Table]) -> None:
    logs = lake["logs"]
    assert (logs.num_rows, _sum(logs, "log_bytes")) == (account.files, account.bytes)
    assert {name: _sum(logs, name) for name in ACCOUNT} == {
        name: getattr(account, name) for name in ACCOUNT
    }
    assert lake["records"].num_rows == account.records
    assert Counter(lake["records"]["kind"].to_pylist()) == account.types
    sessions = lake["sessions"]
    assert (_sum(sessions, "log_lines"), _sum(sessions, "log_bytes")) == (
        account.lines,
        account.bytes,
    )


def _check_graph(archive: Archive, account: LogCounts, lake: dict[str, pa.Table]) -> None:
    graph = archive.graph()
    told = graph.account
    columns = "uuid repeated folded rung results".split()
    records = [dict(zip(columns, row, strict=True)) for row in _rows(lake["records"], *columns)]
    nodes = [row for row in records if row["uuid"] is not None and not row["repeated"]]
    assert len(nodes) == told.nodes
    assert sum(row["repeated"] for row in records) == told.copies
    assert sum(row["uuid"] is None for row in records) == told.loose
    assert Counter(row["folded"] for row in nodes if row["folded"]) == told.folded
    assert Counter(rung for row in nodes for rung in (row["rung"] or "").split()) == told.rungs
    assert sum(row["results"] for row in nodes) == told.tool_results
    assert _sum(lake["sessions"], "dag_lines") == told.dag_lines
    assert _sum(lake["sessions"], "branches") == told.branches
    codes = Counter(lake["findings"]["code"].to_pylist())
    assert codes == Counter(one.code for one in account.findings) + Counter(told.findings)
    assert codes["orphan-result"] + codes["result-away"] == told.tool_results_orphaned


EXAMPLES = sorted(
    path.name for path in (Path(__file__).parents[2] / "examples" / "gallery").iterdir()
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_rows_of_an_example_match_doctor(name: str, gallery: Path) -> None:
    _check(Archive([gallery / name]))


def test_rows_of_all_examples_match_doctor(gallery: Path) -> None:
    _check(Archive([gallery]))


def test_rows_of_real_logs_match_doctor(shared: Path) -> None:
    _check(Archive([shared / "corpus" / "claude-code-log"]))


@pytest.mark.long
@pytest.mark.parametrize("name", ["corpus", "client-sessions", "produced", "resume-cases"])
def test_rows_of_all_real_logs_match_doctor(name: str, shared: Path) -> None:
    _check(Archive([shared / name]))


def test_profile_has_its_tables(gallery: Path) -> None:
    archive = Archive([gallery / "rewind"])
    assert set(lake_of(archive)) <= set(TABLES)
    assert "raw" in lake_of(archive)
    assert "raw" not in lake_of(archive, "counts")


def test_sessions_that_share_records_have_rows_of_their_own(tmp_path: Path) -> None:
    lines = [_prompt(name, f"2026-11-02T09:00:0{at}.000Z") for at, name in enumerate("abcd")]
    write_file(tmp_path / "p" / "one.jsonl", b"".join(lines[:2]))
    write_file(tmp_path / "p" / "two.jsonl", b"".join(lines[:1] + lines[2:]))
    write_file(tmp_path / "p" / "zero.jsonl", lines[0])
    (unit,) = units_of(Archive([tmp_path]))
    lake = build_tables(unit, Prices())
    found = _rows(lake["records"], "session", "build", "file", "uuid", "repeated", "copies")
    builds = {one.id: build for one, build in zip(unit.sessions, unit.builds, strict=True)}
    assert [(row[1], row[2]) for row in found] == [
        (builds[row[0]], f"p/{row[0]}.jsonl") for row in found
    ]
    assert sorted(row[3] for row in found) == list("aaabcd")
    assert sorted((row[3], row[5]) for row in found if not row[4]) == [
        *(("a", 2), ("b", 0), ("c", 0), ("d", 0)),
    ]
    assert _rows(lake["sessions"], "session", "has_own") == [
        ("one", True),
        ("two", True),
        ("zero", False),
    ]
    assert set(lake["sessions"]["family"].to_pylist()) == {"one"}


def _prompt(uuid: str, time: str) -> bytes:
    fields = {"uuid": uuid, "parentUuid": None, "timestamp": time, "type": "user"}
    return json.dumps(fields | {"message": {"role": "user", "content": uuid}}).encode() + b"\n"


def test_a_rewind_is_on_an_inactive_branch(gallery: Path) -> None:
    lake = lake_of(Archive([gallery / "rewind"]))
    records = _rows(lake["records"], "branch_kind", "live", "rung", "edge")
    assert {row[:2] for row in records} == {("trunk", True), ("branch", False)}
    assert [row for row in records if row[2]] == [("trunk", True, "rewind", "parent")]


def test_fork_explained_by_two_rules_names_both(tmp_path: Path) -> None:
    draw("U1 A2<U1 U3<A2 A4<U3 U5<A2 U6<A2 A7<U6").write(tmp_path)
    found = _rows(lake_of(Archive([tmp_path]))["records"], "rung", "folded")
    assert [rung for rung, _ in found if rung] == ["rewind", "retracted rewind"]
    assert [folded for _, folded in found if folded] == ["retracted"]


def test_records_off_the_chain_have_a_branch_and_no_uuid(tmp_path: Path) -> None:
    note = b'{"type":"mode","mode":"plan","sessionId":"s"}\n'
    prompt = b'{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"x"}}'
    write_file(tmp_path / "p" / "s.jsonl", note + prompt + b"\n" + note)
    write_file(tmp_path / "p" / "t.jsonl", note)
    found = _rows(lake_of(Archive([tmp_path]))["records"], "file", "line", "uuid", "branch", "host")
    assert sorted(found, key=lambda row: row[:2]) == [
        ("p/s.jsonl", 1, None, "s", None),
        ("p/s.jsonl", 2, "u", "s", None),
        ("p/s.jsonl", 3, None, "s", None),
        ("p/t.jsonl", 1, None, None, None),
    ]


def test_findings_name_files_relative_to_the_root(tmp_path: Path) -> None:
    line = b'{"type":"user","uuid":"u","sessionId":"%s","message":{"role":"user","content":"%s"}}\n'
    write_file(tmp_path / "p" / "a.jsonl", line % (b"a", b"x"))
    write_file(tmp_path / "q" / "b.jsonl", line % (b"b", b"y"))
    columns = ("code", "session", "file", "sentence")
    found = _rows(lake_of(Archive([tmp_path]))["findings"], *columns)
    assert ("other-content", "b", "q/b.jsonl") in [row[:3] for row in found]
    assert all(str(tmp_path) not in sentence for *_, sentence in found)
    assert any("'p/a.jsonl'" in sentence for *_, sentence in found)


def test_a_file_is_read_up_to_its_size_when_found(tmp_path: Path) -> None:
    write_file(tmp_path / "p" / "s.jsonl", b'{"type":"mode","mode":"plan"}\n{"type"')
    archive = Archive([tmp_path])
    assert archive.sessions
    with (tmp_path / "p" / "s.jsonl").open("ab") as file:
        file.write(b':"mode"}\n')
    lake = lake_of(archive)
    assert _rows(lake["raw"], "data", "ended")[1] == (b'{"type"', False)
    assert _rows(lake["logs"], "lines", "records", "broken", "log_bytes") == [(2, 1, 1, 37)]


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "p" / "s.jsonl"
    write_file(path, b'{"type":"mode"}\n')
    (unit,) = units_of(Archive([tmp_path]))
    path.unlink()
    with pytest.raises(SourceError, match="no such file"):
        build_tables(unit, Prices())


def test_single_file_root_has_its_name(tmp_path: Path) -> None:
    write_file(tmp_path / "s.jsonl", b'{"type":"mode"}\n')
    lake = lake_of(Archive([tmp_path / "s.jsonl"]))
    assert _rows(lake["logs"], "file") == [("s.jsonl",)]


@pytest.mark.parametrize(
    ("stamp", "month"),
    [
        ("2026-11-30T23:59:59.999Z", "2026-11"),
        ("2026-12-01T01:00:00+02:00", "2026-11"),
        ("later", "none"),
    ],
)
def test_month_is_that_of_the_first_timestamp(stamp: str, month: str, tmp_path: Path) -> None:
    line = f'{{"type":"mode","timestamp":"{stamp}"}}\n{{"type":"mode"}}\n'
    write_file(tmp_path / "p" / "s.jsonl", line.encode())
    lake = lake_of(Archive([tmp_path]))
    assert {month} == {row for table in lake.values() for row in table["month"].to_pylist()}


ODD = (b"", b"   ", b'{"type":"user","mess', b"null", b"\0\0\0", b"\xff\xfe", b'{"a":1}{"b":2}')


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(archives, st.lists(st.sampled_from(ODD), max_size=4), st.booleans(), st.integers(0, 40))
def test_rows_of_any_logs_match_doctor(
    drawn: dict[str, list[dict[str, Any]]], odd: list[bytes], is_torn: bool, cut: int
) -> None:
    with TemporaryDirectory() as place:
        for path, found in drawn.items():
            held = [*lines_of(path, found), *odd]
            data = b"".join(line + b"\n" for line in held)
            write_file(Path(place, path), data[: len(data) - cut] if is_torn else data)
        _check(Archive([place]))
