"""Run commands in forks of a process that has loaded the common modules.

    python -m tools.standby        takes requests, a line of JSON each, and answers each by a line

A start of Python and its modules takes longer than most commands do.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
LOADED = (
    "plait.archive.archive",
    "plait.sessions.open_session",
    "plait.cli.app",
    "plait.conversation.build",
    "plait.view.terminal",
    "rich.console",
    "rich.table",
)


def printed(words: list[str], folder: Path, env: Mapping[str, str]) -> str:
    """Return what `plait` prints with some words, in a folder and an environment."""
    with tempfile.TemporaryDirectory() as place:
        output = Path(place) / "output"
        request = {"words": words, "folder": str(folder), "output": str(output)}
        _asked(_standing(tuple(sorted(env.items()))), request)
        return output.read_text(encoding="utf-8")


def _asked(standing: "subprocess.Popen[str]", request: Mapping[str, object]) -> None:
    assert standing.stdin and standing.stdout
    standing.stdin.write(json.dumps(request) + "\n")
    standing.stdin.flush()
    assert standing.stdout.readline() == "done\n"


@cache
def _standing(env: tuple[tuple[str, str], ...]) -> "subprocess.Popen[str]":
    """Start the process that stands by; it ends when nobody can ask any more."""
    standing = subprocess.Popen(
        [sys.executable, "-m", "tools.standby"],
        cwd=ROOT,
        env=dict(env) | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(standing.communicate)
    return standing


def _stand_by(requests: IO[str]) -> None:
    for name in LOADED:
        import_module(name)
    for line in requests:
        child = os.fork()
        if not child:
            _run(json.loads(line))
        os.waitpid(child, 0)
        print("done", flush=True)


def _run(request: Mapping[str, str]) -> None:
    """Is the command, as far as it can tell."""
    from plait.cli import main

    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, to in enumerate((nothing, output, output)):
        os.dup2(to, number)
    os.chdir(request["folder"])
    sys.argv = ["plait", *request["words"]]
    try:
        main()
    except SystemExit:
        pass
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(0)


if __name__ == "__main__":
    _stand_by(sys.stdin)
