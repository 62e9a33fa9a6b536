"""Applied plans of example sessions, and what copies must share."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plait import Archive
from plait.archive import Session
from plait.edit.plan import Append, Move, Plan, Remove, Write
from plait.graph.client import Context, build_context
from plait.line import iter_lines
from plait.record import Record, iter_client_records

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SESSION = "6f0c2f0e-0b3c-4b69-9a51-0d5a3c1e7b11"


def gallery() -> list[Path]:
    """Return the roots of the gallery."""
    return sorted(path.parent for path in (EXAMPLES / "gallery").glob("*/projects"))


def resume_cases() -> list[Path]:
    """Return the sessions whose context the real client has confirmed."""
    return sorted((EXAMPLES / "resume").glob("*/session.jsonl"))


def root_with(folder: Path, *lines: dict[str, Any] | bytes, session: str = SESSION) -> Path:
    """Write a session into a configuration folder, and return that."""
    path = folder / "projects" / "-home-dev-shop" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line_of(line) for line in lines))
    return folder


def line_of(line: dict[str, Any] | bytes) -> bytes:
    """Return a line as the client writes it."""
    if isinstance(line, bytes):
        return line
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def user(uuid: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a prompt as a line has it."""
    return {
        "parentUuid": parent,
        "type": "user",
        "uuid": uuid,
        "timestamp": "2026-11-02T09:00:00.000Z",
        "sessionId": SESSION,
        "message": {"role": "user", "content": f"prompt {uuid[:8]}"},
        **more,
    }


def answer(uuid: str, parent: str | None, *blocks: Any, **more: Any) -> dict[str, Any]:
    """Return a block of a response as a line has it; its id is that of the record but for more."""
    content = [*blocks] or [{"type": "text", "text": f"answer {uuid[:8]}"}]
    id_ = more.pop("id", f"msg_{uuid[:8]}")
    message = {"role": "assistant", "id": id_, "model": "m", "content": content}
    return user(uuid, parent, type="assistant", message=message, **more)


def calls(name: str) -> dict[str, Any]:
    """Return a call of a tool."""
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "ls"}}


def result(uuid: str, parent: str, call: str, **more: Any) -> dict[str, Any]:
    """Return the result of a call as a line has it."""
    block = {"type": "tool_result", "tool_use_id": call, "content": f"result of {call}"}
    return user(uuid, parent, message={"role": "user", "content": [block]}, **more)


def write(path: Path, *lines: Any) -> None:
    """Write some values as the lines of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def named(path: Path) -> str:
    """Return what a root is called in the list of tests."""
    return path.parent.name if path.is_file() else path.name


def only(root: Path) -> Session:
    """Return the one session of a root."""
    [session] = editable(root)
    return session


def copied(root: Path, folder: Path) -> Path:
    """Copy a root, so that it can be written to."""
    target = folder / root.name
    if root.is_dir():
        shutil.copytree(root, target)
        return target
    target = folder / "projects" / "p" / root.name
    target.parent.mkdir(parents=True)
    shutil.copyfile(root, target)
    return folder


def apply_steps(plan: Plan) -> Path:
    """Do what a plan says, without a journal, and return the file of the session."""
    for step in plan.steps:
        match step:
            case Write(path, content):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(b"".join(content()))
            case Append(path, data):
                path.write_bytes(path.read_bytes() + data)
            case Remove(path):
                path.unlink()
            case Move(path, target):
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)
    return plan.path


def editable(root: Path) -> list[Session]:
    """Return the sessions of a root that have a file."""
    return [session for session in Archive([root]).sessions if session.file]


def context_of(path: Path) -> Context:
    """Return what the client sends of a file."""
    return build_context(client_view(path), size=path.stat().st_size)


def client_view(path: Path) -> list[Record]:
    """Return the records that the client reads, those that broken lines begin with among them."""
    return list(iter_client_records(iter_lines(path)))


def without_ids(value: Any, names: dict[str, str]) -> Any:
    """Return a value of the log whose texts that are ids are replaced, wherever they stand."""
    if isinstance(value, str):
        return names.get(value) or in_own_folder(value, names)
    if isinstance(value, list):
        return [without_ids(item, names) for item in value]
    if isinstance(value, dict):
        return {key: without_ids(item, names) for key, item in value.items()}
    return value


def names_in(before: list[Record], after: list[Record]) -> dict[str, str]:
    """Return what each id of a record became, as they stand in the same places."""
    pairs = zip(before, after, strict=True)
    return {old.uuid: new.uuid for old, new in pairs if old.uuid and new.uuid}


def plain_records(records: list[Record], names: dict[str, str]) -> Iterator[Any]:
    """Yield records as they are but for ids, and for what says where they are from."""
    for record in records:
        fields = {key: item for key, item in record.fields.items() if key != "forkedFrom"}
        if isinstance(fields.get("sessionId"), str):
            fields["sessionId"] = "its session"
        yield without_ids(fields, names)


def same_messages(plan: Plan, before: Context, after: Context) -> bool:
    """Return whether two contexts say the same, but for paths into the session's folder."""
    wanted = in_own_folder(json.dumps(before.messages), {plan.source.id: plan.session})
    return bool(wanted == json.dumps(after.messages))


def in_own_folder(text: str, names: dict[str, str]) -> str:
    """Return a text whose paths into the folders beside a log are those of another session."""

    def moved(match: re.Match[str]) -> str:
        return f"/{names.get(match[1], match[1])}/{match[2]}"

    return re.sub(r"/([^/]+)/(tool-results|subagents|workflows)", moved, text)
