"""`plait chat`: prompts to a session that goes on, on a screen or in a pipe."""
