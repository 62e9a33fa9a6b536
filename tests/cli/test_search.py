"""`plait search` on real files: hits, wording, and empty results."""

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
        ("gift", ["prompt"]),
        ("cards", ["title"]),
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
        ("NOT total", ["answer", "prompt", "prompt"]),
        ('"total gift"', []),
        ('"total gift"~3', ["prompt"]),
        ('"card is wro"*', ["prompt"]),
        ("tests/test_cart.py", ["input"]),
        ("test_cart.py -q", []),
        ("交", ["answer"]),
        ("🎉 zero", ["answer"]),
        ("zero " * 200, ["answer"]),
        ("localhost:8080", []),
        ("=>", []),
        ("-", ["input"]),
        ("x" * 10_000, []),
        ("(always)", ["answer"]),
        ("ZERO", ["answer"]),
        ("rounding after:yesterday", []),
    ],
)
def test_queries_find_passages(
    root: Path, capsys: pytest.CaptureFixture[str], query: str, kinds: list[str]
) -> None:
    project = next(root.rglob("*.jsonl")).parent.name
    found = searched(root, capsys, query.replace("project:logs", f"project:{project}"))
    assert sorted(hit["kind"] for hit in found["hits"]) == sorted(kinds)


def test_a_hit_has_its_place(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = searched(root, capsys, "passed")
    [hit] = found["hits"]
    assert hit["turn"] == 2
    assert hit["state"] == "active"
    assert hit["snippet"] == "3 passed"
    assert hit["marks"] == [[2, 8]]
    assert hit["title"] == "Gift cards"
    assert hit["uuid"] and hit["time"].startswith("2026-11-02T09:00")
    assert hit["open"] == f"plait show {hit['session'][:8]} --turn 2 --root {root}"
    assert hit["resume"] == f"plait resume {hit['session']} --run --root {root}"
    assert found["total"] == 1
    assert found["facets"]["tool"] == {"Bash": 1}
    assert found["facets"]["month"] == {"2026-11": 1}


def test_answers_of_a_turn_are_one_hit(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
def test_exact_texts_and_regexes_are_found_in_the_logs(
    root: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], count: int
) -> None:
    found = searched(root, capsys, *words)
    assert found["by"] == "scan"
    assert len(found["hits"]) == count


def test_output_fits_the_terminal(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_ROOT", str(root))
    assert run(["search", "zero", "--context", "1"]) == 0
    out = capsys.readouterr().out
    session = next(root.rglob("*.jsonl")).stem[:8]
    assert out.splitlines() == [
        f"Gift cards  {session} · home-dev-shop",
        "  answer · turn 1 · " + out.splitlines()[1].partition("turn 1 · ")[2],
        "    It returns zero (always).",
        "",
        f"1 turn · `--open` shows the first · `plait resume {session}` resumes it",
    ]
    assert out.splitlines()[1].endswith(f"plait show {session} --turn 1")
    assert max(map(len, out.splitlines())) <= 100


def test_hints_name_the_given_root(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["search", "--root", str(root), "zero"]) == 0
    out = "".join(line.strip() for line in capsys.readouterr().out.replace("--root ", "").split())
    session = next(root.rglob("*.jsonl")).stem[:8]
    assert f"plaitshow{session}--turn1{root}" in out
    monkeypatch.setenv("PLAIT_ROOT", str(root))
    [hit] = _found_there(capsys, "zero")
    assert hit["open"] == f"plait show {session} --turn 1"
    assert hit["resume"] == f"claude --resume {hit['session']}"


def _found_there(capsys: pytest.CaptureFixture[str], *words: str) -> list[Any]:
    assert run(["search", "--json", *words]) == 0
    return list(json.loads(capsys.readouterr().out)["hits"])


@pytest.mark.parametrize(
    ("words", "total"),
    [
        (("total",), 2),
        (("total", "-items"), 1),
        (("-items", "total"), 1),
        (("-gift", "-items"), 10),
        (("-nothing", "total"), 2),
        (("-n", "1", "total"), 2),
        (("-n1", "total"), 2),
        (("total", '-"gift card"'), 1),
        (("total", "-(gift OR items)"), 0),
        (("--", "-items", "total"), 1),
        (("--in", "prompt", "-total"), 2),
    ],
)
def test_excluded_word_may_come_first(
    root: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], total: int
) -> None:
    assert searched(root, capsys, *words)["total"] == total


FAILING = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
custom-title "Gift cards"
U1 "test it"
T1< Bash(command="pytest -q") as one
T2< Bash(command="ruff check") as two
R1< of one error "Exit code 1"
R2< of two error "Exit code 2"
U2< "and plan"
T3< ExitPlanMode(plan="Rewrite it all")
R3< error "The user doesn't want to proceed with this tool use"
"""


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    draw(FAILING).write(tmp_path / "logs")
    monkeypatch.setenv("PLAIT_ROOT", str(tmp_path / "logs"))
    return next(tmp_path.rglob("*.jsonl")).stem[:8]


def test_failed_commands_in_one_query(failing: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "--tool", "Bash", "--outcome", "failed"]) == 0
    heading, *rest = capsys.readouterr().out.splitlines()
    report = [" ".join(line.split()) for line in rest]
    day = report[0].split(" · ")[4].partition(" plait")[0]
    assert heading == f"Gift cards  {failing} · home-dev-shop"
    assert report == [
        f"input · failed · turn 1 · Bash · {day} plait show {failing} --turn 1",
        "ruff check",
        "Exit code 2",
        f"input · failed · turn 1 · Bash · {day} plait show {failing} --turn 1",
        "pytest -q",
        "Exit code 1",
        "",
        f"2 calls · `--open` shows the first · `plait resume {failing}` resumes it",
    ]


def test_rejected_plans(failing: str, capsys: pytest.CaptureFixture[str]) -> None:
    [hit] = _found_there(capsys, "--tool", "ExitPlanMode", "--outcome", "rejected")
    assert (hit["snippet"], hit["outcome"], hit["turn"]) == ("Rewrite it all", "rejected", 2)


def test_show_only_failed_commands(failing: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", failing, "--outcome", "failed", "--tool", "Bash"]) == 0
    out = capsys.readouterr().out
    assert [word in out for word in ("test it", "pytest -q", "ruff check")] == [True] * 3
    assert [word in out for word in ("and plan", "Rewrite")] == [False] * 2
    assert run(["show", failing, "--outcome", "rejected", "--json"]) == 0
    [turn] = json.loads(capsys.readouterr().out)["turns"]
    assert turn["number"] == 2
    assert run(["show", failing, "--outcome", "launched"]) == 0
    assert "no matching call in these turns" in capsys.readouterr().out
    assert run(["show", failing, "--outcome", "fine"]) == 2
    capsys.readouterr()


def test_limited_list_gives_the_total(failing: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "--outcome", "failed", "-n", "1"]) == 0
    last = capsys.readouterr().out.splitlines()[5]
    assert last.startswith("first of 2 calls · `-n 2` lists more · ")
    assert run(["search", "code OR pytest", "--each", "--sort", "time"]) == 0
    assert "3 passages · " in capsys.readouterr().out


def test_no_hits_for_an_outcome(failing: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "--outcome", "launched"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "nothing matches 'outcome:launched' in 1 session"
    assert second == "try fewer fields"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((), "the query is empty"),
        (("--outcome", "fine"), "no outcome named 'fine'"),
        (("--exact", "x", "--sort", "relevance"), "exact and regex searches are sorted by time"),
    ],
)
def test_wrong_options_are_explained(
    failing: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], error: str
) -> None:
    assert run(["search", *words]) == 2
    output = capsys.readouterr().err
    assert error in output and "hint: " in output


def test_first_hit_can_be_opened(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "--root", str(root), "pytest", "--open"]) == 0
    out = capsys.readouterr().out
    assert "Mend it then" in out
    assert "The total of the gift card" not in out


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("tol:Bash x", "no field named 'tol'"),
        ("tool:Bsh", "no tool named 'Bsh'"),
        ("in:nowhere", "no kind of passage named 'nowhere'"),
        ("branch:green", "no branch state named 'green'"),
        ("project:nobody", "no project named 'nobody'"),
        ("session:zzz", "no session starts with 'zzz'"),
        ("before:soon", "'soon' is not a time"),
        ('"open', "a quotation mark is not closed"),
        ("(a", "a parenthesis is not closed"),
        ("a)", "a parenthesis is closed but never opened"),
        ("a OR", "a word is missing next to an operator"),
        ("fix:typo", "no field named 'fix'"),
        ('""', "the quotation marks are empty"),
        ("", "the query is empty"),
        (" ".join(f"w{n}" for n in range(300)), "the query has 300 parts"),
        (" ".join(f"w{n}*" for n in range(40)), "more than 32 words with `*` or `~`"),
        ("(" * 60 + "a" + ")" * 60, "nested too deep"),
        ("tool:", "'tool:' has no value"),
    ],
)
def test_wrong_queries_are_explained(
    root: Path, capsys: pytest.CaptureFixture[str], query: str, error: str
) -> None:
    assert run(["search", "--root", str(root), query]) == 2
    output = capsys.readouterr().err
    assert error in output
    assert "hint: " in output


def test_punctuation_only_queries_search_the_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw('file x\nU1 "well done 🎉"\nA1< "x => y"').write(tmp_path)
    for signs, kind in (("🎉", "prompt"), ("=>", "answer")):
        found = searched(tmp_path, capsys, signs)
        assert [(hit["kind"], hit["turn"]) for hit in found["hits"]] == [(kind, 1)]
        assert found["by"] == "scan"


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("roundng",), "did you mean `rounding`?"),
        (("totl", "crad"), "did you mean `total card`?"),
        (("rounding", "zero"), "no passage contains every word: 'rounding' in 1, 'zero' in 1"),
        (("rounding", "--tool", "Bash"), "without the fields, 1 passage would match"),
        (("rounding tool:Bash",), "without the fields, 1 passage would match"),
        (("qqqq",), "try fewer words, `word*` or `--exact`"),
    ],
)
def test_similar_words_are_suggested(
    root: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], output: str
) -> None:
    assert run(["search", "--root", str(root), *words]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("nothing matches '") and first.endswith(" in 1 session")
    assert second == output


def test_many_hits_suggest_filters(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["search", "--root", str(root), "total OR gift OR zero OR mended OR passed", "-n", "1"])
        == 0
    )
    *_, counted, _, kinds = capsys.readouterr().out.splitlines()
    assert counted.startswith("first turn · 6 passages match · `-n 5` lists more · ")
    assert kinds == "in:answer 2 · in:output 2 · in:prompt 1 · in:title 1"


def test_facets_of_a_scan_match_the_index(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_words = searched(root, capsys, "zero")["facets"]
    by_scan = searched(root, capsys, "--exact", "zero")["facets"]
    assert by_words == by_scan != {}


def test_wrong_regex_is_explained(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "--root", str(root), "--regex", "(a"]) == 2
    assert "'(a' is not a regular expression" in capsys.readouterr().err


def test_without_an_index_the_logs_are_searched(
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


def test_full_disk_is_an_error_and_loses_nothing(root: Path, tmp_path: Path) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    done = subprocess.run(
        [sys.executable, "-m", "plait", "index", "--root", str(root)],
        env={
            "PLAIT_CACHE_DIR": str(tmp_path / "cache"),
            "HOME": str(tmp_path),
            "PYTHONDONTWRITEBYTECODE": "1",  # a full disk would cut it in two
        },
        preexec_fn=little,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("error: cannot ")
    assert "Traceback" not in done.stderr


def test_hostile_text_cannot_control_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "beware $(esc)[31mred\\ud800 $(esc)]0;title\\u0007 \\u009b2J \\u202e words"
    draw(f'file x\nU1 "{hostile}"\nA1< "ok"').write(tmp_path)
    for words in (["beware"], ["--exact", "beware", "--context", "1"], ["beware\x1b[2Jx"]):
        assert run(["search", "--root", str(tmp_path), *words]) == 0
        output = "".join(capsys.readouterr())
        assert not set(output) & set("\x1b\x07\x9b\u202e\ud800")
