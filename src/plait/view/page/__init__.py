"""Shared parts of HTML pages. Nothing from a log is ever markup."""
