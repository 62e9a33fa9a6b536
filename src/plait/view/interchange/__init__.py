"""Conversations to documents of formats that others made: trajectories and graphs of steps."""

ENDINGS = {"atif": "atif.json", "toolpath": "path.json"}
"""What the names of their files end with."""
