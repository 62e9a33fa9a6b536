"""Arrow tables of sessions, kept as Delta tables, asked by SQL."""
