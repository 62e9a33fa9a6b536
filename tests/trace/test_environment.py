"""Finding a project's Langfuse keys in the environment and settings."""

import json
from pathlib import Path
from typing import Any

import pytest

from plait.errors import UserError
from plait.trace.environment import (
    LangfuseProject,
    find_langfuse_project,
    find_project_folder,
    iter_target_folders,
    open_target_folder,
    read_environment,
)

KEYS = {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"}


def write_settings(folder: Path, name: str, content: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


def test_variables_name_a_langfuse_project() -> None:
    for variables, project in [
        ({}, None),
        (KEYS, None),
        ({"TRACE_TO_LANGFUSE": "false", **KEYS}, None),
        ({"TRACE_TO_LANGFUSE": "True", **KEYS}, ("https://cloud.langfuse.com", "pk", "sk")),
        (
            {"TRACE_TO_LANGFUSE": "true", **KEYS, "CC_LANGFUSE_PUBLIC_KEY": "own"},
            ("https://cloud.langfuse.com", "own", "sk"),
        ),
        (
            {
                "TRACE_TO_LANGFUSE": "true",
                "CC_LANGFUSE_PUBLIC_KEY": "a",
                "CC_LANGFUSE_SECRET_KEY": "b",
                "CC_LANGFUSE_HOST": "http://one",
                "LANGFUSE_BASE_URL": "http://two",
            },
            ("http://one", "a", "b"),
        ),
        (
            {"TRACE_TO_LANGFUSE": "true", **KEYS, "LANGFUSE_HOST": "http://x"},
            ("http://x", "pk", "sk"),
        ),
    ]:
        assert find_langfuse_project(variables) == project


def test_a_missing_key_is_an_error_that_shows_no_key() -> None:
    with pytest.raises(UserError, match="a key is missing") as raised:
        find_langfuse_project({"TRACE_TO_LANGFUSE": "true", "LANGFUSE_SECRET_KEY": "sk-secret"})
    assert "sk-secret" not in f"{raised.value.message}{raised.value.hints}"
    assert "sk-secret" not in repr(LangfuseProject("http://x", "pk", "sk-secret"))


def test_settings_of_claude_code_complete_the_environment(tmp_path: Path) -> None:
    config, project = tmp_path / "config", tmp_path / "shop"
    write_settings(config, "settings.json", {"env": {"TRACE_TO_LANGFUSE": "true", "A": "user"}})
    write_settings(project / ".claude", "settings.json", {"env": {"A": "shared", "B": "shared"}})
    write_settings(project / ".claude", "settings.local.json", {"env": {"B": "own", "N": 1}})
    found = read_environment({"A": "shell", "C": "shell"}, config, project)
    assert found == {"TRACE_TO_LANGFUSE": "true", "A": "shared", "B": "own", "C": "shell", "N": "1"}
    given = {"TRACE_TO_LANGFUSE": "false"}
    assert read_environment(given, config, project) == given


@pytest.mark.parametrize("content", ["{", "[]", '{"env": []}', ""])
def test_odd_settings_are_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content, encoding="utf-8")
    assert read_environment({}, tmp_path, None) == {}


def test_project_is_where_claude_code_was_started() -> None:
    for environment, hook_input, folder in [
        ({"CLAUDE_PROJECT_DIR": "/a"}, b'{"cwd": "/b"}', Path("/a")),
        ({}, b'{"cwd": "/b"}', Path("/b")),
        ({}, b'{"cwd": "b"}', None),
        ({}, b"[]", None),
        ({}, b"{", None),
    ]:
        assert find_project_folder(environment, hook_input) == folder


def test_each_langfuse_project_has_a_private_folder(tmp_path: Path) -> None:
    one, other = LangfuseProject("http://x", "pk", "sk"), LangfuseProject("http://y", "pk", "sk")
    folders = {open_target_folder(tmp_path, project) for project in (one, other, one)}
    assert len(folders) == 2
    assert dict(iter_target_folders(tmp_path)).keys() == folders
    assert set(dict(iter_target_folders(tmp_path)).values()) == {one, other}
    for folder in folders:
        assert (folder / "target.json").stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700
