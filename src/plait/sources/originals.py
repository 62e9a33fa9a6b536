"""The lines and rows that a translation was made from, as the agent itself wrote them."""

import os
from collections.abc import Iterator
from pathlib import Path

from plait.line import Line, iter_lines
from plait.line.files import fetch_missing
from plait.record.codec import encode_value
from plait.sources.base import SourceLog, load_source, open_zstd
from plait.sources.translation import SourceLine, Translation

LINES = (".jsonl", ".jsonl.zst")


def iter_originals(log: SourceLog) -> Iterator[Line]:
    """Yield the lines of a log; of a document or a database, what stands for a line in it."""
    path = Path(log.path)
    if not path.exists():
        fetch_missing(path)
    if not log.path.endswith(LINES):
        for row in _read_rows(log):
            yield Line(row.number, row.offset, encode_value(row.fields), is_ended=True)
    elif path.suffix != ".zst":
        yield from iter_lines(path)
    else:
        with path.open("rb") as file, open_zstd(file) as unpacked:
            rest, number, offset = b"", 0, 0
            while data := unpacked.read(1 << 20):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    number += 1
                    yield Line(number, offset, line, is_ended=True)
                    offset += len(line) + 1
            if rest:
                yield Line(number + 1, offset, rest, is_ended=False)


def find_original(log: SourceLog, fields: dict[str, object]) -> Line | None:
    """Return the line that a line of the translation was made from, None for one without."""
    number, other = fields.get("sourceLine"), fields.get("sourceFile")
    if not isinstance(number, int):
        return None
    if isinstance(other, str):
        log = SourceLog(log.source, log.id, other)
    try:
        return next((line for line in iter_originals(log) if line.number == number), None)
    except OSError:  # deleted meanwhile
        return None


def _read_rows(log: SourceLog) -> list[SourceLine]:
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        rows = _Rows(log, nowhere)
        load_source(log.source).translate(log, rows)
    return list(rows.found.values())


class _Rows(Translation):
    """Notes what a reader begins with, and writes nothing."""

    found: dict[int, SourceLine]

    def start(self, line: SourceLine) -> None:
        """Take a row; some are begun again for what is written last."""
        self.__dict__.setdefault("found", {}).setdefault(line.number, line)
        super().start(line)
