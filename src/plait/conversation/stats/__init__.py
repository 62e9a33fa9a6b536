"""Conversations to the statistics of an archive: what each session adds, and all of it together.

`Statistics` counts sessions one by one and gives `Figures`. What a session adds (`SessionCounts`)
is a value of its own that an index can keep.
"""
