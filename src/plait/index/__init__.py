"""A disposable index of an archive: a catalogue (SQLite) and a text index (Tantivy).

`store` writes both, safe at every point; `catalogue` has the tables, `rows` what is put into
them, `charges` what logs say of money, `freshness` whether all of it still holds. `passages`,
`usual_lines` and `light_items` say which words are indexed, `documents` in which form, `texts`
how they are found.

`query` reads what a person asks, `text_query` translates it, `search` and `hits` answer it;
`scanning` looks through the logs themselves, by `expression` and `raw_expression`.
"""
