"""`plait lake build`, `ls`, `forget` and `tidy`."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from plait.cli.app import run
from plait.lake.store import Lake

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "gallery"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three projects of examples, from where commands are typed."""
    monkeypatch.setenv("PLAIT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PLAIT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("straight-line", "rewind", "torn-tail"):
        shutil.copytree(EXAMPLES / name / "projects", tmp_path / "logs", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_text(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """Return the exit code and the lines that a command prints."""
    code = run(["lake", *words])
    out, err = capfd.readouterr()
    return code, (out + err).replace(str(Path.cwd()), "").splitlines()


def test_build_report(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, first = run_text(capfd, "build", "logs", "--to", "lake", "--source", "desk")
    assert (code, first[0].split(",")[0], first[0][-6:]) == (0, "3 sessions built", ": lake")
    assert run_text(capfd, "build", "logs", "--to", "lake", "--source", "desk") == (
        0,
        ["nothing new: 3 sessions unchanged"],
    )
    log = next((home / "logs").rglob("*.jsonl"))
    log.unlink()
    assert run_text(capfd, "build", "logs", "--to", "lake", "--source", "desk") == (
        0,
        [
            "nothing new: 2 sessions unchanged",
            "1 session no longer at the source but still in the lake: `--prune` removes them",
        ],
    )
    code, report = run_text(capfd, "build", "logs", "--to", "lake", "--source", "desk", "--prune")
    assert report[-1] == "1 session removed: no longer at the source"
    code, listed = run_text(capfd, "ls", "--lake", "lake")
    assert listed[1].split()[:2] == ["desk", "2"]
    assert listed[-1] == "2 sessions, profile full: /lake"
    assert run_text(capfd, "tidy", "--lake", "lake") == (
        0,
        ["nothing to tidy: no unused files older than 24 hours"],
    )


def test_source_can_be_forgotten_and_added_again(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for source in ("desk", "laptop"):
        run_text(capfd, "build", "logs", "--to", "lake", "--source", source)
    assert run_text(capfd, "forget", "desk", "--lake", "lake") == (
        0,
        ["3 sessions from 'desk' to remove", "nothing was changed; add `--yes` to remove them"],
    )
    assert run_text(capfd, "ls", "--lake", "lake")[1][-1].startswith("6 sessions")
    code, report = run_text(capfd, "forget", "desk", "--lake", "lake", "--yes", "--json")
    assert json.loads("".join(report)) == {"source": "desk", "sessions": 3, "forgotten": True}
    assert run_text(capfd, "ls", "--lake", "lake")[1][-1].startswith("3 sessions")
    rows = Lake(str(home / "lake")).dataset("records").count_rows()
    run_text(capfd, "tidy", "--lake", "lake", "--older", "0")
    assert Lake(str(home / "lake")).dataset("records").count_rows() == rows / 2
    code, report = run_text(capfd, "forget", "desk", "--lake", "lake", "--yes")
    assert (code, report[0]) == (2, "error: the lake has nothing from 'desk'")
    assert report[1] == "hint: it has laptop"
    code, report = run_text(capfd, "build", "logs", "--to", "lake", "--source", "desk")
    assert report[0].startswith("3 sessions built")


def test_sessions_without_a_timestamp_have_no_month(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = '{"type":"mode","mode":"normal","sessionId":"x"}\n'
    (home / "timeless").mkdir()
    (home / "timeless" / "x.jsonl").write_text(line, encoding="utf-8")
    run_text(capfd, "build", "timeless", "--to", "lake", "--source", "desk")
    assert run_text(capfd, "ls", "--lake", "lake")[1][1].split()[-1] == "none"
    run_text(capfd, "build", "timeless", "logs", "--to", "lake", "--source", "desk")
    assert "none" not in run_text(capfd, "ls", "--lake", "lake")[1][1]


def test_failures_are_named_and_set_the_exit_code(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from plait.errors import SourceError
    from plait.lake import build

    def refuse(*_: object) -> None:
        raise SourceError("cannot read it: it is somebody else's")

    monkeypatch.setattr(build, "build_tables", refuse)
    code, report = run_text(capfd, "build", "logs", "--to", "lake", "--jobs", "1")
    assert code == 1
    assert [line.partition(": ")[2] for line in report[:3]] == [
        "cannot read it: it is somebody else's"
    ] * 3
    assert report[3:] == ["3 sessions failed; their earlier rows stay in the lake"]
    code, as_json = run_text(capfd, "build", "logs", "--to", "lake", "--jobs", "1", "--json")
    found = json.loads("".join(as_json))
    assert (code, found["built"], len(found["failed"])) == (1, 0, 3)


def test_machine_has_a_stable_name_and_key(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_text(capfd, "build", "logs", "--to", "lake", "--profile", "counts")
    name, key = (home / "state" / item for item in ("lake-source", "lake-key"))
    before = name.read_text(), key.read_text()
    assert key.stat().st_mode & 0o777 == 0o600
    assert run_text(capfd, "build", "logs", "--to", "lake")[1] == [
        "nothing new: 3 sessions unchanged"
    ]
    assert (name.read_text(), key.read_text()) == before
    (home / "team.key").write_text("short")
    code, report = run_text(capfd, "build", "logs", "--to", "lake", "--key", "team.key")
    assert (code, report[0]) == (
        2,
        "error: the key in 'team.key' is too short: names could be guessed",
    )


def test_backup_store_can_be_a_root(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["keep", "--root", "logs"]) == 0
    shutil.rmtree(home / "logs")
    code, report = run_text(capfd, "build", str(home / "data" / "keep"), "--to", "lake")
    assert (code, report[-1].split(",")[0]) == (0, "3 sessions built")
    code, report = run_text(capfd, "build", "data/keep", "data/keep/../keep", "--to", "lake")
    assert (code, report[0]) == (2, "error: a build can read only one backup")


@pytest.mark.parametrize(
    ("words", "code", "report"),
    [
        (["build", "logs"], 2, "error: no lake given"),
        (["build", "nowhere", "--to", "lake"], 3, "error: no such file or folder"),
        (["build", "logs", "--to", "lake", "--address", "x:1"], 2, "error: `--address` needs"),
        (
            ["build", "logs", "--to", "ftp://x/y"],
            2,
            "error: 'ftp://x/y' is not an address for a lake",
        ),
        (["build", "ftp://x/y", "--to", "lake"], 2, "error: 'ftp://x/y' is not an address"),
        (["ls", "--lake", "nowhere"], 2, "error: no lake at '/nowhere'"),
    ],
)
def test_refused_options(
    home: Path, capfd: pytest.CaptureFixture[str], words: list[str], code: int, report: str
) -> None:
    found, lines = run_text(capfd, *words)
    assert (found, lines[0][: len(report)]) == (code, report)


def test_missing_lake_names_the_option(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_text(capfd, "build", "logs")[1][1] == "hint: `--to URL`: a folder or an address"
    assert run_text(capfd, "ls")[1][1] == "hint: `--lake URL`: a folder or an address"


def test_without_ray_no_lake_is_created(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run_text(capfd, "build", "logs", "--to", "lake", "--engine", "ray") == (
        5,
        ["error: Ray is not installed", "hint: `pip install 'plait[lake,ray]'`"],
    )
    assert not (home / "lake").exists()


def test_missing_extra_names_the_install_command(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "duckdb" else name)
    assert run_text(capfd, "build", "logs", "--to", "lake") == (
        5,
        [
            "error: a lake needs duckdb, which is not installed",
            "hint: `pip install 'plait[lake]'`",
        ],
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert run_text(capfd, "ls")[1][0].endswith(
        "pyarrow, deltalake, duckdb, which are not installed"
    )
