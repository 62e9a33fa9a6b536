"""One path through the graph, as people and tools took turns.

`model` has the values: conversations, turns, items, responses. `build` makes them of a graph, by
`items` (records to items), `classify` (what stands in the user's place), `results` (what tools
answered), `pair` (calls with their results) and `turns`; `walk` goes through them, `paths` joins
conversations that leave one another, `branching` tells whether there can be any.

What a conversation comes to: `usage` (tokens, responses counted once), `prices`, `spending`,
`totals`, `stats`. What happened in it: `files` and `patches`, `questions`, `todos`, `changes`.
`tools` says what each tool is.
"""
