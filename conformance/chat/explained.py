"""Expected differences between the logs of the two clients, with reasons.

No row merely records an observed difference: each is something that Plait does not do, or that the
client writes for itself and does not read again.
"""

LEFT_OUT = {
    "api-request": "the client's own log of its requests",
    "api-request-blob": "the client's own log of its requests",
    "api-request-shape": "the client's own log of its requests",
    "atis-latch": "the state of an account",
    "tools-used": "tools that were loaded on demand: Plait loads all tools",
    "cost-state": "totals of tokens, cost and time, which differ between the clients",
    "attachment environment": "part of Plait's system prompt",
    "attachment model": "part of Plait's system prompt",
    "attachment deferred_tools_delta": "Plait loads all tools",
    "attachment deferred_tools_record": "Plait loads all tools",
    "attachment agent_listing_delta": "Plait lists agent types in the definition of the tool",
    "attachment skill_listing": "lists the client's built-in skills",
    "attachment auto_mode": "Plait has no such mode",
    "attachment session_context": "part of Plait's system prompt",
    "attachment date": "part of Plait's system prompt",
    "attachment remote_session_change": "Plait has no remote sessions",
    "attachment prompt_snapshot": "the client's own prompts",
    "attachment task_reminder": "the client's own reminders",
    "attachment silent_turn_reminder": "the client's own reminders",
    "attachment file": "Plait does not attach files again after a compaction",
    "attachment plan_mode": "the client's own text; part of Plait's system prompt",
    "attachment plan_mode_exit": "the client's own text",
}
"""Kinds of lines that only the client writes."""

FIELDS = {
    ("lacks", "requestRef"): "names a line of the client's own log of requests",
    ("lacks", "effort"): "Plait requests no effort level",
    ("lacks", "perTurnEffort"): "Plait requests no effort level",
    ("lacks", "thinkingDisplay"): "Plait shows thinking as it arrives",
    (
        "lacks",
        "system stop_hook_summary: failedHookErrorIndexes",
    ): "new in 2.1.327; Plait writes the format of 2.1.325",
    ("lacks", "result Skill failed: toolResultTypedCommand"): "a hint for the client's terminal",
    ("has beyond", "slug"): "the client adds a name when a plan or an agent needs one",
}
"""Fields that lines of all kinds, or of one kind, may lack or have in addition."""

TALKS: dict[str, tuple[tuple[str, ...], str]] = {
    "dropped connection": (("error.connection.message",), "wording of another library"),
    "failing tools": (("result Grep failed",), "wording of another regular expression engine"),
    "local commands": (("command: ", "local_command: "), "Plait words the output differently"),
    "interrupted answer": (("message.content[0].text",), "depends on when it was stopped"),
    "agents that fail": (("Available agents",), "the client has its own agent types"),
    "rewound to the start": (("messageCount",), "lines that only the client writes"),
    "rewound over changes": (
        ("messageCount", "fresh.txt.version"),
        "lines that only the client writes; the number of a copy that does not exist",
    ),
    "rewound and left": (
        ("last-prompt explicit",),
        "the client does not log a rewind that nothing follows; Plait does",
    ),
    "branched": (("custom-title",), "the client writes the names again when it exits"),
    "servers": (
        ("result mcp__lab__echo",),
        "Plait passes no secrets of the environment to servers",
    ),
    "no user to ask": (("result Bash user-rejected",), "the reason for asking about a command"),
    "rules, asked about": (("result Bash user-rejected",), "the reason for asking about a command"),
    "hooks, heard of refusals": (
        ("result Bash user-rejected", "permission_suggestions", "PostToolBatch: tool_calls"),
        "the reason for asking about a command, and the suggested rules",
    ),
    "hooks, heard of a compaction": (
        ("compact_boundary: ", "summary of a compaction: ", "meta: ", "command: "),
        "the client preserves hook output at the end of a turn; Plait writes it below the compaction",
    ),
}
"""Talks whose logs differ in lines with these texts, and the reasons."""
