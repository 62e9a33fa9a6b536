"""Other agents as judges of how their logs are read, from npm, offline.

python -m conformance.agents [--only pi,codex,opencode,qwen,gemini] [--logs DIR]

    codex       `thread/read` of its app server                        against prompts and answers
    opencode    `opencode import`, then `opencode export`              against prompts and answers
    all         what they send when they resume a session              against `plait context`

The last is in `conformance.agents_context`. Each is asked about constructed sessions with every kind
of branch, and about recordings, if there are any (`--logs`). They run in a network namespace of their
own, with a home folder of their own. What is missing is skipped with a sentence.
Exit codes: 0 all equal, 1 something differs, 5 everything was skipped.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conformance.agents_context import JUDGES as CONTEXTS
from plait import Archive
from plait.archive import Session
from plait.conversation.model import AssistantText, UserMessage
from tests.sources.builders import CodexLog, write_lines

PROJECT = Path(__file__).resolve().parents[1]
HOME = PROJECT / ".cache" / "conformance-agents"
PACKAGES = {
    "pi": {"node": "22", "@earendil-works/pi-coding-agent": "1.5.2"},
    "codex": {"@openai/codex": "0.169.0"},
    "opencode": {"opencode-ai": "1.18.33", "opencode-linux-x64": "1.18.33"},
    "qwen": {"@qwen-code/qwen-code": "0.24.4"},
    "gemini": {"@google/gemini-cli": "0.61.0"},
}
FOLDERS = {"gemini": "gemini-cli"}
DIFFERS, LACKS = 1, 5
PLAN = "<proposed_plan>"
Pair = tuple[str, list[str], list[str]]
"""A session, what the agent says of it, and what Plait says."""


class Missing(Exception):
    """Why an agent cannot be asked."""


def main() -> int:
    """Ask the agents that can be had, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m conformance.agents")
    parser.add_argument("--only", default=",".join(PACKAGES), help="names, with commas")
    parser.add_argument("--logs", type=Path, help="a folder with logs, one folder for each agent")
    given = parser.parse_args()
    compared = different = 0
    for name in given.only.split(","):
        try:
            package = install(name)
        except Missing as missing:
            print(f"{name}: skipped, {missing}")
            continue
        found = list_recordings(given.logs, FOLDERS.get(name, name))
        for what, judge in (("conversations", JUDGES.get(name)), ("contexts", CONTEXTS[name])):
            if judge is None:
                continue
            alike = asked = 0
            with tempfile.TemporaryDirectory() as folder:
                for session, expected, read in judge(package, Path(folder), found):
                    asked += 1
                    alike += expected == read
                    if expected != read:
                        print(f"{name}: {session} differs")
                        for ours, theirs in zip_longest_texts(read, expected):
                            print(f"    {name} {theirs!r}, plait {ours!r}")
            compared, different = compared + asked, different + asked - alike
            versions = ", ".join(f"{key} {value}" for key, value in PACKAGES[name].items())
            print(f"{name} ({versions}): {alike} of {asked} {what} equal", flush=True)
    return LACKS if not compared else DIFFERS if different else 0


