"""Figures to pages: usage and insights, and the charts and tables that they are drawn with."""
