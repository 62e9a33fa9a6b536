"""Claude Code's hooks to traces that are sent as you work: `plait hook`.

`event` is what Claude Code calls and waits for, `commands` what people type and the worker,
`settings` what puts the hooks into Claude Code's settings. Nothing is imported here.
"""
