"""Commands answered from the index print the same bytes as from the logs."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from plait import Archive
from plait.cli.app import run
from plait.index.catalogue import CATALOGUE, lock_index, write_if_unchanged
from plait.indexing import update_index
from plait.sessions.fresh_index import MAX_UPDATE_BYTES
from plait.settings import load_settings

COMMANDS = (
    "ls",
    "ls --long --sort size",
    "ls --since 2026-03-01 --json",
    "ls --json",
    "tree",
    "tree --all",
    "tree --json",
    "tree --project quill",
    "tree latest",
    "usage",
    "usage --json",
    "usage session --breakdown --json",
    "usage blocks --json -z UTC",
    "usage model --project quill",
    "stats",
    "stats --json",
    "stats --json --since 2026-03-01 --until 2026-06-01",
    "stats latest --json",
    "stats quill --json -z Asia/Kathmandu",
)
MODULES = """
import sys
from plait.cli.app import run
code = run(sys.argv[1:])
print(*sorted(name for name in sys.modules if name.startswith(("plait.", "tantivy"))),
      sep="\\n", file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def logs(gallery: Path, tmp_path: Path) -> Path:
    shutil.copytree(gallery, tmp_path / "logs")
    return tmp_path / "logs"


@pytest.fixture
def folder(logs: Path) -> Path:
    assert run(["index", "--root", str(logs)]) == 0
    return load_settings([str(logs)]).index


def printed(capfd: pytest.CaptureFixture[str], logs: Path, *words: str) -> tuple[int, str, str]:
    capfd.readouterr()
    code = run([*words, "--root", str(logs)])
    return code, *capfd.readouterr()


def same(capfd: pytest.CaptureFixture[str], logs: Path, command: str) -> None:
    """Compare what a command prints, twice from the index and once from the logs."""
    cold = printed(capfd, logs, *command.split(), "--no-index")
    assert cold[0] == 0
    for _ in range(2):
        assert printed(capfd, logs, *command.split()) == cold


@pytest.fixture(scope="module")
def ready(gallery: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return logs, and a cache with their index, that all tests may look at."""
    place = tmp_path_factory.mktemp("ready")
    shutil.copytree(gallery, place / "logs")
    cache = {"PLAIT_CACHE_DIR": str(place / "cache")}
    update_index(
        Archive([place / "logs"]), load_settings([str(place / "logs")], environment=cache).index
    )
    return place / "logs", place / "cache"


@pytest.mark.parametrize("command", COMMANDS)
def test_index_and_logs_give_the_same_output(
    capfd: pytest.CaptureFixture[str],
    ready: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    logs, cache = ready
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(cache))
    same(capfd, logs, command)
    assert list(cache.rglob(CATALOGUE))


@pytest.mark.parametrize("command", ["ls", "tree", "usage", "stats"])
def test_no_index_is_created_unasked(
    capfd: pytest.CaptureFixture[str], logs: Path, command: str
) -> None:
    assert printed(capfd, logs, command)[0] == 0
    assert not load_settings([str(logs)]).index.exists()


def test_slightly_outdated_index_is_updated(
    capfd: pytest.CaptureFixture[str], logs: Path, folder: Path
) -> None:
    for command in ("ls --json", "usage --json", "stats --json", "tree --json"):
        path = max(logs.rglob("*.jsonl"))
        path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])
        same(capfd, logs, command)
        assert "up to date" in printed(capfd, logs, "index", "--status")[1]


def test_far_outdated_index_is_not_updated(
    capfd: pytest.CaptureFixture[str], logs: Path, folder: Path
) -> None:
    note = b'{"type":"note","text":"%s"}\n' % (b"x" * MAX_UPDATE_BYTES)
    max(logs.rglob("*.jsonl")).with_name("large.jsonl").write_bytes(note)
    same(capfd, logs, "ls --json")
    assert "1 file changed" in printed(capfd, logs, "index", "--status")[1]


@pytest.mark.parametrize("command", ["ls", "tree", "usage session --json", "stats"])
def test_broken_index_does_not_change_output(
    capfd: pytest.CaptureFixture[str], logs: Path, folder: Path, command: str
) -> None:
    (folder / CATALOGUE).write_bytes(b"this is no database" * 100)
    same(capfd, logs, command)
    (folder / CATALOGUE).write_bytes(b"")
    same(capfd, logs, command)


@pytest.mark.parametrize("table", ["bills", "abandoned", "families", "sessions"])
def test_unreadable_values_do_not_change_output(
    capfd: pytest.CaptureFixture[str], logs: Path, folder: Path, table: str
) -> None:
    for command in ("usage --json", "stats --json", "tree --json"):
        same(capfd, logs, command)
    with sqlite3.connect(folder / CATALOGUE) as connection:
        column = "facts" if table == "sessions" else "data"
        done = connection.execute(f"UPDATE {table} SET {column} = x'c1'").rowcount
        assert done > 0
    for command in ("ls --json", "usage --json", "stats --json", "tree --json"):
        same(capfd, logs, command)


ODD = rb"""
{"type":"user","uuid":"u1","sessionId":"s","timestamp":"2026-11-02T09:00:00.000Z","cwd":"/\ud800","message":{"role":"user","content":"half \ud83d"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-11-02T09:00:01.000Z","message":{"id":"\udc00","role":"assistant","model":"m\udc00","content":[{"type":"tool_use","id":"t","name":"Read\ud800","input":{}},{"type":"tool_use","id":"w","name":"Write","input":{"file_path":"/\udfff"}}],"usage":{"input_tokens":1e400,"output_tokens":99999999999999999999999}}}
{"type":"user","uuid":"r1","parentUuid":"a1","sessionId":"s","timestamp":"0001-01-01T00:00:00.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"w","content":"\ud800"}]}}
{"type":"system","subtype":"turn_duration","durationMs":99999999999999999999999,"uuid":"d1","parentUuid":"r1","sessionId":"s","timestamp":"9999-12-31T23:59:59.999Z"}
{"type":"summary","summary":"\udbff","leafUuid":"u1"}
"""


@pytest.mark.parametrize("command", ["ls", "usage session", "stats", "tree"])
def test_odd_texts_and_numbers_are_the_same(
    capfd: pytest.CaptureFixture[str], logs: Path, folder: Path, command: str
) -> None:
    (logs / "odd").mkdir()
    (logs / "odd" / "s.jsonl").write_bytes(ODD.lstrip())
    same(capfd, logs, f"{command} --json")
    same(capfd, logs, command)


def test_index_of_another_version_is_not_used(
    capfd: pytest.CaptureFixture[str], logs: Path, folder: Path
) -> None:
    with sqlite3.connect(folder / CATALOGUE) as connection:
        connection.execute("UPDATE meta SET value = 0 WHERE name = 'version'")
    same(capfd, logs, "ls --json")


def test_readers_do_not_wait_for_the_write_lock(
    capfd: pytest.CaptureFixture[str], logs: Path, folder: Path
) -> None:
    with lock_index(folder):
        same(capfd, logs, "stats --json")
        path = max(logs.rglob("*.jsonl"))
        path.write_bytes(path.read_bytes() * 2)
        same(capfd, logs, "stats --json")
    with sqlite3.connect(folder / CATALOGUE) as connection:
        assert connection.execute("SELECT count(*) FROM families").fetchone() == (0,)


def test_results_derived_from_an_older_index_are_discarded(logs: Path, folder: Path) -> None:
    with sqlite3.connect(folder / CATALOGUE) as connection:
        [(generation,)] = connection.execute("SELECT value FROM meta WHERE name = 'generation'")
    assert write_if_unchanged(folder, generation, [])
    assert not write_if_unchanged(folder, generation - 1, [])
    shutil.rmtree(folder)
    assert not write_if_unchanged(folder, generation, [])
    assert not folder.exists()


@pytest.mark.parametrize(
    ("command", "unwanted"),
    [
        (
            "ls",
            ("tantivy", "plait.graph", "plait.indexing", "plait.conversation.build"),
        ),
        ("usage", ("tantivy", "plait.graph", "plait.indexing")),
        ("stats", ("tantivy", "plait.indexing", "plait.conversation.build")),
        ("tree", ("tantivy", "plait.indexing", "plait.conversation.build")),
    ],
)
def test_only_needed_modules_are_loaded(
    logs: Path, folder: Path, command: str, unwanted: tuple[str, ...]
) -> None:
    words = [sys.executable, "-c", MODULES, command, "--json", "--root", str(logs)]
    for _ in range(2):
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    loaded = done.stderr.splitlines()
    assert "plait.index.catalogue" in loaded
    assert not [name for name in loaded if name.startswith(unwanted)]
