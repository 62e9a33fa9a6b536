"""A script in a JSON file to a stand-in that runs until it is stopped.

python -m tests.standin [SCRIPT] [--port PORT] [--log FILE]
"""

import argparse
import json
from pathlib import Path

from tests.standin.script import by_script
from tests.standin.server import StandIn


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tests.standin")
    parser.add_argument("script", type=Path, nargs="?", help="a JSON file; without it: ok")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="where each request goes, one a line")
    given = parser.parse_args()
    script = json.loads(given.script.read_text(encoding="utf-8")) if given.script else {}
    standin = StandIn(by_script(script), log=given.log, port=given.port)
    print(f"ANTHROPIC_BASE_URL={standin.url}", flush=True)
    try:
        standin.serve()
    except KeyboardInterrupt:
        print("stopped")


if __name__ == "__main__":
    main()
