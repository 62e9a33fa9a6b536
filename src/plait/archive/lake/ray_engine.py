"""A function and many items to what it makes of each, by the machines of a Ray cluster.

    RayEngine("10.0.0.5:6379").each(rows_written, chunks)     a cluster that is there
    RayEngine(jobs=4).each(rows_written, chunks)              one that this machine is for so long

Each item is a block of a Ray dataset, so that it is done by itself and, where the machine that has
it goes away, done again by another one. All machines need this Plait, and see the same files.
"""

import logging
import pickle
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Self

from plait import __version__
from plait.archive.lake.engine import I_, Failure, R, attempt
from plait.errors import MissingExtra, SourceError, UserError
from plait.line.cores import cores

PATIENCE = 8
"""How many workers may go away with the same item: machines of a cluster often do, blamelessly."""
ROUND = 2_000
"""Items that the cluster is given at once."""
STARTS = 3
"""How often a cluster of our own is begun: Ray gives up what is not there after 30 seconds."""
KNOCKING = 10.0
"""Seconds that a cluster may take to be there."""
_AGAIN = "what is built stays: the same command goes on from there"


class RayEngine:
    """A Ray cluster: the one at an address, or one that this machine is for so long."""

    def __init__(
        self,
        address: str | None = None,
        jobs: int | None = None,
        losses: list[str] | None = None,
        patience: int = PATIENCE,
    ) -> None:
        if find_spec("ray") is None:
            raise _no_ray()
        self.address = address
        self.jobs = jobs
        """How many items are worked on at a time; as many as there are CPUs where it is None."""
        self.losses = [] if losses is None else losses
        """What is said of workers that died."""
        self.patience = patience
        self._is_connected = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the cluster; the end of the program does so, too."""
        if self._is_connected:
            self._is_connected = False
            _loaded().shutdown()

    def each(self, task: Callable[[I_], R], items: Sequence[I_]) -> Iterator[R | Failure[I_]]:
        """Yields what a function makes of each item, in any order, as soon as it is there."""
        if not items:
            return
        self._connect()
        largest = sorted(items, key=lambda item: item.size, reverse=True)
        for first in range(0, len(largest), ROUND):
            for row in self._rows(task, largest[first : first + ROUND]):
                if row["deaths"]:
                    self.losses.append(_loss(row["name"], row["deaths"]))
                yield pickle.loads(row["found"])  # noqa: S301  from a worker of our own

    def _connect(self) -> None:
        """Has a cluster, once; the one that this program is connected to already, if any."""
        if self.address:
            _knock(self.address)
        ray = _loaded()
        if not ray.is_initialized():
            _begin(ray, self.address, self.jobs)
            self._is_connected = True
            _hush()
            _check_machines(ray)

    def _rows(self, task: Callable[[I_], R], items: Sequence[I_]) -> Iterator[dict[str, Any]]:
        ray = _loaded()
        given = [{"item": pickle.dumps((task, item, self.patience))} for item in items]
        at_once = ray.data.TaskPoolStrategy(size=self.jobs)
        blocks = ray.data.from_items(given, override_num_blocks=len(given))
        found = blocks.map(worked, compute=at_once)
        try:
            for batch in found.iter_batches(
                batch_size=None, prefetch_batches=0, batch_format="pyarrow"
            ):
                yield from batch.to_pylist()
        except ray.exceptions.RayError as error:
            raise SourceError(f"the cluster gave up: {_told(error)}", _AGAIN) from error


def worked(row: dict[str, Any]) -> dict[str, Any]:
    """Returns what became of an item, in bytes: what a worker does."""
    task, item, patience = pickle.loads(row["item"])  # noqa: S301  from whoever began the run
    deaths = _deaths()
    if deaths < patience:
        found = attempt(task, item)
    else:
        found = Failure(item, f"{deaths} workers died while they read it", is_deadly=True)
    data = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    return {"name": str(item), "deaths": deaths, "found": data}


def _deaths() -> int:
    """Returns how many workers went away with what this one has; Ray tells it nowhere else."""
    worker: Any = _loaded()._private.worker.global_worker
    return int(worker.core_worker.get_current_task_attempt_number())


def _loss(name: str, deaths: int) -> str:
    return f"{deaths} {'worker' if deaths == 1 else 'workers'} died while they read '{name}'"


def _begin(ray: Any, address: str | None, jobs: int | None) -> None:
    """Connects to a cluster, or begins one."""
    own = {"num_cpus": jobs or cores(), "include_dashboard": False}
    for left in reversed(range(1 if address else STARTS)):
        try:
            ray.init(
                address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if address else own),
            )
        except Exception as error:  # each cause has a kind of its own, the slow machine has none
            ray.shutdown()
            if not left:
                raise _no_cluster(address, error) from error
        else:
            return


def _loaded() -> Any:
    """Returns the library; a cluster that it begins tells nobody that it is used."""
    try:
        import ray
        import ray.data
        from ray._common.usage import usage_lib
    except ImportError:
        raise _no_ray() from None
    usage_lib.set_usage_stats_enabled_via_env_var(False)
    return ray


def _no_ray() -> MissingExtra:
    return MissingExtra("Ray is not installed", "`pip install 'plait[lake,ray]'`")


def _knock(address: str) -> None:
    """Sees that somebody listens: Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), KNOCKING).close()
        except (OSError, OverflowError) as error:
            raise _no_cluster(address, error) from error


def _no_cluster(address: str | None, error: Exception) -> UserError:
    if address is None:
        return UserError(f"Ray does not run here: {_told(error)}", "`--engine local` does")
    return UserError(
        f"no Ray cluster answers at '{address}': {_told(error)}",
        "`ray start --head` begins one, and says its address",
    )


def _told(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (said.strip() or type(error).__name__).splitlines()[0].lower()


def _hush() -> None:
    """Has Ray say nothing among what is printed: what was lost is told by who asked for it."""
    ray = _loaded()
    ray._private.worker._worker_logs_enabled = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it warns of its own settings
        ray.data.DataContext.get_current().enable_progress_bars = False


def _check_machines(ray: Any) -> None:
    """Refuses machines that have no Plait or another one: they would make other rows."""

    def version() -> str:  # in here, so that it comes to machines without Plait, too
        try:
            import plait
        except ImportError:
            return "none"
        return plait.__version__

    asked = ray.remote(num_cpus=0)(version)
    at = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    questions = [
        (node["NodeManagerAddress"], asked.options(scheduling_strategy=at(node["NodeID"], True)))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    ]
    for address, answer in [(address, question.remote()) for address, question in questions]:
        found = ray.get(answer)
        if found != __version__:
            raise UserError(
                f"machine '{address}' has Plait {found}, not {__version__}",
                f"type `pip install 'plait[lake,ray]=={__version__}'` there",
            )
