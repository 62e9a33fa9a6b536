"""Engines that run a function over many items: processes of this machine, or a Ray cluster.

    for result in LocalEngine(4).each(write_rows_of_sessions, chunks):
        match result:
            case Failure(chunk, reason): ...

    RayEngine("10.0.0.5:6379")     a cluster that is running
    RayEngine(jobs=4)              one that is started for as long as it is needed

The function is importable and is given all that it needs with the item, so that any process on any
machine can run it. An exception, or the death of the worker, becomes a `Failure`: no item ends the
work on the others.
"""

import logging
import pickle
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Generic, Protocol, Self, TypeVar

from plait import __version__
from plait.errors import MissingExtra, PlaitError, SourceError, UserError
from plait.line import default_jobs
from plait.line.worker import resolve_function
from plait.line.workers import PATIENCE, RUN_BYTES, Workers

MIN_PARALLEL_BYTES = 8_000_000
"""Size from which several processes are faster than one."""
MAX_WORKER_DEATHS = 8
"""How many Ray workers may die with the same item; cluster machines often disappear for other
reasons.
"""
ITEMS_AT_ONCE = 2_000
START_ATTEMPTS = 3
"""Ray gives up on a cluster of its own that has not started after 30 seconds."""
CONNECT_TIMEOUT = 10.0
RESUME_HINT = "what has been built is kept; run the same command to continue"


class Item(Protocol):
    """A piece of work. It can be pickled, and its `str` is its name in messages."""

    @property
    def size(self) -> int:
        """How many bytes have to be read for it."""


ItemT = TypeVar("ItemT", bound=Item)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Failure(Generic[ItemT]):
    """An item without a result."""

    item: ItemT
    reason: str
    killed_worker: bool = False
    """Whether it killed its worker again and again."""


class Engine(Protocol):
    """Runs a function over items."""

    def each(
        self, task: Callable[[ItemT], ResultT], items: Sequence[ItemT]
    ) -> Iterator[ResultT | Failure[ItemT]]:
        """Yield the result of each item as soon as it is there, in any order."""


def try_task(task: Callable[[ItemT], ResultT], item: ItemT) -> ResultT | Failure[ItemT]:
    """Return the result of an item, or why it has none."""
    try:
        return task(item)
    except PlaitError as error:
        return Failure(item, error.message)
    except OSError as error:
        return Failure(item, (error.strerror or str(error)).lower())
    except Exception as error:  # whatever is wrong with one item, the others continue
        text = " ".join(str(error).split())
        return Failure(item, f"{type(error).__name__}: {text}" if text else type(error).__name__)


class LocalEngine:
    """Processes of this machine; only the current one if there is little to read."""

    def __init__(
        self,
        jobs: int | None = None,
        losses: list[str] | None = None,
        min_parallel_bytes: int = MIN_PARALLEL_BYTES,
    ) -> None:
        self.jobs = jobs or default_jobs()
        self.losses = [] if losses is None else losses
        """Messages about processes that died."""
        self.min_parallel_bytes = min_parallel_bytes

    def each(
        self, task: Callable[[ItemT], ResultT], items: Sequence[ItemT]
    ) -> Iterator[ResultT | Failure[ItemT]]:
        """Yield the result of each item, in their order."""
        if self.jobs == 1 or sum(item.size for item in items) < self.min_parallel_bytes:
            yield from (try_task(task, item) for item in items)
            return
        name = f"{task.__module__}:{task.__qualname__}"
        sizes = [max(item.size, RUN_BYTES) for item in items]  # so that none share a run
        with Workers(min(self.jobs, len(items) or 1), self.losses) as workers:
            calls = [(item, name) for item in items]
            for data in workers.map(f"{__name__}:run_packed", calls, sizes, on_crash=_pack_death):
                yield pickle.loads(data)  # noqa: S301  from a worker of our own


def run_packed(call: tuple[Any, str]) -> bytes:
    """Run a function on an item and return the result as bytes; called in a worker."""
    item, name = call
    return pickle.dumps(try_task(resolve_function(name), item), pickle.HIGHEST_PROTOCOL)


def _pack_death(call: tuple[Any, str]) -> bytes:
    reason = f"{PATIENCE} processes crashed while reading it"
    return pickle.dumps(Failure(call[0], reason, killed_worker=True), pickle.HIGHEST_PROTOCOL)


