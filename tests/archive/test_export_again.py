"""Repeated exports: unchanged files stay, and no page is ever stale."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.drawing import draw
from plait.archive import Archive, ExportPlan
from plait.cli.app import run
from plait.conversation.prices import Prices
from plait.export import plan as earlier
from plait.export.folder import ExportFolder, load_export_key
from plait.export.plan import STATE_FILE
from plait.redact import Redactor, Rules
from plait.view.passages import RenderOptions

KEY = b"k" * 32
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LISTS = {"index.md", "manifest.json"}


@pytest.fixture(autouse=True)
def at_rest(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take what was written a moment ago for what was written long ago."""
    monkeypatch.setattr(earlier, "SETTLED_NS", 0)
    yield


def story(number: int, words: str = "Go on", answer: str = "Yes.") -> str:
    return (
        f"file s{number} cwd=/home/dev/shop start=2026-11-{number + 1:02}T09:00:00Z\n"
        f'U1 "{words}"\nA1< think "hm" + "{answer}"\n'
    )


def write_story(root: Path, number: int, text: str) -> Path:
    (path,) = draw(text).write(root / "projects" / f"p{number}")
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Four sessions that have nothing to do with one another."""
    for number in range(4):
        write_story(tmp_path / "logs", number, story(number))
    return tmp_path / "logs"


def again(
    root: Path, folder: Path, format_: str = "md", *, is_fresh: bool = False, **changes: Any
) -> set[str]:
    """Export into a folder, and return what was written."""
    archive = Archive([root], jobs=1)
    changes = {"pricing": Prices(), **changes}
    plan = ExportPlan(archive.sessions, **changes)
    plan.previous = ExportFolder(folder).read_previous(KEY, is_fresh=is_fresh)
    folder.mkdir(exist_ok=True)
    written: set[str] = set()

    def noted() -> Iterator[tuple[str, bytes]]:
        for name, data in archive.export(plan, format_):
            written.add(name)
            yield name, data

    ExportFolder(folder).write(noted(), plan)
    return written


def held(folder: Path) -> dict[str, bytes]:
    """Return all that an export holds."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != STATE_FILE)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def fresh(root: Path, **changes: Any) -> dict[str, bytes]:
    """Return all that an export into an empty folder holds."""
    with TemporaryDirectory() as folder:
        again(root, Path(folder), **changes)
        return held(Path(folder))


def logs_of(root: Path) -> list[Path]:
    return sorted((root / "projects").rglob("*.jsonl"))


@pytest.mark.parametrize("format_", ["md", "html", "txt", "json", "jsonl"])
@pytest.mark.parametrize("is_redacted", [False, True])
def test_nothing_is_rendered_twice(
    root: Path, tmp_path: Path, format_: str, is_redacted: bool
) -> None:
    out = tmp_path / "out"
    assert len(again(root, out, format_, redactor=Redactor() if is_redacted else None)) >= 5
    before = held(out)
    assert again(root, out, format_, redactor=Redactor() if is_redacted else None) == set()
    assert held(out) == before


def test_report_is_the_same_when_nothing_is_rendered(root: Path, tmp_path: Path) -> None:
    write_story(root, 1, story(1, f"TOKEN={TOKEN}"))
    plans = []
    for _ in range(2):
        archive = Archive([root], jobs=1)
        plan = ExportPlan(archive.sessions, redactor=Redactor(), pricing=Prices())
        (tmp_path / "out").mkdir(exist_ok=True)
        plan.previous = ExportFolder(tmp_path / "out").read_previous(KEY, is_fresh=False)
        ExportFolder(tmp_path / "out").write(archive.export(plan, "html"), plan)
        plans.append(plan)
    assert plans[0].sizes == plans[1].sizes
    assert plans[0].summary == plans[1].summary
    assert plans[0].redactor and plans[1].redactor
    assert plans[0].redactor.report == plans[1].redactor.report


