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


class Desk:
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

    def said(self, *arguments: object, code: int = 0) -> tuple[str, str]:
        """Run a command; returns what it said, and what it complained of."""
        given = [str(argument) for argument in arguments]
        assert run([*given, "--root", str(self.config)]) == code, self._capfd.readouterr()
        captured = self._capfd.readouterr()
        return captured.out, captured.err

    def read(self) -> str:
        """Return what was said last."""
        return self._capfd.readouterr().out

    def told(self, *arguments: object, code: int = 0) -> Any:
        """Run a command with `--json`; returns its object."""
        return json.loads(self.said(*arguments, "--json", code=code)[0])


@pytest.fixture
def desk(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Desk:
    """Return a desk with a session of two branches, and one with a torn line."""
    return Desk(tmp_path, capfd)


def test_clone_is_a_new_session_and_the_source_stays(desk: Desk) -> None:
    before = desk.files
    told = desk.told("clone", "search box", "--title", "Once more")
    assert list(told) == KEYS
    assert (told["operation"], told["applied"], told["source"]) == (
        "clone",
        True,
        desk.work.session,
    )
    assert list(told["before"]) == ["lines", "turns", "bytes", "tokens", "cost_usd"]
    assert told["after"]["lines"] == told["before"]["lines"] + 1
    assert told["added"] == 1
    after = desk.files
    assert after.pop(told["path"])
    assert after == before
    assert Archive([desk.config]).session(told["session"]).title == "Once more"


def test_undo_of_a_session_outside_the_roots_names_its_root(desk: Desk, tmp_path: Path) -> None:
    beyond = tmp_path / "beyond" / f"{desk.work.session}.jsonl"
    beyond.parent.mkdir()
    beyond.write_bytes(desk.path_of(desk.work).read_bytes())
    out, _ = desk.said("clone", beyond)
    assert f"--root {beyond.parent}" in out
    assert str(desk.config) not in out.partition("undo")[2]
    out, _ = desk.said("clone", "search box")
    assert f"--root {desk.config}" in out.partition("undo")[2]


def test_dry_run_shows_the_plan_and_changes_nothing(desk: Desk) -> None:
    before = desk.files
    out, err = desk.said("clone", "search box", "--dry-run")
    assert err == ""
    assert "tokens sent on resume" in out
    assert "rewritten  new ids" in out
    assert out.endswith("nothing was changed; leave out `--dry-run` to apply the plan\n")
    assert desk.told("clone", "search box", "--dry-run")["undo"] is None
    assert desk.files == before


def test_completed_edit_suggests_the_next_command(desk: Desk) -> None:
    out, _ = desk.said("clone", "search box")
    *_, done, file, resume, undo = out.splitlines()
    session = done.removeprefix("cloned as ")
    assert file == f"  file    {desk.config}/projects/-home-dev-shop/{session}.jsonl"
    assert resume.endswith(f"claude --resume {session}")
    name = undo.split()[3]
    assert undo == f"  undo    plait undo {name} --root {desk.config}"
    desk.said("undo", name)
    assert not Path(file.split()[1]).exists()


def test_undo_restores_and_lists_edits(desk: Desk) -> None:
    before = desk.files
    told = desk.told("clone", "search box")
    listed = desk.told("undo", "--list")
    assert [(one["id"], one["operation"], one["state"]) for one in listed] == [
        (told["undo"], "clone", "done")
    ]
    undone = desk.told("undo")
    assert list(undone) == ["id", "operation", "session", "path", "when", "state"]
    assert undone["state"] == "undone"
    assert desk.files == before
    _, err = desk.said("undo", code=1)
    assert err.startswith("error: nothing to undo")
    _, err = desk.said("undo", told["undo"], code=1)
    assert "is already undone" in err
    assert "cloned, undone" in desk.said("undo", "--list")[0]


def test_forgotten_edit_cannot_be_undone(desk: Desk) -> None:
    told = desk.told("clone", "search box")
    assert desk.told("undo", told["undo"], "--forget") == {"forgotten": [told["undo"]]}
    desk.said("undo", told["undo"], code=2)
    desk.said("clone", desk.work.session)
    desk.said("clone", desk.work.session)
    assert desk.said("undo", "all", "--forget")[0].startswith("2 edits forgotten")
    assert desk.said("undo", "--list")[0] == "no edits\n"


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
    desk: Desk, arguments: tuple[str, ...]
) -> None:
    before = desk.files
    out, err = desk.said(*arguments, code=2)
    assert out == ""
    assert err.startswith("error: ")
    assert desk.files == before


