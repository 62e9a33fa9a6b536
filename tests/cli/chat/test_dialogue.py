"""What a person is asked, and what their words mean."""

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from plait.agent.permission import Answer
from plait.agent.tools import Workplace, toolbox
from plait.agent.tools.model import Proposal
from plait.cli.chat.dialogue import Dialogue
from plait.cli.chat.drawing import Drawing
from plait.cli.chat.keyboard import View
from plait.cli.chat.picking import Picking, Row
from plait.cli.chat.screen import Screen
from plait.cli.output import Output
from plait.cli.settings import load_settings

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


class Typed:
    """A keyboard on which everything is typed already."""

    is_live = False

    def __init__(self, *answers: str | None, text: str | None = None) -> None:
        self.answers = list(answers)
        self.text = text

    def attached(self) -> AbstractContextManager[None]:
        return nullcontext()

    async def prompt(self) -> str | None:
        return None

    def alone(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def answer(self, question: str) -> str | None:
        return self.answers.pop(0)

    async def changed(self, text: str) -> str | None:
        return self.text

    def ahead(self, take: Callable[[str], None]) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def above(self, text: str) -> None:
        print(text, end="")

    def redraw(self) -> None: ...

    def put_back(self, text: str) -> None: ...

    def interrupted(self) -> None: ...

    async def pick(self, picking: Picking) -> Row | None:
        return None

    async def look_at(self, view: View) -> None: ...


async def _at_once() -> None: ...


def asked(proposal: Proposal, keyboard: Typed, directory: str | None = None) -> Answer:
    output = Output(load_settings(environment={"HOME": "/h"}))
    dialogue = Dialogue(Screen(output, Drawing(directory), keyboard), keyboard, _at_once)
    return asyncio.run(dialogue.ask(proposal, "toolu_1"))


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", Answer(is_allowed=True)),
        ("YES", Answer(is_allowed=True)),
        (" a ", Answer(is_allowed=True, is_for_session=True)),
        ("n", Answer(is_allowed=False, stops=True)),
        ("No", Answer(is_allowed=False, stops=True)),
        ("use pytest", Answer(is_allowed=False, words="use pytest")),
        ("yy", Answer(is_allowed=False, words="yy")),
        (None, Answer(is_allowed=False, stops=True)),
    ],
)
def test_what_words_mean(typed: str | None, answer: Answer) -> None:
    assert asked(BASH, Typed("", typed)) == answer


def test_a_proposal_can_be_changed() -> None:
    answer = asked(BASH, Typed("e", text="make check"))
    assert answer == Answer(is_allowed=True, arguments={"command": "make check"})
    assert asked(BASH, Typed("e", text="make\nmake test")) == Answer(is_allowed=True)
    edited = asked(EDIT, Typed("e", text="3")).arguments
    assert edited == {"file_path": "/w/a.py", "old_string": "1", "new_string": "3"}


def test_who_gives_up_changing_is_asked_again() -> None:
    assert asked(BASH, Typed("e", "n", text=None)) == Answer(is_allowed=False, stops=True)


def test_what_cannot_be_changed_is_not_allowed_by_the_letter_for_it() -> None:
    assert asked(READ, Typed("e")) == Answer(is_allowed=False, words="e")


def test_what_is_allowed_for_good_is_shown_as_the_rule_that_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    build = Proposal("Bash", {"command": "npm run build"}, "execute", "npm run build")
    assert asked(build, Typed("p")) == Answer(is_allowed=True, is_permanent=True)
    line = "p  yes, and from now on in this project: Bash(npm run *)"
    assert line in capsys.readouterr().out
    assert asked(READ, Typed("p")) == Answer(is_allowed=False, words="p")
    assert "from now on" not in capsys.readouterr().out


def test_the_questions(capsys: pytest.CaptureFixture[str]) -> None:
    for proposal in (BASH, EDIT, READ):
        asked(proposal, Typed("y"), "/w")
    assert capsys.readouterr().out == QUESTIONS


