"""Errors for users: one sentence, up to two hints, and an exit code.

    PlaitError
    ├─ UserError        exit 2   the request cannot be met as given
    │  ├─ NoSuchSession
    │  ├─ AmbiguousSession
    │  └─ Refused       exit 1   it could be met, but would do harm
    │     └─ SessionIsLive
    ├─ SourceError      exit 3   a file could not be read or written
    ├─ ConfigError      exit 4   a setting is wrong
    └─ MissingExtra     exit 5   an optional part is not installed

Messages are one line in lower case without a full stop, with the subject in single quotes. A hint
is something to type or to look at. Unusual data is never an error: it is a finding.
"""


class PlaitError(Exception):
    """Carries the sentence for people and the hints that help them on."""

    exit_code = 1

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints[:2]


class UserError(PlaitError):
    """The request cannot be met as given."""

    exit_code = 2


class NoSuchSession(UserError):
    """Nothing in the archive answers to that name."""


class AmbiguousSession(UserError):
    """Several sessions answer to that name."""


class Refused(UserError):
    """What is asked for would lose something, or break a rule for sessions."""

    exit_code = 1


class SessionIsLive(Refused):
    """Claude Code is still writing to the session that would be changed."""


class SourceError(PlaitError):
    """A file could not be read or written."""

    exit_code = 3


class ConfigError(PlaitError):
    """A setting is wrong."""

    exit_code = 4


class MissingExtra(PlaitError):
    """A part of Plait is not installed."""

    exit_code = 5
