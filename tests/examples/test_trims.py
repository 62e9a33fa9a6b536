"""Examples of trimming: each shows what it removes, and every kind has one."""

import re
from pathlib import Path

import pytest

from tools.trims import PAGE, TRIMS, page, pictures

FOLDERS = sorted(TRIMS.glob("*/"))
KINDS = (
    "tool_use",
    "result",
    "server_tool_use",
    "web_search_tool_result",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
    "attachment",
    "progress",
    "api-request",
    "beside: finder",
    "beside: tool-results",
)
"""What the description of the format has removed, and what goes with it."""
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def read(folder: Path, name: str) -> str:
    """Return a picture of an example."""
    return (folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_example_shows_the_result(folder: Path) -> None:
    before, after = pictures(folder)
    assert before == read(folder, "before.txt")
    assert after == read(folder, "after.txt")
    assert before != after


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_block_is_removed_in_an_example(kind: str) -> None:
    def count(name: str, folder: Path) -> int:
        return QUOTED.sub("", read(folder, name)).count(kind)

    assert any(count("after.txt", one) < count("before.txt", one) for one in FOLDERS)


def test_every_typed_prompt_stays_in_every_example() -> None:
    for folder in FOLDERS:
        asked = {line.split("<")[0].split()[0] for line in prompts(folder, "before.txt")}
        left = {line.split("<")[0].split()[0] for line in prompts(folder, "after.txt")}
        assert asked and asked == left, folder.name


def prompts(folder: Path, name: str) -> list[str]:
    """Return the lines of prompts, by the letter that they are drawn with, agents' apart."""
    lines = read(folder, name).splitlines()
    return [line for line in lines if line[:1] in ("U", "Q") and not line.startswith("U9")]


def test_docs_show_every_example() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
