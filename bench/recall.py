"""Generated archives to what an agent waits for: each tool warm, the server's start, its memory.

python -m bench.recall [SIZE]...      without a size: 100MB
"""

import json
import statistics
import sys
import time
from datetime import datetime
from pathlib import Path

from bench.archives import archive
from bench.measure import PROJECT, plait, python, row
from bench.search import build_index, spread
from plait.archive import Archive
from plait.mcp_server import answer_call
from plait.recall.answers import Recall
from plait.recall.background import BackgroundIndex
from plait.recall.model import count_tokens

QUESTIONS = (
    "why does the config buffer return a value",
    "falelemu",
    "query worker raise ValueError",
    "where is the item that is None",
    "return value",
)
TIMES = 8
WIDTHS = (30, 9, 9, 9, 9, 9)


def main(*sizes: str) -> None:
    """Print all figures."""
    start()
    for size in sizes or ("100MB",):
        root = archive(size).resolve()
        folder = build_index(root)
        calls(size, root, folder)
        first(size, root)
        memory(size, root, folder)


def start() -> None:
    """Print the CPU seconds until a server has said who it is, beside the SDK alone."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    }
    code = (
        "import subprocess, sys, json; "
        f"subprocess.run([sys.executable, '-m', 'plait', 'mcp', '--root', {str(PROJECT / 'examples')!r}], "
        f"input={json.dumps(hello)!r} + chr(10), text=True, stdout=subprocess.DEVNULL)"
    )
    bare = min(python("import subprocess, sys, json").cpu for _ in range(5))
    server = min(python(code).cpu for _ in range(5)) - bare
    sdk = min(python("import mcp.server, mcp.server.stdio").cpu for _ in range(5))
    row("start, CPU ms", "server", "MCP SDK", "plait", widths=WIDTHS)
    row("", *(f"{cpu * 1000:.0f}" for cpu in (server, sdk, plait("--help").cpu)), widths=WIDTHS)


def make_recall(root: Path, folder: Path) -> Recall:
    """Return what the server asks, with an index that is there."""
    recall = Recall(Archive([root], folder), root, datetime.fromisoformat)
    recall.index = BackgroundIndex(folder)
    return recall


def list_calls(recall: Recall) -> dict[str, list[dict[str, object]]]:
    """Return the arguments with which each tool is called."""
    ids = [session.id[:8] for session in recall.archive.sessions][
        :: max(1, len(recall.archive) // 5)
    ]
    return {
        "recall": [{"query": text, "project": "*"} for text in QUESTIONS],
        "read": [{"handle": f"{name}:1", "view": "calls"} for name in ids[:5]],
        "about": [
            {"target": name, "project": "*"} for name in ("config", "worker.py", "ValueError")
        ],
        "sessions": [{"project": "*"}, {"text": "value", "project": "*"}],
        "cost": [{"since": ""}, {"project": "shop"}, {"since": "2026-10-01"}],
        "cost of a session": [{"session": name} for name in ids[:5]],
    }


def calls(size: str, root: Path, folder: Path) -> None:
    """Print how long each tool takes in a server that is warm."""
    recall = make_recall(root, folder)
    row(f"tools at {size}, ms", "p50", "p95", "CPU p50", "CPU p95", "tokens", widths=WIDTHS)
    for name, arguments in list_calls(recall).items():
        tool = name.partition(" ")[0]
        answer_call(recall, tool, arguments[0])
        took, cpu, tokens = [], [], []
        for given in arguments * TIMES:
            started, before = time.perf_counter(), time.process_time()
            text = answer_call(recall, tool, given)
            cpu.append((time.process_time() - before) * 1000)
            took.append((time.perf_counter() - started) * 1000)
            tokens.append(count_tokens(text))
        figures = (*spread(took), *spread(cpu))
        row(name, *(f"{ms:.0f}" for ms in figures), round(statistics.mean(tokens)), widths=WIDTHS)
    print(flush=True)


def first(size: str, root: Path) -> None:
    """Print how long the first answer takes where there is no index."""
    recall = Recall(Archive([root], root / "no-index"), root, datetime.fromisoformat)
    recall.index = BackgroundIndex(root / "no-index")
    recall.index._checked = time.monotonic() + 3600  # nothing is built beside it
    started, before = time.perf_counter(), time.process_time()
    answer_call(recall, "recall", {"query": QUESTIONS[0], "project": "*"})
    cpu, wall = time.process_time() - before, time.perf_counter() - started
    row(f"first answer at {size}, ms", f"{wall * 1000:.0f}", "", f"{cpu * 1000:.0f}", widths=WIDTHS)


def memory(size: str, root: Path, folder: Path) -> None:
    """Print the memory of one server after each tool in turn, and the most it took for it."""
    row(f"memory at {size}, MB", "after", "at most", widths=WIDTHS)
    code = f"import bench.recall; bench.recall.print_memory({str(root)!r}, {str(folder)!r})"
    # Not what the system says of a child: that begins with the most its parent ever had.
    for line in python(code).output.splitlines():
        row(*line.split("\t"), widths=WIDTHS)
    print(flush=True)


def print_memory(root: str, folder: str) -> None:
    """Print what a server takes once it runs, and for each tool."""
    recall = make_recall(Path(root), Path(folder))
    _print_memory("before")
    for name, arguments in list_calls(recall).items():
        for given in arguments:
            answer_call(recall, name.partition(" ")[0], given)
        _print_memory(name)


def _print_memory(name: str) -> None:
    """Print the memory of this process, and the most since this was last asked."""
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if " kB" in line}
    print(name, kilobytes["VmRSS"] // 1024, kilobytes["VmHWM"] // 1024, sep="\t")
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main(*sys.argv[1:])
