"""Transcripts: one path through a session as Markdown, plain text and JSON, and their index."""