def test_unknown_fork_point_names_the_command_that_lists_them(desk: Desk) -> None:
    _, err = desk.said("fork", "search box", "--at", "99", code=2)
    name = desk.work.session[:8]
    hint = err.splitlines()[1].replace(f" --root {desk.config}", "")
    assert (
        hint == f"hint: `plait log {name}` shows the turns, `plait show {name} --raw` the records"
    )


def test_check_reports_broken_rules_and_exits_with_a_code(desk: Desk) -> None:
    assert desk.told("repair", "search box", "--check") == {
        "session": desk.work.session,
        "path": str(desk.path_of(desk.work)),
        "ok": True,
        "violations": [],
    }
    told = desk.told("repair", "torn one", "--check", code=1)
    assert told["ok"] is False
    assert [list(one) for one in told["violations"]] == [["rule", "uuid", "line", "words", "file"]]
    out, err = desk.said("repair", "torn one", "--check", code=1)
    assert "line 4: truncated: the line does not end" in out
    assert "1 violation" in out
    assert err == ""
    assert "no rule is broken" in desk.said("repair", "search box", "--check")[0]


def test_titles_cannot_control_the_terminal_or_the_shell(desk: Desk) -> None:
    out, _ = desk.said("clone", "search box", "--title", "x'; touch /tmp/pwned; \x1b[2J'")
    assert "\x1b" not in out
    _, err = desk.said("clone", "nobody\x1b[2J", code=2)
    assert "\x1b" not in err


