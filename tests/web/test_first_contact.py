"""Archives that were never read: first answers, progress, and completion."""

import asyncio
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from html import unescape
from pathlib import Path
from time import monotonic, sleep
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from playwright.sync_api import expect

from plait.archive import Archive
from plait.archive.live import LiveArchive, ReadingProgress
from plait.cli.options import Request as CommandRequest
from plait.cli.serve import report_reading
from plait.errors import UserError
from plait.index.catalogue import lock_index
from plait.indexing import update_index
from plait.sessions.fresh_index import read_unchanged_facts
from plait.settings import format_plait_command, load_settings
from plait.terminal.text import expand_commands, shell_command
from plait.web.address import open_listener
from plait.web.address import read_server_file as told_of
from plait.web.events import MOST_WAITING, Event, Hub
from plait.web.guard import Keys
from plait.web.watcher import StoppedError, Watcher
from tests.web.commands import Home
from tests.web.lists import WALKS, walk
from tests.web.reading_page import Reader, forgiving, reader, served
from tests.web.test_axe import faults

__all__ = ["forgiving", "reader"]
PATIENCE = 100.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return three short sessions that nobody has read."""
    found = tmp_path / "logs"
    for item in WALKS:
        walk(found, *item)
    return found


@pytest.fixture
def library(root: Path, tmp_path: Path) -> LiveArchive:
    """Return them as the page has them, without an index."""
    return LiveArchive((root,), tmp_path / "index")


def titles(library: LiveArchive) -> list[str | None]:
    """Return the titles that a list shows."""
    return [facts.title for _, facts in library.snapshot.iter_listed()]


def test_lists_show_the_newest_first_and_the_rest_once_read(library: LiveArchive) -> None:
    library.patience = 0.0
    newest = library.snapshot.archive.sessions[-1]
    assert [facts.session for _, facts in library.snapshot.iter_listed()] == [newest.id]
    assert library.rows().unread == 2
    assert len(list(library.complete_snapshot.iter_listed())) == 3
    assert library.rows().unread == 0


def test_without_a_background_reader_lists_wait_for_everything(library: LiveArchive) -> None:
    assert len(titles(library)) == 3


def test_session_opens_by_name_before_lists_show_it(library: LiveArchive) -> None:
    library.patience = 0.0
    oldest = library.snapshot.archive.sessions[0]
    assert oldest.path not in library.snapshot.facts
    assert library.snapshot.facts_of(oldest).title == library.snapshot.archive.facts(oldest).title


def test_outdated_index_still_serves_unchanged_sessions(root: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    update_index(Archive([root]), index)
    before = Archive([root])
    assert read_unchanged_facts(before, index) == {item.path: before.facts(item) for item in before}
    grown, renamed, same = before.sessions
    with grown.path.open("ab") as file:
        file.write(b'{"type":"ai-title","aiTitle":"another","sessionId":"x"}\n')
    beside = renamed.path.with_suffix("")
    beside.mkdir(exist_ok=True)
    (beside / "custom-title.json").write_text('{"customTitle":"mine"}')
    assert set(read_unchanged_facts(Archive([root]), index)) == {same.path}
    assert read_unchanged_facts(Archive([root]), tmp_path / "nowhere") == {}


def test_totals_wait_for_the_index(library: LiveArchive) -> None:
    library.reading.begin(ReadingProgress())
    assert library.billing.get() == (None, True)
    library.reading.end()
    assert library.billing.wait().responses
    assert library.billing.get().value is not None


class Listening:
    """Hears what a watcher says."""

    def __init__(self) -> None:
        self.hub = Hub()
        self.events: list[Event] = []
        self.told: list[ReadingProgress | None] = []
        self.hub.publish = self.events.extend  # type: ignore[assignment,method-assign]

    def watcher(self, library: LiveArchive) -> Watcher:
        """Return one that is heard; its threads are not begun."""
        library.patience = 0.0
        library.reading.begin(ReadingProgress())
        return Watcher(library, self.hub, self.told.append)

    @property
    def kinds(self) -> list[str]:
        """Return what was told, each kind once."""
        return list(dict.fromkeys(event.kind for event in self.events))


def test_first_events_give_the_start_command_and_the_progress() -> None:
    async def first(hub: Hub, count: int) -> list[bytes]:
        stream = hub.stream("one")
        return [await anext(stream) for _ in range(count)]

    hub = Hub()
    hub.command = ".venv/bin/plait serve"
    assert b'"words":".venv/bin/plait serve"' in asyncio.run(first(hub, 2))[1]
    hub.first_event = Event("reading", words="Reading", share=0.5)
    assert asyncio.run(first(hub, 3))[2].startswith(b"event: reading\n")


def test_events_of_other_sessions_do_not_crowd_out_own_events() -> None:
    async def heard(hub: Hub) -> bytes:
        stream = hub.stream("mine")
        for _ in range(2):
            await anext(stream)
        hub.publish(Event("session", f"other{number}") for number in range(MOST_WAITING * 2))
        hub.publish([Event("session", "mine", 7)])
        return await anext(stream)

    assert b'"session":"mine","size":7' in asyncio.run(heard(Hub()))


def test_new_files_are_read_for_lists_then_indexed(library: LiveArchive) -> None:
    events = Listening()
    events.watcher(library).read_new()
    assert len(titles(library)) == 3
    assert library.is_index_fresh
    assert events.kinds == ["reading", "sessions", "index"]
    assert [event.words for event in events.events if event.kind == "reading"][-1] == ""
    assert events.told[-1] is None
    assert events.told[0] is not None
    assert events.told[0].sessions == 3
    assert events.told[0].share == 0
    assert [event.share for event in events.told if event and event.done]
    assert events.hub.first_event is None


def test_index_being_built_by_another_process_is_awaited(library: LiveArchive) -> None:
    events = Listening()
    watcher = events.watcher(library)
    library.index.mkdir()
    with lock_index(library.index):
        assert not watcher.update_index()
        assert library.reading.is_under_way
        assert library.billing.get() == (None, True)
    update_index(library.snapshot.archive, library.index)
    assert watcher.update_index()
    assert library.reading.progress is None
    assert events.kinds == ["reading", "index"]


def test_unwritable_index_is_reported_and_logs_are_read_instead(
    library: LiveArchive,
) -> None:
    events = Listening()
    library.index.write_text("in the way")
    events.watcher(library).read_new()
    assert events.told[-1] is not None
    assert "cannot write the index" in events.told[-1].problem
    assert events.hub.first_event
    assert events.hub.first_event.words.startswith("Cannot write the index")
    assert library.billing.get(PATIENCE).value is not None
    assert len(titles(library)) == 3


def test_missing_root_is_reported_once(tmp_path: Path) -> None:
    events, root = Listening(), tmp_path / "logs"
    library = LiveArchive((root,), tmp_path / "index")
    watcher = events.watcher(library)
    for _ in range(3):
        library.refresh()
        watcher.update_index()
    assert [result.problem for result in events.told if result] == [
        f"'{root}' does not exist; sessions appear once it is created"
    ]
    walk(root, *WALKS[0])
    library.refresh()
    watcher.update_index()
    assert events.told[-1] is None and events.hub.first_event is None


def test_stopped_watcher_reads_nothing(library: LiveArchive) -> None:
    events = Listening()
    watcher = events.watcher(library)
    watcher.stop()
    with pytest.raises(StoppedError):
        watcher.update_index()
    assert not library.is_index_fresh


def test_search_without_an_index_says_so_at_once(library: LiveArchive) -> None:
    found = library.snapshot.archive.search("herons", is_updating=False)
    assert (found.total, found.note) == (
        0,
        "the index is still being built: results may be incomplete",
    )
    assert not library.index.exists()


def ask(address: str, secret: str, path: str) -> str:
    """Return a page of a server that may be asked."""
    port = address.rpartition(":")[2]
    cookie = {"Cookie": f"plait{port}={Keys(secret).cookie}"}
    with build_opener(ProxyHandler({})).open(Request(address + path, headers=cookie)) as answer:
        return str(answer.read().decode())


@contextmanager
def started(home: Home) -> Iterator[tuple[str, str]]:
    """Run `plait serve` and give its address and its secret."""
    command = home.command("serve", "--no-open", "--port", "0")
    process = subprocess.Popen(command, env=home.env, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        output = process.stderr.readline()
        address = re.search(r"http://[\d.:]+", output)
        assert address, output
        running = told_of(home.running[0])
        assert running
        yield address[0], running.secret
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_command_answers_before_anything_is_read(root: Path, tmp_path: Path) -> None:
    home = Home(tmp_path, root)
    index = load_settings((str(root),), environment=home.env).index
    index.mkdir(parents=True)
    name = Archive([root]).sessions[-1].id
    with lock_index(index), started(home) as (address, secret):  # nobody can make the index
        assert "the shore" in ask(address, secret, "/")
        assert "data-counting" in ask(address, secret, "/usage")
        assert "by the herons" in ask(address, secret, f"/s/{name}")
        assert "still being read" in ask(address, secret, "/search?q=herons")
    with started(home) as (address, secret):
        end = monotonic() + PATIENCE
        while "3 passages" not in (page := ask(address, secret, "/search?q=herons")):
            assert monotonic() < end, page
            sleep(0.1)


def test_copied_command_runs_in_another_folder(root: Path, tmp_path: Path) -> None:
    home = Home(tmp_path, root)
    name = Archive([root]).sessions[-1].id
    with started(home) as (address, secret):
        page = ask(address, secret, f"/s/{name}")
    (again,) = re.findall(r'data-again="([^"]+)"', page)
    ran = subprocess.run(
        [*shlex.split(unescape(again)), "2"],
        cwd="/",
        env=home.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, (again, ran.stderr)
    assert "to go back to turn 2" in ran.stdout


def test_progress_without_a_terminal_is_plain_text(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = 1_000_000_000
    with report_reading(CommandRequest((str(root),)), is_silent=False) as opened:
        for done in (0, size // 10, size // 4, size):
            opened(ReadingProgress(691, done, size))
        opened(None)
        opened(ReadingProgress(3, 10, 1000))
        opened(None)
        opened(ReadingProgress(problem="cannot write"))
    assert capsys.readouterr().err.splitlines() == [
        "Reading 691 sessions: 0 B of 1.0 GB",
        "Reading 691 sessions: 250 MB of 1.0 GB",
        "Reading 691 sessions: 1.0 GB of 1.0 GB",
        "all sessions have been read",
        "cannot write",
    ]


def test_background_server_prints_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with report_reading(CommandRequest((str(root),)), is_silent=True) as opened:
        opened(ReadingProgress(691, 1, 1_000_000_000))
    assert capsys.readouterr().err == ""


def test_taken_port_falls_back_to_the_next_and_then_to_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with open_listener("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with open_listener("127.0.0.1", port) as second:
            assert second.getsockname()[1] > port
        monkeypatch.setattr("plait.web.address.NEXT", 1)
        with open_listener("127.0.0.1", port) as any_:
            assert any_.getsockname()[1] not in (0, port)


def test_foreign_address_is_an_error() -> None:
    with pytest.raises(UserError, match="cannot listen on port 8420 of '192\\.0\\.2\\.1'"):
        open_listener("192.0.2.1", 8420)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a program of its own in `.venv`, in which the user stands."""
    script = tmp_path / ".venv" / "bin" / "plait"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_suggested_command_works_in_the_current_directory(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert format_plait_command() == ".venv/bin/plait"
    assert format_plait_command(is_anywhere=True) == str(checkout / ".venv" / "bin" / "plait")
    assert (
        shell_command("plait", "open", "--root", "my logs")
        == ".venv/bin/plait open --root 'my logs'"
    )
    assert shell_command("plait") == "plait"
    assert expand_commands("`plait ls` lists them") == "`.venv/bin/plait ls` lists them"
    assert expand_commands("a plait is no command") == "a plait is no command"
    assert (
        expand_commands("`plait --help` tells", ["--root", "a b"])
        == "`.venv/bin/plait --help` tells"
    )
    roots = " --root 'a b' --root c"
    for words, added in (("ls", roots), ("config", ""), ("ls --root x", "")):
        typed = expand_commands(f"`plait {words}`", ["--root", "a b", "--root", "c"])
        assert typed == f"`.venv/bin/plait {words}{added}`"
    (checkout / "elsewhere").mkdir()
    monkeypatch.chdir(checkout / "elsewhere")
    assert format_plait_command() == str(checkout / ".venv" / "bin" / "plait")


def test_command_name_is_enough_on_the_path(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(checkout / ".venv" / "bin"))
    assert format_plait_command() == format_plait_command(is_anywhere=True) == "plait"
    other = checkout / "other"
    other.mkdir()
    (other / "plait").write_text("#!/bin/sh\n")
    (other / "plait").chmod(0o755)
    monkeypatch.setenv("PATH", str(other))
    assert format_plait_command() == ".venv/bin/plait"
    (checkout / ".venv" / "bin" / "plait").unlink()
    assert format_plait_command() == "plait"
    (other / "plait").unlink()
    assert format_plait_command() == f"{checkout}/.venv/bin/python -m plait"


def test_every_page_shows_progress_and_fills_in(root: Path, tmp_path: Path, reader: Reader) -> None:
    index, lock = tmp_path / "index", ExitStack()
    index.mkdir()
    lock.enter_context(lock_index(index))  # nobody can make the index
    with served(root, index, is_live=True) as at:
        places = ("/", "/sessions", "/usage", "/search?q=herons")
        home, sessions, usage, search = pages = [reader(at, path) for path in places]
        for page in pages:
            page.bring_to_front()
            line = page.locator(".status-bar .reading-line")
            expect(line).to_contain_text("Reading 3 sessions: 0 B of")
        assert faults(home) == []
        expect(home.locator(".recent li")).to_have_count(3)
        expect(sessions.locator("tr[data-name]")).to_have_count(3)
        expect(usage.locator("[data-counting]")).to_be_visible()
        expect(search.get_by_text("still being read")).to_be_visible()
        lock.close()
        for page in pages:
            expect(page.locator(".status-bar")).to_have_count(0, timeout=PATIENCE * 1000)
        expect(usage.locator("[data-counting]")).to_have_count(0, timeout=PATIENCE * 1000)
        expect(search.locator(".hits li")).to_have_count(3)
        for page in pages:  # before the server goes
            page.close()


def test_sign_in_page_names_the_command_and_continues_to_the_page(
    root: Path, tmp_path: Path
) -> None:
    with served(root, tmp_path / "index") as at:
        request = Request(f"{at.address}/sessions?flat=1", headers={"Accept": "text/html"})
        with pytest.raises(HTTPError) as caught:
            build_opener(ProxyHandler({})).open(request)
        page = caught.value.read().decode()
    assert 'name="to" value="/sessions?flat=1"' in page
    assert "<code>plait open</code>" in page


def test_page_keeps_polling_unchanged_answers(
    root: Path, tmp_path: Path, forgiving: Reader
) -> None:
    index, lock, requested = tmp_path / "index", ExitStack(), list[str]()
    index.mkdir()
    lock.enter_context(lock_index(index))  # nobody can make the index
    with served(root, index, is_live=True) as at:
        page = forgiving(at, "/")
        page.route("**/events", lambda _: None)  # nobody ever says that it is there
        page.on(
            "request", lambda item: requested.append(item.url) if "fragment=1" in item.url else None
        )
        page.goto(f"{at.address}/insights?range=all")
        end = monotonic() + PATIENCE
        while len(requested) < 3 and monotonic() < end:
            page.wait_for_timeout(100)
        assert len(requested) >= 3
        lock.close()
        expect(page.locator("[data-counting]")).to_have_count(0, timeout=PATIENCE * 1000)
        page.close()
