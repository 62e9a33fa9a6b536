"""Claude Code's hooks to jobs on disk: `event` is what the hook itself runs, and imports little."""
