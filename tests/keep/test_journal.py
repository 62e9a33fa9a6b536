"""Journal lines: read back, torn, damaged, compacted."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from plait.store import KeptFile
from plait.store.journal import Forgotten, Journal, JournalState, decode_line, encode_line

ONE = KeptFile(
    root="/home/me/.claude",
    path="projects/p/one.jsonl",
    project="p",
    session="one",
    kind="session",
    size=3,
    sha256="a" * 64,
    modified=5,
    kept="2026-01-01T00:00:00.000000Z",
    blocks=("a" * 64,),
)
TWO = replace(ONE, path="projects/p/two.jsonl", session="two", kept="2026-01-02T00:00:00.000000Z")
GROWN = replace(ONE, sha256="b" * 64, grew_from="a" * 64, kept="2026-01-03T00:00:00.000000Z")
ANEW = replace(ONE, sha256="c" * 64, kept="2026-01-04T00:00:00.000000Z")
FORGET = Forgotten(root=ONE.root, path=ONE.path, size=3, modified=5, kept=GROWN.kept)


def states_of(*lines: KeptFile | Forgotten) -> JournalState:
    states = JournalState()
    for line in lines:
        states.add(line)
    return states


def test_a_line_of_the_journal_decodes_to_its_value() -> None:
    for line in (ONE, GROWN, FORGET, replace(ONE, path='ü\n\\"', mark="incomplete")):
        assert decode_line(encode_line(line)[:-1]) == line


@given(st.integers(0, len(encode_line(ONE)) - 2), st.integers(1, 255))
def test_any_changed_byte_of_a_line_is_noticed(place: int, by: int) -> None:
    line = bytearray(encode_line(ONE)[:-1])
    line[place] ^= by
    assert decode_line(bytes(line)) is None


def test_a_grown_state_replaces_the_earlier_one() -> None:
    assert states_of(ONE, GROWN).files[ONE.key] == [GROWN]
    assert states_of(ONE, ANEW).files[ONE.key] == [ONE, ANEW]
    assert states_of(ONE, replace(ONE, modified=6)).files[ONE.key] == [replace(ONE, modified=6)]


def test_an_imported_state_is_ordered_by_time() -> None:
    assert states_of(ANEW, ONE).files[ONE.key] == [ONE, ANEW]


def test_a_forgotten_file_can_be_added_again() -> None:
    states = states_of(ONE, TWO, FORGET)
    assert [*states.files] == [TWO.key]
    assert states.forgotten == {ONE.key: FORGET}
    states.add(ANEW)
    assert (states.files[ONE.key], states.forgotten) == ([ANEW], {})


def test_a_truncated_line_is_removed_by_the_next_one(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add([ONE], JournalState())
    with journal.path.open("ab") as file:
        file.write(encode_line(TWO)[:-5])
    states = journal.read()
    assert [*states.iter_states()] == [ONE]
    journal.add([ANEW], states)
    assert journal.path.read_bytes() == encode_line(ONE) + encode_line(ANEW)
    assert journal.read() == states


@given(st.data())
def test_a_damaged_journal_is_read_from_its_copy(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder))
        states = JournalState()
        journal.add([ONE, TWO], states)
        journal.add([GROWN], states)
        journal.add([ANEW, FORGET], states)
        whole = bytearray(journal.path.read_bytes())
        place = data.draw(st.integers(0, len(whole) - 2))
        whole[place] = data.draw(st.sampled_from([10, 0, whole[place] ^ 1]))
        is_damaged = bytes(whole) != journal.path.read_bytes()
        journal.path.write_bytes(whole)
        found = journal.read()
        assert (found.files, found.forgotten) == (states.files, states.forgotten)
        assert (bool(found.damaged), found.lost) == (is_damaged, [])


def test_a_missing_journal_is_read_from_its_copy(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add([ONE], states := JournalState())
    journal.add([TWO], states)
    journal.path.unlink()
    assert journal.read().files == states.files


def test_a_stale_or_truncated_copy_is_rebuilt(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add([ONE], states := JournalState())
    lagging = journal.copy.path.read_bytes()
    journal.add([TWO], states)
    for torn in (lagging, lagging[:-3], b"", b"nonsense"):
        journal.copy.path.write_bytes(torn)
        journal.add([ANEW], states)
        assert journal.copy.read() == journal.path.read_bytes()


def test_a_line_is_lost_only_if_its_copy_is_damaged_too(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add([ONE], states := JournalState())
    journal.add([TWO], states)
    journal.path.write_bytes(b"x" + journal.path.read_bytes()[1:])
    copy = bytearray(journal.copy.path.read_bytes())
    copy[40] ^= 255
    journal.copy.path.write_bytes(copy)
    found = journal.read()
    assert ([*found.iter_states()], found.damaged, found.lost) == ([TWO], [1], [1])


def test_a_shortened_journal_has_the_same_content(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add([ONE, TWO, GROWN, ANEW], states := JournalState())
    before = journal.path.stat().st_size
    journal.rewrite(states)
    assert journal.path.stat().st_size < before
    assert journal.read() == states
    assert journal.copy.read() == journal.path.read_bytes()


def test_a_journal_is_rewritten_when_most_of_it_is_outdated() -> None:
    states = states_of(ONE)
    states.complete_bytes = 10_000
    assert not states.is_wordy
    states.complete_bytes = 100_000
    assert states.is_wordy
