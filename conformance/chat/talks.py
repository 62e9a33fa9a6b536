"""Conversations that both clients play, prompt by prompt in print mode."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.chat import words as written
from conformance.scenarios.script import agent
from conformance.scenarios.script import script as scenario_script
from tests.standin import Answer, Choose, Json, Script, by_script, call, calls, failed, said

LEAVE = (
    "--permission-mode",
    "acceptEdits",
    "--allowedTools",
    "Agent Bash Edit Glob Grep Read Write"
    " TaskCreate TaskUpdate TaskList TaskGet TaskOutput TaskStop",
)
CONTINUE = ("--continue",)


@dataclass(frozen=True, slots=True)
class Step:
    """One run of a client in print mode."""

    prompt: str
    arguments: tuple[str, ...] = ()
    is_first: bool = False
    """Whether it continues the first session of the talk."""
    leave: tuple[str, ...] = LEAVE


@dataclass(frozen=True, slots=True)
class Talk:
    """The prompts sent to a client, with its settings and files."""

    name: str
    steps: tuple[Step, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The user settings."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Additional files in the directory."""


def talk(name: str, *prompts: str) -> Talk:
    """Return a talk of these prompts and a final one, each continuing the session."""
    later = tuple(Step(prompt, CONTINUE) for prompt in (*prompts[1:], "And then?"))
    return Talk(name, (Step(prompts[0]), *later))


def forked() -> Talk:
    """Return a talk that is forked and continued in both sessions."""
    aside = Step("Another way.", ("--fork-session",), is_first=True)
    return Talk("fork", (Step("Where were we?"), aside, Step("This way.", is_first=True)))


def denied() -> Talk:
    """Return a talk whose calls are not permitted."""
    steps = (Step("[write it]", leave=()), Step("And then?", CONTINUE, leave=()))
    return Talk("no user to ask", steps)


TALKS = (
    talk("plain turns", "Good morning."),
    talk("thinking", "[think]"),
    talk("thinking and a tool", "[think and look]"),
    talk("file tools", "[file tools]"),
    talk("parallel tools", "[parallel]"),
    talk("failing tools", "[failing tools]"),
    talk("tasks", "[tasks]"),
    talk("long output", "[long output]"),
    talk("several blocks", "[many blocks]"),
    talk("odd chunks", "[odd chunks]"),
    talk("cut at max_tokens", "[cut short]"),
    talk("refusal", "[refuse]"),
    talk("API error", "[bad request]"),
    talk("two API errors", "[bad request]", "[bad request], once more"),
    talk("overloaded once", "[busy]"),
    talk("rate limit", "[limited]"),
    talk("dropped connection", "[dropped]"),
    forked(),
    denied(),
    Talk(
        "plan mode",
        (Step("[write only]", leave=("--permission-mode", "plan")), Step("And then?", CONTINUE)),
    ),
    Talk("max turns", (Step("[parallel]", ("--max-turns", "1")), Step("Why?", CONTINUE))),
    talk("compact and continue", "[parallel]", "What was that?", "/compact", "Go on.", "[think]"),
    talk("compact with a focus", "A short talk.", "/compact keep the numbers"),
    talk("one agent", "[one agent]"),
    talk("two agents", "[two agents]"),
    talk("nested agents", "[nested agents]"),
    talk("background agent", "[background agent]"),
    talk("agents that fail", "[failing agents]"),
    talk("local commands", "Hello there.", "/cost", "/context"),
    replace(talk("instructions", "Hello.", "[read below]"), files=written.INSTRUCTIONS),
    replace(
        talk("commands", "/greet Bob 'and Eve'", "/git:say", "/plain more"), files=written.COMMANDS
    ),
    replace(talk("commands that fail", "Hello.", "/refused", "/fails x"), files=written.COMMANDS),
    replace(talk("named files", "See @notes.txt#L2 and @notes.txt.", "@dot.png"), files={}),
    Talk(
        "skills",
        (
            Step("[use skill]", leave=written.WITH_SKILLS),
            Step("And then?", CONTINUE, leave=written.WITH_SKILLS),
        ),
        files=written.SKILLS,
    ),
    Talk(
        "servers",
        (
            Step("[use server]", leave=written.WITH_SERVERS),
            Step("And then?", CONTINUE, leave=written.WITH_SERVERS),
        ),
        files=written.SERVERS,
    ),
)

IN_TURN = talk(
    "one session, alternating",
    "[parallel]",
    "[file tools]",
    "[nested agents]",
    "[two agents]",
    "[background agent]",
    "[background agent] again",
    "[think]",
    "/compact",
    "[parallel] again",
    "[bad request]",
    "Go on.",
)
"""The prompts of a session that both clients continue alternately."""


TURNS = 200
SORTS = ("What of {}?", "[think] of {}", "[think and look] at {}", "[many blocks] on {}")


def many_prompts() -> list[str]:
    """Return the prompts of a long session: text, thinking, a tool, several blocks, repeatedly."""
    return [SORTS[number % len(SORTS)].format(number) for number in range(TURNS)]


def answers(directory: Path) -> Choose:
    """Return the choice of answers for one play of a talk: trouble comes once, a retry is fine."""
    steady = by_script(script(directory))
    trouble = {
        "[busy]": [failed(529, "Overloaded")],
        "[limited]": [failed(429, "Slow down", retry_after=1)],
        "[dropped]": [said("This line goes dead. " * 8, drop_after=5)],
    }

    def choose(request: Json) -> Answer:
        asked = [one for one in request.get("messages", []) if one["role"] == "user"]
        for words, waiting in trouble.items():
            if words in json.dumps(asked[-1:]) and waiting and request.get("tools"):
                return waiting.pop(0)
        return steady(request)

    return choose


