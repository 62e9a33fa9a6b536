"""Conversations to traces: what they hold (`spans`), how they go out (`send`), when (`hook`)."""
