"""Example sessions, and the notation that describes them."""
