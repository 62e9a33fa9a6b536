"""Modules that are imported when they are first used: for facades over many features."""

from importlib import import_module
from typing import Any


class LazyModule:
    """A module that is imported when one of its names is first used.

    A facade imports the module itself under `TYPE_CHECKING`, so that type checkers see what it has.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
