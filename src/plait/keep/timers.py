"""Hourly jobs: a line of a crontab or two systemd units, installed and removed.

    17 * * * * PLAIT_ROOT=/logs /usr/bin/plait keep # plait keep
    plait-keep.service, plait-keep.timer

Only what Plait wrote is recognised as its own, and it is removed without a trace.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from plait.errors import UserError

CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Task:
    """A task that runs every hour."""

    unit: str
    """Its name in systemd."""
    typed: str
    """The command that runs it, and that installs it."""
    says: str
    minute: int
    ways: tuple[str, ...] = ("systemd", "cron")
    """The ways in which it can be run."""

    @property
    def service(self) -> str:
        """The name of its service unit."""
        return f"{self.unit}.service"

    @property
    def timer(self) -> str:
        """The name of its timer unit."""
        return f"{self.unit}.timer"

    @property
    def mark(self) -> str:
        """The end of our line in a crontab."""
        return f"# {self.typed}"

    @cached_property
    def ours(self) -> "re.Pattern[str]":
        """Matches our line in a crontab."""
        return re.compile(rf"^[^\n]*[ \t]{self.mark}[ \t]*(?:\n|$)", re.MULTILINE)

    @property
    def sign(self) -> str:
        """The beginning of our units."""
        return f"# Written by `{self.typed} --install`; `{self.typed} --uninstall` removes it."

    @property
    def timer_unit(self) -> str:
        """The timer unit."""
        return f"""{self.sign}
[Unit]
Description={self.says} every hour

[Timer]
OnCalendar=hourly
RandomizedDelaySec=10min
Persistent=true

[Install]
WantedBy=timers.target
"""


BACKUP_TASK = Task(
    "plait-keep",
    "plait keep",
    "Back up Claude Code sessions",
    17,
    ("hook", "systemd", "cron"),
)
SHIP_TASK = Task("plait-ship", "plait lake ship", "Send Claude Code sessions to a lake", 37)


def add_to_crontab(
    text: str, command: Sequence[str], environment: Mapping[str, str], task: Task = BACKUP_TASK
) -> str:
    """Return a crontab with a command that runs every hour, otherwise unchanged."""
    words = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    command_line = " ".join([*words, shlex.join(command)])
    _check_single_line(command_line)
    line = f"{task.minute} * * * * {command_line.replace('%', chr(92) + '%')} {task.mark}\n"
    if task.ours.search(text):
        return task.ours.sub(lambda _: line, text, count=1)
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}{line}"


def remove_from_crontab(text: str, task: Task = BACKUP_TASK) -> str:
    """Return a crontab without our line."""
    return task.ours.sub("", text)


def has_line(text: str, task: Task = BACKUP_TASK) -> bool:
    """Return whether our line is in a crontab."""
    return bool(task.ours.search(text))


def build_service_unit(
    command: Sequence[str], environment: Mapping[str, str], task: Task = BACKUP_TASK
) -> str:
    """Return the unit that runs a command once, at low priority."""
    variables = [
        f"Environment={_quote_word(f'{name}={value}')}\n" for name, value in environment.items()
    ]
    words = " ".join(_quote_word(word).replace("$", "$$") for word in command)
    return f"""{task.sign}
[Unit]
Description={task.says}

[Service]
Type=oneshot
{"".join(variables)}ExecStart={words}
Nice=10
IOSchedulingClass=idle
"""


def is_our_unit(text: str, task: Task = BACKUP_TASK) -> bool:
    """Return whether we wrote a unit."""
    return text.startswith(f"# Written by `{task.typed} --install`")


def _quote_word(word: str) -> str:
    """Return a word quoted for systemd, where `%` and quotes are special."""
    _check_single_line(word)
    plain = word.replace("%", "%%")
    if re.fullmatch(r"[\w@%+=:,./-]+", plain):
        return plain
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _check_single_line(text: str) -> None:
    if CONTROL.search(text):
        raise UserError(
            "a path or a setting contains a control character",
            "`plait keep --install hook` needs no timer",
        )
