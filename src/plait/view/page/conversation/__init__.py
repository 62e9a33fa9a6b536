"""Conversations as pages show them: turns, entries, calls, the reading column, the whole page."""
