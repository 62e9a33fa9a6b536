"""Passages to blocks that a terminal draws: words, lines of calls, output, changes, remarks."""
