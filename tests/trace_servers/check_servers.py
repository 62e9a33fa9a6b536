"""Real sessions to real servers and back: what they give by REST is what `plait trace show` says.

Not part of the ordinary run: `make test-trace` installs the servers and runs this.
"""

from __future__ import annotations

import json
import time
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import pytest

from plait.archive import Archive
from plait.cli.app import run
from tools.servers import mlflow, phoenix

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = 1_000_000
PATIENCE = 120.0
MOST_BYTES = 1_500_000
"""Of a session: servers are slow with the very largest."""


class Seen(NamedTuple):
    """A span as both sides know it."""

    trace: str
    parent: str | None
    name: str
    start_ms: int | None
    end_ms: int | None
    tokens: tuple[int, int] | None
    session: str


Told: TypeAlias = dict[str, Seen]
Reader: TypeAlias = Callable[[str, set[str]], Told]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the command an empty home."""
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("home")
    patch.setenv("HOME", str(folder))
    for kind in ("CONFIG", "CACHE", "DATA", "STATE"):
        patch.setenv(f"XDG_{kind}_HOME", str(folder / kind.lower()))
    yield
    patch.undo()


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0
    return capsys.readouterr().out


def expected_of(spans: list[dict[str, Any]]) -> Told:
    """Return spans as a server should know them."""
    return {span["id"]: seen(span) for span in spans}


def seen(span: dict[str, Any]) -> Seen:
    tokens = span.get("tokens")
    cached = ("cache_write_5m", "cache_write_1h", "cache_read")
    return Seen(
        span["trace"],
        span.get("parent"),
        span["name"],
        span["start"] // MILLISECOND if "start" in span else None,
        span["end"] // MILLISECOND if "end" in span else None,
        (tokens["input"] + sum(tokens[one] for one in cached), tokens["output"])
        if tokens
        else None,
        span["session"],
    )


def agrees(there: Seen, here: Seen) -> bool:
    """Return whether a server knows a span as we do; a time that the log lacks may be any."""
    times = [(there.start_ms, here.start_ms), (there.end_ms, here.end_ms)]
    is_timely = all(ours is None or theirs == ours for theirs, ours in times)
    return is_timely and there._replace(start_ms=None, end_ms=None) == here._replace(
        start_ms=None, end_ms=None
    )


def from_phoenix(url: str, wanted: set[str]) -> Told:
    """Read all spans back from Phoenix."""
    found: Told = {}
    cursor = ""
    while True:
        page = fetched(f"{url}/v1/projects/default/spans?limit=1000&order=asc{cursor}")
        for span in page["data"]:
            attributes = span["attributes"]
            prompt = attributes.get("llm.token_count.prompt")
            found[span["context"]["span_id"]] = Seen(
                span["context"]["trace_id"],
                span["parent_id"],
                span["name"],
                milliseconds(span["start_time"]),
                milliseconds(span["end_time"]),
                None if prompt is None else (prompt, attributes["llm.token_count.completion"]),
                attributes["session.id"],
            )
        if not page.get("next_cursor"):
            return found
        cursor = f"&cursor={page['next_cursor']}"


def from_mlflow(url: str, wanted: set[str]) -> Told:
    """Read the wanted traces back from MLflow."""
    found: Told = {}
    for trace in wanted:
        answer = fetched(f"{url}/ajax-api/3.0/mlflow/traces/get?trace_id=tr-{trace}")["trace"]
        session = answer["trace_info"]["trace_metadata"].get("mlflow.trace.session", "")
        for span in answer["spans"]:
            usage = attributes_of(span).get("mlflow.chat.tokenUsage")
            counted = usage and {one["key"]: one["value"]["int_value"] for one in usage["values"]}
            parent = span.get("parent_span_id")
            found[b64decode(span["span_id"]).hex()] = Seen(
                b64decode(span["trace_id"]).hex(),
                b64decode(parent).hex() if parent else None,
                span["name"],
                int(span["start_time_unix_nano"]) // MILLISECOND,
                int(span["end_time_unix_nano"]) // MILLISECOND,
                (counted["input_tokens"], counted["output_tokens"]) if counted else None,
                session,
            )
    return found


def attributes_of(span: dict[str, Any]) -> dict[str, Any]:
    pairs = ((one["key"], one["value"]) for one in span["attributes"])
    return {name: next(iter(value.values()), None) for name, value in pairs}


def fetched(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def milliseconds(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1)


SERVERS = [
    pytest.param(phoenix, from_phoenix, (), id="phoenix"),
    pytest.param(mlflow, from_mlflow, ("--header", "x-mlflow-experiment-id=0"), id="mlflow"),
]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(("server", "read_back", "more"), SERVERS)
def test_a_server_gives_back_what_it_got(
    server: Callable[[Path], AbstractContextManager[str]],
    read_back: Reader,
    more: tuple[str, ...],
    shared: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected: Told = {}
    with TemporaryDirectory() as folder, server(Path(folder)) as url:
        paths = list(chosen(shared / "corpus"))
        for path in paths:
            spans = json.loads(printed(capsys, "trace", "show", str(path), "--json"))
            told = expected_of(spans)
            if spans and not told.keys() & expected.keys():  # some sessions lie there twice
                expected |= told
                for _ in range(2):  # sending twice changes nothing
                    printed(capsys, "trace", "send", str(path), "--to", url, *more)
        got = waited_for(read_back, url, expected)
    differing = {id_: (got.get(id_), one) for id_, one in expected.items()
                 if id_ not in got or not agrees(got[id_], one)}  # fmt: skip
    lost = sum(id_ not in got for id_ in differing)
    assert not differing, (len(differing), lost, len(expected), list(differing.items())[:3])
    assert got.keys() == expected.keys()
    assert len(expected) > 1000
    print(f"\n{len(paths)} sessions, {len(expected)} spans")


def chosen(folder: Path) -> Iterator[Path]:
    """Yield the sessions to send, but for the largest."""
    for session in Archive([folder]).sessions:
        if session.file and session.bytes < MOST_BYTES:
            yield session.path


def waited_for(read_back: Reader, url: str, expected: Told) -> Told:
    """Read back until all are there: servers write what they get a little later.

    Waits as long as more come in, and a while after the last.
    """
    wanted = {one.trace for one in expected.values()}
    most, since = 0, time.monotonic()
    while True:
        got = read_back(url, wanted)
        if len(got) > most:
            most, since = len(got), time.monotonic()
        if len(got) >= len(expected) or time.monotonic() - since > PATIENCE:
            return got
        time.sleep(5)
