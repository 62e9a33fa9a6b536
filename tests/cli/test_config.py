"""`plait config set`, `unset` and `edit`: changes that keep the rest of the file."""

import re
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.cli.app import run
from plait.settings import SETTINGS, parse_config
from plait.settings.file import find_line, set_key, unset_key, write_template

FILE = """\
# my settings
roots = [
  "~/a",  # the old machine
  "~/b",
]  # all of them
pager = "less # not a comment"  # a comment

# jobs = 4
note = '''
jobs = 9
'''

[ui_keys]
quit = "x"  # jobs = 8
"""


@pytest.fixture
def file(nobodys_home: Path) -> Path:
    path = nobodys_home / "config" / "plait" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def changed_lines(new: str) -> tuple[list[str], list[str]]:
    old_lines, new_lines = FILE.splitlines(), new.splitlines()
    return (
        [line for line in old_lines if line not in new_lines],
        [line for line in new_lines if line not in old_lines],
    )


@pytest.mark.parametrize(
    ("key", "value", "removed", "added"),
    [
        ("jobs", 2, [], ["jobs = 2"]),
        (
            "pager",
            "more",
            ['pager = "less # not a comment"  # a comment'],
            ['pager = "more"  # a comment'],
        ),
        (
            "roots",
            ["é", 'a"b\\'],
            ["roots = [", '  "~/a",  # the old machine', '  "~/b",', "]  # all of them"],
            ['roots = ["é", "a\\"b\\\\"]  # all of them'],
        ),
        ("prices", "/p", [], ['prices = "/p"']),
    ],
)
def test_only_the_setting_changes(
    key: str, value: object, removed: list[str], added: list[str]
) -> None:
    new = set_key(FILE, key, value)
    assert changed_lines(new) == (removed, added)
    assert tomllib.loads(new) == {**tomllib.loads(FILE), key: value}


def test_a_setting_goes_below_its_commented_default() -> None:
    lines = set_key(FILE, "jobs", 2).splitlines()
    assert lines[lines.index("jobs = 2") - 1] == "# jobs = 4"


@pytest.mark.parametrize("key", ["roots", "pager", "note", "ui_keys"])
def test_a_setting_is_removed(key: str) -> None:
    assert tomllib.loads(unset_key(FILE, key)) == {
        name: value for name, value in tomllib.loads(FILE).items() if name != key
    }


def test_setting_lines_are_found() -> None:
    keys = ("roots", "pager", "note", "ui_keys", "jobs")
    assert [find_line(FILE, key) for key in keys] == [2, 6, 9, 13, None]


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


@given(TEXTS, st.lists(TEXTS, max_size=3), st.sampled_from(["", "\n", "# x\n", "[t]\na = 1\n"]))
def test_set_value_is_read_and_can_be_removed(text: str, many: list[str], rest: str) -> None:
    new = set_key(set_key(rest, "pager", text), "roots", many)
    assert tomllib.loads(new) == {**tomllib.loads(rest), "pager": text, "roots": many}
    assert tomllib.loads(unset_key(unset_key(new, "pager"), "roots")) == tomllib.loads(rest)


def test_settings_are_changed_by_commands(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "set", "jobs", "3"]) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run(["config", "set", "roots", "/a", "/b"]) == 0
    assert run(["config", "set", "pager", ""]) == 0
    assert tomllib.loads(file.read_text()) == {"jobs": 3, "roots": ["/a", "/b"], "pager": ""}
    assert run(["config", "unset", "roots"]) == 0
    assert run(["config", "unset", "roots"]) == 0
    assert "'roots' was not set" in capfd.readouterr().err
    assert "roots" not in tomllib.loads(file.read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("set", "colour", "blue"), "unknown colour 'blue'"),
        (("set", "color", "never"), "did you mean 'colour'?"),
        (("set", "jobs", "many"), "'many' is not a whole number above 0"),
        (("set", "jobs", "-1"), "no such option '-1'"),
        (("set", "jobs", "0"), "must be a whole number above 0"),
        (("set", "pager", "a", "b"), "'pager' takes one value"),
        (("set", "ui_keys", "x"), "'ui_keys' is a table"),
        (("set", "ship_profile", "full"), "unknown ship_profile 'full'"),
        (("unset", "nothing"), "unknown setting 'nothing'"),
    ],
)
def test_invalid_values_are_not_written(
    file: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    file.write_text(FILE.replace("note", "prices"))
    assert run(["config", *words]) in (2, 4)
    assert message in capfd.readouterr().err
    assert file.read_text() == FILE.replace("note", "prices")


def test_broken_file_can_be_edited(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text("jobs = 2\npagr = 'x'\n")
    assert run(["ls"]) == 4
    assert f"unknown setting 'pagr' in '{file}', line 2" in capfd.readouterr().err
    assert run(["config", "unset", "pagr"]) == 0
    assert file.read_text() == "jobs = 2\n"


def test_symlink_stays_a_symlink(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text("jobs = 2\n")
    file.symlink_to(target)
    assert run(["config", "set", "jobs", "3"]) == 0
    assert file.is_symlink()
    assert target.read_text() == "jobs = 3\n"


def test_secrets_are_asked_for_and_not_shown(
    file: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("click.prompt", lambda *_, **__: "sk-hidden-value")
    assert run(["config", "set", "api_key"]) == 0
    assert tomllib.loads(file.read_text()) == {"api_key": "sk-hidden-value"}
    assert run(["config"]) == 0
    shown = capfd.readouterr()
    assert "api_key" in shown.out
    assert "sk-hidden" not in shown.out + shown.err


def test_overriding_variable_is_named(
    file: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(["config", "set", "colour", "always"]) == 0
    assert "$NO_COLOR in your environment" in capfd.readouterr().err


def test_new_file_describes_every_setting(
    file: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("VISUAL", raising=False)
    assert run(["config", "edit"]) == 0
    text = file.read_text()
    assert text == write_template()
    assert tomllib.loads(text) == {}
    every = re.sub(r"^# (\w+ = |\[)", r"\1", text, flags=re.MULTILINE)
    assert set(parse_config(file, every)) == set(SETTINGS)


def test_errors_left_by_an_editor_are_explained(
    file: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "sed -i '$a jobs = 0'")
    assert run(["config", "edit"]) == 4
    assert "setting 'jobs' must be a whole number above 0 in" in capfd.readouterr().err
