"""Very many files in proportional time and memory: ten thousand agents."""

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
    """Return a session that has sent out agents without end."""
    folder = tmp_path_factory.mktemp("many") / "projects" / "-srv-x"
    agents = folder / SESSION / "subagents"
    agents.mkdir(parents=True)
    output = {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": "Go"}}
    calls = "".join(json.dumps(call(number)) + "\n" for number in range(COUNT))
    (folder / f"{SESSION}.jsonl").write_text(json.dumps(output | {"uuid": "u"}) + "\n" + calls)
    for number in range(COUNT):
        line = output | {"uuid": f"u{number}", "isSidechain": True, "agentId": f"a{number}"}
        (agents / f"agent-a{number}.jsonl").write_text(json.dumps(line) + "\n")
    return folder.parents[1]


def call(number: int) -> dict[str, object]:
    """Return a line that sends out an agent with the same words as all others."""
    block = {"type": "tool_use", "id": f"t{number}", "name": "Task", "input": {"prompt": "Go"}}
    message = {"role": "assistant", "id": f"m{number}", "content": [block]}
    return {
        "type": "assistant",
        "sessionId": SESSION,
        "uuid": f"c{number}",
        "parentUuid": f"c{number - 1}" if number else "u",
        "message": message,
    }


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
    """Give a process so much time of the processor, and so much memory for its data."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
