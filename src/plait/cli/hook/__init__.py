"""Hooks of Claude Code that send traces while you work: `plait hook`.

`event` is what Claude Code calls and waits for, `commands` what people type and the worker.
Nothing is imported here.
"""
