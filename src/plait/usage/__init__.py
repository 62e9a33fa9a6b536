"""Tokens and cost of responses: counting, grouping, formats and page."""
