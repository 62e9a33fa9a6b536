"""Words to an archive that says them wherever a log can: in names, ids, branches, titles, tools."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.hostile.named import BACKWARDS, CLIPBOARD, COMMAND, ESCAPES
from tests.redact.ways_out import PLACES, known_fields, titles

WORD = f"{ESCAPES}{CLIPBOARD}{BACKWARDS}\x9b31m{COMMAND}\nhint: run this\r\x08\x7f"
"""All that must not reach a terminal, or a shell."""
NAME = WORD.replace("/", "_").replace("\0", "")[:80]
"""The same as the name of a file."""
SESSION = "5a0e7c11-0000-4000-8000-00000000000e"

Line = dict[str, Any]


def hostile_archive(root: Path, word: str = WORD, name: str = NAME) -> Path:
    """Write sessions that say a word everywhere, under plain names and under its own."""
    folder = root / "projects" / f"-home-{name}"
    folder.mkdir(parents=True)
    for file, session in ((SESSION, SESSION), (name, word)):
        lines = [*titles(word), *conversation(word), *known_fields(word)]
        data = "".join(json.dumps(line) + "\n" for line in linked(lines, session, word))
        (folder / f"{file}.jsonl").write_text(f'{data}{{"broken": "{SESSION}\n')
        agent = folder / file / "subagents" / f"agent-{name}.jsonl"
        agent.parent.mkdir(parents=True)
        result = linked(PLACES["prompt"](word), session, word, isSidechain=True, agentId=word)
        agent.write_text("".join(json.dumps(line) + "\n" for line in result))
        meta = dict.fromkeys(("description", "name", "agentType", "model"), word)
        agent.with_suffix(".meta.json").write_text(json.dumps(meta))
        (folder / file / "custom-title.json").write_text(json.dumps({"customTitle": word}))
    return root


def conversation(word: str) -> Iterator[Line]:
    """Yield turns of every kind that say a word, and tools that are called so."""
    for place in PLACES.values():
        yield from place(word)
    call = {"type": "tool_use", "id": word, "name": word, "input": {word: word}}
    answer = {"role": "assistant", "id": word, "model": word, "content": [call]}
    yield {"type": "assistant", "message": answer, "requestId": word}
    result = {"type": "tool_result", "tool_use_id": word, "content": word, "is_error": True}
    yield {"type": "user", "message": {"role": "user", "content": [result]}}
    yield {"type": word, "subtype": word, "message": {"role": word, "content": word}}
    yield from PLACES["prompt"](f"{word} again")


def linked(lines: Iterable[Line], session: str, word: str, **more: Any) -> Iterator[Line]:
    """Yield lines with hostile ids; every ninth goes back, so that branches are left."""
    ids: list[str] = []
    for number, line in enumerate(lines):
        uuid = f"{number}{word}"
        parent = ids[-1] if ids and number % 9 else ids[-7] if len(ids) > 7 else None
        ids.append(uuid)
        stamp = f"2026-11-02T09:{number // 60 % 60:02}:{number % 60:02}.000Z"
        links = {"uuid": uuid, "parentUuid": parent, "sessionId": session, "timestamp": stamp}
        place = {"cwd": f"/home/{word}", "gitBranch": word, "version": word}
        yield {**place, **links, **more, **line}