def zip_longest_texts(found: list[str], expected: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the first places where two lists differ."""
    longest = max(len(found), len(expected))
    pairs = [
        (found[at] if at < len(found) else "", expected[at] if at < len(expected) else "")
        for at in range(longest)
    ]
    yield from [(ours[:70], theirs[:70]) for ours, theirs in pairs if ours != theirs][:3]


def install(name: str) -> Path:
    """Return the folder with an agent's package; it is fetched once."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise Missing("npm and node are not installed")
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        raise Missing("no network namespace can be made here")
    folder = HOME / name
    for package, version in PACKAGES[name].items():
        wanted = folder / package.replace("/", "_")
        if (wanted / "done").exists():
            continue
        wanted.mkdir(parents=True, exist_ok=True)
        # Pi's bundle needs none of its dependencies, not all of which can be had.
        words = ["npm", "pack", "--silent", f"{package}@{version}"]
        if name != "pi" or package == "node":
            words = ["npm", "install", "--silent", "--no-save", f"{package}@{version}"]
        done = subprocess.run(words, cwd=wanted, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"npm has no {package} {version}")
        for packed in wanted.glob("*.tgz"):
            subprocess.run(["tar", "xzf", packed.name], cwd=wanted, check=True)
        (wanted / "done").touch()
    return folder


def run_offline(words: list[str], home: Path, given: str = "", seconds: int = 60) -> str:
    """Run an agent without a network, and return what it prints."""
    paths = {name: str(home / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CODEX_HOME")}
    env = {"PATH": os.environ["PATH"], "HOME": str(home)} | paths
    done = subprocess.run(
        ["unshare", "-rn", *words],
        input=given,
        env=env,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return done.stdout


def list_recordings(logs: Path | None, agent: str) -> list[Path]:
    """Return the recordings of an agent."""
    return sorted((logs / agent).glob("*.jsonl")) if logs else []


def open_sessions(root: Path, folder: Path) -> list[Session]:
    """Return the sessions that Plait finds under a root."""
    return list(Archive([root], translations=folder / "translations").sessions)


# ------------------------------------------------------------------ Codex


def judge_codex(package: Path, folder: Path, recordings: list[Path]) -> Iterator[Pair]:
    """Compare the prompts and answers of the conversation that goes on."""
    command = package / "@openai_codex/node_modules/.bin/codex"
    sessions = folder / "CODEX_HOME/sessions/2026/10/01"
    sessions.mkdir(parents=True)
    for path in recordings:
        ids = [
            line["payload"]["id"]
            for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())
            if line.get("type") == "session_meta"
        ]
        if len(ids) == 1:  # others are several threads one after the other
            shutil.copy(path, sessions / f"rollout-2026-10-01T10-00-00-{ids[0]}.jsonl")
    for log in construct_codex():
        write_lines(sessions / f"rollout-2026-10-01T10-00-00-{log.id}.jsonl", log.lines)
    found = {session.id: session for session in open_sessions(folder / "CODEX_HOME", folder)}
    client = {"name": "plait", "version": "1"}
    asked: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": {"clientInfo": client}},
        {"method": "initialized"},
    ]
    asked += [
        {"id": number, "method": "thread/read", "params": {"threadId": id_, "includeTurns": True}}
        for number, id_ in enumerate(found, 1)
    ]
    lines = "".join(f"{json.dumps(line)}\n" for line in asked)
    # The server stops with its input: it is held open until the answers have come.
    words = ["sh", "-c", f'(cat; sleep 20) | "{command}" app-server']
    answers = {}
    for line in run_offline(words, folder, lines).splitlines():
        answer = json.loads(line)
        if "result" in answer:
            answers[answer["id"]] = answer["result"]
    for number, (id_, session) in enumerate(found.items(), 1):
        thread = answers.get(number, {}).get("thread")
        if thread is None:
            continue
        expected = [text for turn in thread["turns"] for text in texts_of_codex(turn)]
        # It shows a plan apart, and nothing of threads that were cut off or lack its own index.
        read = texts_of_conversation(session)
        if expected:
            yield id_, expected, [text for text in read if not text.startswith(PLAN)]


class ShownLog(CodexLog):
    """A thread whose answers were shown, too: these are what `thread/read` returns."""

    def answer(self, text: str, tokens: int = 100, cached: int = 40) -> CodexLog:
        """Add an answer with the usage of its request."""
        self.add("event_msg", type="agent_message", message=text)
        return super().answer(text, tokens, cached)


def construct_codex() -> Iterator[CodexLog]:
    """Yield threads of Codex with rollbacks and compactions."""

    def begin(number: int) -> CodexLog:
        time = "2026-10-01T10:00:00.000Z"
        return ShownLog(number, source="cli", originator="x", timestamp=time)

    def roll_back(log: CodexLog, turns: int) -> CodexLog:
        log.add("event_msg", type="thread_rolled_back", num_turns=turns)
        return log

    yield begin(1).prompt("one").answer("1").prompt("two").answer("2")
    yield roll_back(begin(2).prompt("one").answer("1").prompt("two").answer("2"), 1)
    log = roll_back(begin(3).prompt("one").answer("1").prompt("two").answer("2"), 2)
    yield log.prompt("three").answer("3")
    log = roll_back(begin(4).prompt("one").answer("1").prompt("two").answer("2"), 1)
    yield roll_back(log.prompt("three").answer("3").prompt("four").answer("4"), 2)
    log = begin(5).prompt("one").answer("1")
    log.add("compacted", message="so far", replacement_history=[])
    yield roll_back(log.prompt("two").answer("2"), 1).prompt("three").answer("3")


def texts_of_codex(turn: dict[str, Any]) -> Iterator[str]:
    """Yield the prompts and answers of a turn."""
    for item in turn["items"]:
        if item["type"] == "userMessage":
            yield "\n".join(part["text"] for part in item["content"] if part["type"] == "text")
        elif item["type"] == "agentMessage":
            yield item["text"]


def texts_of_conversation(session: Session) -> list[str]:
    """Return the prompts and answers of the conversation that goes on."""
    return [
        item.text
        for turn in session.conversations.active.turns
        for item in turn.items
        if isinstance(item, AssistantText)
        or (isinstance(item, UserMessage) and item.kind == "prompt")
    ]


# ------------------------------------------------------------------ OpenCode


def judge_opencode(package: Path, folder: Path, recordings: list[Path]) -> Iterator[Pair]:
    """Import sessions into OpenCode's database, and compare what it exports with what is read."""
    command = package / "opencode-linux-x64/node_modules/opencode-linux-x64/bin/opencode"
    for number, parts in enumerate(construct_opencode(recordings)):
        path = folder / f"{number}.json"
        path.write_text(json.dumps(make_export(f"ses_plait{number:04}", folder, parts)))
        run_offline([str(command), "import", str(path)], folder)
    for session in open_sessions(folder / "XDG_DATA_HOME/opencode", folder):
        printed = run_offline([str(command), "export", session.id], folder)
        exported = json.loads(printed[printed.index("{") :])
        expected = [
            part["text"]
            for message in exported["messages"]
            for part in message["parts"]
            if part["type"] == "text" and not part.get("synthetic")
        ]
        yield session.id, expected, texts_of_conversation(session)


def construct_opencode(recordings: list[Path]) -> Iterator[list[tuple[str, list[dict[str, Any]]]]]:
    """Yield sessions as roles with their parts: one made up, and the texts of recordings."""
    yield [("user", [make_text("one")]), ("assistant", [make_text("1"), make_text("and more")])] * 2
    for path in recordings:
        messages: list[tuple[str, list[dict[str, Any]]]] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            part = json.loads(line)
            if part["type"] != "text":
                continue
            if not messages or messages[-1][0] != part["_role"]:
                messages.append((part["_role"], []))
            messages[-1][1].append(make_text(part["text"]))
        if messages:
            yield messages


def make_text(text: str) -> dict[str, Any]:
    """Return a part with words."""
    return {"type": "text", "text": text}


def make_export(
    session: str, folder: Path, messages: list[tuple[str, list[dict[str, Any]]]]
) -> dict[str, Any]:
    """Return a session as `opencode export` prints it."""
    start = 1_790_000_000_000
    info = {
        "id": session,
        "slug": session,
        "projectID": "global",
        "directory": str(folder),
        "title": session,
        "version": "1.18.33",
        "time": {"created": start, "updated": start},
    }
    made = []
    last_user = ""
    for number, (role, parts) in enumerate(messages):
        id_ = f"msg_{session[4:]}{number:04}"
        common = {"id": id_, "sessionID": session, "role": role}
        if role == "user":
            last_user = id_
            more: dict[str, Any] = {
                "time": {"created": start + number},
                "agent": "build",
                "model": {"providerID": "p", "modelID": "m"},
            }
        else:
            more = {
                "time": {"created": start + number, "completed": start + number},
                "parentID": last_user or id_,
                "modelID": "m",
                "providerID": "p",
                "mode": "build",
                "agent": "build",
                "path": {"cwd": str(folder), "root": "/"},
                "cost": 0,
                "tokens": {
                    "input": 1,
                    "output": 1,
                    "reasoning": 0,
                    "cache": {"read": 0, "write": 0},
                },
            }
        placed = [
            part | {"id": f"prt_{id_[4:]}{place:02}", "sessionID": session, "messageID": id_}
            for place, part in enumerate(parts)
        ]
        made.append({"info": common | more, "parts": placed})
    return {"info": info, "messages": made}


JUDGES: dict[str, Callable[[Path, Path, list[Path]], Iterator[Pair]]] = {
    "codex": judge_codex,
    "opencode": judge_opencode,
}

if __name__ == "__main__":
    sys.exit(main())
