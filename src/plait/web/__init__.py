"""The web server: pages and a JSON API over an archive, for one user's browser."""
