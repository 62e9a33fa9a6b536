"""A script to the function that chooses answers: by the words of the prompt, or in turn."""

import json
import re
from collections.abc import Iterable, Iterator
from threading import Lock

from tests.standin.model import Answer, Choose, Json, Script
from tests.standin.schema import schema_of, value_for

REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
SUMMARY = {
    "when": "Your task is to create a detailed summary",
    "answers": [{"text": "<analysis>short</analysis>\n<summary>What was said so far.</summary>"}],
}
OK: Answer = {"text": "ok"}


def by_script(script: Script) -> Choose:
    """Return the choice by rules: the newest prompt decides.

    The answers of a rule are the steps of a turn: the first to the prompt, the second after
    the results of the first, and so on; the last one repeats. Nothing is remembered between
    requests, so a retry gets the same answer.
    """
    rules = [*script.get("rules", []), SUMMARY]

    def choose(request: Json) -> Answer:
        schema = schema_of(request)
        if schema is not None:
            return {"text": json.dumps(value_for(schema, script.get("object", {})))}
        return ruled(rules, request) or script.get("otherwise", OK)

    return choose


def ruled(rules: list[Json], request: Json) -> Answer | None:
    """Return the answer that the rules give, None where no rule names the prompt."""
    step = 0
    for message in reversed(request.get("messages", [])):
        if message["role"] == "assistant":
            step += 1
        elif message["role"] == "user" and (words := list(texts(message))):
            answers = named(rules, words[-1])
            if answers:
                return answers[min(step, len(answers) - 1)]
            if not holds_results(message):  # words beside results may be the client's own
                return None
    return None


def named(rules: list[Json], words: str) -> list[Answer] | None:
    """Return the answers of the first rule that names some words."""
    return next((rule["answers"] for rule in rules if rule["when"] in words), None)


def holds_results(message: Json) -> bool:
    """Whether a message gives back what tools found."""
    content = message["content"]
    return not isinstance(content, str) and any(
        item.get("type") == "tool_result" for item in content
    )


def texts(message: Json) -> Iterator[str]:
    """Yield the texts of a message, without reminders and what is blank then."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks:
        if block.get("type") == "text" and (text := REMINDER.sub("", block["text"]).strip()):
            yield text


def in_turn(answers: Iterable[Answer], otherwise: Answer = OK) -> Choose:
    """Return the choice that takes answers from a queue, then one and the same."""
    waiting = list(answers)
    lock = Lock()

    def choose(_: Json) -> Answer:
        with lock:
            return waiting.pop(0) if waiting else otherwise

    return choose
