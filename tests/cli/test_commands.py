"""The command line end to end: output and errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plait.cli.app import load_command, run
from plait.cli.registry import COMMANDS, ROWS, subcommands
from tests.archive.test_archive import ONE, SHOP, TWO, config, prompt, write

__all__ = ["config"]


def out(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = run([str(argument) for argument in arguments])
    captured = capfd.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def fails(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run([str(argument) for argument in arguments])
    captured = capfd.readouterr()
    assert captured.out == ""
    return code, captured.err


def test_help_names_every_command(capfd: pytest.CaptureFixture[str]) -> None:
    text = out(capfd, "--help")
    assert all((f"  {name} " in text) is not row.is_hidden for name, row in COMMANDS.items())


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(capfd: pytest.CaptureFixture[str], name: str) -> None:
    assert out(capfd, name, "--help").startswith("Usage: plait")


@pytest.mark.parametrize("name", ["keep", "lake", "trace"])
def test_a_group_lists_its_commands(capfd: pytest.CaptureFixture[str], name: str) -> None:
    code = run([name, "--help"] if name == "keep" else [name])
    captured = capfd.readouterr()
    assert code == (0 if name == "keep" else 2)
    shown = (captured.out + captured.err).splitlines()
    assert f"Usage: plait {name}" in shown[0]
    assert {row.split()[0] for row in shown if row.startswith("  ")} >= {*subcommands(name)}


WRITES = {"--output", "--yes", "--in-place", "--install", "--remove", "--rebuild"}


def test_the_registry_says_which_commands_write() -> None:
    """Guards the list: a command with an option that writes something is not one that reads."""
    wrong = [
        row.name
        for row in ROWS
        if row.effect == "reads"
        and not row.is_hidden
        and WRITES & {name for param in load_command(row).params for name in param.opts}
    ]
    assert wrong == []


def test_ls_shows_projects_and_sessions(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    lines = [line.rstrip() for line in out(capfd, "ls", "--root", config).splitlines()]
    assert lines[0].split() == ["session", "title", "ended", "turns", "size", "agents"]
    assert lines[1] == "/home/dev/shop"
    assert lines[2].startswith("  11111111  The basket")
    assert lines[3].startswith("  12222222  write tests")
    size = lines[-1].rpartition(", ")[2]
    assert lines[-1] == f"2 sessions in 1 project, 2 turns including copies, 4 entries, {size}"


def test_ls_prints_json(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    rows = json.loads(out(capfd, "ls", "--json", "--root", config))
    assert [row["session"] for row in rows] == [ONE, TWO]
    assert {"session", "project", "path", "title", "started", "ended", "entries", "bytes"} <= {
        *rows[0]
    }
    assert rows[0]["project"] == SHOP
    assert rows[0]["live"] is False


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--sort", "title"], ["The basket", "write tests"]),
        (["--sort", "title", "-r"], ["write tests", "The basket"]),
        (["--sort", "size"], ["The basket", "write tests"]),
        (["--since", "2026-11-01T10:30:00Z"], ["The basket"]),
        (["--until", "2026-11-01T09:00:00Z"], []),
        (["--since", "10000w"], ["The basket", "write tests"]),
        (["--limit", "1"], ["The basket"]),
        (["--project", "shop"], ["The basket", "write tests"]),
        (["--project", "elsewhere"], []),
        (["shop", "nothing"], ["The basket", "write tests"]),
        (["--live"], []),
        (["--expiring"], []),
    ],
)
def test_ls_sorts_and_filters(
    capfd: pytest.CaptureFixture[str], config: Path, options: list[str], expected: list[str]
) -> None:
    rows = json.loads(out(capfd, "ls", "--json", "--root", config, *options))
    assert [row["title"] for row in rows] == expected


def test_ls_marks_sessions_that_will_be_deleted(
    capfd: pytest.CaptureFixture[str], config: Path
) -> None:
    write(config / "projects" / SHOP / f"{ONE}.jsonl", prompt("old", ONE), age=28 * 86400)
    assert "† in 2 days  old" in out(capfd, "ls", "--root", config)
    assert "1 session will be deleted" in " ".join(out(capfd, "--root", config).split())


def test_log_text_cannot_control_the_terminal(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write(tmp_path / "a.jsonl", prompt("\x1b[31mred\x07 \u202eback [bold]x[/bold]", ONE))
    text = out(capfd, "ls", "--root", tmp_path, "--colour", "never")
    assert "\ufffd[31mred\ufffd \ufffdback [bold]x[/bold]" in text
    assert "\x1b" not in text


def test_overview_shows_recent_sessions(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    text = out(capfd, "--root", config)
    assert text.startswith("1 project · 2 sessions · 2 agent logs · 4 entries · ")
    assert f"plait usage --root {config}" in text


def test_nothing_is_said_where_there_is_nothing(
    capfd: pytest.CaptureFixture[str], nobodys_home: Path
) -> None:
    assert "no sessions in" in out(capfd)


def test_doctor_accounts_for_every_line(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    torn = config / "projects" / SHOP / "torn.jsonl"
    torn.write_bytes(b'{"type":"user"}\n\n{"type":"us')
    report = json.loads(out(capfd, "doctor", "--json", "--root", config))
    assert report["lines"] == report["records"] + report["blank"] + report["broken"] == 9
    assert (report["files"], report["balanced"], report["recovered"]) == (5, True, 0)
    assert {
        "code": "broken line",
        "sentence": "truncated: the line does not end",
        "file": str(torn),
        "line": 3,
        "uuid": None,
    } in report["findings"]
    assert report["graph"]["balanced"] is True
    assert (report["graph"]["nodes"], report["graph"]["inline"]) == (4, 3)
    assert report["graph"]["folded"] == {"retracted": 1}
    text = out(capfd, "doctor", torn)
    assert "every line is accounted for: nothing is lost" in text
    assert ":3: truncated: the line does not end" in text


def test_doctor_prints_the_inventory(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    (first, two) = json.loads(out(capfd, "doctor", "--inventory", "--json", "--root", config))
    assert (first["session"], first["lines"], first["human_turns"]) == (ONE, 3, 2)
    assert first["versions"] == {"2.1.325": 1, "2.1.326": 1}
    assert two["types"] == {"user": 1}
    assert "Stop reasons" in out(capfd, "doctor", "--inventory", "--root", config)


# checklist: F10
def test_inventory_has_a_column_per_line_type(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    call = {"content": [{"type": "tool_use"}], "stop_reason": "tool_use"}
    kinds = {
        "user": 2,
        "assistant": 3,
        "system": 4,
        "file-history-snapshot": 5,
        "summary": 6,
        "queue-operation": 7,
    }
    lines = [
        {"type": kind, "version": "2.0.37", "message": call if kind == "assistant" else None}
        for kind, times in kinds.items()
        for _ in range(times)
    ]
    lines.append(prompt("go", ONE, version="2.0.37"))
    write(tmp_path / "projects" / SHOP / f"{ONE}.jsonl", *lines)
    text = out(capfd, "doctor", "--inventory", "--root", tmp_path)
    heads, row = (line.split() for line in text.splitlines()[1:3])
    assert dict(zip(heads, row, strict=False)) == {
        "session": ONE[:8],
        "lines": "28",
        "user": "3",
        "assistant": "3",
        "system": "4",
        "snapshots": "5",
        "summary": "6",
        "queue": "7",
        "calls": "3",
        "turns": "1",
        "versions": "2.0.37",
    }


def test_cat_prints_the_exact_bytes(config: Path) -> None:
    path = config / "projects" / SHOP / f"{ONE}.jsonl"
    path.write_bytes(b'{ "type":"user" }\r\n\xff\n\n{"torn')
    done = subprocess.run(
        [sys.executable, "-m", "plait", "cat", ONE, "--root", config],
        capture_output=True,
        check=True,
    )
    assert done.stdout == path.read_bytes()


def test_cat_selects_lines(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    full = out(capfd, "cat", ONE, "--root", config).splitlines()
    assert out(capfd, "cat", ONE, "--line", 2, "--root", config).splitlines() == full[1:2]
    assert out(capfd, "cat", ONE, "--line", "2-", "--root", config).splitlines() == full[1:]
    assert (
        out(capfd, "cat", "basket", "--uuid", "u-and", "--root", config).splitlines() == full[1:2]
    )
    pretty = out(capfd, "cat", ONE, "--line", 3, "--pretty", "--root", config)
    assert pretty.startswith('{\n  "type": "custom-title",\n')
    agent = out(capfd, "cat", TWO, "--agent", "a1", "--root", config)
    assert json.loads(agent)["agentId"] == "a1"


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["cat", "zebra"], 2, "error: no session named 'zebra'\nhint: `plait ls --root /"),
        (["cat", ONE, "--line", "99"], 2, "error: no line 99 in '"),
        (["cat", ONE, "--line", "x"], 2, "error: 'x' is not a line number\nhint: use `--line 3`"),
        (["cat", ONE, "--uuid", "nope"], 2, "error: no record 'nope' in '"),
        (["cat", TWO, "--agent", "zz"], 2, "error: this session has no agent 'zz'"),
        (["log", "gone.jsonl"], 3, "error: no such file or folder: 'gone.jsonl'"),
        (["log", "/tmp"], 2, "error: '/tmp' is a folder\nhint: `plait ls --root /tmp` lists"),
        (["ls", "-home-dev"], 2, "error: no such option"),
        (["cat"], 2, "error: missing argument 'SESSION'\nhint: `plait cat --help`"),
        (["lss"], 2, "error: no such command 'lss'\nhint: did you mean `plait ls`?\nhint: `plait"),
        (["sho"], 2, "error: no such command 'sho'\nhint: did you mean `plait show`?\n"),
        (["list"], 2, "error: no such command 'list'\nhint: did you mean `plait ls`?\n"),
        (["xyzzy"], 2, "error: no such command 'xyzzy'\nhint: `plait --help` lists"),
        (["trace", "sned"], 2, "error: no such command 'sned'\nhint: did you mean `plait trace"),
        (["--hepl"], 2, "error: no such option '--hepl'\nhint: did you mean `--help`?"),
        (["ls", "--projet", "x"], 2, "error: no such option '--projet'\nhint: did you mean `--p"),
        (["ls", "--sort", "tit"], 2, "error: --sort: 'tit' is not one of 'ended', 'started', "),
        (["usage", "weakly"], 2, "error: 'weakly' is not one of 'daily', 'weekly', 'monthly', "),
        (["ls", "--nope"], 2, "error: no such option"),
        (["ls", "-n", "0"], 2, "error: invalid value for '-n' / '--limit': 0 must be at least 1\n"),
        (["ls", "-n", "x"], 2, "error: invalid value for '-n' / '--limit': 'x' is not a number\n"),
        (
            ["recall", "a", "-n", "99"],
            2,
            "error: invalid value for '-n' / '--limit': 99 must be fr",
        ),
        (["ls", "--since", "soon"], 2, "error: 'soon' is not a time\nhint: use a day"),
        (
            ["ls", "--root", "/nowhere/at/all"],
            3,
            "error: no such file or folder: '/nowhere/at/all'",
        ),
    ],
)
def test_errors_are_one_line_with_hints(
    capfd: pytest.CaptureFixture[str], config: Path, arguments: list[str], code: int, error: str
) -> None:
    failed, text = fails(capfd, *arguments, "--root", config)
    assert failed == code
    assert text.startswith(error)


def test_errors_as_json_have_the_same_fields(
    capfd: pytest.CaptureFixture[str], config: Path
) -> None:
    code, text = fails(capfd, "ls", "--json", "--since", "soon", "--root", config)
    report = json.loads(text)
    assert (report["error"], report["exit_code"]) == ("'soon' is not a time", code)
    assert len(report["hints"]) == 1


def test_root_option_may_precede_the_command(
    capfd: pytest.CaptureFixture[str], config: Path
) -> None:
    assert len(json.loads(out(capfd, "--root", config, "ls", "--json"))) == 2


def test_completion_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert "_PLAIT_COMPLETE" in out(capfd, "completion", "bash")


def test_sessions_are_completed(config: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plait"],
        env={
            "_PLAIT_COMPLETE": "bash_complete",
            "COMP_WORDS": "plait cat 11",
            "COMP_CWORD": "2",
            "PLAIT_ROOT": str(config),
            "HOME": str(config),
            "PYTHONPATH": ":".join(sys.path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert ONE in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["ls"],
        ["log", "latest"],
        ["log", "latest", "--records"],
        ["tree"],
        ["paths"],
        ["paths", "--raw"],
        ["context", "latest"],
        ["cat", "latest", "--pretty"],
        ["doctor"],
    ],
)
@pytest.mark.parametrize("is_json", [False, True])
def test_lone_surrogates_can_be_printed(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], is_json: bool
) -> None:
    if is_json and arguments[0] == "cat":
        return
    half = b'{"parentUuid":null,"type":"user","uuid":"u\\ud800","sessionId":"s\\udc00",' \
        b'"cwd":"/\\ud800","timestamp":"2026-11-01T10:00:00.000Z",' \
        b'"message":{"role":"user","content":"half \\ud83d of it"}}\n'  # fmt: skip
    (tmp_path / "half.jsonl").write_bytes(half)
    text = out(capfd, *arguments, *(["--json"] if is_json else []), "--root", tmp_path)
    assert text
    if is_json:
        json.loads(text)


@pytest.mark.parametrize("command", ["ls", "doctor", "tree", "paths", ""])
def test_unreadable_files_do_not_stop_a_command(
    capfd: pytest.CaptureFixture[str], config: Path, command: str
) -> None:
    os.mkfifo(config / "projects" / SHOP / "pipe.jsonl")
    (config / "projects" / SHOP / "loop.jsonl").symlink_to("loop.jsonl")
    (config / "projects" / SHOP / "folder.jsonl").mkdir()
    assert run([part for part in [command] if part] + ["--root", str(config)]) == 0
    assert "The basket" in capfd.readouterr().out or command == "doctor"


def test_doctor_names_unreadable_files(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    os.mkfifo(config / "projects" / SHOP / "pipe.jsonl")
    report = json.loads(out(capfd, "doctor", "--json", "--root", config))
    unread = [finding["file"] for finding in report["findings"] if finding["code"] == "unreadable"]
    assert [Path(file).name for file in unread] == ["pipe.jsonl"]


def test_file_argument_includes_the_files_beside_it(
    capfd: pytest.CaptureFixture[str], config: Path
) -> None:
    agent = config / "projects" / SHOP / TWO / "subagents" / "agent-a1.jsonl"
    assert json.loads(out(capfd, "cat", agent))["agentId"] == "a1"
    assert "write tests" in out(capfd, "log", agent)


def test_full_disk_is_a_one_line_error(config: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "plait", "ls", "--root", config],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == "error: cannot continue: no space left on device\n"
    assert done.returncode == 3


def test_ascii_encoding_still_prints(config: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plait", "log", ONE, "--root", config],
        env={"PYTHONIOENCODING": "ascii", "PATH": os.environ["PATH"], "HOME": str(config)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The basket" in done.stdout


def test_projects_are_found_by_their_displayed_directory(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write(tmp_path / "odd-folder" / f"{ONE}.jsonl", prompt("x", ONE, cwd="/srv/Garden"))
    assert len(json.loads(out(capfd, "ls", "garden", "--json", "--root", tmp_path))) == 1
    assert "/srv/Garden" in out(capfd, "tree", "garden", "--root", tmp_path)
    assert "1 path" in out(capfd, "paths", "--project", "garden", "--root", tmp_path)


def test_title_file_names_the_session_everywhere(
    capfd: pytest.CaptureFixture[str], config: Path
) -> None:
    side = config / "projects" / SHOP / TWO / "custom-title.json"
    side.write_text('{"customTitle":"From the side"}')
    for arguments in (["ls"], ["tree"], ["paths"], ["log", TWO]):
        assert "From the side" in out(capfd, *arguments, "--root", config)


def test_closed_pipe_is_not_an_error(config: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m plait cat {ONE} --root {config} | head -c 10"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""


def test_logs_outside_the_projects_folder_are_reported(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    (root / "projects").mkdir(parents=True)
    (root / "history.jsonl").write_text("{}\n")
    assert run(["doctor", "--root", str(root)]) == 0
    assert "not read" not in capfd.readouterr().out
    (root / "old" / "shop").mkdir(parents=True)
    (root / "old" / "shop" / "one.jsonl").write_text("{}\n")
    (root / "projects" / "two.jsonl").write_text("")
    assert run(["doctor", "--root", str(root)]) == 0
    output = " ".join(capfd.readouterr().out.split())
    assert "1 log outside the `projects` folder, for example 'old/shop/one.jsonl'" in output
    assert "nothing that was read is lost" in output
    (root / "projects" / "two.jsonl").unlink()
    for command in (["ls"], []):
        assert run([*command, "--root", str(root)]) == 0
        assert "1 log outside the `projects` folder" in capfd.readouterr().out
    assert run(["doctor", "--root", str(root / "projects")]) == 0
    assert "not read" not in capfd.readouterr().out
