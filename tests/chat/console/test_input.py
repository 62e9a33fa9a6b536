"""Input: history, completion, keys, external editor, viewing output."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("prompt_toolkit")

from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from plait.chat.console import completion
from plait.chat.console.commands import complete_commands
from plait.chat.console.completion import ChatCompleter, FileSuggestions, PromptHistory
from plait.chat.console.keyboard import FullView, LiveState, Suggestion
from plait.chat.console.terminal import TerminalKeyboard, Viewer, edit_externally

T = TypeVar("T")
ENTER, ESCAPE, UP, CTRL_R, CTRL_O = "\r", "\x1b", "\x1b[A", "\x12", "\x0f"


def at_keyboard(
    play: Callable[[TerminalKeyboard, PipeInput], Awaitable[T]], live: LiveState, **options: Any
) -> T:
    async def run() -> T:
        with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
            return await asyncio.wait_for(play(TerminalKeyboard(live, **options), keys), 20)

    return asyncio.run(run())


def press_keys(keys: str, **options: Any) -> str | None:
    async def play(keyboard: TerminalKeyboard, pipe: PipeInput) -> str | None:
        pipe.send_text(keys)
        return await keyboard.prompt()

    return at_keyboard(play, LiveState(), **options)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.01)


def store_prompt(file: Path, directory: str, *prompts: str) -> None:
    kept = PromptHistory(file, directory)
    for prompt in prompts:
        kept.store_string(prompt)


def load_history(file: Path, directory: str) -> list[str]:
    return [*PromptHistory(file, directory).load_history_strings()]


def test_prompt_history_is_per_directory(tmp_path: Path) -> None:
    file = tmp_path / "data" / "history.jsonl"
    store_prompt(file, "/a", "one", "two\nlines")
    store_prompt(file, "/b", "elsewhere")
    assert load_history(file, "/a") == ["two\nlines", "one"]
    assert load_history(file, "/b") == ["elsewhere"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_broken_history_lines_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(b'no json\n{"time": 1}\n\xff\xfe\n[]\n')
    store_prompt(file, "/a", "one")
    assert load_history(file, "/a") == ["one"]
    assert load_history(tmp_path / "none", "/a") == []
    assert load_history(tmp_path, "/a") == []


def test_history_is_bounded_and_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "MAX_HISTORY_BYTES", 1000)
    file = tmp_path / "history.jsonl"
    store_prompt(file, "/a", *(f"prompt {number}" for number in range(40)))
    kept = load_history(file, "/a")
    assert kept[0] == "prompt 39"
    assert "prompt 0" not in kept
    assert file.stat().st_size <= 500
    store_prompt(file, "/a", "x" * (completion.MAX_PROMPT_LENGTH + 1))
    assert load_history(file, "/a")[0] == "prompt 39"
    (tmp_path / "taken").write_text("")
    store_prompt(tmp_path / "taken" / "history.jsonl", "/a", "cannot be kept")


def test_arrow_and_search_recall_prompts(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    store_prompt(file, "/a", "fix the parser", "run the tests")

    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> list[str | None]:
        first = asyncio.ensure_future(keyboard.prompt())
        await until(lambda: len(keyboard._session.history.get_strings()) == 2)
        keys.send_text(UP + ENTER)
        result = await first
        keys.send_text(f"{CTRL_R}parser{ENTER}{ENTER}")
        return [result, await keyboard.prompt()]

    found = at_keyboard(play, LiveState(), history=PromptHistory(file, "/a"))
    assert found == ["run the tests", "fix the parser"]


@pytest.mark.parametrize(
    ("keys", "prompt"),
    [
        (f"wrong{ESCAPE}ccright{ENTER}", "right"),
        (f"one two{ESCAPE}bdwx{ENTER}", "one"),
        (f"one{ESCAPE}{ENTER}", "one"),
    ],
)
def test_vi_keys(keys: str, prompt: str) -> None:
    async def play(keyboard: TerminalKeyboard, pipe: PipeInput) -> str | None:
        reading = asyncio.ensure_future(keyboard.prompt())
        for part in keys.replace(ESCAPE, f"\0{ESCAPE}\0").split("\0"):
            pipe.send_text(part)
            if part == ESCAPE:
                await until(lambda: keyboard.live_text() == ": ")
        return await reading

    assert at_keyboard(play, LiveState(), is_vi=True) == prompt


def completions(completer: ChatCompleter, text: str) -> list[str]:
    """Return what a text becomes by each offer."""
    document = Document(text)
    found = completer.get_completions(document, CompleteEvent())
    return [text[: len(text) + item.start_position] + item.text for item in found]


@pytest.fixture
def files(tmp_path: Path) -> FileSuggestions:
    for name in ("src/app.py", "src/shop/cart.py", "notes.txt", "my notes.md", ".env", "dist/x.py"):
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / "project" / "bad\x1bname").write_text("")
    ticks = count(step=10)
    return FileSuggestions(tmp_path / "project", tmp_path, clock=lambda: next(ticks))


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("/ren", ["/rename"]),
        ("/resu", ["/resume"]),
        ("/nothing", []),
        ("/rename x", []),
        ("/take o", ["/take one"]),
        ("/rename\n/re", []),
        ("say /re", []),
        ("see @no", ["see @notes.txt", 'see @"my notes.md"']),
        ("see @NO", ["see @NO", "see @NO"]),
        ("@src/", ["@src/app.py", "@src/shop/"]),
        ("@cart", ["@src/shop/cart.py"]),
        ("@crt", ["@src/shop/cart.py"]),
        ("@shop/c", ["@src/shop/cart.py"]),
        ("@.e", ["@.env"]),
        ("@~/pro", ["@~/project/"]),
        ("@my", ['@"my notes.md"']),
        ('@"my n', ['@"my notes.md"']),
        ("@bad", []),
        ("@x.py", []),
        ("mail me@no", []),
        ("@nowhere/a", []),
    ],
)
def test_completions(files: FileSuggestions, text: str, becomes: list[str]) -> None:
    arguments = {
        "take": lambda typed: [Suggestion(item) for item in ("one",) if item.startswith(typed)]
    }
    completer = ChatCompleter(complete_commands, arguments, files)
    found = completions(completer, text)
    assert [item.replace("notes.txt", "NO").replace('"my notes.md"', "NO") for item in found] == [
        become.replace("notes.txt", "NO").replace('"my notes.md"', "NO") for become in becomes
    ]


def test_file_list_is_cached(files: FileSuggestions) -> None:
    files.clock = lambda: 0.0
    assert [file.text for file in files("late")] == []
    (files.directory / "src" / "later.py").write_text("")
    assert [file.text for file in files("late")] == []
    files.clock = lambda: 6.0
    assert [file.text for file in files("late")] == ["src/later.py"]


def test_tab_accepts_or_cycles_completions() -> None:
    completer = ChatCompleter(complete_commands)
    assert press_keys(f"/ren\t x{ENTER}", completer=completer) == "/rename x"

    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> str | None:
        prompt = asyncio.ensure_future(keyboard.prompt())
        keys.send_text("/co\t")
        await until(lambda: keyboard.typed == "/compact")
        keys.send_text("\t")
        await until(lambda: keyboard.typed == "/cost")
        keys.send_text(ENTER)
        return await prompt

    assert at_keyboard(play, LiveState(), completer=completer) == "/cost"


def test_prompt_in_an_external_editor(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf " and more\\n" >> "$1"\n')
    editor.chmod(0o755)
    assert press_keys(f"begun\x18\x05{ENTER}", editor=str(editor)) == "begun and more"
    assert press_keys(f"begun\x18\x05{ENTER}", editor="/nowhere") == "begun"
    assert asyncio.run(edit_externally("as it was", "false")) == "as it was"
    assert asyncio.run(edit_externally("as it was", 'no "end')) == "as it was"


def test_expensive_prompt_needs_confirmation() -> None:
    doubts = ["dear", "dear", "dear"]

    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> list[str | None]:
        prompt = asyncio.ensure_future(keyboard.prompt())
        keys.send_text(f"one{ENTER}")
        await until(lambda: keyboard.live_area.toolbar() == "dear: press Enter again to send")
        keys.send_text(f"!{ENTER}")
        await until(lambda: len(doubts) == 1)
        keys.send_text(ENTER)
        first = await prompt
        keys.send_text(f"/cost{ENTER}")
        second = await keyboard.prompt()
        return [first, second, keyboard.live_area.toolbar()]

    live = LiveState(price_warning=lambda: doubts.pop(), status_line=lambda: "a-model")
    assert at_keyboard(play, live) == ["one!", "/cost", "a-model"]
    assert doubts == ["dear"]


def test_queued_prompt_can_be_edited() -> None:
    waiting = ["and then this"]

    def take_back() -> str:
        return waiting.pop()

    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> str:
        async with keyboard.accept_input(lambda text: None):
            keys.send_text(UP)
            await until(lambda: bool(keyboard.typed))
            return keyboard.typed

    assert at_keyboard(play, LiveState(queued=waiting, take_back=take_back)) == "and then this"


def view(*lines: str, title: str = "Bash make") -> FullView:
    return FullView(title, lambda width: lines)


def test_viewer_pauses_drawing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    live = LiveState(collapsed=lambda: [view("one", "two")])

    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> tuple[bool, str | None]:
        prompt = asyncio.ensure_future(keyboard.prompt())
        keys.send_text("half ")
        await until(lambda: keyboard.typed == "half ")
        keys.send_text(CTRL_O)
        await until(lambda: keyboard.is_covered)
        drawing = asyncio.ensure_future(keyboard.print_above("drawn\n"))
        await asyncio.sleep(0.05)
        has_waited = not drawing.done()
        keys.send_text("q")
        await drawing
        keys.send_text(f"typed{ENTER}")
        return has_waited, await prompt

    assert at_keyboard(play, live) == (True, "half typed")


def test_question_waits_until_the_viewer_is_closed() -> None:
    live = LiveState(collapsed=lambda: [view("one")])

    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> str | None:
        async with keyboard.accept_input(lambda text: None):
            keys.send_text(CTRL_O)
            await until(lambda: keyboard.is_covered)

            async def ask() -> str | None:
                async with keyboard.exclusive():
                    return await keyboard.answer("Proceed? ")

            asking = asyncio.ensure_future(ask())
            await asyncio.sleep(0.05)
            assert keyboard.is_covered
            keys.send_text("q")
            await until(lambda: not keyboard.is_covered)
            keys.send_text(f"y{ENTER}")
            return await asking

    assert at_keyboard(play, live) == "y"


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch) -> Viewer:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "7")
    numbers = [f"line {number}" for number in range(1, 21)]
    return Viewer([view("\x1b[1mbold\x1b[0m\x1b[2J"), view(*numbers, title="Bash seq\x1b[2J")], 1)


def visible_lines(viewer: Viewer) -> str:
    body = "".join(part[1] for part in viewer.body())
    return f"{viewer.head()}\n{body}{viewer.foot()}"


def test_viewer_scrolls_by_line(viewer: Viewer) -> None:
    assert visible_lines(viewer) == FIRST
    viewer.move(100)
    assert visible_lines(viewer).splitlines()[1:3] == ["line 16", "line 17"]
    viewer.move(-1000)
    viewer.query = "line 1"
    viewer.find()
    assert viewer.top == 9
    viewer.find(-1)
    assert viewer.top == 0
    viewer.query = "nowhere"
    viewer.find()
    assert viewer.top == 0
    viewer.show(5)
    assert viewer.number == 1
    viewer.show(0)
    assert visible_lines(viewer).startswith("1 of 2  Bash make\nbold\n1–1 of 1")


FIRST = """\
2 of 2  Bash seq\ufffd[2J
line 1
line 2
line 3
line 4
line 5
1–5 of 20  ↑ ↓ Space scroll, ← → switch, / search, q back"""


def test_viewer_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "7")
    seen: list[tuple[int, int]] = []
    views = [view("a", title="A"), view(*(f"line {number}" for number in range(30)))]

    class Watched(Viewer):
        def foot(self) -> str:
            seen.append((self.number, self.top))
            return super().foot()

    monkeypatch.setattr("plait.chat.console.terminal.Viewer", Watched)

    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> None:
        prompt = asyncio.ensure_future(keyboard.prompt())
        keys.send_text(CTRL_O)
        for pressed, place in (
            ("j", (1, 1)),
            (" ", (1, 6)),
            ("G", (1, 25)),
            ("g", (1, 0)),
            (f"/LINE x\x7f17{ENTER}", (1, 17)),
            ("h", (0, 0)),
            ("l", (1, 0)),
        ):
            keys.send_text(pressed)
            await until(lambda place=place: seen[-1:] == [place])  # type: ignore[misc]
        keys.send_text(f"q/x{ENTER}")
        assert await prompt == "/x"

    at_keyboard(play, LiveState(collapsed=lambda: views))


def test_discarded_output_cannot_be_opened() -> None:
    assert press_keys(f"{CTRL_O}x{ENTER}") == "x"
