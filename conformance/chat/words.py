"""Conversations with instructions, commands, skills, mentioned files and MCP servers."""

import json
from pathlib import Path
from typing import Any

from tests.standin import Answer, call, calls, said

SERVER = Path(__file__).resolve().parents[2] / "tests" / "chat" / "mcp" / "server.py"
INSTRUCTIONS = {
    "CLAUDE.md": "# Here\n\n<!-- not told -->\nUse tabs, see @docs/more.md and `@docs/none.md`.\n",
    "docs/more.md": "More of it.\n",
    "CLAUDE.local.md": "Mine alone.\n",
    ".claude/rules/texts.md": '---\npaths: "*.txt"\n---\nTexts end with a line break.\n',
    "sub/CLAUDE.md": "Below it is otherwise.\n",
    "sub/f.txt": "f\n",
}
COMMANDS = {
    ".claude/commands/greet.md": "Greet $0, then $1 and all of $ARGUMENTS. \\$0\n",
    ".claude/commands/git/say.md": (
        "---\ndescription: Says\nallowed-tools: Bash(echo:*)\n---\n"
        "It says !`echo hello` @notes.txt\n"
    ),
    ".claude/commands/refused.md": "Never !`touch made` this.\n",
    ".claude/commands/fails.md": "---\nallowed-tools: Bash(ls:*)\n---\n!`ls nowhere`\n",
    ".claude/commands/plain.md": "Do it.\n",
}
SKILLS = {
    ".claude/skills/look/SKILL.md": "---\ndescription: Looks\n---\nAt $ARGUMENTS, @notes.txt.\n",
    ".claude/skills/mine/SKILL.md": "---\ndisable-model-invocation: true\n---\nMine.\n",
}
SERVERS = {
    "server.py": SERVER.read_text(encoding="utf-8"),
    ".mcp.json": json.dumps(
        {"mcpServers": {"lab": {"command": "python3", "args": ["server.py", "well"]}}}
    ),
}
WITH_SKILLS = ("--allowedTools", "Skill Read")
WITH_SERVERS = ("--allowedTools", "mcp__lab")


def turns(directory: Path) -> dict[str, list[Answer]]:
    """Return the answers to the prompts of these talks."""
    below: Any = call("Read", file_path=str(directory / "sub" / "f.txt"))
    names = ("echo", "reads", "error", "structured", "empty", "odd_name__", "die", "echo")
    return {
        "[read below]": [calls(below), calls(below), said("Read.")],
        "[use skill]": [
            calls(call("Skill", skill="look", args="this")),
            calls(call("Skill", skill="mine")),
            said("Looked."),
        ],
        "[use server]": [
            *(calls(call(f"mcp__lab__{one}", x="hi")) for one in names),
            said("Done."),
        ],
    }
