"""One path through the graph, as a conversation of user and model.

`model` has the values: conversations, turns, items, responses. `build` makes them from a graph:
`items` (records to items), `results` (what tools answered), `turns`; `walk` iterates over them.

Figures: `usage` (tokens, responses counted once), `prices`, `costs`, `statistics`. What happened:
`patches`, `questions`, `changes`. `tools` describes each tool.
"""
