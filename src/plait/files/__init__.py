"""What sessions did to files: versions, authors of lines, and files touched."""
