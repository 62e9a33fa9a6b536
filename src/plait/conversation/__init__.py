"""DAG-lines to conversations: turns, tools, usage, cost."""
