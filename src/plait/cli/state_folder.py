"""The state folder from the environment alone: all that a hook needs of the settings.

It is the folder that `plait.cli.settings` comes to by way of everything, and a test compares
both. Nothing is imported here, because Claude Code waits.
"""

import os
import sys

SETTING = b"state_dir"


def quick_state_folder() -> str | None:
    """Return the folder; None where only the settings can tell."""
    env = os.environ
    named = env.get("PLAIT_STATE_DIR")
    if named:
        return _absolute(_expanded(named, env.get("HOME")))
    home = env.get("HOME")
    if not sys.platform.startswith("linux") or not home or _may_be_set(home):
        return None
    base = env.get("XDG_STATE_HOME", "").strip() and env["XDG_STATE_HOME"]
    return _absolute(os.path.join(base or f"{home}/.local/state", "plait"))


def _may_be_set(home: str) -> bool:
    """Return whether `config.toml` may name the folder, or cannot be read."""
    env = os.environ
    named = env.get("PLAIT_CONFIG")
    base = env.get("XDG_CONFIG_HOME", "").strip() and env["XDG_CONFIG_HOME"]
    usual = os.path.join(base or f"{home}/.config", "plait", "config.toml")
    path = _expanded(named, home) if named else usual
    if path is None:
        return True
    try:
        with open(path, "rb") as file:
            return SETTING in file.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _expanded(path: str, home: str | None) -> str | None:
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return None if path.startswith("~") else path


def _absolute(path: str | None) -> str | None:
    return None if path is None else os.path.join(os.getcwd(), path)
