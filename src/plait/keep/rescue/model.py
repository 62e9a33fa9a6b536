"""What is left of sessions whose logs are gone, as values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

COMMAND = re.compile(r"(/[a-z][a-z0-9:_-]*)(?:\s+(.*))?", re.DOTALL)
"""A command of the client and what is behind it; a path is none."""
Why = Literal["named", "co-authored", "at the time"]
"""Why a commit is taken for a session's: it names the session; it names Claude, or nobody, and
was made soon after a prompt that was typed there."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A prompt as the client's list of prompts has it, with what was pasted put back."""

    time: datetime
    text: str
    directory: str | None
    session: str | None
    """None in lists of older versions."""
    missing_pastes: int = 0

    @property
    def is_command(self) -> bool:
        """Whether the client does it, and nobody is asked."""
        return COMMAND.fullmatch(self.text.strip()) is not None


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a file that a session was about to change."""

    copy: Path
    key: str
    """The first digits of the SHA-256 of the file's path."""
    version: int
    time: datetime
    file: str | None = None
    """The path of the file, where something that is known has this key."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of Git, and why it is taken for a session's."""

    id: str
    time: datetime
    subject: str
    message: str
    files: tuple[str, ...]
    why: Why = "at the time"


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list of sessions, that some versions keep beside them, says of one."""

    directory: str | None = None
    title: str | None = None
    first_prompt: str | None = None
    branch: str | None = None
    messages: int | None = None
    began: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A session whose log is there, at its source or in the store."""

    session: str
    directory: str | None = None
    began: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class LostSession:
    """A session whose log is gone, as far as it can be put together."""

    session: str
    directory: str | None
    prompts: tuple[Typed, ...] = ()
    backups: tuple[Backup, ...] = ()
    scripts: tuple[Path, ...] = ()
    """What hooks left for its shell."""
    commits: tuple[Commit, ...] = ()
    listed: Listed = Listed()
    title: str | None = None
    project: str | None = None
    """The folder that files of it still lie in."""
    is_guess: bool = False
    """The prompts name no session: those of a directory that follow each other are one."""

    @property
    def is_worth_it(self) -> bool:
        """Whether more than its id is left."""
        said = any(not prompt.is_command for prompt in self.prompts)
        return said or bool(self.backups or self.commits or self.listed.first_prompt)

    @property
    def began(self) -> datetime | None:
        """The first time that is known of it."""
        return min(self._times, default=None)

    @property
    def ended(self) -> datetime | None:
        """The last time that is known of it."""
        return max(self._times, default=None)

    @property
    def _times(self) -> list[datetime]:
        told = [time for time in (self.listed.began, self.listed.ended) if time]
        told += [one.time for one in self.prompts]
        told += [one.time for one in self.backups]
        return told + [one.time for one in self.commits]


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What a configuration folder still holds of sessions, whether their logs are there or not."""

    config: Path
    prompts: tuple[Typed, ...] = ()
    backups: Mapping[str, Path] = field(default_factory=dict)
    """Folders of backups, by session."""
    environments: Mapping[str, Path] = field(default_factory=dict)
    """Folders of what hooks left for the shell, by session."""
    listed: Mapping[str, Listed] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    """Folders that lay beside logs, by session."""
    unread: int = 0
    """Lines of the list of prompts that say nothing."""

    @property
    def sessions(self) -> set[str]:
        """The ids of all sessions that something is left of."""
        typed = {prompt.session for prompt in self.prompts if prompt.session}
        folders = (self.backups, self.environments, self.listed, self.folders)
        return typed.union(*folders)
