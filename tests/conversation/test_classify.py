"""Classification of user entries, in all forms that clients write."""

from typing import Any

import pytest

from plait.conversation.items import (
    classify_blocked_prompt,
    classify_local_command,
    classify_queued,
    classify_user_message,
    classify_waiting,
)
from plait.conversation.model import UserMessage
from plait.record import Attachment, System, parse_record
from plait.record.codec import encode
from plait.record.types import QueueOperation

COMMAND = "<command-name>/review</command-name>\n<command-message>review</command-message>\n"
NOTICE = (
    "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n"
    "<summary>Agent finished</summary>\n<result>All well</result>\n</task-notification>"
)
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


def user(content: Any, **fields: Any) -> UserMessage:
    line = {"type": "user", "uuid": "u", "message": {"role": "user", "content": content}, **fields}
    return classify_user_message(parse_record(encode(line)), uuid="u")


# what the row is about, the content, more fields of the line, what is expected of it
TABLE: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
    ("a prompt as a string", "hello", {}, {"kind": "prompt", "text": "hello", "is_typed": True}),
    (
        "a prompt as blocks",
        [{"type": "text", "text": "hello"}],
        {},
        {"kind": "prompt", "text": "hello", "is_typed": True},
    ),
    (
        "an agent's prompt is typed by nobody",
        "look around",
        {"isSidechain": True},
        {"kind": "prompt", "is_typed": False},
    ),
    (
        "a command with arguments",
        COMMAND + "<command-args>the parser</command-args>",
        {},
        {"kind": "command", "name": "/review", "arguments": "the parser"},
    ),
    (
        "a command whose message stands first",
        "<command-message>init is analyzing</command-message>\n<command-name>init</command-name>",
        {},
        {"kind": "command", "name": "/init", "arguments": None, "text": "/init"},
    ),
    (
        "the output of a command",
        "<local-command-stdout>Set model to opus</local-command-stdout>",
        {},
        {"kind": "command-output", "text": "Set model to opus"},
    ),
    (
        "the error of a command",
        "<local-command-stderr>no such command</local-command-stderr>",
        {},
        {"kind": "command-output", "text": "", "errors": "no such command"},
    ),
    (
        "a shell line",
        "<bash-input>git status</bash-input>",
        {},
        {"kind": "bash", "text": "git status", "is_typed": True},
    ),
    (
        "what a shell line printed",
        "<bash-stdout>clean</bash-stdout><bash-stderr>warned</bash-stderr>",
        {},
        {"kind": "bash-output", "text": "clean", "errors": "warned"},
    ),
    (
        "a skill that a call took up",
        [
            {
                "type": "text",
                "text": "Base directory for this skill: /home/dev/skills/tidy\n\n# Tidy",
            }
        ],
        {"isMeta": True, "sourceToolUseID": "toolu_1"},
        {"kind": "skill", "name": "tidy"},
    ),
    (
        "an interruption",
        [{"type": "text", "text": "[Request interrupted by user for tool use]"}],
        {},
        {"kind": "interruption"},
    ),
    (
        "the summary of a compaction",
        "This session is being continued…",
        {"isCompactSummary": True, "isVisibleInTranscriptOnly": True},
        {"kind": "summary"},
    ),
    (
        "the notice of a task",
        NOTICE,
        {"origin": {"kind": "task-notification"}},
        {"kind": "notice", "name": "b1", "status": "completed", "output": "All well"},
    ),
    ("the notice of an older client", NOTICE, {}, {"kind": "notice", "text": "Agent finished"}),
    (
        "the message of a teammate",
        '<teammate-message teammate_id="alice" color="blue">\nDone.\n</teammate-message>',
        {},
        {"kind": "teammate", "name": "alice", "text": "Done."},
    ),
    (
        "several messages of teammates in one",
        '<teammate-message teammate_id="a">1</teammate-message>'
        '<teammate-message teammate_id="b">2</teammate-message>',
        {},
        {"kind": "teammate", "name": "a, b", "text": "1\n\n2"},
    ),
    ("another session", "go on", {"origin": {"kind": "peer"}}, {"kind": "peer", "name": "peer"}),
    (
        "what the editor shows, with words after it",
        "<ide_opened_file>The user opened a.py</ide_opened_file>\nfix it",
        {},
        {"kind": "prompt", "text": "fix it", "context": "The user opened a.py"},
    ),
    (
        "what the editor shows, alone",
        "<ide_opened_file>The user opened a.py</ide_opened_file>",
        {},
        {"kind": "ide", "text": "The user opened a.py"},
    ),
    ("a picture alone", [PICTURE], {}, {"kind": "prompt", "text": "", "is_typed": True}),
    (
        "a document that a tool read",
        [{"type": "document", "source": {"type": "text", "data": "words"}}],
        {"isMeta": True},
        {"kind": "document"},
    ),
    (
        "the caveat before commands",
        "<local-command-caveat>Caveat: …</local-command-caveat>",
        {"isMeta": True},
        {"kind": "meta", "name": "caveat"},
    ),
    (
        "what a stop hook wants",
        "Stop hook feedback:\n[run the tests]",
        {"isMeta": True},
        {"kind": "hook", "name": "Stop"},
    ),
    (
        "what a hook adds to a prompt",
        "<user-prompt-submit-hook>be kind</user-prompt-submit-hook>",
        {},
        {"kind": "hook", "text": "be kind", "name": "user-prompt-submit-hook"},
    ),
    (
        "a reminder",
        "<system-reminder>\nbe brief\n</system-reminder>",
        {"isMeta": True},
        {"kind": "reminder", "text": "be brief"},
    ),
    ("other words of the client", "Continue.", {"isMeta": True}, {"kind": "meta"}),
    ("nothing at all", [], {}, {"kind": "empty", "text": ""}),
    ("a content that is no content", 7, {}, {"kind": "prompt", "text": ""}),
]


