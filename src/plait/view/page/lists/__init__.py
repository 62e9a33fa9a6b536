"""Sessions and hits to pages that list them: home, sessions, search, the first page of a site."""
