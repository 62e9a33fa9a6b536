"""What earlier sessions know, for agents and people: compact answers within a budget of tokens.

    recall(query) → ranked turns      `ranking` finds them, `turns` reads what became of them
    read, about, sessions, cost       `answers`
    standup, handoff                  `standup`, `handoff`

Every answer is a `model.Answer`: what was found and what was left out, items with stable handles
(`8hex:turn`), and the next useful call. Recorded text is fenced, cleaned and redacted.
"""
