"""Whole requests: session content without the probe and its notes."""

from conformance.model import Json
from conformance.whole import added_texts, whole

PROBE = "what was said?"
NOTE = "<system-reminder>\nthe weather\n</system-reminder>"


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def asked(*messages: tuple[str, object]) -> list[Json]:
    return [{"role": role, "content": content} for role, content in messages]


def test_session_content_stays_block_by_block() -> None:
    signed = {"type": "thinking", "thinking": "hm", "signature": "s"}
    request = asked(
        ("user", [text(NOTE), {**text("a"), "cache_control": {}}]),
        ("system", "be brief"),
        ("assistant", [signed]),
        ("user", PROBE),
    )
    assert whole(request, (PROBE,), [NOTE]) == [
        ("user", [text(NOTE), text("a")]),
        ("system", [text("be brief")]),
        ("assistant", [{"type": "thinking", "thinking": "hm"}]),
    ]


def test_notes_of_the_probe_are_removed() -> None:
    request = asked(
        ("user", [text("open\n"), text(f"{NOTE}\n"), text(PROBE)]),
        ("system", [text("kept\n\nthe weather")]),
    )
    assert whole(request, (PROBE,), [NOTE]) == [
        ("user", [text("open\n")]),
        ("system", [text("kept")]),
    ]
    tagged = asked(("user", PROBE), ("system", f"{NOTE}\n\n{NOTE}"))
    assert whole(tagged, (PROBE,), [NOTE]) == []


def test_notes_merged_into_the_last_result_are_removed() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": f"out\n\n{NOTE}"}
    request = asked(("user", [result, text(PROBE)]))
    assert whole(request, (PROBE,), [NOTE]) == [("user", [{**result, "content": "out"}])]


def test_run_settings_are_not_messages() -> None:
    assert whole(asked(("user", "a"), ("system", []), ("user", PROBE)), (PROBE,), []) == [
        ("user", [text("a")])
    ]


def test_extra_entries_of_a_fork_were_added() -> None:
    rendered = [{"content": NOTE}, {"content": [text("more")]}]
    fork: list[Json] = [
        {"type": "attachment", "uuid": "old", "rendered": [{"content": "own"}]},
        {"type": "attachment", "uuid": "new", "rendered": rendered},
        {"type": "attachment", "uuid": "silent"},
        {"type": "user", "uuid": "said"},
    ]
    assert list(added_texts(fork, {"old"})) == [NOTE, "more"]


def test_attachments_after_the_answer_to_the_probe_are_not_subtracted() -> None:
    """A Stop hook repeats what it said at the end of the session's last turn."""
    fork: list[Json] = [
        {"type": "assistant", "uuid": "old"},
        {"type": "user", "message": {"role": "user", "content": PROBE}},
        {"type": "attachment", "uuid": "date", "rendered": [{"content": "the date"}]},
        {"type": "assistant", "uuid": "answer"},
        {"type": "attachment", "uuid": "hook", "rendered": [{"content": NOTE}]},
    ]
    assert list(added_texts(fork, {"old"}, (PROBE,))) == ["the date"]
