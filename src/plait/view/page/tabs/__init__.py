"""The other ways to look at one session: context, timeline, files, usage, raw, branches."""