@pytest.mark.parametrize(
    ("content", "fields", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_messages_in_the_user_role(
    content: Any, fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    # checklist: S25, S26, S30
    told = user(content, **fields)
    assert {name: getattr(told, name) for name in expected} == expected


def test_notice_keeps_its_text() -> None:
    told = user(
        NOTICE.replace("</task-n", "<output-file>/tmp/b1.txt</output-file>\nSee it.\n</task-n")
    )
    assert told.context == "output-file: /tmp/b1.txt\nSee it."


def test_images_keep_their_data() -> None:
    told = user([{"type": "text", "text": "see"}, PICTURE])
    assert [(one.kind, one.media_type, one.size) for one in told.enclosures] == [
        ("image", "image/png", 3)
    ]
    assert told.enclosures[0].value["data"] == "AAAA"


# checklist: F27, P23
def test_command_in_a_system_record() -> None:
    text = (
        "<command-name>/review</command-name><command-message>at work</command-message>"
        "<command-args>all of it</command-args><local-command-stdout>fine</local-command-stdout>"
    )
    line = {"type": "system", "subtype": "local_command", "uuid": "s", "content": text}
    record = parse_record(encode(line))
    assert isinstance(record, System)
    told = classify_local_command(record, uuid="s")
    assert told is not None
    assert (told.kind, told.name, told.output) == ("command", "/review", "fine")
    assert (told.arguments, told.context) == ("all of it", "at work")


@pytest.mark.parametrize(
    ("prompt", "kind", "text"),
    [
        ("and the tests", "queued", "and the tests"),
        ([{"type": "text", "text": "see"}, PICTURE], "queued", "see"),
        (NOTICE, "notice", "Agent finished"),
        ("<bash-input>ls</bash-input>", "bash", "ls"),
        (None, "queued", ""),
    ],
)
def test_queued_entries(prompt: Any, kind: str, text: str) -> None:
    attachment = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
    record = parse_record(encode({"type": "attachment", "uuid": "q", "attachment": attachment}))
    assert isinstance(record, Attachment)
    told = classify_queued(record, uuid="q")
    assert (told.kind, told.text) == (kind, text)


PEER = (
    '<cross-session-message from="bd6c" from-name="docs">\n'
    "The build is red.\n</cross-session-message>"
)
TASK = (
    '{"task_id":"b0cd6e9","tool_use_id":"t","description":"Run the tests","task_type":"local_bash"}'
)
# what waits in the queue, what it is, its words, whose they are
QUEUE: list[tuple[str, str, str, str | None]] = [
    ("and the tests", "queued", "and the tests", None),
    ("<b>bold</b>", "queued", "<b>bold</b>", None),
    ("<x-row>1</x-row> is drawn twice", "queued", "<x-row>1</x-row> is drawn twice", None),
    ('{"name": "a value"}', "queued", '{"name": "a value"}', None),
    ('{\n"task_id": "b1"}', "queued", '{\n"task_id": "b1"}', None),
    ('{"task_id": "b1"', "queued", '{"task_id": "b1"', None),
    ("<ide_selection>a.py</ide_selection>\nthis", "queued", "this", None),
    (TASK, "notice", "Run the tests", "b0cd6e9"),
    ('{"taskId":"b1"}', "notice", '{"taskId":"b1"}', None),
    (NOTICE, "notice", "Agent finished", "b1"),
    ('<quota-notice kind="soon">80 %</quota-notice>', "notice", "80 %", "quota-notice"),
    ("<a-note>one</a-note>\n<b-note>two</b-note>", "notice", "one\ntwo", "a-note"),
    (PEER, "peer", "The build is red.", "docs"),
    (
        "<observed_from_primary_session>\n<outcome>ok</outcome>\n</observed_from_primary_session>\nTell.",
        "peer",
        "<outcome>ok</outcome>",
        "observed_from_primary_session",
    ),
    (
        '<teammate-message teammate_id="ann" summary="in short">one</teammate-message>',
        "teammate",
        "one",
        "ann",
    ),
]


@pytest.mark.parametrize(("text", "kind", "words", "name"), QUEUE)
def test_machine_queued_entries_are_not_typed(
    text: str, kind: str, words: str, name: str | None
) -> None:
    line = {"type": "queue-operation", "operation": "enqueue", "content": text}
    record = parse_record(encode(line))
    assert isinstance(record, QueueOperation)
    told = classify_waiting(record, text)
    assert (told.kind, told.text, told.name) == (kind, words, name)
    assert told.is_typed is (kind == "queued")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"prompt": PEER, "origin": {"kind": "human"}}, "peer"),
        ({"prompt": TASK, "origin": {"kind": "human"}}, "queued"),
        ({"prompt": "plain words", "origin": {"kind": "peer"}}, "peer"),
        ({"prompt": "plain words", "origin": {"kind": "human"}}, "queued"),
        ({"prompt": "plain words", "isMeta": True}, "notice"),
        ({"prompt": "plain words", "commandMode": "task-notification"}, "notice"),
        ({"prompt": TASK}, "notice"),
    ],
)
def test_the_clients_own_origin_is_trusted(fields: dict[str, Any], kind: str) -> None:
    attachment = {"type": "queued_command", "commandMode": "prompt", **fields}
    record = parse_record(encode({"type": "attachment", "uuid": "q", "attachment": attachment}))
    assert isinstance(record, Attachment)
    told = classify_queued(record, uuid="q")
    assert (told.kind, told.is_typed) == (kind, kind == "queued")


