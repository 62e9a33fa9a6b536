"""An archive to a lake by Ray, as the command does it, where those who work are killed at random.

    python -c "from tests.lake.ray_build import main; main()" FOLDER CHANCE lake build …

FOLDER holds a file for each kill that is still to be: who takes one away dies of it. As its name
says that is at once, when the rows are written and nobody knows it yet, some moment later whatever
is done then, or with the whole machine.
"""

import os
import random
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

from plait.lake import build, engine
from plait.lake.engine import Failure

STARTS = 20
"""How often a cluster is begun here: the machine may have much else to do."""


class Deadly(engine.RayEngine):
    """A cluster whose workers do not live long."""

    kills: Path
    chance: float

    def each(
        self, task: Callable[[Any], Any], items: Sequence[Any]
    ) -> Iterator[Any | Failure[Any]]:
        """Yield what is made of each item in the end."""
        if task.__name__ == "write_rows_of_sessions":
            task = partial(worked_or_died, task, self.kills, self.chance)
        return super().each(task, items)


def worked_or_died(task: Callable[[Any], Any], kills: Path, chance: float, item: Any) -> Any:
    """Do what it is told, unless it is killed."""
    kill = _taken(kills) if random.random() < chance else ""
    match kill.partition("-")[0]:
        case "before":
            _die()
        case "later":
            Timer(random.uniform(0, 0.3), _die).start()
        case "machine":
            os.kill(os.getppid(), signal.SIGKILL)
    found = task(item)
    if kill.startswith("after"):
        _die()
    return found


def _taken(kills: Path) -> str:
    """Take a kill away; two who try the same one do not both get it."""
    left = [*kills.iterdir()]
    random.shuffle(left)
    for kill in left:
        try:
            kill.unlink()
        except FileNotFoundError:
            continue
        return kill.name
    return ""


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run a command of Plait; each session is given out by itself."""
    from plait.cli.app import run as plait

    folder, chance, *arguments = sys.argv[1:]
    Deadly.kills, Deadly.chance = Path(folder), float(chance)
    build.CHUNK_BYTES = 1
    engine.START_ATTEMPTS = STARTS
    engine.RayEngine = Deadly  # type: ignore[misc]
    sys.argv = ["plait", *arguments]
    sys.exit(plait(arguments))
