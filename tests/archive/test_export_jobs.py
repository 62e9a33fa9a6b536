"""Exports by one process and by several are equal, whatever happens to the files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.archive import Archive, ExportPlan
from plait.cli.app import run
from plait.conversation.prices import Prices
from plait.export import plan as drawing
from plait.line.workers import Workers
from plait.redact import Redactor, Rules
from plait.sessions.families import group_families
from plait.view.passages import RenderOptions
from tests.sampling import EACH_AND_ALL, in_turn, one_of

FORMATS = ["md", "html", "txt", "json", "jsonl", "atif", "toolpath"]
TOKENS = [f"ghp_{letter}1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" for letter in "abc"]


@pytest.fixture(autouse=True)
def everything_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has even little drawn by several processes."""
    monkeypatch.setattr(drawing, "PARALLEL_BYTES", 0)


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many workers were asked for, each time."""
    found: list[int] = []
    enter = Workers.__enter__

    def counted(self: Workers) -> Workers:
        found.append(self.jobs)
        return enter(self)

    monkeypatch.setattr(Workers, "__enter__", counted)
    return found


def exported(root: Path, jobs: int, format_: str = "md", **changes: Any) -> dict[str, bytes]:
    """Return the files of an export by their names, in their order."""
    archive = Archive([root], jobs=jobs)
    plan = ExportPlan(archive.sessions, pricing=Prices(), **changes)
    return dict(archive.export(plan, format_))


@pytest.mark.parametrize(("format_", "is_redacted"), in_turn(FORMATS, [False, True], str))
def test_parallel_export_equals_serial(
    gallery: Path, began: list[int], format_: str, is_redacted: bool
) -> None:
    made = [
        exported(gallery, jobs, format_, redactor=Redactor() if is_redacted else None)
        for jobs in (1, 3)
    ]
    assert list(made[0].items()) == list(made[1].items())
    assert len(made[0]) > 18
    assert began == [3]


def test_parallel_export_equals_serial_with_options(gallery: Path, began: list[int]) -> None:
    changes: list[dict[str, Any]] = [
        {"manner": RenderOptions(agents="files", has_front_matter=True), "branches": "active"},
        {"is_single": True, "page_depth": "answers"},
    ]
    for format_, asked in zip(("md", "html"), changes, strict=True):
        assert exported(gallery, 1, format_, **asked) == exported(gallery, 2, format_, **asked)
    assert began == [2, 2]


@pytest.mark.parametrize("every", EACH_AND_ALL)
def test_parallel_export_of_real_logs_equals_serial(
    shared: Path, began: list[int], every: int
) -> None:
    made = []
    for jobs in (1, 2):
        archive = Archive([shared / "corpus"], jobs=jobs)
        found = one_of(every, list(group_families(archive.sessions)))
        sessions = tuple(item for members in found for item in members)
        plan = ExportPlan(sessions, pricing=Prices(), redactor=Redactor())
        made.append(dict(archive.export(plan, "txt")))
    assert made[0] == made[1]
    assert len(made[0]) > 150 // every
    assert began == [2]


@pytest.mark.parametrize("rules", [Rules(expressions=("chocolate",)), Rules(files=("*.env",))])
def test_own_rules_run_in_one_process(gallery: Path, began: list[int], rules: Rules) -> None:
    made = [exported(gallery, jobs, redactor=Redactor(rules)) for jobs in (1, 2)]
    assert made[0] == made[1]
    assert began == []


def test_small_exports_run_in_one_process(
    gallery: Path, began: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    size = sum(file.size for file in Archive([gallery]).files)
    monkeypatch.setattr(drawing, "PARALLEL_BYTES", size + 1)
    exported(gallery, 2)
    assert began == []
    monkeypatch.setattr(drawing, "PARALLEL_BYTES", size)
    exported(gallery, 2)
    assert began == [2]


def test_unpicklable_prices_run_in_one_process(gallery: Path, began: list[int]) -> None:
    class Own:
        def cost(self, *_: object) -> float:
            return 1.0

    archive = Archive([gallery], jobs=2)
    assert dict(archive.export(ExportPlan(archive.sessions, pricing=Own()), "md"))
    assert began == []


def written_apart(root: Path, *texts: str) -> Path:
    """Write sessions, each in a project of its own."""
    for number, text in enumerate(texts):
        draw(text).write(root / "projects" / f"p{number}")
    return root


def story(number: int, words: str) -> str:
    return f'file s{number} start=2026-11-0{number}T09:00:00Z\nU1 "{words}"\nA1< "Yes."\n'


def test_equal_names_of_two_families_are_distinguished(tmp_path: Path) -> None:
    """Both have a value that nothing taught before: a key in another spelling."""
    spelled = [f"see {token.encode().hex()}" for token in TOKENS]
    report = [story(n + 1, f"GITHUB_TOKEN={token}") for n, token in enumerate(TOKENS)]
    texts = [*report, *(story(n + 4, words) for n, words in enumerate(spelled))]
    root = written_apart(tmp_path, *texts, story(7, f"{TOKENS[0].upper()} {spelled[0]}"))
    made = [exported(root, jobs, "txt", redactor=Redactor()) for jobs in (1, 2)]
    assert made[0] == made[1]
    output = b"".join(made[0].values()).decode()
    assert "‹secret 1.1: github token›" in output and "‹secret 1.2: github token›" in output


def test_names_differing_only_in_case_are_distinguished(tmp_path: Path) -> None:
    for number, name in enumerate(("Story", "story", "STORY")):
        (path,) = draw(story(number + 1, name)).write(tmp_path / "projects" / f"p{number}")
        path.rename(path.with_name(f"{name}.jsonl"))
        text = path.with_name(f"{name}.jsonl")
        text.write_bytes(text.read_bytes().replace(path.stem.encode(), name.encode()))
    made = [exported(tmp_path, jobs) for jobs in (1, 2)]
    assert made[0] == made[1]
    names = [name for name in made[0] if name.startswith("transcript_")]
    assert len({name.casefold() for name in names}) == 3


@pytest.mark.parametrize("fate", ["gone", "grown", "replaced"])
def test_files_changed_meanwhile_give_the_same_parallel_output(
    gallery: Path, tmp_path: Path, fate: str
) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(gallery, logs)
    archives = [Archive([logs], jobs=jobs) for jobs in (1, 2)]
    sessions = [archive.sessions for archive in archives]
    victim, other, *_ = (
        session.path for session in sessions[0] if session.file and session.bytes > 5000
    )
    if fate == "gone":
        victim.unlink()
    elif fate == "grown":
        victim.write_bytes(victim.read_bytes() * 2)
    else:
        other.replace(victim)
    made = [
        dict(archive.export(ExportPlan(chosen, redactor=Redactor()), "md"))
        for archive, chosen in zip(archives, sessions, strict=True)
    ]
    assert made[0] == made[1]


def test_dead_workers_are_reported_and_their_work_repeated(
    gallery: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PLAIT_STATE_DIR", str(tmp_path / "state"))
    output = ("export", "--all", "--root", str(gallery), "-o")
    assert run([*output, str(tmp_path / "alone"), "--jobs", "1"]) == 0
    alone = capfd.readouterr()
    enter = Workers.__enter__

    def dead(self: Workers) -> Workers:
        entered = enter(self)
        for process in entered._processes:
            os.kill(process.pid, signal.SIGKILL)
        return entered

    monkeypatch.setattr(Workers, "__enter__", dead)
    assert run([*output, str(tmp_path / "together"), "--jobs", "2"]) == 0
    together = capfd.readouterr()
    assert together.out.replace("together", "alone") == alone.out
    assert "crashed while reading" in together.err and "died" not in alone.err
    assert _held(tmp_path / "together") == _held(tmp_path / "alone")


def _held(folder: Path) -> dict[str, bytes]:
    """Return what lies in the folder of an export."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in paths
        if not path.name.startswith(".")
    }


SLOWLY = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
from plait.export import plan
from plait.line.output import OutputFolder
plan.PARALLEL_BYTES, write = 0, OutputFolder.write
def slowly(self, name, data):
    write(self, name, data)
    time.sleep(0.05)
OutputFolder.write = slowly
from plait.cli import main
main()
"""


def test_stopped_export_leaves_complete_files_and_no_processes(
    gallery: Path, tmp_path: Path
) -> None:
    out, full = tmp_path / "out", exported(gallery, 1)
    output = ["export", "--all", "--root", str(gallery), "-o", str(out), "--no-redact"]
    home = {**os.environ, "PLAIT_STATE_DIR": str(tmp_path / "state")}
    program = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, *output, "--jobs", "2"],
        env=home,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while len(_held(out)) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(program.pid, signal.SIGINT)
    assert program.wait(60) != 0
    left = _held(out)
    assert 3 <= len(left) < len(full)
    assert left == {name: full[name] for name in left}
    with pytest.raises(ProcessLookupError):
        os.killpg(program.pid, 0)
