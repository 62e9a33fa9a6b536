"""The page shows another agent's session, and the original of each line."""

import re
from pathlib import Path

from tests.sources.builders import CodexLog
from tests.web.bare import bare, status


def test_raw_line_shows_its_original(tmp_path: Path) -> None:
    log = CodexLog().prompt("what is in the shop?").answer("apples")
    log.add("event_msg", type="thread_rolled_back", num_turns=1)
    path = log.prompt("and now?").answer("pears").write(tmp_path)
    with bare(tmp_path / ".codex", tmp_path / "index") as server:
        listed = server.get("/api/v1/sessions").decode()
        (name,) = re.findall(r'"name":"([^"]+)"', listed)
        for tab in ("", "/raw", "/usage", "/files", "/timeline", "/markdown", "/context"):
            assert status(server.get(f"/s/{name}{tab}")) == 200, tab
        context = server.get(f"/s/{name}/context")
        assert b"and now?" in context and b"abandoned branch" in context
        lines = [server.get(f"/s/{name}/raw/0/{number}").decode() for number in (3, 4)]
    assert any(f"translated from line 3 of {path}" in line for line in lines)
    assert any("input_text" in line for line in lines)
