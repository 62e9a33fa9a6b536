"""Answer questions on stdin with the official SDK, one JSON line each.

Runs in the private environment of the SDK, apart from all other modules here.
"""

import json
import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Answer until the questions end."""
    sdk = import_module("claude_agent_sdk")
    for line in sys.stdin:
        question = json.loads(line)
        os.environ["CLAUDE_CONFIG_DIR"] = question["config"]
        print(json.dumps(answer(sdk, question)), flush=True)


def answer(sdk: Any, question: dict[str, str]) -> dict[str, Any]:
    """Return the messages of a session, or the list of all."""
    directory = question["directory"]
    if "session" in question:
        found = sdk.get_session_messages(question["session"], directory=directory)
        return {"messages": [[one.uuid, one.type, one.message] for one in found]}
    sessions = sdk.list_sessions(directory=directory, include_worktrees=False)
    return {"sessions": [listed(one) for one in sessions]}


def listed(one: Any) -> list[Any]:
    """Return what the SDK lists of a session."""
    return [one.session_id, one.summary, one.first_prompt, one.tag, one.custom_title]


if __name__ == "__main__":
    main()