def test_only_the_changed_session_and_its_lists_are_rendered(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    again(root, out)
    path = write_story(root, 1, story(1, "Something else"))
    assert again(root, out) == {f"transcript_{path.stem}.md", *LISTS}
    assert held(out) == fresh(root)


def test_sessions_sharing_records_are_rendered_together(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    again(root, out)
    text = f'{story(0)}file s9 start=2026-11-20T09:00:00Z\ncopy s0\nU2< "More"\nA2< "Done."\n'
    draw(text).write(root / "projects" / "p0")
    written = again(root, out)
    assert len(written - LISTS) == 1
    assert held(out) == fresh(root)


def test_deleted_session_is_removed(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    again(root, out)
    gone = logs_of(root)[2]
    gone.unlink()
    assert again(root, out) == LISTS
    assert held(out) == fresh(root)
    assert f"transcript_{gone.stem}.md" not in held(out)


@pytest.mark.parametrize("harm", ["gone", "edited", "emptied", "linked"])
def test_changed_export_file_is_noticed(root: Path, tmp_path: Path, harm: str) -> None:
    out = tmp_path / "out"
    again(root, out)
    before = held(out)
    for name in (f"transcript_{logs_of(root)[1].stem}.md", "index.md", "manifest.json"):
        path = out / name
        if harm == "edited":
            path.write_bytes(path.read_bytes().replace(b"e", b"3"))
        elif harm == "emptied":
            path.write_bytes(b"")
        else:
            path.unlink()
        if harm == "linked":
            path.symlink_to(logs_of(root)[0])
        again(root, out)
        assert held(out) == before
        assert not path.is_symlink()


CHANGES: list[dict[str, Any]] = [
    {"manner": RenderOptions(has_thinking=False)},
    {"manner": RenderOptions(depth="all")},
    {"branches": "active"},
    {"pricing": None},
    {"redactor": True},
    {"format_": "html"},
    {"format_": "html", "is_single": True},
    {"format_": "html", "page_depth": "prompts"},
]


@pytest.mark.parametrize("change", CHANGES, ids=repr)
def test_changed_options_render_again(root: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    out, change = tmp_path / "out", {**change}
    if change.get("redactor"):
        change["redactor"] = Redactor()
    again(root, out)
    assert len(again(root, out, **change)) >= 5
    if change.get("redactor"):
        change["redactor"] = Redactor()
    assert held(out) == fresh(root, **change)


def test_another_version_renders_everything(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again(root, tmp_path / "out")
    monkeypatch.setattr(earlier, "_describe_plait", lambda: ("2.0",))
    assert len(again(root, tmp_path / "out")) == 6
    assert again(root, tmp_path / "out") == set()


def test_other_prices_render_everything(root: Path, tmp_path: Path) -> None:
    from plait.conversation.prices.table import parse_price_file

    again(root, tmp_path / "out")
    own = Prices(parse_price_file('["claude-*"]\ninput = 1.0\noutput = 2.0\n', "own.toml"))
    assert len(again(root, tmp_path / "out", pricing=own)) == 6


def test_secret_learned_from_one_session_changes_all_pages(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_story(root, 1, story(1, "say hunter2hunter2"))
    again(root, out, redactor=Redactor())
    assert any(b"hunter2" in data for data in held(out).values())
    write_story(root, 2, story(2, "PASSWORD=hunter2hunter2 ./run"))
    again(root, out, redactor=Redactor())
    assert not any(b"hunter2" in data for data in held(out).values())
    assert held(out) == fresh(root, redactor=Redactor())


def test_own_rules_are_applied_each_time(root: Path, tmp_path: Path) -> None:
    out, rules = tmp_path / "out", Rules(expressions=("Yes",))
    for _ in range(2):
        assert len(again(root, out, redactor=Redactor(rules))) == 7
    assert not (out / STATE_FILE).exists()


def test_response_without_a_time_is_priced_again(root: Path, tmp_path: Path) -> None:
    path = logs_of(root)[1]
    usage = b'"usage":{"input_tokens":5,"output_tokens":7},"model":"claude-opus-4-8",'
    lines = path.read_bytes().replace(b'"role":"assistant",', b'"role":"assistant",' + usage)
    path.write_bytes(re.sub(rb',"timestamp":"[^"]*"', b"", lines))
    again(root, tmp_path / "out")
    assert f"transcript_{path.stem}.md" in again(root, tmp_path / "out")


def test_recently_written_files_are_not_trusted(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier, "SETTLED_NS", 10**15)
    for _ in range(2):
        assert len(again(root, tmp_path / "out")) == 6


def test_without_the_key_everything_is_rendered(root: Path, tmp_path: Path) -> None:
    global KEY
    again(root, tmp_path / "out")
    KEY, known = b"o" * 32, KEY
    try:
        assert len(again(root, tmp_path / "out")) == 6
    finally:
        KEY = known


def test_key_is_private_and_created_once(tmp_path: Path) -> None:
    key = load_export_key(tmp_path / "state")
    assert load_export_key(tmp_path / "state") == key and len(key) == 32
    assert (tmp_path / "state" / "export.key").stat().st_mode & 0o777 == 0o600
    (tmp_path / "state" / "export.key").write_bytes(b"short")
    assert len(load_export_key(tmp_path / "state")) == 32
    (tmp_path / "file").write_text("")
    assert load_export_key(tmp_path / "file") != load_export_key(tmp_path / "file")


@pytest.mark.parametrize(
    "data", [b"", b"{", *map(zlib.compress, (b"", b"[]", b'{"form":99}', b"\xff\xfe"))]
)
def test_unreadable_state_is_ignored(root: Path, tmp_path: Path, data: bytes) -> None:
    out = tmp_path / "out"
    again(root, out)
    (out / STATE_FILE).write_bytes(data)
    assert len(again(root, out)) == 6
    assert held(out) == fresh(root)


def test_state_of_a_redacted_export_contains_no_text(root: Path, tmp_path: Path) -> None:
    write_story(root, 1, story(1, f"GITHUB_TOKEN={TOKEN} for mallory@corp-mail.com"))
    again(root, tmp_path / "out", redactor=Redactor(), format_="html")
    note = zlib.decompress((tmp_path / "out" / STATE_FILE).read_bytes())
    assert not any(word in note for word in (TOKEN.encode(), b"mallory", b"/home/dev"))


def test_interrupted_export_leaves_no_stale_page(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    again(root, out)
    for number in range(3):
        write_story(root, number, story(number, "Other words"))
    archive = Archive([root], jobs=1)
    plan = ExportPlan(archive.sessions, pricing=Prices())
    plan.previous = ExportFolder(out).read_previous(KEY, is_fresh=False)
    files = archive.export(plan, "md")

    def cut() -> Iterator[tuple[str, bytes]]:
        yield next(files)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ExportFolder(out).write(cut(), plan)
    write_story(root, 1, story(1))
    again(root, out)
    assert held(out) == fresh(root)


def test_everything_is_rendered_again_on_request(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLAIT_STATE_DIR", str(tmp_path / "state"))
    output = ["export", "--all", "--root", str(root), "-o", str(tmp_path / "out"), "--json"]
    report, times = [], []
    for more in ([], [], ["--redraw"]):
        assert run([*output, *more]) == 0
        report.append(capfd.readouterr().out)
        times.append((tmp_path / "out" / "index.md").stat().st_mtime_ns)
    assert report[0] == report[1] == report[2]
    assert times[0] == times[1] < times[2]


STEPS = st.sampled_from(
    "add grow edit same replace remove title touch spoil drop secret markdown pages active".split()
)


class History:
    """An archive that changes, and an export that follows it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.out = folder / "logs", folder / "out"
        self.asked: dict[str, Any] = {"format_": "md"}
        self.count = 0
        self.add(0)
        self.add(0)

    def __call__(self, step: str, chance: int) -> None:
        getattr(self, step)(chance)

    def _log(self, chance: int) -> Path:
        found = logs_of(self.root)
        if not found:
            self.add(chance)
            found = logs_of(self.root)
        return found[chance % len(found)]

    def add(self, chance: int) -> None:
        self.count += 1
        write_story(self.root, self.count, story(self.count % 20, f"Words {chance}"))

    def grow(self, chance: int) -> None:
        log = self._log(chance)
        log.write_bytes(log.read_bytes() + log.read_bytes().splitlines(keepends=True)[-1])

    def edit(self, chance: int) -> None:
        log = self._log(chance)
        log.write_bytes(log.read_bytes().replace(b"Words", b"More words"))

    def same(self, chance: int) -> None:
        log = self._log(chance)
        times = log.stat()
        log.write_bytes(log.read_bytes().replace(b"Yes", b"No!").replace(b"ords", b"0rds"))
        os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))

    def replace(self, chance: int) -> None:
        log, other = self._log(chance), self._log(chance + 1)
        if log != other:
            other.replace(log)

    def remove(self, chance: int) -> None:
        if len(logs_of(self.root)) > 1:
            self._log(chance).unlink()

    def title(self, chance: int) -> None:
        folder = self._log(chance).with_suffix("")
        folder.mkdir(exist_ok=True)
        (folder / "custom-title.json").write_text(f'{{"customTitle": "Title {chance}"}}')

    def touch(self, chance: int) -> None:
        self._log(chance).touch()

    def spoil(self, chance: int) -> None:
        found = sorted(self.out.rglob("*.*"))
        path = found[chance % len(found)] if found else self.out
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-3] + b"xyz")

    def drop(self, chance: int) -> None:
        found = [path for path in sorted(self.out.rglob("*.*")) if path.is_file()]
        if found:
            found[chance % len(found)].unlink()

    def secret(self, chance: int) -> None:
        self.asked["redactor"] = None if self.asked.get("redactor") else True

    def markdown(self, chance: int) -> None:
        self.asked["format_"] = "md"

    def pages(self, chance: int) -> None:
        self.asked["format_"] = "html"

    def active(self, chance: int) -> None:
        self.asked["branches"] = "active" if chance % 2 else "all"

    def options(self) -> dict[str, Any]:
        asked = {**self.asked}
        if asked.get("redactor"):
            asked["redactor"] = Redactor()
        return asked


def followed(steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(earlier, "SETTLED_NS", 0)
        history = History(Path(folder))
        again(history.root, history.out, **history.options())
        for step, chance in steps:
            history(step, chance)
            if not (history.out / "manifest.json").exists():
                (history.out / ".plait-export").touch()
            again(history.root, history.out, **history.options())
            assert held(history.out) == fresh(history.root, **history.options())


@given(st.lists(st.tuples(STEPS, st.integers(0, 30)), min_size=3, max_size=6))
@settings(max_examples=3, deadline=None)
def test_no_page_is_ever_stale(steps: list[tuple[str, int]]) -> None:
    followed(steps)


@pytest.mark.long
@given(st.lists(st.tuples(STEPS, st.integers(0, 30)), min_size=3, max_size=12))
@settings(max_examples=400, deadline=None)
def test_no_page_is_ever_stale_in_many_histories(steps: list[tuple[str, int]]) -> None:
    followed(steps)
