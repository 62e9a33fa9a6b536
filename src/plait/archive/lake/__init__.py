"""Sessions of an archive into a lake, and what is asked of it.

What faces need has its name here; names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.archive.lake.building import Built, FailedSession
    from plait.archive.lake.engine import Engine, LocalEngine
    from plait.archive.lake.manner import Manner, hides_names
    from plait.archive.lake.ray_engine import RayEngine
    from plait.archive.lake.shipping import WHAT_LEAVES, Leaving
    from plait.archive.lake.verbs import Lakes

__all__ = [
    "WHAT_LEAVES",
    "Built",
    "Engine",
    "FailedSession",
    "Lakes",
    "Leaving",
    "LocalEngine",
    "Manner",
    "RayEngine",
    "hides_names",
]

_HOMES = {
    "building": "Built FailedSession",
    "engine": "Engine LocalEngine",
    "manner": "Manner hides_names",
    "ray_engine": "RayEngine",
    "shipping": "Leaving WHAT_LEAVES",
    "verbs": "Lakes",
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"plait.archive.lake.{home}"), name)
    raise AttributeError(f"module 'plait.archive.lake' has no attribute '{name}'")
