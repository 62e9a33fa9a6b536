"""A disposable index of sessions: a catalogue (SQLite) and a text index (Tantivy).

`writer` writes both and is safe against crashes at every point; `catalogue` holds the tables and
their queries, `text_index` the documents, `freshness` decides whether the index still matches the
files. `passages` and `plain_lines` extract the text that is indexed.

`query` parses what a user types, `text_query` translates it for Tantivy, `search` builds the hits.
`scanning` searches the logs themselves for exact texts and for regular expressions (`expression`).
"""
