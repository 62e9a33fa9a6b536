"""Rows of turns, responses, waste, calls, files and words agree with other answers."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples.drawing import draw
from plait.archive import Archive
from tests.graph.generated import lines_of, rows
from tests.lake.adding_up import Lake, check, rows_of
from tests.lake.units import lake_of


def made(root: Path) -> Lake:
    """Return the rows of an archive, which add up to what the rest tells of it."""
    archive = Archive([root])
    found = rows_of(lake_of(archive))
    check(archive, found, archive.prices)
    return found


def told(lake: Lake, table: str, columns: str) -> str:
    """Return some columns of a table as a picture: what is empty, none or false is a dash."""
    return "\n".join(
        " ".join(f"{row[name] or '-'}" for name in columns.split()) for row in lake[table]
    )


TALK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z cache=5m
ai-title "Totals"
U1 "fix the total"
A1< think "where" + Read(file_path="/home/dev/shop/cart.py") as look
R1< of look
  | def total(): return 0
A2< Edit(file_path="/home/dev/shop/cart.py", old_string="0", new_string="1") as fix
R2< of fix
A3< "done and dusted"
U2< "and now the tests"
A4< Bash(command="pytest") as run
R4< of run error "Exit code 1"
A5< "they fail"
U3<A3 "only lint"
A6< Agent(prompt="lint it", subagent_type="Explore", description="lint") as send
R6< of send
A7< "clean"
agent lint of send type=Explore
U1 "lint it"
A1< Grep(pattern="x") as find
R1< of find "none"
A2< "clean"
"""


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Return the rows of a session with a branch that was left and an agent."""
    root = tmp_path_factory.mktemp("talk")
    draw(TALK).write(root)
    return made(root)


TURNS = """
trunk - - - - - - - - -
trunk - 1 prompt True True 3 2 - 5000.0
trunk - 2 prompt True - 2 1 - -
agent Explore 1 prompt - True 2 1 - -
branch - 1 prompt True True 2 1 1 -
"""


def test_rows_of_turns(talk: Lake) -> None:
    columns = "branch_kind agent_type turn opener typed begins responses calls failed first_edit_ms"
    assert told(talk, "turns", columns) == TURNS.strip()
    assert told(talk, "turns", "counts") == "-\nTrue\nTrue\n-\nTrue"  # an agent's are no person's
    assert [row["words_typed"] for row in talk["turns"]] == [0, 3, 2, 0, 4]
    assert [row["words_said"] for row in talk["turns"]] == [0, 3, 1, 1, 2]


CALLS = """
trunk - 1 Read ok 1000.0 23 - True
trunk - 1 Edit ok 1000.0 62 - True
trunk - 2 Agent ok 1000.0 164 - True
agent Explore 1 Grep ok 1000.0 18 - True
branch - 1 Bash failed 1000.0 11 True True
"""


def test_rows_of_calls_mark_the_last_one_before_a_rewind(talk: Lake) -> None:
    columns = "branch_kind agent_type turn tool outcome took_ms result_bytes before_rewind counts"
    assert told(talk, "tool_calls", columns) == CALLS.strip()


def test_rows_of_files(talk: Lake) -> None:
    columns = "turn path action outcome added removed counts"
    assert told(talk, "files", columns) == (
        "1 /home/dev/shop/cart.py read ok - - True\n1 /home/dev/shop/cart.py edited ok 1 1 True"
    )


RESPONSES = """
1 main - 40 14238 - -
1 main - 45 48 14238 -
1 main - 6 63 14286 -
1 main - 31 13 14349 True
1 main - 5 36 14362 True
2 main - 45 11 14349 -
2 main - 4 104 14360 -
1 agent Explore 31 14236 - -
1 agent Explore 4 38 14236 -
"""


def test_rows_of_responses(talk: Lake) -> None:
    columns = "turn kind agent_type output cache_write_5m cache_read abandoned"
    assert told(talk, "responses", columns) == RESPONSES.strip()
    standing = {row["uuid"]: (row["branch"], row["turn"]) for row in talk["tool_calls"]}
    for row in talk["responses"]:
        assert standing.get(row["uuid"], (row["branch"], row["turn"])) == (
            row["branch"],
            row["turn"],
        )


def test_rows_of_waste_name_the_response_that_paid(talk: Lake) -> None:
    assert (
        told(talk, "waste", "kind entrypoint least_usd") == "abandoned - -\n" * 2 + "startup cli -"
    )
    left = {row["key"] for row in talk["responses"] if row["abandoned"]}
    assert {row["key"] for row in talk["waste"] if row["kind"] == "abandoned"} == left


TEXT = """
title active - - Totals
prompt active - 1 fix the total
thinking active - 1 where
input active Read 1 /home/dev/shop/cart.py
output active Read 1 1\tdef total(): return 0
"""


def test_rows_of_text_equal_the_passages_of_search(talk: Lake) -> None:
    begin: Lake = {"text": talk["text"][:5]}
    assert told(begin, "text", "kind state tool turn text") == TEXT.strip()
    known = {row["uuid"] for row in talk["records"]}
    assert all(row["uuid"] in known for row in talk["text"][1:])


def test_every_row_names_its_session(talk: Lake) -> None:
    for table in ("turns", "responses", "waste", "tool_calls", "files", "text"):
        whose = {tuple(row.values())[:5] for row in talk[table]}
        assert whose == {tuple(talk["sessions"][0].values())[:5]}


AGAIN = """
file work start=2026-11-02T09:00:00Z cache=5m
U1 "one"
A1< "two"
U2< "three" @+20m
A2< "four"
"""


def test_resent_tokens_have_their_cause(tmp_path: Path) -> None:
    draw(AGAIN).write(tmp_path)
    first, second = made(tmp_path)["responses"]
    assert (first["again"], first["cause"], first["again_usd"]) == (0, None, None)
    assert (second["again"] > 0, second["cause"]) == (True, "pause")
    assert 0 < second["again_usd"] <= second["input_usd"]


def test_counts_profile_has_no_text(tmp_path: Path) -> None:
    draw(AGAIN).write(tmp_path)
    found = lake_of(Archive([tmp_path]), "counts")
    assert "text" not in found
    assert found["responses"].num_rows == 2


FAILED = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "go"
A1< Edit(file_path="/home/dev/shop/a.py", old_string="0", new_string="1") as no
R1< of no error "String not found"
A2< Write(file_path="/home/dev/shop/a.py", content="1") as yes
R2< of yes
A3< Bash(command="cat a.py") as look
R3< of look "é"
A4< Bash(command="cat long")
I1<
"""


