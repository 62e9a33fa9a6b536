"""`plait show` end to end, with expected output."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import Drawing, agent_id, draw
from plait.cli.app import run

WORK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=homemade-1
ai-title "A search box"
U1 "What would a first version look like?"
A1< think "Small." + "I'll **look**." + Read(file_path="/home/dev/shop/models.py") as read
R1< of read "class Product"
A2< "Two ways:" + Bash(command="npm test") as test
R2< of test error @+34s
  | Exit code 1
  | one
  | two
  | Error: nothing is there
A3< "Which one?"
U2< "Take LIKE"
A4< "Done."
U3<A3 "Use FTS5 afetr all"
U4<A3 "Use FTS5 after all"
A5< Agent(description="Find the callers", prompt="Who calls search?") as callers
R5< of callers @+61s "Nobody."
A6< Edit(file_path="/home/dev/shop/models.py") as edit
  old_string:
    | class Product
  new_string:
    | class Product:
    |     pass
R6< of edit
B1 boundary after R6 trigger=manual
C1< "The story so far"
U5< "Great"
A7< "Thanks."
agent callers of callers
U11 "Who calls search?"
A11< Grep(pattern="search") as grep
R11< of grep "nothing"
A12< "Nobody."
"""
HEAD = 4


@pytest.fixture(autouse=True)
def narrow_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the command a clock without a zone and a narrow page."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setenv("COLUMNS", "72")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a folder with a session that was rewound, compacted and sent out an agent."""
    draw(WORK).write(tmp_path)
    return tmp_path


