"""No word of a prompt, path or name is in a counts lake.

All words of all logs, whatever they stand in, with those of the folders and files that the logs
lie in, are held against all words of a lake: those of its decoded columns, of what stands in its
log and in the heads of its files, and all that looks like a word in the bytes of its files.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from plait.archive import Archive
from plait.conversation.prices import Prices
from plait.lake.build import BuildOptions
from plait.lake.profiles import Unit
from plait.lake.rows import build_tables
from plait.lake.schema import TABLES, Labels, Profile, arrow_schema
from plait.lake.store import Lake
from plait.record.counts import SUBTYPES
from plait.record.fields import ATTACHMENT_FIELDS, PROGRESS_FIELDS
from plait.record.types import RECORD_CLASSES
from tests.lake.units import units_of

KEY = b"nobody knows this key, not even we"[:32]
WORD = re.compile(r"[^\W\d_]{3,}")
LONG = re.compile(rb"[A-Za-z]{9,}")
"""Shorter runs of letters come about by chance where bytes are compressed."""
MAY_STAND_BY = {
    "tools of the client": """
        AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode
        ExitPlanMode Glob Grep KillShell MultiEdit Monitor Read ScheduleWakeup SendMessage
        Skill StructuredOutput TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate
        TeamCreate TeamDelete TodoWrite ToolSearch WebFetch WebSearch Workflow Write
    """,
    "its agents": """
        Explore Plan general purpose
    """,
    "its entrances": """
        cli sdk
    """,
    "public models": """
        claude fable haiku opus sonnet synthetic
    """,
    "kinds of its records, and of what they carry": """
        additional agent api assistant atis attachment auto away bash blocking boundary
        bridge change command compact companion content context custom date deferred delta
        diagnostics duration edited environment error exit file goal history hook ide
        informational instructions intro last latch link listing local mcp message mode name
        non opened operation permission permissions plan progress prompt queue queued
        reentry reminder result skill snapshot started state status stop success summary
        system task text title tokens tools total turn user worktree
    """,
    "what Plait calls branches, edges, outcomes, causes, findings": """
        abandoned branch broken changed compaction created failed foreign interrupted
        journal launched line logical lost main missing model none note notice orphan other
        oversized owner parallel parent pause process rejected reread retracted retry rewind root
        same service session spawn startup teammate trunk unexpected unresolved unused workflow
        written
    """,
    "what stand-ins are called": """
        agent branch directory file kind log model project subtype tool
    """,
    "what this test calls its lake": """
        ada counts here
    """,
}
MAY_STAND = frozenset(" ".join(MAY_STAND_BY.values()).lower().split())
"""All that a lake of counts may share with the words of logs."""
OF_LAKES = frozenset(
    """
    add append array boolean code configuration create description double fields format ignore
    json kin long metadata mode null nullable operation options path profile protocol
    provider schema size stats string struct table tags ties timestamp true type
    """.split()
).union(*(WORD.findall(" ".join([name, *arrow_schema(name).names])) for name in TABLES))
"""What any lake says, be it empty: its tables and columns, and what Delta writes of them."""
OF_FORMAT = frozenset(
    word.lower()
    for name in (*RECORD_CLASSES, *SUBTYPES, *ATTACHMENT_FIELDS, *PROGRESS_FIELDS)
    for word in WORD.findall(name)
)
"""What kinds of records are called that the client is known to write."""
IDS = re.compile(
    r"(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r"|(?<![A-Za-z0-9])toolu_01[0-9A-Za-z]{22}(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])[0-9a-f]*[0-9][0-9a-f]*(?![A-Za-z0-9])"
)
"""Uuids, calls and digests, which are no words even where letters of them look like one."""


def words_in(text: str) -> set[str]:
    """Return the words of a text; ids are none."""
    return {one.lower() for one in WORD.findall(IDS.sub(" ", text))}


def words_of_logs(units: Iterable[Unit], root: Path) -> set[str]:
    """Return the words of all files of sessions, of what they are called and where they lie."""
    found: set[str] = set()
    files = (file for unit in units for one in unit.sessions for file in one.files)
    for path in {file.path for file in files}:
        found |= words_in(str(path.relative_to(root)))
        for line in path.read_bytes().splitlines():
            found |= words_in(" ".join(texts_in(line)))
    return found


def texts_in(line: bytes) -> Iterator[str]:
    """Yield all texts that a line of a log holds, itself where it is broken."""
    try:
        waiting: list[Any] = [msgspec.json.decode(line)]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        yield line.decode("utf-8", "replace")
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value


def words_of_lake(lake: Lake) -> Iterator[tuple[str, str]]:
    """Yield the words in all columns of a lake, each with where it stands."""
    for name in lake.tables:
        table = lake.dataset(name).to_table()
        for column, kind in zip(table.schema.names, table.schema.types, strict=True):
            if not pa.types.is_string(kind):
                assert pa.types.is_primitive(kind) or name == "raw", f"{name}.{column} has words"
                continue
            for value in table[column].unique().to_pylist():
                yield from ((word, f"{name}.{column}: {value}") for word in words_in(value or ""))


def words_of_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what looks like a word in the names and the bytes of files, with where it stands."""
    for path in folder.rglob("*"):
        place = str(path.relative_to(folder))
        yield from ((word, place) for word in words_in(place))
        if path.suffix in (".json", ".crc"):
            yield from ((word, place) for word in words_in(path.read_text()))
        elif path.is_file():
            found = LONG.findall(path.read_bytes())
            yield from ((one.decode().lower(), place) for one in found)


