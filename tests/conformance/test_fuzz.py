"""Random shapes: deterministic per seed, and of every kind."""

import json
from collections import Counter
from pathlib import Path

from conformance.fuzz import MOODS, cases, drawn
from conformance.known import KNOWN, KNOWN_EDITS, explained
from conformance.model import Mark, Verdict
from conformance.strokes import STROKES
from plait.record import read


def test_seed_determines_the_case() -> None:
    assert [drawn(seed) for seed in range(30)] == [drawn(seed) for seed in range(30)]
    assert len({drawn(seed)[1] for seed in range(300)}) > 290


def test_profiles_alternate() -> None:
    assert Counter(drawn(seed)[0] for seed in range(30)) == dict.fromkeys(MOODS, 10)


def test_every_operation_is_in_a_profile() -> None:
    assert {kind for mood in MOODS.values() for kind in mood} == set(STROKES)


def test_shapes_are_of_every_kind(tmp_path: Path) -> None:
    types: Counter[str] = Counter()
    forks = 0
    for _, file in cases(300, 1, tmp_path):
        records = list(read(file))
        types.update(record.type or "" for record in records)
        parents = Counter(record.parent_uuid for record in records if record.parent_uuid)
        forks += any(count > 1 for count in parents.values())
    wanted = {"user", "assistant", "system", "attachment", "progress", "last-prompt"}
    assert wanted | {"from-the-future"} <= set(types)
    assert forks > 100


def test_lines_match_the_clients_form() -> None:
    for seed in range(50):
        for line in drawn(seed)[1].splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # a torn one, by intention
            assert json.dumps(entry, separators=(",", ":"), ensure_ascii=False).encode() == line


def test_known_shapes_are_of_the_default_run(tmp_path: Path) -> None:
    names = {name for name, _ in cases(300, 1, tmp_path)}
    assert set(KNOWN) <= names
    edited = [name.split(" ", 2)[1:] for name in KNOWN_EDITS]
    assert {name for group, name in edited if group == "fuzz"} <= names
    examples = Path(__file__).resolve().parents[2] / "examples" / "resume"
    assert all((examples / name).is_dir() for group, name in edited if group == "examples")


def test_known_differences_are_explained() -> None:
    same, other = Mark.EQUAL, Mark.DIFFERENT
    known = explained(Verdict("fuzz", "edges 31", same, other, same))
    assert (known.leaf, known.messages, known.is_equal) == (Mark.EXPLAINED, same, True)
    assert known.why
    new = Verdict("fuzz", "edges 32", same, other, same)
    assert explained(new) == new
