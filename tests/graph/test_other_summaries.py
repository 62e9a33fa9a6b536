"""Branches labelled by `summary` lines in other files of the folder."""

import json
from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.export.plan import ExportPlan

LOGS = """
file shop cwd=/home/dev/shop start=2026-09-30T23:00:00Z
U1 "build the shop"
A1< "Built."
U2< "paint it red"
A2< "Red."
U3<A1 "paint it green"
A3< "Green."
file index cwd=/home/dev/shop
summary "A red shop" leaf shop:A2
summary "A green shop" leaf shop:A3
"""


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    draw(LOGS).write(tmp_path / "logs")
    return Archive([tmp_path / "logs"], index=tmp_path / "index")


def shop(archive: Archive) -> Path:
    return next(
        session.path for session in archive.sessions if len(archive.open(session).records) > 3
    )


def test_paths_of_one_session_have_the_labels(archive: Archive) -> None:
    labels = {path.status: path.label for path in archive.paths(shop(archive))}
    assert labels == {"ABANDONED": "A red shop", "ACTIVE": "A green shop"}
    assert {path.status: path.label for path in archive.paths()} == labels


def test_tree_of_one_session_has_the_labels(
    archive: Archive,
) -> None:
    log = shop(archive)
    assert {item.title for item in archive.tree(log)} == {"A red shop", "A green shop"}
    with archive:
        assert {item.title for item in archive.tree(log)} == {"A red shop", "A green shop"}


def test_later_summary_is_used(archive: Archive) -> None:
    log = shop(archive)
    archive.paths(log)
    index = next(session.path for session in archive.sessions if session.path != log)
    index.write_text(index.read_text().replace("A red shop", "A crimson shop"))
    assert {path.label for path in archive.paths(log)} == {"A crimson shop", "A green shop"}


def test_export_lists_have_the_labels(archive: Archive) -> None:
    files = dict(archive.export(ExportPlan((archive.session(shop(archive)),)), "md"))
    assert b"[A red shop]" in files["index.md"]
    assert b"[A green shop]" in files["index.md"]
    (session,) = json.loads(files["manifest.json"])["sessions"]
    assert session["title"] == "A green shop"


def test_transcripts_have_the_labels(archive: Archive) -> None:
    files = dict(archive.export(ExportPlan((archive.session(shop(archive)),)), "md"))
    texts = [data.decode() for name, data in files.items() if name.startswith("transcript")]
    assert sorted(text.split("\n")[0] for text in texts) == ["# A green shop", "# A red shop"]


def test_labels_of_a_redacted_export_are_redacted(archive: Archive, tmp_path: Path) -> None:
    index = next(session.path for session in archive.sessions if session.path != shop(archive))
    index.write_text(index.read_text().replace("A red shop", "mail anna.meyer@example.org"))
    for name, data in archive.export(shop(archive)):
        assert b"anna.meyer" not in data, name
