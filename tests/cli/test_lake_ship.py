"""`plait lake ship`: dry run, what was sent, what is refused, and hourly runs."""

import json
import os
from pathlib import Path

import pytest

from plait.cli.app import run
from plait.lake.store import Lake
from tests.archive.lake.small import lines, log
from tests.cli.test_keep_install import CRONTAB, SYSTEMCTL


@pytest.fixture
def home(nobodys_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of somebody with one session, and programs that run things hourly."""
    programs = nobodys_home / "bin"
    programs.mkdir()
    for name, text in (("crontab", CRONTAB), ("systemctl", SYSTEMCTL)):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PLAIT_JOBS", "1")
    monkeypatch.setenv("PLAIT_STATE_DIR", str(nobodys_home / "state"))
    monkeypatch.setenv("PLAIT_CONFIG", str(nobodys_home / "config.toml"))
    monkeypatch.chdir(nobodys_home)
    log(nobodys_home / ".claude", "one").write_bytes(lines("one", 0, 3))
    return nobodys_home


def plait(*words: str) -> int:
    return run(["lake", "ship", *words])


def test_dry_run_lists_rows_and_sends_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plait("--to", "lake", "--dry-run", "--person", "ann") == 0
    report = capsys.readouterr().out
    assert not (home / "lake").exists()
    first, profile, whose, made, *rest = report.splitlines()
    assert first.startswith("1 session would be sent, ")
    assert profile == "profile counts: counts only: no text, paths or names"
    assert whose.startswith("source machine-")
    assert whose.endswith(", person ann")
    assert made == "the lake does not exist yet: it would be created"
    rows = [line.split() for line in rest]
    assert ["turns:", "3", "rows,"] in [row[:3] for row in rows]
    assert ["model", "claude-opus-5-5"] in rows
    assert ["title", "—"] in rows
    assert next(row[1][:8] for row in rows if row[:1] == ["project"]) == "project-"
    for output in ("question", "answer", "shop", "/home"):
        assert output not in report


def test_json_lists_everything_that_would_be_sent(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plait("--to", "lake", "--dry-run", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["profile"] == "counts"
    assert report["is_new"] is True
    assert len(report["sessions"]) == 1
    assert report["tables"]["turns"]["rows"] == 3
    assert report["tables"]["sessions"]["columns"]["version"] == ["2.1.0"]
    assert report["bytes"] == sum(table["bytes"] for table in report["tables"].values())


def test_sent_rows_are_not_sent_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plait("--to", "lake") == 0
    assert "1 session sent" in capsys.readouterr().out
    assert Lake(str(home / "lake")).profile == "counts"
    assert plait("--to", "lake", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["unchanged"], report["built"], report["profile"]) == (1, 0, "counts")
    assert plait("--to", "lake", "--dry-run") == 0
    assert capsys.readouterr().out == "nothing would be sent: 1 session unchanged\n"


def test_nothing_is_sent_without_a_target(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLAIT_LAKE", str(home / "a lake to ask"))
    assert plait() == 2
    assert "no destination" in capsys.readouterr().err
    assert plait("--install", "cron", "--yes") == 2
    assert not (home / "a lake to ask").exists()
    assert not (home / "crontab").exists()


def test_full_profile_is_sent_only_on_request(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Lake.create(str(home / "lake"), "full")
    assert plait("--to", "lake") == 2
    report = capsys.readouterr().err
    assert "is a lake with the profile 'full', not 'counts': nothing was sent" in report
    assert "everything, unredacted: prompts, answers, files, secrets" in report
    (home / "config.toml").write_text('ship_profile = "full"\nship_to = "lake"\n')
    assert plait() == 4
    assert "'full' cannot be a setting" in capsys.readouterr().err
    (home / "config.toml").write_text('ship_to = "lake"\n')
    assert plait("--profile", "full") == 0


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ('ship_profile = "some"', "unknown ship_profile 'some'"),
        ('lake_options = ["REGION=x"]', "'REGION' is not an object store option"),
        ('lake_options = ["AWS_REGION"]', "'AWS_REGION' is not an object store option"),
        ('lake_options = "AWS_REGION=x"', "must be a list of strings"),
    ],
)
def test_invalid_settings(
    home: Path, capsys: pytest.CaptureFixture[str], line: str, output: str
) -> None:
    (home / "config.toml").write_text(line, encoding="utf-8")
    assert plait("--to", "lake") == 4
    assert output in capsys.readouterr().err


def test_settings_name_target_and_key(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "key").write_text("a key of the team\n", encoding="utf-8")
    (home / "config.toml").write_text('ship_to = "lake"\nlake_key = "~/key"\n', encoding="utf-8")
    assert plait() == 0
    other = ("--to", "other", "--key", "key", "--source", "other")
    assert plait(*other) == 0
    lakes = [Lake(str(home / name)) for name in ("lake", "other")]
    named = [lake.dataset("sessions").to_table()["directory"].to_pylist() for lake in lakes]
    assert named[0] == named[1]
    (home / "key").write_text("short\n", encoding="utf-8")
    assert plait() == 2
    assert "too short" in capsys.readouterr().err


def test_rules_apply_to_the_redacted_profile(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plait("--to", "lake", "--strict") == 2
    assert "need `--profile redacted`" in capsys.readouterr().err
    (home / "rules.toml").write_text('words = ["question"]\n', encoding="utf-8")
    redacted = ("--to", "lake", "--profile", "redacted", "--rules", "rules.toml")
    assert plait(*redacted) == 0
    output = Lake(str(home / "lake")).dataset("text").to_table()["text"].to_pylist()
    assert any("‹word 1› 0 of one" in text for text in output)


@pytest.mark.parametrize("command", ["ship", "build"])
def test_redacted_rows_do_not_identify_the_machine(home: Path, command: str) -> None:
    (home / ".gitconfig").write_text("[user]\n\tname = Anselm Quist\n", encoding="utf-8")
    report = lines("one", 0, 3).replace(b"question 2", b"as Anselm Quist says, 2")
    log(home / ".claude", "one").write_bytes(report)
    assert run(["lake", command, "--to", "lake", "--profile", "redacted"]) == 0
    output = Lake(str(home / "lake")).dataset("text").to_table()["text"].to_pylist()
    assert any("says, 2 of one" in text for text in output)
    assert not any("Quist" in text for text in output)


def test_hourly_run_is_installed_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--to", "lake", "--team", "core", "--key", "my key", "--install", "cron")
    assert plait(*asked, "--dry-run") == 0
    assert not (home / "crontab").exists()
    assert plait(*asked, "--yes") == 0
    line = (home / "crontab").read_text(encoding="utf-8")
    assert line.startswith("37 * * * * ")
    output = f"lake ship --to {home}/lake --profile counts --team core --key '{home}/my key'"
    assert line.endswith(f"{output} # plait lake ship\n")
    assert "sessions will be sent every hour" in capsys.readouterr().out
    assert f"PLAIT_STATE_DIR={home}/state" in line
    assert plait(*asked, "--yes") == 0
    assert "sessions are already sent" in capsys.readouterr().out
    assert plait("--uninstall", "--yes") == 0
    assert not (home / "crontab").exists()
    capsys.readouterr()
    assert plait("--uninstall", "--json") == 0
    assert not any(item["changes"] for item in json.loads(capsys.readouterr().out))


def test_hourly_run_with_systemd(home: Path) -> None:
    assert plait("--to", "s3://team/lake", "--profile", "full", "--install", "--yes") == 0
    unit = (home / "config/systemd/user/plait-ship.service").read_text(encoding="utf-8")
    assert "lake ship --to s3://team/lake --profile full\n" in unit
    assert plait("--uninstall", "systemd", "--yes") == 0
    assert not (home / "config/systemd/user/plait-ship.timer").exists()
    assert "--user enable --now plait-ship.timer" in (home / "systemctl").read_text()


def test_missing_extra_refuses_the_timer(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert plait("--to", "lake", "--install", "cron", "--yes") == 5
    assert "pip install 'plait[lake]'" in capsys.readouterr().err
    assert not (home / "crontab").exists()
    assert plait("--uninstall", "--yes") == 0


def test_one_ship_at_a_time(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plait("--install", "--uninstall") == 2
    assert "not both" in capsys.readouterr().err
