"""Edits interrupted at each call that changes a file, or killed at any moment.

Run as a program of its own, which forks: the edit runs in a child that dies, and the folder it
leaves behind is looked at elsewhere.

    python -m tests.edit.cutting apply-each FOLDER COPIES   FOLDER/<copy>-<number>/config, cut off
    python -m tests.edit.cutting undo-each FOLDER COPIES    before the <number>th change
    python -m tests.edit.cutting kill FOLDER COUNT SEED     FOLDER/<number>/config, killed
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from plait.archive import Archive
from plait.edit.plan import CopyOf, Plan, Write
from tests.edit.plans import (
    OTHER,
    SESSION,
    added,
    config_at,
    log_of,
    move_step,
    plan_of,
    put,
    removed,
    write_step,
)

NEW = "9c44e1aa-0000-4000-8000-000000000003"
MOVED = "9c44e1aa-0000-4000-8000-000000000004"
REPLACED, ADDED, COPIED = b'{"new":1}\n' * 3, b'{"title":1}\n', b"a long output"
CHANGES = {
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.truncate",
    "os.utime",
    "shutil.rmtree",
}
CUT = 9


def plan_in(config: Path, size: int = 1) -> Plan:
    """Return a plan with every kind of step: in place, new, copied, added, taken away, moved."""
    log, folder = log_of(config), log_of(config).with_suffix("")
    new = log_of(config, NEW)
    output = folder / "tool-results" / "toolu_1.txt"
    backup = config / "file-history" / SESSION / "0123456789abcdef@v1"
    return plan_of(
        config,
        write_step(log, lambda: [REPLACED] * size),
        write_step(new, lambda: [REPLACED] * size),
        Write(new.with_suffix("") / "tool-results" / "toolu_1.txt", CopyOf(output)),
        added(log_of(config, OTHER), ADDED * size),
        removed(folder / "subagents" / "agent-a1.jsonl"),
        removed(backup),
        move_step(output, config / "projects" / "-elsewhere" / "tool-results" / "toolu_1.txt"),
    )


def main(what: str, folder: str, *numbers: str) -> None:
    """Cut off edits in folders of their own, as many as there are places to cut."""
    if what == "kill":
        killed(Path(folder), int(numbers[0]), int(numbers[1]))
        return
    for copy in range(int(numbers[0])):
        for number in range(1, 1000):
            config = config_at(Path(folder, f"{copy}-{number}", "config"))
            edit: Callable[[], Any] = plan_in(config).apply
            if what == "undo-each":
                edit()
                edit = Archive([config]).undo
            if in_child(partial(die_at_change, edit, number)) != CUT:
                break


def in_child(act: Callable[[], Any]) -> int:
    """Run something in a process of its own and return how that ended."""
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_at_change(edit: Callable[[], Any], at: int) -> None:
    """Edit, and dies right before the so manieth change of a file."""
    left = iter(range(1, at))

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if (event in CHANGES or is_write(event, args)) and next(left, None) is None:
            os._exit(CUT)

    sys.addaudithook(watch)
    edit()


def is_write(event: str, args: tuple[Any, ...]) -> bool:
    """Return whether a file is opened to be written to."""
    return event == "open" and bool(int(args[2]) & (os.O_WRONLY | os.O_RDWR))


SIZE, MANY = 4_000, 60
"""Times that the lines are repeated, a hundred kilobytes a file; and files of each further kind."""


def large_config_at(folder: Path) -> Path:
    """Make a configuration folder with many outputs beside its session."""
    config = config_at(folder)
    for number in range(MANY):
        put(output_in(config, SESSION, number), COPIED)
        put(output_in(config, OTHER, number), COPIED)
    return config


def large_plan_in(config: Path) -> Plan:
    """Return a plan whose every part takes a while: drafts, new names, files that go."""
    plan = plan_in(config, SIZE)
    old = [output_in(config, OTHER, number) for number in range(MANY)]
    moves = [move_step(path, output_in(config, MOVED, at)) for at, path in enumerate(old)]
    outputs = [output_in(config, SESSION, number) for number in range(MANY)]
    copies = [write_step(output_in(config, NEW, number), COPIED) for number in range(MANY)]
    return replace(plan, steps=(*plan.steps, *copies, *map(removed, outputs), *moves))


def output_in(config: Path, session: str, number: int) -> Path:
    """Return where an output of a session lies."""
    return log_of(config, session).with_suffix("") / "tool-results" / f"{number}.txt"


def killed(folder: Path, count: int, seed: int) -> None:
    """Kill edits, one at some moment, the next at some line of their code, and so on."""
    chance = random.Random(seed)
    large_plan_in(large_config_at(folder / "warm" / "config")).apply()  # all is loaded then
    takes = time_of(large_plan_in(large_config_at(folder / "timed" / "config")))
    steps = lines_of(large_plan_in(large_config_at(folder / "counted" / "config")))
    for number in range(count):
        plan = large_plan_in(large_config_at(folder / str(number) / "config"))
        if number % 4 < 2:
            kill_after(plan, chance.uniform(0, takes))
        else:
            in_child(partial(die_at, plan, chance.randrange(steps)))


def time_of(plan: Plan) -> float:
    """Return how long an edit takes in a process of its own."""
    start = time.monotonic()
    in_child(plan.apply)
    return time.monotonic() - start


def kill_after(plan: Plan, seconds: float) -> None:
    """Edit in a child, and kills it after so long if it still lives."""
    child = os.fork()
    if child == 0:
        try:
            plan.apply()
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def lines_of(plan: Plan) -> int:
    """Return how many lines of code an edit runs through."""
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1

    traced(plan, tick)
    return count


def die_at(plan: Plan, line: int) -> None:
    """Edit, and is killed when it comes to the so manieth line of its code."""
    left = iter(range(line))

    def tick() -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    traced(plan, tick)


def traced(plan: Plan, tick: Callable[[], None]) -> None:
    """Edit, and tells each line of the code that is run."""

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            tick()
        return trace if f"{os.sep}plait{os.sep}" in frame.f_code.co_filename else None

    sys.settrace(trace)
    plan.apply()
    sys.settrace(None)


if __name__ == "__main__":
    main(*sys.argv[1:])
