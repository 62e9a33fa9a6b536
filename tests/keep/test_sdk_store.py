"""The SDK session store: appended entries are loaded, whoever packs them."""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plait
from plait.errors import UserError
from plait.line import make_root
from plait.line.output import is_plain_name
from plait.store.sdk import SOON, SessionStore, name_of, stream_at, stream_of, text_of
from plait.store.sources import find_sources
from plait.store.store import Store

T = TypeVar("T")
Entry = dict[str, Any]
MAIN = {"project_key": "-srv-app", "session_id": "3f2a91c0-0000-4000-8000-000000000001"}
AGENT = {**MAIN, "subpath": "subagents/agent-a1"}
META = {"type": "agent_metadata", "agentType": "Explore", "toolUseId": "toolu_1"}


def done(task: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(task)


def entry(name: str, **fields: Any) -> Entry:
    return {"type": "user", "uuid": name, **fields}


def loaded(store: SessionStore, key: Entry) -> list[Entry]:
    found: list[Entry] | None = done(store.load(key))
    return found or []


def live_files(folder: Path) -> list[str]:
    below = (folder / "sdk").rglob("*.jsonl")
    return sorted(path.relative_to(folder / "sdk").as_posix() for path in below)


def kept_paths(folder: Path) -> list[str]:
    return [file.path for one in Store.open(folder).sessions() for file in one.files]


def test_sdk_suite_passes() -> None:
    testing = pytest.importorskip("claude_agent_sdk.testing")
    done(testing.run_session_store_conformance(lambda: SessionStore(tempfile.mkdtemp())))


def test_the_store_is_exported_by_the_package() -> None:
    assert plait.SessionStore is SessionStore


def test_entries_are_in_a_plain_file_until_they_are_packed(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    done(store.append(MAIN, [entry("a", n=1.5), entry("b", text="ü\u2028")]))
    (name,) = live_files(tmp_path)
    assert name == "projects/-srv-app/3f2a91c0-0000-4000-8000-000000000001.jsonl"
    assert (tmp_path / "sdk" / name).read_bytes() == (
        b'{"type":"user","uuid":"a","n":1.5}\n'
        b'{"type":"user","uuid":"b","text":"\xc3\xbc\xe2\x80\xa8"}\n'
    )
    assert kept_paths(tmp_path) == []
    store.close()
    assert live_files(tmp_path) == []
    assert kept_paths(tmp_path) == [name]
    assert done(store.load(MAIN)) == [entry("a", n=1.5), entry("b", text="ü\u2028")]


def test_a_repeated_batch_is_stored_once(tmp_path: Path) -> None:
    batch = [entry("a"), entry("b"), {"type": "tag", "tag": "x"}]
    done(SessionStore(tmp_path).append(MAIN, batch))
    store = SessionStore(tmp_path)
    done(store.append(MAIN, [entry("b"), entry("b", is_other=True), {"type": "tag", "tag": "x"}]))
    store.close()
    done(store.append(MAIN, [entry("a")]))
    other = [entry("b", is_other=True), {"type": "tag", "tag": "x"}]
    assert done(store.load(MAIN)) == [*batch, *other]


def test_a_packed_session_can_be_continued(tmp_path: Path) -> None:
    with SessionStore(tmp_path) as store:
        done(store.append(MAIN, [entry("a")]))
    with SessionStore(tmp_path) as store:
        done(store.append(MAIN, [entry("b")]))
    assert done(SessionStore(tmp_path).load(MAIN)) == [entry("a"), entry("b")]
    (kept,) = Store.open(tmp_path).sessions()
    assert kept.earlier == ()


def test_agent_metadata_is_stored_in_the_form_of_the_client(tmp_path: Path) -> None:
    with SessionStore(tmp_path) as store:
        done(store.append(MAIN, [entry("a")]))
        done(store.append(AGENT, [entry("b"), META]))
    (kept,) = Store.open(tmp_path).sessions()
    assert sorted((Path(file.path).name[-18:], file.kind) for file in kept.files) == [
        ("000000000001.jsonl", "session"),
        ("agent-a1.jsonl", "agent"),
        ("agent-a1.meta.json", "beside"),
    ]
    meta = next(file for file in kept.files if file.path.endswith(".meta.json"))
    assert json.loads(Store.open(tmp_path).read(meta)) == {
        "agentType": "Explore",
        "toolUseId": "toolu_1",
    }
    assert done(store.load(AGENT)) == [entry("b"), META]
    assert done(store.list_subkeys(MAIN)) == ["subagents/agent-a1"]


def client_session(config: Path) -> Path:
    """Write a session with agents, new and old, as the client does."""
    project = config / "projects" / MAIN["project_key"]
    log = project / f"{MAIN['session_id']}.jsonl"
    agents = project / MAIN["session_id"] / "subagents"
    agents.mkdir(parents=True)
    line = json.dumps({**entry("a"), "sessionId": MAIN["session_id"]}) + "\n"
    log.write_text(line)
    (project / "agent-1234567.jsonl").write_text(line)
    (agents / "agent-a1.jsonl").write_text(line)
    (agents / "agent-a1.meta.json").write_text('{"agentType":"Explore","toolUseId":"toolu_1"}')
    (agents.parent / "tool-results").mkdir()
    (agents.parent / "tool-results" / "x.jsonl").write_text("{}\n")
    return log


def test_sessions_backed_up_by_plait_can_be_loaded_and_continued(tmp_path: Path) -> None:
    log = client_session(tmp_path / "config")
    store = Store.open(tmp_path / "keep")
    store.keep(find_sources([make_root(tmp_path / "config")]))
    face = SessionStore(tmp_path / "keep")
    had = done(face.load(MAIN))
    assert had == [json.loads(log.read_text())]
    assert [one["session_id"] for one in done(face.list_sessions("-srv-app"))] == [
        MAIN["session_id"]
    ]
    assert done(face.list_subkeys(MAIN)) == ["subagents/agent-a1"]
    assert (done(face.load(AGENT)) or [])[-1] == META
    done(face.append(MAIN, [entry("b")]))
    face.close()
    assert done(face.load(MAIN)) == [*had, entry("b")]
    assert len(store.sessions()) == 2
    done(face.delete(MAIN))
    assert [file.path for one in store.sessions() for file in one.files] == []


def test_deleting_a_session_leaves_the_others(tmp_path: Path) -> None:
    other = {**MAIN, "session_id": "other"}
    store = SessionStore(tmp_path)
    for key in (MAIN, AGENT, other):
        done(store.append(key, [entry("a"), META]))
    store.pack()
    done(store.append(other, [entry("b")]))
    done(store.delete(AGENT))
    assert done(store.load(AGENT)) is None
    assert done(store.load(MAIN)) == [entry("a"), META]
    assert not any("agent-a1" in path for path in kept_paths(tmp_path))
    done(store.delete(MAIN))
    store.close()
    assert done(store.load(MAIN)) is None
    assert done(store.load(other)) == [entry("a"), META, entry("b")]
    assert len(kept_paths(tmp_path)) == 1


def test_a_read_only_sdk_store_can_be_read(tmp_path: Path) -> None:
    with SessionStore(tmp_path) as store:
        done(store.append(MAIN, [entry("a")]))
    before = sorted(tmp_path.rglob("*"))
    assert done(SessionStore(tmp_path).load(MAIN)) == [entry("a")]
    assert done(SessionStore(tmp_path / "none").load(MAIN)) is None
    assert sorted(tmp_path.rglob("*")) == before


def test_entries_are_packed_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SessionStore(tmp_path)
    start = store._packed
    monkeypatch.setattr("time.monotonic", lambda: start + SOON)
    done(store.append(MAIN, [entry("a")]))
    assert kept_paths(tmp_path) == []
    monkeypatch.setattr("time.monotonic", lambda: start + SOON + 1)
    done(store.append(MAIN, [entry("b")]))
    assert len(kept_paths(tmp_path)) == 1


PROGRAM = """
import asyncio, os, sys, plait
store = plait.SessionStore(sys.argv[1])
key = {"project_key": "p", "session_id": sys.argv[2]}
asyncio.run(store.append(key, [{"type": "user", "uuid": "a"}]))
del store
if sys.argv[2] == "killed":
    os._exit(9)
"""


@pytest.mark.parametrize("name", ["ended", "killed"])
def test_entries_are_packed_when_the_program_ends(tmp_path: Path, name: str) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path), name])
    left = [f"projects/p/{name}.jsonl"]
    is_killed = name == "killed"
    assert live_files(tmp_path) == (left if is_killed else [])
    assert kept_paths(tmp_path) == ([] if is_killed else left)
    SessionStore(tmp_path).pack()
    assert kept_paths(tmp_path) == left


