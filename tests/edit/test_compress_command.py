"""A summariser command: its input, its limits, and when it is refused."""

import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from plait.edit.summaries import MAX_EXTRACT as EXTRACTED
from plait.edit.summaries import (
    MAX_PRINTED,
    TurnDigest,
    build_summariser,
    extract_summary,
    strip_terminal_codes,
)
from plait.errors import Refused, UserError
from tests.edit.copies import apply_steps, context_of
from tests.edit.test_compress import compressed, three_turns

TURN = TurnDigest(3, ("fix it",), ("I looked.", "It is fixed."), ("Bash ls: ok",))


def python(code: str) -> list[str]:
    """Return the command that runs a piece of Python."""
    return [sys.executable, "-c", code]


def test_command_reads_prompt_answers_and_calls() -> None:
    result = build_summariser(python("import sys; print(sys.stdin.read())"))(TURN)
    assert result == (
        "# Prompt\n\nfix it\n\n# Answer\n\nI looked.\n\n# Answer\n\nIt is fixed.\n\n"
        "# Tool calls\n\n- Bash ls: ok"
    )


def test_command_is_split_into_words_without_a_shell() -> None:
    typed = shlex.join(python("import sys; print(sys.argv[1:])")) + " 'a b' '$HOME; exit 1'"
    assert build_summariser(typed)(TURN) == "['a b', '$HOME; exit 1']"


def test_the_output_of_the_command_replaces_the_answers(tmp_path: Path) -> None:
    command = python("print('\\x1b[1mshort\\x1b[0m')")
    path = apply_steps(compressed(tmp_path, *three_turns(), keep_last=1, command=command))
    _, blocks = context_of(path).messages[1]
    assert blocks[0]["text"].startswith("short\n\nTool calls")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('no model at hand')", "failed for turn 3: no model at hand"),
        ("import sys; sys.exit(4)", "failed for turn 3: it exited with 4"),
        ("print(' ')", "printed nothing for turn 3"),
    ],
)
def test_failing_or_silent_command_is_refused(code: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        build_summariser(python(code))(TURN)


def test_an_invalid_command_is_refused() -> None:
    with pytest.raises(Refused, match="cannot be started"):
        build_summariser("/nowhere/at/all")(TURN)
    with pytest.raises(UserError, match="is not a command"):
        build_summariser("'open")
    with pytest.raises(UserError, match="not a command"):
        build_summariser("  ")


def test_a_command_that_takes_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, pathlib, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
        "time.sleep(60)"
    )
    with pytest.raises(Refused, match="took more than 2 s for turn 3"):
        build_summariser(python(code), timeout=2)(TURN)
    assert is_gone(int(note.read_text()))


def is_gone(pid: int) -> bool:
    """Return whether a process has ended, within a few seconds."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        state = Path(f"/proc/{pid}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_endless_output_of_a_command_is_cut() -> None:
    endless = "while True: print('x' * 1000)"
    found = build_summariser(python(endless))(TURN)
    assert len(found) <= MAX_PRINTED
    assert found.endswith("…")


def test_terminal_codes_are_removed_from_summaries() -> None:
    assert (
        strip_terminal_codes(b"\x1b]0;title\x07a\x1b[31mb\x1b[0m\r\nc\x00\x08\xff") == "ab\nc\ufffd"
    )


def test_short_answers_are_kept_unchanged() -> None:
    assert extract_summary(TURN) == "I looked.\n\nIt is fixed."


def test_long_answers_are_reduced_to_their_main_sentences_in_order() -> None:
    filler = [f"Here are some thoughts about the weather of day {n}. " for n in range(60)]
    output = (
        "I will look at the parser. " + "".join(filler[:30]),
        "".join(filler[30:]) + "The bug was in `src/parser.py`: it failed on empty lines. "
        "\n```\nfor line in lines:\n    pass\n```\n" + "All tests pass now.",
    )
    found = extract_summary(TurnDigest(1, (), output, ()))
    assert len(found) <= EXTRACTED
    assert found.startswith("I will look at the parser.")
    assert "`src/parser.py`" in found
    assert found.endswith("All tests pass now.")
    assert "for line in lines" not in found
    assert extract_summary(TurnDigest(1, (), output, ())) == found


def test_a_very_long_word_is_cut() -> None:
    found = extract_summary(TurnDigest(1, (), ("x" * 5000,), ()))
    assert 0 < len(found) <= EXTRACTED
