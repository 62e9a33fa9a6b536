"""The chat client compared with a plain loop on the SDK, against a stand-in on loopback.

python -m bench.chat [--turns N] [--big MB]

Both ask the same prompts and get the same answers, in one process, turn about; times are medians
in milliseconds, by the wall and of the processor. The stand-in answers at once and runs in a
process of its own.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench.measure import row
from plait.chat import Client
from plait.chat.events import Event, TextDelta
from plait.chat.models import MessagesApi, ScriptModel
from plait.write import SessionWriter

MODEL = "claude-opus-5-5"
WORDS = "A few words that are streamed in pieces, as answers are. " * 12
ANSWER = {"text": WORDS, "usage": {"input_tokens": 100, "output_tokens": 100}}
SCRIPT = {"rules": [{"when": "turn", "answers": [ANSWER]}], "otherwise": ANSWER}
MB = 2**20


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--many", type=int, default=1000)
    parser.add_argument("--big", type=int, default=50)
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        asyncio.run(many_turns(folder, given.many))
        with standin(folder) as url:
            asyncio.run(beside(folder, url, given.turns))
        asyncio.run(resumed(folder, given.big))


@contextmanager
def standin(folder: Path) -> Iterator[str]:
    """Run a stand-in in a process of its own."""
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    code = (
        "import json, sys; from tests.standin import StandIn, by_script;"
        "s = StandIn(by_script(json.load(open(sys.argv[1])))); print(s.url, flush=True); s.serve()"
    )
    command = [sys.executable, "-c", code, str(script)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


async def beside(folder: Path, url: str, turns: int) -> None:
    """Measure turns of the client and of the plain loop, one after the other."""
    import anthropic

    sdk = anthropic.AsyncAnthropic(api_key="made-up", base_url=url, max_retries=0)
    output: list[dict[str, Any]] = []
    api = MessagesApi(MODEL, key="made-up", base_url=url)
    ours: list[tuple[float, ...]] = []
    plain: list[tuple[float, ...]] = []
    async with sdk, Client.new(folder / "config", cwd=folder / "work", model=api) as client:
        for number in range(turns + 3):
            prompt = f"turn {number}"
            plain.append(await timed(plain_turn(sdk, output, prompt)))
            ours.append(await timed(words(client.send(prompt))))
    row("", "SDK loop", "client", "more")
    whats = ("to the first words, ms", "whole turn, ms", "CPU to the first words, ms", "CPU, ms")
    for place, what in enumerate(whats):
        times = [median(item[place] for item in found[3:]) * 1000 for found in (plain, ours)]
        row(what, *(f"{time:.1f}" for time in times), f"{times[1] - times[0]:.1f}")


async def plain_turn(sdk: Any, said: list[dict[str, Any]], prompt: str) -> AsyncIterator[str]:
    """Ask as a program would that keeps its messages in a list."""
    said.append({"role": "user", "content": prompt})
    asked = sdk.messages.stream(model=MODEL, max_tokens=32_000, messages=said)
    async with asked as stream:
        async for text in stream.text_stream:
            yield text
        full = await stream.get_final_message()
    said.append({"role": "assistant", "content": [item.to_dict() for item in full.content]})


async def words(events: AsyncIterator[Event]) -> AsyncIterator[str]:
    """Yield the words among what happens."""
    async for event in events:
        if isinstance(event, TextDelta):
            yield event.text


async def timed(pieces: AsyncIterator[str]) -> tuple[float, float, float, float]:
    """Return the seconds to the first piece and to the end, by the wall and of the processor."""
    began, first = (time.perf_counter(), time.process_time()), (0.0, 0.0)
    async for _ in pieces:
        first = first if first[0] else (time.perf_counter(), time.process_time())
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    return first[0] - began[0], wall, first[1] - began[1], cpu


async def resumed(folder: Path, megabytes: int) -> None:
    """Measure how long it takes to go on with a large session, to the first request."""
    writer = SessionWriter.new(folder / "big", cwd=folder / "work", model=MODEL)
    output = "x" * 20_000
    while not writer.path.exists() or writer.path.stat().st_size < megabytes * MB:
        writer.prompt("Look.")
        with writer.response(usage={"input_tokens": 9, "output_tokens": 9}) as response:
            call = response.call("Bash", {"command": "cat it"})
        writer.result(call, output, {"stdout": output, "stderr": "", "interrupted": False})
        writer.answer("Seen.", usage={"input_tokens": 9, "output_tokens": 9})
        writer.turn_ended(10)
    writer.close()
    began = time.perf_counter(), time.process_time()
    model = ScriptModel({"answers": [{"text": "Here."}]})
    async with Client.resume(writer.path, model=model) as client:
        opened, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
        first, _, cpu_first, _ = await timed(words(client.send("And now?")))
    row(
        f"session of {megabytes} MB",
        f"opened {opened:.2f} s (CPU {cpu:.2f})",
        f"answer {first:.2f} s (CPU {cpu_first:.2f})",
    )


async def many_turns(folder: Path, turns: int) -> None:
    """Measure what many turns leave in memory, and whether they become slower."""
    model = ScriptModel(SCRIPT)
    times = []
    async with Client.new(folder / "many", cwd=folder / "work", model=model) as client:
        before = 0
        for number in range(turns):
            *_, took = await timed(words(client.send(f"turn {number}")))
            times.append(took)
            if number == 10:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    tenth = len(times) // 10
    early, late = (median(part) * 1000 for part in (times[:tenth], times[-tenth:]))
    row(
        f"{turns} turns",
        f"{grown:.0f} MB more",
        f"{early:.1f} ms first",
        f"{late:.1f} ms last (CPU)",
    )


if __name__ == "__main__":
    main()
