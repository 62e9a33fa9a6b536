"""An environment to one that no test can tell from another's: what would lead it astray goes."""

from collections.abc import Collection, MutableMapping

LEADING_ASTRAY = ("PLAIT_", "ANTHROPIC_", "LANGFUSE_", "CLAUDE_CONFIG_DIR", "COLUMNS")


def shield(environment: MutableMapping[str, str], *, but: Collection[str]) -> None:
    """Take out of an environment what the program would obey, but for what tests are told."""
    for name in [*environment]:
        if name.startswith(LEADING_ASTRAY) and name not in but:
            del environment[name]
    environment["PLAIT_AGENTS"] = "claude"  # logs of other agents on this machine are not read
