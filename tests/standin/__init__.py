"""Scripts to a stand-in for the Messages API, on loopback.

An answer is a plain value, so a script can be Python or a JSON file:

    {"text": "hello"}                                     one block of text
    {"blocks": [{"type": "thinking", …}, {"type": "text", …}, {"type": "tool_use", …}]}
    {"text": "cut", "stop_reason": "max_tokens"}          also "refusal", "pause_turn" …
    {"error": 529, "message": "busy", "retry_after": 1}   a status instead of an answer
    {"text": "…", "drop_after": 4}                        the line goes dead after four events
    {"text": "…", "error_after": 4}                       an error event after four events
    {"blocks": [{"type": "tool_use", "name": "Bash", "json": "{\"comm"}]}   arguments that break off
    {"text": "…", "hold": 2, "pause": 0.1, "chunk": 7}    waits, dawdles, splits anywhere

A script says which prompt gets which answers, one for each step of its turn:

    {"rules": [{"when": "list the files", "answers": [{"blocks": […]}, {"text": "two"}]}],
     "otherwise": {"text": "ok"}, "object": {"title": "What the model made up"}}
"""

from tests.standin.answers import call, calls, failed, said, thought
from tests.standin.model import Answer, Asked, Choose, Json, Script
from tests.standin.script import by_script, in_turn
from tests.standin.server import StandIn

__all__ = [
    "Answer",
    "Asked",
    "Choose",
    "Json",
    "Script",
    "StandIn",
    "by_script",
    "call",
    "calls",
    "failed",
    "in_turn",
    "said",
    "thought",
]
