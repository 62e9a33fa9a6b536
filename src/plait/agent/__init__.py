"""Prompts to answers of the Messages API, with a log as Claude Code writes it."""
