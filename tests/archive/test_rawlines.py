"""Raw lines of a log: all of them, at their offsets, whatever they contain."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from plait.sessions.raw_lines import BLANK, BROKEN, MOST_KINDS, OTHER, survey_lines

LINES = st.lists(
    st.one_of(
        st.just(b'{"type":"user","uuid":"u1","timestamp":"2026-01-01T00:00:00Z"}'),
        st.just(b'{"type":"odd"}'),
        st.just(b""),
        st.just(b"  "),
        st.binary(max_size=40).map(lambda data: data.replace(b"\n", b" ")),
    ),
    max_size=12,
)


@given(lines=LINES, is_ended=st.booleans())
def test_lines_join_to_the_file(
    lines: list[bytes], is_ended: bool, tmp_path_factory: object
) -> None:
    path: Path = tmp_path_factory.mktemp("raw") / "a.jsonl"  # type: ignore[attr-defined]
    data = b"\n".join(lines) + (b"\n" if is_ended and lines else b"")
    path.write_bytes(data)
    found = survey_lines(path, len(data))
    shown = list(found.lines(found.numbers(None)))
    wanted = data.split(b"\n")[: len(found)]
    assert [item.text for item in shown] == [line.decode("utf-8", "replace") for line in wanted]
    assert [data[item.offset : item.offset + item.length] for item in shown] == wanted
    assert sum(found.counts.values()) == len(found) == len(shown)
    by_kind = [number for kind in found.names for number in found.numbers(kind)]
    assert sorted(by_kind) == list(found.numbers(None))
    assert set(found.broken) == set(found.numbers(BROKEN))


def test_later_lines_are_not_included(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type":"user"}\n{"type":"assistant"}\n')
    found = survey_lines(path, 16)
    assert len(found) == 1
    assert list(found.numbers("assistant")) == []


def test_many_types_are_grouped_as_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(b'{"type":"kind-%d"}\n' % number for number in range(500)))
    found = survey_lines(path, path.stat().st_size)
    assert len(found.names) == MOST_KINDS + 1
    assert found.counts[OTHER] == 500 - MOST_KINDS


def test_long_lines_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"type":"user","x":"é"}'.encode() + b" " * 5000 + b"\n\n")
    found = survey_lines(path, path.stat().st_size)
    first, second = found.lines([1, 2], most=20)
    assert first.text == '{"type":"user","x":"'
    assert first.length > 5000
    assert (second.type, second.text) == (BLANK, "")
