"""A command to what runs it every hour: a line of a crontab, or two units of systemd; and back.

    17 * * * * PLAIT_ROOT=/logs /usr/bin/plait keep # plait keep
    plait-keep.service, plait-keep.timer

Only what we wrote is known as ours, and taken away again to the byte.
"""

import re
import shlex
from collections.abc import Mapping, Sequence

from plait.errors import UserError

MINUTE = 17
MARK = "# plait keep"
OURS = re.compile(rf"^[^\n]*[ \t]{MARK}[ \t]*(?:\n|$)", re.MULTILINE)
"""A line of a crontab that we wrote."""
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
SERVICE, TIMER = "plait-keep.service", "plait-keep.timer"
SIGN = "# Written by `plait keep --install`; `plait keep --uninstall` takes it away."
TIMER_UNIT = f"""{SIGN}
[Unit]
Description=Keep the sessions of Claude Code every hour

[Timer]
OnCalendar=hourly
RandomizedDelaySec=10min
Persistent=true

[Install]
WantedBy=timers.target
"""


def crontab_with(text: str, command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Returns a crontab in which a command runs every hour, as it was else."""
    line = _crontab_line(command, environment)
    if OURS.search(text):
        return OURS.sub(lambda _: line, text, count=1)
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}{line}"


def _crontab_line(command: Sequence[str], environment: Mapping[str, str]) -> str:
    words = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    told = " ".join([*words, shlex.join(command)])
    _check_is_one_line(told)
    return f"{MINUTE} * * * * {told.replace('%', chr(92) + '%')} {MARK}\n"


def crontab_without(text: str) -> str:
    """Returns a crontab without our line."""
    return OURS.sub("", text)


def has_line(text: str) -> bool:
    """Tells whether our line is in a crontab."""
    return bool(OURS.search(text))


def service_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Returns the unit that runs a command once, in nobody's way."""
    told = [f"Environment={_quoted(f'{name}={value}')}\n" for name, value in environment.items()]
    words = " ".join(_quoted(word).replace("$", "$$") for word in command)
    return f"""{SIGN}
[Unit]
Description=Keep the sessions of Claude Code

[Service]
Type=oneshot
{"".join(told)}ExecStart={words}
Nice=10
IOSchedulingClass=idle
"""


def is_our_unit(text: str) -> bool:
    """Tells whether we wrote a unit."""
    return text.startswith(SIGN)


def _quoted(word: str) -> str:
    """Returns a word as systemd reads it: `%` and quotes mean something there."""
    _check_is_one_line(word)
    plain = word.replace("%", "%%")
    if re.fullmatch(r"[\w@%+=:,./-]+", plain):
        return plain
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _check_is_one_line(text: str) -> None:
    if CONTROL.search(text):
        raise UserError(
            "a path or a setting holds what cannot be told in one line",
            "`plait keep --install hook` needs none of them",
        )
