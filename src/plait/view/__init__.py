"""Shared rendering: formats, passages, transcripts, terminal blocks and pages.

Everything here is pure: nothing opens a file or writes to a screen.
"""