def out(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run the command and return what it prints."""
    code = run(["show", *(str(argument) for argument in arguments)])
    captured = capfd.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def drawn(folder: Path, text: str) -> Drawing:
    """Write a drawn session."""
    drawing = draw(text)
    drawing.write(folder)
    return drawing


def test_conversation(work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    printed = out(capfd, "latest", "--root", work)
    typed = "plait show 44c6406c --branch 32d803d3-d07"
    assert printed.replace(f"\n{typed} --root {work}\n", f"\n│    {typed}\n") == PAGE


PAGE = """\
A search box
44c6406c-0c3e-4e67-886a-f5022bdc707b  /home/dev/shop
active, 1 branch
homemade-1 · 2026-11-02 09:00–09:01 · 3 turns · 1 min 46 s of work
1 agent · 115k tokens

─── 1 ───────────────────────────────── 2026-11-02 09:00 · 41 s · 89 out
▌ What would a first version look like?

I'll **look**.

● Read  models.py (1 line)                                           1 s

Two ways:

✗ Bash  npm test  → exit 1                                          34 s
    one
    two
    Error: nothing is there

Which one?

├─○ branch 32d803d3-d07: “Take LIKE”, abandoned
│    plait show 44c6406c --branch 32d803d3-d07

─── 2 ─────────────────────────── 2026-11-02 09:00 · 1 min 4 s · 130 out
▌ Use FTS5 after all

◌ retracted: “Use FTS5 afetr all”
● Agent  “Find the callers”  → 1 call, 29k tokens              1 min 1 s
│ ▌ Who calls search?
│
│ ● Grep  “search”  → 2 lines                                        1 s
│
│ Nobody.

● Edit  models.py  → +2 −1                                           1 s
    1 - class Product
    1 + class Product:
    2 +     pass

📦 Conversation compacted (14k tokens) • 2026-11-02 09:01:50
    by hand, 3k tokens left, took 42 s, summary of 3 lines

─── 3 ─────────────────────────────────── 2026-11-02 09:01 · 1 s · 4 out
▌ Great

Thanks.
"""


def test_branch_names_its_start(work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    printed = out(capfd, "latest", "--root", work, "--branch", "2")
    assert printed == BRANCH
    name = re.findall(r"branch ([0-9a-f-]{12})", printed)[0]
    session = draw(WORK).session
    for asked in (name, name[:4], f"@{name}", f"{session}@{name}"):
        assert out(capfd, "latest", "--root", work, "--branch", asked) == printed


BRANCH = """\
Take LIKE
44c6406c-0c3e-4e67-886a-f5022bdc707b  /home/dev/shop
branch 32d803d3-d07, abandoned: forks from the trunk after turn 1
homemade-1 · 2026-11-02 09:00 · 1 turn · 1 s of work · 14k tokens

─── 1 ─────────────────────────────────── 2026-11-02 09:00 · 1 s · 4 out
▌ Take LIKE

Done.
"""


def test_agent_can_be_shown_alone(work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    agent = agent_id("callers", "work")
    printed = out(capfd, "latest", "--root", work, "--branch", f"agent-{agent}")
    assert f"agent {agent}, started by the trunk" in printed
    assert printed.splitlines()[HEAD + 2 :] == [
        "▌ Who calls search?",
        "",
        "● Grep  “search”  → 2 lines                                          1 s",
        "",
        "Nobody.",
    ]
    assert out(capfd, "latest", "--root", work, "--branch", f"#agent-{agent[:5]}") == printed


@pytest.mark.parametrize(
    ("turn", "prompts"),
    [
        ("1", ["What would a first version look like?"]),
        ("2-3", ["Use FTS5 after all", "Great"]),
        ("2-", ["Use FTS5 after all", "Great"]),
        ("-1", ["Great"]),
        ("-2--1", ["Use FTS5 after all", "Great"]),
    ],
)
def test_turns_can_be_selected(
    work: Path, capfd: pytest.CaptureFixture[str], turn: str, prompts: list[str]
) -> None:
    printed = out(capfd, "latest", "--root", work, "--depth", "prompts", "--turn", turn)
    assert re.findall(r"▌ (.*)", printed) == prompts


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (("--turn", "9"), "no turn 9 in this conversation", "it has turns 1 to 3"),
        (
            ("--turn", "x"),
            "'x' is not a turn",
            "use `--turn 3`, `--turn 3-5` or `--turn 3-`",
        ),
        (
            ("--branch", "zz"),
            "no branch named 'zz'",
            "the branches are 1: the trunk; 2: branch ",
        ),
    ],
)
def test_unknown_selection_is_an_error(
    work: Path,
    capfd: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    error: str,
    hint: str,
) -> None:
    assert run(["show", "latest", "--root", str(work), *arguments]) == 2
    captured = capfd.readouterr()
    assert captured.err.startswith(f"error: {error}\nhint: {hint}")
    assert captured.out == ""


def test_raw_prints_the_exact_lines(work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    drawing = draw(WORK)
    printed = out(capfd, "latest", "--root", work, "--turn", "1", "--depth", "answers", "--raw")
    lines = {line.name: line.data for line in drawing.files[0].lines}
    wanted = [lines[name] for name in ("U1", "A1.2", "A2.1", "A3")]
    assert printed.encode() == b"".join(wanted)
    everything = out(capfd, "latest", "--root", work, "--depth", "all", "--raw")
    assert len(everything.splitlines()) == len(set(everything.splitlines()))
    assert '"isSidechain":true' in everything.replace(" ", "")


def as_json(capfd: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Run the command with `--json` and return the object."""
    found: dict[str, Any] = json.loads(out(capfd, *arguments, "--json"))
    return found


def test_json_has_the_conversation_its_agents_and_its_totals(
    work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = as_json(capfd, "latest", "--root", work)
    assert [turn["number"] for turn in found["turns"]] == [0, 1, 2, 3]
    assert found["turns"][1]["opener"] == found["turns"][1]["items"][0]["uuid"]
    kinds = {item["item"] for turn in found["turns"] for item in turn["items"]}
    assert kinds == {"told", "said", "thought", "called", "answered", "noted", "compacted", "left",
                     "folded"}  # fmt: skip
    assert [response["number"] for response in found["responses"]] == list(
        range(len(found["responses"]))
    )
    assert [agent["agent"] for agent in found["agents"]] == [agent_id("callers", "work")]
    assert [(other["kind"], other["turns"]) for other in found["others"]] == [("branch", 1)]
    assert found["totals"]["calls"] == 5
    assert found["totals"]["cost_usd"] == 0
    assert found["totals"]["unpriced"] == {"homemade-1": 8}
    assert found["recovered"] is None


def test_token_fields_have_the_same_names_in_all_json(
    work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tokens = as_json(capfd, "latest", "--root", work)["totals"]["tokens"]
    assert tokens["total_tokens"] > tokens["output_tokens"] > 0
    assert run(["usage", "--root", str(work), "--json"]) == 0
    usage = json.loads(capfd.readouterr().out)["totals"]
    assert set(tokens) <= set(usage)


def test_json_has_recovered_records(gallery: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = as_json(capfd, "latest", "--root", gallery / "glued-lines")
    items = [item["item"] for turn in found["recovered"]["turns"] for item in turn["items"]]
    assert items == ["answered", "said", "noted"]


def test_json_of_a_turn_has_only_that_turn(work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = as_json(capfd, "latest", "--root", work, "--turn", "1")
    assert [turn["number"] for turn in found["turns"]] == [1]
    assert [response["number"] for response in found["responses"]] == found["turns"][0]["responses"]
    assert found["agents"] == []


def test_images_are_in_json_only_on_request(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    drawn(tmp_path, 'U1 "see" image="bars"\nA1< Read(file_path="/a.png")\nR1< image="bars-after"')
    bare = json.dumps(as_json(capfd, "latest", "--root", tmp_path))
    full = json.dumps(as_json(capfd, "latest", "--root", tmp_path, "--raw"))
    assert "iVBORw0KGgo" not in bare
    assert '"media_type": "image/png"' in bare
    assert full.count("iVBORw0KGgo") >= 3


def test_own_prices_are_used(
    work: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"homemade-1": {"input": 1, "output": 1000}}', encoding="utf-8")
    monkeypatch.setenv("PLAIT_PRICES", str(path))
    printed = out(capfd, "latest", "--root", work, "--depth", "prompts")
    assert re.search(r"─── 1 ─+ 2026-11-02 09:00 · .* · \$\d", printed)


HOSTILE = """
file bad cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=homemade-1
U1 "$(esc)[2Jprompt$(esc)]0;title"
A1< "# a$(esc)[31m ‮b" + Bash(command="x$(esc)[2J") as b
R1< of b
  | $(esc)[32mgreen$(esc)[0m$(esc)[2J$(esc)]52;c;eA==
A2<
  | > > > > > > > > > > deep
  |
  | - - - - - - - - - - - - - - - - - - - - deep
  |
  | <script>alert(1)</script> <b>bold</b>
  |
  | | a | b |
  | |---|---|
  | | 1 |
"""


@pytest.mark.parametrize("depth", ["tools", "all"])
@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_hostile_text_cannot_break_layout_or_control_the_terminal(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    depth: str,
    width: int,
) -> None:
    drawn(tmp_path, HOSTILE)
    monkeypatch.setenv("COLUMNS", str(width))
    printed = out(capfd, "latest", "--root", tmp_path, "--colour", "always", "--depth", depth)
    rest = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", printed)
    assert "\x1b" not in rest
    assert "‮" not in rest
    assert "<b>bold</b>" in re.sub(r"\s+", " ", rest)
    assert "\x1b[32mgreen" in printed


@pytest.mark.parametrize("depth", ["tools", "all"])
def test_lone_surrogates_can_be_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], depth: str
) -> None:
    text = """
U1 "NASTY"
A1< "NASTY **x**" + Read(file_path="/NASTY") as r + WebFetch(url="https://a.example/NASTY") as w
R1< of r "NASTY"
R2< of w "NASTY"
A2< Agent(description="NASTY", prompt="NASTY") as a
R3< of a "NASTY"
"""
    for path in draw(text).write(tmp_path):
        path.write_bytes(path.read_bytes().replace(b"NASTY", rb"\ud800\u0000\u001b[2J"))
    for colour in ("always", "never"):
        printed = out(capfd, "latest", "--root", tmp_path, "--depth", depth, "--colour", colour)
        assert "\x1b[2J" not in printed
        assert "WebFetch" in printed
    assert as_json(capfd, "latest", "--root", tmp_path)["turns"]


def test_colours_links_and_markdown_need_a_terminal(
    work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    printed = out(capfd, "latest", "--root", work, "--colour", "always")
    assert "file:///home/dev/shop/models.py" in printed
    assert "\x1b[1mlook\x1b[0m" in printed
    plain = out(capfd, "latest", "--root", work)
    assert "\x1b" not in plain
    assert "I'll **look**." in plain


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_screen(
    work: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    printed = out(capfd, "latest", "--root", work, "--colour", "always", "--thinking")
    lines = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", printed).splitlines()
    wide = [line for line in lines if len(line) > width]
    assert [line for line in wide if not line.startswith("plait show ")] == []  # for copying


def test_agents_outside_any_turn_are_listed_at_the_end_with_cost(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = drawn(
        tmp_path,
        """
file one cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=homemade-1
U1 "go"
A1< "Done."
agent lost
U11 "what was I sent for?"
A11< "Nobody knows."
""",
    )
    agent = Path(drawing.files[1].path).stem.removeprefix("agent-")
    output = " ".join(out(capfd, "latest", "--root", tmp_path).split())
    line = f"1 agent whose starting call is missing, 14k tokens{{}}: {agent}, `--branch {agent}` shows it"
    assert output.endswith(line.format(""))
    path = tmp_path / "prices.json"
    path.write_text('{"homemade-1": {"input": 1, "output": 1000}}', encoding="utf-8")
    monkeypatch.setenv("PLAIT_PRICES", str(path))
    output = " ".join(out(capfd, "latest", "--root", tmp_path).split())
    assert re.search(line.format(r", \$\d+\.\d+") + "$", output)


def test_empty_conversation_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "11111111-1111-4111-8111-111111111111.jsonl"
    path.write_bytes(b'{"broken\n[1]\n')
    output = " ".join(out(capfd, path).split())
    assert output.endswith("nothing to show at depth tools: `plait doctor` accounts for every line")


def test_stored_output_is_read_in_full(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    drawn(
        tmp_path,
        """
file one cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=homemade-1
U1 "go"
T1< Bash(command="much")
R1< persisted=b1 size=90
  | line 1
A1< "Done."
also tool-results/b1.txt count=9
  | line $(n)
""",
    )
    first = out(capfd, "latest", "--root", tmp_path)
    assert "line 9" not in first
    assert "is in tool-results/b1.txt" in first
    assert "line 9" in out(capfd, "latest", "--root", tmp_path, "--depth", "all")
    (kept,) = tmp_path.rglob("b1.txt")
    secret = kept.rename(tmp_path / "secret.txt")
    kept.symlink_to(secret)
    for depth in ("tools", "all"):
        printed = out(capfd, "latest", "--root", tmp_path, "--depth", depth)
        assert "line 9" not in printed
        assert "is missing: there is no tool-results/b1.txt" in printed


LONG = """
file one cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=homemade-1
U1 "go"
A1< mcp__a_server_with_a_long_name__and_a_tool_with_a_longer_one(words="LINE") as m
R1< of m "LINE"
A2< Write(file_path="/home/dev/shop/a.js", content="LINE") as w
R2< of w
A3< Bash(command="cat") as b
R3< of b
MANY
A4< Agent(description="Look", prompt="Look") as a
R4< of a "Found."
A5< "Done."
agent looker of a
U11
MANY
A11< "Found."
""".replace("MANY", "\n".join(f"  | line {n}" for n in range(40)))


@pytest.mark.parametrize("colour", ["always", "never"])
def test_very_long_lines_are_cut_with_their_size(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    colour: str,
) -> None:
    for path in draw(LONG).write(tmp_path):
        path.write_bytes(path.read_bytes().replace(b"LINE", b"long" * 25_000))
    monkeypatch.setenv("COLUMNS", "40")
    printed = out(capfd, "latest", "--root", tmp_path, "--colour", colour)
    words = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", printed)
    output = " ".join(re.sub("[│▌]", "", words).split())
    assert output.count("… 100 KB more on this line, `--depth all` shows it") == 2
    assert "more lines" in output
    if colour == "always":
        wide = [line for line in words.splitlines() if len(line) > 40]
        assert wide == []
    else:
        assert max(map(len, words.splitlines())) < 1200
    full = out(capfd, "latest", "--root", tmp_path, "--colour", colour, "--depth", "all")
    assert re.sub(r"[^long]", "", full).count("long" * 25_000) >= 1
    assert "more on this line" not in full


@pytest.mark.parametrize("depth", ["prompts", "answers", "agents", "tools", "all"])
def test_every_example_can_be_shown(
    gallery: Path, capfd: pytest.CaptureFixture[str], depth: str
) -> None:
    for path in sorted(gallery.glob("*/projects/*/*.jsonl")):
        assert out(capfd, path, "--depth", depth, "--thinking", "--colour", "always")


def test_real_sessions_can_be_shown(shared: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path in sorted((shared / "produced").glob("*/projects/*/*.jsonl")):
        plain = out(capfd, path)
        assert "\x1b" not in plain
        assert os.linesep in plain
