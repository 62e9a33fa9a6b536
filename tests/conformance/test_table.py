"""The table of verdicts, and the report of format drift."""

from pathlib import Path

from conformance.drift import account_of, page
from conformance.install import JUDGES
from conformance.model import EditVerdict, Mark, Outcome, Skipped, Verdict
from conformance.table import table

SAME, OTHER = Mark.EQUAL, Mark.DIFFERENT


def outcome(*rows: Verdict | EditVerdict | Skipped) -> Outcome:
    return Outcome("2.1.325", list(rows), 12.3)


TABLE = """\
| group    | scenario         | resumed | leaf    | messages  | full | SDK | list | account |
| -------- | ---------------- | ------- | ------- | --------- | ---- | --- | ---- | ------- |
| produced | rewind           | =       | =       | =         | =    | =   | =    | =       |
| produced | all 1            | 1/1     | 1/1     | 1/1       | 1/1  | 1/1 | 1/1  | 1/1     |
| fuzz     | edges 2          | =       | DIFFERS | explained | -    | -   | -    | -       |
| fuzz     | all 2            | 2/2     | 1/2     | 1 + 1/2   | -    | -   | -    | -       |
| corpus   | skipped: no logs | -       | -       | -         | -    | -   | -    | -       |

fuzz, edges 2: nobody writes that
skipped: corpus: no logs
client 2.1.325: 2 sessions read alike, 0 explained, 1 different, 12 s"""


def test_table_sums_groups_and_lists_differences() -> None:
    found = outcome(
        Verdict("produced", "rewind", SAME, SAME, SAME, SAME, SAME, SAME, SAME),
        Verdict("fuzz", "tools 1", SAME, SAME, SAME),
        Verdict("fuzz", "edges 2", SAME, OTHER, Mark.EXPLAINED, why="nobody writes that"),
        Skipped("corpus", "no logs"),
    )
    assert table(found) == TABLE


EDITS = """\
| edits    | scenario | clone   | switch  |
| -------- | -------- | ------- | ------- |
| examples | rewind   | DIFFERS | -       |
| examples | all 2    | 1/2     | 0 + 1/1 |
| fuzz     | all 1    | 1/1     | -       |

examples, rewind: clone: messages differs
examples, fork: switch: declined: it has gone
client 2.1.325: 2 edits hold, 1 explained, 1 different, 12 s"""


def test_every_operation_is_a_column() -> None:
    found = outcome(
        edits("examples", "rewind", OTHER, Mark.NOT_ASKED, "clone: messages differs"),
        edits("examples", "fork", SAME, Mark.EXPLAINED, "switch: declined: it has gone"),
        edits("fuzz", "tools 1", SAME, Mark.NOT_ASKED),
    )
    assert table(found) == EDITS
    assert len(found.differences) == 1


def test_both_tables_are_on_one_page() -> None:
    found = outcome(
        Verdict("fuzz", "tools 1", SAME, SAME, SAME),
        edits("fuzz", "tools 1", SAME, SAME),
    )
    lines = table(found).splitlines()
    assert [line.split(" ")[1] for line in lines if line.startswith("|")] == [
        "group", "-----", "fuzz", "edits", "-----", "fuzz",
    ]  # fmt: skip
    assert lines[-1].startswith(
        "client 2.1.325: 1 sessions read alike, 0 explained, 0 different; 2 edits"
    )


def edits(group: str, name: str, clone: Mark, switch: Mark, why: str = "") -> EditVerdict:
    return EditVerdict(group, name, {"clone": clone, "switch": switch}, why)


def test_skipped_row_counts_as_equal() -> None:
    assert Verdict("fuzz", "tools 1", SAME, SAME, SAME).is_equal
    assert not Verdict("fuzz", "tools 1", SAME, SAME, SAME, sdk=OTHER).is_equal
    assert not Verdict("fuzz", "tools 1", SAME, SAME, SAME, full=OTHER).is_equal


def test_drift_lists_new_content(tmp_path: Path) -> None:
    line = b'{"type":"from-the-future","sessionId":"s"}\n'
    (tmp_path / "a.jsonl").write_bytes(line + b'{"type":"mode","mode":"normal","depth":3}\n')
    found = outcome(
        Verdict("produced", "rewind", SAME, OTHER, SAME),
        Verdict("produced", "fork", SAME, SAME, SAME),
    )
    text = page(found, account_of(tmp_path))
    assert "1 files with 2 lines" in text
    assert "- New types of lines: `from-the-future` (1)" in text
    assert "- New fields: `mode.depth` (1)" in text
    assert "- Changed behaviour in produced, rewind: leaf" in text


def test_no_drift_is_reported(tmp_path: Path) -> None:
    text = page(outcome(Verdict("produced", "fork", SAME, SAME, SAME)), account_of(tmp_path))
    assert "Nothing new" in text
    assert "Behaviour as before: 1 sessions read alike." in text


def test_drift_page_names_the_version_source(tmp_path: Path) -> None:
    main, second = list(JUDGES)[:2]
    words = {version: page(Outcome(version), account_of(tmp_path)) for version in (main, second)}
    assert "This version is the main judge." in words[main]
    assert "This version is the second judge." in words[second]
    newest = page(Outcome("9.9.9"), account_of(tmp_path))
    assert f"not among those that the rules were checked with ({main}, {second})" in newest
