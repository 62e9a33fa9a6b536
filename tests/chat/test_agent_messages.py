"""Messages to agents: running, finished and unknown ones."""

import json
from pathlib import Path
from typing import Any

from plait.chat.models import ScriptModel
from plait.chat.streaming import Request
from tests.chat.play import Json, Play, lines_of, sends

HEARD = {"when": "<task-notification>", "answers": [{"text": "Heard."}]}
MORE = {"when": "[more]", "answers": [{"text": "More words."}]}


class Naming(ScriptModel):
    """A script in which `@agent` is the id of the last agent that was told of."""

    def _choose_answer(self, messages: Any) -> Any:
        told = json.dumps([dict(one) for one in messages])
        _, found, rest = told.rpartition("agentId: ")
        answer = json.dumps(super()._choose_answer(messages))
        return json.loads(answer.replace("@agent", rest[:17] if found else "nobody"))


def tells(words: str, to: str = "@agent") -> Json:
    given = {"to": to, "summary": "some more", "message": words}
    return {"calls": [{"name": "SendMessage", "input": given}]}


def play(folder: Path, *rules: Json, **manner: Any) -> Play:
    model = Naming({"rules": [*rules, HEARD, MORE]}, name="claude-opus-5-5")
    return Play(folder, [], "2.1.325", model=model, **manner)


def result_of(told: Play) -> Json:
    return next(one for one in told.lines if "success" in str(one.get("toolUseResult")))


def test_a_finished_agent_resumes_when_messaged(tmp_path: Path) -> None:
    say = {"when": "[say]", "answers": [{"text": "Just words."}]}
    go = {
        "when": "[go]",
        "answers": [{"calls": [sends("[say]")]}, tells("[more]"), {"text": "So."}],
    }
    told = play(tmp_path, go, say)
    told.ask("[go]")
    agent = told.agents[0].stem.removeprefix("agent-")
    result = result_of(told)
    output = result["toolUseResult"]
    assert [*output] == ["success", "message", "resumedAgentId", "revivedAgentId", "pin"]
    assert (output["message"], output["revivedAgentId"]) == (f"Resuming agent {agent[:7]}", agent)
    heard = json.loads(result["message"]["content"][0]["content"][0]["text"])
    assert [*heard] == ["success", "message", "resumedAgentId", "pin"]
    _, words, message, answer = told.agent()
    assert message["message"]["content"] == (
        "The coordinator sent a message while you were working:\n[more]\n\n"
        "Address this before completing your current task."
    )
    assert (message["isMeta"], message["origin"]) == (True, {"kind": "coordinator"})
    assert message["parentUuid"] == words["uuid"]
    assert answer["message"]["content"][0]["text"] == "More words."
    call = result["message"]["content"][0]["tool_use_id"]
    news = [json.dumps(one) for one in told.lines if "<task-notification>" in json.dumps(one)]
    assert any(f"<tool-use-id>{call}</tool-use-id>" in one for one in news)
    assert any("<result>More words.</result>" in one for one in news)


def test_a_running_agent_gets_a_message_at_its_next_step(tmp_path: Path) -> None:
    wait = "until grep -qs hurry ../config/projects/*/*.jsonl; do sleep 0.05; done; sleep 0.2"
    slow = [{"calls": [{"name": "Bash", "input": {"command": wait}}]}, {"text": "Slowly done."}]
    go = [{"calls": [sends("[slow]", run_in_background=True)]}, tells("hurry"), {"text": "So."}]
    told = play(
        tmp_path,
        {"when": "[go]", "answers": go},
        {"when": "[slow]", "answers": slow},
        mode="bypassPermissions",
    )
    told.ask("[go]")
    agent = told.agents[0].stem.removeprefix("agent-")
    output = result_of(told)["toolUseResult"]
    assert output["message"].startswith(f"Message queued for delivery to {agent} at its next tool")
    [attached] = [one for one in told.agent() if one["type"] == "attachment"]
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
    told = play(tmp_path, {"when": "[go]", "answers": [tells("x", "nobody"), {"text": "So."}]})
    told.ask("[go]")
    output = result_of(told)["toolUseResult"]
    assert output["success"] is False
    assert output["message"].startswith('Agent "nobody" could not be resumed: No transcript found')


def test_call_is_logged_as_by_the_client(tmp_path: Path) -> None:
    told = play(tmp_path, {"when": "[go]", "answers": [tells("x", "nobody"), {"text": "So."}]})
    told.ask("[go]")
    [call] = [one for one in lines_of(told.path) if "SendMessage" in json.dumps(one)][:1]
    assert call["message"]["content"][0]["input"] == {
        "to": "nobody",
        "summary": "some more",
        "message": "x",
        "type": "message",
        "recipient": "nobody",
        "recipient_kind": "agent",
        "content": "x",
    }
    request: Request = told.client.runtime.requests.build([])
    assert "recipient_kind" not in json.dumps([dict(one) for one in request.messages])
