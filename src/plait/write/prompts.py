"""What a person asked to its words, as they were typed and in short."""

from plait.write.model import Content

SHORTEST = 200
"""Letters of a prompt that are told where a session goes on."""


def words_of(content: Content) -> str:
    """Returns the words of a prompt, as they were typed."""
    if isinstance(content, str):
        return content
    return " ".join(block["text"] for block in content if block.get("type") == "text")


def in_short(content: Content) -> str:
    """Returns the words of a prompt as far as lists tell them."""
    words = " ".join(words_of(content).split())
    return words if len(words) <= SHORTEST else f"{words[:SHORTEST]}…"
