"""Pages: a request to the HTML that answers it."""