def lake_of_counts(folder: Path, units: Sequence[Unit]) -> Lake:
    """Build a lake of counts."""
    lake = Lake.create(str(folder), "counts")
    lake.commit([lake.write(build_tables(one, Prices())) for one in units])
    return lake


def shared_words(units: Sequence[Unit], root: Path, folder: Path) -> dict[str, str]:
    """Return the words that logs and a lake of them share and should not, with their places."""
    said = words_of_logs(units, root)
    assert len(said) > 200
    lake = lake_of_counts(folder, units)
    may_stand_in_files = MAY_STAND | OF_LAKES
    found = {word: at for word, at in words_of_lake(lake) if word not in MAY_STAND}
    found |= {word: at for word, at in words_of_files(folder) if word not in may_stand_in_files}
    return {word: at for word, at in found.items() if word in said}


def units_under(root: Path, every: int) -> list[Unit]:
    """Return each so many families below a folder."""
    units = list(units_of(Archive([root]), "counts"))[::every]
    return [replace(one, key=KEY) for one in units]


@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.long)])
def test_counts_lake_has_no_word_of_real_logs(shared: Path, tmp_path: Path, every: int) -> None:
    root = shared / "corpus"
    assert shared_words(units_under(root, every), root, tmp_path / "lake") == {}


@pytest.mark.parametrize("name", ["produced", "client-sessions", "resume-cases", "audit-cases"])
def test_counts_lake_has_no_word_of_other_logs(shared: Path, tmp_path: Path, name: str) -> None:
    root = shared / name
    found = shared_words(units_under(root, 1), root, tmp_path / "lake")
    assert {word: at for word, at in found.items() if word not in OF_FORMAT} == {}


def test_counts_lake_has_no_word_of_examples(gallery: Path, tmp_path: Path) -> None:
    assert shared_words(units_under(gallery, 1), gallery, tmp_path / "lake") == {}


def test_links_of_sessions_contain_no_text(gallery: Path, tmp_path: Path) -> None:
    manner = BuildOptions(Labels("here"), "counts", key=KEY)
    Archive([gallery / "workflow"], jobs=1).lake.ship(str(tmp_path), manner)
    kin = Lake(str(tmp_path)).read_links("here")
    assert kin.num_rows > 1
    for column in ("session", "fingerprint"):
        told = kin[column].to_pylist()
        assert all(re.fullmatch(r"[0-9a-f]*(?:-[0-9a-f]+)*", one) for one in told), column


@pytest.mark.parametrize("profile", ["full", pytest.param("redacted", marks=pytest.mark.long)])
def test_the_search_of_this_test_finds_words(
    gallery: Path, tmp_path: Path, profile: Profile
) -> None:
    """Words that are let through are found, in columns and in files."""
    units = units_under(gallery, 6)
    said = words_of_logs(units, gallery)
    lake = Lake.create(str(tmp_path), profile)
    lake.commit(
        [lake.write(build_tables(replace(one, profile=profile), Prices())) for one in units]
    )
    held = {word for word, _ in words_of_lake(lake)}
    assert len(said & held - MAY_STAND) > 100
