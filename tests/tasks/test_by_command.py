"""Ten things people want from their conversations, each with one command."""

from pathlib import Path

import pytest

from examples.drawing import Drawing
from plait.cli.app import run

CART = "/home/dev/shop/cart.py"
TASKS = {
    "find the fix": ("search kingfisher", ["answer · turn 1", "The kingfisher bug is mended"]),
    "what was said on the abandoned branch": (
        "diff {totals} --branch 1 2",
        ["Now rewrite the whole shop in Rust.", "the ostrich path", "Three callers, none of them"],
    ),
    "last week by project and model": (
        "usage --by project,model --since 2026-11-09 --until 2026-11-16",
        ["/home/dev/shop", "sonnet-5", "/home/dev/mill", "opus-5-5"],
    ),
    "which turn changed it and how": (
        f"history {CART} -p",
        ["Round it to cents as well.", "+    return round(sum(items), 2)"],
    ),
    "a clean transcript to the clipboard": (
        "export {totals} --branches active -o -",
        ["# The total of gift cards", "Find out why.", "Three callers, none of them breaks."],
    ),
    "all failing Bash commands": (
        "search --tool Bash --outcome failed",
        ["pytest -q tests/test_cart.py", "turn 1"],
    ),
    "continue from turn N": (
        "resume {totals} --at 2",
        ["claude --resume {totals}", "to go back to turn 2 of 3", "Round it to cents as well."],
    ),
    "what an agent did and cost": (
        "show {totals} --depth agents",
        ["Count the callers", "1 call, 29k tokens, $0.04", "Who calls total?", "Three callers."],
    ),
    "a plan I rejected": (
        "search --tool ExitPlanMode --outcome rejected",
        ["A new wheel", "Take the old wheel off and burn it."],
    ),
    "the net change of each file": (
        "files {totals} -p",
        ["-    return 0\n+    return round(sum(items), 2)", "+fn main() {{}}"],
    ),
}


@pytest.mark.parametrize("task", TASKS)
def test_one_command_is_enough(
    task: str, root: Path, week: dict[str, Drawing], capfd: pytest.CaptureFixture[str]
) -> None:
    names = {name: one.session for name, one in week.items()}
    typed, result = TASKS[task]
    code = run([*typed.format(**names).split(), "--root", str(root)])
    printed = capfd.readouterr().out
    assert code == 0
    for words in result:
        assert words.format(**names) in printed
