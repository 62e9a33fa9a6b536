"""Index and search from Python: facts equal cold files, texts found once."""

import json
import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.drawing import draw
from plait import Archive
from plait.errors import SourceError, UserError
from plait.index.catalogue import CATALOGUE, lock_index
from plait.index.expression import pattern_for_all
from plait.index.query import Field, Phrase, parse_query
from plait.index.search import IndexReader
from plait.index.text_index import separate_scripts, split_words
from plait.indexing import update_index
from plait.search.search import OUTDATED, search
from plait.sessions.fresh_index import read_fresh_facts

COPIES = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
enqueue "unicorn in the queue"
U1 "unicorn in the queue"
A1< "One horn."
last-prompt "unicorn in the queue" leaf A1
enqueue "griffin that nobody sent"
line {"type": "api-request-blob", "message": {"role": "user", "content": "unicorn"}}
"""


def test_list_from_the_index_equals_cold_files(gallery: Path, tmp_path: Path) -> None:
    archive = Archive([gallery])
    assert read_fresh_facts(archive, tmp_path) is None
    update_index(archive, tmp_path)
    facts = read_fresh_facts(archive, tmp_path)
    assert facts == {session.path: archive.facts(session) for session in archive.sessions}


def test_copied_text_is_found_once(tmp_path: Path) -> None:
    draw(COPIES).write(tmp_path / "logs")
    archive, folder = Archive([tmp_path / "logs"]), tmp_path / "index"
    found = search(archive, folder, "unicorn", [Field("kind", "prompt")])
    assert found.total == 1
    assert found.hits[0].turn == 1
    assert search(archive, folder, "griffin").hits[0].kind == "prompt"


def test_forked_turn_is_shown_once(tmp_path: Path) -> None:
    text = 'file one\nU1 "basilisk here"\nA1< "ok"\nfile two\ncopy one\nU2<one:A1 "on"\nA2< "yes"'
    draw(text).write(tmp_path / "logs")
    found = search(Archive([tmp_path / "logs"]), tmp_path / "index", "basilisk in:prompt")
    assert len(found.hits) == 1


def test_a_large_output_next_to_the_log_is_found(tmp_path: Path) -> None:
    draw('file work\nU1 "run"\nT1< Bash(command="x")\nR1< "short"').write(tmp_path / "logs")
    [path] = (tmp_path / "logs").rglob("*.jsonl")
    lines = path.read_bytes().splitlines()
    last = json.loads(lines[-1])
    saved = "<persisted-output>\nOutput too large. Full output saved to: /x/tool-results/b1.txt\n"
    last["message"]["content"][0]["content"] = saved
    path.write_bytes(b"\n".join([*lines[:-1], json.dumps(last).encode()]) + b"\n")
    output = path.with_suffix("") / "tool-results" / "b1.txt"
    output.parent.mkdir(parents=True)
    output.write_text("deep inside stands a chimera")
    archive, folder = Archive([tmp_path / "logs"]), tmp_path / "index"
    [hit] = search(archive, folder, "chimera").hits
    assert (hit.kind, hit.turn, hit.snippet) == ("output", 1, "deep inside stands a chimera")
    output.write_text("deep inside stands a manticore")
    assert search(Archive([tmp_path / "logs"]), folder, "manticore").total == 1


def test_damaged_text_index_is_rebuilt(tmp_path: Path) -> None:
    draw('file work\nU1 "wyvern"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern in:prompt").total == 1
    (folder / "text" / "meta.json").write_text("nonsense")
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern in:prompt").total == 1


def test_an_index_that_lacks_a_file_says_how_to_rebuild_it(tmp_path: Path) -> None:
    draw('file work\nU1 "a wyvern flies"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    update_index(Archive([tmp_path / "logs"]), folder)
    for path in (folder / "text").glob("*.pos"):
        path.unlink()
    with pytest.raises(SourceError) as caught:
        search(Archive([tmp_path / "logs"]), folder, '"wyvern flies"')
    assert "plait index --rebuild" in caught.value.hints[0]
    update_index(Archive([tmp_path / "logs"]), folder, rebuild=True)
    assert search(Archive([tmp_path / "logs"]), folder, '"wyvern flies" in:prompt').total == 1


def test_read_only_index_answers(tmp_path: Path) -> None:
    draw('file work\nU1 "wyvern"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    update_index(Archive([tmp_path / "logs"]), folder)
    places = [folder, *folder.rglob("*")]
    for path in places:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        found = search(Archive([tmp_path / "logs"]), folder, "wyvern in:prompt")
        assert (found.total, found.by) == (1, "index")
    finally:
        for path in places:
            path.chmod(0o755)


def test_without_an_index_words_are_found_in_the_logs(tmp_path: Path) -> None:
    text = 'file work\nU1 "The Wyvern met a basilisk"\nA1< "a wyvern alone"'
    draw(text).write(tmp_path / "logs")
    (tmp_path / "index").write_text("a file in its place")
    found = search(Archive([tmp_path / "logs"]), tmp_path / "index", "basilisk wyvern =>")
    assert (found.total, found.by) == (1, "scan")
    assert found.hits[0].snippet == "The Wyvern met a basilisk"
    # Looked for from the beginning alone: else a long text takes its length squared.
    assert pattern_for_all(["wyvern", "basilisk"]).pattern.startswith(r"(?is)\A")
    assert pattern_for_all(["wyvern", "basilisk"]).required == "wyvern"


def test_a_search_during_an_update_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.search.search.MOST_WAITED", 0.0)
    draw('file work\nU1 "wyvern"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern").note is None
    draw('file other\nU1 "wyvern"\nA1< "ok"').write(tmp_path / "logs")
    with lock_index(folder):
        found = search(Archive([tmp_path / "logs"]), folder, "wyvern in:prompt")
        assert (found.total, found.note) == (1, OUTDATED)
    found = search(Archive([tmp_path / "logs"]), folder, "wyvern in:prompt")
    assert (found.total, found.note) == (2, None)


def test_unreadable_facts_are_ignored(gallery: Path, tmp_path: Path) -> None:
    update_index(Archive([gallery]), tmp_path)
    with sqlite3.connect(tmp_path / CATALOGUE) as connection:
        connection.execute("UPDATE sessions SET facts = x'c1'")
    assert read_fresh_facts(Archive([gallery]), tmp_path) is None


def test_passages_of_an_agent_that_outlives_its_session_are_counted_by_month(
    tmp_path: Path,
) -> None:
    own, agent = tmp_path / "p" / "s.jsonl", tmp_path / "p" / "s" / "subagents" / "agent-x.jsonl"
    agent.parent.mkdir(parents=True)
    for path, month, more in (
        (own, "01", {}),
        (agent, "03", {"agentId": "x", "isSidechain": True}),
    ):
        place = {"uuid": month, "sessionId": "s", "timestamp": f"2026-{month}-02T09:00:00.000Z"}
        message = {"role": "user", "content": "a lamia"}
        path.write_text(json.dumps({"type": "user", **place, "message": message, **more}) + "\n")
    found = search(
        Archive([tmp_path]), tmp_path / "index", "lamia in:prompt", has_facets=True, limit=1
    )
    assert found.facets["month"] == {"2026-01": 1, "2026-03": 1}
    assert found.total == 2


def test_deleted_session_is_not_found(tmp_path: Path) -> None:
    draw('file work\nU1 "wyvern"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern").total > 0
    next((tmp_path / "logs").rglob("*.jsonl")).unlink()
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern").total == 0


def test_content_of_a_broken_line_is_found(tmp_path: Path) -> None:
    draw('file work\nU1 "hello"\nA1< "ok"').write(tmp_path / "logs")
    [path] = (tmp_path / "logs").rglob("*.jsonl")
    first = path.read_bytes().splitlines()[0].replace(b"hello", b"hydra one")
    other = first.replace(b"hydra one", b"hydra two").replace(b'"uuid":"', b'"uuid":"x')
    with path.open("ab") as file:
        file.write(first.replace(b'"uuid":"', b'"uuid":"y') + other + b"\n")
    found = search(Archive([tmp_path / "logs"]), tmp_path / "index", "hydra", context=1)
    assert {(hit.snippet, hit.state) for hit in found.hits} <= {
        ("hydra one", "recovered"),
        ("hydra two", "recovered"),
    }
    assert found.total == 2


def test_log_changed_during_a_search_is_no_error(tmp_path: Path) -> None:
    draw('file work\nU1 "kraken"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    update_index(Archive([tmp_path / "logs"]), folder)
    reader = IndexReader(folder)
    [path] = (tmp_path / "logs").rglob("*.jsonl")
    path.write_bytes(b"nothing of the kind\n")
    assert reader.search("kraken in:prompt").hits[0].snippet == ""
    path.unlink()
    assert reader.search("kraken in:prompt").hits[0].uuid is None
    reader.close()


@settings(max_examples=300)
@given(st.text(alphabet='ab "()-*~:ORANDT', max_size=20))
def test_any_query_is_parsed_or_explained(text: str) -> None:
    try:
        parse_query(text)
    except UserError as error:
        assert error.hints


def test_words_may_be_far_apart() -> None:
    assert parse_query('"parse error"~12') == Phrase("parse error", slop=12)


def test_tokens_are_cut_alike_for_texts_and_queries() -> None:
    assert split_words("Foo_bar.baz/qux-1 ÉTÉ") == ["foo", "bar", "baz", "qux", "1", "été"]
    assert split_words("使用git提交") == ["使用", "git", "提交"]
    assert separate_scripts("提交代码 and 好")[1] == "提交 交代 代码 好"
    assert separate_scripts("plain")[1] == ""
