"""What other agents send when they resume a session, against what `plait context` shows.

    pi          its projection, made into messages by its own code
    codex       `codex exec resume`      ┐
    opencode    `opencode run --session` │ each sends its request to a stand-in on loopback, in a
    qwen        `qwen --resume`          │ network namespace of its own
    gemini      `gemini --resume`        ┘

Compared are the texts, the calls and their results in their order; not what the agent adds for the
new prompt: instructions, the date, the surroundings.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from plait import Archive
from plait.archive import Session
from tests.sources.builders import write_lines
from tests.sources.contexts import (
    Fields,
    Messages,
    construct_codex,
    construct_gemini,
    construct_opencode,
    construct_pi,
    construct_qwen,
    export_opencode,
    shape_context,
    text_of_part,
)
from tests.sources.facts import load

SERVER = Path(__file__).with_name("agents_server.py")
PORT = 8077
NEXT = "the next prompt of the judge"
Pair = tuple[str, list[str], list[str]]
"""A session, what the agent sends, and what Plait says that it sends."""

PROJECTION = """
import { readFileSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
const pi = await import(process.argv[2]);
const chunks = dirname(process.argv[2]) + "/chunks";
let transform;
for (const name of readdirSync(chunks)) {
    if (!name.endsWith(".js") || transform) continue;
    const text = readFileSync(`${chunks}/${name}`, "utf8");
    if (/export\\{[^}]*\\btransformMessages\\b/.test(text)) {
        transform = (await import(`${chunks}/${name}`)).transformMessages;
    }
}
const lines = readFileSync(process.argv[3], "utf8").trim().split("\\n");
const all = lines.flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });
pi.migrateSessionEntries(all);
const { messages, model } = pi.buildSessionProjection(all.filter((e) => e.type !== "session"));
const last = messages.findLast((message) => message.role === "assistant");
const used = { provider: model?.provider, id: model?.modelId, api: last?.api, input: ["text", "image"] };
console.log(JSON.stringify(transform(pi.convertToLlm(messages), used)));
"""


def open_session(root: Path, folder: Path, name: str) -> Session:
    """Return the session of one file."""
    found = list(Archive([root], translations=folder / "translations").sessions)
    return next(session for session in found if name in (session.id, str(session.source_path)))


def send(words: list[str], home: Path, folder: Path, seconds: int = 90) -> list[Fields]:
    """Run an agent with the stand-in for its model, and return the requests."""
    noted = home / "requests.jsonl"
    noted.unlink(missing_ok=True)
    address = f"http://127.0.0.1:{PORT}"
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home / "CODEX_HOME")}
    env |= {"XDG_DATA_HOME": str(home / "XDG_DATA_HOME"), "GOOGLE_GEMINI_BASE_URL": address}
    env |= {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_MODEL": "m"}
    keys = ("OPENAI_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY")
    env |= dict.fromkeys(keys, "none") | {"GEMINI_CLI_NO_RELAUNCH": "1", "NO_COLOR": "1"}
    inside = 'ip link set lo up; exec "$@"'
    served = [sys.executable, str(SERVER), str(noted), str(PORT), *words]
    words = ["unshare", "-rnpf", "--kill-child", "--mount-proc", "sh", "-c", inside, "sh", *served]
    with suppress(subprocess.TimeoutExpired):  # its request may have come
        subprocess.run(
            words, env=env, cwd=folder, capture_output=True, timeout=seconds, check=False
        )
    lines = noted.read_text(encoding="utf-8").splitlines() if noted.exists() else []
    return [json.loads(line)["body"] for line in lines]


# ------------------------------------------------------------------ Pi


def judge_pi(package: Path, folder: Path, recordings: list[Path]) -> Iterator[Pair]:
    """Compare with the messages that Pi's own code makes of a session."""
    node = package / "node/node_modules/node/bin/node"
    bundle = package / "@earendil-works_pi-coding-agent/package/dist/bundle/index.js"
    (folder / "context.mjs").write_text(PROJECTION)
    logs = folder / "logs"
    logs.mkdir()
    for path in recordings:
        shutil.copy(path, logs)
    for name, lines in construct_pi().items():
        write_lines(logs / f"{name}.jsonl", lines)
    for path in sorted(logs.iterdir()):
        words = [str(node), str(folder / "context.mjs"), str(bundle), str(path)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        expected = [text for message in json.loads(done.stdout) for text in shape_pi(message)]
        yield path.name, expected, shape_context(open_session(path, folder, str(path)))


def shape_pi(message: Fields) -> Iterator[str]:
    """Yield the texts, calls and results of a message of Pi."""
    content, role = message["content"], message["role"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if role == "toolResult":
        yield f"result: {' '.join(filter(None, map(text_of_part, parts))).strip()}"
        return
    if role == "system":
        texts = [text for text in message.get("sections", {}).values() if text]
        parts = [{"type": "text", "text": "\n\n".join([text_of_part(p) for p in parts] + texts)}]
    for part in parts:
        if part["type"] == "text" and part["text"].strip():
            yield f"{role}: {part['text'].strip()}"
        elif part["type"] == "toolCall":
            yield f"call {part['name']} {json.dumps(part['arguments'], sort_keys=True)}"


# ------------------------------------------------------------------ Codex


def judge_codex(package: Path, folder: Path, recordings: list[Path]) -> Iterator[Pair]:
    """Compare with the request of `codex exec resume`."""
    command = package / "@openai_codex/node_modules/.bin/codex"
    home = folder / "CODEX_HOME"
    sessions = home / "sessions/2026/10/01"
    sessions.mkdir(parents=True)
    settings = f'openai_base_url = "http://127.0.0.1:{PORT}/v1"\nmodel = "gpt-5.5"\n'
    (home / "config.toml").write_text(f'{settings}approval_policy = "never"\n')
    for path in recordings:
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        ids = [line["payload"]["id"] for line in lines if line.get("type") == "session_meta"]
        if len(ids) == 1:  # others are several threads one after the other
            shutil.copy(path, sessions / f"rollout-2026-10-01T10-00-00-{ids[0]}.jsonl")
    for log in construct_codex().values():
        write_lines(sessions / f"rollout-2026-10-01T10-00-00-{log.id}.jsonl", log.lines)
    for path in sorted(sessions.iterdir()):
        name = path.stem[-36:]
        found = shape_context(open_session(path, folder, name))
        size = path.stat().st_size
        words = ["exec", "--skip-git-repo-check", "resume", name, NEXT]
        requests = send([str(command), *words], folder, folder)
        if not requests:
            continue  # Codex refuses it
        added = list(items_of_codex(path.read_bytes()[size:]))
        new = [text for item in added for text in shape_codex(item)]
        sent = [text for item in requests[0]["input"] for text in shape_codex(item)]
        for text in new[: new.index(f"user: {NEXT}") + 1][::-1]:
            if sent[-1:] == [text]:  # not all that it writes is sent
                sent.pop()
        yield name, [text for text in sent if not text.startswith(BASE)], found


BASE = "developer: You are Codex"
"""Codex's own instructions, which no rollout contains."""


def items_of_codex(data: bytes) -> Iterator[Fields]:
    """Yield the items of the lines that Codex added."""
    for line in map(json.loads, data.splitlines()):
        if line["type"] == "response_item":
            yield line["payload"]


def shape_codex(item: Fields) -> Iterator[str]:
    """Yield the texts, calls and results of an item."""
    match item["type"]:
        case "message":
            for part in item["content"]:
                if text_of_part(part).strip():
                    yield f"{item['role']}: {text_of_part(part).strip()}"
        case "compaction" | "context_compaction":
            yield "assistant: (encrypted summary)"
        case "function_call" | "custom_tool_call" | "local_shell_call":
            given: Any = item.get("arguments", item.get("input", item.get("action")))
            try:
                value = json.loads(given)
            except (TypeError, ValueError):
                value = given
            value = value if isinstance(value, dict) else {"input": value}
            name = item.get("name", "local_shell")
            yield f"call {name} {json.dumps(value, sort_keys=True)}"
        case "function_call_output" | "custom_tool_call_output":
            output = item["output"]
            with suppress(TypeError, ValueError, KeyError):
                output = json.loads(output)["output"]
            parts = [output] if isinstance(output, str) else map(text_of_part, output)
            yield f"result: {' '.join(filter(None, parts)).strip()}"


# ------------------------------------------------------------------ OpenCode


def judge_opencode(package: Path, folder: Path, recordings: list[Path]) -> Iterator[Pair]:
    """Compare with the request of `opencode run --session`."""
    command = str(package / "opencode-linux-x64/node_modules/opencode-linux-x64/bin/opencode")
    settings = folder / ".config/opencode/opencode.json"
    settings.parent.mkdir(parents=True)
    options = {"baseURL": f"http://127.0.0.1:{PORT}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "p", "options": options}
    provider |= {"models": {"m": {"name": "m"}}}
    common = {"model": "p/m", "small_model": "p/m", "autoupdate": False, "share": "disabled"}
    settings.write_text(json.dumps(common | {"provider": {"p": provider}}))
    store = folder / "XDG_DATA_HOME/opencode/opencode.db"
    made = [*construct_opencode().values(), *(({}, load_parts(path)) for path in recordings)]
    for number, (revert, messages) in enumerate(made):
        session = f"ses_plait{number:04}"
        path = folder / f"{number}.json"
        path.write_text(json.dumps(export_opencode(session, str(folder), messages)))
        send([command, "import", str(path)], folder, folder)
        if revert:
            with closing(sqlite3.connect(store)) as base:
                values = json.dumps(revert).replace("SESSION", session[4:]), session
                base.execute("UPDATE session SET revert = ? WHERE id = ?", values)
                base.commit()
        found = shape_context(open_session(store.parent, folder, session))
        words = ["run", "--session", session, "--model", "p/m", NEXT]
        requests = send([command, *words], folder, folder)
        sent = [body["messages"] for body in requests if has_next(body["messages"])]
        if not sent:
            continue  # OpenCode refuses it
        expected = [text for message in sent[-1][:-1] for text in shape_chat(message)]
        yield session, [text for text in expected if not text.startswith("system: ")], found


def has_next(messages: list[Fields]) -> bool:
    """Return whether a request is that of the next prompt."""
    return any(NEXT in text for text in shape_chat(messages[-1])) and len(messages) > 1


def shape_chat(message: Fields) -> Iterator[str]:
    """Yield the texts, calls and results of a message of chat completions."""
    content, role = message.get("content"), message["role"]
    parts = [{"text": content}] if isinstance(content, str) else content or ()
    if role == "tool":
        yield f"result: {' '.join(filter(None, map(text_of_part, parts))).strip()}"
        return
    for part in parts:
        if text_of_part(part).strip():
            yield f"{role}: {text_of_part(part).strip()}"
    for call in message.get("tool_calls") or ():
        given = json.loads(call["function"]["arguments"])
        yield f"call {call['function']['name']} {json.dumps(given, sort_keys=True)}"


def load_parts(path: Path) -> Messages:
    """Return the parts of a recording as messages: each step of the model is one."""
    messages: Messages = []
    for line in path.read_text(encoding="utf-8").splitlines():
        part = json.loads(line)
        role = part["_role"]
        if not messages or messages[-1][0] != role or part["type"] == "step-start":
            messages.append((role, []))
        own = {name: value for name, value in part.items() if not name.startswith("_")}
        messages[-1][1].append(own)
    return messages


# ------------------------------------------------------------------ Qwen Code


def judge_qwen(package: Path, folder: Path, recordings: list[Path]) -> Iterator[Pair]:
    """Compare with the request of `qwen --resume`."""
    command = str(package / "@qwen-code_qwen-code/node_modules/.bin/qwen")
    chats = folder / ".qwen/projects" / re.sub("[^A-Za-z0-9]", "-", str(folder)) / "chats"
    chats.mkdir(parents=True)
    for number, records in enumerate(construct_qwen().values()):
        name = f"019e7583-0b33-4912-a209-4c0407cf{number:04}"
        placed = [record | {"sessionId": name, "cwd": str(folder)} for record in records]
        path = write_lines(chats / f"{name}.jsonl", placed)
        found = shape_context(open_session(path, folder, name))
        requests = send(
            [command, "--auth-type", "openai", "--resume", name, "-p", NEXT], folder, folder
        )
        sent = [body["messages"] for body in requests if has_next(body["messages"])]
        if not sent:
            continue
        expected = [text for message in sent[0] for text in shape_chat(message)]
        expected = [text for text in expected if not text.startswith(ADDED_BY_QWEN)]
        yield name, join_answers(expected), join_answers(found)


ADDED_BY_QWEN = ("system: ", "user: <system-reminder>", f"user: {NEXT}")


def join_answers(texts: list[str]) -> list[str]:
    """Return texts with neighbouring ones of the assistant joined, as the API has them."""
    joined: list[str] = []
    for text in texts:
        if text.startswith("assistant: ") and joined and joined[-1].startswith("assistant: "):
            joined[-1] += text.removeprefix("assistant: ")
        else:
            joined.append(text)
    return joined


# ------------------------------------------------------------------ Gemini CLI


def judge_gemini(package: Path, folder: Path, recordings: list[Path]) -> Iterator[Pair]:
    """Compare with the request of `gemini --resume`."""
    command = str(package / "@google_gemini-cli/node_modules/.bin/gemini")
    home = folder / ".gemini"
    chats = home / "tmp/judge/chats"
    chats.mkdir(parents=True)
    (home / "settings.json").write_text(
        '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
    )
    (home / "projects.json").write_text(json.dumps({"projects": {str(folder): "judge"}}))
    (chats.parent / ".project_root").write_text(str(folder))
    made = [*construct_gemini().values(), *(load(path) for path in recordings)]
    for number, lines in enumerate(made):
        name = f"019e7583-0b33-4912-a209-4c0407cf{number:04}"
        placed = [give_id(line, name) for line in lines]
        file = chats / f"session-2026-10-01T10-{number:02}-019e7583.jsonl"
        path = write_lines(file, placed)
        found = shape_context(open_session(path, folder, name))
        words = ["--skip-trust", "--model", "gemini-2.5-flash", "--resume", name, "-p", NEXT]
        requests = send([command, *words], folder, folder)
        path.unlink()
        shapes = [
            [text for content in body.get("contents", ()) for text in shape_gemini(content)]
            for body in requests
        ]
        sent = [shape for shape in shapes if shape and NEXT in shape[-1]]
        if sent:
            yield name, [text for text in sent[0][:-1] if not text.startswith(SURROUNDINGS)], found


SURROUNDINGS = ("user: <session_context>", "assistant: [The previous response was interrupted")
"""What Gemini CLI adds: where it works, and an answer between two prompts."""


def give_id(line: Fields, name: str) -> Fields:
    """Return a line with another session's id."""
    if "sessionId" in line:
        return line | {"sessionId": name}
    changes = line.get("$set")
    if isinstance(changes, dict) and "sessionId" in changes:
        return {"$set": changes | {"sessionId": name}}
    return line


def shape_gemini(content: Fields) -> Iterator[str]:
    """Yield the texts, calls and results of a content."""
    role = "assistant" if content["role"] == "model" else content["role"]
    for part in content["parts"]:
        if call := part.get("functionCall"):
            yield f"call {call['name']} {json.dumps(call.get('args'), sort_keys=True)}"
        elif response := part.get("functionResponse"):
            value = response["response"]
            text = value.get("error") or value.get("output") or json.dumps(value)
            yield f"result: {text.strip()}"
        elif text_of_part(part).strip() and not part.get("thought"):
            yield f"{role}: {part['text'].strip()}"


JUDGES = {
    "pi": judge_pi,
    "codex": judge_codex,
    "opencode": judge_opencode,
    "qwen": judge_qwen,
    "gemini": judge_gemini,
}
