"""Installing hooks in Claude Code's settings, and uninstalling."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.errors import SourceError, UserError
from plait.trace.hook_event import EVENTS
from plait.trace.hook_settings import (
    list_installed_hooks,
    list_other_tracing_hooks,
    plan_install,
    plan_uninstall,
    write_settings,
)

THEIRS: dict[str, Any] = {
    "model": "opus",
    "permissions": {"allow": ["Bash(ls)"], "deny": []},
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]},
            {"matcher": "x", "hooks": [{"type": "command", "command": "node cc-langfuse.js"}]},
        ],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}],
    },
    "é": "ü",
}


def settings(tmp_path: Path, value: Any = None, indent: int | str = 2) -> Path:
    path = tmp_path / "settings.json"
    if value is not None:
        text = json.dumps(value, indent=indent, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    return path


def carry_out(path: Path, command: str = "plait") -> None:
    write_settings(
        plan_install(path, command, with_shown_event=True), path.with_name("backup.json")
    )


def test_hooks_are_added_without_settings(tmp_path: Path) -> None:
    path = settings(tmp_path / "new" / ".claude")
    carry_out(path)
    hooks = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    assert list(hooks) == list(EVENTS.values())
    assert hooks["Stop"] == [
        {"hooks": [{"type": "command", "command": "plait hook stop", "timeout": 10}]}
    ]
    assert path.read_text(encoding="utf-8").startswith('{\n  "hooks": {\n    "Stop": [\n')


@pytest.mark.parametrize("indent", [2, 4, "\t"])
def test_other_settings_stay(tmp_path: Path, indent: int | str) -> None:
    path = settings(tmp_path, THEIRS, indent)
    before = path.read_text(encoding="utf-8")
    carry_out(path)
    after = json.loads(path.read_text(encoding="utf-8"))
    assert list(after) == list(THEIRS)
    assert after["hooks"]["Stop"][:2] == THEIRS["hooks"]["Stop"]
    assert path.with_name("backup.json").read_text(encoding="utf-8") == before
    write_settings(plan_uninstall(path), path.with_name("backup2.json"))
    assert path.read_text(encoding="utf-8") == before


def test_installing_twice_changes_nothing(tmp_path: Path) -> None:
    path = settings(tmp_path, THEIRS)
    carry_out(path)
    assert not plan_install(path, "plait").is_change


def test_the_visible_hook_is_installed_only_on_request(tmp_path: Path) -> None:
    path = settings(tmp_path)
    usual = ["Stop", "SessionEnd", "SubagentStop"]
    for text in (None, "{}\n"):
        if text:
            path.write_text(text, encoding="utf-8")
        write_settings(plan_install(path, "plait"), path.with_name("backup.json"))
        assert list(list_installed_hooks(path)) == usual
    carry_out(path)
    assert list(list_installed_hooks(path)) == [*usual, "PreCompact"]
    write_settings(plan_install(path, "/new/plait"), path.with_name("backup.json"))
    assert list_installed_hooks(path)["PreCompact"] == "/new/plait hook pre-compact"


def test_hooks_of_another_installation_are_updated(tmp_path: Path) -> None:
    path = settings(tmp_path, THEIRS)
    carry_out(path, "'/old place/bin/plait'")
    carry_out(path, "/new/bin/plait")
    assert set(list_installed_hooks(path).values()) == {
        f"/new/bin/plait hook {name}" for name in EVENTS
    }
    stops = json.loads(path.read_text(encoding="utf-8"))["hooks"]["Stop"]
    assert len(stops) == 3


def test_duplicate_hooks_are_merged(tmp_path: Path) -> None:
    ours = {"type": "command", "command": "plait hook stop"}
    theirs = {"type": "command", "command": "say done"}
    path = settings(tmp_path, {"hooks": {"Stop": [{"hooks": [ours, theirs]}, {"hooks": [ours]}]}})
    carry_out(path)
    stops = json.loads(path.read_text(encoding="utf-8"))["hooks"]["Stop"]
    assert stops == [{"hooks": [theirs]}, {"hooks": [{**ours, "timeout": 10}]}]


@pytest.mark.parametrize(
    ("command", "is_ours"),
    [
        ("plait hook stop", True),
        ("/home/me/.local/bin/plait hook stop --verbose", True),
        ("'/a b/plait' hook stop", True),
        ("/usr/bin/python3 -m plait hook stop", True),
        (r"C:\tools\plait.exe hook stop", True),
        ("plait hook status", False),
        ("explait hook stop", False),
        ("my-plait-hook stop", False),
        ("plait hook stopped", False),
        ("echo plait", False),
    ],
)
def test_our_hooks_are_recognised_at_any_path(tmp_path: Path, command: str, is_ours: bool) -> None:
    entry = {"hooks": [{"type": "command", "command": command}]}
    path = settings(tmp_path, {"hooks": {"Stop": [entry]}})
    assert bool(list_installed_hooks(path)) is is_ours
    assert plan_uninstall(path).is_change is is_ours


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"hooks": {', "is not JSON"),
        ('{"a": 1} // why', "is not JSON"),
        ("[]", "contains no settings"),
        ('{"hooks": []}', "is not an object"),
        ('{"hooks": {"Stop": {}}}', "is not a list"),
    ],
)
def test_broken_settings_are_not_changed(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=says):
        plan_install(path, "plait")
    assert path.read_text(encoding="utf-8") == text


def test_odd_entries_among_hooks_are_ignored(tmp_path: Path) -> None:
    odd: dict[str, Any] = {"Stop": ["?", {"hooks": "?"}, {"hooks": ["?", {"command": 3}]}]}
    path = settings(tmp_path, {"hooks": odd})
    carry_out(path)
    write_settings(plan_uninstall(path), path.with_name("backup.json"))
    assert json.loads(path.read_text(encoding="utf-8")) == {"hooks": odd}


def test_an_empty_settings_file_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("", encoding="utf-8")
    carry_out(path)
    assert len(list_installed_hooks(path)) == len(EVENTS)


def test_settings_changed_meanwhile_are_not_overwritten(tmp_path: Path) -> None:
    path = settings(tmp_path, THEIRS)
    plan = plan_install(path, "plait")
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="changed in the meantime"):
        write_settings(plan, path.with_name("backup.json"))
    assert path.read_text(encoding="utf-8") == "{}"


def test_symlinks_and_permissions_are_kept(tmp_path: Path) -> None:
    real = settings(tmp_path, THEIRS)
    real.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    carry_out(link)
    assert link.is_symlink()
    assert len(list_installed_hooks(real)) == len(EVENTS)
    assert real.stat().st_mode & 0o777 == 0o640


def test_other_tracing_hooks_are_reported(tmp_path: Path) -> None:
    path = settings(tmp_path, THEIRS)
    carry_out(path)
    assert list_other_tracing_hooks(path) == ["node cc-langfuse.js"]


FILES = [
    None,
    "",
    "{}",
    "{}\n",
    '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say"}]}]}}',
    '{\r\n  "model": "opus"\r\n}\r\n',
    '\ufeff{\n  "model": "opus"\n}\n',
    '{"twice": 1, "twice": 2, "long": 12345678901234567890123, "exact": 1.10}\n',
    '{\n    "model": "opus",\n    "a": {"allow": ["Bash(ls)", "x"]},\n    "hooks": {\n'
    '        "Stop": [ { "hooks": [ {"type":"command","command":"say \\u00e9"} ] } ],\n'
    '        "SessionEnd": []\n    }\n}\n',
    '{\n  "hooks": {}\n}',
    '{"hooks":{"SessionEnd":[]}}',
    '{\n  "hooks": {"Stop": [{"matcher": "x", "hooks": []}]},\n  "z": [1, 2]}\n',
]


@pytest.mark.parametrize("text", FILES)
def test_uninstalling_restores_the_bytes(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "settings.json"
    if text is not None:
        path.write_bytes(text.encode())
    carry_out(path)
    carry_out(path, "/elsewhere/plait")
    now = path.read_bytes().decode().removeprefix("\ufeff")
    assert len(list_installed_hooks(path)) == len(EVENTS)
    kept = (line.rstrip(", \r") for line in (text or "").removeprefix("\ufeff").split("\n"))
    assert all(line.rstrip("]} ") in now for line in kept), "a line was written anew"
    write_settings(plan_uninstall(path), path.with_name("backup.json"))
    assert (path.read_bytes().decode() if path.exists() else None) == text


def test_entries_others_added_are_kept(tmp_path: Path) -> None:
    path = settings(tmp_path, {"model": "opus"})
    carry_out(path)
    value = json.loads(path.read_text(encoding="utf-8"))
    theirs = {"type": "command", "command": "say done"}
    value["hooks"]["Stop"][0]["hooks"].insert(0, theirs)
    value["hooks"]["Stop"].insert(0, {"hooks": [theirs]})
    settings(tmp_path, value)
    write_settings(plan_uninstall(path), path.with_name("backup.json"))
    left = json.loads(path.read_text(encoding="utf-8"))
    assert left == {"model": "opus", "hooks": {"Stop": [{"hooks": [theirs]}] * 2}}


def test_our_hooks_are_removed_wherever_they_are(tmp_path: Path) -> None:
    ours = {"hooks": [{"type": "command", "command": "plait hook stop"}]}
    path = settings(tmp_path, {"model": "opus", "hooks": {"Notification": [ours]}})
    write_settings(plan_uninstall(path), path.with_name("backup.json"))
    assert json.loads(path.read_text(encoding="utf-8")) == {"model": "opus"}


def test_a_read_only_settings_file_is_left_alone(tmp_path: Path) -> None:
    path = settings(tmp_path, THEIRS)
    path.chmod(0o444)
    with pytest.raises(UserError, match="read-only"):
        carry_out(path)
    assert json.loads(path.read_text(encoding="utf-8")) == THEIRS


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
entries = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=4)})
groups = st.fixed_dictionaries({"hooks": st.lists(entries, max_size=2)}) | values
events = st.sampled_from([*EVENTS.values(), "PreToolUse"])
any_settings = st.dictionaries(st.text(max_size=3), values, max_size=3).flatmap(
    lambda rest: (
        st.just(rest)
        | st.dictionaries(events, st.lists(groups, max_size=2), max_size=3).map(
            lambda hooks: {**rest, "hooks": hooks, "last": 1}
        )
    )
)


@given(
    any_settings, st.sampled_from([None, 0, 1, 2, "\t"]), st.booleans(), st.sampled_from(["", "\n"])
)
def test_uninstalling_restores_any_settings(
    value: dict[str, Any], indent: int | str | None, is_windows: bool, end: str
) -> None:
    text = json.dumps(value, indent=indent) + end
    text = text.replace("\n", "\r\n") if is_windows else text
    with TemporaryDirectory() as folder:
        path = Path(folder) / "settings.json"
        path.write_bytes(text.encode())
        carry_out(path)
        with_ours = json.loads(path.read_bytes())
        assert {**with_ours, "hooks": 0} == {**value, "hooks": 0}
        assert len(list_installed_hooks(path)) == len(EVENTS)
        write_settings(plan_uninstall(path), path.with_name("backup.json"))
        assert path.read_bytes().decode() == text


@pytest.mark.parametrize("depth", [200, 900, 3000, 200_000])
def test_deeply_nested_settings_are_refused_or_kept(tmp_path: Path, depth: int) -> None:
    path = settings(tmp_path)
    text = '{"odd": ' + "[" * depth + "]" * depth + "}"
    path.write_text(text)
    try:
        plan = plan_install(path, "plait")
    except UserError as error:
        assert "nested too deeply" in error.message
    else:
        assert plan.after is not None and "[" * depth + "]" * depth in plan.after
    assert path.read_text() == text


def test_a_pipe_instead_of_settings_does_not_block(tmp_path: Path) -> None:
    path = settings(tmp_path)
    os.mkfifo(path)
    with pytest.raises(SourceError, match="not a regular file"):
        plan_install(path, "plait")
    with pytest.raises(SourceError, match="not a regular file"):
        plan_uninstall(path)
