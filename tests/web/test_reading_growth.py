"""Growing logs: what is read again, and that early results equal later ones."""

from pathlib import Path
from threading import Thread

import pytest

from examples.drawing import draw
from plait.archive.archive import Archive
from plait.archive.live.live_archive import LiveArchive
from plait.archive.live.session import LiveSession, open_live_session
from plait.conversation.prices import Prices
from plait.sessions.open_session import open_session
from plait.sessions.page_cache import MAX_PAGES, PageCache

STORY = """
file story cwd=/home/dev/tide pace=lifelike
U1 "One?"
A1< "First." + Bash(command="ls") as one
R1< of one "out"
A2< "Done with one."
U2< "Two?"
A3< think "Hm." + "Second."
S1< turn_duration
U3< "Three?"
A4< Read(file_path="/home/dev/tide/a.txt") as two
R2< of two
  | a
A5< "Third."
"""
TURNS = (
    ('U9<A1 "Back to one."', "a rewind"),
    ("last-prompt leaf A1", "a pointer elsewhere"),
    ('R9<A5 of one "again"', "a result of an earlier call"),
    ('raw "{torn"', "a broken line"),
)


class Log:
    """A log on disk that is written line by line."""

    def __init__(self, folder: Path, data: bytes, name: str = "story") -> None:
        self.lines = data.splitlines(keepends=True)
        self.path = folder / "projects" / "-p" / f"{name}.jsonl"
        self.path.parent.mkdir(parents=True)
        self.root = folder

    def write(self, first: int, last: int) -> None:
        """Write some of its lines."""
        with self.path.open("ab") as file:
            file.write(b"".join(self.lines[first:last]))

    def read(self) -> LiveSession:
        """Read it as it is now."""
        session = Archive([self.root]).sessions[0]
        return open_live_session(session.id, session, Prices())


def render_turns_from(item: LiveSession, first: int) -> list[str]:
    """Return the turns of the active line from one on, drawn."""
    assert item.column is not None
    active = item.column.conversations.active
    return list(item.column.iter_turns(active, first, len(active.turns)))


def agrees(log: Log, cut: int) -> int:
    """Check that what is told early is what is told later; returns how often it was told."""
    log.write(0, cut)
    item = log.read()
    count = 0
    if item.column is None:
        return 0
    for end in range(cut, len(log.lines)):
        log.write(end, end + 1)
        early = item.follower.conversation()
        if early is None:
            break
        later = log.read()
        if later.column.options.directory != item.column.options.directory:  # type: ignore[union-attr]
            break
        count += 1
        result = list(item.column.iter_turns(early, 0, len(early.turns)))
        assert result == render_turns_from(later, item.follower.first_turn)
        assert (
            render_turns_from(item, 0)[: item.follower.first_turn]
            == render_turns_from(later, 0)[: item.follower.first_turn]
        )
    return count


@pytest.mark.parametrize("cut", [2, 5, 8, 11])
def test_early_growth_equals_the_later_full_rendering(tmp_path: Path, cut: int) -> None:
    assert agrees(Log(tmp_path, draw(STORY).data), cut) > 0


def test_early_and_later_results_agree_in_every_example(gallery: Path, tmp_path: Path) -> None:
    result = 0
    for number, path in enumerate(sorted(gallery.rglob("*.jsonl"))):
        data = path.read_bytes()
        count = data.count(b"\n")
        if "subagents" in path.parts or count < 4:
            continue
        log = Log(tmp_path / str(number), data, path.stem)
        result += agrees(log, max(1, 2 * count // 3))
    assert result > 20


@pytest.mark.parametrize(("line", "_"), TURNS)
def test_log_that_switches_branch_is_read_again(tmp_path: Path, line: str, _: str) -> None:
    log = Log(tmp_path, draw(STORY + line).data)
    log.write(0, len(log.lines) - 1)
    item = log.read()
    assert item.follower.conversation() is not None
    log.write(len(log.lines) - 1, len(log.lines))
    assert item.follower.conversation() is None


def test_only_new_lines_are_read_again(tmp_path: Path) -> None:
    log = Log(tmp_path, draw(STORY).data)
    log.write(0, 8)
    session = Archive([log.root]).sessions[0]
    first = open_session(session)
    log.write(8, 12)
    second = first.reopen(session)
    before = first.records
    after = second.records
    assert [item.raw for item in after] == [line.rstrip(b"\n") for line in log.lines[:12]]
    assert all(old is new for old, new in zip(before, after, strict=False))
    assert second.epoch == first.epoch


def test_rewritten_log_is_read_again(tmp_path: Path) -> None:
    log = Log(tmp_path, draw(STORY).data)
    log.write(0, 12)
    session = Archive([log.root]).sessions[0]
    first = open_session(session)
    log.path.write_bytes(log.path.read_bytes().replace(b"First.", b"Other.") + log.lines[12])
    assert first.reopen(session).epoch == first.epoch  # in place, and its end is the same
    draft = log.path.with_suffix(".draft")
    draft.write_bytes(log.path.read_bytes())
    draft.replace(log.path)
    assert first.reopen(session).epoch != first.epoch
    log.path.unlink()
    assert first.reopen(session).epoch != first.epoch


def test_session_is_read_once_for_concurrent_requests(tmp_path: Path) -> None:
    log = Log(tmp_path / "logs", draw(STORY).data)
    log.write(0, len(log.lines))
    library = LiveArchive((log.root,), tmp_path / "index")
    name = next(iter(library.snapshot.names))
    found: list[LiveSession] = []
    threads = [Thread(target=lambda: found.append(library.open_session(name))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert len(found) == 8
    assert all(item is found[0] for item in found)


def test_pages_are_cached_by_their_files(tmp_path: Path) -> None:
    kept = PageCache(tmp_path / "pages")
    assert kept.find("a", "mark") is None
    kept.save("a", "mark", "<p>ü</p>")
    assert kept.find("a", "mark") == "<p>ü</p>"
    assert kept.find("a", "other") is None
    kept.path_of("a").write_bytes(kept.head("mark").encode() + b"\nnonsense")
    assert kept.find("a", "mark") is None
    assert kept.path_of("a").stat().st_mode & 0o077 == 0
    for number in range(MAX_PAGES + 5):
        kept.save(str(number), "mark", "page")
    assert len(list(kept.folder.iterdir())) == MAX_PAGES
