"""`plait lake sql` and `plait lake ask` over a lake on disk."""

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from plait.cli.app import run
from plait.lake.store import Lake
from tests.lake.small import DAY, SmallLake

ROWS = SmallLake(
    sessions=[
        {"session": "a", "person": "ann", "project": "shop", "title": "=HYPERLINK(1)"},
        {"session": "b", "person": "bob", "project": "site", "title": "two\x1b]0;x\x07\nlines"},
    ],
    responses=[
        {"session": "a", "project": "shop", "model": "opus", "output": 1200, "cost_usd": 1.25},
        {"session": "b", "project": "site", "model": "opus", "output": 30, "cost_usd": None},
    ],
    turns=[{"session": "a", "started": DAY}],
    raw=[{"session": "a", "data": b'{"a": "\xc3\xa9"}'}],
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a lake of two sessions on the disk."""
    url = str(tmp_path_factory.mktemp("lake"))
    made = Lake.create(url, "full")
    made.commit([made.write(ROWS.tables)])
    return url


@pytest.fixture(autouse=True)
def chosen(lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has commands ask this lake."""
    monkeypatch.setenv("PLAIT_LAKE", lake)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["lake", *words]) == 0
    return capsys.readouterr().out


def test_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "sql", "SELECT session, output, cost_usd FROM responses ORDER BY 1")
    assert out.splitlines() == [
        "session  output  cost_usd",
        "a         1,200      1.25",
        "b            30          ",
    ]


def test_too_many_columns_are_printed_vertically(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = printed(capsys, "sql", "SELECT * FROM sessions WHERE session = 'a'").splitlines()
    assert "session      a" in out and "person       ann" in out and "has_own      yes" in out


def test_narrow_tables_cut_texts_not_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = ", ".join(f"1234567890 AS number_{n}" for n in range(5))
    sql = f"SELECT repeat('word ', 20) AS words, {figures}"
    head, row = printed(capsys, "sql", sql).splitlines()
    assert len(row) <= 100 and row.count("1,234,567,890") == 5
    assert row.startswith("word word word") and "…" in row
    assert head.split() == ["words", *(f"number_{n}" for n in range(5))]


def test_figures_that_do_not_fit_are_printed_vertically(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = ", ".join(f"1234567890 AS number_{n}" for n in range(7))
    out = printed(capsys, "sql", f"SELECT {figures}").splitlines()
    assert out[0] == "number_0  1,234,567,890" and len(out) == 8


def test_values_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("table", "csv", "json"):
        out = printed(capsys, "sql", "SELECT title FROM sessions", "--format", form)
        assert "\x1b" not in out and "\x07" not in out


def test_csv_is_safe_for_spreadsheets(capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT title, started IS NULL AS n, 1.5 AS x FROM sessions ORDER BY session"
    rows = list(csv.reader(io.StringIO(printed(capsys, "sql", sql, "-f", "csv"))))
    assert rows[:2] == [["title", "n", "x"], ["'=HYPERLINK(1)", "True", "1.5"]]
    assert rows[2][0].startswith("two")


def test_json_by_either_option(capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT started AS t, turn FROM turns"
    out = printed(capsys, "sql", sql, "--json")
    assert json.loads(out) == {
        "columns": ["t", "turn"],
        "rows": [{"t": "2026-11-02T09:00:00Z", "turn": 0}],
    }
    assert printed(capsys, "sql", sql, "--format", "json") == out


def test_bytes_are_printed_as_text_in_text_formats(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "sql", "SELECT data FROM raw", "--json")
    assert json.loads(out)["rows"] == [{"data": '{"a": "é"}'}]


def test_parquet_to_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "out.parquet"
    printed(capsys, "sql", "SELECT data FROM raw", "-f", "parquet", "-o", str(file))
    assert pq.read_table(file).to_pylist() == [{"data": b'{"a": "\xc3\xa9"}'}]
    assert [item.name for item in tmp_path.iterdir()] == ["out.parquet"]


def test_failed_query_keeps_an_existing_output_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "out.csv"
    file.write_text("mine")
    late = "SELECT CAST(title AS INT) FROM sessions"
    assert run(["lake", "sql", late, "-f", "csv", "-o", str(file)]) == 2
    assert file.read_text() == "mine" and [*tmp_path.iterdir()] == [file]


def test_query_from_stdin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 7 AS n"))
    assert json.loads(printed(capsys, "sql", "-", "--json"))["rows"] == [{"n": 7}]


def test_a_saved_question(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "ask", "cost", "by=person", "--json")
    assert [(row["heading"], row["cost_usd"]) for row in json.loads(out)["rows"]] == [
        ("ann", 1.25),
        ("bob", 0.0),
    ]


def test_saved_queries_are_listed_with_own_ones(
    capsys: pytest.CaptureFixture[str], nobodys_home: Path
) -> None:
    own = nobodys_home / "config" / "plait" / "questions.toml"
    own.parent.mkdir(parents=True)
    own.write_text(
        '[mine]\nasks = "how many"\nsql = "SELECT $n AS n"\nparameters.n = {default = "4"}'
    )
    listed = json.loads(printed(capsys, "ask", "--json"))["questions"]
    assert [item["name"] for item in listed if item["is_own"]] == ["mine"]
    assert listed[-1]["parameters"][0]["default"] == "4"
    assert "mine  (your own)" in printed(capsys, "ask")
    assert printed(capsys, "ask", "mine", "--sql") == "SELECT $n AS n\n"
    assert json.loads(printed(capsys, "ask", "mine", "n=5", "--json"))["rows"] == [{"n": "5"}]


WRONG = {
    ("ask", "costs"): "no query named 'costs'",
    ("ask", "cost", "by"): "'by' is not of the form PARAMETER=VALUE",
    ("ask", "cost", "by=model", "by=person"): "'by' is given twice",
    ("ask", "cost", "since=soon"): "'soon' is not a time",
    ("sql", "SELECT 1", "-o", "x"): "a table cannot be written to a file",
    ("sql", "SELECT 1", "-f", "csv", "-o", "/nowhere/x"): "cannot write '/nowhere/x'",
    ("sql", "SELECT 1", "--lake", "/nowhere"): "no lake at '/nowhere'",
}


@pytest.mark.parametrize("words", WRONG)
def test_refused_queries(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lake", *words]) in (2, 3)
    assert WRONG[words] in capsys.readouterr().err


def test_no_lake(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAIT_LAKE")
    assert run(["lake", "sql", "SELECT 1"]) == 2
    assert "no lake given" in capsys.readouterr().err
