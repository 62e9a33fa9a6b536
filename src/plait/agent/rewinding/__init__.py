"""A session that goes on to one that goes on from an earlier prompt, with files as they were."""

from plait.agent.rewinding.files import FileStep, Restoration, file_steps, files_logged
from plait.agent.rewinding.points import Point, chain_before, point_named, points_of

__all__ = [
    "FileStep",
    "Point",
    "Restoration",
    "chain_before",
    "file_steps",
    "files_logged",
    "point_named",
    "points_of",
]
