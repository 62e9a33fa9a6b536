"""Nothing at all to a session that shows how it goes: a made-up model in a made-up project."""

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from plait.agent.models import ScriptModel
from plait.cli.chat.choice import SCRIPT, Choice
from plait.cli.chat.opening import Opening
from plait.cli.chat.past import Past
from plait.cli.options import Request

PAUSE = 0.03
"""Seconds between two pieces of an answer, where somebody looks."""
FILES = {
    "greet.py": """\
def greet(name):
    return f"Hello, {nmae}!"


if __name__ == "__main__":
    print(greet("world"))
""",
    "README.md": "# Greetings\n\nSays hello.\n",
}
TRY = "fix greet.py"
GREETING = (
    "A demo: the model is made up, and so is the project.",
    "Files and commands are real, in a temporary folder.",
)
LAST = """\
`nmae` was meant to be `name`; with that, it says hello.

That was the demo. All of it is in a log as Claude Code writes it:

- `/context` and `/cost` tell what it took, `/rename` gives it a title
- once you have left, `plait show` and `plait log` show it

With a key in `ANTHROPIC_API_KEY`, `plait chat` does the same with a real model."""
NO_MORE = "I am made up, and have said all I know. `/exit` leaves."


def demo_opening(request: Request, choice: Choice) -> Opening:
    """Returns what opens the demo, in a temporary folder of its own."""
    folder = Path(mkdtemp(prefix="plait-demo-")).resolve()
    project = folder / "greetings"
    project.mkdir()
    for name, text in FILES.items():
        (project / name).write_text(text, encoding="utf-8")
    model = ScriptModel(script(project, PAUSE if sys.stdout.isatty() else 0), name="demo")
    root = folder / "claude"
    return Opening(
        root,
        project,
        replace(choice, model=f"{SCRIPT}demo"),
        model,
        Past(replace(request, roots=(str(root),)), project),
        greeting=(*GREETING, f"Try: {TRY}"),
        farewell=(f"`plait show latest --root {root}` shows the session",),
    )


def script(project: Path, pause: float) -> dict[str, Any]:
    """Returns what the made-up model says and does, whatever it is asked."""
    file = str(project / "greet.py")
    steps: list[dict[str, Any]] = [
        {
            "thinking": "Look at the file, and at what it does now.",
            "text": "I look at it first.",
            "calls": [
                {"name": "Read", "input": {"file_path": file}},
                {"name": "Bash", "input": {"command": "python3 greet.py", "description": "Run it"}},
            ],
        },
        {
            "text": "A slip of the pen in line 2. I mend it.",
            "calls": [
                {
                    "name": "Edit",
                    "input": {"file_path": file, "old_string": "{nmae}", "new_string": "{name}"},
                }
            ],
        },
        {
            "text": "Does it work now?",
            "calls": [{"name": "Bash", "input": {"command": "python3 greet.py"}}],
        },
        {"text": LAST},
    ]
    answers = [{**step, "pause": pause} for step in steps]
    return {"answers": answers, "otherwise": {"text": NO_MORE, "pause": pause}}
