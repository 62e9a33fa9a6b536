"""The edit commands end to end: output, files written, exit codes."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import Drawing, draw
from plait.archive import Archive
from plait.cli.app import run
from plait.cli.edit import EditOptions, run_plan
from plait.cli.options import Request
from plait.edit.plan import Append
from plait.errors import Refused

WORK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "A search box"
U1 "What would a first version look like?"
A1< "Two ways."
U2< "Take LIKE."
A2< "Done with LIKE."
U3<A1 "Take FTS5."
A3< "Done with FTS5."
last-prompt leaf A3
"""
BROKEN = """
file broken cwd=/home/dev/shop start=2026-11-03T09:00:00Z
ai-title "A torn one"
U1 "Begin."
A1< "Begun."
"""
KEYS = [
    "operation",
    "source",
    "session",
    "path",
    "applied",
    "before",
    "after",
    "kept",
    "dropped",
    "rewritten",
    "added",
    "reasons",
    "differences",
    "notes",
    "unmended",
    "violations",
    "undo",
    "break_even_turns",
    "files",
]
TEXTS = {"A1": "Two ways.", "A2": "Done with LIKE.", "A3": "Done with FTS5."}
Files = dict[str, bytes]


class Runner:
    """A configuration folder with sessions, and the command at hand."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.config = folder / "config"
        self.work = self._drawn(WORK)
        self.broken = self._drawn(BROKEN)
        path = self.path_of(self.broken)
        path.write_bytes(path.read_bytes() + b'{"type":"user","uuid":"cut')
        self.rest()
        self._capfd = capfd

    def _drawn(self, text: str) -> Drawing:
        drawing = draw(text)
        drawing.write(self.config)
        return drawing

    def rest(self) -> None:
        """Make all logs old: nobody has written to them for an hour."""
        then = time.time() - 3600
        for path in self.logs:
            os.utime(path, (then, then))

    @property
    def logs(self) -> list[Path]:
        """All logs that lie there."""
        return sorted((self.config / "projects").rglob("*.jsonl"))

    def path_of(self, drawing: Drawing) -> Path:
        """Return the log of a session."""
        return next(path for path in self.logs if path.stem == drawing.session)

    @property
    def files(self) -> Files:
        """All that a client would see."""
        found = (path for path in self.config.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in found if ".plait" not in path.parts}

    def run_text(self, *arguments: object, code: int = 0) -> tuple[str, str]:
        """Run a command; returns what it said, and what it complained of."""
        given = [str(argument) for argument in arguments]
        assert run([*given, "--root", str(self.config)]) == code, self._capfd.readouterr()
        captured = self._capfd.readouterr()
        return captured.out, captured.err

    def read(self) -> str:
        """Return what was said last."""
        return self._capfd.readouterr().out

    def run_json(self, *arguments: object, code: int = 0) -> Any:
        """Run a command with `--json`; returns its object."""
        return json.loads(self.run_text(*arguments, "--json", code=code)[0])


@pytest.fixture
def runner(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Runner:
    """Return a desk with a session of two branches, and one with a torn line."""
    return Runner(tmp_path, capfd)


def test_clone_is_a_new_session_and_the_source_stays(runner: Runner) -> None:
    before = runner.files
    report = runner.run_json("clone", "search box", "--title", "Once more")
    assert list(report) == KEYS
    assert (report["operation"], report["applied"], report["source"]) == (
        "clone",
        True,
        runner.work.session,
    )
    assert list(report["before"]) == ["lines", "turns", "bytes", "tokens", "cost_usd"]
    assert report["after"]["lines"] == report["before"]["lines"] + 1
    assert report["added"] == 1
    after = runner.files
    assert after.pop(report["path"])
    assert after == before
    assert Archive([runner.config]).session(report["session"]).title == "Once more"


def test_undo_of_a_session_outside_the_roots_names_its_root(runner: Runner, tmp_path: Path) -> None:
    beyond = tmp_path / "beyond" / f"{runner.work.session}.jsonl"
    beyond.parent.mkdir()
    beyond.write_bytes(runner.path_of(runner.work).read_bytes())
    out, _ = runner.run_text("clone", beyond)
    assert f"--root {beyond.parent}" in out
    assert str(runner.config) not in out.partition("undo")[2]
    out, _ = runner.run_text("clone", "search box")
    assert f"--root {runner.config}" in out.partition("undo")[2]


def test_dry_run_shows_the_plan_and_changes_nothing(runner: Runner) -> None:
    before = runner.files
    out, err = runner.run_text("clone", "search box", "--dry-run")
    assert err == ""
    assert "tokens sent on resume" in out
    assert "rewritten  new ids" in out
    assert out.endswith("nothing was changed; leave out `--dry-run` to apply the plan\n")
    assert runner.run_json("clone", "search box", "--dry-run")["undo"] is None
    assert runner.files == before


def test_completed_edit_suggests_the_next_command(runner: Runner) -> None:
    out, _ = runner.run_text("clone", "search box")
    *_, done, file, resume, undo = out.splitlines()
    session = done.removeprefix("cloned as ")
    assert file == f"  file    {runner.config}/projects/-home-dev-shop/{session}.jsonl"
    assert resume.endswith(f"claude --resume {session}")
    name = undo.split()[3]
    assert undo == f"  undo    plait undo {name} --root {runner.config}"
    runner.run_text("undo", name)
    assert not Path(file.split()[1]).exists()


def test_undo_restores_and_lists_edits(runner: Runner) -> None:
    before = runner.files
    report = runner.run_json("clone", "search box")
    listed = runner.run_json("undo", "--list")
    assert [(item["id"], item["operation"], item["state"]) for item in listed] == [
        (report["undo"], "clone", "done")
    ]
    undone = runner.run_json("undo")
    assert list(undone) == ["id", "operation", "session", "path", "when", "state"]
    assert undone["state"] == "undone"
    assert runner.files == before
    _, err = runner.run_text("undo", code=1)
    assert err.startswith("error: nothing to undo")
    _, err = runner.run_text("undo", report["undo"], code=1)
    assert "is already undone" in err
    assert "cloned, undone" in runner.run_text("undo", "--list")[0]


def test_forgotten_edit_cannot_be_undone(runner: Runner) -> None:
    report = runner.run_json("clone", "search box")
    assert runner.run_json("undo", report["undo"], "--forget") == {"forgotten": [report["undo"]]}
    runner.run_text("undo", report["undo"], code=2)
    runner.run_text("clone", runner.work.session)
    runner.run_text("clone", runner.work.session)
    assert runner.run_text("undo", "all", "--forget")[0].startswith("2 edits forgotten")
    assert runner.run_text("undo", "--list")[0] == "no edits\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("undo", "--forget"),
        ("undo", "--list", "--finish"),
        ("undo", "nobody-called-so"),
        ("clone",),
        ("clone", "nobody-called-so"),
        ("clone", "search box", "--prove", "--dry-run"),
        ("fork", "search box"),
        ("fork", "search box", "--at", "nobody said so"),
        ("fork", "search box", "--at", "99"),
        ("fork", "search box", "--at", "1", "--in-place"),
        ("fork", "search box", "--at", "1", "--before", "--onto", "torn one"),
        ("repair", "--check"),
        ("repair",),
        ("repair", "torn one", "--all"),
        ("rename", "search box"),
        ("tag", "search box"),
        ("tag", "search box", "word", "--remove"),
        ("switch", "search box"),
        ("delete",),
        ("delete", "search box", "--prove"),
    ],
)
def test_wrong_usage_is_an_error_and_changes_nothing(
    runner: Runner, arguments: tuple[str, ...]
) -> None:
    before = runner.files
    out, err = runner.run_text(*arguments, code=2)
    assert out == ""
    assert err.startswith("error: ")
    assert runner.files == before


def test_unknown_fork_point_names_the_command_that_lists_them(runner: Runner) -> None:
    _, err = runner.run_text("fork", "search box", "--at", "99", code=2)
    name = runner.work.session[:8]
    hint = err.splitlines()[1].replace(f" --root {runner.config}", "")
    assert (
        hint == f"hint: `plait log {name}` shows the turns, `plait show {name} --raw` the records"
    )


def test_check_reports_broken_rules_and_exits_with_a_code(runner: Runner) -> None:
    assert runner.run_json("repair", "search box", "--check") == {
        "session": runner.work.session,
        "path": str(runner.path_of(runner.work)),
        "ok": True,
        "violations": [],
    }
    report = runner.run_json("repair", "torn one", "--check", code=1)
    assert report["ok"] is False
    assert [list(item) for item in report["violations"]] == [
        ["rule", "uuid", "line", "words", "file"]
    ]
    out, err = runner.run_text("repair", "torn one", "--check", code=1)
    assert "line 4: truncated: the line does not end" in out
    assert "1 violation" in out
    assert err == ""
    assert "no rule violations" in runner.run_text("repair", "search box", "--check")[0]


def test_titles_cannot_control_the_terminal_or_the_shell(runner: Runner) -> None:
    out, _ = runner.run_text("clone", "search box", "--title", "x'; touch /tmp/pwned; \x1b[2J'")
    assert "\x1b" not in out
    _, err = runner.run_text("clone", "nobody\x1b[2J", code=2)
    assert "\x1b" not in err


def test_prove_resumes_with_a_client(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    out, _ = runner.run_text("clone", runner.work.session, "--prove")
    assert out.endswith("  proof   no proof: 'claude' is not installed\n")
    report = runner.run_json("clone", runner.work.session, "--prove")
    assert report["proof"]["state"] == "not installed"
    monkeypatch.setenv("PLAIT_CLAUDE", "/bin/false")
    out, err = runner.run_text("clone", runner.work.session, "--prove", code=1)
    assert "does not resume the session" in out
    assert err.startswith("error: the proof failed")


def test_title_and_tag_append_a_line_and_can_be_undone(runner: Runner) -> None:
    before, path = runner.files, runner.path_of(runner.work)
    was = path.stat()
    report = runner.run_json("rename", "search box", "Product search")
    assert list(report) == KEYS
    assert (report["kept"], report["added"], report["rewritten"]) == (
        report["before"]["lines"],
        1,
        0,
    )
    assert path.read_bytes().startswith(before[str(path)])
    assert Archive([runner.config]).session(runner.work.session).title == "Product search"
    runner.run_text("tag", "Product search", "keep")
    assert b'"tag":"keep"' in path.read_bytes()
    runner.run_text("tag", "Product search", "--remove")
    assert path.read_bytes().splitlines()[-1].startswith(b'{"type":"tag","tag":""')
    for _ in range(3):
        runner.run_text("undo")
    assert runner.files == before
    now = path.stat()
    assert (now.st_mtime_ns, now.st_mode) == (was.st_mtime_ns, was.st_mode)


def test_switch_accepts_the_branch_name_shown_by_log(runner: Runner) -> None:
    out, _ = runner.run_text("log", "search box")
    name = out.partition("branch ")[2].partition(":")[0]
    report = runner.run_json("switch", "search box", "--branch", name)
    assert (report["operation"], report["added"]) == ("switch", 1)
    assert runner.run_json("context", "search box")["leaf"] == runner.work.uuid_of("A2")
    runner.run_text("switch", "search box", "--branch", runner.work.uuid_of("A3")[:8])
    assert runner.run_json("context", "search box")["leaf"] == runner.work.uuid_of("A3")
    before = runner.files
    _, err = runner.run_text("switch", "search box", "--branch", "nobody-called-so", code=2)
    assert err.startswith("error: ")
    assert runner.files == before


def test_deleted_session_can_be_restored(runner: Runner) -> None:
    before = runner.files
    report = runner.run_json("delete", "search box")
    assert list(report) == KEYS
    assert report["after"]["lines"] == 0
    assert [path.stem for path in runner.logs] == [runner.broken.session]
    out, _ = runner.run_text("undo", report["undo"])
    assert out.startswith(f"undone: delete of {runner.work.session[:8]}")
    assert runner.files == before


def test_deleted_session_keeps_its_title(runner: Runner) -> None:
    planned, _ = runner.run_text("delete", runner.work.session, "--dry-run")
    done, _ = runner.run_text("delete", runner.work.session)
    assert done.splitlines()[:2] == planned.splitlines()[:2]
    assert "search box" in done.splitlines()[0]


def test_several_sessions_are_deleted_one_by_one(runner: Runner) -> None:
    before = runner.files
    report = runner.run_json("delete", runner.work.session, runner.broken.session, "--dry-run")
    assert [(item["operation"], item["applied"]) for item in report] == [("delete", False)] * 2
    assert runner.files == before
    out, _ = runner.run_text("delete", runner.work.session, runner.broken.session)
    assert out.endswith("2 sessions, 2 changed\n")
    assert runner.logs == []
    assert out.count("plait undo 2") == 2


def test_live_session_is_not_edited(runner: Runner) -> None:
    os.utime(runner.path_of(runner.work))
    before = runner.files
    for command in (("rename", "search box", "T"), ("delete", "search box")):
        out, err = runner.run_text(*command, code=1)
        assert err.startswith("error: ")
        assert "--force" in err
        assert "done" not in out
        assert runner.files == before
    _, err = runner.run_text("rename", "search box", "T", "--json", code=1)
    assert json.loads(err)["exit_code"] == 1
    assert runner.run_json("rename", "search box", "T", "--force")["applied"] is True


def test_refused_session_does_not_block_the_others(runner: Runner) -> None:
    os.utime(runner.path_of(runner.work))
    out, err = runner.run_text("delete", runner.work.session, runner.broken.session, code=1)
    assert f"{runner.work.session[:8]}  refused: " in out
    assert f"{runner.broken.session[:8]}  deleted" in out
    assert err == f"error: 1 of 2 sessions were refused: {runner.work.session[:8]}\n"
    assert [path.stem for path in runner.logs] == [runner.work.session]


@pytest.mark.parametrize(
    ("at", "leaf", "turns"),
    [
        (("--at", "1"), "A1", 1),
        (("--at", "Take LIKE"), "A2", 2),
        (("--at", "Take LIKE", "--before"), "A1", 1),
        (("--turn", "2"), "A3", 2),
        (("--at", "A2"), "A2", 2),
    ],
)
def test_fork_starts_at_any_message(
    runner: Runner, at: tuple[str, ...], leaf: str, turns: int
) -> None:
    before = runner.files
    given = [runner.work.uuid_of(item) if item == "A2" else item for item in at]
    report = runner.run_json("fork", "search box", *given, "--title", "Another way")
    assert list(report) == KEYS
    assert (report["operation"], report["applied"], report["after"]["turns"]) == (
        "fork",
        True,
        turns,
    )
    output = runner.run_json("context", report["session"])["messages"][-1]
    assert output == ["assistant", [{"type": "text", "text": TEXTS[leaf]}]]
    assert Archive([runner.config]).session(report["session"]).title == "Another way"
    runner.run_text("undo")
    assert runner.files == before


def test_session_without_branches_has_only_its_own_line(runner: Runner) -> None:
    _, err = runner.run_text("switch", "torn one", "--branch", "2", code=2)
    assert err == "error: no branch named '2'\nhint: the only one is the trunk\n"


def test_clone_may_leave_out_abandoned_branches(runner: Runner) -> None:
    report = runner.run_json("clone", "search box", "--active-only")
    assert report["dropped"] >= 2
    assert "Take LIKE." not in Path(report["path"]).read_text()


def test_turns_are_numbered_as_in_show(runner: Runner, gallery: Path) -> None:
    report = runner.run_json("rename", "search box", "T", "--dry-run")
    assert report["before"]["turns"] == 2
    assert "2 turns" in runner.run_text("show", "search box")[0]
    run(["rename", "e15389d1", "T", "--dry-run", "--json", "--root", str(gallery)])
    assert json.loads(runner.read())["before"]["turns"] == 3  # what stands before the first is none


def test_repair_writes_a_copy_or_in_place(runner: Runner) -> None:
    before = runner.files
    report = runner.run_json("repair", "torn one")
    assert list(report) == KEYS
    assert report["source"] == runner.broken.session != report["session"]
    assert {path: runner.files[path] for path in before} == before
    runner.run_text("repair", report["session"], "--check")
    runner.run_text("undo")
    out, _ = runner.run_text("repair", "torn one", "--in-place")
    assert out.endswith("nothing was changed; add `--yes` to apply the plan\n")
    assert runner.files == before
    report = runner.run_json("repair", "torn one", "--in-place", "--yes")
    assert (report["applied"], report["session"]) == (True, runner.broken.session)
    runner.run_text("repair", "torn one", "--check")
    runner.run_text("undo")
    assert runner.files == before


def test_healthy_session_keeps_its_bytes(runner: Runner) -> None:
    before = runner.files
    report = runner.run_json("repair", "search box")
    assert (report["applied"], report["undo"], report["session"]) == (
        False,
        None,
        runner.work.session,
    )
    assert "nothing to repair" in runner.run_text("repair", "search box", "--in-place", "--yes")[0]
    assert runner.files == before


def test_repair_all_counts_repaired_and_healthy_sessions(runner: Runner) -> None:
    before = runner.files
    out, _ = runner.run_text("repair", "--all", "--in-place")
    assert out.endswith("1 session, nothing was changed; add `--yes` to apply the plan\n")
    assert runner.files == before
    names = (runner.work.session, runner.broken.session)
    out, _ = runner.run_text("repair", *names, "--in-place", "--yes")
    assert out.startswith(f"{runner.broken.session[:8]}  repaired (")
    assert out.endswith("2 sessions, 1 changed, 1 with nothing to do\n")
    assert [item["applied"] for item in runner.run_json("repair", *names)] == [False, False]
    assert runner.run_json("repair", "--all") == []
    out, _ = runner.run_text("repair", "--all")
    assert out.startswith("nothing to repair in ")


@pytest.mark.parametrize("width", [20, 40, 60])
def test_plans_fit_any_terminal(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in (
        ("clone", "search box", "--title", "T"),
        ("fork", "search box", "--at", "1"),
        ("repair", "torn one"),
        ("delete", "search box"),
    ):
        out, _ = runner.run_text(*command, "--dry-run")
        assert max(map(len, out.splitlines())) <= width


def test_branch_is_grafted_onto_another_session(runner: Runner) -> None:
    runner.run_text("repair", "torn one", "--in-place", "--yes")
    before = runner.files
    asked = ("fork", "search box", "--at", "Take LIKE", "--onto", runner.broken.session)
    report = runner.run_json(*asked)
    assert list(report) == KEYS
    assert (report["operation"], report["source"]) == ("graft", runner.broken.session)
    assert {path: runner.files[path] for path in before} == before
    output = runner.run_json("context", report["session"])["messages"]
    assert output[0][1][0]["text"] == "Begin."
    assert output[-1][1][0]["text"] == TEXTS["A2"]
    runner.run_text("undo")
    assert runner.run_json(*asked, "--in-place")["applied"] is False
    assert runner.files == before
    assert runner.run_json(*asked, "--in-place", "--yes")["session"] == runner.broken.session
    runner.run_text("undo")
    assert runner.files == before


@pytest.mark.parametrize("as_json", [False, True])
def test_plan_that_breaks_a_rule_is_refused(runner: Runner, as_json: bool) -> None:
    before, request = runner.files, Request((str(runner.config),))
    session = request.session("search box")
    plan = request.archive.plan.rename(session, "T")
    (step,) = plan.steps
    assert isinstance(step, Append)
    torn = replace(plan, steps=(replace(step, data=b'{"type":"user","uuid":"x"'),))
    with pytest.raises(Refused, match="refusing to rename: 2 rules would be broken"):
        run_plan(request, session, torn, EditOptions(as_json=as_json))
    out = runner.read()
    if as_json:
        report = json.loads(out)
        assert (report["applied"], report["undo"], len(report["violations"])) == (False, None, 2)
    else:
        assert "broken:" in out
        assert "renamed" not in out
    assert runner.files == before


def test_large_session_is_not_read_again_for_the_hint(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.cli.edit.LARGE", 100)
    out, _ = runner.run_text("rename", "search box", "T")
    session, root = runner.work.session, runner.config
    assert f"  resume  plait resume {session} --root {root}\n" in out
