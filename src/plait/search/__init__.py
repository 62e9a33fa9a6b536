"""Full-text search over sessions, and its page."""
