"""Commands that show the graph, end to end, with expected output."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import agent_id, draw
from plait.cli.app import run
from plait.graph.client import Reason

WORK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "A search box"
U1 "What would a first version look like?"
T1< Read(file_path="/home/dev/shop/models.py")
R1< "class Product"
A1< "Two ways."
U2< "Take LIKE"
A2< "Done."
U3<A1 "Use FTS5 afetr all"
U4<A1 "Use FTS5 after all"
T4< Agent(description="Find the callers", prompt="Who calls search?")
R4< @+61s "Nobody."
A4< "Nobody calls it."
B1 boundary after A4 trigger=manual
C1< "The story so far"
U5< "Great"
A5< "Thanks."
agent callers of T4
U11 "Who calls search?"
T11< Grep(pattern="search")
R11< "nothing"
A11< "Nobody."
"""
SESSION = "44c6406c-0c3e-4e67-886a-f5022bdc707b"
TWO_FILES = """
file one cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Add a limit"
A1< "Done."
file two cwd=/home/dev/shop start=2026-11-03T09:00:00Z
copy one:U1 one:A1
U2<one:A1 "And now by address"
A2< "Done too."
"""


@pytest.fixture(autouse=True)
def narrow_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the command a clock without a zone and a narrow page."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setenv("COLUMNS", "92")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a folder with a session that was rewound, compacted and sent out an agent."""
    draw(WORK).write(tmp_path)
    return tmp_path


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    """Return a folder with a session that goes on in a second file."""
    draw(TWO_FILES).write(tmp_path)
    return tmp_path