class RayEngine:
    """A Ray cluster: the one at an address, or one started on this machine.

    Each item is a block of a Ray dataset, so that it is done on its own and, if its machine goes
    away, done again by another one. All machines need this version of Plait, and see the same
    files.
    """

    def __init__(
        self,
        address: str | None = None,
        jobs: int | None = None,
        losses: list[str] | None = None,
        max_worker_deaths: int = MAX_WORKER_DEATHS,
    ) -> None:
        if find_spec("ray") is None:
            raise _make_missing_error()
        self.address = address
        self.jobs = jobs
        """How many items are worked on at a time; None for as many as there are CPUs."""
        self.losses = [] if losses is None else losses
        """Messages about workers that died."""
        self.max_worker_deaths = max_worker_deaths
        self._is_connected = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; the end of the program does so as well."""
        if self._is_connected:
            self._is_connected = False
            _import_ray().shutdown()

    def each(
        self, task: Callable[[ItemT], ResultT], items: Sequence[ItemT]
    ) -> Iterator[ResultT | Failure[ItemT]]:
        """Yield the result of each item as soon as it is there, in any order."""
        if not items:
            return
        self._connect()
        largest_first = sorted(items, key=lambda item: item.size, reverse=True)
        for start in range(0, len(largest_first), ITEMS_AT_ONCE):
            for row in self._run(task, largest_first[start : start + ITEMS_AT_ONCE]):
                if deaths := row["deaths"]:
                    workers = "worker" if deaths == 1 else "workers"
                    self.losses.append(f"{deaths} {workers} crashed while reading '{row['name']}'")
                yield pickle.loads(row["found"])  # noqa: S301  from a worker of our own

    def _connect(self) -> None:
        """Connect to the cluster, or to a new one, unless this program is connected already."""
        if self.address:  # Ray itself would wait for minutes where nobody listens
            host, _, port = self.address.removeprefix("ray://").rpartition(":")
            if host and port.isdecimal():
                try:
                    socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT).close()
                except (OSError, OverflowError) as error:
                    raise _make_cluster_error(self.address, error) from error
        ray = _import_ray()
        if not ray.is_initialized():
            _start_ray(ray, self.address, self.jobs)
            self._is_connected = True
            # Deaths of workers are in `losses`; Ray must not print between our own lines.
            ray._private.worker._worker_logs_enabled = False
            logging.getLogger("ray.data").setLevel(logging.CRITICAL)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # about Ray's own settings
                ray.data.DataContext.get_current().enable_progress_bars = False
            _check_machines(ray)

    def _run(
        self, task: Callable[[ItemT], ResultT], items: Sequence[ItemT]
    ) -> Iterator[dict[str, Any]]:
        ray = _import_ray()
        rows = [{"item": pickle.dumps((task, item, self.max_worker_deaths))} for item in items]
        blocks = ray.data.from_items(rows, override_num_blocks=len(rows))
        results = blocks.map(run_ray_item, compute=ray.data.TaskPoolStrategy(size=self.jobs))
        try:
            for batch in results.iter_batches(
                batch_size=None, prefetch_batches=0, batch_format="pyarrow"
            ):
                yield from batch.to_pylist()
        except ray.exceptions.RayError as error:
            raise SourceError(
                f"the Ray cluster failed: {_describe_error(error)}", RESUME_HINT
            ) from error


def _count_deaths() -> int:
    """Return how many workers died of the current task; Ray says so nowhere else."""
    worker: Any = _import_ray()._private.worker.global_worker
    return int(worker.core_worker.get_current_task_attempt_number())


def run_ray_item(row: dict[str, Any]) -> dict[str, Any]:
    """Run a function on an item and return the result as bytes; called in a worker."""
    task, item, max_worker_deaths = pickle.loads(row["item"])  # noqa: S301  from our own program
    deaths = _count_deaths()
    if deaths < max_worker_deaths:
        result = try_task(task, item)
    else:
        result = Failure(item, f"{deaths} workers crashed while reading it", killed_worker=True)
    data = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    return {"name": str(item), "deaths": deaths, "found": data}


def _start_ray(ray: Any, address: str | None, jobs: int | None) -> None:
    """Connect to a cluster, or start one."""
    own_settings = {"num_cpus": jobs or default_jobs(), "include_dashboard": False}
    for attempts_left in reversed(range(1 if address else START_ATTEMPTS)):
        try:
            ray.init(
                address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if address else own_settings),
            )
        except Exception as error:  # Ray has many kinds of errors for this, some undocumented
            ray.shutdown()
            if not attempts_left:
                raise _make_cluster_error(address, error) from error
        else:
            return


def _import_ray() -> Any:
    """Import Ray, with its reports to its makers turned off."""
    try:
        import ray
        import ray.data
        from ray._common.usage import usage_lib
    except ImportError:
        raise _make_missing_error() from None
    usage_lib.set_usage_stats_enabled_via_env_var(False)
    return ray


def _make_missing_error() -> MissingExtra:
    return MissingExtra("Ray is not installed", "`pip install 'plait[lake,ray]'`")


def _make_cluster_error(address: str | None, error: Exception) -> UserError:
    if address is None:
        return UserError(f"cannot start Ray: {_describe_error(error)}", "use `--engine local`")
    return UserError(
        f"no Ray cluster responds at '{address}': {_describe_error(error)}",
        "`ray start --head` starts one, and prints its address",
    )


def _describe_error(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (text.strip() or type(error).__name__).splitlines()[0].lower()


def _check_machines(ray: Any) -> None:
    """Refuse machines without Plait or with another version: they would make other rows."""

    def read_version() -> str:  # a closure, so that it also runs on machines without Plait
        try:
            import plait
        except ImportError:
            return "none"
        return plait.__version__

    task = ray.remote(num_cpus=0)(read_version)
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    answers = [
        (
            node["NodeManagerAddress"],
            task.options(scheduling_strategy=strategy(node["NodeID"], True)).remote(),
        )
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    ]
    for address, answer in answers:
        version = ray.get(answer)
        if version != __version__:
            raise UserError(
                f"machine '{address}' has Plait {version}, not {__version__}",
                f"run `pip install 'plait[lake,ray]=={__version__}'` there",
            )
