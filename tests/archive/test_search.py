"""The archive's index and search from Python: facts that equal cold files, texts once."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from examples.drawing import draw
from plait import Archive
from plait.archive.indexing import refresh
from plait.archive.listed import listed_facts
from plait.archive.search import search
from plait.errors import UserError
from plait.index.query import Field, parse
from plait.index.search import Reader
from plait.index.words import pairs_of, words_of

COPIES = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
enqueue "unicorn in the queue"
U1 "unicorn in the queue"
A1< "One horn."
last-prompt "unicorn in the queue" leaf A1
enqueue "griffin that nobody sent"
line {"type": "api-request-blob", "message": {"role": "user", "content": "unicorn"}}
"""


def test_a_list_from_the_index_equals_one_from_cold_files(gallery: Path, tmp_path: Path) -> None:
    archive = Archive([gallery])
    assert listed_facts(archive, tmp_path) is None
    refresh(archive, tmp_path)
    facts = listed_facts(archive, tmp_path)
    assert facts == {session.path: archive.facts(session) for session in archive.sessions}


def test_each_text_is_found_once_whatever_its_copies(tmp_path: Path) -> None:
    draw(COPIES).write(tmp_path / "logs")
    archive, folder = Archive([tmp_path / "logs"]), tmp_path / "index"
    found = search(archive, folder, "unicorn", [Field("kind", "prompt")])
    assert found.total == 1
    assert found.hits[0].turn == 1
    assert search(archive, folder, "griffin").hits[0].kind == "prompt"


def test_a_forked_copy_of_a_turn_is_shown_once(tmp_path: Path) -> None:
    text = 'file one\nU1 "basilisk here"\nA1< "ok"\nfile two\ncopy one\nU2<one:A1 "on"\nA2< "yes"'
    draw(text).write(tmp_path / "logs")
    found = search(Archive([tmp_path / "logs"]), tmp_path / "index", "basilisk in:prompt")
    assert len(found.hits) == 1


def test_a_large_output_beside_the_log_is_found(tmp_path: Path) -> None:
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


def test_an_index_with_damaged_words_is_made_anew(tmp_path: Path) -> None:
    draw('file work\nU1 "wyvern"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern in:prompt").total == 1
    (folder / "text" / "meta.json").write_text("nonsense")
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern in:prompt").total == 1


def test_a_session_that_has_gone_is_found_no_more(tmp_path: Path) -> None:
    draw('file work\nU1 "wyvern"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern").total > 0
    next((tmp_path / "logs").rglob("*.jsonl")).unlink()
    assert search(Archive([tmp_path / "logs"]), folder, "wyvern").total == 0


def test_what_a_broken_line_holds_is_found(tmp_path: Path) -> None:
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


def test_a_log_that_changed_under_the_reader_is_no_error(tmp_path: Path) -> None:
    draw('file work\nU1 "kraken"\nA1< "ok"').write(tmp_path / "logs")
    folder = tmp_path / "index"
    refresh(Archive([tmp_path / "logs"]), folder)
    reader = Reader(folder)
    [path] = (tmp_path / "logs").rglob("*.jsonl")
    path.write_bytes(b"nothing of the kind\n")
    assert reader.search("kraken in:prompt").hits[0].snippet == ""
    path.unlink()
    assert reader.search("kraken in:prompt").hits[0].uuid is None
    reader.close()


@settings(max_examples=300)
@given(st.text(alphabet='ab "()-*~:ORANDT', max_size=20))
def test_any_query_is_read_or_explained(text: str) -> None:
    try:
        parse(text)
    except UserError as error:
        assert error.hints


def test_words_are_cut_alike_for_texts_and_questions() -> None:
    assert words_of("Foo_bar.baz/qux-1 ÉTÉ") == ["foo", "bar", "baz", "qux", "1", "été"]
    assert words_of("使用git提交") == ["使用", "git", "提交"]
    assert pairs_of("提交代码 and 好") == "提交 交代 代码 好"
    assert pairs_of("plain") == ""
