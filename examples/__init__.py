"""Example sessions, and the notation in which they are drawn."""
