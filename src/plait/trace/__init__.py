"""Conversations to spans, and spans to those who collect them."""
