"""One path through the graph, as people and tools took turns.

`model` has the values: conversations, turns, items, responses. `build` makes them from a graph:
`items` (records to items), `results` (what tools answered), `turns`; `walk` goes through them.

What a conversation comes to: `usage` (tokens, responses counted once), `prices`, `costs`,
`statistics`. What happened in it: `patches`, `questions`, `changes`. `tools` describes each tool.
"""
