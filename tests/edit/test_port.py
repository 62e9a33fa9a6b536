"""Packing sessions into a file and unpacking them on another machine, with its paths."""

import io
import json
import os
import shutil
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait import Archive
from plait.edit.plan import Plan
from plait.edit.transfer import find_user_home
from plait.errors import Refused, SourceError, UserError
from plait.line import make_project_slug
from plait.line.pack import MANIFEST, Member, Pack, write_pack
from plait.redact import Redactor
from tests.edit.copies import SESSION, answer, context_of, copied, gallery, named, user, write
from tests.edit.plans import LONG_AGO, MEMORY, put, tree

A, B, C = (f"{number:08x}-1111-4222-8333-444444444444" for number in (10, 11, 12))
OTHER = "77777777-2222-4222-8333-444444444444"
OLD, NEW = "/home/alicia/shop", "/Users/bo/code/shop"
KEY = "ghp_" + "Zk4QwErTyUiOpAsDfGhJkLzXcVbNm1234567"[:36]


def age_files(config: Path) -> Path:
    for path in config.rglob("*"):
        os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return config


def log_of(config: Path, directory: str, session: str = SESSION) -> Path:
    return config / "projects" / make_project_slug(directory) / f"{session}.jsonl"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Make the configuration folder of one machine, with two sessions of one directory."""
    config = tmp_path / "one" / ".claude"
    log = log_of(config, OLD)
    stored = f"{config}/projects/{make_project_slug(OLD)}/{SESSION}/tool-results/t.txt"
    block = {"type": "tool_result", "tool_use_id": "t", "content": f"saved to: {stored}"}
    write(
        log,
        user(A, cwd=OLD, version="2.1.325"),
        answer(B, A, {"type": "tool_use", "id": "t", "name": "Read", "input": {}}, cwd=OLD),
        user(C, B, cwd=f"{OLD}/src", message={"role": "user", "content": [block]}),
        {"type": "worktree-state", "worktreeSession": {"originalCwd": "/home/alicia/other"}},
    )
    write(log_of(config, OLD, OTHER), user(A, cwd=OLD, sessionId=OTHER))
    folder = log.with_suffix("")
    write(folder / "subagents" / "agent-a1.jsonl", user("a1", cwd=OLD, agentId="a1"))
    for name, data in {
        folder / "subagents" / "agent-a1.meta.json": b'{"agentType":"x","worktreePath":"%b/w"}'
        % OLD.encode(),
        folder / "tool-results" / "t.txt": f"{OLD}: \0 as printed".encode(),
        config / "file-history" / SESSION / "0123456789abcdef@v1": b"backup",
        config / "tasks" / SESSION / "1.json": b'{"subject":"s"}',
        config / "todos" / f"{SESSION}-agent-{SESSION}.json": b"[]",
        log.parent / "memory" / "MEMORY.md": b"remember",
        log.parent / "sessions-index.json": b"{}",
        config / "history.jsonl": b"".join(
            json.dumps({"display": name, "project": OLD, "sessionId": name}).encode() + b"\n"
            for name in (SESSION, "unrelated", OTHER)
        ),
    }.items():
        put(name, data)
    return age_files(config)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Make the configuration folder of another machine."""
    config = tmp_path / "two" / ".claude"
    (config / "projects").mkdir(parents=True)
    return config


def packed(config: Path, what: str, file: Path, **options: Any) -> Path:
    Archive([config]).plan.pack(what, file, **options).write()
    return file


def brought(config: Path, file: Path, into: str = NEW) -> Plan:
    plan = Archive([config]).plan.port(file, into)
    assert plan.check() == ()
    if plan.steps:
        plan.apply()
    return plan


