"""Drawings to session logs: the gallery of examples and the notation that they are drawn in."""
