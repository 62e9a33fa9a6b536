"""Very many files to time and memory in proportion: ten thousand agents."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.conftest import rounds

SESSION = "5a0e7c11-0000-4000-8000-000000000001"
COUNT = rounds(400, 10_000)
SECONDS, BYTES = rounds(30, 120), rounds(150, 600) << 20


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a session that has sent out agents without end."""
    folder = tmp_path_factory.mktemp("many") / "projects" / "-srv-x"
    agents = folder / SESSION / "subagents"
    agents.mkdir(parents=True)
    said = {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": "Go"}}
    (folder / f"{SESSION}.jsonl").write_text(json.dumps(said | {"uuid": "u"}) + "\n")
    for number in range(COUNT):
        line = said | {"uuid": f"u{number}", "isSidechain": True, "agentId": f"a{number}"}
        (agents / f"agent-a{number}.jsonl").write_text(json.dumps(line) + "\n")
    return folder.parents[1]


@pytest.mark.parametrize(
    "words", [f"show {SESSION}", "stats", f"log {SESSION}", f"export {SESSION} -f html -o out"]
)
def test_many_agents(root: Path, tmp_path: Path, words: str) -> None:
    command = [sys.executable, "-m", "plait", *words.split(), "--root", str(root)]
    done = subprocess.run(
        command,
        capture_output=True,
        cwd=tmp_path,
        timeout=SECONDS * 5,
        check=False,
        preexec_fn=bounded,
    )
    assert done.returncode == 0, done.stderr[-500:]


def bounded() -> None:
    """Gives a process so much time of the processor, and so much memory for its data."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
