"""Stars on sessions and pins on turns: a small file of the user's, and what can be done with it."""

from plait.archive.stars.file import Pin, Star, StarFile
from plait.archive.stars.verbs import PinnedTurn, Stars

__all__ = ["Pin", "PinnedTurn", "Star", "StarFile", "Stars"]