def fields(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def names(config: Path) -> set[str]:
    return {name for name, (_, _, data) in tree(config).items() if data is not None}


def test_archive_is_a_plain_zip(source: Path, tmp_path: Path) -> None:
    file = packed(source, SESSION, tmp_path / "s.zip")
    with zipfile.ZipFile(file) as pack:
        assert pack.testzip() is None
        manifest = json.loads(pack.read(MANIFEST))
        assert sorted(pack.namelist()) == [
            f"file-history/{SESSION}/0123456789abcdef@v1",
            "history.jsonl",
            MANIFEST,
            f"project/{SESSION}.jsonl",
            f"project/{SESSION}/subagents/agent-a1.jsonl",
            f"project/{SESSION}/subagents/agent-a1.meta.json",
            f"project/{SESSION}/tool-results/t.txt",
            f"tasks/{SESSION}/1.json",
            f"todos/{SESSION}-agent-{SESSION}.json",
        ]
        assert pack.read(f"project/{SESSION}.jsonl") == log_of(source, OLD).read_bytes()
    assert manifest["about"] == {
        "kind": "session",
        "sessions": [SESSION],
        "directory": OLD,
        "slug": make_project_slug(OLD),
        "home": "/home/alicia",
        "config": str(source),
        "clients": ["2.1.325"],
        "redacted": False,
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_session_on_another_machine(source: Path, target: Path, tmp_path: Path) -> None:
    plan = brought(target, packed(source, SESSION, tmp_path / "s.zip"))
    log = log_of(target, NEW)
    assert (plan.session, plan.path) == (SESSION, log)
    lines = fields(log)
    assert [field.get("cwd") for field in lines] == [NEW, NEW, f"{NEW}/src", None]
    assert lines[3]["worktreeSession"]["originalCwd"] == "/Users/bo/other"
    stored = f"{target}/projects/{make_project_slug(NEW)}/{SESSION}/tool-results/t.txt"
    assert lines[2]["message"]["content"][0]["content"] == f"saved to: {stored}"
    assert Path(stored).read_bytes() == f"{OLD}: \0 as printed".encode()
    folder = log.with_suffix("")
    assert fields(folder / "subagents" / "agent-a1.jsonl")[0]["cwd"] == NEW
    meta = json.loads((folder / "subagents" / "agent-a1.meta.json").read_bytes())
    assert meta["worktreePath"] == f"{NEW}/w"
    assert (target / "file-history" / SESSION / "0123456789abcdef@v1").read_bytes() == b"backup"
    assert (target / "tasks" / SESSION / "1.json").exists()
    assert [(field["display"], field["project"]) for field in fields(target / "history.jsonl")] == [
        (SESSION, NEW)
    ]
    assert context_of(log).messages[0] == context_of(log_of(source, OLD)).messages[0]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_project_on_another_machine(source: Path, target: Path, tmp_path: Path) -> None:
    plan = brought(target, packed(source, OLD, tmp_path / "p.zip"))
    assert plan.path == log_of(target, NEW).parent
    assert fields(log_of(target, NEW, OTHER))[0]["cwd"] == NEW
    assert (plan.path / "memory" / "MEMORY.md").read_bytes() == b"remember"
    assert any("memory" in note for note in plan.notes)
    assert not (plan.path / "sessions-index.json").exists()
    assert plan.count_lines("added") == plan.after.lines == 5
    assert len(fields(target / "history.jsonl")) == 2


def test_unpacking_twice_changes_nothing(source: Path, target: Path, tmp_path: Path) -> None:
    file = packed(source, OLD, tmp_path / "p.zip")
    brought(target, file)
    before = tree(target)
    plan = brought(target, file)
    assert (plan.steps, plan.unmended) == ((), ())
    assert tree(target) == before


def test_packing_and_unpacking_restores_the_bytes(
    source: Path, target: Path, tmp_path: Path
) -> None:
    first = packed(source, OLD, tmp_path / "p.zip")
    brought(target, first)
    second = packed(target, NEW, tmp_path / "q.zip")
    third = tmp_path / "three" / ".claude"
    (third / "projects").mkdir(parents=True)
    source.rename(tmp_path / "gone")
    shutil.move(third, source)
    brought(source, second, OLD)
    (source / ".plait").rename(tmp_path / "journal")
    wanted = names(tmp_path / "gone") - {f"projects/{make_project_slug(OLD)}/sessions-index.json"}
    assert names(source) == wanted
    for name in wanted - {"history.jsonl"}:
        assert (source / name).read_bytes() == (tmp_path / "gone" / name).read_bytes(), name


def test_undo_removes_what_was_unpacked(source: Path, target: Path, tmp_path: Path) -> None:
    put(target / "history.jsonl", b'{"display":"mine"}')
    before = tree(target)
    brought(target, packed(source, OLD, tmp_path / "p.zip"))
    assert (target / "history.jsonl").read_bytes().startswith(b'{"display":"mine"}\n{')
    Archive([target]).undo()
    assert tree(target) == before


def test_prompts_typed_since_are_kept(source: Path, target: Path, tmp_path: Path) -> None:
    put(target / "history.jsonl", b'{"display":"mine"}\n')
    brought(target, packed(source, SESSION, tmp_path / "p.zip"))
    with (target / "history.jsonl").open("ab") as file:
        file.write(b'{"display":"later"}\n')
    Archive([target]).undo()
    assert (target / "history.jsonl").read_bytes() == b'{"display":"mine"}\n{"display":"later"}\n'


def grown(log: Path) -> None:
    with log.open("ab") as file:
        file.write(b'{"type":"user","uuid":"later"}\n')


def shortened(log: Path) -> None:
    os.truncate(log, log.stat().st_size // 2)


def other(log: Path) -> None:
    data = log.read_bytes()
    log.write_bytes(data.replace(b"prompt", b"PROMPT"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (grown, "already exists here, with newer messages"),
        (shortened, "already exists here, but the package has newer messages"),
        (other, "already exists here and differs"),
    ],
)
def test_an_existing_session_is_kept(
    source: Path, target: Path, tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    file = packed(source, SESSION, tmp_path / "s.zip")
    brought(target, file)
    change(log_of(target, NEW))
    before = tree(target)
    plan = brought(target, file)
    assert [item.sentence for item in plan.unmended if said in item.sentence]
    assert plan.steps == ()
    assert tree(target) == before


def test_a_session_of_another_directory_is_kept(source: Path, target: Path, tmp_path: Path) -> None:
    file = packed(source, SESSION, tmp_path / "s.zip")
    brought(target, file)
    before = tree(target)
    plan = brought(target, file, "/somewhere/else")
    assert [item.sentence for item in plan.unmended] == [
        f"session '{SESSION}' already exists here, in '{make_project_slug(NEW)}'"
    ]
    assert tree(target) == before


def test_an_existing_different_file_is_kept(source: Path, target: Path, tmp_path: Path) -> None:
    memory = put(log_of(target, NEW).parent / "memory" / "MEMORY.md", b"mine")
    plan = brought(target, packed(source, OLD, tmp_path / "p.zip"))
    assert memory.read_bytes() == b"mine"
    assert [item.sentence for item in plan.unmended] == [
        "'MEMORY.md' already exists here and differs"
    ]
    assert log_of(target, NEW).exists()


def test_only_missing_files_are_unpacked(source: Path, target: Path, tmp_path: Path) -> None:
    file = packed(source, OLD, tmp_path / "p.zip")
    brought(target, file)
    (log_of(target, NEW).with_suffix("") / "tool-results" / "t.txt").unlink()
    assert [step.path.name for step in brought(target, file).steps] == ["t.txt"]


def test_a_machine_without_sessions_can_unpack(source: Path, tmp_path: Path) -> None:
    empty = tmp_path / "new"
    empty.mkdir()
    brought(empty, packed(source, SESSION, tmp_path / "s.zip"))
    assert log_of(empty, NEW).exists()


def test_a_folder_of_logs_is_not_a_configuration_folder(source: Path, tmp_path: Path) -> None:
    file = packed(source, SESSION, tmp_path / "s.zip")
    with pytest.raises(UserError, match="is not a configuration folder"):
        Archive([log_of(source, OLD).parent]).plan.port(file, NEW)
    with pytest.raises(UserError, match="no configuration folder to unpack into"):
        Archive([]).plan.port(file, NEW)


def test_an_existing_file_is_not_overwritten(source: Path, tmp_path: Path) -> None:
    file = put(tmp_path / "s.zip", b"mine")
    with pytest.raises(UserError, match="already exists"):
        packed(source, SESSION, file)
    assert file.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["one", "s.zip"]


def test_a_redacted_package_contains_no_secret(source: Path, target: Path, tmp_path: Path) -> None:
    log = log_of(source, OLD)
    result = {"role": "user", "content": f"GITHUB_TOKEN={KEY} in {OLD}"}
    write(log, user(A, cwd=OLD, message=result), answer(B, A, cwd=OLD))
    put(log.with_suffix("") / "tool-results" / f"{KEY}.txt", f"key {KEY}\n".encode())
    age_files(source)
    packing = Archive([source]).plan.pack(SESSION, tmp_path / "s.zip", redactor=Redactor())
    assert packing.redacted == 2
    packing.write()
    with zipfile.ZipFile(tmp_path / "s.zip") as pack:
        held = b"\n".join(name.encode() + b"\n" + pack.read(name) for name in pack.namelist())
    assert KEY.encode() not in held
    printed = f"{OLD}: \0".encode()  # it is no text, and stays
    assert b"alicia" not in held.replace(printed, b"")
    assert any("not checked: 1 binary file" in note for note in packing.notes)
    brought(target, tmp_path / "s.zip")
    assert [field["cwd"] for field in fields(log_of(target, NEW))] == [NEW, NEW]
    assert context_of(log_of(target, NEW)).resumes


def test_a_windows_directory_is_mapped_to_another_system(tmp_path: Path, target: Path) -> None:
    old = "C:\\Users\\al\\shop"
    config = tmp_path / "win"
    write(log_of(config, old), user(A, cwd=f"{old}\\src"), user(B, A, cwd=old))
    age_files(config)
    brought(target, packed(config, SESSION, tmp_path / "s.zip"))
    assert [field["cwd"] for field in fields(log_of(target, NEW))] == [f"{NEW}/src", NEW]


def test_the_home_folder_is_found_by_its_name() -> None:
    for directory, wanted in [
        ("/home/a/b/c", "/home/a"),
        ("/home/a", "/home/a"),
        ("/Users/a/b", "/Users/a"),
        ("C:\\Users\\a\\b", "C:\\Users\\a"),
        ("/roots/a", None),
        ("/srv/a", None),
    ]:
        assert find_user_home(directory, None) == wanted


def test_the_home_is_otherwise_the_parent_of_the_usual_folder() -> None:
    assert find_user_home("/srv/a", Path("/opt/me/.claude")) == "/opt/me"
    assert find_user_home("/srv/a", Path("/opt/me/config")) is None


ABOUT = {"kind": "session", "directory": OLD, "slug": make_project_slug(OLD)}
LINE = json.dumps(user(A, cwd=OLD)).encode() + b"\n"
OWN = f"project/{SESSION}.jsonl"


def make_pack(file: Path, *members: tuple[str, bytes]) -> Path:
    """Make an archive as Plait makes them, with any names."""
    found = [Member(name, lambda data=data: [data]) for name, data in members]  # type: ignore[misc]
    write_pack(file, found, ABOUT)
    return file


def rewritten(file: Path, change: Callable[[zipfile.ZipInfo, bytes], Any]) -> Path:
    """Write an archive anew, each entry as a function gives it back."""
    with zipfile.ZipFile(file) as pack:
        entries = [(entry, pack.read(entry)) for entry in pack.infolist()]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as pack:
        for entry, data in entries:
            for new, content in change(entry, data):
                pack.writestr(new, content)
    return file


def other_bytes(entry: zipfile.ZipInfo, data: bytes) -> Any:
    yield entry, data.replace(b"prompt", b"PROMPT")


def more_bytes(entry: zipfile.ZipInfo, data: bytes) -> Any:
    yield entry, data if entry.filename == MANIFEST else data + b"\n"


def a_link(entry: zipfile.ZipInfo, data: bytes) -> Any:
    if entry.filename == OWN:
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    yield entry, data


def a_device(entry: zipfile.ZipInfo, data: bytes) -> Any:
    if entry.filename == OWN:
        entry.external_attr = (stat.S_IFCHR | 0o666) << 16
    yield entry, data


def no_manifest(entry: zipfile.ZipInfo, data: bytes) -> Any:
    if entry.filename != MANIFEST:
        yield entry, data


def more_than_said(entry: zipfile.ZipInfo, data: bytes) -> Any:
    yield entry, data
    if entry.filename == OWN:
        yield "project/extra.txt", b"unnamed"


def less_than_said(entry: zipfile.ZipInfo, data: bytes) -> Any:
    if entry.filename == MANIFEST:
        yield entry, data


def twice(entry: zipfile.ZipInfo, data: bytes) -> Any:
    yield entry, data
    if entry.filename == OWN:
        yield entry.filename, data


def a_folder(entry: zipfile.ZipInfo, data: bytes) -> Any:
    yield entry, data
    if entry.filename == OWN:
        yield "project/folder/", b""


def odd_manifest(entry: zipfile.ZipInfo, data: bytes) -> Any:
    yield entry, b'{"plait":"x"}' if entry.filename == MANIFEST else data


def newer(entry: zipfile.ZipInfo, data: bytes) -> Any:
    yield entry, data.replace(b'"plait": 1', b'"plait": 2')


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_bytes, "differs from its checksum in the manifest"),
        (more_bytes, "does not have the size that the manifest gives"),
        (a_link, "is not a regular file"),
        (a_device, "is not a regular file"),
        (no_manifest, "it has no manifest"),
        (more_than_said, "its files are not the ones that its manifest lists"),
        (less_than_said, "its files are not the ones that its manifest lists"),
        (twice, "occurs twice"),
        (a_folder, "is not a regular file"),
        (odd_manifest, "its manifest cannot be read"),
        (newer, "it was made by a newer version of Plait"),
    ],
)
def test_a_manipulated_archive_is_refused(
    target: Path, tmp_path: Path, change: Callable[[zipfile.ZipInfo, bytes], Any], said: str
) -> None:
    file = rewritten(make_pack(tmp_path / "s.zip", (OWN, LINE)), change)
    before = tree(target.parent)
    with pytest.raises(Refused, match=f"refusing to open .*{said}"):
        Archive([target]).plan.port(file, NEW)
    assert tree(target.parent) == before


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../outside.jsonl",
        "project/../../outside.jsonl",
        "project/./x",
        "project//x",
        "project/.plait/lock",
        "project/C:\\x",
        "project/a\\b",
        "project/con",
        "project/x.",
        "project/",
        "project",
        "settings.json",
        "other/x",
        "file-history/x",
        "todos/a/b",
        "project/" + "x" * 300,
    ],
)
def test_a_name_outside_the_project_is_refused(target: Path, tmp_path: Path, name: str) -> None:
    file = make_pack(tmp_path / "s.zip", (OWN, LINE), (name, b"x"))
    with pytest.raises(Refused, match=r"is not the name of a session file|is not a regular file"):
        Archive([target]).plan.port(file, NEW)


