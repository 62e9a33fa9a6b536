"""Settings from options, environment and configuration file."""

from pathlib import Path

import platformdirs
import pytest

from plait.errors import ConfigError
from plait.settings import Settings, find_platform_folder, load_settings


def loaded(tmp_path: Path, toml: str = "", roots: tuple[str, ...] = (), **env: str) -> Settings:
    path = tmp_path / "config.toml"
    path.write_text(toml)
    return load_settings(roots, environment={"HOME": "/h", "PLAIT_CONFIG": str(path), **env})


def test_precedence_option_environment_file_default(tmp_path: Path) -> None:
    toml = 'roots = ["~/from-file"]'
    assert loaded(tmp_path).roots == (Path("/h/.claude"),)
    assert loaded(tmp_path, CLAUDE_CONFIG_DIR="/c").roots == (Path("/c"),)
    assert loaded(tmp_path, toml, CLAUDE_CONFIG_DIR="/c").roots == (Path("/h/from-file"),)
    assert loaded(tmp_path, toml, PLAIT_ROOT="/a:/b").roots == (Path("/a"), Path("/b"))
    assert loaded(tmp_path, toml, ("/o",), PLAIT_ROOT="/a").roots == (Path("/o"),)


def test_only_the_default_root_may_be_missing(tmp_path: Path) -> None:
    assert loaded(tmp_path).is_default_root
    assert not loaded(tmp_path, roots=("/x",)).is_default_root


def test_own_folders_can_be_moved(tmp_path: Path) -> None:
    settings = loaded(tmp_path, 'data_dir = "/d"', PLAIT_CACHE_DIR="/cache")
    assert (settings.cache, settings.data) == (Path("/cache"), Path("/d"))
    assert settings.state.name == "plait"


def test_each_set_of_roots_has_its_own_index(tmp_path: Path) -> None:
    item = loaded(tmp_path, roots=("/a", "/b"))
    assert item.index == loaded(tmp_path, roots=("/b", "/a")).index
    assert item.index != loaded(tmp_path, roots=("/a",)).index
    assert item.index.is_relative_to(item.cache)


@pytest.mark.parametrize(
    ("env", "toml", "colour"),
    [
        ({}, "", "auto"),
        ({"NO_COLOR": "1"}, "", "never"),
        ({"FORCE_COLOR": "1"}, "", "always"),
        ({}, 'colour = "never"', "never"),
    ],
)
def test_colours(tmp_path: Path, env: dict[str, str], toml: str, colour: str) -> None:
    assert loaded(tmp_path, toml, (), **env).colour == colour


@pytest.mark.parametrize(
    ("env", "toml", "pager"),
    [
        ({}, "", "less -FRX"),
        ({"PAGER": "more"}, "", "more"),
        ({"PAGER": "more", "PLAIT_PAGER": ""}, "", None),
        ({"PAGER": "more"}, 'pager = "most"', "most"),
    ],
)
def test_pagers(tmp_path: Path, env: dict[str, str], toml: str, pager: str | None) -> None:
    assert loaded(tmp_path, toml, (), **env).pager == pager


