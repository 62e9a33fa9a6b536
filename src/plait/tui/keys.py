"""The keys of `plait ui`, and how the configuration changes them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from plait.errors import ConfigError

TERMINAL_KEYS = ("ctrl+c", "ctrl+v", "ctrl+s", "ctrl+z")
"""Keys that belong to the terminal and its user: nothing is bound to them."""


class Key(NamedTuple):
    """Something that a key does."""

    name: str
    """What the configuration and the screens call it."""
    keys: str
    label: str
    """What the footer says; empty where there is no room for it."""
    help: str


KEYS = (
    Key("read", "enter", "Read", "read the session"),
    Key("filter", "slash", "Filter", "filter the list, or search the text on screen"),
    Key("next_turn", "j", "", "next turn; next session in the list"),
    Key("previous_turn", "k", "", "previous turn; previous session in the list"),
    Key("previous_branch", "left_square_bracket", "", "previous branch"),
    Key("next_branch", "right_square_bracket", "Branch", "next branch"),
    Key("next_match", "n", "", "next match"),
    Key("previous_match", "N", "", "previous match"),
    Key("unfold", "o", "Unfold", "show this turn in full, or fold it again"),
    Key("graph", "g", "Graph", "the graph of turns and branches"),
    Key("timeline", "t", "", "the timeline of each turn"),
    Key("context", "c", "", "what Claude will see, and what the next prompt costs"),
    Key("usage", "u", "", "what the session cost, and why"),
    Key("files", "F", "", "the files that the session changed, with diffs"),
    Key("resume", "r", "Resume", "resume the session, and return here afterwards"),
    Key("copy", "y", "Copy", "copy the resume command"),
    Key("fork", "f", "Fork", "fork: a new session that ends with this turn"),
    Key("trim", "T", "", "trim the session's context"),
    Key("export", "e", "", "export a redacted transcript"),
    Key("star", "m", "", "star the session, or remove the star"),
    Key("rename", "R", "", "rename the session"),
    Key("delete", "x", "", "delete the session"),
    Key("backup", "b", "", "back up the session"),
    Key("undo", "z", "Undo", "undo the last change"),
    Key("help", "question_mark", "Keys", "show all keys"),
    Key("back", "escape", "Back", "back; clear the filter"),
    Key("quit", "q", "Quit", "quit"),
)
BY_NAME = {key.name: key for key in KEYS}
SHOWN = {
    "slash": "/",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
}
NAMES = {shown: name for name, shown in SHOWN.items()}


def parse_keys(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys that a configuration sets, by name; fail where one is wrong."""
    used: dict[str, str] = {}
    chosen = {key.name: given.get(key.name, key.keys) for key in KEYS}
    for name in given:
        if name not in BY_NAME:
            raise ConfigError(
                f"unknown key name '{name}' in 'ui_keys'", f"choose from {', '.join(BY_NAME)}"
            )
    for name, keys in chosen.items():
        if not isinstance(keys, str) or not keys.strip():
            raise ConfigError(
                f"'{name}' in 'ui_keys' must be a key, such as \"f\" or \"ctrl+f,f2\""
            )
        for part in keys.split(","):
            key = NAMES.get(part.strip(), part.strip())
            if key in TERMINAL_KEYS:
                raise ConfigError(
                    f"'{key}' in 'ui_keys' is reserved by the terminal", "choose another key"
                )
            if key in used:
                raise ConfigError(f"'{key}' in 'ui_keys' is set for '{used[key]}' and '{name}'")
            used[key] = name
    return {name: ",".join(keys for keys, by in used.items() if by == name) for name in given}


def format_key(keys: str) -> str:
    """Return keys as help shows them."""
    return " ".join(SHOWN.get(part.strip(), part.strip()) for part in keys.split(","))
