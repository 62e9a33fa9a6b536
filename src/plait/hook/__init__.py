"""What Claude Code calls after every turn: `event` starts and exits at once, `worker` sends traces.

Nothing is imported here.
"""
