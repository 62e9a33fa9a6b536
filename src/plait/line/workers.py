"""Items to results by several processes, in the order of the items.

    with Workers(4) as workers:
        for data in workers.each("plait.archive.usage:packed_bills", paths, sizes):
            ...

Items are dealt in runs of some megabytes, the largest of those that are due next first, so that
memory is bounded by the number of workers. What a worker held that dies is dealt again to a new
one; what kills three is an error that names it, unless something is said to stand for it.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Condition, Lock, Thread
from types import TracebackType
from typing import IO, Any, Protocol, Self, TypeAlias
from weakref import WeakSet

from plait import errors
from plait.errors import PlaitError, SourceError
from plait.line.cores import cores
from plait.line.fetch import offers
from plait.line.worker import DONE, FAILED, receive, send, serve

RUN_BYTES = 4_000_000
RUN_ITEMS = 200
PATIENCE = 3
"""How many workers may die at the same run."""
AHEAD = 3
"""Runs for each worker that may be done before their turn has come."""


Dead: TypeAlias = Callable[[Any], bytes]
"""What stands for an item that three processes died at."""


class _Process(Protocol):
    """A worker's process and the pipes to it."""

    pid: int
    tasks: IO[bytes]
    results: IO[bytes]

    def end(self) -> None:
        """Ends it, whatever it is doing."""


@dataclass
class _Run:
    """Items that are done in one go."""

    number: int
    first: int
    last: int
    size: int
    attempts: int = 0


@dataclass
class _Deal:
    """Which runs wait, and which are done before their turn."""

    task: str
    items: Sequence[Any]
    waiting: list[_Run]
    dead: Dead | None = None
    changed: Condition = field(default_factory=Condition)
    done: dict[int, list[bytes] | BaseException] = field(default_factory=dict)
    turn: int = 0
    is_over: bool = False

    def next(self, ahead: int) -> _Run | None:
        """Waits for a run that is due, takes it; None when there will be none."""
        with self.changed:
            while not self.is_over:
                due = [run for run in self.waiting if run.number < self.turn + ahead]
                if due:
                    run = max(due, key=lambda one: one.size)
                    self.waiting.remove(run)
                    return run
                self.changed.wait()
        return None

    def take(self) -> list[bytes]:
        """Waits for the run whose turn it is."""
        with self.changed:
            while self.turn not in self.done:
                self.changed.wait()
            found = self.done.pop(self.turn)
            self.turn += 1
            self.changed.notify_all()
        if isinstance(found, BaseException):
            raise found
        return found

    def finish(self, run: _Run, found: list[bytes] | BaseException) -> None:
        """Takes what came of a run."""
        with self.changed:
            self.done[run.number] = found
            self.changed.notify_all()

    def again(self, run: _Run) -> None:
        """Takes a run back."""
        with self.changed:
            self.waiting.append(run)
            self.changed.notify_all()

    def close(self) -> None:
        """Lets nobody wait any more."""
        with self.changed:
            self.is_over = True
            self.changed.notify_all()


class Workers:
    """Processes that do the same to many items, and the threads that speak to them."""

    def __init__(self, jobs: int | None = None, losses: list[str] | None = None) -> None:
        self.jobs = jobs or cores()
        self.losses = [] if losses is None else losses
        """What is said of workers that died."""
        self._processes: list[_Process] = []
        self._threads: list[Thread] = []
        self._deal: _Deal | None = None
        self._lock = Lock()
        self._is_ended = True

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _begin(self) -> None:
        _pools.add(self)
        for _ in range(self.jobs):
            self._processes.append(_forked(self._processes) if _may_fork() else _spawned())
        self._is_ended = False

    def abandon(self) -> None:
        """Ends the processes, whatever they are doing; nobody waits for what they were asked."""
        with self._lock:  # from now on no other takes the place of one that dies
            self._is_ended = True
        for process in self._processes:
            process.end()

    def _end(self) -> None:
        if self._deal:
            self._deal.close()
        self.abandon()
        self._wait()
        self._processes.clear()

    def _wait(self) -> None:
        for thread in self._threads:
            if thread.ident is not None:  # one that was interrupted before it began never ends
                thread.join()
        self._threads.clear()

    def each(
        self, task: str, items: Sequence[Any], sizes: Sequence[int], dead: Dead | None = None
    ) -> Iterator[bytes]:
        """Yields what a function makes of each item, in their order."""
        if self._is_ended:
            self._begin()
        runs = _runs(sizes)
        deal = self._deal = _Deal(task, items, [*runs], dead)
        try:
            for number in range(self.jobs):
                self._threads.append(Thread(target=self._work, args=(deal, number), daemon=True))
                self._threads[-1].start()
            for _ in runs:
                yield from deal.take()
        finally:
            is_done = deal.turn == len(runs)
            deal.close()
            if is_done:
                self._wait()
            else:  # whoever asked has gone: nobody waits for what is being done
                self._end()

    def _work(self, deal: _Deal, number: int) -> None:
        """Hands runs to one worker until none is left."""
        while run := deal.next(AHEAD * self.jobs):
            process = self._processes[number]
            try:
                send(process.tasks, (deal.task, deal.items[run.first : run.last]))
                deal.finish(run, _results(receive(process.results)))
            except (EOFError, OSError):
                self._replace(deal, number, run)
            except BaseException as error:
                deal.finish(run, error)

    def _replace(self, deal: _Deal, number: int, run: _Run) -> None:
        """Has what a dead worker held done by a new one, and says so."""
        with self._lock:
            if self._is_ended:
                return
            process = self._processes[number]
            process.end()
            self._processes[number] = _spawned()
        first = _name(deal.items[run.first])
        self.losses.append(f"process {process.pid} died while it read '{first}'")
        run.attempts += 1
        if run.attempts < PATIENCE:
            deal.again(run)
            return
        if deal.dead:
            deal.finish(run, [deal.dead(one) for one in deal.items[run.first : run.last]])
            return
        died = f"{PATIENCE} processes died while they read '{first}'"
        deal.finish(run, SourceError(died, "`--jobs 1` reads without others"))


