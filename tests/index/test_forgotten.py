"""Deleted sessions leave no page, row or journal entry."""

from pathlib import Path

from examples.drawing import draw
from plait.archive import Archive
from plait.indexing import update_index
from plait.sessions.page_cache import fingerprint_session, open_page_cache

WORDS = "unmistakable pomegranate"
KEPT, GONE = (
    draw(f'file {name} cwd=/srv/shop\nai-title "{words}"\nU1 "{words}"\nA1< "Yes."')
    for name, words in (("kept", "an ordinary thing"), ("gone", WORDS))
)


def written(root: Path) -> Archive:
    """Return an archive of two sessions."""
    KEPT.write(root)
    GONE.write(root)
    return Archive([root])


def held(index: Path, words: str) -> list[str]:
    """Return the files of an index, and of what lies beside it, that hold some words."""
    places = (path for path in index.parent.rglob("*") if path.is_file())
    return [path.name for path in places if words.encode() in path.read_bytes()]


def test_deleted_session_is_in_no_index_file(tmp_path: Path) -> None:
    root, index = tmp_path / "root", tmp_path / "cache" / "index"
    archive = written(root)
    update_index(archive, index)
    assert held(index, WORDS) != []
    next(root.rglob(f"{GONE.session}.jsonl")).unlink()
    assert update_index(Archive([root]), index).forgotten == 1
    assert held(index, WORDS) == []
    assert held(index, "an ordinary thing") != []


def test_cached_page_of_a_deleted_session_is_removed(tmp_path: Path) -> None:
    root, index = tmp_path / "root", tmp_path / "cache" / "index"
    archive = written(root)
    update_index(archive, index)
    pages = open_page_cache(index)
    for session in archive.sessions:
        pages.save(session.id, fingerprint_session(session), f"<p>{session.id}</p>")
    next(root.rglob(f"{GONE.session}.jsonl")).unlink()
    update_index(Archive([root]), index)
    (kept,) = Archive([root]).sessions
    assert [path.name for path in pages.folder.iterdir()] == [pages.path_of(kept.id).name]
    assert pages.find(kept.id, fingerprint_session(kept)) == f"<p>{kept.id}</p>"


def test_cached_page_of_a_changed_session_is_removed(tmp_path: Path) -> None:
    root, index = tmp_path / "root", tmp_path / "cache" / "index"
    archive = written(root)
    update_index(archive, index)
    pages = open_page_cache(index)
    for session in archive.sessions:
        pages.save(session.id, fingerprint_session(session), "page")
    log = next(root.rglob(f"{GONE.session}.jsonl"))
    log.write_text(log.read_text().replace(WORDS, "something else"))
    update_index(Archive([root]), index)
    assert [path.name for path in pages.folder.iterdir()] == [pages.path_of(KEPT.session).name]


def test_foreign_cache_files_are_removed(tmp_path: Path) -> None:
    pages = open_page_cache(tmp_path / "index")
    pages.save("a", "mark", "page")
    (pages.folder / "odd.page").write_bytes(b"\xff" * 1000)
    pages.prune(lambda: {"mark"})
    assert [path.name for path in pages.folder.iterdir()] == [pages.path_of("a").name]
