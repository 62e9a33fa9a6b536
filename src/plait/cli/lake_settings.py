"""The settings for lakes: address, labels, keys and options of object stores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.errors import ConfigError

if TYPE_CHECKING:
    from plait.lake.schema import Profile

LAKE_KEYS = {
    **dict.fromkeys(("lake", "lake_source", "lake_person", "lake_team", "lake_key"), str),
    **dict.fromkeys(("ship_to", "ship_profile"), str),
    "lake_options": list,
}
SHIPPED: "tuple[Profile, ...]" = ("counts", "redacted")
"""What can be set to be shipped; all is shipped only where a command says so."""
OBJECT_STORES = ("AWS_", "AZURE_", "GOOGLE_")
"""What the variables begin with that object stores are known by."""


@dataclass(frozen=True, slots=True)
class LakeSettings:
    """Which lake is meant where none is named, and whose sessions go there. Options are secret."""

    url: str | None = None
    source: str | None = None
    person: str = ""
    team: str = ""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What object stores are told: addresses and keys."""
    key: Path | None = None
    """The file of the key that stand-ins are made by, where it is not the machine's own."""
    ship_to: str | None = None
    ship_profile: "Profile" = SHIPPED[0]


def read_lake_settings(
    env: Mapping[str, str], config: Mapping[str, Any], path_of: Callable[[str], Path]
) -> LakeSettings:
    """Return the lake that an environment and a file mean."""
    key = config.get("lake_key")
    return LakeSettings(
        env.get("PLAIT_LAKE") or config.get("lake"),
        config.get("lake_source"),
        config.get("lake_person", ""),
        config.get("lake_team", ""),
        _options(config) or {name: env[name] for name in env if name.startswith(OBJECT_STORES)},
        path_of(key) if key else None,
        config.get("ship_to"),
        _profile(config.get("ship_profile", SHIPPED[0])),
    )


def _options(config: Mapping[str, Any]) -> dict[str, str]:
    """Return what the file says: with that, no environment leads what is shipped elsewhere."""
    parts = [option.partition("=") for option in config.get("lake_options", ())]
    for name, sign, _ in parts:
        if not (sign and name.startswith(OBJECT_STORES)):
            raise ConfigError(
                f"'{name}' is not an option of an object store",
                'write `lake_options = ["AWS_REGION=eu-west-1"]`',
            )
    return {name: value for name, _, value in parts}


def _profile(name: str) -> "Profile":
    if name == "full":
        raise ConfigError(
            "'full' cannot be a setting: everything would be sent as it is",
            "`plait lake ship --profile full`, each time",
        )
    for profile in SHIPPED:
        if name == profile:
            return profile
    raise ConfigError(f"unknown ship_profile '{name}'", f"known are {', '.join(SHIPPED)}")