@pytest.mark.parametrize("name", [f"tasks/{OTHER}/1.json", f"todos/{OTHER}-x.json"])
def test_a_file_of_an_unknown_session_is_refused(target: Path, tmp_path: Path, name: str) -> None:
    file = make_pack(tmp_path / "s.zip", (OWN, LINE), (name, b"{}"))
    with pytest.raises(Refused, match="does not belong to any session in it"):
        Archive([target]).plan.port(file, NEW)


def test_names_that_clash_on_other_systems_are_refused(target: Path, tmp_path: Path) -> None:
    file = make_pack(
        tmp_path / "s.zip", (OWN, LINE), ("project/a.txt", b""), ("project/A.txt", b"")
    )
    with pytest.raises(Refused, match="two file names differ only in case"):
        Archive([target]).plan.port(file, NEW)


def test_a_file_larger_than_declared_is_not_read_further(target: Path, tmp_path: Path) -> None:
    file = make_pack(tmp_path / "s.zip", (OWN, LINE), ("project/zeros.txt", b"0" * 5_000_000))
    data = bytearray(file.read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as pack:
        manifest = pack.read(MANIFEST)
    output = manifest.replace(b"5000000", b"1000000")

    def smaller(entry: zipfile.ZipInfo, held: bytes) -> Any:
        yield entry, output if entry.filename == MANIFEST else held

    rewritten(file, smaller)
    data = bytearray(file.read_bytes())
    at = data.rindex(b"project/zeros.txt") - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    data[at + 24 : at + 28] = struct.pack("<I", 1_000_000)  # what the list of files says
    file.write_bytes(data)
    with pytest.raises(Refused, match="refusing to open"):
        Archive([target]).plan.port(file, NEW)


def test_a_zip_bomb_is_refused_before_it_is_read(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.line.pack.LARGE", 1_000_000)
    file = make_pack(tmp_path / "s.zip", (OWN, LINE), ("project/zeros.txt", b"0" * 3_000_000))
    monkeypatch.setattr(Pack, "_iter_pieces", None)
    with pytest.raises(Refused, match="times larger"):
        Archive([target]).plan.port(file, NEW)


@pytest.mark.parametrize(
    ("limit", "said"), [("MOST_FILES", "it has 2 files"), ("MOST_MANIFEST", "too large")]
)
def test_the_number_of_files_and_the_manifest_size_are_limited(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, said: str
) -> None:
    file = make_pack(tmp_path / "s.zip", (OWN, LINE))
    monkeypatch.setattr(f"plait.line.pack.{limit}", 1)
    with pytest.raises(Refused, match=said):
        Archive([target]).plan.port(file, NEW)


def test_an_encrypted_archive_is_refused(target: Path, tmp_path: Path) -> None:
    file = make_pack(tmp_path / "s.zip", (OWN, LINE))
    data = bytearray(file.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1  # as the list of files has it
    file.write_bytes(data)
    with pytest.raises(Refused, match="is encrypted"):
        Archive([target]).plan.port(file, NEW)


def test_only_prompts_of_packed_sessions_are_unpacked(target: Path, tmp_path: Path) -> None:
    typed = [json.dumps({"display": name, "sessionId": name}) for name in (SESSION, OTHER)]
    file = make_pack(tmp_path / "s.zip", (OWN, LINE), ("history.jsonl", "\n".join(typed).encode()))
    brought(target, file)
    assert [field["display"] for field in fields(target / "history.jsonl")] == [SESSION]


@pytest.mark.parametrize(
    "data", [b"", b"no archive", b"PK\x05\x06" + b"\0" * 18, b"PK\x03\x04" * 9]
)
def test_a_file_that_is_not_an_archive_is_reported(
    target: Path, tmp_path: Path, data: bytes
) -> None:
    with pytest.raises(Refused, match="refusing to open"):
        Archive([target]).plan.port(put(tmp_path / "s.zip", data), NEW)


def test_a_missing_archive_is_reported(target: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        Archive([target]).plan.port(tmp_path / "nothing.zip", NEW)


def test_archive_changed_between_plan_and_apply_changes_nothing(
    source: Path, target: Path, tmp_path: Path
) -> None:
    file = packed(source, SESSION, tmp_path / "s.zip")
    plan = Archive([target]).plan.port(file, NEW)
    before = tree(target)
    rewritten(file, other_bytes)
    with pytest.raises(Refused, match="differs from its checksum in the manifest"):
        plan.apply()
    assert tree(target) == before
    assert Archive([target]).edits() == []


def test_names_some_systems_do_not_allow_are_left_out(source: Path, tmp_path: Path) -> None:
    put(log_of(source, OLD).with_suffix("") / "tool-results" / "a:b.txt", b"x")
    packing = Archive([source]).plan.pack(SESSION, tmp_path / "s.zip")
    assert any("left out" in note for note in packing.notes)
    assert all(":" not in member.name for member in packing.members)


@pytest.mark.parametrize("root", gallery(), ids=named)
def test_examples_are_packed_and_unpacked(root: Path, tmp_path: Path) -> None:
    config = age_files(copied(root, tmp_path / "one"))
    other = tmp_path / "two"
    for session in [item for item in Archive([config]).sessions if item.file]:
        other.mkdir(exist_ok=True)
        file = packed(config, session.id, tmp_path / f"{session.id}.zip")
        plan = brought(other, file)
        assert context_of(plan.path).resumes == context_of(session.path).resumes
        assert len(context_of(plan.path).messages) == len(context_of(session.path).messages)
        assert brought(other, file).steps == ()


TEXTS = st.text(max_size=8)
PLACES = st.sampled_from([OLD, f"{OLD}/src", "/home/alicia", "/elsewhere", f"{OLD}er"])


@settings(max_examples=25)
@given(st.lists(st.tuples(PLACES, TEXTS), min_size=1, max_size=5))
def test_a_port_is_idempotent_and_reversible(
    told: list[tuple[str, str]],
) -> None:
    with TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        item, two = folder / "one" / ".claude", folder / "two" / ".claude"
        log = log_of(item, OLD)
        log.parent.mkdir(parents=True)
        lines = [
            {"type": "user", "uuid": f"u{at}", "cwd": cwd, "x": cwd, "content": text}
            for at, (cwd, text) in enumerate([(OLD, ""), *told])
        ]
        texts = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines]
        log.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8", errors="replace")
        age_files(item)
        full = log.read_bytes()
        two.mkdir(parents=True)
        file = packed(item, SESSION, folder / "a.zip")
        brought(two, file)
        assert brought(two, file).steps == ()
        back = packed(two, SESSION, folder / "b.zip")
        log.unlink()
        brought(item, back, OLD)
        assert log.read_bytes() == full
