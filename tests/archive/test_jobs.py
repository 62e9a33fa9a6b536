"""One process and several give the same answers, whatever happens to the files."""

import json
import os
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from plait.archive import Archive, CheckedFile
from plait.cli.app import run
from plait.index import scanning
from plait.index.catalogue import CATALOGUE
from plait.line.workers import Workers
from plait.redact import Redactor, parse_rules
from plait.sessions import disclosures, statistics, worker_pool
from plait.sessions.worker_pool import SINGLE_PROCESS, WorkerPool, is_worth_workers
from plait.trace import traces
from plait.usage import responses as counting


@pytest.fixture(autouse=True)
def everything_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has even little read by several processes."""
    monkeypatch.setattr(counting, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(scanning, "PARALLEL_BYTES", 0)
    for module in (worker_pool, statistics, disclosures, traces):
        monkeypatch.setattr(module, "is_worth_workers", lambda hands, *_: hands.jobs > 1)


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


@pytest.mark.parametrize("jobs", [2, 3])
def test_parallel_usage_equals_serial(gallery: Path, began: list[int], jobs: int) -> None:
    alone = Archive([gallery], jobs=1).responses()
    assert began == []
    assert Archive([gallery], jobs=jobs).responses() == alone
    assert began == [jobs]
    assert len(alone.responses) > 100


def test_parallel_usage_of_real_logs_equals_serial(shared: Path) -> None:
    logs = shared / "corpus"
    assert Archive([logs], jobs=3).responses() == Archive([logs], jobs=1).responses()


def test_parallel_text_search_equals_serial(
    gallery: Path, tmp_path: Path, began: list[int]
) -> None:
    found = [
        Archive([gallery], tmp_path / "index", jobs=jobs).search("the", way="exact")
        for jobs in (1, 2)
    ]
    assert [hit.uuid for hit in found[0].hits] == [hit.uuid for hit in found[1].hits] != []
    assert began == [2]


@pytest.mark.parametrize("fate", ["gone", "grown", "replaced"])
def test_files_changed_meanwhile_give_the_same_parallel_answer(
    gallery: Path, tmp_path: Path, fate: str
) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(gallery, logs)
    archives = [Archive([logs], jobs=jobs) for jobs in (1, 2)]
    known, _ = (archive.sessions for archive in archives)
    billed = Counter(response.session for response in Archive([logs]).responses().responses)
    names = [name for name, _ in billed.most_common(2)]
    victim, other = (item.path for item in known if item.id in names)
    if fate == "gone":
        victim.unlink()
    elif fate == "grown":
        victim.write_bytes(victim.read_bytes() * 2)
    else:
        other.replace(victim)
    alone, together = (archive.responses() for archive in archives)
    assert together == alone
    assert len(alone.responses) > 100


def test_dead_worker_is_reported(
    gallery: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    enter = Workers.__enter__

    def dead(self: Workers) -> Workers:
        entered = enter(self)
        for process in entered._processes:
            os.kill(process.pid, signal.SIGKILL)
        return entered

    monkeypatch.setattr(Workers, "__enter__", dead)
    assert run(["usage", "--root", str(gallery), "--jobs", "1", "--no-index"]) == 0
    alone = capfd.readouterr()
    assert run(["usage", "--root", str(gallery), "--jobs", "2", "--no-index"]) == 0
    together = capfd.readouterr()
    assert together.out == alone.out
    assert "crashed while reading" in together.err
    assert "died" not in alone.err


COMMANDS = [
    "usage --json",
    "usage session --breakdown --json",
    "stats --json",
    "stats --since 2026-11-02T10:00 --json",
    "doctor --json",
    "doctor --all",
    "ls --json",
    "ls --long",
    "redact --check --json",
    "redact --check --all",
]


def printed(
    capfd: pytest.CaptureFixture[str], command: str, root: Path, jobs: int
) -> tuple[str, str]:
    """Return what a command prints where the logs answer."""
    words = command.split()
    aside = [] if words[0] in ("doctor", "redact") else ["--no-index"]
    run([*words, *aside, "--root", str(root), "--jobs", str(jobs)])
    found = capfd.readouterr()
    return found.out, found.err


@pytest.mark.parametrize("command", COMMANDS)
def test_parallel_command_output_equals_serial(
    gallery: Path, began: list[int], capfd: pytest.CaptureFixture[str], command: str
) -> None:
    alone = printed(capfd, command, gallery, 1)
    assert began == []
    assert printed(capfd, command, gallery, 2) == alone
    assert began
    assert set(began) == {2}
    assert len(alone[0]) > 400


@pytest.mark.parametrize("command", ["stats", "doctor", "ls", "redact"])
@pytest.mark.parametrize("fate", ["gone", "grown", "replaced"])
def test_files_changed_under_a_command_give_the_same_output(
    gallery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, fate: str
) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(gallery, logs)
    archives = [Archive([logs], jobs=jobs) for jobs in (1, 2)]
    known, _ = ((archive.sessions, archive.files)[0] for archive in archives)
    by_size = sorted((item for item in known if item.file), key=lambda item: item.bytes)
    victim, other = by_size[-1].path, by_size[-2].path
    if fate == "gone":
        victim.unlink()
    elif fate == "grown":
        victim.write_bytes(victim.read_bytes() * 2)
    else:
        other.replace(victim)
    report = [_told(archive, command) for archive in archives]
    assert report[0] == report[1]


def _told(archive: Archive, command: str) -> object:
    if command == "stats":
        return archive.stats()
    if command == "redact":
        return archive.disclosures().found
    return list(archive.accounts()) if command == "doctor" else archive.list_facts()


def talk(name: str, uuids: str, minute: int, origins: str = "") -> str:
    """Return a log in which prompts and answers alternate, copied from others where told."""
    session, above = f"{name * 8}-0000-4000-8000-000000000000", None
    lines = []
    for number, uuid in enumerate(uuids):
        kind = "assistant" if number % 2 else "user"
        message = {"role": kind, "content": [{"type": "text", "text": f"words {uuid}"}]}
        if kind == "assistant":
            message |= {
                "id": f"m{origins[number] if origins else uuid}",
                "model": "claude-opus-4-5",
            }
        line = {"parentUuid": above, "type": kind, "message": message, "uuid": uuid}
        line |= {"sessionId": session, "timestamp": f"2026-11-02T09:{minute + number:02}:00.000Z"}
        if origins:
            line["forkedFrom"] = {"sessionId": "a" * 8, "messageUuid": origins[number]}
        lines.append(json.dumps(line))
        above = uuid
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("logs", "sessions", "copied", "prompts"),
    [
        pytest.param([("a", "1234", 0), ("b", "5678", 10)], 2, 0, 4, id="nothing shared"),
        pytest.param([("a", "1234", 0), ("b", "1234", 0)], 1, 1, 2, id="a copy"),
        pytest.param([("a", "1234", 0), ("b", "123478", 0)], 2, 0, 3, id="a copy that goes on"),
        pytest.param([("a", "12", 0), ("c", "xy", 10, "12")], 1, 1, 1, id="under other ids"),
        pytest.param(
            [("a", "12", 0), ("c", "xy", 10, "12"), ("d", "xy", 20)], 1, 2, 1, id="and held again"
        ),
        pytest.param(
            [("c", "xy", 10, "12"), ("d", "xy", 20)], 1, 1, 1, id="a copy of what has gone"
        ),
    ],
)
def test_shared_responses_count_once_in_parallel(
    tmp_path: Path, logs: list[Any], sessions: int, copied: int, prompts: int
) -> None:
    for log in logs:
        path = tmp_path / "-home-p" / f"{log[0] * 8}-0000-4000-8000-000000000000.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(talk(*log), encoding="utf-8")
    alone, together = (Archive([tmp_path], jobs=jobs).stats() for jobs in (1, 2))
    assert together == alone
    assert (alone.sessions, alone.copied_sessions, alone.prompts) == (sessions, copied, prompts)


def test_small_work_stays_in_one_process(gallery: Path) -> None:
    files = Archive([gallery]).files
    size = sum(file.size for file in files)
    assert is_worth_workers(WorkerPool(2, []), files, size)
    assert not is_worth_workers(WorkerPool(2, []), files, size + 1)
    assert not is_worth_workers(SINGLE_PROCESS, files, 0)
    assert not is_worth_workers(WorkerPool(2, []), files[:1], 0)


def kills(
    monkeypatch: pytest.MonkeyPatch, gallery: Path, capfd: pytest.CaptureFixture[str], seed: int
) -> int:
    """Kill a worker at random under each of several commands; returns how many were told."""
    random, report = Random(seed), 0
    each = Workers.map

    def deadly(
        self: Workers, task: str, items: Sequence[Any], sizes: Sequence[int]
    ) -> Iterator[bytes]:
        moment = random.randrange(len(items))
        for number, found in enumerate(each(self, task, items, [3_000_000] * len(items))):
            if number == moment:
                with suppress(ProcessLookupError):
                    os.kill(random.choice(self._processes).pid, signal.SIGKILL)
            yield found

    for command in ("usage --json", "stats --json", "doctor --json", "ls --json", "redact --check"):
        alone = printed(capfd, command, gallery, 1)[0]
        with monkeypatch.context() as patch:
            patch.setattr(Workers, "map", deadly)
            out, err = printed(capfd, command, gallery, 2)
        assert out == alone
        report += "crashed while reading" in err
    return report


def test_command_survives_a_dead_worker(
    monkeypatch: pytest.MonkeyPatch, gallery: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert kills(monkeypatch, gallery, capfd, 7) > 0


@pytest.mark.long
def test_fifty_workers_killed_at_random_change_no_answer(
    monkeypatch: pytest.MonkeyPatch, gallery: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert sum(kills(monkeypatch, gallery, capfd, seed) for seed in range(13)) > 20


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("jobs", [1, 2])
def test_secret_learned_in_one_file_has_the_same_placeholder_everywhere(
    tmp_path: Path, jobs: int
) -> None:
    texts = {
        "a.txt": "is zz81kPq7Wm3Xv9Rt right?",
        "b.env": "DB_PASSWORD=zz81kPq7Wm3Xv9Rt\n",
        "c.txt": f"{TOKEN} and {TOKEN[:20]}\\\n{TOKEN[20:]}",
        "d.txt": f"{TOKEN[:12]}\\\n{TOKEN[12:]}",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [CheckedFile(path, path.stat().st_size) for path in sorted(tmp_path.iterdir())]
    report = Archive([tmp_path], jobs=jobs).disclosures(files=files)
    places = {
        item.label: sorted({Path(place.file or "").name for place in item.places})
        for item in report.found.values()
    }
    assert places == {"secret in a setting": ["a.txt", "b.env"], "github token": ["c.txt", "d.txt"]}
    assert len(report.found) == 2


@pytest.mark.parametrize("is_redacted", [False, True])
def test_parallel_traces_equal_serial(gallery: Path, began: list[int], is_redacted: bool) -> None:
    def told(jobs: int) -> tuple[list[Any], dict[str, int]]:
        redactor = Redactor() if is_redacted else None
        archive = Archive([gallery], jobs=jobs)
        return list(archive.traces(redactor=redactor)), redactor.report.kinds if redactor else {}

    alone = told(1)
    assert began == []
    assert told(2) == alone
    assert began == [2]
    assert len(alone[0]) > 40
    assert bool(alone[1]) is is_redacted


def own_rules() -> Redactor:
    redactor = Redactor(parse_rules({"words": ["cache"], "expressions": ["qu[i]ll"]}))
    assert redactor.has_own_rules
    return redactor


def test_own_rules_run_in_one_process(gallery: Path, began: list[int]) -> None:
    archive = Archive([gallery], jobs=2)
    assert "‹word" in str(list(archive.traces(redactor=own_rules())))
    assert archive.disclosures(own_rules()).kinds["word"] > 20
    assert began == []


class UnsendablePrices:
    """Prices of somebody else's, which no other process can be given."""

    def __init__(self) -> None:
        self.asked = lambda: None

    def cost(self, *_: object) -> float:
        return 1.0


def test_traces_of_one_session_or_unpicklable_prices_run_here(
    gallery: Path, began: list[int]
) -> None:
    archive = Archive([gallery], jobs=2)
    found = list(archive.traces(pricing=UnsendablePrices()))
    assert {span.cost for spans in found for span in spans if span.tokens} == {1.0}
    assert list(archive.traces("A palette for the charts"))
    assert began == []


DETAILS = ("responses", "calls", "touches", "findings")


def test_parallel_index_equals_serial(gallery: Path, tmp_path: Path, began: list[int]) -> None:
    report, kept = [], []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        with Archive([gallery], folder, jobs=1) as archive:
            archive.update_index()
        with Archive([gallery], folder, jobs=jobs) as archive:
            report.append(archive.stats())
        with closing(sqlite3.connect(folder / CATALOGUE)) as catalogue:
            kept.append([catalogue.execute(f"SELECT * FROM {item}").fetchall() for item in DETAILS])
    assert began == [2]
    assert report[0] == report[1]
    assert kept[0] == kept[1]
    assert all(kept[0])
