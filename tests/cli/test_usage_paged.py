"""Usage on a terminal: long output begins with the totals and the newest rows."""

import os
import pty
import struct
import subprocess
import sys
from datetime import timedelta
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

from plait.usage.formats import format_gap


def on_screen(home: Path, height: int, *words: object) -> list[str]:
    """Return the lines that a command prints on a screen of some height, by way of its pager."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", height, 100, 0, 0))
    done = subprocess.run(
        [sys.executable, "-m", "plait", *map(str, words), "--colour", "never"],
        env={
            "HOME": str(home),
            "PYTHONPATH": ":".join(sys.path),
            "PLAIT_PAGER": "cat",
            "TERM": "xterm",
        },
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    os.close(theirs)
    text = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 0
    return [line.rstrip() for line in text.replace("\r\n", "\n").splitlines()]


def days(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines if line[:2] == "20"]


@pytest.mark.parametrize("report", ["daily", "blocks"])
def test_long_output_begins_with_totals_and_newest_rows(
    gallery: Path, tmp_path: Path, report: str
) -> None:
    short = on_screen(tmp_path, 12, "usage", report, "--root", gallery)
    tall = on_screen(tmp_path, 200, "usage", report, "--root", gallery)
    assert short[1].startswith("total ")
    assert tall[1][:2] == "20"
    assert days(short) == sorted(days(short), reverse=True)
    assert days(tall) == sorted(days(short))
    assert sorted(short) == sorted(tall)


def test_requested_order_stays(gallery: Path, tmp_path: Path) -> None:
    lines = on_screen(tmp_path, 12, "usage", "--order", "asc", "--root", gallery)
    assert lines[1].startswith("total ")
    assert days(lines) == sorted(days(lines))


def test_rows_without_a_time_keep_their_order(gallery: Path, tmp_path: Path) -> None:
    short = on_screen(tmp_path, 8, "usage", "session", "--root", gallery)
    tall = on_screen(tmp_path, 200, "usage", "session", "--root", gallery)
    assert [line for line in short if "2026-" in line] == [line for line in tall if "2026-" in line]


@pytest.mark.parametrize(
    ("hours", "expected"),
    [(5.4, "5 h"), (47.4, "47 h"), (47.6, "2 days"), (205, "9 days"), (1458, "61 days")],
)
def test_gaps_are_worded_plainly(hours: float, expected: str) -> None:
    assert format_gap(timedelta(hours=hours)) == expected