QUESTIONS = """\
○ Bash  → may it run?
    make
    make test
    y  yes
    a  yes, and this command until this session ends
    e  yes, but let me change it first
    n  no, and stop; any other words say what to do instead
○ Edit  a.py  → may it be written?
    1   x
    2 - a = 1
    2 + a = 2
    3   y
    y  yes
    a  yes, and all changes of files here until this session ends
    e  yes, but let me change it first
    n  no, and stop; any other words say what to do instead
○ Read  /etc/hosts  → may it be read?
    y  yes
    a  yes, and all in this folder until this session ends
    n  no, and stop; any other words say what to do instead
"""


def test_one_question_at_a_time() -> None:
    order: list[str] = []

    class Slow(Typed):
        async def answer(self, question: str) -> str | None:
            order.append("asked")
            await asyncio.sleep(0)
            order.append("answered")
            return "y"

    keyboard = Slow()
    output = Output(load_settings(environment={"HOME": "/h"}))
    dialogue = Dialogue(Screen(output, Drawing(), keyboard), keyboard, _at_once)

    async def both() -> None:
        await asyncio.gather(dialogue.ask(READ, "1"), dialogue.ask(READ, "2"))

    asyncio.run(both())
    assert order == ["asked", "answered"] * 2


def test_what_is_asked_about_is_shown_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    command = "echo " + "".join(f"{number:04}" for number in range(200)) + " && rm -rf the-end"
    long = "\n".join(f"line {number}" for number in range(500))
    keyboard = Typed("y", "y")
    output = Output(load_settings(colour="always", environment={"HOME": "/h"}))
    dialogue = Dialogue(Screen(output, Drawing(), keyboard), keyboard, _at_once)

    async def ask() -> None:
        await dialogue.ask(Proposal("Bash", {"command": command}, "execute", command), "1")
        await dialogue.ask(Proposal("Write", {}, "write", "x", after=long), "2")

    asyncio.run(ask())
    plain = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert command.replace(" ", "") in "".join(plain.split())
    assert all(f"+ line {number}" in plain for number in range(500))


def test_a_question_waits_for_what_went_before() -> None:
    order: list[str] = []

    class Noted(Typed):
        async def answer(self, question: str) -> str | None:
            order.append("asked")
            return "y"

    async def settled() -> None:
        order.append("settled")

    keyboard = Noted()
    output = Output(load_settings(environment={"HOME": "/h"}))
    dialogue = Dialogue(Screen(output, Drawing(), keyboard), keyboard, settled)
    asyncio.run(dialogue.ask(READ, "1"))
    assert order == ["settled", "asked"]


def test_a_proposal_can_neither_draw_nor_hide(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "ls\x1b[2K\r\x1b[1A y  yes\u202e"
    shown = "ls\ufffd[2K\ufffd\ufffd[1A y  yes\ufffd"
    asked(Proposal("Bash", {"command": evil}, "execute", evil), Typed("n"))
    assert f"\n    {shown}\n" in capsys.readouterr().out
    asked(Proposal("Write", {}, "write", f"/w/{evil}", before="", after=evil), Typed("n"))
    out = capsys.readouterr().out
    assert f"Write  /w/{' '.join(shown.split())}  →" in out
    assert f"+ {shown}\n" in out
    assert {one for one in out if not one.isprintable()} <= {"\n"}


def test_a_question_names_what_is_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
        ("Bash", {"command": "x", "run_in_background": True}, "    (goes on in the background)\n"),
        ("Bash", {"command": "x"}, ""),
    ]
    for tool, arguments, line in calls:
        asked(tools[tool].propose(arguments, place), Typed("n"), str(root))
        shown = capsys.readouterr().out
        body = shown.partition("?\n")[2].partition("    y  yes")[0].removeprefix("    x\n")
        assert body == line, tool
