"""Commands over files through time: `blame`, `file` and `files`."""
