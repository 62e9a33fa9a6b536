"""Several clients read and search while files grow, without failures."""

import shutil
from pathlib import Path

from bench.page_load import at_rest, load, serving


def test_clients_are_answered_while_files_grow(gallery: Path, tmp_path: Path) -> None:
    root = tmp_path / "logs"
    shutil.copytree(gallery, root)
    with serving(root, tmp_path) as server:
        before = server.memory("VmRSS")
        tally = load(server, root, clients=4, seconds=1.0)
        assert tally.errors == []
        assert sum(len(times) for times in tally.times.values()) > 4
        assert server.memory("VmRSS") < before + 200_000_000
        assert at_rest(server, pages=20, seconds=0.5) < 0.5
