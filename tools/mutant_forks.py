"""Run a package's tests for each mutant, in forks of one collected session.

    python -m tools.mutant_forks asked.json answered.jsonl tests/graph

The tests are imported once. A fork gives the mutant's functions their changed code and runs the
tests it was told, the quickest first, until one fails. What ran when a module was imported, and
what a program of its own runs, keeps the code it had: who survives here is asked again.
"""

import functools
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider

MEMORY = 6 << 30
"""What a mutant that never ends may fill before it is noticed."""
ROOM = 20
"""Seconds of processor time beyond thrice what the tests need unbroken."""
PATIENCE = 900
"""Seconds that a mutant may sleep."""


class Forks:
    """The plugin that takes the place of running the tests."""

    def __init__(self, asked: list[dict[str, Any]], answered: Path) -> None:
        self.asked = asked
        self.answered = answered
        self.has_failed = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Ask a fork for each mutant."""
        items = {item.nodeid: item for item in session.items}
        with self.answered.open("a", encoding="utf-8") as answers:
            for entry in self.asked:
                tests = [items[test] for test in entry["tests"] if test in items]
                word = self._word_of(entry, tests)
                answers.write(json.dumps({"number": entry["number"], "word": word}) + "\n")
                answers.flush()
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed."""
        self.has_failed = self.has_failed or report.failed

    def _word_of(self, mutant: dict[str, Any], tests: list[pytest.Item]) -> str:
        child = os.fork()
        if child == 0:
            os._exit(self._code_of(mutant, tests))
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return "survived" if code == 0 else "hung" if code < 0 else "killed"
            time.sleep(0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "hung"

    def _code_of(self, mutant: dict[str, Any], tests: list[pytest.Item]) -> int:
        try:
            seconds = ROOM + int(3 * mutant["seconds"])
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            importlib.import_module(mutant["module"])
            _swap(Path(mutant["file"]).resolve(), mutant["operator"], mutant["occurrence"])
            for test, following in zip(tests, [*tests[1:], None], strict=True):
                test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
                if self.has_failed:
                    return 1
            return 0
        except BaseException:  # whatever a mutant does, it was noticed
            return 1


def _swap(file: Path, operator: str, occurrence: int) -> None:
    """Give the functions of a module their changed code."""
    before = file.read_text(encoding="utf-8")
    after = str(mutate_code(before, OperatorProvider()[operator](), occurrence))
    codes = {_name_of(code): code for code in _codes_in(compile(after, str(file), "exec"))}
    for item in gc.get_objects():
        if isinstance(item, FunctionType) and item.__code__.co_filename == str(file):
            item.__code__ = codes.get(_name_of(item.__code__), item.__code__)
        elif isinstance(item, functools._lru_cache_wrapper):
            item.cache_clear()


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    waiting = [code]
    while waiting:
        item = waiting.pop()
        yield item
        waiting += (inner for inner in item.co_consts if isinstance(inner, CodeType))


def _name_of(code: CodeType) -> tuple[str, int, tuple[str, ...]]:
    return code.co_name, code.co_firstlineno, code.co_freevars


def main() -> None:
    """Collect the tests, then ask."""
    asked, answered, *tests = sys.argv[1:]
    plugin = Forks(json.loads(Path(asked).read_text(encoding="utf-8")), Path(answered))
    options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    sys.exit(pytest.main([*options, *tests], plugins=[plugin]))


if __name__ == "__main__":
    main()
