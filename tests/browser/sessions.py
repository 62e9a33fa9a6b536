"""Drawings to sessions for the browser: ways, long outputs, hundreds of turns, hostile words."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from examples.drawing import Drawing, draw

LATE_TURNS = 240
PARAGRAPH = "The tide goes out twice a day and leaves the boats on the mud, all but one. "

WAYS = """
file ways cwd=/home/dev/tide branch=main pace=lifelike
ai-title "Two ways to the harbour"
U1 "Which way to the harbour?"
A1< "By the lighthouse or by the mole."
U2< "By the lighthouse."
A2< "The lighthouse has two paths." + Bash(command="seq 400", description="Count") as steps
R2< of steps
{steps}
A3< "Four hundred steps."
U3< "Take the upper path, past the heron."
A4< "A heron stands there."
U4<A3 "Take the lower path, past the seals."
A5< "Seals bark there."
U5<A1 "By the mole, then."
A6< think "The mole is flat." + "The mole it is." + Read(file_path="/home/dev/tide/mole.txt") as map
R6< of map
{map}
A7< "Nothing but stones and one cormorant."
U6< "And back?" image="harbour"
A8< "The same way."
last-prompt leaf A8
"""


@cache
def drawn_sessions() -> dict[str, Drawing]:
    """Return the drawn sessions by their names."""
    return {"ways": draw(branching_session()), "late": draw(late()), "crew": draw(crew())}


def branching_session() -> str:
    """Return a session with a branch, a branch of that branch, and long outputs."""
    steps = "\n".join(
        f"  | step {n}" + (" by the puffin" if n == 333 else "") for n in range(1, 401)
    )
    stones = "\n".join(f"  | stone {n} of 120" for n in range(1, 121))
    return WAYS.replace("{steps}", steps).replace("{map}", stones)


def late() -> str:
    """Return a session so long that most of it is fetched as it is read."""
    lines = ["file late cwd=/home/dev/tide pace=lifelike", 'ai-title "A year of tides"']
    for n in range(1, LATE_TURNS + 1):
        parent = "" if n == 1 else "<"
        words = PARAGRAPH * 80
        lines += [f'U{n}{parent} "Tide number {n}?"', f'A{n}< "Answer number {n}. {words}"']
    last = LATE_TURNS
    lines += [f'U{last + 1}<A{last - 2} "The tide that turned back."', f'A{last + 1}< "It turned."']
    lines += [f"last-prompt leaf A{last}"]
    return "\n".join(lines)


def crew() -> str:
    """Return a session whose agent said so much that it is fetched when it is opened."""
    answers = "\n".join(
        f'U{n}{"<" if n > 1 else ""} "Wave {n}?"\nA{n}< "Wave {n}. {PARAGRAPH * 60}"'
        for n in range(1, 26)
    )
    return f"""
