"""Settings files: precedence, origin, and broken files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plait.chat.settings import ClientSettings, load_settings

WHERE = {
    "userSettings": "home/settings.json",
    "projectSettings": "shop/.claude/settings.json",
    "localSettings": "shop/.claude/settings.local.json",
}


def load_written(root: Path, **files: Any) -> ClientSettings:
    """Return the settings of some files, in a project that is trusted."""
    return read(write_settings(root, **files))


def write_settings(root: Path, **files: Any) -> Path:
    """Write settings files, by their sources."""
    (root / "shop").mkdir(exist_ok=True)
    for source, values in files.items():
        path = root / WHERE[source]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")
    return root


def read(root: Path, **trust: bool) -> ClientSettings:
    """Read the settings of the project."""
    return load_settings(root / "home", root / "shop", **trust)


def test_lists_are_merged_with_their_origin(tmp_path: Path) -> None:
    found = load_written(
        tmp_path,
        userSettings={"permissions": {"allow": ["Read"]}},
        projectSettings={"permissions": {"allow": ["Edit", 3, "  "]}},
        localSettings={"permissions": {"allow": ["Bash(ls)"]}},
    )
    results = [(text, file.source) for text, file in found.list_values("permissions", "allow")]
    assert results == [
        ("Read", "userSettings"),
        ("Edit", "projectSettings"),
        ("Bash(ls)", "localSettings"),
    ]
    assert found.notices == ()


def test_nearest_file_wins_for_other_settings(tmp_path: Path) -> None:
    found = load_written(
        tmp_path,
        userSettings={"model": "far", "env": {"A": "1", "B": "1"}},
        projectSettings={"model": "near", "env": {"B": 2, "C": True, "D": [1]}},
        localSettings={"model": 7},
    )
    assert found.value("model", kind=str) == "near"
    assert found.value("nothing", "here") is None
    assert found.environment == {"A": "1", "B": "2", "C": "true"}


def test_untrusted_project_can_only_deny(tmp_path: Path) -> None:
    lists = {"allow": ["Bash"], "deny": ["WebFetch"], "additionalDirectories": [".."]}
    project = {"permissions": lists, "env": {"LD_PRELOAD": "x"}, "model": "mine"}
    write_settings(tmp_path, userSettings={"env": {"A": "1"}}, projectSettings=project)
    found = read(tmp_path, is_trusted=False, is_active=False)
    assert [*found.list_values("permissions", "allow")] == []
    assert [text for text, _ in found.list_values("permissions", "deny", is_strict=True)] == [
        "WebFetch"
    ]
    assert (found.environment, found.extra_directories, found.value("model")) == (
        {"A": "1"},
        (),
        None,
    )
    trusted = read(tmp_path)
    assert [text for text, _ in trusted.list_values("permissions", "allow")] == ["Bash"]
    assert trusted.extra_directories == (tmp_path / "shop" / "..",)


def test_untrusted_shared_file_allows_nothing(tmp_path: Path) -> None:
    shared = {"permissions": {"allow": ["Edit"], "deny": ["Bash"]}, "env": {"A": "1"}}
    write_settings(
        tmp_path, projectSettings=shared, localSettings={"permissions": {"allow": ["Read"]}}
    )
    found = read(tmp_path, is_trusted=False)
    assert [text for text, _ in found.list_values("permissions", "allow")] == ["Read"]
    assert [text for text, _ in found.list_values("permissions", "deny", is_strict=True)] == [
        "Bash"
    ]
    assert found.environment == {"A": "1"}


def test_directories_are_relative_to_their_file(tmp_path: Path) -> None:
    for name in ("home/far", "shop/near"):
        (tmp_path / name).mkdir(parents=True)
    absolute = str(tmp_path / "home")
    found = load_written(
        tmp_path,
        userSettings={"permissions": {"additionalDirectories": ["far", "nowhere"]}},
        localSettings={"permissions": {"additionalDirectories": ["near", absolute]}},
    )
    assert found.extra_directories == (
        tmp_path / "home/far",
        tmp_path / "shop/near",
        tmp_path / "home",
    )


BROKEN = {
    "no JSON": ('{"model": ', "is not JSON"),
    "no object": ("[1]", "is not JSON: a JSON array"),
    "bytes": ("\x00", "is not JSON"),
    "nested too deeply": ("[" * 100_000, "is not JSON: nested too deeply"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_is_a_notice(tmp_path: Path, name: str) -> None:
    text, result = BROKEN[name]
    found = load_written(tmp_path, userSettings={"model": "mine"}, projectSettings=text)
    assert found.value("model") == "mine"
    (notice,) = found.notices
    assert result in notice
    assert ".claude/settings.json" in notice


def test_wrong_type_is_a_notice(tmp_path: Path) -> None:
    found = load_written(
        tmp_path,
        userSettings={"permissions": {"deny": "Bash"}, "hooks": [], "disableAllHooks": "no"},
        localSettings={"permissions": []},
    )
    assert [notice.partition(" in ")[0] for notice in found.notices] == [
        "`permissions.deny`",
        "`hooks`",
        "`disableAllHooks`",
        "`permissions`",
    ]
    assert found.notices[0].endswith("ignored: it must be a list")


def test_pipe_long_file_and_empty_file(tmp_path: Path) -> None:
    write_settings(tmp_path, userSettings="", localSettings=" " * 4_000_001)
    (tmp_path / "shop/.claude").mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "shop/.claude/settings.json")
    assert [notice.rpartition(" ")[2] for notice in read(tmp_path).notices] == ["file", "large"]


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    assert load_written(tmp_path, userSettings='\ufeff{"model": "mine"}').value("model") == "mine"


def test_in_the_home_directory_project_settings_are_user_settings(tmp_path: Path) -> None:
    configuration = tmp_path / ".claude"
    configuration.mkdir()
    (configuration / "settings.json").write_text('{"permissions": {"allow": ["Read"]}}')
    (configuration / "settings.local.json").write_text('{"permissions": {"allow": ["Edit"]}}')
    found = load_settings(configuration, tmp_path)
    results = [(text, file.source) for text, file in found.list_values("permissions", "allow")]
    assert results == [("Read", "userSettings"), ("Edit", "localSettings")]