def test_simultaneous_writers_lose_nothing(tmp_path: Path) -> None:
    def write(writer: int) -> None:
        store = SessionStore(tmp_path)
        for number in range(12):
            done(store.append(MAIN, [entry(f"{writer}-{number}")]))
            if number % 5 == writer:
                store.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    loaded = done(SessionStore(tmp_path).load(MAIN)) or []
    assert sorted(one["uuid"] for one in loaded) == sorted(
        f"{writer}-{number}" for writer in range(4) for number in range(12)
    )


@pytest.mark.parametrize(
    "key",
    [{}, {"project_key": "p"}, {"project_key": "", "session_id": "s"}, {**MAIN, "subpath": ""}],
)
def test_an_empty_key_is_refused(tmp_path: Path, key: Entry) -> None:
    with pytest.raises(UserError, match="a key needs"):
        done(SessionStore(tmp_path).load(key))


def test_too_long_key_is_refused(tmp_path: Path) -> None:
    done(SessionStore(tmp_path).append({**MAIN, "session_id": "x" * 240}, [entry("a")]))
    with pytest.raises(UserError, match="too long"):
        done(SessionStore(tmp_path).append({**MAIN, "session_id": "x" * 241}, [entry("a")]))


PARTS = st.text(min_size=1, max_size=30)


