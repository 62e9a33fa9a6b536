"""Lines of standard input as prompts."""

import asyncio
import os

import pytest

from plait.chat.console.keyboard import PlainKeyboard


def make_keyboard(text: bytes) -> PlainKeyboard:
    read, write = os.pipe()
    os.write(write, text)
    os.close(write)
    return PlainKeyboard(descriptor=read)


def prompts(text: bytes) -> list[str]:
    async def all_of() -> list[str]:
        keyboard, found = make_keyboard(text), []
        while (result := await keyboard.prompt()) is not None:
            found.append(result)
        return found

    return asyncio.run(all_of())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"", []),
        (b"one\ntwo", ["one", "two"]),
        (b"\n  \none\r\n\n", ["one"]),
        (b"one \\\ntwo\nthree\n", ["one \ntwo", "three"]),
        (b"one\\\n", ["one"]),
        (b"caf\xc3\xa9 \xff\n", ["café �"]),
    ],
)
def test_line_is_a_prompt(text: bytes, found: list[str]) -> None:
    assert prompts(text) == found


def test_piped_answers_are_echoed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def ask() -> list[str | None]:
        keyboard = make_keyboard(b"y\x1b[2J\nline\nmore\n.\nrest")
        return [
            await keyboard.answer("Proceed? "),
            await keyboard.edit("old"),
            await keyboard.answer("And this? "),
            await keyboard.answer("And that? "),
            await keyboard.edit("old"),
        ]

    assert asyncio.run(ask()) == ["y\x1b[2J", "line\nmore", "rest", None, None]
    out = capsys.readouterr().out
    assert out.startswith("Proceed? y\ufffd[2J\nType the new text,")
    assert "And that? \n" in out
