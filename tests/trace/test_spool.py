"""The spool on disk: atomic, ordered and bounded."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.trace import delivery as spool_module
from plait.trace.delivery import Spool
from tests.trace.made import ids, made, many


def waiting(spool: Spool) -> list[str]:
    return [name for _, batch in spool.batches() for name in ids(batch.spans)]


def test_batches_come_out_in_order(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    first, second = many(3), [made(7), made(5)]
    assert spool.add(first)
    assert spool.add(second)
    assert waiting(spool) == ids(first + second)
    assert [batch.spans for _, batch in spool.batches()] == [first, second]
    assert spool.count() == 5


def test_empty_spool(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "none")
    assert (waiting(spool), spool.count(), spool.size()) == ([], 0, 0)


def test_many_spans_are_split_into_accepted_batches(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add(many(spool_module.MAX_BATCH_SPANS + 1))
    assert [len(batch.spans) for _, batch in spool.batches()] == [spool_module.MAX_BATCH_SPANS, 1]


def test_long_spans_are_split_into_accepted_batches(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add(many(5, output="x" * (spool_module.MAX_BATCH_BYTES // 2)))
    assert [len(batch.spans) for _, batch in spool.batches()] == [1] * 5


def test_a_full_spool_refuses_spans_and_loses_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=2000)
    assert spool.add(many(3))
    assert not spool.add(many(50))
    assert waiting(spool) == ids(many(3))


def test_an_empty_spool_accepts_a_batch_above_its_limit(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=10)
    assert spool.add(many(2))
    assert not spool.add([made(3)])


def test_halves_keep_their_place_in_the_order(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add(many(5))
    spool.add([made(9)])
    path, batch = next(spool.batches())
    spool.split(path, batch)
    assert [ids(batch.spans) for _, batch in spool.batches()] == [
        ids(many(2)),
        ids(many(5)[2:]),
        [made(9).id],
    ]
    assert spool.count() == 6


def test_refused_batches_are_kept_with_their_reason(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add(many(2))
    path, batch = next(spool.batches())
    spool.refuse(path, batch, "401 Unauthorized")
    assert waiting(spool) == []
    [(_, refused)] = spool.refused_batches()
    assert (refused.reason, refused.spans) == ("401 Unauthorized", many(2))
    assert spool.retry_refused() == 1
    assert waiting(spool) == ids(many(2))
    assert not list(spool.refused_batches())


@pytest.mark.parametrize("name", [".00000-1-0000.1.batch.9.new", "00000.1.batch.tmp", "notes.txt"])
def test_unfinished_batches_are_not_listed(tmp_path: Path, name: str) -> None:
    spool = Spool(tmp_path)
    spool.add([made(1)])
    (spool.waiting / name).write_bytes(b"half of it")
    assert waiting(spool) == [made(1).id]


def test_an_unreadable_batch_does_not_block_others(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.add([made(1)])
    (spool.waiting / "00000000000000000001-1-0000.3.batch").write_bytes(b"\xc1 nonsense")
    assert waiting(spool) == [made(1).id]
    assert [path.suffix for path in sorted(spool.waiting.iterdir())] == [".broken", ".batch"]


@given(
    st.recursive(
        st.text() | st.integers() | st.none() | st.booleans() | st.just("\ud800 lone"),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_spans_of_any_log_can_be_stored(value: object) -> None:
    [(part, data)] = spool_module.split_into_batches([made(1, input=value)])
    assert msgspec.msgpack.decode(data, type=spool_module.Batch).spans == part
    assert part[0].id == made(1).id


def test_waiting_batches_are_private(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "trace")
    spool.add([made(1)])
    [path] = spool.waiting.iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert spool.waiting.stat().st_mode & 0o077 == 0
