"""Redact sessions in which a secret was typed, as a copy and in place."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from conformance.edits.ids import old_ids, with_old_ids
from conformance.edits.model import Case, Edited, Faults, Operation, Trial
from conformance.edits.trims import both, typed
from conformance.model import Json, Message
from conformance.sandbox import make_old

Files: TypeAlias = Callable[[Edited], list[Path]]
"""Which files must not hold a secret."""

THOUGHTS = ("thinking", "redacted_thinking")
SECRET = "ghp_Zk3vQ8wXr5tYm1nBc7dLa9sJh2fGp4eUo6iT"
"""Made up, in the form of a token that everybody knows."""


def redact(case: Case) -> Trial:
    """A copy that can be shown: the client goes on with it, and the secret is nowhere in it."""
    told(case)
    return Trial(case.archive.plan.redact(case.file.stem), partial(clean, beside_of))


def redact_in_place(case: Case) -> Trial | None:
    """The session itself: the secret is in no file of it, nor in the list of prompts."""
    told(case)
    plan = case.archive.plan.redact(case.file.stem, in_place=True)
    return Trial(plan, partial(clean, all_of)) if plan.steps else None


def told(case: Case) -> None:
    """Let somebody type a secret in every prompt, and let the client list the prompts."""
    lines = case.file.read_bytes().split(b"\n")
    case.file.write_bytes(b"\n".join(with_secret(line) for line in lines))
    make_old(case.file)
    prompt = {"display": f"use {SECRET}", "sessionId": case.file.stem, "timestamp": 1}
    history = case.desk.config / "history.jsonl"
    history.write_text(json.dumps(prompt) + "\n", encoding="utf-8")
    make_old(history)


def with_secret(line: bytes) -> bytes:
    """Return the line of a prompt with a secret in it; every other line as it is."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    message = entry.get("message") if isinstance(entry, dict) else None
    if not isinstance(message, dict) or entry.get("type") != "user":
        return line
    said = message.get("content")
    if not isinstance(said, str) or said.startswith("<") or not any(typed(entry)):
        return line  # what is wholly in tags is a machine's, and would not be with more behind it
    changed = {**message, "content": f"{message['content']} {SECRET}"}
    return json.dumps({**entry, "message": changed}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def clean(files: Files, edited: Edited) -> Faults:
    """Yield where a secret is left, and in what the client reads the session otherwise."""
    before, after = both(edited)
    olds = old_ids(edited.file, edited.case.file.stem)
    if with_old_ids(after.chain, olds) != list(before.chain):
        yield "the client takes another chain than before"
    if shape(after.messages) != shape(before.messages):
        yield "the client sends messages of another shape than before"
    if SECRET in json.dumps(after.messages):
        yield "the secret is sent"
    for file in files(edited):
        if SECRET.encode() in file.read_bytes():
            yield f"the secret is left in {file.name}"
    if edited.case.archive.plan.redact(edited.plan.session, in_place=True).steps:
        yield "it would be redacted again"


def shape(messages: list[Message]) -> list[tuple[str, list[str]]]:
    """Return who says what kinds of things; a thought that told something goes, being signed."""
    found = [(role, [kind(block) for block in blocks]) for role, blocks in messages]
    said = [(role, [one for one in kinds if one not in THOUGHTS]) for role, kinds in found]
    return [(role, kinds) for role, kinds in said if kinds]


def kind(block: Json) -> str:
    """Return what kind of block it is."""
    return str(block.get("type"))


def beside_of(edited: Edited) -> list[Path]:
    """Return the files of the session that was made."""
    return [edited.file, *under(edited.file.with_suffix(""))]


def all_of(edited: Edited) -> list[Path]:
    """Return all files but those that the journal keeps for an undo."""
    config = edited.case.desk.config
    return [file for file in under(config) if ".plait" not in file.parts]


def under(folder: Path) -> list[Path]:
    """Return the files below a folder."""
    return [file for file in folder.rglob("*") if file.is_file()]


REDACTIONS: dict[str, Operation] = {"redact": redact, "redact-in-place": redact_in_place}
