"""What sessions did to files over time: their stories, who wrote each line, what they held.

`reading` gets what happened from sessions, `names` says what a file is called in them, `git` asks
Git, `blame` joins all of it, `notes` reads and writes what git-ai keeps beside commits.
"""