_pools: "WeakSet[Workers]" = WeakSet()


@atexit.register
def _abandon_all() -> None:
    """Leaves no process behind where this one ends while others work for it."""
    for pool in list(_pools):
        pool.abandon()


def _name(item: Any) -> str:
    """Returns what an item is called: itself, or the first of its parts."""
    return str(item[0] if isinstance(item, tuple) else item)


def _results(answer: Any) -> list[bytes] | BaseException:
    state, found = answer
    if state == DONE:
        return list(found)
    if state == FAILED:
        name, message, hints = found
        kind: type[PlaitError] = getattr(errors, name, PlaitError)
        return kind(message, *hints)
    return RuntimeError(f"a worker failed\n{found}")


def _runs(sizes: Sequence[int]) -> list[_Run]:
    """Returns the items in runs, each of some megabytes or some hundred items."""
    found: list[_Run] = []
    first = size = 0
    for number, one in enumerate(sizes):
        size += one
        if size >= RUN_BYTES or number + 1 - first >= RUN_ITEMS or number + 1 == len(sizes):
            found.append(_Run(len(found), first, number + 1, size))
            first, size = number + 1, 0
    return found


def _may_fork() -> bool:
    """Tells whether a copy of this process can go on: nothing else runs in it."""
    try:
        return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208
    except OSError:
        return False


class _Spawned:
    """A worker that began as a Python of its own."""

    def __init__(self) -> None:
        begin = f"import sys; sys.path[:] = {sys.path!r}; from plait.line.worker import main"
        self._process = subprocess.Popen(  # noqa: S603  this very Python
            [sys.executable, "-c", f"{begin}; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # In a group of its own: a Ctrl-C at the terminal would meet it while it loads.
            process_group=0 if os.name == "posix" else None,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self._process.stdin and self._process.stdout
        self.pid = self._process.pid
        self.tasks: IO[bytes] = self._process.stdin
        self.results: IO[bytes] = self._process.stdout

    def end(self) -> None:
        """Ends it, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        _close(self.tasks, self.results)


def _spawned() -> _Spawned:
    """Begins a worker, and tells it who brings what is not where it is looked for."""
    process = _Spawned()
    with suppress(EOFError, OSError):  # one that dies now is met when it is asked
        for name, item in offers():
            send(process.tasks, (name, [item]))
            receive(process.results)
    return process


class _Forked:
    """A worker that is a copy of this process."""

    def __init__(self, pid: int, tasks: IO[bytes], results: IO[bytes]) -> None:
        self.pid, self.tasks, self.results = pid, tasks, results

    def end(self) -> None:
        """Ends it, whatever it is doing."""
        import signal

        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        _close(self.tasks, self.results)


def _forked(others: Sequence[_Process]) -> _Forked:
    import signal

    task_end, tasks = os.pipe()
    results, result_end = os.pipe()
    pid = os.fork()
    if pid:
        os.close(task_end)
        os.close(result_end)
        return _Forked(pid, os.fdopen(tasks, "wb"), os.fdopen(results, "rb"))
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.close(tasks)
        os.close(results)
        for other in others:  # else they would not see that nobody asks any more
            _close(other.tasks, other.results)
        serve(os.fdopen(task_end, "rb"), os.fdopen(result_end, "wb"))
        code = 0
    finally:
        os._exit(code)


def _close(*pipes: IO[bytes]) -> None:
    for pipe in pipes:
        with suppress(OSError):
            pipe.close()