def test_prove_resumes_with_a_client(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    out, _ = desk.said("clone", desk.work.session, "--prove")
    assert out.endswith("  proof   no proof: 'claude' is not installed\n")
    told = desk.told("clone", desk.work.session, "--prove")
    assert told["proof"]["state"] == "not installed"
    monkeypatch.setenv("PLAIT_CLAUDE", "/bin/false")
    out, err = desk.said("clone", desk.work.session, "--prove", code=1)
    assert "does not resume it" in out
    assert err.startswith("error: the proof failed")


def test_title_and_tag_append_a_line_and_can_be_undone(desk: Desk) -> None:
    before, path = desk.files, desk.path_of(desk.work)
    was = path.stat()
    told = desk.told("rename", "search box", "Product search")
    assert list(told) == KEYS
    assert (told["kept"], told["added"], told["rewritten"]) == (told["before"]["lines"], 1, 0)
    assert path.read_bytes().startswith(before[str(path)])
    assert Archive([desk.config]).session(desk.work.session).title == "Product search"
    desk.said("tag", "Product search", "keep")
    assert b'"tag":"keep"' in path.read_bytes()
    desk.said("tag", "Product search", "--remove")
    assert path.read_bytes().splitlines()[-1].startswith(b'{"type":"tag","tag":""')
    for _ in range(3):
        desk.said("undo")
    assert desk.files == before
    now = path.stat()
    assert (now.st_mtime_ns, now.st_mode) == (was.st_mtime_ns, was.st_mode)


def test_switch_accepts_the_branch_name_shown_by_log(desk: Desk) -> None:
    out, _ = desk.said("log", "search box")
    name = out.partition("branch ")[2].partition(":")[0]
    told = desk.told("switch", "search box", "--branch", name)
    assert (told["operation"], told["added"]) == ("switch", 1)
    assert desk.told("context", "search box")["leaf"] == desk.work.uuid_of("A2")
    desk.said("switch", "search box", "--branch", desk.work.uuid_of("A3")[:8])
    assert desk.told("context", "search box")["leaf"] == desk.work.uuid_of("A3")
    before = desk.files
    _, err = desk.said("switch", "search box", "--branch", "nobody-called-so", code=2)
    assert err.startswith("error: ")
    assert desk.files == before


def test_deleted_session_can_be_restored(desk: Desk) -> None:
    before = desk.files
    told = desk.told("delete", "search box")
    assert list(told) == KEYS
    assert told["after"]["lines"] == 0
    assert [path.stem for path in desk.logs] == [desk.broken.session]
    out, _ = desk.said("undo", told["undo"])
    assert out.startswith(f"undone: delete of {desk.work.session[:8]}")
    assert desk.files == before


def test_deleted_session_keeps_its_title(desk: Desk) -> None:
    planned, _ = desk.said("delete", desk.work.session, "--dry-run")
    done, _ = desk.said("delete", desk.work.session)
    assert done.splitlines()[:2] == planned.splitlines()[:2]
    assert "search box" in done.splitlines()[0]


def test_several_sessions_are_deleted_one_by_one(desk: Desk) -> None:
    before = desk.files
    told = desk.told("delete", desk.work.session, desk.broken.session, "--dry-run")
    assert [(one["operation"], one["applied"]) for one in told] == [("delete", False)] * 2
    assert desk.files == before
    out, _ = desk.said("delete", desk.work.session, desk.broken.session)
    assert out.endswith("2 sessions, 2 changed\n")
    assert desk.logs == []
    assert out.count("plait undo 2") == 2


def test_live_session_is_not_edited(desk: Desk) -> None:
    os.utime(desk.path_of(desk.work))
    before = desk.files
    for command in (("rename", "search box", "T"), ("delete", "search box")):
        out, err = desk.said(*command, code=1)
        assert err.startswith("error: ")
        assert "--force" in err
        assert "done" not in out
        assert desk.files == before
    _, err = desk.said("rename", "search box", "T", "--json", code=1)
    assert json.loads(err)["exit_code"] == 1
    assert desk.told("rename", "search box", "T", "--force")["applied"] is True


def test_refused_session_does_not_block_the_others(desk: Desk) -> None:
    os.utime(desk.path_of(desk.work))
    out, err = desk.said("delete", desk.work.session, desk.broken.session, code=1)
    assert f"{desk.work.session[:8]}  refused: " in out
    assert f"{desk.broken.session[:8]}  deleted" in out
    assert err == f"error: 1 of 2 sessions were refused: {desk.work.session[:8]}\n"
    assert [path.stem for path in desk.logs] == [desk.work.session]


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
def test_fork_starts_at_any_message(desk: Desk, at: tuple[str, ...], leaf: str, turns: int) -> None:
    before = desk.files
    given = [desk.work.uuid_of(one) if one == "A2" else one for one in at]
    told = desk.told("fork", "search box", *given, "--title", "Another way")
    assert list(told) == KEYS
    assert (told["operation"], told["applied"], told["after"]["turns"]) == ("fork", True, turns)
    said = desk.told("context", told["session"])["messages"][-1]
    assert said == ["assistant", [{"type": "text", "text": TEXTS[leaf]}]]
    assert Archive([desk.config]).session(told["session"]).title == "Another way"
    desk.said("undo")
    assert desk.files == before


def test_session_without_branches_has_only_its_own_line(desk: Desk) -> None:
    _, err = desk.said("switch", "torn one", "--branch", "2", code=2)
    assert err == "error: no branch named '2'\nhint: the only one is the trunk\n"


def test_clone_may_leave_out_abandoned_branches(desk: Desk) -> None:
    told = desk.told("clone", "search box", "--active-only")
    assert told["dropped"] >= 2
    assert "Take LIKE." not in Path(told["path"]).read_text()


def test_turns_are_numbered_as_in_show(desk: Desk, gallery: Path) -> None:
    told = desk.told("rename", "search box", "T", "--dry-run")
    assert told["before"]["turns"] == 2
    assert "2 turns" in desk.said("show", "search box")[0]
    run(["rename", "e15389d1", "T", "--dry-run", "--json", "--root", str(gallery)])
    assert json.loads(desk.read())["before"]["turns"] == 3  # what stands before the first is none


def test_repair_writes_a_copy_or_in_place(desk: Desk) -> None:
    before = desk.files
    told = desk.told("repair", "torn one")
    assert list(told) == KEYS
    assert told["source"] == desk.broken.session != told["session"]
    assert {path: desk.files[path] for path in before} == before
    desk.said("repair", told["session"], "--check")
    desk.said("undo")
    out, _ = desk.said("repair", "torn one", "--in-place")
    assert out.endswith("nothing was changed; add `--yes` to apply the plan\n")
    assert desk.files == before
    told = desk.told("repair", "torn one", "--in-place", "--yes")
    assert (told["applied"], told["session"]) == (True, desk.broken.session)
    desk.said("repair", "torn one", "--check")
    desk.said("undo")
    assert desk.files == before


def test_healthy_session_keeps_its_bytes(desk: Desk) -> None:
    before = desk.files
    told = desk.told("repair", "search box")
    assert (told["applied"], told["undo"], told["session"]) == (False, None, desk.work.session)
    assert "nothing to repair" in desk.said("repair", "search box", "--in-place", "--yes")[0]
    assert desk.files == before


def test_repair_all_counts_repaired_and_healthy_sessions(desk: Desk) -> None:
    before = desk.files
    out, _ = desk.said("repair", "--all", "--in-place")
    assert out.endswith("1 session, nothing was changed; add `--yes` to apply the plan\n")
    assert desk.files == before
    names = (desk.work.session, desk.broken.session)
    out, _ = desk.said("repair", *names, "--in-place", "--yes")
    assert out.startswith(f"{desk.broken.session[:8]}  repaired (")
    assert out.endswith("2 sessions, 1 changed, 1 with nothing to do\n")
    assert [one["applied"] for one in desk.told("repair", *names)] == [False, False]
    assert desk.told("repair", "--all") == []
    out, _ = desk.said("repair", "--all")
    assert out.startswith("nothing to repair in ")


@pytest.mark.parametrize("width", [20, 40, 60])
def test_plans_fit_any_terminal(desk: Desk, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in (
        ("clone", "search box", "--title", "T"),
        ("fork", "search box", "--at", "1"),
        ("repair", "torn one"),
        ("delete", "search box"),
    ):
        out, _ = desk.said(*command, "--dry-run")
        assert max(map(len, out.splitlines())) <= width


def test_branch_is_grafted_onto_another_session(desk: Desk) -> None:
    desk.said("repair", "torn one", "--in-place", "--yes")
    before = desk.files
    asked = ("fork", "search box", "--at", "Take LIKE", "--onto", desk.broken.session)
    told = desk.told(*asked)
    assert list(told) == KEYS
    assert (told["operation"], told["source"]) == ("graft", desk.broken.session)
    assert {path: desk.files[path] for path in before} == before
    said = desk.told("context", told["session"])["messages"]
    assert said[0][1][0]["text"] == "Begin."
    assert said[-1][1][0]["text"] == TEXTS["A2"]
    desk.said("undo")
    assert desk.told(*asked, "--in-place")["applied"] is False
    assert desk.files == before
    assert desk.told(*asked, "--in-place", "--yes")["session"] == desk.broken.session
    desk.said("undo")
    assert desk.files == before


@pytest.mark.parametrize("as_json", [False, True])
def test_plan_that_breaks_a_rule_is_refused(desk: Desk, as_json: bool) -> None:
    before, request = desk.files, Request((str(desk.config),))
    session = request.session("search box")
    plan = request.archive.plan.rename(session, "T")
    (step,) = plan.steps
    assert isinstance(step, Append)
    torn = replace(plan, steps=(replace(step, data=b'{"type":"user","uuid":"x"'),))
    with pytest.raises(Refused, match="refusing to rename: 2 rules would be broken"):
        run_plan(request, session, torn, EditOptions(as_json=as_json))
    out = desk.read()
    if as_json:
        told = json.loads(out)
        assert (told["applied"], told["undo"], len(told["violations"])) == (False, None, 2)
    else:
        assert "broken:" in out
        assert "renamed" not in out
    assert desk.files == before


def test_large_session_is_not_read_again_for_the_hint(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.cli.edit.LARGE", 100)
    out, _ = desk.said("rename", "search box", "T")
    session, root = desk.work.session, desk.config
    assert f"  resume  plait resume {session} --root {root}\n" in out
