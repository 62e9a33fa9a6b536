"""Backups of sessions beyond the client's cleanup: what `archive.keep` does with the store."""
