"""The archive as JSON, for other programs: one table of addresses, requests and responses."""
