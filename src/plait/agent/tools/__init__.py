"""Calls of the model to what they do on this machine."""
