"""An open index: matching sessions, and changes while it is open."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from plait import Archive
from plait.errors import SourceError
from plait.index.model import Hit
from plait.index.search import SharedReader
from plait.indexing import update_index

QUERIES = (
    "the",
    "gift card",
    '"unclosed emphasis"',
    "pars*",
    "config OR decimal",
    "report -decimal",
    "tool:Bash",
    "tool:Bash kind:prompt",
    "kind:title",
    "onfi",
    "nosuchword",
)


@pytest.fixture
def root(gallery: Path, tmp_path: Path) -> Path:
    """Return a copy of the examples gallery with an index beside it."""
    root = Path(shutil.copytree(gallery, tmp_path / "logs"))
    update_index(Archive([root]), tmp_path / "index")
    return root


@pytest.fixture
def shared(root: Path, tmp_path: Path) -> Iterator[SharedReader]:
    reader = SharedReader(tmp_path / "index")
    yield reader
    reader.close()


@pytest.mark.parametrize("query", QUERIES)
def test_matching_sessions_equal_a_search(shared: SharedReader, query: str) -> None:
    with shared.open() as reader:
        keys = reader.match_sessions(query)
        hits = reader.find_first_hits(query, keys)
        searched = reader.search(query, limit=10_000)
    best: dict[str, Hit] = {}
    for hit in searched.hits:
        best.setdefault(hit.session, hit)
    assert searched.is_whole
    assert {Path(key).stem for key in keys} == best.keys()
    assert set(hits) == keys
    # A search shows a title above the best turn of its session; here the passage itself is shown.
    for hit in hits.values():
        assert hit.session in best
        assert hit.snippet or hit.kind == "output"  # a result may be empty


def write_line(root: Path, text: str) -> Path:
    """Add a session that says something."""
    path = root / "projects" / "home-dev-new" / "5e550000-0000-4000-8000-000000000001.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"5e550000-0000-4000-8000-'
        '000000000001","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/home/dev/new",'
        f'"message":{{"role":"user","content":"{text}"}}}}\n',
        encoding="utf-8",
    )
    return path


def test_changes_are_seen_by_an_open_reader(root: Path, shared: SharedReader) -> None:
    with shared.open() as first:
        assert not first.match_sessions("walrusword")
    with shared.open() as again:
        assert again is first
    path = write_line(root, "walrusword")
    update_index(Archive([root]), shared.folder)
    with shared.open() as changed:
        assert changed.match_sessions("walrusword") == {str(path)}
    shutil.rmtree(shared.folder)
    with pytest.raises(SourceError), shared.open():
        pass
    write_line(root, "otherword")
    update_index(Archive([root]), shared.folder)
    with shared.open() as rebuilt:
        assert not rebuilt.match_sessions("walrusword")
        assert rebuilt.match_sessions("otherword") == {str(path)}


def test_reader_is_thread_safe(shared: SharedReader) -> None:
    found: list[int] = []

    def ask() -> None:
        for _ in range(20):
            with shared.open() as reader:
                found.append(reader.search("gift card").total)

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    assert len(set(found)) == 1
    assert found[0] > 0
