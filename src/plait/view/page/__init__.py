"""Conversations to pages: plain values to HTML in which nothing of a log is ever markup."""
