"""A newcomer at an 80-column terminal in tmux, step by step."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.chat.console.tmux import Terminal

pytest.importorskip("prompt_toolkit")
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def screen() -> Iterator[Terminal]:
    """Give a terminal, in a folder with a short name, and end it."""
    # what ends with its terminal may still write its last lines
    with TemporaryDirectory(prefix="plait-", ignore_cleanup_errors=True) as folder:
        found = Terminal(Path(folder))
        try:
            yield found
        finally:
            found.close()


EDIT = {"file_path": "notes.txt", "old_string": "two", "new_string": "three"}
READ = {"name": "Read", "input": {"file_path": "notes.txt"}}
MENDS = {
    "rules": [
        {
            "when": "mend",
            "answers": [
                {"text": "I look.", "calls": [READ]},
                {"text": "It is *two*.", "calls": [{"name": "Edit", "input": EDIT}]},
                {"text": "Done:\n\n- **three** it is\n\n```python\nx = 1\n\ny = 2\n```"},
            ],
        },
        {"when": "slowly", "answers": [{"text": "word " * 400, "pause": 0.2}]},
    ],
    "otherwise": {"text": "I heard you."},
}


def test_edit_is_proposed_changed_and_applied(screen: Terminal) -> None:
    screen.start(MENDS)
    screen.type("mend it", "Enter")
    screen.wait_for_all(ASKED)
    screen.type("e", "Enter")
    screen.wait_for("Ctrl-C cancels.\nthree\n")
    screen.type("!", "Escape", "Enter")
    screen.wait_for_all(DONE)
    assert (screen.project / "notes.txt").read_text() == "one\nthree!\n"
    screen.type("/exit", "Enter")
    screen.wait_for_end(ENDED)


ASKED = """\
script:script.json in PROJECT
session SESSION started; /help lists commands

▌ mend it

I look.

● Read  notes.txt (3 lines)

It is two.

○ Edit  notes.txt  → Apply this edit?
    1   one
    2 - two
    2 + three
    y  yes
    a  yes, and allow all edits in this directory for the rest of this session
    e  yes, but let me edit it first
    n  no, and stop; or type what to do instead
Proceed?
"""
DONE = """\
script:script.json in PROJECT
session SESSION started; /help lists commands

▌ mend it

I look.

● Read  notes.txt (3 lines)

It is two.

○ Edit  notes.txt  → Apply this edit?
    1   one
    2 - two
    2 + three
    y  yes
    a  yes, and allow all edits in this directory for the rest of this session
    e  yes, but let me edit it first
    n  no, and stop; or type what to do instead
Proceed? e
Edit the text; Esc Enter accepts, Ctrl-C cancels.
● Edit  notes.txt  → +1 −1, changed by you
    1   one
    2 - two
    2 + three!

Done:

 • three it is

  x = 1

  y = 2

3 responses · TOKENS
>
script:script.json · context 0% · /help
"""
ENDED = """\
▌ /exit
`plait chat --resume SESSION` resumes this session
ended with 0
"""


def test_interrupt_and_queued_input(screen: Terminal) -> None:
    screen.start(MENDS)
    screen.type("slowly please", "Enter")
    screen.wait_for("· answering")
    screen.type("and then this", "Enter")
    screen.wait_for("queued: and then this")
    screen.type("half ty")
    shown = re.sub(r"word[word ]*", "", screen.wait_for("> half ty"))
    assert re.sub(r"\n{3,}", "\n\n", shown).endswith(WAITING)
    screen.type("", "C-c")
    screen.wait_for("I heard you.")
    screen.wait_for_end(STOPPED)
    screen.type("ped", "Enter")
    screen.wait_for("▌ half typed")
    screen.wait_for("I heard you.")
    screen.type("", "C-c")
    assert screen.wait_for("Ctrl-C again to exit")
    screen.type("", "C-c")
    screen.wait_for("ended with 0")


WAITING = """\

· answering N s, Ctrl-C to stop
  queued: and then this
> half ty
script:script.json · /help
"""
STOPPED = """
stopped

▌ and then this

I heard you.

TOKENS
> half ty
script:script.json · context 0% · /help
"""


def test_unanswered_prompt_returns_to_the_input(screen: Terminal) -> None:
    screen.start({"otherwise": {"error": 529, "message": "busy", "retry_after": 60}})
    screen.type("hello there", "Enter")
    screen.wait_for("529 busy: retrying in")
    screen.type("", "C-c")
    assert screen.wait_for("> hello there")


def test_question_answered_with_text_or_interrupt(screen: Terminal) -> None:
    screen.start(MENDS)
    screen.type("mend it", "Enter")
    screen.wait_for("Proceed?")
    screen.type("make it four", "Enter")
    shown = screen.wait_for("3 responses")
    assert "Proceed? make it four\n⊘ Edit  notes.txt  → rejected\n" in shown
    assert "make it four" in shown
    screen.type("mend it again", "Enter")
    screen.wait_for("Proceed?\n")
    screen.type("", "C-c")
    screen.wait_for("stopped")
    assert (screen.project / "notes.txt").read_text() == "one\ntwo\n"


def test_finished_agent_gets_its_turn_while_typing(screen: Terminal) -> None:
    given = {"description": "wait", "prompt": "[wait]", "subagent_type": "general-purpose"}
    hold = "until [ -e back ]; do sleep 0.05; done"
    wait = [{"calls": [{"name": "Bash", "input": {"command": hold}}]}, {"text": "Waited."}]
    go = [{"calls": [{"name": "Agent", "input": given}]}, {"text": "It is on its way."}]
    rules = [
        {"when": "<task-notification>", "answers": [{"text": "So it is back."}]},
        {"when": "[wait]", "answers": wait},
        {"when": "[go]", "answers": go},
    ]
    screen.start({"rules": rules}, "--allowed-tools", "Bash")
    screen.type("[go]", "Enter")
    screen.wait_for("It is on its way.")
    screen.type("half a tho")
    screen.wait_for("> half a tho")
    (screen.project / "back").touch()
    screen.wait_for("So it is back.")
    screen.type("ught", "Enter")
    screen.wait_for("▌ half a thought")
    screen.wait_for("The script has no more answers.")
    screen.type("/exit", "Enter")
    screen.wait_for("ended with 0")
