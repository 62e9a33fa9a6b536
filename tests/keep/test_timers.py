"""Hourly commands in cron and systemd, removed to the byte."""

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.errors import UserError
from plait.keep.timers import (
    BACKUP_TASK,
    SHIP_TASK,
    add_to_crontab,
    build_service_unit,
    has_line,
    is_our_unit,
    remove_from_crontab,
)

COMMAND = ["/opt/my tools/plait", "keep", "--root", "/logs/50% of it"]
THEIRS = "MAILTO=me\n# plait keep is nice\n5 4 * * * backup # plait keepers\n"


def test_crontab_line() -> None:
    text = add_to_crontab(THEIRS, COMMAND, {"PLAIT_DATA_DIR": "/my data"})
    assert text == THEIRS + (
        "17 * * * * PLAIT_DATA_DIR='/my data' '/opt/my tools/plait' keep --root"
        " '/logs/50\\% of it' # plait keep\n"
    )


def test_the_crontab_line_runs_in_a_shell(tmp_path: Path) -> None:
    program = tmp_path / "a b%c"
    program.write_text('#!/bin/sh\nprintf "%s|" "$PLAIT_ROOT" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    line = add_to_crontab("", [str(program), "keep", "it's"], {"PLAIT_ROOT": "/x $HOME"})
    command = line.split(" ", 5)[5].replace("\\%", "%")  # as cron does
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "/x $HOME|keep|it's|"


def test_a_newer_command_replaces_the_old_one() -> None:
    old = add_to_crontab(THEIRS, ["/old/plait", "keep"], {}) + "1 2 3 4 5 more\n"
    new = add_to_crontab(old, ["/new/plait", "keep"], {})
    assert new == old.replace("/old/", "/new/")


def test_lines_of_others_are_not_ours() -> None:
    assert not has_line(THEIRS)
    assert remove_from_crontab(THEIRS) == THEIRS


LINE = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=30)
CRONTAB = st.lists(LINE.filter(lambda line: not has_line(line))).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(CRONTAB, CRONTAB)
def test_removing_our_line_restores_the_crontab(before: str, later: str) -> None:
    text = add_to_crontab(before, COMMAND, {})
    assert has_line(text)
    assert add_to_crontab(text, COMMAND, {}) == text
    assert remove_from_crontab(text + later) == before + later


def test_systemd_units() -> None:
    assert build_service_unit(COMMAND, {"PLAIT_DATA_DIR": '/my "data"'}) == (
        "# Written by `plait keep --install`; `plait keep --uninstall` removes it.\n"
        "[Unit]\n"
        "Description=Back up Claude Code sessions\n"
        "\n"
        "[Service]\n"
        "Type=oneshot\n"
        'Environment="PLAIT_DATA_DIR=/my \\"data\\""\n'
        'ExecStart="/opt/my tools/plait" keep --root "/logs/50%% of it"\n'
        "Nice=10\n"
        "IOSchedulingClass=idle\n"
    )
    assert "OnCalendar=hourly\n" in BACKUP_TASK.timer_unit
    assert "WantedBy=timers.target\n" in BACKUP_TASK.timer_unit
    assert is_our_unit(BACKUP_TASK.timer_unit)
    assert is_our_unit(build_service_unit(["/bin/plait"], {}))
    assert not is_our_unit("[Unit]\n")


def test_a_dollar_sign_is_escaped_for_systemd() -> None:
    assert 'ExecStart="/a$$b/plait"\n' in build_service_unit(["/a$b/plait"], {})


@pytest.mark.parametrize("word", ["/a\nb", "/a\x00b", "/a\x1bb"])
def test_control_characters_are_refused(word: str) -> None:
    with pytest.raises(UserError, match="control character"):
        add_to_crontab("", [word], {})
    with pytest.raises(UserError, match="control character"):
        build_service_unit([word], {})
    with pytest.raises(UserError, match="control character"):
        build_service_unit(["plait"], {"A": word})


@given(st.lists(LINE.filter(bool), min_size=1, max_size=4))
def test_every_word_survives_cron_and_a_shell(words: list[str]) -> None:
    line = add_to_crontab("", words, {})
    told = line.split(" ", 5)[5].replace("\\%", "%").removesuffix(" # plait keep\n")
    assert shlex.split(told) == words


def test_tasks_do_not_affect_each_other() -> None:
    both = add_to_crontab(
        add_to_crontab(THEIRS, COMMAND, {}), ["plait", "lake", "ship"], {}, SHIP_TASK
    )
    assert both.endswith("37 * * * * plait lake ship # plait lake ship\n")
    assert remove_from_crontab(both, SHIP_TASK) == add_to_crontab(THEIRS, COMMAND, {})
    assert remove_from_crontab(remove_from_crontab(both), SHIP_TASK) == THEIRS
    assert not is_our_unit(SHIP_TASK.timer_unit)
    assert is_our_unit(SHIP_TASK.timer_unit, SHIP_TASK)
    assert SHIP_TASK.service == "plait-ship.service"