file crew cwd=/home/dev/tide pace=lifelike
U1 "Send somebody to count the waves."
A1< Agent(description="Count the waves", subagent_type="Explore", prompt="Wave 1?") as send
R1< of send "Twenty-five."
A2< "Twenty-five waves."
last-prompt leaf A2
agent counter of send type=Explore
{answers}
"""


PWN = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>"
MARKDOWN = "\n\n".join(
    [
        PWN,
        "[a](javascript:window.pwned=1) [b](JAVASCRIPT:window.pwned=1) [c](data:text/html,x)",
        "![pixel](https://evil.example/pixel.png) <https://evil.example/auto>",
        "<svg onload=window.pwned=1><script>window.pwned=1</script></svg>",
        "<style>*{display:none!important}</style><link rel=stylesheet href=//evil.example/x.css>",
        "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe> ]]> --> </textarea></title>",
        "```html\n</code></pre></script><script>window.pwned=1</script>\n```",
        "</script></template></main></body>",
        "\u202egnp.exe\u202c \u2066isolated\u2069 \x1b]8;;file:///etc/passwd\x07click\x1b]8;;\x07",
    ]
)
DEEP = "\n\n".join(
    [
        "| " + " | ".join(f"c{n}" for n in range(200)) + " |\n|" + "---|" * 200,
        ">" * 2000 + " deep",
        "\n".join(" " * n + "- item" for n in range(0, 400, 2)),
    ]
)


def hostile(root: Path) -> str:
    """Write a session in which everything that can be is markup; returns its id."""
    session = "0badc0de-0000-4000-8000-000000000bad"
    folder = root / "projects" / "-home-dev-evil"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record).encode() for record in hostile_records(session)]
    lines[1] = lines[1].replace(b"@@broken@@", b"\xff\xfe broken \xc3\x28")
    lines.append(b'{"type":"user","message":{"content":"<script>window.pwned=1</script>')
    (folder / f"{session}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return session


def hostile_records(session: str) -> list[dict[str, Any]]:
    """Return the records of the hostile session."""
    frame = {
        "sessionId": session,
        "cwd": f"/home/{PWN}",
        "gitBranch": f'"><b>{PWN}',
        "version": PWN,
        "isSidechain": False,
    }
    places = [f"{n:08x}-0000-4000-8000-00000000000e" for n in range(40)]
    found: list[dict[str, Any]] = []

    def put(kind: str, message: Any, parent: int | None = -1, **more: Any) -> int:
        number = len(found)
        above = number - 1 if parent == -1 else parent
        found.append(
            {
                "type": kind,
                "uuid": places[number],
                "parentUuid": places[above] if number and above is not None else None,
                "timestamp": f"2026-11-02T09:00:{number:02}.000Z",
                "message": message,
                **frame,
                **more,
            }
        )
        return number

    def answer(blocks: list[Any], id_: str, parent: int | None = -1) -> int:
        message = {"id": id_, "role": "assistant", "model": f"<b>{PWN}</b>", "content": blocks}
        return put("assistant", {**message, "usage": {"output_tokens": 3}}, parent)

    put("user", {"role": "user", "content": f"# {PWN}\n\n{MARKDOWN} \ud800 lone\n\n{DEEP}"})
    answer([{"type": "text", "text": f"@@broken@@ {MARKDOWN}"}], "m1")
    answer([{"type": "thinking", "thinking": MARKDOWN}], "m2")
    for number, (name, given) in enumerate(HOSTILE_CALLS):
        id_ = f'toolu_{number}"><script>window.pwned=1</script>'
        answer([{"type": "tool_use", "id": id_, "name": name, "input": given}], f"c{number}")
        result = {"type": "tool_result", "tool_use_id": id_, "content": f"\x1b[31m{MARKDOWN}" * 20}
        put("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": MARKDOWN})
    put("system", None, subtype=f"<b>{PWN}</b>", content=PWN)
    put("user", {"role": "user", "content": f"Back to {PWN}"})
    answer([{"type": "text", "text": "one way"}], "m3")
    put("user", {"role": "user", "content": f"Another {PWN}"}, parent=1)
    answer([{"type": "text", "text": "another way"}], "m4")
    found.append({"type": f"<u>{PWN}</u>", "uuid": places[-1], "__proto__": {"pwned": 1}})
    found.append({"type": "custom-title", "customTitle": f"</title>{PWN}", "sessionId": session})
    return found


HOSTILE_CALLS: tuple[tuple[str, Any], ...] = (
    ("Bash", {"command": f"echo '{PWN}'", "description": PWN}),
    ("Write", {"file_path": f"/home/{PWN}", "content": MARKDOWN}),
    ("WebFetch", {"url": "javascript:window.pwned=1", "prompt": PWN}),
    ("TodoWrite", {"todos": [{"content": PWN, "status": '"><script>window.pwned=1</script>'}]}),
    ("ExitPlanMode", {"plan": MARKDOWN}),
    (f"mcp__{PWN}__x", {"__proto__": {"pwned": 1}, "constructor": PWN}),
)
