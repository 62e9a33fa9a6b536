"""Blame in a repository changed by sessions, by hand, by commands and by Git."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait import Archive
from plait.archive import Blame
from plait.errors import UserError
from tests.files.scripted import Script, Scripted

ONE, TWO, THREE = "one = first_value()", "two = second_value()", "three = third_value()"


@pytest.fixture
def home(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def blame(home: Scripted, path: Path, **more: Any) -> Blame:
    return Archive([home.config]).blame(path, **more)


def authors_of(home: Scripted, found: Blame, *scripts: Script) -> list[str]:
    """Tells each line by the number of the session and the turn that wrote it."""
    names = {item.id: str(place) for place, item in enumerate(scripts, 1)}
    return [
        f"{names[line.session]}:{line.turn} {line.certainty}" if line.session else "unknown"
        for line in found.lines
    ]


def joined(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_file_written_by_two_sessions(home: Scripted) -> None:
    file, first, second = home.top / "cart.py", home.session(), home.session()
    first.prompt("make the cart")
    first.write(file, joined(ONE, TWO))
    first.prompt("and more")
    first.edit(file, TWO, f"{TWO}\n{THREE}")
    second.prompt("change the first")
    uuid = second.edit(file, ONE, "one = other_value()")
    found = blame(home, file)
    assert authors_of(home, found, first, second) == ["2:1 sure", "1:1 sure", "1:2 sure"]
    line = found.lines[0]
    assert (line.line, line.text, line.uuid) == (1, "one = other_value()", uuid)
    assert (line.prompt, line.model) == ("change the first", "claude-opus-4-5")
    assert line.commit is None
    commit = home.commit("the cart")
    again = blame(home, file).lines[0]
    assert (again.commit, again.author) == (commit, "Dev <dev@example.com>")


def test_changes_by_hand_or_command_are_unknown(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    script.prompt("make the cart")
    script.write(file, joined(ONE, TWO))
    file.write_text(joined(ONE, "by hand it came here", TWO), encoding="utf-8")
    script.read(file)
    script.bash(file, joined(ONE, "by hand it came here", "and by sed it was", TWO))
    script.edit(file, TWO, f"{TWO}\n{THREE}")
    assert authors_of(home, blame(home, file), script) == [
        "1:1 likely",
        "unknown",
        "unknown",
        "1:1 likely",
        "1:1 sure",
    ]


def test_line_endings_and_unterminated_last_line(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    file.write_bytes(f"{ONE}\r\n{TWO}".encode())
    script.prompt("change it")
    script.edit(file, ONE, THREE)
    assert file.read_bytes() == f"{THREE}\r\n{TWO}".encode()
    assert authors_of(home, blame(home, file), script) == ["1:1 sure", "unknown"]


def test_replace_all_changes_every_occurrence(home: Scripted) -> None:
    file, script, second = home.top / "cart.py", home.session(), home.session()
    script.prompt("write")
    script.write(file, joined("old_name = first()", TWO, "print(old_name)"))
    second.prompt("rename")
    second.edit(file, "old_name", "new_name", everywhere=True)
    assert authors_of(home, blame(home, file), script, second) == [
        "2:1 sure",
        "1:1 sure",
        "2:1 sure",
    ]


def test_rewind_that_restored_the_file(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    script.prompt("write")
    script.write(file, joined(ONE, TWO))
    tip = script.last
    script.prompt("spoil it")
    script.edit(file, TWO, THREE)
    script.rewind(tip, {file: joined(ONE, TWO)})
    script.prompt("add to it")
    script.edit(file, TWO, f"{TWO}\nfour = fourth_value()")
    found = blame(home, file)
    assert authors_of(home, found, script) == ["1:1 likely", "1:1 likely", "1:2 sure"]
    assert not any(line.is_abandoned for line in found.lines)


def test_an_abandoned_branch_wrote_lines_that_are_still_there(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    script.prompt("write")
    script.write(file, joined(ONE))
    tip = script.last
    script.prompt("more")
    script.edit(file, ONE, f"{ONE}\n{TWO}")
    script.rewind(tip, {})
    script.prompt("another way")
    script.edit(file, TWO, f"{TWO}\n{THREE}")
    found = blame(home, file)
    assert [line.is_abandoned for line in found.lines] == [False, True, False]


def test_file_renamed_and_committed(home: Scripted) -> None:
    old, new, script = home.top / "cart.py", home.top / "shop" / "basket.py", home.session()
    script.prompt("write")
    script.write(old, joined(ONE, TWO, THREE))
    home.commit("one")
    new.parent.mkdir()
    home.git("mv", "cart.py", "shop/basket.py")
    assert authors_of(home, blame(home, new), script) == ["1:1 likely"] * 3
    home.commit("moved")
    script.prompt("change it there")
    script.edit(new, TWO, "two = other_value()")
    assert authors_of(home, blame(home, new), script) == ["1:1 likely", "1:2 sure", "1:1 likely"]


def test_line_from_another_worktree(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    script.prompt("write")
    script.write(file, joined(ONE))
    home.commit("one")
    tree = home.top / ".claude" / "worktrees" / "side"
    home.git("worktree", "add", "-q", "-b", "side", str(tree))
    other = home.session(tree)
    other.prompt("add in the worktree")
    other.edit(tree / "cart.py", ONE, f"{ONE}\n{TWO}")
    home.git("commit", "-qam", "two", cwd=tree)
    home.git("merge", "-q", "side")
    home.git("worktree", "remove", "--force", str(tree))
    assert authors_of(home, blame(home, file), script, other) == ["1:1 likely", "2:1 likely"]


def test_patches_without_the_file_give_the_lines_they_wrote(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    file.write_text(joined(ONE, TWO), encoding="utf-8")
    script.has_originals = False
    script.prompt("add")
    script.edit(file, TWO, f"{TWO}\n{THREE}")
    for copy in (home.config / "file-history" / script.id).iterdir():
        copy.unlink()
    assert authors_of(home, blame(home, file), script) == ["unknown", "unknown", "1:1 sure"]


def test_line_committed_before_it_was_written(home: Scripted) -> None:
    file, script, copy = home.top / "cart.py", home.session(), home.top / "copy.py"
    file.write_text(joined("zero = nothing()", ONE), encoding="utf-8")
    home.commit("by hand")
    home.git("mv", "cart.py", "copy.py")
    home.commit("moved")
    script.prompt("write it once more, elsewhere")
    script.write(file, joined(ONE))
    (line,) = [line for line in blame(home, copy).lines if line.text == ONE]
    assert (line.session, line.why) == (None, "already in Git before any session wrote it")


def test_a_line_that_came_back_is_known_by_an_earlier_commit(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    script.prompt("write")
    script.write(file, joined(ONE, TWO))
    home.commit("on one branch")
    for content in (joined(ONE), joined("zero = nothing()", ONE)):
        file.write_text(content, encoding="utf-8")
        script.read(file)
    merged = joined("zero = nothing()", ONE, TWO)
    file.write_text(merged, encoding="utf-8")
    assert authors_of(home, blame(home, file), script) == ["unknown", "1:1 likely", "1:1 likely"]
    file.write_text(joined(ONE), encoding="utf-8")
    home.commit("without it")
    file.write_text(merged, encoding="utf-8")
    found = blame(home, file)
    assert authors_of(home, found, script) == ["unknown", "1:1 likely", "unknown"]
    assert found.lines[2].why == "removed and added again for a reason that no log shows"
    home.commit("with it")
    assert authors_of(home, blame(home, file), script) == ["unknown", "1:1 likely", "unknown"]


def test_moved_lines_are_unknown(home: Scripted) -> None:
    file, first, second = home.top / "cart.py", home.session(), home.session()
    first.prompt("write")
    first.write(file, joined(ONE, TWO, THREE))
    second.prompt("sort")
    second.write(file, joined(TWO, THREE, ONE))
    found = blame(home, file)
    assert authors_of(home, found, first, second) == ["1:1 sure", "1:1 sure", "unknown"]
    assert found.lines[2].why.startswith("moved by a turn")


@pytest.mark.parametrize("has_originals", [True, False])
def test_writing_identical_content_changes_nothing(home: Scripted, has_originals: bool) -> None:
    file, first, second = home.top / "cart.py", home.session(), home.session()
    first.prompt("write")
    first.write(file, joined(ONE, TWO))
    second.prompt("write the same")
    second.has_originals = has_originals
    second.write(file, joined(ONE, TWO))
    assert authors_of(home, blame(home, file), first, second) == ["1:1 sure", "1:1 sure"]


def test_copied_session_counts_once(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    script.prompt("write")
    script.write(file, joined(ONE))
    copy = script.log.with_name("bbbbbbbb-0000-4000-8000-000000000000.jsonl")
    copy.write_bytes(script.log.read_bytes().replace(script.id.encode(), copy.stem.encode()))
    found = blame(home, file)
    assert [line.certainty for line in found.lines] == ["sure"]
    assert found.lines[0].session in (script.id, copy.stem)


def test_a_deleted_file_is_shown_as_last_known(home: Scripted) -> None:
    file, script = home.top / "cart.py", home.session()
    script.prompt("write")
    script.write(file, joined(ONE))
    file.unlink()
    script.prompt("it is gone")
    found = blame(home, file)
    assert found.as_of is not None
    assert authors_of(home, found, script) == ["1:1 sure"]


def test_same_file_in_another_clone(home: Scripted, tmp_path: Path) -> None:
    file, script = home.top / "src" / "cart.py", home.session()
    script.prompt("write")
    script.write(file, joined(ONE))
    home.commit("the cart")
    home.git("clone", "-q", str(home.top), str(tmp_path / "clone"))
    clone = tmp_path / "clone" / "src" / "cart.py"
    clone.write_text(joined(ONE, TWO), encoding="utf-8")
    archive = Archive([home.config])
    near = archive.blame("src/cart.py", directory=clone.parent.parent)
    assert authors_of(home, near, script) == ["1:1 likely", "unknown"]
    assert near.known_as[0] == str(file)
    far = archive.blame("cart.py", directory=clone.parent, known_as=(str(file),))
    assert authors_of(home, far, script) == ["1:1 likely", "unknown"]


def test_unrelated_file_of_the_same_name(home: Scripted, tmp_path: Path) -> None:
    script, other = home.session(), tmp_path / "other" / "cart.py"
    script.prompt("write")
    script.write(home.top / "cart.py", joined(ONE, TWO))
    home.commit("the cart")
    other.parent.mkdir()
    other.write_text(joined(ONE, TWO), encoding="utf-8")
    archive = Archive([home.config])
    found = archive.blame("cart.py", directory=other.parent)
    assert authors_of(home, found, script) == ["unknown", "unknown"]
    home.git("init", "-q", cwd=other.parent)
    home.git("add", "-A", cwd=other.parent)
    home.git("commit", "-q", "-m", "by hand", cwd=other.parent)
    found = archive.blame("cart.py", directory=other.parent)
    assert authors_of(home, found, script) == ["unknown", "unknown"]


@pytest.mark.parametrize(("lines", "known"), [((ONE, TWO, "x"), 1), ((TWO, THREE), 0), (("x",), 0)])
def test_a_file_of_another_machine_is_this_one_if_the_content_is_similar(
    home: Scripted, tmp_path: Path, lines: tuple[str, ...], known: int
) -> None:
    script, here = home.session(), tmp_path / "here" / "cart.py"
    script.prompt("write")
    script.write(home.top / "cart.py", joined(ONE, "four = fourth_value()", "five = fifth_value()"))
    text = script.log.read_text(encoding="utf-8").replace(str(home.top), "/nowhere/shop")
    script.log.write_text(text, encoding="utf-8")
    here.parent.mkdir()
    here.write_text(joined(*lines), encoding="utf-8")
    found = Archive([home.config]).blame("cart.py", directory=here.parent)
    assert sum(line.session is not None for line in found.lines) == known


def test_folder_is_refused(home: Scripted) -> None:
    home.session().prompt("hello")
    with pytest.raises(UserError, match="is a folder"):
        blame(home, home.top)


def test_unanswerable_questions_are_explained(home: Scripted, tmp_path: Path) -> None:
    home.session().prompt("hello")
    with pytest.raises(UserError, match="no session mentions it"):
        blame(home, home.top / "nowhere.py")
    odd = home.top / "picture.png"
    odd.write_bytes(b"\0\1")
    with pytest.raises(UserError, match="is not a text file"):
        blame(home, odd)
    for name in ("a", "b"):
        script = home.session()
        script.prompt("write")
        script.write(home.top / name / "same.py", joined(ONE))
    with pytest.raises(UserError, match=r"sessions have 2 files whose paths end in 'same\.py'"):
        Archive([home.config]).blame("same.py", directory=tmp_path)


class Play:
    """Sessions, a person, commands and Git at work on one file; each line says who wrote it."""

    def __init__(self, home: Scripted, seed: int) -> None:
        self.home, self.chance = home, random.Random(seed)
        self.file = home.top / "file0.txt"
        self.scripts = [home.session() for _ in range(2)]
        self._count = 0

    def go(self, steps: int) -> None:
        doing = (self.write, self.edit, self.edit, self.by_hand, self.command, self.commit)
        for _ in range(steps):
            self.chance.choice((*doing, self.rename))()

    def fresh(self, by: str, least: int = 0) -> list[str]:
        count = self.chance.randint(least, 3)
        self._count += count
        return [f"line {self._count - place} written by {by}" for place in range(count)]

    @property
    def lines(self) -> list[str]:
        return self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []

    def _asked(self) -> tuple[Script, str]:
        script = self.chance.choice(self.scripts)
        script.has_originals = self.chance.random() < 0.7
        script.prompt("go on")
        return script, f"{script.id}:{script.turn}"

    def write(self) -> None:
        script, by = self._asked()
        script.write(self.file, joined(*self._swapped(by)))

    def edit(self) -> None:
        lines = self.lines
        if lines:
            script, by = self._asked()
            old = self.chance.choice(lines)
            new = [*([old] if self.chance.random() < 0.5 else []), *self.fresh(by, 1)]
            script.edit(self.file, old, "\n".join(new))

    def by_hand(self) -> None:
        self.file.write_text(joined(*self._swapped("hand")), encoding="utf-8")

    def command(self) -> None:
        script, _ = self._asked()
        script.bash(self.file, joined(*self._swapped("command")))

    def commit(self) -> None:
        self.home.commit()

    def rename(self) -> None:
        if self.file.exists():
            self.home.commit()
            self._count += 1
            name = f"file{self._count}.txt"
            self.home.git("mv", self.file.name, name)
            self.file = self.home.top / name
            if self.chance.random() < 0.5:  # else Git may not see that it is the same file
                self.home.commit()

    def _swapped(self, by: str) -> list[str]:
        lines = self.lines
        start = self.chance.randint(0, len(lines))
        lines[start : start + self.chance.randint(0, 2)] = self.fresh(by, 1)
        return lines


def _play(folder: Path, seed: int) -> tuple[int, int]:
    home = Scripted(folder)
    play = Play(home, seed)
    play.go(14)
    play.by_hand()
    known = written = 0
    for line in blame(home, play.file).lines:
        truth = line.text.rpartition(" ")[2]
        assert line.session is None or f"{line.session}:{line.turn}" == truth, line
        known += line.session is not None
        written += ":" in truth
    return known, written


def test_every_line_is_right_or_unknown(tmp_path: Path) -> None:
    counts = [_play(tmp_path / str(seed), seed) for seed in range(6)]
    known, written = (sum(column) for column in zip(*counts, strict=True))
    assert known > 0.8 * written > 20


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 32))
def test_every_line_is_right_or_unknown_at_length(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    _play(tmp_path_factory.mktemp("play"), seed)
