"""An archive that is looked at for hours: sessions, rows and sums, kept until something changes."""
