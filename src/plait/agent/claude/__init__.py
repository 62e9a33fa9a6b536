"""The client of Claude Code that is installed here to an engine of the console.

It is driven by lines of JSON on its standard input and output, as programs drive it, and writes
the log itself.
"""
