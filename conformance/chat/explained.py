"""Expected differences between the logs of the two clients, with reasons.

Nothing stands here because it was found: each row is something that Plait does not do, or that
the client writes for itself alone and does not read again.
"""

LEFT_OUT = {
    "api-request": "the client's own log of its requests",
    "api-request-blob": "the client's own log of its requests",
    "api-request-shape": "the client's own log of its requests",
    "atis-latch": "an account's state at the maker's",
    "tools-used": "which tools a deferred loading has brought: all are loaded here",
    "cost-state": "sums of tokens, money and time: those of the two clients are not the same",
    "attachment environment": "stands in the system prompt here",
    "attachment model": "stands in the system prompt here",
    "attachment deferred_tools_delta": "all tools are loaded here",
    "attachment deferred_tools_record": "all tools are loaded here",
    "attachment agent_listing_delta": "kinds of agents stand in the definition of the tool here",
    "attachment skill_listing": "the client's own skills stand in it",
    "attachment auto_mode": "there is no such mode",
    "attachment session_context": "stands in the system prompt here",
    "attachment date": "stands in the system prompt here",
    "attachment remote_session_change": "there are no remote sessions",
    "attachment prompt_snapshot": "the maker's own prompts",
    "attachment task_reminder": "the maker's own reminders",
    "attachment silent_turn_reminder": "the maker's own reminders",
    "attachment file": "files that were read are not attached anew after a compaction",
    "attachment plan_mode": "the maker's own words; it stands in the system prompt here",
    "attachment plan_mode_exit": "the maker's own words on planning",
}
"""Kinds of lines that only the client writes."""

FIELDS = {
    ("lacks", "requestRef"): "names a line of the client's own log of requests",
    ("lacks", "effort"): "no effort is asked for here",
    ("lacks", "perTurnEffort"): "no effort is asked for here",
    ("lacks", "thinkingDisplay"): "thoughts are shown here as they come",
    (
        "lacks",
        "system stop_hook_summary: failedHookErrorIndexes",
    ): "new in 2.1.327; the newest log version here is 2.1.325",
    ("lacks", "result Skill failed: toolResultTypedCommand"): "a hint for the client's own screen",
    ("has beyond", "slug"): "the client gives a name once a plan or an agent needs one",
}
"""Fields that lines of any kind, or of one, may lack or have beyond."""

TALKS: dict[str, tuple[tuple[str, ...], str]] = {
    "line went dead": (("error.connection.message",), "the words of another library"),
    "failing tools": (("result Grep failed",), "the words of another engine for expressions"),
    "local commands": (("command: ", "local_command: "), "what is printed is in our own words"),
    "interrupted answer": (("message.content[0].text",), "how far it came when it was stopped"),
    "agents that fail": (("Available agents",), "the client has kinds of its own"),
    "rewound to the start": (("messageCount",), "lines of its own that the client writes once"),
    "rewound over changes": (
        ("messageCount", "fresh.txt.version"),
        "lines of its own that the client writes once; the number of a copy that is none",
    ),
    "rewound and left": (
        ("last-prompt explicit",),
        "the client forgets a rewind that nothing follows; here it is said",
    ),
    "branched": (("custom-title",), "the client writes the names once more when it leaves"),
    "servers": (("result mcp__lab__echo",), "secrets of the environment reach no server here"),
    "nobody to ask": (("result Bash user-rejected",), "why a command is asked about"),
    "rules, asked about": (("result Bash user-rejected",), "why a command is asked about"),
    "hooks, heard of refusals": (
        ("result Bash user-rejected", "permission_suggestions", "PostToolBatch: tool_calls"),
        "why a command is asked about, and what could be allowed with it",
    ),
    "hooks, heard of a compaction": (
        ("compact_boundary: ", "summary of a compaction: ", "meta: ", "command: "),
        "what hooks say when a turn ends is preserved with it there, and hangs below it here",
    ),
}
"""Talks that differ in lines which hold these words, and why."""