def test_only_successful_calls_count_as_file_changes(tmp_path: Path) -> None:
    draw(FAILED).write(tmp_path)
    lake = made(tmp_path)
    assert told(lake, "files", "action outcome counts") == "edited failed -\ncreated ok True"
    assert [row["first_edit_ms"] for row in lake["turns"]] == [4000]
    assert [row["result_bytes"] for row in lake["tool_calls"]][2:] == [2, None]
    assert told(lake, "turns", "interrupted interruptions") == "True 1"


BESIDE = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "go"
A1< Bash(command="cat long") as look
R1< of look "<persisted-output>" {"toolUseResult": $KEPT}
also tool-results/b1.txt
  | the words of a long output
"""


def test_outputs_in_side_files_are_read_unless_redacted(tmp_path: Path) -> None:
    kept = {"persistedOutputPath": "/x/tool-results/b1.txt", "persistedOutputSize": 4711}
    draw(BESIDE.replace("$KEPT", json.dumps(kept))).write(tmp_path)
    lake = made(tmp_path)
    assert [row["result_bytes"] for row in lake["tool_calls"]] == [4711]
    assert any("the words of" in row["text"] for row in lake["text"])
    hidden = lake_of(Archive([tmp_path]), "redacted")
    assert not any("the words of" in row["text"] for row in hidden["text"].to_pylist())


def test_named_agents_are_hidden_in_counts(tmp_path: Path) -> None:
    draw(TALK).write(tmp_path)
    (log,) = tmp_path.rglob("agent-*.jsonl")
    log.rename(log.with_name("agent-ann@acme-shop.com.jsonl"))
    log.with_suffix(".meta.json").unlink()
    own = lake_of(Archive([tmp_path]))["responses"]["agent"].to_pylist()
    assert "ann@acme-shop.com" in own
    hidden = lake_of(Archive([tmp_path]), "redacted")
    assert not any("ann@acme" in f"{hidden[name].to_pylist()}" for name in ("responses", "turns"))


UNNAMED = """
file one start=2026-11-02T09:00:00Z
U1 "x"
A1< "y" {"uuid": null, "requestId": null}
A2< "z" {"uuid": null, "requestId": null}
"""


def test_a_response_without_id_is_identified_by_its_line(tmp_path: Path) -> None:
    for path in draw(UNNAMED).write(tmp_path):
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        for line in lines:
            line.get("message", {}).pop("id", None)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    found = made(tmp_path)["responses"]
    assert len({row["key"] for row in found}) == 2
    assert [row["branch"] for row in found] == [None, None]


def test_the_gallery_adds_up(gallery: Path) -> None:
    assert {name for name, found in made(gallery).items() if not found} == set()


def test_copies_under_other_ids_count_once(gallery: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(gallery / "sub-agent", tmp_path / "root")
    (first,) = Archive([folder]).sessions
    alone = made(folder)
    Archive([folder]).plan.clone(first).apply(force=True)
    both = made(folder)
    assert len(both["responses"]) == len(alone["responses"])
    assert len(both["turns"]) == 2 * len(alone["turns"])
    assert sum(row["counts"] for row in both["turns"]) == sum(
        row["counts"] for row in alone["turns"]
    )


def test_resumed_session_counts_only_its_own(tmp_path: Path) -> None:
    again = "file again start=2026-11-03T09:00:00Z\ncopy work:U1 work:A1\nU2<work:A1 'x'\nA2< 'y'"
    draw(f"{AGAIN}\n{again}".replace("'", '"')).write(tmp_path)
    lake = made(tmp_path)
    counts = [(row["session"], row["counts"]) for row in lake["turns"] if row["turn"]]
    first, last = counts[0][0], counts[-1][0]
    assert counts == [(first, True), (first, True), (last, False), (last, True)]
    assert len(lake["responses"]) == 3


FIGURES = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
MODELS = ("claude-opus-4-1", "claude-sonnet-4-5", "claude-3-haiku", "nobody", "<synthetic>", None)
TOOLS = ("Read", "Edit", "Bash", "Task", "Write", "")
LACKING = ("", "", "", "uuid", "timestamp", "uuid timestamp")
FILES = ("p/s1.jsonl", "p/s2.jsonl", "q/s1.jsonl", "q/s3.jsonl", "p/s1/subagents/agent-a1.jsonl")
WAYS = ("as it is", "copied", "forked", "torn")

paid_rows = st.builds(
    lambda row, figures: {**row, "figures": figures}, rows, st.tuples(*[st.integers(0, 5)] * 4)
)
logs = st.dictionaries(
    st.sampled_from(FILES), st.lists(paid_rows, max_size=16), min_size=1, max_size=4
)


def written(root: Path, path: str, found: list[dict[str, Any]], *, is_own: bool) -> bytes:
    """Write rows as a log whose responses say what they took; its ids are its own, or shared."""
    lines = zip(lines_of("p/s1.jsonl", found), found, strict=True)
    data = b"".join(paid_line(line, row, path if is_own else "") + b"\n" for line, row in lines)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)
    return data


def paid_line(line: bytes, row: dict[str, Any], owner: str) -> bytes:
    value = json.loads(line)
    model, wrote, tool, lacking = row["figures"]
    message = value.get("message") or {}
    if message.get("role") == "assistant":
        message["model"] = MODELS[model]
        if wrote < 5:
            scaled = zip((1, 10, 1000, 10_000), row["figures"], strict=True)
            said = zip(FIGURES, (a * (b + 1) for a, b in scaled), strict=True)
            message["usage"] = {f"{name}_tokens": one for name, one in said}
        for block in message["content"]:
            if block["type"] == "tool_use":
                given_ = {"file_path": f"/x/{row['call']}", "command": "ls", "prompt": "x"}
                block |= {"name": TOOLS[tool], "input": given_}
    if owner:
        value["sessionId"] = "s1" if "agent" in owner else Path(owner).stem
        value.pop("forkedFrom", None)
        for name in ("uuid", "parentUuid", "requestId"):
            value[name] = value[name] and f"{owner} {value[name]}"
    lost = LACKING[lacking].split()
    return json.dumps({name: one for name, one in value.items() if name not in lost}).encode()


def many(archive: dict[str, list[dict[str, Any]]], way: str, at: int) -> None:
    """Hold the rows of an archive against the rest, one of its logs copied, forked or torn."""
    with TemporaryDirectory() as place:
        root = Path(place)
        data, *_ = [written(root, *one, is_own=at % 2 == 1) for one in archive.items()]
        if way == "copied":
            written_bytes(root / "p" / "s9.jsonl", [data])
        elif way == "forked":
            lines = data.splitlines(keepends=True)[: at % 17]
            renamed = (one.replace(b'"sessionId": "s1"', b'"sessionId": "s8"') for one in lines)
            written_bytes(root / "r" / "s8.jsonl", renamed)
        elif way == "torn":
            (root / next(iter(archive))).write_bytes(data[: len(data) * at // 100])
        made(root)


def written_bytes(path: Path, lines: Iterable[bytes]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(lines))


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(logs, st.sampled_from(WAYS), st.integers(0, 99))
def test_any_logs_add_up(archive: dict[str, list[dict[str, Any]]], way: str, at: int) -> None:
    many(archive, way, at)


@pytest.mark.long
@settings(max_examples=2000, suppress_health_check=list(HealthCheck))
@given(logs, st.sampled_from(WAYS), st.integers(0, 99))
def test_many_logs_add_up(archive: dict[str, list[dict[str, Any]]], way: str, at: int) -> None:
    many(archive, way, at)


@pytest.mark.parametrize("part", ["episodic-memory"])
def test_real_logs_add_up(shared: Path, part: str) -> None:
    made(shared / "corpus" / part)


@pytest.mark.long
@pytest.mark.parametrize("part", ["corpus", "produced", "client-sessions"])
def test_all_real_logs_add_up(shared: Path, part: str) -> None:
    made(shared / part)
