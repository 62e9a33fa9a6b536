"""A command and what it printed to the pull request that it made."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MAKES_ONE = re.compile(r"\bgh\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?){0,9}?pr\s+create\b")
ADDRESS = re.compile(r"https://[\w.-]+/([\w.-]+/[\w.-]+)/pull/(\d{1,9})\b")


class PullRequest(NamedTuple):
    """A pull request that came of a session."""

    number: int
    url: str
    repository: str


def pull_request_in(command: str, printed: str | Sequence[Mapping[str, Any]]) -> PullRequest | None:
    """Returns the pull request that a command made, None where it made none."""
    if not isinstance(printed, str) or not MAKES_ONE.search(command):
        return None
    found = list(ADDRESS.finditer(printed))
    if not found:
        return None
    last = found[-1]
    return PullRequest(int(last[2]), last[0], last[1])
