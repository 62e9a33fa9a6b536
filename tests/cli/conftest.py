"""An empty home for every command that is tested."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the command an empty home, so that no test ever sees a real one."""
    home = tmp_path_factory.mktemp("home")
    for name in ("CLAUDE_CONFIG_DIR", "PLAIT_ROOT", "PLAIT_PAGER", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    for kind in ("CONFIG", "CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
    return home