def test_a_message_of_another_session_is_read_without_the_clients_text_around_it() -> None:
    text = f"Another Claude session sent a message:\n{PEER}\n\nNot typed by your user."
    told = user(text, isMeta=True, origin={"kind": "peer"})
    assert (told.kind, told.text, told.name) == ("peer", "The build is red.", "docs")
    assert told.context == "from: bd6c\nNot typed by your user."


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Operation stopped by hook: not on a Friday", "stopped"),
        ("Operation stopped by hook", "stopped"),
    ],
)
def test_prompt_stopped_by_a_hook_is_not_a_prompt(text: str, status: str) -> None:
    told = user(text)
    assert (told.kind, told.status, told.text, told.is_typed) == ("hook", status, text, False)
    assert user("Operation stopped by hooks are odd").kind == "prompt"


@pytest.mark.parametrize(
    ("content", "fields", "name"),
    [
        (
            "UserPromptSubmit operation blocked by hook:\nno\n\nOriginal prompt: go",
            {},
            "UserPromptSubmit",
        ),
        ("not let through", {"promptSubmitEnding": {"ending": {"kind": "x"}}}, "UserPromptSubmit"),
        ("SessionStart operation blocked by hook", {}, "SessionStart"),
        ("all is well", {}, None),
    ],
)
def test_blocked_prompt(content: str, fields: dict[str, Any], name: str | None) -> None:
    line = {"type": "system", "subtype": "informational", "uuid": "s", "content": content}
    record = parse_record(encode({**line, **fields}))
    assert isinstance(record, System)
    told = classify_blocked_prompt(record)
    assert (told.name if told else None) == name
    if told:
        assert (told.kind, told.status, told.text) == ("hook", "blocked", content)
