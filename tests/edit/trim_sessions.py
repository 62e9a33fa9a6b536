"""Random sessions as clients write them, in both formats."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Row = dict[str, Any]

calls = st.fixed_dictionaries(
    {
        "tool": st.sampled_from(("Bash", "Read", "Task", "mcp__git__log")),
        "size": st.integers(0, 300),
        "hooks": st.integers(0, 2),
        "news": st.integers(0, 2),
        "note": st.booleans(),
        "is_snapshot": st.booleans(),
    }
)
responses = st.fixed_dictionaries(
    {
        "thoughts": st.integers(0, 2),
        "words": st.booleans(),
        "calls": st.lists(calls, max_size=3),
        "order": st.randoms(use_true_random=False),
        "is_one_line": st.booleans(),
    }
)
turns = st.fixed_dictionaries(
    {
        "responses": st.lists(responses, max_size=3),
        "is_answered": st.booleans(),
        "back": st.sampled_from((0, 0, 0, 0, 1, 2)),
        "compacts": st.sampled_from((False,) * 7 + (True,)),
        "points": st.booleans(),
    }
)
plans = st.lists(turns, min_size=1, max_size=4)
forms = st.sampled_from(("2.1.29", "2.1.325"))


class Pen:
    """Writes a session as the client does, one record after the other."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.rows: list[Row] = []
        self.leaf: str | None = None
        self.tips: list[str | None] = []
        """Where each turn ended."""
        self.count = 0

    @property
    def is_old(self) -> bool:
        """Whether results hang on the last block, and news are links of the chain."""
        return self.version == "2.1.29"

    def name(self) -> str:
        """Return an id that no record has."""
        self.count += 1
        return f"{self.count:08}-0000-4000-8000-000000000000"

    def write(self, kind: str, **more: Any) -> str:
        """Add a record below the leaf."""
        uuid = self.name()
        time = f"2026-11-02T09:{self.count // 60 % 60:02}:{self.count % 60:02}.000Z"
        frame = {"userType": "external", "cwd": "/x", "sessionId": "s", "version": self.version}
        row = {"parentUuid": self.leaf, "isSidechain": False, "type": kind}
        self.rows.append({**row, "uuid": uuid, "timestamp": time, **frame, **more})
        self.leaf = uuid
        return uuid

    def aside(self, kind: str, **more: Any) -> None:
        """Add a line without a uuid."""
        self.rows.append({"type": kind, **more})

    def turn(self, number: int, plan: Row) -> None:
        """Add a prompt, responses with calls, and an answer."""
        if plan["back"] and self.tips:
            self.leaf = self.tips[-min(plan["back"], len(self.tips))]
        if plan["compacts"] and self.leaf:
            self.compact()
        prompt = self.write("user", message={"role": "user", "content": f"prompt {number}"})
        self.aside("file-history-snapshot", **backups(prompt, prompt, False))
        for at, response in enumerate(plan["responses"]):
            self.response(f"m{number}-{at}", prompt, response)
        if plan["is_answered"]:
            self.block(f"a{number}", {"type": "text", "text": f"answer {number}"})
        self.tips.append(self.leaf)
        if plan["points"]:
            self.aside(
                "last-prompt", lastPrompt=f"prompt {number}", leafUuid=self.leaf, sessionId="s"
            )

    def compact(self) -> None:
        """Add a compaction that keeps the last records."""
        kept = [row["uuid"] for row in self.rows if row.get("uuid")][-3:]
        logical, self.leaf = self.leaf, None
        summary = f"{self.count + 2:08}-0000-4000-8000-000000000000"
        preserved = {"anchorUuid": summary, "uuids": kept, "allUuids": kept}
        facts = {"trigger": "auto", "preTokens": 9, "preservedMessages": preserved}
        more = {"content": "Conversation compacted", "level": "info", "compactMetadata": facts}
        self.write("system", subtype="compact_boundary", logicalParentUuid=logical, **more)
        content = {"role": "user", "content": "what was before"}
        self.write("user", message=content, isCompactSummary=True)

    def block(self, name: str, *blocks: Row) -> str:
        """Add a line of a response."""
        usage = {"input_tokens": 3, "output_tokens": len(self.rows)}
        message: Row = {
            "id": name,
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [*blocks],
        }
        message |= {"stop_reason": None, "usage": usage}
        return self.write("assistant", message=message, requestId=f"req_{name}")

    def response(self, name: str, prompt: str, plan: Row) -> None:
        """Add thoughts, words and calls, each a line, and the results in some order."""
        thoughts = [thought(f"{name}-{at}") for at in range(plan["thoughts"])]
        words = [{"type": "text", "text": f"words {name}"}] if plan["words"] else []
        made = [(f"{name}-{at}", call) for at, call in enumerate(plan["calls"])]
        blocks = [*thoughts, *words, *(used(identity, call) for identity, call in made)]
        if plan["is_one_line"] and blocks:
            uuids = [self.block(name, *blocks)] * len(blocks)
        else:
            uuids = [self.block(name, block) for block in blocks]
        placed = list(zip(made, uuids[len(uuids) - len(made) :], strict=True))
        plan["order"].shuffle(placed)
        for (identity, call), uuid in placed:
            self.result(identity, call, uuid, prompt)

    def result(self, identity: str, call: Row, uuid: str, prompt: str) -> None:
        """Add the result of a call, with its news and hooks, and a note behind it."""
        if not self.is_old:
            self.leaf = uuid
        for _ in range(call["news"] if self.is_old else 0):
            news = {"data": {"type": "bash_progress", "output": "…"}, "toolUseID": identity}
            self.write("progress", **news, parentToolUseID=identity)
        if call["is_snapshot"]:
            self.aside("file-history-snapshot", **backups(uuid, prompt, True))
        text = f"result {identity} " + "x" * call["size"]
        block = {"type": "tool_result", "tool_use_id": identity, "content": text}
        view = {"stdout": text, "stderr": "", "interrupted": False}
        self.write(
            "user",
            message={"role": "user", "content": [block]},
            toolUseResult=view,
            **({} if self.is_old else {"sourceToolAssistantUUID": uuid}),
        )
        for _ in range(0 if self.is_old else call["hooks"]):
            hook = {"type": "hook_additional_context", "toolUseID": identity, "content": ["hook"]}
            html = {"rendered": [{"content": f"hook {identity}"}], "renderedRole": "user"}
            self.write("attachment", attachment=hook, **html)
        if call["note"]:
            html = {"rendered": [{"content": f"note {identity}"}], "renderedRole": "user"}
            self.write("attachment", attachment={"type": "nested_memory", "path": "/x"}, **html)


def thought(name: str) -> Row:
    """Return a thought with a signature."""
    return {"type": "thinking", "thinking": f"thought {name}", "signature": "c2lnbmVk"}


def used(identity: str, call: Row) -> Row:
    """Return the block of a call."""
    return {"type": "tool_use", "id": identity, "name": call["tool"], "input": {"command": "ls"}}


def backups(message: str, prompt: str, is_update: bool) -> Row:
    """Return what a snapshot holds."""
    files = {"a.py": {"backupFileName": f"{message[:8]}@v1", "version": 1, "backupTime": "t"}}
    inner = {"messageId": prompt, "trackedFileBackups": files, "timestamp": "t"}
    return {"messageId": message, "snapshot": inner, "isSnapshotUpdate": is_update}


def session_of(version: str, found: list[Row]) -> bytes:
    """Return the log of a session."""
    pen = Pen(version)
    for number, plan in enumerate(found):
        pen.turn(number, plan)
    lines = (json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in pen.rows)
    return "".join(f"{line}\n" for line in lines).encode()


sessions = st.builds(session_of, forms, plans)
