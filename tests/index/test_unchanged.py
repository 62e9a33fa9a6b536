"""A run without changes loads nothing it does not need."""

import subprocess
import sys
from pathlib import Path

from plait import Archive
from plait.indexing import update_index
from tests.index.test_crash import archive

HEAVY = ("tantivy", "watchfiles", "plait.record", "plait.graph", "plait.conversation")
CHILD = """
import sys
from pathlib import Path
from plait.index.freshness import is_fresh_for_roots
print(is_fresh_for_roots(Path(sys.argv[2]), [Path(sys.argv[1])]))
print(*sys.modules)
"""


def test_checking_for_changes_loads_no_reader(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    archive(root)
    update_index(Archive([root]), folder)
    words = [sys.executable, "-c", CHILD, str(root), str(folder)]
    said, modules = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    assert said == "True"
    assert [name for name in modules.split() if name.startswith(HEAVY)] == []
