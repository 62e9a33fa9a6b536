"""Pull requests created by commands, as logged."""

from pathlib import Path

import pytest

from plait.chat.turn import PullRequest, find_pull_request
from tests.chat.scripted_client import Echo, ScriptedClient

MADE = PullRequest(3, "https://github.com/a/b-c.d/pull/3", "a/b-c.d")


@pytest.mark.parametrize(
    ("command", "printed", "found"),
    [
        ("gh pr create --fill", "https://github.com/a/b-c.d/pull/3\n", MADE),
        ("cd x && gh pr  create", f"Creating…\n\n{MADE.url}", MADE),
        ("gh -R a/b-c.d pr create", MADE.url, MADE),
        ("gh pr view", MADE.url, None),
        ("echo gh-pr create", MADE.url, None),
        ("gh pr create", "https://github.com/a/b/issues/3", None),
        ("gh pr create", "failed", None),
        ("gh pr create", f"{MADE.url[:-1]}1 {MADE.url}", MADE),
    ],
)
def test_pull_request_is_found(command: str, printed: str, found: PullRequest | None) -> None:
    assert find_pull_request(command, printed) == found


@pytest.mark.parametrize(("effect", "count"), [("execute", 1), ("read", 0)])
def test_pull_request_is_logged_with_the_result(tmp_path: Path, effect: str, count: int) -> None:
    class Made(Echo):
        """Says an address, whatever it is told."""

    tool = Made(effect=effect)  # type: ignore[arg-type]
    call = {"name": "Echo", "input": {"text": MADE.url, "command": "gh pr create"}}
    session = ScriptedClient(
        tmp_path, {"answers": [{"calls": [call]}, {"text": "Made."}]}, tools=[tool]
    )
    session.ask("make one")
    [result] = [line for line in session.lines if "toolUseResult" in line]
    found = {"pr": {"number": 3, "url": MADE.url, "action": "created"}} if count else None
    assert result["toolUseResult"].get("gitOperation") == found
    links = [line for line in session.lines if line["type"] == "pr-link"]
    assert len(links) == count
    for link in links:
        assert (link["prNumber"], link["prUrl"], link["prRepository"]) == MADE
        assert link["sessionId"] == session.client.session
