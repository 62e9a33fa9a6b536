"""A pool of worker processes that map a function over items, in the order of the items.

    with Workers(4) as workers:
        for data in workers.map("plait.usage.responses:packed_bills", paths, sizes):
            ...

Items are handed out in runs of some megabytes, the largest of those that are due next first, so
that memory is bounded by the number of workers. The run of a worker that dies is given to a new
one; a run that kills three is an error that names its first item, unless a crash handler stands in.
"""

import atexit
import os
import signal
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
from plait.line import default_jobs
from plait.line.files import list_sources
from plait.line.worker import DONE, FAILED, receive, send, serve

RUN_BYTES = 4_000_000
RUN_ITEMS = 200
PATIENCE = 3
"""How many workers may die at the same run."""
PREFETCH = 3
"""Runs for each worker that may be done before it is their turn."""


CrashHandler: TypeAlias = Callable[[Any], bytes]
"""Returns the result for an item at which three processes have died."""


class _Process(Protocol):
    """A worker's process and the pipes to it."""

    pid: int
    tasks: IO[bytes]
    results: IO[bytes]

    def end(self) -> None:
        """Kill it, whatever it is doing."""


@dataclass
class _Run:
    """Consecutive items that a worker gets at once."""

    number: int
    first: int
    last: int
    size: int
    attempts: int = 0


@dataclass
class _Job:
    """A `map` under way: which runs wait, and which are done before their turn."""

    task: str
    items: Sequence[Any]
    waiting: list[_Run]
    on_crash: CrashHandler | None = None
    changed: Condition = field(default_factory=Condition)
    done: dict[int, list[bytes] | BaseException] = field(default_factory=dict)
    turn: int = 0
    is_over: bool = False

    def next(self, limit: int) -> _Run | None:
        """Wait for a run that is due and take it; return None when there will be no more."""
        with self.changed:
            while not self.is_over:
                due = [run for run in self.waiting if run.number < self.turn + limit]
                if due:
                    run = max(due, key=lambda run: run.size)
                    self.waiting.remove(run)
                    return run
                self.changed.wait()
        return None

    def take_results(self) -> list[bytes]:
        """Wait for the results of the run whose turn it is."""
        with self.changed:
            while self.turn not in self.done:
                self.changed.wait()
            results = self.done.pop(self.turn)
            self.turn += 1
            self.changed.notify_all()
        if isinstance(results, BaseException):
            raise results
        return results

    def finish(self, run: _Run, results: list[bytes] | BaseException) -> None:
        """Store the results of a run, or the error it ended with."""
        with self.changed:
            self.done[run.number] = results
            self.changed.notify_all()

    def retry(self, run: _Run) -> None:
        """Put a run back into the queue."""
        with self.changed:
            self.waiting.append(run)
            self.changed.notify_all()

    def close(self) -> None:
        """Wake all who wait and have them stop."""
        with self.changed:
            self.is_over = True
            self.changed.notify_all()


