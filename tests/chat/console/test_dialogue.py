"""Permission questions, and how answers are interpreted."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from plait.chat.approval import Approval
from plait.chat.console.archive import Row, SessionPicker
from plait.chat.console.interactive import PermissionDialog
from plait.chat.console.keyboard import FullView, Keyboard
from plait.chat.console.screen import EventRenderer, Screen
from plait.chat.tools import toolbox
from plait.chat.tools.base import Proposal, Workplace
from plait.settings import load_settings
from plait.terminal.output import Output

BASH = Proposal("Bash", {"command": "make\nmake test"}, "execute", "make\nmake test")
READ = Proposal("Read", {"file_path": "/etc/hosts"}, "read", "/etc/hosts")
EDIT = Proposal(
    "Edit",
    {"file_path": "/w/a.py", "old_string": "1", "new_string": "2"},
    "write",
    "a.py",
    (Path("/w/a.py"),),
    before="x\na = 1\ny\n",
    after="x\na = 2\ny\n",
)


class Typed(Keyboard):
    """A keyboard on which everything is typed already."""

    def __init__(self, *answers: str | None, text: str | None = None) -> None:
        self.answers = list(answers)
        self.text = text

    async def prompt(self) -> str | None:
        return None

    async def answer(self, question: str) -> str | None:
        return self.answers.pop(0)

    async def edit(self, text: str) -> str | None:
        return self.text

    async def print_above(self, text: str) -> None:
        print(text, end="")

    async def pick(self, picking: SessionPicker) -> Row | None:
        return None

    async def show(self, view: FullView) -> None: ...


async def _at_once() -> None: ...


async def _no_commands(text: str) -> bool:
    raise AssertionError(f"'{text}' is not a command")


def make_dialog(
    keyboard: Typed,
    directory: str | None = None,
    colour: str = "auto",
    settled: Callable[[], Awaitable[None]] = _at_once,
    run_command: Callable[[str], Awaitable[bool]] = _no_commands,
) -> PermissionDialog:
    output = Output(load_settings(colour=colour, environment={"HOME": "/h"}))
    screen = Screen(output, EventRenderer(directory), keyboard)
    return PermissionDialog(screen, keyboard, settled, run_command)


def ask_user(proposal: Proposal, keyboard: Typed, directory: str | None = None) -> Approval:
    return asyncio.run(make_dialog(keyboard, directory).ask(proposal, "toolu_1"))


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", Approval(is_allowed=True)),
        ("YES", Approval(is_allowed=True)),
        (" a ", Approval(is_allowed=True, is_for_session=True)),
        ("n", Approval(is_allowed=False, ends_turn=True)),
        ("No", Approval(is_allowed=False, ends_turn=True)),
        ("use pytest", Approval(is_allowed=False, feedback="use pytest")),
        ("n\u00e3o", Approval(is_allowed=False, feedback="n\u00e3o")),
        (None, Approval(is_allowed=False, ends_turn=True)),
    ],
)
def test_answers_are_interpreted(typed: str | None, answer: Approval) -> None:
    assert ask_user(BASH, Typed("", typed)) == answer


def test_proposed_call_can_be_edited() -> None:
    answer = ask_user(BASH, Typed("e", text="make check"))
    assert answer == Approval(is_allowed=True, arguments={"command": "make check"})
    assert ask_user(BASH, Typed("e", text="make\nmake test")) == Approval(is_allowed=True)
    edited = ask_user(EDIT, Typed("e", text="3")).arguments
    assert edited == {"file_path": "/w/a.py", "old_string": "1", "new_string": "3"}


def test_abandoned_edit_asks_again() -> None:
    assert ask_user(BASH, Typed("e", "n", text=None)) == Approval(is_allowed=False, ends_turn=True)


@pytest.mark.parametrize("slip", ["yy", "e", "p", "3", "yess"])
def test_a_mistyped_choice_is_asked_again(slip: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No rule fits a read and it cannot be edited, so `p` and `e` are no choices here."""
    assert ask_user(READ, Typed(slip, "y")) == Approval(is_allowed=True)
    out = capsys.readouterr().out
    assert f"'{slip}' is not one of the choices\n" in out
    assert out.count("    y  yes\n") == 2


def test_a_command_at_a_question_is_run_and_the_question_asked_again() -> None:
    commands: list[str] = []

    async def run_command(text: str) -> bool:
        commands.append(text)
        return text == "/exit"

    def ask(*typed: str) -> Approval:
        dialog = make_dialog(Typed(*typed), run_command=run_command)
        return asyncio.run(dialog.ask(BASH, "toolu_1"))

    assert ask("/help", " /cost ", "y") == Approval(is_allowed=True)
    assert ask("/exit") == Approval(is_allowed=False, ends_turn=True)
    assert commands == ["/help", "/cost", "/exit"]


