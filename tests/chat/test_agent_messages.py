"""Messages to agents: running, finished and unknown ones."""

import json
from pathlib import Path
from typing import Any

from plait.chat.models import ScriptModel
from plait.chat.streaming import Request
from tests.chat.agent_session import AgentSession, Json, agent_call, read_lines

HEARD = {"when": "<task-notification>", "answers": [{"text": "Heard."}]}
MORE = {"when": "[more]", "answers": [{"text": "More words."}]}


class Naming(ScriptModel):
    """A script in which `@agent` is the id of the last agent that was told of."""

    def _choose_answer(self, messages: Any) -> Any:
        result = json.dumps([dict(message) for message in messages])
        _, found, rest = result.rpartition("agentId: ")
        answer = json.dumps(super()._choose_answer(messages))
        return json.loads(answer.replace("@agent", rest[:17] if found else "nobody"))


def message_call(words: str, to: str = "@agent") -> Json:
    given = {"to": to, "summary": "some more", "message": words}
    return {"calls": [{"name": "SendMessage", "input": given}]}


def play(folder: Path, *rules: Json, **manner: Any) -> AgentSession:
    model = Naming({"rules": [*rules, HEARD, MORE]}, name="claude-opus-5-5")
    return AgentSession(folder, [], "2.1.325", model=model, **manner)


def result_of(text: AgentSession) -> Json:
    return next(line for line in text.lines if "success" in str(line.get("toolUseResult")))


def test_a_finished_agent_resumes_when_messaged(tmp_path: Path) -> None:
    say = {"when": "[say]", "answers": [{"text": "Just words."}]}
    go = {
        "when": "[go]",
        "answers": [{"calls": [agent_call("[say]")]}, message_call("[more]"), {"text": "So."}],
    }
    events = play(tmp_path, go, say)
    events.ask("[go]")
    agent = events.agents[0].stem.removeprefix("agent-")
    result = result_of(events)
    output = result["toolUseResult"]
    assert [*output] == ["success", "message", "resumedAgentId", "revivedAgentId", "pin"]
    assert (output["message"], output["revivedAgentId"]) == (f"Resuming agent {agent[:7]}", agent)
    heard = json.loads(result["message"]["content"][0]["content"][0]["text"])
    assert [*heard] == ["success", "message", "resumedAgentId", "pin"]
    _, words, message, answer = events.agent()
    assert message["message"]["content"] == (
        "The coordinator sent a message while you were working:\n[more]\n\n"
        "Address this before completing your current task."
    )
    assert (message["isMeta"], message["origin"]) == (True, {"kind": "coordinator"})
    assert message["parentUuid"] == words["uuid"]
    assert answer["message"]["content"][0]["text"] == "More words."
    call = result["message"]["content"][0]["tool_use_id"]
    news = [json.dumps(line) for line in events.lines if "<task-notification>" in json.dumps(line)]
    assert any(f"<tool-use-id>{call}</tool-use-id>" in new for new in news)
    assert any("<result>More words.</result>" in new for new in news)


def test_a_running_agent_gets_a_message_at_its_next_step(tmp_path: Path) -> None:
    wait = "until grep -qs hurry ../config/projects/*/*.jsonl; do sleep 0.05; done; sleep 0.2"
    slow = [{"calls": [{"name": "Bash", "input": {"command": wait}}]}, {"text": "Slowly done."}]
    go = [
        {"calls": [agent_call("[slow]", run_in_background=True)]},
        message_call("hurry"),
        {"text": "So."},
    ]
    events = play(
        tmp_path,
        {"when": "[go]", "answers": go},
        {"when": "[slow]", "answers": slow},
        mode="bypassPermissions",
    )
    events.ask("[go]")
    agent = events.agents[0].stem.removeprefix("agent-")
    output = result_of(events)["toolUseResult"]
    assert output["message"].startswith(f"Message queued for delivery to {agent} at its next tool")
    [attached] = [item for item in events.agent() if item["type"] == "attachment"]
    kind = attached["attachment"]
    assert [*kind] == ["type", "prompt", "source_uuid", "origin", "isMeta"]
    assert (kind["type"], kind["prompt"]) == ("queued_command", "hurry")
    assert attached["rendered"] == [
        {
            "content": "<system-reminder>\nThe coordinator sent a message while you were working:\n"
            "hurry\n\nAddress this before completing your current task.\n</system-reminder>"
        }
    ]


def test_an_unknown_agent_cannot_be_messaged(tmp_path: Path) -> None:
    events = play(
        tmp_path, {"when": "[go]", "answers": [message_call("x", "nobody"), {"text": "So."}]}
    )
    events.ask("[go]")
    output = result_of(events)["toolUseResult"]
    assert output["success"] is False
    assert output["message"].startswith('Agent "nobody" could not be resumed: No transcript found')


def test_call_is_logged_as_by_the_client(tmp_path: Path) -> None:
    events = play(
        tmp_path, {"when": "[go]", "answers": [message_call("x", "nobody"), {"text": "So."}]}
    )
    events.ask("[go]")
    [call] = [line for line in read_lines(events.path) if "SendMessage" in json.dumps(line)][:1]
    assert call["message"]["content"][0]["input"] == {
        "to": "nobody",
        "summary": "some more",
        "message": "x",
        "type": "message",
        "recipient": "nobody",
        "recipient_kind": "agent",
        "content": "x",
    }
    request: Request = events.client.runtime.requests.build([])
    assert "recipient_kind" not in json.dumps([dict(message) for message in request.messages])
