"""A request to the form in which two can be compared: what varies from run to run left out."""

import re

from plait.graph.client.model import Block, Message

REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
VARYING = ("cache_control", "signature")


def comparable(request: list[Message]) -> list[Message]:
    """Returns the messages without system texts, reminders, signatures and blank texts."""
    plain = [(role, comparable_blocks(blocks)) for role, blocks in request if role != "system"]
    return [(role, blocks) for role, blocks in plain if blocks]


def comparable_blocks(blocks: list[Block]) -> list[Block]:
    """Returns the blocks that remain to be compared."""
    bare = [{key: block[key] for key in block if key not in VARYING} for block in blocks]
    shown = [without_reminders(block) for block in bare]
    return [block for block in shown if block.get("type") != "text" or block["text"].strip()]


def without_reminders(block: Block) -> Block:
    """Returns a text without the reminders in it."""
    if block.get("type") != "text" or "<system-reminder>" not in block["text"]:
        return block
    return {**block, "text": REMINDER.sub("", block["text"])}