def test_permanent_permission_shows_the_rule_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    build = Proposal("Bash", {"command": "npm run build"}, "execute", "npm run build")
    assert ask_user(build, Typed("p")) == Approval(is_allowed=True, is_permanent=True)
    line = "p  yes, and always in this project: Bash(npm run *)"
    assert line in capsys.readouterr().out
    ask_user(READ, Typed("n"))
    assert "always in this project" not in capsys.readouterr().out


def test_question_texts(capsys: pytest.CaptureFixture[str]) -> None:
    for proposal in (BASH, EDIT, READ):
        ask_user(proposal, Typed("y"), "/w")
    assert capsys.readouterr().out == QUESTIONS


QUESTIONS = """\
○ Bash  → Run this?
    make
    make test
    y  yes
    a  yes, and allow this command for the rest of this session
    e  yes, but let me edit it first
    n  no, and stop; or type what to do instead
○ Edit  a.py  → Apply this edit?
    1   x
    2 - a = 1
    2 + a = 2
    3   y
    y  yes
    a  yes, and allow all edits in this directory for the rest of this session
    e  yes, but let me edit it first
    n  no, and stop; or type what to do instead
○ Read  /etc/hosts  → Read this?
    y  yes
    a  yes, and allow all reads in this directory for the rest of this session
    n  no, and stop; or type what to do instead
"""


def test_one_question_at_a_time() -> None:
    order: list[str] = []

    class Slow(Typed):
        async def answer(self, question: str) -> str | None:
            order.append("asked")
            await asyncio.sleep(0)
            order.append("answered")
            return "y"

    dialogue = make_dialog(Slow())

    async def both() -> None:
        await asyncio.gather(dialogue.ask(READ, "1"), dialogue.ask(READ, "2"))

    asyncio.run(both())
    assert order == ["asked", "answered"] * 2


def test_proposed_content_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    command = "echo " + "".join(f"{number:04}" for number in range(200)) + " && rm -rf the-end"
    long = "\n".join(f"line {number}" for number in range(500))
    dialogue = make_dialog(Typed("y", "y"), colour="always")

    async def ask() -> None:
        await dialogue.ask(Proposal("Bash", {"command": command}, "execute", command), "1")
        await dialogue.ask(Proposal("Write", {}, "write", "x", after=long), "2")

    asyncio.run(ask())
    plain = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert command.replace(" ", "") in "".join(plain.split())
    assert all(f"+ line {number}" in plain for number in range(500))


def test_question_waits_for_earlier_output() -> None:
    order: list[str] = []

    class Noted(Typed):
        async def answer(self, question: str) -> str | None:
            order.append("asked")
            return "y"

    async def settled() -> None:
        order.append("settled")

    asyncio.run(make_dialog(Noted(), settled=settled).ask(READ, "1"))
    assert order == ["settled", "asked"]


def test_proposal_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "ls\x1b[2K\r\x1b[1A y  yes\u202e"
    shown = "ls\ufffd[2K\ufffd\ufffd[1A y  yes\ufffd"
    ask_user(Proposal("Bash", {"command": evil}, "execute", evil), Typed("n"))
    assert f"\n    {shown}\n" in capsys.readouterr().out
    ask_user(Proposal("Write", {}, "write", f"/w/{evil}", before="", after=evil), Typed("n"))
    out = capsys.readouterr().out
    assert f"Write  /w/{' '.join(shown.split())}  →" in out
    assert f"+ {shown}\n" in out
    assert {item for item in out if not item.isprintable()} <= {"\n"}


def test_question_shows_the_resolved_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link, a search elsewhere and a name of two lines are told by where they lead."""
    root, other = tmp_path.resolve() / "work", tmp_path.resolve() / "other"
    root.mkdir()
    other.mkdir()
    (other / "secret").write_text("theirs")
    (root / "link").symlink_to(other / "secret")
    (root / "notes.txt").write_text("mine")
    place, tools = Workplace(root, root), toolbox()
    calls: list[tuple[str, dict[str, object], str]] = [
        ("Read", {"file_path": "link"}, f"    {other}/secret\n"),
        ("Grep", {"pattern": "x", "path": "../other"}, f"    {other}\n"),
        ("Glob", {"pattern": "*", "path": str(other)}, f"    {other}\n"),
        ("Write", {"file_path": "a\n/b", "content": ""}, f"    {root}/a\ufffd/b\n"),
        ("Read", {"file_path": "notes.txt"}, ""),
        ("Read", {"file_path": str(root / "notes.txt")}, ""),
        ("Bash", {"command": "x", "run_in_background": True}, "    (runs in the background)\n"),
        ("Bash", {"command": "x"}, ""),
    ]
    for tool, arguments, line in calls:
        ask_user(tools[tool].propose(arguments, place), Typed("n"), str(root))
        shown = capsys.readouterr().out
        body = shown.partition("?\n")[2].partition("    y  yes")[0].removeprefix("    x\n")
        assert body == line, tool
