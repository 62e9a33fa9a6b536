"""Backups of sessions that outlive the client's cleanup: what `archive.keep` does with the store."""
