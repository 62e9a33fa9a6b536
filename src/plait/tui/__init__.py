"""`plait ui`: the archive in the terminal, on textual.

`library` holds the sessions and their filter, `rendering` turns what the commands print into lines
of a screen, `widgets` draws lines, `screens` are the views and dialogs, `app` puts them together.
Only `command` and `keys` are imported without textual.
"""
