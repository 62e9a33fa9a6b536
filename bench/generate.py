"""Generate an archive of sessions that looks like a year of work, from a size and a seed.

    python bench/generate.py OUT --size 1GB --seed 1
    python bench/generate.py OUT --size 50MB --files 5000      many small ones

The same size, seed and number of files give the same bytes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

if __package__ in (None, ""):  # run as a script: the folder above holds the package
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import lines
from bench.lines import Frame
from bench.page import DAY, Page, Sink
from bench.sessions import Session
from bench.texts import Texts

PROJECTS = ("shop", "ledger", "quill", "weather", "atlas", "kiln", "harbor", "loom")
# Version, model, and the day (in days since 1970) from which a month of sessions has them.
VERSIONS = (
    ("2.1.45", "claude-opus-4-6", 20_494),
    ("2.1.76", "claude-sonnet-4-6", 20_522),
    ("2.1.119", "claude-opus-4-7", 20_558),
    ("2.1.162", "claude-opus-4-8", 20_614),
    ("2.1.212", "claude-opus-5", 20_670),
    ("2.1.325", "claude-opus-5-5", 20_746),
    ("2.1.325", "claude-haiku-5", 20_746),
)
# What the first sessions show besides chance: even a small archive has every shape.
WANTS = (
    ("rewind", "retracted", "parallel"),
    ("agent", "parallel"),
    ("compaction", "rewind"),
    ("retracted",),
)
BUFFER = 1 << 20
_UNITS = {"": 1, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}


@dataclass(slots=True)
class Archive:
    """What was written: files, bytes, and how often each shape occurs."""

    out: Path
    seed: int
    files: int = 0
    size: int = 0
    shapes: Counter[str] = field(default_factory=Counter)


def generate(out: Path, size: int, seed: int = 1, files: int | None = None) -> Archive:
    """Write an archive of about `size` bytes (within 5 %) below `out/projects`.

    With `files` it has so many sessions, all of about one size (at least 8 KB each).
    """
    archive = Archive(out, seed)
    texts, rng = Texts(seed), Random(f"archive/{seed}")
    budgets = _budgets(size, rng, files, archive)
    for index, budget in enumerate(budgets):
        session = _write_session(archive, texts, index, budget)
        if session.page.sink.kept is not None:
            _resume(archive, session, next(budgets, 0))
    return archive


def _budgets(size: int, rng: Random, files: int | None, archive: Archive) -> Iterator[int]:
    """Yield the size of each session: most of them small, a few very large."""
    if files is not None:
        yield from _even_budgets(size, rng, files, archive)
        return
    while archive.size < size * 0.995:
        wanted = min(60_000 * rng.lognormvariate(2.0, 1.6), size / 5)
        yield max(4_000, min(round(wanted), size - archive.size))


def _even_budgets(size: int, rng: Random, files: int, archive: Archive) -> Iterator[int]:
    """Yield shares of what is left, so that small errors do not add up."""
    weights = [rng.lognormvariate(0, 0.6) for _ in range(files)]
    rest = sum(weights)
    for weight in weights:
        yield max(1_000, round((size - archive.size) * weight / rest))
        rest -= weight


def _write_session(archive: Archive, texts: Texts, index: int, budget: int) -> Session:
    rng = Random(f"session/{archive.seed}/{index}")
    version, model, day = VERSIONS[index % len(VERSIONS)]
    cwd = f"/home/dev/{rng.choice(PROJECTS)}"
    branch = "main" if rng.random() < 0.6 else f"feature/{texts.words[int(rng.random() * 900)]}"
    frame = Frame(lines.uuid(rng), version, model, cwd, branch)
    start = (day + int(rng.random() * 25)) * DAY + int(rng.random() * DAY)
    wants = WANTS[index % len(WANTS)] if index < 40 else ()
    with _new_file(archive, frame).open("wb", buffering=BUFFER) as handle:
        is_resumed = frame.is_old and index % 3 == 0
        sink = Sink(handle, kept=[] if is_resumed else None)
        page = Page(frame, rng, sink, archive.shapes, start)
        session = Session(page, texts, budget, set(wants), _spawner(archive))
        session.run()
    archive.size += sink.size
    return session


def _resume(archive: Archive, before: Session, budget: int) -> None:
    """Write a second file that copies the first (the same uuids) and go on under a new id."""
    marks = [mark for mark in before.marks if mark.size < budget * 0.7] or before.marks[:1]
    if not marks or not budget:
        return
    rng, kept = before.page.rng, before.page.sink.kept or []
    frame = replace(before.page.frame, session=lines.uuid(rng))
    with _new_file(archive, frame).open("wb", buffering=BUFFER) as handle:
        sink = Sink(handle)
        sink.write_bytes(b"".join(kept[: marks[-1].count]))
        page = Page(frame, rng, sink, archive.shapes, before.page.time + DAY, marks[-1].tip)
        Session(page, before.texts, max(budget, sink.size + 1)).run()
    archive.size += sink.size
    archive.shapes["resumed"] += 1


def _spawner(archive: Archive) -> Callable[[Session, str, str, str], str]:
    """Return what writes the file of a sub-agent into the folder of its session."""

    def spawn(sender: Session, call: str, label: str, prompt: str) -> str:
        page, rng = sender.page, sender.page.rng
        agent = f"a{rng.getrandbits(64):016x}"
        frame = replace(page.frame, agent=agent)
        budget = min(20_000 + int(rng.random() * 150_000), sender.left // 3)
        path = _place(archive, frame) / frame.session / "subagents" / f"agent-{agent}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb", buffering=BUFFER) as handle:
            own = Page(frame, rng, Sink(handle), page.shapes, page.time)
            Session(own, sender.texts, budget).answer(prompt)
        about = f'"description":"{label}","toolUseId":"{call}","spawnDepth":1'
        meta = f'{{"agentType":"Explore",{about}}}'
        path.with_name(f"agent-{agent}.meta.json").write_text(meta, encoding="utf-8")
        page.time = own.time
        page.sink.size += own.sink.size  # the budget of a session is that of its whole folder
        archive.files += 1
        return agent

    return spawn


def _new_file(archive: Archive, frame: Frame) -> Path:
    folder = _place(archive, frame)
    folder.mkdir(parents=True, exist_ok=True)
    archive.files += 1
    return folder / f"{frame.session}.jsonl"


def _place(archive: Archive, frame: Frame) -> Path:
    return archive.out / "projects" / re.sub(r"[^A-Za-z0-9]", "-", frame.cwd)


def parse_size(text: str) -> int:
    """Read a size such as `500KB`, `100MB` or `1.5GB`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?B?)", text.upper())
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 100MB")
    unit = found[2] if found[2] in _UNITS else found[2] + "B"
    return round(float(found[1]) * _UNITS.get(unit, 1))


def main(arguments: list[str] | None = None) -> int:
    """Write an archive and print what is in it."""
    parser = argparse.ArgumentParser(description="Write an archive of generated sessions.")
    parser.add_argument("out", type=Path, help="the folder that gets a `projects` folder")
    parser.add_argument("--size", type=parse_size, default="100MB", help="about how many bytes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, help="how many sessions, all of about one size")
    given = parser.parse_args(arguments)
    archive = generate(given.out, given.size, given.seed, given.files)
    shapes = ", ".join(f"{count:,} {shape}" for shape, count in sorted(archive.shapes.items()))
    print(f"{archive.files:,} files, {archive.size / 1e6:,.1f} MB: {shapes}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
