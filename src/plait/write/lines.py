"""What is said of a whole session to the line that says it: no uuid, no parent, the last counts."""

from plait.record.codec import encode


def custom_title(session: str, title: str) -> bytes:
    """Returns the line by which a person names a session."""
    return encode({"type": "custom-title", "customTitle": title, "sessionId": session})


def tag(session: str, word: str) -> bytes:
    """Returns the line that tags a session; an empty word takes the tag away."""
    return encode({"type": "tag", "tag": word, "sessionId": session})


def last_prompt(
    session: str, leaf: str, words: str | None = None, *, is_explicit: bool = False
) -> bytes:
    """Returns the line that says where a session goes on.

    Where the leaf lies before the end of what goes on by itself, only an explicit one counts.
    """
    fields: dict[str, object] = {"type": "last-prompt"}
    if words is not None:
        fields["lastPrompt"] = words
    fields["leafUuid"] = leaf
    if is_explicit:
        fields["explicit"] = True
    return encode({**fields, "sessionId": session})
