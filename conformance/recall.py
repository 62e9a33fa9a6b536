"""The real client with the server of `plait mcp`: it lists the tools, and calls each.

python -m conformance.recall [--cli VERSION|latest]

The server is installed by `plait mcp --install`; the stand-in has the client call every tool.
Exit codes: 0 each was listed and answered, 1 something else, 5 skipped.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from conformance import install, sandbox
from conformance.client import Client
from conformance.model import Missing, Places
from conformance.terminal import settle_in
from tests.standin import StandIn, by_script, call, calls, said

PROJECT = Path(__file__).resolve().parents[1]
GALLERY = PROJECT / "examples" / "gallery"
LONGEST, PATIENCE = 600, 120.0
DIFFERS, LACKS = 1, 5
ASKED = {
    "recall": ({"query": "gift card discount", "project": "*"}, "336718fa:1"),
    "read": ({"handle": "336718fa:2", "view": "calls"}, "test_checkout.py"),
    "about": ({"target": "shop/checkout.py", "project": "*"}, "336718fa:1"),
    "sessions": ({"project": "weather"}, "Dark mode for the dashboard"),
    "cost": ({"session": "2c687a8d"}, "$0.27"),
}
"""What each tool is asked, and words of its answer."""


def main() -> int:
    """Run outside or inside, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m conformance.recall")
    parser.add_argument("--cli", default=install.PINNED, help="a version, or latest")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    places = Places(PROJECT / ".cache" / "conformance")
    if given.inside:
        return judge(given.inside, install.client(places, given.cli))
    try:
        if lacking := list(sandbox.needs()):
            raise Missing("; ".join(lacking))
        version = install.newest() if given.cli == "latest" else given.cli
        install.client(places, version)
    except Missing as missing:
        print(f"skipped: {missing}")
        return LACKS
    with sandbox.temporary() as folder:
        words = ["-m", "conformance.recall", "--cli", version, "--inside", str(folder)]
        return sandbox.inside([sys.executable, *words], PROJECT, seconds=LONGEST)


class RecallDesk(sandbox.Desk):
    """A desk whose client finds Plait and its index."""

    __slots__ = ()

    def environment(self, url: str) -> dict[str, str]:
        """Return the whole environment of a client, with that of its server."""
        folders = {
            f"PLAIT_{name}_DIR": str(self.root / name) for name in ("CACHE", "DATA", "STATE")
        }
        path = os.environ.get("PYTHONPATH")
        more = {"PYTHONPATH": path} if path else {}
        return {**super().environment(url), **folders, **more}


def judge(folder: Path, executable: Path) -> int:
    """Has the client call each tool, and prints what came back."""
    sandbox.furnish(folder)
    sandbox.check_alone()
    sandbox.python_within_reach(folder)
    executable = sandbox.within_reach(executable, folder)
    blocks = [call(f"mcp__plait__{name}", **given) for name, (given, _) in ASKED.items()]
    script = {"rules": [{"when": "[tools]", "answers": [calls(*blocks), said("Done.")]}]}
    allowed = [f"mcp__plait__{name}" for name in ASKED]
    with StandIn(by_script(script)) as standin, sandbox.Room(folder).desk() as plain:
        desk = RecallDesk(plain.root)
        logs = desk.root / "logs"
        shutil.copytree(GALLERY, logs)
        settle_in(desk)
        desk.hand_over()
        program = Path(sys.executable).with_name("plait")
        done = subprocess.run(
            [str(program), "mcp", "--install", "--yes", "--root", str(logs)],
            cwd=desk.directory,
            env=desk.environment(standin.url),
            user=sandbox.UID,
            group=sandbox.UID,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if done.returncode:
            print(f"plait mcp --install: {done.stderr.strip()}")
            return DIFFERS
        client = Client(executable, sandbox.Room(folder), standin)
        finished = client.run(desk, "-p", "[tools] please", "--allowedTools", *allowed)
        asked = [one for one in standin.taken() if one.is_message]
    told = {json.dumps(tool) for one in asked for tool in one.body.get("tools", ())}
    named = json.dumps([one.body for one in asked])
    results = [
        json.dumps(block, ensure_ascii=False)
        for one in asked
        for message in one.messages
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block.get("type") == "tool_result"
    ]
    is_right = bool(results)
    for name, (_, words) in ASKED.items():
        is_listed = any(f'"mcp__plait__{name}"' in tool for tool in told)
        is_named = f"mcp__plait__{name}" in named
        is_answered = any(words in text and "next: " in text for text in results)
        is_right = is_right and is_named and is_answered
        state = "listed" if is_listed else "named" if is_named else "missing"
        print(f"{name:>9}: {state}, {'answered' if is_answered else 'NOT answered'}")
    if not is_right:
        print(finished.said, finished.err, *results[:5], sep="\n")
    return 0 if is_right else DIFFERS


if __name__ == "__main__":
    raise SystemExit(main())
