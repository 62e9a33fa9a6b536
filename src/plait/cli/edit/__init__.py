"""Sessions to sessions that are changed: clone, fork, switch, repair, rename, tag, delete, undo.

Every command makes a plan, has it checked, shows it, and applies it where that is meant.
"""
