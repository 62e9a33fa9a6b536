"""Arguments to lines on the screen: the `plait` command."""

from plait.cli.app import main

__all__ = ["main"]