class Workers:
    """Worker processes, each with a thread that talks to it."""

    def __init__(self, jobs: int | None = None, losses: list[str] | None = None) -> None:
        self.jobs = jobs or default_jobs()
        self.losses = [] if losses is None else losses
        """Messages about workers that died."""
        self._processes: list[_Process] = []
        self._threads: list[Thread] = []
        self._job: _Job | None = None
        self._lock = Lock()
        self._is_ended = True

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _start(self) -> None:
        _pools.add(self)
        for _ in range(self.jobs):
            self._processes.append(_fork(self._processes) if _can_fork() else _spawn())
        self._is_ended = False

    def abandon(self) -> None:
        """Kill the processes, whatever they are doing."""
        with self._lock:  # from now on a process that dies is not replaced
            self._is_ended = True
        for process in self._processes:
            process.end()

    def _end(self) -> None:
        if self._job:
            self._job.close()
        self.abandon()
        self._join_threads()
        self._processes.clear()

    def _join_threads(self) -> None:
        for thread in self._threads:
            if thread.ident is not None:  # one that was interrupted before it started never ends
                thread.join()
        self._threads.clear()

    def map(
        self,
        task: str,
        items: Sequence[Any],
        sizes: Sequence[int],
        on_crash: CrashHandler | None = None,
    ) -> Iterator[bytes]:
        """Yield the result of a function, named `module:function`, for each item in order."""
        if self._is_ended:
            self._start()
        runs = _split_into_runs(sizes)
        job = self._job = _Job(task, items, [*runs], on_crash)
        try:
            for number in range(self.jobs):
                self._threads.append(Thread(target=self._work, args=(job, number), daemon=True))
                self._threads[-1].start()
            for _ in runs:
                yield from job.take_results()
        finally:
            is_done = job.turn == len(runs)
            job.close()
            if is_done:
                self._join_threads()
            else:  # the caller has gone: nobody waits for the results
                self._end()

    def _work(self, job: _Job, number: int) -> None:
        """Hand runs to one worker until none is left."""
        while run := job.next(PREFETCH * self.jobs):
            process = self._processes[number]
            try:
                send(process.tasks, (job.task, job.items[run.first : run.last]))
                state, found = receive(process.results)
            except (EOFError, OSError):
                self._replace_worker(job, number, run)
                continue
            except BaseException as error:
                job.finish(run, error)
                continue
            if state == DONE:
                job.finish(run, list(found))
            elif state == FAILED:
                name, message, hints = found
                kind: type[PlaitError] = getattr(errors, name, PlaitError)
                job.finish(run, kind(message, *hints))
            else:
                job.finish(run, RuntimeError(f"a worker failed\n{found}"))

    def _replace_worker(self, job: _Job, number: int, run: _Run) -> None:
        """Start a new worker for one that died, and have its run done again or given up."""
        with self._lock:
            if self._is_ended:
                return
            process = self._processes[number]
            process.end()
            self._processes[number] = _spawn()
        item = job.items[run.first]
        name = item[0] if isinstance(item, tuple) else item
        self.losses.append(f"process {process.pid} crashed while reading '{name}'")
        run.attempts += 1
        if run.attempts < PATIENCE:
            job.retry(run)
        elif job.on_crash:
            job.finish(run, [job.on_crash(item) for item in job.items[run.first : run.last]])
        else:
            message = f"{PATIENCE} processes crashed while reading '{name}'"
            job.finish(run, SourceError(message, "`--jobs 1` reads everything in this process"))


_pools: "WeakSet[Workers]" = WeakSet()


@atexit.register
def _abandon_all() -> None:
    """Leave no worker behind when this process ends while they work."""
    for pool in list(_pools):
        pool.abandon()


def _split_into_runs(sizes: Sequence[int]) -> list[_Run]:
    """Return the items in runs, each of some megabytes or some hundred items."""
    runs: list[_Run] = []
    first = total = 0
    for number, size in enumerate(sizes):
        total += size
        if total >= RUN_BYTES or number + 1 - first >= RUN_ITEMS or number + 1 == len(sizes):
            runs.append(_Run(len(runs), first, number + 1, total))
            first, total = number + 1, 0
    return runs


def _can_fork() -> bool:
    """Return whether this process has a single thread, so that a copy of it can go on."""
    try:
        return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208
    except OSError:
        return False


class _Spawned:
    """A worker that was started as a Python interpreter of its own."""

    def __init__(self) -> None:
        setup = f"import sys; sys.path[:] = {sys.path!r}; from plait.line.worker import main"
        self._process = subprocess.Popen(  # noqa: S603  this very Python
            [sys.executable, "-c", f"{setup}; main()"],
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
        """Kill it, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        _close(self.tasks, self.results)


def _spawn() -> _Spawned:
    """Start a worker and have it register the same sources of missing files."""
    process = _Spawned()
    with suppress(EOFError, OSError):  # one that dies now is noticed when it gets its first run
        for name, item in list_sources():
            send(process.tasks, (name, [item]))
            receive(process.results)
    return process


class _Forked:
    """A worker that is a copy of this process."""

    def __init__(self, pid: int, tasks: IO[bytes], results: IO[bytes]) -> None:
        self.pid, self.tasks, self.results = pid, tasks, results

    def end(self) -> None:
        """Kill it, whatever it is doing."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        _close(self.tasks, self.results)


def _fork(others: Sequence[_Process]) -> _Forked:
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
        for other in others:  # else they would not notice that the parent has closed the pipes
            _close(other.tasks, other.results)
        serve(os.fdopen(task_end, "rb"), os.fdopen(result_end, "wb"))
        code = 0
    finally:
        os._exit(code)


def _close(*pipes: IO[bytes]) -> None:
    for pipe in pipes:
        with suppress(OSError):
            pipe.close()
