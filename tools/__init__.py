"""Small programs that keep the project in order."""
