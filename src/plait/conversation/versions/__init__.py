"""What sessions did to files, to the files as they stood and who wrote each line.

`events` finds what a session did, `text` reads files as lines, `carry` says which lines of one
text are those of another, `story` puts it together in the order of time.
"""
