"""Scripts of sessions for the tests of the writer."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import plait
from plait.write.lines import Version

USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 340,
    "cache_read_input_tokens": 5600,
    "output_tokens": 78,
}
STDOUT = {"stdout": "a\nb", "stderr": "", "interrupted": False, "isImage": False}
FILE = {
    "filePath": "/tmp/app/a.txt",
    "content": "alpha",
    "numLines": 1,
    "startLine": 1,
    "totalLines": 1,
}
PICTURE = {
    "type": "image",
    "source": {
        "type": "base64",
        "media_type": "image/png",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
        "awAAAABJRU5ErkJggg==",
    },
}


def seconds(begin: datetime = datetime(2026, 1, 3, 10, tzinfo=UTC)) -> Iterator[datetime]:
    """Yield times, one second apart."""
    while True:
        yield begin
        begin += timedelta(seconds=1)


def writer(
    folder: Path, version: Version = "2.1.325", seed: int = 1, cwd: str = "/tmp/app"
) -> plait.SessionWriter:
    """Start a session with the same ids and times in every run."""
    return plait.SessionWriter.new(
        folder,
        cwd=cwd,
        version=version,
        git_branch="main",
        random=Random(seed),
        clock=seconds().__next__,
    )


def plain(session: plait.SessionWriter) -> None:
    """A prompt and an answer, twice."""
    session.prompt("Say hello")
    session.answer("Hello.", usage=USAGE)
    session.turn_ended(1200)
    session.prompt([{"type": "text", "text": "And what is on this picture?"}, PICTURE])
    session.answer("A dot.", usage=USAGE)
    session.turn_ended(900)


def tools(session: plait.SessionWriter) -> None:
    """Thinking, three calls at once, results out of order, one of them an error."""
    session.prompt("Look around")
    with session.response(usage=USAGE) as response:
        response.thinking("Three things to look at.", "c2lnbmF0dXJl")
        response.text("Let me look.")
        first = response.call("Bash", {"command": "ls"})
        second = response.call("Bash", {"command": "false"})
        third = response.call("Read", {"file_path": "/tmp/app/a.txt"})
    session.progress({"type": "bash_progress", "output": "a", "fullOutput": "a"}, call=first)
    session.result(third, [{"type": "text", "text": "1\talpha"}], {"type": "text", "file": FILE})
    session.result(first, "a\nb", STDOUT, is_error=False)
    session.result(second, "Exit code 1", is_error=True)
    session.answer("Two files.", usage=USAGE)
    session.turn_ended(4000)


def interrupted(session: plait.SessionWriter) -> None:
    """An interrupted answer, then two interrupted calls of which one had finished."""
    session.prompt("Tell me a long story")
    response = session.response(usage=USAGE)
    response.text("Once upon")
    session.interrupt()
    session.prompt("Run both")
    with session.response(usage=USAGE) as response:
        first = response.call("Bash", {"command": "true"})
        response.call("Bash", {"command": "sleep 100"})
    session.result(first, "", STDOUT, is_error=False)
    session.interrupt()
    session.prompt("Never mind")
    session.answer("As you like.", usage=USAGE)


def errors(session: plait.SessionWriter) -> None:
    """A retry, an API error shown to the user, and the same prompt again."""
    session.prompt("Hello?")
    session.system(
        "api_error",
        error={"status": 529, "message": "529 Overloaded"},
        retry_in_ms=558,
        retry_attempt=1,
        max_retries=10,
    )
    session.api_error("API Error: 529 Overloaded", error="server_error", api_error_status=529)
    session.prompt("Hello again?")
    session.answer("Here.", usage=USAGE)


def commands(session: plait.SessionWriter) -> None:
    """A command of the client, and a custom command."""
    session.expansion("<local-command-caveat>Run by the person.</local-command-caveat>")
    session.prompt("<command-name>/cost</command-name>\n<command-message>cost</command-message>")
    session.system("local_command", content="<local-command-stdout>$0.10</local-command-stdout>")
    session.prompt(
        "<command-message>review</command-message>\n<command-name>/review</command-name>"
    )
    session.expansion("Review the changes.")
    session.answer("They are fine.", usage=USAGE)


def attachments(session: plait.SessionWriter) -> None:
    """Attachments of a prompt and of a result, and a queued prompt."""
    session.queue("enqueue", "Be quick")
    session.prompt("What does @a.txt say?")
    session.attachment(
        {
            "type": "file",
            "filename": "/tmp/app/a.txt",
            "content": {"type": "text", "file": {**FILE}},
            "displayPath": "a.txt",
        },
        ["<system-reminder>\nCalled the Read tool\n</system-reminder>", "It says alpha."],
    )
    call = session.answer({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}})
    assert call.messages
    session.result("toolu_1", "done", STDOUT)
    session.attachment(
        {
            "type": "hook_success",
            "hookName": "PostToolUse:Bash",
            "toolUseID": "toolu_1",
            "hookEvent": "PostToolUse",
            "content": "noted",
            "stdout": "noted\n",
            "stderr": "",
            "exitCode": 0,
            "command": "true",
            "durationMs": 3,
        }
    )
    session.queued_prompt("Be quick")
    session.queue("dequeue")
    session.queue("enqueue", "Not that")
    session.queue("popAll", "Not that")
    session.answer("alpha", usage=USAGE)


def events(session: plait.SessionWriter) -> None:
    """Every event of the client."""
    session.prompt("Go on")
    session.answer("Done.", usage=USAGE)
    session.system("stop_hook_summary", hook_infos=[{"command": "true"}])
    session.system("informational", content="Something to know")
    session.system("away_summary", content="You were away.")
    session.system("bridge_status", content="is active", url="https://example.com/x")
    session.system("microcompact_boundary", microcompact_metadata={"trigger": "auto"})
    session.system("model_refusal_no_fallback", original_model="claude", request_id="req_1")
    session.system("brand_new", content="of tomorrow", and_more=1)
    session.turn_ended(100)


def compacted(session: plait.SessionWriter) -> None:
    """A compaction that preserves the last answer, where the version can; then one more turn."""
    session.prompt("First")
    session.answer("One.", usage=USAGE)
    session.prompt("Second")
    kept = session.answer("Two.", usage=USAGE).messages
    preserved = () if session.setting.is_older else kept
    session.compact("They counted.", trigger="manual", pre_tokens=99, preserved=preserved)
    session.prompt("Third")
    session.answer("Three.", usage=USAGE)


def rewound(session: plait.SessionWriter) -> None:
    """A turn that was rewound."""
    session.prompt("First")
    here = session.answer("One.", usage=USAGE).messages[-1]
    session.prompt("Wrong")
    session.answer("Wrong too.", usage=USAGE)
    session.rewind(here)
    session.prompt("Right")
    session.answer("Right too.", usage=USAGE)


def sent_out(session: plait.SessionWriter) -> None:
    """An agent that starts another agent."""
    session.prompt("Let others do it")
    with session.response(usage=USAGE) as response:
        call = response.call("Task", {"description": "work", "prompt": "Do it"})
    agent = session.agent(call, kind="Explore", description="work")
    agent.prompt("Do it")
    with agent.response(usage=USAGE) as response:
        inner = response.call("Task", {"description": "more", "prompt": "Do that"})
    nested = agent.agent(inner, description="more")
    nested.prompt("Do that")
    nested.answer("That is done.", usage=USAGE)
    agent.result(inner, "That is done.", {"status": "completed", "agentId": nested.id})
    agent.answer("It is done.", usage=USAGE)
    output = {"status": "completed", "agentId": agent.id, "content": []}
    session.result(call, "It is done.", output)
    session.answer("Others did it.", usage=USAGE)


def named(session: plait.SessionWriter) -> None:
    """Every line about a whole session."""
    session.mode("normal")
    session.permission_mode("acceptEdits")
    session.prompt("Name it \u2028 Zürich \U0001f600 \ud800")
    session.answer("It has a name.", usage=USAGE)
    session.ai_title("A name")
    session.title("Another name")
    session.tag("kept")
    session.state("agent-name", agent_name="Another name")
    session.summary("A session about names")
    session.pull_request(3, "https://example.com/o/r/pull/3", "o/r")


STORIES: dict[str, Callable[[plait.SessionWriter], None]] = {
    item.__name__: item
    for item in (
        plain,
        tools,
        interrupted,
        errors,
        commands,
        attachments,
        events,
        compacted,
        rewound,
        sent_out,
        named,
    )
}
