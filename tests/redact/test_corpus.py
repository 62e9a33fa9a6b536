"""Real logs: no id and no hash is replaced."""

import re
from pathlib import Path

import pytest

from plait.record import read
from plait.redact import Redactor
from tests.sampling import EACH_AND_ALL, one_of

IDS = re.compile(
    rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:toolu|msg|req)_[A-Za-z0-9]+"
    rb"|\b[0-9a-f]{40}\b|\b[0-9a-f]{64}\b|sha\d+-[A-Za-z0-9+/=]+"
)


@pytest.mark.parametrize("every", EACH_AND_ALL)
def test_ids_and_hashes_are_unchanged(shared: Path, every: int) -> None:
    count = 0
    for path in one_of(every, sorted((shared / "corpus").rglob("*.jsonl"))):
        redactor = Redactor()
        for record in read(path):
            ids = IDS.findall(record.raw)
            count += len(ids)
            redacted = redactor.record(record)
            assert redacted is record or IDS.findall(redacted.raw) == ids, (path, record.line)
    assert count > 20_000 // every
