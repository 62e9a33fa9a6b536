"""`plait search` on real files: what it finds, how it says so, what it says when it cannot."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.cli.app import run

TALK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
custom-title "Gift cards"
U1 "The total of the gift card is wrong"
A1< think "Perhaps the rounding" + "I will look." + Read(file_path="/home/dev/shop/cart.py")
R1< "def total_of(items): return 0"
A2< "It returns zero (always)."
U2< "Use getUserName there"
A3< "Done, 使用git提交代码 too."
U3<A2 "Mend it then"
A4< Bash(command="pytest -q tests/test_cart.py")
R4< "3 passed"
A5< "Mended."
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    draw(TALK).write(tmp_path / "logs")
    return tmp_path / "logs"


def searched(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(["search", "--root", str(root), "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("rounding", ["thinking"]),
        ("gift", ["title", "prompt"]),
        ("total gift", ["prompt"]),
        ('"card is wrong"', ["prompt"]),
        ('"wrong is card"', []),
        ("roundi*", ["thinking"]),
        ("roumding~", ["thinking"]),
        ("*ounding*", ["thinking"]),
        ("mended OR rounding", ["answer", "thinking"]),
        ("total NOT items", ["prompt"]),
        ("total -items", ["prompt"]),
        ("(rounding OR mended) AND (perhaps OR done)", ["thinking"]),
        ("tool:Bash passed", ["output"]),
        ("tool:bash in:input pytest", ["input"]),
        ("total in:prompt", ["prompt"]),
        ("total before:2026-01", []),
        ("rounding after:2026-11-01", ["thinking"]),
        ("file:cart.py def", ["output"]),
        ("branch:abandoned in:prompt", ["prompt"]),
        ("项目 OR 提交", ["answer"]),
        ("git", ["answer"]),
        ("UserName", ["prompt"]),
        ("project:logs zero", ["answer"]),
        ("total_of", ["prompt"]),
    ],
)
def test_queries_find_passages(
    root: Path, capsys: pytest.CaptureFixture[str], query: str, kinds: list[str]
) -> None:
    project = next(root.rglob("*.jsonl")).parent.name
    found = searched(root, capsys, query.replace("project:logs", f"project:{project}"))
    assert sorted(hit["kind"] for hit in found["hits"]) == sorted(kinds)


def test_a_hit_says_where_it_stands(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = searched(root, capsys, "passed")
    [hit] = found["hits"]
    assert hit["turn"] == 2
    assert hit["state"] == "active"
    assert hit["snippet"] == "3 passed"
    assert hit["marks"] == [[2, 8]]
    assert hit["title"] == "Gift cards"
    assert hit["uuid"] and hit["time"].startswith("2026-11-02T09:00")
    assert hit["open"] == f"plait show {hit['session'][:8]} --turn 2"
    assert found["total"] == 1
    assert found["facets"]["tool"] == {"Bash": 1}
    assert found["facets"]["month"] == {"2026-11": 1}


def test_the_answers_of_one_turn_are_one_hit(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = searched(root, capsys, "pytest OR passed OR mended")
    assert len(found["hits"]) == 1
    assert found["hits"][0]["more"] == 2
    assert found["total"] == 3


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("--exact", "zero (always)"), 1),
        (("--exact", "Zero (always)"), 0),
        (("--regex", r"zero \(al\w+\)"), 1),
        (("--regex", r"(?i)ZERO"), 1),
        (("--regex", r"def \w+\("), 1),
        (("--exact", "total", "--in", "prompt"), 1),
        (("--exact", "total", "--tool", "Read"), 1),
    ],
)
def test_texts_and_expressions_are_found_in_the_logs(
    root: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], count: int
) -> None:
    found = searched(root, capsys, *words)
    assert found["by"] == "scan"
    assert len(found["hits"]) == count


def test_what_people_read_fits_the_page(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "--root", str(root), "zero", "--context", "1"]) == 0
    out = capsys.readouterr().out
    session = next(root.rglob("*.jsonl")).stem[:8]
    assert out.splitlines() == [
        f"Gift cards  {session} · home-dev-shop",
        "  answer · turn 1 · " + out.splitlines()[1].partition("turn 1 · ")[2],
        "    It returns zero (always).",
        "",
        "1 turn",
    ]
    assert out.splitlines()[1].endswith(f"plait show {session} --turn 1")
    assert max(map(len, out.splitlines())) <= 100


def test_the_first_hit_can_be_opened(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "--root", str(root), "pytest", "--open"]) == 0
    out = capsys.readouterr().out
    assert "Mend it then" in out
    assert "The total of the gift card" not in out


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("tol:Bash x", "no field is called 'tol'"),
        ("tool:Bsh", "no tool is called 'Bsh'"),
        ("in:nowhere", "no passage is of kind 'nowhere'"),
        ("branch:green", "no branch is 'green'"),
        ("project:nobody", "no project is called 'nobody'"),
        ("session:zzz", "no session starts with 'zzz'"),
        ("before:soon", "'soon' is not a time"),
        ('"open', "a quote is not closed"),
        ("(a", "a parenthesis is not closed"),
        ("a)", "a parenthesis closes that never opened"),
        ("a OR", "something is missing beside an operator"),
        ("=>", "'=>' holds no word that is indexed"),
        ("tool:", "'tool:' has no value"),
    ],
)
def test_wrong_queries_are_explained(
    root: Path, capsys: pytest.CaptureFixture[str], query: str, error: str
) -> None:
    assert run(["search", "--root", str(root), query]) == 2
    said = capsys.readouterr().err
    assert error in said
    assert "hint: " in said


def test_a_wrong_expression_is_explained(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "--root", str(root), "--regex", "(a"]) == 2
    assert "'(a' is not a regular expression" in capsys.readouterr().err


def test_without_an_index_the_logs_answer(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file where the cache should be")
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(tmp_path / "taken"))
    found = searched(root, capsys, "zero returns")
    assert [(hit["snippet"], hit["turn"]) for hit in found["hits"]] == [
        ("It returns zero (always).", None)
    ]
    assert found["note"]
    assert run(["search", "--root", str(root), "zero", "--tool", "Read"]) == 3
    assert "cannot write the index" in capsys.readouterr().err


def test_a_full_disk_is_an_error_and_not_a_loss(root: Path, tmp_path: Path) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    done = subprocess.run(
        [sys.executable, "-m", "plait", "index", "--root", str(root)],
        env={"PLAIT_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)},
        preexec_fn=little,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("error: cannot use the index")
    assert "Traceback" not in done.stderr


def test_hostile_words_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw('file x\nU1 "beware $(esc)[31mred\\ud800 words"\nA1< "ok"').write(tmp_path)
    assert run(["search", "--root", str(tmp_path), "beware"]) == 0
    assert "\x1b" not in capsys.readouterr().out
