"""Edited sessions to what client and SDK make of them, beside Plait and the original."""
