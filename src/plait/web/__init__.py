"""The page: an archive served to one person's browser, on this machine."""
