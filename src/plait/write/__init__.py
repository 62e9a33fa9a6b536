"""Turns and blocks to new lines of a session, as the client makes them."""