def script(directory: Path) -> Script:
    """Return the steady answers to the prompts of the talks."""
    known = scenario_script(directory)
    turns = {
        "[file tools]": file_tools(directory),
        "[failing tools]": failing_tools(directory),
        "[tasks]": tasks(),
        "[failing agents]": failing_agents(),
        "[hopeless]": [failed(400, "made up")],
        "[half way]": [calls(call("Bash", command="echo half")), failed(400, "made up")],
        "[silent]": [calls(call("Bash", command="echo hush")), {"blocks": []}],
        "[edit]": edits(directory),
        "[sleep]": [
            calls(call("Bash", command="echo quick"), call("Bash", command="tail -f /dev/null")),
            said("Slept."),
        ],
        "[nap]": [calls(call("Bash", command="sleep 4; echo up")), said("Good morning.")],
        "[write only]": [
            calls(call("Write", file_path=str(directory / "new.txt"), content="new\n")),
            said("I may not."),
        ],
        "[write it]": [
            calls(call("Write", file_path=str(directory / "new.txt"), content="new\n")),
            calls(call("Bash", command="touch other.txt")),
            said("I may not."),
        ],
    }
    turns |= written.turns(directory)
    rules = [{"when": when, "answers": answers} for when, answers in turns.items()]
    return {**known, "rules": [*rules, *known["rules"]]}


def file_tools(directory: Path) -> list[Answer]:
    """Return a turn that uses every tool for files that both clients have."""
    notes, fresh = str(directory / "notes.txt"), str(directory / "fresh.txt")
    steps: list[Json] = [
        call("Read", file_path=notes),
        call("Read", file_path=notes, offset=2, limit=1),
        call("Edit", file_path=notes, old_string="two", new_string="zwei"),
        call("Edit", file_path=notes, old_string="e", new_string="E", replace_all=True),
        call("Write", file_path=fresh, content="new\n"),
        call("Write", file_path=fresh, content="newer\n"),
        call("Glob", pattern="*.txt"),
        call("Glob", pattern="*.none"),
        call("Grep", pattern="zwEi"),
        call("Grep", pattern="zwEi", output_mode="content"),
        call("Grep", pattern="E", output_mode="count"),
        call("Grep", pattern="nowhere to be found"),
        call("Read", file_path=str(directory / "book.ipynb")),
        call("Read", file_path=str(directory / "dot.png")),
        call("Bash", command="ls", description="List files"),
        call("Bash", command="echo out; echo err >&2"),
        call("Bash", command="true"),
    ]
    return [*(calls(step, text="Next.") for step in steps), said("All done.")]


def failing_tools(directory: Path) -> list[Answer]:
    """Return a turn whose calls fail, each in its own way."""
    notes = str(directory / "notes.txt")
    steps: list[Json] = [
        call("Bash", command="echo wrong >&2; exit 3"),
        call("Bash", command="echo out; exit 1"),
        call("Bash", command="sleep 5", timeout=300),
        call("Read", file_path=str(directory / "nowhere.txt")),
        call("Read", file_path=str(directory)),
        call("Edit", file_path=notes, old_string="one", new_string="x"),
        call("Write", file_path=notes, content="x"),
        call("Read", file_path=notes),
        call("Edit", file_path=notes, old_string="none", new_string="x"),
        call("Edit", file_path=notes, old_string="o", new_string="x"),
        call("Edit", file_path=notes, old_string="one", new_string="one"),
        call("NoSuchTool", argument=1),
        call("Write", file_path=str(directory / "fresh.txt")),
        call("Read", path=3),
        call("Grep", pattern="("),
    ]
    return [*(calls(step) for step in steps), said("Nothing worked.")]


def edits(directory: Path) -> list[Answer]:
    """Return a turn that changes a file twice, and make one."""
    notes, fresh = str(directory / "notes.txt"), str(directory / "fresh.txt")
    steps: list[Json] = [
        call("Edit", file_path=notes, old_string="two", new_string="zwei"),
        call("Edit", file_path=notes, old_string="three", new_string="drei"),
        call("Write", file_path=fresh, content="new\n"),
    ]
    return [*(calls(step) for step in steps), said("Changed.")]


def failing_agents() -> list[Answer]:
    """Return a turn that sends out agents of which nothing comes."""
    steps: list[Json] = [
        agent("Hope", "[hopeless]"),
        agent("Begin", "[half way]"),
        agent("Begin and forget", "[half way]", run_in_background=True),
        call("Bash", command="sleep 2"),
        call("Agent", description="Who", prompt="Go", subagent_type="nobody"),
        call("Agent", prompt="What for"),
    ]
    return [*(calls(step) for step in steps), said("Nothing came of it.")]


def tasks() -> list[Answer]:
    """Return a turn that keeps a list of tasks."""
    steps: list[Json] = [
        call("TaskCreate", subject="First", description="The first thing", activeForm="Doing it"),
        call("TaskCreate", subject="Second", description="The second thing"),
        call("TaskUpdate", taskId="1", status="in_progress"),
        call("TaskUpdate", taskId="2", addBlockedBy=["1"]),
        call("TaskList"),
        call("TaskGet", taskId="1"),
        call("TaskUpdate", taskId="1", status="completed"),
        call("TaskGet", taskId="7"),
    ]
    return [*(calls(step) for step in steps), said("All planned.")]
