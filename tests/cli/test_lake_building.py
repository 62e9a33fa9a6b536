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


def said(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """Return the exit code and the lines that a command prints."""
    code = run(["lake", *words])
    out, err = capfd.readouterr()
    return code, (out + err).replace(str(Path.cwd()), "").splitlines()


def test_build_report(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, first = said(capfd, "build", "logs", "--to", "lake", "--source", "desk")
    assert (code, first[0].split(",")[0], first[0][-6:]) == (0, "3 sessions built", ": lake")
    assert said(capfd, "build", "logs", "--to", "lake", "--source", "desk") == (
        0,
        ["nothing new: 3 sessions unchanged"],
    )
    log = next((home / "logs").rglob("*.jsonl"))
    log.unlink()
    assert said(capfd, "build", "logs", "--to", "lake", "--source", "desk") == (
        0,
        [
            "nothing new: 2 sessions unchanged",
            "1 session no longer at the source but still in the lake: `--prune` removes them",
        ],
    )
    code, told = said(capfd, "build", "logs", "--to", "lake", "--source", "desk", "--prune")
    assert told[-1] == "1 session removed: no longer at the source"
    code, listed = said(capfd, "ls", "--lake", "lake")
    assert listed[1].split()[:2] == ["desk", "2"]
    assert listed[-1] == "2 sessions, profile full: /lake"
    assert said(capfd, "tidy", "--lake", "lake") == (
        0,
        ["nothing to tidy: no unused files older than 24 hours"],
    )


def test_source_can_be_forgotten_and_added_again(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for source in ("desk", "laptop"):
        said(capfd, "build", "logs", "--to", "lake", "--source", source)
    assert said(capfd, "forget", "desk", "--lake", "lake") == (
        0,
        ["3 sessions from 'desk' to remove", "nothing was changed; add `--yes` to remove them"],
    )
    assert said(capfd, "ls", "--lake", "lake")[1][-1].startswith("6 sessions")
    code, told = said(capfd, "forget", "desk", "--lake", "lake", "--yes", "--json")
    assert json.loads("".join(told)) == {"source": "desk", "sessions": 3, "forgotten": True}
    assert said(capfd, "ls", "--lake", "lake")[1][-1].startswith("3 sessions")
    rows = Lake(str(home / "lake")).dataset("records").count_rows()
    said(capfd, "tidy", "--lake", "lake", "--older", "0")
    assert Lake(str(home / "lake")).dataset("records").count_rows() == rows / 2
    code, told = said(capfd, "forget", "desk", "--lake", "lake", "--yes")
    assert (code, told[0]) == (2, "error: the lake has nothing from 'desk'")
    assert told[1] == "hint: it has laptop"
    code, told = said(capfd, "build", "logs", "--to", "lake", "--source", "desk")
    assert told[0].startswith("3 sessions built")


def test_sessions_without_a_timestamp_have_no_month(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = '{"type":"mode","mode":"normal","sessionId":"x"}\n'
    (home / "timeless").mkdir()
    (home / "timeless" / "x.jsonl").write_text(line, encoding="utf-8")
    said(capfd, "build", "timeless", "--to", "lake", "--source", "desk")
    assert said(capfd, "ls", "--lake", "lake")[1][1].split()[-1] == "none"
    said(capfd, "build", "timeless", "logs", "--to", "lake", "--source", "desk")
    assert "none" not in said(capfd, "ls", "--lake", "lake")[1][1]


def test_failures_are_named_and_set_the_exit_code(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from plait.errors import SourceError
    from plait.lake import build

    def refuse(*_: object) -> None:
        raise SourceError("cannot read it: it is somebody else's")

    monkeypatch.setattr(build, "build_tables", refuse)
    code, told = said(capfd, "build", "logs", "--to", "lake", "--jobs", "1")
    assert code == 1
    assert [line.partition(": ")[2] for line in told[:3]] == [
        "cannot read it: it is somebody else's"
    ] * 3
    assert told[3:] == ["3 sessions failed; their earlier rows stay in the lake"]
    code, as_json = said(capfd, "build", "logs", "--to", "lake", "--jobs", "1", "--json")
    found = json.loads("".join(as_json))
    assert (code, found["built"], len(found["failed"])) == (1, 0, 3)


def test_machine_has_a_stable_name_and_key(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said(capfd, "build", "logs", "--to", "lake", "--profile", "counts")
    name, key = (home / "state" / one for one in ("lake-source", "lake-key"))
    before = name.read_text(), key.read_text()
    assert key.stat().st_mode & 0o777 == 0o600
    assert said(capfd, "build", "logs", "--to", "lake")[1] == ["nothing new: 3 sessions unchanged"]
    assert (name.read_text(), key.read_text()) == before
    (home / "team.key").write_text("short")
    code, told = said(capfd, "build", "logs", "--to", "lake", "--key", "team.key")
    assert (code, told[0]) == (
        2,
        "error: the key in 'team.key' is too short: names could be guessed",
    )


def test_backup_store_can_be_a_root(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["keep", "--root", "logs"]) == 0
    shutil.rmtree(home / "logs")
    code, told = said(capfd, "build", str(home / "data" / "keep"), "--to", "lake")
    assert (code, told[-1].split(",")[0]) == (0, "3 sessions built")
    code, told = said(capfd, "build", "data/keep", "data/keep/../keep", "--to", "lake")
    assert (code, told[0]) == (2, "error: a build can read only one backup")


@pytest.mark.parametrize(
    ("words", "code", "told"),
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
    home: Path, capfd: pytest.CaptureFixture[str], words: list[str], code: int, told: str
) -> None:
    found, lines = said(capfd, *words)
    assert (found, lines[0][: len(told)]) == (code, told)


def test_missing_lake_names_the_option(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, "build", "logs")[1][1] == "hint: `--to URL`: a folder or an address"
    assert said(capfd, "ls")[1][1] == "hint: `--lake URL`: a folder or an address"


def test_without_ray_no_lake_is_created(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert said(capfd, "build", "logs", "--to", "lake", "--engine", "ray") == (
        5,
        ["error: Ray is not installed", "hint: `pip install 'plait[lake,ray]'`"],
    )
    assert not (home / "lake").exists()


def test_missing_extra_names_the_install_command(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "duckdb" else name)
    assert said(capfd, "build", "logs", "--to", "lake") == (
        5,
        [
            "error: a lake needs duckdb, which is not installed",
            "hint: `pip install 'plait[lake]'`",
        ],
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert said(capfd, "ls")[1][0].endswith("pyarrow, deltalake, duckdb, which are not installed")