@pytest.mark.parametrize(
    ("toml", "message", "hint"),
    [
        ("root = []", "unknown setting 'root'", "did you mean 'roots'?"),
        ("zzz = 1", "unknown setting 'zzz'", "the settings are roots"),
        (
            'roots = "x"',
            "setting 'roots' must be a list of strings in '.*config.toml', line 1",
            None,
        ),
        (
            "roots = [1]",
            "setting 'roots' must be a list of strings in '.*config.toml', line 1",
            None,
        ),
        ("pager = 1", "setting 'pager' must be a string in '.*config.toml', line 1", None),
        ("= 1", "cannot read .*config.toml'.* line 1", None),
        ("# one\n\njobs = 2\ncolor = 'never'", "line 4", "did you mean 'colour'?"),
        ('ship_profile = "full"', "cannot be a setting.* in '.*', line 1", "use `plait lake ship"),
        ('lake_options = [\n"A=1"]', "'A' is not an object store option in .*line 1", None),
        (
            "jobs = 65",
            "'65' is not a valid number of jobs in '.*', line 1",
            "use a number from 1 to 64",
        ),
        ('colour = "blue"', "unknown colour 'blue'", "choose from auto, always, never"),
    ],
)
def test_wrong_setting_is_explained(
    tmp_path: Path, toml: str, message: str, hint: str | None
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        loaded(tmp_path, toml)
    if hint:
        assert caught.value.hints[0].startswith(hint)


def test_keys_are_sent_only_to_their_host(tmp_path: Path) -> None:
    toml = (
        'langfuse_public_key = "pk"\nlangfuse_secret_key = "sk"\nlangfuse_host = "https://ours"\n'
        'otlp_endpoint = "http://ours:4318"\notlp_headers = "key=ours"'
    )
    theirs = {"LANGFUSE_HOST": "https://theirs", "PLAIT_OTLP_ENDPOINT": "http://theirs:4318"}
    found = loaded(tmp_path, toml, (), **theirs)
    assert found.collector.langfuse_host == "https://ours"
    assert (found.collector.otlp_endpoint, found.collector.otlp_headers) == (
        "http://theirs:4318",
        None,
    )
    found = loaded(tmp_path, toml, (), **theirs, LANGFUSE_SECRET_KEY="sk-theirs")
    assert found.collector.langfuse_public_key is None
    assert found.collector.langfuse_host == "https://theirs"
    assert found.hook_collector == loaded(tmp_path, toml).collector


def test_chat_server_and_key(tmp_path: Path) -> None:
    toml = 'api_key = "file-key"\nbase_url = "https://file"\nmodel = "file-model"'
    env = {"ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_BASE_URL": "http://env"}
    chat = loaded(tmp_path, toml, (), **env, ANTHROPIC_MODEL="env-model").chat
    assert (chat.api_key, chat.key_from) == ("env-key", "ANTHROPIC_API_KEY")
    assert (chat.base_url, chat.model) == ("http://env", "env-model")
    chat = loaded(tmp_path, toml).chat
    assert (chat.api_key, chat.key_from) == ("file-key", "config.toml")
    assert (chat.base_url, chat.model) == ("https://file", "file-model")
    chat = loaded(tmp_path).chat
    assert (chat.api_key, chat.key_from, chat.base_url, chat.model) == (None, None, None, None)


def test_key_from_the_file_is_not_sent_to_a_host_from_the_environment(tmp_path: Path) -> None:
    env = {"ANTHROPIC_BASE_URL": "http://elsewhere"}
    assert loaded(tmp_path, 'api_key = "file-key"', (), **env).chat.base_url is None
    assert loaded(tmp_path, "", (), **env).chat.base_url == "http://elsewhere"
    only_key = loaded(tmp_path, 'base_url = "https://file"', ANTHROPIC_API_KEY="k").chat
    assert only_key.base_url == "https://file"


def test_chat_key_and_environment_are_not_shown(tmp_path: Path) -> None:
    settings = loaded(tmp_path, 'api_key = "file-key"', OTHER_SECRET="hidden")
    assert settings.chat.environment["OTHER_SECRET"] == "hidden"
    assert "file-key" not in repr(settings) and "hidden" not in repr(settings)


def test_chat_limits(tmp_path: Path) -> None:
    toml = 'max_turns = 5\nmax_budget_usd = 1\nlet_through = ["CI_TOKEN"]\npermission_mode = "plan"'
    chat = loaded(tmp_path, toml).chat
    assert (chat.max_turns, chat.max_budget_usd) == (5, 1)
    assert (chat.let_through, chat.permission_mode) == (("CI_TOKEN",), "plan")


@pytest.mark.parametrize(
    "toml",
    [
        "max_turns = 0",
        "max_turns = 1.5",
        "max_turns = true",
        'max_budget_usd = "1"',
        "max_budget_usd = -1",
        "let_through = [1]",
        "model = 5",
    ],
)
def test_invalid_limits(tmp_path: Path, toml: str) -> None:
    with pytest.raises(ConfigError, match="must be"):
        loaded(tmp_path, toml)


@pytest.mark.parametrize("report", ["0", "65", "many", "-1", "²", "1.5"])
def test_wrong_number_of_jobs_is_an_error(report: str) -> None:
    with pytest.raises(ConfigError, match="is not a valid number of jobs"):
        load_settings(environment={"HOME": "/nowhere", "PLAIT_JOBS": report})


def test_jobs_precedence(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("jobs = 2\n", encoding="utf-8")
    env = {"HOME": "/nowhere", "PLAIT_CONFIG": str(file)}
    assert load_settings(environment={"HOME": "/nowhere"}).jobs is None
    assert load_settings(environment=env).jobs == 2
    assert load_settings(environment={**env, "PLAIT_JOBS": "3"}).jobs == 3
    assert load_settings(jobs=4, environment={**env, "PLAIT_JOBS": "3"}).jobs == 4
    with pytest.raises(ConfigError, match="'0' is not a valid number of jobs"):
        load_settings(jobs=0, environment=env)
    file.write_text('jobs = "2"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="must be a whole number"):
        load_settings(environment=env)


@pytest.mark.parametrize("kind", ["cache", "config", "data", "state"])
@pytest.mark.parametrize("home", ["/h", "/", "/h/", "relative", ""])
@pytest.mark.parametrize("output", [None, "", "/x", "/x/", " /x", "relative"])
def test_folders_follow_the_platform(
    monkeypatch: pytest.MonkeyPatch, kind: str, home: str, output: str | None
) -> None:
    monkeypatch.setenv("HOME", home)
    monkeypatch.delenv(f"XDG_{kind.upper()}_HOME", raising=False)
    if output is not None:
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", output)
    expected = getattr(platformdirs, f"user_{kind}_path")("plait", appauthor=False)
    assert find_platform_folder(kind) == expected
