"""Rows of a lake to pages: sessions, one of them, what is found, figures, questions."""
