"""Billing data stored in the index counts as the bills do."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.conversation.usage import Ledger, Origin
from plait.record.billing import iter_bills
from plait.usage.index_rows import pack_bills, unpack_bills

times = st.sampled_from(
    ("2026-11-02T09:00:01.000Z", "2026-11-02T09:00:02.000Z", "2026-11-02T10:00Z", 1762074000, None)
)
billed = st.fixed_dictionaries(
    {
        "type": st.sampled_from((*["assistant"] * 5, "user", "cost-state")),
        "uuid": st.integers(0, 9).map("u{}".format),
        "timestamp": st.one_of(*[times] * 3, st.just("no time")),
        "sessionId": st.sampled_from(("one", "one", "one", "two", None)),
        "requestId": st.sampled_from((None, "r1", "r2")),
        "isSidechain": st.booleans(),
        "agentId": st.sampled_from((None, "a1")),
        "costUSD": st.sampled_from((None, 0.5)),
        "totalCostUSD": st.sampled_from((None, 2.5)),
        "forkedFrom": st.sampled_from((None, None, {"sessionId": "two"})),
        "id": st.sampled_from((None, "m1", "m1", "m2", "m3")),
        "model": st.sampled_from(("x", "x", "x", "y", "<synthetic>", None)),
        "output": st.sampled_from((1, 1, 2, 3, None, "4")),
    }
)


def line_of(row: dict[str, Any]) -> bytes:
    """Return a line of a log."""
    message = {
        "id": row.pop("id"),
        "model": row.pop("model"),
        "role": "assistant",
        "usage": {"input_tokens": 3, "output_tokens": row.pop("output")},
    }
    return json.dumps({**row, "message": message}).encode()


@given(st.lists(st.lists(billed, max_size=12), min_size=1, max_size=3), st.booleans())
def test_totals_from_stored_usage_are_equal(
    drawn: list[list[dict[str, Any]]], is_glued: bool
) -> None:
    plain, kept = Ledger(), Ledger()
    with TemporaryDirectory() as place:
        for number, rows in enumerate(drawn):
            path = Path(place) / f"{number}.jsonl"
            path.write_bytes((b"" if is_glued else b"\n").join(map(line_of, rows)))
            origin = Origin(("one", "two", "one")[number], "p", "agent" if number == 2 else "main")
            plain.add(origin, iter_bills(path))
            found = unpack_bills(pack_bills(path, "session"))
            kept.add(origin, zip(found.lines, found.bills, strict=True))
    assert list(kept.drafts) == list(plain.drafts)
    assert list(kept.responses()) == list(plain.responses())
    assert kept.client_costs == plain.client_costs


def test_equal_lines_are_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(b"\n".join(line_of(dict(ROW, uuid=f"u{place}")) for place in range(5)))
    found = unpack_bills(pack_bills(path, "session"))
    assert found.lines == [1]
    assert found.bills[0].uuid == "u4"


ROW = {
    "type": "assistant",
    "timestamp": "2026-11-02T09:00:01.000Z",
    "sessionId": "one",
    "id": "m1",
    "model": "x",
    "output": 1,
}


LATER = "2026-11-02T09:00:02.000Z"


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        pytest.param({}, 1, id="the same"),
        pytest.param({"timestamp": LATER}, 1, id="later"),
        pytest.param({"output": 2}, 1, id="more output"),
        pytest.param({"output": 0}, 2, id="less output"),
        pytest.param({"timestamp": "2026-11-02T09:00:00.000Z"}, 2, id="the clock stepped back"),
        pytest.param({"timestamp": "2026-11-02T09:00:02Z"}, 2, id="times that do not compare"),
        pytest.param({"timestamp": 1762074002}, 2, id="a time that is a number"),
        pytest.param({"timestamp": None}, 2, id="no time"),
        pytest.param({"sessionId": "two"}, 2, id="of another session"),
        pytest.param({"forkedFrom": {"sessionId": "two"}}, 2, id="a copy"),
        pytest.param({"model": "y"}, 2, id="of another model"),
        pytest.param({"id": "m2"}, 2, id="another response"),
    ],
)
def test_lines_of_a_response_merged_in_storage(
    tmp_path: Path, change: dict[str, Any], kept: int
) -> None:
    path = tmp_path / "one.jsonl"
    rows = [dict(ROW, uuid="u1"), dict(ROW, uuid="u2") | change]
    path.write_bytes(b"\n".join(map(line_of, rows)))
    found = unpack_bills(pack_bills(path, "session"))
    assert found.lines == [1, 2][:kept]
    assert found.bills[0].timestamp == ROW["timestamp"]
    assert found.bills[-1].uuid == "u2"


def test_warm_up_agent_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "agent-a1.jsonl"
    path.write_bytes(b'{"type":"user","uuid":"u","message":{"role":"user","content":"Warmup"}}\n')
    assert unpack_bills(pack_bills(path, "agent")).is_warmup
    assert not unpack_bills(pack_bills(path, "session")).is_warmup
