"""Sessions to files to keep and share: transcripts in any format, a site, a manifest, a report."""
