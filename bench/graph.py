"""Time and memory of graphs, for generated and real records.

    python bench/graph.py                 the three shapes at a hundred thousand and a million
    python bench/graph.py LOGS            a folder of real logs, beside plain reading
    python bench/graph.py --nodes 50000   smaller

Each case runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from plait.graph import Builder, Source
from plait.graph.facts import iter_sources, make_source_file
from plait.line import discover
from plait.line.discovery import make_root
from plait.record import Record, parse_record, read

SHAPES = ("chain", "forks", "files")
FORKS = 10_000
FILES = 100

PROMPT = (
    b'{"parentUuid":%s,"isSidechain":false,"type":"user","message":{"role":"user","content":'
    b'"go on"},"uuid":"%s","timestamp":"2026-11-02T09:00:00.000Z","sessionId":"%s"}'
)
ANSWER = (
    b'{"parentUuid":%s,"isSidechain":false,"type":"assistant","message":{"id":"msg_%d","role":'
    b'"assistant","model":"m","content":[{"type":"text","text":"done"}]},'
    b'"uuid":"%s","timestamp":"2026-11-02T09:00:01.000Z","sessionId":"%s"}'
)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("logs", nargs="?", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--one", nargs=2, metavar=("SHAPE", "NODES"))
    asked = parser.parse_args()
    if asked.one:
        print(*measure(sources_for(asked.one[0], int(asked.one[1]))))
    elif asked.logs:
        compare(asked.logs)
    else:
        table(asked.nodes)


def table(nodes: int) -> None:
    """Print a line for each shape: seconds for a million nodes, memory, how it grows."""
    print("shape    nodes      facts s/M  graph s/M  bytes/node  ratio of 10 × the nodes")
    for shape in SHAPES:
        small, large = alone(shape, nodes // 10), alone(shape, nodes)
        per = 1_000_000 / nodes
        held = (large[2] - small[2]) / (nodes - nodes // 10)
        print(
            f"{shape:8} {nodes:9,} {large[0] * per:9.2f} {large[1] * per:10.2f} {held:11.0f}"
            f"  {large[1] / small[1]:.1f}  peak {large[2] / 1e6:.0f} MB"
        )


def alone(shape: str, nodes: int) -> tuple[float, float, float]:
    """Measure one case in a process of its own: seconds for facts and graph, peak bytes."""
    asked = [sys.executable, __file__, "--one", shape, str(nodes)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    facts, graph, peak = map(float, done.stdout.split())
    return facts, graph, peak


def measure(given: Iterator[Source]) -> tuple[float, float, int]:
    """Return the CPU seconds for the facts and for the graph, and the peak memory."""
    builder = Builder()
    start = time.process_time()
    for source in given:
        builder.add(source)
    middle = time.process_time()
    graph = builder.graph()
    end = time.process_time()
    assert graph.account.balanced
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return middle - start, end - middle, peak


def sources_for(shape: str, nodes: int) -> Iterator[Source]:
    """Yield the records of a shape, file by file."""
    count = FILES if shape == "files" else 1
    for number in range(count):
        name = f"s{number:04}"
        every = max(nodes // FORKS, 2) if shape == "forks" else 0
        records = conversation(name, nodes // count, every)
        yield Source(make_source_file(f"p/{name}.jsonl"), records)


def conversation(session: str, nodes: int, every: int) -> Iterator[Record]:
    """Yield prompts and answers in turn; each `every` records it is rewound to the start."""
    name = session.encode()
    first = parent = b"null"
    for number in range(nodes):
        uuid = b"%s-%010d-4000-8000-000000000000" % (name, number)
        if number % 2 == 0:
            # A rewind goes back to the first answer, so every branch is a sibling.
            above = first if every and number and number % (every // 2 * 2) == 0 else parent
            yield parse_record(PROMPT % (above, uuid, name))
        else:
            yield parse_record(ANSWER % (parent, number, uuid, name))
        parent = b'"%s"' % uuid
        if number == 1:
            first = parent


def compare(logs: Path) -> None:
    """Print the graph of real logs beside the plain reading of the same files."""
    files = discover([make_root(logs)]).files
    start = time.process_time()
    records = sum(1 for file in files for _ in read(file.path))
    reading = time.process_time() - start
    size = sum(file.size for file in files)
    facts, graph, peak = measure(iter_sources(files))
    print(f"{len(files)} files, {size / 1e6:.0f} MB, {records:,} records")
    print(f"reading      {reading:6.2f} s")
    print(f"facts        {facts:6.2f} s  {facts / reading:.1f} × the reading, which it includes")
    print(f"graph        {graph:6.2f} s")
    print(f"peak memory  {peak / 1e6:6.0f} MB")


if __name__ == "__main__":
    main()
