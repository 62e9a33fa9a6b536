"""Traces: spans of conversations (`spans`), their delivery, and the hook that sends them."""
