"""What the faces on a terminal share: output, safe text, tables, Markdown, conversations."""
