"""An archive to its index and back: sessions to rows and words, rows to what the logs would say."""
