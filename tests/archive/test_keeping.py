"""Backup-only sessions in every answer."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.errors import Refused, UserError
from plait.index import scanning
from plait.line import workers
from plait.sessions.discovery import resolve_store
from plait.sessions.kept import KeptFileCache
from plait.sessions.model import StorePlace
from plait.store import NewFile, Store
from plait.view.transcript.json_form import to_plain

DAY = 86400


@pytest.fixture
def config(gallery: Path, tmp_path: Path) -> Path:
    """A configuration folder with all sessions of the gallery."""
    for projects in gallery.glob("*/projects"):
        shutil.copytree(projects, tmp_path / "config" / "projects", dirs_exist_ok=True)
    return tmp_path / "config"


@pytest.fixture
def store(tmp_path: Path) -> StorePlace:
    return StorePlace(tmp_path / "keep", tmp_path / "shelf")


def archive_of(config: Path, store: StorePlace, index: Path | None = None) -> Archive:
    return Archive([config], index, store=store)


def with_all_kept(config: Path, store: StorePlace) -> None:
    report = archive_of(config, store).keep.run()
    assert report.unread == []


def empty(config: Path) -> None:
    shutil.rmtree(config / "projects")
    (config / "projects").mkdir()


def answers(archive: Archive) -> dict[str, Any]:
    """Return what an archive says of itself, but for where its files lie."""
    by_id = sorted(archive.sessions, key=lambda entry: (entry.id, entry.project, entry.bytes))
    return {
        "sessions": [(entry.id, entry.project, entry.bytes, len(entry.files)) for entry in by_id],
        "titles": [archive.facts(entry).title for entry in by_id],
        "turns": [to_plain(archive.conversations(entry).active.turns) for entry in by_id],
        "usage": to_plain(archive.usage("session").rows),
        "stats": to_plain(archive.stats()),
        "tree": sorted(str((item.id, item.parent)) for item in archive.tree().items),
        "context": [archive.context(entry).request for entry in by_id if entry.file],
        "found": sorted(hit.snippet for hit in archive.search("test", limit=50).hits),
        "exact": archive.search("the", way="exact", limit=500).total,
    }


@pytest.mark.parametrize("has_index", [False, True])
def test_answers_are_the_same_without_the_source(
    config: Path, store: StorePlace, tmp_path: Path, has_index: bool
) -> None:
    index = tmp_path / "index" if has_index else None
    with_all_kept(config, store)
    here = archive_of(config, store, index)
    before = answers(here)
    assert not any(session.is_kept for session in here.sessions)
    empty(config)
    gone = archive_of(config, store, index)
    assert answers(gone) == before
    assert all(session.is_kept for session in gone.sessions)
    assert all(gone.facts(session).deleted_at is None for session in gone.sessions)
    assert all(session.config == config for session in gone.sessions)


def test_lists_and_figures_of_indexed_backups_read_no_blocks(
    config: Path, store: StorePlace, tmp_path: Path
) -> None:
    with_all_kept(config, store)
    empty(config)
    index = tmp_path / "index"
    before = archive_of(config, store, index)
    before.update_index()
    before.usage(), before.stats(), before.tree()  # what they work out stays in the index
    shutil.rmtree(store.cache)
    archive = archive_of(config, store, index)
    titles = [archive.facts(session).title for session in archive.sessions]
    assert any(titles)
    assert archive.usage().rows
    assert archive.stats().turns
    assert archive.tree().items
    assert archive.update_index().is_unchanged
    assert not store.cache.exists()
    found = archive.search("product", limit=2).hits
    assert found, "only what is shown of a hit is read from its session"
    assert len(list(store.cache.iterdir())) == len({item.path for item in found})


def test_existing_source_wins_over_its_backup(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    archive = archive_of(config, store)
    gone, *others = (session for session in archive.sessions if session.file and not session.agents)
    gone.path.unlink()
    again = archive_of(config, store)
    kept = {session.id: session.is_kept for session in again.sessions}
    assert kept[gone.id]
    assert not any(kept[item.id] for item in others)
    assert len(again.sessions) == len(archive.sessions)


def test_remains_of_a_cleaned_session_are_not_listed_twice(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    before = archive_of(config, store)
    full = next(session for session in before.sessions if session.file and len(session.agents) > 1)
    full.path.unlink()
    after = archive_of(config, store)
    found = [session for session in after.sessions if session.id == full.id]
    assert [item.is_kept for item in found] == [True]
    assert len(found[0].agents) == len(full.agents)
    assert sorted(file.path.name for file in after.files) == sorted(
        file.path.name for file in before.files
    )


def test_store_of_another_root_is_ignored(config: Path, store: StorePlace, tmp_path: Path) -> None:
    with_all_kept(config, store)
    empty(config)
    other = tmp_path / "other"
    (other / "projects").mkdir(parents=True)
    assert archive_of(other, store).sessions == ()
    assert archive_of(config, store).sessions
    slug = next(iter(archive_of(config, store).sessions)).project
    (config / "projects" / slug).mkdir()
    below = Archive([config / "projects" / slug], store=store)
    assert {session.project for session in below.sessions} == {slug}


def test_agents_in_odd_places_belong_to_the_session_they_name(
    store: StorePlace, tmp_path: Path
) -> None:
    item, other = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
    places = {
        "logs/shop/session.jsonl": item,
        "logs/shop/agents/agent-a1.jsonl": item,
        "logs/elsewhere/copy.jsonl": item,
        "logs/far/agent-a2.jsonl": other,
    }
    for place, session in places.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        entry = {"type": "user", "uuid": place, "sessionId": session, "message": {"content": "x"}}
        path.write_text(json.dumps(entry) + "\n")
    root = tmp_path / "logs"
    with_all_kept(root, store)
    before = answers(archive_of(root, store))
    shutil.rmtree(root)
    root.mkdir()
    gone = archive_of(root, store)
    assert answers(gone) == before
    shop = next(item for item in gone.sessions if item.project == "shop")
    assert [file.path.name for file in shop.agents] == ["agent-a1.jsonl"]
    assert [path.name for path in gone.keep.restore(shop).files] == [
        "agent-a1.jsonl",
        "session.jsonl",
    ]


@pytest.mark.long
def test_real_logs_answer_the_same_from_backups(
    shared: Path, store: StorePlace, tmp_path: Path
) -> None:
    root = tmp_path / "logs"
    shutil.copytree(shared / "corpus" / "claude-history", root)
    with_all_kept(root, store)
    before = answers(archive_of(root, store))
    shutil.rmtree(root)
    root.mkdir()
    assert answers(archive_of(root, store)) == before


def test_foreign_backups_are_shown_on_request(
    config: Path, store: StorePlace, tmp_path: Path
) -> None:
    with_all_kept(config, store)
    shutil.move(config, tmp_path / "moved")
    there = StorePlace(store.folder, store.cache, includes_foreign=True)
    assert Archive([], store=store).sessions == ()
    found = Archive([], store=there).sessions
    assert found
    assert all(item.is_kept and item.config is None for item in found)
    with pytest.raises(UserError, match="does not exist here"):
        Archive([], store=there).keep.restore(found[0])
    restored = Archive([tmp_path / "moved"], store=there).keep.restore(found[0])
    assert restored.path.is_relative_to(tmp_path / "moved")


def test_archive_without_a_store(
    config: Path, store: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise AssertionError("a store was opened")

    monkeypatch.setattr(Store, "open", fails)
    assert archive_of(config, store).sessions
    assert Archive([config]).sessions
    with pytest.raises(UserError, match="no store"):
        Archive([config]).keep.run()


def test_unreadable_store_is_named_and_hides_nothing(config: Path, store: StorePlace) -> None:
    (store.folder / "journal.jsonl").mkdir(parents=True)
    archive = archive_of(config, store)
    assert len(archive.sessions) == len(Archive([config]).sessions) > 0
    assert archive.discovery.unread == (store.folder,)
    assert Archive([config]).discovery.unread == ()


def test_session_backed_up_by_two_roots_is_shown_once(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    session = next(item for item in archive_of(config, store).sessions if item.file)
    Archive([session.path.parent], store=store).keep.run()
    before = archive_of(config, store).sessions
    empty(config)
    after = archive_of(config, store).sessions
    assert sorted(item.id for item in after) == sorted(item.id for item in before)


def test_edits_of_backup_only_sessions_are_refused(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    empty(config)
    archive = archive_of(config, store)
    session = next(item for item in archive.sessions if item.file)
    verbs: dict[str, list[Any]] = {"rename": ["x"], "delete": [], "clone": [], "fork": [1]}
    for verb, given in verbs.items():
        with pytest.raises(Refused, match="only in the backup") as refusal:
            getattr(archive.plan, verb)(session, *given)
        assert f"`plait restore {session.id[:8]}`" in refusal.value.hints[0]
    project = session.project
    (config / "projects" / project).mkdir()
    with pytest.raises(UserError):
        archive_of(config, store).plan.move(project, "/elsewhere")


def test_restored_session_is_at_its_source(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    session = next(item for item in archive_of(config, store).sessions if len(item.agents) > 1)
    stat = session.path.stat()
    before = {path: path.read_bytes() for path in session.path.parent.rglob("*") if path.is_file()}
    empty(config)
    archive = archive_of(config, store)
    restored = archive.keep.restore(session.id)
    assert restored.path == session.path
    now = session.path.stat()
    assert (now.st_mtime_ns, now.st_mode) == (stat.st_mtime_ns, stat.st_mode)
    assert all(path.read_bytes() == before[path] for path in restored.files)
    found = archive.reopen().session(session.id)
    assert not found.is_kept
    fresh = archive.keep.restore(session.id, is_fresh=True)
    assert fresh.files == ()
    assert session.path.stat().st_mtime_ns > stat.st_mtime_ns


def test_block_cache_is_bounded(
    config: Path, store: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_all_kept(config, store)
    empty(config)
    archive = archive_of(config, store)
    monkeypatch.setattr("plait.sessions.kept.MOST", 60_000)
    for session in archive.sessions:
        assert archive.open(session).records or not session.file
        held = [file for file in store.cache.rglob("*") if file.is_file()]
        own = sum(kept.size for kept in [archive.inventory.deleted.kept[session.path]])
        assert sum(file.stat().st_size for file in held) <= max(60_000, own)
    assert not list(store.cache.glob(".*"))


def test_cache_survives_forgotten_blocks(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    empty(config)
    archive = archive_of(config, store)
    first, *others = (session for session in archive.sessions if session.file)
    assert archive.open(first).records
    archive_of(config, store).keep.forget(first)
    assert all(archive.open(item).records for item in others)


def test_cache_adds_no_sessions(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    shelf = KeptFileCache(store)
    folder = shelf.folder_of(Store.open(store.folder).sessions()[0])
    assert not shelf.fetch(folder / "projects" / "nothing.jsonl")
    assert not shelf.fetch(store.cache / "other" / "projects" / "nothing.jsonl")
    assert not store.cache.exists()


def test_status_lists_what_will_be_lost_and_when(config: Path, store: StorePlace) -> None:
    now = datetime.now().timestamp()
    sessions = [session for session in Archive([config]).sessions if session.file]
    for age, session in enumerate(sessions):
        os.utime(session.path, (now - age * DAY, now - age * DAY))
    archive = archive_of(config, store)
    before = archive.keep.status()
    assert (before.kept, before.unkept, before.bytes) == (0, len(sessions), 0)
    assert [item.session for item in before.at_risk] == [
        session.id for session in reversed(sessions)
    ]
    oldest = sessions[-1]
    day = (datetime.now() - timedelta(days=len(sessions) - 1) + timedelta(days=30)).date()
    assert before.at_risk[0].deleted_on == day
    archive.keep.run(oldest)
    some = archive_of(config, store).keep.status()
    assert (some.kept, some.unkept) == (1, len(sessions) - 1)
    assert oldest.id not in {item.session for item in some.at_risk}
    with oldest.path.open("ab") as file:
        file.write(b'{"type":"tag","tag":"x"}\n')
    grown = archive_of(config, store).keep.status()
    risk = next(item for item in grown.at_risk if item.session == oldest.id)
    assert risk.is_older_kept
    assert grown.unkept == len(sessions)


def test_newer_agent_does_not_save_its_session_from_cleanup(config: Path) -> None:
    session = next(item for item in Archive([config]).sessions if item.file and item.agents)
    now = datetime.now(UTC)
    os.utime(session.path, ((now - timedelta(days=29)).timestamp(),) * 2)
    for agent in session.agents:
        os.utime(agent.path, (now.timestamp(),) * 2)
    archive = Archive([config])
    deleted = archive.facts(session.id).deleted_at
    assert deleted is not None
    assert timedelta(hours=20) < deleted - now < timedelta(hours=28)


@pytest.mark.parametrize(
    ("user", "project", "local", "days"),
    [
        (None, None, None, 30),
        (60, None, None, 60),
        (None, 7, None, 7),
        (None, 7, 10, 10),
        (10, 300, None, 10),
        (0, None, None, None),
        (-5, None, None, None),
        (0, 5, None, 5),
    ],
)
def test_project_settings_are_respected(
    tmp_path: Path, user: int | None, project: int | None, local: int | None, days: int | None
) -> None:
    work, config = tmp_path / "work", tmp_path / "config"
    (work / ".claude").mkdir(parents=True)
    places = {
        config / "settings.json": user,
        work / ".claude" / "settings.json": project,
        work / ".claude" / "settings.local.json": local,
    }
    log = config / "projects" / "-work" / "11111111-1111-4111-8111-111111111111.jsonl"
    log.parent.mkdir(parents=True)
    entry = {"type": "user", "uuid": "u", "cwd": str(work), "message": {"content": "x"}}
    log.write_text(json.dumps(entry) + "\n")
    for place, value in places.items():
        if value is not None:
            place.write_text(json.dumps({"cleanupPeriodDays": value}))
    archive = Archive([config])
    deleted = archive.facts(archive.sessions[0]).deleted_at
    expected = None if days is None else log.stat().st_mtime + days * DAY
    assert (deleted and deleted.timestamp()) == (expected and pytest.approx(expected))


def test_store_can_be_given_by_folder(tmp_path: Path) -> None:
    assert resolve_store(str(tmp_path / "keep")) == StorePlace(
        tmp_path / "keep", tmp_path / "keep-read"
    )


def test_imported_backups_are_shown(config: Path, store: StorePlace, tmp_path: Path) -> None:
    with_all_kept(config, store)
    archive = archive_of(config, store)
    session = archive.sessions[0]
    archive.keep.pack(tmp_path / "some.pack", [session])
    there = StorePlace(tmp_path / "there", tmp_path / "there-read", includes_foreign=True)
    other = Archive([], store=there)
    assert other.keep.unpack(tmp_path / "some.pack").files
    assert not other.keep.unpack(tmp_path / "some.pack").files
    assert [found.id for found in other.reopen().sessions] == []
    shutil.rmtree(config)
    assert [found.id for found in other.reopen().sessions] == [session.id]


def test_imported_backups_are_restored_to_this_client(
    config: Path, store: StorePlace, tmp_path: Path
) -> None:
    """Its root may be a folder here, too: two machines with the same home."""
    with_all_kept(config, store)
    archive_of(config, store).keep.pack(tmp_path / "all.pack")
    empty(config)
    here = archive_of(config, StorePlace(tmp_path / "here", tmp_path / "here-read"))
    here.keep.unpack(tmp_path / "all.pack")
    restored = here.keep.restore(here.reopen().sessions[0])
    assert config in restored.path.parents


@pytest.mark.parametrize("is_forked", [True, False])
def test_workers_read_backup_only_sessions(
    config: Path, store: StorePlace, monkeypatch: pytest.MonkeyPatch, is_forked: bool
) -> None:
    with_all_kept(config, store)
    before = Archive([config], jobs=1).search("the", way="exact", limit=500)
    empty(config)
    monkeypatch.setattr(scanning, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(workers, "_can_fork", lambda: is_forked)
    archive = Archive([config], jobs=2, store=store)
    after = archive.search("the", way="exact", limit=500)
    assert archive.worker_failures == []
    assert after.total == before.total > 0


def test_forgotten_sessions_are_backed_up_again_only_by_name(
    config: Path, store: StorePlace
) -> None:
    with_all_kept(config, store)
    archive = archive_of(config, store)
    item = next(session for session in archive.sessions if session.file)
    archive.keep.forget(item)
    again = archive_of(config, store)
    assert again.keep.status().unkept == 1
    with pytest.raises(UserError, match="is not backed up"):
        again.keep.restore(item.id)
    assert again.keep.run().files == 0
    assert again.keep.run(item).files
    assert again.keep.status().unkept == 0


def test_foreign_backup_of_a_local_session_is_shown_once(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    place, kept = Store.open(store.folder), Store.open(store.folder).sessions()[0]
    assert kept.log is not None
    for number, root in enumerate(("elsewhere", "claude-agent-sdk"), 1):
        data, path = place.read(kept.log), kept.log.path
        modified = kept.log.modified + number
        place.put([NewFile(root, path, kept.project, kept.session, data, modified=modified)])
    there = StorePlace(store.folder, store.cache, includes_foreign=True)

    def shown() -> list[str]:
        return [item.id for item in Archive([config], store=there) if item.id == kept.session]

    assert shown() == [kept.session]
    empty(config)
    assert shown() == [kept.session]
    place.forget([session for session in place.sessions() if session.root == kept.root])
    assert shown() == [kept.session]
    (found,) = Archive([config], store=there).inventory.deleted.kept.values()
    assert found.root == "claude-agent-sdk"


def test_run_dry_run_and_status_agree(store: StorePlace, tmp_path: Path) -> None:
    item, other = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
    places = {
        "a/transcript.jsonl": item,
        "b/transcript.jsonl": other,
        "c/agents/agent-a1.jsonl": other,
        "d/x/transcript.jsonl": item,
        "e/x/transcript.jsonl": other,
    }
    for place, session in places.items():
        path = tmp_path / "logs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        entry = {"type": "user", "uuid": place, "sessionId": session, "message": {"content": "x"}}
        path.write_text(json.dumps(entry) + "\n")
    archive = archive_of(tmp_path / "logs", store)
    ids = sorted(session.id for session in archive.sessions)
    assert archive.keep.status().unkept == len(ids) == 4
    assert sorted(source.session for source in archive.keep.plan().sessions) == ids
    assert sorted(archive.keep.run().sessions) == ids
    assert archive.keep.status().kept == 4
    with (tmp_path / "logs" / "d/x/transcript.jsonl").open("a") as file:
        file.write("{}\n")
    again = archive_of(tmp_path / "logs", store)
    assert [again.keep.status().unkept, again.keep.run().sessions] == [1, [item]]


def test_files_beside_a_log_count_for_its_session(config: Path, store: StorePlace) -> None:
    with_all_kept(config, store)
    session = next(item for item in archive_of(config, store).sessions if item.file)
    session.path.with_suffix("").mkdir(exist_ok=True)
    (session.path.with_suffix("") / "custom-title.json").write_text("{}")
    archive = archive_of(config, store)
    assert [source.session for source in archive.keep.plan().sessions] == [session.id]
    assert archive.keep.run().sessions == [session.id]


ID = "33333333-3333-4333-8333-333333333333"


def log_in(config: Path, project: str, text: str, modified: float) -> Path:
    """Write a log of the same session into a project."""
    path = config / "projects" / project / f"{ID}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = {"type": "user", "uuid": text, "sessionId": ID, "message": {"content": text}}
    path.write_text(json.dumps(entry) + "\n")
    os.utime(path, (modified, modified))
    return path


def shown(config: Path, store: StorePlace) -> list[tuple[str, bool]]:
    return sorted(
        (session.project, session.is_kept) for session in archive_of(config, store).sessions
    )


def test_moved_session_is_shown_once(store: StorePlace, tmp_path: Path) -> None:
    """Kept at its old place, then at both, then gone from its new one; and forgotten at both."""
    config = tmp_path / "config"
    old = log_in(config, "old", "x", 1_700_000_000)
    with_all_kept(config, store)
    log_in(config, "new", "y", 1_700_000_000)
    old.unlink()
    assert shown(config, store) == [("new", False)]
    with_all_kept(config, store)
    assert shown(config, store) == [("new", False)]
    empty(config)
    assert shown(config, store) == [("new", True)]
    assert archive_of(config, store).keep.forget(ID).files == 2
    assert shown(config, store) == []


@pytest.mark.parametrize("what", ["older", "beside", "other root"])
def test_log_with_the_same_id_does_not_hide_a_backup(
    store: StorePlace, tmp_path: Path, what: str
) -> None:
    config = tmp_path / "config"
    kept = log_in(config, "kept", "x", 1_700_000_000)
    if what == "beside":
        log_in(config, "other", "y", 1_700_000_001)
    with_all_kept(config, store)
    kept.unlink()
    if what == "older":
        log_in(config, "other", "y", 1_600_000_000)
    if what != "other root":
        assert shown(config, store) == [("kept", True), ("other", False)]
        return
    log_in(tmp_path / "second", "other", "y", 1_700_000_001)
    both = Archive([config, tmp_path / "second"], store=store).sessions
    assert sorted((item.project, item.is_kept) for item in both) == [
        ("kept", True),
        ("other", False),
    ]


def test_status_lists_backups_of_other_folders(
    config: Path, store: StorePlace, tmp_path: Path
) -> None:
    with_all_kept(config, store)
    count = len(archive_of(config, store).sessions)
    assert archive_of(config, store).keep.status().elsewhere == 0
    (tmp_path / "other" / "projects").mkdir(parents=True)
    status = archive_of(tmp_path / "other", store).keep.status()
    assert (status.kept, status.elsewhere) == (0, count)
    empty(config)
    assert archive_of(config, store).keep.status().elsewhere == 0