@given(st.text(max_size=30))
def test_every_text_can_be_a_file_name_and_is_decoded(text: str) -> None:
    name = name_of(text)
    assert "/" not in name
    assert is_plain_name(name) or name.startswith("-")
    assert text_of(name) == text


@given(PARTS, PARTS, st.none() | PARTS)
def test_a_path_gives_its_key(project: str, session: str, sub: str | None) -> None:
    key = {"project_key": project, "session_id": session}
    stream = stream_of(key if sub is None else {**key, "subpath": sub})
    assert stream_at(stream.path) == stream
    assert ".." not in stream.path.split("/")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.lists(st.fixed_dictionaries({"type": st.text(), "value": JSON}), max_size=4)
STEPS = st.lists(
    st.tuples(st.sampled_from((0, 1)), ENTRIES)
    | st.sampled_from(("pack", "close", "another", "delete")),
    max_size=10,
)


@settings(max_examples=40)
@given(STEPS)
def test_appended_entries_survive_any_steps(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        keys, store = (MAIN, AGENT), SessionStore(folder)
        said: list[list[Entry]] = [[], []]
        for step in steps:
            match step:
                case "pack":
                    store.pack()
                case "close":
                    store.close()
                case "another":
                    store = SessionStore(folder)
                case "delete":
                    done(store.delete(AGENT))
                    said[1] = []
                case (which, entries):
                    done(store.append(keys[which], entries))
                    said[which] += entries
            assert [loaded(store, key) for key in keys] == said
        store.close()
        assert [loaded(store, key) for key in keys] == said