def out(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = run([str(argument) for argument in arguments])
    captured = capfd.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def value(capfd: pytest.CaptureFixture[str], *arguments: object) -> Any:
    return json.loads(out(capfd, *arguments, "--json"))


def fails(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run([str(argument) for argument in arguments])
    captured = capfd.readouterr()
    assert captured.out == ""
    return code, captured.err


def shown(text: str) -> str:
    """Return a picture without the margin of the test."""
    return "\n".join(line[4:].rstrip() for line in text.strip("\n").splitlines()).rstrip()


# checklist: D15
def test_log_draws_a_row_per_turn(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    found = out(capfd, "log", "search box", "--root", work).split("\n", 3)
    assert found[0] == "A search box"
    assert found[1] == f"{SESSION}  /home/dev/shop"
    assert found[3].rstrip() == shown("""
    ●    2026-11-02 09:00  What would a first version look like?                    1 call · 3 s
    ├─╮  branch 32d803d3-d07: 1 prompt, abandoned
    │ ○             09:00  Take LIKE                                                         1 s
    ├─◌             09:00  Use FTS5 afetr all  (retracted)
    ●               09:00  Use FTS5 after all  (after a rewind)     1 call · 1 agent · 1 min 3 s
    ├─◇             09:00  Find the callers                                         1 call · 3 s
    ◆               09:01  compacted with /compact: 14k to 3k tokens
    ◉               09:01  Great  (resumes here)                                             1 s

    4 prompts, 1 branch, 1 agent, 1 compaction, 1 folded
    """)


def test_log_draws_a_row_per_record(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    found = out(capfd, "log", "latest", "--records", "--ascii", "--root", work).split("\n", 3)
    assert found[3].rstrip() == shown("""
    *    2026-11-02 09:00  prompt      What would a first version look like?            aa5c2e0e
    *               09:00  call        Read(/home/dev/shop/models.py)                   8950b495
    *               09:00  result      1 class Product                                  2cfd16ac
    *               09:00  answer      Two ways.                                        3e83be03
    |-.  branch 32d803d3-d07: 1 prompt, abandoned
    | o             09:00  prompt      Take LIKE                                        32d803d3
    | o             09:00  answer      Done.                                            cf82f4c3
    |-x             09:00  prompt      Use FTS5 afetr all  (retracted)                  23106ad0
    *               09:00  prompt      Use FTS5 after all  (after a rewind)             b846f771
    *               09:00  call        Agent(Find the callers)                          3792dccf
    |->             09:00  agent       Find the callers                             1 call / 3 s
    *               09:01  result      Nobody.                                          125a45a4
    *               09:01  answer      Nobody calls it.                                 0200f636
    #               09:01  system      compacted with /compact: 14k to 3k tokens        3f50cf01
    *               09:01  summary     This session is being continued from a~          d6c7a26a
    *               09:01  prompt      Great                                            f06b165f
    @               09:01  answer      Thanks.  (resumes here)                          15ae1dc1

    4 prompts, 1 branch, 1 agent, 1 compaction, 1 folded
    """)


def test_log_follows_a_session_into_other_files(
    capfd: pytest.CaptureFixture[str], two_files: Path
) -> None:
    arguments = ("log", "Add a limit", "--all", "--root", two_files / "projects")
    code, error = fails(capfd, *arguments)
    assert (code, error.splitlines()[0]) == (2, "error: 'Add a limit' matches 2 sessions")
    found = out(capfd, "log", "775", "--all", "--root", two_files).split("\n", 3)
    assert found[3].rstrip() == shown("""
    ◉  2026-11-02 09:00  Add a limit  (resumes here)                                         1 s
    │  session 9e171712
    ◉  2026-11-03 09:00  And now by address  (resumes here)                                  1 s

    2 prompts
    """)


def test_log_prints_the_row_shapes(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    rows = value(capfd, "log", "latest", "--root", work)
    assert [(row["column"], row["lanes"], row["words"]) for row in rows[:4]] == [
        (0, [], "What would a first version look like?"),
        (1, [0], "Take LIKE"),
        (1, [0], "Use FTS5 afetr all"),
        (0, [], "Use FTS5 after all"),
    ]
    assert rows[1]["links"] == [
        {"from": 0, "to": 1, "kind": "fork"},
        {"from": 1, "to": 1, "kind": "end"},
    ]
    assert rows[1]["marks"] == ["abandoned"]
    assert rows[2]["marks"] == ["abandoned", "folded", "retracted"]


def test_tree_draws_sessions_branches_agents_and_compactions(
    capfd: pytest.CaptureFixture[str], work: Path
) -> None:
    assert out(capfd, "tree", "shop", "--root", work).rstrip() == shown("""
    /home/dev/shop
    ● 44c6406c  A search box                        3 prompts · 12 KB · 1 min · 2026-11-02 09:00
    ├─ ○ Take LIKE                       abandoned · 1 prompt · forks at 3e83be03 · 1.8 KB · 1 s
    ├─ ◇ Find the callers                            4 records · 3.7 KB · 3 s · 2026-11-02 09:00
    └─ ◆ compacted with /compact: 14k to 3k tokens                              2026-11-02 09:01

    1 session, 1 branch, 1 agent, 1 compaction
    """)


def test_tree_counts_agents_where_there_are_several_sessions(
    capfd: pytest.CaptureFixture[str], work: Path
) -> None:
    draw(TWO_FILES).write(work)
    text = out(capfd, "tree", "--root", work)
    assert "├─ ◇ 1 agent\n" in text
    assert "Find the callers" not in text
    assert text.endswith("3 sessions, 1 branch, 1 agent, 1 compaction\n")
    assert "├─ ◇ Find the callers" in out(capfd, "tree", "--all", "--root", work)


def test_tree_puts_a_session_below_its_source(
    capfd: pytest.CaptureFixture[str], two_files: Path
) -> None:
    first, second = value(capfd, "tree", "--root", two_files)
    assert (first["depth"], second["depth"]) == (0, 1)
    assert (second["parent"], second["attachment"]) == (first["id"], first["junctions"][0])
    assert "└─ ● 9e171712  Add a limit" in out(capfd, "tree", "--root", two_files)


def test_paths_lists_every_ending(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    assert out(capfd, "paths", "--root", work).rstrip() == shown("""
    44c6406c   1 of 2   ABANDONED  Take LIKE         6 messages · forks at 3e83be03 · 2026-11-02
               2 of 2   ACTIVE     A search box          11 messages · 1 compaction · 2026-11-02

    2 paths
    """)
    assert out(capfd, "paths", "--raw", "--root", work).rstrip() == shown("""
    44c6406c   1 of 3   ABANDONED  Take LIKE         6 messages · forks at 3e83be03 · 2026-11-02
               2 of 3   ABANDONED  Use FTS5 afetr…   5 messages · forks at 3e83be03 · 2026-11-02
               3 of 3   ACTIVE     Great                 11 messages · 1 compaction · 2026-11-02

    3 paths
    """)


def test_paths_prints_json(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    names = draw(WORK).names
    abandoned, active = value(capfd, "paths", SESSION, "--root", work)
    assert {key: abandoned[key] for key in ("session", "path", "of", "status", "title")} == {
        "session": SESSION,
        "path": 1,
        "of": 2,
        "status": "ABANDONED",
        "title": "Take LIKE",
    }
    assert names([abandoned["fork_point"], active["fork_point"]]) == ["A1", ""]
    assert names(abandoned["uuids"]) == ["U1", "T1", "R1", "A1", "U2", "A2"]
    assert names(active["uuids"]) == "U1 T1 R1 A1 U4 T4 R4 A4 B1 C1 U5 A5".split()
    assert (active["messages"], active["compactions"]) == (11, 1)
    assert len(value(capfd, "paths", "--raw", "--root", work)) == 3
    assert value(capfd, "paths", "--root", work / "projects")[1] == active


def test_filters_select_sessions(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    draw(TWO_FILES).write(work)
    root = ("--root", work)
    assert len(value(capfd, "paths", *root)) == 3
    assert len(value(capfd, "paths", "shop", "--since", "2026-11-03", *root)) == 1
    assert len(value(capfd, "tree", "--since", "2026-11-03", *root)) == 2
    assert len(value(capfd, "tree", "--until", "2026-11-02T09:00:01", *root)) == 6
    assert len(value(capfd, "tree", "--project", "shop", *root)) == 6
    code, error = fails(capfd, "tree", "--project", "elsewhere", *root)
    assert (code, error.splitlines()) == (
        2,
        [
            "error: no session matches",
            f"hint: `plait ls --root {root[1]}` lists all sessions",
        ],
    )


def test_context_shows_what_claude_will_see(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    found = out(capfd, "context", "latest", "--root", work).split("\n", 3)
    assert found[0] == "A search box"
    assert (
        found[3]
        .rstrip()
        .startswith(
            shown("""
    1  user       This session is being continued from a previous conversation that…      2 text
    2  assistant  Thanks.                                                                   text

    2 messages, from 4 records, 14k tokens after the last answer
    the next prompt sends 14k tokens: $0.0029 if still cached, $0.07 if not
    cache expired at 2026-11-02 09:06

    left out: 12 records
    """)
        )
    )


# checklist: S22, S29
def test_context_prints_json(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    drawing = draw(WORK)
    found = value(capfd, "context", "latest", "--root", work)
    assert {"resumes", "leaf", "chain", "messages", "tokens", "left_out"} <= found.keys()
    assert (found["resumes"], drawing.names([found["leaf"]])) == (True, ["A5"])
    assert drawing.names(found["chain"]) == ["B1", "C1", "U5", "A5"]
    assert [role for role, _ in found["messages"]] == ["user", "assistant"]
    assert found["messages"][1] == ["assistant", [{"type": "text", "text": "Thanks."}]]
    assert {item["reason"] for item in found["left_out"]} <= {str(reason) for reason in Reason}
    usage = found["usage"]
    assert found["tokens"] == sum(
        usage[name]
        for name in (
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        )
    )


def test_context_as_sdk_and_in_full(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    drawing = draw('U1 "hello"\nA1< think "hm" + "Hi."\nM1< "by the way"\nA2<')
    drawing.write(tmp_path)
    plain = value(capfd, "context", "latest", "--root", tmp_path)
    full = value(capfd, "context", "latest", "--full", "--root", tmp_path)
    sdk = value(capfd, "context", "latest", "--as", "sdk", "--root", tmp_path)
    assert "signature" not in json.dumps(plain["messages"])
    assert "signature" in json.dumps(full["messages"])
    assert drawing.names(sdk["chain"]) == ["U1", "A1.1", "A1", "A2"]
    assert drawing.names(plain["chain"]) == ["U1", "A1.1", "A1", "M1", "A2"]


@pytest.mark.parametrize("kind", ["plan_mode", "task_reminder content=[] itemCount=0"])
def test_context_in_full_lists_what_is_not_in_the_log(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, kind: str
) -> None:
    draw(f'U1 "Plan it."\nH1< attachment {kind}\nA1< "Planned."').write(tmp_path)
    moment, worded = value(capfd, "context", "latest", "--full", "--root", tmp_path)["not_in_log"]
    assert moment.startswith("additions to the next prompt")
    assert worded == "the text that Claude Code sends for 1 attachment"
    text = out(capfd, "context", "latest", "--full", "--root", tmp_path)
    assert f"not in the log: {worded}" in text
    assert "sent with text that no log contains" in text
    assert "not in the log" not in out(capfd, "context", "latest", "--root", tmp_path)
    assert "not_in_log" not in value(capfd, "context", "latest", "--root", tmp_path)


def test_context_says_why_a_session_cannot_be_resumed(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    draw("U1!side").write(tmp_path)
    text = out(capfd, "context", "latest", "--root", tmp_path)
    assert "cannot be resumed: no conversation in the file" in text
    assert value(capfd, "context", "latest", "--root", tmp_path)["resumes"] is False


def test_context_needs_a_session_with_its_own_log(
    capfd: pytest.CaptureFixture[str], work: Path
) -> None:
    for file in (work / "projects").glob(f"*/{SESSION}.jsonl"):
        file.unlink()
    code, error = fails(capfd, "context", "latest", "--root", work)
    assert (code, error.splitlines()[0]) == (
        2,
        f"error: session '{SESSION}' has no log; only its agents' logs are left",
    )
    assert "◇" in out(capfd, "log", "latest", "--root", work)


def test_many_records_are_described_like_few(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    turns = [f'U{n}{"<" if n > 1 else ""} "prompt {n}"\nA{n}< "answer {n}"' for n in range(1, 41)]
    draw("\n".join(turns)).write(tmp_path / "many")
    draw("\n".join(turns[:9])).write(tmp_path / "few")
    many = out(capfd, "log", "latest", "--records", "--root", tmp_path / "many").splitlines()
    few = out(capfd, "log", "latest", "--records", "--root", tmp_path / "few").splitlines()
    assert many[2:20] == few[2:20]
    assert "prompt 9" in few[19]


def test_log_text_cannot_control_the_terminal(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    draw('ai-title "$(esc)[2J"\nU1 "$(esc)[31mred"\nA1< "$(esc)[0m"').write(tmp_path)
    for arguments in (
        ["log", "latest"],
        ["log", "latest", "--records"],
        ["tree"],
        ["paths"],
        ["context", "latest"],
    ):
        text = out(capfd, *arguments, "--root", tmp_path, "--colour", "never")
        assert "\x1b" not in text
        assert "\ufffd[" in text


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize(
    "arguments",
    [["log", "latest"], ["log", "latest", "--records"], ["tree"], ["paths"], ["context", "latest"]],
    ids=" ".join,
)
def test_no_line_is_wider_than_the_screen(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    gallery: Path,
    arguments: list[str],
    columns: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for folder in ("rewind", "compaction", "sub-agent", "teammates"):
        text = out(capfd, *arguments, "--root", gallery / folder)
        assert max(map(len, text.splitlines())) <= columns


def test_graph_commands_on_real_logs(capfd: pytest.CaptureFixture[str], shared: Path) -> None:
    for folder in ("corpus", "produced"):
        root = ("--root", shared / folder)
        tree = value(capfd, "tree", *root)
        paths = value(capfd, "paths", *root)
        assert {path["session"] for path in paths} <= {item["session"] for item in tree}
        assert all(len(path["uuids"]) == len(set(path["uuids"])) for path in paths)
        assert out(capfd, "tree", *root)
        assert out(capfd, "log", "latest", "--all", "--records", *root)
        assert out(capfd, "context", "latest", *root)


def test_tree_adds_ids_where_titles_are_equal(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = 'U1 "Add a limit"\nA1<\nagent acompact-1a2b3c nometa\nA5\nagent lost nometa\nA6\n'
    draw(text).write(tmp_path)
    lines = out(capfd, "tree", "--all", "--root", tmp_path).splitlines()
    assert [line.split("  ")[0] for line in lines[1:4]] == [
        "● 47aaced6",
        f"├─ ◇ {agent_id('lost', 'main')}",
        "└─ ◇ acompact-1a2b3c",
    ]
    assert all(line.split("  ")[1] == "(no title)" for line in lines[2:4])


def test_tree_shows_a_session_that_holds_only_copies(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    draw(TWO_FILES.partition("U2<")[0].replace("one:A1", "one:A1 forked")).write(tmp_path)
    text = out(capfd, "tree", "--root", tmp_path)
    assert "└─ ● 9e171712  Add a limit" in text
    assert "0 records" in text
    assert text.endswith("2 sessions\n")


@pytest.mark.parametrize("command", ["log", "tree", "paths"])
def test_records_without_uuid_are_mentioned(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    file = tmp_path / "plain.jsonl"
    file.write_text(
        '{"message": {"role": "user", "content": "hello"}}\n'
        '{"message": {"role": "assistant", "content": "hello"}}\n'
    )
    report = "2 records without uuid not drawn; `plait cat` shows them"
    assert out(capfd, command, file).splitlines()[-1] == report


def test_log_mentions_what_was_recovered(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = draw("U1\nA1<\nU2<\nA2<\n").write(tmp_path)[0]
    file.write_bytes(file.read_bytes().replace(b"\n", b"", 1))
    report = "2 records recovered from broken lines are not drawn: `plait doctor "
    assert report in out(capfd, "log", file)
    full = draw("file whole\nU1\nA1<\n").write(tmp_path)[-1]
    assert "recovered" not in out(capfd, "log", full)


def test_commands_give_one_title(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    draw(TWO_FILES).write(work)
    listed = {item["session"]: item["title"] for item in value(capfd, "ls", "--root", work)}
    trunks = [item for item in value(capfd, "tree", "--root", work) if item["kind"] == "trunk"]
    assert {item["session"]: item["title"] for item in trunks} == listed
    ways = [item for item in value(capfd, "paths", "--root", work) if item["line"] in listed]
    assert all(item["title"] == listed[item["session"]] for item in ways)
    assert all(out(capfd, "log", item, "--root", work).startswith(listed[item]) for item in listed)


UNSEEN = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Where is it computed?"
A1< "In cart.py."
U2<?@+1h "And who calls it?"
A2< "Nobody."
"""
NOT_SENT = "not sent on resume"


@pytest.fixture
def neighbour(tmp_path: Path) -> Path:
    """Return a folder with a session whose second prompt names a parent that is nowhere."""
    draw(UNSEEN).write(tmp_path / "logs")
    return tmp_path / "logs"


def test_entries_outside_the_chain_are_marked_everywhere(
    capfd: pytest.CaptureFixture[str], neighbour: Path, tmp_path: Path
) -> None:
    at = ("--root", neighbour)
    reasons = [item["reason"] for item in value(capfd, "context", SESSION, *at)["left_out"]]
    assert reasons == [Reason.UNSEEN, Reason.UNSEEN]
    logged = [line for line in out(capfd, "log", SESSION, *at).splitlines() if NOT_SENT in line]
    assert len(logged) == 1 and "Where is it computed?" in logged[0]
    assert f"2 {NOT_SENT}" in out(capfd, "paths", SESSION, *at)
    assert value(capfd, "paths", SESSION, *at)[0]["unseen"] == 2
    heads = [line for line in out(capfd, "show", SESSION, *at).splitlines() if "───" in line]
    assert [NOT_SENT in line for line in heads] == [True, False]
    turns = value(capfd, "show", SESSION, *at)["turns"]
    assert [len(turn["unseen"]) for turn in turns] == [2, 0]
    for form, name in (("md", "*.md"), ("txt", "*.txt"), ("html", "*.html")):
        where = ["--output", tmp_path / form, "--format", form, *at]
        assert run(["export", SESSION, *map(str, where)]) == 0
        texts = [item.read_text() for item in (tmp_path / form).rglob(name)]
        assert any(NOT_SENT in text and "Where is it computed?" in text for text in texts), form


def test_partially_sent_turn_says_so(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    draw("file work\nU1\nA1<\nA2<U1\nU2<A2\nA3<").write(tmp_path)
    heads = out(capfd, "show", SESSION, "--root", tmp_path).splitlines()
    assert ["only partly sent on resume" in line for line in heads if "───" in line] == [
        True,
        False,
    ]


def test_entries_before_a_compaction_are_marked(
    capfd: pytest.CaptureFixture[str], work: Path
) -> None:
    found = value(capfd, "context", SESSION, "--root", work)["left_out"]
    reasons = {item["line"]: item["reason"] for item in found}
    assert [reasons[line] for line in (2, 5)] == [Reason.BEFORE_COMPACTION] * 2
    assert [reasons[line] for line in (6, 7, 8)] == [Reason.ABANDONED] * 3
