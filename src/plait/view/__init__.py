"""Rows and conversations to text: pure, nothing here opens a file or writes to a screen."""
